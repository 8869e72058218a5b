"""How Sphinx makes the site of the Markdown pages here; `make docs` runs it.

The pages are written to be read on a forge, too: their links lead to files of the repository.  Here
links are turned into those of the site, and what README.md lists becomes the navigation, so that a
page is named in one place.
"""

import os
import posixpath
import re
import shutil
import sys
from pathlib import Path
from types import ModuleType

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.ext.autosummary import autosummary_table

import properboost as pb

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent

project = "properboost"
author = "The properboost developers"
project_copyright = "the properboost developers"
version = release = pb.__version__

FORGE = "https://github.com/properboost/properboost"
STANDS_FOR = {
    "design/contributing": "CONTRIBUTING.md",
    "evidence/benchmarks": "benchmarks/README.md",
    "reference/changes": "CHANGELOG.md",
    "index": "docs/README.md",
}
"""Pages of the site, and the files whose text they have; `index` begins with its own."""

# -- Sphinx ---------------------------------------------------------------------------------------

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.githubpages",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
root_doc = "index"
exclude_patterns = ["_build", "README.md", "examples", "papers/results"]
templates_path = ["_templates"]
nitpicky = True
default_role = "code"

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

# The network is asked only if it is wanted: a build must work without.
if os.environ.get("PROPERBOOST_INTERSPHINX"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

linkcheck_anchors = False
linkcheck_timeout = 20
linkcheck_retries = 2

# -- the reference --------------------------------------------------------------------------------

autosummary_imported_members = True
autodoc_typehints = "none"  # docstrings have types and shapes
autodoc_member_order = "groupwise"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False


def find_modules() -> dict[str, ModuleType]:
    """Return the public modules of the package, by name."""
    members = {name: getattr(pb, name) for name in pb.__all__}
    return {
        f"properboost.{name}": module
        for name, module in members.items()
        if isinstance(module, ModuleType)
    }


def write_modules(_app: Sphinx, _config: object) -> None:
    """Write a page for each public module: its purpose and its public names."""
    folder = DOCS / "api"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, module in find_modules().items():
        members = [member for member in module.__all__ if member not in pb.__all__]
        names = [f"   {member}" for member in sorted(members, key=str.lower)]
        lines = [
            name, "=" * len(name), "", f".. automodule:: {name}", "", f".. currentmodule:: {name}",
            "", ".. autosummary::", "   :toctree: .", "   :nosignatures:", "", *names, "",
        ]  # fmt: skip
        (folder / f"{name}.rst").write_text("\n".join(lines), "utf-8")


def list_modules() -> str:
    """Return the links of the reference to the pages of modules."""
    names = [f"/api/{name}" for name in find_modules()]
    return "\n".join(["```{toctree}", ":maxdepth: 1\n", *names, "```"])


autosummary_generate = ["reference/names.md", *(f"api/{name}.rst" for name in find_modules())]


# -- links ----------------------------------------------------------------------------------------

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
CODE = re.compile(r"^```.*?^```|^ {4}.*?$|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def place(path: str) -> str:
    """Return where a file or folder of the repository is, for a page in docs/."""
    named = {file: f"{page}.md" for page, file in STANDS_FOR.items()}
    if path in named:
        return named[path]
    inside = re.fullmatch(r"docs/examples/(\w+)(?:/(\w+)\.py)?", path)
    if inside:
        return f"{inside[1]}/{inside[2] or 'index'}.rst"
    local = path.removeprefix("docs/")
    if local != path and Path(path).suffix in (".md", ".png"):
        return local
    return f"{FORGE}/{'tree' if (ROOT / path).is_dir() else 'blob'}/main/{path}"


def lead(text: str, file: str, page: str) -> str:
    """Return a file's text with the links that a page of the site needs."""

    def change(link: re.Match[str]) -> str:
        path, sharp, anchor = link[2].partition("#")
        if not path or re.match(r"\w+:", path):
            return link[0]
        target = place(posixpath.normpath(posixpath.join(posixpath.dirname(file), path)))
        if not re.match(r"\w+:", target):
            target = posixpath.relpath(target, posixpath.dirname(page) or ".")
        return f"{link[1]}{target}{sharp}{anchor}{link[3]}"

    parts, begin = [], 0
    for code in CODE.finditer(text):
        parts += [LINK.sub(change, text[begin : code.start()]), code[0]]
        begin = code.end()
    return "".join([*parts, LINK.sub(change, text[begin:])])


# -- pages ----------------------------------------------------------------------------------------


def draw_navigation(text: str) -> str:
    """Return the trees of pages that a text lists, one for each of its sections."""
    trees = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, rest = section.partition("\n")
        listed = re.findall(r"^- \[([^\]]+)\]\(([^)#]+)\)", rest, re.MULTILINE)
        entries = [f"{name} <{re.sub(r'[.](md|rst)$', '', path)}>" for name, path in listed]
        trees.append("\n".join([
            "```{toctree}", ":hidden:", f":caption: {title}\n", *entries, "```\n"
        ]))  # fmt: skip
    return "\n".join(trees)


def read_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Give a page the text it stands for, the links of the site, and what is generated."""
    path = DOCS / f"{page}.md"
    if not path.exists():
        return
    text, file = source[0], f"docs/{page}.md"
    if page in STANDS_FOR:
        file = STANDS_FOR[page]
        app.env.note_dependency(str(ROOT / file))
        whole = lead((ROOT / file).read_text("utf-8"), file, page)
        body = whole[whole.index("\n## ") :]
        text = f"{lead(text, f'docs/{page}.md', page)}\n{body}\n{draw_navigation(body)}" \
            if page == root_doc else whole  # fmt: skip
    else:
        text = lead(text, file, page)
    if page == "papers/README":
        papers = sorted(paper.stem for paper in path.parent.glob("*.md") if paper != path)
        text = "\n".join([text, "```{toctree}", ":hidden:\n", *papers, "```"])
    source[0] = text.replace("<!-- modules -->", list_modules())


def read_docstring(_app: Sphinx, _kind: str, _name: str, _obj: object, _options: object,
                   lines: list[str]) -> None:  # fmt: skip
    """Let docstrings be plain text: names may end in _ and sizes be |x|; others' links are text."""
    for k, line in enumerate(lines):
        line = re.sub(r":\w+:`([^<`]+?)(?: <[^`]+>)?`", r"``\1``", line)
        parts = re.split(r"(`+[^`]*`+_?)", line)
        for j in range(0, len(parts), 2):
            plain = re.sub(r"(?<=\w)_(?![\w`])(?! :|, \w+_)", r"\\_", parts[j])
            parts[j] = plain.replace("|", r"\|")
        lines[k] = "".join(parts)


def skip_requests(_app: Sphinx, _kind: str, name: str, _obj: object, _skip: bool,
                  _options: object) -> bool | None:  # fmt: skip
    """Leave out what scikit-learn generates about metadata: its guide has it once for all."""
    return True if re.fullmatch(r"set_\w+_request|get_metadata_routing", name) else None


def strip_citations(_app: Sphinx, doctree: nodes.document) -> None:
    """Leave the citations out of the lists of names, where they are no more than keys."""
    for table in doctree.findall(autosummary_table):
        for link in [*table.findall(pending_xref)]:
            if link["refdomain"] == "citation":
                before = link.parent[link.parent.index(link) - 1]
                link.parent.replace(before, nodes.Text(str(before).rstrip()))
                link.parent.remove(link)


def setup(app: Sphinx) -> None:
    """Tell Sphinx about the functions above."""
    app.connect("config-inited", write_modules)
    app.connect("source-read", read_page)
    app.connect("doctree-read", strip_citations)
    app.connect("autodoc-process-docstring", read_docstring, priority=400)
    app.connect("autodoc-skip-member", skip_requests)


# -- pictures and tutorials -----------------------------------------------------------------------

sys.path.insert(0, str(DOCS / "examples"))
os.environ.setdefault("OMP_NUM_THREADS", "2")
sphinx_gallery_conf = {
    "examples_dirs": ["examples/tutorials", "examples/gallery"],
    "gallery_dirs": ["tutorials", "gallery"],
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_", "__repr__"),
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
    "min_reported_time": 1e9,
    "download_all_examples": False,
    "write_computation_times": False,
}

# -- the theme ------------------------------------------------------------------------------------

html_theme = "furo"
pygments_dark_style = "monokai"
html_title = f"properboost {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "source_repository": FORGE,
    "source_branch": "main",
    "source_directory": "docs/",
}
copybutton_exclude = ".linenos, .gp, .go"
