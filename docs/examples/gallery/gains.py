"""
Effect of the gain
==================

One loss at three gains: a larger gain moves probabilities less for the same raw prediction, and is
a stronger restraint.
"""

import matplotlib.pyplot as plt

from properboost import losses, plots

plots.plot_loss(
    [losses.GLog(gain) for gain in (0.5, 1, 4)], ["probability", "regularization_strength"]
)
plt.show()
