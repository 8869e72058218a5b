"""Agreement between files that no compiler or type checker reads together."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import properboost
from properboost import _core

ROOT = Path(__file__).resolve().parents[2]

# Each axis: the folder of its choices, and the engine's names.
AXES = {
    "losses": _core.loss_names,
    "learners": _core.weak_learner_names,
    "responses": _core.response_names,
    "steps": lambda: [*_core.step_names(), *_core.vote_step_names()],
    "votes": _core.vote_names,
    "rado/regularizers": _core.regularizer_names,
}


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def check_openmp(root):
    script = ROOT / "tools" / "check_openmp.py"
    return subprocess.run(
        [sys.executable, script, root], capture_output=True, text=True, timeout=300
    )


def test_version_is_the_same_everywhere():
    version = tomllib.loads(read("pyproject.toml"))["project"]["version"]
    assert properboost.__version__ == version
    assert importlib.metadata.version("properboost") == version
    assert re.search(r"set\(SKBUILD_PROJECT_VERSION (\S+)\)", read("CMakeLists.txt"))[1] == version
    assert re.search(r"^## \[(\d\S*)\]", read("CHANGELOG.md"), re.MULTILINE)[1] == version


@pytest.mark.parametrize("axis", AXES)
def test_every_choice_is_registered(axis):
    declared = {}
    for header in (ROOT / "cpp/include/properboost" / axis).glob("*.hpp"):
        for name in re.findall(r'\bconst char\* name = "(\w+)";', header.read_text("utf-8")):
            declared[name] = header.name
    names = AXES[axis]()
    assert set(declared) == set(names), f"headers: {declared}; registry.hpp: {names}"


def test_every_engine_loss_has_a_public_class():
    assert set(_core.loss_names()) <= set(properboost.losses.LOSSES)


@pytest.mark.parametrize("axis", AXES)
def test_every_choice_is_documented(axis):
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    assert [name for name in AXES[axis]() if f"`{name}`" not in text] == []


def test_every_source_is_compiled():
    text = re.sub(
        r"foreach\(name ([^)]*)\)(.*?)endforeach\(\)",
        lambda loop: "".join(loop[2].replace("${name}", name) for name in loop[1].split()),
        read("CMakeLists.txt"),
        flags=re.DOTALL,
    )
    listed = set(re.findall(r"\bcpp/\S+\.cpp\b", text))
    assert listed == {path.relative_to(ROOT).as_posix() for path in (ROOT / "cpp").rglob("*.cpp")}


def test_openmp_stands_in_one_header():
    check = check_openmp(ROOT)
    assert check.returncode == 0, check.stderr


@pytest.mark.parametrize(
    ("file", "line", "complaint"),
    [
        ("core/region.hpp", "#pragma omp parallel num_threads(n)", None),
        ("core/region.hpp", "#pragma omp parallel \\\n    num_threads(n)", None),
        (
            "core/region.hpp",
            "#pragma omp parallel for",
            "region.hpp:2: parallel region without",
        ),
        ("core/region.hpp", "// #pragma omp parallel for", "no OpenMP pragma found"),
        ("booster.hpp", "#pragma omp parallel num_threads(n)", "booster.hpp:2: OpenMP pragma"),
        ("booster.hpp", "  #  pragma omp simd", "booster.hpp:2: OpenMP pragma outside"),
        ("booster.hpp", '_Pragma("omp parallel num_threads(n)")', "booster.hpp:2: OpenMP pragma"),
    ],
)
def test_openmp_check_sees(tmp_path, file, line, complaint):
    headers = tmp_path / "cpp" / "include" / "properboost"
    (headers / "core").mkdir(parents=True)
    (headers / "core/region.hpp").write_text("#pragma once\n#pragma omp parallel num_threads(n)\n")
    (headers / file).write_text(f"#pragma once\n{line}\n")
    check = check_openmp(tmp_path)
    assert (complaint or "") in check.stderr
    assert check.returncode == (1 if complaint else 0)


def test_package_data_is_installed():
    installed = {str(file) for file in importlib.metadata.files("properboost")}
    typed = {"properboost/py.typed", "properboost/_core.pyi"}
    assert typed | {"properboost/native_losses.pxd"} <= installed


def test_continuous_integration_runs_the_commands_of_the_readme():
    assert "make test" in read("README.md")
    assert re.search(r"^make test$", read(".ci/run"), re.MULTILINE)


def test_the_package_itself_imports_no_table_or_plot_library():
    # scikit-learn may import pandas, so only the imports of this package's modules count.
    code = """
import builtins
real = builtins.__import__
def spy(name, scope=None, *rest):
    asks = (scope or {}).get("__name__", "").startswith("properboost")
    if asks and name.split(".")[0] in ("pandas", "polars", "pyarrow", "matplotlib", "tqdm"):
        print(scope["__name__"], "imports", name)
    return real(name, scope, *rest)
builtins.__import__ = spy
import properboost, properboost.plots, sys
print(properboost.__version__, "matplotlib" in sys.modules)
"""
    command = [sys.executable, "-c", code]
    output = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert output.stdout.split() == [properboost.__version__, "False"]
