"""Training rows: their labels and weights, and the order in which the engine takes them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost import _core
from properboost.cached import cached_property
from properboost.data.distinct import find_distinct
from properboost.data.entries import find_entries
from properboost.data.label_array import read_label_array
from properboost.data.libraries import is_a, is_missing
from properboost.data.table import CodedLabels, SoftLabels
from properboost.data.weights import read_training_weights, scale_factors
from properboost.data.whole_sums import add_up, add_up_by
from properboost.notices import warn
from properboost.parameters.kinds import ClassWeight

__all__ = [
    "LabelReader",
    "Rows",
    "SortedRows",
    "TooFewRowsError",
    "check_length",
    "count_rows",
    "find_classes",
    "read_groups",
    "read_labels",
    "read_rows",
    "refuse_several_classes",
]

FEW_KEYS = 8
"""Segments up to which a search for each is faster than a sort."""

FEW_ROWS = 20
"""Rows up to which as many classes as rows need no warning."""


@dataclass(frozen=True, eq=False)
class SortedRows:
    """The rows that count, sorted by class and, inside it, by part.

    Segment ``s`` is the rows ``order[segments[s]:segments[s + 1]]`` of the table, which are of the
    class ``class_of[s]`` and in the part ``part_of[s]``.  No segment is empty.  `has_parts` is
    whether there is more than one part.  `row_of` is that of `Rows`.
    """

    keys: NDArray[np.integer[Any]]
    counts: NDArray[np.int64]
    segments: NDArray[np.int64]
    class_of: NDArray[np.intp]
    part_of: NDArray[np.intp]
    has_parts: bool
    row_of: NDArray[np.int64] | None = None

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The places of the rows among those that count, in the order of the segments.

        Draws go by these numbers, so that a row of weight 0 changes none.  The rows of a segment
        lie in the order of random bits of their numbers: neighbours are a random sample, by which
        the engine may choose a round's feature.
        """
        return _core.sort_for_screens(self._in_table_order(), self.segments)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """The places of the same rows in `Rows`."""
        if len(self.numbers) == len(self.keys):
            return self.numbers
        places: NDArray[np.int64] = np.flatnonzero(self._are_counted)[self.numbers]
        return places

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The places of the same rows in the table, which has a row of several labels once."""
        return self.places if self.row_of is None else self.row_of[self.places]

    @property
    def _are_counted(self) -> NDArray[np.bool_]:
        """Whether each row counts."""
        return self.keys < len(self.counts)

    def _in_table_order(self) -> NDArray[np.int64]:
        n = int(self.counts.sum())
        keys = self.keys if n == len(self.keys) else self.keys[self._are_counted]
        if len(self.counts) > FEW_KEYS:
            # numpy sorts small integers by their digits, in linear time.
            return np.argsort(keys, kind="stable").astype(np.int64, copy=False)
        order = np.empty(n, dtype=np.int64)
        ends = np.cumsum(self.counts).tolist()
        for key, end in enumerate(ends):
            order[end - self.counts[key] : end] = np.flatnonzero(keys == key)
        return order


@dataclass(frozen=True, eq=False)
class Rows:
    """Labels and weights of the rows of a table.

    Row ``i`` has the label ``classes[codes[i]]``.  A row of weight 0 does not count and has the
    code ``len(classes)``.  `weight` is the sample weight, `factor` that of each class; None stands
    for ones.  `total` is the sum of the sample weights, that is the number of rows.

    Where labels are probabilities, a row of the table is a row here for each of its labels, one
    after the other.  Row ``i`` is then the row ``row_of[i]`` of the table, and counts as much as
    its label is probable.  `row_weight` has the sample weights of the table's rows.
    """

    classes: NDArray[Any]
    codes: NDArray[np.unsignedinteger[Any]]
    weight: NDArray[np.float64] | None
    factor: NDArray[np.float64] | None
    total: float
    row_of: NDArray[np.int64] | None = None
    row_weight: NDArray[np.float64] | None = None

    @cached_property
    def of_table(self) -> "Rows":
        """The rows of the table, each with the label of most of its weight."""
        if self.row_of is None:
            return self
        # Rows are in the order of the table, so the first of each row are at the same places.
        first = np.flatnonzero(np.diff(self.row_of, prepend=-1))
        heaviest = np.lexsort((-self.weight, self.row_of))[first]  # type: ignore[operator]
        return Rows(self.classes, self.codes[heaviest], self.row_weight, None, self.total)

    @property
    def n_of_table(self) -> int:
        """The number of rows of the table."""
        return len(self.codes) if self.row_of is None else int(self.row_of[-1]) + 1

    def find_binned_weight(self) -> NDArray[np.float64] | None:
        """Return the weights of the table's rows in training, by which features are cut."""
        if self.row_of is None or self.factor is None:
            return self.training_weight if self.row_of is None else self.row_weight
        return np.bincount(self.row_of, self.training_weight).astype(np.float64, copy=False)

    @property
    def training_weight(self) -> NDArray[np.float64] | None:
        """The weights of rows in training: sample weight times the class's factor."""
        return self.weigh(slice(None))

    def weigh(self, places: slice | NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return the training weights of the rows at these places."""
        weight = None if self.weight is None else self.weight[places]
        if self.factor is None:
            return weight
        factor: NDArray[np.float64] = find_entries(np.append(self.factor, 0.0), self.codes[places])
        return factor if weight is None else weight * factor

    @property
    def rows_of_class(self) -> NDArray[np.int64]:
        """The number of rows of each class that count."""
        return _count(self.codes, len(self.classes))

    def sort(self, parts: NDArray[np.integer[Any]] | None = None, n_parts: int = 1) -> SortedRows:
        """Sort the rows that count by class, and by their part (from 0) where there are parts."""
        n_classes = len(self.classes)
        n_keys = n_classes * n_parts
        keys = self.codes
        if parts is not None:
            keys = keys.astype(np.min_scalar_type(n_keys)) * n_parts
            keys += parts.astype(keys.dtype)
            keys[self.codes == n_classes] = n_keys
        counts = _count(keys, n_keys)
        filled = np.flatnonzero(counts)
        segments = np.cumsum([0, *counts[filled]]).astype(np.int64)
        return SortedRows(
            keys, counts, segments, filled // n_parts, filled % n_parts, parts is not None,
            self.row_of,
        )  # fmt: skip

    def find_places(self) -> NDArray[np.int64]:
        """Return the place of each row that counts in the sorted order; others have any place."""
        order = self.sort().order
        place = np.empty(len(self.codes), dtype=np.int64)
        place[order] = np.arange(len(order))
        return place


def count_rows(labels: CodedLabels, weight: NDArray[np.float64] | None) -> Rows:
    """Return rows with a class for every label; rows of weight 0 do not count."""
    codes, n_classes = labels.codes, len(labels.values)
    if weight is not None:
        codes = np.where(weight > 0.0, codes, np.min_scalar_type(n_classes).type(n_classes))
    return Rows(labels.values, codes, None, None, 0.0)


def _count(keys: NDArray[np.integer[Any]], n_keys: int) -> NDArray[np.int64]:
    """Return the number of rows with each key; larger keys are of rows that do not count."""
    if n_keys <= FEW_KEYS:
        return np.array([np.count_nonzero(keys == key) for key in range(n_keys)], dtype=np.int64)
    return np.bincount(keys, minlength=n_keys)[:n_keys].astype(np.int64, copy=False)


class TooFewRowsError(ValueError):
    """Rows of fewer than two classes, or none."""


class LabelReader:
    """A reader of labels in batches: it checks them, and numbers them in order of appearance."""

    def __init__(self) -> None:
        self._number: dict[Any, int] = {}
        self._dtype: np.dtype[Any] | None = None

    def __len__(self) -> int:
        return len(self._number)

    def read(self, y: Any, n_rows: int) -> NDArray[np.unsignedinteger[Any]]:
        """Return the number of each label."""
        quick = isinstance(y, np.ndarray) or is_a(y, "pandas", "Series")
        raw = np.asarray(y) if quick else np.empty(0)
        if raw.dtype.kind in "OU" and raw.dtype == self._dtype and raw.shape == (n_rows,):
            try:  # labels with a number have been checked
                checked = [self._number[label] for label in raw.tolist()]
                return np.array(checked, dtype=np.min_scalar_type(len(self)))
            except (KeyError, TypeError):
                pass
        labels = read_labels(y, n_rows)
        self._dtype = labels.dtype if self._dtype is None else _join(self._dtype, labels.dtype)
        if labels.dtype.kind in "OU":
            return self._number_all(labels.tolist())
        distinct = _distinct(labels)
        numbers = self._number_all(distinct.tolist())
        return find_entries(numbers, _find_codes(labels, distinct))

    def _number_all(self, labels: list[Any]) -> NDArray[np.unsignedinteger[Any]]:
        number = self._number
        numbers = [number.setdefault(label, len(number)) for label in labels]
        return np.array(numbers, dtype=np.min_scalar_type(len(number)))

    def sort(self) -> tuple[NDArray[Any], NDArray[np.unsignedinteger[Any]]]:
        """Return the labels so far in ascending order, and the place of each number among them."""
        labels = list(self._number)
        if any(isinstance(label, str) for label in labels) and not all(
            isinstance(label, str) for label in labels
        ):
            raise ValueError("y must hold labels of one kind; got strings and others")
        order = sorted(range(len(labels)), key=labels.__getitem__)
        place = np.empty(len(order), dtype=np.min_scalar_type(len(order)))
        place[order] = np.arange(len(order))
        return _make_classes([labels[k] for k in order], self._dtype), place


def _join(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(object) if "O" in (a.kind, b.kind) else np.promote_types(a, b)


def _make_classes(labels: list[Any], dtype: np.dtype[Any] | None) -> NDArray[Any]:
    """Return ascending labels in the type of their batches, or in one that holds them all."""
    whole = not any(isinstance(label, str | float) for label in labels)
    if whole and dtype is not None and dtype.kind == "f":  # of int64 and uint64 together
        dtype = np.dtype(np.int64 if not labels or labels[-1] < 2**63 else np.uint64)
    try:
        classes = np.array(labels, dtype=dtype)
    except OverflowError:
        classes = np.empty(0)
    if classes.tolist() != labels:
        raise ValueError(
            "y must hold labels of one type in all batches; no type has all that they hold, "
            f"from {labels[0]!r} to {labels[-1]!r}"
        )
    return classes


def read_rows(
    y: Any,
    n_rows: int,
    sample_weight: Any = None,
    class_weight: ClassWeight = None,
    normalize_weights: bool = False,
) -> Rows:
    """Check labels and weights."""
    if isinstance(y, SoftLabels):
        return _read_soft_rows(y, n_rows, sample_weight, class_weight, normalize_weights)
    labels = y.codes if isinstance(y, CodedLabels) else read_labels(y, n_rows)
    weight = read_training_weights(sample_weight, labels, normalize_weights)
    values = y.values if isinstance(y, CodedLabels) else None
    return _find_rows(labels, values, weight, class_weight, normalize_weights)


def _read_soft_rows(
    y: SoftLabels,
    n_rows: int,
    sample_weight: Any,
    class_weight: ClassWeight,
    normalize_weights: bool,
) -> Rows:
    """Return a row for each label of the table's rows, as heavy as it is probable."""
    check_length(y.probability, n_rows)
    row_weight = weight = None
    if sample_weight is not None:
        row_weight = read_training_weights(sample_weight, y.most_probable, normalize_weights)
        weight = row_weight
    row_of, codes, share = y.spread()
    if row_of is not None and share is not None:
        weight = share if row_weight is None else share * row_weight[row_of]
    total = float(n_rows) if row_weight is None else add_up(row_weight)
    rows = _find_rows(codes, y.classes, weight, class_weight, normalize_weights, total)
    if len(rows.classes) < len(y.classes):
        lacking = [label for label in y.classes.tolist() if label not in rows.classes.tolist()]
        raise ValueError(
            "y must give each class a probability in a row of positive weight; got none for "
            f"{lacking[0]!r}: leave its column out"
        )
    if row_of is None:
        return rows
    return replace(rows, row_of=row_of, row_weight=row_weight)


def _find_rows(
    labels: NDArray[Any],
    values: NDArray[Any] | None,
    weight: NDArray[np.float64] | None,
    class_weight: ClassWeight,
    normalize_weights: bool,
    total: float | None = None,
) -> Rows:
    """Return rows with these labels, or with those of `values` at these positions.

    `total` is the sum of their weights, which is computed if it is None.
    """
    distinct = _distinct(labels if weight is None else labels[weight > 0.0])
    classes = distinct if values is None else values[distinct]
    if len(classes) < 2:
        raise TooFewRowsError(
            "y must hold at least two classes among the rows of positive weight; got 1 class: "
            f"{classes.tolist()}"
        )
    codes = _find_codes(labels, distinct)
    _warn_of_many(classes, labels)
    if weight is not None:
        codes[weight == 0.0] = len(classes)
    # Classes would lack rows if comparisons of labels disagreed with their sort.
    counts = _count(codes, len(classes))
    assert np.count_nonzero(counts) == len(classes), f"classes of type {classes.dtype} lack rows"
    if total is None:
        total = float(len(labels)) if weight is None else add_up(weight)
    factor = None
    if class_weight is not None:
        class_weights = add_up_by(codes, weight, len(classes))
        factor = scale_factors(
            _class_factors(class_weight, classes, class_weights), class_weights, normalize_weights
        )
    return Rows(classes, codes, weight, factor, total)


def refuse_several_classes(classes: NDArray[Any]) -> None:
    """Refuse more than two classes."""
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: y "
            f"has {len(classes)} classes"
        )


def read_groups(groups: Any, n_rows: int, name: str = "groups") -> NDArray[Any] | None:
    """Check the groups of rows: a missing one is refused, as it may be any of them."""
    if groups is None:
        return None
    group_of = np.asarray(groups)
    if group_of.shape != (n_rows,):
        raise ValueError(
            f"{name} must have an entry for each of the {n_rows} rows of X; got shape "
            f"{group_of.shape}"
        )
    missing = np.zeros(n_rows, dtype=bool)
    if group_of.dtype.kind in "fmM":
        missing = np.isnan(group_of)
    elif group_of.dtype == object:
        missing = np.array([is_missing(group) for group in group_of.tolist()], dtype=bool)
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f"{name} must have no missing entries; row {row} has one")
    return group_of


def _distinct(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct labels, in ascending order."""
    if labels.dtype == object:
        # A table of their hashes is faster than NumPy's sort of all objects.
        distinct = sorted(set(labels.tolist()))
        return np.array(distinct, dtype=object)
    if labels.dtype.kind in "biuf" and len(labels):
        ends = find_distinct(np.array([labels.min(), labels.max()], dtype=labels.dtype))
        if np.all((labels == ends[0]) | (labels == ends[-1])):
            return ends
    if labels.dtype.itemsize == 1:
        # There are few possible values, so count each.
        counts = np.bincount(labels.view(np.uint8), minlength=256)
        return np.sort(np.flatnonzero(counts).astype(np.uint8).view(labels.dtype))
    return find_distinct(labels)


def _find_codes(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.unsignedinteger[Any]]:
    """Return the position of each label in `classes`; for unknown labels, any position."""
    kind = np.min_scalar_type(len(classes))
    if labels.dtype == object:
        place = {label: k for k, label in enumerate(classes.tolist())}
        return np.array([place.get(label, 0) for label in labels.tolist()], dtype=kind)
    # A comparison takes a tenth of a search.
    codes = labels > classes[0] if len(classes) == 2 else np.searchsorted(classes, labels)
    places: NDArray[np.unsignedinteger[Any]] = codes.astype(kind)
    return places


def find_classes(
    y: Any, n_rows: int, classes: NDArray[Any], names: tuple[str, str] = ("X", "y")
) -> NDArray[np.intp]:
    """Return the position in `classes` of the label of each row."""
    if isinstance(y, CodedLabels):
        distinct = _distinct(y.codes)
        place = np.zeros(len(y.values), dtype=np.intp)
        place[distinct] = find_classes(y.values[distinct], len(distinct), classes, names)
        return find_entries(place, y.codes)
    labels = read_label_array(y, names[1])
    check_length(labels, n_rows, names)
    if labels.dtype.kind == "f":
        from sklearn.utils.validation import assert_all_finite  # on use: servers have no labels

        assert_all_finite(labels, input_name=names[1])
    places = _look_up(labels, classes)
    unknown = labels[places < 0]
    if len(unknown):
        raise ValueError(
            f"{names[1]} must hold labels among {classes.tolist()}; got {unknown.tolist()[0]!r}"
        )
    return places


def _look_up(labels: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the position in `classes` of each label, below 0 where there is none."""
    known = {label: k for k, label in enumerate(classes.tolist())}
    if labels.dtype == object:
        return np.array([known.get(label, -1) for label in labels.tolist()], dtype=np.intp)
    kinds = labels.dtype.kind + classes.dtype.kind
    if labels.dtype.kind == "U" and classes.dtype.kind in "OU":
        alike = True
    else:  # a common type would make numbers of text, and equal numbers of large integers
        alike = "U" not in kinds and "O" not in kinds
        alike &= np.promote_types(labels.dtype, classes.dtype).kind != "f" or kinds == "ff"
    if alike:
        places: NDArray[np.intp] = np.searchsorted(classes, labels)
        places[classes[np.minimum(places, len(classes) - 1)] != labels] = -1
        return places
    distinct = _distinct(labels)
    place = np.array([known.get(label, -1) for label in distinct.tolist()], dtype=np.intp)
    return find_entries(place, _find_codes(labels, distinct))


def read_labels(y: Any, n_rows: int) -> NDArray[Any]:
    """Check the labels of rows, and return them as an array of a plain type."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    labels = read_label_array(y)
    if labels.dtype.kind == "f":
        from sklearn.utils.validation import assert_all_finite

        assert_all_finite(labels, input_name="y")
        fractions = labels[labels != np.trunc(labels)]
        if len(fractions):
            raise ValueError(
                "Unknown label type: continuous. y holds numbers that are not whole, such as "
                f"{fractions[0]}, and a classifier fits no regression: turn them into classes, "
                "such as y > 0.5, or into strings if they are classes: y.astype(str)"
            )
    check_length(labels, n_rows)
    return labels


def check_length(labels: NDArray[Any], n_rows: int, names: tuple[str, str] = ("X", "y")) -> None:
    """Check that there is a label for each row."""
    if len(labels) != n_rows:
        raise ValueError(
            f"{names[0]} and {names[1]} must have as many rows; got {n_rows} and {len(labels)}"
        )


def _warn_of_many(classes: NDArray[Any], labels: NDArray[Any]) -> None:
    """Warn of nearly as many classes as rows, unless they are integers, as codes often are."""
    many = len(classes) > 2 and len(labels) > FEW_ROWS and 2 * len(classes) > len(labels)
    if many and labels.dtype.kind in "fOU":
        warn(
            f"y holds {len(classes):,} different labels in {len(labels):,} rows, and each is a "
            "class: a classifier fits no regression"
        )


def _class_factors(
    class_weight: ClassWeight, classes: NDArray[Any], weights: NDArray[Any]
) -> NDArray[np.float64]:
    """Return the factor on the weight of each class; `weights` are the classes' weights."""
    if isinstance(class_weight, str):  # "balanced"
        with np.errstate(over="ignore"):
            balanced: NDArray[np.float64] = weights.sum() / (len(classes) * weights)
        if not np.all(np.isfinite(balanced)):
            k = int(np.argmin(weights))
            raise ValueError(
                "class_weight must not be 'balanced' where sample_weight leaves a class next to "
                f"nothing; got {weights[k]:g} of {weights.sum():g} for the class "
                f"{classes[k].item()!r}"
            )
        return balanced
    assert class_weight is not None
    # scikit-learn would look up "1" under 1.
    labels = classes.tolist()
    lacking = [label for label in labels if label not in class_weight]
    unknown = [label for label in class_weight if label not in labels]
    if lacking and unknown:
        raise ValueError(
            f"class_weight must name labels among {labels}; got {unknown[0]!r}.  A label that is "
            "left out has the weight 1"
        )
    return np.array([class_weight.get(label, 1.0) for label in labels], dtype=np.float64)
