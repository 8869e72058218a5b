"""Several classes: the time of each library to the log loss of LightGBM's 100 rounds.

    python -m benchmarks.peers.reach                             # both tables, most of an hour
    python -m benchmarks.peers.reach --setting letter --repeats 5
    python -m benchmarks.peers.reach --setting letter --kind trees --target 0.12
    python -m benchmarks.peers.reach --equal-rounds              # the cost of coupling the classes

The target is the log loss, on held-out rows, of LightGBM's 100 rounds at its default settings: with
two leaves, and with 31; or it is `--target`.  The script fits up to `--rounds` rounds and finds the
fewest that reach the target.  Then it times fits of that many rounds, from the user's array on.
For a library that does not reach the target it prints the least log loss.

Rates are those that a user would try: .1, .3 and, for two leaves, 1, for 31 leaves .15 and .2.  The
fastest peer is the fastest of all these.  With `--equal-rounds` the script times 100 rounds of
ours: one class against the rest, softmax, and the joint form of a canonical loss; `--kind` selects
the learners.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from sklearn.metrics import log_loss

from benchmarks.lib.cli import blocks, make_parser, print_heading, start
from benchmarks.lib.data import Problem, load_letters, make_classes
from benchmarks.lib.libraries import as_published, limit_openmp
from benchmarks.lib.race import (
    OURS,
    Contestant,
    Results,
    by_name,
    find,
    in_one,
    print_against_ours,
    progress,
    race,
)

TARGET_ROUNDS = 100


@dataclass(frozen=True)
class Setting:
    """A table of several classes, and the settings that all libraries share."""

    data: str
    rows: int | None = None
    columns: int = 50
    bins: int = 255
    threads: int = 2
    rounds: int = 400  # at most

    def load(self, *, test: bool = False) -> Problem:
        """Return the training rows or the held-out rows."""
        if self.data == "letter":
            return load_letters(test=test).rows(slice(self.rows))
        n_rows = 50_000 if test else self.rows or 200_000
        return make_classes(n_rows, self.columns, 10, test=test)


SETTINGS = {"letter": Setting("letter"), "synthetic": Setting("synthetic")}

LEAVES = {"stumps": 2, "trees": 31}
RATES = {"stumps": (0.1, 0.3, 1.0), "trees": (0.1, 0.15, 0.2, 0.3)}


@dataclass(frozen=True)
class Way:
    """One way to fit: `make` takes a setting and rounds.

    `score` takes a model, rows and ascending numbers of rounds, and yields probabilities after
    each.
    """

    name: str
    kind: str
    make: Callable[[Setting, int], Any]
    score: Callable[[Any, Any, range], Iterator[Any]]

    def fit(self, setting: Setting, train: Problem, rounds: int) -> Any:
        """Return a model, fitted with a number of rounds."""
        with limit_openmp(setting):
            return self.make(setting, rounds).fit(*train)


def staged(model: Any, X: Any, rounds: range) -> Iterator[Any]:
    """Yield a model's probabilities after the given rounds, from its stages."""
    return islice(model.staged_predict_proba(X), rounds.start - 1, rounds.stop - 1, rounds.step)


def at_all_rates(
    name: str, make: Callable[[str, float, Setting, int], Any], score: Callable[..., Iterator[Any]]
) -> Iterator[Way]:
    """Yield a peer's ways: of each kind, at each rate."""
    for kind, rates in RATES.items():
        for rate in rates:
            yield Way(f"{name} rate {rate:g}", kind, partial(make, kind, rate), score)


# -- the ways --------------------------------------------------------------------------------------


def properboost() -> Iterator[Way]:
    from properboost import ProperBoostClassifier

    def way(kind: str, name: str, **parameters: Any) -> Way:
        def make(setting: Setting, rounds: int) -> Any:
            return ProperBoostClassifier(
                n_estimators=rounds,
                max_bins=setting.bins,
                n_jobs=setting.threads,
                weak_learner="table",
            ).set_params(**as_published(**parameters))

        return Way(f"{OURS}: {name}", kind, make, staged)

    yield way("stumps", "tables")
    yield way("stumps", "tables, newton", response="newton")
    yield way("stumps", "stumps, newton", weak_learner="stump", response="newton")
    newton = {
        "weak_learner": "tree", "response": "newton", "l2": 0.1,
        "weak_learner__min_child_weight": 0.1, "weak_learner__max_leaf_nodes": LEAVES["trees"],
    }  # fmt: skip
    every: dict[str, Any] = newton | {"weak_learner__max_features": 1.0}
    half = newton | {"weak_learner__max_features": 0.5, "weak_learner__subsample": 0.5}
    of_class = {"weak_learner__multi_strategy": "one_output_per_tree", "random_state": 0}
    lines = {
        "weak_learner": "tree", "response": "newton", "random_state": 0,
        "weak_learner__linear_leaves": True, "weak_learner__max_leaf_nodes": LEAVES["trees"],
    }  # fmt: skip
    for rate in RATES["trees"]:
        yield way("trees", f"trees, rate {rate:g}", learning_rate=rate, **every)
        yield way("trees", f"trees with lines, rate {rate:g}", learning_rate=rate, **lines)
        name = f"one tree per class, rate {rate:g}"
        yield way("trees", name, learning_rate=rate, **every, **of_class)
        name = f"one tree per class, half of rows and columns, rate {rate:g}"
        yield way("trees", name, learning_rate=rate, **half, **of_class)


def lightgbm() -> Iterator[Way]:
    from lightgbm import LGBMClassifier

    def make(extra: dict[str, Any], kind: str, rate: float, setting: Setting, rounds: int) -> Any:
        return LGBMClassifier(
            n_estimators=rounds, num_leaves=LEAVES[kind], learning_rate=rate, verbose=-1,
            max_bin=setting.bins, n_jobs=setting.threads, **({"force_col_wise": True} | extra),
        )  # fmt: skip

    def score(model: Any, X: Any, rounds: range) -> Iterator[Any]:
        return (model.predict_proba(X, num_iteration=n) for n in rounds)

    quantized = {"use_quantized_grad": True}
    half = {"subsample": 0.5, "subsample_freq": 1, "colsample_bytree": 0.5}
    yield from at_all_rates("lightgbm:", partial(make, {}), score)
    yield from at_all_rates("lightgbm: quantized,", partial(make, quantized), score)
    # Without a penalty its trees diverge at larger rates; coarser gradients take more rounds.
    penalised = {
        "reg_lambda": 0.3, "min_child_samples": 5, "force_col_wise": False, "force_row_wise": True,
    }  # fmt: skip
    fine = {**quantized, "num_grad_quant_bins": 16, "quant_train_renew_leaf": True}
    for name, extra in {
        "half of rows and columns": half,
        "penalised": penalised,
        "penalised, finely quantized": penalised | fine,
    }.items():
        for way in at_all_rates(f"lightgbm: {name},", partial(make, extra), score):
            if way.kind == "trees":
                yield way


def xgboost() -> Iterator[Way]:
    from xgboost import XGBClassifier

    def make(kind: str, rate: float, setting: Setting, rounds: int) -> Any:
        by_leaves = {"max_depth": 0, "max_leaves": LEAVES[kind], "grow_policy": "lossguide"}
        return XGBClassifier(
            n_estimators=rounds, learning_rate=rate, max_bin=setting.bins, n_jobs=setting.threads,
            tree_method="hist", **({"max_depth": 1} if kind == "stumps" else by_leaves),
        )  # fmt: skip

    def score(model: Any, X: Any, rounds: range) -> Iterator[Any]:
        return (model.predict_proba(X, iteration_range=(0, n)) for n in rounds)

    yield from at_all_rates("xgboost:", make, score)


def catboost() -> Iterator[Way]:
    from catboost import CatBoostClassifier

    def make(kind: str, rate: float, setting: Setting, rounds: int) -> Any:
        return CatBoostClassifier(
            iterations=rounds, learning_rate=rate, border_count=setting.bins - 1,
            thread_count=setting.threads, depth=1 if kind == "stumps" else 5,
            loss_function="MultiClass", bootstrap_type="No", random_strength=0,
            leaf_estimation_iterations=1, boosting_type="Plain", allow_writing_files=False,
            logging_level="Silent", feature_border_type="Uniform",
        )  # fmt: skip

    def score(model: Any, X: Any, rounds: range) -> Iterator[Any]:
        return (model.predict_proba(X, ntree_end=n) for n in rounds)

    yield from at_all_rates("catboost:", make, score)


def scikit_learn() -> Iterator[Way]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    def make(kind: str, rate: float, setting: Setting, rounds: int) -> Any:
        return HistGradientBoostingClassifier(
            max_iter=rounds, learning_rate=rate, max_leaf_nodes=LEAVES[kind],
            max_bins=setting.bins, early_stopping=False,
        )  # fmt: skip

    yield from at_all_rates("scikit-learn:", make, staged)


LIBRARIES = by_name(properboost, lightgbm, xgboost, catboost, scikit_learn)

# -- how many rounds -------------------------------------------------------------------------------


def find_target(kind: str, setting: Setting, train: Problem, test: Problem) -> float:
    """Return the log loss of LightGBM's rounds."""
    way = next(way for way in lightgbm() if way.kind == kind and way.name.endswith("rate 0.1"))
    model = way.fit(setting, train, TARGET_ROUNDS)
    return float(log_loss(test.y, model.predict_proba(test.X)))


def find_rounds(
    way: Way, target: float, setting: Setting, train: Problem, test: Problem
) -> tuple[int | None, float]:
    """Return the fewest rounds that reach the target, or None, and the least log loss."""
    best = float("inf")

    def first(model: Any, rounds: range) -> int | None:
        nonlocal best
        for n, p in zip(rounds, way.score(model, test.X, rounds), strict=True):
            best = min(best, reached := float(log_loss(test.y, p)))
            if reached <= target:
                return n
        return None

    low, most = 0, 50
    while True:
        most = min(most, setting.rounds)
        model = way.fit(setting, train, most)
        step = max(1, most // 50)  # a curve falls and then rises, so bisection would fail
        reached = first(model, range(low + step, most + 1, step))
        if reached is not None:
            return first(model, range(max(1, reached - step + 1), reached + 1)), best
        if most == setting.rounds:
            return None, best
        low, most = most, 2 * most


def judge(model: Any, way: Way, rounds: int, test: Problem) -> tuple[int, float]:
    """Return the rounds and the log loss of a timed model."""
    [p] = way.score(model, test.X, range(rounds, rounds + 1))
    return rounds, float(log_loss(test.y, p))


def contestant(
    way: Way, rounds: int, setting: Setting, train: Problem, test: Problem
) -> Contestant:
    """Return the fit of a number of rounds as one part."""
    return in_one(
        way.name,
        lambda: way.fit(setting, train, rounds),
        lambda model: judge(model, way, rounds, test),
    )


COLUMNS: dict[str, Callable[[Any], str]] = {
    "rounds": lambda outcome: f"{outcome[0]}",
    "log loss": lambda outcome: f"{outcome[1]:.4f}",
}


def reach(
    kind: str,
    ways: list[Way],
    setting: Setting,
    train: Problem,
    test: Problem,
    repeats: int,
    target: float | None,
) -> Results:
    """Race to a log loss, or to LightGBM's."""
    if target is None:
        target = find_target(kind, setting, train, test)
    print(f"target: {target:.4f}")
    contestants = []
    for way in ways:
        if way.kind != kind:
            continue
        progress(f"rounds: {way.name}")
        rounds, best = find_rounds(way, target, setting, train, test)
        if rounds is None:
            print(f"{way.name} does not reach it: {best:.4f} in {setting.rounds} rounds")
            continue
        contestants.append(contestant(way, rounds, setting, train, test))
    return race(contestants, repeats)


# -- equal rounds ----------------------------------------------------------------------------------


COUPLED = {"stumps": ["tables", "tables, newton"], "trees": ["trees"]}


def coupled(kind: str) -> Iterator[Way]:
    """Yield our ways, by the coupling of the classes."""
    from properboost import ProperBoostClassifier, Tree

    settings: dict[str, dict[str, Any]] = {
        "tables": {},
        "tables, newton": {"response": "newton"},
        "trees": {
            "weak_learner": Tree(max_leaf_nodes=LEAVES["trees"], max_features=1.0),
            "response": "newton",
        },
    }
    for loss, multiclass in (
        ("glog", "one_vs_rest"), ("glog", "softmax"), ("glog", "canonical"),
        ("gboost", "one_vs_rest"), ("gboost", "canonical"),
    ):  # fmt: skip
        parameters = as_published(loss=loss, multiclass=multiclass, **settings[kind])
        if kind == "trees" and multiclass != "one_vs_rest":
            parameters["weak_learner__multi_strategy"] = "one_output_per_tree"

        def make(setting: Setting, rounds: int, parameters: Any = parameters) -> Any:
            return ProperBoostClassifier(
                n_estimators=rounds,
                max_bins=setting.bins,
                n_jobs=setting.threads,
                weak_learner="table",
            ).set_params(**parameters)

        yield Way(f"{OURS}: {loss}, {multiclass}", kind, make, staged)


def at_equal_rounds(
    kind: str, setting: Setting, train: Problem, test: Problem, repeats: int
) -> Results:
    """Race over 100 rounds."""
    ways = coupled(kind)
    return race([contestant(w, TARGET_ROUNDS, setting, train, test) for w in ways], repeats)


def main() -> None:
    """Race, for each setting."""
    parser = make_parser(__doc__, settings=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--equal-rounds", action="store_true", help="the cost of coupling classes")
    parser.add_argument("--target", type=float, help="the log loss (default: LightGBM's)")
    parser.add_argument("--kind", nargs="+", choices=LEAVES, default=list(LEAVES))
    arguments, record = start(parser, *LIBRARIES)
    ways = find(LIBRARIES, arguments.only)
    kinds = arguments.kind
    if arguments.equal_rounds:
        kinds = [kind for group in arguments.kind for kind in COUPLED[group]]
    for name in arguments.setting:
        for setting in blocks(SETTINGS[name], arguments):
            train, test = setting.load(), setting.load(test=True)
            rows, columns = train.X.shape
            for kind in kinds:
                print_heading(
                    f"{name}, {kind}: {rows:,} x {columns}, {len(set(test.y))} classes, "
                    f"{len(test.y):,} held out",
                    f"{setting.bins} bins, {setting.threads} threads",
                    repeats=arguments.repeats,
                )
                if arguments.equal_rounds:
                    results = at_equal_rounds(kind, setting, train, test, arguments.repeats)
                else:
                    results = reach(
                        kind, ways, setting, train, test, arguments.repeats, arguments.target
                    )
                print_against_ours(results, setting.threads, COLUMNS)
                record.add(f"{name}, {kind}", setting, results)


if __name__ == "__main__":
    main()
