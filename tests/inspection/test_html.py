"""Test pieces of HTML: complete, without scripts or the network, all names escaped."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import properboost as pb
from properboost.inspection.words import describe
from properboost.visible import make_visible

pd = pytest.importorskip("pandas")

EVIL = "<img src=x onerror='alert(1)'>&\""


class Reader(HTMLParser):
    """Browser-like parser: the text, the tags and the open elements."""

    def __init__(self, html):
        super().__init__()
        self.text, self.tags, self.attributes, self.open = "", [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data + " "


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            f"{EVIL} age": rng.normal(40, 10, 200).round(1),
            "town": pd.Categorical(rng.choice([EVIL, "Ulm"], 200)),
        }
    )
    raw = (frame.iloc[:, 0] - 40) * (1 + (frame["town"] == "Ulm")) + rng.logistic(size=200)
    frame.loc[::9, f"{EVIL} age"] = np.nan
    return frame, np.where(raw > 0, f"{EVIL} yes", "no")


@pytest.fixture(scope="module")
def model(rows):
    settings = {"n_estimators": 5, "outer_bags": 4, "interactions": 1}
    return pb.ProperBoostClassifier(**settings).fit(*rows)


def pieces(model, X, scale):
    return {
        "numeric": model.shape_function(0, scale=scale),
        "categorical": model.shape_function(1, scale=scale),
        "pair": model.term_function((0, 1), scale=scale),
        "rows": model.contributions(X, scale=scale),
    }


@pytest.mark.parametrize("scale", ["raw", "log_odds", "probability"])
def test_pieces_are_complete_and_escaped(model, rows, scale):
    for piece in pieces(model, rows[0][:8], scale).values():
        html = piece._repr_html_()
        assert "<img" not in html
        read = Reader(html)
        assert read.open == []
        assert not {"script", "img", "link", "iframe"} & set(read.tags)
        assert not [name for name, _ in read.attributes if name.startswith("on") or name == "src"]
        assert "http" not in html
        assert EVIL in read.text  # a reader sees the name itself
        assert len(html) < 30_000


def test_categories_and_rows_have_their_numbers(model, rows):
    drawn = pieces(model, rows[0][:8], "log_odds")
    text = Reader(drawn["categorical"]._repr_html_()).text
    for value in drawn["categorical"].values:
        assert f"{value:.3g}" in text
    text = Reader(drawn["rows"]._repr_html_()).text
    assert "and 3 more rows" in text
    for i in range(5):
        assert f"from {drawn['rows'].baseline:.3g} to {drawn['rows'].total[i]:.3g}" in text
        assert describe(rows[0].iloc[i, 0]) in text
    hints = [value for name, value in Reader(drawn["pair"]._repr_html_()).attributes
             if name == "title"]  # fmt: skip
    pair = drawn["pair"]
    for a, level in enumerate(pair.levels[0]):
        for b, other in enumerate(pair.levels[1]):
            number = f"{pair.values[a, b]:.4g}" if pair.weights[a, b] > 0 else "no rows"
            assert f"{level}, {other}: {number}" in hints


def test_the_line_goes_through_the_values(model):
    shape = model.shape_function(0, scale="log_odds")
    html = shape._repr_html_()
    (points,) = re.findall(r"<polyline points='([^']*)'", html)
    heights = [float(point.split(",")[1]) for point in points.split()][::2]
    assert len(heights) == len(shape.values)
    low, high = (end for end in (np.min(shape.interval()[0]), np.max(shape.interval()[1])))
    expected = 170 * (1 - (shape.values - min(low, 0)) / (max(high, 0) - min(low, 0)))
    np.testing.assert_allclose(heights, expected, atol=0.06)


def test_many_categories_and_terms_are_cut_short():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, (500, 14)).astype(float)
    y = (X[:, 0] > 14) ^ (rng.random(500) < 0.2)
    model = pb.ProperBoostClassifier(
        n_estimators=5, categorical_features=[0], weak_learner="table"
    ).fit(X, y)
    text = Reader(model.shape_function(0)._repr_html_()).text
    assert "10 categories of fewest rows are left out" in text
    assert "4 more" in Reader(model.contributions(X[:1])._repr_html_()).text
    one = Reader(model.contributions(X[:1], scale="probability")._repr_html_()).text
    assert "4 more" not in one  # these changes do not add up


def test_a_constant_feature_is_drawn():
    model = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(
        np.column_stack([np.ones(40), np.arange(40.0)]), np.arange(40) > 19
    )
    read = Reader(model.shape_function(0)._repr_html_())
    assert read.open == []
    assert "any" in read.text


def test_each_row_names_its_class(iris):
    X, y = iris
    model = pb.ProperBoostClassifier(n_estimators=3, weak_learner="table").fit(
        X, np.array(["a", "b", "c"])[y]
    )
    contributions = model.contributions(X[[0, 60, 140]], scale="log_odds")
    text = Reader(contributions._repr_html_()).text
    for i, label in enumerate(contributions.class_label):
        assert f"row {i}, class {label}: from {contributions.baseline[i]:.3g}" in text
    assert "the class predicted" in text


@pytest.mark.parametrize(
    "text", ["a\x0b\x00\x1b[31m", "\ud800", "\u202eb", "{{ 7 }}</div>", "W" * 999]
)
def test_any_text_is_text(rows, text):
    """A notebook is JSON in UTF-8, which cannot hold half of a surrogate pair."""
    frame, y = rows
    levels = pd.Index([text, f"{text}\x0c", "other"], dtype=object)
    X = pd.DataFrame({"a": frame.iloc[:, 0]})
    X["b"] = pd.Categorical.from_codes(np.arange(200) % 3, levels)
    X.columns = pd.Index([text, "b"], dtype=object)
    labels = np.array([text if label == "no" else "other" for label in y], dtype=object)
    model = pb.ProperBoostClassifier(n_estimators=4, interactions=1, weak_learner="table").fit(
        X, labels
    )
    pieces = [model.shape_function(0), model.shape_function("b"), model.term_function((0, 1))]
    for piece in (*pieces, model.contributions(X[:3])):
        html = piece._repr_html_()
        assert html.encode()
        assert {c for c in html if not c.isprintable()} <= {"\n"}
        read = Reader(html)
        assert read.open == []
        assert {*read.tags} <= {
            "div", "b", "table", "tr", "td", "th", "span", "svg", "line", "polyline", "polygon",
        }  # fmt: skip
    drawn = Reader(model.shape_function("b")._repr_html_())
    titles = [value for name, value in drawn.attributes if name == "title"]
    assert {make_visible(text), make_visible(f"{text}\x0c")} <= {*titles}
