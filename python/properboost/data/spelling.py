"""Cells as people spell them: marks of decimals and thousands, units, brackets, missing values.

A spelling reads a text in one way or not at all.  The first group of thousands does not begin with
0: where a comma separates thousands, ``0,125`` is no number.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple, Self

__all__ = ["PLAIN", "Number", "Spelling"]

_BLANKS = " \u00a0\u2009\u202f"
_ALIKE = (_BLANKS, "'\u2019")
"""Groups of interchangeable separators of thousands."""

_NO_MARK = re.compile(r"[0-9A-Za-z+\-()\"\r\n\t\0]")
_NO_UNIT = re.compile(r"[0-9+\-()\"\r\n\t\0]")


class Number(NamedTuple):
    """A number in the spelling of programs, and its unit, "" if it has none."""

    text: str
    unit: str


@dataclass(frozen=True)
class Spelling:
    """How numbers are spelled, and missing values.

    Attributes
    ----------
    decimal : str
        The character before decimals.
    thousands : str or None
        The character between groups of three digits; a blank is any blank.  Between commas,
        groups before the last one may be of two digits, as in India.
    units : tuple of str
        Texts before or after a number that are left out.
    brackets : bool
        Whether a number in brackets is below 0.
    na : tuple of str or None
        The texts of missing cells besides empty ones; None are the usual ones.
    """

    decimal: str = "."
    thousands: str | None = None
    units: tuple[str, ...] = ()
    brackets: bool = False
    na: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name, mark in (("decimal", self.decimal), ("thousands", self.thousands)):
            if mark is not None and (len(mark) != 1 or _NO_MARK.match(mark)):
                raise ValueError(
                    f"{name} must be one character, and no digit, letter, sign, quote or bracket; "
                    f"got {mark!r}"
                )
        if self.decimal in _BLANKS:
            raise ValueError(f"decimal must not be a blank; got {self.decimal!r}")
        if self.decimal in self._separators:
            raise ValueError(
                f"decimal and thousands must be different characters; both are {self.decimal!r}"
            )
        for unit in self.units:
            if not unit or unit != unit.strip() or _NO_UNIT.search(unit):
                raise ValueError(
                    "units must be texts without digits, signs, quotes and brackets, and without "
                    f"blanks around them; got {unit!r}"
                )

    @classmethod
    def of(cls, attributes: Mapping[str, Any]) -> Self:
        """Return the spelling with these attributes, and defaults for the others."""
        return cls(**attributes)

    @property
    def names(self) -> list[str]:
        """The names of the attributes."""
        return [field.name for field in fields(self)]

    def describe(self) -> dict[str, Any]:
        """Return the attributes that differ from the defaults."""
        attributes = {name: getattr(self, name) for name in self.names}
        return {
            name: value for name, value in attributes.items() if value != getattr(type(self), name)
        }

    def read(self, text: str) -> Number | None:
        """Return the number that a text spells, or None."""
        rest, unit = self._take_unit(text.strip(f"{_BLANKS}\t"))
        sign = ""
        if self.brackets and rest.startswith("(") and rest.endswith(")"):
            sign, rest = "-", rest[1:-1].strip(_BLANKS)
        elif rest[:1] in ("+", "-"):
            sign, rest = rest[0].replace("+", ""), rest[1:]
        if not unit:
            rest, unit = self._take_unit(rest)
        match = self._number.fullmatch(rest)
        if match is None:
            return None
        whole = "".join(filter(str.isdigit, match["whole"] or ""))
        decimals = f".{match['decimals']}" if match["decimals"] is not None else ""
        return Number(f"{sign}{match['word'] or whole + decimals + (match['power'] or '')}", unit)

    def _take_unit(self, text: str) -> tuple[str, str]:
        """Return a text without its unit, and the unit."""
        for unit in sorted(self.units, key=len, reverse=True):
            if text.startswith(unit):
                return text[len(unit) :].lstrip(_BLANKS), unit
            if text.endswith(unit):
                return text[: -len(unit)].rstrip(_BLANKS), unit
        return text, ""

    @cached_property
    def _number(self) -> re.Pattern[str]:
        whole, mark = "[0-9]+", re.escape(self.decimal)
        if self._separators:
            separator = f"[{re.escape(self._separators)}]"
            threes = f"[1-9][0-9]{{0,2}}(?P<s>{separator})[0-9]{{3}}(?:(?P=s)[0-9]{{3}})*"
            lakhs = "[1-9][0-9]?,(?:[0-9]{2},)+[0-9]{3}|" if self.thousands == "," else ""
            whole = f"{threes}|{lakhs}{whole}"
        return re.compile(
            f"(?=[0-9]|{mark}[0-9])(?P<whole>{whole})?(?:{mark}(?P<decimals>[0-9]*))?"
            "(?P<power>[eE][+-]?[0-9]+)?|(?P<word>inf|infinity)",
            re.IGNORECASE,
        )

    @property
    def _separators(self) -> str:
        """The characters that count as the one between thousands."""
        if self.thousands is None:
            return ""
        return next((marks for marks in _ALIKE if self.thousands in marks), self.thousands)


PLAIN = Spelling()
"""The default spelling."""
