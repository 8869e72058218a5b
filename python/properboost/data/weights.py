"""Sample weights: how often each row counts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.whole_sums import add_up
from properboost.notices import warn

__all__ = ["read_training_weights", "read_weights", "scale_factors"]

LARGEST_EXPONENT = 100
"""A mean weight of more than 2 to this, or less than 2 to minus this, is brought there.

Products and sums of weights then stay far from the limits of floating point.
"""

USUAL_MEANS = (0.3, 3.0)
"""Mean weights that need no warning: twice and thrice the rows cost 8 and 16% of the log loss."""

MOST_COUNTED = 20.0
"""The largest mean of whole numbers that may count equal rows.

If they are no counts, the log loss is three times as large.  Tables of larger counts have few rows,
and a person looks at each of them.
"""

LEAST_SHARE = 0.1
"""The share of the rows' weight that `class_weight` may leave without a warning."""

Weights = NDArray[np.float64]


def read_weights(sample_weight: Any, labels: NDArray[Any]) -> Weights | None:
    """Return the rows' weights as float64; None if all are 1."""
    weight = _check_weights(sample_weight, labels)
    if weight is not None:
        with np.errstate(over="ignore"):
            total = weight.sum()
        if not 0.0 < total < np.inf:
            raise ValueError(f"sample_weight must have a positive finite sum; got {total}")
    return weight


def read_training_weights(
    sample_weight: Any, labels: NDArray[Any], normalize: bool
) -> Weights | None:
    """Return the weights as a fit counts them; None if all are 1.

    With `normalize` their mean is 1, over the rows of positive weight.  Without, a warning names a
    mean far from 1, unless the weights may be counts.  Where sums of weights could overflow or
    underflow, a power of two brings the mean nearer to 1, which changes no digit; but weights that
    are tiny compared with the largest may become 0.
    """
    weight = _check_weights(sample_weight, labels)
    if weight is None:
        return None
    largest = weight.max(initial=0.0)
    if largest == 0.0:
        raise ValueError("sample_weight must be positive for at least one row; all are 0")
    counted = int(np.count_nonzero(weight))
    uniform = bool(np.all((weight == largest) | (weight == 0.0)))
    if uniform and normalize:
        return None if counted == len(weight) else np.where(weight > 0.0, 1.0, 0.0)
    exponent = int(np.frexp(largest)[1])
    mean = add_up(np.ldexp(weight, -exponent)) / counted  # in units of 2 to the exponent
    if normalize:
        scaled: Weights = np.ldexp(weight, -exponent) / mean
        return scaled
    with np.errstate(over="ignore", under="ignore"):
        _warn_of_mean(weight, labels, float(np.ldexp(mean, exponent)), counted, uniform)
    far = exponent + int(np.frexp(mean)[1])
    if abs(far) <= LARGEST_EXPONENT:
        return weight
    moved: Weights = np.ldexp(weight, (LARGEST_EXPONENT if far > 0 else -LARGEST_EXPONENT) - far)
    return moved


def scale_factors(factor: Weights, class_weights: NDArray[Any], normalize: bool) -> Weights | None:
    """Return the classes' factors as a fit counts them, given the weight of each class.

    None if all are 1.  With `normalize` the factors leave the rows' total weight unchanged.
    """
    if normalize:
        if np.all(factor == factor[0]):
            return None
        factor = factor / factor.max()
        scaled: Weights = factor * (class_weights.sum() / (class_weights * factor).sum())
        return scaled
    with np.errstate(over="ignore"):
        total = (class_weights * factor).sum()
    if not 0.0 < total < np.inf:
        raise ValueError(
            f"sample_weight, times class_weight, must have a positive finite sum; got {total}"
        )
    share = total / class_weights.sum()
    usual = LEAST_SHARE <= share <= USUAL_MEANS[1]
    if not usual or (np.all(factor == factor[0]) and factor[0] != 1.0):
        warn(
            f"class_weight makes rows count {share:.3g} times as often. If only the ratios of "
            "classes matter, use normalize_weights=True, which scales weights to a mean of 1"
        )
    return factor


def _check_weights(sample_weight: Any, labels: NDArray[Any]) -> Weights | None:
    if sample_weight is None:
        return None
    from sklearn.utils.validation import _check_sample_weight  # on use, as of labels

    weight: Weights = _check_sample_weight(
        sample_weight, labels, dtype=np.float64, ensure_non_negative=True
    )
    return None if np.all(weight == 1.0) else weight


def _warn_of_mean(
    weight: Weights, labels: NDArray[Any], mean: float, counted: int, uniform: bool
) -> None:
    """Warn of weights that a fit counts as rows, but that are hardly counts."""
    low, high = USUAL_MEANS
    if low <= mean <= high if not uniform else mean == 1.0:
        return
    whole = mean > high and not uniform and bool(np.all(weight == np.rint(weight)))
    if whole and mean <= MOST_COUNTED and not _go_by_label(weight, labels):  # counts
        return
    warn(
        f"sample_weight has a mean of {mean:.3g}, so {counted} rows count as "
        f"{mean * counted:.3g}: a weight is a number of equal rows. If only the ratios of weights "
        "matter, as in surveys, use normalize_weights=True, which scales them to a mean of 1"
        + (". If they are counts of rows, ignore this warning" if whole else "")
    )


def _go_by_label(weight: Weights, labels: NDArray[Any]) -> bool:
    """Whether all rows of a label that count have the same weight, unlike counts."""
    counts = weight > 0.0
    codes = np.unique(labels[counts], return_inverse=True)[1]
    largest = np.zeros(int(codes.max()) + 1)
    np.maximum.at(largest, codes, weight[counts])
    return bool(np.all(largest[codes] == weight[counts]))
