"""Scores of subsets of the features: with the others silenced, or the model fitted anew.

Silenced features have their average effect, and nothing is fitted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from properboost.data.features import find_feature
from properboost.data.frames import take_rows
from properboost.data.labels import find_classes
from properboost.data.libraries import is_a
from properboost.data.table import InputTable
from properboost.estimators.base import TableClassifier, label_features, open_rows
from properboost.estimators.predicting import PredictingMixin, find_link
from properboost.losses.probabilities import as_predicted, log_losses
from properboost.parameters.stages import make_interactions
from properboost.persistence.parameters import NotSaved
from properboost.report.content import Array, ModelScores, SubsetScores, Term
from properboost.report.wording import find_protected

__all__ = [
    "MOST_ROWS",
    "TrainingSet",
    "score_probabilities",
    "score_subsets",
    "score_unprotected",
    "take_scored",
]

MOST_ROWS = 20_000
"""The most test rows on which models of few features are scored; the first ones."""

STEPS = (1, 2, 3, 5, 8, 12, 20, 32)
"""Numbers of features in a subset; those below the number of all are used."""


@dataclass(frozen=True)
class TrainingSet:
    """Training rows, their labels and, if they have any, their weights."""

    X: Any
    y: ArrayLike
    sample_weight: ArrayLike | None = None


def score_subsets(
    model: TableClassifier,
    terms: Sequence[Term],
    X: Any,
    codes: NDArray[np.intp],
    weight: Array | None,
    train: TrainingSet | None = None,
    *,
    is_additive: bool,
) -> list[SubsetScores]:
    """Return a model's scores with 1, 2, ... of its features, and with all that it uses.

    Parameters
    ----------
    model : TableClassifier
        The model.
    terms : sequence of Term
        The terms, the most important first.
    X : table
        The test rows.
    codes : ndarray of shape (n_rows,)
        The positions of their classes.
    weight : ndarray of shape (n_rows,), optional
        How often each row counts.
    train : TrainingSet, optional
        Rows to which the model is fitted anew, with its parameters and few features.
    is_additive : bool
        Whether features of the model can be silenced.

    Raises
    ------
    ValueError
        If `train` cannot be fitted to; the message names the argument of `write_report`.
    """
    order = [term.place for term in terms if not term.is_pair and term.importance > 0.0]
    if train is not None and not order:
        raise ValueError(
            f"X_train must be None for this {type(model).__name__}, which has no importances to "
            "choose fewer features by"
        )
    X, codes, weight = take_scored(X, codes, weight)
    sizes = [*(k for k in STEPS if k < len(order)), *([len(order)] if order else [])]

    def score(probabilities: Iterable[Array]) -> list[ModelScores]:
        return [score_probabilities(p, codes, weight) for p in probabilities]

    silenced: Iterable[ModelScores | None] = repeat(None)
    if is_additive:
        assert isinstance(model, PredictingMixin)
        silenced = score(_silence(model, *open_rows(model, X), order, sizes))
    fitted: Iterable[ModelScores | None] = repeat(None)
    if train is not None:
        # The last fit has unused features, too: on the model's training rows it is the model again.
        lots = [sorted(order[:size]) for size in sizes[:-1]]
        lots.append(list(range(model.n_features_in_)))
        fitted = score(_fit(model, X, lots, train))
    names = label_features(model)
    return [
        SubsetScores(size, tuple(names[j] for j in order[start:size]), scores, anew)
        for start, size, scores, anew in zip([0, *sizes], sizes, silenced, fitted, strict=False)
    ]


def score_unprotected(
    model: TableClassifier,
    X: Any,
    codes: NDArray[np.intp],
    weight: Array | None,
    train: TrainingSet,
) -> ModelScores | None:
    """Return the scores of the model fitted anew without features that the law may protect.

    None if it has no such features, or no others.  The arguments are those of `score_subsets`.
    """
    protected = {*find_protected(label_features(model))}
    features = [j for j in range(model.n_features_in_) if j not in protected]
    if not protected or not features:
        return None
    X, codes, weight = take_scored(X, codes, weight)
    (probability,) = _fit(model, X, [features], train)
    return score_probabilities(probability, codes, weight)


def take_scored(
    X: Any, codes: NDArray[np.intp], weight: Array | None
) -> tuple[Any, NDArray[np.intp], Array]:
    """Return the test rows for the comparison of models, their classes and their weights."""
    n_rows = min(len(codes), MOST_ROWS)
    if n_rows < len(codes):
        X = take_rows(X, np.arange(n_rows))
    return X, codes[:n_rows], np.ones(n_rows) if weight is None else weight[:n_rows]


def score_probabilities(probability: Array, codes: NDArray[np.intp], weight: Array) -> ModelScores:
    """Return the scores of probabilities (n_rows, n_classes)."""
    called = probability.argmax(axis=1)
    return ModelScores(
        float(np.average(called != codes, weights=weight)),
        float(np.average(log_losses(probability, codes), weights=weight)),
        len(np.unique(called)),
    )


def _silence(
    model: PredictingMixin,
    table: InputTable,
    n_threads: int,
    order: Sequence[int],
    sizes: Sequence[int],
) -> Iterator[Array]:
    """Yield probabilities from so many features and their pairs; the others are silenced."""
    ensemble, link = model.ensemble_, find_link(model)
    assert ensemble.terms is not None
    models = range(len(ensemble.models))
    added, baselines = ensemble.contributions(table, n_threads, models, by_feature=False)
    raw = np.tile(baselines, (table.n_rows, 1))
    for k, j in enumerate(order, start=1):
        raw = raw + added[:, j]
        heard = {*order[:k]}
        for place, features in enumerate(ensemble.terms.features):
            if len(features) > 1 and j in features and heard.issuperset(features):
                raw = raw + added[:, place]
        if k in sizes:
            yield link.probabilities(as_predicted(raw))


def _fit(
    model: TableClassifier,
    X: Any,
    lots: Sequence[list[int]],
    train: TrainingSet,
) -> Iterator[Array]:
    """Yield probabilities of the model fitted anew to each lot of features.

    With a search, this is the model that it chose.
    """
    base: Any = getattr(model, "best_estimator_", model)
    parameters = base.get_params()
    lost = [name for name, value in parameters.items() if isinstance(value, NotSaved)]
    if lost:
        raise ValueError(
            "X_train: the model cannot be fitted again, because its file lacks the parameter "
            f"{lost[0]} ({parameters[lost[0]].what}); set it with set_params"
        )
    try:
        table, _ = open_rows(model, train.X)
    except (TypeError, ValueError) as error:
        raise type(error)(f"X_train: {error}") from error
    places = find_classes(train.y, table.n_rows, model.classes_, ("X_train", "y_train"))
    rows = np.bincount(places, minlength=len(model.classes_))
    if not rows.all():
        lacking = model.classes_[rows == 0].tolist()
        raise ValueError(f"y_train must hold every class of the model; it lacks {lacking[0]!r}")
    weight = {} if train.sample_weight is None else {"sample_weight": train.sample_weight}
    names = getattr(model, "feature_names_in_", None)
    for features in lots:
        refitted = clone(base)
        refitted.set_params(**_narrow(parameters, features, names, table.n_features))
        refitted.fit(_take_columns(train.X, features), train.y, **weight)
        yield refitted.predict_proba(_take_columns(X, features))


def _take_columns(source: Any, positions: list[int]) -> Any:
    """Return some columns of a table, of the same type."""
    if is_a(source, "pandas", "DataFrame"):
        return source.iloc[:, positions]
    if is_a(source, "pyarrow", "Table"):
        return source.select(positions)
    return source[:, positions] if hasattr(source, "shape") else np.asarray(source)[:, positions]


def _narrow(
    parameters: Mapping[str, Any],
    columns: Sequence[int],
    names: NDArray[np.object_] | None,
    n_features: int,
) -> dict[str, Any]:
    """Return the parameters about features, narrowed to these columns."""
    features = _FeatureSubset(columns, None if names is None else names.tolist(), n_features)
    narrowed: dict[str, Any] = {}
    categorical = parameters.get("categorical_features")
    if categorical is not None and not isinstance(categorical, str):
        narrowed["categorical_features"] = features.narrow_list(categorical)
    monotonic = parameters.get("monotonic_cst")
    if monotonic is not None:
        narrowed["monotonic_cst"] = features.narrow_directions(monotonic)
    interactions = make_interactions(parameters.get("interactions", 0))
    if isinstance(interactions.pairs, Sequence | np.ndarray):
        pairs = features.narrow_pairs(interactions.pairs)
        narrowed["interactions"] = interactions.replace(pairs=pairs) if pairs else 0
    return narrowed


class _FeatureSubset:
    """A subset of the features, with their new positions."""

    def __init__(self, features: Sequence[int], names: list[str] | None, n_features: int) -> None:
        self._features = features
        self._places = {j: k for k, j in enumerate(features)}
        self._names = names
        self._n_features = n_features

    def place(self, feature: Any) -> int | None:
        """Return the new position of a feature; None if it is left out."""
        return self._places.get(find_feature(feature, self._names, self._n_features))

    def narrow_list(self, features: Any) -> list[int]:
        """Return the new positions of remaining features, from a list or a mask."""
        listed = np.asarray(features, dtype=object).tolist()
        if listed and all(isinstance(entry, bool | np.bool_) for entry in listed):
            listed = [j for j, entry in enumerate(listed) if entry]
        return [k for k in map(self.place, listed) if k is not None]

    def narrow_directions(self, directions: Any) -> dict[int, int] | list[int]:
        """Return the directions of remaining features, from a mapping or a list."""
        if not isinstance(directions, Mapping):
            return [directions[j] for j in self._features]
        placed = {self.place(feature): direction for feature, direction in directions.items()}
        return {k: direction for k, direction in placed.items() if k is not None}

    def narrow_pairs(self, pairs: Any) -> list[tuple[int | None, int | None]]:
        """Return the new positions of pairs whose features both remain."""
        placed = [(self.place(first), self.place(second)) for first, second in pairs]
        return [pair for pair in placed if None not in pair]
