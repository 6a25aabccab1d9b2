"""A start of the tool loads nothing that it does not need; how long that takes is measured by bench/startup.py."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO

import pytest
from rich.console import Console
from rich.progress import Progress

from bench.startup import loaded_without_need
from rdma_robust.frame.shell import meter
from tests.conftest import COMMAND


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("litmus/mailbox-polled.rdma",),
        ("fmt", "litmus/mailbox-polled.rdma"),
        ("--help",),
        ("check", "--help"),
        ("nonsense", "x"),
    ],
    ids=" ".join,
)
def test_no_slow_package_is_loaded_without_need(arguments: tuple[str, ...]) -> None:
    assert loaded_without_need(*arguments) == []


def test_the_version_loads_hardly_anything() -> None:
    command = [sys.executable, "-X", "importtime", COMMAND, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not {name for name in names if name.startswith(("typer", "lark", "rdma_robust.cli", "rdma_robust.language"))}


@pytest.mark.parametrize("command", ["check", "verify", "prove", "lint", "repair", "record"])
def test_help_loads_nothing_that_reads_or_decides_programs(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", COMMAND, command, "--help"], capture_output=True, text=True, check=True
    )
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    deciding = ("pipeline", "robustness", "counters.search", "analyses", "certify", "language.load", "language.syntax")
    assert not {name for name in names if name.startswith(tuple(f"rdma_robust.{each}" for each in deciding))}


def test_a_quick_answer_on_a_terminal_draws_no_progress_line(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Progress] = []

    def progress() -> Progress:
        drawn.append(Progress(console=Console(file=StringIO()), auto_refresh=False))
        return drawn[-1]

    monkeypatch.setattr(meter, "_progress", progress)
    for patience, lines in ((1000.0, 0), (0.0, 1)):
        monkeypatch.setattr(meter, "PATIENCE_S", patience)
        line = meter.Meter(2, on=True)
        with line.running():
            line.tick()
            line.search(5, 3)
            line.done(1)
        line.tick()
        assert len(drawn) == lines
