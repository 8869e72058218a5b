"""Mutations of a Python file."""

import ast

from edits import Edit

__all__ = ["list_edits"]

COMPARISONS: dict[type[ast.cmpop], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}

ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"),
    ast.RShift: (">>", "<<"),
}

SKIPPED = (
    ast.Import, ast.ImportFrom, ast.Assert, ast.JoinedStr, ast.Global, ast.Nonlocal,
)  # fmt: skip
"""Nodes without an effect, or with messages only."""

NAMES = ("TypeVar", "TypeAlias", "ParamSpec")


def list_edits(path: str, source: bytes) -> list[Edit]:
    """Return every mutation of a file, in order.

    Docstrings, annotations, imports, assertions, texts and the words of errors stay as they are.
    """
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    return sorted(set(finder.edits))


class _Finder(ast.NodeVisitor):
    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        self.starts = [0]
        for line in source.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
        self.edits: list[Edit] = []

    def add(self, start: int, end: int, text: str, rule: str) -> None:
        self.edits.append(Edit.at(self.path, self.source, start, end, text, rule))

    def start_of(self, node: ast.expr | ast.stmt) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def end_of(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset

    def text_of(self, node: ast.expr) -> str:
        return self.source[self.start_of(node) : self.end_of(node)].decode()

    def find(self, token: str, start: int, end: int) -> int:
        """Return the place of a token between two operands, among brackets; -1 behind a comment."""
        at = self.source.find(token.encode(), start, end)
        comment = self.source.find(b"#", start, end)
        return at if comment < 0 or at < comment else -1

    # -- nodes without mutations ------------------------------------------------------------------

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, SKIPPED) or self.is_for_types(node):
            return
        for name, field in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            for child in field if isinstance(field, list) else [field]:
                if isinstance(child, ast.AST):
                    self.visit(child)

    def is_for_types(self, node: ast.AST) -> bool:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            return True
        if isinstance(node, ast.AnnAssign):
            return "TypeAlias" in ast.dump(node.annotation)
        if isinstance(node, ast.Assign):
            called = isinstance(node.value, ast.Call) and ast.unparse(node.value.func)
            return called in NAMES or ast.unparse(node.targets[0]) == "__all__"
        return False

    # -- mutations --------------------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for k, operator in enumerate(node.ops):
            token, others = COMPARISONS[type(operator)]
            at = self.find(token, self.end_of(operands[k]), self.start_of(operands[k + 1]))
            if at >= 0:
                for text in others:
                    self.add(at, at + len(token), text, "comparison")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.add_arithmetic(node.op, self.end_of(node.left), self.start_of(node.right))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.add_arithmetic(node.op, self.end_of(node.target), self.start_of(node.value))
        self.remove(node)
        self.generic_visit(node)

    def add_arithmetic(self, operator: ast.operator, start: int, end: int) -> None:
        if type(operator) in ARITHMETIC:
            old, new = ARITHMETIC[type(operator)]
            at = self.find(old, start, end)
            if at >= 0:
                self.add(at, at + len(old), new, "arithmetic")

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            at = self.find(old, self.end_of(left), self.start_of(right))
            if at >= 0:
                self.add(at, at + len(old), new, "and, or")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.USub):
            start = self.start_of(node)
            length = len("-") if isinstance(node.op, ast.USub) else len("not ")
            self.add(start, start + length, "", "sign, not")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value, start, end = node.value, self.start_of(node), self.end_of(node)
        if isinstance(value, bool):
            self.add(start, end, repr(not value), "constant")
        elif isinstance(value, int):
            for whole in (value + 1, value - 1):
                self.add(start, end, repr(whole), "constant")
        elif isinstance(value, float):
            for other in (value * 1.1 or 0.1, value * 0.9 or 0.1):
                self.add(start, end, f"{other:.12g}" if other % 1 else f"{other:.1f}", "constant")

    def visit_Return(self, node: ast.Return) -> None:
        value = node.value
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            self.add(self.start_of(value), self.end_of(value), "None", "returned value")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if not self.is_for_types(node):
            self.negate(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self.negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.negate(node.test)
        self.generic_visit(node)

    def negate(self, test: ast.expr) -> None:
        text = f"not ({self.text_of(test)})"
        self.add(self.start_of(test), self.end_of(test), text, "condition")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node.value, ast.Call):
            self.remove(node)
            if ast.unparse(node.value.func) == "warnings.warn":
                return  # its words
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        if all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            self.remove(node)
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.remove(node)

    def visit_Break(self, node: ast.Break) -> None:
        self.remove(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self.remove(node)

    def visit_Delete(self, node: ast.Delete) -> None:
        self.remove(node)

    def remove(self, node: ast.stmt) -> None:
        self.add(self.start_of(node), self.end_of(node), "pass", "removed statement")
