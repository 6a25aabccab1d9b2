"""`compare` sees all that `report` counts: each claim, deadlock, race, leak and class of errors, not verdicts alone."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator

from rdma_robust.batch.compare import FORMATS, compare, read_report
from rdma_robust.frame.question import AnyQuestion
from rdma_robust.options import CheckOptions
from rdma_robust.questions.contracts_question import CONTRACTS_CHECK, ContractsAsking
from rdma_robust.questions.messages_question import MESSAGES_CHECK, MessagesAsking
from rdma_robust.questions.robustness_question import CHECK, RobustnessAsking
from rdma_robust.reports.analyses.safety_record import VERIFY_WORDS
from tests.conftest import ROOT, Cli

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/compare.schema.json").read_text()))

SHARED = """
node A { x = 0 }
node B { y = 0 }

thread T on A {
  reg r
  put B.y = 1
  poll B
  r = x
  assert r == 0
}

outcome B.y == 1 : allowed under rdma
expect robust
"""
PASSING = """
program passing
proc P { send 1 to Q; send 2 to Q }
proc Q { reg y; recv y from P; recv y from P; assert y == 2 }
expect holds, no deadlock, no race, matchings 1
"""
CONTRACT = """
fun give(val)
contract collective {
  bounds val in 10 + PID..10 + PID;
  assigns \\nothing;
  ensures \\result == val;
} {
  return val
}

expect contract give verified
"""
PROVEN = "node A { x = 0 }\nthread T on A { x = 1 }\ninvariant A.x >= 0\nexpect safe under sc, safe under tso\n"
NUMBERS: Final = {"requested", "programs", "files", "functions", "interrupted", "exit_code", "time_s", "passed_over"}
"""Members of summaries that count no answers."""

Document = dict[str, Any]
Mutation = Callable[[Document], None]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    for name, text in {"s.rdma": SHARED, "p.mp": PASSING, "c.mp": CONTRACT}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def report(cli: Cli, texts: Path) -> Document:
    cli("report", ".", "-q", "--no-cache", "--repair", "0", "-o", "old.json")
    document: Document = json.loads((texts / "old.json").read_text())
    return document


def put(where: Callable[[Document], Document], **members: object) -> Mutation:
    return lambda document: where(document).update(members)


def program(document: Document) -> Document:
    found: Document = document["results"][0]
    return found


def buffer(document: Document) -> Document:
    found: Document = document["messages"][-1]
    return found


def procs(document: Document) -> Document:
    found: Document = document["contracts"][0]["functions"][0]["n"][-1]
    return found


def claim(of: str) -> Callable[[Document], Document]:
    return lambda document: next(each for each in buffer(document)["claims"] if each["text"] == of)


ASKINGS: Final[Sequence[tuple[AnyQuestion, Any]]] = (
    (CHECK, RobustnessAsking(CheckOptions())),
    (MESSAGES_CHECK, MessagesAsking()),
    (CONTRACTS_CHECK, ContractsAsking()),
)
"""The questions of a report, as they are asked in it."""

RACE: Final = {"receive": {"process": "Q", "nth": 0, "line": 4}, "sends": []}
VIOLATION: Final = {"process": "Q", "kind": "assert", "line": 4, "column": 1, "text": "y == 2", "schedule": []}

MUTATIONS: Final[dict[str, Mutation]] = {
    "check.robust": put(program, verdict="not-robust"),
    "check.not_robust": put(program, verdict="not-robust", as_expected=False),
    "check.unknown": put(program, verdict="unknown", as_expected=None),
    "check.error": put(program, verdict="error", as_expected=None),
    "check.as_expected": put(program, as_expected=False),
    "check.mismatched": put(program, as_expected=False),
    "messages check.good": put(buffer, asserts="violated", violations=[VIOLATION]),
    "messages check.violated": put(buffer, asserts="violated", violations=[VIOLATION]),
    "messages check.deadlocked": put(buffer, deadlock={"answer": "yes", "waiting": []}),
    "messages check.racing": put(buffer, races=[RACE]),
    "messages check.leaking": put(buffer, leak={"answer": "yes", "sends": [], "receives": []}),
    "messages check.unknown": put(buffer, asserts="unknown"),
    "messages check.error": put(buffer, buffer=None, error_kind="invalid", reason="broken"),
    "messages check.as_expected": put(claim("no deadlock"), status="failed"),
    "messages check.mismatched": put(claim("matchings 1"), status="failed"),
    "contracts check.verified": put(procs, verdict="UNKNOWN"),
    "contracts check.violated": put(procs, verdict="VIOLATED", **{"class": "DLK"}),
    "contracts check.unknown": put(procs, verdict="UNKNOWN"),
    "contracts check.error": lambda d: d["contracts"][0].update(functions=[], error_kind="invalid", reason="broken"),
    "contracts check.as_expected": lambda d: d["contracts"][0]["claims"][0].update(status="failed"),
    "contracts check.mismatched": lambda d: d["contracts"][0]["claims"][0].update(status="failed"),
    **{
        f"claims.{word}": lambda d, word=word: d["claims"][0]["findings"][0].update(status=word, exit_code=1)
        for word in VERIFY_WORDS
        if word != "holds"
    },
}
"""For each number of a summary, a change of one report by which it gets worse."""


def test_every_number_of_a_report_has_a_mutation() -> None:
    """A new number of a summary has to be thought of here, and in `compare`."""
    numbers = {
        f"{question.name}.{word}"
        for question, asking in ASKINGS
        for word in question.view(asking).numbers([])
        if word not in NUMBERS
    }
    assert numbers <= set(MUTATIONS)


def test_compare_notices_every_mutation_and_its_repair(report: Document) -> None:
    old = read_report("old", json.dumps(report))
    assert not [each for each in compare(old, old).claims if each.kind != "same"]
    for name, mutate in MUTATIONS.items():
        changed = copy.deepcopy(report)
        mutate(changed)
        new = read_report("new", json.dumps(changed))
        assert compare(old, new).worse, name
        assert compare(new, old).better, name


def test_claims_that_were_answered_and_are_not_any_more_are_missing(report: Document) -> None:
    changed = report | {"claims": [None]}
    found = compare(*(read_report("r", json.dumps(each)) for each in (report, changed)))
    assert {each.kind for each in found.claims} == {"missing", "same"}


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
    [
        ("s.rdma", "r == 0", "r == 1", "s.rdma: assertion line 10: "),
        ("s.rdma", "allowed", "forbidden", "s.rdma: outcome line 13: "),
        ("s.rdma", "reg r", "reg r; await x == 1", "s.rdma: no hang under rdma: holds -> violated"),
        ("p.mp", "y == 2", "y == 1", "p.mp: assertion line 4 under any: holds, as expected -> violated, not as expected"),
        ("p.mp", "send 2 to Q }", "}", "p.mp: deadlock under any: no, as expected -> yes, not as expected"),
        ("p.mp", "send 2 to Q }", "send 2 to Q; send 3 to Q }", "p.mp: leak under any: no -> yes"),
        ("c.mp", "return val", "return val + 1", "c.mp: contract give, n = 2: verified, as expected -> violated"),
    ],
)
def test_rows_of_programs_that_were_edited(cli: Cli, texts: Path, *, file: str, before: str, after: str, said: str) -> None:
    cli("report", file, "-q", "--no-cache", "--repair", "0", "-o", "old.json")
    text = (texts / file).read_text()
    assert before in text
    (texts / file).write_text(text.replace(before, after))
    cli("report", file, "-q", "--no-cache", "--repair", "0", "-o", "new.json")
    done = cli("compare", "old.json", "new.json")
    assert done.returncode == 1
    assert said in " ".join(done.stdout.split())
    found = json.loads(cli("compare", "old.json", "new.json", "--format", "json").stdout)
    SCHEMA.validate(found)
    assert found["claims"]
    assert found["summary"]["worse"] >= 1
    assert said.partition(": ")[2].rpartition(":")[0] in [each["claim"] for each in found["claims"]]
    assert "### Claims that got worse" in cli("compare", "old.json", "new.json", "--format", "md").stdout
    assert cli("compare", "new.json", "old.json").returncode == 0


def test_a_claim_is_the_same_after_lines_above_it_were_added(cli: Cli, texts: Path) -> None:
    cli("report", "s.rdma", "-q", "--no-cache", "--repair", "0", "-o", "old.json")
    (texts / "s.rdma").write_text(f"// one\n// two\n{SHARED}")
    cli("report", "s.rdma", "-q", "--no-cache", "--repair", "0", "-o", "new.json")
    done = cli("compare", "old.json", "new.json", "--strict", "--fail-on", "changes")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("command", "file", "before", "after"),
    [
        (("check",), "s.rdma", "r == 0", "r == 1"),
        (("verify",), "s.rdma", "r == 0", "r == 1"),
        (("prove",), "q.rdma", "A.x >= 0", "A.x >= 1"),
        (("messages", "check"), "p.mp", "y == 2", "y == 1"),
        (("contracts", "check"), "c.mp", "return val", "return val + 1"),
    ],
)
def test_the_json_of_every_command_with_claims_is_compared(
    cli: Cli, texts: Path, *, command: tuple[str, ...], file: str, before: str, after: str
) -> None:
    assert f"rdma-robust/{'-'.join(command)}" in FORMATS
    (texts / "q.rdma").write_text(PROVEN)
    (texts / "old.json").write_text(cli(*command, file, "--format", "json").stdout)
    (texts / file).write_text((texts / file).read_text().replace(before, after))
    (texts / "new.json").write_text(cli(*command, file, "--format", "json").stdout)
    done = cli("compare", "old.json", "new.json")
    assert (done.returncode, "0 worse" in done.stdout) == (1, False), done.stdout
    assert cli("compare", "new.json", "old.json").returncode == 0
    assert cli("compare", "old.json", "old.json", "--strict", "--fail-on", "changes").returncode == 0


def test_reports_of_two_commands_are_not_compared(cli: Cli, texts: Path) -> None:
    for name, command in (("old", "check"), ("new", "verify")):
        (texts / f"{name}.json").write_text(cli(command, "s.rdma", "--format", "json").stdout)
    done = cli("compare", "old.json", "new.json")
    assert done.returncode == 2
    assert "another command" in done.stderr
