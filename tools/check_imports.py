"""Check that the package's modules import each other in one direction, and in few steps.

    python tools/check_imports.py [ROOT]

Every import counts, deferred and type-checking ones included; a stub stands for its compiled
module.  Fails if modules import each other in a circle, or folders do, or if the longest chain of
imports, which is printed, has more than MOST_FLOORS modules.
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

PACKAGE = "python/properboost"
MOST_FLOORS = 10

Graph = Mapping[str, set[str]]
"""The modules that each module imports."""


def read_graph(package: Path) -> Graph:
    """Return the modules of a package that each of its modules imports."""
    files = {name_module(package, path): path for path in sorted(package.rglob("*.py*"))
             if path.suffix in (".py", ".pyi")}  # fmt: skip
    return {name: set(read_imports(name, path, files)) for name, path in files.items()}


def name_module(package: Path, path: Path) -> str:
    """Return the module's dotted name; a package's is that of its folder."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read_imports(name: str, path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    """Yield the modules that a file imports: of ``from package import name``, the module `name`."""
    at = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            near = at[: len(at) + 1 - node.level] if node.level else []
            origin = ".".join([*near, *([node.module] if node.module else [])])
            members = [f"{origin}.{alias.name}" for alias in node.names]
            named = [member if member in modules else origin for member in members]
        else:
            continue
        yield from (module for module in named if module in modules)


def join_folders(graph: Graph) -> Graph:
    """Return the imports of the package's folders, and of the modules next to them."""

    def folder(module: str) -> str:
        return ".".join(module.split(".")[:2])

    joined: dict[str, set[str]] = {folder(module): set() for module in graph}
    for module, imported in graph.items():
        joined[folder(module)] |= {folder(other) for other in imported} - {folder(module)}
    return joined


def find_circles(graph: Graph) -> list[list[str]]:
    """Return the sets of modules that all reach each other."""
    reached = {module: _reach(graph, module) for module in graph}
    circles = {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in graph
        if module in reached[module]
    }
    return [list(circle) for circle in sorted(circles)]


def _reach(graph: Graph, start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        new = graph[waiting.pop()] - reached
        reached |= new
        waiting += new
    return reached


def find_longest_chain(graph: Graph) -> list[str]:
    """Return the longest chain of imports of a graph without circles."""
    chains: dict[str, list[str]] = {}

    def chain_from(module: str) -> list[str]:
        if module not in chains:
            below = [chain_from(other) for other in sorted(graph[module])]
            chains[module] = [module, *max(below, key=len, default=[])]
        return chains[module]

    return max((chain_from(module) for module in sorted(graph)), key=len)


def problems(root: Path) -> list[str]:
    """Return the faults of the package's imports; print the number of its floors."""
    graph = read_graph(root / PACKAGE)
    circles = find_circles(graph)
    faults = [f"circle of modules: {', '.join(circle)}" for circle in circles]
    faults += [f"circle of folders: {', '.join(c)}" for c in find_circles(join_folders(graph))]
    print(f"{len(graph)} modules, {len(faults)} circles")
    if not circles:
        chain = find_longest_chain(graph)
        print(f"{len(chain)} floors: {' -> '.join(chain)}")
        if len(chain) > MOST_FLOORS:
            faults.append(
                f"the longest chain of imports has {len(chain)} modules: {MOST_FLOORS} at most"
            )
    return faults


if __name__ == "__main__":
    here = Path(__file__).resolve().parent.parent
    sys.exit("\n".join(problems(Path(sys.argv[1]) if len(sys.argv) > 1 else here)) or None)
