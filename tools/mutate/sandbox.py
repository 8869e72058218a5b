"""A copy of the working tree, in which to make, build and try mutations."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from edits import Edit

__all__ = ["LAST", "USUAL", "Reach", "Sandbox", "order_tests"]

NEAREST = {
    "cpp/margins": ["tests/engine/test_booster.py", "tests/engine", "tests/estimators"],
    "cpp/planning": ["tests/engine/test_booster.py", "tests/engine", "tests/estimators"],
    "cpp/rounds": ["tests/engine/test_booster.py", "tests/engine", "tests/estimators"],
    "cpp/data": ["tests/data", "tests/engine/test_binning.py", "tests/engine", "tests/fitting"],
    "cpp/losses": ["tests/losses", "tests/engine/test_booster.py", "tests/engine", "tests/papers"],
    "cpp": ["tests/engine", "tests/fitting", "tests/rado", "tests/estimators"],
    "python/data": ["tests/data", "tests/batches", "tests/estimators"],
    "python/losses": ["tests/losses", "tests/persistence"],
    "python/engine": ["tests/engine", "tests/fitting"],
    "python/models": ["tests/models", "tests/inspection", "tests/estimators"],
    "python/fitting": ["tests/fitting", "tests/models", "tests/estimators"],
    "python/model_selection": ["tests/model_selection", "tests/persistence"],
    "python/export": ["tests/export", "tests/cli"],
}
"""The folders and files of tests of a source's folder, nearest first.

All other tests that reach a line of Python follow, by measurements; the engine has these only.
"""

USUAL = 10.0
"""The assumed seconds of a test file without a measurement."""

LAST = "tests/bits"
"""Digests of models, which notice every change of bits: a last resort after all other tests."""

ADDRESSES = 24 * 2**30
"""Address space of a trial, in bytes: a mutated size must not fill the machine."""

PATIENCE = 20.0
"""The most time of a trial, as a multiple of its processor time, on a busy machine."""

REPOSITORY_TESTS = "tests/project"
"""Tests of the repository, which read its files and not its behaviour."""


@dataclass
class Reach:
    """The seconds, failures and reach of tests, from one run in coverage."""

    seconds: dict[str, float]
    failing: list[str] = field(default_factory=list)
    files: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    """The test files that reach each line of a source."""

    @classmethod
    def load(cls, path: Path) -> "Reach":
        """Read the file of a run."""
        record = json.loads(path.read_text(encoding="utf-8"))
        files = {
            source: {int(line): tests for line, tests in lines.items()}
            for source, lines in record["files"].items()
        }
        return cls(record["seconds"], record["failing"], files)

    def find(self, edit: Edit) -> list[str]:
        """Return the test files that reach an edit's lines; for imports, those of any line."""
        lines = self.files.get(edit.path, {})
        rows = range(edit.line, edit.line + edit.before.count("\n") + 1)
        tests = {test for row in rows for test in lines.get(row, ()) if test}
        if not tests and any("" in lines.get(row, ()) for row in rows):
            tests = {test for reached in lines.values() for test in reached if test}
        return sorted(tests)


def list_nearest(path: str) -> list[str]:
    """Return the folders and files of tests nearest to a source."""
    language, folder = Path(path).parts[0], Path(path).parts[-2]
    return NEAREST.get(f"{language}/{folder}", NEAREST.get(language, []))


def _is_in(test: str, top: str) -> bool:
    return test == top or test.startswith(f"{top}/")


def order_tests(path: str, tests: Iterable[str], seconds: Mapping[str, float]) -> list[str]:
    """Sort test files, nearest to a source first, then by their time."""
    near = list_nearest(path)

    def distance(test: str) -> tuple[int, int, float]:
        place = next((k for k, top in enumerate(near) if _is_in(test, top)), len(near))
        named = Path(test).stem == f"test_{Path(path).stem}"
        return test.startswith(LAST), -1 if named else place, seconds.get(test, USUAL)

    return sorted(tests, key=distance)


class Sandbox:
    """A copy of the tree at `work`; work there never touches the tree itself."""

    def __init__(self, root: Path, work: Path, language: str) -> None:
        self.root, self.language = root, language
        self.measured = work / "reach.json"
        self.work = work / language
        self.tree = self.work / "tree"
        self.build = self.work / "build"
        self.pristine = self.work / "pristine"

    # -- the copy ---------------------------------------------------------------------------------

    def fill(self) -> None:
        """Copy every file that git tracks or would add, and the package's compiled modules."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=self.root, capture_output=True, check=True).stdout
        names = {name.decode() for name in listed.split(b"\0") if name}
        modules = (self.root / "python").rglob("*.so")
        names |= {path.relative_to(self.root).as_posix() for path in modules}
        if self.tree.is_dir():
            for path in [path for path in self.tree.rglob("*") if path.is_file()]:
                name = path.relative_to(self.tree).as_posix()
                if name not in names and "__pycache__" not in path.parts and path.suffix != ".so":
                    path.unlink()
        for name in sorted(names):
            source, copy = self.root / name, self.tree / name
            if not source.is_file():
                continue
            if copy.suffix == ".so" and self.language == "cpp" and copy.is_file():
                continue  # it is built here
            if not copy.is_file() or copy.read_bytes() != source.read_bytes():
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)

    # -- the engine -------------------------------------------------------------------------------

    def configure(self) -> None:
        """Build the engine without a mutation, and store the build for `go_back`."""
        folder = [sys.executable, "-m", "pybind11", "--cmakedir"]
        pybind = subprocess.run(folder, capture_output=True, text=True, check=True).stdout.strip()
        command = [
            "cmake", "-S", str(self.tree), "-B", str(self.build), "-G", "Ninja", "-DSKBUILD=1",
            "-DSKBUILD_PROJECT_NAME=properboost", "-DSKBUILD_PROJECT_VERSION=0.1.0",
            f"-DPython_EXECUTABLE={sys.executable}", f"-Dpybind11_DIR={pybind}",
        ]  # fmt: skip
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if not self.make():
            raise RuntimeError("the engine does not build as it is")
        shutil.rmtree(self.pristine, ignore_errors=True)
        shutil.copytree(self.build, self.pristine, copy_function=shutil.copy2)

    def make(self) -> bool:
        """Build the engine and copy it into the package; return whether it compiles."""
        command = ["ninja", "-C", str(self.build)]
        if subprocess.run(command, capture_output=True).returncode:
            return False
        for module in self.build.glob("*.so"):
            shutil.copy(module, self.tree / "python/properboost")
        return True

    def go_back(self) -> None:
        """Restore the stored build, so that a mutation's objects need no second compilation."""
        names = {path.relative_to(self.pristine) for path in self.pristine.rglob("*")}
        for name in names:
            stored, used = self.pristine / name, self.build / name
            if stored.is_dir():
                continue
            if not used.is_file() or used.stat().st_mtime_ns != stored.stat().st_mtime_ns:
                shutil.copy2(stored, used)
        for module in self.build.glob("*.so"):
            shutil.copy(module, self.tree / "python/properboost")

    def list_tests(self, path: str) -> list[str]:
        """Return the test files nearest to a source of the engine, and the digests."""
        tests = sorted(
            test.relative_to(self.tree).as_posix()
            for test in (self.tree / "tests").rglob("test_*.py")
        )
        return [
            test for test in tests if any(_is_in(test, top) for top in [*list_nearest(path), LAST])
        ]

    # -- the tests --------------------------------------------------------------------------------

    def environment(self, **variables: str) -> dict[str, str]:
        """Return the environment of tests that import the copy."""
        paths = [str(self.tree / "python"), *filter(None, [os.environ.get("PYTHONPATH")])]
        paths = [path for path in paths if Path(path) != self.root / "python"]
        programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        shared = {"PYTHONPATH": os.pathsep.join(paths), "PATH": programs, "OMP_NUM_THREADS": "1"}
        return os.environ | shared | variables

    def measure(self, tests: Sequence[str]) -> None:
        """Run the tests once in coverage, and write the reach of each test file."""
        here = Path(__file__).resolve().parent
        settings = self.work / "coverage.rc"
        data = self.work / "coverage.data"
        settings.write_text(
            f"[run]\nsource_pkgs = properboost\ndata_file = {data}\n"
            "disable_warnings = module-not-imported, no-data-collected\n"
        )
        environment = self.environment()
        paths = os.pathsep.join([environment["PYTHONPATH"], str(here)])
        subprocess.run(
            [sys.executable, "-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-q",
             "-p", "reach", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header",
             "--ignore", REPOSITORY_TESTS, *tests],
            cwd=self.tree,
            env=environment | {"PYTHONPATH": paths, "MUTATE_REACH": str(self.work / "run.json")},
        )  # fmt: skip
        from coverage import CoverageData

        coverage_data = CoverageData(str(data))
        coverage_data.read()
        files: dict[str, dict[int, list[str]]] = {}
        for name in coverage_data.measured_files():
            source = Path(name).relative_to(self.tree).as_posix()
            files[source] = {
                line: sorted(contexts)
                for line, contexts in coverage_data.contexts_by_lineno(name).items()
            }
        run = json.loads((self.work / "run.json").read_text())
        self.measured.write_text(json.dumps(run | {"files": files}))

    def run(self, tests: Sequence[str], failing: Sequence[str], seconds: float) -> dict[str, Any]:
        """Run test files until the first failure; return the test that noticed something, if any.

        A run of more than `seconds` of a processor counts as noticed, and so does one that ends the
        process.  A busy machine gets more time.
        """
        listed = self.work / "tests.txt"
        listed.write_text("\n".join(tests))
        skipped = [option for test in failing for option in ("--deselect", test)]
        command = [
            sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
            "--no-header", "--tb=no", "-rfE", f"--timeout={PATIENCE * seconds:.0f}",
            *skipped, f"@{listed}",
        ]  # fmt: skip
        start = time.monotonic()
        try:
            ended = subprocess.run(
                command, cwd=self.tree, env=self.environment(), capture_output=True, text=True,
                timeout=PATIENCE * seconds, preexec_fn=partial(_limit, int(seconds)),
                errors="replace",
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"by": "a time limit", "seconds": round(time.monotonic() - start, 1)}
        took = {"seconds": round(time.monotonic() - start, 1)}
        if ended.returncode in (0, 5):
            return {"by": None} | took
        if ended.returncode == 4:
            raise RuntimeError(ended.stdout + ended.stderr)
        named = re.search(r"^(?:FAILED|ERROR) (\S+)", ended.stdout, re.MULTILINE)
        return {"by": named[1] if named else f"exit status {ended.returncode}"} | took


def _limit(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
