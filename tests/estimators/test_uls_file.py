"""Test files of linear separators: inconsistent files are refused."""

import json

import numpy as np
import pytest

import properboost as pb


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    path = tmp_path_factory.mktemp("uls") / "model.json"
    pb.ULSClassifier("entropy", 2, n_estimators=3).fit(
        X, X[:, 0] + rng.logistic(size=60) > 0.0
    ).save_model(path)
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(phi="gini"), "phi must be one of"),
        (
            lambda d: d.update(classes={"dtype": "str", "labels": ["a", "b", "c"]}),
            "classes must hold two labels",
        ),
        (lambda d: d["coefficients"].pop(), "coefficients must have 4 entries"),
        (lambda d: d.update(coefficients=[1e300] * 4), "coefficients must not add up to more"),
        (lambda d: d.update(total=0.0), "total must be above 0"),
        (lambda d: d.update(n_rounds=2), "must have 2 entries"),
        (lambda d: d.update(norms=None), "norms must be"),
        (lambda d: d.update(rounds=None), "rounds must be"),
        (lambda d: d.update(norms=[1.0, 1.0, 1.0, -1.0]), "norms must hold numbers from 0 to"),
        (lambda d: d["rounds"].update(feature=[0, 1, 4]), r"rounds\.feature must"),
        (lambda d: d["rounds"].update(exact=[True, 1, True]), r"rounds\.exact\[1\] must be"),
        (lambda d: d["rounds"].update(exact=[True]), r"rounds\.exact must have 3 entries"),
        (lambda d: d["rounds"].update(edge=[0.1, -0.1, 0.1]), r"rounds\.edge must hold numbers"),
        (lambda d: d["rounds"].pop("risk"), "rounds lacks the field 'risk'"),
        (lambda d: d.update(categories=[]), "categories must not be empty"),
        (lambda d: d["parameters"].update(n_corrected="some"), "n_corrected must be"),
    ],
)
def test_fields_are_checked(document, tmp_path, change, message):
    changed = json.loads(json.dumps(document))
    change(changed)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(changed))
    with pytest.raises(ValueError, match=message):
        pb.load_model(path)
