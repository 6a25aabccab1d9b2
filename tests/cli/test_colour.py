"""What is for people has colour on a terminal; files and pipes have none; options and environment can ask otherwise."""

from __future__ import annotations

import fcntl
import json
import os
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest

from rdma_robust.frame.shell.colour import painted
from tests.conftest import COMMAND, NOT_ROBUST, Cli

COLOUR = re.compile(r"\x1b\[([0-9;]*)m")
RED = "\x1b[1;31m"


def on_terminal(folder: Path, *arguments: str, columns: int = 80, **environment: str) -> str:
    """Return what the installed command prints on a terminal of so many columns, on both streams."""
    controller, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {**os.environ, "TERM": "xterm-256color", **environment}
    parts = []
    with subprocess.Popen([COMMAND, *arguments], cwd=folder, stdin=terminal, stdout=terminal, stderr=terminal, env=env):
        os.close(terminal)
        try:
            while part := os.read(controller, 1 << 16):
                parts.append(part)
        except OSError:  # so ends a terminal whose last writer is gone
            pass
    os.close(controller)
    return b"".join(parts).decode().replace("\r\n", "\n")


def test_verdicts_messages_and_carets_have_colour_on_a_terminal(programs: Path) -> None:
    shown = on_terminal(programs, "check", "calm.rdma", "sb.rdma", "bad.rdma", "-v")
    assert f"{RED}NOT ROBUST\x1b[0m" in shown
    assert "\x1b[32mrobust\x1b[0m" in shown
    assert f"{RED}error:\x1b[0m unknown name" in shown
    assert re.search(r"\x1b\[1;31m +\|  +\^\^\x1b\[0m", shown)
    plain = COLOUR.sub("", re.sub(r"\x1b\[[0-9;?]*[A-Za-ln-z]", "", shown))
    assert all(len(line.rsplit("\r", 1)[-1]) <= 80 for line in plain.splitlines())


def test_differences_have_colour_on_a_terminal(programs: Path) -> None:
    shown = on_terminal(programs, "repair", "sb.rdma", "--diff")
    assert "\x1b[32m+" in shown
    assert f"{RED}-" in shown
    assert "\x1b[36m@@" in shown


@pytest.mark.ci
@pytest.mark.parametrize(
    ("arguments", "environment", "coloured"),
    [
        ((), {"NO_COLOR": "1"}, False),
        ((), {"NO_COLOR": "", "CLICOLOR": "0"}, False),
        ((), {"TERM": "dumb"}, False),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("--color=always",), {"NO_COLOR": "1", "TERM": "dumb"}, True),
    ],
)
def test_a_terminal_without_colour(
    programs: Path, arguments: tuple[str, ...], environment: dict[str, str], coloured: bool
) -> None:
    assert (RED in on_terminal(programs, *arguments, "nothing.rdma", **environment)) is coloured


@pytest.mark.ci
@pytest.mark.usefixtures("programs")
def test_files_and_pipes_have_none(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert "\x1b" not in cli("sb.rdma", "bad.rdma").stdout + cli("bad.rdma").stderr
    assert RED in cli("sb.rdma", "--color", "always").stdout
    assert RED in cli("--color", "always", "verify", "bad.rdma").stderr
    assert "\x1b" not in cli("sb.rdma").stdout, "a choice is for one run"
    cli("sb.rdma", "--color", "always", "-o", "report.txt")
    assert "NOT ROBUST" in (report := (tmp_path / "report.txt").read_text()) and "\x1b" not in report
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.setenv(name, "1")
        assert RED in cli("sb.rdma").stdout
        assert "\x1b" not in cli("repair", "--diff", "sb.rdma").stdout, "what patch reads has colour only if asked for"
        monkeypatch.setenv(name, "0")
        assert "\x1b" not in cli("sb.rdma").stdout


@pytest.mark.ci
@pytest.mark.usefixtures("programs")
def test_what_machines_read_has_none_whatever_is_asked(cli: Cli) -> None:
    for command in ("check", "verify", "outcomes", "explain", "repair"):
        done = cli(command, "sb.rdma", "--format", "json", "--color", "always")
        assert json.loads(done.stdout), command
        assert "\x1b" not in done.stdout, command
    for typed in (("fmt", "sb.rdma"), ("export", "--to", "promela", "sb.rdma"), ("repair", "sb.rdma", "-o", "-")):
        assert "\x1b" not in cli(*typed, "--color", "always").stdout


@pytest.mark.ci
@pytest.mark.usefixtures("programs")
def test_colour_changes_no_word(cli: Cli) -> None:
    for typed in (
        ("sb.rdma", "-v"),
        ("outcomes", "sb.rdma"),
        ("explain", "sb.rdma"),
        ("repair", "sb.rdma"),
        ("verify", "bad.rdma"),
    ):
        plain, shown = (cli(*typed, "--color", when) for when in ("never", "always"))
        for before, after in ((plain.stdout, shown.stdout), (plain.stderr, shown.stderr)):
            assert re.sub(r"[0-9.]+ s", "", COLOUR.sub("", after)) == re.sub(r"[0-9.]+ s", "", before)


def test_lints_have_colour_as_text_only(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "unread.rdma").write_text("node A { x }\nnode B { z }\nthread T on A { put B.z = x; x = 2; poll B }\n")
    assert "\x1b[33mwarning:" in cli("lint", "unread.rdma", "--color", "always").stdout
    assert "\x1b" not in cli("lint", "unread.rdma", "--color", "always", "--format", "concise").stdout


def test_only_words_that_answer_have_colour() -> None:
    for text in (
        NOT_ROBUST,
        "demo\n----",
        "  + 3  9  T1 NIC to B",
        "not-UNKNOWN.rdma is fine",
        "all robust programs",
        "yes  -",
    ):
        assert painted(text) == text
    assert painted("a.rdma  UNKNOWN") == "a.rdma  \x1b[33mUNKNOWN\x1b[0m"
    assert painted("x.rdma: unknown: reached the time limit").startswith("\x1b[1mx.rdma: \x1b[0m\x1b[33munknown:\x1b[0m")
