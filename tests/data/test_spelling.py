"""Test that a text is read as one number in each spelling, or not at all."""

import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import properboost as pb
from properboost.data.spelling import PLAIN, Spelling
from properboost.persistence.schema import model_schema

GERMAN, SWISS = Spelling(",", "."), Spelling(".", "'")
FRENCH, ENGLISH = Spelling(",", " "), Spelling(".", ",")
MONEY = Spelling(units=("$", "R$", "EUR", "%"), brackets=True)


def read(spelling, text):
    number = spelling.read(text)
    return None if number is None else number.text


@pytest.mark.parametrize(
    ("spelling", "text", "number"),
    [
        (GERMAN, "1.234,5", "1234.5"),
        (GERMAN, "-1.234.567", "-1234567"),
        (GERMAN, ",5", ".5"),
        (GERMAN, "1,5e-3", "1.5e-3"),
        (GERMAN, " 12 ", "12"),
        (SWISS, "1’234.5", "1234.5"),
        (FRENCH, "1\u202f234,5", "1234.5"),
        (FRENCH, "1\u00a0234\u00a0567", "1234567"),
        (ENGLISH, "12,34,567.8", "1234567.8"),
        (MONEY, "$50", "50"),
        (MONEY, "-$50", "-50"),
        (MONEY, "$ -50", "-50"),
        (MONEY, "($50)", "-50"),
        (MONEY, "R$ (50)", "-50"),
        (MONEY, "12.5 %", "12.5"),
        (MONEY, "EUR\u00a05", "5"),
        (PLAIN, "+5", "5"),
        (PLAIN, "-inf", "-inf"),
        (PLAIN, "5.", "5."),
    ],
)
def test_numbers_are_read(spelling, text, number):
    assert read(spelling, text) == number
    float(number)


@pytest.mark.parametrize(
    ("spelling", "text"),
    [
        (GERMAN, "1,234.5"),
        (GERMAN, "1.23"),
        (GERMAN, "0.123"),  # thousands cannot begin with 0
        (GERMAN, "1234.567"),
        (GERMAN, "11.02.2024"),
        (GERMAN, "12.34.567"),
        (ENGLISH, "50123,45"),
        (ENGLISH, "1,2"),
        (ENGLISH, "1,,234"),
        (FRENCH, "1 234\u00a0567"),
        (SWISS, "1'23'456"),
        (MONEY, "$50%"),
        (MONEY, "(-50)"),
        (MONEY, "--50"),
        (MONEY, "(50"),
        (MONEY, "()"),
        (PLAIN, "(50)"),
        (PLAIN, "1,5"),
        (PLAIN, "$50"),
        (PLAIN, ""),
        (PLAIN, "."),
        (PLAIN, "٣"),
    ],
)
def test_what_could_be_another_number_is_none(spelling, text):
    assert spelling.read(text) is None


MARKS = [(".", None), (",", None), (".", ","), (",", "."), (",", " "), (".", "'"), (".", "_")]


@given(
    st.decimals(-(10**12), 10**12, places=3, allow_nan=False),
    st.sampled_from(MARKS),
    st.sampled_from(["", "%", "€", "kg"]),
    st.booleans(),
    st.booleans(),
)
def test_what_is_spelled_is_read(number, marks, unit, behind, brackets):
    decimal, thousands = marks
    spelling = Spelling(decimal, thousands, (unit,) if unit else (), brackets)
    whole, _, rest = f"{abs(number):,}".partition(".")
    text = whole.replace(",", thousands or "") + decimal + rest
    if unit:
        text = f"{text} {unit}" if behind else f"{unit}{text}"
    if number < 0:
        text = f"({text})" if brackets else f"-{text}"
    assert float(read(spelling, text)) == float(number)


@given(st.text("0123456789.,' -+()%e", max_size=9), st.sampled_from(MARKS))
def test_what_is_read_has_the_digits_that_are_written(text, marks):
    number = read(Spelling(*marks), text)
    assume(number is not None)
    assert [c for c in number if c.isdigit()] == [c for c in text if c.isdigit()]
    float(number)


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ({"decimal": "5"}, "decimal must be one character, .*; got '5'"),
        ({"decimal": " "}, "decimal must not be a blank"),
        ({"decimal": "ab"}, "decimal must be one character"),
        ({"thousands": "-"}, "thousands must be one character"),
        ({"thousands": "."}, r"decimal and thousands must be different .*; both are '\.'"),
        ({"decimal": "’", "thousands": "'"}, "must be different"),
        ({"units": ("",)}, "units must be texts without digits"),
        ({"units": ("$5",)}, "units must be texts without digits"),
        ({"units": (" kg",)}, "without blanks around"),
    ],
)
def test_what_spells_no_numbers_is_refused(marks, message):
    with pytest.raises(ValueError, match=message):
        Spelling(**marks)


# -- in model files -------------------------------------------------------------------------------

X, Y = np.arange(40.0)[:, None], np.arange(40) % 2


@pytest.fixture
def document(tmp_path):
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(X, Y)
    assert "spelling" not in save(model, tmp_path)
    model.spelling_ = Spelling(",", ".", ("€", "%"), brackets=True)
    return save(model, tmp_path)


def save(model, folder, **options):
    model.save_model(folder / "m.json", **options)
    return json.loads((folder / "m.json").read_text())


def test_model_files_keep_it(document, tmp_path):
    assert document["spelling"] == {
        "decimal": ",",
        "thousands": ".",
        "units": ["€", "%"],
        "brackets": True,
    }
    model = pb.load_model(tmp_path / "m.json")
    assert model.spelling_ == Spelling(",", ".", ("€", "%"), brackets=True)
    assert save(model, tmp_path, compact=True)["spelling"] == document["spelling"]
    jsonschema = pytest.importorskip("jsonschema")
    schema = jsonschema.Draft202012Validator(model_schema())
    assert schema.is_valid(document)
    assert not schema.is_valid(document | {"spelling": {}})
    assert not schema.is_valid(document | {"spelling": {"comma": True}})
    assert "spelling" not in save(model.fit(X, Y), tmp_path)


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ({}, "spelling must hold only values that differ"),
        ({"decimal": "."}, "spelling must hold only values that differ"),
        ({"decimal": "5"}, "spelling must be a spelling of numbers: decimal must be"),
        ({"decimal": 5}, "spelling.decimal must be a string"),
        ({"units": "€"}, "spelling.units must be a list"),
        ({"units": [5]}, r"spelling.units\[0\] must be a string"),
        ({"brackets": 1}, "spelling.brackets must be true or false"),
        ({"comma": ","}, "spelling has an unknown field 'comma'"),
        (None, "spelling must be an object"),
    ],
)
def test_other_fields_are_refused(document, tmp_path, spelling, message):
    (tmp_path / "m.json").write_text(json.dumps(document | {"spelling": spelling}))
    with pytest.raises(ValueError, match=message):
        pb.load_model(tmp_path / "m.json")


def test_merged_models_have_it_if_all_have(tmp_path):
    parts = [
        pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(X[k : k + 20], Y[:20])
        for k in (0, 20)
    ]
    for model in parts:
        model.spelling_ = GERMAN
    assert pb.merge_models(parts).spelling_ == GERMAN
    parts[1].spelling_ = FRENCH
    assert pb.merge_models(parts).spelling_ == PLAIN
