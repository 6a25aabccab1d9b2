"""What is no regular file is refused at once, with a reason; streams that are open already are read within the limits."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rdma_robust.frame import registry
from tests.conftest import COMMAND, NOT_ROBUST, Cli
from tests.support.shares import share

KINDS = {"fifo": "it is a named pipe", "link": "it is a named pipe", "zero": "it is a device", "socket": "it is a socket"}

COMMANDS = [
    ("check",),
    ("check", "--jobs", "2", "calm.rdma"),
    ("check", "--dump-after", "parse"),
    ("report", "--no-cache"),
    ("outcomes",),
    ("fmt",),
    ("fmt", "--check"),
    ("explain",),
    ("repair",),
    ("reach", "-t", "1 == 1"),
    ("verify",),
    ("export", "--to", "promela"),
    ("explore", "--no-browser"),
    ("cover",),
    ("demo", "pcp", "--pace", "0"),
    ("demo", "vass", "--pace", "0"),
    ("demo", "finite", "--pace", "0", "--target", "1 == 1"),
    ("verify-certificate",),
    ("compare", "good.json"),
    ("share",),
    ("lint",),
    ("races",),
    ("needs",),
    ("models",),
    ("scale", "-D", "N=1..2"),
    ("prove",),
    ("exercise", "2"),
    ("import", "trencher"),
    ("messages", "check"),
    ("contracts", "explain"),
]
WITHOUT_A_FILE = {"completion", "explain-code", "lsp", "mcp", "new", "playground", "record", "synthesise"}
ELSEWHERE = {"hardware"}
"""Its files end in .toml, which names say: `tests/cli/test_named_tables.py`."""


@pytest.fixture
def special(programs: Path) -> Iterator[Path]:
    os.mkfifo(programs / "fifo")
    (programs / "link").symlink_to("fifo")
    (programs / "zero").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(programs / "socket"))
        yield programs


def test_every_command_that_reads_a_file_is_tried() -> None:
    assert {each[0] for each in COMMANDS} | WITHOUT_A_FILE | ELSEWHERE == set(registry.commands())


@pytest.mark.parametrize("command", share(COMMANDS, whole=True), ids=lambda c: " ".join(c[:2]))
def test_what_is_no_file_is_refused(cli: Cli, special: Path, command: tuple[str, ...]) -> None:
    cli("report", "--no-cache", "calm.rdma", "-o", "good.json")
    for kind, said in KINDS.items():
        done = cli(*command, kind)
        assert done.returncode == 2, (kind, done)
        assert f"{said}, not a file" in done.stderr + done.stdout, (kind, done)
    (special / "bytes").write_bytes(b"\xff\xfe\0")
    done = cli(*command, "bytes")
    assert done.returncode == 2 and "[RR004]" not in done.stderr, done
    if command[0] not in ("compare", "demo"):
        assert cli(*command, str(special / "nothing")).returncode == 2


@pytest.mark.usefixtures("special")
@pytest.mark.parametrize("named", ["fifo", "zero"])
def test_what_a_certificate_names_must_be_a_file(cli: Cli, special: Path, named: str) -> None:
    assert cli("check", "--certificate", "proofs", "calm.rdma").returncode == 0
    (path,) = (special / "proofs").iterdir()
    path.write_text(path.read_text().replace("../calm.rdma", f"../{named}"))
    done = cli("verify-certificate", "proofs")
    assert done.returncode == 2
    assert "not a file" in done.stderr
    assert cli("verify-certificate", "proofs", "--input", named).returncode == 2


@pytest.mark.parametrize("stream", share(["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"], 2))
def test_streams_are_read(installed: Cli, stream: str) -> None:
    assert installed(stream, stdin=NOT_ROBUST).returncode == 1


def test_process_substitution_is_read(programs: Path) -> None:
    line = f"{COMMAND} <(cat sb.rdma) <(cat calm.rdma) --jobs 2 --format jsonl && exit 9; {COMMAND} fmt <(cat calm.rdma)"
    done = subprocess.run(["bash", "-c", line], cwd=programs, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done
    assert '"not-robust"' in done.stdout
    assert '"robust"' in done.stdout
    assert "thread" in done.stdout


READING = [("check",), ("check", "calm.rdma"), ("report", "--no-cache"), ("outcomes",), ("cover",)]


@pytest.mark.parametrize("command", share(READING, 4, whole=True), ids=" ".join)
def test_a_stream_without_an_end_is_read_within_the_limit(programs: Path, command: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            [COMMAND, *command, "-", "--timeout", "0.5"],
            cwd=programs,
            stdin=reading,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(reading)
        os.close(writing)
    assert done.returncode == 3, done
    assert "reached the time limit of 0.5 s while reading" in done.stdout + done.stderr


def test_a_stream_that_is_too_long_is_refused(programs: Path) -> None:
    with open("/dev/zero", "rb") as zeros:
        done = subprocess.run(
            [COMMAND, "fmt", "-"], stdin=zeros, cwd=programs, capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 2
    assert "larger than 16 MiB" in done.stderr
