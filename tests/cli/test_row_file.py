"""Files of rows: the suffix says how they are read."""

from pathlib import Path

import pytest

from properboost.cli.row_file import Reader


def test_csv_is_what_no_suffix_says_otherwise():
    Path("t.txt").write_text("a;b\n1;-\n2;3\n")
    frame = Reader(";", ["-"]).read("t.txt", ["a"], is_needed=lambda _: True)
    assert frame["a"].tolist() == ["1", "2"]
    assert frame["b"].isna().tolist() == [True, False]


@pytest.mark.parametrize(
    ("reader", "files", "unused"),
    [
        (Reader(), ["t.parquet"], None),
        (Reader(";"), ["t.parquet"], "--sep"),
        (Reader(None, ["?"]), ["t.parquet", "t.feather"], "--na"),
        (Reader(";", ["?"]), ["t.parquet", "t.csv"], None),
        (Reader(";"), ["-"], None),
    ],
)
def test_options_that_no_file_is_read_by(reader, files, unused):
    assert reader.find_unused(files) == unused
