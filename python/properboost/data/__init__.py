"""From what users hand in to labels, weights and bins."""
