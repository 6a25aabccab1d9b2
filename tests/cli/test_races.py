"""`races`: do programs have data races under sequential consistency?"""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import ROOT, Cli

SCHEMA = json.loads((ROOT / "rdma_robust/schema/races.schema.json").read_text())
MAILBOX = """\
node A { one = 1 }
node B { sync flag, data }
thread W on A {
  put B.data = one
  put B.flag = one
}
thread R on B {
  reg r
  await flag == 1
  r = data
}
expect race free
"""
UNPOLLED = """\
node A { buffer = 1 }
node B { x }
thread T on A {
  put B.x = buffer
  buffer = 2
}
"""


pytestmark = pytest.mark.usefixtures("programs")


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    (tmp_path / "free.rdma").write_text(MAILBOX)
    (tmp_path / "race.rdma").write_text(UNPOLLED)
    return tmp_path


def test_a_race_is_told_with_its_run_and_what_would_order_it(cli: Cli) -> None:
    done = cli("races", "race.rdma")
    assert (done.returncode, done.stderr) == (1, "")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert "1. A.buffer: `put B.x = buffer` (line 4) and `buffer = 2` (line 5) race" in lines
    assert "nothing orders line 4 before line 5: `poll B` between them would" in lines
    assert "line 4, T NIC to B: reads buffer = 1  <- first access" in lines
    assert "line 5, T CPU on A: writes buffer = 2  <- second access" in lines


def test_the_hardware_decides(cli: Cli) -> None:
    assert cli("races", "free.rdma").returncode == 0
    done = cli("races", "--order", "none", "free.rdma")
    assert done.returncode == 1 and "order none: standards, no NIC" in done.stdout
    said = "line 4 may take effect later: `flush B` before line 5, by which W tells R, would order them"
    assert said in [line.strip() for line in done.stdout.splitlines()]


def test_json_has_the_pairs_and_the_runs(cli: Cli) -> None:
    done = cli("races", "free.rdma", "race.rdma", "--format", "json")
    report = json.loads(done.stdout)
    Draft202012Validator(SCHEMA).validate(report)
    free, race = report["results"]
    assert (free["verdict"], free["races"], free["as_expected"]) == ("race-free", [], True)
    assert free["synchronising"] == ["B.flag"]
    (found,) = race["races"]
    assert (found["word"], found["first"]["line"], found["second"]["line"]) == ("A.buffer", 4, 5)
    assert [step["access"] for step in found["run"]] == ["first", "", "second"]
    assert report["summary"]["race"] == report["summary"]["race_free"] == 1


def test_expect_lines_are_compared(cli: Cli, programs: Path) -> None:
    assert cli("races", "--expect", "free.rdma").returncode == 0
    done = cli("races", "--expect", "race.rdma", "--format", "concise")
    assert done.returncode == 1
    assert "[RR029]" in done.stdout and "[RR028]" in done.stdout
    (programs / "race.rdma").write_text(f"{UNPOLLED}expect race\n")
    done = cli("races", "--expect", "race.rdma", "--format", "concise")
    assert (done.returncode, done.stdout) == (0, "")


def test_other_tools_get_places(cli: Cli) -> None:
    sarif = json.loads(cli("races", "race.rdma", "--format", "sarif").stdout)
    (result,) = sarif["runs"][0]["results"]
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (result["ruleId"], region["startLine"]) == ("RR028", 4)
    assert result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 5
    rows = list(csv.DictReader(StringIO(cli("races", "race.rdma", "free.rdma", "--format", "csv").stdout)))
    assert [(row["verdict"], row["line"], row["other line"]) for row in rows] == [("race", "4", "5"), ("race-free", "", "")]
    assert "RACE" in cli("races", "race.rdma", "--format", "md").stdout


def test_limits_are_named(cli: Cli, programs: Path) -> None:
    done = cli("races", "--max-states", "3", "free.rdma")
    assert done.returncode == 3 and "reached 3 states" in done.stdout
    (programs / "wait.rdma").write_text(
        "hardware rnr wait\nnode A { }\nnode B { b }\nthread T on A { send 1 to U inline }\n"
        "thread U on B { recv b from T }\n"
    )
    done = cli("races", "wait.rdma")
    assert done.returncode == 3 and "rnr wait" in done.stdout


def test_a_race_that_was_found_outlives_a_limit(cli: Cli, programs: Path) -> None:
    more = "".join(f"thread R{n} on B {{\n  reg r\n  r = x\n  r = x\n}}\n" for n in range(3))
    (programs / "many.rdma").write_text(UNPOLLED + more)
    done = cli("races", "--max-states", "60", "many.rdma")
    assert done.returncode == 1
    assert "further races may be there: reached 60 states" in done.stdout


def test_either_answer_has_a_certificate_that_is_checked_anew(cli: Cli) -> None:
    assert "no certificate" not in cli("races", "--certificate", "proofs", "race.rdma", "free.rdma").stderr
    told = cli("verify-certificate", "proofs").stdout
    assert told == (
        "proofs/free.rdma.json: VALID: free.rdma is race free, proved by an inductive invariant of 15 states\n"
        "proofs/race.rdma.json: VALID: race.rdma has a data race, "
        "proved by a run of 3 events with accesses of lines 4 and 5 that race\n"
    )
    made = json.loads(Path("proofs/race.rdma.json").read_text())
    made["evidence"]["second"] = 1
    Path("proofs/race.rdma.json").write_text(json.dumps(made))
    made = json.loads(Path("proofs/free.rdma.json").read_text())
    made["options"]["model"]["order"] = "none"
    Path("proofs/free.rdma.json").write_text(json.dumps(made))
    refused = cli("verify-certificate", "proofs")
    assert refused.returncode == 1 and "the two events are not accesses of one location" in refused.stdout
    assert "free.rdma.json: INVALID: the invariant " in " ".join(refused.stdout.split())
