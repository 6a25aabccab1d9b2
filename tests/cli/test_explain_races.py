"""`explain --races`: the races of a program, each with its run in lanes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import Cli

UNPOLLED = """\
node A { buffer = 1, other = 1 }
node B { x, y }
thread T on A {
  put B.x = buffer
  buffer = 2
  put B.y = other
  poll B
  poll B
}
"""
SENT = """#include <shmem.h>
static long data, flag;
static void send(long *where, long value) { shmem_long_p(where, value, 1); }
int main(void)
{
	shmem_init();
	shmem_barrier_all();
	if (shmem_my_pe() == 0) {
		send(&data, 42);
		send(&flag, 1);
	} else {
		shmem_wait_until(&flag, SHMEM_CMP_EQ, 1);
		long seen = data;
	}
	shmem_finalize();
}
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "race.rdma").write_text(UNPOLLED)
    (tmp_path / "free.rdma").write_text(UNPOLLED.replace("  buffer = 2\n", ""))
    return "race.rdma"


def test_the_run_is_told_in_lanes(cli: Cli, file: str) -> None:
    done = cli("explain", "--races", file)
    assert (done.returncode, done.stderr) == (1, "")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "race: RACE"
    assert "1. A.buffer: `put B.x = buffer` (line 4) and `buffer = 2` (line 5) race" in lines
    head = lines.index("step line T CPU on A T NIC to B")
    assert lines[head : head + 4] == [
        "step line T CPU on A T NIC to B",
        "+ 1 4 reads buffer = 1",
        "2 4 writes B.x = 1",
        "+ 3 5 writes buffer = 2",
    ]
    assert "nlR(A.buffer, 1)" in cli("explain", "--races", "-v", file).stdout
    free = cli("explain", "--races", "free.rdma")
    assert free.returncode == 0 and free.stdout.startswith("free: race-free: every two accesses of a location that conflict")


def test_it_is_drawn(cli: Cli, file: str) -> None:
    drawing = cli("explain", "--races", "--format", "svg", file).stdout
    assert drawing.count("; one of the two accesses") == 2 and "on the cycle" not in drawing
    page = cli("explain", "--races", "--format", "html", file).stdout
    assert page.count("<svg") == 1 and len(re.findall(">race 1<", page)) == 2
    assert json.loads(cli("explain", "--races", "--format", "json", file).stdout)["format"] == "rdma-robust/races"
    assert "There" not in cli("explain", "--races", "--format", "svg", "free.rdma").stdout
    assert cli("explain", "--races", "--format", "dot", file).returncode == 2
    both = cli("explain", "--races", "--model", "tso", file)
    assert both.returncode == 2 and "two questions" in both.stderr


def test_places_of_c_have_the_calls_that_lead_there(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sent.c").write_text(SENT)
    done = cli("explain", "--races", "sent.c")
    assert done.returncode == 1 and "order none" in done.stdout.splitlines()[0]
    assert re.search(r"\+ +\d+ +3<9 +writes P1.data = 42", done.stdout)
    assert "Line 3<9: line 3, expanded from line 9." in done.stdout
