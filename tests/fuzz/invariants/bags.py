"""Invariants of models with bags: standard errors and intervals."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.invariants.registry import TINY, Fit, can_predict, find_refusal, invariant
from properboost.data.labels import read_rows
from properboost.models.bag_tables import BagTables
from properboost.models.standard_errors import StandardErrors
from properboost.parameters.declare import read_parameter
from properboost.parameters.kinds import SOLVED
from properboost.parameters.stages import Interactions


def _find_spread(fit: Fit) -> StandardErrors | None:
    if not can_predict(fit.model):
        return None
    return getattr(getattr(fit.model, "ensemble_", None), "standard_errors", None)


@invariant("the mean of the bags is the model, but for intercepts", share=0.5)
def _mean(fit: Fit) -> None:
    spread, ensemble = _find_spread(fit), getattr(fit.model, "ensemble_", None)
    if not isinstance(spread, BagTables):
        return
    raws = [
        raw - bag.intercept
        for raw, bag in zip(
            spread.raw_predictions(*fit.model._open(fit.X)), spread.bags, strict=True
        )
    ]
    raw = fit.raw.reshape(len(fit.y), -1) - ensemble.intercept
    scale = fit.scale + max(rounds.bound() for bag in spread.bags for rounds in bag.models)
    scale += max(np.abs(bag.intercept).max() for bag in spread.bags)
    np.testing.assert_allclose(np.mean(raws, axis=0), raw, rtol=1e-9, atol=1e-12 * scale + TINY)


@invariant("standard errors are finite, and intervals contain their values", share=0.5)
def _errors(fit: Fit) -> None:
    spread, model = _find_spread(fit), fit.model
    if spread is None:
        return
    for label in model.classes_.tolist():
        terms = [model.shape_function(j, label) for j in range(model.n_features_in_)]
        terms += [model.term_function(pair, label) for pair in model.pairs_]
        for term in terms:
            low, high = term.interval(0.99)
            assert np.isfinite([low, high]).all()
            assert (low <= high).all()
            assert 0.0 <= term.p_value <= 1.0
            assert term.n_bags == spread.n_bags
    cells = [np.inf] * model.n_features_in_ + [pair.n_cells for pair in model.ensemble_.pairs]
    codes = model.ensemble_.encode(*model._open(fit.X))
    for label in model.classes_.tolist():
        errors = model.contributions(fit.X, label).standard_errors
        np.testing.assert_array_equal(np.isnan(errors.T), codes >= np.array(cells)[:, None])
        assert (np.isfinite(errors) & (errors >= 0.0) | np.isnan(errors)).all()
    errors = model.importance_errors_
    assert np.isfinite(errors).all()
    assert errors.min(initial=0.0) >= 0.0
    if isinstance(spread, BagTables):
        probability = model.predict_proba(fit.X)
        low, high = np.moveaxis(model.predict_interval(fit.X), 2, 0)
        assert np.isfinite([low, high]).all()
        assert low.min() >= 0.0
        assert high.max() <= 1.0
        assert (low <= probability * (1.0 + 1e-9) + TINY).all()
        assert (probability * (1.0 - 1e-9) <= high + TINY).all()


@invariant("every bag has two rows of every class to choose from")
def _classes(fit: Fit) -> None:
    has_bags = hasattr(fit.best, "outer_bags") and read_parameter(fit.best, "outer_bags").n_bags
    if has_bags and can_predict(fit.model):
        assert count_fewest(fit.model, fit.y, fit.weight) > 1


@invariant("pairs follow bags and classes that end apart", share=0.04)
def _pairs(fit: Fit) -> None:
    """By default each model has as many rounds as help it."""
    if not fit.has("outer_bags", "interactions", "n_estimators"):  # searches are left out
        return
    if fit.learner.is_grown or fit.get("step") in SOLVED or len(fit.y) > 500:
        return
    model = fit.change(
        n_estimators=None,
        interactions=Interactions(1, n_estimators=1),
        outer_bags=int(fit.rng.choice([0, 4, 8, 17])),
        multiclass="one_vs_rest",
        calibration__temperature=None,
        warm_start=False,
    )
    if refusal := find_refusal(model, fit):
        assert "outer_bags must be 0" in refusal or "make raw predictions beyond" in refusal
        return
    assert np.isfinite(model.decision_function(fit.X)).all()


def count_fewest(model: Any, y: NDArray[Any], weight: NDArray[np.float64] | None) -> int:
    """Return the number of rows with weight of the rarest class."""
    rows = read_rows(y, len(y), weight, model.class_weight, model.normalize_weights)
    return int(np.bincount(rows.codes)[: len(rows.classes)].min())
