"""CPU seconds to build the engine, and to build it again after touching a file.

Prints user and system seconds of the compiler, without a compiler cache.  Needs what the build
needs, and ninja:

    python tools/rebuild_cost.py [--source FOLDER] [FILE ...]
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

INCLUDE = "cpp/include/properboost"
FILES = (
    f"{INCLUDE}/losses/glog.hpp",
    "cpp/src/rounds/booster.cpp",
    "cpp/src/planning/planner.cpp",
    f"{INCLUDE}/margins/margins.hpp",
)


def configure(source: Path, build: Path) -> None:
    """Set up a build of a wheel's contents with ninja."""
    pybind11 = subprocess.check_output([sys.executable, "-m", "pybind11", "--cmakedir"], text=True)
    subprocess.run(
        ["cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DPython_EXECUTABLE={sys.executable}",
         f"-Dpybind11_DIR={pybind11.strip()}", "-DCMAKE_CXX_COMPILER_LAUNCHER="],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def time_build(build: Path) -> float:
    """Return the CPU seconds of ninja and its jobs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["ninja", "-C", build], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the seconds of each build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", default=FILES)
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parents[1])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder)
        configure(arguments.source, build)
        print(f"{time_build(build):7.1f}  everything", flush=True)
        for file in arguments.files:
            (arguments.source / file).touch()
            print(f"{time_build(build):7.1f}  {file}", flush=True)


if __name__ == "__main__":
    main()
