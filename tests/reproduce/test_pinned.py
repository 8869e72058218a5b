"""The settings of the papers' items do not move with the library's defaults."""

import ast
import inspect
from pathlib import Path

import pytest

import properboost as pb
from properboost.parameters.declare import declared
from properboost.reproduce import pinned

SCRIPTS = sorted(Path(pinned.__file__).parent.glob("*/*.py"))
MAKERS = ("make_tables", "make_search", "make_votes", "make_rados")
ESTIMATORS = {name for name in pb.__all__ if inspect.isclass(getattr(pb, name))}

FREE = {"n_jobs", "verbose"}
"""Parameters on which no result depends."""


@pytest.mark.parametrize("name", MAKERS)
def test_every_parameter_is_pinned(name, monkeypatch):
    make = getattr(pinned, name)
    model = make()
    before = model.get_params()
    init = type(model).__init__
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
