"""A fitted model for every format: decisions, their values, and the link of raw predictions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from properboost.data.binning import FeatureBins, NumericBins
from properboost.data.frames import open_table
from properboost.estimators.base import TableClassifier, check_fitted, describe_training
from properboost.estimators.linear import LinearClassifier
from properboost.estimators.ordered_predicting import OrderedPredictingMixin, take_inner
from properboost.estimators.predicting import PredictingMixin, find_link
from properboost.export.decisions import CodedColumn, Decision, choose, convert_tree
from properboost.losses.ordered_link import OrderedLink
from properboost.losses.probabilities import Link
from properboost.models.damped_ensemble import DampedEnsemble
from properboost.models.ensemble import Ensemble, Rounds
from properboost.models.interactions import PairBins
from properboost.models.lines import Lines
from properboost.models.table_ensemble import TableEnsemble
from properboost.models.tree_ensemble import TreeEnsemble

__all__ = [
    "Description",
    "Linear",
    "Lookup",
    "check_doubles",
    "check_outputs",
    "describe",
    "encode_rows",
    "read_classes",
]

MERGED = 2**53
"""The least double that stands for several integers."""


@dataclass(frozen=True, eq=False)
class Lookup:
    """A decision, and the values of its numbers for the raw predictions of `models`.

    ``values[number]`` has an entry for each of these.  `lines` has the lines of a tree's nodes,
    model by model; None where leaves have values only.
    """

    decision: Decision
    values: NDArray[np.float64]
    models: tuple[int, ...]
    lines: tuple[Lines, ...] | None = None


@dataclass(frozen=True)
class Linear:
    """A feature times a coefficient, a term of the only model."""

    feature: int
    coefficient: float
    models: tuple[int, ...] = (0,)


@dataclass(frozen=True, eq=False)
class Description:
    """A fitted model, reduced to the needs of predictions.

    A model's raw prediction is 0, plus its terms one after the other, plus its intercept.  Sums in
    this order, in double, have the bits of `decision_function`.
    """

    name: str
    """The name of the estimator, for messages."""
    features: tuple[CodedColumn, ...]
    terms: tuple[Lookup | Linear, ...]
    n_models: int
    intercepts: NDArray[np.float64] | None
    classes: NDArray[Any]
    """The labels, of a type of `read_classes`."""
    link: Link | OrderedLink | None
    """The link from raw predictions to probabilities."""
    ranks: NDArray[np.intp] | None = None
    """The place of each class in the order, of ordered classes."""
    shares: NDArray[np.float64] | None = None
    """The probabilities of both classes, by number of the only term, instead of a link."""
    positions: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    """The position of each code's mean, for the features of lines; NaN where it has none.

    Lines of the origin `k` of a merged model have the feature `j` as ``k * n_features + j``.
    """
    n_moves: int = 0
    """The number of moving thresholds.

    Their moves are the models after F, and then come the shares of the distances of neighbours that
    these take.
    """
    n_sums: int = 1
    """The sums that are added to a model's raw prediction: the first one's terms, the next one's.

    Model `m` has its sum `k` as the model ``k * n_models + m``.
    """

    @property
    def has_text(self) -> bool:
        """Whether a column holds strings."""
        return any(feature.is_text for feature in self.features)

    @property
    def has_linear(self) -> bool:
        """Whether terms multiply features; values that are not finite then have no prediction."""
        return any(isinstance(term, Linear) for term in self.terms)

    @property
    def has_lines(self) -> bool:
        """Whether leaves have lines with a slope."""
        lookups = (term for term in self.terms if isinstance(term, Lookup))
        return any(len(lines.feature) for term in lookups for lines in term.lines or ())

    @property
    def of_f(self) -> "Description":
        """The description without the moves of thresholds, which has F alone."""
        if not self.n_moves:
            return self
        terms = tuple(term for term in self.terms if 0 in term.models)
        intercepts = None if self.intercepts is None else self.intercepts[:1]
        return replace(self, terms=terms, n_models=1, n_moves=0, intercepts=intercepts)

    def feature_of(self, position: int) -> int:
        """Return the feature of an entry of `positions`."""
        return position % len(self.features)

    def terms_of(self, model: int) -> list[Lookup | Linear]:
        """Return the terms of one model, in the order of its sum."""
        return [term for term in self.terms if model in term.models]


def check_outputs(outputs: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the chosen outputs, and refuse unknown and repeated ones."""
    chosen = (outputs,) if isinstance(outputs, str) else tuple(outputs)
    if not chosen or len(set(chosen)) < len(chosen) or not set(chosen) <= set(known):
        raise ValueError(f"outputs must be some of {list(known)}, each once; got {outputs!r}")
    return chosen


def describe(model: Any) -> Description:
    """Return the description of a fitted model, or refuse it by name."""
    model = getattr(model, "best_estimator_", model)
    if isinstance(model, OrderedPredictingMixin):
        return _describe_ordered(model)
    if not isinstance(model, TableClassifier):
        raise TypeError(
            f"model must be a fitted classifier of properboost; got {type(model).__name__}"
        )
    check_fitted(model)
    name = type(model).__name__
    bins, _ = describe_training(model)
    names = getattr(model, "feature_names_in_", None)
    labels = [f"x{j}" for j in range(len(bins))] if names is None else [str(name) for name in names]
    features = tuple(map(_describe_column, labels, bins))
    positions = _list_positions(bins, 0)
    classes = read_classes(model.classes_)
    description = Description(name, features, (), 1, None, classes, None, positions=positions)
    if hasattr(model, "tree_"):  # a model that is one tree
        tree = convert_tree(model.tree_, features)
        term = Lookup(tree, model._links()[:, None], (0,))
        return replace(description, terms=(term,), shares=model.tree_.shares())
    if isinstance(model, LinearClassifier):
        return _describe_linear(description, model)
    if not isinstance(model, PredictingMixin):
        raise TypeError(f"{name} cannot be exported")
    return _describe_boosted(description, model)


def _describe_boosted(description: Description, model: PredictingMixin) -> Description:
    """Return the description with the terms of the model's rounds."""
    ensemble, name, features = model.ensemble_, description.name, description.features
    if isinstance(ensemble, DampedEnsemble):
        raise ValueError(
            f"{name} with damping={ensemble.damping:g} cannot be exported: "
            f"{DampedEnsemble.not_additive}"
        )
    if model.begins_with_scores_:
        raise ValueError(
            f"{name} that was fitted with init_score cannot be exported: its raw predictions are "
            "only added to those of another model"
        )
    origins = ensemble.origins if isinstance(ensemble, TreeEnsemble) else ()
    for k, binning in enumerate(origins):
        description.positions.update(_list_positions(binning.features, k))
    terms: Iterable[Lookup]
    if isinstance(ensemble, TableEnsemble):
        terms = _describe_tables(ensemble, features)
    else:
        terms = [
            term
            for k in range(max(1, len(origins)))
            for term in _describe_trees(ensemble, features, k)
        ]
    return replace(
        description,
        terms=tuple(terms),
        n_models=len(ensemble.models),
        n_sums=max(1, len(origins)),
        intercepts=ensemble.intercept if ensemble.intercepts else None,
        link=find_link(model),
    )


def _describe_ordered(model: Any) -> Description:
    """Return the description of F, with the link and the order of the classes."""
    check_fitted(model)
    link, ranks, moves = model._link, model._ranks, model._moves
    described = replace(
        describe(model.estimator_),
        name=type(model).__name__,
        classes=read_classes(model.classes_),
        link=link,
        ranks=ranks,
    )
    if moves is None:
        return described
    n_moves = len(model.thresholds_)
    nearer = moves.find_nearer(model.thresholds_)
    models = tuple(range(1, 2 * n_moves))
    terms = []
    for feature, table, ratios in zip(moves.features, moves.tables, nearer, strict=True):
        column = described.features[feature]
        decision = choose(feature, column.codes, column.missing)
        terms.append(Lookup(decision, np.hstack([table, ratios]), models))
    intercepts = described.intercepts
    if intercepts is not None:
        intercepts = np.append(intercepts, np.zeros(len(models)))
    return replace(
        described,
        terms=(*described.terms, *terms),
        n_models=2 * n_moves,
        n_moves=n_moves,
        intercepts=intercepts,
    )


def _describe_column(name: str, bins: FeatureBins) -> CodedColumn:
    if isinstance(bins, NumericBins):
        return CodedColumn(name, bins.edges, None, np.arange(bins.n_bins), bins.n_bins)
    known = len(bins.categories)
    other = known if bins.has_rare else bins.n_bins + 1
    categories = bins.categories
    if not {isinstance(category, str) for category in categories} <= {True} and any(
        isinstance(category, str) for category in categories
    ):
        raise ValueError(
            f"column {name!r} has both strings and numbers for categories, and columns outside "
            "Python cannot: convert it to strings and fit again"
        )
    for category in categories:
        if isinstance(category, int) and not _is_double(category):
            raise ValueError(
                f"the category {category!r} of column {name!r} is no double: convert the column to "
                "strings and fit again"
            )
    codes = np.array([*range(known), other])
    return CodedColumn(name, np.empty(0), categories, codes, bins.n_bins)


def _is_double(number: int) -> bool:
    try:
        return float(number) == number
    except OverflowError:
        return False


def check_doubles(feature: CodedColumn) -> None:
    """Refuse integer categories that share their double with other integers.

    Where columns of integers become doubles, another integer would count as the category.
    """
    for category in feature.categories or ():
        if isinstance(category, int) and abs(category) >= MERGED:
            raise ValueError(
                f"the category {category!r} of column {feature.name!r} has the double of other "
                "integers as well: convert the column to strings and fit again"
            )


def read_classes(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the labels of classes in one of the types of systems outside of Python.

    These are booleans, int64 (uint64 for larger labels), float32, float64, and plain strings in an
    array of objects, because `str` subclasses may print as anything.
    """
    if labels.dtype.kind in "OU":
        values = labels.tolist()
        if all(isinstance(label, str) for label in values):
            plain = np.empty(len(values), dtype=object)
            plain[:] = [str.__str__(label) for label in values]
            return plain
        labels = np.array(values)
        if labels.dtype.kind not in "biu":
            labels = _read_large(values)
    kind, size = labels.dtype.kind, labels.dtype.itemsize
    if kind == "b":
        return labels
    if kind in "iu":
        return labels if labels.max() > np.iinfo(np.int64).max else labels.astype(np.int64)
    if kind == "f":
        with np.errstate(over="ignore"):
            read = labels.astype(np.float32 if size < 8 else np.float64)
        for label in labels[read != labels]:
            raise ValueError(f"the label {label!r} of y is no double, and no other system has it")
        return read
    raise TypeError(f"labels of type {labels.dtype} cannot be exported")


def _read_large(values: Sequence[Any]) -> NDArray[np.uint64]:
    """Return integers, some beyond int64, as uint64: numpy makes floats of a mixture."""
    try:
        read = np.array(values, dtype=np.uint64)
        if read.tolist() == values:
            return read
    except (OverflowError, TypeError, ValueError):
        pass
    raise ValueError(
        f"the labels {values} cannot be exported: they are neither all strings nor all integers of "
        "64 bits"
    )


def _describe_tables(ensemble: TableEnsemble, features: Sequence[CodedColumn]) -> Iterable[Lookup]:
    models = tuple(range(len(ensemble.models)))
    sums = np.stack([ensemble.sums_of(m) for m in models], axis=1)
    offsets = ensemble.offsets.tolist()
    for term in range(len(offsets) - 1):
        values = sums[offsets[term] : offsets[term + 1]]
        if not values.any():
            continue
        if term < len(features):
            feature = features[term]
            yield Lookup(choose(term, feature.codes, feature.missing), values, models)
        else:
            pair = ensemble.pairs[term - len(features)]
            yield Lookup(_describe_pair(pair, features), values, models)


def _describe_pair(pair: PairBins, features: Sequence[CodedColumn]) -> Decision:
    """Return the decision with the pair's cells for numbers, and the last number for no cell."""
    none = pair.n_cells + 1  # of the pair's codes, that of unseen values
    (first, levels), (second, others) = (
        (features[j], level.astype(np.int64))
        for j, level in ((pair.first, pair.first_level), (pair.second, pair.second_level))
    )

    def of_row(level: int) -> Decision:
        cells = np.where((others < 0) | (level < 0), none, level * pair.n_second + others)
        return choose(pair.second, cells[second.codes], int(cells[second.missing]))

    return choose(pair.first, levels[first.codes], int(levels[first.missing]), of_row)


def _list_positions(features: Sequence[FeatureBins], origin: int) -> dict[int, NDArray[np.float64]]:
    """Return the positions of the features that have means."""
    return {
        origin * len(features) + j: bins.positions
        for j, bins in enumerate(features)
        if isinstance(bins, NumericBins) and bins.means is not None
    }


def _describe_trees(
    ensemble: Ensemble, features: Sequence[CodedColumn], origin: int
) -> Iterable[Lookup]:
    """Yield the trees of one origin; models whose trees differ in their values alone share them."""
    of_origin = [rounds.of_origin(origin) for rounds in ensemble.models]
    groups: list[list[int]] = []
    for m, rounds in enumerate(of_origin):
        if groups and _have_same_nodes(of_origin[groups[-1][0]], rounds):
            groups[-1].append(m)
        else:
            groups.append([m])
    for group in groups:
        models = [of_origin[m] for m in group]
        for t in range(len(models[0])):
            lines = [rounds.lines_of(t) for rounds in models]
            shift = np.int32(origin * len(features))
            yield Lookup(
                convert_tree(models[0].tree(t), features),
                np.stack([rounds.table(t) for rounds in models], axis=1),
                tuple(origin * len(of_origin) + m for m in group),
                None
                if None in lines
                else tuple(
                    replace(line, feature=line.feature + shift)
                    for line in lines
                    if line is not None
                ),
            )


def _have_same_nodes(a: Rounds, b: Rounds) -> bool:
    if a.trees is None or b.trees is None or (a.lines is None) != (b.lines is None):
        return False
    return np.array_equal(a.offsets, b.offsets) and all(
        np.array_equal(getattr(a.trees, name), getattr(b.trees, name))
        for name in ("feature", "left", "goes_left", "goes_right")
    )


def _describe_linear(description: Description, model: LinearClassifier) -> Description:
    """Return a linear model: a table per categorical feature, a coefficient per number."""
    terms: list[Lookup | Linear] = []
    coefficients = model.coef_[0]
    begin = 0
    for j, feature in enumerate(description.features):
        size = 1 if feature.categories is None else len(feature.categories)
        weights = coefficients[begin : begin + size]
        begin += size
        if not weights.any():
            continue
        if feature.categories is None:
            terms.append(Linear(j, float(weights[0])))
        else:
            places = [*range(size), size]
            terms.append(Lookup(choose(j, places, size), np.append(weights, 0.0)[:, None], (0,)))
    intercepts = model.intercept_ if model.intercept_.any() else None
    return replace(description, terms=tuple(terms), intercepts=intercepts, link=model._link)


def encode_rows(model: Any, X: Any) -> NDArray[np.float64]:
    """Return rows as numbers, for the models of `to_treelite`.

    Parameters
    ----------
    model : classifier
        A fitted model of this package.
    X : array or table of shape (n_rows, n_features)
        The rows, with the columns the model was fitted on.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        Numbers as they are.  A category is its position among the model's; any other category is
        the number of these.  NaN stands for missing values.
    """
    described = describe(model)
    model = getattr(model, "best_estimator_", model)
    model = take_inner(model)
    table = open_table(model, X, reset=False)
    bins, _ = describe_training(model)
    rows = np.empty((table.n_rows, table.n_features))
    for j, (feature, feature_bins) in enumerate(zip(described.features, bins, strict=True)):
        if isinstance(feature_bins, NumericBins):
            rows[:, j] = table.numeric(j)
            continue
        assert feature.categories is not None
        place = feature_bins.read(table, j).astype(np.float64)
        rows[:, j] = np.where(
            place == -1, np.nan, np.where(place < 0, len(feature.categories), place)
        )
    return rows
