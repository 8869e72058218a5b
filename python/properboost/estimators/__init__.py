"""Classifiers in the manner of scikit-learn."""
