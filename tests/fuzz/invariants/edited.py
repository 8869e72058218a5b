"""Invariants of models that were edited by hand, or merged."""

import copy
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import properboost as pb
from fuzz.invariants.registry import TINY, Fit, assert_same, can_predict, invariant
from properboost.models.ensemble import LARGEST_RAW


def _copy_additive(fit: Fit) -> Any:
    """Return a copy of a model that has terms; None of others."""
    if not can_predict(fit.model) or fit.scale > LARGEST_RAW / 4.0:
        return None
    ensemble = getattr(fit.model, "ensemble_", None)
    has_terms = ensemble is not None and ensemble.terms is not None
    return copy.deepcopy(fit.model) if has_terms else None


@invariant("a function that is set is there, and nothing else moves", share=0.3)
def _set(fit: Fit) -> None:
    model = _copy_additive(fit)
    if model is None:
        return
    j, label = int(fit.rng.integers(model.n_features_in_)), model.classes_[-1]
    before = [model.shape_function(k, label) for k in range(model.n_features_in_)]
    size = fit.scale + TINY
    values = size * fit.rng.normal(size=len(before[j].values))
    model.set_shape_function(j, values, class_=label, reason="fuzz")
    for k, old in enumerate(before):
        expected = values if k == j else old.values
        actual = model.shape_function(k, label).values
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9 * size)
    assert len(model.edits_) == 1
    with tempfile.TemporaryDirectory() as folder:
        model.save_model(Path(folder) / "edited.json")
        assert_same(model, pb.load_model(Path(folder) / "edited.json"), fit.X)


@invariant("a removed feature has no part", share=0.3)
def _removed(fit: Fit) -> None:
    model = _copy_additive(fit)
    if model is None:
        return
    before = [model.shape_function(k, model.classes_[0]) for k in range(model.n_features_in_)]
    j = int(fit.rng.integers(model.n_features_in_))
    model.remove_feature(j)
    raw = model.decision_function(fit.X)
    assert np.isfinite(raw).all()
    for k, old in enumerate(before):
        actual = model.shape_function(k, model.classes_[0]).values
        expected = np.zeros_like(old.values) if k == j else old.values
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9 * (fit.scale + TINY))
    if isinstance(fit.X, np.ndarray) and fit.X.dtype.kind == "f":
        other = fit.X.copy()
        other[:, j] = other[::-1, j]
        np.testing.assert_array_equal(model.decision_function(other), raw)


@invariant("a model merged with itself is the model", share=0.2)
def _merged(fit: Fit) -> None:
    model = getattr(fit.model, "best_estimator_", fit.model)
    if not can_predict(fit.model) or not isinstance(model, pb.ProperBoostClassifier):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # merging must not warn: the bins and cells stay the same
        merged = pb.merge_models([model, model], [1.0, 3.0])
    raw = model.decision_function(fit.X)
    atol = 1e-12 * fit.scale + TINY
    np.testing.assert_allclose(merged.decision_function(fit.X), raw, rtol=1e-9, atol=atol)
