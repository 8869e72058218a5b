"""The kind of input with hostile words: pages, pictures and terminals show them as text."""

import contextlib
import io
import re
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock
from xml.etree import ElementTree
from zlib import crc32

import numpy as np
from numpy.random import Generator

import properboost as pb
from fuzz.fits import phase
from fuzz.outcomes import Outcome
from helpers.pages import Page, check_is_closed
from properboost.visible import make_visible

__all__ = ["PageCase", "Pages", "draw_text"]

NASTY = [
    "\x00", "\x07", "\x0b", "\x1b[31m", "\x1b]0;t\x07", "\x7f", "\x85", "\x9b2J", "\n", "\r", "\t",
    "\u2028", "\ud800", "\udcff", "\ude00\ud83d", "\ufffe", "\uffff", "\ufdd0", "\U0010ffff",
    "\u202e", "\u2066", "\u200f", "\u200b", "\u200d", "\ufeff", "\u0301", "\u0e33", "\u1d173",
    "\U0001f600", "\U0001f469\u200d\U0001f33e", "\U000e0041", "\u05d0", "\u0627", "\u5e74",
    "\ufdfd", "", " ", "a.b", "a[0]", "a['b']", "__proto__", "constructor", "valueOf", "toString",
    "length", "datum", "datum.v", "signal", "null", "undefined", "NaN", "width", "_x", "k",
    "missing", "others", "<b>", "</td>", "</style>", "</script><script>alert(1)</script>", "<!--",
    "-->", "]]>", "<img src=x onerror=alert(1)>", "' onload='a", '" data-t="', "&amp;", "&#11;",
    "&", "javascript:a", "{{ 7 * 7 }}", "{% raw %}", "${7}", "%s", "%(a)s", "{0}", "#{x}", "`id`",
    "*a*", "|", "# a", "$x$", "$\\bad$", "cost $ (net_$)", "$5_k-$9_k", "\\$", "\\", "\\x0b",
    "\\frac{1}{2}", "x^2", "~%&",
]  # fmt: skip
"""Pieces of text that some program takes for something else."""

RANGES = [
    (0x0, 0x20), (0x20, 0x7F), (0x7F, 0xA0), (0x300, 0x370), (0x590, 0x700), (0x900, 0xD80),
    (0x2000, 0x2070), (0x4E00, 0x9FFF), (0xD7F0, 0xE010), (0xFFF0, 0x10000), (0x1F000, 0x1FB00),
    (0xE0000, 0xE0200), (0x0, 0x110000),
]  # fmt: skip

CLOSED = {"div", "b", "table", "tr", "td", "th", "span", "svg", "line", "polyline", "polygon"}
"""Elements of pieces of HTML for notebooks."""

SMALL = {"MOST_RESAMPLES": 29, "FEWEST_RESAMPLES": 29}
"""Settings of few draws for the bootstrap, which is not under test."""


def draw_text(rng: Generator) -> str:
    """Return a text: hostile pieces, any characters, ordinary, or now and then long."""
    kind = rng.random()
    if kind < 0.15:
        text = str(rng.choice(["size", "age", "low", "high", "yes", "no", "north-west"]))
    elif kind < 0.6:
        text = "".join(NASTY[k] for k in rng.integers(len(NASTY), size=rng.choice([1, 1, 2, 4])))
    else:
        low, high = RANGES[rng.integers(len(RANGES))]
        text = "".join(map(chr, rng.integers(low, high, size=rng.choice([1, 3, 12, 60]))))
    return (
        text * int(rng.choice([300, 20_000 // max(len(text), 1)])) if rng.random() < 0.07 else text
    )


@dataclass(frozen=True, eq=False)
class PageCase:
    """Small model, and the words of its table, its classes and its page."""

    params: dict[str, Any]
    names: tuple[str, ...]
    """Names of the features; the last one is categorical."""
    levels: tuple[str, ...]
    classes: tuple[str, ...]
    called: tuple[str, ...] = ()
    """Names of the classes on the page."""
    words: str = "words"
    """Words of the title, the purpose, the descriptions and so on."""
    shown: tuple[int, int, int] = (1, 1, 1)
    """Numbers of features, pairs and rows on the page."""
    seed: int = 0
    weight: None = None

    def make(self) -> tuple[Any, Any, Any]:
        """Return a fitted model, its table and its labels."""
        import pandas as pd

        rng = np.random.default_rng(self.seed)
        n, last = 60, len(self.names) - 1
        X = pd.DataFrame({j: rng.normal(size=n).round(1) for j in range(last)})
        X.iloc[::9, 0] = np.nan
        levels = pd.Index(list(self.levels), dtype=object)
        codes = rng.permutation(np.arange(n) % len(levels))
        X[last] = pd.Categorical.from_codes(codes, levels)
        score = X[0].fillna(0.0) * (1 + codes % 2) + 0.3 * rng.normal(size=n)
        of = np.argsort(np.argsort(score)) * len(self.classes) // n
        X.columns = pd.Index(list(self.names), dtype=object)
        labels = np.empty(len(self.classes), dtype=object)
        labels[:] = self.classes
        y = labels[of]
        return pb.ProperBoostClassifier(n_jobs=1, **self.params).fit(X, y), X, y

    def harmless(self) -> "PageCase":
        """Return the same case with harmless words."""

        def words(texts: Sequence[str], name: str) -> tuple[str, ...]:
            return tuple(f"{name} {k}" for k in range(len(texts)))

        return replace(
            self,
            names=words(self.names, "name"),
            levels=words(self.levels, "level"),
            classes=words(self.classes, "class"),
            called=words(self.called, "called"),
            words="words" if self.words.strip() else self.words,
        )

    def write(self, path: Path, fitted: tuple[Any, Any, Any]) -> str:
        """Write the page and return it."""
        from properboost.report import scores

        features, pairs, rows = self.shown
        words = self.words
        with mock.patch.multiple(scores, **SMALL):
            pb.report.write_report(
                *fitted, path, title=words, purpose=words, model_source=words, date=words,
                data_source=words, feature_descriptions={self.names[0]: f"a {words}"},
                class_names=dict(zip(self.classes, self.called, strict=False)),
                subgroups=[self.names[-1]], max_features=features, max_pairs=pairs, max_rows=rows,
            )  # fmt: skip
        return path.read_text("utf-8")


class Pages:
    """Small models with the worst words, shown in every way."""

    name = "pages"
    share = 0.5
    tried = 4
    addresses = 2**37

    def __init__(self) -> None:
        self._kinds: set[Any] = set()  # kinds of elements in pages of harmless words

    def draw(self, seed: int) -> PageCase:
        rng = np.random.default_rng([crc32(self.name.encode()), seed])
        names = _draw_texts(rng, int(rng.integers(2, 5)))
        classes = _draw_texts(rng, int(rng.choice([2, 2, 3])))
        called: list[str] = []
        if rng.random() < 0.4:
            called = [text for text in _draw_texts(rng, len(classes)) if text.strip()]
            called = [text for text in called if text not in classes]
        params: dict[str, Any] = {"n_estimators": int(rng.integers(1, 6))}
        if rng.random() < 0.5:
            params["interactions"] = [(0, len(names) - 1)]
            if rng.random() < 0.5:
                params["outer_bags"] = 4
        elif rng.random() < 0.2:
            params["weak_learner"] = ["tree", "rule"][rng.integers(2)]
        return PageCase(
            params,
            tuple(names),
            tuple(_draw_texts(rng, int(rng.integers(2, 7)))),
            tuple(classes),
            tuple(called),
            draw_text(rng),
            tuple(rng.integers(0, 3, 3).tolist()),
            seed,
        )

    def check(self, case: PageCase, only: str | None = None) -> Outcome:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("error")
            # Fits warn of few rows and rounds, and matplotlib of missing letters and of words too
            # wide for the picture.
            warnings.filterwarnings("ignore", category=UserWarning, module="fuzz")
            for message in ("Glyph .* missing from font", "constrained_layout not applied"):
                warnings.filterwarnings("ignore", message)
            with phase("fit"):
                fitted = case.make()
            checks = {
                "a page holds words as text": lambda: self._check_page(case, fitted, Path(folder)),
                "notebooks hold words as text": lambda: _check_pieces(fitted),
                "plots draw words as text": lambda: _check_plots(case, fitted),
                "a terminal obeys no word": lambda: _check_terminal(fitted, Path(folder)),
            }
            for name, check in checks.items():
                if only in (None, name):
                    with phase(name):
                        check()
        return Outcome("fitted")

    def _check_page(self, case: PageCase, fitted: tuple[Any, Any, Any], folder: Path) -> None:
        text = case.write(folder / "page.html", fitted)
        page = Page(text)
        check_is_closed(text)
        if not page.kinds <= self._kinds:
            usual = case.harmless()
            self._kinds |= Page(usual.write(folder / "usual.html", usual.make())).kinds
        assert page.kinds <= self._kinds, f"new elements: {page.kinds - self._kinds}"
        for drawn in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
            ElementTree.fromstring(drawn)
        shown = _squeeze(page.text)
        classes = [*case.called, *case.classes[len(case.called) :]]
        for words in (*case.names, *classes, case.words):
            assert _squeeze(make_visible(words)) in shown, f"{words!a} is not on the page"

    def digest(self, case: PageCase) -> str | None:
        return None

    def smaller(self, case: PageCase) -> Iterator[PageCase]:
        for name in case.params:
            yield replace(case, params={k: v for k, v in case.params.items() if k != name})
        usual = case.harmless()
        for field in ("names", "levels", "classes", "called", "words"):
            if getattr(case, field) != getattr(usual, field):
                yield replace(case, **{field: getattr(usual, field)})
        for field in ("names", "levels", "classes"):
            texts = getattr(case, field)
            if len(texts) > 2 and "interactions" not in case.params:
                yield from (
                    replace(case, **{field: texts[:k] + texts[k + 1 :]}) for k in range(len(texts))
                )
            for k, text in enumerate(texts):
                for simple in _simpler_texts(text, getattr(usual, field)[k]):
                    if simple not in texts:
                        yield replace(case, **{field: (*texts[:k], simple, *texts[k + 1 :])})
        if case.called:
            yield replace(case, called=())
        yield from (
            replace(case, words=simple) for simple in _simpler_texts(case.words, usual.words)
        )

    def show(self, case: PageCase, broken: str) -> str:
        settings = ", ".join(
            f"{field.name}={getattr(case, field.name)!a}" for field in fields(case)[:-1]
        )
        return "\n".join(
            [
                "from fuzz.pages import PageCase, Pages",
                "",
                "",
                "def test_regression():",
                f"    case = PageCase({settings})",
                f'    Pages().check(case, only="{broken}")',
            ]
        )


def _draw_texts(rng: Generator, n: int) -> list[str]:
    """Return this many different texts, some of which are equal once spelled."""
    texts: dict[str, None] = {}
    while len(texts) < n:
        if texts and rng.random() < 0.15:
            like = [*texts][rng.integers(len(texts))]
            texts[make_visible(like) if rng.random() < 0.5 else f"{like}\x0b"] = None
        else:
            texts[draw_text(rng)] = None
    return list(texts)


def _simpler_texts(text: str, usual: str) -> Iterator[str]:
    if text == usual:
        return
    yield usual
    for size in (len(text) // 2, len(text) // 4, 1):
        if 0 < size < len(text):
            yield from (text[k : k + size] for k in range(0, min(len(text), 40 * size), size))
            yield text[:-size]


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _check_pieces(fitted: tuple[Any, Any, Any]) -> None:
    model, X, _ = fitted
    pieces = [model.contributions(X[:2])] if hasattr(model, "contributions") else []
    if model.weak_learner_.name == "table":
        label = model.classes_[0]
        pieces += [model.shape_function(j, label) for j in (0, X.shape[1] - 1)]
        pieces += [model.term_function(pair, label) for pair in model.pairs_]
    for piece in pieces:
        text = piece._repr_html_()
        page = Page(text)
        assert text.encode()
        assert text == make_visible(text)
        assert {tag for tag, _ in page.elements} <= CLOSED
        attributes = {name for _, attributes in page.elements for name in attributes}
        assert not any(name.startswith("on") or name in ("href", "src") for name in attributes)


def _check_plots(case: PageCase, fitted: tuple[Any, Any, Any]) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    from helpers.pictures import read_words

    model, X, _ = fitted
    drawn = [lambda: pb.plots.plot_training(model)] if len(case.classes) > 2 else []
    if model.weak_learner_.name == "table":
        drawn += [lambda: pb.plots.plot_shape_function(model, X.shape[1] - 1)]
        drawn += [lambda: pb.plots.plot_contributions(model.contributions(X[:1]))]
        drawn += [partial(pb.plots.plot_term_function, model, pair) for pair in model.pairs_]
    for k, draw in enumerate(drawn):
        try:
            words = _squeeze(" ".join(read_words(draw().figure)))
        finally:
            pyplot.close("all")
        if k == 0 and len(case.classes) > 2:
            for label in case.classes:
                text = label if label.strip() else repr(label)
                assert _squeeze(_spell_breaks(text)[:50]) in words, (
                    f"{label!a} is not in the legend"
                )
        else:
            text = _squeeze(_spell_breaks(case.names[-1])[:20])
            assert text in words, f"{case.names[-1]!a} is not in the picture"


def _spell_breaks(text: str) -> str:
    for char, spelled in (("\n", r"\n"), ("\r", r"\r"), ("\t", r"\t")):
        text = text.replace(char, spelled)
    return make_visible(text)


def _check_terminal(fitted: tuple[Any, Any, Any], folder: Path) -> None:
    from properboost.__main__ import main

    model, X, _ = fitted
    path = folder / "model.json"
    try:
        model.save_model(path)
    except ValueError as error:
        if "surrogate pair" not in str(error):
            raise
        return
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(["inspect", str(path)]) == 0
    texts = [printed.getvalue()]
    if model.weak_learner_.name == "tree":
        texts.append(model.describe_tree(1, model.classes_[-1]))
    if model.weak_learner == "rule":
        texts += map(str, model.rules(model.classes_[-1]))
    try:
        model.predict(X.iloc[:, :-1])
    except ValueError as error:
        texts.append(str(error))
    for text in texts:
        assert all(line.isprintable() for line in text.split("\n")), ascii(text)
