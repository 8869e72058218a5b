"""Test tables as lines of text."""

from properboost.text_table import align


def test_columns_are_as_wide_as_their_longest_text():
    rows = [["name", "n", "kind"], ["a", "1,000", "x"]]
    assert align(rows) == ["name      n  kind", "a     1,000     x"]
    assert align(rows, left=(0, 2)) == ["name      n  kind", "a     1,000  x"]
