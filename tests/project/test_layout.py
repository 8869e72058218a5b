"""A module's tests bear its name, and no test module is imported."""

import ast
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
PACKAGE = TESTS.parent / "python/properboost"

# Each item of a paper, with its measurements, has the tests of all items.
PAPERS = sorted(
    path.relative_to(PACKAGE).as_posix()
    for path in (PACKAGE / "reproduce").glob("*/*.py")
    if not path.name.startswith("__")
    and not (TESTS / path.relative_to(PACKAGE)).with_name(f"test_{path.name}").exists()
)

# Modules without a test module of their name, by the test modules that cover them.
ELSEWHERE = {
    "serving/test_load.py": [
        "estimators/linear_predicting.py", "estimators/ordered_predicting.py",
        "estimators/udt_predicting.py",
        "models/fitted_model.py", "models/rado_model.py", "models/uls_model.py",
        "models/voting.py", "serving/predictors.py", "serving/readers.py",
    ],
    "inspection/test_changes.py": ["inspection/change_search.py", "inspection/code_change.py"],
    "inspection/test_contributions.py": ["estimators/explaining.py"],
    "inspection/test_shape_functions.py": ["estimators/describing.py"],
    "estimators/test_least_cost.py": [
        "estimators/costs.py", "estimators/least_cost_file.py",
    ],
    "estimators/test_ordered.py": [
        "engine/threshold_rows.py", "estimators/ordered_file.py", "estimators/ordered_fit.py",
        "models/one_scale.py",
    ],
    "comparison/test_compare.py": [
        "comparison/estimates.py", "comparison/recalibration.py", "comparison/result.py",
        "comparison/scores.py",
    ],
    "datasets/test_assemble.py": ["datasets/_record.py"],
    "datasets/test_uci.py": ["datasets/_uci_records.py"],
    "batches/test_table_file.py": ["batches/coded_rows.py"],
    "models/test_bag_tables.py": [
        "models/bag_errors.py", "models/standard_errors.py", "models/tree_bags.py",
    ],
    "models/test_tree_terms.py": [
        "inspection/term_list.py", "models/lay_term_grids.py", "models/table_terms.py",
        "models/term_grid.py", "models/terms.py",
    ],
    "fitting/test_draws.py": ["models/averaging.py"],
    "models/test_ensemble.py": ["models/make_ensemble.py", "models/tree_ensemble.py"],
    "conformal/test_classifier.py": [
        "conformal/around.py", "conformal/around_file.py", "conformal/calibration_scores.py",
        "conformal/classifier_file.py", "conformal/held_out.py",
    ],
    "conformal/test_venn_abers_classifier.py": ["conformal/venn_abers_file.py"],
    "estimators/test_arboost.py": ["models/damped_ensemble.py"],
    "estimators/test_editing.py": [
        "models/edits.py", "models/isotonic.py", "models/table_trees.py", "persistence/edits.py",
    ],
    "estimators/test_merging.py": [
        "models/engine_terms.py", "models/joined_bins.py", "models/merged_tables.py",
        "models/merged_trees.py", "models/merging.py", "models/united_bins.py",
    ],
    "dask/test_classifier.py": ["dask/cluster_rows.py", "dask/partition_scan.py", "dask/table.py"],
    "dask/test_shards.py": ["dask/on_scheduler.py", "dask/on_worker.py"],
    "data/test_frames.py": ["data/libraries.py", "data/recorder.py", "data/table.py"],
    "data/test_labels.py": ["data/sorted_rows.py"],
    "test_scoring.py": ["data/lending.py"],
    "batches/test_quantized_table.py": ["batches/quantize.py"],
    "estimators/test_parameters.py": [
        "estimators/properboost_parameters.py", "parameters/boosting.py", "parameters/declare.py",
        "parameters/kinds.py", "parameters/rows.py", "parameters/splitters.py",
        "parameters/voting.py",
    ],
    "parameters/test_components.py": ["parameters/learners.py", "parameters/stages.py"],
    "inspection/test_html.py": ["inspection/plot_data.py"],
    "model_selection/test_cross_validation.py": [
        "model_selection/boosted_together.py", "model_selection/split_rows.py",
    ],
    "model_selection/test_limited_time.py": ["model_selection/fit_in_time.py"],
    "model_selection/test_search_cv.py": [
        "model_selection/final_model.py", "model_selection/refit.py",
        "model_selection/search_attributes.py", "model_selection/search_results.py",
        "model_selection/search_run.py",
    ],
    "model_selection/test_written.py": [
        "model_selection/combinations.py", "model_selection/space.py",
    ],
    "persistence/test_earlier_parameters.py": [
        "estimators/earlier_parameters.py", "model_selection/earlier_search.py",
        "parameters/flat.py",
    ],
    "persistence/test_files.py": [
        "estimators/boosted_file.py", "estimators/properboost_file.py", "persistence/bins.py",
        "persistence/columns.py",
        "persistence/ensembles.py", "persistence/labels.py",
        "persistence/json_reader.py", "persistence/json_writer.py", "persistence/pairs.py",
        "persistence/fitted_models.py", "persistence/parameters.py", "persistence/rado_models.py",
        "persistence/uls_models.py",
    ],
    "persistence/test_bags.py": ["persistence/standard_errors.py"],
    "persistence/test_hostile_files.py": [
        "estimators/udt_file.py", "persistence/ordered_classes.py",
        "persistence/single_trees.py", "persistence/trees.py",
    ],
    "cli/test_csv_table.py": ["cli/csv_lines.py", "cli/text_file.py"],
    "cli/test_commands.py": ["cli/errors.py", "cli/reproduce.py", "cli/shared_arguments.py"],
    "cli/test_fit.py": ["cli/fit_lines.py", "cli/fit_saved.py"],
    "cli/test_file_columns.py": ["cli/training_columns.py"],
    "cli/test_shared_work.py": ["cli/model_file.py"],
    "cli/test_inspect.py": ["cli/schema.py", "report/inventory.py"],
    "report/test_write.py": [
        "report/content.py", "report/facts.py", "report/page.py",
    ],
    "report/test_scores.py": ["report/costs.py", "report/limits.py"],
    "rado/test_estimator.py": ["estimators/linear.py"],
    "engine/test_booster.py": ["engine/learners.py", "engine/local.py", "engine/protocols.py"],
    "fitting/test_boost.py": ["fitting/stages.py"],
    "fitting/test_plan.py": ["fitting/assemble.py", "fitting/run.py", "fitting/scaling.py"],
    "estimators/test_early_stopping.py": ["estimators/labelled_rows.py"],
    "reproduce/test_pinned.py": [
        "estimators/pinned_parameters.py", "reproduce/pinned_rados.py",
        "reproduce/pinned_search.py", "reproduce/pinned_settings.py",
        "reproduce/pinned_tables.py", "reproduce/pinned_votes.py",
    ],
    "reproduce/test_items.py": ["reproduce/item.py", *PAPERS],
    "persistence/test_searches.py": [
        "model_selection/arboost_cv_file.py", "model_selection/search_cv_file.py",
        "persistence/results.py",
    ],
}  # fmt: skip


def list_modules(folder):
    return sorted(path for path in folder.rglob("*.py") if not path.name.startswith("__"))


def list_imports(path):
    """Return every part of every name that a module imports, and of the names imported from."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            for name in [*names, getattr(node, "module", None) or ""]:
                yield from name.split(".")


def test_no_test_module_is_imported():
    tests = {path.stem for path in TESTS.rglob("test_*.py")}
    imports = {path: tests.intersection(list_imports(path)) for path in list_modules(TESTS)}
    assert {path: imported for path, imported in imports.items() if imported} == {}


def test_every_module_has_tests():
    """Every module either has a test module of its name or is listed; listed tests exist."""
    elsewhere = [name for names in ELSEWHERE.values() for name in names]
    without = []
    for path in list_modules(PACKAGE):
        name = path.relative_to(PACKAGE)
        test_path = TESTS / name.parent / f"test_{name.stem.removeprefix('_')}.py"
        if not test_path.exists():
            without.append(name.as_posix())
    assert sorted(elsewhere) == sorted(without)
    assert [name for name in ELSEWHERE if not (TESTS / name).exists()] == []
