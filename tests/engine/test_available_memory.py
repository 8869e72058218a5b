"""Test the memory that limits leave, and that fits too large for it are refused early."""

import json
import os
import subprocess
import sys

import pytest

from properboost.engine import available_memory
from properboost.engine.available_memory import AvailableMemory, find_available, require_memory

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits are Linux's")

MEBIBYTE = 2**20

# Each fit runs in a process of its own, without a limit or within one on address space. The limit
# leaves this many bytes, or this multiple of the bytes that the first fit needed.
FITS = """
import json, os, resource, sys
import numpy as np
import properboost as pb
from properboost.engine import local
from properboost.engine.available_memory import _count_free_heap

# Sizes of address space: resident pages may grow by less than was taken, as a system that is short
# of memory drops pages of files.  Earlier work may have had the peak.
def size_of(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024

def limit_to(left):
    with open("/proc/self/statm") as line:
        used = int(line.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + left, used + left))

def spy(needed, advice):
    needs.append(needed)
    check(needed, advice)

def fit(classes, left, parameters):
    y = np.arange(len(X)) % classes
    model = pb.ProperBoostClassifier(n_estimators=1, n_jobs=1, weak_learner="table")
    model.set_params(**parameters)
    model.fit(X[:2000], y[:2000] % 3)
    free, before, error = _count_free_heap(), size_of("VmSize"), None
    earlier = size_of("VmPeak")
    if left is not None:
        limit_to(int(left if left > 10 else left * results[0]["needed"]))
    try:
        model.fit(X, y)
    except MemoryError as refused:
        error = str(refused)
    peak = size_of("VmPeak")
    sizes = {"taken": peak - before, "grown": peak - earlier, "free": free}
    return {"needed": needs[-1], "error": error, **sizes}

check, local.require_memory, needs = local.require_memory, spy, []
X = np.random.default_rng(0).normal(size=(20_000, 5)).astype(np.float32)
results = []
for one in json.loads(sys.argv[1]):
    readable, writable = os.pipe()
    if os.fork() == 0:
        os.write(writable, json.dumps(fit(*one)).encode())
        os._exit(0)
    os.close(writable)
    with os.fdopen(readable) as answer:
        results.append(json.loads(answer.read()))
print(json.dumps(results))
"""


# malloc returns free blocks at once. A heap of small blocks shrinks only as far as the last one
# lies.
GIVE_BACK = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_MMAP_MAX_": "1000000"}


def fit_in_processes(*fits):
    done = subprocess.run(
        [sys.executable, "-c", FITS, json.dumps(fits)],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **GIVE_BACK},
        check=True,
        timeout=600,
    )
    return json.loads(done.stdout)


@linux
def test_the_estimate_is_what_is_taken_at_least():
    tree = {"weak_learner": "tree", "weak_learner__max_leaf_nodes": 4}
    fits = [
        (100, {"response": "newton"}),
        (100, {"response": "real", "loss": "gboost"}),
        (100, {"response": "real", "multiclass": "one_vs_rest"}),
        (50, tree),
        # The sums of a shared tree's nodes take half of the memory.
        (50, {**tree, "max_bins": 255, "response": "newton"}),
    ]
    for sizes in fit_in_processes(*((classes, None, settings) for classes, settings in fits)):
        # Measured: 1.2 to 1.5 times, and 1.9 for trees. A fit first takes the free part of the
        # heap.
        assert sizes["needed"] <= sizes["taken"] + sizes["free"]
        assert sizes["taken"] <= 2.2 * sizes["needed"]


@linux
def test_what_does_not_fit_is_refused_before_it_is_taken():
    newton = {"response": "newton", "weak_learner__max_cells": None}
    refused, fits = fit_in_processes((400, 80 * MEBIBYTE, newton), (400, 1.5, newton))
    needed = refused["needed"]
    assert 12 * 20_000 * 400 < needed < 20 * 20_000 * 400
    assert refused["error"].startswith(f"the fit needs at least {needed / MEBIBYTE:,.0f} MiB of ")
    assert "(RLIMIT_AS) leaves " in refused["error"]
    advice = "with multiclass='one_vs_rest' or response='real' or fewer rows"
    assert refused["error"].endswith(advice)
    assert refused["grown"] < 0.1 * needed
    assert fits["error"] is None


def write_system(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="ascii")


MACHINE = {"proc/meminfo": "MemTotal: 900 kB\nMemAvailable: 500 kB\nSwapFree: 100 kB\n"}


def sizes_by_limit(root):
    return {limit: size for size, limit in sorted(find_available(root), reverse=True)}


def test_systems_without_limits_leave_everything(tmp_path):
    assert find_available(tmp_path) == []
    write_system(tmp_path, {"proc/meminfo": "?", "proc/self/cgroup": "no groups\n"})
    assert find_available(tmp_path) == []


def test_swap_space_and_what_holds_files_are_available(tmp_path):
    group = "sys/fs/cgroup/a/b/"
    files = {
        "proc/self/cgroup": "0::/a/b\n",
        f"{group}memory.max": "400000\n",
        f"{group}memory.current": "300000\n",
        f"{group}memory.stat": "anon 1\ninactive_file 20000\nactive_file 3000\n",
        f"{group}memory.swap.max": "max\n",
        "sys/fs/cgroup/a/memory.max": "max\n",
        "sys/fs/cgroup/a/memory.current": "900000\n",
        "sys/fs/cgroup/a/memory.stat": "anon 1\n",
    }
    write_system(tmp_path, {**MACHINE, **files})
    sizes = sizes_by_limit(tmp_path)
    assert sizes == {"the machine": 600 * 1024, "the memory limit of the cgroup": 123000 + 102400}
    swap = {f"{group}memory.swap.max": "5000", f"{group}memory.swap.current": "4000"}
    write_system(tmp_path, swap)
    assert sizes_by_limit(tmp_path)["the memory limit of the cgroup"] == 124000
    # The narrower limit of an enclosing group counts.
    write_system(tmp_path, {"sys/fs/cgroup/a/memory.max": "850000"})
    assert sizes_by_limit(tmp_path)["the memory limit of the cgroup"] == 102400


@pytest.mark.parametrize("folder", ["docker/box/", ""])
def test_groups_of_version_1_are_read_too(tmp_path, folder):
    group = f"sys/fs/cgroup/memory/{folder}"
    files = {
        "proc/self/cgroup": "5:cpu,cpuacct:/docker/box\n4:memory:/docker/box\n0::/\n",
        f"{group}memory.limit_in_bytes": "400000\n",
        f"{group}memory.usage_in_bytes": "390000\n",
        f"{group}memory.stat": "cache 9\ntotal_inactive_file 2000\ntotal_active_file 300\n",
    }
    write_system(tmp_path, files)
    assert find_available(tmp_path) == [AvailableMemory(12300, "the memory limit of the cgroup")]


@linux
def test_of_the_limits_on_address_space_the_one_in_force_counts(tmp_path, monkeypatch):
    """A process may raise the soft limit to the hard one, which thus does not count."""
    limits = (50 * MEBIBYTE, 900 * MEBIBYTE)
    monkeypatch.setattr(available_memory.resource, "getrlimit", lambda _: limits)
    pages = 30 * MEBIBYTE // available_memory.resource.getpagesize()
    write_system(tmp_path, {"proc/self/statm": f"{pages} 5 4 3 2 1 0\n"})
    expected = AvailableMemory(20 * MEBIBYTE, "the limit on address space (RLIMIT_AS)")
    assert find_available(tmp_path) == [expected]
    write_system(tmp_path, {"proc/self/statm": f"{3 * pages} 5 4 3 2 1 0\n"})
    assert find_available(tmp_path) == [AvailableMemory(0, expected.limit)]


def test_the_narrowest_limit_is_named(monkeypatch):
    left = [
        AvailableMemory(300 * MEBIBYTE, "the machine"),
        AvailableMemory(200 * MEBIBYTE, "the other"),
    ]
    monkeypatch.setattr(available_memory, "find_available", lambda: left)
    monkeypatch.setattr(available_memory, "_count_free_heap", lambda: 10 * MEBIBYTE)
    require_memory(210 * MEBIBYTE, "less")
    message = "at least 211 MiB of memory, and the other leaves 210 MiB: .* with fewer rows$"
    with pytest.raises(MemoryError, match=message):
        require_memory(211 * MEBIBYTE, "fewer rows")
    monkeypatch.setattr(available_memory, "find_available", list)
    require_memory(2**60, "nothing: no limit is known")
