"""Data sets of the papers that the package implements, in scikit-learn's conventions.

LETTER is part of the package.  Every other set is looked for in the folder named by the
environment variable ``PROPERBOOST_DATA``, then in a per-user cache (or the folder named by
``PROPERBOOST_CACHE``), and is then downloaded from the UCI archive; whatever is found has to match
a checksum.  DataFrames need pandas and downloads need pooch: ``pip install
'properboost[datasets]'``.
"""

from ._adult import load_adult
from ._letter import load_letter
from ._synthetic import make_two_gaussians
from ._uci import load_uci

__all__ = ["load_adult", "load_letter", "load_uci", "make_two_gaussians"]


def __dir__() -> list[str]:
    return __all__
