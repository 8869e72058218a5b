"""Check the digests of the model files of fixed fits, or write them anew.

python tests/bits/model_hashes.py [--threads 1 2 ...] [--write]

`model_hashes.json` holds the digests. A change that means to alter bits writes them anew in the
same commit, and states why in CHANGELOG.md.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bits.cases import digest, list_cases
from properboost import _core

EXPECTED = Path(__file__).resolve().with_name("model_hashes.json")


def compute(n_jobs, only=""):
    """Return the digest of each case whose name holds `only`."""
    with tempfile.TemporaryDirectory() as folder:
        return {
            name: digest(case, n_jobs, Path(folder))
            for name, case in list_cases().items()
            if only in name
        }


def compare(actual, expected):
    """Return the names of the cases whose digests differ, or that only one side has."""
    names = sorted(actual.keys() | expected.keys())
    return [name for name in names if actual.get(name) != expected.get(name)]


def main(arguments=None):
    """Run the check; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, nargs="+", default=[1], help="thread counts (1)")
    parser.add_argument("--write", action="store_true", help="write the digests instead")
    asked = parser.parse_args(arguments)
    if asked.write:
        EXPECTED.write_text(json.dumps(compute(1), indent=0) + "\n", encoding="ascii")
    expected = json.loads(EXPECTED.read_text(encoding="ascii"))
    failed = False
    for n_jobs in asked.threads:
        different = compare(compute(n_jobs), expected)
        failed = failed or bool(different)
        print(
            f"{_core.instruction_set}, {n_jobs} threads: {len(expected)} fits, "
            f"{len(different)} differ{': ' if different else ''}{'; '.join(different)}",
            flush=True,
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
