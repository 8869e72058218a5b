"""Searches for alpha, and for the gain of the link alone, on LETTER with the split of BoostLR.

    python -m benchmarks.engine.link_binding            # half a minute
    python -m benchmarks.engine.link_binding --seeds 5  # of the folds, two minutes

The models are greedy histograms of 16 bins of equal width, with 100 unit steps, of 4,000 rows, and
are tested on 16,000: as in the paper's Table 6, whose best numbers are in the last column.  Each
search takes the candidate with the fewest errors in five folds of the training rows.  The second
number is the fewest errors of any of its candidates on the test rows.
"""

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats
from sklearn.model_selection import StratifiedKFold

from benchmarks.lib.race import progress

GAINS = [0.25, 0.3, 0.33, 0.45, 0.5, 0.75, 1.0, 1.66, 2.0, 3.0, 5.0, 10.0]
PUBLISHED = {
    "p1": {"exponential": "529", "glog": "427 (0.33)", "glaplacian": "420 (0.25)"},
    "p2": {"exponential": "2940", "glog": "2831 (0.5)", "glaplacian": "2844 (0.3)"},
}
PAST_TWO = 1.9
"""Under the exponential binding a link of twice AdaBoost's gain leaves right rows their weight."""


def list_searches() -> dict[str, tuple[Any, Any]]:
    """Return losses and gains of each search, by name."""
    from properboost.losses import Exponential, Savage, from_pdf

    link = stats.logistic(scale=0.5)  # of AdaBoost and of the Savage loss at gain 1

    def tune(binding: Any, alphas: Any) -> list[Any]:
        return [from_pdf(link, binding, alpha=alpha) for alpha in alphas]

    def stretch(binding: Any, gains: Any) -> list[Any]:
        return [from_pdf(link, binding, alpha=gain, gain=gain) for gain in gains]

    up_to_one, up_to_two = np.linspace(0.0, 1.0, 5), np.linspace(0.0, 2.0, 9)
    return {
        "exponential": ("exponential", [1.0]),
        "glog": ("glog", GAINS),
        "glaplacian": ("glaplacian", GAINS),
        "exponential binding, alpha": (tune(Exponential(), up_to_one), [1.0]),
        "exponential binding, alpha and gain": (tune(Exponential(), up_to_one), GAINS),
        "exponential binding, link's gain": (
            stretch(Exponential(), [gain for gain in GAINS if gain < PAST_TWO]), None,
        ),
        "savage binding, alpha": (tune(Savage(), up_to_two), [1.0]),
        "savage binding, alpha and gain": (tune(Savage(), up_to_two[::2]), GAINS),
        "savage binding, link's gain": (stretch(Savage(), GAINS), None),
    }  # fmt: skip


def cut(X: Any, train: int) -> Any:
    """Return the numbers of values' bins: 16 of equal width over the range of the first rows."""
    low, high = X[:train].min(axis=0), X[:train].max(axis=0)
    return np.clip(np.floor((X - low) / (high - low) * 16.0), 0.0, 15.0)


def read(part: str) -> tuple[Any, Any, int]:
    """Return rows and labels, the training rows first, and the number of these."""
    from properboost import datasets

    tables = [datasets.load_letter(part, subset=s, return_X_y=True) for s in ("train", "test")]
    X = np.vstack([np.asarray(X, dtype=np.float64) for X, _ in tables])
    y = np.concatenate([np.asarray(y) for _, y in tables])
    return cut(X, len(tables[0][1])), y, len(tables[0][1])


def run(part: str, response: str, seed: int, write: Callable[[str], None]) -> None:
    """Run all searches, and write their choices."""
    from properboost.reproduce.pinned_search import make_search
    from properboost.reproduce.pinned_tables import make_tables

    X, y, n = read(part)
    fixed = {"response": response, "selection": "greedy", "step": "unit", "rows_per_bin": None,
             "n_estimators": 100, "n_jobs": 1}  # fmt: skip
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)

    def count_errors(params: dict[str, Any]) -> int:
        loss_and_gain = {"loss": params["loss"], "gain": params["gain"]}
        model = make_tables(**loss_and_gain, **fixed).fit(X[:n], y[:n])
        return int(np.sum(model.predict(X[n:]) != y[n:]))

    for name, (loss, gains) in list_searches().items():
        progress(f"{part}, {response}: {name}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of gains at an end of the grid
            search = make_search(
                {"loss": loss, "gain": gains}, cv=folds, scoring="accuracy", refit=False, **fixed
            ).fit(X[:n], y[:n])
        errors = [count_errors(params) for params in search.cv_results_["params"]]
        least = int(np.argmin(errors))
        best = search.cv_results_["params"][least]
        progress("")
        write(
            f"{part} {response:11} {name:36} {errors[search.best_index_]:5d} "
            f"{_describe(search.best_params_):26} {errors[least]:5d} {_describe(best):26} "
            f"{PUBLISHED[part].get(name, '')}"
        )


def _describe(params: dict[str, Any]) -> str:
    alpha = None if isinstance(params["loss"], str) else params["loss"].alpha
    return f"gain {params['gain']:g}" + ("" if alpha is None else f", alpha {alpha:g}")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=list(PUBLISHED), default=list(PUBLISHED))
    parser.add_argument("--responses", nargs="+", default=["conditional", "real"])
    parser.add_argument("--seeds", type=int, default=1, help="of the folds")
    options = parser.parse_args()
    print("errors of the choice of cross-validation, the least of any candidate, and the published")
    for part in options.parts:
        for response in options.responses:
            for seed in range(options.seeds):
                run(part, response, seed, print)


if __name__ == "__main__":
    main()
