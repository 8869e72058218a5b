"""Models of files as scorers, in processes that import neither scikit-learn nor pandas."""
