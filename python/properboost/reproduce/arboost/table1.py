"""Table 1: the numbers of rows, features and classes of the data sets."""

from collections.abc import Mapping

import numpy as np

from properboost.reproduce import data
from properboost.reproduce.arboost.uci_sets import MORE_CLASSES, TWO_CLASSES
from properboost.reproduce.item import Experiment, Item, Piece, Reading, Record, Seed
from properboost.reproduce.published import Place, read_table

SETS = {name: ours for name, (ours, _) in {**TWO_CLASSES, **MORE_CLASSES}.items()}

AS_LOADED = Reading(
    "as the library loads them", "The sets are those of the UCI repository.", random=False
)
WITH_CONTEXT = Reading(
    "vowel with all its columns",
    "The file of vowel also has the speaker, his or her sex, and whether a row is for testing.",
    random=False,
)


def measure(piece: Piece) -> Record:
    """Count rows, features and classes."""
    name = SETS[piece.part]
    if name == "vowel" and piece.reading == WITH_CONTEXT.name:
        name = "vowel.context"
    table = data.load(name)
    counts = {
        "#EXAMPLES": len(table.y),
        "#FEATURES": table.X.shape[1],
        "#CLASSES": len(np.unique(table.y)),
    }
    if (
        table.n_train is not None and name != "letter"
    ):  # the first 4,000 rows of letter are BoostLR's division
        counts |= {"#Train": table.n_train, "#Test": len(table.y) - table.n_train}
    return counts


def tabulate(seed: Seed, reading: str) -> Mapping[Place, float]:
    """Return the counts."""
    del reading
    return {
        (name, column): number for name, counts in seed.items() for column, number in counts.items()
    }


ITEM = Item(
    title="rows, features and classes of the data sets",
    units="counts",
    protocol="Counts of the sets as they are loaded; how many rows are for training and testing of "
    "the sets that come divided.  Other experiments here take the published numbers of training "
    "rows.",
    published=read_table(
        """
                     | #EXAMPLES | #Train | #Test | #FEATURES | #CLASSES
        ionosphere   | 351       |        |       | 341       | 2
        german       | 1000      |        |       | 20        | 2
        diabetes     | 768       |        |       | 8         | 2
        wpbc         | 198       |        |       | 30        | 2
        wdbc         | 569       |        |       | 30        | 2
        spambase     | 4601      |        |       | 58        | 2
        vowel        | 990       | 528    | 462   | 13        | 11
        pen digits   | 10992     | 7494   | 3498  | 16        | 10
        letter       | 20000     |        |       | 16        | 26
        thyroid      | 215       |        |       | 5         | 3
        satimage     | 6435      | 4435   | 2000  | 36        | 7
        segmentation | 2310      |        |       | 19        | 7
        """
    ),
    experiment=Experiment(
        "arboost-table1",
        {
            name: (ours, "vowel.context") if ours == "vowel" else (ours,)
            for name, ours in SETS.items()
        },
        measure,
        seconds=2.0,
    ),
    tabulate=tabulate,
    readings=(AS_LOADED, WITH_CONTEXT),
    compared="none",
    missing={
        "#Train and #Test of other sets": "the paper's division is random",
    },
)
