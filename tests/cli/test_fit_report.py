"""Test the report of `fit` on the model."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split

import properboost as pb
from helpers.commands import fit, run
from properboost.report.effects import list_terms


def test_report(capsys):
    frame, out, _ = fit(capsys, "--test-size", "0.25")
    X = frame[["size", "colour", "flag"]].astype({"colour": "category", "flag": "category"})
    y = frame["grade"].to_numpy()
    model = pb.ProperBoostClassifier(weak_learner="table").fit(X, y)
    trained, unseen = train_test_split(
        np.arange(len(y)), test_size=0.25, stratify=y, random_state=0
    )
    trial = pb.ProperBoostClassifier(weak_learner="table").fit(X.iloc[trained], y[trained])
    scores = dict(re.findall(r"^(class shares|training|held out) +(\S+ +\S+ +\S+)$", out, re.M))
    for name, classifier, rows in (
        ("training", model, np.arange(len(y))),
        ("held out", trial, unseen),
    ):
        loss = log_loss(y[rows], classifier.predict_proba(X.iloc[rows]))
        accuracy = accuracy_score(y[rows], classifier.predict(X.iloc[rows]))
        assert scores[name].split() == [f"{len(rows)}", f"{loss:.4f}", f"{accuracy:.4f}"]
    good = np.mean(y == "good")
    entropy = -good * np.log(good) - (1 - good) * np.log(1 - good)
    assert scores["class shares"].split() == ["200", f"{entropy:.4f}", f"{max(good, 1 - good):.4f}"]
    assert "200 rows, 3 features (2 categorical)" in out
    first = re.search(r"importance  feature\n +(\S+)%  (\S+)", out)
    assert first[2] == "size"
    assert float(first[1]) == pytest.approx(100 * model.feature_importances_.max(), abs=0.05)


def test_report_has_standard_errors_of_importances(capsys):
    rows = "".join(f"{k % 7},{k % 5},{'u' if k % 7 + k % 3 > 4 else 'v'}\n" for k in range(300))
    Path("t.csv").write_text("a,b,y\n" + rows)
    options = ["--effort", "none", "--outer-bags", "4", "--interactions", "1"]
    out, _ = run(capsys, "fit", "t.csv", "--target", "y", "--output", "t.json", *options)
    model = pb.load_model("t.json")
    of_features = re.search(r"importance +feature\n +\S+% \+-(\S+)% +a\n", out)
    assert float(of_features[1]) == pytest.approx(100 * model.importance_errors_[0], abs=0.05)
    of_pairs = re.search(
        r"importance +joint effect.*\n +\S+% \+-(\S+)% +a and b( +\(may be chance\))?\n", out
    )
    assert float(of_pairs[1]) == pytest.approx(100 * model.importance_errors_[2], abs=0.05)


@pytest.mark.parametrize("learner", [["table"], ["tree", "--interaction-cst", "2"]])
def test_importances_are_those_of_the_page(capsys, learner):
    """Trees have importances of splits, too, which are others; the page and `fit` agree."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)).round(2)
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.logistic(size=600) > 0.0
    rows = [",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y, strict=True)]
    Path("t.csv").write_text("\n".join(["a,b,c,d,y", *rows]))
    options = ["--effort", "none", "--weak-learner", *learner, "--outer-bags", "4"]
    options += ["--n-estimators", "20", *(["--interactions", "3"] if learner == ["table"] else [])]
    out, _ = run(capsys, "fit", "t.csv", "--target", "y", "--output", "t.json", *options)
    terms = list_terms(pb.load_model("t.json"))
    printed = re.findall(
        r"^ +(\S+)% \+-\S+% *  ([a-d](?: and [a-d])*)(  \(may be chance\))?$", out, re.M
    )
    expected = [
        (f"{100.0 * term.importance:.1f}", term.name, bool(term.within_noise))
        for is_pair in (False, True)
        for term in terms
        if term.is_pair == is_pair
    ]
    assert [(share, name, bool(noise)) for share, name, noise in printed] == expected
    assert any(noise for *_, noise in expected)
    assert sum(name.count("and") for _, name, _ in expected) >= 2
    assert "+- is the standard error of the size, and not of the shape." in out


@pytest.mark.parametrize(
    ("rows", "share", "reason"),
    [
        ("1,u\n2,u\n3,v\n4,v\n", "0", "none, because --test-size is 0"),
        ("1,u\n2,u\n3,u\n4,v\n", "0.5", "class v has one row only"),
        ("1,u\n2,u\n3,v\n4,v\n", "0.2", "too few rows"),
    ],
)
def test_report_states_why_no_rows_were_held_out(capsys, rows, share, reason):
    Path("small.csv").write_text("x,y\n" + rows)
    out, _ = run(capsys, "fit", "small.csv", "--target", "y", "--test-size", share)
    assert re.search(f"^held out: .*{reason}", out, re.M)
