"""Somebody works in a shell: files in, files out, and no Python."""

# ruff: noqa: SIM905 - lines are as they are typed in a shell

import gzip
import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import properboost as pb
from properboost.__main__ import main


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, customers):
    """Change to a folder with files of last month's and this month's customers."""
    monkeypatch.chdir(tmp_path)
    X, y = customers
    table = X.assign(customer=range(len(y)), left=y)
    for name, rows in {"last": table[:160], "this": table[160:]}.items():
        rows.to_csv(f"{name}.csv", index=False)
        rows.to_parquet(f"{name}.parquet")
        rows.reset_index(drop=True).to_feather(f"{name}.arrow")


def test_i_fit_a_csv_file_and_predict_another(capsys):
    assert main("fit last.csv --target left --drop customer --effort none".split()) == 0
    assert "log loss" in capsys.readouterr().out
    assert main("predict model.json this.csv --output predicted.csv".split()) == 0
    predicted = pd.read_csv("predicted.csv")
    assert list(predicted.columns) == ["class", "p_leaves", "p_stays"]
    assert (predicted["class"] == pd.read_csv("this.csv")["left"]).mean() > 0.95


def test_it_compares_families_of_models_for_me(capsys):
    assert main("fit last.csv --target left --drop customer --effort 1".split()) == 0
    assert "tables" in capsys.readouterr().out


def test_i_am_told_what_happens_and_what_comes_next(capsys):
    fit = "fit last.csv --target left --drop customer --effort 1 --time-limit 20"
    assert main(fit.split()) == 0
    out = capsys.readouterr().out
    assert out.startswith("last.csv: 160 rows, ")
    assert "This takes at most 20 seconds." in out
    order = ["classes of left", "Compares ", "Wrote the model", " fold", "chosen ", "Next:"]
    places = [out.index(words) for words in order]
    assert places == sorted(places)
    assert "\nheld out" not in out  # the search's own folds are enough
    assert "  properboost report model.json" in out


def test_i_get_sets_of_classes_from_rows_that_i_kept_back():
    pd.read_csv("this.csv")[:20].to_csv("kept.csv", index=False)
    assert main("fit last.csv --target left --drop customer --effort none".split()) == 0
    sets = "predict model.json this.csv --output s.csv --set 0.9 --calibration kept.csv"
    assert main([*sets.split(), "--target", "left"]) == 0
    written, rows = pd.read_csv("s.csv")[20:], pd.read_csv("this.csv")[20:]
    right = np.where(rows["left"] == "stays", written["set_stays"], written["set_leaves"])
    assert right.mean() > 0.8


def test_i_see_what_would_keep_a_customer():
    assert main("fit last.csv --target left --drop customer --effort none".split()) == 0
    changes = "predict model.json this.csv --changes --to stays --output c.csv"
    assert main(changes.split()) == 0
    leaving = pd.read_csv("c.csv").query("`class` == 'leaves'")
    turned = leaving[leaving["changed_class"] == "stays"]
    assert len(turned) > 0
    assert turned.filter(like="change_").notna().any(axis=1).all()


def test_the_model_goes_on_in_python():
    main("fit last.csv --target left --drop customer --effort none".split())
    scorer = pb.load_model("model.json").compile()
    assert scorer({"age": 23, "town": "Ulm", "visits": 0}).shape == (2,)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_i_have_parquet_and_arrow_files(kind):
    pytest.importorskip("pyarrow")
    main(f"fit last.{kind} --target left --drop customer --effort none".split())
    assert main(f"predict model.json this.{kind} --output predicted.parquet".split()) == 0
    main("predict model.json this.csv --output predicted.csv".split())
    np.testing.assert_allclose(
        pd.read_parquet("predicted.parquet")["p_stays"], pd.read_csv("predicted.csv")["p_stays"]
    )


def test_i_judge_the_model_on_a_file_of_my_own(capsys):
    fit = "fit last.csv --target left --drop customer --effort none --eval this.csv --test-size 0"
    assert main(fit.split()) == 0
    assert "other file" in capsys.readouterr().out


def test_i_want_to_know_why():
    main("fit last.csv --target left --drop customer --effort none".split())
    main("predict model.json this.csv --explain --output why.csv".split())
    why = pd.read_csv("why.csv")
    added = why[[c for c in why.columns if c.startswith("contribution_")]].sum(axis=1)
    odds = why["p_stays"] / why["p_leaves"]
    np.testing.assert_allclose(why["baseline_stays"] + added, np.log(odds), atol=1e-9)


def test_i_want_an_interval_around_each_probability():
    main("fit last.csv --target left --drop customer --effort none --outer-bags 8".split())
    main("predict model.json this.csv --proba --interval 0.9 --output p.csv".split())
    p = pd.read_csv("p.csv")
    assert (p["low_stays"] <= p["p_stays"]).all()


def test_a_numeric_target_of_many_values_is_refused(capsys):
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.integers(17, 90, 300), "pay": rng.random(300)})
    people.to_csv("pay.csv", index=False)
    assert main("fit pay.csv --target age --effort none".split()) == 1
    assert "--many-classes" in capsys.readouterr().err
    assert not Path("model.json").exists()


def test_letters_are_classes_by_default(capsys):
    X, y = pb.datasets.load_letter(subset="train", return_X_y=True, as_frame=True)
    X.assign(letter=[chr(ord("A") + k) for k in y])[:1500].to_csv("letters.csv", index=False)
    fit = "fit letters.csv --target letter --effort none --n-estimators 3 --test-size 0"
    assert main(fit.split()) == 0, capsys.readouterr().err


def test_the_columns_are_listed_if_i_name_no_target(capsys):
    with pytest.raises(SystemExit, match="2"):
        main("fit last.csv".split())
    columns = ", ".join(map(repr, pd.read_csv("last.csv").columns))
    assert f"required: --target; the columns are {columns} (see" in capsys.readouterr().err


def test_nothing_is_overwritten_unless_i_say_so(capsys):
    fit = "fit last.csv --target left --drop customer --effort none"
    main(fit.split())
    before = Path("model.json").read_bytes()
    assert main([*fit.split(), "--gain", "2"]) == 1
    assert "--force" in capsys.readouterr().err
    assert Path("model.json").read_bytes() == before
    assert main([*fit.split(), "--gain", "2", "--force"]) == 0
    assert pb.load_model("model.json").gain == 2.0


def test_a_model_that_ends_with_gz_is_packed():
    main("fit last.csv --target left --effort none --output m.json.gz --compact".split())
    assert json.loads(gzip.decompress(Path("m.json.gz").read_bytes()))
    assert main("predict m.json.gz this.csv --output predicted.csv".split()) == 0


def test_what_is_in_this_file(capsys):
    main("fit last.csv --target left --drop customer --effort none".split())
    capsys.readouterr()
    assert main("inspect model.json".split()) == 0
    output = capsys.readouterr().out
    assert "ProperBoostClassifier" in output
    assert "town" in output
    assert main("inspect model.json --json".split()) == 0
    assert json.loads(capsys.readouterr().out)


def test_a_schema_of_model_files(capsys):
    assert main(["schema"]) == 0
    assert "$schema" in json.loads(capsys.readouterr().out)


def test_rows_come_through_a_pipe(monkeypatch, capsys):
    main("fit last.csv --target left --drop customer --effort none".split())
    capsys.readouterr()
    rows = io.TextIOWrapper(io.BytesIO(Path("this.csv").read_bytes()))
    monkeypatch.setattr(sys, "stdin", rows)
    assert main("predict model.json -".split()) == 0
    assert capsys.readouterr().out.startswith("class,p_leaves,p_stays\n")


def test_what_is_wrong_is_one_line_on_stderr(capsys):
    assert main("fit last.csv --target lefft --effort none".split()) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("properboost: error: ")
    assert "lefft" in output.err
    assert output.err.count("\n") == 1


def test_a_file_that_is_not_there(capsys):
    assert main("fit lost.csv --target left".split()) == 1
    assert "lost.csv" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--target left --num-leaves 31", "--max-leaf-nodes"),
        ("--target left --timeout 20", "--time-limit"),
        ("--label left", "--target"),
        ("-y left", "--target"),
    ],
)
def test_an_option_has_another_name_elsewhere(typed, meant, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["fit", "last.csv", *typed.split()])
    assert f"did you mean {meant}?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda text: text.replace(",", ";"), "--sep ';' splits its cells"),
        (lambda text: text.replace("left", "Left"), "did you mean 'Left'?"),
        (lambda text: text.partition("\n")[2], "first line of the file must name its columns"),
        (lambda text: "".join(f",{line}\n" for line in text.splitlines()), "index=False"),
        (lambda text: text.replace("age", "visits"), "the header has 'visits' more than once"),
        (lambda text: text.replace("stays", "leaves"), "holds one class only: 'leaves'"),
        (lambda text: text.replace("stays", "0.5").replace("leaves", "1"), "no regression"),
        (lambda _: "", "the file is empty"),
    ],
    ids=["sep", "case", "header", "index", "twice", "class", "fractions", "empty"],
)
def test_the_error_has_the_mistake_in_my_file(change, line, capsys):
    Path("last.csv").write_text(change(Path("last.csv").read_text()))
    assert main("fit last.csv --target left --effort none".split()) == 1
    error = capsys.readouterr().err
    assert line in error
    assert error.count("\n") == 1


def test_a_column_is_missing_from_the_new_rows(capsys):
    main("fit last.csv --target left --drop customer --effort none".split())
    pd.read_csv("this.csv").drop(columns="town").to_csv("short.csv", index=False)
    capsys.readouterr()
    assert main("predict model.json short.csv".split()) == 1
    assert "town" in capsys.readouterr().err


def test_a_new_category_is_noted(capsys):
    main("fit last.csv --target left --drop customer --effort none".split())
    pd.read_csv("this.csv").assign(town="Rome").to_csv("new.csv", index=False)
    capsys.readouterr()
    assert main("predict model.json new.csv".split()) == 0
    assert "note: " in capsys.readouterr().err


def test_every_option_of_fit_is_in_the_documents(capsys):
    page = Path(__file__).resolve().parents[2] / "docs/reference/command_line.md"
    with pytest.raises(SystemExit, match="0"):
        main("fit --help".split())
    options = {word.strip("[],.:|()") for word in capsys.readouterr().out.split()}
    text = page.read_text("utf-8")
    for option in sorted(word for word in options if word.startswith("--")):
        name = option.removeprefix("--").removeprefix("no-")
        assert f"--{name}" in text or f"--no-{name}" in text, option


# -- files of others ------------------------------------------------------------------------------


def test_my_file_comes_from_a_german_spreadsheet(capsys, customers):
    X, y = customers
    spent = [
        f"{1000 + 37.5 * k:,.2f} €".translate(str.maketrans(",.", ".,")) for k in range(len(y))
    ]
    rows = X.assign(spent=spent, left=y)
    rows.to_csv("kunden.csv", index=False, sep=";", decimal=",", encoding="cp1252")
    arguments = "fit kunden.csv --sep ; --target left --effort none".split()
    assert main(arguments) == 1
    assert "--encoding" in capsys.readouterr().err
    assert main([*arguments, "--encoding", "cp1252"]) == 0
    assert "--decimal , --thousands . --units '€'" in capsys.readouterr().err
    options = "--encoding cp1252 --decimal , --thousands . --units € --force".split()
    assert main([*arguments, *options]) == 0
    assert capsys.readouterr().err == ""
    assert main("predict model.json kunden.csv --sep ; --encoding cp1252".split()) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(y) + 1


def test_my_file_was_cut_off(capsys):
    whole = Path("last.csv").read_text()
    Path("last.csv").write_text(whole[: whole.rindex(",", 0, -9) - 1])
    assert main("fit last.csv --target left --effort none".split()) == 1
    assert "last.csv: line 161 has " in capsys.readouterr().err


def test_my_folders_are_named_by_town(capsys, customers):
    pytest.importorskip("pyarrow")
    X, y = customers
    rows = X.assign(left=y)
    rows.to_parquet("rows", partition_cols=["town"], index=False)
    assert main("fit rows --target left --effort none".split()) == 0
    assert "town" in pb.load_model("model.json").feature_names_in_
    table = pb.QuantizedTable.from_batches("rows", label="left")
    assert "town" in table.feature_names
