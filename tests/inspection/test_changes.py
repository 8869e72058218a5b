"""Test `changes`: every one turns its row, and none nearer was missed."""

from itertools import combinations, product

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import properboost as pb
from properboost.inspection import change_search
from properboost.inspection.change_search import ChangeSearch
from properboost.losses.ordered_link import OrderedLink
from properboost.losses.probabilities import choose_classes

pd = pytest.importorskip("pandas")

UNIT = 2.0**32


def make_rows(n=600, seed=0, n_classes=2):
    """Make rows of four numbers and two categories, each of few values, and labels."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.integers(0, 6, n).astype(float) for name in "dbca"})
    X["f"] = pd.Categorical(rng.choice(["p", "q", "r", "s"], n))
    X["e"] = pd.Categorical(rng.choice(["x", "y", "z"], n))
    raw = 0.5 * X["a"] - 0.3 * X["b"] + 0.6 * (X["c"] > 2) * (X["d"] - 2.5)
    raw += 0.8 * (X["f"] == "q") * np.where(X["a"] > 2, 1.0, -1.0) + 0.5 * (X["e"] == "y")
    raw += rng.logistic(size=n) * 0.6
    edges = np.quantile(raw, np.linspace(0.0, 1.0, n_classes + 1)[1:-1] ** 0.7)
    return X, np.searchsorted(edges, raw)


def find_ranks(X):
    """Return each column's values and their distances, in whole units, from the training rows."""
    known = {}
    for name in X:
        values = sorted(X[name].unique())
        if isinstance(X[name].dtype, pd.CategoricalDtype):
            distances = np.full((len(values), len(values)), UNIT)
        else:
            shares = np.array([np.mean(X[name] == value) for value in values])
            middle = np.cumsum(shares) - shares / 2
            distances = np.rint(np.abs(middle[:, None] - middle) * UNIT)
        known[name] = values, distances.astype(np.int64)
    return known


def search_everything(model, X, row, known, to, keep):
    """Return the number of features and the distance of the nearest change, by all there are."""
    names = [name for name in sorted(X) if name not in keep]
    present = {name: known[name][0].index(X[name].iloc[row]) for name in names}
    for size in (1, 2, 3):
        nearest = None
        for chosen in combinations(names, size):
            others = [
                [k for k in range(len(known[name][0])) if k != present[name]] for name in chosen
            ]
            grid = list(product(*others))
            copies = X.iloc[[row] * len(grid)].reset_index(drop=True)
            for name, codes in zip(chosen, zip(*grid, strict=True), strict=True):
                values = [known[name][0][k] for k in codes]
                copies[name] = pd.Series(values, dtype=X[name].dtype)
            turned = np.flatnonzero(model.predict(copies) == to)
            for k in turned.tolist():
                distance = sum(
                    int(known[name][1][present[name], code])
                    for name, code in zip(chosen, grid[k], strict=True)
                )
                if nearest is None or (distance, chosen) < nearest:
                    nearest = distance, chosen
        if nearest is not None:
            return nearest[1], nearest[0]
    return None


MODELS = {
    "tables": {"weak_learner": "table"},
    "pairs": {"weak_learner": "table", "interactions": 4},
    "trees of two features": {"weak_learner": pb.Tree(interaction_cst=2), "n_estimators": 30},
    "trees of three features": {"weak_learner": pb.Tree(interaction_cst=3), "n_estimators": 30},
    "lines": {
        "weak_learner": pb.Tree(interaction_cst=3, linear_leaves=True, max_leaf_nodes=4),
        "n_estimators": 20,
    },
}


def fit(kind, X, y):
    settings = {"n_jobs": 1, "rows_per_bin": None, **MODELS[kind]}
    return pb.ProperBoostClassifier(**settings).fit(X, y)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_none_nearer_is_missed(kind, n_classes):
    X, y = make_rows(n_classes=n_classes)
    model, known = fit(kind, X, y), find_ranks(X)
    rows, keep = X.iloc[:30], ["a", "f"]
    predicted = model.predict(rows)
    to = 1
    changes = model.changes(rows, to=to, keep=keep)
    assert changes.is_exact
    sizes = set()
    for row, change in enumerate(changes):
        if predicted[row] == to:
            assert change is None
            continue
        expected = search_everything(model, rows, row, known, to, keep)
        if change is None:
            assert expected is None
            continue
        features = tuple(new.feature for new in change.features)
        assert (features, round(change.distance * UNIT)) == expected
        sizes.add(len(features))
    assert sizes == {1, 2, 3} or (kind == "trees of two features" and n_classes == 2)


@pytest.mark.parametrize("kind", [*MODELS, "trees"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_change_turns_its_row(kind, n_classes):
    X, y = make_rows(seed=1, n_classes=n_classes)
    settings = {"weak_learner": "tree", "n_estimators": 30} if kind == "trees" else MODELS[kind]
    model = pb.ProperBoostClassifier(n_jobs=1, rows_per_bin=None, **settings).fit(X, y)
    rows = X.iloc[:60]
    changes = model.changes(rows)
    assert changes.is_exact is (kind != "trees")
    after, before = model.predict(changes.apply(rows)), model.predict(rows)
    for row, change in enumerate(changes):
        if change is None:
            assert after[row] == before[row]
        else:
            assert after[row] == change.to != before[row]
    assert changes.n_missed == np.sum(after == before)
    assert changes.n_missed < 5


@pytest.mark.parametrize("kind", ["tables", "pairs", "trees of three features", "lines"])
@pytest.mark.parametrize("to", ["low", "middle", "high"])
def test_none_nearer_is_missed_of_ordered_classes(kind, to):
    """A class in the middle has rivals on both sides, and a change may go too far."""
    X, y = make_rows(n_classes=3, seed=2)
    names = ["low", "middle", "high"]
    base = pb.ProperBoostClassifier(n_jobs=1, rows_per_bin=None, **MODELS[kind])
    model = pb.OrderedClassifier(base, names, moving_thresholds=False).fit(X, np.array(names)[y])
    known, rows, keep = find_ranks(X), X.iloc[:20], ["a", "f"]
    changes = model.changes(rows, to=to, keep=keep)
    assert changes.is_exact
    predicted = model.predict(rows)
    for row, change in enumerate(changes):
        if predicted[row] == to:
            assert change is None
            continue
        expected = search_everything(model, rows, row, known, to, keep)
        if change is None:
            assert expected is None
            continue
        features = tuple(new.feature for new in change.features)
        assert (features, round(change.distance * UNIT)) == expected
        assert change.to == to
    assert sum(change is not None for change in changes) >= 5


def test_changes_of_ordered_classes_turn_their_rows():
    X, y = make_rows(seed=3, n_classes=5)
    base = pb.ProperBoostClassifier(n_jobs=1, weak_learner="tree", n_estimators=30)
    model = pb.OrderedClassifier(base).fit(X, y)
    rows = X.iloc[:60]
    changes = model.changes(rows)
    after, before = model.predict(changes.apply(rows)), model.predict(rows)
    assert [change.to for change in changes] == after.tolist()
    assert np.all(after != before)
    moving = pb.OrderedClassifier(
        pb.ProperBoostClassifier(n_jobs=1, n_estimators=5), moving_thresholds=True
    ).fit(X, y)
    with pytest.raises(ValueError, match=r"thresholds that stay.*fit with moving_thre"):
        moving.changes(rows)


@pytest.mark.parametrize("thresholds", [[0.0], [-2.0, 1.0], [-1.0, -0.9, 0.3, 4.0]])
@pytest.mark.parametrize("loss", [pb.losses.GLog(2.0), pb.losses.GGauss(0.1)])
def test_cuts_are_where_the_most_probable_class_changes(loss, thresholds):
    """The second of five classes is never the most probable one, so that two cuts are equal."""
    link = OrderedLink(loss, np.array(thresholds))
    cuts = link.find_cuts()
    raw = np.sort(np.random.default_rng(0).uniform(-9.0, 9.0, 5000))
    np.testing.assert_array_equal(link.choose(raw), np.searchsorted(cuts, raw))


@pytest.mark.parametrize("limit", ["MOST_CELLS", "MOST_JOINT"])
def test_joint_effects_beyond_the_limit_are_searched_for(limit, monkeypatch):
    X, y = make_rows(seed=1, n_classes=3)
    model, rows, limits = fit("lines", X, y), X.iloc[:40], {"to": 1, "keep": ["a", "f"]}
    nearest = model.changes(rows, **limits)
    monkeypatch.setattr(change_search, limit, 0)
    monkeypatch.setattr(change_search, "MOST_COPIES", 72)
    changes = model.changes(rows, **limits)
    assert nearest.is_exact
    assert not changes.is_exact
    assert {len(best.features) for best in nearest if best} == {1, 2, 3}
    for best, change in zip(nearest, changes, strict=True):
        if best is not None and len(best.features) == 1:
            assert change == best
    after, before = model.predict(changes.apply(rows)), model.predict(rows)
    for row, change in enumerate(changes):
        assert after[row] == (before[row] if change is None else 1)
    alone = [row for row, best in enumerate(nearest) if best and len(best.features) == 1]
    assert model.changes(rows.iloc[alone], **limits).is_exact


def test_the_search_of_models_without_terms_misses_little():
    # The search runs on a model with terms, whose exact changes are known.
    X, y = make_rows(seed=2)
    model = fit("pairs", X, y)
    ensemble = model.ensemble_
    exact = ChangeSearch.of(ensemble, lambda raw: choose_classes(raw[:, 0]), range(6), 1)
    search = ChangeSearch(exact.predict, exact.choose, exact.distances, exact.order, None)
    codes = model.ensemble_.encode(model._open(X.iloc[:100])[0], 1)[:6]
    (nearest, none_missed), (hits, misses_none) = exact.run(codes, None), search.run(codes, None)
    assert none_missed
    assert not misses_none
    missed = [
        hit is None or hit.rank > best.rank for best, hit in zip(nearest, hits, strict=True) if best
    ]
    assert np.mean(missed) <= 0.1
    for best, hit in zip(nearest, hits, strict=True):
        assert hit is None or hit.rank >= best.rank


def test_values_are_of_the_training_rows():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = pb.ProperBoostClassifier(n_jobs=1, weak_learner="table").fit(X, y)
    changes = model.changes(X[:40])
    for row, change in enumerate(changes):
        for new in change.features if change else ():
            column = X[new.feature]
            assert column.min() <= new.value <= column.max()
            assert new.low < new.value <= new.high
            # All of the range has the same effect, whose ends have training rows between them.
            inside = column[(column > new.low) & (column <= new.high)]
            assert len(inside) > 0
            copies = X.iloc[[row] * len(inside)].assign(**{new.feature: inside.to_numpy()})
            if len(change.features) == 1:
                assert set(model.predict(copies)) == {change.to}
    assert "row 0: 1 with " in str(changes)
    assert len(changes) == 40
    assert repr(changes) == str(changes)
    part = changes[10:12]
    assert [*part] == [changes[10], changes[11]]
    assert part.apply(X[10:12]).equals(changes.apply(X[:40])[10:12])


def test_missing_values_stay():
    X, y = make_rows(seed=3)
    X.loc[::5, "a"] = np.nan
    X.loc[::7, "f"] = None
    model = fit("tables", X, y)
    rows = X.iloc[:70]
    for row, change in enumerate(model.changes(rows)):
        for new in change.features if change else ():
            assert not pd.isna(rows[new.feature].iloc[row])
            assert not pd.isna(new.value)


def test_arrays_have_positions():
    X, y = load_iris(return_X_y=True)
    model = pb.ProperBoostClassifier(n_jobs=1, weak_learner="table").fit(X, y)
    changes = model.changes(X, to=2, keep=[3])
    features = {new.feature for change in changes if change for new in change.features}
    assert features <= {0, 1, 2}
    after = model.predict(changes.apply(X))
    assert all(after[row] == 2 for row, change in enumerate(changes) if change)


def test_wrong_arguments_are_named():
    X, y = make_rows()
    model = pb.ProperBoostClassifier(n_jobs=1, n_estimators=5, weak_learner="table").fit(X, y)
    with pytest.raises(ValueError, match=r"to must be one of \[0, 1\]; got 'no'"):
        model.changes(X, to="no")
    with pytest.raises(TypeError, match=r"keep must be a list .*; got 'a': write \['a'\]"):
        model.changes(X, keep="a")
    changes = model.changes(X[:3])
    with pytest.raises(ValueError, match="X must have the 3 rows of changes; got 2"):
        changes.apply(X[:2])
    with pytest.raises(TypeError, match=r"X must be a pandas DataFrame .*; got a builtins\.list"):
        changes.apply(X[:3].to_numpy().tolist())
    with pytest.raises(ValueError, match="keep: the name 'none' is unknown"):
        model.changes(X, keep=["none"])
    begun = pb.ProperBoostClassifier(n_jobs=1, n_estimators=5, weak_learner="table").fit(
        X, y, init_score=np.zeros(len(X))
    )
    with pytest.raises(ValueError, match="init_score"):
        begun.changes(X)


def test_values_beside_infinite_and_huge_ones():
    rng = np.random.default_rng(0)
    X = rng.choice([-np.inf, -1.6e308, -9e307, 9e307, 1.6e308, np.inf], (300, 1))
    y = np.abs(X[:, 0]) > 1e308
    model = pb.ProperBoostClassifier(weak_learner="table", n_estimators=5, n_jobs=1).fit(X, y)
    changes = model.changes(X)
    assert None not in changes.changes
    np.testing.assert_array_equal(model.predict(changes.apply(X)), ~y)


def test_fewer_features_may_change():
    X, y = make_rows()
    model = fit("tables", X, y)
    whole = model.changes(X)
    sizes = [0 if change is None else len(change.features) for change in whole]
    assert {1, 2} <= {*sizes}
    for most in (1, 2):
        fewer = model.changes(X, most_features=most)
        for change, one, size in zip(whole, fewer, sizes, strict=True):
            assert one == (change if 0 < size <= most else None)
    with pytest.raises(ValueError, match="most_features must be between 1 and 3; got 4"):
        model.changes(X, most_features=4)
