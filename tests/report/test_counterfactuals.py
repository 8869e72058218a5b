"""Counterfactuals: changes of one value that turn a row, each checked by a prediction."""

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from properboost.inspection.words import describe
from properboost.report import counterfactuals
from properboost.report.content import ExplainedRow, Grouping
from properboost.report.counterfactuals import add_counterfactuals, add_flip_rates
from properboost.report.effects import list_terms

TOWNS = ["Ulm", "Bonn", "Kiel", "Jena", "Hof"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"hours": rng.integers(10, 60, 500), "size": rng.normal(size=500).round(1)})
    X["town"] = pd.Categorical(rng.choice(TOWNS, 500), TOWNS)
    X["sex"] = pd.Categorical(rng.choice(["f", "m"], 500))
    X.loc[::11, "size"] = np.nan
    z = (X["hours"] - 35) / 8 + X["size"].fillna(0.0) ** 2 + 2.0 * (X["town"] == "Ulm")
    return X, z + (X["sex"] == "m") + rng.logistic(size=500) - 2.0


def tell(model, X, numbers, kind="refused"):
    """Return explained rows with their counterfactuals."""
    labels = model.predict(X)
    rows = [
        ExplainedRow(kind, n, None, labels[n - 1], None, 0.5, None, 0.5, (), True) for n in numbers
    ]
    return add_counterfactuals(model, X, rows, list_terms(model))


def parse(words, values):
    """Return the numbers among values that words name."""
    low, between, high = words.partition(" to ")
    if between:
        return values[(values >= float(low)) & (values <= float(high))]
    number, _, way = words.partition(" or ")
    return {
        "more": values[values >= float(number)],
        "less": values[values <= float(number)],
        "": values[values == float(number)],
    }[way]


@pytest.mark.parametrize(
    ("model", "n_classes"),
    [
        (pb.ProperBoostClassifier(n_estimators=20, weak_learner="table"), 2),
        (pb.ProperBoostClassifier(n_estimators=20, weak_learner="table"), 3),
        (pb.ProperBoostClassifier(n_estimators=10, weak_learner="tree"), 2),
        (pb.ProperBoostClassifier(n_estimators=10, weak_learner="tree"), 3),
        (pb.UDTClassifier(), 2),
        (pb.RadoBoostClassifier(), 2),
    ],
    ids=["tables", "tables of three", "trees", "trees of three", "one tree", "linear"],
)
def test_what_is_named_turns_the_row_and_nothing_nearer_does(table, model, n_classes):
    X, z = table
    if isinstance(model, pb.RadoBoostClassifier):
        X = X.assign(size=X["size"].fillna(0.0))
    model = model.fit(X, np.digitize(z, [0.0, 2.0][: n_classes - 1]))
    changed = set()
    for row in tell(model, X, range(1, 31)):
        original = X.iloc[[row.number - 1]]
        changes = [*row.counterfactuals.offered, *row.counterfactuals.protected]
        for name in X:
            copies = pd.concat([original] * len(X), ignore_index=True)
            copies[name] = X[name].to_numpy() if name in ("hours", "size") else X[name].array
            into = model.predict(copies)
            there = X[name].notna().to_numpy() & (into != row.predicted)
            (change, *_) = [offer for offer in changes if offer.name == name] or [None]
            if change is None:
                assert not there.any() or original[name].isna().item()
                continue
            changed.add(name)
            if name in ("town", "sex"):
                named = change.values.replace(" or ", ", ").split(", ")
                turning = {*X[name][there & (into == model.classes_[change.to])]}
                assert {*named} == turning
                assert change.present == original[name].item()
                continue
            value = original[name].item()
            values, first = np.unique(X[name].dropna(), return_index=True)
            after = dict(zip(values.tolist(), into[X[name].notna()][first].tolist(), strict=True))
            named = parse(change.values, values)
            assert {after[v] for v in named.tolist()} == {model.classes_[change.to]}
            nearest = named[np.abs(named - value).argmin()]
            between = values[(values > min(nearest, value)) & (values < max(nearest, value))]
            assert {after[v] for v in between.tolist()} <= {row.predicted}
            # On the other side no value turns it within as many rows.
            turning = np.array([v for v in values.tolist() if after[v] != row.predicted])
            column = np.sort(X[name].dropna())
            mid = [np.searchsorted(column, turning, side) for side in ("left", "right")]
            at = [np.searchsorted(column, value, side) for side in ("left", "right")]
            passed = np.abs(np.mean(mid, axis=0) - np.mean(at)) / len(column)
            assert change.size == pytest.approx(passed.min())
    assert len(changed) >= 3


def test_the_smallest_come_first_and_the_protected_apart(table, monkeypatch):
    X, z = table
    model = pb.ProperBoostClassifier(n_estimators=20, weak_learner="table").fit(X, z > 0.0)
    order = np.argsort(np.abs(model.predict_proba(X)[:, 1] - 0.5))[:20]
    rows = tell(model, X, (order + 1).tolist())
    assert any(change.name == "sex" for row in rows for change in row.counterfactuals.protected)
    for row in rows:
        assert all(change.name != "sex" for change in row.counterfactuals.offered)
        sizes = [change.size for change in row.counterfactuals.offered]
        assert sizes == sorted(sizes)
        assert row.counterfactuals.more == ()
    monkeypatch.setattr(counterfactuals, "MOST_CHANGES", 1)
    subsets = tell(model, X, (order + 1).tolist())
    assert [row.counterfactuals.offered for row in subsets] == [
        row.counterfactuals.offered[:1] for row in rows
    ]
    for row, other in zip(subsets, rows, strict=True):
        assert row.counterfactuals.more == tuple(
            later.name for later in other.counterfactuals.offered[1:]
        )
    assert any(row.counterfactuals.more for row in subsets)


def test_values_of_few_training_rows_are_known(table):
    X, z = table
    X = X.assign(hours=np.where(np.arange(500) % 80 == 0, 90, X["hours"]))
    X["town"] = X["town"].where((X["town"] != "Ulm") | (np.arange(500) % 50 == 0), "Hof")
    labels = (z > 0.0) | (X["hours"] == 90)
    model = pb.ProperBoostClassifier(n_estimators=20, weak_learner=pb.Table(max_cells=None)).fit(
        X, labels
    )
    shape, few = model.shape_function("hours"), set()
    for row in tell(model, X, range(1, 101)):
        for change in (*row.counterfactuals.offered, *row.counterfactuals.protected):
            assert change.is_of_few == (change.rows < 10)
            few |= {change.name} if change.is_of_few else set()
            if change.name in ("town", "sex"):
                first = change.values.replace(" or ", ", ").split(", ")[0]
                assert change.rows == (X[change.name] == first).sum()
            elif change.name == "hours":
                named = parse(change.values, np.unique(X["hours"]))
                first, last = np.searchsorted(shape.edges, [named.min(), named.max()])
                assert change.rows == shape.weights[first : last + 1].sum()
    assert few


def test_of_many_values_still_the_nearest_is_named(monkeypatch):
    monkeypatch.setattr(counterfactuals, "MOST_NUMBERS", 16)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 2))
    model = pb.ProperBoostClassifier(n_estimators=5, max_bins=32, weak_learner="table").fit(
        X, X[:, 0] > 0.3
    )
    tried = []
    predict = model.predict
    model.predict = lambda rows: tried.append(getattr(rows, "n_rows", 0)) or predict(rows)
    row = int(np.argmin(np.abs(X[:, 0] + 0.5)))
    (description,) = tell(model, X, [row + 1])
    (change,) = description.counterfactuals.offered
    values = np.sort(X[:, 0])
    copies = np.stack([values, np.full(len(X), X[row, 1])], axis=1)
    nearest = values[predict(copies)].min()
    assert change.values == f"{describe(nearest)} or more"
    assert tried[-1] <= 1 + 2 * (2 * 32 + 1)


def test_the_only_value_beyond_is_named_alone():
    """There is nothing less than 0, so it is not "0 or less"."""
    X = np.repeat([[0.0], [1.0], [2.0], [3.0]], 100, axis=0)
    table = pb.Table(max_cells=None)
    model = pb.ProperBoostClassifier(n_estimators=20, weak_learner=table).fit(X, X[:, 0] > 0.0)
    (row,) = tell(model, X, [101])
    assert [change.values for change in row.counterfactuals.offered] == ["0"]
    model.fit(X, X[:, 0] > 1.0)
    (row,) = tell(model, X, [201])
    assert [change.values for change in row.counterfactuals.offered] == ["1 or less"]


def test_rows_that_nothing_turns(table):
    X, z = table
    model = pb.ProperBoostClassifier(n_estimators=20, weak_learner="table").fit(X, z > 0.0)
    sure = int(model.predict_proba(X)[:, 1].argmax())
    (row,) = tell(model, X.assign(hours=X["hours"].iloc[sure]), [sure + 1])
    assert row.counterfactuals.offered == row.counterfactuals.protected == ()
    assert 2 <= row.counterfactuals.n_tried <= 4
    assert tell(model, X, []) == []


pandas = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    sex = rng.choice(["f", "m", "x"], 400)
    X = pandas.DataFrame(
        {
            "sex": pandas.Categorical(sex),
            "age": rng.integers(20, 60, 400),
            "size": rng.normal(size=400),
        }
    )
    y = 2.0 * (sex == "m") + X["age"] / 20.0 + X["size"] + rng.logistic(size=400) > 3.0
    return pb.ProperBoostClassifier(n_estimators=30, weak_learner="table").fit(X, y), X


def group(name, is_used=True):
    return Grouping(name, is_used, (), ())


def count(model, X, name, values):
    """Return the share of rows that any of these values turns."""
    before = model.predict(X)
    others = [X.assign(**{name: value}).astype(X.dtypes) for value in values]
    return np.any([model.predict(other) != before for other in others], axis=0).mean()


def test_rows_are_predicted_with_every_other_value(fitted):
    model, X = fitted
    groupings = [group("age"), group("sex"), group("size", is_used=False), group("sex and age")]
    age, sex, size, both = add_flip_rates(model, X, groupings, len(X))
    assert sex.flips.share == count(model, X, "sex", ["f", "m", "x"])
    assert 0.05 < sex.flips.share < 0.95
    ages = np.unique(np.quantile(X["age"], np.arange(0.05, 1.0, 0.1), method="nearest"))
    assert age.flips.share == count(model, X, "age", ages)
    assert size.flips is None
    assert both.flips is None


def test_of_many_rows_some_are_taken_and_of_many_values_the_most_frequent(fitted, monkeypatch):
    model, X = fitted
    monkeypatch.setattr(counterfactuals, "MOST_FLIP_ROWS", 50)
    monkeypatch.setattr(counterfactuals, "MOST_FLIP_VALUES", 2)
    (grouping,) = add_flip_rates(model, X, [group("sex")], len(X))
    sample = X.iloc[np.linspace(0, 399, 50).astype(int)]
    assert grouping.flips.share == count(model, sample, "sex", X["sex"].value_counts().index[:2])


def test_one_value_turns_nothing(fitted):
    model, X = fitted
    (grouping,) = add_flip_rates(
        model, X[X["sex"] == "m"], [group("sex")], int((X["sex"] == "m").sum())
    )
    assert grouping.flips is None


def test_categories_of_few_training_rows_turn_nothing():
    """One row in 14 is enough for a point, and not for a sentence on all rows."""
    rng = np.random.default_rng(0)
    kind = np.array(["rare"] * 14 + ["f", "m"] * 1200)
    y = np.where(kind == "rare", True, rng.random(len(kind)) < 0.3)
    X = pandas.DataFrame({"sex": pandas.Categorical(kind), "size": rng.normal(size=len(kind))})
    model = pb.ProperBoostClassifier(weak_learner="table", n_estimators=30).fit(X, y)
    (grouping,) = add_flip_rates(model, X, [group("sex")], len(X))
    assert {*grouping.flips.values} == {"f", "m"}
    assert grouping.flips.n_rows == counterfactuals.MOST_FLIP_ROWS
    sample = X.iloc[np.linspace(0, len(X) - 1, counterfactuals.MOST_FLIP_ROWS).astype(int)]
    assert grouping.flips.share == count(model, sample, "sex", ["f", "m"])
    assert count(model, sample, "sex", ["f", "m", "rare"]) > 0.9
