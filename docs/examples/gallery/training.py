"""
The course of a fit
===================

The log losses of training and validation rows, estimator by estimator.
"""

import matplotlib.pyplot as plt

import properboost as pb

X, y = pb.datasets.load_letter("p1", subset="train", return_X_y=True)
X_val, y_val = pb.datasets.load_letter("p1", subset="test", return_X_y=True)
model = pb.ProperBoostClassifier(weak_learner="tree", n_estimators=300)
model.fit(X, y, X_val=X_val, y_val=y_val)
pb.plots.plot_training(model, data={"training": (X, y), "validation": (X_val, y_val)})
plt.show()
