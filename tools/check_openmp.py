"""Check that OpenMP is in one header only, where every parallel region has num_threads(.

    python tools/check_openmp.py [ROOT]

A region elsewhere would escape the guarantees of that header: exceptions carried out of threads, a
serial child after fork, and the caller's number of threads.
"""

import re
import sys
from pathlib import Path

HOME = Path("cpp/include/properboost/core/region.hpp")
SUFFIXES = {
    ".c",
    ".cc",
    ".cpp",
    ".cxx",
    ".h",
    ".hh",
    ".hpp",
    ".hxx",
    ".inl",
    ".ipp",
    ".pxd",
    ".pyx",
}
# The directive with its continuation lines, or the operator with its string.
PRAGMA = re.compile(
    r'^[ \t]*#[ \t]*pragma[ \t]+omp\b(?:\\\r?\n|.)*|_Pragma\s*\(\s*"\s*omp\b[^"]*"', re.MULTILINE
)
THREADS = re.compile(r"\bnum_threads\s*\(")


def problems(root: Path) -> list[str]:
    """Return one line a misplaced or incomplete pragma."""
    faults = []
    at_home = 0
    for path in sorted(path for top in ("cpp", "python") for path in (root / top).rglob("*")):
        if path.suffix not in SUFFIXES:
            continue
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(root)
        for pragma in PRAGMA.finditer(text):
            where = f"{name}:{text.count(chr(10), 0, pragma.start()) + 1}"
            if name != HOME:
                faults.append(f"{where}: OpenMP pragma outside {HOME}")
            elif re.search(r"\bparallel\b", pragma[0]) and not THREADS.search(pragma[0]):
                faults.append(f"{where}: parallel region without num_threads(")
            at_home += name == HOME
    if not at_home:
        faults.append(f"{HOME}: no OpenMP pragma found, so this check has nothing to look at")
    return faults


if __name__ == "__main__":
    here = Path(__file__).resolve().parent.parent
    sys.exit("\n".join(problems(Path(sys.argv[1]) if len(sys.argv) > 1 else here)) or None)
