"""The commands of the command line, a file each; `properboost.__main__` lists them.

Fitting and predicting read the same cells from a file of rows: a column of numbers is numeric, any
other is categorical with its cells as strings, and nothing else is guessed.
"""
