"""Predictions and scores of rows that come in batches."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from properboost.batches.sources import open_source
from properboost.data.labels import find_classes
from properboost.data.libraries import is_a
from properboost.data.table import InputTable
from properboost.data.weights import read_weights
from properboost.losses.probabilities import log_losses, square_errors

__all__ = ["evaluate", "predict"]

Ranked: TypeAlias = tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64] | None]
"""Whether the rows of a batch are positive, their scores and their weights."""


def predict(
    model: Any, source: Any, *, method: str = "predict_proba", **arguments: Any
) -> Iterator[Any]:
    """Predict rows batch by batch.

    Parameters
    ----------
    model : estimator
        A fitted classifier of this package, or another with such methods.
    source : object
        Where rows come from, as `QuantizedTable.from_batches` takes it; or a source that can be
        read once, as an iterator of tables or a RecordBatchReader.  If the model was fitted to
        columns with names, other columns are left out.
    method : str, default="predict_proba"
        The method of the model: "predict", "predict_proba", "predict_log_proba",
        "decision_function", "predict_interval", "contributions" or any other that takes rows.
    **arguments
        The method's other arguments, as ``scale="log_odds"``.

    Yields
    ------
    object
        What the method returns of each batch, an array of as many rows in most cases.

    Raises
    ------
    ValueError, TypeError
        If the source is none, or a column is missing; and what the method raises.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> import properboost as pb
    >>> rows = pd.DataFrame({"x": range(90), "y": [0, 0, 1] * 30})
    >>> model = pb.ProperBoostClassifier().fit(rows[["x"]], rows["y"])
    >>> batches = (rows[begin : begin + 40] for begin in range(0, 90, 40))
    >>> [part.shape for part in pb.batches.predict(model, batches)]
    [(40, 2), (40, 2), (10, 2)]
    """
    call = getattr(model, method, None)
    if not callable(call):
        raise ValueError(f"method must be one of {type(model).__name__}'s; got {method!r}")
    names = _find_names(model)
    return (
        call(_take(table, names), **arguments)
        for table in open_source(source, names, once=True)()
        if table.n_rows > 0
    )


def evaluate(model: Any, source: Any, label: str, weight: str | None = None) -> dict[str, float]:
    """Score the probabilities of rows that come in batches.

    Parameters
    ----------
    model : estimator
        A fitted classifier with `predict_proba` and `classes_`.
    source : object
        Where rows come from, as `predict` takes it.
    label : str
        The column of the labels, all among the model's classes.
    weight : str, optional
        The column of the rows' weights.

    Returns
    -------
    dict
        ``rows``, how many there are; ``weight``, what they count together; ``log_loss``,
        ``brier_score`` and ``accuracy``, means by weight; with two classes ``roc_auc``, for which 9
        bytes a row are kept, or 17 with weights (not a number where a class has no weight).

    Raises
    ------
    ValueError, TypeError
        If the source is none, a column is missing, or labels and weights are not as described.

    Examples
    --------
    >>> import pandas as pd
    >>> import properboost as pb
    >>> rows = pd.DataFrame({"x": range(90), "y": [0, 0, 1] * 30})
    >>> model = pb.ProperBoostClassifier().fit(rows[["x"]], rows["y"])
    >>> pb.batches.evaluate(model, rows, "y")["rows"]
    90
    """
    others = [label] if weight is None else [label, weight]
    names = _find_names(model)
    wanted = None if names is None else [*names, *others]
    scores = _Scores()
    for k, table in enumerate(open_source(source, wanted, once=True)()):
        if table.n_rows == 0:
            continue
        place = {name: j for j, name in enumerate(table.names or ())}
        _refuse_lacking(others, [*place])
        of = (f"batch {k} of source", f"the column {label!r}")
        codes = find_classes(table.values(place[label]), table.n_rows, model.classes_, of)
        weights = None if weight is None else _read_weights(table, place[weight], codes)
        features = names or [name for name in place if name not in others]
        scores.add(codes, model.predict_proba(_take(table, features)), weights)
    return scores.summarize()


def _read_weights(table: InputTable, j: int, codes: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """Return the weights of a batch; all may be 0, because rows of other batches count."""
    values = np.array(table.numeric(j), dtype=np.float64)
    return read_weights(values, codes) if values.any() else values


class _Scores:
    """Scores of the rows so far."""

    def __init__(self) -> None:
        self._n_rows = 0
        self._sums = np.zeros(4)  # of weights, losses, squared errors and hits
        self._ranked: list[Ranked] = []

    def add(
        self,
        codes: NDArray[np.intp],
        probability: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
    ) -> None:
        """Add the rows of a batch, whose classes are at these positions."""
        self._n_rows += len(codes)
        losses = log_losses(probability, codes)
        hits = probability.argmax(axis=1) == codes
        measures = np.stack([np.ones(len(codes)), losses, square_errors(probability, codes), hits])
        self._sums += measures.sum(axis=1) if weight is None else measures @ weight
        if probability.shape[1] == 2:
            self._ranked.append((codes == 1, probability[:, 1].copy(), weight))

    def summarize(self) -> dict[str, float]:
        """Return the scores by name."""
        weight, *sums = self._sums.tolist()
        if not weight > 0.0:
            raise ValueError("source must give rows of positive weight; got none")
        means = zip(("log_loss", "brier_score", "accuracy"), sums, strict=True)
        scores = {"rows": self._n_rows, "weight": weight}
        scores |= {name: total / weight for name, total in means}
        return {**scores, "roc_auc": _find_roc_auc(self._ranked)} if self._ranked else scores


def _find_roc_auc(ranked: Sequence[Ranked]) -> float:
    positive = np.concatenate([labels for labels, _, _ in ranked])
    score = np.concatenate([scores for _, scores, _ in ranked])
    weight = None
    if any(part is not None for _, _, part in ranked):
        weights = [np.ones(len(labels)) if part is None else part for labels, _, part in ranked]
        weight = np.concatenate(weights)
    counted = positive if weight is None else positive[weight > 0.0]
    if counted.all() or not counted.any():
        return math.nan
    return float(roc_auc_score(positive, score, sample_weight=weight))


def _find_names(model: Any) -> list[str] | None:
    """Return the names of the columns that a model was fitted to, if they had any."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _refuse_lacking(names: Sequence[str], known: list[str]) -> None:
    """Refuse a source that lacks one of these columns."""
    lacking = [name for name in names if name not in known]
    if lacking:
        raise ValueError(f"source has no column {lacking[0]!r}; it has {known}")


def _take(table: InputTable, names: list[str] | None) -> Any:
    """Return the rows of a batch as their library has them: these columns, in this order."""
    known, source = list(table.names or ()), table.source
    if names is None:
        return source
    _refuse_lacking(names, known)
    if not is_a(source, "pandas", "DataFrame"):
        return source if known == names else source.select(names)
    if source.columns.tolist() == names:
        return source
    # The table's names are strings even where the frame's are not.
    return source.iloc[:, [known.index(name) for name in names]].set_axis(names, axis=1)
