"""Mutation testing: whether the tests notice a wrong line of the sources.

    python tools/mutate python --count 100 --seed 1
    python tools/mutate cpp --count 40 --seed 1

A seed draws mutations of the folders at random.  Each is made alone in a copy of the working tree
and tried by the test files that reach the line, nearest first.  Results are in out/mutate, so that
the same command continues where an earlier one ended.  --again retries mutations that nothing had
noticed, with the present tests.  tools/mutate/equivalent.txt lists by hand the mutations that no
test can notice.

It needs the requirements of the tests; for Python also coverage, and for C++ cmake and ninja.
"""

import argparse
import os
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from edits import Edit
from lot import FOLDERS, Lot, draw, read_equivalent
from sandbox import LAST, USUAL, Reach, Sandbox, order_tests

ROOT = Path(__file__).resolve().parents[2]
EQUIVALENT = Path(__file__).resolve().parent / "equivalent.txt"


def main() -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="mutate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("language", choices=[*FOLDERS])
    parser.add_argument("--count", type=int, default=None, help="mutations (default: 100; C++ 40)")
    parser.add_argument("--seed", type=int, default=1, help="number of the lot (default: 1)")
    parser.add_argument("--folders", nargs="+", help="folders of the sources to draw over")
    parser.add_argument("--tests", nargs="+", default=["tests"],
                        help="test folders and files that may notice something")  # fmt: skip
    parser.add_argument("--seconds", type=float, default=300.0,
                        help="its test files but the nearest take so long, unmutated")  # fmt: skip
    parser.add_argument("--again", action="store_true", help="try again what went unnoticed")
    parser.add_argument("--only", type=int, nargs="+", help="numbers of the lot to try again")
    parser.add_argument("--report", action="store_true", help="show what there is, try nothing")
    parser.add_argument("--measure", action="store_true", help="run the tests in coverage anew")
    parser.add_argument("--work", type=Path, default=ROOT / "build/mutate",
                        help="folder of the copy and builds")  # fmt: skip
    parser.add_argument("--out", type=Path, default=ROOT / "out/mutate", help="folder of results")
    options = parser.parse_args()

    language = options.language
    count = options.count or {"python": 100, "cpp": 40}[language]
    lot = Lot(options.out / f"{language}-{options.seed}")
    if not lot.edits:
        lot.begin(draw(ROOT, language, options.folders or FOLDERS[language], options.seed, count))
    if not options.report:
        sandbox = Sandbox(ROOT, options.work, language)
        sandbox.fill()
        if language == "cpp":
            sandbox.configure()
        elif options.measure or not sandbox.measured.is_file():
            sandbox.measure(options.tests)
        measured = sandbox.measured.is_file()
        reach = Reach.load(sandbox.measured) if measured else Reach({}, [], {})
        trials = Trials(lot, sandbox, reach, options.seconds)
        if options.only or options.again:
            chosen = options.only or lot.list_unnoticed(count, read_equivalent(EQUIVALENT))
            for number in chosen:
                trials.make(number)
        else:
            trials.go_on(count)
    return report(lot, count)


class Trials:
    """Trials of mutations, one at a time: the edit, the tests that reach it, and the result."""

    def __init__(self, lot: Lot, sandbox: Sandbox, reach: Reach, most: float) -> None:
        self.lot, self.sandbox, self.reach, self.most = lot, sandbox, reach, most

    def go_on(self, count: int) -> None:
        """Try the lot until `count` mutations count, without C++ that does not compile."""
        for number in range(len(self.lot.edits)):
            if len(self.lot.list_counted(count)) == count:
                return
            if number not in self.lot.trials:
                self.make(number)

    def make(self, number: int) -> None:
        """Try a mutation of the lot."""
        edit = self.lot.edits[number]
        path = self.sandbox.tree / edit.path
        source, times = path.read_bytes(), path.stat()
        mutated = edit.apply(source)
        if mutated is None:
            self._store(number, {"result": "gone"})
            return
        tests = self._choose_tests(edit)
        if not tests:
            self._store(number, {"result": "not reached"})
            return
        try:
            path.write_bytes(mutated)
            _forget_compiled(path)
            if edit.path.startswith("cpp") and not self.sandbox.make():
                self._store(number, {"result": "not built"})
                return
            expected = sum(self.reach.seconds.get(test, USUAL) for test in tests)
            outcome = self.sandbox.run(tests, self.reach.failing, 60.0 + 3.0 * expected)
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            _forget_compiled(path)
            if edit.path.startswith("cpp"):
                self.sandbox.go_back()
        result = "noticed" if outcome["by"] else "not noticed"
        self._store(number, {"result": result, "tests": len(tests), **outcome})

    def _choose_tests(self, edit: Edit) -> list[str]:
        """Return the test files that may notice an edit: the nearest, and more as time permits."""
        is_engine = edit.path.startswith("cpp")
        reaching = self.sandbox.list_tests(edit.path) if is_engine else self.reach.find(edit)
        chosen: list[str] = []
        total = 0.0
        for test in order_tests(edit.path, reaching, self.reach.seconds):
            seconds = self.reach.seconds.get(test, USUAL)
            if not chosen:
                chosen.append(test)
            elif total + seconds <= self.most or test.startswith(LAST):
                chosen.append(test)
                total += seconds
        return chosen

    def _store(self, number: int, outcome: dict[str, Any]) -> None:
        self.lot.add({"number": number, **outcome})
        print(f"{number}: {outcome['result']} {outcome.get('by') or ''}", flush=True)
        if outcome["result"] != "noticed":
            print(self.lot.edits[number].show(), flush=True)


def _forget_compiled(path: Path) -> None:
    """Remove compiled Python, which is reused for a source of the same size and second."""
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def report(lot: Lot, count: int) -> int:
    """Print the results of the lot; return 0 if all of it was tried."""
    equivalent = read_equivalent(EQUIVALENT)
    counted = lot.list_counted(count)
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    left = []
    for number in counted:
        edit = lot.edits[number]
        first, last = (lot.trials[number][k] for k in (0, -1))
        for name in (Path(edit.path).parent.name, "together"):
            row = rows[name]
            row["drawn"] += 1
            if edit.key in equivalent and last["result"] != "noticed":
                row["equivalent"] += 1
                continue
            row["at first"] += first["result"] == "noticed"
            row["noticed"] += last["result"] == "noticed"
            row["by digests alone"] += str(last.get("by")).startswith(LAST)
        if last["result"] != "noticed":
            left.append(number)
    heads = ("drawn", "equivalent", "at first", "noticed", "by digests alone")
    print(f"\n{'folder':18}{''.join(f'{head:>17}' for head in heads)}{'share':>8}")
    for name, row in sorted(rows.items(), key=lambda item: item[0] == "together"):
        share = row["noticed"] / max(row["drawn"] - row["equivalent"], 1)
        print(f"{name:18}{''.join(f'{row[head]:17}' for head in heads)}{share:8.2f}")
    for number in left:
        edit = lot.edits[number]
        why = equivalent.get(edit.key)
        outcome = lot.trials[number][-1]["result"]
        print(f"\n{number}: {'equivalent' if why else outcome}\n{edit.show()}")
        if why:
            print(why)
    return int(len(counted) < count)


if __name__ == "__main__":
    sys.exit(main())
