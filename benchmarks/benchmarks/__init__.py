"""The asv suite, one file a data set, and what it and the scripts share."""
