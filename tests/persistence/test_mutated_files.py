"""A short attack on model files; `tests/fuzz/model_files.py` runs as long as one likes."""

import sys
from pathlib import Path

import numpy as np
import pytest

import properboost as pb

pytest.importorskip("pandas")

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))

import model_files
import mutations


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    return model_files.make_files(pb, tmp_path_factory.mktemp("sound"))


@pytest.mark.filterwarnings("ignore::UserWarning")  # names that were lost
@pytest.mark.parametrize("name", [*mutations.OF_BYTES, *mutations.OF_DOCUMENTS])
def test_a_mutated_file_is_refused_or_a_model_like_any(name, attacked, tmp_path):
    files, rows = attacked
    rng = np.random.default_rng([len(name), *name.encode()])
    outcomes, path = set(), tmp_path / "model.json"
    for _ in range(15):
        one, other = (list(files.values())[rng.integers(len(files))] for _ in range(2))
        mutation = {**mutations.OF_BYTES, **mutations.OF_DOCUMENTS}[name]
        path.write_bytes(mutation(one, other, rng))
        outcomes.add(model_files.check_file(pb, path, rows))
    assert outcomes <= {"refused", "loaded"}
