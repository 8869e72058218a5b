"""Print the times of a build's jobs, and the headers that cost most when they change.

    python tools/header_cost.py BUILD

Reads ninja's records in the folder of a complete build: the times of its jobs, and the headers of
each object.  A header costs the jobs of all objects that need it; the list has headers that cost
more than a quarter of all jobs.  Parallel jobs take longer than single ones, so compare builds with
as many jobs on an idle machine.
"""

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

SHARE = 0.25
HEADER = re.compile(r"cpp/.*\.hpp$")


def read_seconds(log: Iterable[str]) -> dict[str, float]:
    """Return the seconds that each output took when it was last made.

    A job with several outputs counts for the first.
    """
    seconds: dict[str, float] = {}
    jobs: dict[tuple[str, ...], str] = {}
    for line in log:
        if not line.startswith("#"):
            start, end, _, output, command = line.rstrip("\n").split("\t")
            if jobs.setdefault((start, end, command), output) == output:
                seconds[output] = (int(end) - int(start)) / 1000
    return seconds


def read_objects(deps: Iterable[str]) -> dict[str, set[str]]:
    """Return the objects that need each of our headers, from `ninja -t deps`."""
    objects: dict[str, set[str]] = defaultdict(set)
    output = ""
    for line in deps:
        if not line.startswith(" "):
            output = line.split(":")[0]
        elif header := HEADER.search(line.strip()):
            objects[header.group()].add(output)
    return objects


def find_costs(
    seconds: Mapping[str, float], objects: Mapping[str, set[str]]
) -> list[tuple[float, str, int]]:
    """Return each header's seconds, its name and its number of objects, the costliest first."""
    return sorted(
        (
            (sum(seconds.get(name, 0) for name in needed), header, len(needed))
            for header, needed in objects.items()
        ),
        key=lambda cost: (-cost[0], cost[1]),
    )


def report(seconds: Mapping[str, float], objects: Mapping[str, set[str]]) -> list[str]:
    """Return the lines to print."""
    total = sum(seconds.values())
    compiled = [name for name in seconds if name.endswith(".o")]
    longest = max(compiled, key=lambda name: seconds[name])
    costs = find_costs(seconds, objects)
    large = [cost for cost in costs if cost[0] > SHARE * total]
    return [
        f"{total:.0f} seconds of jobs, {len(compiled)} objects",
        f"{seconds[longest]:.0f} seconds the longest object, {longest}",
        f"{len(large)} of {len(costs)} headers cost more than {SHARE:.0%}:",
        *(f"{cost:7.1f} s {number:4} objects  {header}" for cost, header, number in large),
    ]


def main() -> None:
    """Print the times of a build."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = Path(sys.argv[1])
    deps = subprocess.check_output(["ninja", "-C", build, "-t", "deps"], text=True)
    log = (build / ".ninja_log").read_text("utf-8")
    print(*report(read_seconds(log.splitlines()), read_objects(deps.splitlines())), sep="\n")


if __name__ == "__main__":
    main()
