"""Draw the effect of class-conditional histograms on BoostLR's tables.

    python tools/draw_papers.py [docs/papers/histograms.png]

The first picture is of look-up tables that this tool fits, the others of the results that
``tools/write_papers.py`` stores.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from properboost.reproduce import data
from properboost.reproduce.boostlr.histograms import CONDITIONAL, CONDITIONAL_8, EVEN, setting_of
from properboost.reproduce.boostlr.ten_sets import TO_10
from properboost.reproduce.pinned_tables import make_tables

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs/papers/results/boostlr"
PICTURE = ROOT / "docs/papers/histograms.png"

STYLES = {
    EVEN: ("0.55", "both classes at once"),
    TO_10: ("#E69F00", "both classes at once, gains to 10"),
    CONDITIONAL: ("#0072B2", "class-conditional, 16 bins"),
    CONDITIONAL_8: ("#009E73", "class-conditional, 8 bins"),
}


def read_numbers(item: str, reading: str) -> list[Mapping[str, Any]]:
    """Return the numbers of an item under a reading."""
    report = json.loads((RESULTS / f"{item}.json").read_text("utf-8"))
    named = {entry["reading"]: entry["numbers"] for entry in report["readings"]}
    return list(named.get(reading, []))


def draw_first_tables(ax: Axes) -> None:
    """Draw the first look-up table of LETTER.p1 under both responses."""
    table = data.load("LETTER.p1")
    train, _ = data.divide(table)
    for reading in (EVEN, CONDITIONAL):
        setting = setting_of(reading)
        X = setting.cut(table.X, train, table.categorical)
        model = make_tables(n_estimators=1, **setting.parameters).fit(X[train], table.y[train])
        feature = int(model.feature_importances_.argmax())
        rows = np.zeros((16, X.shape[1]))
        rows[:, feature] = np.arange(16)
        colour, name = STYLES[reading]
        values = model.decision_function(rows)
        ax.step(np.arange(16), values, where="mid", color=colour, label=name)
    ax.axhline(0.0, color="0.8", lw=0.8, zorder=0)
    ax.set_xticks(range(0, 16, 3))
    ax.set_xlabel(f"bin of feature {feature + 1}")
    ax.set_ylabel("value, raw prediction")
    ax.set_title("First table of LETTER.p1")
    ax.legend(fontsize=8)


def set_of(number: Mapping[str, Any]) -> str:
    """Return the data set of one of Table 6's numbers."""
    return str(number["column"].partition(",")[0])


def draw_table_6(ax: Axes) -> None:
    """Draw our errors of Table 6, divided by the published ones."""
    for shift, reading in ((-0.12, EVEN), (0.12, CONDITIONAL)):
        numbers = [n for n in read_numbers("table6", reading) if n["column"].endswith("errors")]
        numbers.sort(key=lambda n: ("LETTER.p1", "LETTER.p2", "ADULT").index(set_of(n)))
        middles = [(n["low"] + n["high"]) / 2.0 for n in numbers]
        ratios = [n["ours"] / middle for n, middle in zip(numbers, middles, strict=True)]
        spreads = [(n["spread"] or 0.0) / m for n, m in zip(numbers, middles, strict=True)]
        places = np.arange(len(numbers)) + shift
        colour, name = STYLES[reading]
        ax.errorbar(places, ratios, spreads, fmt="o", ms=4, color=colour, label=name, lw=1)
    names = [f"{set_of(n)} {n['row']}" for n in numbers]
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
    ax.axhspan(0.9, 1.1, color="0.9", zorder=0)
    ax.axhline(1.0, color="0.6", lw=0.8, zorder=0)
    ax.set_title("Table 6: our errors / published")


def yield_distances(reading: str) -> Iterator[float]:
    """Yield the distances of the cross-entropies of Tables 3 to 5 from the published ones, in %."""
    for item in ("table3", "table4", "table5"):
        for n in read_numbers(item, reading):
            what = n["column"].rpartition(", ")[2]
            if what in ("cross-entropy", "gain 10", "chosen gain"):
                middle = (n["low"] + n["high"]) / 2.0
                yield 100.0 * abs(n["ours"] - middle) / middle


def draw_distances(ax: Axes) -> None:
    """Draw the number of cross-entropies within each distance."""
    for reading, (colour, name) in STYLES.items():
        distances = np.sort(list(yield_distances(reading)))
        counts = np.arange(1, len(distances) + 1)
        ax.step(distances, counts, where="post", color=colour, label=name)
    ax.axvline(10.0, color="0.6", lw=0.8, zorder=0)
    ax.set_xlim(0.0, 40.0)
    ax.set_ylim(0.0, 140.0)
    ax.set_xlabel("distance from the published number, %")
    ax.set_title("Tables 3 to 5: cross-entropies, of 140")
    ax.legend(fontsize=8, loc="lower right")


def main() -> None:
    """Draw the picture."""
    figure = Figure(figsize=(12.5, 4.2), layout="constrained", dpi=110)
    first, second, third = figure.subplots(1, 3)
    draw_first_tables(first)
    draw_table_6(second)
    draw_distances(third)
    for ax in figure.axes:
        ax.grid(alpha=0.3)
    figure.savefig(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)


if __name__ == "__main__":
    main()
