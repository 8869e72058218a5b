"""``properboost demo``: tuned gains against the classical losses and the published errors.

It is Table 6 of the BoostLR paper [1]_ with one difference that matters: the gain of each loss is
chosen by cross-validation on the training rows.  The choice of hindsight is labelled as such.

References
----------
.. [1] Masnadi-Shirazi and Vasconcelos (2015). A view of margin losses as regularizers of
   probability estimates. Journal of Machine Learning Research 16.
"""

import argparse
import importlib.util
import io
import math
import textwrap
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from properboost import _core, datasets, plots
from properboost.cli.shared_arguments import add_threads, misuse_if_wrong
from properboost.estimators.presets import AdaBoost, LogitBoost
from properboost.estimators.properboost import ProperBoostClassifier
from properboost.estimators.properboost_parameters import check_parameters
from properboost.losses.builtin import GLog
from properboost.losses.registry import get_loss
from properboost.model_selection.search_cv import ProperBoostClassifierCV
from properboost.notices import find_stderr, tell
from properboost.parameters import checks
from properboost.parameters.learners import Table
from properboost.plots.canvas import import_matplotlib
from properboost.reproduce.boostlr.large_sets_published import BEST_GAINS, ERRORS
from properboost.reproduce.data import explain
from properboost.reproduce.published import Published
from properboost.whole_file import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = """\
The gain of each loss is chosen by cross-validation on the training rows.
ADULT is left out where it can neither be found (in the folder named by
PROPERBOOST_DATA, in the cache) nor be downloaded.

examples:
  properboost demo
  properboost demo --gains 0.5 1 2 4 --rounds 200 --output-dir results
"""

GAINS = (0.25, 0.33, 0.5, 1.0, 2.0, 3.0, 4.0, 8.0)

N_FOLDS = 5

# The demo shows the papers' boosting, whatever the defaults are.
AS_PUBLISHED: dict[str, Any] = {
    "weak_learner": Table(max_cells=None, smoothing=0.0),
    "selection": "greedy",
    "calibration": None,
}
TUNED = {"GLog": "glog", "GLaplacian": "glaplacian"}
PRESETS = {"AdaBoost": AdaBoost, "LogitBoost": LogitBoost}
SEARCH = "Search"


Model: TypeAlias = ProperBoostClassifier | ProperBoostClassifierCV


@dataclass(frozen=True, eq=False)
class Problem:
    """A binary problem, divided into training and test rows."""

    name: str
    classes: str
    X: Any
    y: NDArray[np.int64]
    X_test: Any
    y_test: NDArray[np.int64]
    categorical: list[bool]
    feature_names: list[str]
    positive: str


@dataclass(frozen=True, eq=False)
class Trial:
    """One fit on all training rows, with its results on the test rows."""

    model: Model
    seconds: float
    errors: int
    log_loss: float
    cv_log_loss: float

    @property
    def gain(self) -> float:
        """The gain of the loss."""
        if isinstance(self.model, ProperBoostClassifierCV):
            return self.model.gain_
        return get_loss(self.model.loss, self.model.gain).gain


@dataclass(frozen=True, eq=False)
class ProblemTrials:
    """All trials on one problem: one for each gain of the tuned losses, and one for each other."""

    problem: Problem
    tuned: dict[str, list[Trial]]
    fixed: dict[str, Trial]
    search: Trial
    family: str
    """The family that the search chose."""

    def chosen(self, method: str) -> Trial:
        """Return the trial of least cross-validated log loss."""
        return min(self.tuned[method], key=lambda trial: trial.cv_log_loss)

    def hindsight(self, method: str) -> Trial:
        """Return the trial of fewest errors on the test rows, which no user could choose."""
        return min(self.tuned[method], key=lambda trial: trial.errors)

    @property
    def best_method(self) -> str:
        """The tuned loss of least cross-validated log loss."""
        return min(self.tuned, key=lambda method: self.chosen(method).cv_log_loss)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the trials, and the place of the picture."""
    shown = " ".join(f"{gain:g}" for gain in GAINS)
    parser.add_argument(
        "--output-dir",
        metavar="FOLDER",
        default="out",
        help="folder of the picture demo.png, which is replaced (default: %(default)s)",
    )
    parser.add_argument(
        "--gains",
        metavar="G",
        nargs="+",
        type=float,
        default=GAINS,
        help=f"gains to try (default: {shown})",
    )
    parser.add_argument(
        "--rounds", metavar="N", type=int, default=100, help="rounds (default: %(default)s)"
    )
    add_threads(parser)


def run(arguments: argparse.Namespace, parser: argparse.ArgumentParser) -> None:
    """Train, print the table, and draw the picture ``demo.png``.

    The table goes to stdout; progress and omissions go to stderr.
    """
    began = time.perf_counter()
    shared = {"n_estimators": arguments.rounds, "n_jobs": arguments.n_jobs}
    with misuse_if_wrong(parser):
        check_parameters(ProperBoostClassifier(**shared))
        for gain in arguments.gains:
            check_parameters(ProperBoostClassifier(gain=gain))
    gains = sorted(set(arguments.gains))
    folder = Path(arguments.output_dir)
    folder.mkdir(parents=True, exist_ok=True)  # report a wrong folder before the work
    progress = _Progress()
    print(_headline(arguments.rounds, checks.count_threads(arguments.n_jobs)), flush=True)
    outcomes = []
    for problem in _load_problems(progress):
        outcomes.append(_try_all(problem, gains, shared, progress))
        progress.clear()
        print(_table(outcomes[-1]), flush=True)
    print(_footnotes(gains, outcomes))
    progress("drawing the picture")
    try:
        picture = _draw(outcomes, folder / "demo.png")
    except ImportError as error:
        picture = f"No picture was drawn; {error}"
    progress.clear()
    print(f"{picture}\nAll took {time.perf_counter() - began:.0f} s.")


class _Progress:
    """Progress on stderr: in place on a terminal, now and then elsewhere."""

    _SECONDS_BETWEEN_LINES = 2.0

    def __init__(self) -> None:
        self._last = -math.inf
        stream = find_stderr()
        self._in_place = stream is not None and stream.isatty()

    def __call__(self, text: str) -> None:
        if self._in_place:
            tell(f"\r\x1b[2K{text} ...", end="")
        elif time.monotonic() - self._last >= self._SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            tell(f"{text} ...")

    def clear(self) -> None:
        """Make room for the next output."""
        if self._in_place:
            tell("\r\x1b[2K", end="")


# -- the data -------------------------------------------------------------------------------------


def _load_problems(progress: _Progress) -> Iterator[Problem]:
    """Yield the available sets of the paper's Table 6; note the reason for each other one."""
    progress("loading LETTER")
    yield _load("LETTER.p1", "the letter O against the rest", datasets.load_letter, part="p1")
    yield _load("LETTER.p2", "N to Z against A to M", datasets.load_letter, part="p2")
    progress("looking for ADULT")
    try:
        adult = _load("ADULT", "income above 50,000 dollars against the rest", datasets.load_adult)
    except (ImportError, OSError, ValueError) as error:
        progress.clear()
        tell(f"ADULT is left out: {explain(error)}")
    else:
        yield adult


def _load(name: str, classes: str, load: Callable[..., Any], **which: Any) -> Problem:
    as_frame = importlib.util.find_spec("pandas") is not None
    train, test = (load(subset=part, as_frame=as_frame, **which) for part in ("train", "test"))
    return Problem(
        name=name,
        classes=classes,
        X=train.data,
        y=np.asarray(train.target),
        X_test=test.data,
        y_test=np.asarray(test.target),
        categorical=[feature in train.categories for feature in train.feature_names],
        feature_names=train.feature_names,
        positive=str(train.target_names[1]),
    )


# -- the fits -------------------------------------------------------------------------------------


def _try_all(
    problem: Problem, gains: Sequence[float], shared: dict[str, Any], progress: _Progress
) -> ProblemTrials:
    shared = shared | {"categorical_features": problem.categorical}
    _try(problem, ProperBoostClassifier(**shared))  # the first fit starts the threads: not timed
    tuned: dict[str, list[Trial]] = {}
    for method, loss in TUNED.items():
        progress(f"{problem.name}: {method}, {len(gains)} gains, {N_FOLDS} folds")
        models = [
            ProperBoostClassifier(loss, gain=gain, **AS_PUBLISHED, **shared) for gain in gains
        ]
        losses = _cross_validate(problem, loss, gains, shared)
        tuned[method] = [_try(problem, *pair) for pair in zip(models, losses, strict=True)]
    progress(f"{problem.name}: exponential, logistic, AdaBoost, LogitBoost")
    fixed = {
        "Logistic": ProperBoostClassifier("glog", gain=1.0, **AS_PUBLISHED, **shared),
        "Exponential": ProperBoostClassifier("exponential", gain=1.0, **AS_PUBLISHED, **shared),
        **{name: preset(**shared) for name, preset in PRESETS.items()},
    }
    progress(f"{problem.name}: families of models")
    search = ProperBoostClassifierCV(
        effort=2, categorical_features=problem.categorical, n_jobs=shared["n_jobs"], random_state=0
    )
    trial = _try(problem, search)
    return ProblemTrials(
        problem,
        tuned,
        {name: _try(problem, model) for name, model in fixed.items()},
        replace(trial, cv_log_loss=-search.best_score_),
        str(search.family_),
    )


def _cross_validate(
    problem: Problem, loss: str, gains: Sequence[float], shared: dict[str, Any]
) -> list[float]:
    """Return the cross-validated log loss of each gain."""
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    settings = dict(shared)
    rounds = settings.pop("n_estimators")
    search = ProperBoostClassifierCV(
        {"loss": loss, "gain": [*gains], "n_estimators": rounds, **AS_PUBLISHED},
        cv=folds,
        effort=None,
        refit=False,
        **settings,
    )
    with warnings.catch_warnings():
        # The picture shows whether the best gain is at an end of the list.
        warnings.simplefilter("ignore", UserWarning)
        search.fit(problem.X, problem.y)
    return [-float(score) for score in search.cv_results_["mean_test_score"]]


def _try(problem: Problem, model: Model, cv_log_loss: float = math.nan) -> Trial:
    began = time.perf_counter()
    model.fit(problem.X, problem.y)
    seconds = time.perf_counter() - began
    errors = int(np.sum(model.predict(problem.X_test) != problem.y_test))
    loss = float(log_loss(problem.y_test, model.predict_proba(problem.X_test)))
    return Trial(model, seconds, errors, loss, cv_log_loss)


# -- the table ------------------------------------------------------------------------------------

_ROW = "{:<12}{:>6}{:>9}{:>8}{:>10}{:>9}{:>8}{:>8}{:>8}{:>8}"


def _headline(n_estimators: int, n_threads: int) -> str:
    return (
        f"properboost {_core.__version__}: {n_estimators} rounds, real response, guarded steps, "
        f"{n_threads} {'thread' if n_threads == 1 else 'threads'}\n"
    )


def _table(outcome: ProblemTrials) -> str:
    problem = outcome.problem
    sizes = f"{len(problem.y):,} training and {len(problem.y_test):,} test rows"
    head = ("", "gain", "CV loss", "errors", "log loss", "fit (s)", *("gain", "errors") * 2)
    lines = [
        f"{problem.name}: {problem.classes}; {sizes}",
        f"{'':<12}{'gain from training rows alone':^42}{'hindsight':>16}{'published':>16}",
        _ROW.format(*head),
    ]
    for method in outcome.tuned:
        best = outcome.hindsight(method)
        hindsight = (_number(best.gain), str(best.errors))
        lines.append(_line(problem, method, outcome.chosen(method), hindsight))
    lines += [_line(problem, method, trial) for method, trial in outcome.fixed.items()]
    lines += [f"{_line(problem, SEARCH, outcome.search)}   {outcome.family}"]
    return "\n".join(lines) + "\n"


def _line(
    problem: Problem, method: str, trial: Trial, hindsight: tuple[str, str] = ("", "")
) -> str:
    return _ROW.format(
        method,
        "" if method in PRESETS or method == SEARCH else _number(trial.gain),
        "" if math.isnan(trial.cv_log_loss) else f"{trial.cv_log_loss:.4f}",
        trial.errors,
        f"{trial.log_loss:.4f}",
        f"{trial.seconds:.3f}",
        *hindsight,
        _text(BEST_GAINS.get((method, problem.name))),
        _text(ERRORS.get((method, problem.name))),
    ).rstrip()


def _number(gain: float) -> str:
    return f"{gain:g}"


def _text(published: Published | None) -> str:
    return "" if published is None else published.text


_NOTES = """\
errors, log loss: on the test rows.  fit: one fit, binning included.
gain from training rows alone: of {gains} the one of least log loss in {n_folds}-fold \
cross-validation on the training rows (CV loss).  Exponential and Logistic (GLog) have gain 1; \
AdaBoost (stumps, exact steps) and LogitBoost (Newton steps) have no effective gain.
Search: ProperBoostClassifierCV(effort=2), which compares families of models on a fifth of \
the training rows (CV loss), and fits the best, named here, to all; fit is the whole search.
hindsight: the gain of fewest errors on the test rows.  Nobody could have chosen it; it is shown \
because tables of optimal gains may have such gains.
published: Masnadi-Shirazi and Vasconcelos, JMLR 16 (2015), Table 6: 100 rounds of histograms.  \
The paper calls these gains optimal and cross-validated, without naming the rows.  Its \
histograms seem to be class-conditional: they weigh both classes alike, and so make more errors \
where one class is rare.  Here rows are weighed alike (docs/papers/histograms.md).
"""

_ADULT_NOTE = """\
ADULT: every category has its own bin here; the paper has no description of its bins.
"""


def _footnotes(gains: Sequence[float], outcomes: Sequence[ProblemTrials]) -> str:
    notes = _NOTES.format(gains=", ".join(f"{gain:g}" for gain in gains), n_folds=N_FOLDS)
    if any(outcome.problem.name == "ADULT" for outcome in outcomes):
        notes += _ADULT_NOTE
    wrap = textwrap.TextWrapper(94, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(wrap.fill(note) for note in notes.splitlines())


# -- the picture ----------------------------------------------------------------------------------

# Okabe and Ito's colours, which stay different for the colour-blind; markers differ as well.
_STYLES: dict[str, dict[str, Any]] = {
    "GLog": {"color": "#0072B2", "marker": "o"},
    "GLaplacian": {"color": "#D55E00", "marker": "s"},
    "Exponential": {"color": "black", "marker": "X"},
    "gain 1": {"color": "#009E73", "marker": "^"},
}


def _draw(outcomes: Sequence[ProblemTrials], path: Path) -> str:
    columns = len(outcomes)
    size = (4.6 * columns, 17.5)
    # A figure without pyplot: no window, no backend to choose, nothing left behind.
    make_figure = import_matplotlib("figure").Figure
    figure = make_figure(figsize=size, layout="constrained", dpi=110)
    top, bottom = figure.subfigures(2, 1, height_ratios=[3.0, 2.0], hspace=0.03)
    _draw_outcomes(top, outcomes)
    _draw_shapes(bottom, outcomes[-1], columns)
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    write_whole(path, [picture.getbuffer()])
    return f"Wrote the picture to {path}."


def _title(figure: "SubFigure", text: str) -> None:
    # Empty half lines: headings are to stand apart from the titles of the plots.
    figure.suptitle(f"\n{text}\n", fontsize=14, fontweight="bold", linespacing=0.5)


def _draw_outcomes(figure: "SubFigure", outcomes: Sequence[ProblemTrials]) -> None:
    _title(figure, "Effect of the gain. Rings: the gain chosen on the training rows alone")
    grid = figure.subplots(3, len(outcomes), squeeze=False)
    for (errors, losses, reliability), outcome in zip(grid.T, outcomes, strict=True):
        name = outcome.problem.name
        _draw_curves(errors, outcome, "errors")
        errors.set_title(f"{name}: errors on {len(outcome.problem.y_test):,} test rows")
        errors.set_ylabel("errors")
        _draw_curves(losses, outcome, "log_loss")
        _draw_cross_validation(losses, outcome)
        losses.set_title(f"{name}: log loss on the test rows")
        losses.set_ylabel("log loss")
        _draw_reliability(reliability, outcome)
    grid[0, 0].legend(fontsize=9)


def _draw_curves(ax: "Axes", outcome: ProblemTrials, score: str) -> None:
    for method, trials in outcome.tuned.items():
        style = _STYLES[method]
        gains = [trial.gain for trial in trials]
        ax.plot(gains, [getattr(trial, score) for trial in trials], label=method, ms=5, **style)
        chosen = outcome.chosen(method)
        ring: dict[str, Any] = {
            "marker": "o",
            "ms": 14,
            "mfc": "none",
            "mew": 1.5,
            "color": style["color"],
        }
        ax.plot([chosen.gain], [getattr(chosen, score)], **ring)
    exponential = outcome.fixed["Exponential"]
    point = _STYLES["Exponential"] | {"linestyle": "none", "ms": 8, "label": "Exponential"}
    ax.plot([exponential.gain], [getattr(exponential, score)], **point)
    _use_log_axis(ax, [trial.gain for trial in outcome.tuned["GLog"]])
    ax.grid(alpha=0.3)


def _draw_cross_validation(ax: "Axes", outcome: ProblemTrials) -> None:
    for method, trials in outcome.tuned.items():
        gains = [trial.gain for trial in trials]
        losses = [trial.cv_log_loss for trial in trials]
        ax.plot(gains, losses, linestyle=":", color=_STYLES[method]["color"])
    ax.plot([], [], linestyle=":", color="black", label="cross-validated")
    ax.legend(handles=ax.lines[-1:], fontsize=9)


def _use_log_axis(ax: "Axes", gains: Sequence[float]) -> None:
    low, high = min(*gains, 1.0), max(*gains, 1.0)
    powers = np.arange(math.floor(math.log2(low)), math.ceil(math.log2(high)) + 1)
    ax.set_xscale("log", base=2)
    ax.set_xticks(2.0**powers, [f"{2.0**power:g}" for power in powers])
    ax.set_xlim(low / 1.2, high * 1.2)
    ax.set_xlabel("gain")


def _draw_reliability(ax: "Axes", outcome: ProblemTrials) -> None:
    """Draw GLog through its own link and through the link of gain 1, as the paper's Table 5."""
    problem, model = outcome.problem, outcome.chosen("GLog").model
    F = model.decision_function(problem.X_test)
    lines = [(f"GLog, gain {model.gain:g}", "GLog", model.loss_.probability(F))]
    if model.gain != 1.0:
        lines.append(("same model, link of gain 1", "gain 1", GLog(1.0).probability(F)))
    exponential = outcome.fixed["Exponential"].model
    lines.append(("Exponential", "Exponential", exponential.predict_proba(problem.X_test)[:, 1]))
    for label, style, probability in lines:
        label += f": {log_loss(problem.y_test, probability):.3f}"
        plots.plot_reliability(problem.y_test, probability, ax, label=label, **_STYLES[style])
    ax.set_title(f"{problem.name}: reliability on the test rows, log loss")
    ax.set_aspect("auto")  # as wide as the plots above
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, fontsize=8, frameon=False)
    ax.grid(alpha=0.3)


def _draw_shapes(figure: "SubFigure", outcome: ProblemTrials, columns: int) -> None:
    method, problem = outcome.best_method, outcome.problem
    model = outcome.chosen(method).model
    what = f"{problem.name}, {method} with gain {model.gain:g}"
    _title(figure, f"{what}: the most important features")
    importances = model.feature_importances_
    features = np.argsort(-importances, kind="stable")[: 2 * columns]
    for feature, ax in zip(features, figure.subplots(2, columns, squeeze=False).flat, strict=True):
        plots.plot_shape_function(model, int(feature), ax=ax, max_categories=16)
        for axis in (ax.xaxis, ax.yaxis):  # labels are 0 and 1 here
            axis.set_label_text(axis.get_label_text().replace(" of 1", f" of {problem.positive}"))
        ax.set_title(f"{problem.feature_names[feature]} ({importances[feature]:.0%})")
        ax.grid(alpha=0.3)
        ax.set_axisbelow(True)
