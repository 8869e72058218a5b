"""The scripts' options, the machine's description, and their records."""

import argparse
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from benchmarks.lib.race import OURS, Results, Turns

# -- the machine -----------------------------------------------------------------------------------

# The names of distributions that differ from the library's.
_DISTRIBUTIONS = {"xgboost": ("xgboost", "xgboost-cpu"), "interpret": ("interpret-core",)}


def version(name: str) -> str | None:
    """Return the version of a library; None if it is not here."""
    for distribution in _DISTRIBUTIONS.get(name, (name,)):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    try:  # on a path without a distribution
        return str(import_module(name).__version__)
    except ImportError:
        return None


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    for line in path.read_text().splitlines() if path.exists() else ():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def print_machine(*libraries: str) -> dict[str, Any]:
    """Print and return the machine's description, with the versions of these libraries."""
    versions = {name: version(name) for name in (OURS, "numpy", *libraries)}
    machine = {
        "processor": _processor(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        **versions,
    }
    print(f"{machine['processor']}, {machine['processors']} processors, Python "
          f"{machine['python']}; ", end="")  # fmt: skip
    print(", ".join(f"{k} {v}" for k, v in versions.items() if v is not None), flush=True)
    return machine


# -- the options -----------------------------------------------------------------------------------


def make_plain_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser without options, which shows the script's description as it is written."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def make_parser(
    description: str | None,
    *,
    settings: Mapping[str, Any] | None = None,
    default: Sequence[str] = (),
    repeats: int = 5,
    rounds: bool = True,
) -> argparse.ArgumentParser:
    """Return a parser of the options that all races have; `description` is the script's."""
    parser = make_plain_parser(description)
    if settings is not None:
        parser.add_argument("--setting", nargs="+", default=[*default], choices=settings,
                            metavar="NAME", help=f"one or more of {', '.join(settings)} "
                            f"(default: {' '.join(default)})")  # fmt: skip
    parser.add_argument("--rows", type=int, help="of a synthetic table; of another, the first")
    parser.add_argument("--columns", type=int, help="of a synthetic table")
    parser.add_argument("--bins", type=int, nargs="+", help="a block for each (default: 255)")
    parser.add_argument("--threads", type=int, nargs="+", help="a block for each (default: 2)")
    if rounds:
        parser.add_argument("--rounds", type=int)
    parser.add_argument("--repeats", type=int, default=repeats, help="turns (default: %(default)s)")
    parser.add_argument("--only", nargs="+", default=[], metavar="PATTERN",
                        help="contestants, as in --only 'xgboost*' 'properboost*'")  # fmt: skip
    parser.add_argument("--json", type=Path, help="write every single time to this file")
    return parser


def parse(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Return the options."""
    arguments = parser.parse_args()
    for name in ("rows", "columns", "bins", "threads", "rounds", "repeats"):
        count = getattr(arguments, name, None)
        if count is not None and min(count if isinstance(count, list) else [count]) < 1:
            parser.error(f"--{name} must be at least 1")
    return arguments


def read_options(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the values of these options, without those that the command line leaves out."""
    values = {name: getattr(arguments, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def blocks(setting: Any, arguments: argparse.Namespace, *more: str) -> list[Any]:
    """Return the setting with the options, once for each number of bins and of threads.

    It is a dataclass with fields for the options; `more` are further options of the script.
    """
    single = read_options(arguments, "rows", "columns", "rounds", *more)
    return [
        replace(setting, bins=bins, threads=threads, **single)
        for bins in arguments.bins or [setting.bins]
        for threads in arguments.threads or [setting.threads]
    ]


class Record:
    """A file of every single time, for `--json`."""

    def __init__(self, path: Path | None, machine: dict[str, Any]) -> None:
        self.path = path
        self.content: dict[str, Any] = {"machine": machine, "blocks": []}

    def add(self, name: str, setting: Any, results: Results) -> None:
        """Add a block, and write the file: a race of hours may be interrupted."""
        block = {"name": name, "setting": setting}
        block["results"] = {key: _list_turns(turns) for key, turns in results.items()}
        self.content["blocks"].append(block)
        if self.path is not None:
            text = json.dumps(self.content, indent=1, default=_plain)
            self.path.write_text(text + "\n")


def _list_turns(turns: Turns) -> dict[str, Any]:
    """Return the fields of a record; records call the outcome "found"."""
    return {"laps": turns.laps, "found": turns.outcome, "failure": turns.failure}


def _plain(value: Any) -> Any:
    """Return a value that JSON has a form for: a dataclass's fields, or text."""
    return vars(value) if hasattr(value, "__dict__") else str(value)


def start(parser: argparse.ArgumentParser, *libraries: str) -> tuple[argparse.Namespace, Record]:
    """Read the options and describe the machine, with these libraries' versions."""
    arguments = parse(parser)
    return arguments, Record(arguments.json, print_machine(*libraries))


def print_heading(*parts: str, repeats: int) -> None:
    """Print the heading of the next race."""
    print(f"\n{'; '.join(parts)}; median of {repeats} interleaved turns\n", flush=True)
