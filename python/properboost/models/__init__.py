"""Fitted models: rounds, ensembles of them, and what is said of these."""
