"""The installed commands: `verify` and `reach` for many programs, in every form."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator, Draft202012Validator
from lxml import etree

from rdma_robust.frame.shell.inputs import read_source
from rdma_robust.questions import safety_question
from tests.cli.test_stop import endless
from tests.conftest import COMMAND, INVALID, NOT_ROBUST, ROBUST, ROOT, Cli
from tests.support.processes import started
from tests.support.shares import share

SARIF = Draft4Validator(json.loads((ROOT / "tests/data/sarif-2.1.0-rtm.5.json").read_text()))
JUNIT = etree.XMLSchema(etree.parse(str(ROOT / "tests/data/junit-10.xsd")))
SCHEMAS = {name: json.loads((ROOT / f"rdma_robust/schema/{name}.schema.json").read_text()) for name in ("verify", "reach")}

VIOLATED = "node A { x }\nthread T on A { reg r\n r = x\n assert r == 1 }\n"
HANGS = "node A { x }\nthread T on A {\n await x == 1\n}\n"
VACUOUS = "node A { x }\nthread T on A { reg r\n r = x\n if r == 1 {\n assert r == 2\n }\n}\n"
UNKNOWN = (
    "node A { x = 1 }\nnode B { y }\nthread T on A { put B.y = x; loop { put B.y = x\n x = 1 } }\n"
    "thread U on B { reg r\n await y == 1\n r = y\n assert r == 1 }\n"
)
STORES = (
    "node A { x, y }\nthread T on A { reg r; x = 1; r = y }\nthread U on A { reg r; y = 1; r = x }\n"
    "invariant A.x <= 1\noutcome T.r == 0 && U.r == 0 : forbidden under tso\nexpect unsafe under pso\n"
)
STATES = ("--max-states", "60", "--memory", "4000")
COMMANDS = (("verify", "--no-hangs", *STATES), ("reach", "-t", "A.x == 1", *STATES))


@pytest.fixture(autouse=True)
def mixed(tmp_path: Path) -> Path:
    texts = {"a-holds": ROBUST, "b-violated": VIOLATED, "c-hangs": HANGS, "d-vacuous": VACUOUS}
    texts |= {"e-unknown": UNKNOWN, "f-invalid": INVALID, "g-sb": NOT_ROBUST}
    (tmp_path / "p").mkdir()
    for name, text in texts.items():
        (tmp_path / "p" / f"{name}.rdma").write_text(text)
    return tmp_path


def results(report: dict[str, Any]) -> dict[str, Any]:
    return {Path(each["file"]).stem: each for each in report["results"]}


def timeless(text: str) -> str:
    return re.sub(r'(?:"time_s": |time=")[0-9.e-]+|[0-9.]+ s$', "", text, flags=re.MULTILINE)


@pytest.mark.ci
@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c[0])
@pytest.mark.parametrize("form", share(["json", "text", "jsonl", "junit", "sarif"], 5))
def test_answers_come_in_order_whatever_the_number_of_processes(installed: Cli, command: tuple[str, ...], form: str) -> None:
    one, two = (installed(*command, "p", "nope.rdma", "--format", form, "--jobs", jobs) for jobs in ("1", "2"))
    assert timeless(one.stdout) == timeless(two.stdout)
    assert one.stderr == two.stderr
    assert one.returncode == two.returncode == 2
    places = [one.stdout.find(name) for name in ("a-holds", "b-violated", "c-hangs", "d-vacuous", "e-unknown", "g-sb")]
    assert places == sorted(places)
    assert places[0] >= 0
    assert "nope.rdma: error: no such file" in one.stderr
    assert "p/f-invalid.rdma:2:18: error" in one.stderr


def test_json_has_every_program(cli: Cli) -> None:
    done = cli("verify", "p", "nope.rdma", "--format", "json", "--max-states", "300")
    report = json.loads(done.stdout)
    Draft202012Validator(SCHEMAS["verify"]).validate(report)
    found = results(report)
    assert {name: (each["status"], each["exit_code"]) for name, each in found.items()} == {
        "a-holds": ("holds", 0),
        "b-violated": ("violated", 1),
        "c-hangs": ("violated", 1),
        "d-vacuous": ("unreachable", 0),
        "e-unknown": ("unknown", 3),
        "f-invalid": ("error", 2),
        "g-sb": ("holds", 0),
        "nope": ("error", 2),
    }
    assert (found["f-invalid"]["error_kind"], found["nope"]["error_kind"]) == ("invalid", "unreadable")
    assert found["f-invalid"]["errors"]
    assert "claims" not in report
    summary = report["summary"]
    claims = [claim["status"] for each in report["results"] for claim in each["claims"]]
    assert [summary[word] for word in ("holds", "violated", "unknown", "unreachable")] == [
        claims.count(word) for word in ("holds", "violated", "unknown", "unreachable")
    ]
    assert (summary["requested"], summary["programs"], summary["error"], summary["exit_code"]) == (8, 8, 2, done.returncode)


@pytest.mark.ci
@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c[0])
def test_lines_of_json_are_the_results(cli: Cli, command: tuple[str, ...]) -> None:
    whole = json.loads(cli(*command, "p", "--format", "json").stdout)
    Draft202012Validator(SCHEMAS[command[0]]).validate(whole)
    lines = cli(*command, "p", "--format", "jsonl").stdout.splitlines()
    found = [json.loads(line) for line in lines]
    assert [each["file"] for each in found] == [each["file"] for each in whole["results"]]
    untimed = [[{**each, "time_s": 0} for each in some] for some in (found, whole["results"])]
    assert untimed[0] == untimed[1]


def test_the_report_on_one_program_has_its_members_beside(cli: Cli) -> None:
    for command in COMMANDS:
        report = json.loads(cli(*command, "p/b-violated.rdma", "--format", "json").stdout)
        Draft202012Validator(SCHEMAS[command[0]]).validate(report)
        only = report["results"][0]
        assert {name: report[name] for name in only} == only


def test_sarif_shows_each_finding_at_its_line(cli: Cli) -> None:
    log = json.loads(cli("verify", "p", "nope.rdma", "--format", "sarif", "--max-states", "300").stdout)
    SARIF.validate(log)
    run = log["runs"][0]
    found = {}
    for result in run["results"]:
        place = result["locations"][0]["physicalLocation"]
        name = Path(place["artifactLocation"]["uri"]).stem[0]
        found.setdefault(name, []).append((result["ruleId"], place["region"]["startLine"]))
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert found["b"] == [("RR016", 4)]
    assert found["c"] == [("RR016", 3)]
    assert found["d"] == [("RR017", 5)]
    assert ("RR018", 8) in found["e"]
    assert ("RR201", 2) in found["f"]
    assert "a" not in found and "g" not in found
    hang = next(each for each in run["results"] if "hangs" in each["message"]["text"])
    assert "T" in hang["relatedLocations"][0]["message"]["text"]
    assert hang["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 3
    violation = next(each for each in run["results"] if each["ruleId"] == "RR016")
    steps = violation["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [each["location"]["physicalLocation"]["region"]["startLine"] for each in steps] == [3]
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert "nope.rdma" in note["message"]["text"]


def test_junit_has_a_test_for_every_claim(cli: Cli) -> None:
    text = cli("verify", "p", "nope.rdma", "--format", "junit", "--max-states", "300").stdout
    tree = etree.fromstring(text.encode())
    JUNIT.assertValid(tree)
    suites = {Path(suite.get("name")).stem[0]: suite for suite in tree}
    kinds = {name: [case[0].tag for case in suite if len(case)] for name, suite in suites.items()}
    assert "failure" in kinds["b"] and "failure" in kinds["c"] and "skipped" in kinds["d"] and "error" in kinds["e"]
    assert kinds["f"] == kinds["n"] == ["error"]
    hang = next(case for case in suites["c"] if case.get("name") == "no hang under rdma")
    assert "line 3" in hang[0].text
    strict = etree.fromstring(cli("verify", "p/d-vacuous.rdma", "--strict", "--format", "junit").stdout.encode())
    JUNIT.assertValid(strict)
    assert strict.get("failures") == "1"


def test_a_target_that_is_reachable_is_a_finding(cli: Cli) -> None:
    log = json.loads(cli("reach", "-t", "A.x == 1", "p/a-holds.rdma", "p/b-violated.rdma", "--format", "sarif").stdout)
    SARIF.validate(log)
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["RR019"]
    tree = etree.fromstring(cli("reach", "-t", "A.x == 1", "p", "--format", "junit", *STATES).stdout.encode())
    JUNIT.assertValid(tree)
    assert (tree.get("failures"), tree.get("errors")) == ("3", "1")


@pytest.mark.ci
@pytest.mark.parametrize(
    ("arguments", "code", "rows"),
    [
        (("p/a-holds.rdma", "p/d-vacuous.rdma"), 0, 2),
        (("p/a-holds.rdma", "p/d-vacuous.rdma", "--strict"), 1, 2),
        (("p/a-holds.rdma", "p/b-violated.rdma", "p/e-unknown.rdma"), 3, 3),
        (("p/b-violated.rdma", "p/f-invalid.rdma", "p/e-unknown.rdma"), 2, 3),
        (("p/[ab]*.rdma",), 1, 2),
        (("p/a-holds.rdma", "p/../p/a-holds.rdma"), 0, 1),
        (("p", "-q"), 2, 4),
        (("p/a-holds.rdma", "p/d-vacuous.rdma", "-q"), 0, 0),
    ],
)
def test_files_folders_patterns_and_exit_codes(cli: Cli, arguments: tuple[str, ...], code: int, rows: int) -> None:
    done = cli("verify", *arguments, "--max-states", "300")
    assert done.returncode == code
    assert len(re.findall(r"^p/\S+: ", done.stdout, re.MULTILINE)) == rows


def test_the_last_line_counts_programs_and_claims(cli: Cli) -> None:
    said = " ".join(cli("verify", "p", "--max-states", "300").stdout.splitlines()[-1].split())
    assert re.fullmatch(
        r"7 programs, 1[0-9] claims: [0-9] hold, 2 violated, [1-3] unknown, 1 unreachable; 1 error; [0-9.]+ s", said
    ), said
    assert "programs" not in cli("verify", "p/a-holds.rdma").stdout
    said = cli("reach", "-t", "A.x == 1", "p/a-holds.rdma", "p/b-violated.rdma").stdout.splitlines()[-1]
    assert said.startswith("2 programs: 1 reachable, 1 unreachable; ")


def test_a_report_in_a_file_names_programs_in_error_too(cli: Cli, mixed: Path) -> None:
    assert cli("verify", "p/f-invalid.rdma", "-o", "r.txt").returncode == 2
    assert (mixed / "r.txt").read_text().startswith("p/f-invalid.rdma: error: line 2: unknown name `xx`")


def test_runs_are_shown_for_one_program_or_if_asked(cli: Cli) -> None:
    assert "in this run" in cli("verify", "p/b-violated.rdma").stdout
    assert "in this run" not in cli("verify", "p/a-holds.rdma", "p/b-violated.rdma").stdout
    assert "in this run" in cli("verify", "p/a-holds.rdma", "p/b-violated.rdma", "-v").stdout
    reach = ("reach", "-t", "A.x == 1", "p/a-holds.rdma")
    assert "Checked: " in cli(*reach).stdout
    assert "Checked: " not in cli(*reach, "p/b-violated.rdma").stdout
    assert "Checked: " in cli(*reach, "p/b-violated.rdma", "--explain").stdout


def test_standard_input_is_one_of_the_programs(cli: Cli) -> None:
    done = cli("verify", "-", "p/a-holds.rdma", "--jobs", "2", stdin=VIOLATED)
    assert done.returncode == 1
    assert done.stdout.startswith("<stdin>: 2 claims: 1 holds, 1 violated")
    assert cli("reach", "-t", "A.x == 1", "-", stdin=ROBUST).returncode == 1


@pytest.mark.parametrize("how", ["stuck", "dead"])
@pytest.mark.ci
def test_a_program_that_is_lost_costs_its_own_row(cli: Cli, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    def lost(source: Any) -> str:
        if source.name == "p/b-violated.rdma":
            if how == "dead":
                os._exit(7)
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
            signal.pause()
        return read_source(source)

    monkeypatch.setattr(safety_question, "read_source", lost)
    done = cli("verify", "p/a-holds.rdma", "p/b-violated.rdma", "p/c-hangs.rdma", "--timeout", "1", "--format", "json")
    report = json.loads(done.stdout)
    Draft202012Validator(SCHEMAS["verify"]).validate(report)
    found = results(report)
    assert found["a-holds"]["status"] == "holds"
    assert found["c-hangs"]["status"] == "violated"
    row = found["b-violated"]
    if how == "dead":
        assert (row["status"], row["error_kind"], done.returncode) == ("error", "internal", 4)
        assert "its process died (exit code 7)" in row["reason"]
    else:
        assert (row["status"], done.returncode) == ("unknown", 3)
        assert row["reason"] == "reached the time limit of 1 s, and was ended from outside"
        assert report["summary"]["undecided"] == 1


@pytest.mark.ci
def test_answers_stream_and_a_reader_may_leave(mixed: Path) -> None:
    (mixed / "z.rdma").write_text(endless())
    command = [COMMAND, "verify", "p/a-holds.rdma", "p/b-violated.rdma", "z.rdma", "--timeout", "100", "--jobs", "1"]
    with started(command, cwd=mixed, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline().startswith("p/a-holds.rdma: ")
        while not process.stdout.readline().startswith("p/b-violated.rdma"):
            pass
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted: 2 of 3 done; 2 programs" in rest
    assert "Traceback" not in errors
    piped = subprocess.run(
        f"{COMMAND} verify p p p/*.rdma --max-states 60 --explain | head -n 1; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        cwd=mixed,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert piped.stdout.startswith("p/a-holds.rdma: ")
    assert "Traceback" not in piped.stderr
    assert "BrokenPipe" not in piped.stderr


def test_what_prove_answers_is_reported_like_the_rest(cli: Cli, mixed: Path) -> None:
    (mixed / "stores.rdma").write_text(STORES)
    done = cli("verify", "stores.rdma", "--no-hangs", "--format", "json")
    report = json.loads(done.stdout)
    Draft202012Validator(SCHEMAS["verify"]).validate(report)
    answers = {(c["kind"], c["model"]): (c["status"], c["argument"]) for c in report["claims"]}
    assert answers == {
        ("invariant", "rdma"): ("holds", "rdma exhausted"),
        ("outcome", "tso"): ("violated", "model run"),
        ("safe", "pso"): ("violated", "proof"),
    }
    assert done.returncode == 1
    (run,) = [c["run"] for c in report["claims"] if c["kind"] == "outcome"]
    assert [move["does"] for move in run] == ["start", *["access"] * 4, "flush", "flush"]
    text = cli("verify", "stores.rdma", "--no-hangs").stdout
    assert "`prove` has a run of the machine of model tso" in text and "buffers x = 1" in text
    assert "Checked: replayed by the machine of model tso." in text
    log = json.loads(cli("verify", "stores.rdma", "--format", "sarif").stdout)
    SARIF.validate(log)
    assert sum("codeFlows" in each for each in log["runs"][0]["results"]) == 1
    JUNIT.assertValid(etree.fromstring(cli("verify", "stores.rdma", "--format", "junit").stdout.encode()))
