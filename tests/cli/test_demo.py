"""Test the demonstration: its output, its figures and its errors."""

import dataclasses
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import properboost as pb
from helpers.commands import run
from helpers.models import AS_PUBLISHED
from properboost.cli import demo
from properboost.datasets import _locate
from properboost.reproduce.boostlr.large_sets_published import ERRORS

# -- the demonstration ----------------------------------------------------------------------------


@pytest.fixture
def no_adult(tmp_path, monkeypatch):
    """Remove the folder, empty the cache, and make the archive unreachable."""
    monkeypatch.delenv("PROPERBOOST_DATA", raising=False)
    monkeypatch.setenv("PROPERBOOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(_locate, "ARCHIVE", "http://127.0.0.1:9/")  # port 9 discards all it gets


def small_problem(_):
    """Yield a part of one set, in place of the sets of the paper.

    Features have so few values that each value has its own bin, for any search of bins.
    """
    load = demo.datasets.load_letter
    problem = demo._load("LETTER.p2", "N to Z against A to M", load, part="p2")
    part = slice(0, 300)
    yield dataclasses.replace(
        problem,
        X=problem.X[part] // 6,
        y=problem.y[part],
        X_test=problem.X_test[part] // 6,
        y_test=problem.y_test[part],
    )


def test_demo(capsys, no_adult, monkeypatch):
    monkeypatch.setattr(demo, "N_FOLDS", 2)
    out, err = run(capsys, "demo", "--rounds", 5, "--gains", 2, 0.5, "--output-dir", "results/demo")
    picture = Path("results/demo/demo.png")
    assert f"Wrote the picture to {picture}." in out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert 50_000 < picture.stat().st_size < 2_000_000

    left_out = [line for line in err.splitlines() if line.startswith("ADULT is left out: ")]
    assert len(left_out) == 1
    assert "download failed" in left_out[0]
    assert "ADULT:" not in out

    for part in ("LETTER.p1", "LETTER.p2"):
        block = out[out.index(f"{part}: ") :].split("\n\n")[0]
        for (method, of), errors in ERRORS.items():
            if of == part:
                assert re.search(rf"^{method} .* {errors.text}$", block, re.M)


def test_demo_prints_what_such_fits_give(capsys, monkeypatch):
    monkeypatch.setattr(demo, "_load_problems", small_problem)
    monkeypatch.setattr(demo, "_draw", lambda *_: "")
    out, _ = run(capsys, "demo", "--rounds", 5, "--gains", 2, 0.5)
    (problem,) = small_problem(None)
    models = {
        "Logistic": pb.ProperBoostClassifier("glog", **AS_PUBLISHED),
        "Exponential": pb.ProperBoostClassifier("exponential", **AS_PUBLISHED),
        "AdaBoost": pb.AdaBoost(),
        "LogitBoost": pb.LogitBoost(),
    }
    for loss in ("GLog", "GLaplacian"):
        row = re.search(rf"^{loss} +(\S+) +(\S+) +\S+ +\S+ +\S+ +(\S+) +(\S+)", out, re.M)
        scores, errors = {}, {}
        for gain in (0.5, 2.0):
            settings = AS_PUBLISHED | {"gain": gain, "n_estimators": 5}
            model = pb.ProperBoostClassifier(loss.lower(), **settings)
            folds = StratifiedKFold(5, shuffle=True, random_state=0)
            p = cross_val_predict(model, problem.X, problem.y, cv=folds, method="predict_proba")
            scores[gain] = log_loss(problem.y, p)  # the folds are equally large
            errors[gain] = np.sum(
                model.fit(problem.X, problem.y).predict(problem.X_test) != problem.y_test
            )
        gain = min(scores, key=scores.get)
        assert row[1] == f"{gain:g}"
        assert row[2] == f"{scores[gain]:.4f}"
        assert int(row[4]) == errors[float(row[3])] == min(errors.values())
        models[loss] = pb.ProperBoostClassifier(loss.lower(), **AS_PUBLISHED | {"gain": gain})
    search = pb.ProperBoostClassifierCV(effort=2, random_state=0).fit(problem.X, problem.y)
    wrong = np.sum(search.predict(problem.X_test) != problem.y_test)
    loss = log_loss(problem.y_test, search.predict_proba(problem.X_test))
    row = rf"^Search +{-search.best_score_:.4f} +{wrong} +{loss:.4f} +\S+ +{search.family_}$"
    assert re.search(row, out, re.M)
    for name, model in models.items():
        model.set_params(n_estimators=5).fit(problem.X, problem.y)
        wrong = np.sum(model.predict(problem.X_test) != problem.y_test)
        loss = log_loss(problem.y_test, model.predict_proba(problem.X_test))
        assert re.search(rf"^{name} .* {wrong} +{loss:.4f} ", out, re.M)


def test_demo_chooses_the_gain_by_cross_validation():
    trials = [
        demo.Trial(
            pb.ProperBoostClassifier(gain=gain, weak_learner="table"), 0.0, errors, 0.0, cv_log_loss
        )
        for gain, errors, cv_log_loss in ((1.0, 10, 0.3), (2.0, 12, 0.2), (4.0, 8, 0.25))
    ]
    tuned = {"GLog": trials, "GLaplacian": trials[:1]}
    outcome = demo.ProblemTrials(None, tuned, {}, trials[0], "tables")
    assert outcome.chosen("GLog").gain == 2.0
    assert outcome.hindsight("GLog").gain == 4.0
    assert outcome.best_method == "GLog"


def test_demo_without_matplotlib(capsys, monkeypatch):
    monkeypatch.setattr(demo, "_load_problems", small_problem)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    out, _ = run(capsys, "demo", "--rounds", 2, "--gains", 1)
    assert "No picture was drawn; plots need matplotlib: pip install 'properboost[plots]'" in out
    assert re.search("^GLaplacian .* 2844$", out, re.M)
    assert list(Path("out").iterdir()) == []
