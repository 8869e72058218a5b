"""The experiment behind Tables 6 and 7."""

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import properboost as pb
from helpers.models import AS_PUBLISHED
from properboost.reproduce import data
from properboost.reproduce.boostlr import large_sets, table6
from properboost.reproduce.boostlr.histograms import CONDITIONAL, EVEN, setting_of
from properboost.reproduce.item import Piece
from properboost.reproduce.pinned_search import make_search


@pytest.mark.parametrize("reading", [CONDITIONAL, EVEN])
def test_cross_validation_is_on_the_training_rows(monkeypatch, reading):
    monkeypatch.setattr(large_sets, "GAINS", (0.5, 4.0))
    monkeypatch.setattr(large_sets, "ROUNDS", 5)
    table = data.load("LETTER.p2")
    table = table._replace(X=table.X // 6)  # so few values that every fold has each
    train, test = np.arange(300), np.arange(300, 600)
    record = large_sets.try_gains(make_search, table, train, test, setting_of(reading), seed=2)
    X = setting_of(reading).cut(table.X, train, table.categorical)
    response = {CONDITIONAL: "conditional", EVEN: "real"}[reading]
    settings = {"n_estimators": 5, "step": "unit", "rows_per_bin": None, "response": response}
    folds = StratifiedKFold(5, shuffle=True, random_state=2)
    for k, gain in enumerate((0.5, 4.0)):
        model = pb.ProperBoostClassifier("glog", **AS_PUBLISHED | settings | {"gain": gain})
        y = table.y[train]
        p = cross_val_predict(model, X[train], y, cv=folds, method="predict_proba")
        assert record["GLog"]["neg_log_loss"][k] == pytest.approx(-log_loss(y, p))
        assert record["GLog"]["accuracy"][k] == pytest.approx(np.mean((p[:, 1] > 0.5) == y))
        wrong = np.sum(model.fit(X[train], y).predict(X[test]) != table.y[test])
        assert record["GLog"]["errors"][k] == wrong


def test_readings_choose_by_their_own_score():
    n = len(large_sets.GAINS)
    record = {"Exponential": 9, "GLog": {}, "GLaplacian": {}}
    for loss in large_sets.LOSSES:
        record[loss] = {name: [1.0] * n for name in ("errors", *large_sets.SCORINGS)}
        record[loss]["errors"] = list(range(100, 100 - n, -1))
        record[loss]["accuracy"][2] = record[loss]["neg_log_loss"][3] = 2.0
    chosen = {r.name: large_sets.choose(record, "GLog", r.name) for r in table6.ITEM.readings[:3]}
    assert chosen[CONDITIONAL] == (large_sets.GAINS[2], 98)
    assert chosen[large_sets.BY_LOG_LOSS.name] == (large_sets.GAINS[3], 97)
    assert chosen[large_sets.HINDSIGHT.name] == (large_sets.GAINS[-1], 101 - n)
    cells = table6.tabulate({"ADULT": record}, CONDITIONAL)
    assert cells["Logistic", "ADULT, errors"] == 100 - large_sets.GAINS.index(1)
    assert cells["Exponential", "ADULT, errors"] == 9


def test_the_gain_of_hindsight_is_that_of_either_division():
    n = len(large_sets.GAINS)
    record = {"GLog": {"errors": [9] * (n - 1) + [3], "accuracy": [1.0] + [0.0] * (n - 1)}}
    for reading in (large_sets.HINDSIGHT, large_sets.HINDSIGHT_FIRST):
        assert large_sets.choose(record, "GLog", reading.name) == (large_sets.GAINS[-1], 3)
    first_rows = large_sets.FIRST_ROWS.name
    assert large_sets.choose(record, "GLog", first_rows) == (large_sets.GAINS[0], 9)


def test_letter_is_divided_anew_and_adult_as_it_comes(monkeypatch):
    table = data.load("LETTER.p1")
    seen = []
    monkeypatch.setattr(
        table6, "try_gains", lambda _make, _, train, test, *rest: seen.append((train, test))
    )
    monkeypatch.setattr(data, "load", lambda _: table)
    for part, reading, seed in (
        ("LETTER.p1", CONDITIONAL, 1),
        ("LETTER.p1", CONDITIONAL, 2),
        ("LETTER.p1", table6.RANDOM_SPLITS, 1),
        ("LETTER.p1", large_sets.FIRST_ROWS.name, 1),
        ("ADULT", CONDITIONAL, 1),
    ):
        table6.measure(Piece(part, seed, reading))
    for train, test in seen:
        assert (len(train), len(test)) == (4_000, 16_000)
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(20_000))
    one, other, same, first, adult = [train.tolist() for train, _ in seen]
    assert one == same != other
    assert first == adult == list(range(4_000))
