"""Metrics of the papers that scikit-learn does not have.

For probabilities: the mean squared error and the quantised cross-entropy of BoostLR [1]_, and the
ranked probability score of ordered classes [4]_.  For margins: the normalised margin and its
distribution [2]_.  For comparisons of methods over data sets: drops, wins and ranks [1]_, [3]_.

References
----------
.. [1] Masnadi-Shirazi and Vasconcelos (2015). A view of margin losses as regularizers of
   probability estimates. Journal of Machine Learning Research 16.
.. [2] Nock and Nielsen (2009). Bregman divergences and surrogates for learning. IEEE Transactions
   on Pattern Analysis and Machine Intelligence 31.
.. [3] Demšar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
   Machine Learning Research 7.
.. [4] Gneiting and Raftery (2007). Strictly proper scoring rules, prediction, and estimation.
   Journal of the American Statistical Association 102(477).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from scipy.stats import entropy, rankdata

from properboost.data.distinct import find_distinct
from properboost.data.label_array import read_label_array
from properboost.data.labels import find_classes
from properboost.data.weights import read_weights
from properboost.losses.probabilities import find_lead, ranked_errors
from properboost.parameters import checks
from properboost.parameters.elsewhere import METRICS, advise_on_name

__all__ = [
    "average_ranks",
    "drop",
    "margin_distribution",
    "normalized_margins",
    "probability_mse",
    "quantized_cross_entropy",
    "quantized_entropy",
    "ranked_probability_score",
    "win_counts",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> NoReturn:
    """Answer names of other libraries' metrics, and misspelt ones."""
    advice = advise_on_name(name, __all__, METRICS)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice}")


Array = NDArray[np.float64]

_MOST_BINS = 1_000_000  # more would be a mistake, and fill the memory


# -- probabilities --------------------------------------------------------------------------------


def probability_mse(
    true_probability: ArrayLike,
    probability: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean squared error of probabilities whose true values are known.

    BoostLR, eq. 54.  Where only labels are known, scikit-learn's ``brier_score_loss`` is an
    estimate of this plus a constant.

    Parameters
    ----------
    true_probability : array-like of shape (n_rows,) or (n_rows, n_classes)
        The true probabilities, of the positive class or of every class.
    probability : array-like of the same shape
        The estimated ones.
    sample_weight : array-like of shape (n_rows,), optional
        The weight of each row.

    Returns
    -------
    float
        The mean over rows, and over classes if there is a column for each.  With two classes, one
        column and both give the same.

    Raises
    ------
    ValueError
        If the shapes differ, or a probability is outside [0, 1].
    """
    true = _read_probabilities("true_probability", true_probability, (1, 2))
    estimated = _read_probabilities("probability", probability, (1, 2))
    if true.shape != estimated.shape:
        raise ValueError(
            "probability must have the shape of true_probability; got shapes "
            f"{estimated.shape} and {true.shape}"
        )
    squares = ((estimated - true) ** 2).reshape(len(true), -1).mean(axis=1)
    return float(np.average(squares, weights=read_weights(sample_weight, squares)))


def ranked_probability_score(
    y: ArrayLike,
    probability: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean ranked probability score of ordered classes; less is better.

    It is the mean over rows of the sum over k < K of (P(class <= k) - [y <= k])^2 / (K - 1)
    (Gneiting and Raftery 2007).  So a wrong class costs more, the farther it is from the right
    one.  With two classes it is the Brier score of one class.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The labels.
    probability : array-like of shape (n_rows, n_classes)
        The probabilities, a column per class, in ascending order of the classes.
    classes : array-like of shape (n_classes,), optional
        The labels of the columns.  The default is the sorted labels in `y`.
    sample_weight : array-like of shape (n_rows,), optional
        The weight of each row.

    Returns
    -------
    float
        From 0 for certainty of the right classes to 1.

    Raises
    ------
    ValueError
        If the shapes differ, a probability is outside [0, 1], or a label is not among the classes.

    Examples
    --------
    >>> from properboost.metrics import ranked_probability_score
    >>> ranked_probability_score([0, 2], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    0.25
    """
    p = _read_probabilities("probability", probability, (2,))
    labels = read_label_array(y, "y")
    known = find_distinct(labels) if classes is None else read_label_array(classes, "classes")
    if p.shape != (len(labels), len(known)) or len(known) < 2:
        raise ValueError(
            f"probability must have a row for each of {len(labels)} labels and a column for each "
            f"of {len(known)} classes, at least 2; got shape {p.shape}"
        )
    order = np.argsort(known, kind="stable")
    ranks = order[find_classes(labels, len(labels), known[order], ("probability", "y"))]
    return float(np.average(ranked_errors(p, ranks), weights=read_weights(sample_weight, ranks)))


def quantized_cross_entropy(
    probability: ArrayLike,
    true_probability: ArrayLike | None = None,
    *,
    n_bins: int = 10,
    base: float = 2.0,
    pseudo_count: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the cross-entropy between the distributions of true and estimated probabilities.

    Both are quantised into `n_bins` bins of equal width: -sum_k p(eta = k) log p(eta_hat = k)
    (BoostLR, section 7.2).  It is large where estimates crowd at 0 and 1.  It is least, namely
    `quantized_entropy`, where they are distributed as the true probabilities are.

    Parameters
    ----------
    probability : array-like of shape (n_rows,)
        Estimated probabilities of one class; with more than two classes, of one at a time.
    true_probability : array-like of shape (n_true_rows,), optional
        The true ones.  The default spreads them evenly over the bins, as in the paper's tables; see
        Notes.
    n_bins : int, default=10
        The number of bins, from 2 to 1,000,000.
    base : float, default=2.0
        Base of the logarithm, above 1; 2 gives bits.
    pseudo_count : float, default=1.0
        The addition to the number of estimates in each bin, above 0: an empty bin would make the
        cross-entropy infinite.  The paper does not state its addition.
    sample_weight : array-like of shape (n_rows,), optional
        The weight of each estimate.  True probabilities have weight 1.

    Returns
    -------
    float
        At least ``quantized_entropy(true_probability, n_bins=n_bins, base=base)``.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.

    Notes
    -----
    Only *distributions* are compared.  Labels and the order of probabilities do not count, so this
    hardly measures the quality of probabilities.  For that use the log loss, the
    Brier score or, if true probabilities are known, `probability_mse`.  Use this to compare with
    published numbers.

    For data of unknown probabilities the paper estimates it by -(1/N) sum_i log p(eta_hat(x_i)).
    With the histogram of the estimates as p this would be that histogram's entropy, largest and not
    least for estimates that are spread evenly.  The paper's tables reveal more: solved for H, the
    drops of its Tables 3 and 4 give 3.32 = log2(10), within their digits, in 16 of the 19 columns
    that determine H.  That is ten bins, bits, and true probabilities spread evenly over the bins.
    """
    n_bins, base = _read_bins(n_bins, base)
    checks.positive("pseudo_count", pseudo_count)
    estimated = _read_probabilities("probability", probability)
    weight = read_weights(sample_weight, estimated)
    true = _quantize_true(true_probability, n_bins)
    # In logarithms no pseudo-count is too large or too small.
    with np.errstate(divide="ignore"):
        counts = np.log(_quantize(estimated, n_bins, weight))
    counts = np.logaddexp(counts, np.log(pseudo_count))
    return float(np.average(logsumexp(counts) - counts, weights=true) / np.log(base))


def quantized_entropy(
    true_probability: ArrayLike | None = None, *, n_bins: int = 10, base: float = 2.0
) -> float:
    """Return the entropy of true probabilities in bins: the floor of `quantized_cross_entropy`.

    Parameters
    ----------
    true_probability : array-like of shape (n_rows,), optional
        The true probabilities; the default spreads them evenly over the bins.
    n_bins : int, default=10
        The number of bins of equal width, from 2 to 1,000,000.
    base : float, default=2.0
        Base of the logarithm, above 1.

    Returns
    -------
    float
        From 0 to log(n_bins), the latter without `true_probability`.

    Raises
    ------
    ValueError, TypeError
        If an argument is not as described.
    """
    n_bins, base = _read_bins(n_bins, base)
    return float(entropy(_quantize_true(true_probability, n_bins), base=base))


def _quantize_true(probability: ArrayLike | None, n_bins: int) -> Array:
    if probability is None:
        return np.ones(n_bins)
    return _quantize(_read_probabilities("true_probability", probability), n_bins, None)


def _quantize(probability: Array, n_bins: int, weight: Array | None) -> Array:
    counts, _ = np.histogram(probability, n_bins, (0.0, 1.0), weights=weight)
    return counts.astype(np.float64)


# -- margins --------------------------------------------------------------------------------------


def normalized_margins(
    y: ArrayLike, probability: ArrayLike, *, labels: Sequence[Any] | NDArray[Any] | None = None
) -> Array:
    """Return the normalised margins of labelled rows, from any model's probabilities.

    With two classes 2 [f*]^-1(y F(x)) - 1 (Nock and Nielsen, eq. 27): the probability of the row's
    class minus that of the other.  It is in [-1, 1] for every loss and classifier, and positive
    where the prediction is right.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The rows' labels.
    probability : array-like of shape (n_rows,) or (n_rows, n_classes)
        Probabilities of the second of two classes, or those of every class: ``predict_proba``.
    labels : list of labels, optional
        The classes, in ascending order as in ``classes_``; the default is those in `y`.

    Returns
    -------
    ndarray of shape (n_rows,)
        With more than two classes, the probability of the row's class minus the largest of the
        others'.

    Raises
    ------
    ValueError
        If a label is not among `labels`, these are not in ascending order, or there is no
        probability for each row and label.

    See Also
    --------
    properboost.ProperBoostClassifier.margins : y F(x), and with ``normalized=True`` these.
    """
    p = _read_probabilities("probability", probability, (1, 2))
    order = read_label_array(y) if labels is None else read_label_array(labels, "labels")
    classes = find_distinct(order)
    if labels is not None and not np.array_equal(order, classes):
        raise ValueError(f"labels must be different and in ascending order; got {order.tolist()}")
    if np.shape(y)[:1] != p.shape[:1]:
        raise ValueError(
            f"probability must have a row for each label in y; got shapes {p.shape} and "
            f"{np.shape(y)}"
        )
    columns = 2 if p.ndim == 1 else p.shape[1]
    if columns != len(classes) or columns < 2:
        raise ValueError(
            f"probability must have a column for each of the labels {classes.tolist()} (of two, "
            f"the second's may stand alone); got shape {p.shape}"
        )
    if p.ndim == 1:
        p = np.column_stack([1.0 - p, p])
    return find_lead(p, find_classes(y, len(p), classes))


def margin_distribution(
    margins: ArrayLike,
    thresholds: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """Return the cumulative distribution of margins.

    For each threshold, the share of rows whose margin does not exceed it (Nock and Nielsen,
    section 5).  At 0 it is the share of errors, ties included.

    Parameters
    ----------
    margins : array-like of shape (n_rows,)
        Margins of either kind: ``clf.margins(X, y, normalized=True)`` are those of the paper.
    thresholds : array-like of shape (n_thresholds,), optional
        Thresholds.  Left out, they are the distinct margins, in ascending order: the share is
        constant from each to the next.
    sample_weight : array-like of shape (n_rows,), optional
        The weight of each row.

    Returns
    -------
    thresholds, shares : ndarrays of shape (n_thresholds,)

    Raises
    ------
    ValueError
        If there are no margins, or anything is not finite.
    """
    values = _read_vector("margins", margins)
    weight = read_weights(sample_weight, values)
    limits = find_distinct(values) if thresholds is None else _read_vector("thresholds", thresholds)
    order = np.argsort(values)
    weights = np.ones(len(values)) if weight is None else weight
    below = np.concatenate([[0.0], np.cumsum(weights[order])])
    # Dividing by the last sum makes the last share exactly 1.
    return limits, below[np.searchsorted(values[order], limits, side="right")] / below[-1]


# -- methods on data sets -------------------------------------------------------------------------


def drop(value: ArrayLike, reference: ArrayLike, floor: ArrayLike = 0.0) -> Any:
    """Return the drop of a value below a reference, as a share of the way to its floor.

    1 - (value - floor) / (reference - floor): of errors, with floor 0, and of cross-entropies, with
    their entropy (BoostLR, section 7.2; its formulas for Table 4 exchange the two, its numbers
    do not).

    Parameters
    ----------
    value : float or array-like
        The value; less is better.
    reference : float or array-like
        The value to compare with, above `floor`.
    floor : float or array-like, default=0.0
        The least possible value.

    Returns
    -------
    float or ndarray
        1 at the floor, 0 at the reference, negative above it; not in percent.

    Raises
    ------
    ValueError
        If a reference is not above its floor, or anything is not finite.
    """
    values, references, floors = (
        _read_finite(name, numbers)
        for name, numbers in (("value", value), ("reference", reference), ("floor", floor))
    )
    if not np.all(references > floors):
        raise ValueError(f"reference must be above floor; got {reference!r} and {floor!r}")
    return 1.0 - (values - floors) / (references - floors)


def win_counts(
    scores: ArrayLike,
    *,
    greater_is_better: bool = False,
    rivals: Sequence[int] | None = None,
) -> NDArray[np.int64]:
    """Count the data sets on which each method is best.

    Parameters
    ----------
    scores : array-like of shape (n_methods, n_datasets)
        A measure of each method on each data set.
    greater_is_better : bool, default=False
        Whether a larger score is better; errors and losses are not.
    rivals : list of int, optional
        The positions of the methods to beat, as AdaBoost and LogitBoost in BoostLR's W1.  The
        default is all methods (its W2).

    Returns
    -------
    int ndarray of shape (n_methods,)
        The number of data sets on which no rival was better.  Methods that tie for the best all
        win, so the counts can add up to more than the data sets; the paper counts like this.

    Raises
    ------
    ValueError, TypeError
        If `scores` is empty or has a value that is not finite, or a rival is not in it.
    """
    losses = _read_scores(scores, greater_is_better)
    compared = losses
    if rivals is not None:
        position = partial(checks.integer, low=0, high=len(losses) - 1)
        compared = losses[checks.entries("rivals", rivals, position)]
    best = compared.min(axis=0)
    wins: NDArray[np.int64] = np.sum(losses <= best, axis=1, dtype=np.int64)
    return wins


def average_ranks(scores: ArrayLike, *, greater_is_better: bool = False) -> Array:
    """Return the mean rank of each method over the data sets.

    On a data set the best method has rank 1; methods that tie share the mean of their ranks
    (Demšar, section 3.2.2).  Figures 11 and 12 of BoostLR show these.

    Parameters
    ----------
    scores : array-like of shape (n_methods, n_datasets)
        A measure of each method on each data set.
    greater_is_better : bool, default=False
        Whether a larger score is better; errors and losses are not.

    Returns
    -------
    ndarray of shape (n_methods,)
        From 1 to n_methods; they add up to n_methods (n_methods + 1) / 2.

    Raises
    ------
    ValueError
        If `scores` is empty or has a value that is not finite.
    """
    ranks: Array = rankdata(_read_scores(scores, greater_is_better), axis=0).mean(axis=1)
    return ranks


# -- arguments ------------------------------------------------------------------------------------


def _read_numbers(name: str, values: ArrayLike) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} must hold numbers: {error}") from None


def _read_finite(name: str, values: ArrayLike) -> Array:
    numbers = _read_numbers(name, values)
    if not np.all(np.isfinite(numbers)):
        raise ValueError(f"{name} must be finite; got {values!r}")
    return numbers


def _read_scores(scores: ArrayLike, greater_is_better: bool) -> Array:
    table = _read_numbers("scores", scores)
    if table.ndim != 2 or table.size == 0 or not np.all(np.isfinite(table)):
        raise ValueError(
            "scores must be finite numbers of shape (n_methods, n_datasets), at least one; got "
            f"shape {table.shape}, {np.count_nonzero(~np.isfinite(table))} not finite"
        )
    return -table if greater_is_better else table


def _read_vector(name: str, values: ArrayLike) -> Array:
    vector = _read_numbers(name, values)
    if vector.ndim != 1 or len(vector) == 0 or not np.all(np.isfinite(vector)):
        raise ValueError(
            f"{name} must be finite numbers of shape (n,), at least one; got shape {vector.shape}, "
            f"{np.count_nonzero(~np.isfinite(vector))} not finite"
        )
    return vector


def _read_probabilities(
    name: str, probability: ArrayLike, dimensions: Sequence[int] = (1,)
) -> Array:
    p = _read_numbers(name, probability)
    if p.ndim not in dimensions or p.size == 0:
        allowed = " or ".join(["(n_rows,)", "(n_rows, n_classes)"][: len(dimensions)])
        raise ValueError(f"{name} must have shape {allowed} with at least a row; got {p.shape}")
    if not np.all((p >= 0.0) & (p <= 1.0)):
        wrong = p[~((p >= 0.0) & (p <= 1.0))][0]
        raise ValueError(f"{name} must be between 0 and 1; got {wrong}")
    return p


def _read_bins(n_bins: int, base: float) -> tuple[int, float]:
    if checks.positive("base", base) <= 1.0:
        raise ValueError(f"base must be above 1; got {base!r}")
    return checks.integer("n_bins", n_bins, 2, _MOST_BINS), base
