"""The documents: examples run, links and files exist, words are those of the glossary."""

import ast
import importlib.metadata
import inspect
import pydoc
import re
import shlex
import tokenize
import tomllib
from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer

import properboost as pb
from properboost.__main__ import COMMANDS, main
from properboost.cli.commands import make_parsers
from properboost.diagnostics import gain_curve
from properboost.reproduce.catalogue import PAPERS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "benchmarks" / "README.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts),
]
SCRIPTS = sorted((ROOT / "docs/examples").rglob("*.py"))
LANGUAGES = {"python", "py", "sh", "c", "text", "json", ""}
"""The languages of code blocks; "py" is an excerpt, "text" and "" are printed output."""


def name(page):
    return page.relative_to(ROOT).as_posix()


def blocks(page):
    """Return the code blocks of a page, each with its language."""
    text = page.read_text("utf-8")
    return re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def examples(page):
    return [code for language, code in blocks(page) if language == "python"]


def commands(page):
    """Return the commands of a page's shell blocks, as lists of words."""
    lines = [
        line
        for language, code in blocks(page)
        if language == "sh"
        for line in code.replace("\\\n", " ").splitlines()
    ]
    words = [shlex.split(line, comments=True) for line in lines]
    return [line for line in words if line]


def prose(page):
    """Return the page's text without code."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^ {4}.*$|`[^`\n]*`", "", text, flags=re.MULTILINE)


def remarks(path):
    """Return the docstrings and comments of a Python file, or the comments of a C++ file."""
    text = path.read_text("utf-8")
    if path.suffix in (".hpp", ".cpp"):
        return [*re.findall(r"//+(.*)", text), *re.findall(r"/\*(.*?)\*/", text, re.DOTALL)]
    texts, begins = [], True  # a statement: a string there is a docstring
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type == tokenize.COMMENT:
                texts.append(token.string.lstrip("# "))
            elif token.type == tokenize.STRING and begins:
                texts.append(str(ast.literal_eval(token.string)))
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    return texts


def forbidden():
    block = re.search(r"^```text forbidden\n(.*?)^```", GLOSSARY, re.MULTILINE | re.DOTALL)
    return block[1].splitlines()


GLOSSARY = (ROOT / "docs/reference/glossary.md").read_text("utf-8")


@pytest.fixture
def small_tables(tmp_path, monkeypatch):
    """Return the names that examples use, with small tables and short computations."""
    monkeypatch.chdir(tmp_path)
    frame, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = frame.iloc[:, :14].to_numpy()
    for loader in ("load_letter", "load_adult"):
        monkeypatch.setattr(pb.datasets, loader, lambda *_, **__: (X[:90], y.to_numpy()[:90]))

    def find_curve(X, y, **settings):
        return gain_curve(
            X[:150], y[:150], **settings | {"n_repeats": 2, "cv": 2, "n_estimators": 10}
        )

    monkeypatch.setattr(pb.diagnostics, "gain_curve", find_curve)
    return {
        "X": X[:90],
        "y": y[:90],
        "X2": X[90:180],
        "y2": y[90:180],
        "X_test": X[180:],
        "y_test": y[180:],
    }


@pytest.fixture
def no_pictures(monkeypatch):
    """Draw figures without showing them."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


@pytest.fixture
def small_commands(tmp_path, monkeypatch, capsys):
    """Return a function that runs a command on small tables, or only checks a long one's names."""
    monkeypatch.chdir(tmp_path)
    for unset in ("PROPERBOOST_DATA", "PROPERBOOST_CACHE"):
        monkeypatch.delenv(unset, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    frame, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = frame.iloc[:90, :4].assign(**dict.fromkeys(("diagnosis", "income"), y[:90]))
    for file in ("train.csv", "test.csv", "new.csv"):
        frame.to_csv(file, index=False)

    def run(words):
        while re.match(r"[A-Z]+=", words[0]):
            words = words[1:]
        check = CHECKS[words[0]]
        check(words[1:])
        capsys.readouterr()

    return run


def check_properboost(words):
    """Run a command, or only parse it if it computes demos or papers."""
    if ">" in words:
        words = words[: words.index(">")]
    if words[0] == "fit":  # whichever the table
        words = [*words, "--effort", "1", "--force"]
    if words[0] in ("demo", "reproduce") and "--list" not in words:
        assert cli_takes(words), words
        return
    assert main(words) == 0, words


def cli_takes(words):
    """Check that the command line parses words, without running them."""
    parser, _ = make_parsers(COMMANDS)
    parser.parse_args(words)
    return True


def check_python(words):
    """Check that a script or module exists and has the options."""
    if words[0] == "-m":
        paths = [ROOT / f"{words[1].replace('.', '/')}.py"]
        paths = [path for path in paths if path.exists()]
        assert paths or words[1] in ("pytest",), words
        words = words[1:]
    else:
        paths = [ROOT / words[0]]
    known = "".join(path.read_text("utf-8") for path in [*paths, ROOT / "benchmarks/lib/cli.py"])
    assert [word for word in words if word.startswith("--") and f'"{word}"' not in known] == []


def check_make(words):
    targets = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert {word for word in words if "=" not in word and word != "\\"} <= set(targets), words


def check_pip(words):
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    for extras in re.findall(r"\[([\w,]+)\]", " ".join(words)):
        assert set(extras.split(",")) <= set(settings["project"]["optional-dependencies"]), words


CHECKS = {
    "asv": lambda words: None,  # a package of others
    "make": check_make,
    "pip": check_pip,
    "properboost": check_properboost,
    "python": check_python,
}


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=name)
@pytest.mark.filterwarnings("ignore:the chosen gain")  # of a small table it may be at an end
def test_examples_run(page, small_tables):
    needs = {"matplotlib": "matplotlib", "numba": "numba", "vl_convert": "pb.report"}
    needs |= {"distributed": "distributed"}
    for needed, word in needs.items():
        if word in page.read_text("utf-8"):
            pytest.importorskip(needed)
    for number, example in enumerate(examples(page), start=1):
        exec(compile(example, f"{name(page)}, example {number}", "exec"), small_tables)


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
@pytest.mark.filterwarnings("ignore:the chosen gain")
def test_scripts_run(script, small_tables, no_pictures):
    """Tutorials and pictures run on small tables here; `make docs` runs them on the real ones."""
    exec(compile(script.read_text("utf-8"), str(script), "exec"), {"__name__": "__main__"})


def test_every_block_has_a_language():
    page_languages = {(name(page), language) for page in PAGES for language, _ in blocks(page)}
    assert {language for _, language in page_languages} <= LANGUAGES | {"text forbidden"} | {
        "{eval-rst}"
    }
    plain = [code for page in PAGES for language, code in blocks(page) if not language]
    assert [code for code in plain if re.match(r"(make|pip|properboost|python) ", code)] == []


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=name)
def test_commands_are_right(page, small_commands):
    for words in commands(page):
        small_commands(words)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)]+)\)", prose(page)):
        file, _, anchor = link.partition("#")
        if file.startswith("http"):
            continue
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        if target.is_dir():
            continue
        titles = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE) if anchor else []
        anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
        assert not anchor or anchor in anchors, link


def test_links_of_the_package_index_are_absolute(tmp_path, monkeypatch):
    """A package index shows README without the repository, so its links must be absolute."""
    for needed in ("hatch_fancy_pypi_readme", "scikit_build_core"):
        pytest.importorskip(needed)
    markdown = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    from scikit_build_core.build import prepare_metadata_for_build_wheel

    monkeypatch.chdir(ROOT)
    folder = tmp_path / prepare_metadata_for_build_wheel(str(tmp_path))
    metadata = importlib.metadata.PathDistribution(folder).metadata
    assert metadata["Description-Content-Type"] == "text/markdown"
    page = markdown.render(str(metadata.get_payload()))
    addresses = re.findall(r'(?:href|src)="([^"]*)"', page)
    assert len(addresses) > 20
    assert [address for address in addresses if not re.match("https://|#", address)] == []
    places = [re.split("/(?:blob/)?main/", link)[1] for link in addresses if "/main/" in link]
    assert [link for link in places if not (ROOT / link.partition("#")[0]).exists()] == []
    assert any(link.endswith("main/docs/readable.png") and "raw." in link for link in addresses)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_pages_name_exist(page):
    folders = "benchmarks|cpp|docs|python|tests|tools"
    pattern = rf"(?<![\w/.])(?:{folders})/(?!_build)[\w/.-]*\w"
    for path in re.findall(pattern, page.read_text("utf-8")):
        assert (ROOT / path).exists() or (page.parent / path).exists(), path
    for module in re.findall(r"python -m (benchmarks[\w.]+)", page.read_text("utf-8")):
        assert (ROOT / f"{module.replace('.', '/')}.py").exists(), module
    for header in re.findall(r"(?<=`)[\w/]+\.hpp(?=`)", page.read_text("utf-8")):
        assert list((ROOT / "cpp/include/properboost").glob(f"**/{header}")), header


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_prose_keeps_to_the_rules(page):
    text = prose(page)
    for pattern in forbidden():
        match = re.search(pattern, text, re.MULTILINE)
        assert match is None, f"{pattern} matches {match}"


@pytest.mark.parametrize(
    "folder", ["benchmarks", "cpp", "docs/examples", "python", "tests", "tools"]
)
def test_remarks_in_code_keep_to_the_rules(folder):
    paths = [p for p in (ROOT / folder).rglob("*.*") if p.suffix in (".py", ".pyi", ".hpp", ".cpp")]
    assert paths
    patterns = [re.compile(pattern, re.MULTILINE) for pattern in forbidden()]
    for path in paths:
        text = "\n\n".join(remarks(path))
        lines = re.sub(r"`+[^`\n]*`+", "", "\n".join(line.strip() for line in text.splitlines()))
        for pattern in patterns:
            match = pattern.search(lines)
            assert match is None, f"{name(path)}: {pattern} matches {match}"


def test_every_page_is_in_the_list():
    """docs/README.md is the site's navigation, so every page must be in it."""
    text = (ROOT / "docs/README.md").read_text("utf-8")
    listed = {
        (ROOT / "docs" / path).resolve()
        for path in re.findall(r"^- \[[^]]+\]\(([^)]+)", text, re.M)
    }
    pages = {*PAGES, *(ROOT / "docs/examples").iterdir()}
    entry_pages = {"README.md", "docs/README.md", "docs/index.md"}
    stand_ins = {
        f"docs/{page}.md"
        for page in ("evidence/benchmarks", "reference/changes", "design/contributing")
    }
    papers = {f"docs/papers/{paper}.md" for paper in PAPERS}
    assert {name(p) for p in pages - listed} - entry_pages - stand_ins - papers == set()
    assert all(path.exists() for path in listed)


def test_the_papers_are_found_from_their_page():
    text = (ROOT / "docs/papers/README.md").read_text("utf-8")
    assert [paper for paper in PAPERS if f"({paper}.md)" not in text] == []


def test_the_reference_has_every_name_of_the_package():
    """Modules list their names; `make docs` counts all of them, and the methods of classes."""
    text = (ROOT / "docs/reference/names.md").read_text("utf-8")
    names = [name for name in pb.__all__ if not inspect.ismodule(getattr(pb, name))]
    assert [name for name in names if f"\n   {name}\n" not in text] == []


@pytest.mark.parametrize("kind", [pb.ProperBoostClassifier, pb.ProperBoostClassifierCV])
def test_help_of_the_main_classes_is_short(kind):
    assert len(inspect.getdoc(kind).split()) <= 1500
    assert len(pydoc.plain(pydoc.render_doc(kind)).split()) <= 7500
    for name, member in inspect.getmembers(kind, inspect.isfunction):
        if member.__module__.startswith("properboost."):
            assert len((inspect.getdoc(member) or "").split()) <= 150, name
