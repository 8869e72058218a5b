"""Shared by all tests."""

from hypothesis import settings

# The same examples in every run, and no limit on their time: shared machines pause.
settings.register_profile("properboost", deadline=None, derandomize=True)
settings.load_profile("properboost")
