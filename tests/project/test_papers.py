"""The settings of benchmarks/papers do not move with the library's defaults."""

import ast
import importlib
import inspect
from pathlib import Path

import pytest

import properboost as pb
from properboost.parameters.declare import declared

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "benchmarks" / "papers").glob("[!_]*.py"))
MAKERS = ("make_tables", "make_search", "make_votes", "make_rados")
ESTIMATORS = {name for name in pb.__all__ if inspect.isclass(getattr(pb, name))}

OF_DEFAULTS = [("accuracy", "ProperBoostClassifierCV")]
"""Claims about the defaults: what a search finds as it is."""

FREE = {"n_jobs", "verbose"}
"""Parameters on which no result depends."""


@pytest.mark.parametrize("name", MAKERS)
def test_every_parameter_is_pinned(name, monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    make = getattr(importlib.import_module("properboost.reproduce.pinned"), name)
    model = make()
    before = model.get_params()
    init = type(model).__init__
    unlike = {p: before[p] if p in FREE else object() for p in declared(type(model))}
    positional = len(init.__defaults__ or ())
    monkeypatch.setattr(init, "__kwdefaults__", unlike)
    monkeypatch.setattr(init, "__defaults__", (object(),) * positional)
    assert make().get_params() == before


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_papers_make_pinned_estimators_only(path):
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    names = [f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", None) for f in calls]
    made = [(path.stem, name) for name in names if name in ESTIMATORS]
    assert made == [entry for entry in OF_DEFAULTS if entry[0] == path.stem]
