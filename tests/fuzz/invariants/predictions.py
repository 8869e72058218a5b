"""Invariants of predictions for any rows."""

import contextlib
import copy
from typing import Any

import numpy as np
from scipy.sparse import issparse

from fuzz.invariants.registry import TINY, Fit, can_predict, invariant, take
from properboost.estimators.boosted import BoostedClassifier


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
        if key == "validation_score":  # scores of weak models may be undefined
            values = values[~np.isnan(values)]
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
        return  # the values of a round depend on the earlier ones
    if any(rounds.lines is not None for rounds in model.ensemble_.models):
        return  # models with lines have no contributions
    if not fit.learner.is_grown:
        for j in range(model.n_features_in_):
            shape = model.shape_function(j, label)
            assert np.isfinite(shape.values).all()
            assert np.isfinite(shape.weights).all()
            assert np.isfinite(shape.missing_value)
        for pair in getattr(model, "pairs_", ()):
            assert np.isfinite(model.term_function(pair, label).values).all()
    elif fit.learner.name == "rule":
        assert all(np.isfinite(rule.value) for rule in model.rules(label) if hasattr(rule, "value"))
    if len(fit.y) > 300 and fit.learner.is_grown:
        return  # contributions of many rows are slow
    contributions = model.contributions(fit.X, label)
    assert np.isfinite(contributions.values).all()
    raw = fit.raw if fit.raw.ndim == 1 else fit.raw[:, -1]
    if model.multiclass_ in ("softmax", "canonical"):
        raw = raw - fit.raw.mean(axis=1)
    np.testing.assert_allclose(
        contributions.baseline + contributions.values.sum(axis=1),
        raw,
        rtol=1e-6,
        atol=1e-7 * fit.scale + TINY,
    )
    few = fit.X[:20] if isinstance(fit.X, np.ndarray) else None
    if few is None or fit.learner.is_grown:
        return
    for scale in ("log_odds", "probability"):
        contributions = model.contributions(few, scale=scale)
        assert np.isfinite(contributions.values).all()
        assert np.isfinite(contributions.total).all()
        assert np.isfinite(model.shape_function(0, scale=scale).values).all()
    assert 0.0 <= contributions.total.min() <= contributions.total.max() <= 1.0
    contributions._repr_html_()


@invariant("a model is the sum of its terms", share=0.5)
def _terms(fit: Fit) -> None:
    model = fit.model
    terms = getattr(getattr(model, "ensemble_", None), "terms", None)
    if terms is None or not can_predict(model):
        return
    table, n_threads = model._open(fit.X)
    codes, models = model.ensemble_.binning.encode(table, None, n_threads), range(terms.n_models)
    raw = fit.raw.reshape(len(fit.y), -1)
    if model.ensemble_.joint:
        raw = raw - raw.mean(axis=1, keepdims=True)
    total = terms.evaluate(codes, models, n_threads).sum(axis=0)
    total = total + [terms.find_constant(m) for m in models]
    np.testing.assert_allclose(total, raw, rtol=1e-9, atol=1e-10 * fit.scale + TINY)
    for k, features in enumerate(terms.features):
        weights = terms.weights_of(k)
        for m in models if len(features) > 1 else ():
            table_of_term = terms.table_of(m, k)
            assert np.isfinite(table_of_term).all()
            for axis in range(len(features)):
                weight, sums = weights.sum(axis=axis), (weights * table_of_term).sum(axis=axis)
                means = np.divide(sums, weight, out=np.zeros_like(sums), where=weight > 0.0)
                assert np.abs(means).max() <= 1e-10 * fit.scale + TINY, features
    assert all(np.isfinite(term.importance) for term in model.terms_)


@invariant("a scorer predicts a row alone as the model does", share=0.3)
def _compiled(fit: Fit) -> None:
    if not can_predict(fit.model) or isinstance(fit.X, list):
        return
    scorer, expected = fit.model.compile(), fit.model.predict_proba(fit.X)
    for i in fit.rng.permutation(len(fit.y))[:5]:
        row = take(fit.X, np.array([i]))
        values = _list_values(row)
        for form in (row, dict(zip(scorer.feature_names_in_, values, strict=True))):
            np.testing.assert_array_equal(scorer.predict_proba(form)[0], expected[i])


def _list_values(row: Any) -> list[Any]:
    """Return the values of the only row of a table."""
    if isinstance(row, np.ndarray):
        return list(row[0])
    if issparse(row):
        return list(row.toarray()[0])
    if hasattr(row, "itertuples"):
        return list(next(row.itertuples(index=False, name=None)))
    return (
        list(row.row(0)) if hasattr(row, "row") else [column[0].as_py() for column in row.columns]
    )


@invariant("training rows do not drift", share=0.3)
def _drift(fit: Fit) -> None:
    model = fit.model
    if not can_predict(model) or fit.weight is not None or model.get_params().get("class_weight"):
        return  # rows of weight 0 are not in training
    if fit.holds_out:
        return  # held-out rows are not in training either
    counts = model.count_drift(fit.X)
    for name in ("unseen", "below", "above", "missing"):
        assert not np.nan_to_num(counts[name]).any(), name


@invariant("a row's prediction does not depend on the others", share=0.3)
def _rows_alone(fit: Fit) -> None:
    if not can_predict(fit.model):
        return
    if isinstance(fit.X, list) and np.asarray(fit.X).dtype.kind not in "fb":
        return  # numpy makes floats or integers of large integers, depending on the others
    rows = fit.rng.permutation(len(fit.y))[: fit.rng.integers(1, len(fit.y) + 1)]
    actual = fit.model.decision_function(take(fit.X, rows))
    # A linear model is a product of matrices, with sums in any order.
    tolerance = 1e-9 if hasattr(fit.model, "coef_") else 0.0
    np.testing.assert_allclose(actual, fit.raw[rows], rtol=tolerance, atol=tolerance * fit.scale)


@invariant("numbers that training never saw are predicted", share=0.4)
def _strange_rows(fit: Fit) -> None:
    if not can_predict(fit.model) or not isinstance(fit.X, np.ndarray) or fit.X.dtype.kind != "f":
        return
    strange = fit.X.copy()
    ends = [np.nan, np.inf, -np.inf, 0.0, np.finfo(fit.X.dtype).max, np.finfo(fit.X.dtype).tiny]
    chosen = fit.rng.random(strange.shape) < 0.5
    strange[chosen] = fit.rng.choice(ends, int(chosen.sum())).astype(strange.dtype)
    if hasattr(fit.model, "coef_"):
        with contextlib.suppress(ValueError):  # the error states that they are not finite
            fit.model.predict_proba(strange)
        return
    probability = fit.model.predict_proba(strange)
    assert np.isfinite(probability).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-9)
    assert np.isfinite(fit.model.decision_function(strange)).all()


@invariant("raw predictions follow the directions of features")
def _monotonic(fit: Fit) -> None:
    wanted = getattr(fit.best, "monotonic_cst", None)
    if wanted is None or not can_predict(fit.model) or not isinstance(fit.X, np.ndarray):
        return
    directions = wanted.items() if isinstance(wanted, dict) else enumerate(wanted)
    for j, direction in directions:
        if not direction:
            continue
        values = fit.X[:, j]
        values = np.unique(values[values == values])  # NaN would spoil the order of objects
        if not len(values):
            continue
        rows = fit.X[fit.rng.integers(0, len(fit.X), 3)]
        grid = np.repeat(rows, len(values), axis=0)
        grid[:, j] = np.tile(values, len(rows))
        raw = fit.model.decision_function(grid).reshape(len(rows), -1)
        assert np.all(np.diff(raw, axis=1) * direction >= -1e-12 * fit.scale)


@invariant("a fitted model is made to rise or fall with a feature", share=0.2)
def _monotonize(fit: Fit) -> None:
    if not can_predict(fit.model) or not hasattr(fit.model, "monotonize"):
        return
    model = copy.deepcopy(fit.model)
    j = int(fit.rng.integers(model.n_features_in_))
    try:
        model.monotonize(j)
    except ValueError:
        return
    values = model.shape_function(j).values
    assert (np.diff(values) >= 0.0).all() or (np.diff(values) <= 0.0).all()
    unlike = model.decision_function(fit.X) - fit.raw
    old, new = (m.ensemble_.terms.table_of(0, j) for m in (fit.model, model))
    assert np.abs(unlike).max() <= np.abs(new - old).max() + 1e-9 * fit.scale


@invariant("categories that training never saw are predicted", share=0.5)
def _strange_categories(fit: Fit) -> None:
    if not hasattr(fit.X, "iloc") or not can_predict(fit.model):
        return
    strange = fit.X.copy()
    for name, column in fit.X.items():
        if str(column.dtype) == "category":
            values = column.astype(object).to_numpy(dtype=object, copy=True)
            if not any(isinstance(value, str) for value in values):
                continue  # strings would be other categories
            values[fit.rng.random(len(values)) < 0.5] = fit.rng.choice(["new", None])
            strange[name] = type(fit.X)({name: values})[name].astype("category")
    assert np.isfinite(fit.model.decision_function(strange)).all()
    np.testing.assert_allclose(fit.model.predict_proba(strange).sum(axis=1), 1.0, rtol=1e-9)
