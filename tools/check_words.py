"""Count words that docs/design/style.md rules out, file by file: no count may rise.

    python tools/check_words.py [--write] [--list] [ROOT]

`tools/words.json` has the counts that are allowed.  A file without an entry is allowed none.
`--write` lowers the counts that fell, and refuses to raise one; `--list` prints each match.
"""

import argparse
import ast
import io
import json
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

MOST_WORDS = 25
"""The most words of a sentence."""

NAMES = frozenset({"own", "found", "some", "held", "given", "kept", "told", "said"})
SPEAKING = re.compile(r"\b(?:says?|tells?|asks?|knows?|wants?|believes?)\b")
"""Verbs of persons; after a person's word they are right, and such counts simply stay."""

CODE_BLOCK = re.compile(r"^```.*?^```|<!--.*?-->|^ {4}.*?$|^\s*\|.*?$", re.MULTILINE | re.DOTALL)
SENTENCE_END = re.compile(r"(?<=[.!?:])[\"')*]*\s+(?=[\"'(*A-Z0-9])")

Match = tuple[str, int, str]
"""A pattern's name, the line, and the text."""


def find_in_python(text: str) -> Iterator[Match]:
    """Yield the matches of a Python file."""
    for node in ast.walk(ast.parse(text)):
        for name in _list_bound(node):
            if name in NAMES:
                yield "name", getattr(node, "lineno", 0), name
    for line, remark in read_python_remarks(text):
        yield from _find_in_remark(line, remark)


def _list_bound(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.ExceptHandler(name=str(name)) | ast.Attribute(attr=name, ctx=ast.Store()):
            return [name]
    return []


def read_python_remarks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments of a Python file, with their first lines."""
    begins = True  # a statement: a string there is a docstring
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ")
        elif token.type == tokenize.STRING and begins:
            yield token.start[0], str(ast.literal_eval(token.string))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def find_in_cpp(text: str) -> Iterator[Match]:
    """Yield the matches of a C++ file."""
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        code, _, comment = re.sub(r'"(?:\\.|[^"\\])*"', '""', line).partition("//")
        for word in re.findall(r"\b[a-z]+(?=_?\b)", code):
            if word in NAMES:
                yield "name", number, word
        remark = comment.lstrip("/ ")
        goes_on = number > 1 and lines[number - 2].lstrip().startswith("//")
        yield from _find_in_remark(number, remark, begins=not goes_on)


def _find_in_remark(line: int, remark: str, *, begins: bool = True) -> Iterator[Match]:
    if begins and re.match(r"What\b", remark):
        yield "what", line, remark.partition("\n")[0]
    for verb in SPEAKING.finditer(re.sub(r"`[^`]*`", "", remark)):
        yield "speaking", line, verb[0]


def find_in_page(text: str) -> Iterator[Match]:
    """Yield the matches of a page."""
    prose = re.sub(r"`[^`\n]*`", "CODE", CODE_BLOCK.sub("", text))
    prose = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", prose)
    prose = re.sub(r"^\s*(?:[-*]|\d+\.)\s+|^#.*$", "\n\n", prose, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", prose):
        for sentence in SENTENCE_END.split(" ".join(paragraph.split())):
            if len(sentence.split()) > MOST_WORDS:
                yield "long", 0, sentence
    for verb in SPEAKING.finditer(prose):
        yield "speaking", 0, verb[0]


FINDERS = {
    ".py": find_in_python,
    ".pyi": find_in_python,
    ".hpp": find_in_cpp,
    ".cpp": find_in_cpp,
    ".md": find_in_page,
}


def find_all(root: Path) -> dict[str, list[Match]]:
    """Return the matches of every file in version control that has any."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    paths = [root / name for name in listed if Path(name).suffix in FINDERS]
    matches = {
        path.relative_to(root).as_posix(): [*FINDERS[path.suffix](path.read_text("utf-8"))]
        for path in paths
        if path.exists() and path.name != "CHANGELOG.md"
    }
    return {name: of_file for name, of_file in matches.items() if of_file}


def count(matches: dict[str, list[Match]]) -> dict[str, dict[str, int]]:
    """Return how often each file has each pattern."""
    return {
        name: dict(sorted(Counter(pattern for pattern, _, _ in of_file).items()))
        for name, of_file in sorted(matches.items())
    }


def find_risen(counts: dict[str, dict[str, int]], allowed: dict[str, dict[str, int]]) -> list[str]:
    """Return a line for each count that is above the allowed one."""
    return [
        f"{name}: {number} x {pattern!r}, {allowed.get(name, {}).get(pattern, 0)} allowed"
        for name, of_file in counts.items()
        for pattern, number in of_file.items()
        if number > allowed.get(name, {}).get(pattern, 0)
    ]


def main(arguments: list[str] | None = None) -> int:
    """Check the counts; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="lower the counts that fell")
    parser.add_argument("--list", action="store_true", help="print each match")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[1])
    options = parser.parse_args(arguments)
    matches = find_all(options.root)
    if options.list:
        for name, of_file in matches.items():
            for pattern, line, text in of_file:
                print(f"{name}:{line}: {pattern}: {text}")
    counts, ledger = count(matches), options.root / "tools/words.json"
    allowed = json.loads(ledger.read_text("ascii"))
    risen = find_risen(counts, allowed)
    for line in risen:
        print(f"{line}; docs/design/style.md has better words", file=sys.stderr)
    total = Counter(pattern for of_file in matches.values() for pattern, _, _ in of_file)
    print("words to avoid:", ", ".join(f"{n} x {pattern}" for pattern, n in sorted(total.items())))
    if options.write and not risen:
        ledger.write_text(json.dumps(counts, indent=0) + "\n", "ascii")
    return int(bool(risen))


if __name__ == "__main__":
    sys.exit(main())
