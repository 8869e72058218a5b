"""Section 5's experiment: ULS under three surrogates, on all domains at hand."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_rel
from sklearn.model_selection import StratifiedKFold

from properboost.estimators.pinned_parameters import PINNED_LEARNERS
from properboost.estimators.presets import ULS
from properboost.reproduce import data
from properboost.reproduce.item import Experiment, Piece, Reading, Record, Seed

__all__ = [
    "BY_EDGE",
    "BY_IMPURITY",
    "DOMAINS",
    "FEW_DOMAINS",
    "LOGISTIC",
    "MATSUSHITA",
    "MU",
    "NOT_RESCALED",
    "SETTINGS",
    "SURROGATES",
    "THETAS",
    "find_errors",
    "find_p",
]

MATSUSHITA, LOGISTIC, MU = "Matsushita", "logistic", "mu = .99"
ONE_LESS_MU = 0.01
PHIS: Mapping[str, Mapping[str, Any]] = {
    MATSUSHITA: {"phi": "matsushita"},
    LOGISTIC: {"phi": "entropy"},
    MU: {"phi": "mu", "gain": ONE_LESS_MU / 2.0},
}
SETTINGS = {"l = 2, J = 10": (2, 10), "l = 10, J = 20": (10, 20), "l = 1, J = 50": (1, 50)}
"""Literals of a rule, and rounds."""

FEW_DOMAINS = (
    *data.TEN_SMALL, "ionosphere", "german", "vowel", "new_thyroid", "segment",
)  # fmt: skip
DOMAINS = (*FEW_DOMAINS, "spambase", "satimage", "pendigits", "magic", "letter")

THETAS: NDArray[np.float64] = np.linspace(-1.0, 1.0, 81)
"""The margins of the recorded cumulative distributions."""

BY_IMPURITY = Reading(
    "rules grown by the surrogate's impurity",
    '"Monomials are induced following TDIDT (UDT) for the repetitive minimization of (48)": each '
    "surrogate grows its own rules.",
)
BY_EDGE = Reading(
    "features of largest edge",
    'Fig. 4 and eq. 42 take features of large edge, and on l = 1 section 5 has "everything is '
    'as if we had in M all size-1 rules".',
)
NOT_RESCALED = Reading(
    "Matsushita's raw predictions through mu's link",
    "Table 1's estimate of mu at raw predictions that are not scaled with it: then margins are "
    "dilated as section 5 expects, though (35) is not solved.",
)


def measure(piece: Piece) -> Record:
    """Cross-validate the three surrogates on one domain; the record is of its test rows."""
    table = data.load(piece.part)
    # "In domains with more than two classes, we predicted class 1 against all others."
    y = table.y if table.y.max() == 1 else (table.y == 0).astype(np.int64)
    folds = list(StratifiedKFold(10, shuffle=True, random_state=piece.seed).split(table.X, y))
    return {
        name: _cross_validate(table, y, folds, literals, rounds, piece.reading)
        for name, (literals, rounds) in SETTINGS.items()
    }


def _cross_validate(
    table: data.DataSet,
    y: NDArray[np.int64],
    folds: Any,
    literals: int,
    rounds: int,
    reading: str,
) -> dict[str, dict[str, Any]]:
    """Return the error (%) of each surrogate, and its cumulative margin distribution (%)."""
    margins: dict[str, list[NDArray[np.float64]]] = {name: [] for name in PHIS}
    for train, test in folds:
        for name, parameters in PHIS.items():
            if name == MU and reading == NOT_RESCALED.name:
                margins[name].append(_dilate(margins[MATSUSHITA][-1]))
                continue
            model = make_uls(
                literals=literals,
                n_estimators=rounds,
                categorical_features=table.categorical,
                **({"criterion": None} if reading == BY_EDGE.name else {}),
                **parameters,
            ).fit(table.X[train], y[train])
            margins[name].append(model.margins(table.X[test], y[test], normalized=True))
    return {name: _describe(np.concatenate(parts)) for name, parts in margins.items()}


def make_uls(phi: Any, *, literals: int, **others: Any) -> Any:
    """Make a ULS of rules with `literals` literals, which may cut between any two values."""
    rule = PINNED_LEARNERS["rule"].replace(max_conditions=literals, min_child_weight=0.0)
    return ULS(phi, weak_learner=rule, rows_per_bin=None, n_jobs=1, **others)


def _dilate(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the margins of mu's link at the raw predictions that have these of Matsushita's."""
    # A margin is H / sqrt(c^2 + H^2) by Table 1, c being 1 with Matsushita's and 1 - mu with mu.
    raw = margins / np.sqrt(np.maximum(1.0 - margins**2, np.finfo(float).tiny))
    return np.asarray(raw / np.hypot(ONE_LESS_MU, raw))


def _describe(margins: NDArray[np.float64]) -> dict[str, Any]:
    up_to = np.searchsorted(np.sort(margins), THETAS, side="right")
    return {
        # A margin of 0 is no decision for the row's class.
        "error": 100.0 * float(np.mean(margins <= 0.0)),
        "cmd": [round(100.0 * float(n) / len(margins), 3) for n in up_to],
    }


def find_errors(seed: Seed, setting: str) -> dict[str, NDArray[np.float64]]:
    """Return the errors (%) of each surrogate over the domains."""
    records = [record[setting] for record in seed.values()]
    return {name: np.array([record[name]["error"] for record in records]) for name in PHIS}


def find_p(ours: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """Return the P value of Student's paired test: 1 if all pairs are equal."""
    return float(ttest_rel(ours, others).pvalue) if np.any(ours != others) else 1.0


SURROGATES = Experiment(
    "uls-surrogates",
    {name: (name,) for name in DOMAINS},
    measure,
    seconds=30.0,
    quick_parts=FEW_DOMAINS,
)
