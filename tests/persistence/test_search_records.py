"""Records of searches in files, including tampered ones."""

import json

import numpy as np
import pytest

import properboost as pb


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"compared": {"name": {"dtype": "object", "values": ["a"]}}}, "must have the columns"),
        ({"chosen": None}, "search.chosen must hold entries"),
        ({"calibration": {"entries": {}}}, "search.calibration must be null, or"),
        ({"n_splits": 0}, "search.n_splits must be an integer from 1"),
        ({"scoring": 1}, "search.scoring must be a string"),
        ({"more": 1}, "unknown field 'more'"),
    ],
)
def test_a_record_in_a_file_is_checked(change, message, tmp_path):
    path = tmp_path / "model.json"
    X = np.arange(40.0)[:, None] % 10
    search = pb.ProperBoostClassifierCV(cv=2, space={"gain": [1.0], "n_estimators": 2}, effort=None)
    search.fit(X, X[:, 0] > 4).best_estimator_.save_model(path)
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"search": document["search"] | change}))
    with pytest.raises(ValueError, match=message):
        pb.load_model(path)
