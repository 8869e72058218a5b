"""
A pair of features
==================

What two features add together, beyond what each adds alone.
"""

import matplotlib.pyplot as plt

import properboost as pb

X, y = pb.datasets.load_letter("p2", subset="train", return_X_y=True)
model = pb.ProperBoostClassifier(interactions=5, weak_learner="table").fit(X, y)
pb.plots.plot_term_function(model, model.pairs_[0])
plt.show()
