"""Tables opened as an estimator opens them."""

from sklearn.base import BaseEstimator, ClassifierMixin

from properboost.data.frames import open_table


class Recorder(ClassifierMixin, BaseEstimator):
    """Estimator that only stores names and counts."""


def open_new(X):
    return open_table(Recorder(), X, reset=True)
