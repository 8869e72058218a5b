"""Search for the best setting by cross-validation with properboost and its peers.

    python -m benchmarks.peers.search                                # ADULT and LETTER.p2, minutes
    python -m benchmarks.peers.search --setting large --values 16    # 200,000 x 50, most of an hour
    python -m benchmarks.peers.search --only 'lightgbm*' '*greedy*'  # some of the lines
    python -m benchmarks.peers.search --rows 1000 --repeats 1        # a quick look

All search the same folds: `--values` settings x `--folds` folds x `--rounds` rounds of depth 1 (two
leaves a tree), with the same number of bins and threads, no row or column sampling, no early
stopping, no minimum leaf size, and no final fit on all rows.  The peers search a learning rate,
properboost the gain.  Its selections are two lines: a greedy round is one table, as a round of the
peers is one tree.  A cyclic round is a table for every feature, so 100 cycles fit far more than 100
rounds, and take another amount of work (`--cycles` sets their number).

Each peer takes part in several ways, because the fastest depends on the table; "the fastest peer"
is the fastest of all these:

- the library's cross-validation: `lgb.cv` and `xgb.cv` with one binned or plain matrix for all
  values, `GridSearchCV` for scikit-learn;
- "folds": each fold's training and held-out rows are put into the library's binned format once,
  for all values (LightGBM: subsets of one binned Dataset; XGBoost: a QuantileDMatrix a fold;
  CatBoost: slices of one quantized Pool);
- "weights": one binned matrix of all rows for all folds and values, held-out rows with weight 0;
- "at once": folds, and as many models at a time as there are threads, each on one thread;
- "at the end": the same with held-out rows scored after the last round only.

The time starts at the user's array or DataFrame (with its categories declared, in the setting
`adult`) and ends with the best value: it includes making the library's format, fitting and scoring.

"log loss" is the held-out log loss of the best value, the mean of the folds.  Contestants that
score each round also report the log loss of the best round; GridSearchCV and "at the end" have that
of the last round only.  Compare the column "last round", which all have: peers that do the same
work have to reach nearly the same.

The contestants take turns, see `lib/race.py`; the warm-up is a search of two values.  The
ratio of times to properboost's is the median of the rounds' ratios.  Run it on an idle machine, see
`peers/fit.py`.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from benchmarks.lib.cli import blocks, make_parser, print_heading, start
from benchmarks.lib.data import Problem, log_loss
from benchmarks.lib.libraries import (
    LIGHTGBM_WAYS,
    Setting,
    catboost_parameters,
    catboost_pool,
    lightgbm_dataset,
    lightgbm_parameters,
    limit_openmp,
    make_sklearn,
    xgboost_bins,
    xgboost_parameters,
)
from benchmarks.lib.race import OURS, Contestant, by_name, find, in_one, print_against_ours, race

# Learning rates of the peers, some of which warn above 1.  Times do not depend on them.
RATES = (0.05, 1.0)
# Gains of properboost, from the least that regularises GLog's probabilities.
GAINS = (0.25, 64.0)

Splits = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


@dataclass(frozen=True)
class SearchSetting(Setting):
    """A table and the size of the search."""

    values: int = 10
    folds: int = 5
    cycles: int | None = None  # of cyclic selection; as many as rounds

    def split(self, problem: Problem) -> Splits:
        """Return the folds."""
        splitter = StratifiedKFold(self.folds, shuffle=True, random_state=0)
        return list(splitter.split(np.empty(len(problem.y)), problem.y))

    def rates(self) -> list[float]:
        """Return the learning rates that peers search."""
        return np.geomspace(*RATES, self.values).tolist()

    def gains(self) -> list[float]:
        """Return the gains that properboost searches."""
        return np.geomspace(*GAINS, self.values).tolist()


SETTINGS = {
    "adult": SearchSetting("adult"),
    "adult-numeric": SearchSetting("adult-numeric"),
    "letter": SearchSetting("letter"),
    "large": SearchSetting(rows=200_000),
    "mixed": SearchSetting("mixed", rows=200_000),
}


class Task(NamedTuple):
    """The rows and the folds."""

    problem: Problem
    splits: Splits


@dataclass
class SearchOutcome:
    """The outcome of a search."""

    log_loss: float
    last: float  # the least log loss after the last round
    value: float
    rounds: int | None = None

    @property
    def note(self) -> str:
        """The value and the round of the log loss, as text."""
        return f"{self.value:.3g}" + ("" if self.rounds is None else f", round {self.rounds}")


def best_of_curves(values: Sequence[float], curves: Sequence[Any]) -> SearchOutcome:
    """Return the best value and round, by the folds' mean log loss after each round."""
    length = max(len(c) for c in curves)  # shorter where nothing was left to learn
    table = np.array([np.pad(c, (0, length - len(c)), mode="edge") for c in curves])
    v, r = np.unravel_index(np.argmin(table), table.shape)
    return SearchOutcome(float(table[v, r]), float(table[:, -1].min()), values[v], int(r) + 1)


def best_of_ends(values: Sequence[float], log_losses: Sequence[float]) -> SearchOutcome:
    """Return the best value, by the folds' mean log loss after the last round."""
    v = int(np.argmin(log_losses))
    return SearchOutcome(float(log_losses[v]), float(log_losses[v]), values[v])


def mean_curve(folds: Sequence[Any]) -> NDArray[np.float64]:
    """Return the mean of the folds' curves."""
    length = max(len(c) for c in folds)
    return np.mean([np.pad(c, (0, length - len(c)), mode="edge") for c in folds], axis=0)


def search_folds(
    setting: SearchSetting,
    n_folds: int,
    score: Callable[[int, float], Any],
    *,
    at_once: int,
    end: bool,
) -> SearchOutcome:
    """Search with `score(fold, rate)`, which returns a curve, or one log loss if `end`.

    `at_once` threads call it at a time: the libraries release the GIL.
    """
    rates = setting.rates()
    tasks = [(k, rate) for rate in rates for k in range(n_folds)]
    with ThreadPoolExecutor(at_once) as pool:
        call = map if at_once == 1 else pool.map
        curves = list(call(lambda task: score(*task), tasks))
    means = [mean_curve(curves[i : i + n_folds]) for i in range(0, len(tasks), n_folds)]
    if end:
        return best_of_ends(rates, [float(curve[-1]) for curve in means])
    return best_of_curves(rates, means)


# -- the contestants: a function a library, which imports it ---------------------------------------


def properboost() -> Iterator[Contestant]:
    from properboost.reproduce.pinned_search import make_search

    def make(selection: str) -> Contestant:
        def run(setting: SearchSetting, task: Task) -> Any:
            cycles = setting.rounds if setting.cycles is None else setting.cycles
            model = make_search(
                {
                    "gain": setting.gains(),
                    "selection": selection,
                    "n_estimators": setting.rounds if selection == "greedy" else cycles,
                },
                cv=task.splits,
                max_bins=setting.bins,
                n_jobs=setting.threads,
                refit=False,
            )
            with warnings.catch_warnings():  # where the best gain is the last, the line shows it
                warnings.filterwarnings("ignore", message="the chosen gain")
                return model.fit(*task.problem)

        def judge(model: Any, setting: SearchSetting, task: Task) -> SearchOutcome:  # noqa: ARG001
            means = -model.validation_curves_.mean(axis=1)
            return best_of_curves(setting.gains(), list(means))

        return in_one(f"{OURS}: {selection}", run, judge)

    yield make("greedy")
    yield make("cyclic")


def lightgbm() -> Iterator[Contestant]:
    import lightgbm as lgb

    def parameters(setting: SearchSetting, rate: float, extra: dict[str, Any]) -> dict[str, Any]:
        metric = {"learning_rate": rate, "metric": "binary_logloss"}
        return lightgbm_parameters(setting, **metric, **extra)

    def train(
        setting: SearchSetting, data: Any, held_out: Any, rate: float, extra: dict[str, Any]
    ) -> list[float]:
        record: dict[str, Any] = {}
        lgb.train(
            parameters(setting, rate, extra),
            data,
            num_boost_round=setting.rounds,
            valid_sets=[held_out],
            valid_names=["valid"],
            callbacks=[lgb.record_evaluation(record)],
        )
        return record["valid"]["binary_logloss"]

    def make_cv(name: str, extra: dict[str, Any]) -> Contestant:
        def run(setting: SearchSetting, task: Task) -> SearchOutcome:
            data = lightgbm_dataset(setting, task.problem, **extra)
            curves = [
                lgb.cv(
                    parameters(setting, rate, extra),
                    data,
                    num_boost_round=setting.rounds,
                    folds=task.splits,
                )["valid binary_logloss-mean"]
                for rate in setting.rates()
            ]
            return best_of_curves(setting.rates(), curves)

        return in_one(f"lightgbm: {name}", run)

    def log_loss_at_the_end(
        setting: SearchSetting, data: Any, held_out: Any, rate: float, extra: dict[str, Any]
    ) -> list[float]:
        model = lgb.Booster(parameters(setting, rate, extra), data)
        model.add_valid(held_out, "valid")
        for _ in range(setting.rounds):
            if model.update():  # nothing is left to learn
                break
        [(_, _, log_loss, _)] = model.eval_valid()
        return [log_loss]

    def make_folds(
        name: str, extra: dict[str, Any], *, at_once: bool = False, end: bool = False
    ) -> Contestant:
        def run(setting: SearchSetting, task: Task) -> SearchOutcome:
            data = lightgbm_dataset(setting, task.problem, **extra)
            folds = [
                (data.subset(rows).construct(), data.subset(held_out).construct())
                for rows, held_out in task.splits
            ]
            one = {**extra, "num_threads": 1} if at_once else extra
            score = log_loss_at_the_end if end else train
            return search_folds(
                setting,
                len(folds),
                lambda k, rate: score(setting, *folds[k], rate, one),
                at_once=setting.threads if at_once else 1,
                end=end,
            )

        return in_one(f"lightgbm: {name}", run)

    def weights(setting: SearchSetting, task: Task) -> SearchOutcome:
        extra = LIGHTGBM_WAYS["by column"]
        data = lightgbm_dataset(setting, task.problem, **extra)
        held_out = [data.subset(rows).construct() for _, rows in task.splits]
        curves: list[list[Any]] = [[] for _ in setting.rates()]
        for (_, rows), judge in zip(task.splits, held_out, strict=True):
            data.set_weight(_weight_without(rows, task))
            for of_rate, rate in zip(curves, setting.rates(), strict=True):
                of_rate.append(train(setting, data, judge, rate, extra))
        return best_of_curves(setting.rates(), [mean_curve(c) for c in curves])

    by_column, by_row, quantized = (LIGHTGBM_WAYS[k] for k in ("by column", "by row", "quantized"))
    yield make_cv("lgb.cv", by_column)
    yield make_cv("lgb.cv, by row", by_row)
    yield make_folds("folds", by_column)
    yield make_folds("folds, by row", by_row)
    yield make_folds("folds, at once", by_column, at_once=True)
    yield make_folds("folds, at once, by row", by_row, at_once=True)
    yield make_folds("folds, at once, at the end", by_column, at_once=True, end=True)
    yield make_folds("folds, at once, at the end, by row", by_row, at_once=True, end=True)
    yield make_folds("folds, quantized", quantized)
    yield in_one("lightgbm: weights", weights)


def xgboost() -> Iterator[Contestant]:
    import xgboost as xgb

    def train(
        setting: SearchSetting, data: Any, held_out: Any, rate: float, **extra: Any
    ) -> list[float]:
        record: dict[str, Any] = {}
        xgb.train(
            xgboost_parameters(setting, eta=rate, eval_metric="logloss", **extra),
            data,
            num_boost_round=setting.rounds,
            evals=[(held_out, "valid")],
            evals_result=record,
            verbose_eval=False,
        )
        return record["valid"]["logloss"]

    def cross_validate(setting: SearchSetting, task: Task) -> SearchOutcome:
        data = xgb.DMatrix(*task.problem, nthread=setting.threads, enable_categorical=True)
        curves = [
            xgb.cv(
                xgboost_parameters(setting, eta=rate, eval_metric="logloss"),
                data,
                num_boost_round=setting.rounds,
                folds=task.splits,
                as_pandas=False,
            )["test-logloss-mean"]
            for rate in setting.rates()
        ]
        return best_of_curves(setting.rates(), curves)

    def bin_folds(setting: SearchSetting, task: Task) -> list[tuple[Any, Any]]:
        folds = []
        for rows, held_out in task.splits:
            data = xgboost_bins(setting, task.problem.rows(rows))
            folds.append((data, xgboost_bins(setting, task.problem.rows(held_out), ref=data)))
        return folds

    def make_folds(name: str, *, at_once: bool = False, end: bool = False) -> Contestant:
        def run(setting: SearchSetting, task: Task) -> SearchOutcome:
            folds = bin_folds(setting, task)
            threads = 1 if at_once else setting.threads

            def score(k: int, rate: float) -> list[float]:
                data, held_out = folds[k]
                if not end:
                    return train(setting, data, held_out, rate, nthread=threads)
                parameters = xgboost_parameters(setting, eta=rate, nthread=threads)
                model = xgb.train(parameters, data, num_boost_round=setting.rounds)
                return [log_loss(held_out.get_label(), model.predict(held_out))]

            at_a_time = setting.threads if at_once else 1
            return search_folds(setting, len(folds), score, at_once=at_a_time, end=end)

        return in_one(f"xgboost: {name}", run)

    def weights(setting: SearchSetting, task: Task) -> SearchOutcome:
        data = xgboost_bins(setting, task.problem)
        curves: list[list[Any]] = [[] for _ in setting.rates()]
        for _, rows in task.splits:
            held_out = xgboost_bins(setting, task.problem.rows(rows), ref=data)
            data.set_weight(_weight_without(rows, task))
            for of_rate, rate in zip(curves, setting.rates(), strict=True):
                of_rate.append(train(setting, data, held_out, rate))
        return best_of_curves(setting.rates(), [mean_curve(c) for c in curves])

    yield in_one("xgboost: xgb.cv", cross_validate)
    yield make_folds("folds")
    yield make_folds("folds, at once", at_once=True)
    yield make_folds("folds, at once, at the end", at_once=True, end=True)
    yield in_one("xgboost: weights", weights)


def catboost() -> Iterator[Contestant]:
    import catboost as cb

    def make_folds(name: str, *, at_once: bool = False, end: bool = False) -> Contestant:
        def run(setting: SearchSetting, task: Task) -> SearchOutcome:
            data = catboost_pool(setting, task.problem)
            folds = [(data.slice(rows), data.slice(held_out)) for rows, held_out in task.splits]

            def score(k: int, rate: float) -> list[float]:
                parameters = catboost_parameters(
                    setting,
                    learning_rate=rate,
                    thread_count=1 if at_once else setting.threads,
                    l2_leaf_reg=1,  # 0 ends in an internal error when a leaf gets pure
                    use_best_model=False,
                    metric_period=setting.rounds if end else 1,
                )
                model = cb.CatBoostClassifier(**parameters)
                model.fit(folds[k][0], eval_set=folds[k][1])
                return model.evals_result_["validation"]["Logloss"][-1 if end else None :]

            at_a_time = setting.threads if at_once else 1
            return search_folds(setting, len(folds), score, at_once=at_a_time, end=end)

        return in_one(f"catboost: {name}", run)

    yield make_folds("folds")
    yield make_folds("folds, at once", at_once=True)
    yield make_folds("folds, at once, at the end", at_once=True, end=True)


def scikit_learn() -> Iterator[Contestant]:
    from sklearn.model_selection import GridSearchCV

    def make(name: str, *, at_once: bool) -> Contestant:
        def run(setting: SearchSetting, task: Task) -> Any:
            search = GridSearchCV(
                make_sklearn(setting),
                {"learning_rate": setting.rates()},
                scoring="neg_log_loss",
                cv=task.splits,
                refit=False,
                n_jobs=setting.threads if at_once else 1,  # processes, a thread each
                error_score="raise",
            )
            with nullcontext() if at_once else limit_openmp(setting):
                return search.fit(*task.problem)

        def judge(search: Any, setting: SearchSetting, task: Task) -> SearchOutcome:  # noqa: ARG001
            return best_of_ends(setting.rates(), -search.cv_results_["mean_test_score"])

        return in_one(f"scikit-learn: {name}", run, judge)

    yield make("GridSearchCV", at_once=False)
    yield make("GridSearchCV, at once", at_once=True)


def _weight_without(rows: NDArray[np.intp], task: Task) -> NDArray[np.float32]:
    weight = np.ones(len(task.problem.y), dtype=np.float32)
    weight[rows] = 0
    return weight


LIBRARIES = by_name(properboost, lightgbm, xgboost, catboost, scikit_learn)

COLUMNS = {
    "log loss": lambda outcome: f"{outcome.log_loss:.4f}",
    "last round": lambda outcome: f"{outcome.last:.4f}",
    "best": lambda outcome: outcome.note,
}


def main() -> None:
    """Race, for each setting."""
    parser = make_parser(__doc__, settings=SETTINGS, default=["adult", "letter"], repeats=3)
    parser.add_argument("--values", type=int, help="learning rates or gains (default: 10)")
    parser.add_argument("--folds", type=int)
    parser.add_argument("--cycles", type=int, help="of cyclic selection (default: --rounds)")
    arguments, record = start(parser, *LIBRARIES)
    contestants = find(LIBRARIES, arguments.only)
    for name in arguments.setting:
        for setting in blocks(SETTINGS[name], arguments, "values", "folds", "cycles"):
            problem = setting.load()
            rows, columns = problem.X.shape
            print_heading(
                f"{name}: {setting.data} {rows:,} x {columns}, {setting.values} values "
                f"x {setting.folds} folds x {setting.rounds} rounds",
                f"{setting.bins} bins, {setting.threads} threads",
                repeats=arguments.repeats,
            )
            task = Task(problem, setting.split(problem))
            warm_up = replace(setting, values=2), task
            results = race(contestants, arguments.repeats, setting, task, warm_up=warm_up)
            print_against_ours(results, setting.threads, COLUMNS)
            record.add(name, setting, results)


if __name__ == "__main__":
    main()
