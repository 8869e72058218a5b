"""The families of models in a few sentences each, none of which needs another's."""

__all__ = ["describe_family"]

_TABLES = (
    "Each feature has a look-up table: its values are cut into {}, and each range has a number "
)
_ADDED = "of points.  The points of all features are added."
_TREES = (
    "Many small trees.  Each asks a few questions, one after the other; at the end of each way is "
    "{}.  What all trees say is added.  "
)
_DEPENDS = "What is asked next depends on the answer."
_SYMMETRIC = "All rows of a tree are asked the same questions, whatever they answer."
_POINTS = "a number of points"
_LINES = "a sloping line in a few features, instead of one number of points"

_SENTENCES = {
    "tables": _TABLES.format("at most ten ranges a round") + _ADDED,
    "smooth tables": _TABLES.format("a range for every few rows")
    + f"{_ADDED}  Points change little from one range to the next.",
    "stumps": _TABLES.format("two ranges a round, as by “older than 30?”") + _ADDED,
    "pairs": (
        "The best of the families of look-up tables, with more tables for two features at a time, "
        "such as age and occupation together."
    ),
    "trees": _TREES.format(_POINTS) + _DEPENDS,
    "symmetric trees": _TREES.format(_POINTS) + _SYMMETRIC,
    "trees with lines": _TREES.format(_LINES) + _DEPENDS,
    "symmetric trees with lines": _TREES.format(_LINES) + _SYMMETRIC,
}


def describe_family(name: str) -> str:
    """Return what models of a family are; nothing of families that are not known."""
    return _SENTENCES.get(name, "")
