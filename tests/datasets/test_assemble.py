"""Test the loaders' names, arguments and return values."""

import re

import pytest

from helpers.data_files import without
from properboost import datasets


def test_the_public_names():
    assert sorted(datasets.__all__) == [
        "load_adult",
        "load_letter",
        "load_uci",
        "make_two_gaussians",
    ]


@pytest.mark.parametrize(
    ("call", "error", "argument", "known"),
    [
        (lambda: datasets.load_letter("p3"), ValueError, "part", "'p1', 'p2'; got 'p3'"),
        (lambda: datasets.load_letter(1), TypeError, "part", "'p1', 'p2'; got 1"),
        (lambda: datasets.load_letter(subset="half"), ValueError, "subset", "'train', 'test', "),
        (lambda: datasets.load_adult(subset="half"), ValueError, "subset", "'train', 'test', "),
        (lambda: datasets.load_uci("iris"), ValueError, "name", "'sonar', 'wpbc', "),
        (lambda: datasets.load_uci(["sonar"]), TypeError, "name", "'sonar', 'wpbc', "),
        (lambda: datasets.load_uci("sonar", subset="test"), ValueError, "subset", "'all'; got"),
    ],
)
def test_wrong_arguments(call, error, argument, known):
    with pytest.raises(error, match=re.escape(f"{argument} must be one of {known}")):
        call()


def test_a_frame_without_pandas_names_the_extra(monkeypatch):
    without(monkeypatch, "pandas")
    with pytest.raises(ImportError, match=re.escape("pip install 'properboost[datasets]'")):
        datasets.load_letter(as_frame=True)
