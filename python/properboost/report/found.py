"""What a report tells, in numbers and names, and what it draws of that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from properboost.inspection.shape_functions import PairFunction, ShapeFunction

__all__ = [
    "FEW_ROWS",
    "SLIGHT",
    "About",
    "Array",
    "Caution",
    "Change",
    "Changes",
    "Collected",
    "Compared",
    "Drawn",
    "Drift",
    "Effect",
    "Estimate",
    "Extremes",
    "Facts",
    "FewScores",
    "Fewer",
    "Group",
    "Grouping",
    "Judged",
    "Limit",
    "PairEffect",
    "Reliability",
    "ReliabilityBin",
    "Rival",
    "Score",
    "Span",
    "Step",
    "TellingRow",
    "Term",
    "View",
]

Array: TypeAlias = NDArray[np.float64]

Span: TypeAlias = tuple[float, float]

FEW_ROWS = 10
"""Training rows of a bin below which its value may be chance."""

SLIGHT = 0.05
"""Distance of a calibration slope from 1, or of means as a share, that is not worth a warning."""


@dataclass(frozen=True)
class Estimate:
    """A number, and the ends of an interval for it; NaN is not known."""

    value: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether the number and both ends are known."""
        return bool(np.isfinite([self.value, self.low, self.high]).all())

    def is_off(self, right: float, least: float = 0.0) -> bool:
        """Whether the number is farther from the right one than chance explains, and `least`."""
        beyond = not self.low <= right <= self.high
        return self.is_known and beyond and abs(self.value - right) >= least


@dataclass(frozen=True)
class About:
    """What only people know of a model and of rows; None is not stated."""

    purpose: str | None = None
    model_source: str | None = None
    data_source: str | None = None
    date: str | None = None


@dataclass(frozen=True)
class Score:
    """A score of the model's predictions and, in their place, of the shares of the classes.

    `saving` is by how much the model is better.
    """

    model: Estimate
    constant: float
    saving: Estimate


@dataclass(frozen=True)
class ReliabilityBin:
    """Rows whose probabilities are between `low` and `high`, and how often what they say was so.

    `predicted` is the mean of the probabilities; the ends of the interval of `observed` are
    Wilson's.
    """

    low: float
    high: float
    predicted: float
    observed: Estimate
    weight: float


@dataclass(frozen=True)
class Reliability:
    """How probabilities agree with what was so.

    With two classes these are the probabilities of the second.  With several they are those of
    the predicted class; the slope is then that of all classes' log-odds, and there is no intercept.
    `predicted` and `observed` are means over all rows, and `bias` is by how much the first is
    larger.
    """

    bins: tuple[ReliabilityBin, ...]
    predicted: float
    observed: float
    bias: Estimate
    slope: Estimate
    intercept: Estimate | None


@dataclass(frozen=True)
class Limit:
    """What a limit of the probability of the second class costs, from which on it is called so.

    All are shares: `called` and `wrong` of all rows, `missed` of those of the class, `false_alarms`
    of the others; NaN where there are none.
    """

    at: float
    called: float
    missed: float
    false_alarms: float
    wrong: float


@dataclass(frozen=True)
class Judged:
    """What is known of predicted probabilities, from rows whose labels are known.

    `scores` are "error", "log_loss", "brier" and "auc".  ``confusion[k, j]`` is the weight of the
    rows of class `k` that were taken for `j`, and `shares` are those of the classes.  ``missed[k]``
    is the share of the rows of class `k` that were taken for another one, and ``kept[k]`` the share
    of those taken for `k` that were of it.  `limits` are of two classes only.
    """

    scores: dict[str, Score]
    confusion: Array
    shares: Array
    missed: tuple[Estimate, ...]
    kept: tuple[Estimate, ...]
    reliability: Reliability
    limits: tuple[Limit, ...]
    n_resamples: int


@dataclass(frozen=True)
class Extremes:
    """Rows whose predicted class has a probability above `limit`, and how many were wrong."""

    limit: float
    n_rows: int
    n_wrong: int | None


@dataclass(frozen=True)
class Group:
    """Rows that have something in common, and how the model treats them.

    All is about one class: `called` is the share of rows it is predicted for, `predicted` the mean
    of its probabilities and `observed` its share.  `missed` is the share of its rows that were
    called another class, `false_alarms` that of other rows that were called it, and `wrong` the
    share of all wrong predictions, whatever the classes.  What needs labels is None without.
    `is_lump` says that it is what is left of small groups, put together.
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

    `findings` are sentences on what differs between them by more than chance explains.  `turned`
    is the share of the rows that would be called otherwise if nothing but this feature of theirs
    were another one; None where that was not tried.
    """

    name: str
    is_used: bool
    groups: tuple[Group, ...]
    findings: tuple[str, ...]
    turned: float | None = None


@dataclass(frozen=True)
class Term:
    """A feature or a pair, and how much it moves raw predictions.

    `place` is its place among all terms: features come first, then pairs.
    """

    place: int
    name: str
    is_pair: bool
    importance: float
    error: float | None
    within_noise: bool | None


@dataclass(frozen=True)
class Effect:
    """A feature's shape function on two scales; its training values are in `span`, if known."""

    term: Term
    log_odds: ShapeFunction
    probability: ShapeFunction
    span: Span | None


@dataclass(frozen=True)
class PairEffect:
    """A pair's function on two scales."""

    term: Term
    log_odds: PairFunction
    probability: PairFunction


@dataclass(frozen=True)
class FewScores:
    """What few features score; `n_called` is how many different classes are predicted."""

    error: float
    log_loss: float
    n_called: int


@dataclass(frozen=True)
class Fewer:
    """What a model's most important features score alone.

    `added` are those that fewer did not have.  `silenced` is of the model itself, where the others
    say what they say on average, and `fitted` of the model fitted anew; None is not known.
    """

    n_features: int
    added: tuple[str, ...]
    silenced: FewScores | None
    fitted: FewScores | None


@dataclass(frozen=True)
class Step:
    """What one term of a row, or several, do to its prediction after those before.

    `added` is how far the log-odds move, and `before` and `after` are probabilities.  `low` and
    `high` are the ends of an interval of `added`; `parts` names the terms, where there are several.
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
class Change:
    """Values of one feature that would turn a row, in words, and the one that it has.

    `to` is the position of the class that it would be called; the smaller the `size`, the nearer.
    `rows` are the training rows of the range of the nearest value, or of the most frequent
    category, if they are known.
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
        """Whether training hardly knew the value."""
        return self.rows is not None and self.rows < FEW_ROWS


@dataclass(frozen=True)
class Changes:
    """The single changes that would turn a row, of `n_tried` features, the smallest first.

    Those of features that the law may protect are apart from those `offered`, which are not all:
    `more` names the features of the others.
    """

    offered: tuple[Change, ...]
    more: tuple[str, ...]
    protected: tuple[Change, ...]
    n_tried: int


@dataclass(frozen=True)
class TellingRow:
    """A row, what is predicted of it, and why.

    `number` counts the rows from 1.  The steps are about `spoken_for`: the second of two classes,
    or else the predicted one, whose probability is `probability`.  They lead from the average row,
    with the probability `average`, to this one; `additive` says that each of them adds as much
    in any order.  `changes` are None where none were looked for.
    """

    kind: str
    number: int
    label: Any
    predicted: Any
    spoken_for: Any
    probability: float
    interval: tuple[float, float] | None
    average: float
    steps: tuple[Step, ...]
    additive: bool
    changes: Changes | None = None

    @property
    def has_errors(self) -> bool:
        """Whether any step has an interval."""
        return any(step.low is not None for step in self.steps)

    @property
    def is_right(self) -> bool | None:
        """Whether the prediction is right; None if that is not known."""
        return None if self.label is None else bool(self.label == self.predicted)


@dataclass(frozen=True)
class Rival:
    """A family of models, or a candidate: what it scored, and how far it is behind the best.

    `error` is the standard error of `behind`; NaN is not known.
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
        """Whether the standard error is known, and says anything."""
        return self.error > 0.0

    @property
    def has_seconds(self) -> bool:
        """Whether it is known what its candidates took."""
        return self.seconds >= 0.0


@dataclass(frozen=True)
class Compared:
    """What was compared: families of models, or candidates where there were none.

    `rivals` begin with the best; `simpler` are the families that are simpler than the chosen one,
    the simplest first.  The candidates of families add up to `n_candidates`, of which `n_dropped`
    were not tried to the end.
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
    """What there is to say of a model.

    `kind` is a sentence for readers who do not know boosting, `strangers` are sentences on missing
    and unseen values, `lines` are names with what they have, `parameters` those that are not the
    defaults, and `edits` what was changed by hand.  `names` are what the classes are called, and
    `unnamed` is a clause on the labels of which nobody said what they
    stand for, if any.  `described` says of features what they hold.
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
        """Return what the class of a label is called."""
        return self.names[self.classes.index(label)]


@dataclass(frozen=True)
class Caution:
    """Something to beware of: a short title, what it means, and where."""

    title: str
    text: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drift:
    """Rows whose value of a feature no training row had; NaN where it is not known."""

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
class Collected:
    """What a report tells.

    `class_` is the class that effects and groups are of.  `judged` and `fewer` are of rows with
    labels only, as is `whole`, what the model scores beside them; `linear`, what a logistic
    regression scores, and `unprotected`, the model fitted anew without the features that the law
    may protect, are of those with training rows.
    `no_rows` is why no rows are told, where they cannot be, and `groups_chosen` says how the groups
    were chosen.
    """

    about: About
    facts: Facts
    n_rows: int
    judged: Judged | None
    extremes: Extremes | None
    drift: Sequence[Drift]
    cautions: Sequence[Caution]
    terms: Sequence[Term]
    class_: Any
    effects: Sequence[Effect]
    pairs: Sequence[PairEffect]
    fewer: Sequence[Fewer]
    linear: FewScores | None
    unprotected: FewScores | None
    whole: FewScores | None
    rows: Sequence[TellingRow]
    no_rows: str
    compared: Compared | None
    groupings: Sequence[Grouping]
    groups_chosen: str
    confidence_level: float


@dataclass(frozen=True)
class Drawn:
    """An effect on both scales, a sentence or two below, and what the feature holds, if stated.

    `reach` is what the strongest colours of a grid stand for, on either scale.  `values` are all
    ranges or categories: a name, the points, the probability and the training rows of each.
    """

    title: str
    importance: str
    within_noise: bool
    log_odds: str
    probability: str
    notes: tuple[str, ...]
    reach: tuple[str, str] | None = None
    values: tuple[tuple[str, str, str, str], ...] = ()
    described: str = ""


@dataclass(frozen=True)
class View:
    """The charts of a page; some of rows show log-odds in place of probabilities, or none do."""

    reliability: str
    groupings: tuple[str, ...]
    importances: str
    effects: tuple[Drawn, ...]
    pairs: tuple[Drawn, ...]
    rows: tuple[str, ...]
    shows_points: bool
