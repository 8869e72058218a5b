import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.databases import open_database, skip_without
from properboost.export.sql_dialects import DIALECTS

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)

names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=15)


@pytest.fixture(scope="module", params=DIALECTS)
def base(request):
    skip_without(request.param)
    with open_database(request.param) as opened:
        yield opened


@given(names, names)
@settings(max_examples=40)
def test_names_and_texts_are_read_as_they_are(base, name, text):
    words = DIALECTS[base.dialect]
    query = f"SELECT {words.quote_text(text, 'a test')} AS {words.quote_name(name)}"
    assert base.ask(query) == ([(text,)], [name])


@given(names, names)
@settings(max_examples=20)
def test_names_that_fold_to_two_are_two_columns(base, one, other):
    fold = DIALECTS[base.dialect].fold
    for pair in ((one, other), (one, one.swapcase()), (f"a{one}", f"A{one}")):
        if fold(pair[0]) == fold(pair[1]) or max(len(name.encode()) for name in pair) > 63:
            continue
        base.fill("t", {name: ("integer", [k]) for k, name in enumerate(pair)})
        assert base.ask('SELECT * FROM "t"')[0] == [(0, 1)]
        base.connection.execute('DROP TABLE "t"')


@every_dialect
def test_names_that_differ_by_the_case_of_letters(dialect):
    words = DIALECTS[dialect]
    assert (words.fold("Age") == words.fold("aGE")) == (dialect != "postgres")
    assert words.fold("É") != words.fold("é")


@pytest.mark.parametrize("wrong", ["", "a\0b", "\ud800", 3])
def test_what_is_no_name_is_refused(wrong):
    for words in DIALECTS.values():
        with pytest.raises(ValueError, match="names of tables and columns must be strings of Unic"):
            words.quote_name(wrong)


@pytest.mark.parametrize("wrong", ["a\0b", "\ud800"])
def test_what_is_no_text_is_refused(wrong):
    for words in DIALECTS.values():
        with pytest.raises(ValueError, match="a string of column 'x' must not hold a NUL"):
            words.quote_text(wrong, "column 'x'")


def test_names_of_results_are_cut_between_characters():
    words = DIALECTS["postgres"]
    assert words.quote_name("é" * 31) == f'"{"é" * 31}"'
    with pytest.raises(ValueError, match="must have at most 63 bytes, to which PostgreSQL cuts"):
        words.quote_name("é" * 32)
    assert words.cut("é" * 32, 0) == "é" * 31
    assert words.cut("é" * 32, 2) == "é" * 30
    assert DIALECTS["sqlite"].cut("é" * 99, 2) == "é" * 99
    assert words.cut("a\0\ud800b", 0) == "a?b"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=50, max_size=50))
@settings(max_examples=10, deadline=None)
def test_numbers_are_read_exactly(base, drawn):
    words = ", ".join(map(DIALECTS[base.dialect].write_number, drawn))
    (row,), _ = base.ask(f"SELECT {words}")
    assert list(row) == drawn
