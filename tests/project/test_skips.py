"""A test that skips for a missing package fails where all the tests' packages are installed."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from helpers.skips import find_missing

TESTS = Path(__file__).resolve().parents[1]

SKIPPING = """
    import pytest

    {whole}

    @pytest.mark.skipif(True, reason="needs shap9")
    def test_that_does_not_import():
        pass

    def test_that_imports():
        pytest.importorskip("no_such_module")

    def test_of_data():
        pytest.skip("the set is not shipped")

    def test_of_dashboards():
        pytest.skip("could not import 'interpret': No module named 'interpret'")
"""

FILL = """
    import sys
    from helpers import skips
    from helpers.skips import *

    skips.sys = type("", (), {{"prefix": {prefix!r}, "version_info": sys.version_info}})
"""


def run(folder, *, filled, whole="", **environment):
    """Run tests that skip, as if all packages were installed; return the output."""
    if filled:
        (folder / "properboost").mkdir()
        (folder / "properboost" / "group-test").touch()
    (folder / "test_some.py").write_text(textwrap.dedent(SKIPPING.format(whole=whole)))
    (folder / "conftest.py").write_text(textwrap.dedent(FILL.format(prefix=str(folder))))
    known = {name: value for name, value in os.environ.items() if name != "CI"}
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", str(folder)],
        env=known | {"PYTHONPATH": path} | environment, cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    return ended.stdout


def test_a_missing_package_is_a_failure_where_all_are_installed(tmp_path):
    out = run(tmp_path, filled=True, CI="true")
    assert "1 failed, 2 skipped, 1 error" in out  # a mark skips before the test begins
    assert "no_such_module must be installed" in out
    assert "shap9 must be installed" in out


def test_a_whole_file_that_skips_is_an_error(tmp_path):
    out = run(tmp_path, filled=True, whole='pytest.importorskip("no_such_module")', CI="true")
    assert "1 error" in out
    assert "no_such_module must be installed" in out


@pytest.mark.parametrize(("filled", "environment"), [(True, {}), (False, {"CI": "true"})])
def test_elsewhere_it_is_a_skip(filled, environment, tmp_path):
    assert "4 skipped" in run(tmp_path, filled=filled, **environment)


def test_reasons_that_name_a_package():
    assert find_missing("Skipped: could not import 'skl2onnx.common': No module") == "skl2onnx"
    assert find_missing("needs treelite") == "treelite"
    assert find_missing("could not import 'interpret': No module named 'interpret'") is None
    for reason in ("the set is not shipped", "limits are Linux's", "there is no PostgreSQL"):
        assert find_missing(reason) is None
