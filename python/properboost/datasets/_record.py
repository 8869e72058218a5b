"""Records of data sets: a record has all facts, and the loaders only follow it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

# The mark of a missing cell in every file, as in the UCI archive.
MISSING = "?"

SUBSETS = ("train", "test", "all")


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """One table on disk and where it comes from.

    Attributes
    ----------
    name : str
        The table is stored as ``<name>.csv.gz``.
    path : str
        Address of the original file, below the base address of the UCI archive.
    sha256 : str
        Checksum of the canonical text of the table, header line included.
    """

    name: str
    path: str
    sha256: str

    @property
    def filename(self) -> str:
        """The name of the table's file in a folder or the cache."""
        return f"{self.name}.csv.gz"


@dataclass(frozen=True, kw_only=True)
class Record:
    """One data set.

    Attributes
    ----------
    title : str
        Full name.
    files : tuple of SourceFile
        One table, or the training table and the test table.
    columns : tuple of str
        Header of each table, in the order of its columns.
    target : str
        The column to be predicted.
    classes : mapping of str to tuple of str
        Name of each class and the labels that stand for it in the target column.  The order is
        the order of the codes: in a binary set the second class is the positive one.
    source : str
        Citation.
    note : str, default=""
        Other facts for users.
    dropped : mapping of str to str, default={}
        Columns that are neither target nor feature, each with the reason.
    categories : mapping of str to tuple of str, default={}
        The categorical features with all their values; the other features are numbers.
    malformed : tuple of int, default=()
        Rows, counted from 0, that are damaged at the source and are left out.
    train_rows : int, default=None
        The training part is that many leading rows of the only table.
    """

    title: str
    files: tuple[SourceFile, ...]
    columns: tuple[str, ...]
    target: str
    classes: Mapping[str, tuple[str, ...]]
    source: str
    note: str = ""
    dropped: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    malformed: tuple[int, ...] = ()
    train_rows: int | None = None

    @property
    def features(self) -> tuple[str, ...]:
        """The columns that are features, in the order of the table."""
        return tuple(c for c in self.columns if c != self.target and c not in self.dropped)

    @property
    def subsets(self) -> tuple[str, ...]:
        """The available parts."""
        return SUBSETS if self.train_rows is not None or len(self.files) == 2 else ("all",)
