"""The options of a page: declared once, checked when created, and the same as the function's."""

import dataclasses
import inspect

import numpy as np
import pytest

import properboost as pb
from properboost.report import ReportOptions, scores


@pytest.mark.parametrize(
    ("options", "error", "complaint"),
    [
        ({"confidence_level": 1.0}, ValueError, "confidence_level must be above 0 and below 1"),
        ({"confidence_level": "0.9"}, TypeError, "confidence_level must be"),
        ({"max_features": -1}, ValueError, "max_features must be at least 0; got -1"),
        ({"max_pairs": 1.5}, TypeError, "max_pairs must be an integer"),
        ({"max_rows": None}, TypeError, "max_rows must be an integer"),
        ({"random_state": -1}, ValueError, "random_state must be at least 0"),
        ({"group": ["sex"]}, TypeError, "unexpected keyword argument 'group'"),
    ],
)
def test_wrong_options_are_named(options, error, complaint):
    with pytest.raises(error, match=complaint):
        ReportOptions(**options)


def test_numbers_are_plain():
    options = ReportOptions(max_rows=np.int64(3), confidence_level=np.float32(0.5))
    assert (type(options.max_rows), type(options.confidence_level)) == (int, float)


def test_every_option_is_documented():
    docstring = inspect.getdoc(ReportOptions)
    for field in dataclasses.fields(ReportOptions):
        assert field.name in docstring.partition("Parameters")[2].partition("Raises")[0], field.name


def test_options_are_those_of_the_function(tmp_path, monkeypatch):
    pytest.importorskip("vl_convert")
    pytest.importorskip("jinja2")
    monkeypatch.setattr(scores, "MOST_RESAMPLES", 29)
    monkeypatch.setattr(scores, "FEWEST_RESAMPLES", 29)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)).round(1)
    y = (X[:, 0] + rng.logistic(size=60) > 0.0).astype(int)
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(X, y)
    little = {"max_features": 0, "max_pairs": 0, "max_rows": 0, "subgroups": []}

    def write(**settings):
        pb.report.write_report(model, X, y, tmp_path / "page.html", **settings)
        return (tmp_path / "page.html").read_text("utf-8")

    options = ReportOptions(**little, title="First", purpose="To try it")
    page = write(options=options)
    assert page == write(**little, title="First", purpose="To try it")
    # An argument overrides a field.
    assert write(options=options, title="Second") == page.replace("First", "Second")
    assert options.title == "First"
    with pytest.raises(TypeError, match="unexpected keyword argument 'group'"):
        write(group=["0"])
