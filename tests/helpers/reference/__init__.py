"""A plain numpy implementation of properboost: slow, short, and the standard for the fast core.

Nothing here imports the package.  Everything is double precision and written the way the formulas
read; where a choice had to be made (ties, caps, empty cells) the docstring states the rule, and the
fast core follows the same words.

Each file is a stage, and imports only earlier ones of the data flow: `bins` (edges and codes),
`cells` (sums over rows), `learners`, `settings`, `trees`, `search`, `steps`, `responses`, `rounds`,
and `boosting`, the loop that joins them.  `losses` and `rado` need none of these, nor does `draws`
(random bits).
"""

from helpers.reference.bins import FeatureBins, distinct_edges, encode, midpoint, quantile_edges
from helpers.reference.boosting import fit
from helpers.reference.cells import smooth_ordered
from helpers.reference.draws import draw_bits
from helpers.reference.learners import first_best
from helpers.reference.losses import LOSSES, make_loss
from helpers.reference.rounds import Round, predict, staged_predict
from helpers.reference.settings import TIE, TreeSettings
from helpers.reference.trees import Tree

__all__ = [
    "LOSSES",
    "TIE",
    "FeatureBins",
    "Round",
    "Tree",
    "TreeSettings",
    "distinct_edges",
    "draw_bits",
    "encode",
    "first_best",
    "fit",
    "make_loss",
    "midpoint",
    "predict",
    "quantile_edges",
    "smooth_ordered",
    "staged_predict",
]
