"""Parameters of rows, columns, bins and running, which several estimators share."""

from __future__ import annotations

from functools import partial
from typing import Any

from properboost.parameters import checks
from properboost.parameters.declare import Options, declared, parameter, parameters, read
from properboost.parameters.kinds import CategoricalFeatures, ClassWeight, RandomState, RowsPerBin

__all__ = [
    "BinningOptions",
    "BinningParameters",
    "ClassifierParameters",
    "RunParameters",
    "SizeParameters",
    "VerboseParameters",
    "read_binning",
]


def check_threads(name: str, value: object) -> object:  # noqa: ARG001
    """Check `n_jobs`; a fit or a prediction counts the threads."""
    checks.check_threads(value)
    return value


def check_random_state(name: str, value: object) -> object:  # noqa: ARG001
    """Check `random_state`, without drawing from it."""
    checks.check_random_state(value)
    return value


@parameters
class BinningParameters:
    """The bins of features."""

    max_bins: int = parameter(
        default=255,
        check=partial(checks.integer, low=2, high=255),
        doc="The most bins of a feature, 2 to 255, without that of missing values.",
        option="the most bins of a feature, 2 to 255",
    )


@parameters
class SizeParameters:
    """The number of rows that a bin needs."""

    rows_per_bin: RowsPerBin = parameter(
        default="auto",
        check=checks.either(checks.positive, "auto", None),
        kind='float, None or "auto"',
        doc="""
        The rows that a bin of a numeric feature needs, which always may have four bins.  None sets
        no limit.  "auto" is 20, and 100 for tables of every bin, which overfit.
        """,
        option="a numeric feature has at most one bin for so many rows, but may always have four; "
        "none is no such limit; auto is 100 for look-up tables of every bin, 20 for others, none "
        "for votes",
    )


@parameters
class RunParameters:
    """The parameters of every estimator: categories, threads and a seed."""

    categorical_features: CategoricalFeatures = parameter(
        default="from_dtype",
        check=lambda _, value: value,  # checked with the columns
        kind='"from_dtype", None, list of int or str, or mask',
        form="features",
        doc="""
        The categorical features: those of a categorical type or of text, none, those at positions
        or of names, or those of a boolean mask.
        """,
    )
    n_jobs: int | None = parameter(
        default=None,
        check=check_threads,
        doc="""
        Threads.  None and -1 use every CPU of the process, or ``OMP_NUM_THREADS``.  The model does
        not depend on it.
        """,
    )
    random_state: RandomState = parameter(
        default=None,
        check=check_random_state,
        kind="int, RandomState or None",
        doc="""
        The seed of random draws: of rows for bins, where there are over 200,000, and of features
        and rows for trees.  None is 0, so that fits repeat.
        """,
    )


@parameters
class VerboseParameters:
    """The reports of a fit."""

    verbose: int = parameter(
        default=0,
        check=checks.verbosity,
        doc="""
        1 shows the progress, on stderr or in a notebook's cell, and 2 each stage of a search by
        itself; 0, False and -1 show nothing.
        """,
    )


@parameters
class ClassifierParameters:
    """The weights of classes and rows."""

    class_weight: ClassWeight = parameter(
        default=None,
        check=checks.check_class_weight,
        kind='"balanced", dict or None',
        form="by label",
        doc="""
        A factor on the sample weight of each class, by label, or inversely by its total weight.  It
        shifts probabilities.
        """,
    )
    normalize_weights: bool = parameter(
        default=False,
        check=checks.boolean,
        doc="""
        Whether weights are scaled to a mean of 1, as those of surveys need it.  Otherwise a weight
        is a number of equal rows.
        """,
        option="scale the sample weights to a mean of 1",
    )


class BinningOptions(Options, BinningParameters, SizeParameters, RunParameters):
    """Options of binning."""

    max_bins: int
    rows_per_bin: float | None


def read_binning(model: Any, of_learner: float | None) -> BinningOptions:
    """Return the binning of an estimator's features; "auto" rows per bin are the learner's."""
    rows_per_bin = declared(SizeParameters)["rows_per_bin"].read(model.rows_per_bin)
    return read(
        BinningOptions, model, rows_per_bin=of_learner if rows_per_bin == "auto" else rows_per_bin
    )
