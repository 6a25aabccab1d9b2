"""`rdma-robust record`: programs of ours in C and C++ that are compiled, run and decided, and what goes wrong on the way."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from rdma_robust.errors import UsageError
from rdma_robust.foreign import own_command
from rdma_robust.language.load import load_program
from rdma_robust.record.card_events import CardEvents
from rdma_robust.record.memory_words import EventPlaces, cut_words
from rdma_robust.record.recorded_log import accesses_of, read_run
from rdma_robust.record.recorded_order import recorded_order
from rdma_robust.record.recorded_text import recorded_text
from tests.conftest import ROOT

PROGRAMS = ROOT / "tests" / "data" / "record"
NEEDS_COMPILERS = pytest.mark.skipif(
    shutil.which("gcc") is None or shutil.which("g++") is None, reason="nothing was recorded: gcc and g++ are not installed"
)
RUNS = (
    (
        "mailbox.cc",
        (),
        "NOT ROBUST",
        ("mailbox.cc:30 from mailbox.cc:40 from mailbox.cc:42", "mailbox.cc:40 from mailbox.cc:46"),
    ),
    ("mailbox.cc", ("-DPOLL",), "robust", ()),
    ("flag.c", (), "robust", ()),
    ("flag.c", ("-DSHARED",), "NOT ROBUST", ("pair.h:80",)),
    ("messages.c", (), "robust", ()),
    ("messages.c", ("-DGET",), "NOT ROBUST", ("messages.c:19",)),
    ("long.c", (), "robust", ()),
    ("long.c", ("-DEARLY",), "robust", ()),
    ("long.c", ("-DREUSED",), "NOT ROBUST", ("long.c:13",)),
    ("atomics.c", (), "robust", ()),
    ("atomics.c", ("-DREAD",), "NOT ROBUST", ("atomics.c:25",)),
    ("atomics.c", ("-DEARLY",), "NOT ROBUST", ("atomics.c:12",)),
    ("turns.c", (), "robust", ()),
    ("threads.cc", (), "NOT ROBUST", ("threads.cc:32",)),
    ("threads.cc", ("-DPOLLED",), "robust", ()),
)


def record(*arguments: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `rdma-robust record` in a folder, with variables of the environment."""
    command, environment = own_command(["record", *arguments]), {**os.environ, **variables}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300)


def compiled(name: str, options: tuple[str, ...], folder: Path, **variables: str) -> None:
    """Copy a program of ours to a folder and compile it there as `./program`."""
    for file in ("pair.h", name):
        shutil.copy(PROGRAMS / file, folder)
    word = "cc" if name.endswith(".c") else "c++"
    done = record(word, "-O1", "-Wall", *options, "-o", "program", name, "-libverbs", folder=folder, **variables)
    assert done.returncode == 0, done.stderr


@NEEDS_COMPILERS
@pytest.mark.ci
@pytest.mark.parametrize(("name", "options", "verdict", "places"), RUNS, ids=str)
def test_runs_are_decided(
    name: str, options: tuple[str, ...], verdict: str, places: tuple[str, ...], tmp_path: Path
) -> None:
    compiled(name, options, tmp_path)
    done = record("--out", "run.rdma", "--", "./program", folder=tmp_path)
    assert f"run of program  {verdict}" in done.stdout, done.stdout + done.stderr
    assert done.returncode == (0 if verdict == "robust" else 1)
    assert ("this way through the program" in done.stdout) == (verdict == "robust")
    assert "others may differ [RR851]" in done.stderr
    for place in places:
        assert place in re.sub(r"\s+", " ", done.stdout)
    text = (tmp_path / "run.rdma").read_text()
    assert "//@ " in text and not load_program(text, "run.rdma").undecided


def free_port() -> str:
    """Return a port that nobody listens at."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return str(made.getsockname()[1])


@NEEDS_COMPILERS
@pytest.mark.ci
def test_processes_that_are_started_together_or_by_hand(tmp_path: Path) -> None:
    """Two processes of a program, connected over TCP."""
    compiled("ring.c", (), tmp_path)
    together = record("-n", "2", "--", "./program", free_port(), folder=tmp_path)
    assert "run of program  robust" in together.stdout, together.stdout + together.stderr
    assert sorted(line for line in together.stderr.splitlines() if "process " in line) == ["process 0", "process 1"]
    compiled("ring.c", ("-DREUSED",), tmp_path)
    (tmp_path / "run").mkdir()
    port, started = free_port(), []
    for number in ("0", "1"):
        variables = {**os.environ, "RDMA_ROBUST_RECORD": str(tmp_path / "run"), "RDMA_ROBUST_PROCESS": number}
        started.append(subprocess.Popen(["./program", port], cwd=tmp_path, env=variables, stdout=subprocess.DEVNULL))
    assert [each.wait(timeout=60) for each in started] == [0, 0]
    joined = record("--join", "run", folder=tmp_path)
    assert joined.returncode == 1 and "ring.c:29" in joined.stdout, joined.stdout + joined.stderr


@pytest.mark.ci
@pytest.mark.skipif(shutil.which("clang") is None, reason="nothing was compiled by clang: it is not installed")
@pytest.mark.parametrize(
    ("name", "option", "verdict"),
    [("mailbox.cc", "-O2", "NOT ROBUST"), ("long.c", "-O0", "robust"), ("counted.c", "-O2", "NOT ROBUST")],
)
def test_clang_compiles_too(name: str, option: str, verdict: str, tmp_path: Path) -> None:
    compiled(name, (option,), tmp_path, CC="clang", CXX="clang++")
    done = record("--out", "run.rdma", "--", "./program", folder=tmp_path)
    assert f"run of program  {verdict}" in done.stdout, done.stdout + done.stderr


@NEEDS_COMPILERS
@pytest.mark.ci
def test_threads_that_use_one_queue_pair_in_no_order_are_refused(tmp_path: Path) -> None:
    for option in ("-DALONE", "-DEARLY"):
        compiled("turns.c", (option,), tmp_path)
        done = record("--", "./program", folder=tmp_path)
        assert done.returncode == 2 and "nothing recorded orders " in done.stderr and "turns.c:" in done.stderr, (
            done.stdout + done.stderr
        )


@NEEDS_COMPILERS
@pytest.mark.ci
def test_what_is_recorded_is_a_run_under_sequential_consistency(tmp_path: Path) -> None:
    """Every thread of the recorded program can end: the machine accepts the run."""
    compiled("messages.c", (), tmp_path)
    assert record("--out", "run.rdma", "--", "./program", folder=tmp_path).returncode == 0
    ended = subprocess.run(
        own_command(["reach", "--model", "sc", "-t", "main0 ended && main1 ended", "run.rdma"]),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 1, ended.stdout + ended.stderr


@NEEDS_COMPILERS
@pytest.mark.ci
def test_fences_of_processors_are_recorded(tmp_path: Path) -> None:
    compiled("player.c", (), tmp_path)
    assert record("--out", "run.rdma", "--", "./program", "W0,1 F P0,1,2", "R1 F", folder=tmp_path).returncode == 0
    assert (tmp_path / "run.rdma").read_text().count("  mfence") == 2


@NEEDS_COMPILERS
@pytest.mark.ci
def test_races_of_a_run(tmp_path: Path) -> None:
    compiled("mailbox.cc", ("-DPOLL",), tmp_path)
    done = record("--races", "--", "./program", folder=tmp_path)
    assert done.returncode == 0 and "race-free" in done.stdout, done.stdout + done.stderr


@NEEDS_COMPILERS
@pytest.mark.ci
def test_programs_that_cannot_be_recorded(tmp_path: Path) -> None:
    compiled("hang.c", (), tmp_path)
    hangs = record("--run-timeout", "2", "--", "./program", folder=tmp_path)
    assert hangs.returncode == 2 and "has not ended after 2 s" in hangs.stderr
    left = [each for each in Path("/proc").glob("[0-9]*/cwd") if os.access(each, os.R_OK) and each.resolve() == tmp_path]
    assert not left
    compiled("hang.c", ("-DCRASH",), tmp_path)
    crashed = record("--", "./program", folder=tmp_path)
    assert crashed.returncode == 2 and "was ended by SIGABRT" in crashed.stderr
    alone = subprocess.run(["./program"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert alone.returncode == 97 and "run it with `rdma-robust record -- PROGRAM`" in alone.stderr


@pytest.mark.ci
def test_what_is_asked_wrongly(tmp_path: Path) -> None:
    nothing = record(folder=tmp_path)
    assert nothing.returncode == 2 and "which program?" in nothing.stderr
    missing = record("--", "./no-such-program", folder=tmp_path)
    assert missing.returncode == 2 and "cannot be run" in missing.stderr
    other = record("--", "true", folder=tmp_path)
    assert other.returncode == 2 and "no request of a NIC" in other.stderr
    sanitized = record("cc", "-fsanitize=address", "-o", "a", "a.c", folder=tmp_path)
    assert sanitized.returncode == 2 and "leave it out" in sanitized.stderr


def logged(folder: Path, *threads: str) -> Path:
    """Write logs of threads of one process, whose lines are events, to a folder."""
    for number, text in enumerate(threads):
        (folder / f"log.1.{number + 1}").write_text("".join(f"{line.strip()}\n" for line in text.strip().splitlines()))
    return folder


POSTED = """
    1 M 0 1000 100 7 @
    2 Q 256 @
    3 Q 257 @
    4 K 256 257 -1 @
    5 K 257 256 -1 @
    6 W p 1000 8 2a @
    7 P 256 0 2 1040 0 0 0 1 1000 8 - @
    8 E 256 @
    9 C 256 0 0 0 @
"""


def test_a_log_becomes_a_program(tmp_path: Path) -> None:
    (tmp_path / "region.0").write_bytes(bytes(256))
    text = recorded_text(logged(tmp_path, POSTED + "10 R v 1040 8 2a @"), "logged")
    assert "unrecorded" not in text
    assert "region0_0 = 42\n  put P0.region0_64 = region0_0\n  poll P0\n" in text
    assert "got = region0_64\n  assume got == 42" in text
    assert load_program(text, "logged.rdma").threads


def test_memory_that_changes_by_itself_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "region.0").write_bytes(bytes(256))
    with pytest.raises(UsageError, match="a read finds 43, where 42 was to be expected"):
        recorded_text(logged(tmp_path, POSTED + "10 R v 1040 8 2b @"), "logged")


def test_accesses_of_several_sizes_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "region.0").write_bytes(bytes(256))
    with pytest.raises(UsageError, match="accesses of several sizes"):
        recorded_text(logged(tmp_path, POSTED + "10 R v 1040 4 2a @"), "logged")


def test_copies_of_memory_are_cut_where_others_look(tmp_path: Path) -> None:
    run = read_run_of(tmp_path, "1 R m 1000 8 1 @\n 2 R m 1008 8 2 @\n 3 R p 1004 4 0 @\n 4 P 256 0 2 0 0 0 0 0 @")
    accesses = accesses_of(run.events)
    assert [each.size for each in accesses.values()] == [16, 4]
    words = cut_words(accesses.values(), [], EventPlaces({}))
    assert sorted((word.address, word.size) for word in words.kept) == [(0x1000, 4), (0x1004, 4), (0x1008, 8)]


def read_run_of(folder: Path, text: str, *threads: str):  # type: ignore[no-untyped-def]
    return read_run(logged(folder, text, *threads))


@pytest.mark.parametrize(
    ("first", "second", "edges"),
    [
        ("1 W a 10 4 1 @\n 2 T 20 0 @", "3 Y 20 0 @\n 4 R a 10 4 1 @", [(2, 3)]),
        ("1 N 20 1 @\n 2 W a 10 4 1 @\n 3 T 20 0 @", "4 Y 20 0 @\n 5 R a 10 4 1 @", []),
        ("1 L 20 0 @\n 2 W a 10 4 1 @\n 3 U 20 0 @", "4 L 20 0 @\n 5 R a 10 4 1 @", [(3, 4)]),
        ("1 r 20 0 @\n 2 W a 10 4 1 @\n 3 x 20 0 @", "4 r 20 0 @\n 5 R a 10 4 1 @", []),
        ("1 r 20 0 @\n 2 W a 10 4 1 @\n 3 x 20 0 @", "4 w 20 0 @\n 5 R a 10 4 1 @", [(3, 4)]),
        ("1 W a 10 4 1 @\n 2 > p1 0 @\n 4 + p1 8 @", "3 < p1 4 @\n 5 R a 10 4 1 @", [(2, 3)]),
        ("1 > p1 0 @\n 2 + p1 8 @", "3 < p1 4 @\n 4 R a 10 4 1 @", []),
        ("1 W a 10 4 1 @\n 2 > p1 0 @\n 3 + p1 8 @\n 4 > p1 0 @\n 6 + p1 8 @", "5 < p1 8 @\n 7 R a 10 4 1 @", [(2, 5)]),
    ],
)
def test_what_waits_for_what(first: str, second: str, edges: list[tuple[int, int]], tmp_path: Path) -> None:
    run = read_run_of(tmp_path, f"{first}\n 90 P 256 0 2 0 0 0 0 0 @", second)
    found = [(edge.before.number, edge.after.number) for edge in recorded_order(run).edges]
    assert found == edges


def test_an_unnamed_socket_is_said_to_be_unrecorded(tmp_path: Path) -> None:
    run = read_run_of(tmp_path, "1 > ?socket 0 @\n 2 + ?socket 8 @\n 3 P 256 0 2 0 0 0 0 0 @")
    assert list(recorded_order(run).unrecorded) == ["a socket"]
    assert CardEvents().atomics() == []


@pytest.mark.parametrize(("name", "text"), [("log.1.1", "1 P\n"), ("log.x.y", "1 P\n"), ("log.1.1", "1 P 2 3")])
def test_a_damaged_recording_is_bad_input(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    command = own_command(["record", "--join", str(tmp_path)])
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"the recording in {tmp_path} cannot be read: " in done.stderr
