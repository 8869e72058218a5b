"""Writing a report: gather the numbers, draw them, fill the page."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from properboost.data.labels import find_classes
from properboost.data.weights import read_weights
from properboost.estimators.base import TableClassifier
from properboost.estimators.boosted import BoostedClassifier
from properboost.parameters import checks
from properboost.report.cautions import list_cautions, list_drift
from properboost.report.compared import read_search
from properboost.report.effects import (
    is_additive,
    list_effects,
    list_pair_effects,
    list_terms,
)
from properboost.report.extremes import find_extremes
from properboost.report.facts import describe_model
from properboost.report.fewer import (
    TrainingRows,
    score_fewer,
    score_probabilities,
    score_unprotected,
    take_scored,
)
from properboost.report.found import About, Collected, Effect, Fewer, PairEffect, TellingRow
from properboost.report.groups import choose_groups, judge_groups
from properboost.report.linear import score_linear
from properboost.report.page import make_page
from properboost.report.protected import find_protected
from properboost.report.rows import choose_rows, describe_rows
from properboost.report.scores import judge
from properboost.report.simpler import describe_unprotected
from properboost.report.single_changes import add_changes
from properboost.report.swaps import add_swaps
from properboost.report.view import make_view
from properboost.whole_file import AnyPath, write_whole

__all__ = ["collect", "write_report"]


def write_report(
    model: TableClassifier,
    X: Any,
    y: ArrayLike | None,
    path: AnyPath,
    *,
    sample_weight: ArrayLike | None = None,
    X_train: Any = None,
    y_train: ArrayLike | None = None,
    sample_weight_train: ArrayLike | None = None,
    title: str | None = None,
    purpose: str | None = None,
    model_source: str | None = None,
    data_source: str | None = None,
    date: str | None = None,
    groups: Any = None,
    class_: Any = None,
    class_names: Mapping[Any, str] | None = None,
    feature_descriptions: Mapping[str, str] | None = None,
    confidence_level: float = 0.9,
    max_features: int = 20,
    max_pairs: int = 10,
    max_rows: int = 2,
    random_state: int = 0,
) -> None:
    """Write a page that tells what a model is, how good it is, and what to beware of.

    The page is one HTML file, for a browser without a network.  It has the scores and the
    calibration on the rows with intervals, the same by groups of people, every important shape
    function and pair, the most telling rows with what each feature adds, what the search compared,
    warnings, and a list of words for readers who do not know boosting.

    Parameters
    ----------
    model : classifier
        A fitted model of the package.
    X : array or table of shape (n_rows, n_features)
        Test rows, with the columns the model was fitted on.  Rows that it was fitted on flatter it.
    y : array-like of shape (n_rows,), or None
        Their labels, all among ``classes_``; without them there are no scores.
    path : str, bytes or path
        The file, which is replaced if it exists.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts in scores.
    X_train, y_train : table and array-like, optional
        The rows that the model was fitted to, and their labels.  With them the page says what the
        model scores if it is fitted anew, with its parameters, to its 1, 2, 3, 5, ... most
        important features alone (of a search, the model that it chose), or without those that the
        law may protect, and what scikit-learn's logistic regression scores.
    sample_weight_train : array-like, optional
        How often each of these counts.
    title : str, optional
        The title of the page; by default it names the estimator.
    purpose, model_source, data_source, date : str, optional
        What only you know, for the head of the page: what the model is meant to decide, and for
        which cases; who fitted it, when and on which rows; where the test rows come from, and from
        when they are; the date of the report.  The page says "not stated" where they are missing.
    groups : sequence, mapping or table, optional
        The columns by which errors, predictions and probabilities are compared: names or positions
        of features, or columns of as many rows as `X`, by name, which need not be features.  An
        empty one compares nothing.  By default the features whose names suggest that they say who a
        person is (sex, age, origin and the like), or else those of few categories; at most six.
    class_ : label, optional
        The class that shape functions and groups are about; by default the second of two, or the
        most frequent of several.
    class_names : mapping of label to str, optional
        What labels stand for, as ``{0: "earns up to 50,000", 1: "earns over 50,000"}``: the page
        calls the classes so.  Where labels that say nothing by themselves, such as numbers, have no
        name, the page says that what they stand for was not stated.
    feature_descriptions : mapping of str to str, optional
        What features hold, by name, as ``{"fnlwgt": "how many people the row stands for"}``; the
        page says it wherever it shows one.  Those on other columns are ignored.
    confidence_level : float, default=0.9
        The share of intervals that hold what they are about, in (0, 1).
    max_features, max_pairs : int, default=20, 10
        The most important shape functions and pairs, of which so many are drawn at most.
    max_rows : int, default=2
        Rows of each kind that are shown, at most: surest and right, surest and wrong, each
        predicted class in turn; hardly decided; with two classes, of the last on either side.
    random_state : int, default=0
        The seed by which the bootstrap draws rows.

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
    >>> pb.report.write_report(model, X[1::2], y[1::2], "report.html")  # doctest: +SKIP
    """
    model._check_fitted()
    train = None
    if X_train is not None:
        if y is None or y_train is None:
            lacking = "y_train" if y_train is None else "y"
            raise ValueError(f"X_train needs {lacking}, which is None")
        train = TrainingRows(X_train, y_train, sample_weight_train)
    checks.companion("X_train", X_train, y_train=y_train, sample_weight_train=sample_weight_train)
    level = checks.between("confidence_level", confidence_level, 0.0, 1.0)
    if not 0.0 < level < 1.0:
        raise ValueError(f"confidence_level must be above 0 and below 1; got {level!r}")
    found = collect(
        model,
        X,
        y,
        sample_weight,
        train=train,
        about=About(purpose, model_source, data_source, date),
        groups=groups,
        class_=class_,
        class_names=class_names,
        feature_descriptions=feature_descriptions,
        confidence_level=level,
        max_features=checks.integer("max_features", max_features, 0),
        max_pairs=checks.integer("max_pairs", max_pairs, 0),
        max_rows=checks.integer("max_rows", max_rows, 0),
        random_state=checks.integer("random_state", random_state, 0),
    )
    words = type(model).__name__ if title is None else title
    page = make_page(found, make_view(found), words)
    write_whole(path, [page.encode()])


def collect(
    model: TableClassifier,
    X: Any,
    y: ArrayLike | None,
    sample_weight: ArrayLike | None,
    *,
    train: TrainingRows | None = None,
    class_: Any,
    class_names: Any = None,
    feature_descriptions: Any = None,
    about: About,
    groups: Any,
    confidence_level: float,
    max_features: int,
    max_pairs: int,
    max_rows: int,
    random_state: int,
) -> Collected:
    """Gather the numbers of a report; see `write_report`."""
    facts = describe_model(
        model,
        is_additive=is_additive(model),
        class_names=class_names,
        feature_descriptions=feature_descriptions,
    )
    probability = model.predict_proba(X)
    n_rows, n_classes = probability.shape
    labels = model.classes_.tolist()
    predicted = np.searchsorted(model.classes_, model.predict(X))
    weight = read_weights(sample_weight, predicted)
    codes = None if y is None else find_classes(y, n_rows, model.classes_)
    judged = counts = None
    if codes is not None:
        counts = np.bincount(codes, minlength=n_classes).astype(np.float64)
        judged = judge(
            probability,
            codes,
            predicted,
            weight,
            confidence_level=confidence_level,
            random_state=random_state,
        )
    if class_ is None:
        class_ = labels[1] if n_classes == 2 else labels[_find_usual(probability, codes)]
    elif class_ not in labels:
        raise ValueError(f"class_ must be one of {labels}; got {class_!r}")
    terms = list_terms(model)
    effects: list[Effect] = []
    pairs: list[PairEffect] = []
    if facts.is_additive:
        assert isinstance(model, BoostedClassifier)
        moving = [term for term in terms if term.importance > 0.0]
        features = [term for term in moving if not term.is_pair]
        effects = list_effects(model, features[:max_features], class_, facts.name(class_))
        # Those that are not chance first.
        of_pairs = sorted((t for t in moving if t.is_pair), key=lambda t: bool(t.within_noise))
        pairs = list_pair_effects(model, of_pairs[:max_pairs], class_, facts.name(class_))
    columns, chosen_so = choose_groups(model, X, groups, terms)
    groupings = judge_groups(
        columns,
        probability,
        predicted,
        codes,
        weight,
        positive=labels.index(class_),
        label=facts.name(class_),
        confidence_level=confidence_level,
    )
    groupings = add_swaps(model, X, groupings, n_rows)
    fewer: list[Fewer] = []
    linear = whole = unprotected = None
    if codes is not None:
        whole = score_probabilities(*take_scored(probability, codes, weight))
        fewer = score_fewer(model, terms, X, codes, weight, train, is_additive=facts.is_additive)
        if train is not None:
            linear = score_linear(model, X, codes, weight, train)
            unprotected = score_unprotected(model, X, codes, weight, train)
    protected = [facts.features[j] for j in find_protected(facts.features)]
    extremes = find_extremes(probability, predicted, codes, facts.training_rows)
    drift = list_drift(model.count_drift(X), facts.features)
    chosen = choose_rows(probability, predicted, codes, max_rows)
    rows: list[TellingRow] = []
    no_rows = ""
    try:
        rows = describe_rows(model, X, chosen, probability, predicted, codes, confidence_level)
    except (ImportError, ValueError) as error:
        no_rows = str(error)
    rows = add_changes(model, X, rows, terms)
    return Collected(
        about=about,
        facts=facts,
        n_rows=n_rows,
        judged=judged,
        extremes=extremes,
        drift=drift,
        cautions=list_cautions(
            facts,
            judged,
            extremes,
            drift,
            effects,
            terms,
            groupings,
            n_rows,
            counts,
            describe_unprotected(protected, len(facts.features), unprotected, whole),
        ),
        terms=terms,
        class_=class_,
        effects=effects,
        pairs=pairs,
        fewer=fewer,
        linear=linear,
        unprotected=unprotected,
        whole=whole,
        rows=rows,
        no_rows=no_rows,
        compared=read_search(model),
        groupings=groupings,
        groups_chosen=chosen_so,
        confidence_level=confidence_level,
    )


def _find_usual(probability: NDArray[np.float64], codes: NDArray[np.intp] | None) -> int:
    """Return the most frequent class, or without labels the one of most probability."""
    if codes is None:
        return int(probability.mean(axis=0).argmax())
    return int(np.bincount(codes).argmax())
