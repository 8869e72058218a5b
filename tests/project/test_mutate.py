"""tools/mutate: the mutations, the places it leaves out, and the results of a lot."""

import importlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/mutate"


@pytest.fixture(scope="module")
def tool():
    """Return the modules of the tool, which import each other by their plain names."""
    names = ["edits", "python_edits", "cpp_edits", "lot", "sandbox"]
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOOL))
        yield {name: importlib.import_module(name) for name in names}
    for name in names:
        del sys.modules[name]


def mutate(tool, language, source):
    """Return the mutations of each line, by line."""
    text = textwrap.dedent(source).encode()
    mutations = {}
    for edit in tool[f"{language}_edits"].list_edits("a", text):
        mutations.setdefault(edit.before.strip(), set()).add(edit.after.strip())
    return mutations


def test_mutations_of_python(tool):
    mutations = mutate(
        tool,
        "python",
        '''
        """A docstring with 1 < 2."""
        import math
        Size: TypeAlias = list[int] | None

        def f(a: "int | None", b=3):
            """Another, of 4."""
            assert a is not None
            if a < b and not (a == 2):
                a.changed = True
            for k in range(b):
                a += 0.5
                continue
            if b < 0:
                raise ValueError(f"b must be at least {0 + 1}")
            return -a
        ''',
    )
    assert mutations == {
        'def f(a: "int | None", b=3):': {
            'def f(a: "int | None", b=4):', 'def f(a: "int | None", b=2):'
        },
        "if a < b and not (a == 2):": {
            "if a <= b and not (a == 2):", "if a >= b and not (a == 2):",
            "if a < b or not (a == 2):", "if a < b and (a == 2):", "if a < b and not (a != 2):",
            "if a < b and not (a == 3):", "if a < b and not (a == 1):",
            "if not (a < b and not (a == 2)):",
        },
        "a.changed = True": {"a.changed = False", "pass"},
        "a += 0.5": {"a -= 0.5", "a += 0.55", "a += 0.45", "pass"},
        "continue": {"pass"},
        "if b < 0:": {"if b <= 0:", "if b >= 0:", "if b < 1:", "if b < -1:", "if not (b < 0):"},
        'raise ValueError(f"b must be at least {0 + 1}")': {"pass"},
        "return -a": {"return a", "return None"},
    }  # fmt: skip


def test_mutations_of_cpp(tool):
    mutations = mutate(
        tool,
        "cpp",
        """
        #include <vector>  // 1 < 2
        template <class T, int n = 2>
        T sum(const std::vector<T>& x) {
          static_assert(n > 1);
          /* 3 + 4 */
          T total = 0.5;
          for (std::size_t i = 0; i < x.size(); ++i) total += x[i];
          if (x.empty() && n == 2) throw std::invalid_argument("of " + std::to_string(1));
          record(total);
          return total * 2;
        }
        """,
    )
    assert mutations == {
        "T total = 0.5;": {"T total = 0.55;", "T total = 0.45;"},
        "for (std::size_t i = 0; i < x.size(); ++i) total += x[i];": {
            "for (std::size_t i = 1; i < x.size(); ++i) total += x[i];",
            "for (std::size_t i = 0; i <= x.size(); ++i) total += x[i];",
            "for (std::size_t i = 0; i >= x.size(); ++i) total += x[i];",
            "for (std::size_t i = 0; i < x.size(); ++i) total -= x[i];",
        },
        'if (x.empty() && n == 2) throw std::invalid_argument("of " + std::to_string(1));': {
            f'if ({condition}) throw std::invalid_argument("of " + std::to_string(1));'
            for condition in (
                "x.empty() || n == 2", "x.empty() && n != 2", "x.empty() && n == 3",
                "x.empty() && n == 1",
            )
        },
        "record(total);": {";"},
        "return total * 2;": {
            "return total / 2;", "return total * 3;", "return total * 1;", "return {};"
        },
    }  # fmt: skip


@pytest.mark.parametrize("language", ["python", "cpp"])
def test_every_mutation_can_be_made_where_it_was_drawn_and_below_new_lines(tool, language):
    root = ROOT / {"python": "python/properboost", "cpp": "cpp/src"}[language]
    name = {"python": "fitting/evidence.py", "cpp": "planning/planner.cpp"}[language]
    source = (root / name).read_bytes()
    edits = tool[f"{language}_edits"].list_edits(name, source)
    assert len(edits) > 50
    above = b"\n" * 3
    for edit in edits:
        made = edit.apply(source)
        assert made != source
        if language == "python":
            compile(made, name, "exec")
        if source.count(edit.before.encode()) == 1:
            assert edit.apply(above + source) == above + made
    assert edits[0].apply(b"") is None


def test_a_lot_is_the_same_for_the_same_seed(tool):
    draw = tool["lot"].draw
    first, same, other = (draw(ROOT, "python", ["losses"], seed, 5) for seed in (1, 1, 2))
    assert first == same != other
    assert len({(edit.path, edit.line, edit.column) for edit in first}) == len(first) == 15


def test_nearest_tests_come_first_and_digests_last(tool):
    tests = ["tests/cli/test_a.py", "tests/bits/test_b.py", "tests/fitting/test_b.py",
             "tests/fitting/test_evidence.py", "tests/fitting/test_a.py"]  # fmt: skip
    seconds = {"tests/fitting/test_b.py": 1.0, "tests/fitting/test_a.py": 2.0}
    order = tool["sandbox"].order_tests("python/properboost/fitting/evidence.py", tests, seconds)
    assert order == [tests[3], tests[2], tests[4], tests[0], tests[1]]


def test_what_is_equivalent_has_a_reason_and_is_still_there(tool):
    for (path, before, after), why in tool["lot"].read_equivalent(TOOL / "equivalent.txt").items():
        source = (ROOT / path).read_bytes()
        edits = tool[f"{path.partition('/')[0]}_edits"].list_edits(path, source)
        assert (path, before, after) in {edit.key for edit in edits}, before
        assert why.endswith(".")


# -- a small repository ---------------------------------------------------------------------------

SOURCE = """
def add(a, b):
    return a + b


def larger(a, b):
    return a if a > b else b
"""

TESTS = """
from properboost.losses.sums import add, larger


def test_sums():
    assert add(2, 3) == 5


def test_larger():
    assert (larger(1, 2), larger(4, 3)) == (2, 4)
"""


def read(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_lot_is_tried_and_gone_on_with(tmp_path):
    """No test of `larger` can notice that equal numbers differ; those of `add` notice all."""
    shutil.copytree(TOOL, tmp_path / "tools/mutate")
    for name, text in {
        "python/properboost/__init__.py": "",
        "python/properboost/losses/__init__.py": "",
        "python/properboost/losses/sums.py": SOURCE,
        "tests/losses/test_sums.py": TESTS,
        "pyproject.toml": "[tool.pytest.ini_options]\ntimeout = 600\n",
        "tools/mutate/equivalent.txt": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    lines = {line: ["tests/losses/test_sums.py"] for line in range(1, 8)}
    reach = {"seconds": {"tests/losses/test_sums.py": 0.1}, "failing": [],
             "files": {"python/properboost/losses/sums.py": lines}}  # fmt: skip
    work, out = tmp_path / "build/mutate", tmp_path / "out/mutate"
    work.mkdir(parents=True)
    (work / "reach.json").write_text(json.dumps(reach))

    def run(*arguments):
        known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        command = [sys.executable, "tools/mutate", "python", "--folders", "losses", *arguments]
        ended = subprocess.run(command, cwd=tmp_path, env=known, capture_output=True, text=True)
        return ended.returncode, ended.stdout

    status, shown = run("--count", "2")
    assert status == 0, shown
    assert [end["number"] for end in read(out / "python-1/results.jsonl")] == [0, 1]
    status, shown = run("--count", "5")  # all places of the source
    results = read(out / "python-1/results.jsonl")
    assert [result["number"] for result in results] == [0, 1, 2, 3, 4]
    lot = read(out / "python-1/lot.jsonl")
    unnoticed = [
        mutation for mutation, end in zip(lot, results, strict=True) if end["result"] != "noticed"
    ]
    assert all(mutation["text"] in (">=",) for mutation in unnoticed), shown
    named = [end["by"] for end in results if end["result"] == "noticed"]
    assert len(named) >= 4
    assert all(by.startswith("tests/losses/test_sums.py::test_") for by in named)
    assert (tmp_path / "python/properboost/losses/sums.py").read_text() == SOURCE
    row = next(line for line in shown.splitlines() if line.startswith("together")).split()
    assert row[1] == "5"
    assert row[4] == str(len(named))
