"""
One prediction
==============

What each feature adds to the raw prediction of one row.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import properboost as pb

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = pb.ProperBoostClassifier(outer_bags=16, weak_learner="table").fit(X, y)
pb.plots.plot_contributions(model.contributions(X[:1]))
plt.show()
