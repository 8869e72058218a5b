"""An edit: one place of a source file, and what a mutation puts there."""

from dataclasses import dataclass

__all__ = ["Edit"]


@dataclass(frozen=True, order=True)
class Edit:
    """What stands at a place of a file, and what it becomes."""

    path: str
    line: int
    column: int
    """Bytes of `before` that come before the place."""
    length: int
    """Bytes of the place."""
    text: str
    rule: str
    before: str
    """The whole lines that the place is in."""

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
        """The lines as they become."""
        lines = self.before.encode()
        return (
            lines[: self.column] + self.text.encode() + lines[self.column + self.length :]
        ).decode()

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from other edits, also where lines were added above it."""
        return self.path, self.before.strip(), self.after.strip()

    def apply(self, source: bytes) -> bytes | None:
        """Return the source with the edit made.

        The source may have changed elsewhere.  None if the lines are no longer there, or if they
        are there more than once and not where they were.
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
        """Return it as a difference of lines."""
        head = f"{self.path}:{self.line} ({self.rule})"
        lost = [f"- {line.strip()}" for line in self.before.splitlines()]
        new = [f"+ {line.strip()}" for line in self.after.splitlines()]
        return "\n".join([head, *lost, *new])
