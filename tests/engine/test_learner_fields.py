"""Test fields of weak learners: the header that the build makes, and what the engine refuses."""

import re
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from helpers.engine import LEARNERS as FIELDS
from helpers.engine import assert_identical, describe_learner, problem
from properboost import _core
from properboost.parameters.declare import declared
from properboost.parameters.learners import LEARNERS

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = ROOT / "cpp" / "generate" / "learner_fields.py"

KINDS = """
Word: TypeAlias = Literal["first", "second"]
Most: TypeAlias = Literal["auto"] | int | None
"""
SHARED = """
@parameters
class Shared(Base):
    share: float = parameter(default=0.5, check=checks.share, doc="A number.")
"""
NAMED = """
@component
class Named(Shared):
    name: ClassVar[str] = "named"
"""


def generate(folder, learners, kinds=KINDS):
    """Run the generator as the build does; return the process and the path of the header."""
    for name, text in (("learners.py", learners), ("kinds.py", kinds)):
        (folder / name).write_text(text, "utf-8")
    header = folder / "generated" / "fields.hpp"
    command = [sys.executable, GENERATOR, folder / "learners.py", folder / "kinds.py", header]
    return subprocess.run(command, capture_output=True, text=True, check=False), header


def read_header(text):
    """Return the declared members of each struct, and those that its visitors get."""
    structs = {}
    parts = re.findall(r"^struct (\w+)Fields( : \w+)? \{\n(.*?)^\};", text, re.M | re.S)
    for title, base, body in parts:
        members = re.findall(r"^  ([a-z:_]+ \w+ = .*;.*)$", body, re.M)
        visited = re.findall(r'visitor\("(\w+)", \1\);', body)
        assert (f"{base[3:]}::visit(visitor);" in body) == bool(base)
        structs[title] = members, visited
    return structs


def test_every_kind_of_field_becomes_a_member(tmp_path):
    learners = f"""
{SHARED}
{NAMED}
    flag: bool = parameter(default=True)
    count: int = parameter(default=3)
    whole: float = parameter(default=2)
    tiny: float = parameter(default=1e-9)
    word: Word = parameter(default="first")
    spelled: Literal["a", 'b"c'] = parameter(default='b"c')
    limit: int | None = parameter(default=None)
    number: float | None = parameter(default=None)
    most: Most = parameter(default="auto")
    chosen: Most = parameter(default=7)
    elsewhere: int = parameter(default=1, engine=False)
    here: int = parameter(default=1, engine=True)
    constant: ClassVar[int] = 4

    def method(self) -> int:
        local: int = parameter(default=1)
        return local

@component
class Plain(Base):
    name: ClassVar[str] = "plain"

class NoLearner:
    ignored: int = parameter(default=1)
"""
    done, header = generate(tmp_path, learners)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    text = header.read_text("utf-8")
    structs = read_header(text)
    assert structs == {
        "Shared": (["double share = 0.5;"], ["share"]),
        "Named": (
            [
                "bool flag = true;",
                "std::size_t count = 3;",
                "double whole = 2.0;",
                "double tiny = 1e-09;",
                'std::string word = "first";',
                'std::string spelled = "b\\"c";',
                "std::size_t limit = 0;  // None",
                "double number = 0.0;  // None",
                'std::size_t most = 0;  // "auto"',
                "std::size_t chosen = 7;",
                "std::size_t here = 1;",
            ],
            ["flag", "count", "whole", "tiny", "word", "spelled", "limit", "number", "most",
             "chosen", "here"],
        ),
        "Plain": ([], []),
    }  # fmt: skip
    assert 'name = "named";' in text
    assert "struct NamedFields : SharedFields {" in text
    assert "using LearnerFields = std::variant<NamedFields, PlainFields>;" in text


def test_a_header_that_is_right_already_is_left_alone(tmp_path):
    """The build recompiles all files that include a newer header."""
    _, header = generate(tmp_path, SHARED + NAMED)
    before = header.stat().st_mtime_ns
    generate(tmp_path, f"\n{SHARED}{NAMED}    # A comment.\n")
    assert header.stat().st_mtime_ns == before
    generate(tmp_path, f"{SHARED}{NAMED}    depth: int = parameter(default=1)\n")
    assert "std::size_t depth = 1;" in header.read_text("utf-8")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x: int = parameter(check=f)", "x must have a default"),
        ("x: int = parameter(default=LEAST)", "the default of x must be a plain value"),
        ("share: float = parameter(default=1.0)", "share is a field of Shared already"),
        *[
            (f"x: {kind} = parameter(default={default})", f"; got {kind} and {default}")
            for kind, default in [
                ("int", "-1"),
                ("int", "1.5"),
                ("int", "True"),
                ("float", "'auto'"),
                ("bool", "1"),
                ("bool | None", "None"),
                ("str", "'a'"),
                ("Word", "'third'"),
                ("Word | None", "None"),
                ("Literal[1, 2]", "1"),
                ("Unknown", "1"),
                ("list[int]", "[1]"),
                ("int | bool", "1"),
            ]
        ],
    ],
)
def test_what_cannot_be_a_member_is_refused_where_it_stands(tmp_path, line, message):
    learners = f"{SHARED}{NAMED}    {line}\n"
    done, header = generate(tmp_path, learners)
    assert done.returncode == 1
    number = len(learners.splitlines())
    assert done.stderr.startswith(f"{tmp_path / 'learners.py'}:{number}: error: ")
    assert done.stderr.endswith(f"{message}\n")
    assert not header.exists()


@pytest.mark.parametrize(
    ("learners", "message"),
    [
        (
            f"{SHARED}{NAMED}\n@parameters\nclass Both(Shared, Named):\n    pass\n",
            r"learners.py:\d+: error: Both must have one base with fields",
        ),
        (SHARED, "learners.py: error: there are no weak learners"),
    ],
)
def test_classes_that_no_struct_can_be(tmp_path, learners, message):
    done, header = generate(tmp_path, learners)
    assert done.returncode == 1
    assert re.search(message, done.stderr)
    assert not header.exists()


def test_the_generator_names_the_fields_it_takes():
    done = subprocess.run([sys.executable, GENERATOR], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "LEARNERS KINDS HEADER" in done.stderr


# -- the fields -----------------------------------------------------------------------------------


def list_fields(kind):
    """Return the fields of a weak learner that the engine reads, and their defaults there."""
    defaults = {name: entry.default for name, entry in declared(kind).items() if entry.engine}
    return {name: 0 if value in (None, "auto") else value for name, value in defaults.items()}


def test_members_are_the_fields_that_python_declares(tmp_path):
    parameters = ROOT / "python" / "properboost" / "parameters"
    sources = [(parameters / name).read_text("utf-8") for name in ("learners.py", "kinds.py")]
    done, header = generate(tmp_path, *sources)
    assert (done.returncode, done.stderr) == (0, "")
    structs = read_header(header.read_text("utf-8"))
    for kind in LEARNERS.values():
        members, visited = [], []
        for cls in reversed(kind.__mro__):
            of_class = structs.get(cls.__name__, ([], []))
            members += of_class[0]
            visited += of_class[1]
        written = [re.match(r"\S+ (\w+) = (.*);", member).groups() for member in members]
        assert [name for name, _ in written] == visited
        expected = list_fields(kind)
        assert set(visited) == expected.keys()
        for name, text in written:
            value = expected[name]
            assert text.strip('"') == str(value).lower() or float(text) == value


@pytest.mark.parametrize("name", LEARNERS)
def test_the_engine_has_the_fields_that_python_declares(name):
    kind = LEARNERS[name]
    assert list_fields(kind).keys() == FIELDS[name].keys()
    for field, default in list_fields(kind).items():
        _core.WeakLearner({"name": name, field: default})
    for field in declared(kind).keys() - list_fields(kind).keys():
        with pytest.raises(TypeError, match=f"a weak learner '{name}' has no '{field}'"):
            _core.WeakLearner({"name": name, field: 1})
    _core.WeakLearner(kind().settle(np.array([50.0, 50.0])).describe())
    assert list(LEARNERS) == _core.weak_learner_names()


@pytest.mark.parametrize("name", LEARNERS)
def test_what_is_left_out_has_the_default(name):
    defaults = list_fields(LEARNERS[name])
    whole = fit_rounds({"name": name, **defaults})
    for settings in (
        {"name": name},
        *({"name": name, field: defaults[field]} for field in defaults),
    ):
        assert_identical(fit_rounds(settings), whole)
    if LEARNERS[name].is_grown:
        assert not np.array_equal(fit_rounds(describe_learner(name)).values, whole.values)


def fit_rounds(settings):
    codes, features, _, y = problem(0)
    order = np.argsort(y, kind="stable")
    rows = _core.Rows(
        codes[:, order].astype(np.uint8), _core.Bins(features), np.array([0, (y < 0).sum(), len(y)])
    )
    learner = _core.WeakLearner(settings)
    model = _core.Model(_core.Loss("glog", {}), learner, np.array([-1, 1], dtype=np.int8))
    boosting = _core.Boosting(rows, [model], _core.AdditiveBoosting())
    boosting.advance(4)
    return boosting.rounds(0)


# -- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", ["tree", 3, None, [("name", "tree")], {"tree"}], ids=str)
def test_settings_are_a_mapping(settings):
    with pytest.raises(TypeError, match="settings must be a mapping; got"):
        _core.WeakLearner(settings)


def test_any_mapping_will_do_and_is_left_as_it_is():
    settings = {"name": "tree", "max_depth": np.int64(3), "min_child_weight": 2}
    before = dict(settings)
    _core.WeakLearner(MappingProxyType(settings))
    _core.WeakLearner(settings)
    assert settings == before


@pytest.mark.parametrize("settings", [{}, {"name": ""}, {"name": "histogram"}], ids=str)
def test_unknown_names_are_answered_by_the_known_ones(settings):
    message = "weak_learner must be one of 'table', 'stump', 'tree', 'rule'; got '{}'"
    with pytest.raises(ValueError, match=message.format(settings.get("name", ""))):
        _core.WeakLearner(settings)


@pytest.mark.parametrize("name", LEARNERS)
def test_unknown_keys_are_refused(name):
    known = list_fields(LEARNERS[name])
    others = {field for kind in LEARNERS.values() for field in list_fields(kind)} - {"max_features"}
    for key in [*sorted(others - known.keys()), "max_leaves", "Name", ""]:
        with pytest.raises(TypeError, match=f"a weak learner '{name}' has no '{key}'"):
            _core.WeakLearner({"name": name, key: 1, **known})
    with pytest.raises(TypeError, match=f"a weak learner '{name}' has no 3"):
        _core.WeakLearner({"name": name, 3: 1})


INTEGER = "an integer between 0 and 18446744073709551615"
TYPES = {
    ("tree", "max_depth"): (INTEGER, [2.0, "2", True, None, "auto", [2]]),
    ("tree", "max_leaf_nodes"): (INTEGER, [np.float64(3.0), np.bool_(True), None]),
    ("table", "max_cells"): (INTEGER, [None, "auto", 3.0]),
    ("rule", "max_conditions"): (INTEGER, [False, 2.5]),
    ("stump", "seed"): (INTEGER, [1.0, None]),
    ("tree", "min_child_weight"): ("a number", ["1", None, True, [1.0]]),
    ("table", "smoothing"): ("a number", [None, False]),
    ("stump", "max_features"): ("a number", ["sqrt", None]),
    ("stump", "min_relative_decrease"): ("a number", ["0.5", True]),
    ("tree", "linear_leaves"): ("a bool", [0, 1, "yes", None, 1.0]),
    ("tree", "allows_for_chance"): ("a bool", [1, None]),
    ("tree", "grow_policy"): ("a string", [1, None, ["symmetric"]]),
    ("stump", "criterion"): ("a string or None", [1, ["gini"]]),
    ("stump", "directions"): ("a sequence of -1, 0 or 1", [1, "up", [0.5], [1, 200], [None], None]),
}


@pytest.mark.parametrize(("name", "key"), TYPES)
def test_other_types_are_refused_by_name(name, key):
    allowed, values = TYPES[name, key]
    for value in values:
        message = re.escape(f"{key} must be {allowed}; got {value!r}")
        with pytest.raises(TypeError, match=f"^{message}$"):
            _core.WeakLearner({"name": name, key: value})
    with pytest.raises(TypeError, match=r"^name must be a string; got 3$"):
        _core.WeakLearner({"name": 3})


NUMBERS = [-1.0, np.nan, np.inf, -np.inf]
RANGES = {
    ("table", "max_cells"): [1, 256, 2**63, -1, 2**64],
    ("table", "min_saving"): NUMBERS,
    ("table", "smoothing"): [*NUMBERS, 10_001.0],
    ("table", "max_features"): [*NUMBERS, 1.5],
    ("stump", "max_features"): [*NUMBERS, 1.5],
    ("stump", "min_relative_decrease"): [*NUMBERS, 1.5],
    ("stump", "directions"): [[9, 9], [0, -2]],
    ("stump", "criterion"): ["", "variance"],
    ("stump", "seed"): [-1, 2**64],
    ("tree", "min_child_weight"): NUMBERS,
    ("tree", "max_features"): [*NUMBERS, 1.5],
    ("tree", "subsample"): [*NUMBERS, 1.5],
    ("tree", "linear_l2"): NUMBERS,
    ("tree", "grow_policy"): ["", "level", "Symmetric"],
    ("tree", "max_leaf_nodes"): [129, 2**63, -1, 2**64],
    ("tree", "max_depth"): [-1, 2**64],
    ("rule", "max_conditions"): [0, 128, 2**63, -1, 2**64],
    ("rule", "subsample"): [*NUMBERS, 1.5],
}


@pytest.mark.parametrize(("name", "key"), RANGES)
def test_numbers_and_words_out_of_range_are_refused_by_name(name, key):
    for value in RANGES[name, key]:
        with pytest.raises(ValueError, match=f"^{key} must be "):
            _core.WeakLearner({"name": name, key: value})


@pytest.mark.parametrize("depth", [0, 8])
def test_nodes_of_levels_must_have_numbers(depth):
    settings = {"name": "tree", "grow_policy": "symmetric"}
    with pytest.raises(ValueError, match="max_depth must be at most 7 where trees grow by level"):
        _core.WeakLearner({**settings, "max_depth": depth})
    _core.WeakLearner({**settings, "max_depth": 7})
