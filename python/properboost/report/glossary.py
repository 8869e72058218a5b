"""The glossary of a page: words and their meanings."""

import re
from dataclasses import dataclass

__all__ = ["GLOSSARY", "GlossaryEntry", "find_words"]


@dataclass(frozen=True)
class GlossaryEntry:
    """A word, its meaning, and the regular expression that finds it in a text."""

    name: str
    meaning: str
    pattern: str

    @property
    def whole(self) -> str:
        """The regular expression of whole words, which excludes parts of ``capital-gain``."""
        return rf"(?<![\w-])({self.pattern})(?![\w-])"


GLOSSARY = (
    GlossaryEntry("row", "One case: a person, a loan, a measurement.", r"rows?"),
    GlossaryEntry(
        "feature",
        "A property of every row, such as an age; a column of the file.",
        r"features?",
    ),
    GlossaryEntry("class", "One of the answers that the model chooses from.", r"class(es)?"),
    GlossaryEntry(
        "training rows, test rows",
        "The model was fitted to the training rows.  Test rows took no part in the fit, so they "
        "show how good the model is on new rows.  Scores on training rows are too good.",
        r"(training|test) rows?",
    ),
    GlossaryEntry(
        "probability",
        "Of 100 rows with a probability of 70%, about 70 should be so.  The measurement is under "
        "“Can the probabilities be trusted?”.",
        r"probability|probabilities",
    ),
    GlossaryEntry(
        "log-odds, points",
        "A probability on a scale on which effects can be added: the logarithm of p / (1 − p) "
        "for a probability p.  The way back is 1 / (1 + e to the power of −points).  0 is 50%, "
        "+1 is 73%, +2 is 88%, +3 is 95%; −1 is 27%, −2 is 12%, −3 is 5%.  The points that "
        "values add are log-odds.  Near 50%, 0.1 points are about 2.5 percentage points.",
        r"log-odds|points",
    ),
    GlossaryEntry("odds", "How many times as probable as not: odds of 3 to 1 are 75%.", r"odds"),
    GlossaryEntry(
        "boosting",
        "Building a model from many small parts, one round after the other; each new part "
        "corrects errors of the parts before it.",
        r"boosting|boosted|rounds?|cycles?",
    ),
    GlossaryEntry(
        "look-up table",
        "A small part of a model: a number of points for each range of values, or category, of a "
        "feature.",
        r"look-up tables?",
    ),
    GlossaryEntry(
        "tree",
        "A small part of a model: a few questions, one after the other, with points at the ends.",
        r"trees?",
    ),
    GlossaryEntry(
        "average row",
        "A row, which need not exist, where every feature adds its average over the training rows.",
        r"average (training )?row",
    ),
    GlossaryEntry(
        "effect", "The change of the prediction with the value of one feature.", r"effects?"
    ),
    GlossaryEntry(
        "pair",
        "The joint effect of two features, beyond the effects of each alone.",
        r"pairs?( of features)?",
    ),
    GlossaryEntry(
        "importance",
        "How far a feature moves predictions, as a share of the total over all features.  It is "
        "about this model, not about causes.",
        r"importances?",
    ),
    GlossaryEntry(
        "interval, standard error",
        "How far a number would move with other rows of the same source.  An interval of 90% "
        "contains the true value about nine times in ten.  It does not cover rows from "
        "elsewhere, wrong labels or a wrong question: a narrow interval does not mean that the "
        "model is right.",
        r"intervals?|standard errors?",
    ),
    GlossaryEntry(
        "may be chance",
        "With so few rows, an effect as large would often appear even if there were none.  The "
        "test is of a whole curve or map.  The standard error of its size is another number, since "
        "a size is above 0 even by chance.",
        r"(may|might) (well )?be chance",
    ),
    GlossaryEntry(
        "bag",
        "One of several fits, each to a part of the training rows.  Where the fits differ much, "
        "the model is uncertain.",
        r"bags?",
    ),
    GlossaryEntry(
        "constant",
        "A forecast that gives every row the shares of the classes; no model at all.",
        r"constant",
    ),
    GlossaryEntry(
        "calibration",
        "How near probabilities are to the observed shares.  The calibration slope is 1 where "
        "they are neither too near to 0% and 100% nor too far from them; the intercept is 0 "
        "where they are neither too high nor too low.",
        r"calibrat(ed|ion)",
    ),
    GlossaryEntry(
        "least expected cost",
        "The decision that costs least on average, over the classes that the row may have, by "
        "their probabilities.  It need not be the cheapest on each row, nor on these test rows.",
        r"least expected costs?",
    ),
    GlossaryEntry("geometric mean", "A mean for shares: the root of a product.", r"geometric mean"),
    GlossaryEntry(
        "loss",
        "The quantity that the fit minimises: how bad a prediction is, given the right answer.",
        r"(?<!log )loss",
    ),
    GlossaryEntry(
        "gain",
        "How strongly the fit draws probabilities towards the middle.  A larger gain is more "
        "cautious, but it is no bound: where the training rows are nearly all of one class, "
        "probabilities still come near to 0% or 100%.",
        r"gain",
    ),
    GlossaryEntry("parameter", "A setting by which a model is fitted.", r"parameters?"),
    GlossaryEntry("drift", "Values in new rows that training rows did not have.", r"drift"),
    GlossaryEntry(
        "bootstrap",
        "Drawing rows again and again, some twice and some not at all, to see how far a number "
        "moves.",
        r"bootstrap",
    ),
    GlossaryEntry(
        "cross-validation",
        "Comparing models on parts of the training rows that each was not fitted to.",
        r"cross-validation",
    ),
    GlossaryEntry(
        "held out",
        "Left out of a fit, to measure how good the model is on new rows.",
        r"held out",
    ),
    GlossaryEntry(
        "family", "A kind of model with settings that go well together.", r"famil(y|ies)"
    ),
    GlossaryEntry("candidate", "One choice of settings that a search tried.", r"candidates?"),
)
"""All words that a page may need, in the order of the page."""


def find_words(text: str) -> list[GlossaryEntry]:
    """Return the words in a text."""
    return [word for word in GLOSSARY if re.search(word.whole, text, re.IGNORECASE)]
