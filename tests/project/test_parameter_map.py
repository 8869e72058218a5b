"""The map of parameters: every name of ours in it exists."""

import inspect
import re
from pathlib import Path

import pytest

import properboost as pb

PAGE = Path(__file__).resolve().parents[2] / "docs" / "parameters.md"
LINES = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]


def names_of(cell):
    """The names in backticks, without the values that they are given."""
    return [name.partition("=")[0] for name in re.findall(r"`([^`]+)`", cell)]


def exists(name):
    """Whether it is a parameter, an argument of `fit`, a method or an attribute of the model."""
    model = pb.ProperBoostClassifier
    X = [[0.0], [1.0]] * 30
    fitted = model(n_estimators=2).fit(X, [0, 1] * 30, X_val=X, y_val=[0, 1] * 30)
    arguments = inspect.signature(model.fit).parameters
    return name in model().get_params() or name in arguments or hasattr(fitted, name)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.split("|")[1].strip(" `"))
def test_our_names_exist(line):
    _, ours, *theirs, _, _ = line.split("|")
    assert [name for name in names_of(ours) if not exists(name)] == []
    assert len(theirs) == 5


def test_every_parameter_that_others_have_is_in_the_map():
    ours = {name for line in LINES for name in names_of(line.split("|")[1])}
    words = {
        "n_estimators", "learning_rate", "max_leaf_nodes", "max_depth", "min_child_weight", "l2",
        "subsample", "max_features", "max_bins", "categorical_features", "class_weight",
        "early_stopping", "n_iter_no_change", "tol", "validation_fraction", "scoring", "X_val",
        "init_score", "warm_start", "set_callbacks", "monotonic_cst", "interactions", "outer_bags",
        "random_state", "n_jobs",
    }  # fmt: skip
    assert words <= ours
