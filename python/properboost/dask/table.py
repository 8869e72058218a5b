"""A table whose codes are in a cluster; its labels and weights are here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.batches.coded_rows import CodedRows
from properboost.batches.quantized_table import QuantizedTable
from properboost.dask.fleet import Fleet
from properboost.dask.looking import (
    Columns,
    Labelled,
    add_values,
    encode,
    encode_labelled,
    look_at_features,
    look_at_labels,
)
from properboost.dask.partitions import Partition
from properboost.dask.party import Party, RowsOfParty
from properboost.dask.rows import ClusterRows
from properboost.dask.waiting import Workers
from properboost.data.bin_finder import BinFinder
from properboost.data.binning import (
    MAX_CATEGORIES,
    Binning,
    NumericBins,
    count_numeric_bins,
)
from properboost.data.entries import find_entries
from properboost.data.frames import find_categorical, open_table
from properboost.data.labels import (
    LabelReader,
    Rows,
    SortedRows,
    count_rows,
    find_classes,
    read_rows,
)
from properboost.data.names import ColumnNames, read_names
from properboost.data.table import CodedLabels
from properboost.engine.protocols import count_by_class, weigh_by_class
from properboost.extras import import_extra
from properboost.parameters import checks
from properboost.parameters.kinds import ClassWeight
from properboost.parameters.rows import BinningOptions

__all__ = ["TableInCluster"]


class TableInCluster(QuantizedTable):
    """Training rows whose codes are in a cluster, a byte a cell; labels and weights are here."""

    def __init__(
        self,
        rows: CodedRows,
        names: Sequence[str] | None,
        column_names: ColumnNames | None,
        workers: Workers,
        partitions: Sequence[Partition],
        sizes: Sequence[int],
        digests: Sequence[tuple[int, bytes]],
    ) -> None:
        """Take what was found of partitions; `digests` has the number and the digest of each."""
        super().__init__(rows)
        self.names, self.column_names = names, column_names
        self._workers, self._partitions, self._sizes = workers, partitions, sizes
        self._digests = digests
        self._fleets: list[Fleet] = []

    @classmethod
    def read(
        cls,
        workers: Workers,
        partitions: Sequence[Partition],
        options: BinningOptions,
        class_weight: ClassWeight,
        normalize_weights: bool,
        bin_means: bool,
    ) -> Self:
        """Find classes and bins, in two readings of the partitions; with `bin_means` three."""
        compute = partial(_compute, workers)
        workers.choose(all_of_them=True)
        looked = compute(look_at_labels, [(own.X, own.y, own.weight) for own in partitions])
        _check_versions(looked)
        filled = _find_filled(partitions, looked, "X")
        partitions, looked = [f.partition for f in filled], [f.looked for f in filled]
        _check_columns(looked)
        labels, weight = _join_labels(looked)
        rows = read_rows(labels, len(labels.codes), weight, class_weight, normalize_weights)
        names = looked[0].names
        reader = Columns()
        head = open_table(reader, looked[0].head, reset=True)
        categorical, from_dtype = find_categorical(options.categorical_features, head)
        finder = BinFinder(head.n_features, categorical, checks.seed(options.random_state))
        sizes = [own.n_rows for own in looked]
        sampled = finder.draw(sizes, weight)
        arguments = [
            (*partition.arguments, tuple(categorical), sample)
            for partition, sample in zip(filled, sampled, strict=True)
        ]
        digests = []
        read = compute(look_at_features, arguments)
        for partition, (values, digest) in zip(filled, read, strict=True):
            finder.take(values)
            digests.append((partition.number, digest))
        max_numeric = count_numeric_bins(options.max_bins, options.rows_per_bin, rows.total)
        bins = finder.find(
            rows.weigh, max_numeric=max_numeric, max_categories=options.max_bins,
            n_threads=checks.count_threads(options.n_jobs),
        )  # fmt: skip
        binning = Binning(bins, from_dtype)
        if bin_means:
            parts = [(*digest, p.X) for digest, p in zip(digests, partitions, strict=True)]
            binning = _find_means(compute, binning, parts, rows, sizes)
        coded = CodedRows(
            names=list(names or [f"column {j}" for j in range(head.n_features)]),
            labels=labels,
            weight=weight,
            binning=binning,
            max_numeric=max_numeric,
            max_categories=min(options.max_bins, MAX_CATEGORIES),
            codes=np.empty((head.n_features, 0), dtype=np.uint8),
        )
        column_names = read_names(reader)
        return cls(coded, names, column_names, workers, partitions, sizes, digests)

    def bring(self, partitions: Sequence[Partition]) -> QuantizedTable:
        """Return other rows as a table that is here, with the bins of this one."""
        compute = partial(_compute, self._workers)
        looked = compute(look_at_labels, [(p.X, p.y, p.weight) for p in partitions])
        filled = _find_filled(partitions, looked, "X_val")
        looked = [partition.looked for partition in filled]
        _check_columns([Labelled(1, self.names, looked[0].declared), *looked])
        found, weight = _join_labels(looked)
        values = self.labels.values
        own = find_classes(found, len(found.codes), values, ("X_val", "y_val"))
        labels = CodedLabels(values, own.astype(np.min_scalar_type(len(values))))
        codes = compute(encode_labelled, [(*p.arguments, self.binning) for p in filled])
        order = count_rows(labels, weight).sort().order
        table = QuantizedTable(
            replace(
                self._rows, labels=labels, weight=weight,
                codes=np.concatenate(codes, axis=1).take(order, axis=1),
            )
        )  # fmt: skip
        table.names, table.column_names = self.names, self.column_names
        return table

    def encode(
        self,
        options: BinningOptions,
        rows: Rows,
        order: SortedRows,
        *,
        wants_means: bool = False,
        binning: Binning | None = None,
    ) -> ClusterRows:
        """Return the rows in that `order`, whose codes workers make."""
        return self._place(self._describe(options, rows, order, wants_means, binning), order)

    def _place(self, described: dict[str, Any], order: SortedRows) -> ClusterRows:
        """Place rows with these fields of `TrainingRows` in the cluster, in that `order`."""
        dask = import_extra("dask", "TableInCluster needs", "dask")
        binning, weight, numbers = (described[name] for name in ("binning", "weight", "numbers"))
        # Dask looks into arguments for its own, and bins are many objects.
        lazy = dask.delayed(partial(encode, binning=binning), pure=False)
        of_classes = len(described["classes"]), order.class_of, order.segments
        rows_of_class, class_weights = (
            count_by_class(*of_classes),
            weigh_by_class(*of_classes, weight),
        )

        def describe(
            places: NDArray[np.int64], rows: NDArray[np.int64], segments: NDArray[np.int64]
        ) -> RowsOfParty:
            return RowsOfParty(
                classes=described["classes"],
                binning=binning,
                places=rows,
                segments=segments,
                class_of=order.class_of,
                weight=None if weight is None else weight[places],
                numbers=numbers[places],
                class_weights=class_weights,
                rows_of_class=rows_of_class,
                names=described["names"],
            )

        fleet = Fleet(
            self._workers,
            lambda some: [lazy(*self._digests[k], self._partitions[k].X) for k in some],
            self._sizes,
            order,
            Party,
            describe,
        )
        self._fleets.append(fleet)
        sizes = np.diff(order.segments)
        return ClusterRows(**described, fleet=fleet, sizes=sizes, place=self._place)

    def close(self) -> None:
        """Let the workers forget everything."""
        for fleet in self._fleets:
            fleet.close()


def _compute(
    workers: Workers, function: Callable[..., Any], arguments: Sequence[Sequence[Any]]
) -> list[Any]:
    """Return what a function makes of each of these arguments, in the cluster."""
    dask = import_extra("dask", "TableInCluster needs", "dask")
    lazy = dask.delayed(partial(_try, function), pure=False)
    found = workers.compute([lazy(*own) for own in arguments])
    for own in found:
        if isinstance(own, Exception):
            raise own
    return found


def _try(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns, or how it refuses: Dask logs whatever is raised."""
    try:
        return function(*arguments)
    except (TypeError, ValueError) as error:
        return error


@dataclass(frozen=True, eq=False)
class _Filled:
    """A partition with rows: its number, where it is, and how it looked when its labels were read.

    `arguments` are the first ones of what reads it again.
    """

    number: int
    partition: Partition
    looked: Labelled

    @property
    def arguments(self) -> tuple[Any, ...]:
        read = self.partition
        return self.number, self.looked.digest, read.X, read.y, read.weight


def _find_filled(
    partitions: Sequence[Partition], looked: Sequence[Labelled], name: str
) -> list[_Filled]:
    """Return the partitions with rows of a collection of this name."""
    filled = [
        _Filled(k, partition, labelled)
        for k, (partition, labelled) in enumerate(zip(partitions, looked, strict=True))
        if labelled.n_rows > 0
    ]
    if not filled:
        raise ValueError(f"{name} must have rows; got none")
    return filled


def _find_means(
    compute: Callable[..., list[Any]],
    binning: Binning,
    parts: Sequence[tuple[int, bytes, Any]],
    rows: Rows,
    sizes: Sequence[int],
) -> Binning:
    """Return the bins with the means of numeric ones, over the rows that count.

    `parts` has the number, the digest and the table of each partition, of so many rows.
    """
    numeric = [j for j, bins in enumerate(binning.features) if isinstance(bins, NumericBins)]
    if not numeric:
        return binning
    counted, weights, largest = _split_counted(rows, sizes)
    arguments = [
        (*part, binning, counts, weight, largest)
        for part, counts, weight in zip(parts, counted, weights, strict=True)
    ]
    native = _core.Bins([binning.features[j].native for j in numeric])
    sums = _core.BinSums(native, largest)
    for digits in compute(add_values, arguments):
        sums.add_digits(digits)
    return binning.with_found_means(dict(zip(numeric, sums.find_means(), strict=True)))


def _check_columns(looked: Sequence[Labelled]) -> None:
    """Refuse partitions with different columns."""
    first = looked[0]
    for k, own in enumerate(looked):
        if own.names != first.names or len(own.declared) != len(first.declared):
            raise ValueError(
                f"X must have the same columns in all partitions, {_name(first)}; one with rows, "
                f"number {k}, has {_name(own)}"
            )
        if list(own.declared) != list(first.declared):
            raise ValueError(
                "X must have columns of the same types in all partitions; in one with rows, number "
                f"{k}, other columns are categorical than in the first"
            )


def _check_versions(looked: Sequence[Labelled]) -> None:
    """Refuse workers with another version, whose engine may be another."""
    others = {own.version for own in looked} - {_core.__version__}
    if others:
        raise RuntimeError(
            f"workers must have properboost {_core.__version__}, as the client; some have "
            f"{', '.join(sorted(others))}"
        )


def _name(own: Labelled) -> str:
    return f"{len(own.declared)} of them" if own.names is None else str(list(own.names))


def _join_labels(looked: Sequence[Labelled]) -> tuple[CodedLabels, NDArray[np.float64] | None]:
    """Return the labels and weights of all rows."""
    reader = LabelReader()
    numbers = []
    for own in looked:
        if own.labels is None or own.codes is None:
            raise ValueError("fit requires y to be passed, but the target y is None")
        numbers.append(find_entries(reader.read(own.labels, len(own.labels)), own.codes))
    values, places = reader.sort()
    weights = [own.weight for own in looked if own.weight is not None]
    codes = find_entries(places, np.concatenate(numbers))
    return CodedLabels(values, codes), np.concatenate(weights) if weights else None


def _split_counted(
    rows: Rows, sizes: Sequence[int]
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.float64] | None], float]:
    """Return which rows of each partition count, their weights, and the largest of these."""
    ends = np.cumsum([0, *sizes])
    weight = rows.training_weight
    counted, weights = [], []
    for begin, end in pairwise(ends.tolist()):
        some = np.flatnonzero(rows.codes[begin:end] < len(rows.classes))
        counted.append(some)
        weights.append(None if weight is None else weight[begin:end][some])
    return counted, weights, 1.0 if weight is None else float(weight.max())
