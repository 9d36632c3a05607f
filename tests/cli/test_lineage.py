"""``summarykit lineage``: the table of runs, sorted, filtered, explained, as a page and as CSV."""

from __future__ import annotations

import csv
import json
import math
import re

import numpy as np
import pytest
from testkit.browser import ask

from summarykit import SummaryRecord
from summarykit.cli import main, spell

RATES = [10.0**power for power in range(-6, 6)]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Twelve runs: the loss goes with the learning rate alone; the seventh failed, the eighth has no evaluation."""
    directory = tmp_path_factory.mktemp("lineage")
    for number, rate in enumerate(RATES):
        with SummaryRecord(directory / f"run-{number}", formats=("tensorboard",)) as record:
            failed, name = number == 6, "train_lineage"
            record.add_value(name, name, {"network": "Net", "optimizer": "SGD", "learning_rate": rate, "loss": rate * 2})
            record.add_value("custom_lineage_data", "custom", {"width": 64 if number % 2 else 32, "activation": "relu<b>"})
            if number != 7:
                record.add_value("eval_lineage", "evaluation", {"metric": {"accuracy": 1 / (number + 1)}})
            error = {"error": "ValueError", "message": "no", "traceback": "Traceback\nValueError: no\n"} if failed else {}
            status = {"status": "FAILED" if failed else "FINISHED", "started": 100.0, "ended": 100.0 + 50 * number, **error}
            record.add_value("run_status", "status", status)
            code = {"commit": "c" * 40, "diff": "-a\n+b\n", "command": ["train.py", "--name", "two words"]}
            record.add_value("code_version", "code", {**code, "packages": {"numpy": "2.0", "torch": "2.5"}})
            record.add_value("scalar", "grad/norm", number / 2)
            record.record(number)
    return directory


def test_it_shows_in_what_runs_differ(cli, many):
    rows = cli("lineage", many).expect().rows
    assert rows[0] == ["run", "status", "duration", "learning_rate", "width", "loss", "metric/accuracy"]
    assert rows[1] == ["run-0", "FINISHED", "0 s", "1e-06", "32", "2e-06", "1"]
    assert rows[4][2] == "2 min 30 s"
    assert [row[0] for row in rows[1:]] == [f"run-{number}" for number in range(12)]


def test_sorted_and_filtered(cli, many):
    rows = cli("lineage", many, "--sort", "accuracy", "--where", "learning_rate>0.5", "--columns", "run, accuracy,grad/norm").expect().rows
    assert rows == [
        ["run", "metric/accuracy", "grad/norm"], ["run-11", "0.0833333", "5.5"], ["run-10", "0.0909091", "5"], ["run-9", "0.1", "4.5"],
        ["run-8", "0.111111", "4"], ["run-6", "0.142857", "3"], ["run-7", "3.5"],
    ]  # fmt: skip
    descending = cli("lineage", many, "--sort", "accuracy", "--descending", "--columns", "run").expect().rows
    assert [row[0] for row in descending[1:3]] == ["run-0", "run-1"]
    assert descending[-1] == ["run-7"]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("status=FAILED", [6]), ("status != FINISHED", [6]), ("width==64", [1, 3, 5, 7, 9, 11]), ("grad/norm<=0.5", [0, 1]),
        ("accuracy!=1", list(range(1, 12))), ("width=wide", []), ("run>=run-8", [8, 9]), ("activation=relu<b>", list(range(12))),
    ],
)  # fmt: skip
def test_conditions(cli, many, condition, expected):
    found = cli("lineage", many, "--where", condition, "--columns", "run").expect().rows[1:]
    assert [row[0] for row in found] == [f"run-{number}" for number in expected]


def test_a_single_run_tells_everything(cli, many):
    out = cli("lineage", many / "run-6").expect().out
    assert re.search(r"^optimizer +SGD$", out, re.MULTILINE)
    assert re.search(r"^duration +5 min 00 s$", out, re.MULTILINE)
    assert re.search(r"^command +train.py --name 'two words'$", out, re.MULTILINE)
    assert re.search(r"^diff +2 lines$", out, re.MULTILINE)
    assert re.search(r"^packages +numpy 2.0, torch 2.5$", out, re.MULTILINE)
    assert out.endswith("Traceback\nValueError: no\n")
    everything = cli("lineage", many / "run-6", "--json").json["lineage"]
    assert (everything["code"]["diff"], everything["traceback"]) == ("-a\n+b\n", "Traceback\nValueError: no\n")


def test_json_has_every_column(cli, many):
    runs = cli("lineage", many, "--json", "--run", "run-[67]").json["runs"]
    assert [each["run"] for each in runs] == ["run-6", "run-7"]
    assert runs[0]["metric/accuracy"] == 1 / 7
    assert runs[1]["metric/accuracy"] is None
    assert runs[0]["error"] == "ValueError"


def test_importance(cli, many):
    pytest.importorskip("sklearn")
    found = cli("lineage", many, "--json", "--importance", "loss").json["importance"]
    assert next(iter(found["scores"])) == "learning_rate"
    assert "forest" in found["method"]
    out = cli("lineage", many, "--importance", "loss", "--where", "learning_rate<0.01").expect().out
    assert "loss: size of Spearman's rank correlation" in out
    assert re.search(r"learning_rate +1\.000", out)


def test_csv(cli, many, tmp_path):
    cli("lineage", many, "--csv", tmp_path / "runs.csv").expect()
    with open(tmp_path / "runs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["learning_rate"]) for row in rows] == RATES
    assert rows[7]["metric/accuracy"] == ""


def data_of(text):
    return json.loads(text.partition('id="data">')[2].partition("</script>")[0])


def test_a_page_that_loads_nothing(cli, many, tmp_path):
    cli("lineage", many, "--html", tmp_path / "runs.html", "--importance", "accuracy").expect()
    text = (tmp_path / "runs.html").read_text("ascii")
    assert "http" not in text.replace("http-equiv", "")
    data = data_of(text)
    assert data["names"] == [f"run-{number}" for number in range(12)]
    assert data["axes"] == ["learning_rate", "width", "loss", "metric/accuracy"]
    assert data["colour"] == "metric/accuracy"
    columns = {column["name"]: column["values"] for column in data["columns"]}
    assert columns["learning_rate"] == RATES
    assert columns["metric/accuracy"][7] is None
    assert data["importance"]["runs"] == 11


def test_a_page_with_columns_of_texts(cli, many, tmp_path):
    cli("lineage", many, "--html", tmp_path / "runs.html", "--columns", "activation,loss").expect()
    data = data_of((tmp_path / "runs.html").read_text("ascii"))
    assert data["columns"][0] == {"name": "activation", "numbers": False, "values": ["relu<b>"] * 12}
    assert data["axes"] == ["activation", "loss"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--sort", "accurcy"), ("no column 'accurcy'", "metric/accuracy")), (("--where", "loss"), ("--where 'loss'", "such as")),
        (("--columns", "x,y"), ("no column 'x'",)), (("--csv", "a.tfevents"), ("named like a summary file",)),
        (("--importance", "optimizer"), ("0 of these runs have a finite number there, 3 are needed",)),
        (("--descending",), ("--descending is about --sort: name its column",)),
    ],
)  # fmt: skip
def test_what_it_refuses(cli, many, arguments, words):
    cli("lineage", many, *arguments).expect_error(*words)


def test_of_runs_without_lineage_there_are_the_scalars(cli, base):
    rows = cli("lineage", base, "--columns", "run,learning_rate", "--sort", "learning_rate", "--descending").expect().rows
    assert rows[1:] == [["lr-10", "0.3"], ["lr-2", "0.2"], ["baseline", "0.1"]]


def test_it_reads_no_more_than_lineage(many, monkeypatch):
    monkeypatch.setattr("summarykit.reading.run.Files.poll", None)
    assert main(["lineage", str(many)]) == 0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0123, "0.0123 s"), (59.9, "59.9 s"), (59.96, "1 min 00 s"), (3599, "59 min 59 s"), (11_220, "3 h 07 min"), (187_200, "2 d 04 h")],
)
def test_spans_of_time(seconds, text):
    assert spell.duration(seconds) == text


def test_numbers_that_are_not_finite(cli, tmp_path):
    for name, loss in (("a", np.nan), ("b", np.inf), ("c", 1.0)):
        with SummaryRecord(tmp_path / name) as record:
            record.add_value("train_lineage", "train_lineage", {"loss": loss})
            record.record(0)
    rows = cli("lineage", tmp_path, "--sort", "loss").expect().rows
    assert [row[0] for row in rows[1:]] == ["c", "b", "a"]
    assert [each["loss"] for each in cli("lineage", tmp_path, "--json").json["runs"]] == ["NaN", "Infinity", 1.0]
    cli("lineage", tmp_path, "--html", tmp_path / "page.html").expect()


def test_a_run_for_which_the_condition_does_not_hold_is_not_shown(cli, many):
    one = many / "run-3"
    assert cli("lineage", one, "--where", "learning_rate>1").expect().out == "no run for which that holds\n"
    assert "two words" in cli("lineage", one, "--where", "learning_rate<1").expect().out
    assert json.loads(cli("lineage", one, "--where", "learning_rate>1", "--json").expect().out) == {"runs": []}
    assert cli("lineage", many, "--where", "learning_rate>1e9").expect().out == "no run for which that holds\n"


ODD = {"flag": True, "part": math.nan, "names": ["ä", 1], "note": "x" * 20_000, "other": "y" * 20_000}


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """Three runs: of the values above, of others, and without any."""
    directory = tmp_path_factory.mktemp("odd")
    others = {"flag": False, "part": 1.0, "names": [], "note": "", "other": "z"}
    for name, values, accuracy in (("nan", ODD, math.nan), ("other", others, 0.5), ("none", {}, 0.25)):
        with SummaryRecord(directory / name, formats=("tensorboard",)) as record:
            record.add_value("custom_lineage_data", "custom", values)
            record.add_value("eval_lineage", "evaluation", {"metric": {"accuracy": accuracy}})
            code = {"commit": "c" * 40, "dirty": False, "not_compared": ["large.bin", "ü.bin"]}
            record.add_value("code_version", "code", code)
            record.record(0)
    return directory


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("flag=true", ["nan"]), ("flag=False", ["other"]), ("flag!=true", ["none", "other"]), ("part=nan", ["nan"]), ("part=1", ["other"]),
        ("part!=NaN", ["none", "other"]), ("part<NaN", []), ('names=["ä", 1]', ["nan"]), ("names=[]", ["other"]),
    ],
)  # fmt: skip
def test_a_cell_is_found_as_it_is_shown(cli, odd, condition, expected):
    found = cli("lineage", odd, "--where", condition, "--columns", "run", "--sort", "run").expect().rows[1:]
    assert [row[0] for row in found] == expected


def test_a_number_that_no_float_holds_has_its_place(cli, tmp_path):
    for name, value in (("huge", 10**400), ("one", 1), ("half", 0.5)):
        with SummaryRecord(tmp_path / name) as record:
            record.add_value("custom_lineage_data", "custom", {"width": value})
            record.record(0)
    found = cli("lineage", tmp_path, "--where", "width>=1", "--columns", "run", "--sort", "width").expect().rows[1:]
    assert [row[0] for row in found] == ["one", "huge"]


def test_a_file_has_what_the_table_shows(cli, odd, tmp_path):
    cli("lineage", odd / "nan", "--csv", tmp_path / "a.csv", "--columns", "names").expect()
    assert (tmp_path / "a.csv").read_text("utf-8").splitlines()[1] == '"[""ä"", 1]"'


def test_of_a_huge_text_a_table_shows_the_ends(cli, odd):
    lines = cli("lineage", odd, "--columns", "run,names,note,other").expect().out.splitlines()
    assert re.search(r'nan +\["ä", 1\] +x{29}…x{30}  y{29}…y{30}$', "\n".join(lines), re.MULTILINE)
    assert max(map(len, lines)) < 160
    whole = cli("lineage", odd, "--json").json["runs"]
    assert [each["note"] for each in whole if each["run"] == "nan"] == ["x" * 20_000]
    assert "x" * 20_000 in cli("lineage", odd / "nan").expect().out


def test_what_was_not_compared_is_told(cli, odd):
    assert re.search(r"^not compared +large.bin, ü.bin$", cli("lineage", odd / "nan").expect().out, re.MULTILINE)


def test_files_json_and_importance_at_once(cli, many, tmp_path):
    told = cli("lineage", many, "--csv", tmp_path / "a.csv", "--json", "--importance", "loss", "--columns", "run").json
    assert (len(told["runs"]), told["importance"]["metric"]) == (12, "loss")
    assert (tmp_path / "a.csv").read_text().splitlines()[:2] == ['"run"', '"run-0"']
    out = cli("lineage", many, "--csv", tmp_path / "b.csv", "--importance", "loss").expect().out
    assert "b.csv: 12 runs" in out
    assert re.search(r"^loss: .*, 12 runs$", out, re.MULTILINE)


def test_in_the_page_what_lacks_a_number_comes_last(cli, odd, tmp_path, browser):
    page = tmp_path / "page.html"
    cli("lineage", odd, "--html", page, "--columns", "accuracy,note").expect()
    script = """
      const names = () => [...document.querySelectorAll("tbody tr")].map(row => row.children[0].textContent).join();
      const sort = () => { document.querySelectorAll("th")[1].click(); return names(); };
      const cell = [...document.querySelectorAll("td")].find(cell => cell.textContent.length > 1000);
      return [sort(), sort(), cell.offsetWidth < 400, cell.title.length, told(0).length < 200].join(" ");
    """
    assert ask(browser, page, script) == "none,other,nan other,none,nan true 2000 true"
