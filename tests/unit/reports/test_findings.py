"""Findings as lines, commands that GitHub's runner reads back as they were, and SARIF: the same ones, at the same lines."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import unquote

import pytest

from rdma_robust.frame.finding import Finding, Flow, Step, problem_findings
from rdma_robust.frame.formats.lines import concise, github
from rdma_robust.frame.formats.sarif import ScannedFile, sarif_log
from rdma_robust.reports.check.check_findings import findings_of
from rdma_robust.reports.check.result import Result

NASTY = ["a.rdma", "a b,c.rdma", "50%/x:y.rdma", "::error::.rdma", "new\nline.rdma", "esc\x1b[31m.rdma", "ü\udcff.rdma"]


def read(command: str) -> tuple[str, dict[str, str], str]:
    """Read a workflow command as the runner does (actions/runner, ActionCommand.TryParseV2)."""
    found = re.fullmatch(r"::(?P<name>[a-z]+)(?: (?P<properties>.*?))?::(?P<data>.*)", command)
    assert found is not None
    properties = dict(each.split("=", 1) for each in found["properties"].split(","))
    return found["name"], {name: unquote(value) for name, value in properties.items()}, unquote(found["data"])


@pytest.mark.parametrize("file", NASTY)
def test_github_reads_what_was_meant(file: str) -> None:
    finding = Finding(file, 9, 3, "error", "RR010", f"not robust: 100% of\nwhat\ris in `{file}`")
    command = github(finding)
    assert len(command.splitlines()) == 1
    assert command.isprintable()
    name, properties, data = read(command)
    assert name == "error"
    if file.isprintable() or file == "new\nline.rdma":
        assert properties == {"file": file, "line": "9", "col": "3", "title": "rdma-robust RR010"}
        assert data == f"{finding.message} [RR010]"


def test_github_without_a_place() -> None:
    assert read(github(Finding("a.rdma", None, None, "warning", "RR001", "gone"))) == (
        "warning",
        {"file": "a.rdma", "title": "rdma-robust RR001"},
        "gone [RR001]",
    )


@pytest.mark.parametrize("file", NASTY)
def test_concise_is_one_line(file: str) -> None:
    line = concise(Finding(file, 9, 3, "error", "RR010", "a\nb"))
    assert line.isprintable()
    assert line.endswith(":9:3: error: a\\nb [RR010]")
    assert concise(Finding(file, None, None, "error", "RR010", "a")).endswith(".rdma: error: a [RR010]")


def run_of(*files: ScannedFile, interrupted: bool = False) -> Any:
    return json.loads(sarif_log(files, 1, {"version": "1.0"}, interrupted=interrupted))["runs"][0]


def test_sarif_has_what_lines_have_and_tells_of_the_run_what_no_line_of_a_file_is_about() -> None:
    found = [
        Finding("a.rdma", 3, 5, "warning", "RR201", "likely not meant", "diagnostic"),
        Finding("a.rdma", 2, None, "error", "RR010", "not robust", "verdict", "Not robust."),
        Finding("a.rdma", None, None, "warning", "RR011", "undecided: time", "problem", "Undecided: time."),
    ]
    gone = list(problem_findings("b.rdma", (), "unreadable", "no such file"))
    run = run_of(ScannedFile("a.rdma", "one\ntwo\nthree\n", found), ScannedFile("b.rdma", None, gone))
    assert [result["ruleId"] for result in run["results"]] == ["RR010", "RR011", "RR201"]
    regions = [result["locations"][0]["physicalLocation"]["region"] for result in run["results"]]
    assert regions == [{"startLine": 2}, {"startLine": 1}, {"startLine": 3, "startColumn": 5}]
    assert [result["message"]["text"] for result in run["results"]] == [
        "Not robust.",
        "Undecided: time.",
        "likely not meant",
    ]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [rules[result["ruleIndex"]] for result in run["results"]] == [result["ruleId"] for result in run["results"]]
    assert [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]] == [
        "b.rdma: no such file"
    ]
    assert [concise(each) for each in gone] == ["b.rdma: error: no such file [RR001]"]
    assert not run["invocations"][0]["executionSuccessful"]


def test_an_error_is_one_in_sarif_and_else_a_finding_is_as_bad_as_its_code() -> None:
    levels = (("RR023", "error"), ("RR023", "note"), ("RR014", "warning"), ("RR727", "warning"), ("RR019", "warning"))
    found = [Finding("a.rdma", 1, 1, level, code, "text") for code, level in levels]  # type: ignore[arg-type]
    results = run_of(ScannedFile("a.rdma", "text\n", found))["results"]
    assert [each["level"] for each in results] == ["error", "note", "warning", "note", "error"]


def test_a_flow_has_only_steps_with_a_line_numbered_in_order() -> None:
    steps = (Step(None, None, "begins"), Step(2, 1, "reads", "x = 1", ("T1",), essential=True), Step(1, None, "ends"))
    finding = Finding("a.rdma", 2, 1, "error", "RR016", "violated", flows=(Flow("run", "The run", steps),))
    (result,) = run_of(ScannedFile("a.rdma", "one\nx = 1\n", [finding]))["results"]
    (flow,) = result["codeFlows"][0]["threadFlows"]
    assert [(each["executionOrder"], each["importance"]) for each in flow["locations"]] == [
        (1, "essential"),
        (2, "important"),
    ]
    assert flow["locations"][0]["location"]["physicalLocation"]["region"]["endColumn"] == 6
    assert flow["locations"][0]["kinds"] == ["T1"]
    assert "kinds" not in flow["locations"][1]


def test_a_contradicted_verdict_is_at_the_line_that_claims_it_in_every_form() -> None:
    """Another `expect` line may stand before the one about the verdict."""
    result = Result("a.rdma", "robust", "", expected="not-robust", expected_line=3, as_expected=False)
    (finding,) = findings_of(result, expect=False)
    text = "program a\nexpect safe under sc\nexpect not robust\n"
    (found,) = run_of(ScannedFile("a.rdma", text, [finding]))["results"]
    assert concise(finding).startswith("a.rdma:3:1: warning:")
    assert found["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}
