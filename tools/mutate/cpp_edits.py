"""The mutations that a C++ file in the house style allows: clang-format has set its spaces."""

import re

from edits import Edit

__all__ = ["list_edits"]

UNMUTATED = re.compile(
    rb"""//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'
    |^[ ]*\#(?:\\\n|[^\n])*|^[ ]*template[ ]<[^\n]*|\bstatic_assert\b[^;]*;|\bthrow\b[^;]*;
    |\bassert\([^;]*;|[ ]=[ ]0;$|\balignas\b[^;]*;|^[ ]*(?:using|namespace)\b[^\n]*""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
"""Comments, texts, directives, and what is for the compiler or words an error."""

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
"""Binary ones have spaces on both sides; brackets of templates and references have not."""

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
"""A statement on a line of its own that assigns to what there is, or calls."""
RETURN = re.compile(rb"\breturn ([^;\n{}]+)(?=;)")
FLOW = re.compile(rb"^[ ]*(?:\S.*\) )?(break|continue)(?=;$)", re.MULTILINE)
BOOLEAN = re.compile(rb"\b(true|false)\b")


def list_edits(path: str, source: bytes) -> list[Edit]:
    """Return every mutation of a file, in order; some will not compile."""
    text = UNMUTATED.sub(lambda found: re.sub(rb"[^\n]", b"\0", found[0]), source)
    edits = []

    def add(start: int, end: int, new: str, rule: str) -> None:
        edits.append(Edit.at(path, source, start, end, new, rule))

    for found in OPERATOR.finditer(text):
        for new in OPERATORS[found[1]]:
            add(*found.span(1), new, "comparison" if new.strip("<>=!") == "" else "arithmetic")
    for found in NUMBER.finditer(text):
        digits, suffix = found[1].decode(), found[2].decode()
        if "." in digits:
            for factor in (1.1, 0.9):
                value = float(digits) * factor or 0.1
                shown = f"{value:.12g}"
                shown = shown if set(".e") & set(shown) else f"{shown}.0"
                add(*found.span(), shown + suffix, "constant")
        elif not suffix:
            for other in (int(digits) + 1, int(digits) - 1):
                if other >= 0:
                    add(*found.span(), str(other), "constant")
    for found in CONDITION.finditer(text):
        if b"\0" not in found[1] and not found[1].startswith(b"constexpr"):
            add(*found.span(1), f"!({found[1].decode()})", "condition")
    for found in CHANGE.finditer(text):
        if b"\0" not in found[1] and not found[1].startswith((b"return", b"else")):
            add(*found.span(1), "", "removed statement")
    for found in RETURN.finditer(text):
        if b"\0" not in found[1]:
            add(*found.span(1), "{}", "returned value")
    for found in FLOW.finditer(text):
        add(*found.span(1), "", "removed statement")
    for found in BOOLEAN.finditer(text):
        add(*found.span(1), "false" if found[1] == b"true" else "true", "constant")
    return sorted(set(edits))
