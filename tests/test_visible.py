"""Untrusted text: invalid characters and control characters are escaped."""

from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import properboost as pb
from properboost.visible import make_lines_printable, make_printable, make_visible, tell_apart

TEXTS = st.text(st.characters(codec=None, categories=None))  # half pairs and controls, too


class Words(HTMLParser):
    """Return the words of a piece of HTML."""

    def __init__(self, text):
        super().__init__()
        self.text = ""
        self.feed(text)
        self.close()

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\x0bb", r"a\x0bb"),
        ("\x00\x1b[31m\x7f\x9b", r"\x00\x1b[31m\x7f\x9b"),
        ("\ud83d", r"\ud83d"),
        ("\ufffe\uffff\ufdd0\U0001fffe\U0010ffff", r"\ufffe\uffff\ufdd0\U0001fffe\U0010ffff"),
        ("\u202eabc\u2069", r"\u202eabc\u2069"),
        ("tab\tline\nreturn\r", "tab\tline\nreturn\r"),
        ("Größe 年 \u2066", "Größe 年 \\u2066"),
        ("👩\u200d🌾 \u05d0\u200f می\u200cروم", "👩\u200d🌾 \u05d0\u200f می\u200cروم"),
        ("", ""),
    ],
)
def test_what_no_document_holds_is_spelled(text, seen):
    assert make_visible(text) == seen


@given(TEXTS)
def test_any_text_can_be_written_and_read(text):
    seen = make_visible(text)
    assert make_visible(seen) == seen
    element = ElementTree.Element("text", {"name": seen})
    element.text = seen
    read = ElementTree.fromstring(ElementTree.tostring(element, encoding="utf-8"))
    assert read.attrib["name"] == seen
    assert (read.text or "") == seen.replace("\r\n", "\n").replace("\r", "\n")
    if not {"<", "&"} & {*seen}:
        assert Words(seen).text == seen


@given(TEXTS)
def test_a_terminal_gets_nothing_to_obey(text):
    assert make_printable(text).encode().decode().isprintable()
    lines = make_lines_printable(text).split("\n")
    assert lines == [make_printable(line) for line in text.split("\n")]


@given(st.lists(st.sampled_from(["a", "a\u200b", "b", ""])))
def test_equal_names_are_distinguished(names):
    apart = tell_apart(names)
    assert len(set(apart)) == len(apart) == len(names)
    assert [name.rstrip("\u200b") for name in apart] == [name.rstrip("\u200b") for name in names]
    assert tell_apart(apart) == apart


# -- messages -------------------------------------------------------------------------------------

RED = "\x1b[31mred"


@pytest.fixture(scope="module")
def rows():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({RED: rng.normal(size=90), "b": rng.normal(size=90)})
    X[f"c{RED}"] = pd.Categorical(np.where(rng.random(90) < 0.5, RED, "q"))
    return X, np.where(X[RED] > 0, RED, "no").astype(object)


@pytest.fixture(scope="module")
def model(rows):
    return pb.ProperBoostClassifier(n_estimators=3, n_jobs=1, weak_learner="table").fit(*rows)


MESSAGES = {
    "lacking": lambda model, X, y: model.predict(X.drop(columns=RED)),
    "added": lambda model, X, y: model.predict(X.assign(**{f"z{RED}": 1.0})),
    "renamed": lambda model, X, y: model.predict(X.rename(columns={"b": f"y{RED}"})),
    "twice": lambda model, X, y: pb.ProperBoostClassifier(weak_learner="table").fit(
        X.iloc[:, [0, 0]], y
    ),
    "dates": lambda model, X, y: pb.ProperBoostClassifier(weak_learner="table").fit(
        X.assign(**{RED: np.datetime64("2026-01-01")}), y
    ),
    "feature": lambda model, X, y: model.shape_function(f"no{RED}"),
    "class": lambda model, X, y: model.shape_function(0, f"no{RED}"),
    "label": lambda model, X, y: model.margins(X, np.full(90, f"no{RED}", dtype=object)),
    "cst": lambda model, X, y: pb.ProperBoostClassifier(
        monotonic_cst={f"x{RED}": 1}, weak_learner="table"
    ).fit(X, y),
    "weight": lambda model, X, y: pb.ProperBoostClassifier(
        class_weight={RED: -1}, weak_learner="table"
    ).fit(X, y),
    "one class": lambda model, X, y: pb.ProperBoostClassifier(weak_learner="table").fit(
        X, [RED] * 90
    ),
    "validation": lambda model, X, y: pb.ProperBoostClassifier(
        n_estimators=2, weak_learner="table"
    ).fit(X, y, X_val=X.rename(columns={"b": f"u{RED}"}), y_val=y),
    "column": lambda model, X, y: pb.QuantizedTable.from_batches(X.assign(y=y), f"z{RED}"),
    "file": lambda model, X, y: pb.load_model(f"/none/{RED}"),
    "described": lambda model, X, y: pb.report.write_report(
        model, X, y, "r.html", feature_descriptions={f"z{RED}": RED}
    ),
    "named": lambda model, X, y: pb.report.write_report(
        model, X, y, "r.html", class_names={"no": RED}
    ),
    "grouped": lambda model, X, y: pb.report.write_report(
        model, X, y, "r.html", subgroups=[f"z{RED}"]
    ),
}


@pytest.mark.parametrize("case", MESSAGES)
def test_a_message_that_quotes_a_table_is_not_obeyed(model, rows, case):
    with pytest.raises((ValueError, TypeError, OSError)) as caught:
        MESSAGES[case](model, *rows)
    message = str(caught.value)
    assert r"\x1b[31m" in message
    assert all(line.isprintable() for line in message.split("\n"))
