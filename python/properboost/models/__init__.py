"""Fitted models: rounds, ensembles of them, their standard errors and their edits."""
