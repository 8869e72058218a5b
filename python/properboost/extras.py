"""Optional packages: imported where they are needed, or the error says what to install."""

import importlib
from typing import Any

__all__ = ["import_extra"]


def import_extra(module: str, what: str, extra: str) -> Any:
    """Return an imported module of a package that `what` needs and that the extra installs.

    Raises
    ------
    ImportError
        If it is missing.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise ImportError(f"{what} {package}: pip install 'properboost[{extra}]'") from error
