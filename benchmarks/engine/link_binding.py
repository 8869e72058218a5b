"""Alpha, and the gain of the link apart from the binding, searched on LETTER as BoostLR divides it.

    python -m benchmarks.engine.link_binding            # half a minute
    python -m benchmarks.engine.link_binding --seeds 5  # of the folds, two minutes

Greedy histograms of 16 bins of equal width, 100 unit steps, 4,000 rows against 16,000: as in the
paper's Table 6, whose best numbers stand beside.  Each search takes what makes the fewest errors in
five folds of the training rows.  `least` is the fewest errors on the test rows that any of its
candidates makes.
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
    """Return the numbers of 16 bins of equal width over the range of the first rows."""
    low, high = X[:train].min(axis=0), X[:train].max(axis=0)
    return np.clip(np.floor((X - low) / (high - low) * 16.0), 0.0, 15.0)


def read(part: str) -> tuple[Any, Any, int]:
    """Return rows and labels, the training rows first, and how many these are."""
    from properboost import datasets

    tables = [datasets.load_letter(part, subset=s, return_X_y=True) for s in ("train", "test")]
    X = np.vstack([np.asarray(X, dtype=np.float64) for X, _ in tables])
    y = np.concatenate([np.asarray(y) for _, y in tables])
    return cut(X, len(tables[0][1])), y, len(tables[0][1])


def run(part: str, response: str, seed: int, say: Callable[[str], None]) -> None:
    """Run all searches, and print what they took."""
    from properboost.reproduce.pinned_search import make_search
    from properboost.reproduce.pinned_tables import make_tables

    X, y, n = read(part)
    fixed = {"response": response, "selection": "greedy", "step": "unit", "rows_per_bin": None,
             "n_estimators": 100, "n_jobs": 1}  # fmt: skip
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)

    def count_errors(params: dict[str, Any]) -> int:
        wanted = {"loss": params["loss"], "gain": params["gain"]}
        model = make_tables(**wanted, **fixed).fit(X[:n], y[:n])
        return int(np.sum(model.predict(X[n:]) != y[n:]))

    for name, (loss, gains) in list_searches().items():
        progress(f"{part}, {response}: {name}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of gains at an end
            search = make_search(
                {"loss": loss, "gain": gains}, cv=folds, scoring="accuracy", refit=False, **fixed
            ).fit(X[:n], y[:n])
        errors = [count_errors(params) for params in search.cv_results_["params"]]
        least = int(np.argmin(errors))
        best = search.cv_results_["params"][least]
        progress("")
        say(
            f"{part} {response:11} {name:36} {errors[search.best_index_]:5d} "
            f"{_tell(search.best_params_):26} {errors[least]:5d} {_tell(best):26} "
            f"{PUBLISHED[part].get(name, '')}"
        )


def _tell(params: dict[str, Any]) -> str:
    alpha = None if isinstance(params["loss"], str) else params["loss"].alpha
    return f"gain {params['gain']:g}" + ("" if alpha is None else f", alpha {alpha:g}")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=list(PUBLISHED), default=list(PUBLISHED))
    parser.add_argument("--responses", nargs="+", default=["conditional", "real"])
    parser.add_argument("--seeds", type=int, default=1, help="of the folds")
    asked = parser.parse_args()
    print("errors of what cross-validation takes, the least of any candidate, and the published")
    for part in asked.parts:
        for response in asked.responses:
            for seed in range(asked.seeds):
                run(part, response, seed, print)


if __name__ == "__main__":
    main()
