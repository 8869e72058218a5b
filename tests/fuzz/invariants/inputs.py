"""What must hold of every fitted model, whatever it was fitted to.

An invariant is a function of a `Fit` under the name that failures are reported by.  It raises an
AssertionError, or whatever it runs into: every exception is a failure.  `share` is how many of the
fits it is tried on; those that fit again are tried on a part.
"""

import contextlib
import copy
import functools
import hashlib
import inspect
import pickle
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

import properboost as pb
from properboost import losses
from properboost.estimators.boosted import BoostedClassifier
from properboost.parameters.shared import GROWN

__all__ = ["INVARIANTS", "Fit", "digest", "hold"]

TINY = 1e-300
"""Below this numbers have fewer digits, or are 0."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model and what it was fitted to."""

    model: Any
    X: Any
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    seed: int = 0

    @functools.cached_property
    def rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    @functools.cached_property
    def raw(self) -> NDArray[np.float64]:
        return self.model.decision_function(self.X)

    @functools.cached_property
    def scale(self) -> float:
        """The size of what raw predictions are sums of."""
        if not isinstance(self.model, BoostedClassifier):
            return float(np.abs(self.raw).max())
        return max(rounds.bound() for rounds in self.model._ensemble.models)

    def has(self, *names: str) -> bool:
        return all(name in self.model.get_params() for name in names)

    def get(self, name: str, default: Any = None) -> Any:
        return self.model.get_params().get(name, default)

    def again(self, X: Any, y: Any, weight: Any, **changes: Any) -> Any:
        """Fit a copy with some parameters changed to some rows."""
        model = clone(self.model).set_params(**changes)
        return model.fit(X, y) if weight is None else model.fit(X, y, weight)


@dataclass(frozen=True)
class _Invariant:
    check: Callable[[Fit], None]
    share: float


INVARIANTS: dict[str, _Invariant] = {}


def invariant(name: str, share: float = 1.0) -> Callable[[Callable[[Fit], None]], None]:
    """Register an invariant."""

    def register(check: Callable[[Fit], None]) -> None:
        INVARIANTS[name] = _Invariant(check, share)

    return register


def list_chosen(seed: int, only: str | None = None) -> Iterator[tuple[str, _Invariant]]:
    """Yield the invariants that are tried on the fit of a seed."""
    for k, (name, entry) in enumerate(INVARIANTS.items()):
        chance = np.random.default_rng([seed, k]).random()
        if name == only or (only is None and chance < entry.share):
            yield name, entry


def hold(model: Any, X: Any, y: Any, weight: Any = None, *, only: str, seed: int = 0) -> None:
    """Check one invariant of a fitted model; tests of what once failed call it."""
    INVARIANTS[only].check(Fit(model, X, y, weight, seed))


def can_predict(model: Any) -> bool:
    """Whether there is a model: a search without a refit has none."""
    return bool(model.get_params().get("refit", True))


# -- what is compared -----------------------------------------------------------------------------


def outputs(model: Any, X: Any) -> list[NDArray[Any]]:
    """Return all that a fitted model is judged by, bit for bit."""
    found = [
        np.array(model.cv_results_[key])
        for key in sorted(getattr(model, "cv_results_", {}))
        if key.endswith("_score")
    ]
    if not can_predict(model):
        return found
    found += [model.decision_function(X), model.predict_proba(X), model.predict(X)]
    if hasattr(model, "history_"):
        found += [model.history_[key] for key in sorted(model.history_)]
    return found


def digest(model: Any, X: Any) -> str:
    """Return a hash of a model's outputs, to compare it with that of another process."""
    found = hashlib.sha256()
    for array in outputs(model, X):
        found.update(str((array.dtype.str, array.shape)).encode())
        # The sign of zeros is left open, and a NaN is a NaN.
        found.update(
            np.where(np.isnan(array), np.nan, array + 0.0).tobytes()
            if array.dtype.kind == "f"
            else repr(array.tolist()).encode()
        )
    return found.hexdigest()


def assert_same(one: Any, other: Any, X: Any, theirs: Any = None) -> None:
    """Two models with the same outputs, bit for bit; `theirs` is the same table in other guise."""
    for a, b in zip(outputs(one, X), outputs(other, X if theirs is None else theirs), strict=True):
        if a.dtype.kind == "f":
            np.testing.assert_array_equal(a, b)
        else:
            assert a.tolist() == b.tolist()


def take(X: Any, rows: NDArray[Any]) -> Any:
    """Return some rows of a table of any kind."""
    if isinstance(X, list):
        return [X[k] for k in rows]
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X.take(rows) if hasattr(X, "column_names") else X[rows]


# -- predictions ----------------------------------------------------------------------------------


@invariant("probabilities are finite, in [0, 1] and add up to 1")
def _probabilities(fit: Fit) -> None:
    if not can_predict(fit.model):
        return
    probability = fit.model.predict_proba(fit.X)
    assert probability.shape == (len(fit.y), len(fit.model.classes_))
    assert np.isfinite(probability).all()
    assert probability.min() >= 0.0
    assert probability.max() <= 1.0
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-9)
    assert np.isfinite(fit.raw).all()
    labels = fit.model.predict(fit.X)
    assert np.isin(labels, fit.model.classes_).all()
    if len(fit.model.classes_) == 2:
        expected = fit.model.classes_[(fit.raw > 0).astype(int)]
        np.testing.assert_array_equal(labels, expected)


@invariant("scores, importances and descriptions are finite")
def _finite(fit: Fit) -> None:
    model = fit.model
    repr(model)
    if not can_predict(model):
        return
    for key, values in getattr(model, "history_", {}).items():
        assert values.dtype.kind != "f" or np.isfinite(values).all(), f"history_[{key!r}]: {values}"
    if hasattr(model, "feature_importances_"):
        importances = model.feature_importances_
        assert np.isfinite(importances).all(), f"feature_importances_: {importances}"
        assert importances.min() >= 0.0
        assert importances.sum() == 0.0 or abs(importances.sum() - 1.0) < 1e-9
    for name in ("coef_", "intercept_", "pair_importances_"):
        assert np.isfinite(getattr(model, name, 0.0)).all(), name
    if hasattr(model, "describe"):
        assert "nan" not in model.describe()


@invariant("stages end in the raw prediction", share=0.3)
def _stages(fit: Fit) -> None:
    if not isinstance(fit.model, BoostedClassifier) or not can_predict(fit.model):
        return
    stages = list(fit.model.staged_decision_function(fit.X))
    assert len(stages) == fit.model.n_iter_
    assert all(np.isfinite(stage).all() for stage in stages)
    if stages:
        np.testing.assert_allclose(stages[-1], fit.raw, rtol=1e-9, atol=1e-12 * fit.scale + TINY)
    margins = (
        fit.model.margins(fit.X, fit.y, normalized=True) if _knows_labels(fit) else np.zeros(1)
    )
    assert np.abs(margins).max() <= 1.0


def _knows_labels(fit: Fit) -> bool:
    return bool(np.isin(fit.y, fit.model.classes_).all())


@invariant(
    "shape functions and contributions are finite and add up to the raw prediction", share=0.5
)
def _contributions(fit: Fit) -> None:
    model = fit.model
    if not isinstance(model, BoostedClassifier) or not can_predict(model):
        return
    label = model.classes_.tolist()[-1]
    if model.get_params().get("damping"):
        return  # what a round adds depends on the rounds before it
    if model.weak_learner not in GROWN:
        for j in range(model.n_features_in_):
            shape = model.shape_function(j, label)
            assert np.isfinite(shape.values).all()
            assert np.isfinite(shape.weights).all()
            assert np.isfinite(shape.missing_value)
        for pair in getattr(model, "pairs_", ()):
            assert np.isfinite(model.pair_function(*pair, label).values).all()
    elif model.weak_learner == "monomial":
        assert all(np.isfinite(rule.value) for rule in model.rules(label) if hasattr(rule, "value"))
    if len(fit.y) > 300 and model.weak_learner in GROWN:
        return  # takes long
    found = model.contributions(fit.X, label)
    assert np.isfinite(found.values).all()
    raw = fit.raw if fit.raw.ndim == 1 else fit.raw[:, -1]
    np.testing.assert_allclose(
        found.baseline + found.values.sum(axis=1), raw, rtol=1e-6, atol=1e-7 * fit.scale + TINY
    )


@invariant("a row's prediction does not depend on the others", share=0.3)
def _rows_alone(fit: Fit) -> None:
    if not can_predict(fit.model):
        return
    if isinstance(fit.X, list) and np.asarray(fit.X).dtype.kind not in "fb":
        return  # of large integers numpy makes floats or integers, depending on what is beside them
    rows = fit.rng.permutation(len(fit.y))[: fit.rng.integers(1, len(fit.y) + 1)]
    found = fit.model.decision_function(take(fit.X, rows))
    # A linear model is a product of matrices, whose sums may be in another order.
    tolerance = 1e-9 if hasattr(fit.model, "coef_") else 0.0
    np.testing.assert_allclose(found, fit.raw[rows], rtol=tolerance, atol=tolerance * fit.scale)


@invariant("numbers that training never saw are predicted", share=0.4)
def _strange_rows(fit: Fit) -> None:
    if not can_predict(fit.model) or not isinstance(fit.X, np.ndarray) or fit.X.dtype.kind != "f":
        return
    strange = fit.X.copy()
    ends = [np.nan, np.inf, -np.inf, 0.0, np.finfo(fit.X.dtype).max, np.finfo(fit.X.dtype).tiny]
    chosen = fit.rng.random(strange.shape) < 0.5
    strange[chosen] = fit.rng.choice(ends, int(chosen.sum())).astype(strange.dtype)
    if hasattr(fit.model, "coef_"):
        with contextlib.suppress(ValueError):  # it is told that they are not finite
            fit.model.predict_proba(strange)
        return
    probability = fit.model.predict_proba(strange)
    assert np.isfinite(probability).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-9)
    assert np.isfinite(fit.model.decision_function(strange)).all()


# -- the same again -------------------------------------------------------------------------------


@invariant("any number of threads gives the same bits", share=0.25)
def _threads(fit: Fit) -> None:
    for n_jobs in (1, 2, 4):
        model = fit.again(fit.X, fit.y, fit.weight, n_jobs=n_jobs)
        assert_same(fit.model, model, fit.X)


@invariant("another fit gives the same bits", share=0.1)
def _fitted_again(fit: Fit) -> None:
    assert_same(fit.model, fit.again(fit.X, fit.y, fit.weight), fit.X)
    model = copy.deepcopy(fit.model)
    model.fit(fit.X, fit.y) if fit.weight is None else model.fit(fit.X, fit.y, fit.weight)
    assert_same(fit.model, model, fit.X)


@invariant("a fit that fails leaves the model as it was", share=0.2)
def _failed_fits(fit: Fit) -> None:
    model = copy.deepcopy(fit.model)
    wrong = [(fit.X, np.zeros(len(fit.y))), (fit.X, fit.y[:-1]), (None, fit.y)]
    for X, y in wrong:
        try:
            model.fit(X, y)
        except (ValueError, TypeError):
            assert_same(fit.model, model, fit.X)
        else:
            raise AssertionError("labels of one class, or fewer than rows, are taken")
    if can_predict(model) and isinstance(fit.X, np.ndarray):
        for X in (fit.X[:, :-1], np.hstack([fit.X, fit.X]), fit.X[:0]):
            try:
                model.predict(X)
            except (ValueError, TypeError):
                continue
            raise AssertionError(f"{X.shape} is predicted by a model of {fit.X.shape[1]} features")


@invariant("what an estimator was fitted to before does not matter", share=0.1)
def _fitted_before(fit: Fit) -> None:
    model = copy.deepcopy(fit.model)
    other = np.arange(60.0).reshape(20, 3) % 7
    try:
        model.fit(other, np.arange(20) % 2)
    except ValueError:
        return  # of parameters for other features or labels
    model.fit(fit.X, fit.y) if fit.weight is None else model.fit(fit.X, fit.y, fit.weight)
    assert_same(fit.model, model, fit.X)
    assert fit.model.__dict__.keys() == model.__dict__.keys()


@invariant("a pickle holds the same model", share=0.5)
def _pickles(fit: Fit) -> None:
    if _calls_natively(fit):
        return
    assert_same(fit.model, pickle.loads(pickle.dumps(fit.model)), fit.X)


@invariant("a file holds the same model", share=0.6)
def _files(fit: Fit) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        try:
            fit.model.save_model(path)
        except TypeError as error:
            if "function" not in str(error):
                raise
            return  # files hold no code
        loaded = pb.load_model(path)
        assert_same(fit.model, loaded, fit.X)
        loaded.save_model(Path(folder) / "again.json")
        assert (Path(folder) / "again.json").read_bytes() == path.read_bytes()


def _calls_natively(fit: Fit) -> bool:
    given = fit.get("loss")
    every = given if isinstance(given, list | tuple) else [given]
    return any(isinstance(loss, losses.CustomLoss) and loss.functions for loss in every)


# -- tables ---------------------------------------------------------------------------------------


@invariant("numbers of any type and layout give the same bits", share=0.3)
def _types(fit: Fit) -> None:
    if not isinstance(fit.X, np.ndarray | list):
        return
    array = np.asarray(fit.X)
    plain = np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind in "iuO" and not np.all(np.abs(np.nan_to_num(plain)) < 2**53):
        return  # as a category such a number is told from its neighbours, as a float it is not
    other = fit.again(plain, fit.y, fit.weight)
    if hasattr(fit.model, "coef_"):  # rados of single precision are summed in it
        size = np.abs(fit.raw).max() + TINY
        np.testing.assert_allclose(fit.raw, other.decision_function(plain), atol=1e-3 * size)
        return
    assert_same(fit.model, other, fit.X, plain)


@invariant("names and numbers of features are the table's")
def _names(fit: Fit) -> None:
    names = getattr(fit.X, "column_names", getattr(fit.X, "columns", None))
    assert fit.model.n_features_in_ == (len(fit.X[0]) if names is None else len(names))
    named = names is not None and all(isinstance(name, str) for name in names)
    assert named == hasattr(fit.model, "feature_names_in_")
    if named:
        assert fit.model.feature_names_in_.tolist() == list(names)


@invariant("the order of columns does not change the best look-up table", share=0.15)
def _column_order(fit: Fit) -> None:
    if (
        not isinstance(fit.X, np.ndarray)
        or not fit.has("weak_learner")
        or hasattr(fit.model, "cv_results_")
        or fit.get("weak_learner") in ("tree", "monomial")
        or fit.get("selection") == "cyclic"
        or fit.get("categorical_features") not in (None, "from_dtype")
        or fit.get("monotonic_cst") is not None
    ):
        return
    settings = {"n_estimators": 1} | ({"interactions": 0} if fit.has("interactions") else {})
    one = fit.again(fit.X, fit.y, fit.weight, **settings)
    other = fit.again(fit.X[:, ::-1], fit.y, fit.weight, **settings)
    a, b = (model.history_["cost"] for model in (one, other))
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-9)


# -- weights --------------------------------------------------------------------------------------


def _takes_weights(fit: Fit) -> bool:
    return "sample_weight" in inspect.signature(fit.model.fit).parameters


@invariant("a row of weight 0 is no row", share=0.2)
def _no_row(fit: Fit) -> None:
    if not _takes_weights(fit) or not can_predict(fit.model):
        return
    weight = np.ones(len(fit.y)) if fit.weight is None else fit.weight.copy()
    kept = (fit.rng.random(len(fit.y)) < 0.8) & (weight > 0.0)
    weight = np.where(kept, weight, 0.0)
    if len(np.unique(fit.y[kept])) < 2 or not _declares_levels(fit.X):
        return
    if not _is_plain_cv(fit):
        return
    rows = np.flatnonzero(kept)
    settings = {"normalize_weights": False} if fit.has("normalize_weights") else {}
    try:
        one = fit.again(fit.X, fit.y, weight, **settings)
    except ValueError:
        return  # too few rows are left for what is asked for
    other = fit.again(take(fit.X, rows), fit.y[kept], weight[kept], **settings)
    np.testing.assert_array_equal(one.decision_function(fit.X), other.decision_function(fit.X))


def _declares_levels(X: Any) -> bool:
    """Whether a part of the rows has the categories of all."""
    return isinstance(X, np.ndarray) or hasattr(X, "iloc")


def _is_plain_cv(fit: Fit) -> bool:
    return fit.get("cv") is None or isinstance(fit.get("cv"), int)


@invariant("weight 2 is the row twice", share=0.2)
def _twice(fit: Fit) -> None:
    """The first round only: after it rounding may decide which of two features is better."""
    if (
        not _takes_weights(fit)
        or hasattr(fit.model, "cv_results_")
        or len(fit.y) > 2000
        or fit.get("subsample", 1.0) < 1.0  # drawn by the place of a row
        or (fit.get("prior") or 1.0) < TINY
    ):
        return
    weight = fit.rng.integers(1, 4, len(fit.y)).astype(float)
    rows = np.repeat(np.arange(len(fit.y)), weight.astype(int))
    # Factors of classes are rounded, and so are normalised weights: ties are then by chance.
    settings: dict[str, Any] = {"class_weight": None}
    if fit.has("normalize_weights"):
        settings["normalize_weights"] = False
    if fit.has("n_estimators"):
        settings["n_estimators"] = 1
    if fit.has("interactions"):
        settings["interactions"] = 0
    try:
        one = fit.again(fit.X, fit.y, weight, **settings)
    except ValueError:
        return
    other = fit.again(take(fit.X, rows), fit.y[rows], None, **settings)
    a, b = (model.decision_function(fit.X) for model in (one, other))
    # Values are differences of logarithms, which are large with extreme priors.
    # Weights of several classes are single precision.
    np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6 * np.abs(a).max() + 1e-13)


@invariant("weights times a power of two give the same bits", share=0.2)
def _powers(fit: Fit) -> None:
    """Where no parameter counts rows: the prior is a share, and steps have no limit."""
    if not _takes_weights(fit) or hasattr(fit.model, "cv_results_"):
        return
    if fit.has("prior"):
        settings = {"prior": 1e-3, "step": "unit", "interactions": 0}
        if fit.get("response") not in ("real", "sign"):
            settings["response"] = "real"
    elif fit.has("phi"):
        settings = {}
    else:
        return
    settings |= {"min_child_weight": 0.0} | (
        {"rows_per_bin": None} if fit.has("rows_per_bin") else {}
    )
    weight = fit.rng.exponential(size=len(fit.y)) if fit.weight is None else fit.weight
    factor = 2.0 ** int(fit.rng.integers(-40, 41))
    with np.errstate(over="ignore"):
        scaled = weight * factor
        if not np.isfinite(scaled.sum()) or not np.array_equal(scaled / factor, weight):
            return  # at the ends of the range digits are lost
    try:
        one = fit.again(fit.X, fit.y, weight, **settings)
    except ValueError:
        return
    other = fit.again(fit.X, fit.y, scaled, **settings)
    np.testing.assert_array_equal(one.predict_proba(fit.X), other.predict_proba(fit.X))


@invariant("uniform weights, normalised, are no weights", share=0.1)
def _normalised(fit: Fit) -> None:
    if not fit.has("normalize_weights") or hasattr(fit.model, "cv_results_"):
        return
    weight = np.full(len(fit.y), 10.0 ** fit.rng.uniform(-300, 300))
    one = fit.again(fit.X, fit.y, weight, normalize_weights=True)
    assert_same(one, fit.again(fit.X, fit.y, None, normalize_weights=True), fit.X)


@invariant("class weights are factors of sample weights", share=0.2)
def _class_weights(fit: Fit) -> None:
    if not _takes_weights(fit) or hasattr(fit.model, "cv_results_"):
        return
    factors = {label: 2.0 ** fit.rng.integers(-3, 4) for label in fit.model.classes_.tolist()}
    weight = np.ones(len(fit.y)) if fit.weight is None else fit.weight
    of_rows = np.array([factors.get(label, 0.0) for label in fit.y.tolist()])
    if not 1e-30 < weight.sum() < 1e30 or np.any((weight == 0.0) != (of_rows * weight == 0.0)):
        return  # at the ends of the range weights are moved before the factors count
    # How many rows a bin needs is counted without the classes' factors.
    inert = {"normalize_weights": False, "rows_per_bin": None}
    settings = {name: value for name, value in inert.items() if fit.has(name)}
    try:
        one = fit.again(fit.X, fit.y, fit.weight, class_weight=factors, **settings)
    except ValueError:
        return
    other = fit.again(fit.X, fit.y, weight * of_rows, class_weight=None, **settings)
    np.testing.assert_array_equal(one.decision_function(fit.X), other.decision_function(fit.X))


# -- promises -------------------------------------------------------------------------------------


@invariant("raw predictions rise or fall with the features that must")
def _monotonic(fit: Fit) -> None:
    given = fit.get("monotonic_cst")
    if given is None or not can_predict(fit.model) or not isinstance(fit.X, np.ndarray):
        return
    directions = given.items() if isinstance(given, dict) else enumerate(given)
    for j, direction in directions:
        if not direction:
            continue
        values = np.unique(fit.X[:, j])
        values = values[values == values]
        if not len(values):
            continue
        grid = np.repeat(fit.X[:1], len(values), axis=0)
        grid[:, j] = values
        raw = fit.model.decision_function(grid)
        assert np.all(np.diff(raw) * direction >= -1e-12 * fit.scale)


@invariant("categories that training never saw are predicted", share=0.5)
def _strange_categories(fit: Fit) -> None:
    if not hasattr(fit.X, "iloc") or not can_predict(fit.model):
        return
    strange = fit.X.copy()
    for name, column in fit.X.items():
        if str(column.dtype) == "category":
            values = column.astype(object).to_numpy(dtype=object, copy=True)
            if not any(isinstance(value, str) for value in values):
                continue  # strings would be another kind of categories
            values[fit.rng.random(len(values)) < 0.5] = fit.rng.choice(["new", None])
            strange[name] = type(fit.X)({name: values})[name].astype("category")
    assert np.isfinite(fit.model.decision_function(strange)).all()
    np.testing.assert_allclose(fit.model.predict_proba(strange).sum(axis=1), 1.0, rtol=1e-9)


# -- rados ----------------------------------------------------------------------------------------


@invariant("rados made apart are those of the fit", share=0.5)
def _rados(fit: Fit) -> None:
    if not hasattr(fit.model, "fit_rados"):
        return
    make = functools.partial(
        pb.rado.make_rados,
        n_rados=fit.model.n_rados_,
        random_state=fit.get("random_state"),
        classes=fit.model.classes_,
        categorical_features=fit.get("categorical_features"),
        intercept=fit.get("fit_intercept"),
    )
    whole = make(fit.X, fit.y)
    if fit.get("keep") == "loss":
        model = clone(fit.model).fit_rados(whole)
        np.testing.assert_array_equal(model.coef_, fit.model.coef_)
        np.testing.assert_array_equal(model.intercept_, fit.model.intercept_)
    if any(categories is not None for categories in fit.model.categories_):
        return  # a part of the rows may lack some
    middle = len(fit.y) // 2
    first, last = np.arange(middle), np.arange(middle, len(fit.y))
    parts = [
        make(take(fit.X, rows), fit.y[rows], row_offset=int(rows[0]))
        for rows in (first, last)
        if len(rows)
    ]
    size = np.abs(np.asarray(whole.values)).max()
    found = pb.rado.combine(parts).values
    np.testing.assert_allclose(found, whole.values, rtol=1e-5, atol=1e-6 * size)
