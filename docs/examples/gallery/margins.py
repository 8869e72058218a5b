"""
Margins
=======

The share of rows whose margin is at most so large; where a line meets 0 is the share of errors.
"""

import matplotlib.pyplot as plt

import properboost as pb

X, y = pb.datasets.load_letter("p2", subset="train", return_X_y=True)
ax = None
for loss in ("glog", "exponential", "savage"):
    model = pb.ProperBoostClassifier(loss, weak_learner="table").fit(X, y)
    ax = pb.plots.plot_margin_distribution(model.margins(X, y, normalized=True), ax, label=loss)
ax.legend()
plt.show()
