"""Mutations of a C++ file in the house style, whose spaces clang-format has set."""

import re

from edits import Edit

__all__ = ["list_edits"]

UNMUTATED = re.compile(
    rb"""//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'
    |^[ ]*\#(?:\\\n|[^\n])*|^[ ]*template[ ]<[^\n]*|\bstatic_assert\b[^;]*;|\bthrow\b[^;]*;
    |\bassert\([^;]*;|[ ]=[ ]0;$|\balignas\b[^;]*;|^[ ]*(?:using|namespace)\b[^\n]*""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
"""Comments, texts, directives, and code for the compiler or for messages of errors."""

OPERATORS = {
    rb"<": ("<=", ">="),
    rb"<=": ("<", ">"),
    rb">": (">=", "<="),
    rb">=": (">", "<"),
    rb"==": ("!=",),
    rb"!=": ("==",),
    rb"&&": ("||",),
    rb"||": ("&&",),
    rb"+": ("-",),
    rb"-": ("+",),
    rb"*": ("/",),
    rb"/": ("*",),
    rb"%": ("*",),
    rb"+=": ("-=",),
    rb"-=": ("+=",),
    rb"*=": ("/=",),
    rb"/=": ("*=",),
    rb"<<": (">>",),
    rb">>": ("<<",),
    rb"&": ("|",),
    rb"|": ("&",),
}
"""Binary operators: unlike brackets of templates and references, they have spaces around."""

OPERATOR = re.compile(
    rb"(?<=[ ])("
    + b"|".join(re.escape(key) for key in sorted(OPERATORS, key=len, reverse=True))
    + rb")(?=\s)"
)
NUMBER = re.compile(rb"(?<![\w.\[<'])(\d+\.\d*(?:e-?\d+)?|\d+)(f?)(?![\w.'>])")
CONDITION = re.compile(rb"\b(?:if|while) \(([^()\n;]*(?:\([^()\n]*\)[^()\n;]*)*)\) ?[\{\w]")
CHANGE = re.compile(
    rb"^[ ]*([\w\]\[.>(-]+(?:\([^;\n]*\))?(?:[\w\[\].]|->)*"
    rb"(?: [-+*/|&]?= [^;\n]+|\([^;\n]*\)))(?=;$)",
    re.MULTILINE,
)
"""A statement on a single line that assigns to an existing variable, or calls a function."""
RETURN = re.compile(rb"\breturn ([^;\n{}]+)(?=;)")
FLOW = re.compile(rb"^[ ]*(?:\S.*\) )?(break|continue)(?=;$)", re.MULTILINE)
BOOLEAN = re.compile(rb"\b(true|false)\b")


def list_edits(path: str, source: bytes) -> list[Edit]:
    """Return every mutation of a file, in order; some will not compile."""
    text = UNMUTATED.sub(lambda match: re.sub(rb"[^\n]", b"\0", match[0]), source)
    edits = []

    def add(start: int, end: int, new: str, rule: str) -> None:
        edits.append(Edit.at(path, source, start, end, new, rule))

    for match in OPERATOR.finditer(text):
        for new in OPERATORS[match[1]]:
            add(*match.span(1), new, "comparison" if new.strip("<>=!") == "" else "arithmetic")
    for match in NUMBER.finditer(text):
        digits, suffix = match[1].decode(), match[2].decode()
        if "." in digits:
            for factor in (1.1, 0.9):
                value = float(digits) * factor or 0.1
                shown = f"{value:.12g}"
                shown = shown if set(".e") & set(shown) else f"{shown}.0"
                add(*match.span(), shown + suffix, "constant")
        elif not suffix:
            for other in (int(digits) + 1, int(digits) - 1):
                if other >= 0:
                    add(*match.span(), str(other), "constant")
    for match in CONDITION.finditer(text):
        if b"\0" not in match[1] and not match[1].startswith(b"constexpr"):
            add(*match.span(1), f"!({match[1].decode()})", "condition")
    for match in CHANGE.finditer(text):
        if b"\0" not in match[1] and not match[1].startswith((b"return", b"else")):
            add(*match.span(1), "", "removed statement")
    for match in RETURN.finditer(text):
        if b"\0" not in match[1]:
            add(*match.span(1), "{}", "returned value")
    for match in FLOW.finditer(text):
        add(*match.span(1), "", "removed statement")
    for match in BOOLEAN.finditer(text):
        add(*match.span(1), "false" if match[1] == b"true" else "true", "constant")
    return sorted(set(edits))
