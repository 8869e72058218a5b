"""Writing a report: gather the numbers, draw them, fill the page."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.labels import find_classes
from properboost.data.weights import read_weights
from properboost.estimators.base import TableClassifier, check_fitted
from properboost.estimators.boosted import BoostedClassifier
from properboost.estimators.costs import read_costs
from properboost.estimators.least_cost import LeastCostClassifier, unwrap
from properboost.parameters import checks
from properboost.report.cautions import list_cautions, list_drift
from properboost.report.content import (
    Array,
    Effect,
    ExplainedRow,
    PairEffect,
    ReportContent,
    SimplerModels,
    Term,
)
from properboost.report.counterfactuals import add_counterfactuals, add_flip_rates
from properboost.report.effects import (
    is_additive,
    list_effects,
    list_pair_effects,
    list_terms,
)
from properboost.report.facts import describe_model
from properboost.report.feature_subsets import (
    TrainingSet,
    score_probabilities,
    score_subsets,
    score_unprotected,
    take_scored,
)
from properboost.report.figures import draw_figures
from properboost.report.groups import choose_groups, evaluate_groups
from properboost.report.joint_changes import add_joint_changes
from properboost.report.linear import score_linear
from properboost.report.options import ReportOptions
from properboost.report.overconfidence import find_overconfidence
from properboost.report.page import make_page
from properboost.report.rows import choose_rows, describe_rows
from properboost.report.scores import evaluate
from properboost.report.search import describe_unprotected, read_search
from properboost.report.shuffles import score_shuffles
from properboost.report.wording import find_protected
from properboost.whole_file import AnyPath, write_whole

__all__ = ["collect", "write_report"]

VISIBLE = 0.001
"""The least importance of a joint effect that comes before those that may be chance."""


def write_report(
    model: TableClassifier | LeastCostClassifier,
    X: Any,
    y: ArrayLike | None,
    path: AnyPath,
    *,
    sample_weight: ArrayLike | None = None,
    X_train: Any = None,
    y_train: ArrayLike | None = None,
    sample_weight_train: ArrayLike | None = None,
    options: ReportOptions | None = None,
    **changes: Any,
) -> None:
    """Write a page on what a model is, how good it is, and what to beware of.

    The page is one HTML file, for a browser without a network.  It has the scores and the
    calibration on the rows with intervals, the same by groups of people, every important shape
    function and pair, the most telling rows with the contribution of each feature, the candidates
    of the search, warnings, and a glossary for readers without knowledge of boosting.

    Parameters
    ----------
    model : classifier
        A fitted model of the package, or a `LeastCostClassifier` around one.
    X : array or table of shape (n_rows, n_features)
        Test rows, with the columns the model was fitted on.  Rows that it was fitted on flatter it.
    y : array-like of shape (n_rows,), or None
        Their labels, all among ``classes_``; without them there are no scores.
    path : str, bytes or path
        The file, which is replaced if it exists.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts in scores.
    X_train, y_train : table and array-like, optional
        The rows that the model was fitted to, and their labels.  With them the page has the scores
        of the model fitted anew, with its parameters, to its 1, 2, 3, 5, ... most important
        features alone (of a search, the model that it chose), or without those that the law may
        protect; and the scores of scikit-learn's logistic regression.
    sample_weight_train : array-like, optional
        How often each of these counts.
    options : ReportOptions, optional
        Further contents of the page.
    **changes
        Fields of `ReportOptions`, such as ``title``, ``subgroups`` or ``max_features``, which take
        the place of those of `options`.

    Raises
    ------
    ImportError
        If vl-convert or jinja2 is missing: ``pip install 'properboost[report]'``.
    ValueError, TypeError
        If an argument is not as described, or the model cannot read `X`; the message names it.
    MemoryError
        If the limit on address space leaves less than 68 GiB, which the engine of the pictures
        reserves and does not use.
    RuntimeError
        If this process was forked from one that had written a report: pictures would never end.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import properboost as pb
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = pb.ProperBoostClassifier().fit(X[::2], y[::2])
    >>> pb.report.write_report(
    ...     model, X[1::2], y[1::2], "report.html", class_names={0: "malignant", 1: "benign"}
    ... )  # doctest: +SKIP
    """
    costs = model.costs if isinstance(model, LeastCostClassifier) else None
    model = unwrap(model)
    if not isinstance(model, TableClassifier):
        raise TypeError(
            "model must be a classifier of properboost, or a LeastCostClassifier around one; got a "
            f"{type(model).__name__}"
        )
    check_fitted(model)
    options = replace(ReportOptions() if options is None else options, **changes)
    if y is None and options.costs is not None:
        raise ValueError("costs needs y, which is None")
    if y is not None and options.costs is None:
        options = replace(options, costs=costs)
    train = None
    if X_train is not None:
        if y is None or y_train is None:
            lacking = "y_train" if y_train is None else "y"
            raise ValueError(f"X_train needs {lacking}, which is None")
        train = TrainingSet(X_train, y_train, sample_weight_train)
    checks.companion("X_train", X_train, y_train=y_train, sample_weight_train=sample_weight_train)
    content = collect(model, X, y, options, sample_weight=sample_weight, train=train)
    title = type(model).__name__ if options.title is None else options.title
    write_whole(path, [make_page(content, draw_figures(content), title).encode()])


def collect(
    model: TableClassifier,
    X: Any,
    y: ArrayLike | None,
    options: ReportOptions,
    *,
    sample_weight: ArrayLike | None = None,
    train: TrainingSet | None = None,
) -> ReportContent:
    """Gather the content of a page; see `write_report`."""
    level = options.confidence_level
    facts = describe_model(
        model,
        is_additive=is_additive(model),
        class_names=options.class_names,
        feature_descriptions=options.feature_descriptions,
    )
    probability = model.predict_proba(X)
    n_rows, n_classes = probability.shape
    predicted = np.searchsorted(model.classes_, model.predict(X))
    weight = read_weights(sample_weight, predicted)
    codes = None if y is None else find_classes(y, n_rows, model.classes_)
    evaluation = counts = None
    if codes is not None:
        counts = np.bincount(codes, minlength=n_classes).astype(np.float64)
        evaluation = evaluate(
            probability,
            codes,
            predicted,
            weight,
            costs=_read_costs(options, model),
            confidence_level=level,
            random_state=options.random_state,
        )
    class_ = _choose_class(options.class_, model.classes_.tolist(), probability, codes)
    terms = list_terms(model)
    effects: list[Effect] = []
    pairs: list[PairEffect] = []
    if facts.is_additive:
        effects, pairs = _list_shapes(model, terms, class_, facts.name(class_), options)
    columns, groups_chosen = choose_groups(model, X, options.subgroups, terms)
    groupings = evaluate_groups(
        columns,
        probability,
        predicted,
        codes,
        weight,
        positive=facts.classes.index(class_),
        label=facts.name(class_),
        confidence_level=level,
    )
    groupings = add_flip_rates(model, X, groupings, n_rows)
    simpler = None
    if codes is not None:
        simpler = _score_simpler(model, terms, X, probability, codes, weight, train)
    protected = [facts.features[j] for j in find_protected(facts.features)]
    overconfidence = find_overconfidence(probability, predicted, codes, facts.training_rows)
    drift = list_drift(model.count_drift(X), facts.features)
    chosen = choose_rows(probability, predicted, codes, options.max_rows)
    rows: list[ExplainedRow] = []
    no_rows = ""
    try:
        rows = describe_rows(model, X, chosen, probability, predicted, codes, level)
    except (ImportError, ValueError) as error:
        no_rows = str(error)
    return ReportContent(
        options=options,
        facts=facts,
        n_rows=n_rows,
        evaluation=evaluation,
        overconfidence=overconfidence,
        drift=drift,
        cautions=list_cautions(
            facts,
            evaluation,
            overconfidence,
            drift,
            effects,
            terms,
            groupings,
            n_rows,
            counts,
            describe_unprotected(protected, len(facts.features), simpler),
        ),
        terms=terms,
        shuffled={}
        if codes is None
        else score_shuffles(model, X, codes, weight, terms, options.random_state),
        class_=class_,
        effects=effects,
        pairs=pairs,
        simpler=simpler,
        rows=add_joint_changes(model, X, add_counterfactuals(model, X, rows, terms)),
        no_rows=no_rows,
        search=read_search(model),
        groupings=groupings,
        groups_chosen=groups_chosen,
    )


def _read_costs(options: ReportOptions, model: TableClassifier) -> Array | None:
    """Return the costs of decisions by class, if there are any."""
    return None if options.costs is None else read_costs(options.costs, np.asarray(model.classes_))


def _choose_class(
    class_: Any, labels: Sequence[Any], probability: Array, codes: NDArray[np.intp] | None
) -> Any:
    """Return the requested class, or else the second of two, or the most frequent one.

    Without labels, the class of the largest mean probability replaces the most frequent one.
    """
    if class_ is not None:
        if class_ not in labels:
            raise ValueError(f"class_ must be one of {labels}; got {class_!r}")
        return class_
    if len(labels) == 2:
        return labels[1]
    frequency = probability.mean(axis=0) if codes is None else np.bincount(codes)
    return labels[int(frequency.argmax())]


def _list_shapes(
    model: TableClassifier, terms: Sequence[Term], class_: Any, name: str, options: ReportOptions
) -> tuple[list[Effect], list[PairEffect]]:
    """Return the shape functions and joint effects to draw.

    Those joint effects come first that are beyond chance, and large enough to see.
    """
    assert isinstance(model, BoostedClassifier)
    moving = [term for term in terms if term.importance > 0.0]
    features = [term for term in moving if not term.is_pair]
    pairs = sorted(
        (term for term in moving if term.is_pair),
        key=lambda term: bool(term.within_noise) or term.importance < VISIBLE,
    )
    return (
        list_effects(model, features[: options.max_features], class_, name),
        list_pair_effects(model, pairs[: options.max_pairs], class_, name),
    )


def _score_simpler(
    model: TableClassifier,
    terms: Sequence[Term],
    X: Any,
    probability: Array,
    codes: NDArray[np.intp],
    weight: Array | None,
    train: TrainingSet | None,
) -> SimplerModels:
    """Return the scores of the model and of simpler ones on the first rows."""
    whole = score_probabilities(*take_scored(probability, codes, weight))
    subsets = score_subsets(model, terms, X, codes, weight, train, is_additive=is_additive(model))
    if train is None:
        return SimplerModels(whole, tuple(subsets))
    return SimplerModels(
        whole,
        tuple(subsets),
        linear=score_linear(model, X, codes, weight, train),
        unprotected=score_unprotected(model, X, codes, weight, train),
    )
