"""One fit: from rows as codes to a fitted ensemble."""
