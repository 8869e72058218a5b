"""Reading of labels, weights and groups: the classes of the rows, and which rows count."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.distinct import find_distinct
from properboost.data.entries import find_entries
from properboost.data.label_array import read_label_array
from properboost.data.libraries import is_a, is_missing
from properboost.data.sorted_rows import Rows, count_keys
from properboost.data.table import CodedLabels, SoftLabels
from properboost.data.weights import read_training_weights, scale_factors
from properboost.data.whole_sums import add_up, add_up_by
from properboost.notices import warn
from properboost.parameters.kinds import ClassWeight

__all__ = [
    "LabelReader",
    "TooFewRowsError",
    "check_length",
    "find_classes",
    "read_groups",
    "read_labels",
    "read_rows",
    "refuse_several_classes",
]

FEW_ROWS = 20
"""Rows up to which as many classes as rows need no warning."""


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
    counts = count_keys(codes, len(classes))
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
