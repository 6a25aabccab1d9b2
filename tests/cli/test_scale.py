"""`scale`: one program for many values of a constant."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.conftest import ROOT, Cli
from tests.support.rounds import ROUNDS


@pytest.fixture(autouse=True)
def rounds(tmp_path: Path) -> Path:
    (path := tmp_path / "rounds.rdma").write_text(f"{ROUNDS}expect not robust\n")
    return path


def test_a_row_for_each_value_and_where_the_verdict_changes(cli: Cli) -> None:
    done = cli("scale", "-D", "ROUNDS=6,0..5", "rounds.rdma")
    assert done.returncode == 1
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["ROUNDS", "verdict", "expected?", "states", "transitions", "time"]
    assert [row.split()[0] for row in rows[:7]] == [str(value) for value in range(7)]
    assert rows[0].split()[1:3] == ["robust", "NO"] and rows[1].split()[1:4] == ["NOT", "ROBUST", "yes"]
    assert rows[7] == "Robust up to ROUNDS = 0, not robust from ROUNDS = 1."
    assert rows[8].startswith("States until a counterexample: ") and "exactly" in rows[8]
    assert rows[9].startswith("7 programs: 1 robust, 6 not robust; ")
    assert done.stderr.count("this `for` makes no copies") == 1


def test_the_numbers_are_those_of_check(cli: Cli) -> None:
    report = json.loads(cli("scale", "-D", "ROUNDS=0..3", "-D", "BACK=2", "--format", "json", "rounds.rdma").stdout)
    for each in report["results"]:
        alone = cli("check", "-D", f"ROUNDS={each['value']}", "-D", "BACK=2", "--format", "json", "rounds.rdma")
        (single,) = json.loads(alone.stdout)["results"]
        for name in ("verdict", "states", "transitions", "expected", "as_expected", "reason"):
            assert each["result"][name] == single[name]


def valid(text: str) -> Any:
    schemas = [json.loads(path.read_text()) for path in (ROOT / "rdma_robust/schema").glob("*.schema.json")]
    registry = Registry().with_resources([(each["$id"], Resource.from_contents(each)) for each in schemas])
    (schema,) = (each for each in schemas if each["$id"] == "urn:rdma-robust:scale:1")
    report = json.loads(text)
    Draft202012Validator(schema, registry=registry).validate(report)
    return report


def test_json_is_as_its_schema_says(cli: Cli) -> None:
    for more in ((), ("--max-states", "1"), ("--expect",)):
        report = valid(cli("scale", "-D", "ROUNDS=0..5", *more, "--format", "json", "rounds.rdma").stdout)
    assert report["any_number"] is None
    assert report["summary"]["exit_code"] == 1 and report["summary"]["mismatched"] == 1
    assert report["changes"][0] == {"verdict": "robust", "values": [0]}
    (states, transitions) = report["growth"]
    assert (states["of"], transitions["of"], states["verdict"]) == ("states", "transitions", "not-robust")
    assert states["points"] == [[e["value"], e["result"]["states"]] for e in report["results"][1:]]


def test_a_crowd_has_a_row_for_any_number(cli: Cli, tmp_path: Path) -> None:
    text = """\
node S { x, y }
node Client[*] { one = 1 }
thread C[*] on Client[*] { put S.x = one; one = 2 }
thread D on S { reg r; r = x; r = y }
"""
    (tmp_path / "crowd.rdma").write_text(text)
    done = cli("scale", "-D", "C=0..3", "crowd.rdma")
    assert done.returncode == 1
    rows = [line.split() for line in done.stdout.splitlines()[1:6]]
    assert [(row[0], row[1]) for row in rows] == [("0", "robust"), *((n, "NOT") for n in ("1", "2", "3", "any"))]
    said = "Robust up to C = 0, not robust from C = 1. Not robust with 1 copy of C; robust with no copy of C."
    assert said in done.stdout
    (tmp_path / "crowd.rdma").write_text(text.replace("one; one", "one; poll S; one"))
    report = valid(cli("scale", "-D", "C=2,3", "--format", "json", "crowd.rdma").stdout)
    assert report["any_number"]["verdict"] == "robust" and report["summary"]["robust"] == 3
    assert report["sentence"].startswith("Robust for C = 2, 3. Robust for any number of copies of C")
    page = cli("scale", "-D", "C=2,3", "--format", "html", "crowd.rdma").stdout
    assert '<th scope="row" class="number">any</th>' in page


def test_a_limit_cuts_and_says_nothing_about_growth(cli: Cli) -> None:
    done = cli("scale", "-D", "ROUNDS=1..4", "--max-states", "1", "--format", "json", "rounds.rdma")
    report = json.loads(done.stdout)
    assert done.returncode == 3 and report["growth"] == []
    assert report["sentence"] == "Unknown for every ROUNDS from 1 to 4."
    text = cli("scale", "-D", "ROUNDS=1..4", "--max-states", "1", "rounds.rdma").stdout
    assert "States" not in text and text.count("UNKNOWN") == 4


def test_csv_and_svg(cli: Cli, tmp_path: Path) -> None:
    rows = list(csv.DictReader(StringIO(cli("scale", "-D", "ROUNDS=0..2", "--format", "csv", "rounds.rdma").stdout)))
    assert [(row["ROUNDS"], row["verdict"]) for row in rows] == [("0", "robust"), ("1", "not-robust"), ("2", "not-robust")]
    assert cli("scale", "-D", "ROUNDS=0..6", "-o", "r.svg", "rounds.rdma").returncode == 1
    drawing = ElementTree.fromstring((tmp_path / "r.svg").read_text())
    space = "{http://www.w3.org/2000/svg}"
    assert drawing.get("role") == "img" and drawing.findtext(f"{space}title") == "States of rounds by ROUNDS"
    marks = [each.findtext(f"{space}title") for each in drawing.iter(f"{space}g")]
    assert len(marks) == 7 and marks[0] == "ROUNDS = 0: robust, 0 states"
    assert marks[1] is not None and marks[1].startswith("ROUNDS = 1: NOT ROBUST, ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rounds.rdma",), "scale needs several values of one constant: `-D N=2..8`, with a constant of the program"),
        (("-D", "ROUNDS=2", "rounds.rdma"), "scale needs several values of one constant"),
        (
            ("-D", "ROUNDS=1..2", "-D", "BACK=1,2", "rounds.rdma"),
            "it follows one constant, and `ROUNDS` and `BACK` have several",
        ),
        (("-D", "ROUNDS=2..1", "rounds.rdma"), "`2..1` for `ROUNDS` has no value"),
        (("-D", "N=1..2", "rounds.rdma"), "the program has no constant `N` to define; it has `ROUNDS` and `BACK`"),
        (("-D", "N=1..2", "nowhere.rdma"), "nowhere.rdma: error: no such file or directory"),
    ],
)
def test_bad_input_is_said_once(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    done = cli("scale", *arguments)
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.count("error:") == 1


def test_a_program_with_an_error_is_reported_once(cli: Cli, rounds: Path) -> None:
    rounds.write_text(ROUNDS.replace("put B.y", "put B.w"))
    done = cli("scale", "-D", "ROUNDS=1..3", "rounds.rdma")
    assert done.returncode == 2
    assert done.stderr.count("error:") == 1 and done.stdout.count("\n") == 6
    assert "In error for every ROUNDS from 1 to 3." in done.stdout


def test_from_standard_input_and_quietly(cli: Cli) -> None:
    done = cli("scale", "-D", "ROUNDS=0..2", "-q", "-", stdin=ROUNDS)
    assert done.returncode == 1
    assert [line.split()[0] for line in done.stdout.splitlines()[:2]] == ["1", "2"]
