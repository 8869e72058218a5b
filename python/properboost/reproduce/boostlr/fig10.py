"""Figure 10: the cross-validated gain by number of training rows."""

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from properboost.datasets import make_two_gaussians
from properboost.reproduce.boostlr.histograms import list_histograms, setting_of
from properboost.reproduce.boostlr.two_gaussians import GAINS, fit_glog
from properboost.reproduce.item import Experiment, Item, Piece, Record, Seed
from properboost.reproduce.published import Place, at_most

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIZES = {f"{rows:,} rows": rows for rows in (10, 20, 40, 80, 160, 320, 640, 1_280, 2_000)}
ROUNDS = 50
FOLDS = 5


def measure(piece: Piece) -> Record:
    """Choose the gain by cross-validation; bins are cut from each fold's training rows."""
    setting = setting_of(piece.reading)
    half = SIZES[piece.part] // 2
    X, y = make_two_gaussians((half, half), random_state=piece.seed)
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=piece.seed)
    losses = np.zeros(len(GAINS))
    for train, test in splitter.split(X, y):
        bins = setting.cut(X, train, [False, False])
        for k, gain in enumerate(GAINS):
            model = fit_glog(bins[train], y[train], gain, ROUNDS, setting)
            losses[k] += log_loss(y[test], model.predict_proba(bins[test]), labels=[0, 1])
    return {"gain": GAINS[int(losses.argmin())]}


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the change of the gain from each number of rows to the next."""
    del reading
    powers = {part: np.log2(record["gain"]) for part, record in seed.items()}
    return {
        (f"{fewer} to {more}", "change of the gain, powers of 2"): powers[more] - powers[fewer]
        for fewer, more in itertools.pairwise(SIZES)
    }


def draw(figure: "Figure", seeds: Sequence[Seed]) -> None:
    """Draw the median and the quartiles of the gain."""
    ax = figure.subplots()
    rows = list(SIZES.values())
    gains = np.array([[seed[part]["gain"] for part in SIZES] for seed in seeds])
    low, middle, high = np.quantile(gains, [0.25, 0.5, 0.75], axis=0)
    ax.fill_between(rows, low, high, alpha=0.15, lw=0)
    ax.plot(rows, middle, "o-", color="#0072B2")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(rows, [f"{n:,}" for n in rows])
    ax.minorticks_off()
    ax.set_xlabel("training rows")
    ax.set_ylabel("cross-validated gain")
    ax.set_title("Median and quartiles of the repetitions")
    ax.grid(alpha=0.3)


ITEM = Item(
    title="the cross-validated gain of two Gaussians, by number of training rows",
    units="powers of 2 between gains",
    protocol=(
        "GLog with 50 rounds (their number is not in the paper) and 12 gains from 0.5 to 1,024; "
        "the chosen one has the least log loss in 5-fold cross-validation.  According to the "
        "text, gain and number of rows are in a monotonic relation: the gain never rises with "
        "the rows."
    ),
    published={
        (f"{fewer} to {more}", "change of the gain, powers of 2"): at_most(0, "not above 0")
        for fewer, more in itertools.pairwise(SIZES)
    },
    experiment=Experiment("boostlr-fig10", dict.fromkeys(SIZES, ()), measure, seconds=2, seeds=30),
    tabulate=tabulate,
    readings=list_histograms(30),
    compared="none",
    draw=draw,
)
