"""Parameters: checks of values, and declarations, from which signatures and options follow."""
