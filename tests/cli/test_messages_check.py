"""`messages check` as users see it: rows, exit codes, what is beneath them, JSON."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from bench.message_programs import senders
from rdma_robust.errors import InternalError, Span
from rdma_robust.limits import Limits
from rdma_robust.messages.engines import engine_table
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import BufferAnswer, MessageQuestions, Violation
from rdma_robust.reports.messages import messages_record
from tests.conftest import NOT_ROBUST, ROOT, Cli
from tests.support.message_texts import written
from tests.support.shares import share

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/messages-check.schema.json").read_text()))


@pytest.fixture(autouse=True)
def programs(tmp_path: Path) -> None:
    written(tmp_path, "relay", "swap", "ring", "broken", "many")


def row(out: str, file: str) -> list[str]:
    line = next(line for line in out.split("\n") if line.startswith(file))
    return [cell.strip() for cell in line.split("  ") if cell.strip()]


def test_a_row_for_each_program(cli: Cli) -> None:
    done = cli("messages", "check", "relay.mp", "swap.mp", "ring.mp", "--engine", "states")
    assert done.returncode == 1
    assert done.stdout.split("\n", 1)[0].split() == ["file", "asserts", "deadlock", "races", "matchings", "engine", "time"]
    assert row(done.stdout, "relay.mp")[1:6] == ["VIOLATED", "zero, any", "1", "2", "states"]
    assert row(done.stdout, "swap.mp")[1:6] == ["hold", "zero, any", "0", "1", "states"]
    assert row(done.stdout, "ring.mp")[1:6] == ["hold", "no", "0", "1", "states"]
    assert "3 programs: 1 good, 1 violated, 2 with deadlocks (1 racing, 1 leaking)" in done.stdout


def test_races_and_matchings_are_left_out_if_so_wanted_and_nothing_is_judged_by_them(cli: Cli) -> None:
    left_out = cli("messages", "check", "relay.mp", "--no-matches")
    assert row(left_out.stdout, "relay.mp")[1:6] == ["VIOLATED", "zero, any", "-", "-", "states"]
    denied = cli("messages", "check", "relay.mp", "--no-matches", "--deny", "race")
    assert row(denied.stdout, "relay.mp")[3:5] == ["1", "-"]
    claimed = cli("messages", "check", "ring.mp", "--no-matches", "--expect")
    assert row(claimed.stdout, "ring.mp")[1:6] == row(cli("messages", "check", "ring.mp", "--expect").stdout, "ring.mp")[1:6]
    told = json.loads(cli("messages", "check", "relay.mp", "--no-matches", "--format", "json").stdout)
    SCHEMA.validate(told)
    assert (told["options"]["matches"], told["results"][0]["matchings"], told["results"][0]["pairs"]) == (False, None, None)


@pytest.mark.parametrize(
    ("arguments", "code"),
    share(
        [
            ("ring.mp", 0),
            ("swap.mp", 1),
            ("swap.mp --buffer infinite", 0),
            ("swap.mp --buffer any", 1),
            ("swap.mp --expect", 0),
            ("swap.mp --expect --deny race", 0),
            ("relay.mp --expect --deny race", 1),
            ("relay.mp --expect --deny leak --buffer infinite", 1),
            ("ring.mp --deny race,leak", 0),
            ("broken.mp ring.mp", 2),
            ("broken.mp swap.mp", 2),
            ("ring.mp missing.mp", 2),
            ("ring.mp --deny leek", 2),
            ("ring.mp --engine dfs", 2),
            ("many.mp --engine states --timeout 0.5", 3),
            ("many.mp ring.mp broken.mp --engine states --timeout 3", 2),
        ]
    ),
)
def test_exit_codes(cli: Cli, arguments: str, code: int) -> None:
    assert cli("messages", "check", *arguments.split()).returncode == code


def test_without_the_words_messages_and_check(cli: Cli) -> None:
    for arguments in (("messages", "ring.mp"), ("ring.mp",), ("check", "ring.mp"), ("--quiet", "ring.mp", "swap.mp")):
        assert "good" in cli(*arguments).stdout, arguments


def test_the_wrong_command_for_a_program(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sb.rdma").write_text(NOT_ROBUST)
    done = cli("check", "sb.rdma", "ring.mp")
    assert done.returncode == 2
    assert "ring.mp: error: this is a message program; `rdma-robust messages check` decides it" in done.stderr
    assert "did you mean `check`?" in cli("messages", "chekc", "ring.mp").stderr
    done = cli("messages", "check", "sb.rdma")
    assert done.returncode == 2
    assert "sb.rdma: error: this is no message program; `rdma-robust check` decides it" in done.stderr


def test_claims_that_fail_are_named(cli: Cli, tmp_path: Path) -> None:
    text = (
        (tmp_path / "relay.mp").read_text().replace("matchings 2", "matchings 3").replace("expect violated", "expect holds")
    )
    (tmp_path / "relay.mp").write_text(text)
    done = cli("messages", "check", "relay.mp", "--expect", "--no-explain")
    assert done.returncode == 1
    assert row(done.stdout, "relay.mp")[1] == "NO"
    assert "holds under zero: found violated" in done.stdout
    assert "matchings 3 under infinite: found matchings 2" in done.stdout


@pytest.mark.ci
def test_a_program_without_claims_is_a_mismatch(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mute.mp").write_text("proc P { skip }\n")
    done = cli("messages", "check", "mute.mp", "--expect")
    assert done.returncode == 1
    assert "no `expect` line" in done.stdout


def test_beneath_the_row_are_the_runs(cli: Cli) -> None:
    out = cli("messages", "check", "relay.mp").stdout
    assert "VIOLATED under zero, infinite and any: line 5: assert v == 1 is false: v is 2" in out
    assert "DEADLOCK under zero and any, not under infinite: Client[2] waits forever" in out
    assert "receive 1 of Server (line 4) can take send 1 of Client[1] (line 7)" in out
    out = cli("messages", "check", "swap.mp").stdout
    assert "Ping waits for Pong, and Pong waits for Ping." in out
    assert "The program relies on buffering at lines 4 and 9" in out
    assert "post the receive first" in " ".join(out.split()).lower()


def test_errors_have_a_place(cli: Cli) -> None:
    done = cli("messages", "check", "broken.mp")
    assert "broken.mp:4:10: error: unexpected `frm` [RR101]" in done.stderr
    assert row(done.stdout, "broken.mp")[1] == "error"


def test_json_follows_its_schema(cli: Cli) -> None:
    for arguments in (
        "relay.mp swap.mp ring.mp broken.mp missing.mp",
        "relay.mp --expect --buffer any",
        "many.mp --engine states --timeout 0.5",
    ):
        report = json.loads(cli("messages", "check", *arguments.split(), "--format", "json").stdout)
        assert not list(SCHEMA.iter_errors(report)), arguments
    report = json.loads(cli("messages", "check", "relay.mp", "swap.mp", "broken.mp", "--format", "json").stdout)
    found = [(each["file"], each["buffer"], each["asserts"], each["deadlock"]["answer"]) for each in report["results"]]
    assert found == [
        ("relay.mp", "zero", "violated", "yes"),
        ("relay.mp", "infinite", "violated", "no"),
        ("relay.mp", "any", "violated", "yes"),
        ("swap.mp", "zero", "hold", "yes"),
        ("swap.mp", "infinite", "hold", "no"),
        ("swap.mp", "any", "hold", "yes"),
        ("broken.mp", None, "unknown", "unknown"),
    ]
    assert report["results"][0]["witness"]["shows"] == "violation"
    assert report["summary"]["exit_code"] == 2


def test_json_lines_are_the_results(cli: Cli) -> None:
    out = cli("messages", "check", "relay.mp", "ring.mp", "--format", "jsonl").stdout
    assert [json.loads(line)["buffer"] for line in out.splitlines()] == ["zero", "infinite", "any"] * 2


@pytest.mark.ci
def test_instances_and_standard_input(cli: Cli, tmp_path: Path) -> None:
    done = cli("messages", "check", "ring.mp", "-D", "N=2..4")
    assert done.returncode == 0
    assert [f"ring.mp (N={n})" in done.stdout for n in (2, 3, 4)] == [True] * 3
    done = cli("messages", "check", "-", stdin=(tmp_path / "swap.mp").read_text())
    assert done.returncode == 1
    assert row(done.stdout, "<stdin>")[1:3] == ["hold", "zero, any"]
    assert "no constant" in cli("messages", "check", "ring.mp", "-D", "M=2").stderr


def test_settings_count(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "rdma-robust.toml").write_text("[messages]\nbuffer = 'infinite'\ndeny = 'race'\n")
    assert cli("messages", "check", "swap.mp").returncode == 0
    assert cli("messages", "check", "swap.mp", "--buffer", "zero").returncode == 1
    shown = cli("messages", "check", "--show-settings").stdout
    assert "messages check:" in shown
    assert "infinite" in shown


@pytest.mark.ci
def test_a_report_into_a_file(installed: Cli, tmp_path: Path) -> None:
    done = installed("messages", "check", "-j", "2", "relay.mp", "swap.mp", "-o", "r.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert not list(SCHEMA.iter_errors(json.loads((tmp_path / "r.json").read_text())))
    assert installed("messages", "check", "ring.mp", "-o", "other.mp").returncode == 2


def _lying(monkeypatch: pytest.MonkeyPatch, name: str, **says: object) -> None:
    """Have an engine say something else of programs than it finds."""
    true = engine_table.engine_named("states")

    def lie(program: MessageProgram, buffer: Buffer, questions: MessageQuestions, limits: Limits) -> BufferAnswer:
        return replace(true(program, buffer, questions, limits), **says)  # type: ignore[arg-type]

    monkeypatch.setattr(engine_table, "_ENGINES", {**engine_table._ENGINES, name: lambda: lie})


def test_engines_that_disagree_are_a_defect(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    done = cli("messages", "check", "ring.mp", "--self-check")
    assert done.returncode == 0
    assert "ring.mp: note: the engines states" in done.stderr
    _lying(monkeypatch, "states", deadlocked="yes")
    assert cli("messages", "check", "ring.mp").returncode == 0
    done = cli("messages", "check", "ring.mp", "--self-check")
    assert done.returncode == 4
    assert "two engines disagree under zero: deadlocked is no" in done.stderr


def test_a_run_that_cannot_be_replayed_is_a_defect(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Violation(0, "assert", Span(5, 3, 5, 18, 0, 0), (), "never")
    _lying(monkeypatch, "auto", violated="yes", violations=(wrong,))
    done = cli("messages", "check", "ring.mp")
    assert done.returncode == 4
    assert "the run does not end with the violation that it should show" in done.stderr
    assert "VIOLATED" not in done.stdout


def test_objects_of_all_pairs_are_made_for_json_alone(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(*_: object, **_more: object) -> object:
        raise InternalError("made")

    monkeypatch.setattr(messages_record, "buffer_object", unwanted)
    assert cli("messages", "check", "ring.mp").returncode == 0
    assert cli("messages", "check", "ring.mp", "--format", "json").returncode == 4


def test_counts_of_any_size(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "gather.mp").write_text(senders(30, "sum"), encoding="utf-8")
    done = cli("messages", "check", "gather.mp")
    assert row(done.stdout, "gather.mp")[1:6] == ["hold", "no", "30", "2.65e32", "assignment"]
    told = json.loads(cli("messages", "check", "gather.mp", "--format", "json", "--buffer", "any").stdout)
    SCHEMA.validate(told)
    assert told["results"][0]["matchings"] == {"count": math.factorial(30), "exact": True, "listed": []}


def test_what_an_assume_sets_aside_is_said_to_be_about_nothing(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "f.mp"
    path.write_text("proc P { reg x; recv x from Q; assume x == 2; assert x == 3 }\nproc Q { send 1 to P }\n")
    result = cli("messages", "check", str(path))
    assert result.returncode == 0
    assert "UNREACHABLE: no execution is complete, all that end are set aside by `assume` (line 1)" in result.stderr
    path.write_text("proc P { reg x; recv x from Q; assume x == 1; assert x == 1 }\nproc Q { send 1 to P }\n")
    assert "UNREACHABLE" not in cli("messages", "check", str(path)).stderr
