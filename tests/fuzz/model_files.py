"""Attack the loading of files: mutate models and tables, and see what becomes of them.

    python tests/fuzz/model_files.py --minutes 5 --seed 1 --failures /tmp/failures

A mutated file must be refused with a ValueError that names it, or be a model like any: it predicts
finite numbers or refuses the rows; saved again, also compact and packed, it loads and
predicts the same; the full file keeps its bytes.  This must stay within `MEMORY` and
`SECONDS`.  Files that fail are saved.  One file in `TABLES` is of a quantized table, see
`table_files`.
"""

import argparse
import faulthandler
import json
import math
import multiprocessing
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from multiprocessing.connection import wait
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import mutations
import table_files

MEMORY = (64 * 2**20, 10)
"""Bytes of memory allowed for a file, and per byte of it."""

SECONDS = (0.3, 2.0)
"""Seconds of processor time allowed for a file, and per MB of it."""

TABLES = 4

HANG = 60.0
"""Seconds without an outcome after which a worker is ended."""


def make_models(pb):
    """Return unfitted models of every kind, and variants whose files differ in content."""
    quick = {"cv": 2, "max_bins": 4, "rows_per_bin": None, "effort": None}
    space = {"gain": [0.5, 2.0], "n_estimators": 2}
    stopping = pb.EarlyStopping(validation_fraction=0.2, n_iter_no_change=3)
    scale = pb.Calibration(slope=0.9, intercept="share", temperature=1.5)
    pairs = pb.Interactions(1, n_estimators=2, learning_rate=0.5)
    few = {"n_estimators": 2, "max_bins": 4, "rows_per_bin": None}
    return {
        "table": pb.ProperBoostClassifier("gboost", **few, class_weight={"a": 1.0, "b": 2.0}),
        "objects": pb.ProperBoostClassifier(
            **few,
            weak_learner=pb.Table(max_cells=3, smoothing=0.2),
            interactions=pairs,
            early_stopping=stopping,
            calibration=scale,
        ),
        "cyclic": pb.ProperBoostClassifier(**few, selection="cyclic", interactions=2),
        "classes": pb.ProperBoostClassifier("savage", **few, weak_learner="stump"),
        "pairs": pb.ProperBoostClassifier(**few, interactions=[[0, 1], ["town", 2]]),
        "bags": pb.ProperBoostClassifier(
            **few, outer_bags=4, interactions=1, loss="savage", random_state=1
        ),
        "edited": pb.ProperBoostClassifier(**few, outer_bags=4, interactions=[["town", "age"]]),
        "bags classes": pb.ProperBoostClassifier(**few, outer_bags=pb.Bags(4, tables=False)),
        "tree": pb.ProperBoostClassifier(
            **few, weak_learner=pb.Tree(max_leaf_nodes=3), monotonic_cst={"size": 1}
        ),
        "tree classes": pb.ProperBoostClassifier(**few, weak_learner=pb.Tree(max_leaf_nodes=3)),
        "merged lines": pb.ProperBoostClassifier(
            **few, weak_learner=pb.Tree(linear_leaves=True, interaction_cst=2)
        ),
        "rule": pb.ProperBoostClassifier(**few, weak_learner="rule"),
        "udt": pb.UDTClassifier("mu", max_leaf_nodes=4, max_bins=4),
        "votes": pb.ARBoostClassifier(**few, damping=0.1),
        "votes classes": pb.ARBoostClassifier(**few, multiclass="one_vs_rest"),
        "rhos": pb.ARBoostClassifierCV([1.0, 2.0], cv=2, **few),
        "spaces": pb.ProperBoostClassifierCV(
            {
                **space,
                "loss": ["glog", pb.losses.get_loss("alpha", alpha=0.2)],
                "weak_learner": ["stump", pb.Table(max_cells=None, smoothing=0.5)],
                "interactions": [0, 1],
                "interactions__learning_rate": [1.0],
            },
            **quick,
        ),
        "no refit": pb.ProperBoostClassifierCV(space, **quick, refit=False),
        "rados": pb.RadoBoostClassifier({"ridge": 1.0}, n_estimators=3, n_rados=9),
        "uls": pb.ULSClassifier("mu", 2, n_estimators=3),
        "sets classes": pb.ConformalClassifier(
            pb.ProperBoostClassifier(**few), cv=2, conformity_score="aps", per_class=True
        ),
        "ordered": pb.OrderedClassifier(pb.ProperBoostClassifier(**few), ["b", "a"]),
        "ordered classes": pb.OrderedClassifier(
            pb.ProperBoostClassifier(**few), ["b", "c", "a"], moving_thresholds=True
        ),
        "costs": pb.LeastCostClassifier(pb.ProperBoostClassifier(**few), {"a": 1.0, "b": 4.0}),
        "Venn-Abers": pb.VennAbersClassifier(pb.ProperBoostClassifier(**few), cv=2),
    }


def edit(model):
    """Return a model with edits of every kind."""
    import properboost as pb

    model.remove_feature("age")
    model.set_shape_function("size", [0.5] * len(model.shape_function("size").values))
    return pb.merge_models([model.monotonize("size", 1), model], reason="both").monotonize("size")


def merge_with_itself(model):
    """Return a model with lines of two origins."""
    import properboost as pb

    return pb.merge_models([model, model])


EDITED = {"edited": edit, "merged lines": merge_with_itself}
"""Edits that models get after their fit, by name."""


def make_files(pb, folder):
    """Return sound files of every kind, and the rows that they were fitted to."""
    import pandas as pd

    from properboost.persistence.registry import KINDS

    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {
            "size": rng.normal(size=40).round(2),
            "town": pd.Categorical(rng.choice(["x", "y", "z"], 40)),
            "age": rng.integers(0, 9, 40).astype(float),
        }
    )
    two = np.where(rows["size"] + (rows["town"] == "x") > rng.normal(size=40), "a", "b")
    files, kinds = {}, set()
    for name, model in make_models(pb).items():
        labels = np.where(rows["age"] > 6, "c", two) if "classes" in name else two
        with warnings.catch_warnings(action="ignore"):
            model.fit(rows, labels)
            model = EDITED.get(name, lambda model: model)(model)
            model.save_model(folder / "sound.json")
        files[name] = mutations.ModelFile((folder / "sound.json").read_bytes())
        kinds.add(files[name].document["estimator"])
        model.save_model(folder / "sound.json", compact=True)
        compact = mutations.ModelFile((folder / "sound.json").read_bytes())
        files[f"{name}, compact"] = compact
    assert kinds == set(KINDS), "a file of every kind must be attacked"
    return files, rows.iloc[:8]


class FailedError(Exception):
    """Error that a mutated file broke a rule."""


def check_file(pb, path, rows):
    """Return "refused" or "loaded"; raise FailedError if the file is neither."""
    try:
        model = pb.load_model(path)
    except ValueError as error:
        if str(path) not in str(error):
            raise FailedError(f"the error does not name the file: {error}") from error
        return "refused"
    before = predict(model, rows)
    compact = path.with_name("compact.json.gz")
    model.save_model(compact, compact=True)
    if not same(predict(pb.load_model(compact), rows), before):
        raise FailedError("what was saved compact is another model")
    again = path.with_name("again.json")
    model.save_model(again)
    saved = again.read_bytes()
    loaded = pb.load_model(again)
    if type(loaded) is not type(model) or not same(predict(loaded, rows), before):
        raise FailedError("what was saved is another model")
    loaded.save_model(again)
    if again.read_bytes() != saved:
        raise FailedError("what was saved is not saved as the same bytes")
    return "loaded"


def predict(model, rows):
    """Return the predictions of a model; None where it refuses the rows."""
    if not model.__sklearn_is_fitted__() or not hasattr(model, "decision_function"):
        return None
    try:
        raw = model.decision_function(rows)
        probability = model.predict_proba(rows)
        model.predict(rows)
    except ValueError:
        return None
    if not (np.isfinite(raw).all() and np.isfinite(probability).all()):
        raise FailedError("predictions are not finite")
    if not np.allclose(probability.sum(axis=1), 1.0):
        raise FailedError("probabilities do not add up to 1")
    return raw, probability


def same(one, other):
    """Return whether predictions have the same bits."""
    if one is None or other is None:
        return one is other
    return all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


def limit_memory(size):
    """Limit the memory of this process to the allowance for a file of this size."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY[0] + MEMORY[1] * size
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def attack(folder, seed, inputs, minutes, outcomes, failures):
    """Try mutated files until their number is reached or the time is up."""
    faulthandler.enable()
    import properboost as pb

    warnings.simplefilter("ignore")
    folder.mkdir()
    files, rows = make_files(pb, folder)
    rng = np.random.default_rng(seed)
    path = folder / "input.json"
    models = ([*files.values()], mutations.mutate, lambda: check_file(pb, path, rows))
    sound = [*table_files.make_tables(pb, folder).values()]
    tables = (sound, table_files.mutate_table, lambda: table_files.check_table(pb, path))
    # This pays for what is done only once, for no file in particular.
    for files, _, check in (models, tables):
        for file in files:
            path.write_bytes(file.data)
            assert check() == "loaded"
    end = time.monotonic() + 60.0 * minutes
    for k in range(inputs):
        if time.monotonic() > end:
            break
        files, mutate, check = tables if rng.integers(TABLES) == 0 else models
        one, other = (files[rng.integers(len(files))] for _ in range(2))
        how, data = mutate(one, other, rng)
        path.write_bytes(data)
        begin, problem, outcome = time.process_time(), "", "failed"
        try:
            limit_memory(len(data))
            outcome = check()
        except Exception:
            problem = traceback.format_exc()
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
        taken = time.process_time() - begin
        if taken > SECONDS[0] + SECONDS[1] * len(data) / 1e6:
            problem += f"it took {taken:.3f} s"
        if problem:
            outcome = "failed"
            name = f"{seed}-{k}"
            (failures / f"{name}.json").write_bytes(data)
            (failures / f"{name}.txt").write_text(f"{how}\n{problem}\n")
        outcomes.send((outcome, how.partition(",")[0], taken, len(data)))


def watch(jobs, readers, folder, failures):
    """Collect outcomes until every worker has ended; a worker that dies or hangs is a failure."""
    outcomes, kinds, longest, n_bytes = Counter(), Counter(), 0.0, 0
    last, shown = time.monotonic(), time.monotonic()
    while True:
        alive = any(job.is_alive() for job in jobs)
        ready = wait(readers, timeout=1.0)
        if not ready:
            if not alive:
                break
            if time.monotonic() - last > HANG:
                for job in jobs:
                    job.kill()
        for reader in ready:
            try:
                outcome, how, taken, size = reader.recv()
            except EOFError:  # the worker has ended
                readers.remove(reader)
                continue
            last = time.monotonic()
            outcomes[outcome] += 1
            kinds[how] += 1
            longest, n_bytes = max(longest, taken), n_bytes + size
        if not readers:
            break
        if last - shown > 30.0:
            shown = last
            print(dict(outcomes), flush=True)
    for k, job in enumerate(jobs):
        job.join()
        if job.exitcode != 0:
            outcomes["crashed or hung"] += 1
            data = (folder / str(k) / "input.json").read_bytes()
            (failures / f"crash-{k}.json").write_bytes(data)
    return outcomes, kinds, longest, n_bytes


def main(argv=None):
    """Run the attack; return the exit status, 1 if a file failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"))
    arguments = parser.parse_args(argv)
    arguments.failures.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("spawn")
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        each, limit = arguments.inputs // arguments.jobs, arguments.minutes
        jobs, readers = [], []
        for k, seed in enumerate(range(arguments.seed, arguments.seed + arguments.jobs)):
            # A queue would start a thread while memory is limited.
            reader, writer = context.Pipe(duplex=False)
            settings = (folder / str(k), seed, each, limit, writer, arguments.failures)
            jobs.append(context.Process(target=attack, args=settings))
            jobs[-1].start()
            writer.close()  # the worker's end stays open
            readers.append(reader)
        outcomes, kinds, longest, n_bytes = watch(jobs, readers, folder, arguments.failures)
    n = sum(outcomes.values())
    report = {
        "inputs": n,
        "megabytes": round(n_bytes / 1e6, 1),
        "minutes": round((time.monotonic() - begin) / 60.0, 1),
        **outcomes,
        "longest, seconds": round(longest, 3),
        "by mutation": dict(kinds.most_common()),
    }
    print(json.dumps(report, indent=1))
    return int(outcomes["failed"] + outcomes["crashed or hung"] > 0)


if __name__ == "__main__":
    sys.exit(main())
