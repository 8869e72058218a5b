"""Items: the published numbers, and the experiment that computes them anew."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from properboost.reproduce.published import Place, Published
from properboost.reproduce.verdict import OrderAxis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["AS_READ", "CURVES", "Experiment", "Item", "Piece", "Reading", "Record", "Seed"]

Record: TypeAlias = Mapping[str, Any]
"""The measurements of a piece of an experiment: anything that JSON can hold."""

Seed: TypeAlias = Mapping[str, Record]
"""The records of one repetition of an experiment, by part, without those of missing sets."""


@dataclass(frozen=True)
class Reading:
    """One interpretation of details that a paper leaves open.

    Attributes
    ----------
    name : str
        A few words.
    reason : str
        The words of the paper, or other facts, that support it.
    random : bool, default=True
        Whether another seed changes the numbers; otherwise there is one seed.
    measured_as : str, optional
        The reading whose measurements it shares, to make another table of them.
    seeds : int, optional
        Repetitions, if not those of the experiment.
    first_seed : int, default=0
        The first of its seeds.  A reading that was chosen by the results of earlier seeds is
        measured on others.
    """

    name: str
    reason: str
    random: bool = True
    measured_as: str | None = None
    seeds: int | None = None
    first_seed: int = 0

    @property
    def measured(self) -> str:
        """The name of the reading whose measurements it uses."""
        return self.measured_as or self.name


AS_READ = Reading("as printed", "The paper leaves no choice open that matters here.")
CURVES = Reading("as printed", "Curves of formulas, in which nothing is random.", random=False)


@dataclass(frozen=True)
class Piece:
    """The smallest unit of work: one repetition of one part of an experiment."""

    part: str
    seed: int
    reading: str


@dataclass(frozen=True)
class Experiment:
    """The measurements for one item or several.

    Attributes
    ----------
    name : str
        The name of the file of its records.
    parts : mapping of str to sequence of str
        The data sets (``data.py``) that each part needs.  Parts are independent of each other.
    measure : callable
        A function from a `Piece` to its `Record`.  It belongs to a module, uses one thread, and its
        seeds are repetitions of the paper's one run.
    seconds : float
        The approximate time of a repetition of all parts under one reading on one processor.
    seeds : int, default=10
        Repetitions, unless the user chooses a number.
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
        Its subject.
    units : str
        The units of its numbers.
    protocol : str
        The procedure, in a few sentences.
    published : mapping of (str, str) to Published
        The paper's numbers, by row and column.
    experiment : Experiment
        The measurements.
    tabulate : callable
        A function from one repetition's records and the reading's name to our numbers, by row and
        column, without those of missing parts.
    readings : sequence of Reading
        The readings under which it is computed; the first one is reported if only one is.
    compared : {"rows", "columns", "none"}, default="rows"
        The numbers that the paper compares with each other.
    draw : callable, optional
        A function that draws the paper's figure into an empty figure of matplotlib, from the
        repetitions under the first reading.
    missing : mapping of str to str
        The parts of the paper's item that cannot be computed, with the reasons.
    """

    title: str
    units: str
    protocol: str
    published: Mapping[Place, Published]
    experiment: Experiment
    tabulate: Callable[[Seed, str], Mapping[Place, float]]
    readings: Sequence[Reading] = (AS_READ,)
    compared: OrderAxis = "rows"
    draw: "Callable[[Figure, Sequence[Seed]], None] | None" = None
    missing: Mapping[str, str] | None = None
