"""Test that collections whose rows change between readings are noticed and named."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

from helpers import clusters
from helpers.clusters import MARKS, cluster

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
delayed = pytest.importorskip("dask").delayed

from properboost.dask import DaskProperBoostClassifier, make_rados, shards  # noqa: E402
from properboost.dask.digests import BLOCK, PIECE, find_digest  # noqa: E402

pytestmark = MARKS

TYPES = [np.float64, np.float32, np.int64, np.int8, np.uint64, np.bool_]


@given(st.data())
def test_digests_are_those_of_values(data):
    shape = data.draw(st.tuples(st.integers(1, 40), st.integers(1, 4)))
    X = data.draw(nps.arrays(data.draw(st.sampled_from(TYPES)), shape))
    wide = np.zeros((shape[0], 2 * shape[1]), dtype=X.dtype)
    wide[:, ::2] = X
    for same in (np.asfortranarray(X), wide[:, ::2], pickle.loads(pickle.dumps(X))):
        assert find_digest(same) == find_digest(X)
    other = X[data.draw(st.permutations(range(shape[0])))]
    assert (find_digest(other) == find_digest(X)) == (other.tobytes() == X.tobytes())


@pytest.mark.parametrize(
    ("dtype", "n"), [*((digit, BLOCK + 5) for digit in TYPES), (np.int8, 2 * PIECE + 5)]
)
def test_single_cells_and_swaps_of_small_numbers_are_noticed(dtype, n):
    """Products with the factors alone would lose small numbers among floats."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, n).astype(dtype)
    zeros, ones = (rng.permutation(np.flatnonzero(digit == X))[:200] for digit in (0, 1))
    seen = {find_digest(X)}
    for k, (a, b) in enumerate(zip(zeros, ones, strict=True)):
        other = X.copy()
        other[a] = 1
        if k % 2:
            other[b] = 0
        seen.add(find_digest(other))
    assert len(seen) == 201


COLUMNS = {
    "category": lambda: pd.Series(list("abca"), dtype="category"),
    "text": lambda: pd.Series(["ab", "c", None, "ab"], dtype=object),
    "string": lambda: pd.Series(["ab", "c", None, "ab"], dtype="string"),
    "nullable": lambda: pd.Series([1, None, 3, 1], dtype="Int64"),
    "float": lambda: pd.Series([1.0, np.nan, 3.0, 1.0]),
    "date": lambda: pd.Series(pd.date_range("2020-01-01", periods=4)),
    "mixed": lambda: pd.Series([1, "a", None, 2.5], dtype=object),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_of_frames(kind):
    column = COLUMNS[kind]()
    frame = pd.DataFrame({"x": np.arange(4.0), "y": column})
    digest = find_digest(frame)
    assert digest == find_digest(pickle.loads(pickle.dumps(frame)))
    assert digest == find_digest(frame.set_axis([7, 7, 8, 9]))  # the index does not matter
    assert find_digest(column) == find_digest(COLUMNS[kind]())
    assert digest != find_digest(frame.assign(y=column[::-1].to_numpy()))
    assert find_digest(column) != find_digest(column[1:])


def test_what_stands_where():
    x = np.arange(3.0)
    assert find_digest(None, x) != find_digest(x, None)
    assert find_digest(x, x + 1.0) != find_digest(x + 1.0, x)
    assert find_digest(x.reshape(1, 3)) != find_digest(x.reshape(3, 1))


# -- fits -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def client():
    with cluster(2) as connected:
        yield connected


class Source:
    """Partitions to which `change` is applied, anew at each reading."""

    def __init__(self, change, n=300):
        rng = np.random.default_rng(5)
        self.X = rng.normal(size=(n, 3))
        self.y = (self.X[:, 0] + rng.normal(size=n) > 0.0).astype(int)
        self.weight = rng.uniform(1.0, 2.0, n)
        self.change = change
        clusters.COUNTS.clear()

    def read(self, begin):
        clusters.COUNTS[f"from {begin}"] += 1
        part, k = slice(begin, begin + 100), clusters.COUNTS[f"from {begin}"]
        return self.change(k, self.X[part], self.y[part], self.weight[part])

    def collections(self):
        """Return lazy X, y and weights that share their readings."""
        read = delayed(lambda begin: self.read(begin), pure=False)
        parts = [read(begin) for begin in range(0, 300, 100)]
        pick = delayed(lambda part, k: part[k])
        return [
            da.concatenate(
                [da.from_delayed(pick(partitions, k), (100, 3)[: 2 if k == 0 else 1], float)
                 for partitions in parts]
            )
            for k in range(3)
        ]  # fmt: skip


SAME = "X, y and sample_weight must be the same each time a collection is read"

CHANGES = {
    "rows in another order": (
        lambda k, X, y, w: (np.roll(X, k, 0), np.roll(y, k), np.roll(w, k)),
        "X, y and sample_weight must be the same each time a collection is read; partition 0 had",
    ),
    "features in another order than labels": (
        lambda k, X, y, w: (np.roll(X, k, 0), y, w),
        "X must be the same each time a collection is read",
    ),
    "other labels": (lambda k, X, y, w: (X, np.roll(y, k), w), "y and sample_weight must be"),
    "other weights": (
        lambda k, X, y, w: (X, y, w + 1e-9 * k),
        "y and sample_weight must be the same",
    ),
    "a cell": (
        lambda k, X, y, w: (np.where(np.arange(300).reshape(100, 3) == 7, k, X), y, w),
        "X must be the same each time a collection is read",
    ),
    "fewer features": (
        lambda k, X, y, w: (X[:, : 3 - (k > 3)], y, w),
        SAME,
    ),  # a partition is read for each of X, y and weights
}


@pytest.mark.parametrize("kind", CHANGES)
def test_other_rows_at_another_reading_are_refused(client, kind):
    change, message = CHANGES[kind]
    X, y, weight = Source(change).collections()
    model = DaskProperBoostClassifier(client=client, n_estimators=3, weak_learner="table")
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, weight)
    assert not hasattr(model, "classes_")


def test_columns_in_another_order_are_refused(client):
    """The names of the columns are those of the first reading."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(100, 2)), columns=["a", "b"])
    clusters.COUNTS.clear()

    def read():
        clusters.COUNTS["read"] += 1
        return frame[["a", "b"] if clusters.COUNTS["read"] == 1 else ["b", "a"]]

    parts = [delayed(read, pure=False)()]
    X = dd.from_delayed(parts, meta=frame[:0], verify_meta=False)
    y = dd.from_pandas(frame["a"] > 0, npartitions=1)
    with pytest.raises(ValueError, match=SAME):
        DaskProperBoostClassifier(client=client, n_estimators=3, weak_learner="table").fit(X, y)


def test_other_validation_rows_are_refused(client):
    fixed = Source(lambda k, X, y, w: (X, y, w)).collections()[:2]
    X, y, _ = Source(CHANGES["rows in another order"][0]).collections()
    model = DaskProperBoostClassifier(client=client, n_estimators=3, weak_learner="table")
    with pytest.raises(ValueError, match="X_val, y_val and sample_weight_val must be the same"):
        model.fit(*fixed, X_val=X, y_val=y)


def test_other_rows_are_refused_when_a_lost_worker_s_are_read_again(client, monkeypatch):
    plain = shards.Shards.run_once
    source = Source(lambda k, X, y, w: (X + clusters.COUNTS["lost"], y, w))

    def run_once(self, *arguments, **more):
        if not clusters.COUNTS["lost"]:
            clusters.COUNTS["lost"] += 1
            raise shards.WorkersLost([self._connections[0].worker])
        return plain(self, *arguments, **more)

    monkeypatch.setattr(shards.Shards, "run_once", run_once)
    X, y, _ = source.collections()
    with pytest.raises(ValueError, match="X must be the same each time a collection is read"):
        DaskProperBoostClassifier(client=client, n_estimators=3, weak_learner="table").fit(X, y)


def test_rados_of_other_rows_are_refused(client):
    X, y, _ = Source(CHANGES["rows in another order"][0]).collections()
    with pytest.raises(ValueError, match="X and y must be the same each time"):
        make_rados(X, y, 4, 0, client=client)


def test_dask_s_own_shuffles_give_the_same_rows(client):
    frame = pd.DataFrame({"k": np.arange(300) % 7, "x": np.random.default_rng(0).normal(size=300)})
    lazy = dd.from_pandas(frame, npartitions=3).shuffle("k")
    model = DaskProperBoostClassifier(client=client, n_estimators=3, weak_learner="table")
    assert model.fit(lazy[["x"]], lazy["k"] > 3).n_features_in_ == 1
