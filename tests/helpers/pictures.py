"""Readers of plots: lines, bands, bars and words."""

import io
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np


def table(n=400):
    """Return a number with missing cells, a category, noise, and labels."""
    random = np.random.default_rng(0)
    number = random.normal(size=n).round(1)
    category = random.integers(0, 6, n).astype(float)
    noise = random.normal(size=n)
    y = number + (category == 3) + 0.3 * random.normal(size=n) > 0.5
    number[::10] = np.nan
    category[5::50] = np.nan
    return np.column_stack([number, category, noise]), y


def steps_of(ax):
    """Return the line of steps, which is not level from side to side."""
    (line,) = [line for line in ax.lines if line.get_drawstyle() == "steps-post"]
    return line.get_xdata(), line.get_ydata()


def band_of(ax):
    """Return the filled steps, which are transparent, unlike the distribution below."""
    (band,) = [patch for patch in ax.patches if patch.get_alpha() is not None]
    return band.get_data()


def errors_of(ax):
    """Return the ends of error bars, from the first bar on."""
    (bars,) = [c for c in ax.collections if isinstance(c, mpl.collections.LineCollection)]
    return np.array([segment[:, 0] for segment in bars.get_segments()])


def bars_of(ax):
    labels = [label.get_text() for label in ax.get_yticklabels()]
    return dict(zip(labels, [bar.get_width() for bar in ax.patches], strict=True))


def names_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def read_words(figure):
    """Return the words of a picture; a formula would come in pieces, or fail."""
    drawn = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(drawn, format="svg")
    root = ElementTree.fromstring(drawn.getvalue())
    return ["".join(e.itertext()) for e in root.iter() if e.tag.endswith("}text")]
