"""`contracts check` as users see it: rows, exit codes, what is beneath them, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import ROOT, Cli
from tests.support.contract_texts import written_contracts
from tests.support.shares import share

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/contracts-check.schema.json").read_text()))


@pytest.fixture(autouse=True)
def programs(tmp_path: Path) -> None:
    written_contracts(tmp_path)


def row(out: str, file: str) -> list[str]:
    line = next(line for line in out.split("\n") if line.startswith(file))
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_a_row_for_each_function(cli: Cli) -> None:
    done = cli("contracts", "check", "bcast.mp", "gather.mp", "last.mp", "--mode", "inlined")
    assert done.returncode == 1
    heads = ["file", "function", "verdict", "n", "mode", "bounds", "runs", "z3", "time"]
    assert done.stdout.split("\n", 1)[0].split() == heads
    assert row(done.stdout, "bcast.mp")[1:5] == ["bcast", "verified", "1..4", "inlined"]
    assert row(done.stdout, "bcast.mp")[5] == "dat in 10+PID..10+PID; root in 0..NPROCS-1"
    assert row(done.stdout, "gather.mp")[1:4] == ["gather_w", "VIOLATED ITF", "3..4"]
    assert row(done.stdout, "last.mp")[2] == "VIOLATED SGV" or row(done.stdout, "last.mp")[2] == "VIOLATED ITF"
    assert "3 files, 3 functions: 1 verified, 2 violated" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code"),
    share(
        [
            ("bcast.mp", 0),
            ("gather.mp --procs 1..2", 0),
            ("gather.mp --procs 3", 1),
            ("gather.mp --expect", 0),
            ("gather.mp --expect --procs 2", 0),
            ("gather.mp --engine explicit --procs 1,3", 1),
            ("last.mp --expect", 1),
            ("broken.mp bcast.mp", 2),
            ("bcast.mp missing.mp", 2),
            ("bcast.mp --only gather", 2),
            ("bcast.mp --procs 4..1", 2),
            ("bcast.mp --procs two", 2),
            ("bcast.mp --only bcast,", 2),
        ]
    ),
)
def test_exit_codes(cli: Cli, arguments: str, code: int) -> None:
    done = cli("contracts", "check", *arguments.split())
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_check_is_the_command_of_the_group(cli: Cli) -> None:
    assert "1 verified" in cli("contracts", "bcast.mp").stdout
    assert "did you mean `check`" in cli("contracts", "chek", "bcast.mp").stderr


def test_every_error_of_a_file_is_told(cli: Cli) -> None:
    done = cli("contracts", "check", "broken.mp")
    assert "did you mean `\\result`" in done.stderr
    assert done.returncode == 2


def test_a_violation_is_drawn_beneath_its_row(cli: Cli) -> None:
    done = cli("contracts", "check", "gather.mp", "--procs", "3")
    assert "P1 sends 11 to P0" in done.stdout
    assert "or a message that P1 sends after it has left" in done.stdout
    assert "val   10  11  12" in done.stdout


@pytest.mark.parametrize("arguments", [("gather.mp", "bcast.mp"), ("broken.mp", "last.mp", "--expect")])
def test_json_fits_the_schema(cli: Cli, arguments: tuple[str, ...]) -> None:
    made = json.loads(cli("contracts", "check", "--format", "json", *arguments).stdout)
    SCHEMA.validate(made)
    lines = cli("contracts", "check", "--format", "jsonl", *arguments).stdout.splitlines()
    assert [json.loads(line)["file"] for line in lines] == [each["file"] for each in made["results"]]


def test_json_has_the_run(cli: Cli) -> None:
    made = json.loads(cli("contracts", "check", "--format", "json", "--procs", "2..3", "gather.mp").stdout)
    (two, three) = made["results"][0]["functions"][0]["n"]
    assert (two["verdict"], three["verdict"], three["class"]) == ("VERIFIED", "VIOLATED", "ITF")
    events = [(each["proc"], each["event"]) for each in three["counterexample"]["events"]]
    assert (1, "send") in events and (1, "exit") in events and (0, "recv") in events
    assert [each["val"] for each in three["inputs"]] == [10, 11, 12]


def test_a_limit_is_unknown_and_named(cli: Cli) -> None:
    Path("choices.mp").write_text(
        "fun f() contract local { ensures \\result >= 0; } {\n  reg x\n"
        "  for i in 1..40 { choose { x = 2 * x } or { x = 2 * x + 1 } }\n  return x\n}\n",
        encoding="utf-8",
    )
    done = cli("contracts", "check", "choices.mp", "--procs", "1", "--timeout", "0.5")
    assert done.returncode == 3
    assert "time limit" in done.stdout


@pytest.mark.parametrize("option", [("--self-check",), ("--engine", "explicit")])
def test_answers_are_compared_where_that_is_asked_for(cli: Cli, option: tuple[str, ...]) -> None:
    made = json.loads(cli("contracts", "check", "--format", "json", *option, "bcast.mp", "gather.mp").stdout)
    assert made["options"]["self_check"] is True
    assert [each["functions"][0]["verdict"] for each in made["results"]] == ["VERIFIED", "VIOLATED"]
    assert not any(each["functions"][0]["warnings"] for each in made["results"])


def test_a_comparison_that_is_cut_short_costs_no_answer_and_is_told(cli: Cli) -> None:
    Path("wide.mp").write_text(
        "fun f(x) contract collective { bounds x in 0..999999; ensures \\result == x; } { return x }\n", encoding="utf-8"
    )
    done = cli("contracts", "check", "wide.mp", "--self-check", "--procs", "2", "--timeout", "2", "--format", "json")
    (function,) = json.loads(done.stdout)["results"][0]["functions"]
    assert function["verdict"] == "VERIFIED"
    assert all(word in str(function["warnings"]) for word in ("numbers", "interleavings", "time limit"))


def test_the_other_command_says_that_nothing_runs(cli: Cli) -> None:
    done = cli("messages", "check", "bcast.mp")
    assert done.returncode == 0
    assert "note: there is no `proc`, so nothing runs; `rdma-robust contracts check` checks the contracts" in done.stderr


def test_a_proof_for_every_n_is_asked_for(cli: Cli) -> None:
    """What is not proved is UNKNOWN, and says why; with an expectation that is a mismatch."""
    Path("every.mp").write_text(
        "fun f(x) contract collective { bounds x in 0..1; assigns \\nothing;\n"
        "  ensures \\result == \\on((PID + 1) % NPROCS, x); } {\n"
        "  send x to (PID + NPROCS - 1) % NPROCS\n  recv x from (PID + 1) % NPROCS\n  return x\n}\n"
        "fun g(x) contract collective { bounds x in 0..1; assigns \\nothing; ensures \\result == 0; } {\n"
        "  while x > 0 { x -= 1 }\n  return 0\n}\n"
        "expect contract f verified any n, contract g verified any n\n",
        encoding="utf-8",
    )
    asked = ("contracts", "check", "every.mp", "--procs", "1..2")
    assert cli(*asked, "--expect").returncode == 0
    done = cli(*asked, "--any-n", "--format", "json")
    assert done.returncode == 3
    SCHEMA.validate(made := json.loads(done.stdout))
    f, g = (each["every_n"] for each in made["results"][0]["functions"])
    assert (f["verdict"], f["inputs"], f["most"]) == ("VERIFIED", "all", None)
    assert (g["verdict"], g["reason"]) == ("UNKNOWN", "line 8: a `while`, whose number of rounds is not known")
    done = cli(*asked, "--any-n", "--expect")
    assert done.returncode == 1
    assert "expected contract g verified any n, found every n: UNKNOWN" in done.stdout
    done = cli(*asked, "--any-n", "--buffer", "zero", "--only", "g")
    assert "every n: for every n only with --buffer infinite" in " ".join(done.stdout.split())
