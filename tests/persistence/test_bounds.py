"""Bounds of files: none needs much more memory than its size, or has a key twice."""

import copy
import json
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import properboost as pb
from properboost.models import table_ensemble


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 2] > 0)


@pytest.fixture(scope="module")
def document(rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.json"
    pb.ProperBoostClassifier(
        n_estimators=2, max_bins=4, interactions=[[0, 1]], weak_learner="table"
    ).fit(*rows).save_model(path)
    return json.loads(path.read_text())


def load(document, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return pb.load_model(path)


@pytest.mark.parametrize(
    "interactions",
    [[1.5], [None], [True], ["ab"], [[0]], [[0, 1, 2]], [[0, 1.5]], [[0, True]], [[None, 1]],
     [[[0], 1]], [{}]],
)  # fmt: skip
def test_interactions_are_pairs(interactions, document, rows, tmp_path):
    message = r"interactions\[0\] must be two features, by name or position; got"
    changed = copy.deepcopy(document)
    changed["parameters"]["interactions"] = interactions
    with pytest.raises(ValueError, match=rf"model\.json: parameters has a value .*{message}"):
        load(changed, tmp_path)
    with pytest.raises(TypeError, match=message):
        pb.ProperBoostClassifier(interactions=interactions, weak_learner="table").fit(*rows)


@pytest.mark.parametrize("depth", [65, 1000, 100_000])
@pytest.mark.parametrize("place", ["loss", "class_weight", "monotonic_cst", "interactions"])
def test_depth_is_no_recursion_error(place, depth, document, tmp_path):
    changed = copy.deepcopy(document)
    changed["parameters"][place] = "here"
    text = json.dumps(changed).replace('"here"', "[" * depth + "]" * depth)
    with pytest.raises(ValueError, match=r"model\.json: .*nested more than 64 deep"):
        load(text, tmp_path)


def test_what_is_there_twice_is_refused(document, tmp_path):
    changed = copy.deepcopy(document)
    changed["feature_names"] = ["a", "b", "a"]
    with pytest.raises(ValueError, match="feature_names must hold names that are all different"):
        load(changed, tmp_path)
    text = json.dumps(document)
    for key in ("format", "gain", "seed", "edges"):
        twice = re.sub(rf'("{key}": )', r"\1null, \1", text, count=1)
        with pytest.raises(ValueError, match=rf"model\.json: .*key '{key}' twice"):
            load(twice, tmp_path)
    for name, value in {
        "class_weight": [[0, 1.0], [1, 2.0], [0, 1.0]],
        "monotonic_cst": {"of": [[0, 1], [0, 1]]},
    }.items():
        changed = copy.deepcopy(document)
        changed["parameters"][name] = value
        with pytest.raises(ValueError, match=rf"{name}.* than those before"):
            load(changed, tmp_path)


def test_labels_cannot_claim_much_memory(document, tmp_path):
    labels = ["a" * 1_000_000, *(f"b{k:06}" for k in range(1000))]
    changed = {**document, "classes": {"dtype": "str", "labels": labels}}
    with pytest.raises(ValueError, match="no more than 16777216 characters"):
        load(changed, tmp_path)


def test_more_labels_than_files_may_hold_are_not_saved(rows, tmp_path):
    X = np.zeros((4, 1))
    model = pb.UDTClassifier().fit(X, ["a", "b"] * 2)
    model.classes_ = np.array(["a", "b" * 2**23 + "c"])
    with pytest.raises(ValueError, match="cannot be saved, each taken as the longest"):
        model.save_model(tmp_path / "model.json")


def ask_for_many(document, n_classes, n_features):
    """Return a file of many classes and features, all of whose rounds are of the first class."""
    idle = {"feature": [], "score": [], "step": [], "risk": [], "tables": [], "trees": None}
    n, bins = n_features, {"kind": "numeric", "edges": [0], "weights": [1, 1, 0]}
    busy = {"feature": [*range(n)], "score": [0] * n, "step": [1] * n, "risk": [0] * n,
            "tables": [[1, -1, 0]] * n, "trees": None}  # fmt: skip
    return {
        **document,
        "classes": {"dtype": "int64", "labels": [*range(n_classes)]},
        "feature_names": None,
        "features": [bins] * n,
        "pairs": [],
        "models": [busy, *[idle] * (n_classes - 1)],
    }


PEAK = """
import contextlib, sys, numpy as np, properboost as pb
def peak():
    with open("/proc/self/status") as status:
        return [int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM")][0]
pb.load_model  # imported before, because names are imported on their first use
before = peak()
"""
# Modules that a small file imports on use take as much memory as the large one itself.
CODE = f"""{PEAK}
def predict(path):
    model = pb.load_model(path).set_params(n_jobs=1)
    return model, model.decision_function(np.ones((2, model.n_features_in_)))
predict(sys.argv[1])
before = peak()
model, raw = predict(sys.argv[2])
assert raw[:, 0].tolist() == [-float(model.n_features_in_)] * 2 and not raw[:, 1:].any()
assert model.n_iter_ == model.n_features_in_
print(peak() - before)
"""


# A process has one peak of memory, so a child of its own refuses each file.
REFUSED = f"""{PEAK}
import os
for path in sys.argv[1:]:
    if os.fork() == 0:
        before = peak()
        with contextlib.suppress(ValueError):
            pb.load_model(path)
        print(peak() - before, flush=True)
        os._exit(0)
    os.wait()
"""


measures_memory = pytest.mark.skipif(
    sys.platform != "linux" or "libasan" in os.environ.get("LD_PRELOAD", ""),
    reason="reads /proc, where an address sanitizer's own memory counts, too",
)


def run_with(code, *paths):
    command = [sys.executable, "-c", code, *paths]
    run = subprocess.run(command, capture_output=True, check=True, timeout=300)
    return [int(line) for line in run.stdout.split()]


@pytest.mark.slow
@measures_memory
def test_lists_in_lists_take_memory_by_their_size(tmp_path):
    entries = ["[]", "[[]]", "[[[]]]", "[[0]]", "[" * 62 + "]" * 62, '{"":[]}', '{"":{}}']
    paths = [tmp_path / f"{k}.json" for k in range(len(entries))]
    for path, entry in zip(paths, entries, strict=True):
        path.write_text('{"a":[' + (entry + ",") * (4_000_000 // len(entry)) + "0]}")
    taken = run_with(REFUSED, *paths)
    for entry, path, bytes_taken in zip(entries, paths, taken, strict=True):
        assert bytes_taken < 40 * path.stat().st_size + 2**24, entry


@measures_memory
def test_many_classes_times_many_features_take_little_memory(document, tmp_path):
    small, path = tmp_path / "small.json", tmp_path / "model.json"
    small.write_text(json.dumps(document))
    path.write_text(json.dumps(ask_for_many(document, 3000, 3000), separators=(",", ":")))
    [taken] = run_with(CODE, small, path)
    assert taken < 40 * path.stat().st_size + 2**23  # side by side they were 216 MB


def test_models_some_at_a_time_are_the_same(rows, tmp_path, monkeypatch):
    X, y = rows
    for settings in ({}, {"interactions": 2}, {"selection": "cyclic"}):
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            model = pb.ProperBoostClassifier(n_estimators=1, rows_per_bin=None, **settings)
            model.fit(X, y)
        model.save_model(tmp_path / "model.json")
        monkeypatch.setattr(table_ensemble, "_MOST_AT_ONCE", 2**18)
        dense = pb.load_model(tmp_path / "model.json")
        expected = dense.decision_function(X), dense.feature_importances_
        at_a_time = pb.load_model(tmp_path / "model.json")
        monkeypatch.setattr(table_ensemble.TableEnsemble, "_is_sparse", True)
        monkeypatch.setattr(table_ensemble, "_MOST_AT_ONCE", 300)
        np.testing.assert_array_equal(at_a_time.decision_function(X), expected[0])
        np.testing.assert_array_equal(at_a_time.feature_importances_, expected[1])
        for class_ in (0, 2):
            one, other = (m.contributions(X, class_) for m in (dense, at_a_time))
            np.testing.assert_array_equal(one.values, other.values)
        monkeypatch.undo()
