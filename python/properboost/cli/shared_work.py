"""Work of several commands on their files: checks of options and outputs."""

import argparse
from pathlib import Path

from properboost.cli.errors import FileError
from properboost.cli.output import note
from properboost.cli.row_file import RowFileReader
from properboost.cli.shared_arguments import SPELLINGS, misuse_if_wrong
from properboost.data.spelling import Spelling
from properboost.whole_file import would_replace

__all__ = ["check_output", "make_reader"]


def make_reader(
    arguments: argparse.Namespace, parser: argparse.ArgumentParser, *files: str | None
) -> RowFileReader:
    """Return the reader of files; refuse options that apply to none of them."""
    spelling = {name: value for name, value in vars(arguments).items() if name in SPELLINGS}
    numbers = {
        k: tuple(value) if isinstance(value, list) else value for k, value in spelling.items()
    }
    with misuse_if_wrong(parser):
        Spelling.of(numbers)
    reader = RowFileReader(arguments.sep, arguments.na, arguments.encoding, numbers, note)
    unused = reader.find_unused([file for file in files if file is not None])
    if unused is not None:
        parser.error(f"{unused} is for CSV files")
    return reader


def check_output(arguments: argparse.Namespace) -> None:
    """Refuse an output that cannot or must not be written, before the work."""
    output = Path(arguments.output)
    if output.is_dir() or not output.parent.is_dir():
        raise FileError(f"{output}: it is a folder, or its folder does not exist")
    if not arguments.force and would_replace(arguments.output):
        raise FileError(f"{output}: the file exists; --force replaces it")
