"""Invariants of fits that continue, are watched on held-out rows, or start from predictions."""

import copy
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss

from fuzz.invariants.registry import TINY, Fit, assert_same, find_refusal, invariant
from properboost.parameters.kinds import SOLVED
from properboost.parameters.stages import EarlyStopping

BEYOND_LOGS = 1e-12
"""Probability below which scikit-learn clips, at another place for each type."""


@invariant("a fit that goes on has the bits of one long fit", share=0.3)
def _goes_on(fit: Fit) -> None:
    if not fit.has("warm_start") or fit.get("n_estimators") < 2:
        return
    n = fit.get("n_estimators")
    half = fit.again(fit.X, fit.y, fit.weight, n_estimators=max(1, n // 2), warm_start=False)
    before = copy.deepcopy(half)
    half.set_params(n_estimators=n, warm_start=True)
    if refusal := find_refusal(half, fit):
        assert "warm_start" in refusal
        assert_same(before, half, fit.X)
        return
    if fit.model.multiclass_ == "canonical":
        return  # the search for the rows' shifts starts from the last ones
    assert_same(fit.model, half, fit.X)


@invariant("scores of validation rows are those of staged predictions", share=0.2)
def _scores(fit: Fit) -> None:
    if not fit.has("early_stopping") or fit.get("step") == "totally_corrective":
        return
    stopping = fit.stopping.replace(validation_fraction=None, scoring="neg_log_loss")
    model = fit.change(warm_start=False, early_stopping=stopping)
    if len(np.unique(fit.y)) > len(fit.model.classes_):
        return  # a class of rows of weight 0 alone
    model.fit(fit.X, fit.y, fit.weight, X_val=fit.X, y_val=fit.y)
    scores = model.validation_scores_
    assert model.n_iter_ <= len(scores)
    if not stopping.stops:
        assert model.n_iter_ == len(scores)
    elif model.pairs_ == [] and not model.ensemble_.intercepts:
        best = np.where(np.isnan(scores), -np.inf, scores)
        assert len(scores) == 0 or best[max(model.n_iter_ - 1, 0)] == best.max()
    for score, p in zip(scores, model.staged_predict_proba(fit.X), strict=False):
        eps = np.finfo(np.float64).eps
        expected = -log_loss(fit.y, np.clip(p, eps, 1.0), labels=model.classes_)
        if p.min() > BEYOND_LOGS:
            np.testing.assert_allclose(score, expected, rtol=1e-9, atol=1e-12)
    if fit.get("step") in SOLVED:
        return
    alone = fit.again(
        fit.X, fit.y, fit.weight, n_estimators=max(1, model.n_iter_), warm_start=False,
        early_stopping=False, interactions=0,
    )  # fmt: skip
    if model.pairs_ == []:
        np.testing.assert_array_equal(
            alone.decision_function(fit.X), model.decision_function(fit.X)
        )


@invariant("estimators whose score is undefined are never the best", share=0.1)
def _undefined_scores(fit: Fit) -> None:
    if not fit.has("warm_start", "early_stopping"):
        return
    if len(np.unique(fit.y)) > len(fit.model.classes_):
        return  # a class of rows of weight 0 alone
    values = [np.nan, -np.inf, *np.round(fit.rng.normal(size=3), 1)]
    share = fit.rng.choice([0.0, 0.05, 0.5])
    drawn: list[float] = []

    def score(*_: Any) -> float:
        drawn.append(fit.rng.choice(values[2:] if fit.rng.random() < share else values[:2]))
        return drawn[-1]

    stopping = fit.stopping if fit.stopping.stops else EarlyStopping()
    watched = stopping.replace(validation_fraction=None, scoring=score)
    model = fit.change(warm_start=False, early_stopping=watched, interactions=0)
    refusal = find_refusal(model, fit, X_val=fit.X, y_val=fit.y)
    defined = np.array(drawn) > -np.inf
    if not defined.any():
        assert not drawn or "scoring=<function" in refusal
        return
    assert not refusal
    scores = model.validation_scores_
    seen, again = drawn[: len(scores)], drawn[len(scores) :]
    best = np.where(defined[: len(seen)], seen, -np.inf)
    assert model.n_iter_ == 1 + int(best.argmax())
    # The kept estimators are scored again, with the model's final intercept.
    assert len(again) in ((0, model.n_iter_) if model.ensemble_.intercepts else (0,))
    np.testing.assert_array_equal(scores, again + seen[len(again) :])


@invariant("raw predictions begin with an init_score", share=0.1)
def _init_scores(fit: Fit) -> None:
    if not fit.has("warm_start", "early_stopping"):
        return
    shape = (len(fit.y), *fit.raw.shape[1:])
    start = fit.rng.normal(size=shape)
    model = fit.change(warm_start=False, early_stopping="auto")
    if refusal := find_refusal(model, fit, init_score=start):
        # Scores of size 1 are margins beyond float64 for the least gains.
        assert "raw predictions beyond" in refusal or "is not finite" in refusal
        return
    added = model.decision_function(fit.X, 0.0)
    whole = model.decision_function(fit.X, start)
    np.testing.assert_allclose(whole, added + start, rtol=1e-12, atol=TINY)
    with pytest.raises(ValueError, match="init_score must be given"):
        model.predict(fit.X)
