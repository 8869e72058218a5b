"""``properboost COMMAND ...``: finds the command, and tells in one line what went wrong."""

import argparse
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import NamedTuple, NoReturn, Protocol

from properboost import _core
from properboost.cli.csv_table import FileError
from properboost.cli.shared_work import note
from properboost.notices import tell
from properboost.visible import make_printable

__all__ = ["Command", "make_parsers", "run"]


class Module(Protocol):
    """The module of a command."""

    EPILOG: str

    def add_options(self, parser: argparse.ArgumentParser, /) -> None:
        """Add what the command takes."""

    def run(self, arguments: argparse.Namespace, parser: argparse.ArgumentParser, /) -> None:
        """Do what the arguments say; the parser tells of arguments that do not go together."""


class Command(NamedTuple):
    """A command; `usage` is what must be given."""

    usage: str
    summary: str
    module: Module


def run(commands: Mapping[str, Command], argv: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name, or tell what is wrong; returns the exit status."""
    parser, parsers = make_parsers(commands)
    arguments = parser.parse_args(argv)
    if sys.stdout is None and getattr(arguments, "output", "-") == "-":
        return _complain("there is no stdout that could take what this command writes")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: note(_one_line(str(message)))
            commands[arguments.command].module.run(arguments, parsers[arguments.command])
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
    except KeyboardInterrupt:
        _complain("interrupted")
        return 130
    return 0


def _complain(message: str) -> int:
    tell(f"properboost: error: {_one_line(message)}")
    return 1


def _one_line(message: str) -> str:
    return make_printable(" ".join(message.split()))


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line; the usage would be a screen of options."""

    def error(self, message: str) -> NoReturn:
        tell(f"{self.prog}: error: {_one_line(message)} (see {self.prog} --help)")
        self.exit(2)


def make_parsers(commands: Mapping[str, Command]) -> tuple[_Parser, dict[str, _Parser]]:
    """Return the parser and those of the commands."""
    parser = _Parser(
        prog="properboost",
        description="Boosted look-up tables under proper margin losses.",
        epilog="Every command has its own help: properboost fit --help.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {_core.__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    parsers = {}
    for name, (usage, summary, module) in commands.items():
        command = subparsers.add_parser(
            name,
            usage=f"%(prog)s{usage} [options]",
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=module.EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        module.add_options(command)
        parsers[name] = command
    return parser, parsers
