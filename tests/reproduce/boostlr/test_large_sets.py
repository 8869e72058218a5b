"""The experiment behind Tables 6 and 7."""

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import properboost as pb
from helpers.models import AS_PUBLISHED
from properboost.reproduce import data
from properboost.reproduce.boostlr import large_sets, table6
from properboost.reproduce.boostlr.histograms import EVEN, setting_of


def test_cross_validation_is_on_the_training_rows(monkeypatch):
    monkeypatch.setattr(large_sets, "GAINS", (0.5, 4.0))
    monkeypatch.setattr(large_sets, "ROUNDS", 5)
    table = data.load("LETTER.p2")
    table = table._replace(X=table.X // 6)  # so few values that every fold has each
    train, test = np.arange(300), np.arange(300, 600)
    found = large_sets.try_gains(table, train, test, setting_of(EVEN), seed=2)
    X = setting_of(EVEN).cut(table.X, train, table.categorical)
    own = {"n_estimators": 5, "step": "unit", "rows_per_bin": None}
    folds = StratifiedKFold(5, shuffle=True, random_state=2)
    for k, gain in enumerate((0.5, 4.0)):
        model = pb.ProperBoostClassifier("glog", **AS_PUBLISHED | own | {"gain": gain})
        y = table.y[train]
        p = cross_val_predict(model, X[train], y, cv=folds, method="predict_proba")
        assert found["GLog"]["neg_log_loss"][k] == pytest.approx(-log_loss(y, p))
        assert found["GLog"]["accuracy"][k] == pytest.approx(np.mean((p[:, 1] > 0.5) == y))
        wrong = np.sum(model.fit(X[train], y).predict(X[test]) != table.y[test])
        assert found["GLog"]["errors"][k] == wrong


def test_readings_choose_by_their_own_score():
    n = len(large_sets.GAINS)
    record = {"Exponential": 9, "GLog": {}, "GLaplacian": {}}
    for loss in large_sets.LOSSES:
        record[loss] = {name: [1.0] * n for name in ("errors", *large_sets.SCORINGS)}
        record[loss]["errors"] = list(range(100, 100 - n, -1))
        record[loss]["accuracy"][2] = record[loss]["neg_log_loss"][3] = 2.0
    chosen = {r.name: large_sets.choose(record, "GLog", r.name) for r in table6.ITEM.readings[:3]}
    assert chosen[EVEN] == (large_sets.GAINS[2], 98)
    assert chosen[large_sets.BY_LOG_LOSS.name] == (large_sets.GAINS[3], 97)
    assert chosen[large_sets.HINDSIGHT.name] == (large_sets.GAINS[-1], 101 - n)
    found = table6.tabulate({"ADULT": record}, EVEN)
    assert found["Logistic", "ADULT, errors"] == 100 - large_sets.GAINS.index(1)
    assert found["Exponential", "ADULT, errors"] == 9
