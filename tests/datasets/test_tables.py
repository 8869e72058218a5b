"""Test reading and writing of tables as text."""

from hypothesis import given
from hypothesis import strategies as st

from helpers.data_files import FILE, TABLE, raw
from properboost.datasets import _tables

CELLS = st.text(st.sampled_from("abz019.?-<>&()"), min_size=1)


@given(
    st.integers(2, 5).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1)
    ),
    st.sampled_from([",", ", ", " , ", " ", "   "]),
    st.sampled_from(["\n", "\r\n", "\r", " \n", "\n\n"]),
)
def test_parsing_undoes_writing(table, separator, end):
    assert _tables.parse(raw(table, separator, end)) == table
    assert _tables.parse(_tables.canonical_text(table)) == table


def test_written_tables_are_equal_byte_for_byte(tmp_path):
    _tables.write(tmp_path / "a" / "toy.csv.gz", TABLE)
    _tables.write(tmp_path / "b" / "toy.csv.gz", TABLE)
    written = (tmp_path / "a" / "toy.csv.gz").read_bytes()
    assert written == (tmp_path / "b" / "toy.csv.gz").read_bytes()
    assert _tables.read(tmp_path / "a" / "toy.csv.gz", FILE.sha256) == TABLE
