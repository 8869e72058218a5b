"""Test explanations for InterpretML: dashboards show the model's numbers."""

import re
import sys

import numpy as np
import pytest

import properboost as pb
from properboost.inspection import dashboards


@pytest.fixture(scope="module")
def fitted(mixed):
    X, y, _ = mixed
    settings = {"n_estimators": 5, "interactions": 1, "outer_bags": 4}
    return pb.ProperBoostClassifier(**settings).fit(X, y), X, y


def test_a_model(fitted):
    pytest.importorskip("interpret")
    model, X, _ = fitted
    explanation = model.explain_global()
    a, b = model.pairs_[0]
    assert explanation.explanation_type == "global"
    assert explanation.name == "ProperBoostClassifier: log-odds of yes"
    assert explanation.feature_names == [*X, f"{a} & {b}"]
    assert explanation.feature_types == ["continuous", "nominal", "continuous", "interaction"]
    assert list(explanation.selector["Name"]) == explanation.feature_names
    importances = explanation.data()["scores"]
    np.testing.assert_allclose(importances[3:], model.pair_importances_)
    assert sum(importances) == pytest.approx(1.0)
    for j, name in enumerate(X):
        shape, drawn = model.shape_function(name, scale="log_odds"), explanation.data(j)
        high = shape.interval()[1]
        times = 2 if shape.kind == "numeric" else 1  # both ends of each step
        np.testing.assert_array_equal(drawn["scores"], np.repeat(shape.values, times))
        np.testing.assert_array_equal(drawn["upper_bounds"], np.repeat(high, times))
        np.testing.assert_array_equal(drawn["density"]["scores"], shape.weights)
    pair = model.term_function((a, b), scale="log_odds")
    np.testing.assert_array_equal(explanation.data(3)["scores"], pair.values)
    assert explanation.data(3)["left_names"] == list(pair.levels[0])


def test_rows(fitted):
    pytest.importorskip("interpret")
    model, X, y = fitted
    explanation = model.explain_local(X[:4], y[:4], "mine")
    assert (explanation.explanation_type, explanation.name) == ("local", "mine")
    contributions = model.contributions(X[:4], scale="log_odds")
    p = model.predict_proba(X[:4])
    for i in range(4):
        row = explanation.data(i)
        np.testing.assert_array_equal(row["scores"], contributions.values[i])
        assert row["names"] == list(contributions.names)
        assert row["values"][0] == contributions.describe_value(i, 0)
        assert row["extra"]["scores"] == [contributions.baseline]
        labels = row["meta"]["label_names"]
        assert labels[row["perf"]["predicted"]] == model.predict(X[:4])[i]
        assert labels[row["perf"]["actual"]] == y[i]
        assert row["perf"]["actual_score"] == p[i, labels.index(y[i])]
    without = model.explain_local(X[:4])
    assert np.isnan(without.data(0)["perf"]["actual"])
    assert list(without.selector) == ["Predicted", "PrScore"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # interpret calls plotly in an old way
@pytest.mark.parametrize("n_classes", [2, 3])
def test_dashboards_draw_all_of_it(iris, n_classes):
    pytest.importorskip("interpret")
    pytest.importorskip("plotly")
    X, y = iris
    model = pb.ProperBoostClassifier(n_estimators=3, interactions=1, weak_learner="table")
    model.fit(X, np.minimum(y, n_classes - 1))
    for explanation in (
        model.explain_global(),
        model.explain_local(X[:3], y[:3].clip(0, n_classes - 1)),
    ):
        assert all(explanation.visualize(k) is not None for k in range(len(explanation.selector)))


def test_texts_are_what_json_holds(fitted, monkeypatch):
    """Texts are safe whether InterpretML is installed or not."""
    _, X, y = fitted
    X = X.set_axis(
        pytest.importorskip("pandas").Index(["\ud800\x1b[31m", "b", "c"], dtype=object), axis=1
    )
    model = pb.ProperBoostClassifier(n_estimators=5, interactions=1, weak_learner="table").fit(
        X, [f"\x0b{k}" for k in y]
    )
    monkeypatch.setattr(dashboards, "_make", lambda *arguments: arguments)
    for arguments in (model.explain_global(), model.explain_local(X[:2])):
        shown = [arguments[3], [panel["names"] for panel in arguments[2] if "names" in panel]]
        shown.append([panel.get("values", []) for panel in arguments[2]])
        shown.append([[*panel["meta"]["label_names"]] for panel in arguments[2] if "meta" in panel])
        # Repr doubles the backslashes of spelled characters, and leaves raw ones single.
        text = repr(shown)
        assert r"\\ud800\\x1b[31m" in text
        assert not re.search(r"(?<!\\)\\(ud800|x1b|x0b)", text)


def test_missing_interpret_is_named(fitted, monkeypatch):
    model, X, _ = fitted
    monkeypatch.setitem(sys.modules, "interpret.api.templates", None)
    for ask in (model.explain_global, lambda: model.explain_local(X[:1])):
        with pytest.raises(ImportError, match=r"need interpret: pip install 'properboost\[interp"):
            ask()
