"""tools/check_imports.py: no circles of imports, and no more floors than it allows."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "check_imports.py"


def check(root):
    return subprocess.run(
        [sys.executable, SCRIPT, root], capture_output=True, text=True, timeout=300
    )


def write(root, files):
    for name, text in files.items():
        path = root / "python" / "properboost" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_the_package_has_no_circles_and_few_floors():
    completed = check(ROOT)
    assert completed.returncode == 0, completed.stdout + completed.stderr


TOP = "import properboost.data.frames\n"


@pytest.mark.parametrize(
    ("frames", "complaint"),
    [
        ("import numpy\n", None),
        ("from properboost.data import table\n", None),
        ("from . import table\n", None),
        ("from properboost import fit\n", "circle of modules: properboost.data.frames, "),
        ("def read():\n    from properboost.fit import run\n", "circle of modules"),
        ("if TYPE_CHECKING:\n    import properboost.fit\n", "circle of modules"),
        ("from ..fit import run\n", "circle of modules"),
        # Modules of two folders import each other's.
        ("from properboost.losses.link import f\n", "circle of folders: properboost.data, "),
    ],
)
def test_circles_are_seen(tmp_path, frames, complaint):
    write(
        tmp_path,
        {
            "__init__.py": "from properboost import fit\n",
            "fit.py": TOP,
            "_core.pyi": "",
            "data/__init__.py": "",
            "data/frames.py": frames,
            "data/table.py": "from properboost import _core\n",
            "losses/link.py": "",
            "losses/table.py": "from properboost.data.table import f\n",
        },
    )
    completed = check(tmp_path)
    assert (complaint or "") in completed.stderr
    assert completed.returncode == (1 if complaint else 0), completed.stderr


@pytest.mark.parametrize("n", [10, 11])
def test_floors_are_counted(tmp_path, n):
    chain = {f"m{k}.py": f"from properboost.m{k + 1} import x\n" for k in range(n - 1)}
    write(tmp_path, {**chain, f"m{n - 1}.py": "", "__init__.py": ""})
    completed = check(tmp_path)
    assert f"{n} floors: properboost.m0 -> properboost.m1 -> " in completed.stdout
    assert completed.returncode == (n > 10)
    assert ("has 11 modules" in completed.stderr) == (n > 10)
