"""Rados: sums over random halves of the rows, and sums of rados of separate rows."""

import itertools
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.reference.rado import expected
from properboost import _core, rado

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(0)


def table(n, d, dtype=np.float64):
    return (10.0 * RNG.normal(size=(n, d))).astype(dtype), RNG.integers(0, 2, n)


# -- the sums -------------------------------------------------------------------------------------


@given(
    n=st.integers(2, 150),
    d=st.integers(1, 40),
    n_rados=st.integers(1, 20),
    seed=st.integers(0, 2**32 - 1),
    offset=st.integers(0, 2**53 - 200),
    dtype=st.sampled_from(["f8", "f4", "i2", "u1", "i8", "?"]),
    order=st.sampled_from("CF"),
)
def test_rados_are_sums_over_random_halves(n, d, n_rados, seed, offset, dtype, order):
    X, y = table(n, d)
    X = np.asarray(np.abs(X) if dtype == "u1" else X, order=order).astype(dtype)
    y[:2] = 0, 1
    made = rado.make_rados(X, y, n_rados, seed, row_offset=offset)
    exact = expected(X, y, n_rados, seed, offset)
    bound = (1e-5 if dtype == "f4" else 1e-15) * np.abs(X.astype(np.float64)).sum(axis=0)
    assert np.all(np.abs(made.values - exact) <= bound)
    assert made.values.shape == (n_rados, d)
    assert (made.seed, made.row_ranges, made.n_rows) == (seed, ((offset, offset + n),), n)


def test_many_rows_and_rados():
    X, y = table(20_000, 3, np.float32)  # more than are summed in float32 at a time
    made = rado.make_rados(X, y, 5000, 1).values  # more than are summed at a time
    # Sums of whole numbers are exact, whatever their order.
    whole = np.rint(X)
    exact = expected(whole, y, 3, 1)
    np.testing.assert_array_equal(rado.make_rados(whole, y, 5000, 1).values[:3], exact)
    bound = 1e-5 * np.abs(X.astype(np.float64)).sum(axis=0)
    assert np.all(np.abs(made[:3] - expected(X, y, 3, 1)) <= bound)


def test_signs_are_fair_and_independent():
    """If rows are unit vectors, a rado holds the signs themselves."""
    n, n_rados = 240, 4000
    y = np.arange(n) % 2
    rados = rado.make_rados(np.eye(n), y, n_rados, 3).values
    sigma = 2.0 * rados - (2.0 * y - 1.0)
    assert set(np.unique(sigma)) == {-1.0, 1.0}
    # Means of 4,000 fair signs and of their products: 28,920 of them, in standard deviations.
    limit = 5.5 / np.sqrt(n_rados)
    assert np.abs(sigma.mean(axis=0)).max() < limit
    products = sigma.T @ sigma / n_rados - np.eye(n)
    assert np.abs(products).max() < limit
    limit = 5.5 / np.sqrt(n)
    assert np.abs((sigma[:-1] * sigma[1:]).mean(axis=1)).max() < limit


def test_threads_make_no_difference():
    X, y = table(9000, 37, np.float32)
    one, three = (rado.make_rados(X, y, 300, 5, n_jobs=jobs).values for jobs in (1, 3))
    np.testing.assert_array_equal(one, three)


def test_no_seed_is_a_seed():
    X, y = table(40, 3)
    np.testing.assert_array_equal(
        rado.make_rados(X, y, 4).values, rado.make_rados(X, y, 4, random_state=0).values
    )
    other = rado.make_rados(X, y, 4, random_state=1).values
    assert not np.array_equal(other, rado.make_rados(X, y, 4).values)


# -- owners of separate rows ----------------------------------------------------------------------


@given(st.lists(st.integers(0, 130), max_size=4), st.integers(0, 1000), st.randoms())
def test_rados_of_parts_add_up(cuts, offset, random):
    X, y = table(130, 5)
    X = np.rint(X)  # so that sums are exact
    whole = rado.make_rados(X, y, 7, 2, row_offset=offset, classes=[0, 1])
    ends = sorted({0, 130, *cuts})
    parts = [
        rado.make_rados(X[a:b], y[a:b], 7, 2, row_offset=offset + a, classes=[0, 1])
        for a, b in itertools.pairwise(ends)
    ]
    random.shuffle(parts)
    combined = rado.combine(parts)
    np.testing.assert_array_equal(combined.values, whole.values)
    assert combined.row_ranges == whole.row_ranges
    assert combined.n_rows == 130


def test_ranges_with_a_gap_and_any_order():
    X, y = table(30, 2)
    parts = [rado.make_rados(X, y, 3, 0, row_offset=start) for start in (100, 0, 30)]
    combined = rado.combine(parts)
    assert combined.row_ranges == ((0, 60), (100, 130))
    np.testing.assert_array_equal(combined.values, rado.combine(parts[::-1]).values)
    grouped = rado.combine([rado.combine(parts[:2]), parts[2]])
    np.testing.assert_allclose(grouped.values, combined.values, rtol=1e-12, atol=1e-9)
    assert grouped.row_ranges == combined.row_ranges


def test_one_owner_has_one_class():
    X, y = table(50, 3)
    X, order = np.rint(X), np.argsort(y, kind="stable")
    X, y, zeros = X[order], y[order], int((y == 0).sum())
    parts = [
        rado.make_rados(X[:zeros], y[:zeros], 4, 1, classes=[0, 1]),
        rado.make_rados(X[zeros:], y[zeros:], 4, 1, classes=[0, 1], row_offset=zeros),
    ]
    np.testing.assert_array_equal(rado.combine(parts).values, rado.make_rados(X, y, 4, 1).values)


# -- errors ---------------------------------------------------------------------------------------


def test_what_does_not_belong_together_is_refused():
    X, y = table(20, 3)
    first = rado.make_rados(X, y, 4, 1)

    def other(x=X, labels=y, n=4, seed=1, offset=20, **settings):
        return rado.make_rados(x, labels, n, seed, row_offset=offset, **settings)

    frame = pd.DataFrame(X, columns=list("abc"))
    for second, message in (
        (other(seed=2), "the seed must be the same; got 1 and 2"),
        (other(n=5), r"the shape must be the same; got \(4, 3\) and \(5, 3\)"),
        (other(X[:, :2]), "the shape must be the same"),
        (other(frame), "the columns must be the same; got .*'feature 0'.* and .*'a'"),
        (other(labels=np.where(y, "yes", "no")), "the classes must be the same"),
        (other(labels=y == 1), r"the classes must be the same; got \[0, 1\] and \[False, True\]"),
        (other(offset=19), "different rows; got rows 0 to 19 and rows 19 to 38"),
        (first, "different rows"),
    ):
        with pytest.raises(ValueError, match=message):
            rado.combine([first, second])
    with pytest.raises(ValueError, match="rados must hold at least one set of rados; got none"):
        rado.combine([])
    with pytest.raises(TypeError, match=r"rados\[1\] must be Rados; got ndarray"):
        rado.combine([first, first.values])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_rados": 0}, ValueError, "n_rados must be at least 1; got 0"),
        ({"n_rados": 2.0}, TypeError, "n_rados must be an integer"),
        ({"n_rados": 10**13}, ValueError, "n_rados must be at most"),
        ({"row_offset": 2**53 - 19}, ValueError, f"row_offset must be between 0 and {2**53 - 20}"),
        ({"row_offset": -1}, ValueError, "row_offset must be between 0"),
        ({"random_state": -1}, ValueError, "random_state must be None, an integer from 0"),
        ({"random_state": "a"}, TypeError, "random_state must be None, an integer"),
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
        ({"classes": [0, 0]}, ValueError, "classes must be two different labels"),
        ({"classes": [1, 0]}, ValueError, r"labels in ascending order.*; got \[1, 0\]"),
        ({"classes": [0, None]}, ValueError, r"labels in ascending order.*; got \[0, None\]"),
        ({"classes": [0, [1]]}, ValueError, r"labels in ascending order.*; got \[0, \[1\]\]"),
        ({"classes": [0.0, np.inf]}, ValueError, "classes must be two different labels"),
        ({"classes": 3}, ValueError, "classes must be two different labels .*; got 3"),
        ({"classes": [0, 1, 2]}, ValueError, "classes must be two different labels"),
        ({"classes": [0, 2]}, ValueError, r"y must hold labels among \[0, 2\]; got .*1"),
        ({"y": [0] * 20}, ValueError, "at least two classes"),
        ({"y": list(range(20))}, ValueError, "Only binary classification"),
        ({"y": [0, 1]}, ValueError, "X and y must have as many rows; got 20 and 2"),
        ({"X": np.empty((0, 3)), "y": []}, ValueError, "0 sample"),
        ({"X": np.full((20, 3), 1e308)}, ValueError, "sums are infinite"),
        ({"X": np.full((20, 3), "a")}, ValueError, "must hold numbers"),
    ],
)
def test_wrong_arguments(settings, error, message):
    X, y = table(20, 3)
    y[:2] = 0, 1
    with pytest.raises(error, match=message):
        rado.make_rados(**{"X": X, "y": y, "n_rados": 4, **settings})


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_not_finite_is_named(value, dtype):
    X, y = table(300, 20, dtype)
    X[217, 18] = value
    message = re.escape("X must hold finite numbers: column 18 holds NaN or infinity")
    with pytest.raises(ValueError, match=message):
        rado.make_rados(X, y, 1)
    frame = pd.DataFrame(X[:, 17:], columns=["a", "b", "c"])
    with pytest.raises(ValueError, match="column 'b' holds NaN or infinity"):
        rado.make_rados(frame, y, 1)


def test_no_column_at_all():
    frame = pd.DataFrame({"town": pd.Categorical([None] * 4)})
    for n_rados in (3, 10**13):
        with pytest.raises(ValueError, match="X must give at least one column"):
            rado.make_rados(frame, [0, 1, 0, 1], n_rados)
    assert rado.make_rados(frame, [0, 1, 0, 1], 3, intercept=True).values.shape == (3, 1)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_ctrl_c_is_heard_before_the_first_sums_are_done():
    """All rows are summed together, so an engine that checked only afterwards would check once."""
    heard = []

    def listen(*_):
        heard.append(1)
        if len(heard) == 3:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, listen)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        with pytest.raises(KeyboardInterrupt):
            _core.make_rados(
                np.zeros((7000, 800)),
                [(k, -1) for k in range(800)],
                np.zeros(7000, dtype=np.uint8),
                0,
                0,
                30_000,
            )
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


# -- instruction sets -----------------------------------------------------------------------------

DIGEST = """
import hashlib, numpy as np
from properboost import RadoBoostClassifier, rado
X = np.random.default_rng(0).normal(size=(700, 37))
y = np.arange(700) % 2
made = [rado.make_rados(X.astype(kind), y, 100, 1).values for kind in ("f4", "f8")]
steps = RadoBoostClassifier("slope", n_estimators=50).fit_rados(made[1]).history_["step"]
digest = hashlib.sha256(b"".join(a.tobytes() for a in (*made, steps))).hexdigest()
print(digest)
"""


@pytest.mark.skipif(_core.instruction_set == "baseline", reason="there is no other set")
def test_instruction_sets_make_no_difference():
    scope = {}
    exec(DIGEST, scope)
    environment = os.environ | {"PROPERBOOST_INSTRUCTION_SET": "baseline"}
    command = [sys.executable, "-c", DIGEST]
    run = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True, timeout=300
    )
    assert run.stdout.strip() == scope["digest"]
