"""``properboost schema``: the JSON schema of model files."""

import argparse
import json

from properboost.persistence.schema import model_schema

__all__ = ["EPILOG", "add_options", "run"]

EPILOG = ""


def add_options(_parser: argparse.ArgumentParser) -> None:
    """Add nothing."""


def run(_arguments: argparse.Namespace, _parser: argparse.ArgumentParser) -> None:
    """Print it."""
    print(json.dumps(model_schema(), indent=1, ensure_ascii=False))
