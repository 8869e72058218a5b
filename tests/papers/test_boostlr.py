"""The BoostLR paper through the public interface, on its real data."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import log_loss

import properboost as pb
from helpers.models import AS_PUBLISHED
from helpers.oracles import TRACE_IDS, TRACES


@pytest.fixture(scope="module")
def letter():
    def load(part):
        return [
            pb.datasets.load_letter(part, subset=subset, return_X_y=True)
            for subset in ("train", "test")
        ]

    return {part: load(part) for part in ("p1", "p2")}


@pytest.mark.parametrize("trace", TRACES, ids=TRACE_IDS)
def test_the_classifier_makes_the_errors_of_the_traces(letter, trace):
    (X, y), (X_test, y_test) = letter[trace["data"].removeprefix("LETTER.")]
    settings = {name: trace[name] for name in ("loss", "gain", "response", "step")}
    model = pb.ProperBoostClassifier(**AS_PUBLISHED | settings).fit(X, y)
    errors = int((model.margins(X_test, y_test) <= 0).sum())  # a raw prediction of 0 is an error
    assert abs(errors - trace["test_errors"]) <= max(3, 0.005 * trace["test_errors"])
    loss = log_loss(y_test, np.clip(model.predict_proba(X_test)[:, 1], 1e-12, 1 - 1e-12))
    assert loss == pytest.approx(trace["test_log_loss"], abs=2e-4)


@pytest.mark.filterwarnings("ignore:the training risk still falls")
@pytest.mark.parametrize("part", ["p1", "p2"])
@pytest.mark.parametrize("gain", [4.0, 10.0])
def test_the_link_of_the_tuned_loss_is_the_calibrated_one(letter, part, gain):
    """Table 5: the same sums through the link of gain 1 are probabilities of another loss."""
    (X, y), (X_test, y_test) = letter[part]
    settings = AS_PUBLISHED | {"n_estimators": 50}
    tuned = pb.ProperBoostClassifier(**settings | {"gain": gain}).fit(X, y)
    shrunk = pb.ProperBoostClassifier(**settings, learning_rate=1 / gain).fit(X, y)
    raw = tuned.decision_function(X_test)
    np.testing.assert_array_equal(tuned.history_["feature"], shrunk.history_["feature"])
    # Sums of terms of order 10, some of which cancel.
    np.testing.assert_allclose(raw, gain * shrunk.decision_function(X_test), 1e-12, atol=1e-13)
    ours = tuned.predict_proba(X_test)[:, 1]
    np.testing.assert_allclose(ours, shrunk.predict_proba(X_test)[:, 1], rtol=1e-12)
    rival = pb.losses.GLog(1.0).probability(raw)
    assert log_loss(y_test, rival) > 1.1 * log_loss(y_test, ours)


def test_adult():
    """The paper's best of 100 rounds is 2,406 errors (Table 6)."""
    folder = os.environ.get("PROPERBOOST_DATA")
    if folder is None or not (Path(folder) / "adult_test.csv.gz").exists():
        pytest.skip("the set is not shipped, and PROPERBOOST_DATA names no folder that has it")
    X, y = pb.datasets.load_adult(subset="train", return_X_y=True)
    X_test, y_test = pb.datasets.load_adult(subset="test", return_X_y=True)
    assert (len(X), len(X_test)) == (30_162, 15_060)
    settings = {"n_estimators": 100, "weak_learner": pb.Table(max_cells=None)}
    model = pb.ProperBoostClassifier(loss="glog", gain=2, **settings).fit(X, y)
    assert int((model.predict(X_test) != y_test).sum()) <= 2_060
    assert log_loss(y_test, model.predict_proba(X_test)[:, 1]) <= 0.292
