"""The items of the BoostLR paper."""
