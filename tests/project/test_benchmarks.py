"""The scripts of benchmarks/ start, and say what they do."""

import ast
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted(
    path.relative_to(ROOT)
    for folder in ("peers", "engine", "papers")
    for path in (ROOT / "benchmarks" / folder).glob("[!_]*.py")
)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_describes_itself(path, capsys, monkeypatch):
    text = (ROOT / path).read_text("utf-8")
    if "lib.kernels" in text:
        pytest.importorskip("numba")
    name = ".".join(path.with_suffix("").parts)
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as end:
        runpy.run_module(name, run_name="__main__")
    assert end.value.code == 0
    description = ast.get_docstring(ast.parse(text))
    assert f"python -m {name}" in description
    assert description in capsys.readouterr().out


def test_readme_names_every_script():
    readme = (ROOT / "benchmarks/README.md").read_text("utf-8") if SCRIPTS else ""
    names = [".".join(path.with_suffix("").parts) for path in SCRIPTS]
    assert [name for name in names if f"`python -m {name}" not in readme] == []
