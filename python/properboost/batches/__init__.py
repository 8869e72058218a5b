"""Rows that come in batches: what reads them, and what is made of them."""
