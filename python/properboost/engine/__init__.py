"""The engine's inputs and outputs: rows as codes, and models that are boosted over them."""
