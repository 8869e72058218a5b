"""``properboost COMMAND ...``: the choice of the command, and errors in one line."""

import argparse
import importlib
import os
import re
import sys
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple, NoReturn, Protocol, cast

from properboost.cli.errors import FileError
from properboost.cli.output import announce, note
from properboost.notices import tell
from properboost.visible import make_printable

__all__ = ["Command", "make_parsers", "run"]


class Module(Protocol):
    """The module of a command."""

    EPILOG: str

    def add_options(self, parser: argparse.ArgumentParser, /) -> None:
        """Add the arguments of the command."""

    def run(self, arguments: argparse.Namespace, parser: argparse.ArgumentParser, /) -> None:
        """Run the command; the parser reports incompatible arguments."""


class Command(NamedTuple):
    """A command: `name` is that of its module, `usage` lists the required arguments.

    Only the module of the running command is imported, as most need models, and some need more.
    """

    name: str
    usage: str
    summary: str

    def load(self) -> Module:
        """Import the module."""
        return cast("Module", importlib.import_module(f"properboost.cli.{self.name}"))


def run(commands: Mapping[str, Command], argv: Sequence[str] | None = None) -> int:
    """Run the command in the arguments, or report an error; return the exit status."""
    begin = time.monotonic() - time.process_time()  # before Python's imports
    argv = sys.argv[1:] if argv is None else argv
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: note(_one_line(str(message)))
            _run_command(commands, argv, begin)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe, as `head` does.  Python flushes stdout once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (FileError, ImportError, ValueError) as error:
        return _complain(str(error))
    except MemoryError as error:
        return _complain(f"not enough memory: {error}" if str(error) else "not enough memory")
    except KeyboardInterrupt as error:
        _complain(f"interrupted {error}".strip())
        return 130
    return 0


def _run_command(commands: Mapping[str, Command], argv: Sequence[str], begin: float) -> None:
    ahead = _read_ahead(argv) if announce(argv) else None
    parser, parsers = make_parsers(commands, [name for name in commands if name in argv])
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:
        parsers[arguments.command].refuse(unknown)
    arguments.begin, arguments.ahead = begin, ahead
    if sys.stdout is None and getattr(arguments, "output", "-") == "-":
        raise FileError("there is no stdout to write the output to")
    commands[arguments.command].load().run(arguments, parsers[arguments.command])


def _read_ahead(argv: Sequence[str]) -> object:
    """Read the rows of `fit`, if that is possible, before its module is imported."""
    return importlib.import_module("properboost.cli.fit_rows").read_ahead(argv)


def _complain(message: str) -> int:
    tell(f"properboost: error: {_one_line(message)}")
    return 1


def _one_line(message: str) -> str:
    return make_printable(" ".join(message.split()))


class _Parser(argparse.ArgumentParser):
    """A parser with errors in one line, as the usage would be a screen of options."""

    _given: Sequence[str] = ()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse the arguments, and keep them for `error`."""
        self._given = sys.argv[1:] if args is None else args
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        if "arguments are required" in message:  # one of them may have another library's name
            for text in self._given:
                if near := _guess_option(text, self._list_options()):
                    message += f"; {text} is unknown: did you mean {near}?"
        tell(f"{self.prog}: error: {_one_line(message)} (see {self.prog} --help)")
        self.exit(2)

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """End with an error on unknown arguments, and the option that may be meant."""
        near = [option for text in unknown if (option := _guess_option(text, self._list_options()))]
        advice = f": did you mean {near[0]}?" if near else ""
        self.error(f"unrecognized arguments: {' '.join(unknown)}{advice}")

    def _list_options(self) -> list[str]:
        return [name for name in self._option_string_actions if name.startswith("--")]


_ELSEWHERE = {
    "-f": "--force",
    "-j": "--jobs",
    "-n": "--n-estimators",
    "-o": "--output",
    "-q": "--quiet",
    "-t": "--target",
    "-v": "--verbose",
    "-y": "--target",
    **dict.fromkeys(("--y", "--label", "--labels", "--label-column"), "--target"),
    **dict.fromkeys(("--timeout", "--max-time", "--time-budget"), "--time-limit"),
}
"""The options that have another name in other programs, or one letter."""


def _guess_option(text: str, options: Sequence[str]) -> str:
    """Return the option of a name of another program, or the nearest of these; "" if none is."""
    word = text.partition("=")[0]
    if not word.startswith("-") or word in options:
        return ""
    if word in _ELSEWHERE:
        return _ELSEWHERE[word] if _ELSEWHERE[word] in options else ""
    word = f"--{word.lstrip('-').replace('_', '-').lower()}"
    near = _translate(word, options)
    if near is None:
        near = get_close_matches(word, options, n=1, cutoff=0.7)
    return next(iter(near), "")


def _translate(word: str, options: Sequence[str]) -> list[str] | None:
    """Return the options of another library's parameter; None if no library has it."""
    from properboost.parameters.words import WORDS  # at an error only

    name = word.lstrip("-").replace("-", "_")
    advice = [known.advice for known in WORDS if known.word == name]
    if not advice:
        return None
    fields = [field for code in advice for field in reversed(re.findall(r"(\w+)=", code))]
    named = [f"--{field.replace('_', '-')}" for field in fields]
    return [option for option in named if option in options]


class _ShowVersion(argparse.Action):
    """Show the version, which is that of the engine: nothing else imports it so early."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from properboost import _core

        print(f"{parser.prog} {_core.__version__}")
        parser.exit()


def make_parsers(
    commands: Mapping[str, Command], wanted: Iterable[str] | None = None
) -> tuple[_Parser, dict[str, _Parser]]:
    """Return the parser and those of the commands; with None, all of them have their options."""
    parser = _Parser(
        prog="properboost",
        description="Boosted look-up tables under proper margin losses.",
        epilog="Every command has its own help: properboost fit --help.",
    )
    parser.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parsers = {}
    for name, command in commands.items():
        parsers[name] = subparsers.add_parser(
            name,
            usage=f"%(prog)s{command.usage} [options]",
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
    for name in commands if wanted is None else wanted:
        module = commands[name].load()
        parsers[name].epilog = module.EPILOG
        module.add_options(parsers[name])
    return parser, parsers
