"""Section 7's experiment: wrong labels in training, and their effect on each method."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.model_selection import StratifiedKFold

from properboost.estimators.presets import AdaBoost, LogitBoost, RealBoost, SavageBoost
from properboost.model_selection.search_cv import ProperBoostClassifierCV
from properboost.reproduce import data
from properboost.reproduce.item import Experiment, Piece, Reading, Record
from properboost.reproduce.pinned_settings import pin_search

__all__ = [
    "ADA",
    "LEVELS",
    "LIVER",
    "LOGIT",
    "METHODS",
    "NOISE",
    "READINGS",
    "REAL",
    "ROUNDS",
    "SAVAGE",
    "SETS",
    "SHARES",
    "Fold",
    "NoiseSetting",
    "bin_features",
    "count_wrong",
    "find_setting",
    "make_folds",
    "make_methods",
    "name_share",
    "split_tuning",
]

METHODS = SAVAGE, LOGIT, REAL, ADA = ("SavageBoost", "LogitBoost", "RealBoost", "AdaBoost")

SETS = (
    "pima", "wdbc", "wpbc", "breast_cancer_wisconsin", "bupa", "sonar", "echocardiogram",
    "heart_cleveland", "tic_tac_toe", "haberman",
)  # fmt: skip
SHARES = (0.0, 0.05, 0.4)
LEVELS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
ROUNDS = 50
FOLDS = 5


@dataclass(frozen=True)
class NoiseSetting:
    """The choices in which the readings differ.

    Attributes
    ----------
    bins : int or None
        Bins of equal width of each numeric feature; None for one bin per 100 training rows.
    stumps : bool
        Whether all methods have stumps, which cut between any two values.
    wrong : {"flipped", "drawn", "added"}
        The kind of contamination: a label is flipped, or drawn anew, or a copy with the other label
        is added.
    savage : {"guarded", "exact", "printed"}
        The version of SavageBoost.
    stop : {"last", "tuning", "test"}
        The rows that choose the number of rounds: none, a quarter of the training rows, or test
        rows.
    tuned : bool
        Whether each loss has the gain of least log loss in a cross-validation on training rows.
    """

    bins: int | None = 16
    stumps: bool = False
    wrong: Literal["flipped", "drawn", "added"] = "flipped"
    savage: Literal["guarded", "exact", "printed"] = "guarded"
    stop: Literal["last", "tuning", "test"] = "last"
    tuned: bool = False


SETTINGS: Mapping[Reading, NoiseSetting] = {
    Reading(
        "histograms of 16 bins",
        "Section 7 names no weak learner; the authors' next paper (BoostLR, 2015) has "
        '"histogram-based weak learners" on these ten sets.  A histogram has bins of equal '
        "width; their number is not in the paper.  The procedure is that of Wu and Liu (2007), "
        "who flip labels.",
    ): NoiseSetting(),
    Reading("histograms of 8 bins", "The number of bins is not in the paper."): NoiseSetting(
        bins=8
    ),
    Reading("histograms of 32 bins", "The number of bins is not in the paper."): NoiseSetting(
        bins=32
    ),
    Reading(
        "bins of 100 rows", "Bins may hold equally many rows, few enough for their log-odds."
    ): NoiseSetting(bins=None),
    Reading("stumps", "The usual weak learner of AdaBoost and LogitBoost."): NoiseSetting(
        stumps=True
    ),
    Reading(
        "labels drawn anew", '"40% outliers" may be labels drawn at random: half of them are right.'
    ): NoiseSetting(wrong="drawn"),
    Reading(
        "flipped copies added", '"Contamination" may add outliers to the rows there are.'
    ): NoiseSetting(wrong="added"),
    Reading(
        "Algorithm 1 to the letter",
        "The box multiplies weights by e^(y G), which raises those of the rows that are right; "
        "the other methods are as before.",
    ): NoiseSetting(savage="printed"),
    Reading(
        "the exact minimiser in each bin",
        '"The minimization is by gradient descent": each bin has the minimiser of its Savage risk.',
    ): NoiseSetting(savage="exact"),
    Reading(
        "rounds chosen on tuning rows",
        '"each algorithm was allowed 50 iterations", of which 25 were enough; Wu and Liu have '
        "tuning rows, whose labels are contaminated as well.",
    ): NoiseSetting(stop="tuning"),
    Reading(
        "rounds chosen on test rows",
        "No rule that chooses the number of rounds can make fewer errors: a bound on all of them.",
    ): NoiseSetting(stop="test"),
    Reading(
        "gain chosen by cross-validation",
        "The strength of regularisation is not in the paper; here each loss has the best of 16 "
        "gains by the log loss on training rows, wrong labels and all, on bins of 100 rows.",
    ): NoiseSetting(bins=None, tuned=True),
}
READINGS: Sequence[Reading] = tuple(SETTINGS)


@dataclass(frozen=True, eq=False)
class Fold:
    """Training rows, their labels, a mask of the wrong ones, and test rows."""

    train: NDArray[np.intp]
    labels: NDArray[np.int64]
    wrong: NDArray[np.bool_]
    test: NDArray[np.intp]


def find_setting(reading: str) -> NoiseSetting:
    """Return the setting of a reading, by its name."""
    return next(setting for candidate, setting in SETTINGS.items() if candidate.name == reading)


def name_share(share: float) -> str:
    """Return a share in the form of the paper's table."""
    return f"{share:.0%}"


def make_folds(
    y: NDArray[np.int64], share: float, seed: int, kind: str = "flipped"
) -> Iterator[Fold]:
    """Divide the rows for cross-validation, and contaminate a share of those to train on."""
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for k, (train, test) in enumerate(splitter.split(np.zeros((len(y), 1)), y)):
        # Rows that are contaminated at a smaller share are so at a larger one, too.
        random = np.random.default_rng([seed, k])
        order = random.permutation(len(train))
        wrong = np.isin(np.arange(len(train)), order[: round(share * len(train))])
        if kind == "drawn":
            wrong &= random.random(len(train)) < 0.5
        elif kind == "added":
            copies = train[wrong]
            train = np.append(train, copies)
            wrong = np.arange(len(train)) >= len(train) - len(copies)
        yield Fold(train, np.where(wrong, 1 - y[train], y[train]), wrong, test)


def bin_features(table: data.DataSet, fold: Fold, setting: NoiseSetting) -> NDArray[np.float64]:
    """Return the table with numbers of bins, equally wide over the rows to train on."""
    if setting.bins is None or setting.stumps:
        return table.X
    low, high = np.nanmin(table.X[fold.train], axis=0), np.nanmax(table.X[fold.train], axis=0)
    width = np.where(high > low, high - low, 1.0) / setting.bins
    numbers = np.clip(np.floor((table.X - low) / width), 0, setting.bins - 1)
    return np.where(table.categorical, table.X, numbers)


def make_methods(setting: NoiseSetting, categorical: Sequence[bool], seed: int) -> dict[str, Any]:
    """Make the four methods, not yet fitted."""
    shared: dict[str, Any] = {
        "n_estimators": ROUNDS,
        "categorical_features": list(categorical),
        "n_jobs": 1,
    }
    stumps = {**shared, "weak_learner": "stump", "rows_per_bin": None}
    if setting.bins is None:
        learner = {**shared, "rows_per_bin": 100.0}
        votes = stumps
    elif setting.stumps:
        learner = votes = stumps
    else:  # each bin of a histogram is a bin of the table
        learner = {**shared, "rows_per_bin": None}
        votes = {**learner, "weak_learner": "table"}
    if setting.tuned:
        cv = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        tune: Callable[..., Any] = ProperBoostClassifierCV
        pin = partial(pin_search, selection="greedy", cv=cv, **learner)
        losses = {SAVAGE: "savage", LOGIT: "glog", REAL: "exponential"}
        searches = {name: tune(**pin(loss=loss)) for name, loss in losses.items()}
        return {**searches, ADA: AdaBoost(**votes)}
    savages: dict[str, Callable[[], Any]] = {
        "guarded": lambda: SavageBoost(**learner),
        "exact": lambda: SavageBoost(response="exact", **learner),
        "printed": lambda: PrintedSavageBoost(learner),
    }
    return {
        SAVAGE: savages[setting.savage](),
        LOGIT: LogitBoost(**learner),
        REAL: RealBoost(**learner),
        ADA: AdaBoost(**votes),
    }


class PrintedSavageBoost:
    """Algorithm 1 as printed: weights are multiplied by e^(y G)."""

    def __init__(self, learner: Mapping[str, Any]) -> None:
        self.rounds: list[Any] = []
        self.learner = {**learner, "n_estimators": 1}

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int64]) -> "PrintedSavageBoost":
        """Fit all rounds."""
        logs = np.zeros(len(y))
        for _ in range(ROUNDS):
            # A row of weight 0 would not count as a row.
            weights = len(y) * np.maximum(softmax(logs), 1e-12)
            model = RealBoost(**self.learner).fit(X, y, weights)
            logs += model.margins(X, y)
            self.rounds.append(model)
        return self

    def staged_predict(self, X: NDArray[np.float64]) -> Iterator[NDArray[np.int64]]:
        """Yield the labels after each round."""
        raw = np.zeros(len(X))
        for model in self.rounds:
            raw = raw + model.decision_function(X)
            yield (raw > 0).astype(np.int64)


def count_wrong(model: Any, X: NDArray[np.float64], y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of wrong predictions of a model after each round."""
    counts = [int(np.sum(labels != y)) for labels in model.staged_predict(X)]
    # A model with nothing left to learn stops, and its errors stay.
    return np.array(counts + [counts[-1]] * (ROUNDS - len(counts)))


def split_tuning(labels: NDArray[np.int64], seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Set aside a quarter of the training rows, to choose the number of rounds."""
    quarters = StratifiedKFold(4, shuffle=True, random_state=seed)
    learn, tuning = next(iter(quarters.split(np.zeros((len(labels), 1)), labels)))
    return learn, tuning


def measure(piece: Piece) -> Record:
    """Return each method's error (%) on one set, by share of contaminated rows."""
    return {name_share(share): _find_errors(piece, share) for share in SHARES}


def measure_levels(piece: Piece) -> Record:
    """Return each method's error (%) at the levels of Figure 2."""
    return {name_share(share): _find_errors(piece, share) for share in LEVELS}


def _find_errors(piece: Piece, share: float) -> dict[str, float]:
    table, setting = data.load(piece.part), find_setting(piece.reading)
    counts = {method: np.zeros(ROUNDS, int) for method in METHODS}
    for fold in make_folds(table.y, share, piece.seed, setting.wrong):
        X = bin_features(table, fold, setting)
        test, y = X[fold.test], table.y[fold.test]
        train, labels = X[fold.train], fold.labels
        if setting.stop == "tuning":
            learn, tuning = split_tuning(labels, piece.seed)
            tuning_rows, tuning_labels = train[tuning], labels[tuning]
            train, labels = train[learn], labels[learn]
        for method, model in make_methods(setting, table.categorical, piece.seed).items():
            model.fit(train, labels)
            if setting.tuned:  # a search has no stages
                counts[method] += int(np.sum(model.predict(test) != y))
                continue
            wrong = count_wrong(model, test, y)
            if setting.stop == "tuning":
                wrong[:] = wrong[count_wrong(model, tuning_rows, tuning_labels).argmin()]
            counts[method] += wrong
    best = setting.stop == "test"
    return {
        method: 100.0 * float(count.min() if best else count[-1]) / len(table.y)
        for method, count in counts.items()
    }


NOISE = Experiment("savage-noise", {name: (name,) for name in SETS}, measure, seconds=2.0)
LIVER = Experiment("savage-liver", {"bupa": ("bupa",)}, measure_levels, seconds=0.5)
