"""Whole fits, binnings, predictions and searches, compared with other libraries."""
