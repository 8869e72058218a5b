"""Test that predictions and scores in batches are those of all rows together."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

import properboost as pb

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "town": pd.Categorical(RNG.choice(["Ulm", "Bonn"], 300)),
        "w": RNG.integers(0, 3, 300) * 1.0,
        "b": RNG.normal(size=300),
        "a": np.where(RNG.random(300) < 0.1, np.nan, RNG.integers(0, 9, 300)),
        "y": RNG.choice(["no", "yes"], 300),
    }
)
NAMES = ["a", "b", "town"]
MODEL = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table").fit(ROWS[NAMES], ROWS["y"])
ARROW = pa.Table.from_pandas(ROWS)
EXPECTED = MODEL.predict_proba(ROWS[NAMES])


def write(folder):
    pq.write_table(ARROW, folder / "rows.parquet", row_group_size=100)
    return folder / "rows.parquet"


SOURCES = {
    "a file": write,
    "pandas": lambda _: lambda: (ROWS[k : k + 77] for k in range(0, 300, 77)),
    "an iterator": lambda _: (ROWS[k : k + 77] for k in range(0, 300, 77)),
    "polars": lambda _: pl.from_arrow(ARROW).iter_slices(64),
    "a reader": lambda _: pa.RecordBatchReader.from_batches(ARROW.schema, ARROW.to_batches(50)),
    "a table": lambda _: ARROW,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_each_kind_of_source(kind, tmp_path):
    batches = [*pb.batches.predict(MODEL, SOURCES[kind](tmp_path))]
    np.testing.assert_array_equal(np.concatenate(batches), EXPECTED)


@pytest.mark.parametrize("method", ["predict", "decision_function", "predict_log_proba"])
def test_other_methods(method):
    batches = pb.batches.predict(MODEL, SOURCES["pandas"](None), method=method)
    expected = getattr(MODEL, method)(ROWS[NAMES])
    np.testing.assert_array_equal(np.concatenate([*batches]), expected)


def test_contributions_and_their_arguments():
    source = SOURCES["pandas"](None)
    batches = [*pb.batches.predict(MODEL, source, method="contributions", scale="log_odds")]
    expected = MODEL.contributions(ROWS[NAMES], scale="log_odds")
    np.testing.assert_array_equal(
        np.concatenate([batch.values for batch in batches]), expected.values
    )


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("kind", SOURCES)
def test_scores_are_those_of_all_rows(kind, weight, tmp_path):
    scores = pb.batches.evaluate(MODEL, SOURCES[kind](tmp_path), "y", weight)
    weights = None if weight is None else ROWS["w"]
    assert scores["rows"] == 300
    assert scores["weight"] == (300.0 if weights is None else weights.sum())
    assert scores["log_loss"] == pytest.approx(log_loss(ROWS["y"], EXPECTED, sample_weight=weights))
    predicted = MODEL.predict(ROWS[NAMES])
    assert scores["accuracy"] == pytest.approx(
        accuracy_score(ROWS["y"], predicted, sample_weight=weights)
    )
    one_hot = (ROWS["y"].to_numpy()[:, None] == MODEL.classes_).astype(float)
    assert scores["brier_score"] == pytest.approx(square_errors(one_hot, weights))
    ranked = roc_auc_score(one_hot[:, 1], EXPECTED[:, 1], sample_weight=weights)
    assert scores["roc_auc"] == pytest.approx(ranked)


def square_errors(one_hot, weight=None, probability=EXPECTED):
    errors = ((probability - one_hot) ** 2).sum(axis=1)
    return np.average(errors, weights=weight) / (2.0 if one_hot.shape[1] == 2 else 1.0)


def test_scores_of_several_classes():
    rows = ROWS.assign(y=np.arange(300) % 3)
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(
        rows[NAMES], rows["y"]
    )
    scores = pb.batches.evaluate(model, rows, "y")
    probability = model.predict_proba(rows[NAMES])
    expected = square_errors(np.eye(3)[rows["y"]], probability=probability)
    assert scores["brier_score"] == pytest.approx(expected)
    assert "roc_auc" not in scores


def test_a_rank_needs_both_classes():
    rows = ROWS[ROWS["y"] == MODEL.classes_[0]]
    scores = pb.batches.evaluate(MODEL, rows, "y")
    assert np.isnan(scores["roc_auc"])
    both = ROWS.assign(w=(ROWS["y"] == MODEL.classes_[0]).astype(float))
    scores = pb.batches.evaluate(MODEL, both, "y", "w")
    assert np.isnan(scores["roc_auc"])


def test_a_batch_may_count_nothing():
    rows = ROWS.assign(w=np.where(np.arange(300) < 77, 0.0, 1.0))
    source = [rows[k : k + 77] for k in range(0, 300, 77)]
    expected = log_loss(rows["y"][77:], EXPECTED[77:])
    scores = pb.batches.evaluate(MODEL, iter(source), "y", "w")
    assert scores["log_loss"] == pytest.approx(expected)


def test_names_that_are_no_strings():
    rows = ROWS[["b", "a", "y"]].set_axis([1, 0, "y"], axis=1)
    table = pb.QuantizedTable.from_batches(rows, "y")
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(table)
    (probability,) = pb.batches.predict(model, rows[["y", 0, 1]])
    np.testing.assert_array_equal(probability, model.predict_proba(table))


def test_models_of_others():
    rows = ROWS.fillna({"a": 0.0})
    model = LogisticRegression().fit(rows[["a", "b"]], rows["y"])
    batches = pb.batches.predict(model, iter([rows[:10], rows[10:]]))
    np.testing.assert_array_equal(np.concatenate([*batches]), model.predict_proba(rows[["a", "b"]]))


# -- from codes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parameters",
    [
        {"interactions": 2},
        {"weak_learner": pb.Tree(linear_leaves=True)},
        {"outer_bags": 4, "loss": "savage"},
    ],
    ids=lambda case: next(iter(case)),
)
def test_predictions_from_codes_are_those_from_values(parameters):
    rows = ROWS.drop(columns="w")
    model = pb.ProperBoostClassifier(n_estimators=4, **parameters)
    table = pb.QuantizedTable.from_batches(rows, "y")
    model.fit(table)
    new = rows.copy()
    new["b"] = RNG.normal(scale=3.0, size=300)
    new["town"] = pd.Categorical(RNG.choice(["Ulm", "Bonn", "Graz", None], 300))
    coded = pb.QuantizedTable.from_batches(new, "y", bins_of=table)
    names = table.feature_names
    for method in ("decision_function", "predict_proba", "predict"):
        ask = getattr(model, method)
        np.testing.assert_array_equal(ask(coded), ask(new[names]))
    assert model.score(coded, coded.y) == model.score(new[names], new["y"])
    stages = zip(model.staged_predict(coded), model.staged_predict(new[names]), strict=True)
    assert all(np.array_equal(a, b) for a, b in stages)
    if "outer_bags" in parameters:
        ends = model.predict_interval(coded), model.predict_interval(new[names])
        np.testing.assert_array_equal(*ends)


# -- errors ---------------------------------------------------------------------------------------


def test_codes_that_are_not_of_the_model_are_refused():
    rows = ROWS.drop(columns="w")
    table = pb.QuantizedTable.from_batches(rows, "y")
    model = pb.ProperBoostClassifier(n_estimators=1, weak_learner="table").fit(table)
    other = pb.QuantizedTable.from_batches(rows[:100], "y")
    with pytest.raises(ValueError, match="must have the bins of the model"):
        model.predict(other)
    weighted = pb.QuantizedTable.from_batches(ROWS, "y", "w", bins_of=table)
    with pytest.raises(ValueError, match="rows of weight 0"):
        model.predict(weighted)
    for ask in (model.contributions, model.count_drift):
        with pytest.raises(TypeError, match="codes and no values"):
            ask(table)


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"method must be .*; got 'guess'"):
        pb.batches.predict(MODEL, ROWS, method="guess")
    with pytest.raises(ValueError, match="source has no column 'a'"):
        [*pb.batches.predict(MODEL, ROWS.drop(columns="a"))]
    with pytest.raises(ValueError, match="source has no column 'z'"):
        pb.batches.evaluate(MODEL, ROWS, "z")
    with pytest.raises(ValueError, match=r"the column 'y' must hold labels among .*'maybe'"):
        pb.batches.evaluate(MODEL, ROWS.assign(y="maybe"), "y")
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        pb.batches.evaluate(MODEL, ROWS.assign(w=-1.0), "y", "w")
    with pytest.raises(ValueError, match="rows of positive weight"):
        pb.batches.evaluate(MODEL, ROWS.assign(w=0.0), "y", "w")
