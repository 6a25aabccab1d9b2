"""Limits of time and memory hold in every pass, and the answer says in which: no test here looks at the clock."""

from __future__ import annotations

import os
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rdma_robust import check
from rdma_robust.cli import answering
from rdma_robust.cli.commands import demo_show, explain, explore, verify_certificate
from rdma_robust.errors import InternalError
from rdma_robust.frame.shell import apart, inputs
from rdma_robust.frame.shell.inputs import Source
from rdma_robust.guard import Slack
from rdma_robust.language.load import load_program
from rdma_robust.options import CheckOptions
from rdma_robust.processes import family_mebibytes
from rdma_robust.questions import robustness_question, safety_question
from rdma_robust.teaching.explorer import session as session_module
from rdma_robust.teaching.explorer.session import Session
from rdma_robust.teaching.explorer.view import VerdictView
from tests.conftest import NOT_ROBUST, ROBUST, Cli
from tests.support.nasty import PROGRAMS, net
from tests.support.shares import share

SIZES = {"statements": 2500, "threads": 400, "branches": 600, "registers": 400, "cells": 60, "comments": 700_000}
"""Sizes for which the whole work takes many seconds."""

COMMANDS = [
    ("check",),
    ("check", "--instrumentation", "paper"),
    ("check", "--reductions", "none"),
    ("check", "--kernel", "python", "--engine", "karp-miller"),
    ("check", "--self-check"),
    ("check", "--certificate", "proofs"),
    ("check", "--dump-after", "lower"),
    ("explain",),
    ("repair",),
    ("repair", "--remove-needless"),
    ("reach", "-t", "1 == 0"),
    ("verify",),
    ("outcomes", "--max-states", "100000000"),
    ("report", "--no-cache", "--format", "html"),
]
CUT = re.compile(
    r"reached the (time limit of [0-9.]+ s|memory limit of [0-9]+ MiB) while [a-z ]+|out of memory while [a-z ]+"
)
AFTER = re.compile(
    r"reached the (time|memory) limit of [0-9.]+ (s|MiB) after [0-9]+ states?|[0-9] states?, .* CUT at [0-9.]+ s"
)


def is_cut(code: int, said: str) -> None:
    assert code == 3, said
    said = " ".join(said.split())
    assert CUT.search(said) or AFTER.search(said), said
    assert "while working" not in said


@pytest.fixture
def nasty(tmp_path: Path) -> Path:
    for name, size in SIZES.items():
        (tmp_path / f"{name}.rdma").write_text(PROGRAMS[name](size))
    return tmp_path


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody ends a process from outside: what ends it is its passes and its timer, however slow the machine is."""
    monkeypatch.setattr(apart, "OUTSIDE", Slack(0.0, 60.0, 4096))


@pytest.mark.usefixtures("nasty", "patient")
@pytest.mark.parametrize("name", share(SIZES, 4))
def test_a_limit_of_time_names_the_pass(cli: Cli, name: str) -> None:
    for seconds in ("0.2", "0.7"):
        done = cli("check", f"{name}.rdma", "--timeout", seconds)
        is_cut(done.returncode, done.stdout + done.stderr)
        assert f"time limit of {seconds} s" in " ".join((done.stdout + done.stderr).split())


@pytest.mark.usefixtures("nasty", "patient")
@pytest.mark.parametrize(
    "command", [pytest.param(c, marks=() if n % 6 == 0 else pytest.mark.ci) for n, c in enumerate(COMMANDS)], ids=" ".join
)
def test_every_command_keeps_a_limit_of_time(cli: Cli, command: tuple[str, ...], nasty: Path) -> None:
    page = ("-o", str(nasty / "r.html")) if command[0] == "report" else ()
    name = "comments.rdma" if command == ("verify",) else "threads.rdma"  # that claims nothing: verify only reads it
    done = cli(*command, name, "--timeout", "0.5", *page)
    said = done.stdout + done.stderr + ((nasty / "r.html").read_text() if page else "")
    is_cut(done.returncode, said)


@pytest.mark.ci
@pytest.mark.usefixtures("nasty")
@pytest.mark.parametrize(
    "command",
    [COMMANDS[0], *(pytest.param(each, marks=pytest.mark.long) for each in (COMMANDS[1], *COMMANDS[5:7]))],
    ids=" ".join,
)
def test_a_limit_of_memory_names_the_pass(installed: Cli, command: tuple[str, ...]) -> None:
    memory = "52"  # of a process of its own: starting takes 35, what is made before a long search 72
    done = installed(*command, "statements.rdma", "--memory", memory, "--timeout", "60")
    is_cut(done.returncode, done.stdout + done.stderr)
    assert f"memory limit of {memory} MiB" in " ".join((done.stdout + done.stderr).split())


@pytest.mark.usefixtures("nasty")
def test_a_program_among_others_costs_its_own_row(cli: Cli, nasty: Path) -> None:
    (nasty / "small.rdma").write_text(PROGRAMS["statements"](4))
    done = cli(
        "check", "threads.rdma", "small.rdma", "registers.rdma", "--timeout", "0.5", "--jobs", "2", "--format", "jsonl"
    )
    assert done.returncode == 3
    verdicts = re.findall(r'"verdict": "([a-z-]+)"', done.stdout)
    assert verdicts == ["unknown", "not-robust", "unknown"]


@pytest.mark.usefixtures("patient")
def test_nets_are_read_within_the_limits(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "ring.spec").write_text(net(20_000))
    done = cli("cover", "ring.spec", "--timeout", "0.3")
    is_cut(done.returncode, done.stdout + done.stderr)


@pytest.mark.parametrize("name", ["threads", "branches", "registers", "cells"])
def test_the_passes_look_themselves(name: str) -> None:
    """Without the command line there is no timer."""
    outcome = check(PROGRAMS[name](SIZES[name]), timeout=0.3)
    assert outcome.verdict.value == "unknown"
    assert CUT.match(outcome.reason), outcome.reason


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("limit", ["time", "memory"])
def test_what_lets_no_timer_in_is_ended_from_outside(cli: Cli, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    kept = []

    def stuck(*_: object) -> str:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        kept.append(b"x" * (400 << 20) if limit == "memory" else b"")
        time.sleep(60)
        return ""

    monkeypatch.setattr(robustness_question, "read_source", stuck)
    memory = str(family_mebibytes(os.getpid()) + 100)
    limits = ("--timeout", "0.2") if limit == "time" else ("--timeout", "0", "--memory", memory)
    done = cli("check", "calm.rdma", *limits)
    assert done.returncode == 3
    assert f"reached the {limit} limit of {limits[-1]} {'s' if limit == 'time' else 'MiB'}, and was ended" in done.stdout


UNATTENDED = [
    ("explain", "calm.rdma", "--timeout", "0.2"),
    ("repair", "calm.rdma", "--timeout", "0.2"),
    ("reach", "calm.rdma", "-t", "1 == 0", "--timeout", "0.2"),
    ("verify", "calm.rdma", "--timeout", "0.2"),
    ("outcomes", "calm.rdma", "--timeout", "0.2"),
    ("check", "calm.rdma", "--dump-after", "lower", "--timeout", "0.2"),
    ("export", "calm.rdma", "--to", "json"),
    ("fmt", "calm.rdma"),
    ("verify-certificate", "proofs/calm.rdma.json"),
    ("demo", "vass", "calm.rdma"),
    ("demo", "finite", "calm.rdma", "--target", "1 == 0"),
    ("demo", "pcp", "calm.rdma"),
]


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("command", share(UNATTENDED, 6, whole=True), ids=lambda c: " ".join(c[:2]))
def test_every_command_is_ended_from_outside(cli: Cli, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]) -> None:
    assert cli("check", "calm.rdma", "--certificate", "proofs").returncode == 0
    here = os.getpid()

    def stuck(*_: object, **__: object) -> str:
        assert os.getpid() != here, "nobody could end this process"
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        time.sleep(60)
        return ""

    monkeypatch.setattr(answering, "TIMEOUT_S", 0.2)
    for module in (answering, explain, safety_question, demo_show, verify_certificate):
        monkeypatch.setattr(module, "read_source", stuck)
    done = cli(*command)
    assert done.returncode == 3, done.stderr
    name = command[1 + (command[0] == "demo")]
    says = f"{name}: unknown: reached the time limit of 0.2 s, and was ended"
    reported = command[0] in ("reach", "verify")
    assert (says.replace("unknown", "UNKNOWN") in done.stdout) if reported else (says in done.stderr)


@pytest.mark.usefixtures("programs")
def test_memory_is_kept_from_outside_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = []

    def stuck(*_: object) -> str:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        kept.append(b"x" * (400 << 20))
        time.sleep(60)
        return ""

    monkeypatch.setattr(safety_question, "read_source", stuck)
    memory = str(family_mebibytes(os.getpid()) + 100)
    done = cli("verify", "calm.rdma", "--timeout", "0", "--memory", memory)
    assert done.returncode == 3
    assert f"calm.rdma: UNKNOWN: reached the memory limit of {memory} MiB, and was ended from outside" in done.stdout


@pytest.mark.usefixtures("programs")
def test_the_programs_after_one_that_was_ended_are_answered(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    read = inputs.read_source

    def stuck(source: Source) -> str:
        if source.name == "sb.rdma":
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
            time.sleep(60)
        return read(source)

    def dead(source: Source) -> str:
        if source.name == "sb.rdma":
            os._exit(7)
        return read(source)

    monkeypatch.setattr(answering, "read_source", stuck)
    monkeypatch.setattr(answering, "TIMEOUT_S", 0.5)
    done = cli("fmt", "sb.rdma", "calm.rdma")
    assert done.returncode == 3
    assert "program calm" in done.stdout
    assert "sb.rdma: unknown: reached the time limit of 0.5 s" in done.stderr
    monkeypatch.setattr(answering, "read_source", dead)
    done = cli("fmt", "sb.rdma", "calm.rdma")
    assert done.returncode == 4
    assert "program calm" in done.stdout
    assert "sb.rdma: internal error: its process died (exit code 7)" in done.stderr


def test_streams_are_read_by_the_process_that_waits(cli: Cli) -> None:
    assert cli("fmt", "-", stdin=ROBUST).stdout.startswith("program calm")
    assert cli("demo", "pcp", "-", stdin="a,ab\nb\n").stderr.startswith("-:2:1: error: ")


@pytest.mark.parametrize("how", ["decided", "stuck", "forgotten", "broken", "dead"])
def test_the_explorer_decides_in_another_process(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """As the server and the terminal do: in a thread beside the one that serves."""
    session = Session(load_program(NOT_ROBUST, "sb.rdma"))
    here, real = os.getpid(), session_module.session_verdict

    def decided(*arguments: Any) -> VerdictView:
        assert os.getpid() != here, "nobody could end this process"
        match how:
            case "stuck":
                signal.signal(signal.SIGALRM, signal.SIG_IGN)
                time.sleep(60)
            case "forgotten":
                time.sleep(60)
            case "broken":
                raise InternalError("two methods disagree")
            case "dead":
                os._exit(7)
        return real(*arguments)

    monkeypatch.setattr(session_module, "session_verdict", decided)
    limit = 0.3 if how in ("stuck", "forgotten") else 60
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(explore.decided_view, CheckOptions(timeout=limit), session)
        if how in ("broken", "dead"):
            with pytest.raises(InternalError, match="disagree" if how == "broken" else "exit code 7"):
                asked.result()
            return
        found = asked.result()
    monkeypatch.undo()
    if how == "decided":
        assert found == session_module.session_verdict(session, CheckOptions())
    else:
        assert found.verdict == "unknown"
        assert found.text.startswith("Not known: reached the time limit of 0.3 s")
        assert ("ended from outside" in found.text) == (how == "stuck")
