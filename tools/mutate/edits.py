"""An edit: one place of a source file, and the mutation's text for it."""

from dataclasses import dataclass

__all__ = ["Edit"]


@dataclass(frozen=True, order=True)
class Edit:
    """A place of a file with its text before and after."""

    path: str
    line: int
    column: int
    """The bytes of `before` in front of the place."""
    length: int
    """The number of bytes of the place."""
    text: str
    rule: str
    before: str
    """The whole lines of the place."""

    @classmethod
    def at(cls, path: str, source: bytes, start: int, end: int, text: str, rule: str) -> "Edit":
        """Return the edit of a source's bytes from `start` to `end`."""
        first = source.rfind(b"\n", 0, start) + 1
        last = source.find(b"\n", end)
        before = source[first : len(source) if last < 0 else last].decode()
        line = source.count(b"\n", 0, first) + 1
        return cls(path, line, start - first, end - start, text, rule, before)

    @property
    def after(self) -> str:
        """The lines after the edit."""
        lines = self.before.encode()
        return (
            lines[: self.column] + self.text.encode() + lines[self.column + self.length :]
        ).decode()

    @property
    def key(self) -> tuple[str, str, str]:
        """A key that identifies the edit, also after lines were added above it."""
        return self.path, self.before.strip(), self.after.strip()

    def apply(self, source: bytes) -> bytes | None:
        """Return the source after the edit.

        The source may have changed elsewhere.  None if the lines are gone, or if they have moved
        and occur more than once.
        """
        lines = self.before.encode()
        first = 0
        for _ in range(self.line - 1):
            first = source.find(b"\n", first) + 1
        if source[first : first + len(lines)] != lines:
            if source.count(lines) != 1:
                return None
            first = source.index(lines)
        return source[:first] + self.after.encode() + source[first + len(lines) :]

    def show(self) -> str:
        """Return the edit as a difference of lines."""
        head = f"{self.path}:{self.line} ({self.rule})"
        old = [f"- {line.strip()}" for line in self.before.splitlines()]
        new = [f"+ {line.strip()}" for line in self.after.splitlines()]
        return "\n".join([head, *old, *new])
