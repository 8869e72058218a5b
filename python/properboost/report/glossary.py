"""The words of a page that need an explanation, and what they mean."""

import re
from dataclasses import dataclass

__all__ = ["GLOSSARY", "Word", "find_words"]


@dataclass(frozen=True)
class Word:
    """A word, what it means, and the regular expression that finds it in a text."""

    name: str
    meaning: str
    pattern: str

    @property
    def whole(self) -> str:
        """The regular expression of whole words, which are not parts of ``capital-gain``."""
        return rf"(?<![\w-])({self.pattern})(?![\w-])"


GLOSSARY = (
    Word("row", "One case: a person, a loan, a measurement.", r"rows?"),
    Word(
        "feature",
        "One thing that is known of every row, such as an age; a column of the file.",
        r"features?",
    ),
    Word("class", "One of the answers that the model chooses from.", r"class(es)?"),
    Word(
        "training rows, test rows",
        "The model learnt from the training rows.  Test rows were kept away from it, so they say "
        "how good it is with new rows.  A report on training rows flatters the model.",
        r"(training|test) rows?",
    ),
    Word(
        "probability",
        "Of 100 rows with a probability of 70%, about 70 should be so.  Whether that holds is "
        "measured under “Can the probabilities be trusted?”.",
        r"probability|probabilities",
    ),
    Word(
        "log-odds, points",
        "A probability on a scale on which effects can be added: the logarithm of p / (1 − p) "
        "for a probability p, and back, 1 / (1 + e to the power of −points).  0 is 50%, "
        "+1 is 73%, +2 is 88%, +3 is 95%; −1 is 27%, −2 is 12%, −3 is 5%.  The points that values "
        "add are log-odds.  Near 50%, 0.1 points are about 2.5 percentage points.",
        r"log-odds|points",
    ),
    Word("odds", "How many times as probable as not: odds of 3 to 1 are 75%.", r"odds"),
    Word(
        "boosting",
        "Building a model from many small parts, one round after the other; each new part corrects "
        "what the parts before it get wrong.",
        r"boosting|boosted|rounds?|cycles?",
    ),
    Word(
        "look-up table",
        "A small part of a model: a number of points for each range of values, or category, of a "
        "feature.",
        r"look-up tables?",
    ),
    Word(
        "tree",
        "A small part of a model: a few questions, one after the other, with points at the ends.",
        r"trees?",
    ),
    Word(
        "average row",
        "A row, which need not exist, where every feature adds what it adds on average in "
        "training.",
        r"average (training )?row",
    ),
    Word("effect", "What one feature does to the prediction, by its value.", r"effects?"),
    Word(
        "pair",
        "What two features do together beyond what each does alone.",
        r"pairs?( of features)?",
    ),
    Word(
        "importance",
        "How far a feature moves predictions, as a share of how far all do.  It is about this "
        "model, not about causes.",
        r"importances?",
    ),
    Word(
        "interval, standard error",
        "How far a number would move with other rows of the same source.  An interval of 90% holds "
        "what it is about nine times in ten.  It knows nothing of rows from elsewhere, of wrong "
        "labels or of a wrong question: a narrow interval does not mean that the model is right.",
        r"intervals?|standard errors?",
    ),
    Word(
        "may be chance",
        "With so few rows, an effect as large would often appear even if there were none.",
        r"(may|might) (well )?be chance",
    ),
    Word(
        "bag",
        "One of several fits to a part of the training rows each.  How far they differ says how "
        "sure the model is.",
        r"bags?",
    ),
    Word(
        "constant",
        "Saying of every row what the shares of the classes are; no model at all.",
        r"constant",
    ),
    Word(
        "calibration",
        "How near probabilities are to what happens.  The calibration slope is 1 where they are "
        "neither too near to 0% and 100% nor too far from them; the intercept is 0 where they are "
        "neither too high nor too low.",
        r"calibrat(ed|ion)",
    ),
    Word("geometric mean", "A mean for shares: the root of a product.", r"geometric mean"),
    Word(
        "loss",
        "What the fit makes small: how bad a prediction is, given the right answer.",
        r"(?<!log )loss",
    ),
    Word(
        "gain",
        "How strongly the fit draws probabilities towards the middle.  A larger gain is more "
        "cautious, but it is no bound: where the training rows are nearly all of one class, "
        "probabilities still come near to 0% or 100%.",
        r"gain",
    ),
    Word("parameter", "A setting by which a model is fitted.", r"parameters?"),
    Word("drift", "Values in new rows that training rows did not have.", r"drift"),
    Word(
        "bootstrap",
        "Drawing rows again and again, some twice and some not at all, to see how far a number "
        "moves.",
        r"bootstrap",
    ),
    Word(
        "cross-validation",
        "Comparing models on parts of the training rows that each was not fitted to.",
        r"cross-validation",
    ),
    Word(
        "held out",
        "Kept away from a fit, to see how good it is with rows that it does not know.",
        r"held out",
    ),
    Word("family", "A kind of model with settings that go well together.", r"famil(y|ies)"),
    Word("candidate", "One choice of settings that a search tried.", r"candidates?"),
)
"""All words that a page may need, in the order of the page."""


def find_words(text: str) -> list[Word]:
    """Return the words that a text uses."""
    return [word for word in GLOSSARY if re.search(word.whole, text, re.IGNORECASE)]
