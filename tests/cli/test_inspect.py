"""Test ``properboost inspect`` and ``schema`` on model files of every kind."""

import json
from pathlib import Path

import numpy as np
import pytest

import properboost as pb
from helpers.commands import fail, run
from properboost.estimators.least_cost import unwrap
from properboost.persistence.schema import model_schema

STORED = Path(__file__).resolve().parents[1] / "persistence" / "kept_files"
FILES = sorted(path for path in STORED.glob("*/*.json*") if ".expected." not in path.name)


def find(name):
    return next((STORED / "format_10").glob(f"{name}.json*"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_file_is_described(path, capsys):
    out, notes = run(capsys, "inspect", path)
    assert notes == ""
    model = pb.load_model(path)
    version = path.parent.name.removeprefix("format_")
    assert out.startswith(f"{path}: {type(model).__name__} (format {version}, by properboost 0.")
    assert f"{path.stat().st_size:,} bytes" in out
    edits = getattr(model, "edits_", [])
    assert (", compact" in out) == ("_compact" in path.name or bool(edits))
    assert (", gzip" in out) == (path.suffix == ".gz")
    lines = out.splitlines()
    if hasattr(model, "models_"):
        assert next(line for line in lines if line.startswith("classes")).endswith(
            ", ".join(repr(label) for label in model.classes_.tolist())
        )
        assert "  cv=" in out
        return
    start = next(k for k, line in enumerate(lines) if line.startswith("features     4 ("))
    assert [line.split(":")[0] for line in lines[start + 1 : start + 5]] == [
        "  size", "  age", "  town", "  flag",
    ]  # fmt: skip
    begin = start + 6 + (1 + len(edits) if edits else 0)
    assert lines[begin - 1].startswith("parameters")
    listed = {line.strip().split("=")[0] for line in lines[begin:]}
    inner = model.estimator_ if isinstance(model, pb.OrderedClassifier) else unwrap(model)
    defaults, values = (m.get_params(deep=False) for m in (type(inner)(), inner))
    assert listed == {name for name in values if repr(values[name]) != repr(defaults[name])}

    out, _ = run(capsys, "inspect", path, "--json")
    summary = json.loads(out)
    assert summary["parameters"].keys() == listed
    assert summary["classes"] == model.classes_.tolist()
    assert [feature["name"] for feature in summary["features"]] == model.feature_names_in_.tolist()
    described = getattr(inner, "models_", [inner])[0]
    assert summary.get("n_iter") == getattr(described, "n_iter_", None)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("pairs", ["loss         exponential, gain 2.71442", "rounds       9",
                   "tables       9 with 236 entries, 2 pairs"]),
        ("bags_classes", ["classes      3: 'high', 'low', 'middle'", "multiclass   softmax",
                          "cycles       6", "tables       45 with 486 entries, 1 pairs, 4 bags"]),
        ("tree_classes", ["trees        9 with 63 nodes, 36 of them leaves"]),
        ("udt", ["trees        1 with 11 nodes, 6 of them leaves", "  mu=0.3", "  phi='mu'"]),
        ("rados", ["rounds       15", "coefficients 4, from 50 rados", "  size: numeric"]),
        ("families", ["search       3 candidates, best score -0.630671", "  readable=True"]),
        ("searched", ["search       3 candidates, best score -0.630671", "cycles       8"]),
        ("votes_classes", ["search       2 candidates, best score 0.542607"]),
        ("edited", ["edits        2", ("  flag removed; raw predictions moved by 0.505 in the mean "
                    "and 0.801 at most; reason: a test")]),
        ("merged", ["edits        1", "  2 models merged, with weights 0.25, 0.75"]),
        ("votes_two_classes", ["file         2,301 bytes", "rounds       9"]),
    ],
)  # fmt: skip
def test_the_text_of_inspect(name, lines, capsys):
    out, _ = run(capsys, "inspect", find(name))
    assert [line for line in lines if line not in out.splitlines()] == []


def test_defaults_many_classes_and_strange_names(capsys):
    X = np.arange(60.0)[:, None] % 30
    pd = pytest.importorskip("pandas")
    model = pb.ProperBoostClassifier().fit(pd.DataFrame({"\x1b[31m\n": X[:, 0]}), X[:, 0] % 15)
    model.save_model("m.json")
    out, _ = run(capsys, "inspect", "m.json")
    assert "parameters   all are the defaults" in out
    assert "9.0 and 5 more" in out
    assert r"  \x1b[31m\n: numeric" in out


def test_a_search_without_a_model(capsys):
    X = np.random.default_rng(0).normal(size=(60, 2))
    space = {"gain": [1.0], "n_estimators": 2}
    search = pb.ProperBoostClassifierCV(space, cv=2, effort=None, refit=False)
    search.fit(X, X[:, 0] > 0).save_model("m.json")
    out, _ = run(capsys, "inspect", "m.json")
    assert "search       1 candidates" in out
    assert "features" not in out


def test_what_is_no_model_file(capsys):
    Path("m.json").write_text("{}")
    assert "m.json: the document is not a properboost model" in fail(capsys, "inspect", "m.json")
    assert "none.json: No such file" in fail(capsys, "inspect", "none.json")


def test_schema(capsys):
    out, _ = run(capsys, "schema")
    assert json.loads(out) == model_schema()
