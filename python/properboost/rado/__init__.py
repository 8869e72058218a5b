"""Rademacher observations (rados): linear classifiers from random sums of rows.

`make_rados` turns labelled rows into rados, and `combine` adds up those of separate rows.
"""

from properboost.rado.making import Rados, combine, make_rados

__all__ = ["Rados", "combine", "make_rados"]
