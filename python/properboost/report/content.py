"""The content of a page: its numbers and names, and its figures."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.comparison.estimates import Estimate
from properboost.inspection.shape_functions import InteractionFunction, ShapeFunction
from properboost.report.options import ReportOptions

__all__ = [
    "FEW_ROWS",
    "NOTABLE_BIAS",
    "NOTABLE_SHARE",
    "NOTABLE_SLOPE",
    "Array",
    "Caution",
    "Counterfactual",
    "Counterfactuals",
    "DecisionCosts",
    "Drift",
    "Effect",
    "Estimate",
    "Evaluation",
    "ExplainedRow",
    "Facts",
    "Figure",
    "Figures",
    "FlipRate",
    "Group",
    "Grouping",
    "JointChange",
    "Limit",
    "ModelScores",
    "Overconfidence",
    "PairEffect",
    "RatioLimit",
    "Reliability",
    "ReliabilityBin",
    "ReportContent",
    "Rival",
    "Score",
    "SearchSummary",
    "SimplerModels",
    "Span",
    "SubsetScores",
    "Term",
    "WaterfallStep",
]

Array: TypeAlias = NDArray[np.float64]

Span: TypeAlias = tuple[float, float]

FEW_ROWS = 10
"""Training rows of a bin below which its value may be chance."""

NOTABLE_SLOPE = 0.15
"""The least |log| of a calibration slope that is worth a warning: 88% should be 91%, or 85%."""

NOTABLE_BIAS = 0.1
"""The least distance of a mean probability from the observed share that is worth a warning, as a
share of the rarer outcome."""

NOTABLE_SHARE = 0.01
"""The least share of the rows that is worth a warning."""


@dataclass(frozen=True)
class Score:
    """A score of the model's predictions, and the score of the shares of the classes.

    `saving` is the model's advantage.
    """

    model: Estimate
    constant: float
    saving: Estimate


@dataclass(frozen=True)
class ReliabilityBin:
    """Rows whose probabilities are between `low` and `high`.

    `predicted` is the mean of the probabilities, and `observed` the share of rows where the event
    occurred, with Wilson's interval.
    """

    low: float
    high: float
    predicted: float
    observed: Estimate
    weight: float


@dataclass(frozen=True)
class Reliability:
    """Agreement of probabilities with labels.

    With two classes these are the probabilities of the second.  With several they are those of the
    predicted class; the slope is then that of all classes' log-odds, and there is no intercept.
    `predicted` and `observed` are means over all rows, and `bias` is their difference.
    """

    bins: tuple[ReliabilityBin, ...]
    predicted: float
    observed: float
    bias: Estimate
    slope: Estimate
    intercept: Estimate | None

    @property
    def slope_is_notable(self) -> bool:
        """Whether the slope is off by more than chance explains, and enough to matter."""
        slope = self.slope
        size = abs(math.log(slope.value)) if slope.value > 0.0 else math.inf
        return slope.is_off(1.0) and size >= NOTABLE_SLOPE

    @property
    def bias_is_notable(self) -> bool:
        """Whether the mean is off by more than chance explains, and enough to matter."""
        rarer = min(self.observed, 1.0 - self.observed)
        return self.bias.is_off(0.0, NOTABLE_BIAS * rarer)


@dataclass(frozen=True)
class Limit:
    """Error rates where the second class is predicted from this probability on.

    All are shares: `called` and `wrong` of all rows, `missed` of those of the class, `false_alarms`
    of the others; NaN where there are none.  `cost` is the mean over the rows, by the costs that
    the limit is compared by; None without costs.
    """

    at: float
    called: float
    missed: float
    false_alarms: float
    wrong: float
    cost: float | None = None


@dataclass(frozen=True)
class RatioLimit:
    """The limit of least expected cost, if a miss costs so many false alarms.

    `relative_cost` is the mean cost there as a share of that at 50%; NaN where that is 0.
    """

    ratio: float
    limit: Limit
    relative_cost: float


@dataclass(frozen=True, eq=False)
class DecisionCosts:
    """Mean costs of a row by the ways to decide: `matrix` has those of decisions by class.

    `most_probable` is of the most probable class, `least` of the decision of least expected cost,
    and `saving` is their difference.  `constant` is of the same decision for all rows, the cheapest
    one.  `limit` is that of two classes.
    """

    matrix: Array
    most_probable: Estimate
    least: Estimate
    saving: Estimate
    constant: float
    constant_class: int
    limit: Limit | None


@dataclass(frozen=True)
class Evaluation:
    """Scores of predicted probabilities on rows whose labels are known.

    `scores` are "error", "log_loss", "brier" and "auc".  ``confusion[k, j]`` is the weight of the
    rows of class `k` that were taken for `j`, and `shares` are those of the classes.  ``missed[k]``
    is the share of the rows of class `k` that were taken for another one, and ``precision[k]`` the
    share of those taken for `k` that were of it.  `limits` and `ratios` are of two classes only.
    `costs` is None without costs of mistakes, and then there are `ratios`.
    """

    scores: dict[str, Score]
    confusion: Array
    shares: Array
    missed: tuple[Estimate, ...]
    precision: tuple[Estimate, ...]
    reliability: Reliability
    limits: tuple[Limit, ...]
    ratios: tuple[RatioLimit, ...]
    costs: DecisionCosts | None
    n_resamples: int


@dataclass(frozen=True)
class Overconfidence:
    """Rows whose predicted class has a probability above `limit`, and how many were wrong."""

    limit: float
    n_rows: int
    n_wrong: int | None


@dataclass(frozen=True)
class Group:
    """Rows of one group, and the model's results on them.

    All fields are about one class: `called` is the share of rows with this prediction, `predicted`
    the mean of its probabilities and `observed` its share.  `missed` is the share of its rows that
    were called another class, `false_alarms` that of other rows that were called it, and `wrong`
    the share of all wrong predictions, whatever the classes.  Fields that need labels are None
    without them.  `is_lump` marks the union of small groups.
    """

    name: str
    weight: float
    called: Estimate
    predicted: float
    observed: Estimate | None
    wrong: Estimate | None
    missed: Estimate | None
    false_alarms: Estimate | None
    is_lump: bool = False


@dataclass(frozen=True)
class Grouping:
    """The groups that a column divides the rows into.

    `findings` are sentences on differences between them beyond chance.  `flips` is the effect of
    other values of this feature alone; None where it was not computed.
    """

    name: str
    is_used: bool
    groups: tuple[Group, ...]
    findings: tuple[str, ...]
    flips: "FlipRate | None" = None


@dataclass(frozen=True)
class FlipRate:
    """The share of rows whose predicted class any of these values of one feature changes.

    `share` is that of `n_rows` rows, and `values` are in words.
    """

    share: float
    n_rows: int
    values: tuple[str, ...]


@dataclass(frozen=True)
class Term:
    """A feature or a joint term, and its importance for raw predictions.

    `place` is its place among all terms: features come first, then those of several.  Where a
    feature's importance includes shares of joint terms, `alone` is that of its curve.
    `within_noise` is about the curve or the map.
    """

    place: int
    name: str
    is_pair: bool
    importance: float
    error: float | None
    within_noise: bool | None
    alone: float | None = None


@dataclass(frozen=True)
class Effect:
    """A feature's shape function on two scales; its training values are in `span`, if known."""

    term: Term
    log_odds: ShapeFunction
    probability: ShapeFunction
    span: Span | None


@dataclass(frozen=True)
class PairEffect:
    """The function of two or three features on two scales, and which of these are numbers."""

    term: Term
    log_odds: InteractionFunction
    probability: InteractionFunction
    are_numbers: tuple[bool, ...]


@dataclass(frozen=True)
class ModelScores:
    """Scores of a model; `n_called` is the number of different predicted classes."""

    error: float
    log_loss: float
    n_called: int


@dataclass(frozen=True)
class SubsetScores:
    """Scores of a model's most important features alone.

    `added` are the features that the previous subset lacks.  `silenced` are the scores of the model
    itself, where the other features have their average effect; `fitted` those of the model fitted
    anew; None is unknown.
    """

    n_features: int
    added: tuple[str, ...]
    silenced: ModelScores | None
    fitted: ModelScores | None


@dataclass(frozen=True)
class SimplerModels:
    """Scores of the model and of simpler ones, on the same rows.

    `whole` are those of the model.  `linear` are those of a logistic regression, and `unprotected`
    those of the model fitted anew without the features that the law may protect; both are None
    without training rows.
    """

    whole: ModelScores
    subsets: tuple[SubsetScores, ...]
    linear: ModelScores | None = None
    unprotected: ModelScores | None = None


@dataclass(frozen=True)
class WaterfallStep:
    """One bar of a waterfall chart: a term of a row, or several together.

    `added` is the change of the log-odds; `before` and `after` are probabilities.  `low` and `high`
    are the ends of an interval of `added`; `parts` names the terms, where there are several.
    """

    name: str
    added: float
    before: float
    after: float
    low: float | None = None
    high: float | None = None
    within_noise: bool = False
    parts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Counterfactual:
    """Values of one feature that would change a row's class, in words, and its present value.

    `to` is the position of the class that would be predicted; the smaller the `size`, the nearer.
    `rows` are the training rows of the nearest value's range, or of the most frequent category, if
    known.
    """

    name: str
    values: str
    present: str
    to: int
    size: float
    is_protected: bool
    rows: float | None = None

    @property
    def is_of_few(self) -> bool:
        """Whether few training rows had the value."""
        return self.rows is not None and self.rows < FEW_ROWS


@dataclass(frozen=True)
class JointChange:
    """New values of two features that together would change a row's class, in words.

    Each of `values` is a feature's name, its new value and its present one.
    """

    values: tuple[tuple[str, str, str], ...]
    to: int


@dataclass(frozen=True)
class Counterfactuals:
    """Counterfactuals of a row, of `n_tried` features, the smallest change first.

    Those of features that the law may protect are apart from the `offered` ones.  `more` names the
    features of the rest.  Where no value is offered, `joint` is the nearest change of two
    features, if there is one; `searched_joint` is whether it was searched.
    """

    offered: tuple[Counterfactual, ...]
    more: tuple[str, ...]
    protected: tuple[Counterfactual, ...]
    n_tried: int
    joint: JointChange | None = None
    searched_joint: bool = False


@dataclass(frozen=True)
class ExplainedRow:
    """A row, its prediction, and the steps that lead there.

    `number` counts the rows from 1.  The steps are about the class `class_label`: the second of two
    classes, or else the predicted one.  Its probability is `probability`.  They lead from the
    average row, with the probability `average`, to this one.  With `additive` steps, the order does
    not matter.  `counterfactuals` are None until they are searched.
    """

    kind: str
    number: int
    label: Any
    predicted: Any
    class_label: Any
    probability: float
    interval: tuple[float, float] | None
    average: float
    steps: tuple[WaterfallStep, ...]
    additive: bool
    counterfactuals: Counterfactuals | None = None

    @property
    def has_errors(self) -> bool:
        """Whether any step has an interval."""
        return any(step.low is not None for step in self.steps)

    @property
    def is_right(self) -> bool | None:
        """Whether the prediction is right; None without a label."""
        return None if self.label is None else bool(self.label == self.predicted)


@dataclass(frozen=True)
class Rival:
    """A family of models, or a candidate: its score, and its distance from the best.

    `error` is the standard error of `behind`; NaN is unknown.
    """

    name: str
    score: float
    behind: float
    error: float
    candidates: int
    seconds: float
    is_chosen: bool

    @property
    def has_error(self) -> bool:
        """Whether the standard error is known, and above 0."""
        return self.error > 0.0

    @property
    def has_seconds(self) -> bool:
        """Whether the seconds of its candidates are known."""
        return self.seconds >= 0.0


@dataclass(frozen=True)
class SearchSummary:
    """The candidates of a search, by families of models, or one by one where there were none.

    `rivals` begin with the best.  `simpler` are the families that are simpler than the chosen one,
    the simplest first.  The candidates of families add up to `n_candidates`, of which `n_dropped`
    were dropped early.
    """

    by_family: bool
    rivals: tuple[Rival, ...]
    simpler: tuple[Rival, ...]
    n_candidates: int
    n_dropped: int
    n_splits: int
    chosen: tuple[tuple[str, str], ...]
    scoring: str
    best_score: float
    ended: str | None
    calibration: dict[str, Any] | None


@dataclass(frozen=True)
class Facts:
    """Facts on a model, in words.

    `kind` is a sentence for readers without knowledge of boosting.  `strangers` are sentences on
    missing and unseen values, `lines` names with values, `parameters` those that differ from the
    defaults, and `edits` the changes by hand.  `names` are the names of the classes, and `unnamed`
    is a clause on labels without a name, if any.  `described` has the descriptions of features.
    """

    estimator: str
    kind: str
    is_boosted: bool
    strangers: tuple[str, ...]
    is_additive: bool
    classes: tuple[Any, ...]
    names: tuple[str, ...]
    unnamed: str
    training_rows: float | None
    features: tuple[str, ...]
    described: Mapping[str, str]
    lines: tuple[tuple[str, str], ...]
    parameters: tuple[tuple[str, str], ...]
    edits: tuple[str, ...]

    def name(self, label: Any) -> str:
        """Return the name of a label's class."""
        return self.names[self.classes.index(label)]


@dataclass(frozen=True)
class Caution:
    """A caution: a short title, its meaning, and its places."""

    title: str
    text: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drift:
    """Rows with values of a feature that no training row had; NaN where unknown."""

    feature: str
    unseen: float
    rare: float
    below: float
    above: float
    missing: float

    @property
    def new(self) -> float:
        """Rows with any such value: unseen categories, numbers beyond, missing values."""
        return float(np.nansum([self.unseen, self.below, self.above, self.missing]))


@dataclass(frozen=True)
class ReportContent:
    """The content of a page.

    `class_` is the class of effects and groups.  `evaluation` and `simpler` need rows with labels.
    `shuffled` has the log loss that each feature's shuffled values add, by the feature's place.
    `no_rows` is the reason for which no rows are shown, if there is one.  `groups_chosen` is a
    sentence on the choice of groups.
    """

    options: ReportOptions
    facts: Facts
    n_rows: int
    evaluation: Evaluation | None
    overconfidence: Overconfidence | None
    drift: Sequence[Drift]
    cautions: Sequence[Caution]
    terms: Sequence[Term]
    shuffled: Mapping[int, float]
    class_: Any
    effects: Sequence[Effect]
    pairs: Sequence[PairEffect]
    simpler: SimplerModels | None
    rows: Sequence[ExplainedRow]
    no_rows: str
    search: SearchSummary | None
    groupings: Sequence[Grouping]
    groups_chosen: str


@dataclass(frozen=True)
class Figure:
    """The charts of an effect on both scales, notes below, and the feature's description, if any.

    `importance` has a curve's share of it, if they differ; `doubt` is "" where there is none.
    `reach` is the effect of the strongest colours of maps, on either scale, and `n_maps` their
    number.  `values` are all ranges or categories: a name, the points, the probability and the
    training rows of each.
    """

    title: str
    importance: str
    doubt: str
    log_odds: str
    probability: str
    notes: tuple[str, ...]
    reach: tuple[str, str] | None = None
    n_maps: int = 0
    values: tuple[tuple[str, str, str, str], ...] = ()
    described: str = ""


@dataclass(frozen=True)
class Figures:
    """The figures of a page.

    With `shows_points`, the charts of some rows show log-odds in place of probabilities.
    """

    reliability: str
    groupings: tuple[str, ...]
    importances: str
    effects: tuple[Figure, ...]
    pairs: tuple[Figure, ...]
    rows: tuple[str, ...]
    shows_points: bool
