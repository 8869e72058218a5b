"""What an item is: what was published, and the experiment that computes it anew."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from properboost.reproduce.published import Place, Published
from properboost.reproduce.verdict import Compared

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["AS_READ", "CURVES", "Experiment", "Item", "Piece", "Reading", "Record", "Seed"]

Record: TypeAlias = Mapping[str, Any]
"""What a piece of an experiment measured: anything that JSON can hold."""

Seed: TypeAlias = Mapping[str, Record]
"""The records of one repetition of an experiment, by part; those that could not be had lack."""


@dataclass(frozen=True)
class Reading:
    """One way to understand what a paper leaves open.

    Attributes
    ----------
    name : str
        A few words.
    reason : str
        Which words of the paper, or which other facts, speak for it.
    random : bool, default=True
        Whether another seed gives other numbers; otherwise there is one seed.
    measured_as : str, optional
        The reading whose measurements it shares, of which it only makes another table.
    seeds : int, optional
        Repetitions, if not as many as the experiment says.
    first_seed : int, default=0
        The first of its seeds.  A reading that was found by looking at some seeds is measured on
        others.
    """

    name: str
    reason: str
    random: bool = True
    measured_as: str | None = None
    seeds: int | None = None
    first_seed: int = 0

    @property
    def measured(self) -> str:
        """The name of the reading that it is measured under."""
        return self.measured_as or self.name


AS_READ = Reading("as printed", "The paper leaves nothing open that matters here.")
CURVES = Reading("as printed", "Curves of formulas, in which nothing is random.", random=False)


@dataclass(frozen=True)
class Piece:
    """The smallest unit of work: one repetition of one part of an experiment."""

    part: str
    seed: int
    reading: str


@dataclass(frozen=True)
class Experiment:
    """What is measured, for one item or several.

    Attributes
    ----------
    name : str
        The name of the file that keeps its records.
    parts : mapping of str to sequence of str
        The data sets (``data.py``) that each part needs.  Parts are independent of each other.
    measure : callable
        Takes a `Piece` and returns its `Record`.  It is a function of a module, uses one thread,
        and its seeds are repetitions of what the paper did once.
    seconds : float
        What a repetition of all parts under one reading takes on one processor, about.
    seeds : int, default=10
        Repetitions, unless the user says otherwise.
    quick_seeds : int, default=2
        Repetitions in a quick run.
    quick_parts : sequence of str, optional
        The parts of a quick run, if not all.
    reading_parts : sequence of str, optional
        The parts under other readings than the first, if not all.
    """

    name: str
    parts: Mapping[str, Sequence[str]]
    measure: Callable[[Piece], Record]
    seconds: float
    seeds: int = 10
    quick_seeds: int = 2
    quick_parts: Sequence[str] | None = None
    reading_parts: Sequence[str] | None = None


@dataclass(frozen=True)
class Item:
    """A table or a figure of a paper.

    Attributes
    ----------
    title : str
        What it shows.
    units : str
        The units of its numbers.
    protocol : str
        What is done, in a few sentences.
    published : mapping of (str, str) to Published
        The paper's numbers, by row and column.
    experiment : Experiment
        What is measured.
    tabulate : callable
        Takes one repetition's records and the reading's name, and returns our numbers, by row and
        column.  It leaves out those whose parts lack.
    readings : sequence of Reading
        The ways in which it is computed; the first is what is reported if only one is.
    compared : {"rows", "columns", "none"}, default="rows"
        Which of its numbers the paper compares with each other.
    draw : callable, optional
        Takes an empty figure of matplotlib, the repetitions under the first reading, and draws
        what the paper's figure shows.
    missing : mapping of str to str
        What of the paper's item cannot be had, with the reason.
    """

    title: str
    units: str
    protocol: str
    published: Mapping[Place, Published]
    experiment: Experiment
    tabulate: Callable[[Seed, str], Mapping[Place, float]]
    readings: Sequence[Reading] = (AS_READ,)
    compared: Compared = "rows"
    draw: "Callable[[Figure, Sequence[Seed]], None] | None" = None
    missing: Mapping[str, str] | None = None
