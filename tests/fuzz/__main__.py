"""``python -m fuzz``: try random inputs for some minutes, and report what broke."""

import argparse
import contextlib
import itertools
import os
import sys
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from fuzz.kinds import COMMANDS, KINDS
from fuzz.outcomes import BrokenInvariant
from fuzz.shrink import shrink
from fuzz.workers import DRAWN, SEVERAL_SETS, Bench

SETS_SHARE = 8
"""One case in this many is also fitted under every instruction set."""

MOST_SHRUNK = 25
"""Number of causes whose failures are shrunk; other failures are only counted."""


class Run:
    """Run over kinds of input: the counts of outcomes, and the failures."""

    def __init__(self, kinds: list[str], folder: Path, first_seed: int) -> None:
        self.kinds = kinds
        self.folder = folder
        self.numbers = itertools.count(first_seed)
        self.outcomes: dict[str, Counter[str]] = defaultdict(Counter)
        self.seconds: dict[str, float] = dict.fromkeys(kinds, 0.0)
        self.failures: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._lock = threading.Lock()

    def work(self, end: float) -> None:
        """Try inputs until that time, of the kind that lacks most of its share of the time."""
        bench = Bench()
        try:
            while time.monotonic() < end:
                with self._lock:
                    name = min(self.kinds, key=lambda k: self.seconds[k] / KINDS[k].share)
                    seed = next(self.numbers)
                    self.seconds[name] += 1e-3
                start = time.monotonic()
                self.try_one(bench, name, seed)
                with self._lock:
                    self.seconds[name] += time.monotonic() - start
        finally:
            bench.close()

    def try_one(self, bench: Bench, name: str, seed: int) -> str:
        """Try the input of a number; return its outcome."""
        try:
            outcome = bench.examine(name, seed, sets=seed % SETS_SHARE == 0)
        except BrokenInvariant as broken:
            with self._lock:
                self.outcomes[name]["broken"] += 1
                seeds = self.failures[name, broken.signature]
                seeds.append(seed)
                shrinks = len(seeds) == 1 and len(self.failures) <= MOST_SHRUNK
            if shrinks:
                self.report(bench, name, seed, broken)
            return "broken"
        with self._lock:
            self.outcomes[name][outcome.kind] += 1
        return outcome.kind

    def report(self, bench: Bench, name: str, seed: int, broken: BrokenInvariant) -> None:
        """Shrink a failure, save it in a file, and print it."""
        kind = KINDS[name]
        sets = broken.invariant == SEVERAL_SETS

        def fails(case: Any) -> bool:
            try:
                bench.examine(name, case, only=broken.invariant, sets=sets)
            except BrokenInvariant as failure:
                return failure.signature == broken.signature
            return False

        text = (
            f"# {broken.signature}\n# {' '.join(broken.message.split())[:600]}\n"
            f"# again: make fuzz ARGS='--replay {name}:{seed}'\n"
        )
        if broken.invariant != DRAWN:
            whole = kind.draw(seed)
            case = shrink(whole, kind.smaller, fails) if fails(whole) else whole
            text += f"{kind.show(case, broken.invariant)}\n"
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{name}_{seed}.py"
        path.write_text(text, encoding="utf-8")
        shown = "\n".join(
            line if len(line) < 1000 else f"{line[:1000]} ..." for line in text.splitlines()
        )
        with self._lock:
            print(f"\n{shown}\n\n# kept in {path}", flush=True)

    def summarize(self) -> int:
        """Print the table of all inputs; return how many broke an invariant."""
        print(f"\n{'kind':12}{'inputs':>9}{'per hour':>10}   outcomes")
        for name, counts in self.outcomes.items():
            total = counts.total()
            hours = max(self.seconds[name], 1e-9) / 3600.0
            shown = ", ".join(f"{count} {what}" for what, count in counts.most_common())
            print(f"{name:12}{total:9}{total / hours:10.0f}   {shown}")
        for (name, signature), seeds in sorted(self.failures.items(), key=lambda f: -len(f[1])):
            shown = " ".join(f"{name}:{seed}" for seed in seeds[:5])
            print(f"{len(seeds):6} x {signature}\n         {shown}")
        return sum(counts["broken"] for counts in self.outcomes.values())


def main(arguments: list[str] | None = None) -> int:
    """Run the fuzzer with the options of the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long (default: 1)")
    parser.add_argument("--kinds", default=None, help=f"of {', '.join([*KINDS, *COMMANDS])}")
    parser.add_argument("--seed", type=int, default=None, help="number of the first input")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="workers")
    parser.add_argument("--keep", type=Path, default=Path("out/fuzz"), help="folder of failures")
    parser.add_argument("--replay", action="append", default=[], metavar="KIND:SEED")
    options = parser.parse_args(arguments)

    chosen = [*KINDS, *COMMANDS] if options.kinds is None else options.kinds.split(",")
    if unknown := set(chosen) - {*KINDS, *COMMANDS}:
        parser.error(f"unknown kinds: {', '.join(sorted(unknown))}")
    seed = int.from_bytes(os.urandom(4), "big") * 10**6 if options.seed is None else options.seed
    run = Run([name for name in chosen if name in KINDS], options.keep, seed)
    replayed = {text.partition(":")[0] for text in options.replay}
    with contextlib.ExitStack() as stack:
        for kind in (KINDS[name] for name in replayed or run.kinds):
            if hasattr(kind, "serve"):  # servers that all workers share
                stack.enter_context(kind.serve())
        return _run(run, options, chosen, seed)


def _run(run: Run, options: argparse.Namespace, chosen: list[str], seed: int) -> int:
    if options.replay:
        bench = Bench()
        for text in options.replay:
            name, _, number = text.partition(":")
            run.seconds.setdefault(name, 0.0)
            run.try_one(bench, name, int(number))
        bench.close()
        return 1 if run.summarize() else 0

    commands = []
    for name in (name for name in chosen if name in COMMANDS):
        if missing := COMMANDS[name].find_missing():
            print(f"{name} is not tried, for there is no {' and no '.join(missing)}")
        else:
            commands.append(COMMANDS[name])
    shares = sum(KINDS[name].share for name in run.kinds)
    whole = shares + sum(command.share for command in commands)
    print(f"first input: {seed}; workers: {options.jobs}", flush=True)
    end = time.monotonic() + 60.0 * options.minutes * shares / max(whole, 1e-9)
    threads = [
        threading.Thread(target=run.work, args=(end,)) for _ in range(options.jobs if shares else 0)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    broken = run.summarize()
    for command in commands:
        print(f"\n{command.name}", flush=True)
        minutes = round(options.minutes * command.share / whole, 3)
        broken += not command.run(
            minutes=minutes, jobs=options.jobs, seed=seed, folder=options.keep
        )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
