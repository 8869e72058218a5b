"""Meanings of parameters, losses and parts of models, in a sentence each."""

import re

from properboost.parameters.flat import PLACES

__all__ = ["describe_inside", "describe_parameter"]

_PARAMETERS = {
    # How parts are made, round after round.
    "loss": "What the fit makes small: how bad a prediction is, given the right answer.",
    "gain": (
        "How strongly the fit draws probabilities towards the middle; a larger one is more "
        "cautious, but no bound."
    ),
    "n_estimators": "How many rounds of boosting there are, or cycles: each adds a part.",
    "learning_rate": "How far each round goes; a smaller one needs more rounds.",
    "weak_learner": (
        "What a round adds: a look-up table, a question with two answers, a tree or a rule."
    ),
    "max_cells": "How many ranges a feature's values are cut into in a round, at most.",
    "min_saving": (
        "How much a cut into ranges must help, as a multiple of what the best cut of a "
        "feature that says nothing helps by chance; 0 makes every cut."
    ),
    "selection": (
        "Which feature a round takes: the one that helps most, with or without regard to "
        "chance, or each in its turn (cyclic)."
    ),
    "response": "How the points of a range, or of a tree's end, are found from its rows.",
    "step": "How a round finds how far to go.",
    "smoothing": "How much neighbouring ranges share what they know; 0 is nothing.",
    "prior": (
        "How much weight of each class is added to every range, against few rows; None is "
        "hardly any."
    ),
    "l2": "How strongly points are drawn towards 0, with the Newton response.",
    "max_leaf_nodes": "How many ends a tree has at most.",
    "max_depth": "How many questions a tree asks of a row at most.",
    "max_conditions": "How many conditions a rule has at most.",
    "min_child_weight": (
        "How much weight each branch of a tree must have; rows that the model is sure of "
        "weigh little."
    ),
    "min_relative_decrease": "How much a split of a tree must help, as a share.",
    "grow_policy": (
        "How a tree grows: the split that helps most comes next, or all branches of a level are "
        "asked the same question (symmetric)."
    ),
    "linear_leaves": (
        "Whether a tree ends in a sloping line in a few features instead of one number."
    ),
    "linear_l2": "How strongly the lines at the ends of trees are kept flat.",
    "max_features": (
        "The share of the features that a round, or a split, may choose from, drawn by lot."
    ),
    "subsample": "The share of the rows that each tree is grown from, drawn by lot.",
    "screening": "By how many rows a round chooses its feature or splits; None is all.",
    "multi_strategy": "Whether one tree speaks for all classes, or each class has its own.",
    "multiclass": "Whether several classes are one model, or each has a model against the rest.",
    "monotonic_cst": (
        "Features of which a larger value must never make a class less, or more, probable."
    ),
    # What the model starts from, and what becomes of its sum.
    "calibration": "What becomes of the sum of points at the end; None is nothing.",
    "intercept": (
        "What is added to every row's points at the end, so that the mean probability is "
        "right; None is nothing."
    ),
    "slope": "What the sum of points is multiplied by at the end; below 1 is more cautious.",
    "temperature": "What the sums of points of several classes are divided by at the end.",
    # Bins and columns.
    "max_bins": "How many ranges a number's values are sorted into before the fit, at most.",
    "rows_per_bin": "A number has at most one range of values for so many training rows.",
    "categorical_features": "Which columns are categories, and not numbers.",
    # Pairs, bags and averages.
    "interactions": "Which pairs of features have look-up tables of their own, or how many.",
    "interaction_rate": "How far each round of a pair goes, as a share of a whole step.",
    "interaction_smoothing": "How much neighbouring cells of a pair share what they know.",
    "interaction_estimators": "How many rounds of boosting there are for pairs.",
    "n_draws": "How many models, fitted to draws of rows and features, are averaged.",
    "outer_bags": (
        "How many models, fitted to parts of the rows, are averaged; how far they differ gives the "
        "intervals."
    ),
    "bag_tables": "Whether every bag is kept, for the intervals of single rows.",
    # Rows and weights.
    "class_weight": (
        "How much the rows of each class count; where it is not equal, it shifts the probabilities."
    ),
    "normalize_weights": (
        "Whether the weights of rows are scaled to a mean of 1, as weights that only compare "
        "rows are."
    ),
    # When boosting ends.
    "early_stopping": "Whether boosting ends where rows held out are predicted no better.",
    "validation_fraction": "The share of the rows that are held out to see when boosting ends.",
    "n_iter_no_change": (
        "For how many rounds rows held out may be predicted no better before it ends."
    ),
    "tol": "How small an improvement counts as none.",
    "scoring": "By which score models are compared.",
    "warm_start": "Whether another fit goes on from this one.",
    # How the work is done: these change no prediction, or by chance alone.
    "n_jobs": "How many processors the fit uses; it changes nothing in the model.",
    "random_state": "The number that chance begins from: the same one draws the same.",
    "verbose": "Whether the fit showed how far it was.",
    # Searches.
    "effort": (
        "How far the search goes, from 1 (few candidates, quick) to 5; None compares lists only."
    ),
    "readable": "Whether only models that can be drawn feature by feature were compared.",
    "time_limit": "After how many seconds the search takes the best so far.",
    "cv": "Into how many parts rows are divided to compare candidates on rows held out.",
    "space": "What the search chose from, by the names of a model's parameters.",
    "rhos": "The rhos that were compared.",
    "max_estimators": "How many rounds were compared at most.",
    "one_standard_error": (
        "Whether the most cautious candidate was taken of those that may be as good as the best."
    ),
    "calibrate": "Whether probabilities are corrected by rows held out, if that helps.",
    "refit": "Whether the chosen candidate was fitted to all rows.",
    # Votes (AR-Boost) and single trees.
    "rho": (
        "How lenient rounds are: with a larger one, parts that err more often are taken, and "
        "wrong labels are not learnt by heart."
    ),
    "criterion": "What makes a question good: how mixed its branches are, or how often they err.",
    "mistrust": "How much rows that keep being wrong lose weight.",
    "damping": "How much less a round says, and a row counts, where the model is already sure.",
    "phi": "What makes a question good: how mixed its branches are, by this measure.",
    "mu": "The number that the measure “mu” has.",
    "zeta": "The number that the measure “zeta” has.",
    # Linear models of rados.
    "n_corrected": "How many features' coefficients each round sets anew, together.",
    "n_rados": "From how many sums of rows the coefficients are learnt.",
    "regularizer": "By what rule coefficients are kept small.",
    "omega": "How strongly coefficients are kept small.",
    "gamma": "How far one round may move a coefficient.",
    "q": "How quickly the rule “SLOPE” grows laxer from the largest coefficient on.",
    "l1_ratio": "How much of the rule sets coefficients to 0.",
    "ridge_matrix": "Which coefficients the rule keeps small together.",
    "keep": "Which round's coefficients are kept.",
    "fit_intercept": "Whether every row starts from a number of its own.",
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
    "rounds of boosting": "Each round added a part that corrects what those before it get wrong.",
    "cycles of boosting": "In each cycle every feature has its turn, and adds a part.",
    "entries of look-up tables": "The numbers of points in all look-up tables together.",
    "pairs": "Pairs of features with a look-up table of their own.",
    "bags": "Fits to a part of the training rows each; the model is their mean.",
    "trees": "Each asks a few questions; a leaf is an end of one, with its points.",
    "coefficients that are not 0": "What values are multiplied by; the others have no effect.",
    "features": "What is known of a row; categorical ones are names, and not numbers.",
    "alpha": "The number that says which loss of its kind it is.",
}


_FLAT = {place.nested: name for name, place in PLACES.items()}


def describe_parameter(name: str, value: str) -> str:
    """Return what a parameter is, and each field of an object that it is.

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
    """Return what a fact of the inside of a model is."""
    return _INSIDE.get(name, "") or describe_parameter(name, value)
