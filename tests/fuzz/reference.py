"""The kind of input for the plain NumPy reference: small, and with few choices."""

from collections.abc import Iterator
from typing import Any
from zlib import crc32

import numpy as np

import helpers.reference as ref
from fuzz.cases import Case, Column, evaluate
from fuzz.fits import no_foreign_warnings, phase
from fuzz.outcomes import Outcome
from helpers.engine import SINGLE
from properboost.parameters.boosting import BoostingOptions
from properboost.parameters.declare import declared, read
from properboost.parameters.learners import Tree

__all__ = ["Reference"]

ZERO = 1e-12
"""Bound of a table's values where sums cancel up to their last digits."""

RELATIVE = 1e-3
"""Relative tolerance for float32 margins, compared with double precision.

A wrong choice of a feature, a branch or an edge is far beyond it.
"""


class Reference:
    """Look-up tables, stumps and trees of two classes, compared round by round."""

    name = "reference"
    share = 0.3

    def draw(self, seed: int) -> Case:
        rng = np.random.default_rng([crc32(self.name.encode()), seed])
        n, d = int(rng.integers(4, 120)), int(rng.integers(1, 5))
        columns = tuple(Column(_draw_column(rng, n)) for _ in range(d))
        score = sum(np.clip(np.nan_to_num(c.values), -9.0, 9.0) * rng.normal() for c in columns)
        y = (score + rng.logistic(size=n) > np.median(score)).astype(int)
        y[rng.permutation(n)[:2]] = [0, 1]
        params = _draw_params(rng)
        # Without unequal weights, neighbouring splits of trees and classes in bins often tie.
        weights = [None, rng.integers(0, 4, n) * 1.0, rng.exponential(size=n)]
        ties = params["weak_learner"] == "'tree'" or params["response"] == "'sign'"
        weight = weights[2 if ties else rng.integers(3)]
        if weight is not None and min(weight[y == 0].sum(), weight[y == 1].sum()) == 0.0:
            weight = None
        return Case("ProperBoostClassifier", params, columns, y, weight, seed=seed)

    def check(self, case: Case, only: str | None = None) -> Outcome:
        made = case.make()
        values = case.values
        with phase("fit"), no_foreign_warnings():
            made.model.fit(made.X, made.y, made.weight)
        with phase("the engine equals the reference"):
            count = np.ones(case.n_rows, bool) if case.weight is None else case.weight > 0
            order = np.flatnonzero(count)[np.argsort(case.y[count], kind="stable")]
            weight = None if case.weight is None else case.weight[order]
            edges = [
                ref.quantile_edges(x[order], weight, values.get("max_bins", 255)) for x in made.X.T
            ]
            for ours, theirs in zip(made.model.ensemble_.binning.features, edges, strict=True):
                np.testing.assert_array_equal(ours.edges, theirs)
            codes = np.stack([ref.encode(x, e) for x, e in zip(made.X.T, edges, strict=True)])
            loss = made.model.loss_
            rate = read(BoostingOptions, made.model).find_rate(loss.rate_factor)
            rounds = ref.fit(
                codes[:, order],
                [ref.FeatureBins.numeric(e) for e in edges],
                np.where(case.y[order] > 0, 1.0, -1.0),
                weight,
                **_settings(values | {"learning_rate": rate}, order),
            )
            draws = float(values.get("weak_learner__subsample", 1.0)) < 1.0
            _compare(made.model.ensemble_.models[0], rounds, rate, draws)
        return Outcome("fitted")

    def digest(self, case: Case) -> str | None:
        return None

    def smaller(self, case: Case) -> Iterator[Case]:
        for simple in case.smaller():
            needed = {"rows_per_bin", "n_estimators", "gain", "calibration"}
            if needed <= simple.params.keys() and len(np.unique(simple.y)) == 2:
                yield simple

    def show(self, case: Case, broken: str) -> str:
        return "\n".join(
            [f"# the rounds differ from those of helpers.reference: {broken}", *case.show()]
        )


def _draw_column(rng: np.random.Generator, n: int) -> Any:
    values = [
        rng.normal(size=n),
        rng.integers(0, 6, n).astype(float),
        np.round(rng.normal(size=n), 1),
        rng.standard_cauchy(n) ** 3,
    ][rng.integers(4)]
    if rng.random() < 0.3:
        values[rng.random(n) < 0.2] = np.nan
    if rng.random() < 0.1:
        values[rng.random(n) < 0.1] = rng.choice([np.inf, -np.inf])
    return values


def _draw_params(rng: np.random.Generator) -> dict[str, str]:
    def one(*values: Any) -> Any:
        return values[rng.integers(len(values))]

    drawn = {
        "loss": one("glog", "ggauss", "glaplacian", "gboost", "exponential", "savage", "alpha"),
        # Weights of small gains underflow in float32 only.
        "gain": one(1.0, float(rng.uniform(0.5, 10.0))),
        "weak_learner": one("table", "stump", "tree"),
        "response": one("real", "sign", "newton", "exact"),
        "step": one("unit", "guarded", "line_search"),
        "learning_rate": one(1.0, float(rng.uniform(0.05, 1.0))),
        "n_estimators": int(rng.integers(1, 5)),
        "calibration": None,
        "rows_per_bin": None,
        "max_bins": one(255, int(rng.integers(2, 12))),
    }
    response = drawn["response"]
    if drawn["weak_learner"] == "tree":
        policy = one("best_first", "symmetric")
        drawn |= {
            "n_estimators": int(rng.integers(1, 3)),
            # Only the reference's trees include rows whose weight is below 2^-60 of all.
            "gain": one(1.0, float(rng.uniform(1.0, 10.0))),
            "weak_learner__grow_policy": policy,
            "weak_learner__min_child_weight": one(0.0, float(rng.uniform(0.0, 4.0))),
            "weak_learner__max_features": one(1.0, 0.6),
            # After a line search all rows are in balance, and rounding decides whether a drawn tree
            # helps.
            "weak_learner__subsample": one(1.0, 0.7 if drawn["step"] != "line_search" else 1.0),
            "random_state": int(rng.integers(5)),
            "selection": one("greedy", "unbiased"),
        }
        if policy == "best_first":
            drawn["weak_learner__max_leaf_nodes"] = int(rng.integers(2, 8))
        if rng.random() < 0.3:
            drawn["weak_learner__max_depth"] = int(rng.integers(1, 4))
    else:
        drawn["selection"] = one("greedy", "cyclic", "unbiased")
        if drawn["weak_learner"] == "table":
            most = 0.25 if response == "exact" else 20.0
            narrow, wide = rng.uniform(0.0, 0.25), rng.uniform(0.0, most)
            cells = one(None, 3, int(rng.integers(2, 7)))
            drawn["weak_learner__smoothing"] = one(0.0, float(narrow), float(wide))
            drawn["weak_learner__max_cells"] = cells
            if cells is not None and response != "sign":
                drawn["weak_learner__min_saving"] = one(0.0, float(rng.uniform(0.0, 2.0)))
    if response in ("real", "exact"):
        drawn["prior"] = one(None, 1e-3)
    if response == "sign":  # in later rounds many bins have classes of equal weight
        drawn |= {"n_estimators": 1, "selection": "greedy"}
    if response == "newton":
        drawn["l2"] = one(0.0, 2.0)
    if drawn["selection"] == "unbiased" and drawn.get("weak_learner__subsample", 1.0) == 1.0:
        drawn["screening"] = one(None, int(rng.integers(2, 40)))
    return {name: repr(value) for name, value in drawn.items()}


def _settings(values: dict[str, Any], numbers: Any) -> dict[str, Any]:
    """Return the parameters in the reference's form, for rows of these numbers."""
    rest = {name.removeprefix("weak_learner__"): value for name, value in values.items()}
    name, gain = rest.pop("loss", "glog"), rest.pop("gain", 1.0)
    learner = rest.pop("weak_learner", "table")
    of_trees = {field: rest.pop(field) for field in declared(Tree) if field in rest}
    if of_trees.get("grow_policy") == "symmetric":
        of_trees.setdefault("max_depth", 4)  # the default for so few rows
    of_trees.setdefault("min_child_weight", 1.0)
    seed = rest.pop("random_state", 0)
    tree = ref.TreeSettings(**of_trees, numbers=tuple(numbers.tolist()), seed=seed)
    rest.setdefault("selection", "unbiased")
    rest.setdefault("max_cells", 3)  # the default for so few rows
    rest.setdefault("smoothing", 0.1)
    for unused in ("rows_per_bin", "max_bins", "calibration"):
        rest.pop(unused, None)
    alpha = {"alpha": evaluate("losses.Alpha()").alpha} if name == "alpha" else {}
    return {"loss": ref.make_loss(name, gain, **alpha), "learner": learner, "tree": tree, **rest}


def _compare(ours: Any, theirs: list[ref.Round], rate: float, draws: bool) -> None:
    """Compare round by round: feature, look-up table and risk.

    A shortened step leaves all rows in balance; rounding then decides whether a tree of drawn rows
    still helps.
    """
    moved = 0.0  # size of the margins, whose last digits are lost
    for t, expected in enumerate(theirs):
        size = np.abs(expected.table).max()
        learnt = t > 0 and theirs[t - 1].risk < 1e-6
        balanced = draws and t > 0 and theirs[t - 1].step < rate
        if learnt or balanced or 0.0 < size < ZERO or (t > 0 and size < SINGLE * moved):
            return  # these digits hide what is left to learn
        assert t < len(ours), f"there is no round {t + 1}"
        assert ours.feature[t] == expected.feature, f"round {t + 1}"
        values = ours.values[ours.offsets[t] : ours.offsets[t + 1]]
        np.testing.assert_allclose(
            values, expected.table, rtol=30 * RELATIVE, atol=RELATIVE * size + SINGLE * moved
        )
        np.testing.assert_allclose(ours.risk[t], expected.risk, rtol=RELATIVE, atol=1e-7)
        moved += abs(expected.step) * size
    for t in range(len(theirs), len(ours)):
        size = np.abs(ours.values[ours.offsets[t] : ours.offsets[t + 1]]).max()
        assert size < max(SINGLE * moved, ZERO), f"there is a round {t + 1}"
