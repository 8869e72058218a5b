"""The JSON schema: files of every kind conform to it, and it covers all their fields."""

import gzip
import json
from pathlib import Path

import pytest

from helpers.documents import places
from properboost.parameters.declare import declared
from properboost.persistence.files import VERSION
from properboost.persistence.registry import KINDS
from properboost.persistence.schema import model_schema

jsonschema = pytest.importorskip("jsonschema")

FILES = sorted((Path(__file__).parent / f"kept_files/format_{VERSION}").glob("*.json*"))
FILES = [path for path in FILES if ".expected." not in path.name]


def read(path):
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)


@pytest.fixture(scope="module")
def validator():
    schema = model_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_conform_to_it(path, validator):
    document = read(path)
    error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    assert error is None, f"{error.json_path}: {error.message[:300]}"


def test_files_are_of_every_kind():
    written = [read(path) for path in FILES]
    for compact in (False, True):
        kinds = {document["estimator"] for document in written if document["compact"] is compact}
        assert kinds == set(KINDS)


def put(document, place, value):
    """Return a document with another value at a place, sharing the rest."""
    if not place:
        return value
    changed = document.copy()
    changed[place[0]] = put(document[place[0]], place[1:], value)
    return changed


SMALL = [path for path in FILES if path.suffix == ".json" and path.stat().st_size < 13_000]
BY_NAME = (
    "parameters",
    "params",
    "entries",
    "cv_results",
    "family_results",
    "interaction_results",
    "compared",
)
"""Objects whose keys are data, or whose values may be anything."""


def walk(path, keep):
    """Yield the places of a file whose values `keep` selects; of lists the first entry only."""
    document = read(path)
    for place in places(document):
        if any(key != 0 for key in place if isinstance(key, int)):
            continue
        if {*BY_NAME} & {*place[:-1]}:
            continue
        value = document
        for key in place:
            value = value[key]
        if keep(value):
            yield document, place, value


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.name)
def test_it_allows_no_other_fields_and_needs_most(path, validator):
    for document, place, value in walk(path, lambda value: isinstance(value, dict)):
        if place and place[-1] in BY_NAME:
            continue
        assert not validator.is_valid(put(document, place, {**value, "another": 1})), place
    document = read(path)
    for name in document:
        fewer = {key: value for key, value in document.items() if key != name}
        optional = (
            "bags",
            "standard_errors",
            "n_estimators",
            "edits",
            "validation_curves",
            "validation_scores",
            "search",
            "terms",
            "moves",
        )
        assert name in (*optional, "rounds", "coefficients") or not validator.is_valid(fewer), name


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.name)
def test_a_value_of_another_type_is_refused(path, validator):
    """The schema refuses wrong types; loading checks parameters and results."""
    for document, place, _ in walk(path, lambda value: not isinstance(value, dict)):
        assert not validator.is_valid(put(document, place, {"another": []})), place


def test_parameters_are_those_of_the_estimators():
    schema = model_schema()
    with_parameters = {name: kind for name, kind in KINDS.items() if declared(kind.estimator)}
    assert KINDS.keys() - with_parameters == {"LeastCostClassifier", "OrderedClassifier"}
    for name, kind in with_parameters.items():
        definition = schema["$defs"][f"parameters of {name}"]
        assert definition["properties"].keys() == kind.estimator().get_params(deep=False).keys()
        assert all(entry["description"] for entry in definition["properties"].values())
