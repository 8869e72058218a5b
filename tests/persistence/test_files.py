"""Saved models: loaded ones predict the same bit for bit; any other file is refused."""

import copy
import json
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import properboost as pb
from helpers.documents import JSON, assert_predicts, change, places
from helpers.models import AS_PUBLISHED, assert_same
from properboost.parameters.flat import PLACES
from properboost.persistence.files import VERSION

pd = pytest.importorskip("pandas")

QUICK = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


def round_trip(model, tmp_path):
    path = tmp_path / "model.json"
    model.save_model(path)
    return pb.load_model(path)


# -- round trips ----------------------------------------------------------------------------------

LABELS = st.one_of(
    st.lists(st.text(max_size=5), min_size=2, max_size=4, unique=True).map(
        lambda labels: np.array(labels, dtype=object)
    ),
    st.lists(st.text("ab\x7fé€𝄞", max_size=4), min_size=2, max_size=3, unique=True).map(np.array),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=4, unique=True).map(np.array),
    st.lists(st.integers(0, 255), min_size=2, max_size=4, unique=True).map(
        lambda labels: np.array(labels, dtype=np.uint8)
    ),
    st.just(np.array([False, True])),
    st.lists(st.integers(-9, 9).map(float), min_size=2, max_size=3, unique=True).map(np.array),
)
CATEGORIES = st.one_of(
    st.lists(st.text(max_size=5), min_size=1, max_size=4, unique=True),
    st.lists(st.integers(), min_size=1, max_size=4, unique=True),
    st.lists(st.floats(allow_nan=False), min_size=1, max_size=4, unique=True),
    st.just([False, True]),
)
VALUES = st.floats(allow_nan=True, allow_infinity=True)


@QUICK
@given(
    labels=LABELS,
    categories=CATEGORIES,
    values=st.lists(VALUES, min_size=12, max_size=12),
    names=st.lists(st.text(max_size=8), min_size=2, max_size=2, unique=True),
    settings=st.fixed_dictionaries(
        {"gain": st.floats(1e-3, 1e3), "max_bins": st.integers(2, 255)},
        optional={
            "loss": st.sampled_from(["gboost", "savage", pb.losses.Alpha(0.1)]),
            "weak_learner": st.sampled_from(["stump", "tree"]),
            "selection": st.just("cyclic"),
            "random_state": st.integers(0, 9),
        },
    ),
)
def test_every_model_comes_back(tmp_path, labels, categories, values, names, settings):
    if isinstance(settings.get("loss"), pb.losses.MarginLoss):
        settings["gain"] = 1.0
    if settings.get("weak_learner") == "tree":
        settings.pop("selection", None)
    codes = np.arange(12) % (len(categories) + 1)
    column = np.array([*categories, None], dtype=object)[codes]
    X = pd.DataFrame(dict(zip(names, (values, column), strict=True)))
    model = pb.ProperBoostClassifier(n_estimators=3, categorical_features=[names[1]], **settings)
    model.fit(X, labels[np.arange(12) % len(labels)])
    assert_same(model, round_trip(model, tmp_path), X)


def test_a_loss_object_comes_back(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = pb.ProperBoostClassifier(
        pb.losses.Alpha(0.3, 0.7), n_estimators=3, weak_learner="table"
    ).fit(X, X[:, 0] > 0)
    assert_same(model, round_trip(model, tmp_path), X)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            'a "quoted" name': rng.normal(size=80),
            "{[\\,:]}\n\u2028\x00é€𝄞": pd.Categorical(rng.choice(["x", "y", "z", "w"], 80)),
            "infinite": rng.choice([-np.inf, 0.0, 1.0, np.inf, np.nan], 80),
        }
    )
    return X, np.array(["low", "middle", "high"])[rng.integers(0, 3, 80)]


@pytest.fixture(scope="module")
def model(table):
    settings = {"n_estimators": 4, "max_bins": 3, "multiclass": "one_vs_rest", "calibration": None}
    settings = AS_PUBLISHED | settings
    return pb.ProperBoostClassifier(**settings).fit(*table)


@pytest.fixture(scope="module")
def document(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.json"
    model.save_model(path)
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    "settings",
    [
        {"class_weight": {"low": 2.0, "middle": 1, "high": np.float64(0.5)}},
        {"class_weight": "balanced"},
        {"categorical_features": [False, True, False]},
        {"categorical_features": np.array([1])},
        {"categorical_features": ["infinite", 1]},
        {"n_jobs": 2, "verbose": 0, "random_state": np.int64(3)},
        {"prior": 1e-3, "weak_learner": pb.Table(smoothing=0.1), "learning_rate": np.float32(0.3)},
        {"response": "newton", "l2": 0.5, "step": "unit"},
        {"selection": "cyclic"},
        {"weak_learner": pb.Tree(max_leaf_nodes=np.int64(5), max_depth=3)},
        {"weak_learner": pb.Tree(grow_policy="symmetric")},
        {"weak_learner": pb.Tree(min_child_weight=0.5, max_features=0.7, subsample=0.8)},
    ],
    ids=str,
)
def test_every_parameter_comes_back(table, tmp_path, settings):
    model = pb.ProperBoostClassifier(n_estimators=2, max_bins=3, **settings).fit(*table)
    loaded = round_trip(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(table[0]), model.predict_proba(table[0]))
    for name, value in model.get_params().items():
        expected = value.tolist() if isinstance(value, np.ndarray) else value
        assert loaded.get_params()[name] == expected
    refit = loaded.fit(*table)
    np.testing.assert_array_equal(refit.predict_proba(table[0]), model.predict_proba(table[0]))


@pytest.mark.parametrize(
    "directions",
    [[1, 0, -1], (0, 0, 1), np.array([1, 0, 0]), {0: 1, "infinite": -1}, {np.int64(2): -1}, {}],
    ids=str,
)
def test_directions_come_back(table, tmp_path, directions):
    X, y = table[0], table[1] == "low"
    model = pb.ProperBoostClassifier(weak_learner="tree", n_estimators=2, monotonic_cst=directions)
    loaded = round_trip(model.fit(X, y), tmp_path)
    assert loaded.monotonic_cst == (
        directions if isinstance(directions, dict) else list(directions)
    )
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(loaded.fit(X, y).decision_function(X), model.decision_function(X))


def test_a_class_without_rounds_comes_back(tmp_path):
    """Half of the rows of every kind are of class a, which therefore has no trees."""
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    y = np.array(["a", "b"] * 10 + ["a", "c"] * 10)
    settings = {"weak_learner": "tree", "n_estimators": 2, "multiclass": "one_vs_rest"}
    model = pb.ProperBoostClassifier(**settings).fit(X, y)
    assert model.history_["class"].tolist() == ["b", "b", "c", "c"]
    assert_same(model, round_trip(model, tmp_path), X)


def test_a_generator_comes_back_as_the_seed_it_gave(table, tmp_path):
    model = pb.ProperBoostClassifier(
        n_estimators=2, random_state=np.random.RandomState(5), weak_learner="table"
    )
    loaded = round_trip(model.fit(*table), tmp_path)
    assert loaded.random_state == np.random.RandomState(5).randint(2**31)


def test_presets_come_back(table, tmp_path):
    for preset in (pb.AdaBoost, pb.RealBoost, pb.LogitBoost, pb.SavageBoost):
        model = preset(n_estimators=2).fit(*table)
        assert_same(model, round_trip(model, tmp_path), table[0])


def test_stages_are_those_of_the_fit_whatever_was_set_since(table, tmp_path):
    model = pb.ProperBoostClassifier(n_estimators=2, selection="cyclic", weak_learner="table").fit(
        *table
    )
    model.set_params(selection="greedy")
    loaded = round_trip(model, tmp_path)
    assert loaded.selection == "greedy"
    assert loaded.n_iter_ == 2
    assert_same(model, loaded, table[0])


def test_a_loaded_model_can_be_saved_again(model, table, tmp_path):
    loaded = round_trip(model, tmp_path)
    first = (tmp_path / "model.json").read_bytes()
    assert_same(model, round_trip(loaded, tmp_path), table[0])
    assert (tmp_path / "model.json").read_bytes() == first


def test_a_loaded_model_checks_columns_as_before(model, table, tmp_path):
    loaded = round_trip(model, tmp_path)
    with pytest.raises(ValueError, match="same order"):
        loaded.predict(table[0].iloc[:, ::-1])
    with pytest.raises(ValueError, match="were strings when the model was fitted and are numbers"):
        loaded.predict(table[0].assign(**{table[0].columns[1]: 1.0}))


def test_a_model_without_rounds_comes_back(tmp_path):
    X = np.ones((4, 1))
    model = pb.ProperBoostClassifier(weak_learner="table").fit(X, [0, 1, 0, 1])
    assert model.n_iter_ == 0
    loaded = round_trip(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(X), 0.5)


# -- files ----------------------------------------------------------------------------------------


def test_a_failing_save_leaves_the_file_as_it_was(model, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    model.save_model(path)
    before = path.read_bytes()
    broken = copy.deepcopy(model).set_params(gain=-1.0)
    with pytest.raises(ValueError, match="gain must be above 0"):
        broken.save_model(path)

    def fail_half_way(document):
        yield b'{"format":'
        raise OSError("disk full")

    monkeypatch.setattr("properboost.persistence.files.write_json", fail_half_way)
    with pytest.raises(OSError, match="disk full"):
        model.save_model(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_missing_files_and_folders_are_the_systems_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        pb.load_model(tmp_path / "none.json")
    with pytest.raises(OSError, match=r"directory|denied"):
        pb.load_model(tmp_path)


def test_a_file_that_cannot_be_written_is_named(model, tmp_path):
    path = tmp_path / "no such folder" / "model.json"
    with pytest.raises(FileNotFoundError) as failure:
        model.save_model(path)
    assert failure.value.filename == str(path)


def load_text(text, tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return pb.load_model(path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "NaN",
        '"properboost model"',
        "[" * 100_000,
        '{"a":' * 100_000,
        "1" * 10_000,
        b"\x80\x04\x95pickle",
        b"\xff\xfe\x00",
        '{"format": "another"}',
        '{"format": "properboost model"}',
        '{"format": ["properboost model"], "format_version": 1}',
    ],
    ids=lambda text: repr(text[:20]),
)
def test_other_files_are_refused(text, tmp_path):
    with pytest.raises(ValueError, match=r"model\.json: .*(properboost model|format_version)"):
        load_text(text, tmp_path)


def test_every_truncation_is_refused(document, tmp_path):
    text = json.dumps(document)
    for end in range(0, len(text), 97):
        with pytest.raises(ValueError, match=r"model\.json: not a properboost model"):
            load_text(text[:end], tmp_path)


def test_newer_files_are_refused(document, tmp_path):
    newer = VERSION + 1
    message = f"format_version is {newer}: this library reads up to {VERSION}"
    with pytest.raises(ValueError, match=message):
        load_text(json.dumps({**document, "format_version": newer}), tmp_path)


def flatten(document):
    """Return a document with flat parameters, as of format 11, and without a calibration."""
    flat = {place.nested: name for name, place in PLACES.items()}
    parameters = {}
    for name, value in document["parameters"].items():
        match value:
            case {"Table": fields}:
                parameters[name] = "histogram"
                parameters |= {flat[f"{name}__{field}"]: fields[field] for field in fields}
            case "table":
                parameters[name] = "histogram"
            case _:
                parameters[name] = value
    del parameters["calibration"]
    old = {**copy.deepcopy(document), "parameters": parameters, "format_version": 11}
    del old["intercepts"], old["slopes"]
    return old


def test_files_of_version_1_have_greedy_selection_only(document, model, table, tmp_path):
    old = flatten(document)
    old["format_version"] = 1
    del old["compact"], old["temperature"]
    for name in ("selection", "multiclass"):
        del old[name], old["parameters"][name]
    del old["pairs"]
    del old["loss"]["table"]
    for rounds in old["models"]:
        del rounds["trees"]
    loaded = load_text(json.dumps(old), tmp_path)
    assert loaded.selection == "greedy"
    assert_same(model, loaded, table[0])
    with pytest.raises(ValueError, match="unknown field 'selection'"):
        load_text(json.dumps({**old, "selection": "greedy"}), tmp_path)


def test_files_of_version_2_have_no_trees(document, model, table, tmp_path):
    old = flatten(document)
    old["format_version"] = 2
    del old["compact"], old["temperature"]
    del old["multiclass"], old["parameters"]["multiclass"], old["parameters"]["interactions"]
    del old["pairs"]
    del old["loss"]["table"]
    for rounds in old["models"]:
        del rounds["trees"]
    loaded = load_text(json.dumps(old), tmp_path)
    assert_same(model, loaded, table[0])
    old["models"][0]["trees"] = None
    with pytest.raises(ValueError, match=r"models\[0\] has an unknown field 'trees'"):
        load_text(json.dumps(old), tmp_path)


def test_parameters_that_the_file_lacks_have_their_defaults(document, tmp_path):
    changed = copy.deepcopy(document)
    del changed["parameters"]["prior"]
    del changed["parameters"]["weak_learner"]["Table"]["smoothing"]
    loaded = load_text(json.dumps(changed), tmp_path)
    assert (loaded.prior, loaded.weak_learner) == (None, pb.Table(max_cells=None))
    old = flatten(document)
    del old["parameters"]["smoothing"], old["parameters"]["max_cells"]
    loaded = load_text(json.dumps(old), tmp_path)
    assert loaded.weak_learner == pb.Table(max_cells=None)  # which all tables had


NUMERIC, TOWN = 0, 1


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("format_version",), True, "format_version must be an integer"),
        (("format_version",), 0, "format_version must be an integer"),
        (("format_version",), "1", "format_version must be an integer"),
        (("library_version",), 1, "library_version must be a string"),
        (("estimator",), "os.system", "estimator must be one of"),
        (("parameters",), [], "parameters must be an object"),
        (("parameters", "gain"), -1, "parameters has a value .*gain must be above 0"),
        (("parameters", "gain"), 1e999, "Infinity is not allowed"),
        (("parameters", "gain"), "1", "gain must be a finite number"),
        (("parameters", "n_estimators"), 10**30, "n_estimators must be between"),
        (("parameters", "loss"), "none", "loss must be one of"),
        (("parameters", "loss"), ["glog"], "loss must be one of .*, or a loss object"),
        (
            ("parameters", "loss"),
            {"name": "glog"},
            r"parameters\.loss lacks the field 'parameters'",
        ),
        (("parameters", "n_jobs"), 0, "n_jobs must not be 0"),
        (("parameters", "random_state"), [1], "random_state must be None"),
        (("parameters", "verbose"), {}, "verbose must be an integer"),
        (
            ("parameters", "class_weight"),
            [[["a"], 1]],
            r"class_weight\[0\] must begin with a label",
        ),
        (("parameters", "class_weight"), [["a"]], r"class_weight\[0\] must have 2 entries"),
        (("parameters", "class_weight"), [["low", -1]], r"class_weight\['low'\] must be above 0"),
        (("parameters", "categorical_features"), {}, "categorical_features must be"),
        (("parameters", "categorical_features"), [[0]], r"categorical_features\[0\] must be"),
        (("parameters", "unknown"), 1, "parameters has an unknown field 'unknown'"),
        (("unknown",), 1, "unknown field 'unknown'"),
        (("loss", "name"), "none", "loss is not a loss: loss must be one of"),
        (("loss", "name"), 1, r"loss\.name must be a string"),
        (("loss", "gain"), 0, "gain must be above 0"),
        (("loss", "parameters"), {"alpha": 1}, "has no parameter 'alpha'"),
        (("loss", "parameters"), {"self": 1}, "loss is not a loss"),
        (("loss", "parameters"), None, r"loss\.parameters must be an object"),
        (("seed",), -1, "seed must be an integer"),
        (("classes", "dtype"), "M8[D]", r"classes\.dtype is not a type of labels"),
        (("classes", "dtype"), "O", r"classes\.dtype is not a type of labels"),
        (("classes", "dtype"), "int64", r"classes\.labels must hold at least two labels"),
        (("classes", "labels"), ["one"], "at least two"),
        (("classes", "labels"), ["high", "low", "low"], "ascending order"),
        (("classes", "labels"), ["low", "high", "middle"], "ascending order"),
        (("classes", "labels"), ["a\0", "b", "c"], "fit into str"),
        (("classes",), {"dtype": "uint8", "labels": [0, 1, 256]}, "fit into uint8"),
        (("classes",), {"dtype": "int8", "labels": [True, False]}, "labels of type int8"),
        (("classes",), {"dtype": "float16", "labels": [0.0, 1e300]}, "fit into float16"),
        (("classes",), {"dtype": "float64", "labels": [0.0, 1e999]}, "Infinity is not allowed"),
        (("feature_names",), ["a"], "feature_names must have 3 entries; it has 1"),
        (("feature_names", 0), 1, r"feature_names\[0\] must be a string"),
        (("categorical_from_dtype",), 1, "must be true or false"),
        (("selection",), 1, "selection must be a string"),
        (("selection",), "random", "selection must be one of"),
        (("selection",), "cyclic", "models must hold whole cycles"),
        (("features",), [], "features must not be empty"),
        (("features",), {}, "features must be a list"),
        (("features", NUMERIC, "kind"), "ordinal", r"features\[0\] must have the kind"),
        (("features", NUMERIC), 3, r"features\[0\] must be an object"),
        (("features", NUMERIC, "edges"), [1.0, 0.0], "strictly ascending"),
        (("features", NUMERIC, "edges"), [0.0, 0.0], "strictly ascending"),
        (("features", NUMERIC, "edges"), ["inf", 0.0], "strictly ascending"),
        (("features", NUMERIC, "edges"), ["nan", 0.0], "'inf' or '-inf'"),
        (("features", NUMERIC, "edges"), [0.0, None], "must hold numbers"),
        (("features", NUMERIC, "edges"), [False, True], "must hold numbers"),
        (("features", NUMERIC, "edges"), [10**400], "finite numbers"),
        (("features", NUMERIC, "edges"), list(range(255)), "at most 254"),
        (("features", NUMERIC, "span"), [1.0], r"span must have 2 entries"),
        (("features", NUMERIC, "span"), [1.0, 0.0], "the smallest number before the largest"),
        (("features", NUMERIC, "span"), ["nan", 0.0], "'inf' or '-inf'"),
        (("features", NUMERIC, "weights"), [1.0], r"weights must have 4 entries; it has 1"),
        (("features", NUMERIC, "weights"), [-1.0, 1.0, 1.0, 1.0], "no number below 0"),
        (("features", NUMERIC, "weights"), [0, 0, 0, 0], "positive finite sum"),
        (("features", NUMERIC, "weights"), [1e308] * 4, "positive finite sum"),
        (("features", TOWN, "categories"), ["w", "w"], "all different"),
        (("features", TOWN, "categories"), [None, "w"], r"categories\[0\] must be a string"),
        (("features", TOWN, "categories"), [["w"], "x"], r"categories\[0\] must be a string"),
        (("features", TOWN, "categories"), [{"number": "nan"}, "x"], "'inf' or '-inf'"),
        (("features", TOWN, "categories"), list(range(254)), "at most 253 categories"),
        (("features", TOWN, "has_rare"), "yes", "has_rare must be true or false"),
        (("models",), [], "models must have 3 entries"),
        (("models", 0, "feature", 0), 3, r"models\[0\]\.feature must hold integers from 0 to 2"),
        (("models", 0, "feature", 0), -1, "must hold integers from 0 to 2"),
        (("models", 0, "feature", 0), 0.0, "must hold integers from 0 to 2"),
        (("models", 0, "feature", 0), True, "must hold integers from 0 to 2"),
        (("models", 0, "feature"), [0], r"tables must have 1 entries; it has 4"),
        (("models", 0, "score", 0), "1", r"score must hold numbers"),
        (("models", 0, "step"), [1.0], "step must have 4 entries"),
        (("models", 0, "risk", 0), None, "risk must hold numbers"),
        (
            ("models", 0, "tables", 0),
            [],
            r"models\[0\]\.tables\[0\] must have \d entries; it has 0",
        ),
        (("models", 0, "tables", 0, 0), 10**400, "finite numbers"),
        (("models", 0, "tables", 0, 0), [1.0], "must hold numbers"),
        (("models", 0, "step", 0), 1e308, "raw predictions beyond"),
        (("models", 0, "offsets"), [-1], "unknown field 'offsets'"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_every_field_is_checked(document, tmp_path, place, value, message):
    changed = change(document, place, value)
    if place == ("models", 0, "step", 0):
        changed["models"][0]["tables"][0][0] = 1e10
    with pytest.raises(ValueError, match=rf"(?s)model\.json: .*{message}"):
        load_text(json.dumps(changed), tmp_path)


@pytest.fixture(scope="module")
def tree_document(table, tmp_path_factory):
    X, y = table
    path = tmp_path_factory.mktemp("trees") / "model.json"
    settings = {"weak_learner": pb.Tree(max_leaf_nodes=3, min_child_weight=0.0)}
    pb.ProperBoostClassifier(n_estimators=2, max_bins=3, **settings).fit(X, y).save_model(path)
    document = json.loads(path.read_text())
    tree = document["models"][0]["trees"][0]
    assert len(tree["feature"]) == 5
    assert tree["feature"][0] >= 0
    return document


FIRST, TREE = ("models", 0, "trees", 0), ("parameters", "weak_learner", "Tree")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ((*TREE, "max_leaf_nodes"), 1, "Tree.max_leaf_nodes must be between 2 and 128"),
        ((*TREE, "max_leaf_nodes"), 4.0, "Tree.max_leaf_nodes must be an integer"),
        ((*TREE, "max_depth"), 0, "Tree.max_depth must be between 1 and"),
        ((*TREE, "min_child_weight"), -1, "Tree.min_child_weight must be at least 0"),
        ((*TREE, "max_features"), 0, "Tree.max_features must be above 0"),
        ((*TREE, "subsample"), 2, "Tree.subsample must be between 0 and 1"),
        (("parameters", "weak_learner"), "forest", "weak_learner must be one of"),
        (("parameters", "weak_learner"), {"Tree": 3}, r"weak_learner\.Tree must be an object"),
        (("parameters", "weak_learner"), {"Tree": {"leaves": 3}}, "unknown field 'leaves'"),
        (("parameters", "weak_learner"), {"Bags": {}}, "weak_learner must be one of"),
        (("parameters", "monotonic_cst"), [2], r"parameters\.monotonic_cst must hold integers"),
        (("parameters", "monotonic_cst"), [0.0], r"parameters\.monotonic_cst must hold integers"),
        (("parameters", "monotonic_cst"), 1, r"parameters\.monotonic_cst must be a list"),
        (("parameters", "monotonic_cst"), {"a": 1}, r"monotonic_cst lacks the field 'of'"),
        (("parameters", "monotonic_cst"), {"of": {}}, r"monotonic_cst\.of must be a list"),
        (("parameters", "monotonic_cst"), {"of": [[0]]}, r"of\[0\] must have 2 entries"),
        (("parameters", "monotonic_cst"), {"of": [[[], 1]]}, r"of\[0\]\[0\] must be a name or a"),
        (("parameters", "monotonic_cst"), {"of": [[True, 1]]}, r"of\[0\]\[0\] must be a name or a"),
        (
            ("parameters", "monotonic_cst"),
            {"of": [[0, 2]]},
            r"of\[0\]\[1\] must be an integer from",
        ),
        (("models", 0, "trees"), {}, r"models\[0\]\.trees must be a list"),
        (("models", 0, "trees"), [], r"models\[0\]\.feature must have 0 entries, one per tree"),
        (("models", 0, "trees"), None, r"models\[0\]\.feature must hold integers from 0 to 2"),
        (("models", 0, "feature", 0), 0, r"models\[0\]\.feature must hold integers from -1 to -1"),
        (("models", 0, "feature"), [-1], r"models\[0\]\.feature must have 2 entries, one per tree"),
        (("models", 0, "tables", 0), [0.0], r"tables\[0\] must have 5 entries; it has 1"),
        (FIRST, None, r"models\[0\]\.trees\[0\] must be an object"),
        ((*FIRST, "depth"), 1, r"trees\[0\] has an unknown field 'depth'"),
        ((*FIRST, "feature"), None, r"trees\[0\]\.feature must be a list"),
        ((*FIRST, "feature"), [], r"trees\[0\]\.left must hold integers|must have 0 entries"),
        ((*FIRST, "feature"), [-1] * 6, r"trees\[0\]\.goes_left must have 6 entries; it has 5"),
        ((*FIRST, "feature", 0), 3, r"trees\[0\]\.feature must hold integers from -1 to 2"),
        ((*FIRST, "feature", 0), -2, r"trees\[0\]\.feature must hold integers from -1 to 2"),
        ((*FIRST, "feature", 0), True, r"trees\[0\]\.feature must hold integers from -1 to 2"),
        ((*FIRST, "feature", 0), -1, r"trees\[0\]\.goes_(left|right)\[0\] must hold codes below 0"),
        ((*FIRST, "left"), [1], r"trees\[0\] is no tree: left must have 5 entries"),
        ((*FIRST, "left", 0), 0, r"trees\[0\] is no tree: .*children follow parents"),
        ((*FIRST, "left", 0), 4, r"trees\[0\]\.left must hold integers from 0 to 3"),
        ((*FIRST, "left", 0), -1, r"trees\[0\]\.left must hold integers from 0 to 3"),
        ((*FIRST, "left", 0), 2**63, r"trees\[0\]\.left must hold integers from 0 to 3"),
        ((*FIRST, "left", 0), 1.0, r"trees\[0\]\.left must hold integers from 0 to 3"),
        ((*FIRST, "goes_left"), ["1"], r"trees\[0\]\.goes_left must have 5 entries; it has 1"),
        ((*FIRST, "goes_left", 0), 1, r"trees\[0\]\.goes_left\[0\] must be a string"),
        ((*FIRST, "goes_left", 0), "", r"goes_left\[0\] must hold hexadecimal digits"),
        ((*FIRST, "goes_left", 0), "-1", r"goes_left\[0\] must hold hexadecimal digits"),
        ((*FIRST, "goes_left", 0), "0x1", r"goes_left\[0\] must hold hexadecimal digits"),
        ((*FIRST, "goes_left", 0), "1\n", r"goes_left\[0\] must hold hexadecimal digits"),
        ((*FIRST, "goes_left", 0), "f" * 65, r"goes_left\[0\] must hold hexadecimal digits"),
        ((*FIRST, "goes_right", 0), "f" * 64, r"goes_right\[0\] must hold codes below \d"),
        (
            (*FIRST, "goes_right", 0),
            "f",
            r"trees\[0\]\.goes_right must not hold codes that go left",
        ),
        ((*FIRST, "goes_right", 4), "1", r"goes_right\[4\] must hold codes below 0"),
        ((*FIRST, "weight"), [[1.0, 1.0]], r"trees\[0\]\.weight must have 5 entries; it has 1"),
        ((*FIRST, "weight", 0), 1.0, r"trees\[0\]\.weight\[0\] must be a list"),
        ((*FIRST, "weight", 0), [1.0], r"trees\[0\]\.weight\[0\] must have 2 entries"),
        ((*FIRST, "weight", 0), [1.0, -1.0], r"trees\[0\]\.weight must hold no number below 0"),
        ((*FIRST, "weight", 0), [1.0, "1"], r"trees\[0\]\.weight\[0\] must hold numbers"),
        ((*FIRST, "saving"), [1.0], r"trees\[0\]\.saving must have 5 entries; it has 1"),
        ((*FIRST, "saving", 0), -1.0, r"trees\[0\]\.saving must hold no number below 0"),
        ((*FIRST, "saving", 0), None, r"trees\[0\]\.saving must hold numbers"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_every_field_of_trees_is_checked(tree_document, tmp_path, place, value, message):
    changed = change(tree_document, place, value)
    with pytest.raises(ValueError, match=rf"(?s)model\.json: .*{message}"):
        load_text(json.dumps(changed), tmp_path)


def test_trees_and_tables_are_not_mixed(tree_document, document, tmp_path):
    changed = copy.deepcopy(tree_document)
    changed["models"][1] = document["models"][1]
    with pytest.raises(ValueError, match=r"model\.json: models must all hold trees, or none"):
        load_text(json.dumps(changed), tmp_path)


def test_importances_of_the_largest_savings_are_finite(tree_document, tmp_path):
    changed = copy.deepcopy(tree_document)
    for rounds in changed["models"]:
        for tree in rounds["trees"]:
            tree["saving"] = [1e308 if feature >= 0 else 0.0 for feature in tree["feature"]]
    importances = load_text(json.dumps(changed), tmp_path).feature_importances_
    splits = [f for m in changed["models"] for t in m["trees"] for f in t["feature"] if f >= 0]
    np.testing.assert_allclose(importances, np.bincount(splits, minlength=3) / len(splits))


def test_numbers_too_large_for_a_float_are_refused(document, tmp_path):
    text = json.dumps(document).replace('"gain": 1.0', '"gain": 1e999')
    with pytest.raises(ValueError, match="gain must be a finite number"):
        load_text(text, tmp_path)


def test_a_small_file_cannot_claim_much_memory(document, tmp_path):
    changed = copy.deepcopy(document)
    changed["features"] = changed["features"][:1] * 20_000
    changed["feature_names"] = None
    changed["classes"]["labels"] = [f"{k:06}" for k in range(20_000)]
    with pytest.raises(ValueError, match="needs more than"):
        load_text(json.dumps(changed), tmp_path)


@pytest.mark.parametrize("fixture", ["document", "tree_document"])
@settings(QUICK, max_examples=150)
@given(data=st.data())
def test_any_change_gives_a_model_or_a_value_error(fixture, table, tmp_path, request, data):
    document = request.getfixturevalue(fixture)
    place = data.draw(st.sampled_from(list(places(document))[1:]))
    changed = change(document, place, data.draw(JSON))
    try:
        loaded = load_text(json.dumps(changed), tmp_path)
    except ValueError as error:
        assert "model.json: " in str(error)  # noqa: PT017
        return
    assert_predicts(loaded, table[0])


def test_models_can_be_loaded_in_threads(model, table, tmp_path):
    model.save_model(tmp_path / "model.json")
    expected = model.predict_proba(table[0])
    results = []
    threads = [
        threading.Thread(
            target=lambda: results.append(
                pb.load_model(tmp_path / "model.json").predict_proba(table[0])
            )
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(result, expected) for result in results)
    assert len(results) == 4
