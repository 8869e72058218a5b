"""The most telling rows, and what is said of them."""

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from properboost.report.rows import choose_rows, describe_rows


def test_the_most_telling_rows_are_chosen():
    p = np.array([0.9, 0.2, 0.95, 0.52, 0.05, 0.49, 0.95])
    probability, codes = np.stack([1.0 - p, p], axis=1), np.array([1, 1, 0, 1, 0, 1, 0])
    predicted = (p > 0.5).astype(int)
    chosen = choose_rows(probability, predicted, codes, 2)
    assert {kind: rows.tolist() for kind, rows in chosen.items()} == {
        "right": [4, 0],
        "wrong": [2, 1],  # row 6 tells no more than row 2
        "unsure": [5, 3],
    }
    chosen = choose_rows(probability, predicted, None, 1)
    assert {kind: rows.tolist() for kind, rows in chosen.items()} == {"sure": [2], "unsure": [5]}


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


@pytest.mark.parametrize("n_classes", [2, 3])
def test_parts_add_up_to_the_probability(table, n_classes):
    X, y = table
    codes = np.minimum(y, n_classes - 1)
    model = pb.ProperBoostClassifier(n_estimators=30, outer_bags=4).fit(X, codes)
    rows, probability = describe(model, X, codes)
    assert [row.kind for row in rows] == ["right"] * 2 + ["wrong"] * 2 + ["unsure"] * 2
    for row in rows:
        assert row.is_right == (row.kind == "right") or row.kind == "unsure"
        assert row.spoken_for == (1 if n_classes == 2 else row.predicted)
        assert row.probability == probability[row.number - 1, row.spoken_for]
        assert row.interval[0] <= row.probability <= row.interval[1]
        added = sum(part.added for part in row.parts) + row.rest
        assert row.baseline + added == pytest.approx(row.total)
        sizes = [abs(part.added) for part in row.parts]
        assert sizes == sorted(sizes, reverse=True)
        assert all(part.low < part.added < part.high for part in row.parts)
        for part in row.parts:
            value = X.iloc[row.number - 1][part.name]
            shown = "missing" if value != value else f"{value:g}" if value != str(value) else value
            assert part.value == shown
        if n_classes == 2:
            assert 1.0 / (1.0 + np.exp(-row.total)) == pytest.approx(row.probability)


def test_models_that_cannot_say_why(table):
    X, y = table
    model = pb.UDTClassifier().fit(X, y > 1)
    with pytest.raises(ValueError, match="a UDTClassifier does not say what each feature adds"):
        describe(model, X, (y > 1).astype(int))


def test_no_rows_need_no_explanation(table):
    X, y = table
    model = pb.ProperBoostClassifier(n_estimators=5).fit(X, y > 1)
    assert describe(model, X, None, most=0)[0] == []
