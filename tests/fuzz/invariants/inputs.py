"""Invariants of inputs: the same rows and weights in another form make the same model."""

import functools
import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

import properboost as pb
from fuzz.invariants.registry import TINY, Fit, assert_same, can_predict, invariant, take
from properboost.data.labels import read_rows
from properboost.parameters.declare import read_parameter
from properboost.parameters.learners import Learner, Table, Tree
from properboost.parameters.stages import Calibration

# -- tables ----------------------------------------------------------------------------------------


@invariant("numbers of any type and layout give the same bits", share=0.3)
def _types(fit: Fit) -> None:
    if not isinstance(fit.X, np.ndarray | list):
        return
    array = np.asarray(fit.X)
    plain = np.ascontiguousarray(array, dtype=np.float64)
    if array.dtype.kind in "iuO" and not np.all(np.abs(np.nan_to_num(plain)) < 2**53):
        return  # as categories such numbers differ, as floats they do not
    other = fit.again(plain, fit.y, fit.weight)
    if hasattr(fit.model, "coef_"):  # rados of float32 are summed in float32
        size = np.abs(fit.raw).max() + TINY
        np.testing.assert_allclose(fit.raw, other.decision_function(plain), atol=1e-3 * size)
        return
    assert_same(fit.model, other, fit.X, plain)


@invariant("a sparse matrix makes the model of the same numbers in a table", share=0.2)
def _sparse(fit: Fit) -> None:
    """Most entries are cleared first, so that codes are sparse, too."""
    if not isinstance(fit.X, np.ndarray) or fit.X.dtype.kind not in "biuf":
        return
    if fit.X.dtype.kind == "f" and fit.X.dtype.itemsize == 2:
        return  # SciPy has no sparse matrices of half-precision numbers, in either byte order
    X = np.where(fit.rng.random(fit.X.shape) < 0.1, fit.X, fit.X.dtype.type(0))
    # "auto" takes tables of sparse matrices.
    named = {"weak_learner": fit.learner} if fit.get("weak_learner") == "auto" else {}
    one = fit.try_again(sparse.csr_array(X), fit.y, fit.weight, **named)
    if one is None:
        return
    assert_same(one, fit.again(X, fit.y, fit.weight, **named), sparse.csr_array(X), X)


@invariant("names and numbers of features are the table's")
def _names(fit: Fit) -> None:
    names = getattr(fit.X, "column_names", getattr(fit.X, "columns", None))
    assert fit.model.n_features_in_ == (np.shape(fit.X)[1] if names is None else len(names))
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
        or fit.learner.is_grown
        # Features are drawn by position, also by voting models.
        or fit.get("max_features", 1.0) < 1.0
        or fit.get("selection") == "cyclic"
        or fit.get("categorical_features") not in (None, "from_dtype")
        or fit.get("monotonic_cst") is not None
    ):
        return
    # Rounds of a mean are in the order of features.
    settings = {"n_estimators": 1, "weak_learner": fit.learner} | _without_bags(fit)
    if fit.has("interactions"):
        settings["interactions"] = 0
    if fit.get("selection") == "unbiased":  # equally unlikely features may have different costs
        settings |= {"selection": "greedy", "screening": None}
    one = fit.again(fit.X, fit.y, fit.weight, **settings)
    other = fit.again(fit.X[:, ::-1], fit.y, fit.weight, **settings)
    a, b = (model.history_["cost"] for model in (one, other))
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-9)


# -- weights ---------------------------------------------------------------------------------------


def _takes_weights(fit: Fit) -> bool:
    return "sample_weight" in inspect.signature(fit.model.fit).parameters


def _draws_rows(fit: Fit, n_rows: int) -> bool:
    """Return whether `n_rows` are drawn from by their numbers, which copies have, too."""
    screens = any(  # "auto" is None for so few rows
        isinstance(screening, int | np.integer) and 2 * int(screening) < n_rows
        for screening in fit.list_values("screening")
    )
    return screens or min(fit.list_values("weak_learner__subsample", 1.0)) < 1.0


@invariant("a row of weight 0 is no row", share=0.2)
def _no_row(fit: Fit) -> None:
    if not _takes_weights(fit) or not can_predict(fit.model):
        return
    weight = np.ones(len(fit.y)) if fit.weight is None else fit.weight.copy()
    counted = (fit.rng.random(len(fit.y)) < 0.8) & (weight > 0.0)
    weight = np.where(counted, weight, 0.0)
    if len(np.unique(fit.y[counted])) < 2 or not _declares_levels(fit.X):
        return
    if not _is_plain_cv(fit):
        return
    rows = np.flatnonzero(counted)
    settings = _without_bags(fit)
    if fit.has("normalize_weights"):
        settings["normalize_weights"] = False
    one = fit.try_again(fit.X, fit.y, weight, **settings)
    if one is None:
        return  # too few rows are left for the parameters
    other = fit.again(take(fit.X, rows), fit.y[counted], weight[counted], **settings)
    np.testing.assert_array_equal(one.decision_function(fit.X), other.decision_function(fit.X))


def _without_bags(fit: Fit) -> dict[str, Any]:
    """Return settings without bags and held-out rows, which row numbers decide."""
    dealt = {"outer_bags": 0, "early_stopping": "auto"}
    if not isinstance(fit.model, pb.ProperBoostClassifierCV):
        return {name: value for name, value in dealt.items() if fit.has(name)}
    space = fit.get("space") or {}
    rest = {name: value for name, value in space.items() if not name.startswith("outer_bags")}
    return {"space": rest | {"outer_bags": 0}}


def _declares_levels(X: Any) -> bool:
    """Return whether a part of the rows has the categories of all."""
    return isinstance(X, np.ndarray) or hasattr(X, "iloc")


def _is_plain_cv(fit: Fit) -> bool:
    cv = fit.get("cv")
    # With little effort "auto" is a drawn split.
    drawn = isinstance(cv, str) and (fit.get("effort") or 3) < 3
    return cv is None or isinstance(cv, int) or (isinstance(cv, str) and not drawn)


@invariant("weight 2 is the row twice", share=0.2)
def _twice(fit: Fit) -> None:
    """Only the first round is compared: rounding may choose the feature of later ones."""
    if (
        not _takes_weights(fit)
        or hasattr(fit.model, "cv_results_")
        or len(fit.y) > 2000
        or (fit.get("prior") or 1.0) < TINY
    ):
        return
    weight = fit.rng.integers(1, 4, len(fit.y)).astype(float)
    rows = np.repeat(np.arange(len(fit.y)), weight.astype(int))
    if _draws_rows(fit, len(rows)):
        return
    # Factors of classes and normalised weights are rounded, and then ties are broken at random.
    settings = {"class_weight": None} | _without_bags(fit)
    if fit.has("normalize_weights"):
        settings["normalize_weights"] = False
    if fit.has("n_estimators"):
        settings["n_estimators"] = 1
    if fit.has("interactions"):
        settings["interactions"] = 0
    one = fit.try_again(fit.X, fit.y, weight, **settings)
    if one is None:
        return
    other = fit.again(take(fit.X, rows), fit.y[rows], None, **settings)
    a, b = (model.decision_function(fit.X) for model in (one, other))
    # Values are differences of logarithms, which extreme priors make large. Large values leave few
    # digits of the weights that they are added to. Weights of several classes are float32.
    rtol = 1e-4 + 1e-12 * (fit.get("prior") or 0.0)
    np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-6 * np.abs(a).max() + 1e-13)


@invariant("weights times a power of two give the same bits", share=0.2)
def _powers(fit: Fit) -> None:
    """The settings count no rows: the prior is a share, and steps have no limit."""
    if not _takes_weights(fit) or hasattr(fit.model, "cv_results_"):
        return
    if fit.has("prior"):
        settings = _count_no_rows(fit)
    elif fit.has("min_child_weight"):
        settings = {"min_child_weight": 0.0}
    else:
        return
    weight = fit.rng.exponential(size=len(fit.y)) if fit.weight is None else fit.weight
    factor = 2.0 ** int(fit.rng.integers(-40, 41))
    # Sums of weights that count as numbers of rows are rounded by rows. These are no such weights:
    # times 32 they are beyond the limit.
    if _counts_rows(fit, weight):
        weight = weight / 32.0
    with np.errstate(over="ignore"):
        scaled = weight * factor
        if not np.isfinite(scaled.sum()) or not np.array_equal(scaled / factor, weight):
            return  # weights lose digits at the ends of the range
    one = fit.try_again(fit.X, fit.y, weight, **settings)
    if one is None:
        return
    if _counts_rows(fit, scaled):
        scaled = scaled * 32.0
    other = fit.again(fit.X, fit.y, scaled, **settings)
    np.testing.assert_array_equal(one.predict_proba(fit.X), other.predict_proba(fit.X))


def _count_no_rows(fit: Fit) -> dict[str, Any]:
    """Return settings that replace all that count rows."""
    settings: dict[str, Any] = {"step": "unit", "interactions": 0, "rows_per_bin": None}
    settings["early_stopping"] = "auto"  # scorers of other estimators round means
    settings |= {"weak_learner": _settle(fit.learner), "calibration": _settle_scale(fit)}
    if fit.get("gain") is None and isinstance(fit.get("loss"), str):
        settings["gain"] = 1.0
    if fit.get("response") != "sign":
        settings |= {"response": "real", "prior": 1e-3, "l2": 0.0}
    if fit.get("selection") == "unbiased":
        settings |= {"selection": "greedy", "screening": None}
    return settings


def _settle(learner: Learner) -> Learner:
    """Return a weak learner without fields that count rows or depend on their number."""
    if isinstance(learner, Table):
        # min_saving multiplies the mean saving by chance, which depends on the rows.
        return learner.replace(
            max_cells=3 if learner.max_cells == "auto" else learner.max_cells,
            smoothing=learner.smoothing or 0.0,
            min_saving=0.0,
        )
    if not learner.is_grown:
        return learner
    learner = learner.replace(min_child_weight=0.0)
    if not isinstance(learner, Tree):
        return learner
    # With few rows leaves have no lines.
    learner = learner.replace(linear_leaves=False, linear_l2=5.0)
    if learner.is_symmetric:
        return learner.replace(max_depth=learner.max_depth or 4)
    return learner.replace(max_leaf_nodes=learner.max_leaf_nodes or 8)


def _settle_scale(fit: Fit) -> Calibration:
    scale: Calibration = read_parameter(fit.model, "calibration")
    return scale.replace(
        slope=1.0 if scale.slope == "auto" else scale.slope,
        intercept="share" if scale.intercept in ("auto", None) else scale.intercept,
    )


def _counts_rows(fit: Fit, weight: NDArray[np.float64]) -> bool:
    """Return whether the engine takes weights for numbers of rows, up to 16 on average."""
    normalize = bool(fit.get("normalize_weights"))
    rows = read_rows(fit.y, len(fit.y), weight, fit.get("class_weight"), normalize)
    counted = rows.training_weight
    return counted is not None and 1.4 < np.mean(counted[counted > 0.0]) < 23.0


@invariant("uniform weights, normalised, are no weights", share=0.1)
def _normalised(fit: Fit) -> None:
    if not fit.has("normalize_weights") or hasattr(fit.model, "cv_results_"):
        return
    if len(np.unique(fit.y)) > len(fit.model.classes_):
        return  # a class of rows of weight 0 alone, which some parameters refuse
    weight = np.full(len(fit.y), 10.0 ** fit.rng.uniform(-300, 300))
    settings = {"normalize_weights": True}
    if fit.has("early_stopping"):
        settings["early_stopping"] = "auto"  # scores are rounded means
    other = fit.try_again(fit.X, fit.y, None, **settings)
    if other is None:
        return  # factors of classes with the mean 1 may exceed the range
    assert_same(fit.again(fit.X, fit.y, weight, **settings), other, fit.X)


@invariant("class weights are factors of sample weights", share=0.2)
def _class_weights(fit: Fit) -> None:
    if not _takes_weights(fit) or hasattr(fit.model, "cv_results_"):
        return
    factors = {label: 2.0 ** fit.rng.integers(-3, 4) for label in fit.model.classes_.tolist()}
    weight = np.ones(len(fit.y)) if fit.weight is None else fit.weight
    of_rows = np.array([factors.get(label, 0.0) for label in fit.y.tolist()])
    if not 1e-30 < weight.sum() < 1e30 or np.any((weight == 0.0) != (of_rows * weight == 0.0)):
        return  # weights at the ends of the range are moved before the factors count
    # The rows of a bin are counted without the classes' factors. Scores of held-out rows do not use
    # the factors.
    inert = {"normalize_weights": False, "rows_per_bin": None, "early_stopping": "auto"}
    settings = {name: value for name, value in inert.items() if fit.has(name)}
    one = fit.try_again(fit.X, fit.y, fit.weight, class_weight=factors, **settings)
    if one is None:
        return
    other = fit.again(fit.X, fit.y, weight * of_rows, class_weight=None, **settings)
    np.testing.assert_array_equal(one.decision_function(fit.X), other.decision_function(fit.X))


# -- rados -----------------------------------------------------------------------------------------


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
        return  # a part of the rows may lack categories
    middle = len(fit.y) // 2
    first, last = np.arange(middle), np.arange(middle, len(fit.y))
    parts = [
        make(take(fit.X, rows), fit.y[rows], row_offset=int(rows[0]))
        for rows in (first, last)
        if len(rows)
    ]
    size = np.abs(np.asarray(whole.values)).max()
    combined = pb.rado.combine(parts).values
    np.testing.assert_allclose(combined, whole.values, rtol=1e-5, atol=1e-6 * size)
