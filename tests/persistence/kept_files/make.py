"""Write model files of the format that the installed properboost writes, and what each predicts.

Every format that a release wrote has a folder here, and its files load for ever: once a release has
written them they are never made again.  The commits that wrote them are f8f072e for format 4, with
other words in this script, 0211409 for format 7, d1af3a4 for format 8, 8f64413 for format 9,
81bd43c for format 10, d21fd56 for format 11, and 70e1926 for format 12.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import properboost as pb
from properboost.persistence.files import VERSION

HERE = Path(__file__).resolve().parent
MOST_BYTES = 30_000
OTHERS = "decision_function", "expected_costs", "predict_set", "predict_multiprobability"
"""Methods besides predict and predict_proba, of the models that have them."""
TOWNS = ["Aarhus", "Bergen", "Calais", "Dublin", "Essen"]


def make_rows(n, seed, unseen=()):
    """Make rows with missing and infinite numbers and with categories, missing and rare ones."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n).round(3)
    size[::11] = np.nan
    size[5::29] = np.inf
    towns = rng.choice([*TOWNS, *unseen], n, p=[0.4, 0.3, 0.2, 0.07, 0.03] if not unseen else None)
    towns = np.where(np.arange(n) % 13 == 3, None, towns)
    return pd.DataFrame(
        {
            "size": size,
            "age": rng.integers(0, 90, n).astype(float),
            "town": pd.Categorical(towns, categories=[*TOWNS, *unseen]),
            "flag": rng.random(n) < 0.3,
        }
    )


def make_labels(rows, names, seed):
    """Make labels that depend on every column, and on two of them together."""
    rng = np.random.default_rng(seed)
    size = rows["size"].fillna(0.5).clip(-3, 3)
    town = rows["town"].cat.codes
    raw = size * np.where(rows["age"] > 40, 1.0, -1.0) + 0.8 * (town == 1) + 0.02 * rows["age"]
    raw = raw + np.where(rows["flag"], -0.7, 0.2) + rng.logistic(size=len(rows)) * 0.4
    edges = np.quantile(raw, np.arange(1, len(names)) / len(names))
    return np.array(names)[np.searchsorted(edges, raw)]


TWO, THREE = ["no", "yes"], ["high", "low", "middle"]
PROPER, VOTES = pb.ProperBoostClassifier, pb.ARBoostClassifier

MODELS = {
    "table": (
        PROPER("gboost", gain=2.0, n_estimators=6, max_bins=12, rows_per_bin=None, prior=1e-3,
               weak_learner=pb.Table(smoothing=0.1), class_weight={"no": 1.0, "yes": 2.5}),
        TWO,
    ),
    "stump": (
        PROPER("savage", weak_learner="stump", n_estimators=8, max_bins=4, response="exact",
               step="line_search", categorical_features=[False, False, True, True]),
        [3, 7],
    ),
    "tree_monotonic": (
        PROPER(pb.losses.GLaplacian(1.5), n_estimators=4, max_bins=10, response="newton", l2=0.5,
               weak_learner=pb.Tree(max_leaf_nodes=5, max_features=0.8, subsample=0.7),
               monotonic_cst={"age": 1, 0: -1}, random_state=5),
        [False, True],
    ),
    "tree_classes": (
        PROPER("ggauss", weak_learner=pb.Tree(max_leaf_nodes=4, max_depth=2), n_estimators=3,
               max_bins=8, criterion="matsushita", class_weight="balanced"),
        THREE,
    ),
    "rule": (
        PROPER(weak_learner=pb.Rule(max_conditions=3), n_estimators=7, max_bins=10,
               response="sign", learning_rate=0.5),
        TWO,
    ),
    "pairs": (
        PROPER("exponential", n_estimators=4, max_bins=6, rows_per_bin=None,
               interactions=pb.Interactions([["size", "age"], ["town", 1]], n_estimators=5,
                                            learning_rate=0.5)),
        TWO,
    ),
    "search": (
        pb.ProperBoostClassifierCV(
            {"loss": [pb.losses.get_loss("alpha", alpha=alpha) for alpha in (0.1, 0.3)],
             "gain": [0.5, 1.0, 2.0], "interactions": [2], "interactions__learning_rate": 0.5},
            cv=3, max_estimators=4, max_bins=6, rows_per_bin=None, effort=None),
        THREE,
    ),
    "objects": (
        pb.ProperBoostClassifierCV(
            {"weak_learner": [pb.Table(max_cells=3), pb.Table(max_cells=5)], "gain": 1.0,
             "monotonic_cst": {"age": 1, 0: -1}, "outer_bags": pb.Bags(4, tables=False),
             "interactions": pb.Interactions([("size", "age")], smoothing=0.1)},
            cv=2, max_estimators=4, max_bins=6, effort=None),
        TWO,
    ),
    "designed_loss": (
        PROPER(pb.losses.from_pdf(stats.cosine()), n_estimators=4, max_bins=6,
               step="totally_corrective"),
        TWO,
    ),
    "bags_classes": (
        PROPER(n_estimators=3, max_bins=5, selection="cyclic", outer_bags=4, interactions=1,
               random_state=1),
        THREE,
    ),
    "errors_of_bags": (
        PROPER(n_estimators=3, max_bins=5, outer_bags=pb.Bags(4, tables=False)), TWO
    ),
    "temperature": (
        PROPER(n_estimators=3, max_bins=6, multiclass="one_vs_rest",
               calibration=pb.Calibration(slope=0.9, intercept=[0.1, -0.2, 0.1], temperature=1.3)),
        THREE,
    ),
    "lines_in_leaves": (
        PROPER(weak_learner=pb.Tree(max_leaf_nodes=4, n_draws=2, linear_leaves=True),
               n_estimators=3, max_bins=8),
        TWO,
    ),
    "multi_output_tree": (
        PROPER(weak_learner=pb.Tree(grow_policy="symmetric", max_depth=2), n_estimators=3,
               max_bins=8),
        THREE,
    ),
    "early_stopping": (
        PROPER(n_estimators=30, max_bins=6, early_stopping=pb.EarlyStopping(n_iter_no_change=2)),
        TWO,
    ),
    "edited": (
        PROPER(n_estimators=4, max_bins=5, outer_bags=4, interactions=[["size", "age"]]), TWO
    ),
    "merged": (PROPER(n_estimators=3, max_bins=6), TWO),
    "families": (
        pb.ProperBoostClassifierCV(effort=1, readable=True, cv=2, max_estimators=20, max_bins=6),
        TWO,
    ),
    "searched": (
        pb.ProperBoostClassifierCV(effort=1, readable=True, cv=2, max_estimators=20, max_bins=6),
        TWO,
    ),
    "udt": (pb.UDTClassifier("mu", mu=0.3, max_leaf_nodes=6, max_bins=8), TWO),
    "votes_two_classes": (
        VOTES(rho=2.0, n_estimators=9, max_bins=8, damping=0.2, class_weight={"no": 2, "yes": 1}),
        TWO,
    ),
    "votes_classes": (
        pb.ARBoostClassifierCV([1.0, 2.0], cv=3, n_estimators=4, weak_learner="tree",
                               max_leaf_nodes=4, max_bins=8),
        THREE,
    ),
    "votes_labels": (
        VOTES(rho=1.5, n_estimators=6, weak_learner="table", criterion="error",
              multiclass="one_vs_rest", max_bins=6, rows_per_bin=None),
        [-1.0, 0.0, 4.0],
    ),
    "rados": (
        pb.RadoBoostClassifier({"ridge": 0.5, "lasso": 0.1}, 2.0, n_rados=50, n_estimators=30,
                               gamma=0.9, ridge_matrix=np.diag(np.arange(1.0, 10.0)),
                               keep="error", random_state=3),
        TWO,
    ),
    "uls": (pb.ULSClassifier("entropy", 2, n_estimators=5), TWO),
    "costs": (
        pb.LeastCostClassifier(PROPER(n_estimators=3, max_bins=5),
                               {"high": 1.0, "low": 4.0, "middle": 2.0}),
        THREE,
    ),
    "ordered": (
        pb.OrderedClassifier(PROPER(n_estimators=9, max_bins=5), ["low", "middle", "high"]), THREE
    ),
    "ordered_moving": (
        pb.OrderedClassifier(
            PROPER(n_estimators=9, max_bins=5), ["low", "middle", "high"], moving_thresholds=True
        ),
        THREE,
    ),
    "sets": (
        pb.ConformalClassifier(PROPER(n_estimators=2, max_bins=5), cv=2, conformity_score="aps",
                               per_class=True),
        THREE,
    ),
    "venn_abers": (pb.VennAbersClassifier(PROPER(n_estimators=3, max_bins=6), cv=3), TWO),
}  # fmt: skip

EDITED = {
    "searched": lambda model: model.best_estimator_,
    "edited": lambda model: model.remove_feature("flag", reason="a test").set_shape_function(
        "size", np.linspace(-1, 1, len(model.shape_function("size").values))
    ),
    "merged": lambda model: pb.merge_models([model, model], [1, 3]),
}
"""Changes of models after their fit."""

COMPACT = {
    "pairs", "bags_classes", "tree_classes", "lines_in_leaves", "search", "votes_two_classes",
    "votes_classes", "udt", "rados", "uls", "costs", "ordered", "sets", "venn_abers",
}  # fmt: skip
"""Models that are also written compact."""


def without_missing(rows):
    """Return rows whose numbers a linear model accepts."""
    return rows.assign(size=rows["size"].fillna(0.0).replace(np.inf, 3.0))


def write_number(x):
    """Return a number's form in JSON."""
    return x if np.isfinite(x) else str(x)


def main():
    """Write all files."""
    folder = HERE / f"format_{VERSION}"
    folder.mkdir(exist_ok=True)
    train, new_rows = make_rows(400, 0), make_rows(25, 1, unseen=["Oslo"])
    for name, (model, labels) in MODELS.items():
        fit_on, rows = train, new_rows
        if name in ("rados", "uls"):
            fit_on, rows = without_missing(train), without_missing(new_rows)
        with warnings.catch_warnings(action="ignore"):
            model.fit(fit_on, make_labels(train, labels, 2))
        model = EDITED.get(name, lambda model: model)(model)
        write(model, rows, folder / f"{name}.json")
        if name in COMPACT:
            write(model, rows, folder / f"{name}_compact.json", compact=True)


def write(model, rows, path, *, compact=False):
    """Write a model, and its predictions next to it."""
    model.save_model(path, compact=compact)
    if path.stat().st_size > MOST_BYTES:
        path.unlink()
        path = path.with_suffix(".json.gz")
        model.save_model(path, compact=compact)
    loaded = pb.load_model(path)
    expected = {
        "class": type(loaded).__name__,
        "rows": {
            "size": [write_number(x) for x in rows["size"].tolist()],
            "age": rows["age"].tolist(),
            "town": [None if pd.isna(x) else x for x in rows["town"]],
            "flag": rows["flag"].tolist(),
        },
        "predict": loaded.predict(rows).tolist(),
        "predict_proba": loaded.predict_proba(rows).tolist(),
        **{name: getattr(loaded, name)(rows).tolist() for name in OTHERS if hasattr(loaded, name)},
    }
    assert np.array_equal(model.predict_proba(rows), loaded.predict_proba(rows))
    text = json.dumps(expected, separators=(",", ":"), allow_nan=False)
    name = path.name.partition(".")[0]
    path.with_name(f"{name}.expected.json").write_text(text + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
