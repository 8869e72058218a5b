"""tools/check_words.py: words that the style guide rules out are counted, and no count rises."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "check_words.py"


def check(root, *options):
    return subprocess.run(
        [sys.executable, SCRIPT, *options, root], capture_output=True, text=True, timeout=300
    )


@pytest.fixture
def repository(tmp_path):
    """A repository of one page and one file of each language, with counts of one each."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "tools").mkdir()
    for name, text in {
        "page.md": "A loss tells a gain.\n",
        "code.py": "own = 1\n",
        "code.cpp": '// What is it.\nint x = f("own");\n',
    }.items():
        (tmp_path / name).write_text(text)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    counts = {"page.md": {"speaking": 1}, "code.py": {"name": 1}, "code.cpp": {"what": 1}}
    (tmp_path / "tools/words.json").write_text(json.dumps(counts))
    return tmp_path


def test_no_count_of_the_repository_rises():
    done = check(ROOT)
    assert done.returncode == 0, done.stderr


def test_counts_that_are_allowed_pass(repository):
    assert check(repository).returncode == 0


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("page.md", "A loss tells a gain. " * 2, "page.md: 2 x 'speaking', 1 allowed"),
        ("page.md", "word " * 26, "page.md: 1 x 'long', 0 allowed"),
        ("code.py", "for found in own: pass\n[own for own in found]\n", "code.py: 2 x 'name', 1"),
        ("code.py", '"""What a file is."""\n', "code.py: 1 x 'what', 0 allowed"),
        ("code.py", "# It knows.\n# He wants.\n", "code.py: 2 x 'speaking', 0 allowed"),
        ("code.cpp", "int own_ = own;\n", "code.cpp: 2 x 'name', 0 allowed"),
    ],
)
def test_a_count_that_rises_is_refused(repository, name, text, complaint):
    (repository / name).write_text(text)
    done = check(repository)
    assert done.returncode == 1
    assert complaint in done.stderr
    assert check(repository, "--write").returncode == 1  # nor is it written down


def test_a_count_that_falls_is_written_down(repository):
    (repository / "code.py").write_text("edges = 1\n")
    assert check(repository, "--write").returncode == 0
    assert "code.py" not in json.loads((repository / "tools/words.json").read_text())
