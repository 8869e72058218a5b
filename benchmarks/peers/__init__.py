"""Whole fits, binnings, predictions and searches beside other libraries'."""
