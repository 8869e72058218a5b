"""What the documents say: examples run, links and files exist, words are those of the glossary."""

import ast
import re
import tokenize
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

import properboost as pb

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]


def name(page):
    return page.relative_to(ROOT).as_posix()


def examples(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def prose(page):
    """Return the page's text without code."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^ {4}.*$|`[^`\n]*`", "", text, flags=re.MULTILINE)


def remarks(path):
    """Return the docstrings and comments of a Python file, or the comments of a C++ file."""
    text = path.read_text("utf-8")
    if path.suffix in (".hpp", ".cpp"):
        return [*re.findall(r"//+(.*)", text), *re.findall(r"/\*(.*?)\*/", text, re.DOTALL)]
    with tokenize.open(path) as file:
        tokens = [*tokenize.generate_tokens(file.readline)]
    found = [token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT]
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(docstring))):
                found.append(docstring)
    return found


def forbidden():
    block = re.search(r"^```text forbidden\n(.*?)^```", GLOSSARY, re.MULTILINE | re.DOTALL)
    return block[1].splitlines()


GLOSSARY = (ROOT / "docs" / "glossary.md").read_text("utf-8")


@pytest.fixture
def small_tables(tmp_path, monkeypatch):
    """A small table in place of those that examples load, and the names they take for granted."""
    monkeypatch.chdir(tmp_path)
    frame, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = frame.iloc[:, :14].to_numpy()
    for loader in ("load_letter", "load_adult"):
        monkeypatch.setattr(pb.datasets, loader, lambda *_, **__: (X[:90], y.to_numpy()[:90]))
    return {
        "X": X[:90],
        "y": y[:90],
        "X2": X[90:180],
        "y2": y[90:180],
        "X_test": X[180:],
        "y_test": y[180:],
    }


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=name)
@pytest.mark.filterwarnings("ignore:the chosen gain")  # of a small table it may be at an end
def test_examples_run(page, small_tables):
    needs = {"matplotlib": "matplotlib", "numba": "numba", "vl_convert": "pb.report"}
    for needed, word in needs.items():
        if word in page.read_text("utf-8"):
            pytest.importorskip(needed)
    for number, example in enumerate(examples(page), start=1):
        exec(compile(example, f"{name(page)}, example {number}", "exec"), small_tables)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)]+)\)", prose(page)):
        file, _, anchor = link.partition("#")
        if file.startswith("http"):
            continue
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        titles = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE) if anchor else []
        anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
        assert not anchor or anchor in anchors, link


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_pages_name_exist(page):
    folders = "benchmarks|cpp|docs|python|tests|tools"
    for path in re.findall(rf"(?<![\w/.])(?:{folders})/[\w/.-]*\w", page.read_text("utf-8")):
        assert (ROOT / path).exists() or (page.parent / path).exists(), path
    for module in re.findall(r"python -m (benchmarks[\w.]+)", page.read_text("utf-8")):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists(), module
    for header in re.findall(r"(?<=`)[\w/]+\.hpp(?=`)", page.read_text("utf-8")):
        assert list((ROOT / "cpp/include/properboost").glob(f"**/{header}")), header


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_prose_keeps_to_the_rules(page):
    text = prose(page)
    for pattern in forbidden():
        found = re.search(pattern, text, re.MULTILINE)
        assert found is None, f"{pattern} matches {found}"


@pytest.mark.parametrize("folder", ["benchmarks", "cpp", "python", "tests", "tools"])
def test_remarks_in_code_keep_to_the_rules(folder):
    paths = [p for p in (ROOT / folder).rglob("*.*") if p.suffix in (".py", ".pyi", ".hpp", ".cpp")]
    assert paths
    for path in paths:
        for remark in remarks(path):
            lines = "\n".join(line.strip() for line in remark.splitlines())
            for pattern in forbidden():
                found = re.search(pattern, re.sub(r"`+[^`\n]*`+", "", lines), re.MULTILINE)
                assert found is None, f"{name(path)}: {pattern} matches {found} in {remark!r}"
