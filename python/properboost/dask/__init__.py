"""Classifiers of Dask collections: rows that are in the memory of several machines.

Models do not depend on partitions, nor on workers, nor on those that are lost.  `make_rados` adds
up the rados of partitions.  It needs the extra ``properboost[dask]``.
"""

from properboost.dask.classifier import DaskProperBoostClassifier
from properboost.dask.rados import make_rados
from properboost.dask.search import DaskProperBoostClassifierCV

__all__ = ["DaskProperBoostClassifier", "DaskProperBoostClassifierCV", "make_rados"]
