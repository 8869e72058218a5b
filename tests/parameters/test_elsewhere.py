"""Test the answers to other libraries' arguments of methods, attributes and names."""

import copy
import inspect
import pickle
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics

import properboost as pb
from properboost.parameters.elsewhere import (
    ARGUMENTS,
    ATTRIBUTES,
    FIT_ARGUMENTS,
    LACKING,
    NAMES,
    PLOTS,
    advise_callers,
)

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/parameters.md"
X, Y = pd.DataFrame({"x": np.arange(60.0)}), np.arange(60) % 2


@pytest.fixture(scope="module")
def model():
    return pb.ProperBoostClassifier(n_estimators=2, outer_bags=4, weak_learner="table").fit(
        X, Y, X_val=X, y_val=Y
    )


def find_ours(replacement):
    """Return the names of a model's attributes in a replacement: "save_model(path)", "n_iter_"."""
    return re.findall(r"(?<![\w.])[a-z]\w*(?:_(?!\w)|(?=\())", replacement)


def read_page():
    """Return the other libraries' words in the page's table of fitted models."""
    text = PAGE.read_text("utf-8").partition("## Predicting and reading")[2]
    rows = [line.split("|")[2:7] for line in text.splitlines() if line.startswith("| `")]
    return {word for row in rows for word in re.findall(r"`([^`]+)`", " ".join(row))}


def test_the_words_of_the_page_are_answered(model):
    unanswered = {word for word in read_page() if word not in ARGUMENTS and word not in ATTRIBUTES}
    assert {word for word in unanswered if not hasattr(model, word)} == set()


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(name, model):
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=f"object has no attribute '{name}': use "):
        getattr(model, name)
    if "pb." not in ATTRIBUTES[name]:
        assert [ours for ours in find_ours(ATTRIBUTES[name]) if not hasattr(model, ours)] == []


@pytest.mark.parametrize("name", LACKING)
def test_attributes_of_other_fits(name, model):
    assert hasattr(model, name)
    plain = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(X, Y)
    with pytest.raises(AttributeError, match=f"object has no attribute '{name}': use fit"):
        getattr(plain, name)


@pytest.mark.parametrize("name", FIT_ARGUMENTS)
def test_arguments_of_fits(name):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}': write "):
        pb.ProperBoostClassifier(weak_learner="table").fit(X, Y, **{name: 1})


@pytest.mark.parametrize("name", PLOTS)
def test_plots(name, model):
    assert not hasattr(pb.plots, name)
    ours = PLOTS[name]
    if ours.startswith("plot_"):
        assert ours in pb.plots.__all__
    elif ours.startswith("model."):
        assert all(hasattr(model, method) for method in find_ours(ours.removeprefix("model.")))
    else:
        assert ours.startswith("sklearn.metrics.")
        display = getattr(sklearn.metrics, ours.split(".")[2])
        assert callable(display.from_estimator)


@pytest.mark.parametrize("name", NAMES)
def test_names(name):
    assert not hasattr(pb, name)
    with pytest.raises(AttributeError, match=f"module 'properboost' has no attribute '{name}'"):
        getattr(pb, name)


@pytest.mark.parametrize("path", re.findall(r"pb\.([\w.]+)\(", str([ATTRIBUTES, NAMES])))
def test_replacements_exist(path):
    value = pb
    for part in path.split("."):
        value = getattr(value, part)
    assert callable(value)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_of_predictions(name, model):
    for method in (model.predict, model.predict_proba):
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}': use "):
            method(X, **{name: 1})
    assert all(hasattr(model, ours) for ours in find_ours(ARGUMENTS[name]))


@pytest.mark.parametrize("kind", [pb.ProperBoostClassifier, pb.ProperBoostClassifierCV])
def test_unknown_arguments_without_an_answer(kind):
    with pytest.raises(TypeError, match=r"fit\(\) got an unexpected keyword argument 'zzz'$"):
        kind().fit(X, Y, zzz=1)


def test_signatures_stay():
    def method(self, X, *, y=None):
        """Return both."""
        return X, y

    advised = advise_callers(method)
    assert inspect.signature(advised) == inspect.signature(method)
    assert advised.__doc__ == method.__doc__
    assert advised(None, 1, y=2) == (1, 2)


def test_errors_of_properties_stay(model):
    rows = np.random.default_rng(0).normal(size=(2000, 6))
    trees = pb.ProperBoostClassifier(weak_learner="tree", n_estimators=5)
    trees.fit(rows, rows.sum(axis=1) > 0.0)
    with pytest.raises(AttributeError, match="three features"):
        trees.terms_  # noqa: B018
    with pytest.raises(AttributeError, match="object has no attribute 'nothing'"):
        model.nothing  # noqa: B018


def test_copies_and_pickles(model):
    for same in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pb.compare(1, 2, 3, 4), "write compare([first, second], X_test, y_test)"),
        (lambda: pb.export.to_onnx(1, "m.onnx"), "write onnx.save(to_onnx(model), 'model.onnx')"),
        (lambda: pb.export.to_sql(1, "m.sql"), "write pathlib.Path('model.sql').write_text("),
        (lambda: pb.QuantizedTable("rows.csv", target="y"), "write pb.QuantizedTable.from_batches"),
        (lambda: pb.QuantizedTable("rows.csv"), "got str: write pb.QuantizedTable.from_batches("),
        (lambda: pb.QuantizedTable.from_batches("r.parquet", target="y"), "label='label'"),
        (lambda: pb.report(1, 2, 3), "pb.report is a module: write pb.report.write_report("),
    ],
)
def test_calls_that_do_not_fit_are_answered_by_an_example(call, words):
    with pytest.raises(TypeError) as error:
        call()
    assert words in str(error.value)


def test_functions_with_examples_keep_their_signature():
    assert [*inspect.signature(pb.compare).parameters][:3] == ["models", "X", "y"]
    assert [*inspect.signature(pb.QuantizedTable).parameters] == ["rows"]
