"""The scripts' options, what they say of the machine, and their records."""

import argparse
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from benchmarks.lib.race import OURS, Results

# -- the machine -----------------------------------------------------------------------------------

# What libraries are installed as, where it is not their name.
_DISTRIBUTIONS = {"xgboost": ("xgboost", "xgboost-cpu"), "interpret": ("interpret-core",)}


def version(name: str) -> str | None:
    """Return the version of a library; None if it is not here."""
    for distribution in _DISTRIBUTIONS.get(name, (name,)):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    try:  # on a path of its own
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
    """Say what the numbers are measured on, with the versions of these libraries; returns it."""
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
        given = getattr(arguments, name, None)
        if given is not None and min(given if isinstance(given, list) else [given]) < 1:
            parser.error(f"--{name} must be at least 1")
    return arguments


def given(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return those of the options that were given."""
    found = {name: getattr(arguments, name, None) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def blocks(setting: Any, arguments: argparse.Namespace, *more: str) -> list[Any]:
    """Return the setting as it was asked for, once for each number of bins and of threads.

    It is a dataclass with fields for the options; `more` are options of the script's own.
    """
    single = given(arguments, "rows", "columns", "rounds", *more)
    return [
        replace(setting, bins=bins, threads=threads, **single)
        for bins in arguments.bins or [setting.bins]
        for threads in arguments.threads or [setting.threads]
    ]


class Record:
    """Every single time, for `--json`."""

    def __init__(self, path: Path | None, machine: dict[str, Any]) -> None:
        self.path = path
        self.content: dict[str, Any] = {"machine": machine, "blocks": []}

    def add(self, name: str, setting: Any, results: Results) -> None:
        """Add a block, and write what there is: a race of hours may not come to its end."""
        block = {"name": name, "setting": setting}
        block["results"] = {key: asdict(turns) for key, turns in results.items()}
        self.content["blocks"].append(block)
        if self.path is not None:
            text = json.dumps(self.content, indent=1, default=_plain)
            self.path.write_text(text + "\n")


def _plain(value: Any) -> Any:
    """What JSON has no form for: dataclasses by their fields, the rest as text."""
    return vars(value) if hasattr(value, "__dict__") else str(value)


def start(parser: argparse.ArgumentParser, *libraries: str) -> tuple[argparse.Namespace, Record]:
    """Read the options and say what the numbers are measured on, with these libraries' versions."""
    arguments = parse(parser)
    return arguments, Record(arguments.json, print_machine(*libraries))


def print_heading(*parts: str, repeats: int) -> None:
    """Say what the next race is about."""
    print(f"\n{'; '.join(parts)}; median of {repeats} interleaved turns\n", flush=True)
