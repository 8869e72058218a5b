"""Test that a scorer of a file predicts as its model, and starts without scikit-learn."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import properboost as pb
from properboost.losses import from_pdf
from properboost.persistence.registry import KINDS
from properboost.serving.readers import FIRST_VERSIONS, READERS

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(4)
N = 240
X = RNG.normal(size=(N, 3))
BINARY = np.where(X[:, 0] + X[:, 1] * X[:, 2] + RNG.normal(size=N) > 0, "yes", "no")
THREE = np.searchsorted([-0.6, 0.6], X[:, 0] + 0.5 * RNG.normal(size=N))
FRAME = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": RNG.choice(["u", "v"], N)})
FRAME.loc[::9, "b"] = np.nan
FEW = {"n_estimators": 6}
LOGISTIC = from_pdf(lambda v: np.exp(-v) / (1.0 + np.exp(-v)) ** 2)
"""A loss whose file has a table."""

MODELS = {
    "tables": lambda: pb.ProperBoostClassifier(**FEW).fit(X, BINARY),
    "names": lambda: pb.ProperBoostClassifier(
        interactions=1, outer_bags=4, **FEW
    ).fit(FRAME, BINARY),
    "softmax": lambda: pb.ProperBoostClassifier(**FEW).fit(X, THREE),
    "one against the rest": lambda: pb.ProperBoostClassifier(
        multiclass="one_vs_rest", calibration=pb.Calibration(temperature=1.3), **FEW
    ).fit(X, THREE),
    "trees": lambda: pb.ProperBoostClassifier(weak_learner="tree", **FEW).fit(FRAME, BINARY),
    "lines": lambda: pb.ProperBoostClassifier(
        weak_learner=pb.Tree(linear_leaves=True, interaction_cst=2), response="newton", **FEW
    ).fit(X, THREE),
    "custom loss": lambda: pb.ProperBoostClassifier(LOGISTIC, **FEW).fit(X, BINARY),
    "edited": lambda: pb.ProperBoostClassifier(**FEW).fit(X, BINARY).monotonize(0, 1),
    "ordered": lambda: pb.OrderedClassifier(
        pb.ProperBoostClassifier(**FEW), ["yes", "no"]
    ).fit(FRAME, BINARY),
    "ordered, three": lambda: pb.OrderedClassifier(pb.ProperBoostClassifier(**FEW)).fit(X, THREE),
    "search": lambda: pb.ProperBoostClassifierCV(effort=1).fit(X, BINARY),
    "votes": lambda: pb.ARBoostClassifier(**FEW).fit(X, BINARY),
    "votes for three": lambda: pb.ARBoostClassifier(**FEW).fit(X, THREE),
    "votes by label": lambda: pb.ARBoostClassifier(multiclass="one_vs_rest", **FEW).fit(X, THREE),
    "damped votes": lambda: pb.AdaBoostReg(**FEW).fit(X, BINARY),
    "search of votes": lambda: pb.ARBoostClassifierCV(rhos=[0.5, 1.0], **FEW).fit(X, BINARY),
    "rados": lambda: pb.RadoBoostClassifier(n_rados=50, **FEW).fit(X, BINARY),
    "udt": lambda: pb.UDTClassifier(phi="zeta").fit(FRAME, BINARY),
    "uls": lambda: pb.ULSClassifier("mu", **FEW).fit(X, BINARY),
}  # fmt: skip


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return MODELS[request.param]()


def rows_of(model):
    if not hasattr(model, "feature_names_in_"):
        return X[:20]
    return FRAME[:20]


def test_every_kind_has_a_reader():
    assert {*READERS} == {*KINDS}
    assert {name: kind.since for name, kind in KINDS.items()} == FIRST_VERSIONS


def test_decisions_by_cost_are_refused_by_name(tmp_path):
    model = pb.LeastCostClassifier(MODELS["tables"](), {0: 1.0, 1: 5.0}).fit(X, X[:, 0] > 0.0)
    model.save_model(tmp_path / "costs.json")
    with pytest.raises(ValueError, match=r"a classifier around another one"):
        pb.load_scorer(tmp_path / "costs.json")


def test_a_scorer_of_ordered_classes_has_f(tmp_path):
    model = MODELS["ordered, three"]()
    raw, scorer = model.estimator_.decision_function(X), model.compile()
    np.testing.assert_array_equal(scorer.decision_function(X), raw)
    np.testing.assert_array_equal(scorer.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(scorer.predict(X), model.predict(X))
    before = scorer.predict_proba(X)
    model.estimator_.monotonize(0, -1)
    np.testing.assert_array_equal(scorer.predict_proba(X), before)
    model.save_model(tmp_path / "ordered.json")
    document = json.loads((tmp_path / "ordered.json").read_text("utf-8"))
    document["thresholds"].reverse()
    (tmp_path / "ordered.json").write_text(json.dumps(document), "utf-8")
    with pytest.raises(ValueError, match=r"thresholds.*ascending order"):
        pb.load_scorer(tmp_path / "ordered.json")


@pytest.mark.parametrize("compact", [False, True], ids=["full", "compact"])
def test_predictions_are_those_of_the_model(model, tmp_path, compact):
    path = tmp_path / ("model.json.gz" if compact else "model.json")
    model.save_model(path, compact=compact)
    scorer, compiled = pb.load_scorer(path), pb.load_model(path).compile()
    table = rows_of(model)
    row = dict(zip(scorer.feature_names_in_, np.asarray(table)[0].tolist(), strict=True))
    for rows in (row, [row, row], table, table[:1]):
        for method in ("predict_proba", "decision_function", "predict"):
            expected = getattr(compiled, method)(rows)
            result = getattr(scorer, method)(rows)
            np.testing.assert_array_equal(result, expected)
            assert result.dtype == expected.dtype
    np.testing.assert_array_equal(scorer(row), compiled(row))
    for name, counts in compiled.count_drift(table).items():
        np.testing.assert_array_equal(scorer.count_drift(table)[name], counts)
    assert scorer.feature_names_in_ == compiled.feature_names_in_
    assert type(model).__name__.removesuffix("Reg")[:3] in repr(scorer)
    again = pickle.loads(pickle.dumps(scorer))
    np.testing.assert_array_equal(again.predict_proba(table), compiled.predict_proba(table))


SERVE = """
import sys
import numpy as np
import properboost as pb
scorer = pb.load_scorer(sys.argv[1])
values = [[0.5] * len(scorer.feature_names_in_)]
names = scorer.feature_names_in_
row = {name: "u" if name == "c" else 0.5 for name in names}
print(scorer.predict_proba(row).shape[0])
if "c" not in names:
    print(scorer.predict_proba(values).shape[0])
    print(scorer.predict_proba(np.array(values)).shape[0])
print(sorted({name.partition(".")[0] for name in sys.modules} & {"sklearn", "pandas", "joblib"}))
"""


def test_a_server_imports_neither_scikit_learn_nor_pandas(model, tmp_path):
    path = tmp_path / "model.json"
    model.save_model(path)
    command = [sys.executable, "-c", SERVE, str(path)]
    output = subprocess.run(command, capture_output=True, text=True, check=True)
    assert output.stdout.split()[0] == "1"
    assert output.stdout.splitlines()[-1] == "[]"
    assert output.stderr == ""


def test_without_a_stderr_a_server_is_quiet(tmp_path):
    path = tmp_path / "model.json"
    named = pd.DataFrame(X, columns=list("xyz"))  # of which arrays are warned
    pb.ProperBoostClassifier(**FEW).fit(named, BINARY).save_model(path)
    served = SERVE.replace("import sys", "import sys; sys.stderr = None", 1)
    command = [sys.executable, "-c", served, str(path)]
    output = subprocess.run(command, capture_output=True, text=True, check=True)
    assert output.stderr == ""


def test_arrays_for_a_model_with_names_are_taken_by_position(tmp_path):
    named = pd.DataFrame(X, columns=list("abc"))
    model = pb.ProperBoostClassifier(**FEW).fit(named, BINARY)
    model.save_model(tmp_path / "model.json")
    scorer = pb.load_scorer(tmp_path / "model.json")
    with pytest.warns(UserWarning, match="ProperBoostClassifier was fitted with feature names"):
        np.testing.assert_array_equal(scorer.predict_proba(X), model.predict_proba(named))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.zeros((2, 4)), "X has 4 features, but ProperBoostClassifier is expecting 3 features"),
        ([[0.0, 1.0]], "X has 2 features"),
        ({"0": 1.0}, "it lacks"),
        (np.array([["a", "b", "c"]]), "where numbers are expected"),
    ],
    ids=["columns", "list", "dict", "text"],
)
def test_other_rows_are_refused_as_by_the_model(rows, message, tmp_path):
    pb.ProperBoostClassifier(**FEW).fit(X, BINARY).save_model(tmp_path / "model.json")
    with pytest.raises(ValueError, match=message):
        pb.load_scorer(tmp_path / "model.json").predict_proba(rows)


def test_models_with_initial_scores_are_refused_without_them(tmp_path):
    model = pb.ProperBoostClassifier(**FEW).fit(X, BINARY, init_score=np.zeros(N))
    model.save_model(tmp_path / "model.json")
    with pytest.raises(ValueError, match="init_score must be given"):
        pb.load_scorer(tmp_path / "model.json").predict_proba(X[:1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(estimator="Other"), "must be one of"),
        (lambda d: d.update(format="x"), "not a properboost model"),
        (lambda d: d.pop("models"), "lacks the field 'models'"),
        (lambda d: d["models"][0]["tables"][0].append(1.0), "models"),
        (lambda d: d.update(classes={"dtype": "int64", "labels": [1]}), "at least two labels"),
    ],
    ids=["kind", "format", "lacking", "table", "classes"],
)
def test_files_of_anything_else_are_refused(change, message, tmp_path):
    path = tmp_path / "model.json"
    pb.ProperBoostClassifier(**FEW).fit(X, BINARY).save_model(path)
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(ValueError, match=message):
        pb.load_scorer(path)


def test_a_search_without_a_model_is_refused(tmp_path):
    search = pb.ProperBoostClassifierCV(effort=1, refit=False).fit(X, BINARY)
    search.save_model(tmp_path / "search.json")
    with pytest.raises(ValueError, match=r"best_estimator is null.*refit=False"):
        pb.load_scorer(tmp_path / "search.json")
