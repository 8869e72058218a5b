"""The ULS paper's experiment: margins, their distributions, and mu against Matsushita's."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from properboost.losses import GBoost
from properboost.reproduce.data import DataSet
from properboost.reproduce.item import Piece
from properboost.reproduce.uls import fig7, fig8, surrogates

pytestmark = pytest.mark.filterwarnings("ignore:step='leveraging' found no finite")

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(90, 3))
Y = (X[:, 0] * X[:, 1] + 0.5 * RANDOM.normal(size=90) > 0).astype(np.int64)


@pytest.fixture
def small(monkeypatch):
    """A small table in place of a domain."""
    monkeypatch.setattr(surrogates.data, "load", lambda _: DataSet(X, Y, [False] * 3, None))


def test_mu_is_matsushitas_surrogate_at_another_scale(small):
    record = surrogates.measure(Piece("set", 0, surrogates.BY_IMPURITY.name))
    assert list(record) == list(surrogates.SETTINGS)
    for outcomes in record.values():
        assert outcomes[surrogates.MU] == outcomes[surrogates.MATSUSHITA]
        for outcome in outcomes.values():
            assert np.all(np.diff(outcome["cmd"]) >= 0.0)
            assert outcome["cmd"][-1] == 100.0
            # The distribution crosses 0 at the error.
            assert outcome["cmd"][40] == pytest.approx(outcome["error"], abs=1e-3)
    tabulated = fig8.tabulate({"set": record}, "")
    assert set(tabulated.values()) == {0.0, 0.5}


def test_not_rescaled_margins_are_dilated(small):
    record = surrogates.measure(Piece("set", 0, surrogates.NOT_RESCALED.name))
    for outcomes in record.values():
        assert outcomes[surrogates.MU]["error"] == outcomes[surrogates.MATSUSHITA]["error"]
        assert fig8.is_stair(outcomes)


def test_dilated_margins_are_those_of_the_links():
    raw = np.linspace(-3.0, 3.0, 13)
    matsushita, mu = GBoost(gain=0.5), GBoost(gain=surrogates.ONE_LESS_MU / 2.0)
    dilated = surrogates._dilate(2.0 * matsushita.probability(raw) - 1.0)
    np.testing.assert_allclose(dilated, 2.0 * mu.probability(raw) - 1.0, rtol=1e-9, atol=1e-12)


def test_lines_and_p_values_are_those_of_least_squares_and_student():
    logistic, ours = np.array([10.0, 20.0, 40.0]), np.array([11.0, 19.0, 42.0])
    seed = {
        str(k): {
            setting: {
                surrogates.MATSUSHITA: {"error": b},
                surrogates.LOGISTIC: {"error": a},
                surrogates.MU: {"error": b},
            }
            for setting in surrogates.SETTINGS
        }
        for k, (a, b) in enumerate(zip(logistic, ours, strict=True))
    }
    cells = fig7.tabulate(seed, "")
    slope, intercept = np.polyfit(logistic, ours, 1)
    assert cells["l = 1, J = 50", "slope"] == pytest.approx(slope)
    assert cells["l = 1, J = 50", "intercept"] == pytest.approx(intercept)
    p = ttest_1samp(ours - logistic, 0.0).pvalue
    assert cells["l = 1, J = 50", "P"] == pytest.approx(p)
    assert cells["l = 2, J = 10", "Matsushita less logistic"] == pytest.approx(2.0 / 3.0)


def test_several_classes_are_the_first_against_all_others(monkeypatch):
    classes = np.arange(90) % 3
    cells = np.column_stack([classes == 0, RANDOM.normal(size=90)]).astype(float)
    table = DataSet(cells, classes.astype(np.int64), [False, False], None)
    monkeypatch.setattr(surrogates.data, "load", lambda _: table)
    record = surrogates.measure(Piece("set", 0, surrogates.BY_EDGE.name))
    assert record["l = 1, J = 50"][surrogates.LOGISTIC]["error"] == 0.0
