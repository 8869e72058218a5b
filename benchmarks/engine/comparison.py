"""The coverage of the intervals of `properboost.compare`, on simulated pairs of models.

The log-odds of a row are z, and each model predicts a multiple of them plus noise of its own.  The
true difference of scores is that of a large sample.  A row of the table is a score: the share of
pairs of test sets whose interval has the truth, and the share of those without it on either side.

    python -m benchmarks.engine.comparison --pairs 1000 --rows 300 3000
"""

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from properboost.comparison.compare import compare_predictions
from properboost.comparison.scores import Predictions, score

TRUTH_ROWS = 2_000_000

MODELS = {"alike": ((1.0, 0.4), (0.9, 0.4)), "apart": ((1.0, 0.2), (0.6, 1.0))}
"""The slopes of the two models' log-odds, and the spreads of their noise."""


def main() -> None:
    """Print the coverage of each score."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 3000])
    arguments = parser.parse_args()
    print("models  rows   score        covered  below  above")
    for models in MODELS:
        truth = find_truth(models)
        for n_rows in arguments.rows:
            for name, shares in measure(models, truth, n_rows, arguments.pairs).items():
                covered, below, above = shares
                print(
                    f"{models}   {n_rows:<5}  {name:<11}  {covered:.3f}    {below:.3f}  {above:.3f}"
                )


def draw(
    models: str, n_rows: int, random: np.random.Generator
) -> tuple[list[Predictions], NDArray[np.intp]]:
    """Return both models' predictions of rows, and the rows' classes."""
    z = 1.5 * random.normal(size=n_rows)
    codes = (random.random(n_rows) < expit(z)).astype(np.intp)
    pair = []
    for slope, spread in MODELS[models]:
        p = expit(slope * z + spread * random.normal(size=n_rows))
        pair.append(Predictions(np.stack([1.0 - p, p], axis=1), (p > 0.5).astype(np.intp)))
    return pair, codes


def find_truth(models: str) -> dict[str, float]:
    """Return the differences of the scores of a large sample."""
    pair, codes = draw(models, TRUTH_ROWS, np.random.default_rng(0))
    first, second = (score(each, codes, np.ones(len(codes))) for each in pair)
    return {name: second[name].value - first[name].value for name in first}


def measure(
    models: str, truth: dict[str, float], n_rows: int, n_pairs: int
) -> dict[str, NDArray[np.float64]]:
    """Return, for each score, the shares of intervals with the truth, below it and above it."""
    counts = {name: np.zeros(3) for name in truth}
    for seed in range(1, n_pairs + 1):
        pair, codes = draw(models, n_rows, np.random.default_rng(seed))
        result = compare_predictions(
            ("first", "second"), pair, np.arange(2), codes,
            sample_weight=None, groups=None, n_disagreements=0, confidence_level=0.95,
        )  # fmt: skip
        for name, true in truth.items():
            low, high = (
                result.contrasts[name].difference.low,
                result.contrasts[name].difference.high,
            )
            counts[name] += [low <= true <= high, high < true, low > true]
    return {name: count / n_pairs for name, count in counts.items()}


if __name__ == "__main__":
    main()
