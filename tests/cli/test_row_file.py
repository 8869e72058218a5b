"""Test that the suffix of a file of rows sets its format."""

from pathlib import Path

import pytest

from properboost.cli.row_file import RowFileReader


def test_csv_is_the_format_of_other_suffixes():
    Path("t.txt").write_text("a;b\n1;-\n2;3\n")
    frame = RowFileReader(";", ["-"]).read("t.txt", ["a"], is_needed=lambda _: True)
    assert frame["a"].tolist() == ["1", "2"]
    assert frame["b"].isna().tolist() == [True, False]


@pytest.mark.parametrize(
    ("reader", "files", "unused"),
    [
        (RowFileReader(), ["t.parquet"], None),
        (RowFileReader(";"), ["t.parquet"], "--sep"),
        (RowFileReader(None, ["?"]), ["t.parquet", "t.feather"], "--na"),
        (RowFileReader(";", ["?"]), ["t.parquet", "t.csv"], None),
        (RowFileReader(";"), ["-"], None),
    ],
)
def test_options_that_no_file_is_read_by(reader, files, unused):
    assert reader.find_unused(files) == unused
