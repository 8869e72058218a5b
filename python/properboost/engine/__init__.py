"""What the engine takes and gives back: rows as codes, and models that are boosted over them."""
