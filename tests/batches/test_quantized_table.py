"""Test that quantized tables give the model of a fit in memory, byte for byte, for any batches."""

import pickle
import tracemalloc

import numpy as np
import pytest

import properboost as pb
from properboost.data import binning

pd = pytest.importorskip("pandas")


def make_rows(n=700, seed=0, n_classes=2):
    """Return numbers of several types, missing values, and a category of the last row only."""
    rng = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "double": rng.normal(size=n),
            "single": rng.normal(size=n).astype(np.float32),
            "whole": rng.integers(0, 1000, n),
            "flag": rng.random(n) < 0.5,
        }
    )
    rows.loc[::7, "double"] = np.nan
    town = rng.choice(["Ulm", "Bonn", "Graz"], n).astype(object)
    town[-1], town[::13] = "Bern", None
    rows["town"] = pd.Categorical(town)
    rows["w"] = np.where(np.arange(n) % 11 == 4, 0.0, rng.uniform(0.5, 1.5, n))
    score = rows["double"].fillna(0) + rows["single"] + (town == "Ulm") + rng.normal(size=n)
    labels = np.array(["no", "perhaps", "yes"][:: 4 - n_classes], dtype=object)
    rows["y"] = labels[
        np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    ]
    return rows


def cut(rows, size):
    """Return a function that yields batches, each with only the categories that its rows have."""

    def read():
        for begin in range(0, len(rows), size):
            batch = rows[begin : begin + size]
            yield batch.assign(town=batch["town"].astype(object).astype("category"))

    return read


def features(rows):
    return rows.drop(columns=["w", "y"])


def file_of(model, folder):
    model.save_model(folder / "model.json")
    return (folder / "model.json").read_bytes()


ROWS = make_rows()


@pytest.mark.parametrize(("size", "n_threads"), [(1, 2), (90, 1), (90, 2), (699, 1), (700, 2)])
def test_no_batches_change_the_model(size, n_threads, tmp_path):
    model = pb.ProperBoostClassifier(n_estimators=5, n_jobs=n_threads, weak_learner="table")
    expected = file_of(model.fit(features(ROWS), ROWS["y"], ROWS["w"]), tmp_path)
    table = pb.QuantizedTable.from_batches(cut(ROWS, size), "y", "w", n_jobs=n_threads)
    assert file_of(model.fit(table), tmp_path) == expected


def test_five_thousand_batches_of_a_row(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    rows = arrow.Table.from_pandas(make_rows(5000)[["double", "single", "y"]])
    model = pb.ProperBoostClassifier(n_estimators=5, weak_learner="table")
    expected = file_of(model.fit(rows.drop_columns(["y"]), rows["y"].to_numpy()), tmp_path)
    table = pb.QuantizedTable.from_batches(lambda: rows.to_batches(max_chunksize=1), "y")
    assert file_of(model.fit(table), tmp_path) == expected


@pytest.mark.parametrize("weight", [None, "w"])
def test_no_batches_change_the_sample_of_rows(weight, monkeypatch, tmp_path):
    monkeypatch.setattr(binning, "SAMPLE_SIZE", 100)
    model = pb.ProperBoostClassifier(n_estimators=5, random_state=3, weak_learner="table")
    expected = model.fit(features(ROWS), ROWS["y"], None if weight is None else ROWS[weight])
    expected = file_of(expected, tmp_path)
    rows = ROWS if weight else ROWS.drop(columns="w")
    for size in (9, 90, 700):
        table = pb.QuantizedTable.from_batches(cut(rows, size), "y", weight, random_state=3)
        assert file_of(model.fit(table), tmp_path) == expected
    other = pb.QuantizedTable.from_batches(cut(rows, 90), "y", weight, random_state=4)
    assert not np.array_equal(other.bins[0], table.bins[0])


@pytest.mark.parametrize("size", [40, 700])
@pytest.mark.parametrize(
    "parameters",
    [
        {"weak_learner": pb.Tree(linear_leaves=True)},
        {"weak_learner": "stump", "selection": "cyclic", "interactions": 2},
        {"outer_bags": 4},
        {
            "class_weight": "balanced",
            "normalize_weights": True,
            "weak_learner": pb.Tree(subsample=0.5),
        },
    ],
    ids=["lines", "stumps", "bags", "class_weight"],
)
def test_kinds_of_models(parameters, size, tmp_path):
    rows = make_rows(n_classes=3)
    model = pb.ProperBoostClassifier(n_estimators=3, **parameters)
    expected = file_of(model.fit(features(rows), rows["y"], rows["w"]), tmp_path)
    of_bins = {k: v for k, v in parameters.items() if k in ("class_weight", "normalize_weights")}
    table = pb.QuantizedTable.from_batches(cut(rows, size), "y", "w", **of_bins)
    for _ in range(2):  # several fits may use one table
        assert file_of(model.fit(table), tmp_path) == expected


def test_rare_categories_are_by_the_weight_that_counts(tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "town": pd.Categorical([f"town {k}" for k in rng.integers(0, 400, 1500) ** 2 // 400]),
            "w": rng.uniform(0.5, 1.5, 1500),
            "y": rng.integers(0, 2, 1500),
        }
    )
    settings = {"class_weight": {0: 3.0, 1: 0.7}, "max_bins": 20, "normalize_weights": True}
    model = pb.ProperBoostClassifier(n_estimators=2, **settings)
    expected = file_of(model.fit(rows[["town"]], rows["y"], rows["w"]), tmp_path)
    for size in (30, 700):
        table = pb.QuantizedTable.from_batches(cut(rows, size), "y", "w", **settings)
        assert table.n_bins.tolist() == [20]
        assert file_of(model.fit(table), tmp_path) == expected


@pytest.mark.parametrize("kind", [int, float, bool, str, "category", "Int64"], ids=str)
def test_labels_keep_their_type(kind, tmp_path):
    rows = make_rows(200)[["double", "single", "y"]]
    rows["y"] = (rows["y"] == "yes").astype(int).astype(kind)
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table")
    expected = file_of(model.fit(rows[["double", "single"]], rows["y"]), tmp_path)
    table = pb.QuantizedTable.from_batches(
        lambda: (rows[begin : begin + 30] for begin in range(0, 200, 30)), "y"
    )
    assert file_of(model.fit(table), tmp_path) == expected


def test_numbers_of_every_type(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    rows = {
        "whole": arrow.array([None if k % 9 == 0 else k % 50 for k in range(600)], arrow.int16()),
        "flag": arrow.array([None if k % 5 == 0 else bool(k % 2) for k in range(600)]),
        "zero": arrow.array([0.0 if k % 3 else -0.0 for k in range(600)]),
        "far": np.where(rng.random(600) < 0.1, np.inf, rng.normal(size=600)).astype(np.float32),
        "none": arrow.nulls(600),
        "y": rng.integers(0, 4, 600).astype(np.int32),
    }
    rows = arrow.table(rows)
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table")
    expected = file_of(model.fit(rows.drop_columns(["y"]), rows["y"].to_numpy()), tmp_path)
    for size in (2, 77, 600):
        table = pb.QuantizedTable.from_batches(lambda n=size: rows.to_batches(n), "y")
        assert file_of(model.fit(table), tmp_path) == expected


def test_a_class_without_weight_is_no_class(tmp_path):
    rows = make_rows(300)[["double", "y", "w"]]
    rows.loc[::11, ["y", "w"]] = "maybe", 0.0
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table")
    expected = file_of(model.fit(rows[["double"]], rows["y"], rows["w"]), tmp_path)
    table = pb.QuantizedTable.from_batches(lambda: [rows[:100], rows[100:]], "y", "w")
    assert file_of(model.fit(table), tmp_path) == expected
    assert model.classes_.tolist() == ["no", "yes"]


def test_validation_rows_stop_the_same(tmp_path):
    held_out = make_rows(400, seed=1)
    model = pb.ProperBoostClassifier(
        early_stopping=pb.EarlyStopping(validation_fraction=0.1, n_iter_no_change=3),
        weak_learner="table",
    )
    validation = {"X_val": features(held_out), "y_val": held_out["y"]}
    model.fit(features(ROWS), ROWS["y"], ROWS["w"], **validation)
    expected, scores = file_of(model, tmp_path), model.validation_scores_
    table = pb.QuantizedTable.from_batches(cut(ROWS, 200), "y", "w")
    assert file_of(model.fit(table, **validation), tmp_path) == expected
    np.testing.assert_array_equal(model.validation_scores_, scores)


def test_validation_rows_as_codes_stop_the_same(tmp_path):
    held_out = make_rows(400, seed=1)
    held_out["w"] += 0.5
    table = pb.QuantizedTable.from_batches(cut(ROWS, 200), "y", "w")
    coded = pb.QuantizedTable.from_batches(cut(held_out, 90), "y", "w", bins_of=table)
    for more in ({}, {"weak_learner": "tree"}, {"interactions": 2}):
        model = pb.ProperBoostClassifier(
            early_stopping=pb.EarlyStopping(validation_fraction=0.1, n_iter_no_change=3), **more
        )
        model.fit(
            table, X_val=features(held_out), y_val=held_out["y"], sample_weight_val=held_out["w"]
        )
        expected, scores = file_of(model, tmp_path), model.validation_scores_
        assert file_of(model.fit(table, X_val=coded), tmp_path) == expected
        np.testing.assert_array_equal(model.validation_scores_, scores)
    with pytest.raises(ValueError, match="y_val must not be given"):
        model.fit(table, X_val=coded, y_val=held_out["y"])
    other = pb.QuantizedTable.from_batches(held_out, "y", "w")
    with pytest.raises(ValueError, match=r"X_val: X: .* bins of the rows to learn from"):
        model.fit(table, X_val=other)


def test_searches_choose_the_same(tmp_path):
    search = pb.ProperBoostClassifierCV(
        space={"weak_learner": "stump", "gain": [0.5, 1.0]}, max_estimators=8, cv=3, effort=None
    )
    search.fit(features(ROWS), ROWS["y"], ROWS["w"])
    expected, results = file_of(search.best_estimator_, tmp_path), search.cv_results_
    table = pb.QuantizedTable.from_batches(cut(ROWS, 200), "y", "w", bin_means=True)
    search.fit(table)
    assert file_of(search.best_estimator_, tmp_path) == expected
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], results["mean_test_score"])


def test_going_on(tmp_path):
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(
        features(ROWS), ROWS["y"], ROWS["w"]
    )
    table = pb.QuantizedTable.from_batches(cut(ROWS, 200), "y", "w")
    copy = pickle.loads(pickle.dumps(model))
    more = {"warm_start": True, "n_estimators": 6}
    expected = model.set_params(**more).fit(features(ROWS), ROWS["y"], ROWS["w"])
    copy.set_params(**more).fit(table)
    assert file_of(copy, tmp_path) == file_of(expected, tmp_path)
    other = pb.QuantizedTable.from_batches(cut(make_rows(seed=5), 200), "y", "w")
    with pytest.raises(ValueError, match="the bins of the model that warm_start goes on from"):
        copy.fit(other)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_fit_holds_no_second_copy_of_the_codes(weighted):
    """A fit to all rows, without draws, copies no codes."""
    rng = np.random.default_rng(0)
    n_rows, n_features = 10_000, 300
    rows = pd.DataFrame(rng.integers(0, 9, (n_rows, n_features), dtype=np.int8)).add_prefix("f")
    rows["y"] = rng.integers(0, 2, n_rows)
    rows["w"] = rng.uniform(0.5, 1.5, n_rows)
    names = ("y", "w") if weighted else ("y",)
    features = [f"f{j}" for j in range(n_features)]
    table = pb.QuantizedTable.from_batches(lambda: [rows], *names, features=features)
    tracemalloc.start()
    try:
        pb.ProperBoostClassifier(n_estimators=1, weak_learner="table").fit(table)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 0.75 * n_rows * n_features


def test_what_it_shows():
    table = pb.QuantizedTable.from_batches(
        cut(ROWS, 170), "y", "w", features=["single", "town"], max_bins=30
    )
    assert repr(table) == "QuantizedTable: 700 rows, 2 features, 2 classes"
    assert (len(table), table.shape) == (700, (700, 2))
    assert table.feature_names == ["single", "town"]
    assert table.classes.tolist() == ["no", "yes"]
    assert table.n_bins.tolist() == [30, 4]
    edges, towns = table.bins
    assert len(edges) == 29
    assert towns == ["Bern", "Bonn", "Graz", "Ulm"]
    assert table.nbytes == 2 * np.count_nonzero(ROWS["w"]) + 700 + 8 * 700


def test_a_source_is_read_twice():
    readings = []

    def read():
        readings.append(0)
        for begin in range(0, 700, 100):
            readings[-1] += 1
            yield ROWS[begin : begin + 100]

    pb.QuantizedTable.from_batches(read, "y")
    assert readings == [7, 7]


@pytest.fixture(scope="module")
def table():
    return pb.QuantizedTable.from_batches(cut(ROWS, 500), "y", "w")


def test_new_rows_in_known_bins(tmp_path):
    table = pb.QuantizedTable.from_batches(cut(ROWS, 200), "y", "w")
    same = pb.QuantizedTable.from_batches(cut(ROWS, 90), "y", "w", bins_of=table)
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table")
    expected = file_of(model.fit(table), tmp_path)
    assert file_of(model.fit(same), tmp_path) == expected
    one_class = ROWS[ROWS["y"] == "yes"].drop(columns="w")
    new = pb.QuantizedTable.from_batches(one_class, "y", bins_of=table)
    assert new.classes.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(new.bins[0], table.bins[0])


@pytest.mark.parametrize(
    ("rows", "arguments", "message"),
    [
        (ROWS, {"bins_of": 3}, "bins_of must be a QuantizedTable; got a int"),
        (ROWS, {"max_bins": 20}, "max_bins must not be given with bins_of"),
        (ROWS, {"bin_means": False}, "bin_means must not be given with bins_of"),
        (ROWS, {"features": ["double"]}, "features must be those of bins_of"),
        (ROWS.assign(y="maybe"), {}, r"labels among \['no', 'yes'\].*got 'maybe'"),
        (ROWS.drop(columns="flag"), {}, "source has no column 'flag'"),
    ],
)
def test_what_does_not_fit_known_bins_is_refused(table, rows, arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        pb.QuantizedTable.from_batches(rows, "y", "w", **{"bins_of": table, **arguments})


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "arguments", "message"),
    [
        ({}, {"y": ROWS["y"]}, "y must not be given"),
        ({}, {"sample_weight": ROWS["w"]}, "sample_weight must not be given"),
        ({"max_bins": 30}, {}, r"at most \d+ bins for a numeric feature; got 30"),
        ({"rows_per_bin": None}, {}, r"at most \d+ bins for a numeric feature; got 255"),
        ({"categorical_features": ["whole"]}, {}, r"at the positions \[4\]; got \['whole'\]"),
        ({"categorical_features": None}, {}, r"at the positions \[4\]; got None"),
        ({"early_stopping": True}, {}, "early_stopping cannot hold out"),
    ],
)
def test_fits_that_are_refused(table, parameters, arguments, message):
    with pytest.raises(ValueError, match=message):
        pb.ProperBoostClassifier(**parameters).fit(table, **arguments)


def test_lines_need_the_means_of_bins():
    table = pb.QuantizedTable.from_batches(ROWS, "y", "w", bin_means=False)
    with pytest.raises(ValueError, match="bin_means=True"):
        pb.ProperBoostClassifier(weak_learner=pb.Tree(linear_leaves=True)).fit(table)


def test_other_estimators_and_methods_take_rows(table):
    model = pb.ProperBoostClassifier(n_estimators=1, weak_learner="table").fit(table)
    with pytest.raises(TypeError, match="X must be rows; got a QuantizedTable"):
        model.contributions(table)
    with pytest.raises(TypeError, match="X must be rows; got a QuantizedTable"):
        pb.ARBoostClassifier().fit(table, ROWS["y"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"label": "z"}, "source has no column 'z'"),
        ({"weight": "z"}, "source has no column 'z'"),
        ({"label": "double"}, "y must|NaN|labels"),
        ({"weight": "double"}, "NaN"),
        ({"features": ["double", "y"]}, "features must be different columns"),
        ({"features": []}, "a column besides"),
        ({"max_bins": 1}, "max_bins"),
        ({"rows_per_bin": "few"}, "rows_per_bin"),
        ({"class_weight": "few"}, "class_weight"),
        ({"categorical_features": ["z"]}, "the name 'z' is unknown"),
    ],
)
def test_arguments_that_are_refused(arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        pb.QuantizedTable.from_batches(cut(ROWS, 500), **{"label": "y", **arguments})


def test_weights_beyond_all_scales_are_refused():
    rows = ROWS.assign(w=np.where(np.arange(700) % 2, 1e300, 1e-300))
    with pytest.raises(ValueError, match="0 in float precision compared with the largest"):
        pb.QuantizedTable.from_batches(cut(rows, 500), "y", "w", normalize_weights=True)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (ROWS, ROWS[:600], "only 600 of 700 rows"),
        (ROWS[:600], ROWS, "row 500 and those after it"),
        (ROWS, ROWS[::-1], "the labels of the rows 0 to 500"),
        (ROWS, ROWS.assign(y="new"), "row 0 and those after it"),
    ],
)
def test_a_source_that_changes_is_refused(first, second, message):
    readings = iter([first, second])
    with pytest.raises(ValueError, match=f"the same rows each time it is read.*{message}"):
        pb.QuantizedTable.from_batches(lambda: cut(next(readings), 500)(), "y")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop(columns="flag"), "batches of the same columns.*batch 1 has"),
        (lambda rows: rows[rows.columns[::-1]], "batches of the same columns.*batch 1 has"),
        (lambda rows: rows.assign(town=1.0), "batches of the same types.*'town'"),
    ],
)
def test_batches_of_another_kind_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        pb.QuantizedTable.from_batches(lambda: iter([ROWS[:500], change(ROWS[500:])]), "y")


@pytest.mark.parametrize("batches", [[], [ROWS[:0]]])
def test_no_rows_are_refused(batches):
    with pytest.raises(ValueError, match="source must give rows"):
        pb.QuantizedTable.from_batches(lambda: batches, "y")
