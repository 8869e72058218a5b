"""A training table whose codes are on workers; labels and weights are in this process."""

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
from properboost.dask.cluster_rows import ClusterRows
from properboost.dask.partition_scan import (
    LabelScan,
    add_values,
    encode,
    encode_labelled,
    scan_features,
    scan_labels,
)
from properboost.dask.partitions import Partition
from properboost.dask.shard import Shard, ShardRows
from properboost.dask.shards import Shards
from properboost.dask.worker_health import Workers
from properboost.data.bin_finder import BinFinder
from properboost.data.binning import (
    MAX_CATEGORIES,
    Binning,
    NumericBins,
    count_numeric_bins,
)
from properboost.data.entries import find_entries
from properboost.data.features import find_categorical
from properboost.data.frames import open_table
from properboost.data.labels import LabelReader, find_classes, read_rows
from properboost.data.names import ColumnNames, read_names
from properboost.data.recorder import NameRecorder
from properboost.data.sorted_rows import Rows, SortedRows, count_rows
from properboost.data.table import CodedLabels, ColumnKind
from properboost.engine.protocols import count_by_class, weigh_by_class
from properboost.extras import import_extra
from properboost.parameters import checks
from properboost.parameters.kinds import ClassWeight
from properboost.parameters.rows import BinningOptions

__all__ = ["TableInCluster"]


class TableInCluster(QuantizedTable):
    """Training rows whose codes are on workers, a byte a cell; labels and weights are here."""

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
        """Take the scans of partitions; `digests` has the number and the digest of each."""
        super().__init__(rows)
        self.names, self.column_names = names, column_names
        self._workers, self._partitions, self._sizes = workers, partitions, sizes
        self._digests = digests
        self._shards: list[Shards] = []

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
        """Find classes and bins, in two passes over the partitions; with `bin_means` three."""
        compute = partial(_compute, workers)
        workers.choose(all_of_them=True)
        scans = compute(scan_labels, [(p.X, p.y, p.weight) for p in partitions])
        _check_versions(scans)
        filled = _find_filled(partitions, scans, "X")
        partitions, scans = [f.partition for f in filled], [f.scan for f in filled]
        _check_columns(scans)
        labels, weight = _join_labels(scans)
        rows = read_rows(labels, len(labels.codes), weight, class_weight, normalize_weights)
        names = scans[0].names
        reader = NameRecorder()
        head = open_table(reader, scans[0].head, reset=True)
        kinds = _join_kinds(scans)
        categorical, from_dtype = find_categorical(options.categorical_features, head, kinds)
        texts = {j: head.label(j) for j in categorical if from_dtype and kinds[j] == "text"}
        finder = BinFinder(head.n_features, categorical, checks.seed(options.random_state), texts)
        sizes = [scan.n_rows for scan in scans]
        sampled = finder.draw(sizes, weight)
        arguments = [
            (*partition.arguments, tuple(categorical), sample)
            for partition, sample in zip(filled, sampled, strict=True)
        ]
        digests = []
        read = compute(scan_features, arguments)
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
        """Return other rows as a table in this process, with the bins of this one."""
        compute = partial(_compute, self._workers)
        scans = compute(scan_labels, [(p.X, p.y, p.weight) for p in partitions])
        filled = _find_filled(partitions, scans, "X_val")
        scans = [partition.scan for partition in filled]
        _check_columns([LabelScan(1, self.names, scans[0].kinds), *scans])
        read, weight = _join_labels(scans)
        values = self.labels.values
        places = find_classes(read, len(read.codes), values, ("X_val", "y_val"))
        labels = CodedLabels(values, places.astype(np.min_scalar_type(len(values))))
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
        with_means: bool = False,
        binning: Binning | None = None,
    ) -> ClusterRows:
        """Return the rows in that `order`; workers make their codes."""
        return self._place(self._describe(options, rows, order, with_means, binning), order)

    def _place(self, described: dict[str, Any], order: SortedRows) -> ClusterRows:
        """Place rows with these fields of `TrainingRows` on workers, in that `order`."""
        dask = import_extra("dask", "TableInCluster needs", "dask")
        binning, weight, numbers = (described[name] for name in ("binning", "weight", "numbers"))
        # Not as an argument: Dask searches arguments for its objects, and bins are many objects.
        lazy = dask.delayed(partial(encode, binning=binning), pure=False)
        of_classes = len(described["classes"]), order.class_of, order.segments
        rows_of_class, class_weights = (
            count_by_class(*of_classes),
            weigh_by_class(*of_classes, weight),
        )

        def describe(
            places: NDArray[np.int64], rows: NDArray[np.int64], segments: NDArray[np.int64]
        ) -> ShardRows:
            return ShardRows(
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

        shards = Shards(
            self._workers,
            lambda numbers: [lazy(*self._digests[k], self._partitions[k].X) for k in numbers],
            self._sizes,
            order,
            Shard,
            describe,
        )
        self._shards.append(shards)
        sizes = np.diff(order.segments)
        return ClusterRows(**described, shards=shards, sizes=sizes, place=self._place)

    def close(self) -> None:
        """Release everything on the workers."""
        for shards in self._shards:
            shards.close()


def _compute(
    workers: Workers, function: Callable[..., Any], arguments: Sequence[Sequence[Any]]
) -> list[Any]:
    """Return the results of a function on each of these arguments, computed on workers."""
    dask = import_extra("dask", "TableInCluster needs", "dask")
    lazy = dask.delayed(partial(_try, function), pure=False)
    results = workers.compute([lazy(*row) for row in arguments])
    for result in results:
        if isinstance(result, Exception):
            raise result
    return results


def _try(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a function, or its error: Dask logs errors that are raised."""
    try:
        return function(*arguments)
    except (TypeError, ValueError) as error:
        return error


@dataclass(frozen=True, eq=False)
class _FilledPartition:
    """A partition with rows, its number, and the scan of its labels.

    `arguments` are the first arguments of a function that reads it again.
    """

    number: int
    partition: Partition
    scan: LabelScan

    @property
    def arguments(self) -> tuple[Any, ...]:
        partition = self.partition
        return self.number, self.scan.digest, partition.X, partition.y, partition.weight


def _find_filled(
    partitions: Sequence[Partition], scans: Sequence[LabelScan], name: str
) -> list[_FilledPartition]:
    """Return those partitions that have rows, of a collection with this name."""
    filled = [
        _FilledPartition(k, partition, scan)
        for k, (partition, scan) in enumerate(zip(partitions, scans, strict=True))
        if scan.n_rows > 0
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
    """Return the bins, with the means of numeric features over the rows that count.

    `parts` has the number, the digest and the table of each partition, whose rows are `sizes`.
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
    return binning.set_means(dict(zip(numeric, sums.find_means(), strict=True)))


def _check_columns(scans: Sequence[LabelScan]) -> None:
    """Refuse partitions with different columns."""
    first = scans[0]
    for k, scan in enumerate(scans):
        if scan.names != first.names or len(scan.kinds) != len(first.kinds):
            raise ValueError(
                f"X must have the same columns in all partitions, {_name(first)}; one with rows, "
                f"number {k}, has {_name(scan)}"
            )
        if any(len(kinds - {"missing"}) > 1 for kinds in _list_kinds([first, scan])):
            raise ValueError(
                "X must have columns of the same types in all partitions; in one with rows, number "
                f"{k}, other columns are categorical than in the first"
            )


def _join_kinds(scans: Sequence[LabelScan]) -> list[ColumnKind]:
    """Return what each column holds; a partition without any value of it does not matter."""
    return [next(iter(kinds - {"missing"}), "missing") for kinds in _list_kinds(scans)]


def _list_kinds(scans: Sequence[LabelScan]) -> list[set[ColumnKind]]:
    """Return what each column holds in these partitions."""
    return [set(kinds) for kinds in zip(*(scan.kinds for scan in scans), strict=True)]


def _check_versions(scans: Sequence[LabelScan]) -> None:
    """Refuse workers with another version, whose engine may be another."""
    others = {scan.version for scan in scans} - {_core.__version__}
    if others:
        raise RuntimeError(
            f"workers must have properboost {_core.__version__}, as the client; some have "
            f"{', '.join(sorted(others))}"
        )


def _name(scan: LabelScan) -> str:
    return f"{len(scan.kinds)} of them" if scan.names is None else str(list(scan.names))


def _join_labels(scans: Sequence[LabelScan]) -> tuple[CodedLabels, NDArray[np.float64] | None]:
    """Return the labels and weights of all rows."""
    reader = LabelReader()
    numbers = []
    for scan in scans:
        if scan.labels is None or scan.codes is None:
            raise ValueError("fit requires y to be passed, but the target y is None")
        numbers.append(find_entries(reader.read(scan.labels, len(scan.labels)), scan.codes))
    values, places = reader.sort()
    weights = [scan.weight for scan in scans if scan.weight is not None]
    codes = find_entries(places, np.concatenate(numbers))
    return CodedLabels(values, codes), np.concatenate(weights) if weights else None


def _split_counted(
    rows: Rows, sizes: Sequence[int]
) -> tuple[list[NDArray[np.int64]], list[NDArray[np.float64] | None], float]:
    """Return the rows of each partition that count, their weights, and the largest weight."""
    ends = np.cumsum([0, *sizes])
    weight = rows.training_weight
    counted, weights = [], []
    for begin, end in pairwise(ends.tolist()):
        places = np.flatnonzero(rows.codes[begin:end] < len(rows.classes))
        counted.append(places)
        weights.append(None if weight is None else weight[begin:end][places])
    return counted, weights, 1.0 if weight is None else float(weight.max())
