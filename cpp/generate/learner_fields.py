"""Write the fields of weak learners, from their Python declarations, into a header of the engine.

    python cpp/generate/learner_fields.py LEARNERS KINDS HEADER

LEARNERS declares them (python/properboost/parameters/learners.py), and KINDS has the types that it
imports by their names.  This reads both without running them, as the build lacks their imports.

Every class with fields becomes a struct with a member for each of them, except those with
``engine=False``.  The default of a number that Python resolves before it calls the engine, None or
"auto", becomes 0.
"""

import ast
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TOP = """\
// The fields of weak learners.
//
// Made by cpp/generate/learner_fields.py; edit what it reads instead:
// python/properboost/parameters/learners.py.
//
// Where Python's default is None or "auto", which the comment says, zero stands for "no limit" or
// "not set": max_cells of zero is a cell for every bin, and max_depth and max_leaf_nodes of zero
// set no limit.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

namespace properboost {
"""


@dataclass
class Field:
    """A member of a struct, with its type and default in C++."""

    name: str
    type: str
    default: str
    comment: str = ""


@dataclass
class Learner:
    """A class with fields; one without a name is the base of others."""

    title: str
    base: str | None
    name: str | None
    fields: list[Field]


def make_field(name: str, types: set[str], words: set[object], default: object) -> Field | None:
    """Return the member of a field of these types and words; None where C++ has no such type."""
    is_word = isinstance(default, str) and default in words
    if is_word and not types:
        return Field(name, "std::string", json.dumps(default))
    if types == {"bool"} and isinstance(default, bool):
        return Field(name, "bool", "true" if default else "false")
    if default is None or is_word:  # Python resolves it
        return _make_number(name, types, 0, "None" if default is None else json.dumps(default))
    return _make_number(name, types, default, "")


def _make_number(name: str, types: set[str], default: object, comment: str) -> Field | None:
    if isinstance(default, bool) or not isinstance(default, int | float):
        return None
    if types == {"int"} and isinstance(default, int) and default >= 0:
        return Field(name, "std::size_t", str(default), comment)
    if types in ({"float"}, {"int", "float"}):
        return Field(name, "double", repr(float(default)), comment)
    return None


class Source:
    """The classes of a module, and the named types of it and of another one."""

    def __init__(self, learners: Path, kinds: Path) -> None:
        self.path = learners
        self.tree = ast.parse(learners.read_text("utf-8"), str(learners))
        self.kinds: dict[str, ast.expr] = {}
        for module in (ast.parse(kinds.read_text("utf-8"), str(kinds)), self.tree):
            for statement in module.body:
                if isinstance(statement, ast.AnnAssign) and statement.value is not None:
                    self.kinds[ast.unparse(statement.target)] = statement.value

    def fail(self, node: ast.expr | ast.stmt, message: str) -> SystemExit:
        """Return an error with its place, as compilers do."""
        return SystemExit(f"{self.path}:{node.lineno}: error: {message}")

    def find_learners(self) -> Iterator[Learner]:
        """Find the classes with a decorator of fields."""
        names: dict[str, set[str]] = {}  # of the fields of each class and its base
        for statement in self.tree.body:
            if not isinstance(statement, ast.ClassDef):
                continue
            if not {"component", "parameters"} & {ast.unparse(d) for d in statement.decorator_list}:
                continue
            bases = [base for base in map(ast.unparse, statement.bases) if base in names]
            if len(bases) > 1:
                raise self.fail(statement, f"{statement.name} must have one base with fields")
            learner = Learner(statement.name, bases[0] if bases else None, None, [])
            inherited = names[bases[0]] if bases else set()
            for line in statement.body:
                if isinstance(line, ast.AnnAssign) and line.value is not None:
                    self.read_line(learner, line, line.value, inherited)
            names[learner.title] = inherited | {field.name for field in learner.fields}
            yield learner

    def read_line(
        self, learner: Learner, line: ast.AnnAssign, value: ast.expr, inherited: set[str]
    ) -> None:
        """Add what a line of a class declares, if that is its name or a field of the engine."""
        name = ast.unparse(line.target)
        if name == "name":
            learner.name = ast.literal_eval(value)
        elif field := self.find_field(name, line, value):
            if name in inherited:
                raise self.fail(line, f"{name} is a field of {learner.base} already")
            learner.fields.append(field)

    def find_field(self, name: str, line: ast.AnnAssign, value: ast.expr) -> Field | None:
        """Return the field that a line of a class declares, if it is a field of the engine."""
        if not isinstance(value, ast.Call) or ast.unparse(value.func) != "parameter":
            return None
        options = {keyword.arg: keyword.value for keyword in value.keywords}
        if "engine" in options and ast.literal_eval(options["engine"]) is False:
            return None
        if "default" not in options:
            raise self.fail(line, f"{name} must have a default")
        try:
            default = ast.literal_eval(options["default"])
        except ValueError:
            raise self.fail(line, f"the default of {name} must be a plain value") from None
        field = make_field(name, *self.split(line.annotation), default)
        if field is not None:
            return field
        raise self.fail(
            line,
            f"{name} must be a bool, an int of at least 0, a float or one of several words, and "
            f"its default one of these; got {ast.unparse(line.annotation)} and "
            f"{ast.unparse(options['default'])}",
        )

    def split(self, annotation: ast.expr) -> tuple[set[str], set[object]]:
        """Return the types of an annotation, without None, and the words that it allows."""
        if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
            (types, words), (others, more) = map(self.split, (annotation.left, annotation.right))
            return types | others, words | more
        if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Literal":
            words = ast.literal_eval(annotation.slice)
            return set(), set(words) if isinstance(words, tuple) else {words}
        text = ast.unparse(annotation)
        if text in self.kinds:
            return self.split(self.kinds[text])
        return (set() if text == "None" else {text}), set()


def write_struct(learner: Learner) -> Iterator[str]:
    """Write the lines of a struct."""
    base = f"{learner.base}Fields" if learner.base else ""
    unused = "" if base or learner.fields else "[[maybe_unused]] "
    yield f"struct {learner.title}Fields{f' : {base}' if base else ''} {{"
    if learner.name is not None:
        yield f"  static constexpr const char* name = {json.dumps(learner.name)};"
        yield ""
    for field in learner.fields:
        comment = f"  // {field.comment}" if field.comment else ""
        yield f"  {field.type} {field.name} = {field.default};{comment}"
    if learner.fields:
        yield ""
    yield "  // Calls visitor(name, member) for every field."
    yield "  template <class Visitor>"
    yield f"  void visit({unused}Visitor&& visitor) {{"
    if base:
        yield f"    {base}::visit(visitor);"
    for field in learner.fields:
        yield f"    visitor({json.dumps(field.name)}, {field.name});"
    yield "  }"
    yield "};"


def main(learners: str, kinds: str, header: str) -> None:
    """Write the header if its text is new, as its includers are then compiled anew."""
    source = Source(Path(learners), Path(kinds))
    classes = list(source.find_learners())
    named = [f"{learner.title}Fields" for learner in classes if learner.name is not None]
    if not named:
        raise SystemExit(f"{learners}: error: there are no weak learners")
    lines = [TOP]
    for learner in classes:
        lines += [*write_struct(learner), ""]
    lines += [
        "// The fields of any of them.",
        f"using LearnerFields = std::variant<{', '.join(named)}>;",
        "",
        "}  // namespace properboost",
        "",
    ]
    text = "\n".join(lines)
    path = Path(header)
    if not path.is_file() or path.read_text("utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
