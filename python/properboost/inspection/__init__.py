"""Explanations of a fitted model, for reading and plotting."""
