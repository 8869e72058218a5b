"""From the user's tables to labels, weights and bins."""
