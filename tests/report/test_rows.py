"""The most telling rows, and their descriptions."""

import numpy as np
import pandas as pd
import pytest

import properboost as pb
import properboost.report.rows
from properboost.report.rows import choose_rows, describe_rows


def test_the_most_telling_rows_are_chosen():
    p = np.array([0.9, 0.2, 0.95, 0.52, 0.05, 0.49, 0.95])
    probability, codes = np.stack([1.0 - p, p], axis=1), np.array([1, 1, 0, 1, 0, 1, 0])
    predicted = (p > 0.5).astype(int)
    chosen = choose_rows(probability, predicted, codes, 2)
    assert {kind: rows.tolist() for kind, rows in chosen.items()} == {
        "right": [4, 0],
        "wrong": [2, 1],  # one of each class; row 6 adds nothing to row 2
        "refused": [5, 1],
        "granted": [3, 0],
    }
    chosen = choose_rows(probability, predicted, None, 1)
    assert {kind: rows.tolist() for kind, rows in chosen.items()} == {
        "sure": [2], "refused": [5], "granted": [3],
    }  # fmt: skip
    # Where all are right, none are wrong.
    assert choose_rows(probability, predicted, predicted, 9)["wrong"].tolist() == []
    chosen = choose_rows(probability, predicted, 1 - predicted, 4)
    assert chosen["wrong"].tolist() == [2, 4, 0, 1]
    three = np.array([[0.4, 0.35, 0.25], [0.1, 0.2, 0.7], [0.34, 0.33, 0.33]])
    chosen = choose_rows(three, three.argmax(axis=1), np.array([0, 2, 1]), 1)
    assert {kind: rows.tolist() for kind, rows in chosen.items()} == {
        "right": [1], "wrong": [2], "unsure": [2],
    }  # fmt: skip


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"x{j}": rng.normal(size=300).round(1) for j in range(12)})
    frame["town"] = pd.Categorical(rng.choice(["Ulm", "Bonn"], 300))
    frame.loc[::9, "x1"] = np.nan
    z = frame["x0"] + frame.filter(like="x").fillna(0.0).sum(axis=1) + (frame["town"] == "Ulm")
    return frame, np.digitize(z + rng.logistic(size=300), [-1.0, 1.0])


def describe(model, X, codes, most=2):
    probability = model.predict_proba(X)
    predicted = probability.argmax(axis=1)
    chosen = choose_rows(probability, predicted, codes, most)
    return describe_rows(model, X, chosen, probability, predicted, codes, 0.9), probability


def log_odds(share):
    return np.log(share / (1.0 - share))


@pytest.mark.parametrize("learner", ["table", "tree", pb.Tree(linear_leaves=True)], ids=str)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_steps_lead_to_the_probability(table, n_classes, learner):
    X, y = table
    codes = np.minimum(y, n_classes - 1)
    bags = {"outer_bags": 4} if learner == "table" else {}
    model = pb.ProperBoostClassifier(n_estimators=30, weak_learner=learner, **bags)
    rows, probability = describe(model.fit(X, codes), X, codes)
    narrow = ["refused"] * 2 + ["granted"] * 2 if n_classes == 2 else ["unsure"] * 2
    assert [row.kind for row in rows] == ["right"] * 2 + ["wrong"] * 2 + narrow
    names = [f"{name} = " for name in X]
    for row in rows:
        assert row.is_right == (row.kind == "right") or row.kind in narrow
        assert row.class_label == (1 if n_classes == 2 else row.predicted)
        assert row.probability == probability[row.number - 1, row.class_label]
        ends = [row.average, *(step.after for step in row.steps)]
        assert ends[-1] == pytest.approx(row.probability, rel=1e-9)
        for step, before, after in zip(row.steps, ends, ends[1:], strict=False):
            assert (step.before, step.after) == (before, after)
            assert step.added == pytest.approx(log_odds(after) - log_odds(before), abs=1e-9)
            assert any(step.name.startswith(name) for name in names)
        assert row.additive == (n_classes == 2)
        assert row.has_errors == (n_classes == 2 and learner == "table")
        if row.has_errors:
            assert row.interval[0] <= row.probability <= row.interval[1]
            assert all(step.low < step.added < step.high for step in row.steps)
        if n_classes == 2:
            sizes = [abs(step.added) for step in row.steps]
            assert sizes == sorted(sizes, reverse=True)
            added = model.contributions(X[row.number - 1 : row.number], scale="log_odds")
            assert sum(step.added for step in row.steps) == pytest.approx(added.values.sum())


def test_small_steps_are_put_together_and_named(table, monkeypatch):
    X, y = table
    monkeypatch.setattr(properboost.report.rows, "MOST_STEPS", 3)
    model = pb.ProperBoostClassifier(n_estimators=30, interactions=3, weak_learner="table").fit(
        X, y > 1
    )
    (row,), _ = describe(model, X, None, most=1)[0][:1], None
    features, pairs = row.steps[3:]
    assert features.name.endswith("features of less weight")
    assert pairs.name.endswith("of less weight")
    assert "pair" in pairs.name
    n = int(features.name.split()[0])
    named_parts = [part for part in features.parts if "of less than 0.005 points each" not in part]
    tiny = sum(int(part.split()[0]) for part in features.parts if part not in named_parts)
    assert len(named_parts) + tiny == n
    added = [float(part.rpartition(": ")[2].replace("−", "-")) for part in named_parts]
    assert (np.diff(np.abs(added)) <= 0.0).all()
    assert sum(added) == pytest.approx(features.added, abs=0.005 * n + 1e-9)
    assert row.steps[-1].after == pytest.approx(row.probability, rel=1e-9)


def test_models_of_too_many_trees_warn(table, monkeypatch):
    X, y = table
    monkeypatch.setattr(properboost.report.rows, "MOST_TREES", 4)
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="tree").fit(X, y > 1)
    with pytest.raises(ValueError, match="has 5 trees, and this page explains rows of at most 4"):
        describe(model, X, None)


def test_models_without_explanations(table):
    X, y = table
    model = pb.UDTClassifier().fit(X, y > 1)
    with pytest.raises(ValueError, match="a UDTClassifier has no contributions of single features"):
        describe(model, X, (y > 1).astype(int))


def test_no_rows_need_no_explanation(table):
    X, y = table
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(X, y > 1)
    assert describe(model, X, None, most=0)[0] == []
