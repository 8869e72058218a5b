"""Test that fits and predictions only read the caller's arrays, even read-only ones."""

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import StratifiedGroupKFold

import properboost as pb
from properboost import diagnostics, metrics, rado

pd = pytest.importorskip("pandas")

FEW = {"n_estimators": 3}
TABLES = partial(pb.ProperBoostClassifier, weak_learner="table", **FEW)
SEARCH = {"max_estimators": 3, "effort": None}
GROUPED = SEARCH | {"cv": StratifiedGroupKFold(2)}
ESTIMATORS = {
    "tables": TABLES,
    "pairs": partial(TABLES, interactions=1),
    "bags": partial(TABLES, outer_bags=4),
    "stumps": partial(pb.ProperBoostClassifier, weak_learner="stump", **FEW),
    "trees": partial(pb.ProperBoostClassifier, weak_learner=pb.Tree(subsample=0.5), **FEW),
    "lines": partial(pb.ProperBoostClassifier, weak_learner=pb.Tree(linear_leaves=True), **FEW),
    "balanced": partial(TABLES, class_weight="balanced", normalize_weights=True),
    "early": partial(TABLES, early_stopping=True),
    "SAMME": partial(pb.SAMME, **FEW),
    "UDT": partial(pb.UDTClassifier, max_leaf_nodes=5),
    "AR-Boost": partial(pb.ARBoostClassifier, **FEW),
    "rados": partial(pb.RadoBoostClassifier, n_rados=20, **FEW),
    "ULS": partial(pb.ULSClassifier, **FEW),
    "search": partial(pb.ProperBoostClassifierCV, **GROUPED),
    "search by rank": partial(pb.ProperBoostClassifierCV, scoring="roc_auc", cv=2, **SEARCH),
    "AR-Boost search": partial(pb.ARBoostClassifierCV, cv=2, **FEW),
}
KINDS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "single": lambda X: X.astype(np.float32),
    "steps": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "objects": lambda X: X.astype(object),
    "frame": lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
}


def make_rows(n=240):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)).round(1)
    y = np.where(X[:, 0] + X[:, 1] + rng.normal(size=n) > 0, "yes", "no")
    return X, y, rng.integers(1, 4, n).astype(float)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_sparse_and_dense_rows_give_the_same_bits(name):
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((240, 5)) < 0.3, rng.normal(size=(240, 5)).round(1), 0.0)
    y, groups = np.where(dense[:, 0] + dense[:, 1] > 0.0, "yes", "no"), np.arange(240) // 4
    rows = sparse.csc_array(dense)
    arguments = {"groups": groups} if name == "search" else {}
    model = ESTIMATORS[name]().fit(rows, y, **arguments)
    same = ESTIMATORS[name]().fit(dense, y, **arguments)
    for X in (rows, dense, sparse.csr_matrix(dense)):
        np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(dense))


def lock(values):
    """Make an array read-only, where it has that flag; frames have none."""
    if isinstance(values, np.ndarray):
        values.flags.writeable = False
    return values


def digest(values):
    return np.asarray(values).tobytes() if not isinstance(values, list) else repr(values)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_fits_and_predictions_only_read(name, kind):
    X, y, weight = make_rows()
    table = KINDS[kind](X)
    groups = np.arange(len(y)) % 5
    parameters = {"sample_weight": weight}
    if name == "search":
        parameters["groups"] = groups
    if name == "rados":
        del parameters["sample_weight"]
    offset = np.linspace(-1.0, 1.0, len(y))
    if name in ("tables", "trees"):
        parameters |= {"init_score": offset, "X_val": table, "y_val": y}
        parameters |= {"sample_weight_val": weight, "init_score_val": offset}
    added = {"init_score": offset} if "init_score" in parameters else {}
    arguments = [table, y, *parameters.values()]
    before = [digest(values) for values in arguments]
    open_to_all = ESTIMATORS[name]().fit(table, y, **parameters)
    assert [digest(values) for values in arguments] == before
    for values in arguments:
        lock(values)
    model = ESTIMATORS[name]().fit(table, y, **parameters)
    for method in ("predict", "predict_proba", "decision_function", "contributions"):
        if hasattr(model, method) and (name, method) != ("lines", "contributions"):
            getattr(model, method)(table, **added if method != "contributions" else {})
    assert [digest(values) for values in arguments] == before
    np.testing.assert_array_equal(
        model.decision_function(table, **added), open_to_all.decision_function(table, **added)
    )


@pytest.mark.parametrize(
    "what",
    ["metrics", "diagnostics", "rados", "batches", "losses"],
)
def test_functions_only_read(what):
    X, y, weight = make_rows()
    positive = y == "yes"
    p = np.linspace(0.01, 0.99, len(y))
    arguments = [X, y, weight, positive, p]
    before = [digest(values) for values in arguments]
    for values in arguments:
        lock(values)
    if what == "metrics":
        margins = metrics.normalized_margins(positive, p)
        metrics.margin_distribution(margins, sample_weight=weight)
    elif what == "diagnostics":
        diagnostics.gain_curve(X, y, n_repeats=1, n_estimators=2)
    elif what == "rados":
        rado.make_rados(X, y, 10)
    elif what == "batches":
        frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y, weight=weight)
        copied = frame.copy()
        pb.ProperBoostClassifier(**FEW).fit(
            pb.QuantizedTable.from_batches(lambda: iter([frame]), label="label", weight="weight")
        )
        pd.testing.assert_frame_equal(frame, copied)
    else:
        loss = pb.losses.GLog(2.0)
        for method in ("loss", "weight", "curvature", "probability"):
            getattr(loss, method)(X)
        for method in ("link", "minimum_risk"):
            getattr(loss, method)(p)
    assert [digest(values) for values in arguments] == before
