"""Test that model files have the same bits for any number of threads and on any processor."""

import json
import os
import subprocess
import sys

import pytest

from bits import model_hashes
from helpers.instruction_sets import other_sets
from properboost import _core

EXPECTED = json.loads(model_hashes.EXPECTED.read_text(encoding="ascii"))

# NumPy has X86_V4 and X86_V3 since 2.4, and the other names before.
ABSENT = (
    "X86_V4 X86_V3 "
    "AVX512_SPR AVX512_ICL AVX512_CNL AVX512_CLX AVX512_SKX AVX512CD AVX512F FMA3 AVX2"
)
WITHOUT_VECTORS = {
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2_Usable,-AVX2,-FMA_Usable,-FMA,-FMA4_Usable,-FMA4",
    "NPY_DISABLE_CPU_FEATURES": ABSENT,
}
"""Environment in which the C library and NumPy avoid what old processors lack."""


def test_model_files_are_as_expected():
    assert model_hashes.compare(model_hashes.compute(1), EXPECTED) == []


@pytest.mark.parametrize(
    ("instruction_set", "n_jobs"),
    [*((other, 3) for other in other_sets()), (_core.instruction_set, 5)],
)
def test_model_files_do_not_depend_on_the_processor_or_threads(instruction_set, n_jobs):
    plain = instruction_set == _core.instruction_set
    done = subprocess.run(
        [sys.executable, model_hashes.__file__, "--threads", str(n_jobs)],
        env=os.environ
        | {"PROPERBOOST_INSTRUCTION_SET": instruction_set}
        | (WITHOUT_VECTORS if plain else {}),
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{instruction_set}, {n_jobs} threads: {len(EXPECTED)} fits, 0 differ" in done.stdout


def test_a_difference_is_seen():
    name = "stump, exact, large"
    hashes = model_hashes.compute(1, name)
    assert model_hashes.compare(hashes, {name: EXPECTED[name]}) == []
    assert model_hashes.compare(hashes, {name: EXPECTED["UDT, large"]}) == [name]
    assert model_hashes.compare(hashes, {}) == [name]
    assert model_hashes.compare({}, EXPECTED) == sorted(EXPECTED)
