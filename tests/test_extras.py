"""Optional packages: they are imported, or the error names the package to install."""

import json
import sys

import pytest

from properboost.extras import import_extra


def test_what_is_there_is_imported():
    assert import_extra("json", "tests need", "plots") is json


@pytest.mark.parametrize("module", ["no_such_package", "no_such_package.part"])
def test_what_is_not_there_is_named(module):
    with pytest.raises(ImportError) as caught:
        import_extra(module, "tests need", "plots")
    assert str(caught.value) == "tests need no-such-package: pip install 'properboost[plots]'"
    assert isinstance(caught.value.__cause__, ImportError)


def test_a_part_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "json.tool", None)
    with pytest.raises(ImportError, match="tests need json: pip"):
        import_extra("json.tool", "tests need", "plots")
