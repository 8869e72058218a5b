"""The settings of the papers' items do not change with the library's defaults.

``kept_fits.json`` has the predictions of their estimators from the time of writing.  Where a
parameter or a value gets another name, ``pinned_*.py`` follows, and the fits stay the same.
``python tests/reproduce/test_pinned.py`` adds the fits that the file lacks.
"""

import ast
import inspect
import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import properboost as pb
from properboost import reproduce
from properboost.parameters.declare import declared
from properboost.reproduce.boostlr.histograms import SETTINGS

SCRIPTS = sorted(Path(reproduce.__file__).parent.glob("*/*.py"))
KEPT = Path(__file__).with_name("kept_fits.json")
MAKERS = {
    name: getattr(import_module(f"properboost.reproduce.pinned_{name}"), f"make_{name}")
    for name in ("tables", "search", "votes", "rados")
}
ESTIMATORS = {name for name in pb.__all__ if inspect.isclass(getattr(pb, name))}

EVERY_FIT = (
    *(f"{reading}, {loss}" for reading in SETTINGS for loss in ("exponential", "glaplacian")),
    "tables",
    "search",
    "votes",
    "rados",
)

FREE = {"n_jobs", "verbose"}
"""Parameters without effect on results."""


@pytest.mark.parametrize("name", MAKERS)
def test_every_parameter_is_pinned(name, monkeypatch):
    make = MAKERS[name]
    model = make()
    before = model.get_params()
    init = inspect.unwrap(type(model).__init__)
    unlike = {p: before[p] if p in FREE else object() for p in declared(type(model))}
    positional = len(init.__defaults__ or ())
    monkeypatch.setattr(init, "__kwdefaults__", unlike)
    monkeypatch.setattr(init, "__defaults__", (object(),) * positional)
    assert make().get_params() == before


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_items_make_pinned_estimators_only(path):
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    names = [f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", None) for f in calls]
    assert [name for name in names if name in ESTIMATORS] == []


def make_rows():
    """Return 120 rows, a fifth of them positive, with cells that are equal in some places."""
    rng = np.random.default_rng(66)
    X = np.round(rng.normal(size=(120, 4)), 1)
    y = (X[:, 0] + X[:, 1] ** 2 + rng.normal(size=120) > 2.0).astype(int)
    return X, y


def fit_one(name):
    """Return an eighth of a pinned estimator's raw predictions, or a search's scores."""
    X, y = make_rows()
    reading, comma, loss = name.rpartition(", ")
    if comma:
        setting = SETTINGS[reading]
        bins = setting.cut(X, slice(None), [False] * 4)
        model = MAKERS["tables"](loss=loss, gain=0.5, n_estimators=20, **setting.parameters)
        return model.fit(bins, y).decision_function(bins)[::8].tolist()
    if name == "search":
        space = {"gain": [0.5, 4.0], "n_estimators": 20}
        search = MAKERS["search"](space, cv=3, refit=False)
        return search.fit(X, y).cv_results_["mean_test_score"].tolist()
    options = {"n_rados": 200, "random_state": 1} if name == "rados" else {}
    model = MAKERS[name](**options, n_estimators=20)
    return model.fit(X, y).decision_function(X)[::8].tolist()


@pytest.mark.parametrize("name", EVERY_FIT)
def test_fits_stay_as_they_are(name):
    assert fit_one(name) == pytest.approx(json.loads(KEPT.read_text())[name], rel=1e-5, abs=1e-6)


if __name__ == "__main__":
    recorded = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    every = {name: recorded.get(name) or fit_one(name) for name in EVERY_FIT}
    lines = (f" {json.dumps(name)}: {json.dumps(values)}" for name, values in every.items())
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
