"""The error about a file, which every command reports in one line."""

__all__ = ["FileError"]


class FileError(Exception):
    """An error about a file; the message is one line for the user."""
