"""Other libraries' words: the code that messages advise exists, and the page agrees."""

import ast
import inspect
import re
from itertools import groupby
from pathlib import Path

import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

import properboost as pb
from properboost.parameters.flat import COMPONENTS, OWNERS
from properboost.parameters.learners import LEARNERS, RENAMED
from properboost.parameters.words import (
    CLASSES,
    IN_SEARCHES,
    LIBRARIES,
    MOVED,
    OBJECTS,
    VALUES,
    WORDS,
    advise,
)

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/parameters.md"
BLOCK = re.compile(r"(<!-- words: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)

NONE = "no counterpart"
TREE_OR_RULE = "pb.Tree({0}=...) or pb.Rule({0}=...)"

# The twenty most used keywords of each library, by its documentation, and a part of the answer;
# "same" marks a word that is a parameter here, too.
PEERS = {
    "LightGBM": {
        "num_leaves": "weak_learner=pb.Tree(max_leaf_nodes=...)",
        "num_iterations": "n_estimators=...",
        "learning_rate": "same",
        "max_depth": "weak_learner=pb.Tree(max_depth=...)",
        "min_data_in_leaf": "weak_learner=pb.Tree(min_child_weight=...) here: a least weight",
        "min_sum_hessian_in_leaf": TREE_OR_RULE.format("min_child_weight"),
        "bagging_fraction": TREE_OR_RULE.format("subsample"),
        "bagging_freq": f"{NONE} here: pb.Tree(subsample=...) draws rows",
        "feature_fraction": f"{TREE_OR_RULE.format('max_features')} here: features are drawn",
        "lambda_l1": f"{NONE} here: there is no L1 penalty",
        "lambda_l2": 'response="newton", l2=...',
        "min_gain_to_split": f"{NONE} here: a node is split where that saves anything",
        "max_bin": "max_bins=...",
        "objective": "loss=...",
        "metric": "early_stopping=pb.EarlyStopping(scoring=...)",
        "early_stopping_round": "early_stopping=pb.EarlyStopping(n_iter_no_change=...)",
        "is_unbalance": 'class_weight="balanced"',
        "boosting": 'weak_learner="tree" here: the trees of gbdt',
        "categorical_feature": "categorical_features=...",
        "num_threads": "n_jobs=...",
    },
    "XGBoost": {
        "n_estimators": "same",
        "eta": "learning_rate=...",
        "max_depth": "weak_learner=pb.Tree(max_depth=...)",
        "max_leaves": "weak_learner=pb.Tree(max_leaf_nodes=...)",
        "grow_policy": "weak_learner=pb.Tree(grow_policy=...)",
        "min_child_weight": TREE_OR_RULE.format("min_child_weight"),
        "gamma": f"{NONE} here: a node is split where that saves anything",
        "subsample": TREE_OR_RULE.format("subsample"),
        "colsample_bytree": f"{TREE_OR_RULE.format('max_features')} here: features are drawn",
        "colsample_bynode": TREE_OR_RULE.format("max_features"),
        "reg_lambda": 'response="newton", l2=...',
        "reg_alpha": f"{NONE} here: there is no L1 penalty",
        "scale_pos_weight": "class_weight={positive: ...}",
        "max_bin": "max_bins=...",
        "tree_method": f"{NONE} here: features are always cut into bins",
        "objective": "loss=...",
        "eval_metric": "early_stopping=pb.EarlyStopping(scoring=...)",
        "early_stopping_rounds": "early_stopping=pb.EarlyStopping(n_iter_no_change=...)",
        "monotone_constraints": "monotonic_cst=...",
        "interaction_constraints": "weak_learner=pb.Tree(interaction_cst=[...])",
    },
    "CatBoost": {
        "iterations": "n_estimators=...",
        "learning_rate": "same",
        "depth": 'weak_learner=pb.Tree(grow_policy="symmetric", max_depth=...)',
        "l2_leaf_reg": 'response="newton", l2=...',
        "loss_function": "loss=...",
        "eval_metric": "early_stopping=pb.EarlyStopping(scoring=...)",
        "random_seed": "random_state=...",
        "border_count": "max_bins=...",
        "rsm": TREE_OR_RULE.format("max_features"),
        "subsample": TREE_OR_RULE.format("subsample"),
        "bootstrap_type": f"{NONE} here: pb.Tree(subsample=...) draws rows",
        "bagging_temperature": f"{NONE} here: pb.Tree(subsample=...) draws rows",
        "random_strength": f"{NONE} here: every cut of a feature is compared",
        "grow_policy": "weak_learner=pb.Tree(grow_policy=...)",
        "min_data_in_leaf": "weak_learner=pb.Tree(min_child_weight=...)",
        "max_leaves": "weak_learner=pb.Tree(max_leaf_nodes=...)",
        "cat_features": "categorical_features=...",
        "one_hot_max_size": f"{NONE} here: every category has a bin",
        "auto_class_weights": 'class_weight="balanced"',
        "od_wait": "early_stopping=pb.EarlyStopping(n_iter_no_change=...)",
    },
    "scikit-learn": {
        "loss": "same",
        "learning_rate": "same",
        "max_iter": "n_estimators=...",
        "max_leaf_nodes": "weak_learner=pb.Tree(max_leaf_nodes=...)",
        "max_depth": "weak_learner=pb.Tree(max_depth=...)",
        "min_samples_leaf": "weak_learner=pb.Tree(min_child_weight=...) here: a least weight",
        "l2_regularization": 'response="newton", l2=...',
        "max_features": TREE_OR_RULE.format("max_features"),
        "max_bins": "same",
        "categorical_features": "same",
        "monotonic_cst": "same",
        "interaction_cst": "weak_learner=pb.Tree(interaction_cst=...)",
        "warm_start": "same",
        "early_stopping": "same",
        "scoring": "early_stopping=pb.EarlyStopping(scoring=...)",
        "validation_fraction": "early_stopping=pb.EarlyStopping(validation_fraction=...)",
        "n_iter_no_change": "early_stopping=pb.EarlyStopping(n_iter_no_change=...)",
        "tol": "early_stopping=pb.EarlyStopping(tol=...)",
        "random_state": "same",
        "class_weight": "same",
    },
    "InterpretML": {
        "feature_types": "categorical_features=...",
        "max_bins": "same",
        "max_interaction_bins": f"{NONE} here: the grid of a pair",
        "interactions": "same",
        "exclude": f"{NONE} here: leave the columns out",
        "validation_size": "early_stopping=pb.EarlyStopping(validation_fraction=...)",
        "outer_bags": "same",
        "inner_bags": f"{NONE} here: outer_bags=... has no bags inside bags",
        "learning_rate": "same",
        "greedy_ratio": "selection=...",
        "smoothing_rounds": "weak_learner=pb.Table(smoothing=...)",
        "interaction_smoothing_rounds": "interactions=pb.Interactions(smoothing=...)",
        "max_rounds": "n_estimators=...",
        "early_stopping_rounds": "early_stopping=pb.EarlyStopping(n_iter_no_change=...)",
        "early_stopping_tolerance": "early_stopping=pb.EarlyStopping(tol=...)",
        "min_samples_leaf": "rows_per_bin=...",
        "min_hessian": f"{NONE} here: cells of look-up tables have no least weight",
        "max_leaves": "weak_learner=pb.Table(max_cells=...)",
        "objective": "loss=...",
        "monotone_constraints": "monotonic_cst=...",
    },
}
CASES = [(library, *case) for library, words in PEERS.items() for case in words.items()]


def list_parameters(cls):
    return inspect.signature(cls).parameters


CLASSIFIER = list_parameters(pb.ProperBoostClassifier)
SEARCH = list_parameters(pb.ProperBoostClassifierCV)
FIELDS = {cls: list_parameters(getattr(pb, cls)) for cls in CLASSES}


# -- words of other libraries ----------------------------------------------------------------------


def test_twenty_words_of_each_library():
    assert list(PEERS) == list(LIBRARIES.values())
    assert {library: len(words) for library, words in PEERS.items()} == dict.fromkeys(PEERS, 20)
    table = {(word.library, word.word) for word in WORDS}
    assert {(library, word) for library, word, _ in CASES} <= table
    assert len(table) == len(WORDS)


@pytest.mark.parametrize(("library", "word", "part"), CASES)
def test_words_are_answered(library, word, part):
    if part == "same":
        assert word in CLASSIFIER
        return
    answer = advise(word, CLASSIFIER)
    assert part in answer
    # A name that is also a field of ours is answered without a library.
    assert answer.startswith("write ") or f"{library}'s" in answer


def test_the_constructor_answers():
    message = "ProperBoostClassifier has no parameter 'num_leaves': LightGBM's and CatBoost's num_"
    with pytest.raises(TypeError, match=re.escape(message)):
        pb.ProperBoostClassifier(num_leaves=31, weak_learner="table")
    with pytest.raises(TypeError, match=re.escape("max_leaf_nodes=... here")):
        pb.Tree(num_leaves=31)
    with pytest.raises(TypeError, match=re.escape('space={"weak_learner__max_leaf_nodes": [...]}')):
        pb.ProperBoostClassifierCV(num_leaves=31)


def test_scikit_learns_words_are_its_parameters():
    booster = HistGradientBoostingClassifier
    theirs = {*list_parameters(booster), *inspect.signature(booster.fit).parameters}
    assert {word.word for word in WORDS if word.library == "scikit-learn"} == theirs - {
        "self", "X", "y",
    }  # fmt: skip


def test_words_of_several_libraries():
    assert advise("reg_alpha", CLASSIFIER).startswith("LightGBM's, XGBoost's and InterpretML's ")
    both = advise("max_leaves", CLASSIFIER)
    assert both == (
        "LightGBM's, XGBoost's and CatBoost's max_leaves is "
        "weak_learner=pb.Tree(max_leaf_nodes=...) here; InterpretML's max_leaves is "
        "weak_learner=pb.Table(max_cells=...) here"
    )


# -- the code that is advised ----------------------------------------------------------------------


def list_code():
    """Return every piece of code of the table: the advice, and the notes' words in backticks."""
    for word in WORDS:
        yield from filter(None, (word.advice, *re.findall(r"`([^`]+)`", word.note)))
    yield from MOVED.values()


def check_code(code):
    """Keywords are parameters of the classifier, objects have their fields, methods exist."""
    call = ast.parse(f"_({code})", mode="eval").body
    assert [entry.arg for entry in call.keywords if entry.arg not in CLASSIFIER] == []
    for node in ast.walk(call):
        if not isinstance(node, ast.Call) or node is call:
            continue
        names = {entry.arg for entry in node.keywords}
        called = ast.unparse(node.func)
        if called.startswith("pb.losses."):
            assert callable(getattr(pb.losses, called.removeprefix("pb.losses.")))
        elif called.startswith("pb."):
            assert names <= FIELDS[called.removeprefix("pb.")].keys()
        else:
            method = getattr(pb.ProperBoostClassifier, called)
            assert names <= inspect.signature(method).parameters.keys()


@pytest.mark.parametrize("code", sorted({code for code in list_code() if "=" in code}))
def test_code_is_right(code):
    if code == "validation_fraction=...":  # next to the object that has it
        assert "validation_fraction" in FIELDS["EarlyStopping"]
        return
    check_code(code)


def test_other_names_in_notes_exist():
    names = {code for code in list_code() if code.isidentifier()}
    arguments = {"X", "y", *inspect.signature(pb.ProperBoostClassifier.fit).parameters}
    members = {name for name in names if hasattr(pb.ProperBoostClassifier, name)}
    assert names <= arguments | members | {"feature_importances_"} | CLASSIFIER.keys()


def test_objects_are_those_that_parameters_may_be():
    assert OBJECTS["weak_learner"] == tuple(cls.__name__ for cls in LEARNERS.values())
    for parameter, classes in OBJECTS.items():
        for cls in classes:
            made = getattr(pb, cls)()
            assert pb.ProperBoostClassifier(**{parameter: made}).get_params()[parameter] is made


# -- names of ours ---------------------------------------------------------------------------------


def list_homes():
    """Return every field with the parameters and the classes that have it."""
    homes = {}
    for parameter, classes in OBJECTS.items():
        for cls in classes:
            for field in FIELDS[cls]:
                homes.setdefault(field, {}).setdefault(parameter, []).append(cls)
    return homes


@pytest.mark.parametrize(("field", "homes"), list_homes().items())
def test_fields_that_are_given_flat(field, homes):
    if field in CLASSIFIER:
        return
    places = [
        f"{parameter}={' or '.join(f'pb.{cls}({field}=...)' for cls in classes)}"
        for parameter, classes in homes.items()
    ]
    assert advise(field, CLASSIFIER) == f"write {' or '.join(places)}"
    with pytest.raises(TypeError, match=field):
        pb.ProperBoostClassifier(**{field: 1})


@pytest.mark.parametrize("name", MOVED)
def test_earlier_names(name):
    assert advise(name, CLASSIFIER) == f"write {MOVED[name]}"


def test_earlier_names_of_a_search():
    assert advise("gains", SEARCH) == 'write space={"gain": [...]}'
    assert advise("priors", SEARCH) == 'write space={"prior": [...]}'
    assert 'space={"weak_learner__smoothing": [...]}' in advise("smoothings", SEARCH)
    assert advise("alphas", SEARCH) == (
        'write space={"loss": [pb.losses.get_loss("alpha", alpha=...)]}'
    )


@pytest.mark.parametrize(("value", "ours"), VALUES.items())
def test_values_under_other_names(value, ours):
    assert advise(value, ("another", ours)) == f"{value!r} is {ours!r} here"
    assert advise(value, ("another",)) == ""


def test_names_that_are_misspelt():
    assert advise("learnig_rate", CLASSIFIER) == "did you mean learning_rate?"
    assert advise("max_leaf_node", CLASSIFIER) == (
        "did you mean max_leaf_nodes? Write weak_learner=pb.Tree(max_leaf_nodes=...)"
    )
    assert advise("max_leaf_node", FIELDS["Tree"]) == "did you mean max_leaf_nodes?"
    assert advise("nonsense", CLASSIFIER) == ""


# -- other classes ---------------------------------------------------------------------------------


def test_advice_for_a_search_names_its_space():
    assert advise("learning_rate", SEARCH) == 'write space={"learning_rate": [...]}'
    assert advise("max_depth", SEARCH) == (
        'write space={"weak_learner": pb.Tree(max_depth=...)} or '
        'space={"weak_learner__max_depth": [...]}'
    )
    assert advise("bagging_fraction", SEARCH) == (
        "LightGBM's bagging_fraction is "
        'space={"weak_learner": [pb.Tree(subsample=...), pb.Rule(subsample=...)]} or '
        'space={"weak_learner__subsample": [...]} here'
    )
    assert 'space={"response": "newton", "l2": [...]}' in advise("lambda_l2", SEARCH)
    assert "max_bins=..." in advise("max_bin", SEARCH)
    assert advise("od_wait", SEARCH) == "CatBoost's od_wait is n_iter_no_change=... here"


def test_advice_for_a_search_names_its_counterparts():
    searched = [name for name in CLASSIFIER if name not in SEARCH and name not in IN_SEARCHES]
    for name in searched:
        assert advise(name, SEARCH) == f'write space={{"{name}": [...]}}'
    assert "cv=... chooses the held-out rows" in advise("validation_fraction", SEARCH)
    assert "cv=..." in advise("eval_set", SEARCH)
    assert "calibrate=..." in advise("temperature", SEARCH)
    for advice in IN_SEARCHES.values():
        assert set(re.findall(r"(\w+)=\.\.\.", advice)) <= SEARCH.keys()


def test_nested_names_of_a_constructor():
    assert advise("weak_learner__max_depth", CLASSIFIER) == (
        "write weak_learner=pb.Tree(max_depth=...), or set_params(weak_learner__max_depth=...)"
    )
    assert advise("weak_learner__max_dept", CLASSIFIER) == ("did you mean weak_learner__max_depth?")
    assert advise("early_stopping__nonsense", CLASSIFIER) == (
        "the fields of early_stopping are validation_fraction, n_iter_no_change, tol and scoring"
    )
    flat = list_parameters(pb.ARBoostClassifier)
    assert advise("weak_learner__max_depth", flat) == "write max_depth=..."


def test_set_params_is_not_advised_where_it_fails():
    smooth = "write weak_learner=pb.Table(smoothing=...) or interactions=pb.Interactions(smoothing="
    assert advise("gain__smoothing", CLASSIFIER) == f"{smooth}...)"
    assert advise("loss__gain", CLASSIFIER, "glog") == "write gain=..."
    assert (
        advise("weak_learner__pairs", CLASSIFIER) == "write interactions=pb.Interactions(pairs=...)"
    )
    assert advise("gain__nonsense", CLASSIFIER) == ""


def test_nested_names_of_a_search():
    assert advise("space__gain", SEARCH) == 'write space={"gain": [...]}'
    for name in ("weak_learner__max_depth", "space__weak_learner__max_depth"):
        assert advise(name, SEARCH) == 'write space={"weak_learner__max_depth": [...]}'
    assert advise("weak_learner__max_dept", SEARCH) == "did you mean weak_learner__max_depth?"
    assert advise("early_stopping__tol", SEARCH) == IN_SEARCHES["early_stopping"]


def test_learners_that_have_a_field_are_named():
    assert advise("weak_learner__max_depth", CLASSIFIER, "table") == (
        "set weak_learner='tree', too"
    )
    assert advise("weak_learner__subsample", CLASSIFIER, "table") == (
        "set weak_learner='tree' or 'rule', too"
    )


@pytest.mark.parametrize("word", ["n_round", "num_boost_rounds", "ntrees"])
def test_misspelt_words_of_other_libraries(word):
    assert "n_estimators=... here" in advise(word, CLASSIFIER)
    assert 'space={"n_estimators": [...]} here' in advise(word, SEARCH)


def test_estimators_of_estimators():
    made = "a search creates its classifiers"
    assert advise("estimator", SEARCH) == advise("base_estimator", SEARCH) == made
    assert advise("estimator", list_parameters(pb.ARBoostClassifier)) == "write weak_learner=..."
    assert advise("estimator", list_parameters(pb.UDTClassifier)) == ""
    assert advise("callbacks", SEARCH) == IN_SEARCHES["callbacks"]


def test_nothing_is_reported_twice():
    with pytest.raises(TypeError, match=r"no parameter 'early_stopping': cv=\.\.\."):
        pb.ProperBoostClassifierCV(early_stopping=1)


def test_owners_of_objects_are_in_one_list():
    assert OWNERS.keys() == OBJECTS.keys()
    assert tuple(COMPONENTS) == CLASSES
    assert VALUES.items() >= RENAMED.items()


def test_flat_fields_of_other_estimators():
    for cls in (pb.UDTClassifier, pb.ARBoostClassifier):
        known = list_parameters(cls)
        assert advise("num_leaves", known) == (
            "LightGBM's and CatBoost's num_leaves is max_leaf_nodes=... here"
        )
        assert advise("drop_rate", known) == advise("eval_set", known) == ""


def test_errors_of_objects_name_the_owner_of_a_field():
    assert advise("max_cells", FIELDS["Tree"]) == "max_cells is a field of pb.Table"
    assert advise("max_depth", FIELDS["Stump"]) == "max_depth is a field of pb.Tree"
    assert advise("gain", FIELDS["Table"]) == "gain is a parameter of the classifier"
    moved = "the classifier has it: weak_learner=pb.Rule(max_conditions=...)"
    assert advise("max_literals", FIELDS["Tree"]) == moved
    assert advise("max_literals", FIELDS["Rule"]) == "write max_conditions=..."
    assert advise("nonsense", FIELDS["Bags"]) == "its fields are n_bags and tables"
    assert advise("nonsense", FIELDS["Stump"]) == "it has no fields"


# -- the page --------------------------------------------------------------------------------------


def draw_table(library):
    """Return the page's table of a library: a row for the words of one answer."""
    lines = ["| word | here |", "|---|---|"]
    words = [word for word in WORDS if word.library == library]
    for (advice, note), same in groupby(words, key=lambda word: (word.advice, word.note)):
        names = ", ".join(f"`{word.word}`" for word in same)
        answer = ": ".join(filter(None, (f"`{advice}`" if advice else "none", note)))
        lines.append(f"| {names} | {answer} |")
    return "".join(f"{line}\n" for line in lines)


def fill(text):
    return BLOCK.sub(lambda m: f"{m[1]}{draw_table(m[2])}{m[3]}", text)


def test_the_page_is_written_from_the_table():
    text = PAGE.read_text("utf-8")
    assert [library for _, library, _ in BLOCK.findall(text)] == list(LIBRARIES.values())
    assert fill(text) == text, "python tests/parameters/test_words.py writes it"


def list_members():
    """Return this package's names in the page's table of fitted models."""
    text = PAGE.read_text("utf-8").partition("## Predicting and reading")[2]
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return re.findall(r"`([^`]+)`", " ".join(cells))


def test_members_of_fitted_models_exist():
    X, y = [[0.0], [1.0]] * 30, [0, 1] * 30
    fitted = pb.ProperBoostClassifier(n_estimators=2, weak_learner="table").fit(
        X, y, X_val=X, y_val=y
    )
    assert len(list_members()) > 5
    assert [name for name in list_members() if not hasattr(fitted, name)] == []


if __name__ == "__main__":
    PAGE.write_text(fill(PAGE.read_text("utf-8")), "utf-8")


@pytest.mark.parametrize(
    ("estimator", "name", "words"),
    [
        (pb.ProperBoostClassifier, "time_limit", "pb.ProperBoostClassifierCV(time_limit=...)"),
        (pb.ProperBoostClassifier, "max_time", "pb.ProperBoostClassifierCV(time_limit=...)"),
        (pb.ProperBoostClassifier, "effort", "pb.ProperBoostClassifierCV(effort=...)"),
        (pb.ProperBoostClassifierCV, "max_time", "write time_limit=..., in seconds"),
        (pb.ProperBoostClassifierCV, "n_iter", "for fewer candidates use effort=..."),
        (pb.ProperBoostClassifierCV, "param_grid", "write space={...}"),
    ],
)
def test_parameters_of_searches_are_answered(estimator, name, words):
    with pytest.raises(TypeError) as error:
        estimator(**{name: 1})
    assert words in str(error.value)
