"""The SavageBoost paper, and BoostLR's shrinkage and alpha-tunable losses, as classifiers."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

import properboost as pb

RESPONSES = ("real", "exact")


@pytest.mark.parametrize("response", RESPONSES)
def test_rows_far_on_the_wrong_side_lose_their_weight(response):
    """Weights are -phi'(v), which is small where v is far below 0 (Figure 1 of the paper)."""
    X, y = np.repeat([[0.0], [1.0]], 100, axis=0), np.repeat([0, 1], 100)
    y[[0, -1]] = 1, 0
    model = pb.SavageBoost(response=response, n_estimators=20).fit(X, y)
    margins = model.margins(X, y)
    weights = model.loss_.weight(margins)
    wrong = np.isin(np.arange(200), [0, 199])
    assert np.all(margins[wrong] < -1.0)
    assert weights[wrong].max() < 0.05 * pb.losses.Exponential().weight(margins[wrong]).min()
    assert weights[wrong].max() < model.loss_.weight(0.0)


@pytest.mark.parametrize("response", RESPONSES)
def test_the_risk_never_rises(binary, response):
    X, y = binary
    y = np.where(np.arange(len(y)) % 5 == 0, 1 - y, y)
    model = pb.SavageBoost(response=response, n_estimators=40).fit(X, y)
    risk = model.history_["risk"]
    assert risk[0] < model.loss_.loss(0.0)
    assert np.all(np.diff(risk) <= 1e-7 * risk[:-1])
    expected = model.loss_.loss(model.margins(X, y)).mean()
    assert risk[-1] == pytest.approx(expected, rel=1e-5)


def test_exact_values_are_stationary():
    """Two cells: each has the link of its share of ones, two pseudo-rows pulling to 1/2."""
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    y = np.concatenate([np.arange(50) < 10, np.arange(50) < 40]).astype(int)
    model = pb.SavageBoost(response="exact", prior=1e-9, n_estimators=1).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[[0, -1]])[:, 1], [0.2, 0.8], rtol=1e-5)


@pytest.mark.parametrize("loss", ["savage", "glog", "exponential"])
def test_exact_probabilities_do_not_depend_on_the_gain(binary, loss):
    X, y = binary
    settings = {"response": "exact", "n_estimators": 5}
    one = pb.ProperBoostClassifier(loss, gain=1.0, **settings).fit(X, y)
    four = pb.ProperBoostClassifier(loss, gain=4.0, **settings).fit(X, y)
    np.testing.assert_array_equal(one.history_["feature"], four.history_["feature"])
    np.testing.assert_allclose(one.predict_proba(X), four.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(
        4.0 * one.decision_function(X), four.decision_function(X), rtol=1e-3, atol=1e-3
    )


# -- shrinkage ------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["savage", "exponential", "alpha"])
@pytest.mark.parametrize("response", ["real", "sign"])
@pytest.mark.parametrize("step", ["guarded", "unit"])
def test_a_search_for_the_gain_is_one_for_the_learning_rate(binary, loss, response, step):
    """BoostLR, section 6.4: shrinkage is a loss."""
    X, y = binary
    space = {
        "loss": loss, "selection": "greedy", "response": response, "step": step, "n_estimators": 10,
    }  # fmt: skip
    by_gain, by_rate = (
        pb.ProperBoostClassifierCV(space | lists, cv=3, refit=False, effort=None).fit(X, y)
        for lists in ({"gain": [1.0, 4.0]}, {"gain": [1.0], "learning_rate": [1.0, 0.25]})
    )
    np.testing.assert_allclose(by_gain.validation_curves_, by_rate.validation_curves_, rtol=1e-5)
    assert by_gain.gain_ == 1.0 / by_rate.best_params_["learning_rate"]


# -- alpha ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "twin"), [(0.0, pb.losses.GLog(1.5)), (0.5, pb.losses.Exponential(3.0))]
)
@pytest.mark.parametrize("response", ["real", "newton"])
def test_alpha_ends_are_the_logistic_and_the_exponential_model(binary, alpha, twin, response):
    X, y = binary
    settings = {"response": response, "n_estimators": 10, "rows_per_bin": None}
    tuned = pb.ProperBoostClassifier(pb.losses.Alpha(alpha, 1.5), **settings).fit(X, y)
    classic = pb.ProperBoostClassifier(twin, **settings).fit(X, y)
    np.testing.assert_array_equal(tuned.history_["feature"], classic.history_["feature"])
    np.testing.assert_allclose(tuned.predict_proba(X), classic.predict_proba(X), atol=1e-5)


def test_alphas_and_gains_are_searched_together(binary):
    """Each cell of the grid equals a separate fit, and the best of all is taken."""
    X, y = binary
    y = np.where(np.arange(len(y)) % 4 == 0, 1 - y, y)
    alphas, gains, cv = [0.0, 0.25, 0.5], [0.5, 2.0], StratifiedKFold(3)
    space = {"selection": "greedy", "n_estimators": 8, "gain": gains}
    losses = [pb.losses.get_loss("alpha", alpha=alpha) for alpha in alphas]
    search = pb.ProperBoostClassifierCV(space | {"loss": losses}, cv=cv, effort=None).fit(X, y)
    curves = search.validation_curves_.reshape(3, 2, 3, 8)
    for i, alpha in enumerate(alphas):
        alone = pb.ProperBoostClassifierCV(
            space | {"loss": pb.losses.Alpha(alpha)}, cv=cv, refit=False, effort=None
        ).fit(X, y)
        np.testing.assert_allclose(curves[i], alone.validation_curves_, rtol=1e-5)
    means = curves[..., -1].mean(axis=2)
    i, j = np.unravel_index(means.argmax(), means.shape)
    assert search.gain_ == gains[j]
    assert search.loss_ == pb.losses.Alpha(alphas[i], gains[j])
    assert search.best_score_ == pytest.approx(means.max())
    for value in alphas:
        assert value in search.cv_results_["param_alpha"]
