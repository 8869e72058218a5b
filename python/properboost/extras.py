"""Optional packages: their import, or an error that names the package to install."""

import importlib
from typing import Any

__all__ = ["import_extra"]


def import_extra(module: str, what: str, extra: str) -> Any:
    """Return an imported module of a package that `what` needs and that the extra installs.

    Raises
    ------
    ImportError
        If the package is missing.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise ImportError(f"{what} {package}: pip install 'properboost[{extra}]'") from error
