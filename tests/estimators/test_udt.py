"""Test class probability trees against scikit-learn's trees, brute force and their invariants."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import properboost as pb
from properboost import _core

pd = pytest.importorskip("pandas")

PHIS = _core.impurity_names()


@parametrize_with_checks([pb.UDTClassifier(), pb.UDTClassifier("entropy", max_leaf_nodes=None)])
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
@pytest.mark.filterwarnings("ignore:class_weight makes rows count")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def few_values(seed, n=400, d=5, n_values=7):
    """Return columns of few values, labels that depend on two of them together, and a generator."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, (n, d)).astype(float)
    noise = rng.logistic(size=n)
    return X, (X[:, 0] * (X[:, 1] > 3) - X[:, 2] + noise > 0).astype(int), rng


def cost(phi, p, mu=0.5, zeta=-4.0):
    """Return -phi(p) / b_phi with b_phi = -phi(1/2) + phi(0), as in eq. 49."""
    with np.errstate(divide="ignore", invalid="ignore"):
        values = {
            "gini": lambda p: -p * (1 - p),
            "entropy": lambda p: (
                np.nan_to_num(p * np.log(p)) + np.nan_to_num((1 - p) * np.log1p(-p))
            ),
            "matsushita": lambda p: -np.sqrt(p * (1 - p)),
            "mu": lambda p: -(mu + (1 - mu) * np.sqrt(p * (1 - p))),
            "zeta": lambda p: (
                2 / -zeta * (np.log(np.cosh(zeta / 2 * (p - 0.5))) - np.log(np.cosh(zeta / 4)))
            ),
        }[phi]
        return -values(p) / (values(np.array(0.0)) - values(np.array(0.5)))


def cost_of(phi, y, weight):
    """Return the cost of one leaf's rows."""
    return weight.sum() * float(cost(phi, np.array(weight[y == 1].sum() / weight.sum())))


def same_partition(a, b):
    """Return whether two labellings divide the rows in the same way."""
    pairs = np.unique(np.stack([a, b]), axis=1)
    return pairs.shape[1] == len(np.unique(a)) == len(np.unique(b))


# -- the splits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("leaves", [2, 5, 12, 25])
@pytest.mark.parametrize("weighted", [False, True])
def test_splits_equal_scikit_learns(criterion, leaves, weighted):
    # Without weights, small nodes have equally good splits, of which scikit-learn draws one. So
    # nodes are large there.
    for seed in range(5):
        X, y, rng = few_values(seed, n=400 if weighted else 400 * leaves)
        weight = rng.uniform(0.5, 2.0, len(y)) if weighted else None
        ours = pb.UDTClassifier(criterion, max_leaf_nodes=leaves, min_child_weight=0.0)
        theirs = DecisionTreeClassifier(
            criterion=criterion, max_leaf_nodes=leaves, random_state=0
        ).fit(X, y, weight)
        ours.fit(X, y, weight)
        assert ours.n_leaves_ == theirs.get_n_leaves() == leaves
        assert same_partition(ours.apply(X), theirs.apply(X)), seed
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
        np.testing.assert_allclose(
            ours.feature_importances_, theirs.feature_importances_, atol=1e-9
        )


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_depth_and_child_weight_equal_scikit_learns(criterion):
    X, y, _ = few_values(9, n=1000)
    ours = pb.UDTClassifier(criterion, max_leaf_nodes=None, max_depth=4, min_child_weight=20)
    theirs = DecisionTreeClassifier(
        criterion=criterion, max_depth=4, min_samples_leaf=20, random_state=0
    )
    ours.fit(X, y)
    theirs.fit(X, y)
    assert same_partition(ours.apply(X), theirs.apply(X))
    assert ours.tree_.depth == theirs.get_depth() == 4
    assert np.bincount(ours.apply(X))[ours.tree_.is_leaf].min() >= 20


def all_splits(X, y, weight):
    """Yield every split of every numeric column without missing values, and its left rows."""
    for j in range(X.shape[1]):
        for edge in np.unique(X[:, j])[:-1]:
            yield j, X[:, j] <= edge


@pytest.mark.parametrize("phi", PHIS)
def test_every_split_is_the_best_there_is(phi):
    X, y, rng = few_values(3, n=300, d=3)
    weight = rng.integers(1, 4, len(y)).astype(float)
    model = pb.UDTClassifier(phi, max_leaf_nodes=2, min_child_weight=0.0).fit(X, y, weight)
    cost = sum(cost_of(phi, y[rows], weight[rows]) for rows in sides(model, X))
    for _, left in all_splits(X, y, weight):
        tried = sum(cost_of(phi, y[rows], weight[rows]) for rows in (left, ~left))
        assert tried >= cost * (1 - 1e-9)
    saved = cost_of(phi, y, weight) - cost
    assert model.tree_.saving[0] == pytest.approx(saved, rel=1e-9)


def sides(model, X):
    nodes = model.apply(X)
    return [nodes == node for node in np.unique(nodes)]


@pytest.mark.parametrize("phi", PHIS)
def test_the_leaf_that_saves_most_is_split_first(phi):
    X, y, _ = few_values(4)
    tree = pb.UDTClassifier(phi, max_leaf_nodes=12).fit(X, y).tree_
    splits = np.flatnonzero(~tree.is_leaf)
    waiting = {0}
    for node in splits[np.argsort(tree.left[splits])]:  # in the order of growth
        assert tree.saving[node] >= max(tree.saving[list(waiting)])
        waiting = (waiting - {node}) | {tree.left[node], tree.left[node] + 1}
    for leaves in (3, 6):
        smaller = pb.UDTClassifier(phi, max_leaf_nodes=leaves).fit(X, y).tree_
        np.testing.assert_array_equal(tree.weight[: len(smaller.weight)], smaller.weight)


@pytest.mark.parametrize("mu", [0.0, 0.5, 0.99, 1 - 1e-9])
def test_mu_grows_matsushitas_trees(mu):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(20_000, 4))  # neighbouring cuts are nearly as good
    y = X[:, 0] * X[:, 1] + rng.logistic(size=len(X)) > 0
    trees = [pb.UDTClassifier(phi, mu=mu).fit(X, y).tree_ for phi in ("matsushita", "mu")]
    np.testing.assert_array_equal(trees[0].goes_left, trees[1].goes_left)
    np.testing.assert_array_equal(trees[0].saving, trees[1].saving)


def test_zeta_goes_from_gini_to_something_else():
    X, y, _ = few_values(6)
    trees = {
        zeta: pb.UDTClassifier("zeta", zeta=zeta, max_leaf_nodes=20).fit(X, y)
        for zeta in (-1e-6, -0.01, -50.0)
    }
    gini = pb.UDTClassifier("gini", max_leaf_nodes=20).fit(X, y)
    for zeta, rtol in ((-1e-6, 1e-12), (-0.01, 1e-4)):
        np.testing.assert_array_equal(gini.apply(X), trees[zeta].apply(X))
        np.testing.assert_allclose(gini.tree_.saving, trees[zeta].tree_.saving, rtol=rtol)
    assert not same_partition(gini.apply(X), trees[-50.0].apply(X))


# -- rows, weights, threads -----------------------------------------------------------------------


@pytest.mark.parametrize("phi", PHIS)
def test_weights_are_frequencies(phi, mixed):
    frame, y, weight = mixed
    repeated = np.repeat(np.arange(len(y)), weight.astype(int))
    a = pb.UDTClassifier(phi).fit(frame, y, weight)
    b = pb.UDTClassifier(phi).fit(frame.iloc[repeated], y[repeated])
    for field in ("feature", "left", "goes_left", "goes_right", "weight", "saving"):
        np.testing.assert_array_equal(getattr(a.tree_, field), getattr(b.tree_, field))


@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_the_tree_does_not_depend_on_threads_or_scale():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60_000, 45)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=len(X)) > 0
    weight = rng.uniform(0.1, 3.0, len(X))
    trees = [
        pb.UDTClassifier(n_jobs=n_jobs, min_child_weight=0.0).fit(X, y, scale * weight).tree_
        for n_jobs, scale in ((1, 1.0), (2, 1.0), (3, 1.0), (2, 2.0**-40))
    ]
    for other in trees[1:3]:
        np.testing.assert_array_equal(trees[0].goes_left, other.goes_left)
        np.testing.assert_array_equal(trees[0].weight, other.weight)
        np.testing.assert_array_equal(trees[0].saving, other.saving)
    np.testing.assert_array_equal(trees[0].goes_left, trees[3].goes_left)


@given(st.integers(0, 2**32 - 1), st.sampled_from(PHIS), st.integers(2, 40))
def test_nodes_add_up(seed, phi, leaves):
    """Children add up to their parent, rows to the weights of leaves, and savings to the total."""
    X, y, rng = few_values(seed, n=120, d=3)
    X[rng.random(X.shape) < 0.1] = np.nan
    y[:2] = [0, 1]
    weight = rng.choice([0.5, 1.0, 3.0], len(y))
    model = pb.UDTClassifier(phi, max_leaf_nodes=leaves, min_child_weight=0.0).fit(X, y, weight)
    tree, nodes = model.tree_, model.apply(X)
    assert tree.is_leaf.sum() <= leaves
    for k in np.flatnonzero(~tree.is_leaf):
        children = tree.weight[tree.left[k] : tree.left[k] + 2]
        np.testing.assert_array_equal(children.sum(axis=0), tree.weight[k])
        assert (children.sum(axis=1) > 0).all()
    for k in np.flatnonzero(tree.is_leaf):
        class_weights = [weight[(nodes == k) & (y == c)].sum() for c in (0, 1)]
        np.testing.assert_array_equal(tree.weight[k], class_weights)
    ends = sum(cost_of(phi, y[nodes == k], weight[nodes == k]) for k in np.unique(nodes))
    saved = cost_of(phi, y, weight) - ends
    assert tree.saving.sum() == pytest.approx(saved, rel=1e-6, abs=1e-9)


# -- missing values and categories ----------------------------------------------------------------


def test_missing_values_go_where_they_belong():
    x = np.r_[np.zeros(50), np.ones(50), np.full(50, np.nan)]
    for y in (np.r_[np.zeros(50), np.ones(100)], np.r_[np.zeros(50), np.ones(50), np.zeros(50)]):
        model = pb.UDTClassifier(max_leaf_nodes=2).fit(x[:, None], y)
        np.testing.assert_array_equal(model.predict(x[:, None]), y)


def test_categories_are_split_into_the_best_two_sets():
    rng = np.random.default_rng(8)
    town = rng.integers(0, 6, 3000)
    share = np.array([0.9, 0.1, 0.5, 0.8, 0.2, 0.05])[town]
    y = (rng.random(3000) < share).astype(int)
    frame = pd.DataFrame({"town": pd.Categorical.from_codes(town, list("ABCDEF"))})
    for phi in PHIS:
        model = pb.UDTClassifier(phi, max_leaf_nodes=2).fit(frame, y)
        cost = sum(cost_of(phi, y[rows], np.ones(rows.sum())) for rows in sides(model, frame))
        for members in range(1, 2**6 - 1):
            left = (members >> town & 1).astype(bool)
            tried = sum(cost_of(phi, y[r], np.ones(r.sum())) for r in (left, ~left))
            assert tried >= cost * (1 - 1e-9)


def test_what_training_never_saw_ends_at_the_node():
    frame = pd.DataFrame({"town": pd.Categorical(["A", "B"] * 20)})
    y = np.array([0, 1] * 20)
    model = pb.UDTClassifier().fit(frame, y)
    unseen = pd.DataFrame({"town": pd.Categorical(["C", None, "A"])})
    np.testing.assert_array_equal(model.apply(unseen), [0, 0, 1])
    np.testing.assert_array_equal(model.predict_proba(unseen), [[0.5, 0.5], [0.5, 0.5], [1, 0]])


def test_columns_without_anything_to_cut():
    X = np.c_[np.full(40, np.nan), np.ones(40), np.repeat([0.0, 1.0], 20)]
    model = pb.UDTClassifier().fit(X, np.repeat([0, 1], 20))
    assert model.tree_.feature.tolist() == [2, -1, -1]
    nothing = pb.UDTClassifier().fit(X[:, :2], np.repeat([0, 1], 20))
    assert nothing.n_leaves_ == 1


def test_as_many_categories_as_there_can_be():
    rng = np.random.default_rng(9)
    town = rng.integers(0, 400, 20_000)
    y = (rng.random(len(town)) < (town % 7) / 7).astype(int)
    frame = pd.DataFrame({"town": pd.Categorical.from_codes(town, [f"t{k}" for k in range(400)])})
    model = pb.UDTClassifier(max_leaf_nodes=8).fit(frame, y)
    assert model.n_leaves_ == 8
    assert "others" in model.describe()
    assert model.score(frame, y) > 0.6


# -- extreme weights, and checks of the engine ----------------------------------------------------


def grow(codes, weight=None, roles=(-1, 1), **settings):
    """Grow a tree over one feature of 4 bins; the first half of the rows is negative."""
    codes = np.array([codes], dtype=np.uint8)
    n = codes.shape[1]
    segments = np.array([0, n // 2, n])
    settings = {"phi": "gini", "max_leaves": 8, "max_depth": 8, **settings}
    bins = _core.Bins([np.array([0.0, 1.0, 2.0])])
    return _core.grow_tree(
        codes, bins, segments, np.array(roles, np.int8), weight=weight, **settings
    )


@pytest.mark.parametrize("scale", [1e-270, 1e-12, 1.0, 1e290])
def test_light_rows_beside_a_heavy_one(scale):
    weight = scale * np.array([1.0, 1e-5, 1e-5, 1.0, 1e-5, 1e-5])
    tree = grow([0, 1, 2, 0, 2, 1], weight)
    np.testing.assert_allclose(tree.weight[0], [scale, scale], rtol=1e-4)
    lone = grow([0, 1, 1, 0, 2, 2], weight)
    assert lone.feature.tolist().count(0) == 2  # the tree separates the light rows
    # A row whose weight the total swallows does not count.
    gone = grow([0, 0, 0, 1, 1, 2], np.array([1.0, 1, 1, 1, 1, 1e-30]))
    assert gone.weight[0].tolist() == [3.0, 2.0]


def test_segments_without_a_role_are_not_learnt_from():
    codes = np.array([[0, 0, 1, 1, 2, 2, 3, 3]], dtype=np.uint8)
    bins = _core.Bins([np.array([0.0, 1.0, 2.0])])
    settings = {"phi": "gini", "max_leaves": 8, "max_depth": 8}
    segments = np.array([0, 2, 4, 6, 8])
    tree = _core.grow_tree(codes, bins, segments, np.array([-1, 2, 1, 0], np.int8), **settings)
    assert tree.weight[0].tolist() == [2.0, 2.0]
    np.testing.assert_array_equal(tree.find_nodes(codes), [1, 1, 2, 2, 2, 2, 2, 2])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight": np.array([1.0, np.nan])}, "weight must be at least 0"),
        ({"weight": np.array([1.0, -1.0])}, "weight must be at least 0"),
        ({"weight": np.array([1.0, np.inf])}, "weight must have a finite sum"),
        ({"weight": np.array([1e-300, 1e-300])}, "weight must have a finite sum"),
        ({"roles": (0, 2)}, "training rows"),
        ({"roles": (3, 1)}, "roles must be between"),
        ({"phi": "none"}, "phi must be one of"),
    ],
)
def test_the_engine_refuses(settings, message):
    with pytest.raises(ValueError, match=message):
        grow([0, 1], **settings)


# -- predictions and words ------------------------------------------------------------------------


@pytest.mark.parametrize("phi", PHIS)
def test_raw_predictions_are_links(phi):
    X, y, rng = few_values(2)
    y = np.where(rng.random(len(y)) < 0.2, 1 - y, y)  # no leaf is pure
    model = pb.UDTClassifier(phi, max_leaf_nodes=4, zeta=-3.0, mu=0.25).fit(X, y)
    p = model.predict_proba(X)[:, 1]
    assert 0 < p.min() < p.max() < 1
    step = 1e-6
    scale = {"gini": 0.25, "entropy": np.log(2), "matsushita": 0.5, "mu": 0.375,
             "zeta": 2 / 3 * np.log(np.cosh(0.75))}[phi]  # fmt: skip
    ahead, behind = (cost(phi, q, 0.25, -3.0) for q in (p + step, p - step))
    slope = -scale * (ahead - behind) / (2 * step)
    np.testing.assert_allclose(model.decision_function(X), slope, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(model.predict(X), (p > 0.5).astype(int))


@pytest.mark.parametrize("phi", PHIS)
@pytest.mark.parametrize("weight", [1.0, 1e-3, 1e3])
@pytest.mark.filterwarnings("ignore:sample_weight has a mean")
def test_links_of_pure_leaves(phi, weight):
    """Links are finite and in the order of the probabilities, however little the rows weigh."""
    X, y, _ = few_values(1)
    settings = {"max_leaf_nodes": None, "min_child_weight": 0.0}
    model = pb.UDTClassifier(phi, **settings).fit(X, y, np.full(len(y), weight))
    p, F = model.predict_proba(X)[:, 1], model.decision_function(X)
    assert {0.0, 1.0} < set(p)
    assert np.isfinite(F).all()
    np.testing.assert_array_equal(np.sign(F), np.sign(p - 0.5))
    order = np.argsort(p)
    assert (np.diff(F[order]) >= -1e-12).all()


def test_two_rows():
    model = pb.UDTClassifier().fit([[0.0], [1.0]], [0, 1])
    np.testing.assert_array_equal(model.predict([[0.0], [1.0]]), [0, 1])
    np.testing.assert_array_equal(np.sign(model.decision_function([[0.0], [1.0]])), [-1, 1])


def test_other_parameters_need_another_fit():
    X, y, _ = few_values(1)
    model = pb.UDTClassifier("entropy").fit(X, y)
    before = model.decision_function(X)
    np.testing.assert_array_equal(model.set_params(phi="gini").decision_function(X), before)


def test_a_pickle_predicts_the_same(mixed):
    frame, y, _ = mixed
    model = pb.UDTClassifier().fit(frame, y)
    model.predict(frame)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict_proba(frame), model.predict_proba(frame))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"phi": "log"}, "phi must be one of 'matsushita', 'gini', 'entropy', 'mu', 'zeta'"),
        ({"mu": 1.0}, "mu must be below 1"),
        ({"zeta": 0.0}, "zeta must be below 0"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be between 2 and"),
        ({"max_depth": 0}, "max_depth must be between 1 and"),
        ({"min_child_weight": -1.0}, "min_child_weight must be at least 0"),
        ({"max_bins": 300}, "max_bins must be between 2 and 255"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a dict"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        pb.UDTClassifier(**settings).fit([[0.0], [1.0]], [0, 1])


def test_three_classes_are_refused(iris):
    with pytest.raises(ValueError, match="y has 3 classes"):
        pb.UDTClassifier().fit(*iris)
