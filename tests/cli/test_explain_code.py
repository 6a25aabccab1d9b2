"""The installed command: `explain-code`, and the examples of every code."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from rdma_robust import check, parse
from rdma_robust.codes.known_codes import EXAMPLES, MessageCode, codes
from rdma_robust.errors import ProgramError, SizeLimitError
from rdma_robust.messages.language.load_messages import load_messages
from tests.conftest import ROOT, Cli
from tests.support.shares import share

SHOWN = [code for code in codes().values() if code.kind != "none"]
PROGRAM = "node A { x = 0 }\n\nthread T on A { x = 1 }\n\noutcome A.x == 1 : allowed under sc\n"


def messages_codes(text: str) -> set[str]:
    """The codes of errors of an `.mp` program, or else of warnings, as its commands print them."""
    try:
        return {each.code for each in load_messages(text, "example.mp").warnings}
    except ProgramError as error:
        return {each.code for each in error.diagnostics}


def given(cli: Cli, code: MessageCode, example: str, folder: Path) -> set[str]:
    """The codes that the command of a code's example answers with."""
    command = code.command(example)
    if code.kind == "command":
        (folder / "example.rdma").write_text(PROGRAM)
    else:
        (folder / EXAMPLES[code.kind][0]).write_text(example)
    if code.kind == "program" and code.by == "lint":
        answer = cli(*command, "--format", "json")
        return {found["code"] for found in json.loads(answer.stdout)["results"][0]["warnings"]}
    if code.kind == "program" and code.by == "prove":
        return set(re.findall(r"\[(RR\d+)\]$", cli(*command).stderr, re.MULTILINE))
    if code.kind == "program":
        answer = cli("report", *command[1:], "--format", "sarif", "-o", "-", "--no-cache", "--claims", "0")
        return {result["ruleId"] for result in json.loads(answer.stdout)["runs"][0]["results"]}
    if code.kind == "messages":
        return messages_codes(example)
    if code.kind in ("claims", "target", "runs", "violations", "races"):
        answer = cli(*command, "--format", "sarif")
        return {result["ruleId"] for result in json.loads(answer.stdout)["runs"][0]["results"]}
    return set(re.findall(r"\[(RR\d+)\]$", cli(*command).stderr, re.MULTILINE))


@pytest.mark.parametrize("code", share(SHOWN, 4), ids=lambda code: code.name)
def test_the_examples_give_the_code_and_do_not(code: MessageCode, cli: Cli, tmp_path: Path) -> None:
    assert given(cli, code, code.bad, tmp_path) == {code.name}
    assert given(cli, code, code.repaired, tmp_path) == set()


def test_a_code_is_explained(installed: Cli) -> None:
    done = installed("explain-code", "RR306")
    assert done.returncode == 0
    assert done.stdout.startswith("RR306: a shared variable where only registers may stand (error)\n\n")
    assert "\n  x = y\n" in done.stdout.replace("    x", "  x")
    assert "Does not:" in done.stdout
    assert max(map(len, done.stdout.split("\n"))) <= 100
    assert installed("explain-code", "rr306").stdout == installed("explain-code", "306").stdout == done.stdout


@pytest.mark.parametrize("code", codes())
def test_every_code_has_an_explanation(code: str, cli: Cli) -> None:
    done = cli("explain-code", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{code}: ")


def test_the_command_for_message_programs_prints_codes(cli: Cli, tmp_path: Path) -> None:
    for name, text in (("a.mp", codes()["RR904"].bad), ("b.mp", codes()["RR745"].bad)):
        (tmp_path / name).write_text(text)
    assert re.findall(r"\[(RR\d+)\]$", cli("messages", "check", "a.mp", "b.mp").stderr, re.MULTILINE) == ["RR904", "RR745"]


def test_all_codes_are_listed(cli: Cli) -> None:
    done = cli("explain-code")
    assert done.returncode == 0
    assert re.findall(r"^  (RR\d+)  (?:error|warning) +\S", done.stdout, re.MULTILINE) == list(codes())


def test_an_unknown_code(cli: Cli) -> None:
    done = cli("explain-code", "RR30")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"error: no message has the code 'RR30'; did you mean `RR\d+`\? \[RR002\]\n", done.stderr)
    far = cli("explain-code", "\x1b[1mwhat")
    assert far.returncode == 2
    assert "without an argument the command lists them all" in far.stderr
    assert "\x1b" not in far.stderr


@pytest.mark.ci
def test_messages_end_with_their_codes(installed: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.rdma").write_text("node A { x }\nthread T on A { xx = 1 }\nconst N = 1\n")
    done = installed("check", "bad.rdma", "missing.rdma")
    assert "bad.rdma:2:17: error: unknown name `xx` [RR201]\n" in done.stderr
    assert "missing.rdma: error: no such file" in done.stderr
    assert re.search(r"^missing\.rdma: error: .* \[RR001\]$", done.stderr, re.MULTILINE)
    reported = json.loads(installed("check", "bad.rdma", "--format", "json").stdout)
    assert [each["code"] for each in reported["results"][0]["errors"]] == ["RR201"]


LONG = {
    "RR003": "node A { x }\nthread T on A {\n" + "  y = 1\n  z = 1\n" * 60 + "}\n",
    "RR110": "node A { x }\nthread T on A {\n" + "  x = 1\n" * 20_000 + "}\n",
}


@pytest.mark.parametrize("code", LONG)
def test_codes_whose_examples_are_too_long(code: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "long.rdma").write_text(LONG[code])
    assert f"[{code}]" in cli("check", "long.rdma").stderr


def test_other_codes_without_an_example(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.rdma").write_text(PROGRAM)
    assert "[RR504]" in cli("reach", "a.rdma", "-t", "T ended && " * 2_000 + "T ended").stderr
    digits = (ROOT / "tests/nets/mutex-semaphore.spec").read_text().replace("sem = 1", f"sem = {'1' * 5_000}")
    (tmp_path / "long.spec").write_text(digits)
    assert "[RR607]" in cli("cover", "long.spec").stderr
    (tmp_path / "taken").write_text("")
    assert "[RR002]" in cli("check", "a.rdma", "--certificate", "taken").stderr
    monkeypatch.setattr("rdma_robust.questions.certificate_files.certify", lambda *_: "no room")
    assert "warning: no certificate: no room [RR006]" in cli("check", "a.rdma", "--certificate", "proofs").stderr
    monkeypatch.setattr("rdma_robust.pipeline.check_text", lambda *_, **__: 1 / 0)
    assert "[RR004]" in cli("check", "a.rdma").stderr


def test_codes_of_the_python_interface() -> None:
    program = parse(PROGRAM)
    with pytest.raises(ProgramError, match=r"\[RR622\]"):
        check(replace(program, nodes=()))
    assert SizeLimitError.code == "RR005"


def test_every_other_code_has_an_example() -> None:
    without = {code.name for code in codes().values() if code.kind == "none"}
    traces = {f"RR{number}" for number in range(941, 949)}  # tests/unit/messages/traces
    too_large = {"RR919"}  # tests/unit/language/messages/test_message_errors.py
    notes = {"RR027"}  # tests/cli/test_needs.py
    recorded = {"RR851", "RR852"}  # tests/cli/test_record.py
    assert without == {
        *recorded,
        *LONG,
        *notes,
        "RR504",
        "RR607",
        "RR006",
        "RR004",
        "RR622",
        "RR005",
        "RR112",
        *traces,
        *too_large,
    }
