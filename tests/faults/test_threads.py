"""Test threads: refused by the system, shared by callers, or requested in absurd numbers."""

import sys
from functools import cache

import numpy as np
import pytest

import properboost as pb
from faults.limits import fit_limited
from faults.shared import run_threads
from faults.stacks import fit_all

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are Linux's")


@linux
def test_without_address_space_for_a_thread_a_fit_goes_on():
    outcome = fit_limited("memory", 2 << 20)
    assert outcome in ("fitted warned", "fitted silent", "refused")


@linux
@pytest.mark.parametrize(
    ("name", "size"),
    [("OMP_STACKSIZE", "1G"), ("OMP_STACKSIZE", " 1024 m"), ("GOMP_STACKSIZE", "1048576")],
)
def test_without_address_space_for_the_requested_stack_a_fit_warns_and_goes_on(name, size):
    assert fit_limited("memory", 300 << 20, **{name: size}) == "fitted warned"


@linux
def test_a_stack_size_that_is_none_is_not_minded():
    for size in ("1x", "-1", "99999999999G"):
        assert fit_limited("memory", 300 << 20, OMP_STACKSIZE=size) == "fitted silent"


@linux
def test_without_another_process_a_fit_warns_and_goes_on():
    # One process is fewer than the interpreter has threads.
    assert fit_limited("processes", 1, n_jobs=4) in ("fitted warned", "refused")


def test_shared_and_separate_estimators_give_the_same_bits_in_8_threads():
    done = run_threads(threads=8, operations=160)
    assert done.total() == 160


@pytest.mark.parametrize("n_jobs", [10**9, -(10**9), 2**31 - 1, 2**31, 2**64, 64, None])
def test_thread_counts_beyond_the_machine_are_bounded(n_jobs, binary):
    X, y = np.tile(binary[0], (20, 1)), np.tile(binary[1], 20)
    alone = pb.ProperBoostClassifier(n_estimators=2, n_jobs=1, weak_learner="table").fit(X, y)
    model = pb.ProperBoostClassifier(n_estimators=2, n_jobs=n_jobs, weak_learner="table").fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))


@pytest.mark.parametrize(
    ("n_jobs", "error"),
    [(0, ValueError), (True, TypeError), (1.5, TypeError), ("2", TypeError), (np.nan, TypeError)],
)
def test_what_is_no_thread_count_is_refused(n_jobs, error, binary):
    with pytest.raises(error, match="n_jobs must"):
        pb.ProperBoostClassifier(n_estimators=2, n_jobs=n_jobs, weak_learner="table").fit(*binary)


@linux
@pytest.mark.parametrize(
    "environment",
    [
        {"OMP_STACKSIZE": "16k"},
        # The runtime takes the first, and only the stack of its threads shows which.
        {"OMP_STACKSIZE": "100k", "GOMP_STACKSIZE": "1G"},
    ],
    ids=str,
)
def test_with_little_stack_for_its_threads_every_fit_has_the_same_bits(environment):
    assert fit_all(**environment) == usual_digest()


@cache
def usual_digest():
    digest = fit_all(n_jobs=1)
    assert len(digest) == 64
    return digest


NONSENSE = [
    "9" * 5000, "-4", "many", "0x10", " ", "4,2,1", "4;2", "1e3", "\u0664", "%s", "a" * 10_000,
]  # fmt: skip
# GOMP_CPU_AFFINITY is left out: GNU's runtime hangs at load with "%s", and missing processors end
# the process in any case.
OPENMP = (
    "OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_SCHEDULE", "OMP_PROC_BIND", "OMP_PLACES",
    "OMP_DYNAMIC", "OMP_WAIT_POLICY", "OMP_STACKSIZE", "GOMP_STACKSIZE", "OMP_MAX_ACTIVE_LEVELS",
    "OMP_NESTED", "GOMP_SPINCOUNT", "OMP_CANCELLATION",
)  # fmt: skip


@linux
@pytest.mark.parametrize("shift", range(0, len(NONSENSE), 4))
def test_nonsense_in_the_variables_of_openmp_ends_no_fit(shift):
    variables = {name: NONSENSE[(shift + k) % len(NONSENSE)] for k, name in enumerate(OPENMP)}
    assert fit_limited("memory", 1 << 33, **variables) in ("fitted silent", "fitted warned")


@linux
@pytest.mark.parametrize("limit", ["1", "2"])
def test_a_runtime_that_gives_fewer_threads_gives_the_same_bits(limit):
    variables = {"OMP_THREAD_LIMIT": limit, "OMP_DYNAMIC": "true", "OMP_MAX_ACTIVE_LEVELS": "0"}
    assert fit_limited("memory", 1 << 33, n_jobs=4, **variables) == "fitted silent"
