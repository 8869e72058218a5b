"""Choosing parameters by cross-validation."""
