"""Test merging of fitted models into one."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import properboost as pb
from properboost.parameters.learners import make_learner

TOWNS = ["Aarhus", "Bergen", "Calais", "Dublin", "Essen"]


def make(n=200, seed=0, n_classes=2, towns=5):
    """Return numbers with missing and infinite values, and a category that parts may lack."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)).round(1), columns=["size", "age", "speed"])
    X["town"] = pd.Categorical(rng.choice(TOWNS[:towns], n), categories=TOWNS[:towns])
    raw = (
        X["size"] * (1 + X["age"]) + X["speed"] + (X["town"] == "Bergen") + rng.logistic(size=n) / 3
    )
    X.iloc[::9, 1] = np.nan
    X.iloc[5::31, 0] = np.inf
    y = np.searchsorted(np.nanquantile(raw, np.arange(1, n_classes) / n_classes), raw)
    return X, y


def fit(X, y, **settings):
    return pb.ProperBoostClassifier(
        **{"n_estimators": 12, "weak_learner": "table", **settings}
    ).fit(X, y)


def find_mean(models, X, shares):
    """Return the mean raw prediction, on the scale of the first model's gain."""
    first = models[0].loss_.gain
    return sum(
        share * model.decision_function(X) * (first / model.loss_.gain)
        for share, model in zip(shares, models, strict=True)
    )


LINES = pb.Tree(grow_policy="symmetric", interaction_cst=3, linear_leaves=True)

KINDS = [
    {},
    {"weak_learner": pb.Table(max_cells=None), "max_bins": 16},
    {"interactions": 2, "max_bins": 8},
    {"selection": "cyclic", "n_estimators": 3, "interactions": 1, "max_bins": 8},
    {"weak_learner": "stump"},
    {"weak_learner": "tree"},
    {"weak_learner": pb.Tree(grow_policy="symmetric", max_depth=3)},
    {"weak_learner": LINES},
    {"weak_learner": pb.Tree(linear_leaves=True, max_leaf_nodes=6)},
    {"weak_learner": "rule"},
    {"loss": "savage", "gain": 2.0},
    {"outer_bags": 4},
]


@settings(max_examples=20)
@given(
    seed=st.integers(0, 2**16),
    kind=st.sampled_from(KINDS),
    n_models=st.integers(2, 4),
    n_classes=st.sampled_from([2, 2, 3]),
    gains=st.booleans(),
)
def test_the_mean_of_models(seed, kind, n_models, n_classes, gains, tmp_path_factory):
    rng = np.random.default_rng(seed)
    parts = []
    for k in range(n_models):
        X, y = make(int(rng.integers(60, 200)), seed + k, n_classes, towns=int(rng.integers(2, 6)))
        gain = {"gain": float(rng.choice([0.5, 1.0, 3.0]))} if gains else {}
        if set(y) == set(range(n_classes)):
            parts.append(fit(X, y, **{**kind, **gain}))
    weights = rng.dirichlet(np.ones(len(parts))) if rng.random() < 0.5 and len(parts) > 1 else None
    if len(parts) < 2:
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        merged = pb.merge_models(parts, weights)
    X = make(150, seed + 100, n_classes)[0]
    shares = merged.edits_[0]["weights"]
    if weights is not None:
        np.testing.assert_allclose(shares, weights)
    expected = find_mean(parts, X, shares)
    bound = 1e-9
    if caught:  # pairs had more cells than are allowed
        assert "interactions" in kind
        bound += 1.05 * float(str(caught[-1].message).rsplit(" ", 1)[1])
    np.testing.assert_allclose(merged.decision_function(X), expected, rtol=1e-9, atol=bound)
    path = tmp_path_factory.mktemp("merged") / "model.json"
    merged.save_model(path)
    loaded = pb.load_model(path)
    np.testing.assert_array_equal(loaded.decision_function(X), merged.decision_function(X))
    assert loaded.edits_ == merged.edits_
    if not make_learner(kind.get("weak_learner", "table")).is_grown:
        total = sum(model.shape_function("speed", 1).weights.sum() for model in parts)
        assert merged.shape_function("speed", 1).weights.sum() == pytest.approx(total)
        contributions = merged.contributions(X, 1)
        raw = merged.decision_function(X)
        joint = merged.multiclass_ in ("softmax", "canonical")
        raw_sum = raw if n_classes == 2 else raw[:, 1] - joint * raw.mean(axis=1)
        np.testing.assert_allclose(
            contributions.baseline + contributions.values.sum(axis=1), raw_sum, atol=1e-8
        )


def test_more_bins_than_fit_are_joined_with_a_warning():
    rng = np.random.default_rng(0)
    parts = []
    for _ in range(3):
        X = rng.normal(size=(3000, 1))
        y = rng.random(3000) < 1 / (1 + np.exp(-2 * np.sin(3 * X[:, 0])))
        parts.append(
            fit(X, y, weak_learner=pb.Table(max_cells=None), rows_per_bin=None, n_estimators=3)
        )
    with pytest.warns(
        UserWarning, match="in feature 0 the bins or cells that differ least were joined"
    ) as caught:
        merged = pb.merge_models(parts)
    assert len(merged.shape_function(0).values) == 255
    X = np.sort(rng.normal(size=(5000, 1)), axis=0)
    moved = np.abs(merged.decision_function(X) - find_mean(parts, X, merged.edits_[0]["weights"]))
    warned_of = float(str(caught[0].message).rsplit(" ", 1)[1])
    assert 0.0 < moved.max() <= 1.1 * warned_of < 1.0


@pytest.mark.parametrize("n_flags", [1, 3])
def test_pairs_of_a_feature_whose_bins_are_joined(n_flags, tmp_path):
    """Three pairs have more levels of the number in all than a feature may have bins."""
    parts = []
    for k in range(3):
        rng = np.random.default_rng(k)
        X = np.column_stack([rng.normal(size=4000), *rng.integers(0, 2, size=(n_flags, 4000))])
        raw = sum(
            np.sin(9 * X[:, 0] + flag) * (2 * X[:, flag] - 1) for flag in range(1, n_flags + 1)
        )
        table = pb.Table(max_cells=None)
        settings = {"weak_learner": table, "interactions": n_flags, "rows_per_bin": None}
        parts.append(fit(X, raw + 0.3 * rng.logistic(size=4000) > 0, **settings, n_estimators=25))
    assert all(len(part.ensemble_.pairs) == n_flags for part in parts)
    with pytest.warns(UserWarning, match="the bins or cells that differ least") as caught:
        merged = pb.merge_models(parts)
    X = np.column_stack([np.linspace(-4, 4, 4000), *rng.integers(0, 2, (n_flags, 4000))])
    raw = merged.decision_function(X)
    moved = np.abs(raw - find_mean(parts, X, merged.edits_[0]["weights"])).max()
    assert 0.0 < moved <= 1.05 * float(str(caught[0].message).rsplit(" ", 1)[1])
    rows = sum(part.ensemble_.pair_weights[0].sum() for part in parts)
    assert merged.ensemble_.pair_weights[0].sum() == pytest.approx(rows)
    merged.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.decision_function(X), raw)


@pytest.mark.parametrize("scale", [1e-310, 1e307])
def test_weights_of_bins_of_tiny_and_huge_numbers(scale):
    parts = []
    for k in range(2):
        X, y = make(200, k)
        parts.append(fit(X.assign(speed=scale * X["speed"]), y))
    weights = pb.merge_models(parts).ensemble_.bin_weights
    assert [of_feature.sum() for of_feature in weights] == pytest.approx([400.0] * 4)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learners", [[LINES, "table"], ["table", "tree"], ["stump", LINES, LINES]])
def test_models_of_tables_and_of_trees(learners, n_classes):
    parts = []
    for k, learner in enumerate(learners):
        more = {"interactions": 2, "max_bins": 8} if learner == "table" else {}
        parts.append(fit(*make(300, k, n_classes, towns=5 - k), weak_learner=learner, **more))
    merged = pb.merge_models(parts)
    X = make(200, 50, n_classes)[0]
    X["town"] = X["town"].astype(object)
    X.iloc[::11, 3] = "Faro"
    X.iloc[::13, 3] = None
    raw = merged.decision_function(X)
    np.testing.assert_allclose(
        raw, find_mean(parts, X, merged.edits_[0]["weights"]), rtol=1e-12, atol=1e-12
    )
    if "tree" not in learners:
        check_terms(merged, X)


def check_terms(model, X):
    """Check that terms add up to raw predictions, and that no slice of theirs has a mean."""
    raw = model.decision_function(X)
    raw = raw.reshape(len(X), -1)
    raw_sums = raw if raw.shape[1] == 1 else raw - raw.mean(axis=1, keepdims=True)
    labels = model.classes_.tolist()[-raw.shape[1] :]
    for raw_sum, label in zip(raw_sums.T, labels, strict=True):
        for by in ("term", "feature"):
            rows = model.contributions(X, label, by=by)
            np.testing.assert_allclose(rows.baseline + rows.values.sum(axis=1), raw_sum, atol=1e-10)
    terms = model.ensemble_.terms
    for k, features in enumerate(terms.features):
        for axis in range(len(features)) if len(features) > 1 else ():
            weights = terms.weights_of(k)
            means = np.sum(weights * terms.table_of(0, k), axis=axis) / weights.sum()
            assert np.abs(means).max() < 1e-10 * raw.std()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_merged_lines_keep_terms_in_files_and_edits(n_classes, tmp_path):
    parts = [fit(*make(300, k, n_classes), weak_learner=LINES) for k in range(3)]
    both = pb.merge_models(parts[:2], [1, 3])
    merged = pb.merge_models([both, parts[2]], [2, 1])
    X = make(200, 60, n_classes)[0]
    raw = merged.decision_function(X)
    expected = find_mean(parts, X, [1 / 6, 1 / 2, 1 / 3])
    np.testing.assert_allclose(raw, expected, rtol=1e-12, atol=1e-12)
    merged.save_model(tmp_path / "model.json")
    loaded = pb.load_model(tmp_path / "model.json")
    with pytest.raises(AttributeError, match="terms_ has the importance of each term"):
        _ = merged.feature_importances_
    for model in (merged, loaded, loaded.remove_feature("speed")):
        check_terms(model, X)
    again = pb.merge_models([loaded, parts[0]])
    shares = again.edits_[0]["weights"]
    np.testing.assert_allclose(
        again.decision_function(X), find_mean([loaded, parts[0]], X, shares), atol=1e-12
    )


def test_trees_of_merged_lines_are_described_by_the_means_of_their_models():
    parts = [fit(*make(300, k), weak_learner=LINES) for k in range(2)]
    merged = pb.merge_models(parts, [1, 1])
    n_first = len(parts[0].ensemble_.models[0])
    for number, part, of_part in ((1, parts[0], 1), (n_first + 1, parts[1], 1)):
        halved = pb.merge_models([part, part], [1, 1])
        text = merged.describe_tree(number)
        assert "size" in text
        assert text == halved.describe_tree(of_part)


@pytest.mark.parametrize("scale", [1.0, 4.4e307])
def test_bins_of_lines_beyond_the_limit_are_joined_with_a_warning(scale):
    rng = np.random.default_rng(0)
    parts = []
    for k in range(3):
        X = (rng.normal(size=(4000, 2)) + np.array([0, k])).clip(-4, 4)
        raw = 3 * np.sin(X[:, 0]) + X[:, 0] * X[:, 1]
        y = rng.random(4000) < 1 / (1 + np.exp(-raw))
        parts.append(fit(scale * X, y, weak_learner=LINES, rows_per_bin=None, n_estimators=10))
    with pytest.warns(UserWarning, match="features? 0, feature 1 the bins or cells") as caught:
        merged = pb.merge_models(parts)
    assert [bins.n_bins for bins in merged.ensemble_.binning.features] == [255, 255]
    X = scale * rng.normal(size=(5000, 2)).clip(-4, 4)
    moved = np.abs(merged.decision_function(X) - find_mean(parts, X, merged.edits_[0]["weights"]))
    warned_of = float(str(caught[0].message).rsplit(" ", 1)[1])
    assert 0.0 < moved.max() <= 1.1 * warned_of < 0.3
    check_terms(merged, X[:300])
    for grid in merged.ensemble_.grids:
        assert grid.weights.sum() == pytest.approx(12000.0)


@pytest.mark.filterwarnings("ignore:the models have more bins", "ignore:sample_weight has a mean")
def test_bins_and_cells_are_joined_alike_whatever_the_gain_and_the_weights():
    """Squares of large values overflowed, as did their products with heavy weights."""
    merged = []
    for gain, weight in ((1.0, 1.0), (2.0**990, 2.0**560)):
        rng, parts = np.random.default_rng(0), []
        for _ in range(3):
            X = rng.normal(size=(900, 2))
            y = rng.random(900) < 1 / (1 + np.exp(-2 * np.sin(3 * X[:, 0] * X[:, 1])))
            parts.append(
                pb.ProperBoostClassifier(
                    gain=gain, response="exact", prior=1e-3, calibration=None, n_estimators=3,
                    weak_learner=pb.Table(max_cells=None), rows_per_bin=None, interactions=[(0, 1)],
                ).fit(X, y, np.full(900, weight))
            )  # fmt: skip
        merged.append(pb.merge_models(parts))
    usual, large = merged
    for j in range(2):
        values = large.shape_function(j).values * 2.0**-990
        np.testing.assert_allclose(values, usual.shape_function(j).values, atol=1e-5)
    cells = large.term_function((0, 1)).values * 2.0**-990
    np.testing.assert_allclose(cells, usual.term_function((0, 1)).values, atol=1e-5)


def test_more_categories_than_fit_share_a_bin():
    rng = np.random.default_rng(1)
    parts = []
    for k in range(2):
        names = [f"c{n}" for n in range(150 * k, 150 * k + 200)]
        X = pd.DataFrame({"c": pd.Categorical(rng.choice(names, 4000), categories=names)})
        parts.append(fit(X, X["c"].cat.codes % 3 == 0, n_estimators=3))
    with pytest.warns(UserWarning, match="in c the bins or cells that differ least were joined"):
        merged = pb.merge_models(parts)
    shape = merged.shape_function("c")
    assert shape.has_rare
    assert len(shape.values) == 254


def test_a_pair_has_no_level_for_what_no_model_has_one_for():
    """A pair, merged or not, adds 0 for unseen categories."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "a": pd.Categorical(rng.choice(list("xyz"), 600)),
            "b": rng.integers(0, 4, 600).astype(float),
        }
    )
    y = ((X["a"] == "x") ^ (X["b"] > 1)) ^ (rng.random(600) < 0.1)
    model = fit(X, y, interactions=1, n_estimators=10)
    (pair,) = model.pairs_
    merged = pb.merge_models([model, model])
    assert merged.term_function(pair).values.shape == model.term_function(pair).values.shape


def test_merged_once_more_and_edited():
    parts = [fit(*make(seed=k)) for k in range(3)]
    parts[0].remove_feature("town", reason="not to be used")
    first = pb.merge_models(parts[:2], [1, 3])
    both = pb.merge_models([first, parts[2]], [2, 1], reason="all of them")
    X = make(seed=9)[0]
    expected = find_mean(parts, X, [1 / 6, 1 / 2, 1 / 3])
    np.testing.assert_allclose(both.decision_function(X), expected, atol=1e-10)
    (edit,) = both.edits_
    assert edit["reason"] == "all of them"
    assert edit["edits"][1] == []
    assert edit["edits"][0][0]["edits"][0][0]["feature"] == "town"
    np.testing.assert_allclose(edit["weights"], [2 / 3, 1 / 3])


def test_a_search_counts_as_its_best_model():
    X, y = make()
    search = pb.ProperBoostClassifierCV(
        space={"gain": [0.5, 1.0], "weak_learner": "table", "n_estimators": 10}, effort=1
    ).fit(X, y)
    merged = pb.merge_models([search, search])
    np.testing.assert_allclose(merged.decision_function(X), search.decision_function(X), atol=1e-12)
    assert type(merged) is pb.ProperBoostClassifier


def test_by_default_models_count_by_their_rows():
    parts = [fit(*make(100)), fit(*make(300))]
    np.testing.assert_allclose(pb.merge_models(parts).edits_[0]["weights"], [0.25, 0.75])


def test_what_does_not_go_together_is_refused_by_name():
    X, y = make()
    model = fit(X, y)

    def refused(match, *others, error=ValueError, **settings):
        with pytest.raises(error, match=match):
            pb.merge_models([model, *others], **settings)

    refused("models must be two or more; got 1")
    with pytest.raises(ValueError, match="models must be two or more; got 1"):
        pb.merge_models(model)
    refused(r"models\[1\] must be a ProperBoostClassifier", pb.RealBoost, error=TypeError)
    refused("same number of features", fit(X[["size", "age"]], y))
    refused("same feature names", fit(X.rename(columns={"age": "years"}), y))
    refused("same classes", fit(X, y + 1))
    refused("same loss", fit(X, y, loss="ggauss"))
    with pytest.raises(ValueError, match="gains whose ratio is a normal float64; that of models"):
        pb.merge_models([fit(X, y, gain=gain) for gain in (1e300, 1e-300)])
    refused("weights must be 2 numbers", model, weights=[1.0])
    refused("weights must be finite and above 0", model, weights=[1.0, 0.0])
    refused("reason must be a str", model, reason=1, error=TypeError)
    numbers = fit(X.assign(town=X["town"].cat.codes.astype(float)), y)
    refused("models must have town of one kind", numbers)
    three = [fit(*make(n_classes=3), multiclass=form) for form in ("softmax", "canonical")]
    with pytest.raises(ValueError, match="same multiclass"):
        pb.merge_models(three)
    scored = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(
        X, y, init_score=np.zeros(len(y))
    )
    refused("must not begin with an init_score", scored)


def test_ordered_classes_have_the_mean_f_and_the_mean_thresholds(tmp_path):
    X, y = make(400, 5, n_classes=3)
    names = ["low", "middle", "high"]
    models = []
    for k, gain in enumerate([1.0, 2.0]):
        base = pb.ProperBoostClassifier(n_estimators=9, gain=gain, weak_learner="table")
        ordered = pb.OrderedClassifier(base, names, moving_thresholds=False)
        models.append(ordered.fit(X[k::2], np.array(names)[y[k::2]]))
    merged = pb.merge_models(models, [1, 3])
    raw = [m.estimator_.decision_function(X)[:, None] - m.thresholds_ for m in models]
    expected = 0.25 * raw[0] + 0.75 * raw[1] / 2.0
    actual = merged.estimator_.decision_function(X)[:, None] - merged.thresholds_
    np.testing.assert_allclose(actual, expected, atol=1e-12)
    assert merged.ordered_classes_.tolist() == names
    merged.save_model(tmp_path / "merged.json")
    loaded = pb.load_model(tmp_path / "merged.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), merged.predict_proba(X))
    other = pb.OrderedClassifier(base, names[::-1], moving_thresholds=False)
    other.fit(X, np.array(names)[y])
    with pytest.raises(ValueError, match=r"same ordered classes.*models\[1\] \['high', 'middle'"):
        pb.merge_models([models[0], other])
    with pytest.raises(TypeError, match=r"models\[1\] must be an OrderedClassifier, as models"):
        pb.merge_models([models[0], fit(X, y)])
    moving = pb.OrderedClassifier(base, names, moving_thresholds=True).fit(X, np.array(names)[y])
    with pytest.raises(ValueError, match=r"models\[1\] must have thresholds that stay"):
        pb.merge_models([models[0], moving])
