"""Test the checks of options that the engine is given."""

import numpy as np
import pytest

import properboost as pb
from properboost.engine.options import check_loss_of_step, gain_is_free
from properboost.losses import GLog, Savage


@pytest.mark.parametrize("step", ["leveraging", "totally_corrective"])
def test_solved_steps_need_a_convex_loss(step):
    check_loss_of_step(GLog(), step)
    with pytest.raises(ValueError, match=f"step must not be '{step}' with loss='savage', which"):
        check_loss_of_step(Savage(), step)
    check_loss_of_step(Savage(), "line_search")


@pytest.mark.parametrize(
    ("response", "step", "l2"),
    [
        ("exact", "unit", 0.0),
        ("newton", "unit", 0.0),
        ("newton", "unit", 1.0),
        ("real", "line_search", 0.0),
        ("sign", "leveraging", 0.0),
        ("real", "unit", 0.0),
    ],
)
def test_a_free_gain_only_scales_raw_predictions(response, step, l2):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (200, 3)).astype(float)
    y = X[:, 0] + 3 * rng.normal(size=200) > 4
    scaled = []
    for gain in (1.0, 4.0):
        model = pb.ProperBoostClassifier(
            gain=gain, response=response, step=step, l2=l2, n_estimators=5, weak_learner="table"
        )
        scaled.append(model.fit(X, y).decision_function(X) / gain)
    same = np.allclose(*scaled, rtol=1e-4, atol=1e-6)
    assert same == gain_is_free(response, step, l2)
