"""The interface to the engine: rows as codes, and the models boosted on them."""
