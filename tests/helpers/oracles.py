"""Numbers computed apart from the package and from the reference: losses, and runs on LETTER."""

import gzip
import json
from functools import cache
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parent.parent
LETTER = TESTS.parent / "python/properboost/datasets/data/letter.csv.gz"
N_TRAIN = 4000  # the traces used these rows of LETTER

LOSSES = json.loads((TESTS / "oracles/losses.json").read_text("utf-8"))
TRACES = json.loads((TESTS / "oracles/letter_traces.json").read_text("utf-8"))
TRACE_IDS = ["{data}-{loss}-{gain}-{response}-{step}".format(**t) for t in TRACES]


@cache
def read_letter():
    """Return the features, and the labels of both problems under the names of the traces."""
    with gzip.open(LETTER, "rt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=str, skiprows=1)
    letters, X = table[:, 0], table[:, 1:].astype(float)
    return X, {
        "LETTER.p1": np.where(letters == "O", 1.0, -1.0),
        "LETTER.p2": np.where(letters >= "N", 1.0, -1.0),
    }
