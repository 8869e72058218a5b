"""Files of text, whatever their compression and encoding."""

import codecs
import io
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np

from properboost.cli.errors import FileError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["CharacterCounts", "FileError", "TextFile", "import_pandas", "name_source"]

_NOT_TEXT = {
    b"PAR1": "Parquet, whose names end with .parquet",
    b"ARROW1": "Arrow, whose names end with .arrow or .feather",
    b"FEA1": "Feather, whose names end with .feather",
    b"\x1f\x8b": "gzip, whose names end with .gz",
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"\xd0\xcf\x11\xe0": "a spreadsheet",
    b"SQLite format 3": "a database",
}
"""Other kinds of files, by their first bytes."""

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8",
}
"""Byte-order marks at the beginning of a file, with their encodings."""

_AT_ONCE = 2**18  # bytes that are looked at together


def import_pandas() -> "ModuleType":
    """Return pandas, or raise an error with advice on installing it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("CSV files need pandas: pip install 'properboost[cli]'") from error
    return pandas


def name_source(file: str) -> str:
    """Return the name of a file in messages; "-" is the standard input."""
    return "stdin" if file == "-" else file


class CharacterCounts(NamedTuple):
    """The number of a file's lines, with an unfinished last one, and of some characters."""

    lines: int
    characters: dict[str, int]


@dataclass(frozen=True)
class TextFile:
    """A file of text that can be read more than once.

    Attributes
    ----------
    name : str
        Its name in messages.
    content : path or buffer
        The file, or the whole content of a pipe, as it is packed.
    packing : str or None
        Its compression, by pandas' name.
    encoding : str
        Its encoding.
    asked : bool
        Whether the user named the encoding.
    """

    name: str
    content: Path | io.BytesIO
    packing: str | None
    encoding: str
    asked: bool

    @classmethod
    def open(cls, file: str, encoding: str | None) -> "TextFile":
        """Open a file by its first bytes; refuse one that is not text by its kind.

        Without an encoding it is that of the file's byte-order mark, or UTF-8.
        """
        packing = import_pandas().io.common.infer_compression(file, "infer")
        content: Path | io.BytesIO = Path(file)
        if file == "-":
            content = io.BytesIO(sys.stdin.buffer.read())
        elif Path(file).is_fifo():
            content = io.BytesIO(Path(file).read_bytes())
        opened = cls(name_source(file), content, packing, "utf-8", encoding is not None)
        with opened.open_bytes() as stream:
            begin = stream.read(max(map(len, _NOT_TEXT)))
        for magic, kind in _NOT_TEXT.items():
            if packing is None and begin.startswith(magic):
                raise FileError(f"{opened.name}: the file is not CSV but {kind}")
        return cls(opened.name, content, packing, _choose(begin, encoding), opened.asked)

    @contextmanager
    def open_bytes(self) -> Iterator[IO[bytes]]:
        """Open the file as bytes, unpacked."""
        if isinstance(self.content, io.BytesIO):
            self.content.seek(0)
        if self.packing is not None:
            with self._unpack() as stream:
                yield stream
        elif isinstance(self.content, io.BytesIO):
            yield self.content
        else:
            with self.content.open("rb") as stream:
                yield stream

    @contextmanager
    def _unpack(self) -> Iterator[IO[bytes]]:
        """Unpack the file; turn every compression's errors into `FileError`."""
        settings = {"compression": self.packing, "is_text": False}
        try:
            with import_pandas().io.common.get_handle(self.content, "rb", **settings) as handles:
                yield handles.handle
        except (FileError, ImportError, MemoryError, OSError):
            raise
        except Exception as error:
            raise FileError(f"{self.name}: {error}") from error

    @contextmanager
    def open_lines(self) -> Iterator[Iterator[str]]:
        """Open the file as lines, whose ends stay as they are."""
        with self.open_bytes() as stream:
            text = io.TextIOWrapper(stream, encoding=self._codec, newline="")
            try:
                yield text
            finally:
                text.detach()

    def without(self, lines: Collection[int]) -> "TextFile":
        """Return the same text without these lines, which count from 1."""
        with self.open_lines() as text:
            remaining = [line for number, line in enumerate(text, 1) if number not in lines]
        content = io.BytesIO("".join(remaining).encode("utf-8"))
        return TextFile(self.name, content, None, "utf-8", self.asked)

    @property
    def _codec(self) -> str:
        """The codec of the text, which drops the mark of UTF-8."""
        return "utf-8-sig" if self.encoding == "utf-8" else self.encoding

    def count(self, *characters: str) -> "CharacterCounts":
        """Return the number of the file's lines, and of each of these ASCII characters.

        Refuse bytes that cannot be decoded, or that no text has, with their line.
        """
        decoder = codecs.getincrementaldecoder(self._codec)()
        ends, n_bytes, last = 0, 0, b""
        counts = dict.fromkeys(characters, 0)
        with self.open_bytes() as stream:
            while True:
                piece = stream.read(_AT_ONCE)
                n_bytes += len(piece)
                text = piece
                # ASCII text needs no decoding, which takes most of the time.
                if self.encoding != "utf-8" or not piece.isascii() or decoder.getstate()[0]:
                    try:
                        text = decoder.decode(piece, final=not piece).encode("utf-8", "replace")
                    except UnicodeDecodeError as error:
                        self._refuse(error, n_bytes, ends)
                if b"\0" in text:
                    line = ends + _count_ends(text[: text.index(b"\0")], last) + 1
                    raise FileError(
                        f"{self.name}: line {line:,} holds a NUL character, which text does not "
                        "have; --encoding names the encoding of the file, such as utf-16-le"
                    )
                ends += _count_ends(text, last)
                for character in counts:
                    counts[character] += _count(text, character.encode())
                last = text[-1:] or last
                if not piece:
                    return CharacterCounts(ends + (last not in (b"", b"\n", b"\r")), counts)

    def _refuse(self, error: UnicodeDecodeError, n_bytes: int, ends: int) -> NoReturn:
        """Refuse bytes that cannot be decoded, after `n_bytes` read and `ends` lines."""
        at = n_bytes - len(error.object) + error.start
        before = error.object[: error.start].decode(self._codec, "ignore").encode("utf-8")
        wrong = error.object[error.start : max(error.end, error.start + 1)][:4].hex(" ")
        written = self.encoding.upper()
        others = ("cp1252", "latin-1", "utf-16")
        known = ", ".join(name for name in others if name != self.encoding)
        hint = f"--encoding names another, such as {known}"
        tried = "" if self.asked else ", which was tried"
        raise FileError(
            f"{self.name}: line {ends + _count_ends(before, b'') + 1:,} is not {written}{tried}: "
            f"byte {at + 1:,} of the file is {wrong} ({error.reason}); {hint}"
        ) from error


def _choose(begin: bytes, asked: str | None) -> str:
    """Return the encoding of a file with this beginning; a mark has the order of bytes, too."""
    marked = next((name for mark, name in _MARKS.items() if begin.startswith(mark)), None)
    if asked is None:
        return marked or "utf-8"
    wanted = codecs.lookup(asked).name
    return marked if marked is not None and wanted.startswith(marked) else wanted


def _count_ends(text: bytes, before: bytes) -> int:
    """Return the number of line ends in a text that follows `before`."""
    ends = _count(text, b"\n")
    if b"\r" in text:
        ends += text.count(b"\r") - text.count(b"\r\n")
    return ends - (before == b"\r" and text.startswith(b"\n"))


def _count(text: bytes, character: bytes) -> int:
    if character not in text:
        return 0
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord(character)))
