"""tools/structure.py: its figures of a small tree agree with counts by hand."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "__init__.py": "",
    "data/binning.py": "class CodedTable: ...\nclass Stored(CodedTable): ...\n",
    "boosting/engine.py": """
        from typing import cast

        from properboost import _core
        from properboost.data import binning

        def begin(training, model, screening):
            if training.elsewhere is not None and model:  # elsewhere
                return cast("_core.Boosting", model)
            def nested():
                return [a for a in model if a] if screening else _core._cut(model)
            return isinstance(model, list | binning.Stored) or model._rounds
        """,
    "estimators/properboost.py": """
        from properboost.engine.training import begin
        from properboost.boosting import engine

        class ProperBoostClassifier:
            def fit(self, X):
                \"\"\"Fit.

                Two paragraphs.
                \"\"\"
                # A comment.
                self._rounds = super()._read(X)

                return [
                    other._rounds
                    for other in X
                ]
        """,
}
EXPECTED = {
    "comparisons of `elsewhere` with None": 1,
    "lines with `elsewhere` in engine.py": 1,
    "casts to _core.Boosting": 1,
    "isinstance of coded tables": 1,
    "files that name `screening`": 2,
    "lines on others' private parts": 2,
    "  of another file": 1,
    "modules that estimators/properboost.py imports": 1,
    "modules that model_selection/search_cv.py imports": "-",
    "circles of imports": 0,
    "longest chain of imports": 3,
    "largest complexity in Python": 4,
    "code lines of ProperBoostClassifier.fit": 6,
}


def read_figures(source):
    """Return the printed figures, by name."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools/structure.py", "--source", source],
        capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    return {line[:58].rstrip(): line[58:63].strip() for line in lines}


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    source = tmp_path_factory.mktemp("source")
    files = {f"python/properboost/{name}": text for name, text in FILES.items()}
    files |= {"cpp/src/a.cpp": "bool screening;", "cpp/selftest/b.cpp": "bool screening;"}
    for name, text in files.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), "utf-8")
    return read_figures(source)


@pytest.mark.parametrize("name", EXPECTED)
def test_figures_of_a_small_tree(figures, name):
    assert figures[name] == str(EXPECTED[name])


def test_the_sources_have_every_figure():
    figures = read_figures(ROOT)
    assert figures.keys() >= EXPECTED.keys()
    absent = [name for name, figure in figures.items() if not figure.isdigit()]
    assert set(absent) <= {"largest complexity in C++"}  # lizard need not be there
