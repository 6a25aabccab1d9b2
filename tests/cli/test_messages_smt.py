"""`--engine smt`: with z3 it answers as the others do, and without it one message says what to install."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.support.message_texts import written

NEEDS = "error: --engine smt needs the solver z3, which is not installed: pip install z3-solver"


@pytest.fixture(autouse=True)
def programs(tmp_path: Path) -> None:
    written(tmp_path, "relay", "swap", "ring")


@pytest.fixture
def without_z3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)


def test_smt_answers(cli: Cli) -> None:
    done = cli("messages", "check", "relay.mp", "swap.mp", "ring.mp", "--engine", "smt", "--no-explain", "-j", "1")
    assert done.returncode == 1
    relay, swap, ring = [line.split() for line in done.stdout.split("\n")[1:4]]
    assert relay[:7] == ["relay.mp", "VIOLATED", "zero,", "any", "1", "2", "smt"]
    assert swap[:7] == ["swap.mp", "hold", "zero,", "any", "0", "1", "smt"]
    assert ring[1] == "hold"
    assert "takes send 1 of Client[2]" in cli("messages", "matches", "relay.mp", "--engine", "smt").stdout


def test_all_engines_are_compared(cli: Cli) -> None:
    assert "the engines states, sat, smt answer alike" in cli("messages", "check", "relay.mp", "--self-check").stderr


@pytest.mark.usefixtures("without_z3")
@pytest.mark.parametrize("command", ["check", "matches", "explain"])
def test_without_z3_it_is_said_once_what_to_install(command: str, cli: Cli) -> None:
    done = cli("messages", command, *(["relay.mp", "swap.mp"] if command == "check" else ["relay.mp"]), "--engine", "smt")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(NEEDS) and done.stderr.count(NEEDS) == 1


@pytest.mark.usefixtures("without_z3")
def test_without_z3_the_others_go_on(cli: Cli) -> None:
    done = cli("messages", "check", "swap.mp", "--self-check", "-j", "1")
    assert done.returncode == 1
    assert "the engines states, sat answer alike" in done.stderr


def test_the_installed_command_without_z3(installed: Cli, tmp_path: Path) -> None:
    """As where it is not installed: a start-up file takes it away."""
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['z3'] = None\n", encoding="utf-8")
    without = {"PYTHONPATH": str(tmp_path)}
    done = installed("messages", "check", "--engine", "smt", "ring.mp", "relay.mp", env=without)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(NEEDS) and done.stderr.count(NEEDS) == 1
