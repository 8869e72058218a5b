"""What the words of a report mean, for readers who do not know boosting."""

from collections.abc import Callable

from properboost.report.words import number, percent

__all__ = ["SCORES", "WORDS"]

SCORES: tuple[tuple[str, str, str, Callable[[float], str]], ...] = (
    (
        "error",
        "wrong predictions",
        "Of 100 rows, how many are predicted wrongly. Smaller is better.",
        percent,
    ),
    (
        "log_loss",
        "log loss",
        "The mean surprise at what a row was, given its probability: 0 for a sure and right "
        "forecast, 0.69 for 50%, 2.3 for 10%. Smaller is better.",
        number,
    ),
    (
        "brier",
        "Brier score",
        "The mean squared distance between probability and what was so (1 or 0). Smaller is "
        "better.",
        number,
    ),
    (
        "auc",
        "AUC",
        "How often a row of a class gets a higher probability of it than a row of another class: "
        "100% always, 50% no better than chance. Larger is better.",
        percent,
    ),
)
"""The scores of the page: their names, words, meanings, and how they are written."""

WORDS = (
    ("row", "One case: a person, a loan, a measurement."),
    ("feature", "One thing that is known of every row, such as an age; a column of the file."),
    ("class", "One of the answers that the model chooses from."),
    (
        "training rows, test rows",
        "The model learnt from the training rows. Test rows were kept away from it, so they say "
        "how good it is with new rows. A report on training rows flatters the model.",
    ),
    (
        "probability",
        "Of all rows that are told 70%, about 70 of 100 should be so. Whether that holds is "
        "measured under “Can the probabilities be trusted?”.",
    ),
    (
        "log-odds",
        "A probability on a scale on which effects can be added: the logarithm of p / (1 − p). 0 "
        "is 50%, +1 is 73%, +2 is 88%, +3 is 95%; −1 is 27%, −2 is 12%, −3 is 5%. The points that "
        "values add are log-odds. Near 50%, 0.1 points are about 2.5 percentage points.",
    ),
    (
        "boosting",
        "Building a model from many small parts, one round after the other; each new part "
        "corrects what the parts before it get wrong.",
    ),
    (
        "look-up table, tree",
        "The small parts. A look-up table has a number of points for each range of values, or "
        "category, of a feature. A tree asks a few questions and has points at its ends.",
    ),
    ("average row", "A row of which every feature adds what it adds on average in training."),
    ("effect, shape function", "What one feature does to the prediction, by its value."),
    (
        "pair, interaction",
        "What two features do together beyond what each does alone.",
    ),
    (
        "contribution",
        "What one feature of one row adds to its log-odds, compared with the average row.",
    ),
    (
        "importance",
        "A feature's share of what moves predictions. It is about this model, not about causes.",
    ),
    (
        "interval, standard error",
        "How far a number would move with other rows of the same source. An interval of 90% holds "
        "what it is about nine times in ten.",
    ),
    (
        "may be chance, within noise",
        "With so few rows, an effect as large would often appear even if there were none.",
    ),
    (
        "bag",
        "One of several fits to a part of the training rows each. How far they differ says how "
        "sure the model is.",
    ),
    ("constant", "Saying of every row what the shares of the classes are; no model at all."),
    (
        "calibrated",
        "Said of probabilities that keep their word. The calibration slope is 1 where they are "
        "neither too sure nor too cautious; the intercept is 0 where they are neither too high nor "
        "too low.",
    ),
    ("loss", "What the fit makes small: how bad a prediction is, given the right answer."),
    (
        "gain",
        "How strongly the fit keeps probabilities away from 0% and 100%. A larger gain is more "
        "cautious.",
    ),
    (
        "drift",
        "Values in new rows that training rows did not have.",
    ),
    (
        "cross-validation",
        "Comparing models on parts of the training rows that each was not fitted to.",
    ),
    ("family", "A kind of model with settings that go well together."),
)
"""Words and what they mean."""
