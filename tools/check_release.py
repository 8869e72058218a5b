"""Check that the tree may be released, and test a wheel as a user first meets it.

    python tools/check_release.py TAG           # as v0.1.0: versions agree, changelog dated
    python tools/check_release.py --wheel FILE  # alone in an environment: import, demo

The second installs the wheel with its requirements only, into a new environment of the Python that
runs this.  Its demonstration must end within MOST_SECONDS of the installation, and its import may
take MOST_IMPORT seconds more than scikit-learn's.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_SECONDS = 15.0
MOST_IMPORT = 0.2
TURNS = 7

IMPORT = """
import time
begin = time.perf_counter()
import {module}
print(time.perf_counter() - begin)
"""


def check_tag(tag: str, root: Path = ROOT) -> list[str]:
    """Return the reasons against a release under this tag."""
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    problems = []
    if tag != f"v{version}":
        problems.append(f"the tag is {tag}, and pyproject.toml has the version {version}")
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    newest = re.search(r"^## \[(\S+)\] - (.+)$", changelog, re.MULTILINE)
    if newest is None or newest[1] != version:
        problems.append(f"CHANGELOG.md does not begin with [{version}]")
    elif not re.fullmatch(r"\d{4}-\d{2}-\d{2}", newest[2]):
        problems.append(f"CHANGELOG.md has no date for [{version}], but {newest[2]!r}")
    return problems


def check_wheel(wheel: Path) -> list[str]:
    """Return the faults of a wheel alone in an environment; print the measurements."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder, "bin", "python")
        # The process must not find the tree, neither from here nor by the environment's variables.
        clean = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}

        def run(*command: str) -> str:
            done = subprocess.run(
                command, cwd=folder, env=clean, check=True, capture_output=True, text=True
            )
            return done.stdout

        run(str(python), "-m", "pip", "--quiet", "install", str(wheel.resolve()))
        begin = time.monotonic()
        print(run(str(python.with_name("properboost")), "demo"))
        seconds = time.monotonic() - begin
        spent = {
            module: [
                float(run(str(python), "-c", IMPORT.format(module=module))) for _ in range(TURNS)
            ]
            for module in ("sklearn.ensemble", "properboost")
        }
        more = statistics.median(spent["properboost"]) - statistics.median(
            spent["sklearn.ensemble"]
        )
        installed = run(str(python), "-m", "pip", "list", "--format=freeze").split()
        print(f"wheel         {wheel.name}, {wheel.stat().st_size:,} bytes")
        print(f"installed     {' '.join(installed)}")
        print(f"demonstration {seconds:.1f} s after the installation")
        print(f"import        {more:.2f} s more than scikit-learn's ensembles")
        limits = {
            f"the demonstration took {seconds:.1f} s, more than {MOST_SECONDS}": seconds
            > MOST_SECONDS,
            f"the import takes {more:.2f} s more, above {MOST_IMPORT}": more > MOST_IMPORT,
        }
        return [problem for problem, is_so in limits.items() if is_so]


def main(arguments: list[str] | None = None) -> int:
    """Run the checks of the command line; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tag", nargs="?", help="the tag of the release, as v0.1.0")
    parser.add_argument("--wheel", type=Path, help="a wheel to try in an empty environment")
    options = parser.parse_args(arguments)
    if (options.tag is None) == (options.wheel is None):
        parser.error("give a tag, or --wheel FILE")
    problems = check_tag(options.tag) if options.wheel is None else check_wheel(options.wheel)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
