"""Tampered files of every kind: errors name the field, or the model works like any other."""

import copy
import json
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

import properboost as pb
from helpers.documents import JSON, assert_predicts, change, places

pd = pytest.importorskip("pandas")

SPACE = {"gain": [0.5, 2.0], "n_estimators": 2}
QUICK = {"cv": 2, "max_bins": 5, "effort": None}

MODELS = {
    "udt": pb.UDTClassifier("mu", max_leaf_nodes=4, max_bins=5),
    "gains": pb.ProperBoostClassifierCV(
        SPACE
        | {
            "loss": ["glog", pb.losses.get_loss("alpha", alpha=0.2)],
            "interactions": [0, 1],
            "interactions__learning_rate": [1.0],
        },
        **QUICK,
    ),
    "pairs": pb.ProperBoostClassifier(
        n_estimators=2, max_bins=5, interactions=[[0, 1], ["town", 2]], weak_learner="table"
    ),
    "no refit": pb.ProperBoostClassifierCV(SPACE, **QUICK, refit=False),
    "votes": pb.ARBoostClassifier(n_estimators=2, max_bins=5, damping=0.1),
    "rhos": pb.ARBoostClassifierCV([1.0, 2.0], cv=2, n_estimators=2, max_bins=5),
    "rados": pb.RadoBoostClassifier(n_estimators=4, n_rados=9),
    "uls": pb.ULSClassifier(n_estimators=4),
    "ordered": pb.OrderedClassifier(
        pb.ProperBoostClassifier(n_estimators=4, max_bins=5, weak_learner="table"), ["b", "a"]
    ),
    "costs": pb.LeastCostClassifier(pb.ULSClassifier(n_estimators=4), {"a": 1.0, "b": 3.0}),
    "trees": pb.ProperBoostClassifier(n_estimators=2, max_bins=5, weak_learner="tree"),
}
COMPACT = ", compact"
NAMES = [*MODELS, *(f"{name}{COMPACT}" for name in MODELS)]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=60),
            "town": pd.Categorical(rng.choice(["x", "y", "z"], 60)),
            "age": rng.integers(0, 9, 60).astype(float),
        }
    )
    return table, np.where(table["size"] + (table["town"] == "x") > rng.normal(size=60), "a", "b")


@pytest.fixture(scope="module")
def documents(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("kinds") / "model.json"
    contents = {}
    for name, model in MODELS.items():
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            model.fit(*rows).save_model(path)
        contents[name] = json.loads(path.read_text())
        model.save_model(path, compact=True)
        contents[f"{name}{COMPACT}"] = json.loads(path.read_text())
    return contents


def load(document, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    return pb.load_model(path)


PARAMS, CURVES, SCORE = "params", "validation_curves", "mean_test_score"
GAIN = ("parameters", "space", "entries", "gain")
LOSS = ("parameters", "space", "entries", "loss")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("parameters", "phi"), "none", "parameters has a value .*phi must be one of"),
        (("parameters", "max_leaf_nodes"), 1, "max_leaf_nodes must be between 2 and"),
        (("parameters", "rows_per_bin"), 1, "parameters has an unknown field 'rows_per_bin'"),
        (("phi",), {"phi": "mu", "mu": 0.5}, "phi lacks the field 'zeta'"),
        (("phi", "phi"), "none", "phi has a value .*phi must be one of"),
        (("phi", "mu"), 1.0, "phi has a value .*mu must be below 1"),
        (("phi", "zeta"), 0, "phi has a value .*zeta must be below 0"),
        (("phi", "max_depth"), 3, "phi has an unknown field 'max_depth'"),
        (("seed",), -1, "seed must be an integer"),
        (("classes", "labels"), ["a", "b", "c"], "classes must hold two labels"),
        (("feature_names",), ["a"], "feature_names must have 3 entries"),
        (("features",), [], "features must not be empty"),
        (("features", 0, "weights"), [1.0], r"features\[0\] has an unknown field 'weights'"),
        (("features", 0, "edges"), ["inf", 0.0], r"features\[0\]\.edges must be in strictly"),
        (("features", 1, "categories"), ["x", "x"], r"features\[1\]\.categories must hold at most"),
        (("tree",), None, "tree must be an object"),
        (("tree", "feature", 0), 3, r"tree\.feature must hold integers from -1 to 2"),
        (("tree", "left", 0), 0, "tree is no tree: .*children follow parents"),
        (("tree", "goes_left", 0), "f" * 64, r"tree\.goes_left\[0\] must hold codes below"),
        (("tree", "weight", 0), [0, 0], r"tree\.weight must have positive finite sums"),
        (("tree", "weight", 0), [1e308, 1e308], r"tree\.weight must have positive finite sums"),
        (("tree", "saving"), [1e308] * 7, r"tree\.saving must have a finite sum"),
        (("tree", "left", 1), 5, r"tree\.left must give every node but the root one parent"),
        (("models",), [], "unknown field 'models'"),
    ],
    ids=str,
)
def test_fields_of_trees_are_checked(place, value, message, documents, tmp_path):
    with pytest.raises(ValueError, match=rf"(?s)model\.json: .*{message}"):
        load(change(documents["udt"], place, value), tmp_path)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("pairs", 0, "features"), [1, 0], r"features must hold two positions, the smaller first"),
        (("pairs", 0, "features"), [0, 3], r"features must hold integers from 0 to 2"),
        (("pairs", 0, "ordered"), [5, 0], r"ordered must hold two numbers, of levels at most"),
        (("pairs", 0, "levels", 0), [0, 2, -1, -1, -1], r"must hold 5 levels, -1 or from 0 on wi"),
        (("pairs", 0, "levels", 0), [-1] * 5, r"levels\[0\] must hold a level"),
        (("pairs", 0, "weights"), [1.0], r"pairs\[0\]\.weights must have"),
    ],
    ids=str,
)
def test_fields_of_pairs_are_checked(place, value, message, documents, tmp_path):
    with pytest.raises(ValueError, match=rf"model\.json: .*{message}"):
        load(change(documents["pairs"], place, value), tmp_path)


def test_rounds_of_pairs_before_those_of_features_are_refused(documents, tmp_path):
    rounds = documents["pairs"]["models"][0]
    turned = {name: entries and entries[::-1] for name, entries in rounds.items()}
    message = r"model\.json: models must hold the rounds of features before those of pairs"
    with pytest.raises(ValueError, match=message):
        load(change(documents["pairs"], ("models", 0), turned), tmp_path)


def test_a_label_beyond_float64_is_refused(documents, tmp_path):
    document = change(documents["udt"], ("parameters", "class_weight"), [["beyond", 1.0]])
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document).replace('"beyond"', "-1e999"), encoding="ascii")
    message = r"model\.json: parameters\.class_weight\[0\] must begin with a finite label"
    with pytest.raises(ValueError, match=message):
        pb.load_model(path)


def test_a_tree_without_nodes_is_refused(documents, tmp_path):
    empty = {name: [] for name in documents["udt"]["tree"]}
    message = r"model\.json: tree is no tree: a tree must have at least one node"
    with pytest.raises(ValueError, match=message):
        load(change(documents["udt"], ("tree",), empty), tmp_path)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ((*GAIN, "list"), [0.0], r"parameters has a value .*gain.* must be above 0"),
        (GAIN, {"Tree": {}}, r"parameters has a value .*gain"),
        (GAIN, {"Tree": {"leaves": 1}}, r"gain\.Tree has an unknown field 'leaves'"),
        (GAIN, {"tuple": 1}, r"gain\.tuple must be a list"),
        (GAIN, [1.0], r"gain must not be a list"),
        (GAIN, {"pairs": [{"list": [1]}]}, r"gain\.pairs\[0\] must be a list of a name or a pos"),
        (GAIN, {"pairs": [{"list": [1, 2]}] * 2}, r"gain\.pairs\[1\] must begin with another"),
        (("parameters", "space"), 1, "parameters has a value .*space"),
        (("parameters", "space"), {"entries": {"gains": 1}}, "parameters has a value .*gains"),
        (("parameters", "refit"), 1, "refit must be True or False"),
        (LOSS, {"loss": 9, "gain": 1.0}, r"loss\.loss must be an integer from 0"),
        ((*LOSS, "list", 0), {"loss": 0}, r"loss\.list\[0\] lacks the field 'gain'"),
        (LOSS, {"loss": 0, "gain": 2.0}, "has its own gain"),
        (("parameters", "cv"), {"not saved": 1}, r"parameters\.cv\.not saved must be a string"),
        (("parameters", "cv"), [[[0], [1]]], r"parameters\.cv must be null, a string"),
        (("parameters", "scoring"), {"eval": "1"}, r"parameters\.scoring lacks the field"),
        (("parameters", "scoring"), 0.5, r"parameters\.scoring must be null, a string"),
        (("parameters", "best"), 1, "parameters has an unknown field 'best'"),
        (("losses",), {}, "losses must be a list"),
        (("losses",), [1], r"losses\[0\] must be an object"),
        (("losses", 0, "name"), "none", r"losses\[0\] is not a loss"),
        (("seed",), 2**32, "seed must be an integer"),
        (("classes", "labels"), ["a", "c"], "best_estimator must have the classes and features"),
        (("n_features",), 4, "feature_names must have 4 entries|best_estimator must have the"),
        (("n_features",), 0, "n_features must be an integer from 1"),
        (("feature_names",), None, "best_estimator must have the classes and features"),
        (("found",), {}, "found lacks the field 'gain'"),
        (("found", "gain"), 0, r"found\.gain must be a finite number above 0"),
        (("found", "gain"), None, r"found\.gain must be a number"),
        (("found", "alpha"), None, "found has an unknown field 'alpha'"),
        (("found", "n_estimators"), 0, r"found\.n_estimators must be an integer from 1"),
        (("found", "best_index"), 4, r"found\.best_index must be below 4"),
        (("found", "best_index"), -1, r"found\.best_index must be an integer from 0"),
        (("best_score",), True, "best_score must be a number"),
        (("best_score",), 10**400, "best_score must be a number"),
        (("found", "classes"), 1, "found has an unknown field 'classes'"),
        (("best_params",), 1, "best_params must hold entries"),
        (("best_params",), [], "best_params must not be a list"),
        (("best_params",), {"entries": []}, r"best_params\.entries must be an object"),
        (("best_params",), {}, "best_params lacks the field 'loss'"),
        (("cv_results",), [], "cv_results must be an object"),
        (("cv_results",), {}, "cv_results must hold columns, all of one length"),
        (("cv_results", "x"), {"list": []}, "cv_results must hold columns, all of one length"),
        (("cv_results", PARAMS), {"list": 3}, r"cv_results\.params\.list must be a list"),
        (("cv_results", PARAMS), {"list": [], "x": 1}, "unknown field 'x'"),
        (("cv_results", PARAMS, "list", 0), [1], r"params\.list\[0\] must not be a list"),
        (("cv_results", SCORE, "dtype"), "O", "is not a type of results: 'O'"),
        (("cv_results", SCORE, "dtype"), "M8[s]", "is not a type of results"),
        (("cv_results", SCORE, "dtype"), "int8", r"values\[0\] must be an integer from -128"),
        (("cv_results", SCORE, "dtype"), "bool", r"values\[0\] must be true or false"),
        (("cv_results", SCORE, "values", 0), "x", "must hold numbers, 'inf', '-inf' or 'nan'"),
        (("cv_results", SCORE, "values", 0), {}, "must hold numbers, 'inf', '-inf' or 'nan'"),
        (("cv_results", SCORE, "mask"), [True], r"mask must have 4 entries; it has 1"),
        (("cv_results", SCORE, "mask"), [0, 0, 0, 0], r"mask\[0\] must be true or false"),
        (
            ("cv_results", "param_loss", "values", 0),
            {"number": "big"},
            r"values\[0\]\.number must be one of",
        ),
        (("interaction_results",), 3, "interaction_results must be an object"),
        ((CURVES, "shape"), [4, 2], r"shape must have 3 entries; it has 2"),
        ((CURVES, "shape"), [4, 2, 10**9], r"values must have 8000000000 entries; it has 16"),
        ((CURVES, "shape"), [4, 2, 0], r"shape must hold integers from 1"),
        ((CURVES, "shape"), [2, 4, 2], "validation_curves must be of 4 candidates"),
        ((CURVES, "values", 0), None, "must hold numbers, 'inf', '-inf' or 'nan'"),
        (("best_estimator",), 3, "best_estimator must be an object"),
        (("best_estimator", "models"), [], r"best_estimator\.models must have 1 entries"),
        (("best_estimator", "loss", "gain"), 0, r"best_estimator\.loss is not a loss"),
    ],
    ids=str,
)
def test_fields_of_searches_are_checked(place, value, message, documents, tmp_path):
    with pytest.raises(ValueError, match=rf"(?s)model\.json: .*{message}"):
        load(change(documents["gains"], place, value), tmp_path)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("parameters", "rhos"), [0], r"parameters has a value .*rhos\[0\] must be above 0"),
        (("parameters", "rho"), 1.0, "parameters has an unknown field 'rho'"),
        (("best_score",), None, "best_score must be a number"),
        (("cv_results", "param_rho", "mask"), 1, r"param_rho\.mask must be a list"),
        (("best_estimator",), None, "best_estimator must be an object"),
        (("best_estimator", "voting", "rho"), 0.0, r"best_estimator\.voting has a value"),
        (("losses",), [], "unknown field 'losses'"),
    ],
    ids=str,
)
def test_fields_of_searches_for_rho_are_checked(place, value, message, documents, tmp_path):
    with pytest.raises(ValueError, match=rf"(?s)model\.json: .*{message}"):
        load(change(documents["rhos"], place, value), tmp_path)


def test_a_small_file_cannot_claim_many_candidates(documents, tmp_path):
    changed = copy.deepcopy(documents["gains"])
    for name in ("gain", "prior", "learning_rate", "weak_learner__smoothing"):
        values = [0.01 + k / 9999 for k in range(999)]
        changed["parameters"]["space"]["entries"][name] = {"list": values}
    with pytest.raises(ValueError, match=r"parameters has a value .*more than 8192 candidates"):
        load(changed, tmp_path)


def test_sums_are_in_the_order_of_the_features(documents, tmp_path):
    document = documents[f"pairs{COMPACT}"]
    turned = {name: entries and entries[::-1] for name, entries in document["models"][0].items()}
    message = r"models\[0\]\.feature must be in strictly ascending order"
    with pytest.raises(ValueError, match=message):
        load(change(document, ("models", 0), turned), tmp_path)


COEFFICIENTS = {"feature": [1, 0], "value": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("pairs", ("compact",), None, "compact must be true or false"),
        ("pairs", ("n_estimators",), -1, "n_estimators must be an integer from 0"),
        ("pairs", ("n_estimators",), 2**31, "n_estimators must be an integer from 0"),
        ("pairs", ("models", 0, "score"), [], r"models\[0\] has an unknown field 'score'"),
        ("pairs", ("models", 0, "estimator"), [], r"models\[0\] has an unknown field 'estimator'"),
        ("pairs", ("models", 0, "tables", 0, 0), 1e301, r"models\[0\]\.tables must not add up to"),
        ("trees", ("models", 0, "trees", 0, "saving"), [0.0], "has an unknown field 'saving'"),
        ("votes", ("models", 0, "risk"), [0.0], "has an unknown field 'risk'"),
        ("udt", ("tree", "weight", 0), [0, 0], r"tree\.weight must have positive finite sums"),
        (
            "rados",
            ("coefficients",),
            COEFFICIENTS,
            r"coefficients\.feature must be in strictly asc",
        ),
        ("rados", ("coefficients", "value", 0), 0.0, r"coefficients\.value must hold no 0"),
        ("rados", ("coefficients", "value", 0), 1e301, r"coefficients\.value must not add up to"),
        ("rados", ("coefficients", "feature"), [99], r"coefficients\.feature must hold integers"),
        ("rados", ("n_kept",), 0, "n_kept must be an integer from 2"),
        ("rados", ("rounds",), {}, "has an unknown field 'rounds'"),
        ("gains", (CURVES,), {"shape": [4, 2, 1], "values": [0.0] * 8}, "best_estimator must have"),
        ("no refit", ("best_estimator",), 1, "best_estimator must be an object"),
        ("rhos", ("best_estimator", "n_estimators"), "x", "n_estimators must be an integer"),
    ],
    ids=str,
)
def test_fields_of_compact_files_are_checked(name, place, value, message, documents, tmp_path):
    with pytest.raises(ValueError, match=rf"(?s)model\.json: .*{message}"):
        load(change(documents[f"{name}{COMPACT}"], place, value), tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_no_field_can_be_left_out(name, documents, tmp_path):
    for field in {*documents[name]} - {"terms"}:  # trees without it have Shapley values by path
        changed = {key: value for key, value in documents[name].items() if key != field}
        with pytest.raises(ValueError, match=r"model\.json: "):
            load(changed, tmp_path)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_gives_a_model_or_a_value_error(name, rows, documents, tmp_path, data):
    document = documents[name]
    field = data.draw(st.sampled_from(list(document)))  # each as often as any, however long
    place = data.draw(st.sampled_from(list(places(document[field], (field,)))))
    changed = change(document, place, data.draw(JSON))
    try:
        loaded = load(changed, tmp_path)
    except ValueError as error:
        assert "model.json: " in str(error)  # noqa: PT017
        return
    assert type(loaded) is type(MODELS[name.removesuffix(COMPACT)])
    loaded.get_params()
    loaded.save_model(tmp_path / "again.json")
    loaded.save_model(tmp_path / "again.json.gz", compact=True)
    if hasattr(loaded, "decision_function") and not name.startswith("no refit"):
        assert_predicts(loaded, rows[0])


def test_losses_of_a_search_are_tables_without_code(rows, tmp_path):
    search = pb.ProperBoostClassifierCV(
        {"loss": [pb.losses.from_pdf(stats.cosine()), "glog"], **SPACE}, **QUICK
    )
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        search.fit(*rows).save_model(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    with pytest.raises(
        ValueError, match=r"model\.json: losses\[0\]\.table\.left must hold numbers"
    ):
        load(change(document, ("losses", 0, "table", "left", 3), "x"), tmp_path)
