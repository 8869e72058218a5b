"""The items of the AR-Boost paper."""
