"""The asv suite: one file a data set, and what they share."""
