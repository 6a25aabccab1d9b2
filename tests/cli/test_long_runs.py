"""Runs for people: one vocabulary, and long runs fold to the steps that matter."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT, Cli

ROUNDS = 40
LONG = f"""domain 0..{ROUNDS}
node A {{ x = 0, tick }}
node B {{ z = 0, seen }}
thread T on A {{
  reg i
{"".join(f"  tick = {k}{chr(10)}" for k in range(ROUNDS))}  x = 1
  put B.z = x
  x = 2
}}
thread U on B {{
  reg r
{"".join(f"  seen = {k}{chr(10)}" for k in range(ROUNDS // 2))}  r = z
}}
outcome U.r == 2 : forbidden under rdma
"""
FOLDED = re.compile(r"Folded: (\d+) of (\d+) steps, on which the others do not depend; -v shows them\.")
STEP = re.compile(r"^ {2,6}[ +*] +(\d+) +\d+  ", re.MULTILINE)
GAP = re.compile(r"^ +\.\.\. (\d+) steps?$", re.MULTILINE)
TARGET = ("--target", "U ended && U.r == 2")
COMMANDS = [("check",), ("verify",), ("reach", *TARGET), ("explain",)]


@pytest.fixture
def long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "long.rdma").write_text(LONG)
    monkeypatch.setenv("COLUMNS", "80")
    return "long.rdma"


def asked(run: Cli, command: tuple[str, ...], file: str, *more: str) -> str:
    done = run(command[0], file, *command[1:], *more)
    assert done.returncode == 1, done.stderr
    return done.stdout


@pytest.mark.ci
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_long_run_shows_what_matters_and_says_what_it_leaves_out(cli: Cli, long: str, command: tuple[str, ...]) -> None:
    text = asked(cli, command, long)
    assert all(len(line) <= 80 for line in text.splitlines()), max(text.splitlines(), key=len)
    (found,) = FOLDED.findall(" ".join(text.split()))
    left_out, total = map(int, found)
    shown = [int(number) for number in STEP.findall(text)]
    assert sum(map(int, GAP.findall(text))) == left_out == total - len(shown)
    assert len(shown) <= 8 and "tick" not in text.split("The cycle")[0].split("in the end")[0].split("step line")[1]
    assert "nlR(" not in text


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.ci
def test_v_shows_every_step_with_its_event(cli: Cli, long: str, command: tuple[str, ...]) -> None:
    text = asked(cli, command, long, "-v")
    (total,) = {int(total) for _, total in FOLDED.findall(" ".join(asked(cli, command, long).split()))}
    numbers = [int(number) for number in STEP.findall(text)]
    assert len(numbers) == total and numbers == sorted(numbers)
    assert "Folded" not in text
    assert "nlR(A.x, 2)" in text and f"lW(A.tick, {ROUNDS - 1})" in text


@pytest.mark.ci
def test_the_process_says_the_same(installed: Cli, long: str) -> None:
    assert FOLDED.search(" ".join(asked(installed, ("check",), long).split()))
    assert FOLDED.search(" ".join(asked(installed, ("verify",), long).split()))


@pytest.mark.ci
def test_json_keeps_every_step(cli: Cli, long: str) -> None:
    witness = json.loads(asked(cli, ("check",), long, "--format", "json"))["results"][0]["witness"]
    cycle = {end for edge in witness["cycle"] for end in (edge["source"], edge["target"])}
    assert len(witness["order"]) > ROUNDS
    assert cycle <= set(witness["matter"]) <= set(witness["order"]) and len(witness["matter"]) < 8
    steps = json.loads(asked(cli, ("explain",), long, "--format", "json"))["timeline"]["steps"]
    assert len(steps) > ROUNDS
    assert {step["event"] for step in steps if step["matters"] and step["event"] is not None} == set(witness["matter"])
    (reached,) = json.loads(asked(cli, ("reach", *TARGET), long, "--format", "json"))["results"]
    run = reached["run"]
    assert len(run) > ROUNDS


@pytest.mark.ci
@pytest.mark.parametrize("name", ["sb-put-polled", "mailbox-plain", "credit-counter-loop"])
def test_short_runs_are_shown_as_a_whole_in_one_vocabulary(cli: Cli, name: str) -> None:
    file = str(ROOT / f"litmus/{name}.rdma")
    for command in ("check", "verify", "explain"):
        text = cli(command, file).stdout
        assert "Folded" not in text
        assert not re.search(r"\b(nlR|nrW|nrR|nlW|lR|lW|CAS|P)\(", text), text
    for demo in (("demo", "vass"), ("demo", "abp", "--length", "0")):
        assert not re.search(r"\b(nlR|nrW|nrR|nlW|lR|lW|CAS|P)\(", cli(*demo, "--all-moves").stdout)
