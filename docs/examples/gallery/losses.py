"""
Losses
======

What losses make of the margin: the loss itself, how strongly a row pulls, and the probability.
"""

import matplotlib.pyplot as plt

from properboost import losses, plots

several = [losses.GLog(), losses.GLaplacian(), losses.Exponential(), losses.Savage()]
plots.plot_loss(
    several, ["loss", "weight", "probability"], limits={"loss": (0, 4), "weight": (0, 3)}
)
plt.show()
