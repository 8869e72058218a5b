"""Check the site that Sphinx made: the reference has every public name, and local links work.

    python tools/check_site.py [docs/_build/html]

Sphinx itself refuses broken links between pages.  This reads the pages that it wrote: every name
in the `__all__` of the package and of its public modules, and every public method of its classes,
must be in the inventory; every local address in a page must be a file with that anchor.
"""

import inspect
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

from sphinx.util.inventory import InventoryFile

import properboost as pb

ROOT = Path(__file__).resolve().parent.parent


class Page(HTMLParser):
    """The addresses and the anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.addresses: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the address or the anchor of a tag."""
        for name, value in attrs:
            if value and name == "id":
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.addresses.add(value)


def list_names() -> dict[str, list[str]]:
    """Return the public names, each with the public methods and properties of the package."""
    names: dict[str, list[str]] = {}
    modules = {"properboost": pb}
    modules |= {
        f"properboost.{name}": module
        for name in pb.__all__
        if isinstance(module := getattr(pb, name), ModuleType)
    }
    for module_name, module in modules.items():
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, ModuleType) or (module is not pb and name in pb.__all__):
                continue  # documented as a module, or as a name of the package
            names[f"{module_name}.{name}"] = list_methods(value) if inspect.isclass(value) else []
    return names


def list_methods(cls: type) -> list[str]:
    """Return the public methods and properties with docstrings that the package defines."""
    return [
        name
        for owner in cls.__mro__
        if owner.__module__.startswith("properboost")
        for name, value in vars(owner).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod))
        and inspect.getdoc(getattr(cls, name))
    ]


def find_missing(site: Path) -> tuple[int, list[str]]:
    """Return the number of names and methods, and those that the reference lacks."""
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    known = {name for kind, entries in inventory.data.items() if kind.startswith("py:")
             for name in entries}  # fmt: skip
    wanted = [
        full for name, methods in list_names().items()
        for full in (name, *(f"{name}.{method}" for method in dict.fromkeys(methods)))
    ]  # fmt: skip
    return len(wanted), [name for name in wanted if name not in known]


def find_broken(site: Path) -> tuple[int, list[str]]:
    """Return the number of local addresses, and the broken ones."""
    pages = {path.resolve(): Page(path) for path in site.rglob("*.html")}
    count, broken = 0, []
    for path, page in pages.items():
        for address in page.addresses:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            has_anchor = not parts.fragment or target not in pages \
                or unquote(parts.fragment) in pages[target].anchors  # fmt: skip
            if not target.exists() or not has_anchor:
                broken.append(f"{path.relative_to(site.resolve())}: {address}")
    return count, broken


def main() -> None:
    """Check, print the counts, and end with status 1 if anything is wrong."""
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/_build/html"
    names, missing = find_missing(site)
    links, broken = find_broken(site)
    print(f"{names - len(missing)} of {names} public names and methods are in the reference")
    print(f"{links - len(broken)} of {links} local links lead somewhere")
    for line in [*(f"not in the reference: {name}" for name in missing), *broken]:
        print(line, file=sys.stderr)
    if missing or broken:
        sys.exit(1)


if __name__ == "__main__":
    main()
