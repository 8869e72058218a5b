"""The panel: log loss, error and calibration compared with the peers, each tuned by itself.

    python -m benchmarks.peers.panel                              # everything, many hours
    python -m benchmarks.peers.panel --sets vowel segment --contestants tables LightGBM
    python -m benchmarks.peers.panel --group lines                # a line of code each
    python -m benchmarks.peers.panel --group outside              # tables drawn by lot
    python -m benchmarks.peers.panel --group identifiers          # categories of many values
    python -m benchmarks.peers.panel --report                     # the results so far
    python -m benchmarks.peers.panel --report --picture out/frontier.png

There are three kinds of contestants (`contestants.py`).

*Grids*: all choose from a grid of the same kind and size by cross-validation on the training rows,
and the number of rounds by early stopping there.  Small tables have five folds and others three;
very large ones get the first values of the grid.  `trees, chosen` is, for each seed, the one of the
four forms of trees with the least cross-validated loss.

*Random searches*: LightGBM tries 30 settings of its space with five folds, and the others as many
of theirs as take no more processor time.  Results have the refit, the mean of the winner's folds
and the mean of eight refits.

*Lines of code*: models without tuning by the user.  The results of properboost's default search
include the best candidate of each of its families.

The held-out rows are scored once for each seed, at the end.  Every result is appended to a file,
and results that are there already are not computed again: a run can be stopped and resumed, and
several runs can share a file.  Seconds are processor time.
"""

import argparse
import itertools
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import log_softmax
from scipy.stats import gmean
from sklearn.metrics import log_loss
from threadpoolctl import threadpool_limits

from benchmarks.lib import sets
from benchmarks.lib.outside import OUTSIDE
from benchmarks.lib.sets import Split
from benchmarks.peers.contestants import CONTESTANTS, FORMS, Task

TWO_CLASSES = (
    "spambase", "cells", "wa_churn", "credit_data", "magic", "LETTER.p2", "LETTER.p1",
    "nycflights", "ADULT",
)  # fmt: skip
SEVERAL_CLASSES = ("vowel", "segment", "digits", "hpc_data", "satimage", "pendigits", "letter")
LARGER = (
    "spambase", "cells", "wa_churn", "credit_data", "magic", "LETTER.p1", "LETTER.p2", "ADULT",
    "attrition", "lending_club", "stroke_classification", "segment", "digits", "hpc_data",
    "satimage", "pendigits",
)  # fmt: skip
SMALL = (
    "vowel", "wdbc", "wine", "sonar", "wpbc", "ionosphere", "haberman", "heart_cleveland", "bupa",
    "pima", "tic_tac_toe", "breast_cancer_wisconsin", "new_thyroid", "german",
)  # fmt: skip

DEFAULT = "search, effort 3"
ENCODED = ("search, encoded, effort 2", "search, encoded, effort 3")
BUDGET = "LightGBM, random"
"""The contestant whose processor time the other random searches have, on each set."""
LINES = (
    *(f"search, effort {effort}" for effort in (3, 2, 1, 4, 5)),
    "search, readable", "search, readable, no pairs", BUDGET, "XGBoost, random",
    "CatBoost, random", "HGB, random", "ChimeraBoost, quality 3", "ChimeraBoost, quality 5",
    "Perpetual", "EBM", "EBM, no pairs", "logistic regression", "random forest",
)  # fmt: skip

IDENTIFIERS = ("nycflights", "InstEval")
"""Tables whose identifiers cross: aeroplanes and places, students and lecturers."""

MOST_SHOWN = 1.3
"""The largest ratio in the picture."""


def number_columns(split: Split) -> Split:
    """Return a split with column names that every library accepts."""
    names = [f"x{j}" for j in range(split.X.shape[1])]
    return split._replace(
        X=split.X.set_axis(names, axis=1), X_test=split.X_test.set_axis(names, axis=1)
    )


# -- results --------------------------------------------------------------------------------------

KEY = ["set", "contestant", "seed"]
RESULT = [*KEY, "loss", "error", "slope", "cv_loss", "seconds", "chosen"]


def read(path: Path) -> pd.DataFrame:
    """Return the results in a file: a row for each set, contestant and seed."""
    lines = path.read_text().splitlines() if path.exists() else []
    results = pd.DataFrame([json.loads(line) for line in lines], columns=RESULT)
    return results.drop_duplicates(KEY, keep="last")


def find_slope(p: Any, y: Any) -> float:
    """Return the factor on log-odds that fits the labels best, with free intercepts."""
    logs = np.log(np.clip(p, 1e-12, 1.0))
    n_classes = logs.shape[1]
    rows = np.arange(len(y))

    def find_loss(coefficients: Any) -> tuple[float, Any]:
        log_p = log_softmax(coefficients[0] * logs + np.append(coefficients[1:], 0.0), axis=1)
        error = np.exp(log_p)
        error[rows, y] -= 1.0
        gradient = [np.mean(np.sum(error * logs, axis=1)), *error[:, :-1].mean(axis=0)]
        return -float(log_p[rows, y].mean()), np.array(gradient)

    fit = minimize(find_loss, np.append(1.0, np.zeros(n_classes - 1)), jac=True)
    return float(fit.x[0])


def score(p: Any, split: Split) -> dict[str, float]:
    """Return log loss, error and slope of probabilities on held-out rows."""
    p = np.clip(p, 1e-15, 1.0)
    p /= p.sum(axis=1, keepdims=True)
    return {
        "loss": log_loss(split.y_test, p, labels=range(p.shape[1])),
        "error": float(np.mean(p.argmax(axis=1) != split.y_test)),
        "slope": find_slope(p, split.y_test),
    }


def measure(
    name: str, contestant: str, seed: int, threads: int, seconds: float
) -> list[dict[str, Any]]:
    """Tune, fit and score; the contestant's result comes first."""
    split = number_columns(sets.SETS[name](seed))
    begin = time.process_time()
    with threadpool_limits(threads):
        fitted = CONTESTANTS[contestant](Task(split, seed, threads, seconds))
    tuning = {
        "cv_loss": fitted.loss,
        "seconds": time.process_time() - begin,
        "chosen": {name: str(value) for name, value in fitted.chosen.items()},
    }
    key = {"set": name, "contestant": contestant, "seed": seed}
    results = [key | score(fitted.predict(split.X_test), split) | tuning]
    for other, predict in fitted.find_others().items():
        key = {"set": name, "contestant": f"{contestant}: {other}", "seed": seed}
        results.append(key | score(predict(split.X_test), split) | {"chosen": {}})
    return results


def choose_form(results: pd.DataFrame) -> pd.DataFrame:
    """Return the results of the form of trees that is best by cross-validation."""
    forms = results[results["contestant"].isin(FORMS)]
    best = [
        group.loc[group["cv_loss"].astype(float).idxmin()]
        for _, group in forms.groupby(["set", "seed"])
        if len(group) == len(FORMS)
    ]
    return pd.DataFrame(best, columns=results.columns).assign(contestant="trees, chosen")


# -- reports --------------------------------------------------------------------------------------


def report(results: pd.DataFrame, names: tuple[str, ...]) -> None:
    """Print the mean log losses of some sets, and their ratios to LightGBM's in geometric mean."""
    results = results[results["set"].isin(names) & results["contestant"].isin(CONTESTANTS)]
    if results.empty:
        return
    results = pd.concat([results, choose_form(results)])
    cells = results.groupby(["contestant", "set"])
    losses = cells["loss"].mean().unstack()
    print("\nlog loss: mean, standard deviation over seeds, error in %, seconds")
    for (contestant, name), cell in cells:
        print(
            f"{name:12s} {contestant:24s} {cell['loss'].mean():.4f} +-{cell['loss'].std():.4f}  "
            f"{100 * cell['error'].mean():5.2f}%  {cell['seconds'].mean():6.0f} s  "
            f"{len(cell)} seeds"
        )
    print()
    print(losses.reindex(columns=[n for n in names if n in losses]).round(4).to_string())
    if "LightGBM" in losses.index:
        print("\nover LightGBM, geometric mean; ahead on")
        for contestant, ratios in losses.div(losses.loc["LightGBM"]).iterrows():
            ratios = ratios.dropna()
            print(f"{contestant:24s} {gmean(ratios):.3f}  {(ratios < 1).sum()} of {len(ratios)}")


def find_ratios(results: pd.DataFrame, other: str) -> pd.DataFrame:
    """Return log losses over another contestant's, for the seeds of both: NaN for none."""
    losses = results.pivot(index=["set", "seed"], columns="contestant", values="loss")
    ratios = {}
    for contestant in losses:
        both = losses[[contestant, other]].set_axis(["first", "other"], axis=1).dropna()
        means = both.groupby("set").mean()
        ratios[contestant] = means["first"] / means["other"]
    return pd.DataFrame(ratios).T


def as_one_set(losses: pd.DataFrame) -> pd.DataFrame:
    """Return ratios by set, with the geometric mean for the sets of letters."""
    letters = [name for name in sets.LETTERS if name in losses]
    together = gmean(losses[letters], axis=1) if letters else []
    return losses.drop(columns=letters).assign(**({"letters": together} if letters else {}))


def resample(ratios: Any, draws: int = 2000) -> str:
    """Return a geometric mean with its 95% bootstrap interval over sets."""
    logs = np.log(ratios)
    rng = np.random.default_rng(0)
    means = np.exp(rng.choice(logs, (draws, len(logs))).mean(axis=1))
    low, high = np.quantile(means, [0.025, 0.975])
    return f"{np.exp(logs.mean()):.3f} ({low:.3f}-{high:.3f})"


def report_lines(results: pd.DataFrame, names: Sequence[str], title: str) -> None:
    """Print ratios to LightGBM's random search and to properboost's default, and mean ranks."""
    results = results[results["set"].isin(names)]
    losses = results.groupby(["contestant", "set"])["loss"].mean().unstack()
    if BUDGET not in losses.index or DEFAULT not in losses.index:
        return
    losses = losses.loc[:, losses.loc[[BUDGET, DEFAULT]].notna().all()]
    seconds = results.groupby(["contestant", "set"])["seconds"].mean().unstack()[losses.columns]
    slopes = results.assign(slope=np.abs(np.log(np.maximum(results["slope"].astype(float), 0.05))))
    slopes = slopes.groupby(["contestant", "set"])["slope"].mean().unstack()[losses.columns]
    entered = [c for c in LINES if c in losses.index and losses.loc[c].notna().all()]
    peers = [c for c in entered if not c.startswith("search") or c == DEFAULT]
    of_peers = results[results["contestant"].isin(peers)]
    of_peers = of_peers.pivot(index=["set", "seed"], columns="contestant", values="loss").dropna()
    ranks = as_one_set(of_peers.groupby("set").mean().T).rank().mean(axis=1)
    print(f"\n{title}, {losses.shape[1]} tables: log loss over LightGBM's refit, geometric mean,")
    print("by the seeds that both have")
    print("(95% over sets); sets ahead; over our default; processor time, s; |log slope|; rank")
    over, ours = (
        as_one_set(find_ratios(results, other).reindex(columns=losses.columns))
        for other in (BUDGET, DEFAULT)
    )
    for contestant in sorted(losses.index, key=lambda c: over.loc[c].dropna().pipe(gmean)):
        ratios = over.loc[contestant].dropna()
        spent = seconds.loc[contestant].reindex(losses.columns)
        rank = f"{ranks[contestant]:.2f}" if contestant in peers else ""
        print(
            f"{contestant:45s} {resample(ratios)}  {(ratios < 1).sum():2d} of {len(ratios)}  "
            f"{resample(ours.loc[contestant].dropna())}  {spent.sum():6.0f}  "
            f"{slopes.loc[contestant].mean():.3f}  {rank}"
        )


def report_choices(results: pd.DataFrame) -> None:
    """Print the family that the default search chose, and its loss on held-out rows."""
    of_families = results[results["contestant"].str.startswith(f"{DEFAULT}: ")]
    best, runs = 0, 0
    for (name, seed), cell in of_families.groupby(["set", "seed"]):
        is_run = (results["set"] == name) & (results["seed"] == seed)
        choice = results[is_run & (results["contestant"] == DEFAULT)].iloc[0]
        least = cell.loc[cell["loss"].idxmin()]
        family = choice["chosen"]["family"]
        runs += 1
        best += least["contestant"] == f"{DEFAULT}: {family}" or choice["loss"] <= least["loss"]
        print(
            f"{name:24s} seed {seed}  {family:27s} {choice['loss']:.4f}  "
            f"best on held-out rows: {least['contestant'].partition(': ')[2]} {least['loss']:.4f}"
        )
    if runs:
        print(f"the family that was chosen is the best on held-out rows in {best} of {runs}")


def draw_frontier(results: pd.DataFrame, path: Path) -> None:
    """Draw log loss over LightGBM's against processor time, over the sets of all contestants."""
    import matplotlib.pyplot as plt

    losses = results.groupby(["contestant", "set"])["loss"].mean().unstack()
    seconds = results.groupby(["contestant", "set"])["seconds"].mean().unstack()
    shown = [c for c in LINES if c in losses.index and not c.startswith("search, readable")]
    common = losses.loc[[BUDGET, DEFAULT]].dropna(axis=1).columns
    counts = losses.loc[shown, common].notna().sum(axis=1)
    shown = [c for c in shown if counts[c] >= counts[BUDGET] - 1]
    common = losses.loc[shown, common].dropna(axis=1).columns
    over = as_one_set(find_ratios(results, BUDGET).loc[shown, common])
    mean_ratios = pd.Series(gmean(over, axis=1), shown)
    beyond = mean_ratios[mean_ratios > MOST_SHOWN]
    shown = [c for c in shown if c not in beyond]
    ratios = mean_ratios[shown].to_numpy()
    spent = seconds.loc[shown, common].sum(axis=1)
    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    is_ours = [c.startswith("search") for c in shown]
    places = [k for k in range(len(shown)) if is_ours[k]]
    places.sort(key=lambda k: spent.iloc[k])
    axes.plot(
        spent.iloc[places], ratios[places], "o-", color="tab:blue", label="properboost, by effort"
    )
    for k, contestant in enumerate(shown):
        if not is_ours[k]:
            axes.plot(spent.iloc[k], ratios[k], "s", color="0.45")
        text = contestant.removeprefix("search, ").removesuffix(", random")
        axes.annotate(
            text, (spent.iloc[k], ratios[k]), xytext=(5, 5), textcoords="offset points", fontsize=8
        )
    if len(beyond):
        left_out = ", ".join(f"{name} {ratio:.2f}" for name, ratio in beyond.items())
        axes.set_title(f"not shown: {left_out}", fontsize=9)
    axes.margins(x=0.12)
    axes.set(
        xscale="log", yscale="log", xlabel=f"processor time of {len(common)} tables, s",
        ylabel="log loss over LightGBM's random search, geometric mean",
    )  # fmt: skip
    axes.axhline(1.0, color="0.8", linewidth=1)
    ticks = np.arange(0.7, MOST_SHOWN, 0.05)
    axes.set_yticks([t for t in ticks if ratios.min() < 1.02 * t and t < 1.02 * ratios.max()])
    axes.yaxis.set_major_formatter("{x:.2f}")
    axes.minorticks_off()
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def main() -> None:
    """Run it."""
    every = tuple(
        dict.fromkeys((*TWO_CLASSES, *SEVERAL_CLASSES, *LARGER, *SMALL, *OUTSIDE, *IDENTIFIERS))
    )
    grids = tuple(name for name in CONTESTANTS if name not in LINES)
    groups = {
        "grids": ((*TWO_CLASSES, *SEVERAL_CLASSES), grids),
        "lines": ((*SMALL, *LARGER), LINES),
        "outside": (OUTSIDE, (DEFAULT, "search, effort 2", BUDGET)),
        "identifiers": (IDENTIFIERS, (*ENCODED, DEFAULT, "search, effort 2", BUDGET)),
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--group", choices=groups, default="grids")
    parser.add_argument("--sets", nargs="+", choices=every)
    parser.add_argument("--contestants", nargs="+", choices=CONTESTANTS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("out/panel.jsonl"))
    parser.add_argument("--report", action="store_true", help="print the results so far, and end")
    parser.add_argument("--picture", type=Path, help="draw log loss against processor time")
    options = parser.parse_args()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    names, contestants = groups[options.group]
    names, contestants = options.sets or names, options.contestants or contestants
    seeds = [] if options.report or options.picture else range(options.seeds)
    for seed, name, contestant in itertools.product(seeds, names, contestants):
        results = read(options.results)
        if ((results[KEY] == [name, contestant, seed]).all(axis=1)).any():
            continue
        of_budget = (results[KEY] == [name, BUDGET, seed]).all(axis=1)
        if contestant.endswith(", random") and contestant != BUDGET and not of_budget.any():
            continue  # its time is not known yet
        seconds = results.loc[of_budget, "seconds"].max() if of_budget.any() else np.inf
        measured = measure(name, contestant, seed, options.threads, seconds)
        with options.results.open("a") as file:
            file.writelines(json.dumps(result) + "\n" for result in measured)
        first = measured[0]
        print(
            f"{name:12s} {contestant:24s} seed {seed}  log loss {first['loss']:.4f}  "
            f"error {100 * first['error']:.2f}%  {first['seconds']:.0f} s  {first['chosen']}",
            flush=True,
        )
    results = read(options.results)
    if options.picture:
        draw_frontier(results[results["set"].isin(names)], options.picture)
        return
    results = results[results["set"].isin(options.sets or every)]
    report(results, TWO_CLASSES)
    report(results, SEVERAL_CLASSES)
    report_lines(results, LARGER, "1,000 training rows and more")
    report_lines(results, SMALL, "fewer")
    report_lines(results, (*LARGER, *SMALL), "all")
    report_lines(results, IDENTIFIERS, "categories of many values")
    report_choices(results)


if __name__ == "__main__":
    main()
