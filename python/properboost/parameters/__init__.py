"""Parameters: checks of values, and the declarations from which everything else is made."""
