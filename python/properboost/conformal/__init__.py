"""Conformal and Venn-Abers predictors: what held-out rows add to the probabilities of a model."""
