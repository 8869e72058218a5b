"""What the commands of the command line do, a file each; `properboost.__main__` lists them.

Files of rows are read so that fitting and predicting see the same cells: a column of numbers is
numeric, any other is categorical with its cells as strings, and nothing else is guessed.
"""
