"""The release: obstacles to one are found, and the workflow follows the list."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TREE = {
    "pyproject.toml": '[project]\nversion = "0.3.0"\n',
    "CHANGELOG.md": "# Changelog\n\n## [0.3.0] - 2026-12-01\n\n## [0.2.0] - 2026-01-01\n",
    "tools/check_release.py": (ROOT / "tools/check_release.py").read_text("utf-8"),
}


def check(folder, tag, **changed):
    for name, text in {**TREE, **changed}.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    script = folder / "tools/check_release.py"
    done = subprocess.run(
        [sys.executable, script, tag], capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stderr


def test_a_tag_that_may_be_released(tmp_path):
    assert check(tmp_path, "v0.3.0") == (0, "")


@pytest.mark.parametrize(
    ("tag", "changed", "message"),
    [
        ("v0.3.1", {}, "the tag is v0.3.1, and pyproject.toml has the version 0.3.0"),
        ("v0.3.0", {"CHANGELOG.md": "## [0.2.0] - 2026-01-01\n"}, "does not begin with [0.3.0]"),
        ("v0.3.0", {"CHANGELOG.md": "## [0.3.0] - Unreleased\n"}, "no date for [0.3.0]"),
    ],
)
def test_obstacles_to_a_release(tmp_path, tag, changed, message):
    status, errors = check(tmp_path, tag, **changed)
    assert status == 1
    assert message in errors


def test_the_workflow_follows_the_list():
    workflow = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    jobs = re.findall(r"^  (\w+):$", workflow[workflow.index("jobs:") :], re.MULTILINE)
    page = (ROOT / "docs/design/releasing.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == jobs
    needed = set(re.findall(r"needs: \[(.*)\]", workflow)[-1].split(", "))
    assert needed == set(jobs) - {"tag", "publish"}
