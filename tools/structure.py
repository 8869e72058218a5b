"""Print figures of the structure of a tree of sources, to compare two trees.

    python tools/structure.py [--source FOLDER]

The figures are those below, in this order; the product is python/properboost and cpp, without
cpp/selftest and cpp/fuzz.

- Comparisons of a name or an attribute `elsewhere` with None by `is` or `is not`; the lines that
  contain `elsewhere`, in engine.py and in all text files of the package.
- Casts to `_core.Boosting`: calls of `cast` with that type.
- Calls of `isinstance` that name CodedTable or a class derived from it.
- Files of the product that contain `screening`, also as a part of another word.
- Lines that read or write an attribute with one leading underscore on anything but `self`, `cls`,
  `super()` and the compiled module `_core`; and those of them whose attribute the file neither
  defines nor has on `self`, so that it is another file's.
- Modules of the package that estimators/properboost.py and model_selection/search_cv.py import, by
  tools/check_imports.py: anywhere in the file, a module counts once.
- The largest cyclomatic complexity, counted as lizard does: one, and one more for each branch,
  loop, handler, `finally`, comprehension, `case`, `and` and `or`, in C++ also `?`; nested functions
  count by themselves.  For C++ lizard does it (`pip install lizard`).
- Lines of `ProperBoostClassifier.fit` without its docstring, blank lines and comments.
- The longest chain of imports, and the circles, by tools/check_imports.py.
"""

import argparse
import ast
import functools
import importlib
import io
import itertools
import re
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from check_imports import PACKAGE, find_circles, find_longest_chain, join_folders, read_graph

TEXT = {".py", ".pyi", ".pyx", ".pxd", ".hpp", ".cpp", ".jinja", ".css", ".js"}
CPP_TESTS = ("cpp/selftest", "cpp/fuzz")
TABLE = "CodedTable"
OWNERS = ("self", "cls", "super()", "_core")
IMPORTERS = ("estimators/properboost.py", "model_selection/search_cv.py")

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Modules = dict[Path, ast.Module]


class Function(NamedTuple):
    """A function and its cyclomatic complexity."""

    complexity: int
    name: str
    file: Path


def list_product(source: Path) -> list[Path]:
    """Return the text files of the product."""
    tests = [source / folder for folder in CPP_TESTS]
    files = [*(source / PACKAGE).rglob("*"), *(source / "cpp").rglob("*")]
    return sorted(
        file for file in files if file.suffix in TEXT and not set(tests) & {*file.parents}
    )


def parse(files: Iterable[Path]) -> Modules:
    """Return the syntax trees of those files that are Python."""
    return {file: ast.parse(file.read_text("utf-8")) for file in files if file.suffix == ".py"}


@functools.cache
def list_nodes(tree: ast.Module) -> list[ast.AST]:
    """Return every node of a module, which most figures need."""
    return list(ast.walk(tree))


def walk(modules: Modules) -> Iterator[ast.AST]:
    """Yield every node of all modules."""
    return itertools.chain.from_iterable(map(list_nodes, modules.values()))


def count_lines(files: Iterable[Path], word: str) -> int:
    """Count the lines that contain a word, also as a part of another one."""
    return sum(word in line for file in files for line in file.read_text("utf-8").splitlines())


def count_files(files: Iterable[Path], word: str) -> int:
    """Count the files that contain a word, also as a part of another one."""
    return sum(word in file.read_text("utf-8") for file in files)


def name_of(node: ast.expr) -> str:
    """Return the last part of a dotted name, or nothing."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def count_none_tests(modules: Modules, name: str) -> int:
    """Count the comparisons of a name, or of an attribute so called, with None."""
    return sum(
        isinstance(node, ast.Compare)
        and name_of(node.left) == name
        and isinstance(node.ops[0], ast.Is | ast.IsNot)
        and isinstance(node.comparators[0], ast.Constant)
        and node.comparators[0].value is None
        for node in walk(modules)
    )


def count_casts(modules: Modules, kind: str) -> int:
    """Count the casts to a type, written as it is or as a string."""
    return sum(
        isinstance(node, ast.Call)
        and name_of(node.func) == "cast"
        and ast.unparse(node.args[0]).strip("'\"") == kind
        for node in walk(modules)
    )


def list_kinds(modules: Modules, root: str) -> set[str]:
    """Return a class and those that derive from it, by their names."""
    classes = [node for node in walk(modules) if isinstance(node, ast.ClassDef)]
    kinds: set[str] = set()
    more = {root}
    while more:
        kinds |= more
        more = {c.name for c in classes if kinds & {name_of(base) for base in c.bases}} - kinds
    return kinds


def count_isinstance(modules: Modules, kinds: set[str]) -> int:
    """Count the calls of `isinstance` that name one of these classes, alone or among others."""
    calls = [
        n for n in walk(modules) if isinstance(n, ast.Call) and name_of(n.func) == "isinstance"
    ]
    return sum(
        any(
            isinstance(node, ast.expr) and name_of(node) in kinds for node in ast.walk(call.args[1])
        )
        for call in calls
    )


def list_private_lines(tree: ast.Module) -> tuple[set[int], set[int]]:
    """Return the lines that touch others' private attributes, and those with foreign ones.

    A private attribute is foreign if the file neither defines it nor has it on `self`.
    """
    nodes = list_nodes(tree)
    attributes = [
        node for node in nodes if isinstance(node, ast.Attribute) and is_private(node.attr)
    ]
    on_self = {a.attr for a in attributes if ast.unparse(a.value) == "self"}
    defined = {node.name for node in nodes if isinstance(node, FunctionNode | ast.ClassDef)}
    others = [a for a in attributes if ast.unparse(a.value) not in OWNERS]
    foreign = [a for a in others if a.attr not in on_self | defined]
    return {a.lineno for a in others}, {a.lineno for a in foreign}


def is_private(name: str) -> bool:
    """Whether a name has one leading underscore, and is not that of the compiled module."""
    return re.match("_[^_]", name) is not None and name != "_core"


def list_functions(tree: ast.Module, file: Path) -> Iterator[Function]:
    """Yield every function of a module, with its complexity."""
    for node in list_nodes(tree):
        if isinstance(node, FunctionNode):
            yield Function(1 + sum(map(count_branches, walk_body(node))), node.name, file)


def walk_body(function: FunctionNode) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without those of the functions in it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, FunctionNode):
            yield node
            waiting += ast.iter_child_nodes(node)


def count_branches(node: ast.AST) -> int:
    """Return the complexity that a node alone adds to its function."""
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.Try | ast.TryStar):
        return len(node.handlers) + bool(node.finalbody)
    branches = ast.If | ast.IfExp | ast.For | ast.AsyncFor | ast.While | ast.match_case
    return int(isinstance(node, branches))


def list_cpp_functions(files: Iterable[Path]) -> list[Function] | None:
    """Return the functions of files of C++, with their complexities, or None without lizard."""
    try:
        lizard = importlib.import_module("lizard")
    except ImportError:
        return None
    return [
        Function(function.cyclomatic_complexity, function.long_name.split("(")[0].strip(), file)
        for file in files
        if file.suffix in (".hpp", ".cpp")
        for function in lizard.analyze_file(str(file)).function_list
    ]


def find_method(modules: Modules, owner: str, name: str) -> tuple[Path, FunctionNode] | None:
    """Return the file and the method of a class, or None."""
    for file, tree in modules.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name == owner:
                for member in node.body:
                    if isinstance(member, FunctionNode) and member.name == name:
                        return file, member
    return None


def count_code_lines(file: Path, function: FunctionNode) -> int:
    """Count a function's lines without its docstring, blank lines and comments."""
    lines: set[int] = set()
    blank = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    for token in tokenize.generate_tokens(io.StringIO(file.read_text("utf-8")).readline):
        if token.type not in blank:
            lines.update(range(token.start[0], token.end[0] + 1))
    spans = [function]
    if ast.get_docstring(function) is not None:
        spans.append(function.body[0])  # type: ignore[arg-type]
    first, *docstring = [set(range(span.lineno, (span.end_lineno or 0) + 1)) for span in spans]
    return len(lines & first - set().union(*docstring))


def print_figure(name: str, figure: object, note: object = "") -> None:
    """Print one line."""
    print(f"{name:<58}{figure!s:>5}  {note}".rstrip())


def name_worst(functions: Sequence[Function], source: Path) -> tuple[int, str]:
    """Return the largest complexity, and its function."""
    worst = max(functions, key=lambda function: function.complexity)
    return worst.complexity, f"{worst.name}, {worst.file.relative_to(source)}"


def print_words(modules: Modules, product: Sequence[Path], package: Path) -> None:
    """Print the counts of words in the text of the product."""
    print_figure("comparisons of `elsewhere` with None", count_none_tests(modules, "elsewhere"))
    engines = [file for file in modules if file.name == "engine.py"]
    print_figure("lines with `elsewhere` in engine.py", count_lines(engines, "elsewhere"))
    files = [file for file in product if package in file.parents]
    print_figure("lines with `elsewhere` in the package", count_lines(files, "elsewhere"))
    print_figure("casts to _core.Boosting", count_casts(modules, "_core.Boosting"))
    kinds = list_kinds(modules, TABLE)
    note = ", ".join(sorted(kinds))
    print_figure("isinstance of coded tables", count_isinstance(modules, kinds), note)
    print_figure("files that name `screening`", count_files(product, "screening"))
    lines = [list_private_lines(tree) for tree in modules.values()]
    print_figure("lines on others' private parts", sum(len(others) for others, _ in lines))
    print_figure("  of another file", sum(len(foreign) for _, foreign in lines))


def print_complexity(modules: Modules, product: Sequence[Path], source: Path) -> None:
    """Print the most complex functions, and the length of the fit."""
    functions = [f for file, tree in modules.items() for f in list_functions(tree, file)]
    print_figure("largest complexity in Python", *name_worst(functions, source))
    cpp = list_cpp_functions(product)
    worst = ("-", "needs lizard") if cpp is None else name_worst(cpp, source) if cpp else ("-", "")
    print_figure("largest complexity in C++", *worst)
    method = find_method(modules, "ProperBoostClassifier", "fit")
    length = count_code_lines(*method) if method else "-"
    print_figure("code lines of ProperBoostClassifier.fit", length)


def print_imports(package: Path) -> None:
    """Print the numbers of imports of the largest modules, and the longest chain of imports."""
    graph = read_graph(package)
    for file in IMPORTERS:
        module = f"{package.name}.{file.removesuffix('.py').replace('/', '.')}"
        figure = len(graph[module] - {module}) if module in graph else "-"
        print_figure(f"modules that {file} imports", figure)
    circles = find_circles(graph)
    print_figure("circles of imports", len(circles) + len(find_circles(join_folders(graph))))
    chain = [] if circles else find_longest_chain(graph)
    print_figure("longest chain of imports", len(chain) or "-", " -> ".join(chain))


def main() -> None:
    """Print the figures of one tree."""
    here = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--source", type=Path, default=here)
    source = parser.parse_args().source.resolve()
    product = list_product(source)
    modules = parse(product)
    print_words(modules, product, source / PACKAGE)
    print_imports(source / PACKAGE)
    print_complexity(modules, product, source)


if __name__ == "__main__":
    main()
