"""The command line."""

from properboost.cli.commands import main

__all__ = ["main"]
