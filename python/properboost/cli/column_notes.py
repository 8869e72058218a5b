"""Notes on columns of text that may be numbers in another spelling, dates or names of rows."""

import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from properboost.cli.csv_table import Note, first_text, import_pandas
from properboost.data.identifiers import MOST_UNIQUE, are_mostly_unique
from properboost.data.spelling import PLAIN, Spelling

if TYPE_CHECKING:
    from pandas import Series

__all__ = ["advise_numbers", "name_options", "note_text"]

_MOST_SEEN = 200
"""The most different texts of a column that are examined."""

_MARKS = (
    (".", None), (",", None), (".", ","), (".", " "), (".", "'"), (".", "_"),
    (",", "."), (",", " "), (",", "'"),
)  # fmt: skip
"""The marks before decimals, and between thousands, in the usual spellings of numbers."""

_AROUND = re.compile(
    r"[\s(+-]*(?P<before>[^\d\s.,'’()+-]*)(?P<gap>[\s(+-]*)\d(?:[\d.,'’_\s]*\d)?[.,]?"
    r"(?P<behind>\s*)(?P<after>[^\d\s.,'’()+-]*)[\s)]*"
)
_LONGEST_WORD = 4  # letters of a unit, such as EUR, which a blank separates from its number

_DATE = re.compile(
    r"\s*(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2}))(?:[T\s].*)?"
)

_FRACTION = re.compile(r"\s*[+-]?[0-9]*\.[0-9]+\s*$")
"""Numbers that are no codes."""

Test = Callable[[str], Any]


def note_text(column: "Series[Any]", spelling: Spelling | None, note: Note) -> None:
    """Note columns that are more likely a slip than categories: numbers, or unique texts.

    `spelling` is that of numbers in the file; None is a file whose numbers are not text.
    """
    texts = _Texts(column)
    begin = f"column {column.name!r} is categorical"
    if (look := _look_like_numbers(texts, spelling)) is not None:
        note(f"{begin}, although {look}")
    elif (mixture := _find_mixture(texts, spelling)) is not None:
        note(f"{begin}, {mixture}")
    elif texts.n_different > MOST_UNIQUE:
        end = "others will have no effect; --drop leaves the column out"
        if texts.are_mostly(_DATE.fullmatch):
            row, cell = texts.first(_DATE.fullmatch)
            note(f"{begin}, with {texts.n_different:,} dates such as {cell!r} in row {row}: {end}")
        elif are_mostly_unique(texts.counts):
            row, cell = texts.first(lambda _: True)
            note(
                f"{begin}, although most cells are different from all others ({texts.n_unique:,} "
                f"of {texts.n_cells:,}, such as {cell!r} in row {row}): {end}"
            )


def advise_numbers(column: "Series[Any]", spelling: Spelling | None) -> str:
    """Return the options that read a column as numbers, after a semicolon; or nothing."""
    if spelling is None:
        return ""
    texts = _Texts(column)
    spellings = _find_spellings(texts, spelling)
    if spellings:
        return f"; {_offer(texts, spellings, spelling)[1]}"
    units = _find_units(texts, spelling)
    return f"; {units}" if units is not None else ""


def _look_like_numbers(texts: "_Texts", spelling: Spelling | None) -> str | None:
    """Return words on texts that are mostly numbers in another spelling."""
    spellings = _find_spellings(texts, spelling or PLAIN)
    if spellings:
        n_read = texts.count(spellings[0].read)
        (row, cell), offer = _offer(texts, spellings, spelling or PLAIN)
    elif spelling is None and texts.n_different > MOST_UNIQUE and texts.are_mostly(_FRACTION.match):
        n_read = texts.count(PLAIN.read)
        row, cell = texts.first(_FRACTION.match)
    else:
        return None
    if spelling is None:
        offer = "write them as numbers, or --drop leaves the column out"
    return (
        f"{n_read:,} of {texts.n_cells:,} cells look like numbers, such as {cell!r} in row {row}: "
        f"{offer}"
    )


def _find_mixture(texts: "_Texts", spelling: Spelling | None) -> str | None:
    """Return words on texts among numbers, or on numbers of several units."""
    n_numbers = texts.count_numbers(spelling or PLAIN)
    if n_numbers == texts.n_cells and spelling is not None:
        units = _find_units(texts, spelling)
        return None if units is None else f"because {units}"
    if not texts.n_cells < 2 * n_numbers < 2 * texts.n_cells:
        return None
    row, cell = first_text(texts.column, spelling or PLAIN)
    end = "" if spelling is None else "; --na reads a cell as missing"
    return f"although most cells are numbers, because row {row} holds {cell!r}{end}"


def _find_units(texts: "_Texts", spelling: Spelling) -> str | None:
    """Return words on numbers with different units, or with and without one."""
    first: dict[str, str] = {}
    for text in texts.different:
        number = spelling.read(text)
        if number is None:
            return None
        first.setdefault(number.unit, text)
    if len(first) < 2:
        return None
    left, right = list(first.values())[:2]
    rows = [texts.first(cell.__eq__)[0] for cell in (left, right)]
    return (
        f"row {rows[0]} holds {left!r} and row {rows[1]} {right!r}: all must have the same unit, "
        "or none"
    )


# -- spellings ------------------------------------------------------------------------------------


def _find_spellings(texts: "_Texts", known: Spelling) -> list[Spelling]:
    """Return the simplest spellings that read more than half of the cells, and more than before.

    There are several where a cell, such as 1,234, has two readings.
    """
    sample = texts.sample()
    if not sample.are_mostly(_has_digit):
        return []
    tried = _list_spellings(sample.texts)
    reached = {spelling: sample.count(spelling.read) for spelling in {*tried, known}}
    best = max(reached.values())
    if reached[known] == best or 2 * best <= sample.n_cells:
        return []
    simple = _find_simplest([spelling for spelling in tried if reached[spelling] == best])
    return simple if texts.are_mostly(simple[0].read) else []


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _list_spellings(sample: list[str]) -> set[Spelling]:
    """Return the spellings that texts may have."""
    likely = _guess_units(sample)
    brackets = [False, True] if any("(" in text for text in sample) else [False]
    return {
        Spelling(decimal, thousands, suffixes, inside)
        for decimal, thousands in _MARKS
        for suffixes in {(), likely}
        for inside in brackets
    }


def _find_simplest(spellings: list[Spelling]) -> list[Spelling]:
    """Return the spellings of the shortest descriptions, those of the most usual marks first."""
    order = {marks: k for k, marks in enumerate(_MARKS)}
    least = min(len(spelling.describe()) for spelling in spellings)
    simple = [spelling for spelling in spellings if len(spelling.describe()) == least]
    return sorted(simple, key=lambda spelling: order[spelling.decimal, spelling.thousands])


def _guess_units(sample: list[str]) -> tuple[str, ...]:
    """Return the most frequent text around numbers that may be a unit."""
    counts = Counter[str]()
    for text in sample:
        around = _AROUND.fullmatch(text)
        if around is None:
            continue
        for unit, gap in ((around["before"], around["gap"]), (around["after"], around["behind"])):
            signs = any(c in "%‰" or unicodedata.category(c) == "Sc" for c in unit)
            word = gap.strip(" (") == "" != gap and unit.isalpha() and len(unit) <= _LONGEST_WORD
            if signs or word:
                counts[unit] += 1
    return tuple(unit for unit, _ in counts.most_common(1))


def _offer(
    texts: "_Texts", spellings: list[Spelling], known: Spelling
) -> tuple[tuple[int, str], str]:
    """Return a cell with its row, and the options that read it, with the numbers."""
    row, cell = texts.first(lambda text: known.read(text) is None and spellings[0].read(text))
    offers = []
    for spelling in spellings:
        number = spelling.read(cell)
        if number is not None:
            offers.append(f"{name_options(spelling, known)} reads that as {number.text}")
    return (row, cell), ", and ".join(offers)


def name_options(spelling: Spelling, known: Spelling = PLAIN) -> str:
    """Return the options for a spelling that differ from the known one."""
    words = []
    for name in spelling.names:
        value = getattr(spelling, name)
        if value == getattr(known, name) or (name == "na" and value is None):
            continue
        if isinstance(value, bool):
            words.append(f"--{'' if value else 'no-'}{name}")
        else:
            words += [f"--{name}", *(value if isinstance(value, tuple) else [value or "none"])]
    return shlex.join(words)


# -- the texts of a column ------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Sample:
    """Texts, with the number of cells of each."""

    texts: list[str]
    counts: NDArray[np.int64]

    @property
    def n_cells(self) -> int:
        return int(self.counts.sum())

    def count(self, test: Test) -> int:
        """Return how many cells are such."""
        passed = np.array([bool(test(text)) for text in self.texts], dtype=bool)
        return int(self.counts[passed].sum())

    def are_mostly(self, test: Test) -> bool:
        """Whether more than half of the cells are such."""
        return 2 * self.count(test) > self.n_cells


class _Texts:
    """The different texts of a column in their order, with the number of cells of each."""

    def __init__(self, column: "Series[Any]") -> None:
        codes, different = import_pandas().factorize(column)
        self.column = column
        self.different = [str(text) for text in different]
        self._codes: NDArray[np.int64] = codes
        self.counts = np.bincount(codes[codes >= 0], minlength=len(different))
        self._whole = _Sample(self.different, self.counts)
        self.n_cells = self._whole.n_cells
        self.n_different = len(different)
        self.n_unique = int(np.count_nonzero(self.counts == 1))

    def sample(self) -> _Sample:
        """Return some of the texts, spread over the column."""
        places = np.linspace(0, self.n_different - 1, min(self.n_different, _MOST_SEEN))
        drawn = places.astype(np.intp)
        return _Sample([self.different[k] for k in drawn], self.counts[drawn])

    def are_mostly(self, test: Test) -> bool:
        """Whether more than half of the cells are such; if few of the sample are, it is not."""
        return self.sample().are_mostly(test) and self._whole.are_mostly(test)

    def count(self, test: Test) -> int:
        """Return how many cells are such."""
        return self._whole.count(test)

    def count_numbers(self, spelling: Spelling) -> int:
        """Return the number of cells that are numbers."""
        if spelling != PLAIN:
            return self.count(spelling.read)
        pandas = import_pandas()
        numbers = pandas.to_numeric(pandas.Series(self.different, dtype=object), errors="coerce")
        return int(self.counts[numbers.notna().to_numpy()].sum())

    def first(self, test: Test) -> tuple[int, str]:
        """Return the row, counted from 1, and the text of the first such cell."""
        k = next(k for k, text in enumerate(self.different) if test(text))
        row = int(np.flatnonzero(self._codes == k)[0])
        return int(self.column.index[row]) + 1, self.different[k]
