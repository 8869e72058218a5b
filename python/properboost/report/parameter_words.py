"""Meanings of parameters, losses and parts of models, in a sentence each."""

import re

from properboost.parameters.flat import PLACES

__all__ = ["describe_inside", "describe_parameter"]

_PARAMETERS = {
    # How parts are made, round after round.
    "loss": "The quantity that the fit minimises: how bad a prediction is, given the right answer.",
    "gain": (
        "How strongly the fit draws probabilities towards the middle; a larger one is more "
        "cautious, but no bound."
    ),
    "n_estimators": "The number of rounds of boosting, or cycles: each adds a part.",
    "learning_rate": "How far each round goes; a smaller one needs more rounds.",
    "weak_learner": (
        "The part that a round adds: a look-up table, a question with two answers, a tree or a "
        "rule."
    ),
    "max_cells": "The largest number of ranges of a feature's values in a round.",
    "min_saving": (
        "How much a cut into ranges must help, as a multiple of the help of the best cut of a "
        "feature without effect; 0 makes every cut."
    ),
    "selection": (
        "The feature that a round takes: the one that helps most, with or without a correction "
        "for chance, or each in turn (cyclic)."
    ),
    "response": "How the rows of a range, or of a leaf of a tree, give its points.",
    "step": "How a round chooses the length of its step.",
    "smoothing": "How much neighbouring ranges share their rows; 0 is nothing.",
    "prior": (
        "The weight of each class that is added to every range, because few rows overfit; None "
        "is hardly any."
    ),
    "l2": "How strongly points are drawn towards 0, with the Newton response.",
    "max_leaf_nodes": "The largest number of leaves of a tree.",
    "max_depth": "The largest number of questions, one after the other, in a tree.",
    "max_conditions": "The largest number of conditions of a rule.",
    "min_child_weight": (
        "How much weight each branch of a tree must have; rows that the model is sure of "
        "weigh little."
    ),
    "min_relative_decrease": "How much a split of a tree must help, as a share.",
    "grow_policy": (
        "How a tree grows: the split that helps most comes next, or all branches of a level have "
        "the same question (symmetric)."
    ),
    "linear_leaves": (
        "Whether a leaf of a tree has a sloping line in a few features instead of one number."
    ),
    "linear_l2": "How strongly the lines in leaves of trees are kept flat.",
    "max_features": (
        "The share of the features that a round, or a split, may choose from, drawn at random."
    ),
    "subsample": "The share of the rows that each tree is grown from, drawn at random.",
    "screening": "The number of rows by which a round chooses its feature or splits; None is all.",
    "multi_strategy": "Whether one tree is for all classes, or each class has its own.",
    "interaction_cst": "The columns that one way through a tree may combine; None is no limit.",
    "max_terms": "The most combinations of columns that the model may have; None is no limit.",
    "multiclass": "Whether several classes are one model, or each has a model against the rest.",
    "monotonic_cst": (
        "Features whose larger values must never make a class less, or more, probable."
    ),
    # Starting values of the model, and corrections of its sum.
    "calibration": "The correction of the sum of points at the end; None is no correction.",
    "intercept": (
        "The number added to every row's points at the end, so that the mean probability is "
        "right; None adds nothing."
    ),
    "slope": "The factor of the sum of points at the end; below 1 is more cautious.",
    "temperature": "The divisor of the sums of points of several classes at the end.",
    # Bins and columns.
    "max_bins": (
        "The largest number of ranges into which a number's values are sorted before the fit."
    ),
    "rows_per_bin": "The number of training rows for each range of a number's values.",
    "categorical_features": "Which columns are categories, and not numbers.",
    # Pairs, bags and averages.
    "interactions": "The pairs of features that have a look-up table, or their number.",
    "interaction_rate": "How far each round of a pair goes, as a share of a whole step.",
    "interaction_smoothing": "How much neighbouring cells of a pair share their rows.",
    "interaction_estimators": "The number of rounds of boosting for pairs.",
    "n_draws": "The number of models, fitted to draws of rows and features, that are averaged.",
    "outer_bags": (
        "The number of models, fitted to parts of the rows, that are averaged; their differences "
        "give the intervals."
    ),
    "bag_tables": "Whether every bag is kept, for the intervals of single rows.",
    # Rows and weights.
    "class_weight": (
        "How much the rows of each class count; where it is not equal, it shifts the probabilities."
    ),
    "normalize_weights": (
        "Whether the weights of rows are scaled to a mean of 1, because only their ratios have a "
        "meaning."
    ),
    # When boosting ends.
    "early_stopping": "Whether boosting ends when predictions of rows held out stop improving.",
    "validation_fraction": "The share of the rows held out to choose the end of boosting.",
    "n_iter_no_change": (
        "The number of rounds without a better score on rows held out before boosting ends."
    ),
    "tol": "The largest improvement that counts as none.",
    "scoring": "The score that compares models.",
    "warm_start": "Whether another fit goes on from this one.",
    # How the work is done: these change no prediction, or only at random.
    "n_jobs": "The number of processors that the fit uses; the model is the same with any.",
    "random_state": "The seed of random draws: the same seed gives the same draws.",
    "verbose": "Whether the fit showed its progress.",
    # Searches.
    "effort": (
        "How far the search goes, from 1 (few candidates, quick) to 5; None compares listed "
        "values only."
    ),
    "readable": "Whether only models that can be drawn, term by term, were compared.",
    "time_limit": "The seconds that the search and the final fit may take.",
    "cv": (
        "The number of parts into which rows are divided, to compare candidates on rows held out."
    ),
    "space": "The values that the search compared, by the names of a model's parameters.",
    "rhos": "The rhos that were compared.",
    "max_estimators": "The largest number of rounds that was compared.",
    "one_standard_error": (
        "Whether the most cautious candidate was taken of those that may be as good as the best."
    ),
    "calibrate": "Whether probabilities are corrected on rows held out, if that helps.",
    "refit": "Whether the chosen candidate was fitted to all rows.",
    # Votes (AR-Boost) and single trees.
    "rho": (
        "How lenient rounds are: a larger one accepts parts that err more often, which reduces "
        "overfitting to wrong labels."
    ),
    "criterion": (
        "The measure of a good question: how mixed its branches are, or how often they err."
    ),
    "mistrust": "How much weight rows lose that are wrong again and again.",
    "damping": "How much less a round adds, and a row counts, where the model is already sure.",
    "phi": "The measure of a good question: how mixed its branches are.",
    "mu": "The number in the measure “mu”.",
    "zeta": "The number in the measure “zeta”.",
    # Linear models of rados.
    "n_corrected": "The number of coefficients that each round changes together.",
    "n_rados": "The number of sums of rows that the coefficients are learnt from.",
    "regularizer": "The rule that keeps coefficients small.",
    "omega": "How strongly coefficients are kept small.",
    "gamma": "How far one round may move a coefficient.",
    "q": "How quickly the rule “SLOPE” weakens from the largest coefficient on.",
    "l1_ratio": "How much of the rule sets coefficients to 0.",
    "ridge_matrix": "Which coefficients the rule keeps small together.",
    "keep": "The round whose coefficients are kept.",
    "fit_intercept": "Whether a constant is added to the sum of every row.",
}

_LOSSES = {
    "glog": "The logistic loss, which is log loss during the fit, with a gain.",
    "ggauss": "A loss whose probabilities follow the bell curve, with a gain.",
    "glaplacian": "A loss whose probabilities go slowly to 0% and 100%, with a gain.",
    "gboost": (
        "A loss like the exponential one, but gentler with rows that are far off, with a gain."
    ),
    "exponential": "AdaBoost's loss: rows that are far off count very much.",
    "savage": "A loss that hardly counts rows that are far off, for tables with wrong labels.",
    "alpha": "A loss between the logistic and the exponential one, by its number alpha.",
    "tangent": "A loss that hardly counts rows that are far off, for tables with wrong labels.",
}

_INSIDE = {
    "estimator": "The class of the package that made the model.",
    "several classes": _PARAMETERS["multiclass"],
    "rounds of boosting": "Each round added a part that corrects errors of those before it.",
    "cycles of boosting": "In each cycle every feature has its turn, and adds a part.",
    "entries of look-up tables": (
        "The number of entries, in points, of all look-up tables together."
    ),
    "pairs": "Pairs of features that have a look-up table.",
    "bags": "Fits, each to a part of the training rows; the model is their mean.",
    "trees": (
        "Each is a few questions, one after the other; a leaf is an end of one, with its points."
    ),
    "coefficients that are not 0": "The factors of values; features without one have no effect.",
    "features": "The properties of a row; categorical ones are names, and not numbers.",
    "alpha": "The number that selects the loss of its kind.",
}


_FLAT = {place.nested: name for name, place in PLACES.items()}


def describe_parameter(name: str, value: str) -> str:
    """Return the meaning of a parameter, and of each field of its object.

    A loss that the package knows has a sentence, too.
    """
    sentences = [_PARAMETERS.get(_FLAT.get(name, name), "")]
    if name == "loss":
        sentences.append(_LOSSES.get(value.strip("'\""), ""))
    for field in re.findall(r"\b(\w+)=", value):
        flat = _FLAT.get(f"{name}__{field}")
        if flat in _PARAMETERS:
            sentences.append(f"{field}: {_PARAMETERS[flat]}")
    return "  ".join(filter(None, sentences))


def describe_inside(name: str, value: str) -> str:
    """Return the meaning of a fact on a model's parts."""
    return _INSIDE.get(name, "") or describe_parameter(name, value)
