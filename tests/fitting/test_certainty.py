"""Test losses that reach certainty, and its costs where it is wrong."""

import numpy as np
import pytest

import properboost as pb
from properboost import losses
from properboost.fitting.certainty import reaches_certainty

CERTAIN = [losses.Tangent(0.5), losses.ModifiedLeastSquares(0.1)]


def make_noisy(n=1500, seed=0):
    """Return rows whose labels no model can be certain of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-X[:, 0] - X[:, 1]))).astype(int)


def log_loss_of(model, X, y):
    """Return the log loss of a model, and that of the classes' shares."""
    p = np.clip(model.predict_proba(X)[np.arange(len(y)), y], np.finfo(float).eps, None)
    return -np.log(p).mean(), -np.log(np.bincount(y) / len(y))[y].mean()


@pytest.mark.parametrize("loss", [*CERTAIN, losses.Savage(), losses.GLog()], ids=repr)
def test_which_losses_reach_it(loss):
    certain = loss.name in ("tangent", "modified_least_squares")
    assert reaches_certainty(loss) == reaches_certainty(loss.known_by(100.0)) == certain


@pytest.mark.parametrize("loss", CERTAIN, ids=repr)
@pytest.mark.parametrize(
    "learner", [{}, {"interactions": 1}, {"outer_bags": 4}, {"weak_learner": "tree"}], ids=str
)
def test_a_fit_that_is_worse_than_the_share_is_warned_of(loss, learner):
    X, y = make_noisy(300)
    far = {"step": "unit", "learning_rate": 1.0, "n_estimators": 3}
    with pytest.warns(UserWarning, match=r"log loss of the training rows, .* the classes' shares"):
        model = pb.ProperBoostClassifier(loss, **far, **learner).fit(X, y)
    assert not np.less(*log_loss_of(model, X, y))


def test_validation_rows_are_looked_at_too():
    X, y = make_noisy(300)
    X_val, y_val = make_noisy(3000, seed=1)
    settings = {"n_estimators": 60, "early_stopping": False}
    # No warning concerns these rows.
    model = pb.ProperBoostClassifier(losses.Tangent(4.0), **settings).fit(X, y)
    assert np.less(*log_loss_of(model, X, y))
    with pytest.warns(UserWarning, match="log loss of the validation rows"):
        model.fit(X, y, X_val=X_val, y_val=y_val)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weak_learner", ["table", "stump", "rule", "tree"])
def test_a_plain_fit_is_better_than_the_share_without_a_word(weak_learner, seed):
    X, y = make_noisy(seed=seed)
    model = pb.ProperBoostClassifier("tangent", weak_learner=weak_learner).fit(X, y)
    assert np.less(*log_loss_of(model, X, y))
    assert np.less(*log_loss_of(model, *make_noisy(3000, seed=10 + seed)))


def test_rows_that_are_certain_and_right_are_nothing_to_warn_of():
    X = np.repeat([[0.0], [1.0]], 30, axis=0)
    y = np.repeat([0, 1], 30)
    model = pb.ProperBoostClassifier(losses.Tangent(1.0), weak_learner="table").fit(X, y)
    assert model.predict_proba(X).max() == 1.0
