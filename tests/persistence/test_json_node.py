"""Values of a document: each is read as one type only, and errors name the place."""

import json

import numpy as np
import pytest

from properboost.persistence.json_node import Node, plain, write_reals

DOCUMENT = {"trees": [{"leaf": True, "value": 0.5}], "n": 3, "names": ["a"], "nan": "nan"}


def node():
    return Node(DOCUMENT, "model.json")


def test_values_are_read():
    fields = node().fields("trees", "n", "names", "nan")
    tree = next(fields["trees"].entries(1)).fields("leaf", "value")
    assert tree["leaf"].boolean() is True
    assert tree["value"].real() == 0.5
    assert fields["n"].integer(0, 3) == 3
    assert next(fields["names"].entries()).choice(["a", "b"]) == "a"
    assert np.isnan(fields["nan"].real())


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda n: n.fields("trees"), r"the document has an unknown field 'n'"),
        (lambda n: n.fields("loss"), r"the document lacks the field 'loss'"),
        (lambda n: n.mapping()["n"].mapping(), r"n must be an object"),
        (lambda n: n.mapping()["n"].integer(0, 2), r"n must be an integer from 0 to 2"),
        (lambda n: n.mapping()["n"].boolean(), r"n must be true or false"),
        (lambda n: n.mapping()["names"].reals(), r"names must hold numbers"),
        (lambda n: n.mapping()["names"].entries(2), r"names must have 2 entries; it has 1"),
        (
            lambda n: next(n.mapping()["trees"].entries()).mapping()["leaf"].real(),
            r"trees\[0\]\.leaf must be a number",
        ),
    ],
)
def test_errors_name_the_file_and_the_place(read, message):
    with pytest.raises(ValueError, match=rf"^model\.json: {message}"):
        read(node())


def test_real_numbers_survive_json():
    values = np.array([0.1, -0.0, np.inf, -np.inf, np.nan, 5e-324])
    written = json.loads(json.dumps(write_reals(values), allow_nan=False))
    read = [Node(value, "model.json").real() for value in written]
    np.testing.assert_array_equal(np.array(read).view(np.int64), values.view(np.int64))
    assert type(plain(np.float32(0.5))) is float
