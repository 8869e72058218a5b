"""Losses written in Cython; their functions are C's, for `cimport` and LowLevelCallable."""

from typing import Any

__pyx_capi__: dict[str, Any]
