"""The families of models in a sentence each."""

__all__ = ["describe_family"]

_LINES = "At the end of each way is a sloping line in a few features, instead of one number."

_SENTENCES = {
    "tables": (
        "Each feature has a look-up table: its values are cut into at most ten ranges a round, and "
        "each range has a number of points.  The points of all features are added."
    ),
    "smooth tables": (
        "As “tables”, but with a range for every few rows and points that change little from one "
        "range to the next."
    ),
    "stumps": (
        "As “tables”, but each round asks one question with two answers, such as “older than 30?”."
    ),
    "pairs": (
        "The best of the families of tables, with more tables for two features at a time, such as "
        "age and occupation together."
    ),
    "trees": (
        "Many small trees.  Each asks a few questions, one after the other, and what is asked next "
        "depends on the answer; at the end of each way is a number of points."
    ),
    "symmetric trees": "As “trees”, but all rows of a tree are asked the same questions.",
    "trees with lines": f"As “trees”.  {_LINES}",
    "symmetric trees with lines": f"As “symmetric trees”.  {_LINES}",
}


def describe_family(name: str) -> str:
    """Return what models of a family are; nothing of families that are not known."""
    return _SENTENCES.get(name, "")
