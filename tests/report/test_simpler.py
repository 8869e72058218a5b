"""What a simpler model costs is told from what was scored."""

import pytest

from properboost.report.found import Fewer, FewScores
from properboost.report.simpler import describe_simpler, describe_unprotected

WHOLE = FewScores(0.13, 0.28444, 2)


def make_fewer(*sizes, fitted=True):
    def score(size):
        return FewScores(0.13 + 0.01 * (sizes[-1] - size), 0.3, 2)

    return [Fewer(size, ("a",), score(size), score(size - 1) if fitted else None) for size in sizes]


@pytest.mark.parametrize(
    ("sizes", "fitted", "linear", "told"),
    [
        (
            (1, 2, 3, 5, 8, 12, 13), True, 0.152,
            ("Fitted to its 5 most important features alone, it would be wrong in 22.0% of the "
            "rows instead of 13.0%; a logistic regression of all features in 15.2%."),
        ),
        (
            (1, 2), False, None,
            ("If it heard its most important feature, a, alone, it would be wrong in 14.0% of the "
            "rows instead of 13.0%."),
        ),
        (
            (1,), True, 0.152,
            ("A logistic regression of all features would be wrong in 15.2% of the rows instead of "
            "13.0%."),
        ),
        ((1,), False, None, ""),
        ((), False, None, ""),
    ],
)  # fmt: skip
def test_what_half_of_the_features_score(sizes, fitted, linear, told):
    own = None if linear is None else FewScores(linear, 0.4, 2)
    assert describe_simpler(make_fewer(*sizes, fitted=fitted), own, WHOLE) == told


def test_trees_without_training_rows_say_nothing():
    fewer = [Fewer(size, ("a",), None, None) for size in (1, 4)]
    assert describe_simpler(fewer, None, WHOLE) == ""
    assert describe_simpler(fewer, None, None) == ""


def test_what_leaving_out_costs_or_how_to_learn_that():
    told = describe_unprotected(["age", "sex"], 3, FewScores(0.14, 0.3, 2), WHOLE)
    assert told == (
        "Fitted again without “age” and “sex”, the model would be wrong in 14.0% of the rows "
        "instead of 13.0%; the log loss would be 0.3000 instead of 0.2844."
    )
    assert "X_train=" in describe_unprotected(["age"], 2, None, WHOLE)
    assert describe_unprotected(["age"], 1, None, WHOLE) == "It has no other features."
