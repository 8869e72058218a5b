"""The items of the ULS and UDT paper."""
