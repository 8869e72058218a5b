"""Losses written in Cython; their functions are C's, for `cimport` and LowLevelCallable."""
