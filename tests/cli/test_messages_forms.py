"""Message programs in the forms for other tools: CSV, SARIF, JUnit, and findings as lines."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from tests.conftest import ROBUST, ROOT, Cli
from tests.support.message_texts import written

SARIF = Draft4Validator(json.loads((ROOT / "tests/data/sarif-2.1.0-rtm.5.json").read_text()))

ORDERS = """program orders
proc P[i in 0..1] { reg x
  if i == 0 { barrier() }
}
"""
FAULTY = """program faulty
proc P { reg x
  assert 1 / x == 1
}
"""

LOG = ("--format", "sarif")


def log(text: str) -> Any:
    """The run of a SARIF log, which is valid."""
    whole = json.loads(text)
    SARIF.validate(whole)
    return whole["runs"][0]


def findings(run: Any) -> list[tuple[str, str, int]]:
    return [
        (each["ruleId"], each["level"], each["locations"][0]["physicalLocation"]["region"]["startLine"])
        for each in run["results"]
    ]


def test_sarif_has_what_goes_wrong_with_its_run(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, "relay")
    run = log(cli("messages", "check", "relay.mp", *LOG).stdout)
    assert findings(run) == [("RR020", "error", 5), ("RR022", "error", 7), ("RR024", "note", 7), ("RR023", "note", 4)]
    false, stuck, left, race = run["results"]
    steps = [each["location"] for each in false["codeFlows"][0]["threadFlows"][0]["locations"]]
    places = [(each["physicalLocation"]["region"]["startLine"], each["message"]["text"]) for each in steps]
    assert places == [
        (7, "Client[2] sends 2 to Server"),
        (4, "Server takes 2 from Client[2] (line 7)"),
        (5, "assert v == 1 is false: v is 2"),
    ]
    assert "Server has ended" in stuck["codeFlows"][0]["threadFlows"][0]["locations"][-1]["location"]["message"]["text"]
    assert "codeFlows" in left and "codeFlows" not in race
    assert [each["physicalLocation"]["region"]["startLine"] for each in race["relatedLocations"]] == [7]
    assert [each["id"] for each in run["tool"]["driver"]["rules"]] == ["RR020", "RR022", "RR023", "RR024"]
    assert run["artifacts"][0]["location"]["uri"] == "relay.mp"


@pytest.mark.ci
def test_with_expect_only_what_contradicts_a_claim_is_a_finding(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, "relay", "swap")
    assert findings(log(cli("messages", "check", "--expect", "relay.mp", "swap.mp", *LOG).stdout)) == []
    denied = cli("messages", "check", "--expect", "--deny", "race,leak", "relay.mp", *LOG)
    assert findings(log(denied.stdout)) == [("RR024", "error", 7), ("RR023", "error", 4)]
    for name, old, new in (("relay", "violated, race", "holds, no race"), ("swap", "holds", "violated")):
        (tmp_path / f"{name}.mp").write_text((tmp_path / f"{name}.mp").read_text().replace(old, new))
    wrong = log(cli("messages", "check", "--expect", "relay.mp", "swap.mp", *LOG).stdout)
    assert findings(wrong) == [("RR020", "error", 5), ("RR023", "error", 4), ("RR026", "warning", 12)]
    (tmp_path / "swap.mp").write_text((tmp_path / "swap.mp").read_text().replace("expect", "// expect"))
    assert findings(log(cli("messages", "check", "--expect", "swap.mp", *LOG).stdout)) == [("RR013", "warning", 1)]


@pytest.mark.ci
def test_findings_survive_edits_elsewhere(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, "relay")

    def prints() -> list[Any]:
        return [each["partialFingerprints"] for each in log(cli("messages", "check", "relay.mp", *LOG).stdout)["results"]]

    before = prints()
    (tmp_path / "relay.mp").write_text("// one more line\n" + (tmp_path / "relay.mp").read_text())
    assert prints() == before
    assert len({str(each) for each in before}) == len(before)


@pytest.mark.ci
def test_orders_faults_errors_and_limits_are_findings(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, "broken", "many")
    (tmp_path / "orders.mp").write_text(ORDERS)
    (tmp_path / "faulty.mp").write_text(FAULTY)
    found = log(cli("messages", "check", "faulty.mp", "orders.mp", *LOG, "--buffer", "any").stdout)
    assert ("RR021", "error", 3) in findings(found)
    assert "line 3: assert 1 / x == 1: division by zero; P stops" in str(found["results"])
    assert ("RR025", "warning", 2) in findings(found)
    assert "is barrier in P[0] and missing in P[1]" in str(found["results"])
    assert findings(log(cli("messages", "check", "broken.mp", *LOG).stdout)) == [("RR101", "error", 4)]
    cut = cli("messages", "check", "many.mp", "--engine", "states", "--buffer", "zero", "--timeout", "0.3", *LOG)
    assert ("RR011", "warning", 1) in findings(log(cut.stdout))
    assert log(cli("messages", "check", "missing.mp", *LOG).stdout)["invocations"][0]["executionSuccessful"] is False


@pytest.mark.ci
def test_lines_for_editors_and_logs(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, "relay", "broken")
    lines = cli("messages", "check", "relay.mp", "broken.mp", "--format", "concise").stdout.splitlines()
    assert (
        lines[0]
        == "relay.mp:5:3: error: VIOLATED under zero, infinite and any: line 5: assert v == 1 is false: v is 2 [RR020]"
    )
    assert [line.split(" [")[-1] for line in lines] == ["RR020]", "RR022]", "RR024]", "RR023]", "RR101]"]
    assert lines[3].startswith("relay.mp:4:3: note: 1 racing receive: receive 1 of Server (line 4) can take send 1 of")
    found = cli("messages", "check", "relay.mp", "--format", "github").stdout.splitlines()
    assert found[2].startswith("::notice file=relay.mp,line=7,col=26,title=rdma-robust RR024::leak under infinite and any")


@pytest.mark.ci
def test_junit_has_a_test_a_program(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, "relay", "ring")
    done = cli("messages", "check", "relay.mp", "ring.mp", "-o", "r.xml")
    assert (done.returncode, done.stdout) == (1, "")
    text = (tmp_path / "r.xml").read_text()
    assert 'tests="2" failures="1"' in text
    assert "Server takes 2 from Client[2]" in text


def test_csv_has_a_row_for_each_program_and_buffer(cli: Cli, tmp_path: Path) -> None:
    written(tmp_path, "relay", "ring", "broken")
    (tmp_path / "calm.rdma").write_text(ROBUST)
    (tmp_path / "faulty.mp").write_text(FAULTY)
    cli("report", ".", "-o", "r/", "--format", "csv", "--format", "json", "--format", "sarif", "--no-cache")
    rows = list(csv.DictReader((tmp_path / "r/report.csv").read_text().splitlines()))
    results = json.loads((tmp_path / "r/report.json").read_text())["messages"]
    assert [(row["file"], row["buffer"]) for row in rows] == [
        ("./calm.rdma", ""),
        *((each["file"], each["buffer"] or "") for each in results),
    ]
    assert (rows[0]["verdict"], rows[0]["asserts"], rows[0]["matchings"]) == ("robust", "", "")
    for row, found in zip(rows[1:], results, strict=True):
        if found["buffer"] is None:
            assert (row["verdict"], row["asserts"], row["reason"]) == ("error", "", found["reason"])
            continue
        assert (row["asserts"], row["deadlock"], row["leak"]) == (
            found["asserts"],
            found["deadlock"]["answer"],
            found["leak"]["answer"],
        )
        assert (row["races"], row["matchings"]) == (str(len(found["races"])), str(found["matchings"]["count"]))
        assert bool(row["violated"] or row["faults"]) == bool(found["violations"])
        assert bool(row["hangs"]) == bool(found["deadlock"]["waiting"])
    relay = {row["buffer"]: row for row in rows if row["program"] == "relay"}
    assert relay["any"]["violated"] == "assert v == 1 is false (line 5)"
    assert (relay["zero"]["hangs"], relay["infinite"]["hangs"], relay["infinite"]["as_expected"]) == ("line 7", "", "true")
    faults = [(row["faults"], row["violated"]) for row in rows if row["program"] == "faulty"]
    assert faults == 3 * [("assert 1 / x == 1: division by zero (line 3)", "")]
    assert log((tmp_path / "r/report.sarif").read_text())["invocations"][0]["exitCode"] == 2


@pytest.mark.ci
def test_the_suite_is_valid_sarif_and_as_expected(cli: Cli, tmp_path: Path) -> None:
    suite = ROOT / "litmus/messages"
    for folder, expect in ((suite, ()), (suite / "deadlocks", ("--expect",))):
        cli("report", str(folder), "-o", str(tmp_path / "suite.sarif"), "--no-cache", "-q", *expect)
        found = log((tmp_path / "suite.sarif").read_text())["results"]
        codes = {each["ruleId"] for each in found}
        wanted = {"RR020", "RR021", "RR022", "RR023", "RR024", "RR025"}
        assert codes & {*wanted, "RR026", "RR013"} == (set() if expect else wanted)
        prints = [
            (each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], str(each["partialFingerprints"]))
            for each in found
            if each["ruleId"] in wanted
        ]
        assert len(prints) == len(set(prints))
