"""
The course of a fit
===================

The risk of the training rows and the score of validation rows, round by round.
"""

import matplotlib.pyplot as plt

import properboost as pb

X, y = pb.datasets.load_letter("p1", subset="train", return_X_y=True)
X_val, y_val = pb.datasets.load_letter("p1", subset="test", return_X_y=True)
model = pb.ProperBoostClassifier(weak_learner="tree", n_estimators=300)
model.fit(X, y, X_val=X_val, y_val=y_val)
pb.plots.plot_history(model)
plt.show()
