"""The items of the SavageBoost paper."""
