"""Parameters out of range or of another type: the error names them and the allowed values."""

import numpy as np
import pytest

import properboost as pb
from helpers.small_problem import fit


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "logistic"}, r"loss must be one of .*'glog'.*; got 'logistic'"),
        ({"loss": 3}, "loss must be"),
        ({"loss": None}, "loss must be"),
        ({"gain": 0}, "gain must be above 0, or None; got 0"),
        ({"gain": -1.5}, r"gain must be above 0, or None; got -1\.5"),
        ({"gain": np.nan}, "gain must be a finite number above 0, or None; got nan"),
        ({"gain": np.inf}, "gain must be a finite number above 0, or None; got inf"),
        ({"gain": 10**400}, "gain must be a finite number above 0"),
        ({"gain": "1"}, r"gain must be a finite number above 0, or None; got '1' \(str\)"),
        ({"loss": pb.losses.GLog(2.0), "gain": 1.0}, r"gain=1\.0 contradicts"),
        ({"gain": True}, r"gain must be .*; got True \(bool\)"),
        ({"loss": pb.losses.GLog(2.0), "gain": 3.0}, r"gain=3\.0 contradicts"),
        ({"n_estimators": 0}, "n_estimators must be between 1 and .*; got 0"),
        ({"n_estimators": 2.0}, r"n_estimators must be an integer .*; got 2\.0 \(float\)"),
        ({"n_estimators": 2**31}, "n_estimators must be between 1 and"),
        ({"learning_rate": 0.0}, r"learning_rate must be above 0, or None; got 0\.0"),
        ({"learning_rate": -1.0}, "learning_rate must be above 0"),
        (
            {"weak_learner": "forest"},
            "must be one of 'table', 'stump', 'tree', 'rule', 'auto', or an object of these; got",
        ),
        ({"weak_learner": None}, "weak_learner must be one of .*; got None"),
        (
            {"selection": "random"},
            "selection must be one of 'unbiased', 'greedy', 'cyclic'; got 'random'",
        ),
        ({"selection": None}, "selection must be one of .*; got None"),
        ({"response": "probability"}, "response must be one of 'real', 'sign', 'newton', 'exact'"),
        ({"step": "armijo"}, "step must be one of 'guarded', 'unit', .*; got 'armijo'"),
        ({"prior": 0.0}, r"prior must be above 0, or None; got 0\.0"),
        ({"prior": "auto"}, "prior must be a finite number above 0"),
        (
            {"weak_learner": pb.Table(smoothing=10_001)},
            r"smoothing must be between 0 and 10000, or None; got 10001",
        ),
        ({"weak_learner": pb.Table(smoothing=-0.1)}, r"smoothing must be between 0 and 10000"),
        ({"l2": -1}, "l2 must be at least 0; got -1"),
        ({"max_bins": 1}, "max_bins must be between 2 and 255; got 1"),
        ({"max_bins": 256}, "max_bins must be between 2 and 255; got 256"),
        ({"max_bins": 16.0}, "max_bins must be an integer between 2 and 255"),
        ({"rows_per_bin": 0}, "rows_per_bin must be above 0, or 'auto' or None; got 0"),
        ({"rows_per_bin": "many"}, "rows_per_bin must be a finite number above 0, or 'auto'"),
        ({"categorical_features": "all"}, "categorical_features must be 'from_dtype'"),
        ({"categorical_features": [3]}, "categorical_features must be between 0 and 2; got 3"),
        ({"categorical_features": ["a"]}, "categorical_features: the name 'a' is unknown"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a dict; got 'even'"),
        ({"class_weight": {0: 0.0}}, r"class_weight\[0\] must be above 0; got 0\.0"),
        ({"class_weight": {0: "1"}}, r"class_weight\[0\] must be a finite number"),
        ({"class_weight": {(0,): 1.0}}, r"class_weight must have labels as keys; got \(0,\)"),
        ({"class_weight": {np.inf: 1.0}}, "class_weight must have finite labels as keys; got inf"),
        (
            {"class_weight": {2: 1.0}},
            r"class_weight must name labels among \[0, 1\]; got 2.  A label",
        ),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"n_jobs": 1.5}, r"n_jobs must be None or an integer; got 1\.5"),
        (
            {"random_state": "seed"},
            "random_state must be None, an integer from 0 .* or a numpy.random.RandomState",
        ),
        (
            {"random_state": -1},
            "random_state must be None, an integer from 0 to 4294967295 or .*; got -1",
        ),
        (
            {"interactions": -1},
            "between 0 and .*, or a list of pairs of features, or an Interactions; got -1",
        ),
        (
            {"interactions": 1.5},
            r".* an integer .*, or a list of pairs of features, or an Interactions; got 1\.5",
        ),
        ({"interactions": np.array(5)}, r".*, or a list of pairs .*; got array\(5\) \(ndarray\)"),
        ({"interactions": b"ab"}, r"interactions must be .*, or a list of pairs .*; got b'ab'"),
        ({"interactions": {0, 1}}, r"interactions must be .*, or a list of pairs .*; got \{0, 1\}"),
        ({"verbose": -2}, "verbose must be at least -1; got -2"),
        ({"verbose": None}, "verbose must be an integer"),
        (
            {"outer_bags": True},
            r"outer_bags must be an integer .*, or 0, or a Bags; got True \(bool\)",
        ),
        (
            {"outer_bags": False},
            r"outer_bags must be an integer .*, or 0, or a Bags; got False \(bool\)",
        ),
        ({"outer_bags": None}, r"outer_bags must be an integer .*, or 0, or a Bags; got None"),
        (
            {"outer_bags": "16"},
            r"outer_bags must be an integer .*, or 0, or a Bags; got '16' \(str\)",
        ),
        (
            {"outer_bags": 16.0},
            r"outer_bags must be an integer .*, or 0, or a Bags; got 16\.0 \(float\)",
        ),
        ({"outer_bags": 3}, "outer_bags must be between 4 and 64, or 0, or a Bags; got 3"),
        ({"outer_bags": 65}, "outer_bags must be between 4 and 64, or 0, or a Bags; got 65"),
        ({"outer_bags": -4}, "outer_bags must be between 4 and 64, or 0, or a Bags; got -4"),
        ({"outer_bags": pb.Bags(4, tables=1)}, r"Bags\.tables must be True or False; got 1"),
    ],
    ids=str,
)
def test_bad_parameters(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        fit(**settings)


def test_parameters_may_be_numpy_numbers():
    model = fit(
        gain=np.float32(2.0),
        n_estimators=np.int64(3),
        learning_rate=np.int8(1),
        max_bins=np.uint8(255),
        random_state=np.int32(1),
        n_jobs=np.int64(1),
        outer_bags=np.int64(0),
    )
    assert model.n_iter_ == 3
