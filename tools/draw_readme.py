"""Draw README's picture: the readable model that a search makes of ADULT.

    python tools/draw_readme.py [docs/readable.png]

The rows are those of `pb.datasets.load_adult`, which downloads them or reads `PROPERBOOST_DATA`.
"""

import sys
from pathlib import Path

import numpy as np

import properboost as pb

PICTURE = Path(__file__).resolve().parents[1] / "docs/readable.png"


def draw(picture: Path) -> None:
    """Search, draw the shape functions of the most important features, and save the picture."""
    X, y = pb.datasets.load_adult(subset="train", return_X_y=True)
    y = np.where(y == 1, ">50K", "<=50K")
    search = pb.ProperBoostClassifierCV(readable=True, random_state=0).fit(X, y)
    print(search.describe_search(), search.best_params_, sep="\n")
    figure = pb.plots.plot_shape_functions(search)
    figure.savefig(picture, dpi=80)


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
