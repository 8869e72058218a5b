"""The parameters that several estimators have, by what they are about; and the engine's options."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Generic, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from properboost.parameters import checks
from properboost.parameters.declare import Options, parameter, parameters, read
from properboost.parameters.kinds import (
    CategoricalFeatures,
    ClassWeight,
    Criterion,
    EarlyStopping,
    GrowPolicy,
    MaxCells,
    MonotonicConstraints,
    Multiclass,
    MultiStrategy,
    RandomState,
    Response,
    Scoring,
    Screening,
    Selection,
    Step,
    VotingCriterion,
    VotingLearner,
    VotingMulticlass,
    Wait,
    WarmStartBins,
    WeakLearner,
)

__all__ = [
    "CONDITIONAL",
    "LARGEST_INT",
    "LINEAR_ROWS",
    "MOST_LEVELS",
    "ROWS_PER_BIN",
    "SOLVED",
    "BagParameters",
    "BagTableParameters",
    "BinningOptions",
    "BinningParameters",
    "BoostingOptions",
    "BoostingParameters",
    "ClassifierParameters",
    "CouplingParameters",
    "DrawParameters",
    "EarlyStoppingParameters",
    "PairParameters",
    "PatienceParameters",
    "RegularizerParameters",
    "RhoParameters",
    "RunParameters",
    "SizeParameters",
    "VerboseParameters",
    "VotingOptions",
    "VotingParameters",
    "WarmStartParameters",
    "cells_of",
    "depth_of",
    "gain_of",
    "leaves_of",
    "rate_of",
    "read_binning",
    "rows_known_of",
    "screening_of",
    "selection_of",
    "smoothing_of",
]

LARGEST_INT = 2**31 - 1
"""What the engine's int holds."""

SOLVED = ("leveraging", "totally_corrective")
"""Steps that are solved for in double precision."""

NOT_SOLVED = tuple(name for name in get_args(Step) if name not in SOLVED)

SMOOTHING = 0.1
"""How far the sums of bins spread by default."""

FEW_ROWS = 5000.0
"""Up to so many rows numeric features have fewer than 255 bins, of 20 rows each."""

SCREEN = 32_768
"""Rows by which the features of look-up tables and stumps are compared where there are many."""

LEAST_SCREENED, LEAST_OF_CLASS = 8 * SCREEN, 8192
"""From how many rows on, and how many of each class, screens cost no log loss that is worth their
time (`benchmarks.engine.screening`)."""

MOST_LEVELS = 7
"""Splits from the root to a leaf of a symmetric tree: a node's number is a byte."""

LINEAR_ROWS = 10.0
"""The least effective rows of a leaf that has a line."""

CONDITIONAL = "conditional"
"""The response that compares two classes' densities, whatever their shares are."""

GROWN = ("tree", "monomial")
"""Weak learners over several features."""

FEWEST_BAGS, MOST_BAGS = 4, 64

NOT_GROWN = tuple(name for name in get_args(WeakLearner) if name not in GROWN)

# What a search takes a list of has a type variable, which an estimator sets to the first of its
# names and a search to that or a list of it.
Float = TypeVar("Float")
Int = TypeVar("Int")
Policy = TypeVar("Policy")
Linear = TypeVar("Linear")
Leaves = TypeVar("Leaves")
Depth = TypeVar("Depth")
Cells = TypeVar("Cells")
Pairs = TypeVar("Pairs")
PerBin = TypeVar("PerBin")
Selected = TypeVar("Selected")
Strategy = TypeVar("Strategy")
Rate = TypeVar("Rate")
Learner = TypeVar("Learner")
Answer = TypeVar("Answer")
Draws = TypeVar("Draws")
Coupled = TypeVar("Coupled")


def check_share(name: str, value: object) -> float:
    """Check a share above 0 and up to 1."""
    if checks.between(name, value, 0.0, 1.0) == 0.0:
        raise ValueError(f"{name} must be above 0 and at most 1; got {value!r}")
    return checks.positive(name, value)


def check_fraction(name: str, value: object) -> float:
    """Check a share above 0 and below 1."""
    if checks.between(name, value, 0.0, 1.0) in (0.0, 1.0):
        raise ValueError(f"{name} must be above 0 and below 1; got {value!r}")
    return checks.positive(name, value)


def check_smoothing(name: str, value: object) -> float:
    """Check how far sums spread; the engine's bound."""
    return checks.between(name, value, 0.0, 10_000.0)


def check_directions(name: str, given: Any) -> object:
    """Check that every direction is -1, 0 or 1; the features are checked with the data."""
    if given is None:
        return None
    if not (isinstance(given, Mapping) or checks.is_list(given)):
        raise TypeError(f"{name} must be a list, a dict or None; got {given!r}")
    for key, direction in given.items() if isinstance(given, Mapping) else enumerate(given):
        checks.integer(f"{name}[{key!r}]", direction, -1, 1)
    return given


def check_interactions(name: str, given: Any) -> object:
    """Check a number of pairs, or the pairs; the features are checked with the data."""
    if checks.is_list(given) or (isinstance(given, np.ndarray) and given.ndim > 1):
        for k, pair in enumerate(given):
            check_pair(f"{name}[{k}]", pair)
        return given if len(given) else 0
    count = partial(checks.integer, low=0, high=LARGEST_INT)
    return checks.or_else(count, "a list of pairs of features")(name, given)


def check_pair(name: str, pair: Any) -> None:
    """Check that a pair is two names or positions."""
    listed = checks.is_list(pair) and len(pair) == 2
    if not listed or not all(
        isinstance(feature, str) or checks.is_integer(feature) for feature in pair
    ):
        raise TypeError(f"{name} must be two features, by name or position; got {pair!r}")


def check_damping(name: str, value: object) -> float:
    """Return a damping, which must be below 1."""
    damping = checks.between(name, value, 0.0, 1.0)
    if damping == 1.0:
        raise ValueError(f"{name} must be below 1; got 1, at which rows never lose weight")
    return damping


def check_threads(name: str, value: object) -> object:  # noqa: ARG001
    """Check `n_jobs`; the threads are counted when they are needed."""
    checks.count_threads(value)
    return value


def check_random_state(name: str, value: object) -> object:  # noqa: ARG001
    """Check `random_state`, without drawing from it."""
    checks.check_random_state(value)
    return value


@parameters
class BoostingParameters(
    Generic[
        Float, Int, Policy, Linear, Leaves, Depth, Cells, Selected, Strategy, Rate, Learner, Answer
    ]
):
    """How a round's look-up table is chosen and made, and how far its step goes."""

    learning_rate: Rate = parameter(
        default=None,
        check=checks.either(checks.positive, None),
        kind="float or None",
        doc="""
        Shrinkage > 0 of each step.  Steps that are solved for ignore it.  None is 1, for trees 0.1;
        where the gain shrinks steps as well (the real and sign responses, unless the step is a line
        search), it is 0.1 times the loss's `rate_factor`, at most 1: 0.1 times the gain for the
        default loss.
        """,
        option="shrinkage of each step, above 0; none is 1, for trees 0.1 or less shrinkage with a "
        "larger gain",
        only_with={"step": NOT_SOLVED},
        search_default=1.0,
    )
    weak_learner: Learner = parameter(
        default="histogram",
        single=True,
        doc="""
        What gets a value in a round: every bin of a feature, or few cells of them (`max_cells`);
        both branches of a split; every leaf of a tree; the rows for which a rule holds ("this
        feature is in that range or set, and that one ...") and all others (see `rules`).
        Parameters of another weak learner have no effect.
        """,
        option="the weak learner",
    )
    max_cells: Cells = parameter(
        default="auto",
        check=checks.either(partial(checks.integer, low=2, high=255), "auto", None),
        kind='int, None or "auto"',
        doc="""
        The most cells of a round's look-up table, in [2, 255]: its bins are cut in two, then the
        part whose cut saves most, and so on, each as a tree's split; few cells restrain what few
        rows say.  "auto" is 3 below 10,000 training rows (by sample weight), 4 from there on, 5
        from 20,000, and so on.  None is one for every bin.  Tables of pairs have four, and those of
        this learner with None one for every cell of their grid.
        """,
        option="the most cells of a round's look-up table, cut best first; auto is 3 below 10,000 "
        "rows, 4 below 20,000, and so on; none is every bin",
        only_with={"weak_learner": ("histogram",)},
        search_default=10,
    )
    min_saving: Float = parameter(
        default=0.0,
        check=checks.non_negative,
        doc="""
        The least that a cut of a look-up table of few cells (`max_cells`) must save, as a multiple
        of what the best cut of as many bins saves by chance, on average.  With 1 features that say
        nothing are hardly cut; with 0 every cut is made that saves anything.  Unless it is 0, a
        table without a cut is left out if its one value, too, says next to nothing, and boosting
        ends where all are.  For pairs it is never below 0.5.  Tables of every bin, and the sign
        response, ignore it.
        """,
        option="the least that a cut of a look-up table of few cells must save, as a multiple of "
        "what the best saves by chance",
        only_with={"weak_learner": ("histogram",)},
        search_default=0.5,
    )
    grow_policy: Policy = parameter(
        default="best_first",
        check=partial(checks.choice, known=get_args(GrowPolicy)),
        kind='{"best_first", "symmetric"}',
        doc="""
        How a tree grows.  "best_first": the split that saves most, of all leaves, is next.
        "symmetric": level by level; all nodes of a level share one split, the one that saves most
        in sum (CatBoost's trees).  A node in which it saves nothing, or whose branches would be
        lighter than `min_child_weight`, is not split then, and has its turn at the next level.
        """,
        option="how a tree grows: the best split of all leaves next, or one split for each level",
        only_with={"weak_learner": ("tree",)},
    )
    linear_leaves: Linear = parameter(
        default=False,
        check=checks.boolean,
        kind="bool",
        doc="""
        Whether a leaf of a tree has a line: a ridge model, about the leaf's value, in at most four
        numeric features of the splits above it, those that saved most.  A feature's values are the
        means of its bins, so that nothing extrapolates beyond the outer bins.  Missing values and
        categories have no part in it: such a row gets the leaf's value.  The slopes are one Newton
        step, of the loss for the Newton response and of the exponential loss for the real one; see
        `linear_l2`.  It is refused with other responses, with `monotonic_cst`, and with steps that
        are solved for; models have no `contributions` then.
        """,
        option="leaves of trees are ridge models in the means of bins",
        only_with={
            "weak_learner": ("tree",), "response": ("real", "newton"), "step": NOT_SOLVED,
        },
        promise={
            "weak_learner": "only trees have leaves",
            "response": "a line is a step of Newton's method about a leaf's value",
            "step": "a step that is solved for has one coefficient for a table",
        },
    )  # fmt: skip
    linear_l2: Float = parameter(
        default=5.0,
        check=checks.non_negative,
        kind="float",
        doc="""
        The ridge penalty of a leaf's line, as a number of its rows: of n effective rows, a lone
        slope keeps n / (n + `linear_l2`).  Rows count as if they had equal weights (or, with the
        Newton response, curvatures) that scatter as much; a leaf of fewer than 10 has no line.
        """,
        option="the ridge penalty of a leaf's line, in rows",
        only_with={"linear_leaves": (True,)},
    )
    max_leaf_nodes: Leaves = parameter(
        default=None,
        check=checks.either(partial(checks.integer, low=2, high=128), None),
        kind="int or None",
        doc="""
        The most leaves of a tree, in [2, 128].  None is one for 80 training rows (by sample
        weight), where every class counts as many as the smallest; but no fewer than six, or one
        for each class, and no more than 31.  Symmetric trees have `max_depth` only.
        """,
        option="the most leaves of a tree, 2 to 128; none goes by the rows of the smallest class",
        only_with={"weak_learner": ("tree",), "grow_policy": ("best_first",)},
    )
    max_depth: Depth = parameter(
        default=None,
        check=checks.either(partial(checks.integer, low=1, high=LARGEST_INT), None),
        kind="int or None",
        doc="""
        The most splits from a tree's root to a leaf; at most 7 of a symmetric tree.  None sets no
        limit.  For symmetric trees it is 4 to 6: as many levels as leave 20 training rows a leaf,
        counted as for `max_leaf_nodes`, or two leaves a class.
        """,
        option="the most splits from a tree's root to a leaf; none sets no limit, and is 4 to 6 "
        "for symmetric trees, which have at most 7",
        only_with={"weak_learner": ("tree",)},
    )
    max_literals: Int = parameter(
        default=2,
        check=partial(checks.integer, low=1, high=127),
        kind="int",
        doc="""
        The most conditions of a monomial, in [1, 127].  It has fewer if another one would not lower
        the cost.
        """,
        option="the most literals of a rule (monomial)",
        only_with={"weak_learner": ("monomial",)},
    )
    min_child_weight: Float = parameter(
        default=1.0,
        check=checks.non_negative,
        kind="float",
        doc="""
        The least weight of each branch of a tree's split, and of each cell of a monomial: the sum
        of the loss's weights (with the Newton response: curvatures) times the sample weights.
        """,
        option="the least weight of each branch of a tree's or a rule's split",
        only_with={"weak_learner": GROWN},
    )
    max_features: Float = parameter(
        default=0.5,
        check=check_share,
        kind="float",
        doc="""
        Share of the features that each split of a tree, or literal of a monomial, is chosen from,
        in (0, 1].  It is drawn anew each time and is never less than one feature.  Half of them
        make the trees of different rounds differ, which predicts better than the best splits.
        """,
        option="share of the features that each split of a tree or a rule is chosen from",
        only_with={"weak_learner": GROWN},
    )
    subsample: Float = parameter(
        default=1.0,
        check=check_share,
        kind="float",
        doc="Share of the rows that each tree or monomial is grown from, drawn anew each time, in (0, 1].",  # noqa: E501
        option="share of the rows a tree or a rule is grown from",
        only_with={"weak_learner": GROWN},
    )
    multi_strategy: Strategy = parameter(
        default="multi_output_tree",
        check=partial(checks.choice, known=get_args(MultiStrategy)),
        kind='{"multi_output_tree", "one_output_per_tree"}',
        doc="""
        The trees of a joint model of several classes (see `multiclass`): one a round, whose leaves
        have a value for each class, or one for each class.  The words are XGBoost's.
        """,
        option="trees of a joint model of several classes: one for all of them, or one for each",
        only_with={"weak_learner": ("tree",)},
    )
    monotonic_cst: MonotonicConstraints = parameter(
        default=None,
        check=check_directions,
        kind="list of int, dict or None",
        doc="""
        For each numeric feature (by position, or some by name): 1 if the raw prediction must not
        fall with it, -1 if it must not rise, 0 for no constraint.  Missing values are free.  In a
        look-up table, also of a pair, neighbouring cells in the wrong order are made one (isotonic
        regression); trees and rules are grown in order.  It is refused with more than two classes,
        with steps that are solved for, and with stumps over pairs.
        """,
        only_with={"step": NOT_SOLVED},
        promise={"step": "a step that is solved for may be negative"},
        form="by feature",
    )
    selection: Selected = parameter(
        default="unbiased",
        check=partial(checks.choice, known=get_args(Selection)),
        kind='{"unbiased", "greedy", "cyclic"}',
        doc="""
        Which feature a round uses.  "unbiased": the one whose cells tell the classes apart least
        likely by chance, so that features of many bins or categories are not favoured; by Pearson's
        chi-square on the effective number of rows, and its degrees of freedom; and categories, and
        the cells of pairs, are shrunk towards their mean by their number of rows.  "greedy": the
        one of least cost, as in the papers.  "cyclic": each in turn, which needs one histogram per
        round instead of all features'.  Trees and monomials choose a feature for each split:
        "unbiased" charges it for twice what chance would save on average, and "cyclic" has no
        meaning there and is "unbiased".
        """,
        option="which feature a round takes: the least likely by chance, the best, or each in turn",
        search_default="cyclic",
    )
    response: Answer = parameter(
        single=True,
        default="real",
        doc="""
        The value in a bin.  "real": half the log-odds of its class weights; "sign": the heavier
        class; "newton": a Newton step; "exact": the minimiser of the bin's risk.  "conditional":
        half the log-ratio of the classes' densities, as each class's weights are divided by their
        sum in every round (class-conditional histograms, as BoostLR's published errors have them);
        then the classes' shares are in the intercept alone, and several classes are learnt one
        against the rest.
        """,
        option="the value in a bin",
    )
    criterion: Criterion | None = parameter(
        default=None,
        doc="""
        How features, splits and literals are compared: by the impurity of a permissible function
        (ULS, eq. 49 [2]_), as in `UDTClassifier`, on the weights of the round; None compares them
        by the response's own cost.  The response gives the cells their values in any case.  An
        impurity is refused with the Newton response.
        """,
        option="the impurity by which features are chosen; none is the response's own cost",
        only_with={"response": tuple(name for name in get_args(Response) if name != "newton")},
        promise={"response": "impurities compare weight sums of classes; a Newton step has none"},
    )
    step: Step = parameter(
        default="guarded",
        doc="""
        What multiplies the round's look-up table: `learning_rate`, or the minimiser of the risk
        along it if that is shorter; `learning_rate` always; the minimiser times `learning_rate`;
        the minimiser in double precision, which leaves the round no edge on the next weights; the
        minimiser over the steps of all rounds so far, which leaves none of them an edge (ULS, eq.
        35 [2]_).  The last two take a convex loss only.
        """,
        option="how far a round goes along its look-up table",
    )
    l2: float = parameter(
        default=0.0,
        check=checks.non_negative,
        doc="What the Newton response adds to the curvature in each bin; others ignore it.",
        option="added to the curvature by the newton response",
        only_with={"response": ("newton",)},
    )
    screening: Screening = parameter(
        default="auto",
        check=checks.either(partial(checks.integer, low=1, high=LARGEST_INT), "auto", None),
        kind='int, None or "auto"',
        doc="""
        Rows by which a round's feature is chosen, or the splits of its tree, where there are more
        than twice as many; look-up tables and leaves are made of all rows.  Each class has as many
        of them, or all its rows if these are fewer, and each round takes others.  The best quarter
        of the features is compared again on four times as many rows, and so on, and what is left on
        all; a tree is grown from these rows alone.  None compares everything on all rows.  "auto"
        is 32,768 for look-up tables and stumps of 262,144 rows or more, of which 8,192 or more are
        of the rarest class; otherwise it is None.
        A round of many features costs a fraction, and which of features that say nearly as much is
        chosen is up to chance.  What is drawn depends on the rows' places in the table.  Where
        ``subsample`` is below 1, nothing is screened.
        """,
        option="rows by which a round's feature, or a tree's splits, are chosen; none is all; auto "
        "is 32,768 for look-up tables and stumps of many rows",
        only_with={
            "selection": ("unbiased",),
            "response": tuple(name for name in get_args(Response) if name != "sign"),
        },
    )


@parameters
class RegularizerParameters:
    """What regularises a look-up table's values; searches have lists under other names."""

    prior: float | None = parameter(
        default=None,
        check=checks.either(checks.positive, None),
        doc="""
        Weight that the real, exact and conditional responses add to both weight sums of each bin,
        as a share of the total weight; > 0.  None is 1 / (S B), for S the weight of the training
        rows and B the bins of the feature that hold rows (the branches of the stump, the cells of
        the rule, the leaves of the tree).  The other responses ignore it.
        """,
        option="share of the total weight added to each class in each bin; none is 1/(S B) for total "  # noqa: E501
        "weight S and B bins",
        only_with={"response": ("real", "exact", "conditional")},
    )
    smoothing: float | None = parameter(
        default=None,
        check=checks.either(check_smoothing, None),
        doc="""
        How far the sums of each bin of a numeric feature spread over its neighbours before the
        response gives the bins their values: by a standard deviation of sqrt(2 `smoothing`) bins,
        with `smoothing` in [0, 10,000].  Up to 0.25 it is the share that a bin gives to each of its
        two neighbours; "exact" responses allow no more.  None is 0.1, and 0 for tables of few cells
        (`max_cells`) of 5,000 rows or more.  Other weak learners ignore it.
        """,
        option="how far a bin's sums spread: half the variance, in bins; none is 0.1, and 0 for "
        "few cells of 5,000 rows",
        only_with={"weak_learner": ("histogram",)},
    )


@parameters
class CouplingParameters(Generic[Coupled]):
    """How the classes' models depend on each other."""

    multiclass: Coupled = parameter(
        default="auto",
        check=partial(checks.choice, known=get_args(Multiclass)),
        kind='{"auto", "softmax", "canonical", "one_vs_rest"}',
        doc="""
        With more than two classes, how their models are coupled.  "softmax" and "canonical" make
        one joint model, which minimises one loss of all classes' raw predictions: the multinomial
        logistic loss, for glog; the loss with the row's best shift, for canonical losses (see
        Notes).  "one_vs_rest" learns each class against the rest.  "auto" takes "softmax" for glog,
        "canonical" for the other canonical losses, and "one_vs_rest" for losses that have no joint
        form (exponential, savage, alpha above 0, tangent, functions that are called) and for steps
        that are solved for.
        """,
        option="how the models of more than 2 classes are coupled",
    )


@parameters
class PairParameters(Generic[Float, Pairs]):
    """Which pairs of features get look-up tables, and how these are boosted."""

    interactions: Pairs = parameter(
        default=0,
        check=check_interactions,
        kind="int or list of pairs",
        doc="""
        Pairs of features that get look-up tables over both, after those of single features are
        boosted: the number of pairs to find (the strongest), or the pairs themselves (two positions
        or names each).  They are refused with trees, monomials and steps that are solved for.
        Without pairs the other parameters of interactions have no effect.
        """,
        option="pairs of features that get look-up tables, after those of single features",
        only_with={"weak_learner": NOT_GROWN, "step": NOT_SOLVED},
        promise={
            "weak_learner": "trees and monomials combine features by themselves",
            "step": "pairs are boosted after all features, and so not solved for with them",
        },
    )

    interaction_rate: Float = parameter(
        default=0.1,
        check=checks.positive,
        kind="float",
        doc="Shrinkage > 0 of each step along a pair's look-up table, whatever `learning_rate` is.",
        search_default=(1.0, 0.25),
    )
    interaction_smoothing: Float = parameter(
        default=0.2,
        check=check_smoothing,
        kind="float",
        doc="""
        `smoothing` of the pairs' look-up tables, whose cells have neighbours in both directions.
        """,
        only_with={"weak_learner": NOT_GROWN},
        search_default=(0.0, 0.2),
    )


@parameters
class DrawParameters(Generic[Draws]):
    """How many draws there are."""

    n_draws: Draws = parameter(
        default=1,
        check=partial(checks.integer, low=1, high=1000),
        single=True,
        doc="""
        Fits of trees or monomials whose raw predictions are averaged, each of which draws features
        and rows (`max_features`, `subsample`) for itself.  They are one model: its rounds are those
        of the fits in turn, each with a step of 1 / `n_draws`.  It takes as many times as long to
        fit and to predict, and where nothing is drawn it has no effect.
        """,
        option="fits that draw features and rows, and are averaged",
        only_with={"weak_learner": GROWN},
    )


@parameters
class BagTableParameters:
    """What is kept of bags."""

    bag_tables: bool = parameter(
        default=True,
        doc="""
        Whether the model keeps, and its files hold, what every bag says of each feature and pair,
        which `predict_interval` needs.  Otherwise they have standard errors only, which are one
        number where bags are `outer_bags` numbers.
        """,
        option="keep what every bag says, for intervals of single rows",
        only_with={"weak_learner": NOT_GROWN},
    )


@parameters
class BagParameters(BagTableParameters):
    """Fits to shares of the rows, and what is kept of them."""

    outer_bags: int = parameter(
        default=0,
        check=checks.either(partial(checks.integer, low=FEWEST_BAGS, high=MOST_BAGS), 0),
        kind="int",
        doc="""
        0, or from 4 to 64: fits to three quarters of the rows each, which are averaged to one
        model.  How far they lie from each other says how sure the model is, see `shape_function`,
        `contributions` and `predict_interval`.  Trees and monomials are grown one bag after the
        other, each without another one of `outer_bags` parts of the rows; they take the place of
        `n_draws`, and have no standard errors.  `l2`, `linear_l2` and `min_child_weight` are less
        by as much as the rows.
        """,
        option="fits to shares of the rows, whose mean is the model and whose spread gives "
        "standard errors: 0, or 4 to 64",
    )


@parameters
class BinningParameters:
    """How features are cut."""

    max_bins: int = parameter(
        default=255,
        check=partial(checks.integer, low=2, high=255),
        doc="The most bins of a feature, in [2, 255], not counting missing values.",
        option="the most bins of a feature, 2 to 255",
    )


@parameters
class SizeParameters(Generic[PerBin]):
    """How many rows a bin needs."""

    rows_per_bin: PerBin = parameter(
        default="auto",
        check=checks.either(checks.positive, "auto", None),
        kind='float, None or "auto"',
        doc="""
        A numeric feature also has at most one bin per this many training rows (by sample weight),
        but may always have four; None sets no such limit.  "auto" goes by the weak learner.  It is
        100 for look-up tables of every bin (``max_cells=None``), since one with a bin for every row
        learns the rows by heart: over the ten small data sets of the BoostLR paper the
        cross-validated log loss is 3.1 with 255 bins and 0.48 with 100 rows per bin (50 rounds,
        gain 1).  It is 20 where few cells restrain what is learnt, and None for votes.
        """,
        option="a numeric feature has at most one bin for so many rows, but may always have four; "
        "none is no such limit; auto is 100 for look-up tables of every bin, 20 for others, none "
        "for votes",
    )


@parameters
class RunParameters:
    """What every estimator has: which columns are categories, threads, a seed."""

    categorical_features: CategoricalFeatures = parameter(
        default="from_dtype",
        check=lambda _, value: value,  # checked with the columns
        kind='"from_dtype", None, list of int or str, or mask',
        form="features",
        doc="""
        Which features are categorical: those whose column has a categorical type; none; those at
        these positions or of these names; those where the boolean mask is true.  Predicted rows
        may hold the same categories in columns of any type, such as strings.
        """,
    )
    n_jobs: int | None = parameter(
        default=None,
        check=check_threads,
        doc="""
        Threads.  None and -1 use every CPU this process may use, or ``OMP_NUM_THREADS`` if set.
        The model and its predictions do not depend on it.
        """,
    )
    random_state: RandomState = parameter(
        default=None,
        check=check_random_state,
        kind="int, RandomState or None",
        doc="""
        Seed of the sample of rows from which bins are found (tables of more than 200,000 rows), and
        of what trees draw (`max_features`, `subsample`).  None is the seed 0: fitting the same rows
        again gives the same model.
        """,
    )


@parameters
class ClassifierParameters:
    """How classes count."""

    class_weight: ClassWeight = parameter(
        default=None,
        check=checks.check_class_weight,
        kind='"balanced", dict or None',
        form="by label",
        doc="""
        Factor on the sample weight of each class: given by label, or inversely proportional to the
        class's total weight.  It shifts the probabilities.
        """,
    )
    normalize_weights: bool = parameter(
        default=False,
        doc="""
        Whether `sample_weight`, times `class_weight`, is scaled to a mean of 1 over the rows of
        positive weight: it then says how rows compare, as weights of surveys and of classes do.
        Otherwise it says how often each row counts, so that weights which add up to 1 are as little
        as one row, and those of a survey as much as all the people it stands for: the log loss is
        doubled where weights make ten rows of each.  A mean below 0.3 or above 3 is warned of,
        unless it is of whole numbers up to 20 on average that vary within a class, as counts do.
        """,
        option="scale the sample weights to a mean of 1",
    )


@parameters
class PatienceParameters:
    """When boosting that is watched on rows held out is over."""

    n_iter_no_change: Wait = parameter(
        default="auto",
        check=checks.either(partial(checks.integer, low=1, high=LARGEST_INT), "auto"),
        kind='"auto" or int',
        doc="""
        Boosting that is watched on rows held out ends where the score has not improved for so many
        estimators.  "auto" is 20, or half of the estimators up to the last improvement, whichever
        is more: slow learners get more time.
        """,
    )
    tol: float = parameter(
        default=1e-4,
        check=checks.non_negative,
        doc="""
        What counts as an improvement, as a share of the best score so far; at least 0.  It says
        when boosting ends and not which estimators are kept: these are the best, however narrowly.
        """,
    )


@parameters
class EarlyStoppingParameters(PatienceParameters):
    """Rows that a fit is watched on."""

    early_stopping: EarlyStopping = parameter(
        default="auto",
        check=checks.either(checks.boolean, "auto"),
        kind='"auto" or bool',
        doc="""
        Whether boosting ends where the score of rows held out improves no more, and the estimators
        up to the best score are kept.  "auto" does so if `fit` is given validation rows (`X_val`,
        `y_val`); True holds out `validation_fraction` of the rows where it is not; False keeps all
        estimators, and scores of validation rows are recorded only.  Estimators after which the
        score is undefined (NaN, or -inf) are never the best, with a warning; where it never is
        defined, there is nothing to choose by, and the fit is refused.
        """,
    )
    validation_fraction: float = parameter(
        default=0.1,
        check=check_fraction,
        doc="""
        The share of the rows, above 0 and below 1, that ``early_stopping=True`` holds out where
        there are no validation rows: stratified by class, or by whole `groups` if there are any.
        The model never sees them.
        """,
    )
    scoring: Scoring = parameter(
        default="neg_log_loss",
        check=lambda _, value: value,  # classes are needed to judge it
        kind="str, callable or None",
        form="not saved",
        doc="""
        The score of rows held out: a scorer's name, None for accuracy, or a callable ``(estimator,
        X, y) -> float`` whose estimator predicts these rows only, all in their order, and refuses
        others.  More is better.  "neg_log_loss", "accuracy", "neg_brier_score",
        "balanced_accuracy" and, of two classes, "roc_auc" and "average_precision" take little time;
        others are scikit-learn's.  Weights of rows count, and `class_weight` does not.
        """,
    )


@parameters
class WarmStartParameters:
    """Whether a fit goes on from the one before."""

    warm_start: bool = parameter(
        default=False,
        doc="""
        Whether `fit` goes on from the model it finds, up to `n_estimators` in all, instead of
        beginning anew.  Over the same rows the model then has the bits of one long fit, also after
        it has been saved and loaded (with ``multiclass="canonical"`` and more than two classes it
        agrees to about 1e-6).  Over other rows the earlier rounds stay as they are, and new ones
        follow; see `warm_start_bins`.  Loss, gain, classes and columns must be the same; other
        parameters hold for the new rounds.  A slope and an
        intercept that `fit` finds are found anew, for all rounds.  It is refused by name for models
        of pairs, averaged draws or bags, with steps that are solved for, made monotone afterwards
        or saved without their rounds, and for those of a search that were corrected on rows held
        out.
        """,
    )
    warm_start_bins: WarmStartBins = parameter(
        default="old",
        doc="""
        What a fit that goes on cuts features by.  "old": the bins there are, which the same rows
        need; values beyond those of earlier rows are in the outer bins, and categories that came
        later in none of their own.  "new": the rows' own bins, too.  The edges and categories that
        earlier rounds tell apart stay, so that these say what they said, and new ones take what
        room is left of 255 bins.  It is refused with `linear_leaves`, whose lines are in the means
        of bins.
        """,
        only_with={"warm_start": (True,)},
    )


@parameters
class VerboseParameters:
    """What a fit reports."""

    verbose: int = parameter(
        default=0,
        check=partial(checks.integer, low=0),
        doc="With 1, the rounds and the training risk are shown on stderr.",
    )


@parameters
class RhoParameters:
    """How strongly AR-Boost raises the odds of being right; searches have a list of it."""

    rho: float = parameter(
        default=1.0,
        kw_only=False,
        check=checks.positive,
        doc="Above 0.  Cross-validate it with `ARBoostClassifierCV`.",
    )


@parameters
class VotingParameters:
    """How weak classifiers are chosen and weighted."""

    n_estimators: int = parameter(
        default=100,
        check=partial(checks.integer, low=1, high=LARGEST_INT),
        doc="""
        Rounds.  Boosting stops earlier if no classifier's error is small enough, if one makes no
        errors, or if one and its negative take turns.
        """,
    )
    learning_rate: float = parameter(
        default=1.0, check=checks.positive, doc="Multiplies every alpha; above 0."
    )
    weak_learner: VotingLearner = parameter(
        default="stump",
        doc="""
        One split of a feature; a tree, which grows best split first; a class for every bin of a
        feature.
        """,
    )
    criterion: VotingCriterion = parameter(
        default="gini",
        doc="""
        What the weak classifier is chosen by: the Gini impurity, as in CART, or its error.
        """,
    )
    max_leaf_nodes: int = parameter(
        default=8,
        check=partial(checks.integer, low=2, high=128),
        doc="The most leaves of a tree, in [2, 128].",
        only_with={"weak_learner": ("tree",)},
    )
    max_depth: int | None = parameter(
        default=None,
        check=checks.either(partial(checks.integer, low=1, high=LARGEST_INT), None),
        doc="The most splits from a tree's root to a leaf; None sets no limit.",
        only_with={"weak_learner": ("tree",)},
    )
    min_relative_decrease: float = parameter(
        default=0.0,
        check=partial(checks.between, low=0.0, high=1.0),
        doc="""
        A complexity limit: the least share of a node's own cost, by the `criterion`, that a split
        of this node must save.  A stump or a tree that finds none says one class for all rows.  0
        makes every split that saves anything.  (CART's limit is relative, too, to the cost of a
        tree's root; scikit-learn's `min_impurity_decrease` is not relative.)
        """,
        only_with={"weak_learner": ("stump", "tree")},
    )
    max_features: float = parameter(
        default=1.0,
        check=check_share,
        kind="float",
        doc="""
        Share of the features that a round's feature, or each split of a tree, is chosen from, in
        (0, 1].  It is drawn anew each time and is never less than one feature.  If none of those
        drawn gives a classifier that may vote, the round adds nothing, and boosting goes on.
        """,
    )
    multiclass: VotingMulticlass = parameter(
        default="samme",
        doc="""
        How several classes are learnt.  "samme": a weak classifier says one class in each cell
        (SAMME, AR-Boost).  "one_vs_rest": it says yes or no about every class, that class against
        the rest (AdaBoost.MH [5]_, for which training rows are held once per class).  With two
        classes both are the same.
        """,
    )
    mistrust: float = parameter(
        default=0.0,
        check=partial(checks.between, low=0.0, high=1e30),
        doc="""
        The C of AdaBoost_reg [6]_: the margin of a row counts as y F + C A m^2, A being the sum of
        all alphas and m the mean, by alpha, of what the row weighed in each round; so rows which
        keep being wrong lose weight.  alpha minimises the risk of these margins.  Weights are
        divided by their mean, so that C does not depend on the number of rows (with weights that
        add up to 1 it is n^2 times as large).  Two classes only, and rho 1.
        """,
    )
    damping: float = parameter(
        default=0.0,
        check=check_damping,
        doc="""
        The beta of WeightBoost [7]_, below 1: a round adds e^(-beta |F|) alpha h(x) where F was the
        raw prediction before it, and a row's weight is e^(-y F - beta |F|).  Two classes only.
        """,
    )


# -- options for the engine ------------------------------------------------------------------------

# `declare.read` makes these of an estimator or a search, and nothing else does: every value is
# checked, and those that have no meaning beside the others are inert.


class BinningOptions(Options, BinningParameters, SizeParameters[float | None], RunParameters):
    """Options of binning."""


ROWS_PER_BIN = 20.0
"""What "auto" rows per bin are for all weak learners but look-up tables of every bin."""


def read_binning(
    model: Any, of_few_cells: float | None = ROWS_PER_BIN, of_every_bin: float | None = 100.0
) -> BinningOptions:
    """Return how the features of a booster are cut.

    `of_every_bin` is what "auto" rows per bin are for look-up tables of every bin, and
    `of_few_cells` for all else.
    """
    given = model.rows_per_bin
    if isinstance(given, str) and given == "auto":
        most = getattr(model, "max_cells", None)
        every_bin = most is None or (checks.is_list(most) and None in most)
        is_table = model.weak_learner == "histogram"
        given = of_every_bin if is_table and every_bin else of_few_cells
    return read(BinningOptions, model, rows_per_bin=given)


class BoostingOptions(
    Options,
    BoostingParameters[
        float,
        int,
        GrowPolicy,
        bool,
        int | None,
        int | None,
        MaxCells,
        Selection,
        MultiStrategy,
        float | None,
        WeakLearner,
        Response,
    ],
    RegularizerParameters,
):
    """Options of boosting."""


class VotingOptions(Options, RhoParameters, VotingParameters):
    """Options of voting."""


def leaves_of(options: BoostingOptions, class_weights: NDArray[np.float64]) -> int:
    """Return the most leaves of a tree that is grown from classes of these weights."""
    if options.max_leaf_nodes is not None:
        return options.max_leaf_nodes
    return int(min(max(_balanced_rows(class_weights) / 80.0, 6, len(class_weights)), 31))


def depth_of(options: BoostingOptions, class_weights: NDArray[np.float64]) -> int:
    """Return the most splits from the root to a leaf of a tree of classes of these weights."""
    if options.max_depth is not None:
        return options.max_depth
    if options.grow_policy != "symmetric":
        return LARGEST_INT
    leaves = max(_balanced_rows(class_weights) / 20.0, 2.0**4)
    two_each = (2 * len(class_weights) - 1).bit_length()
    return min(max(int(leaves).bit_length() - 1, two_each), 6)


def _balanced_rows(class_weights: NDArray[np.float64]) -> float:
    """Return how many rows there are, where every class counts as many as the smallest."""
    return len(class_weights) * float(class_weights.min())


def cells_of(options: BoostingOptions, class_weights: NDArray[np.float64]) -> int | None:
    """Return the most cells of a look-up table; None is every bin."""
    most: MaxCells = options.max_cells
    if most != "auto":
        return most
    many = min(max(float(class_weights.sum()) / FEW_ROWS, 1.0), 2.0**63)  # weights have any scale
    return 2 + int(many).bit_length()


def smoothing_of(options: BoostingOptions, class_weights: NDArray[np.float64]) -> float:
    """Return how far the sums of bins spread."""
    if options.smoothing is not None:
        return options.smoothing
    many = options.max_cells is not None and float(class_weights.sum()) >= FEW_ROWS
    return 0.0 if many else SMOOTHING


def selection_of(weak_learner: WeakLearner, selection: Selection) -> Selection:
    """Return how features are selected: trees and monomials have no turns."""
    return "unbiased" if weak_learner in GROWN and selection == "cyclic" else selection


def screening_of(options: BoostingOptions, rows_of_class: NDArray[np.int64]) -> int | None:
    """Return by how many rows features are compared, if not by all of these."""
    n_rows = int(rows_of_class.sum())
    if options.screening != "auto":
        few = options.screening is not None and n_rows > 2 * options.screening
        return options.screening if few else None
    compared = options.selection == "unbiased" and options.response != "sign"
    tall = n_rows >= LEAST_SCREENED and rows_of_class.min() >= LEAST_OF_CLASS
    return SCREEN if compared and tall and options.weak_learner in ("histogram", "stump") else None


def gain_of(weak_learner: WeakLearner, class_weights: NDArray[np.float64], unit: float) -> float:
    """Return the gain of a loss that is given by its name, without one; `unit` is its gain unit."""
    if weak_learner == "tree":  # whose steps are shrunk by the unit
        return 1.0
    at_one_row = 20.0 if weak_learner == "histogram" else 14.0
    rows = max(_balanced_rows(class_weights), 1.0)
    # NumPy's has another last bit on some processors, and the gain is a part of every model.
    return unit * min(max(at_one_row / math.cbrt(rows), 1.0), 8.0)


def rows_known_of(class_weights: NDArray[np.float64]) -> float:
    """Return how many rows make half of them as sure a share as the smallest class's is here.

    The standard error of a share p of n rows is that of a half of n / (4 p (1 - p)).
    """
    rows = float(class_weights.sum())
    share = min(max(float(class_weights.min()), 1.0) / rows, 0.5)
    return rows / (4.0 * share * (1.0 - share))


def rate_of(options: BoostingOptions, rate_factor: float) -> float:
    """Return the shrinkage of each step; `rate_factor` is that of the loss."""
    if options.learning_rate is not None:
        return options.learning_rate
    if options.weak_learner != "tree" or options.step in SOLVED:
        return 1.0
    gain_shrinks = options.response not in ("newton", "exact") and options.step != "line_search"
    return min(0.1 * rate_factor, 1.0) if gain_shrinks else 0.1
