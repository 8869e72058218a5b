"""Test the number of rounds by rows that are held out, against models of the other rows."""

import numpy as np
import pytest

import properboost as pb
from properboost.estimators import properboost
from properboost.estimators.properboost_parameters import plan_rows
from properboost.fitting.evidence import RowEvidence
from properboost.fitting.held_out_rounds import HeldOutScore, boost_while_it_helps
from properboost.fitting.scaling import find_scaling
from properboost.losses.registry import get_loss
from properboost.parameters.boosting import CHOICE

TABLE, TREE = CHOICE.table, CHOICE.tree


def draw_levels(n, n_classes=2, noise=0.3, seed=0):
    """Return rows of few levels, which have the same bins in every part."""
    rng = np.random.default_rng(seed)
    X = rng.integers(4, size=(n, 4)).astype(float)
    score = (X[:, 0] > 1.0) * X[:, 1] + X[:, 2] + noise * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def take_fold(monkeypatch, X, y, **arguments):
    """Return the first fold of a fit."""
    folds = []
    with monkeypatch.context() as patch:
        patch.setattr(
            properboost,
            "_score_fold",
            lambda _plan, fold, _evidence: (
                folds.append(fold) or HeldOutScore(np.zeros(1), np.ones(1), 100)
            ),
        )
        pb.ProperBoostClassifier(weak_learner="auto", n_estimators=2).fit(X, y, **arguments)
    return folds[0]


def boost(fold, learner, **parameters):
    """Return the score of models with this learner."""
    model = pb.ProperBoostClassifier(weak_learner=learner, **parameters)
    loss = get_loss(model.loss, model.gain)
    plan = plan_rows(model, loss, fold.learning, base=fold.base)
    return boost_while_it_helps(plan, find_scaling(plan, RowEvidence(fold.learning)), fold)


def follow(fold, X, y, learner, sample_weight=None, init_score=None, **parameters):
    """Yield the log losses of the rows held out, by a model of the rows that are learnt from."""

    def take(values, part):
        return None if values is None else values[part.numbers]

    model = pb.ProperBoostClassifier(weak_learner=learner, random_state=0, **parameters)
    learning, held_out = fold.learning, fold.held_out
    model.fit(
        *(take(values, learning) for values in (X, y, sample_weight)),
        init_score=take(init_score, learning),
    )
    rows = np.arange(held_out.n_rows)
    for p in model.staged_predict_proba(take(X, held_out), take(init_score, held_out)):
        yield -np.log(p[rows, take(y, held_out)])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "case", ["rows", "sample_weight", "init_score", "slope", "intercept"], ids=str
)
def test_the_losses_are_those_of_a_model_of_the_other_rows(monkeypatch, n_classes, case):
    X, y = draw_levels(400, n_classes)
    scores = np.column_stack([X[:, 3], X[:, 2], X[:, 1]])
    more = {
        "sample_weight": {"sample_weight": np.linspace(0.5, 2.0, 400)},
        "init_score": {"init_score": scores[:, 0] if n_classes == 2 else scores},
    }.get(case, {})
    calibration = {
        "slope": {"calibration": pb.Calibration(slope=0.5)},
        "intercept": {"calibration": pb.Calibration(intercept="share")},
    }.get(case, {})
    fold = take_fold(monkeypatch, X, y, **more)
    for learner, rate, n in ((TABLE, 1.0, 30), (TREE, 0.2, 15)):
        score = boost(fold, learner, n_estimators=30, random_state=0, **calibration)
        *_, expected = follow(
            fold, X, y, learner, n_estimators=n, learning_rate=rate, **calibration, **more
        )
        np.testing.assert_allclose(score.losses, expected, rtol=1e-5)  # margins are float32
        assert score.n_estimators == 30


@pytest.mark.parametrize("noise", [0.0, 0.3, 3.0])
@pytest.mark.parametrize(("learner", "rate", "pace"), [(TABLE, 1.0, 1), (TREE, 0.2, 2)], ids=str)
def test_block_follows_block_while_it_helps(monkeypatch, noise, learner, rate, pace):
    X, y = draw_levels(500, noise=noise)
    fold = take_fold(monkeypatch, X, y)
    curve = follow(fold, X, y, learner, n_estimators=1000 // pace, learning_rate=rate)
    sums = [losses.sum() for losses in curve][50 // pace - 1 :: 50 // pace]
    falls = -np.diff(sums)
    helps = falls > np.maximum(0.01 * np.array(sums[:-1]), 0.25)
    last = 1 + int(np.argmin([*helps, False]))
    score = boost(fold, learner)
    assert score.n_estimators == 50 * (1 + int(np.argmin(sums[: last + 1])))
    assert score.sum == pytest.approx(min(sums[: last + 1]), rel=1e-5)


def test_problems_without_noise_take_more_rounds(monkeypatch):
    lengths = [
        boost(take_fold(monkeypatch, *draw_levels(500, noise=noise)), TREE).n_estimators
        for noise in (0.0, 3.0)
    ]
    assert lengths[0] > 100 >= lengths[1]


def test_the_sum_is_weighted():
    first = HeldOutScore(np.array([1.0, 0.5]), np.array([1.0, 4.0]), 50)
    assert first.sum == 3.0
    assert HeldOutScore(np.array([0.7]), np.array([3.9]), 100).helps_after(first) is True
    assert HeldOutScore(np.array([0.7]), np.array([3.95]), 100).helps_after(first) is False
