"""Install the requirements of one make target into the environment that runs this.

    .venv/bin/python tools/install.py [--package | --in-place | --cases] [GROUP ...]

GROUP is a dependency group of pyproject.toml; --package builds and installs properboost itself.
--in-place compiles what changed and links the sources into a folder of the environment, for
`make try`: an edit of Python needs no build.  --cases builds the engine's cases from the package's
own objects, for `make kernels`.
Each step stores a digest of its inputs and runs again when that changes.  Digests, not times: a
source restored from a backup is older than the binary of its replacement, and no test must run that
binary.

Why not pip or uv alone?  `pip install . --group test` does the same once, and a workflow tests it.
A second time it compiles everything anew; editable, it runs the last build, even if the compiler or
its flags have changed.  uv goes by times too, and has to be installed first.  This needs Python
alone, compiles only changes, and names in one sentence the lacking parts of the machine.
"""

import argparse
import fcntl
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
STATE = Path(sys.prefix) / "properboost"
BUILD = STATE / "build"
IN_PLACE = STATE / "in-place"
TOOLCHAIN = ("CXX", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CMAKE_ARGS", "CMAKE_GENERATOR")

CPP17 = """
#include <optional>
#include <string_view>
#include <variant>
int main() { if constexpr (sizeof(char) == 1) return std::optional<int>{0}.value(); }
"""


def die(message: str) -> NoReturn:
    """Stop with one sentence."""
    sys.exit(f"properboost: {message}")


class Step:
    """A step that need not run again while its inputs stay the same."""

    def __init__(self, name: str, inputs: object) -> None:
        self.stamp = STATE / name
        self.digest = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()

    def is_done(self) -> bool:
        """Whether it succeeded with these inputs, and with no others since."""
        return self.stamp.is_file() and self.stamp.read_text() == self.digest

    def do(self, action: Callable[..., None], *arguments: object) -> None:
        """Run the action unless the step is done."""
        if not self.is_done():
            self.stamp.unlink(missing_ok=True)
            action(*arguments)
            self.stamp.write_text(self.digest)


def pip_install(*arguments: str) -> bool:
    """Run pip and return whether it succeeded."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
    return subprocess.run([*pip, "install", *arguments], cwd=ROOT).returncode == 0


def fetch(what: str, *arguments: str) -> None:
    """Install something that pip has to download."""
    print(f"== Installing {what}", flush=True)
    if not pip_install(*arguments):
        die(
            f"pip could not install {what}: if its messages above speak of connections, check the "
            "network, or point pip at a proxy or an index that this machine can reach "
            "(HTTPS_PROXY, PIP_INDEX_URL)."
        )


def fetch_build_tools() -> None:
    """Install CMake and ninja where the machine has none: without isolation pip does not do it."""
    code = (
        "from scikit_build_core.build import get_requires_for_build_wheel as needs;"
        "print(*needs(), sep='\\n')"
    )
    needs = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    if needs.returncode:
        die(f"scikit-build-core cannot read pyproject.toml:\n{needs.stderr.strip()}")
    if needs.stdout.strip():
        fetch("the build tools", *needs.stdout.splitlines())


def check_compiler() -> None:
    """Report a missing compiler in a sentence, before CMake does in a hundred lines."""
    named = os.environ.get("CXX", "").strip()
    usual = [name for name in ("c++", "g++", "clang++") if shutil.which(name)]  # in CMake's order
    command = shlex.split(named) or usual[:1]
    remedy = (
        "install one (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++; "
        "macOS: xcode-select --install), or name it with CXX=/path/to/c++."
    )
    if not command:
        die(f"no C++ compiler was found: {remedy}")
    if not shutil.which(command[0]):
        die(f"the C++ compiler CXX={named} was not found: {remedy}")
    trial = [*command, "-std=c++17", "-fsyntax-only", "-x", "c++", "-"]
    tried = subprocess.run(trial, input=CPP17, capture_output=True, text=True)
    if tried.returncode:
        errors = [line for line in tried.stderr.splitlines() if "error" in line]
        reason = errors[0] if errors else f"exit status {tried.returncode}"
        die(f"{shlex.join(command)} does not compile C++17 ({reason}): {remedy}")


def source_digests() -> dict[str, str]:
    """Return the digest of every file the installed package is made from."""
    files = [ROOT / "pyproject.toml", ROOT / "CMakeLists.txt"]
    for folder in ("cpp", "python"):
        files += (path for path in (ROOT / folder).rglob("*") if path.is_file())
    return {
        str(path.relative_to(ROOT)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(files)
        if path.parent.name != "__pycache__"
    }


def touch_changed(sources: dict[str, str], toolchain: dict[str, str | None]) -> None:
    """Touch files that differ from the sources of the objects in BUILD: ninja goes by times."""
    # Written before the objects: a build may stop half-way.
    record = STATE / "built-from.json"
    before = json.loads(record.read_text()) if record.is_file() else {}
    if before.get("toolchain") != toolchain:
        shutil.rmtree(BUILD, ignore_errors=True)
    record.write_text(json.dumps({"toolchain": toolchain, "sources": sources}))
    for name, digest in before.get("sources", {}).items():
        if sources.get(name, digest) != digest:
            (ROOT / name).touch()


def build(sources: dict[str, str], toolchain: dict[str, str | None]) -> None:
    """Build and install the package, not editable: tests run the package that users get."""
    fetch_build_tools()
    touch_changed(sources, toolchain)
    print("== Building properboost", flush=True)
    if not pip_install("--no-deps", "--no-build-isolation", f"-Cbuild-dir={BUILD}", "."):
        die("the package did not build: the messages of CMake or the compiler are above.")


def run_cmake(*arguments: str | Path) -> bool:
    """Run the environment's CMake, or the machine's, and return whether it succeeded."""
    folders = [str(Path(sys.executable).parent), os.environ["PATH"]]
    cmake = shutil.which("cmake", path=os.pathsep.join(folders))
    return cmake is not None and subprocess.run([cmake, *arguments]).returncode == 0


def build_cases(sources: dict[str, str], toolchain: dict[str, str | None]) -> None:
    """Compile changes of the engine and its cases, which ctest then runs."""
    touch_changed(sources, toolchain)
    programs = ("properboost-selftest", "properboost-tables")
    if not (
        run_cmake("--log-level=WARNING", "-DPROPERBOOST_SELFTEST=ON", BUILD)
        and run_cmake("--build", BUILD, "--target", *programs, "--", "--quiet")
    ):
        die("the engine's cases did not build: the messages of the compiler are above.")


def build_in_place(sources: dict[str, str], toolchain: dict[str, str | None]) -> None:
    """Compile changes, and link the result and the sources into IN_PLACE, for imports."""
    touch_changed(sources, toolchain)
    if not run_cmake("--build", BUILD, "--", "--quiet"):
        die("the extension did not build: the messages of the compiler are above.")
    package = IN_PLACE / "properboost"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for path in [*(ROOT / "python" / "properboost").iterdir(), *BUILD.glob("*.so")]:
        if path.name != "__pycache__" and not (package / path.name).exists():
            (package / path.name).symlink_to(path)


def main() -> None:
    """Run the steps of the command line."""
    parser = argparse.ArgumentParser(description="Fill this environment for one make target.")
    parser.add_argument("--package", action="store_true")
    parser.add_argument("--in-place", action="store_true")
    parser.add_argument("--cases", action="store_true")
    parser.add_argument("groups", nargs="*")
    arguments = parser.parse_args()
    if sys.prefix == sys.base_prefix:
        die("tools/install.py is for a virtual environment: run it through make.")

    STATE.mkdir(exist_ok=True)
    lock = (STATE / "lock").open("w")  # for two terminals; make itself runs one target at a time
    fcntl.flock(lock, fcntl.LOCK_EX)

    sources = source_digests()
    toolchain = {name: os.environ.get(name) for name in TOOLCHAIN}
    package = Step("package", [sources, toolchain])
    uses_objects = arguments.in_place or arguments.cases
    if (arguments.package or uses_objects) and not package.is_done():
        check_compiler()  # before the downloads, not after them

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    requirements = [
        *settings["build-system"]["requires"],
        *settings["project"]["dependencies"],
        *settings["project"]["optional-dependencies"]["all"],
    ]
    # 25.1 is the first pip with dependency groups.
    Step("pip", "25.1").do(fetch, "a current pip", "pip>=25.1")
    Step("requirements", requirements).do(fetch, "what properboost needs", *requirements)
    for group in arguments.groups:
        # All the groups are its inputs: one may include another.
        step = Step(f"group-{group}", settings["dependency-groups"])
        step.do(fetch, f"the {group} tools", "--group", group)
    # Objects without changes come from a build of the package.
    if arguments.package or (uses_objects and not BUILD.is_dir()):
        package.do(build, sources, toolchain)
    if arguments.in_place:
        build_in_place(sources, toolchain)
    if arguments.cases:
        build_cases(sources, toolchain)


if __name__ == "__main__":
    main()
