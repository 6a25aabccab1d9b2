"""`messages trace` as users see it: runs as traces, imports, and traces as inputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.support.message_texts import written
from tests.support.shares import share

AUTHORS = "T0_0: rcv(0, a)\nT0_1: wait(T0_0)\nT1_0: snd(0, 4)\nT2_0: snd(0, 5)\nT0_2: assert(= a 4)\n"
LOG = """{"rank": 0, "call": "MPI_Recv", "source": "any", "tag": 5, "status": {"source": 1, "tag": 5}}
{"rank": 1, "call": "MPI_Send", "dest": 0, "tag": 5, "value": 42}
"""


@pytest.fixture(autouse=True)
def programs(tmp_path: Path) -> None:
    written(tmp_path, "relay", "swap", "ring", "broken")


def test_a_run_is_written_and_decided_again(cli: Cli, tmp_path: Path) -> None:
    done = cli("messages", "trace", "relay.mp", "--seed", "1", "-o", "run.json")
    assert (done.returncode, done.stdout) == (0, "")
    assert "relay.mp: note: a run under infinite, 1 matched: all processes have ended" in done.stderr
    assert json.loads((tmp_path / "run.json").read_text())["format"] == "rdma-robust/message-trace"
    checked = cli("messages", "check", "run.json")
    assert checked.returncode == 1
    assert "assert v == 1 is false: v is 2" in checked.stdout
    assert "2 pairs, 1 racing" in cli("messages", "matches", "run.json").stdout
    assert cli("messages", "explain", "run.json").returncode == 1


@pytest.mark.ci
def test_how_a_run_ends_is_said(cli: Cli) -> None:
    assert "it ends in a deadlock" in cli("messages", "trace", "swap.mp", "--buffer", "zero").stderr
    assert "all processes have ended" in cli("messages", "trace", "ring.mp", "-D", "N=2").stderr


def test_one_seed_makes_one_run(cli: Cli) -> None:
    runs = [cli("messages", "trace", "relay.mp", "--seed", str(seed)).stdout for seed in (0, 1, 1)]
    assert runs[1] == runs[2]
    others = (cli("messages", "trace", "relay.mp", "--seed", str(seed)).stdout for seed in range(2, 20))
    assert any(each != runs[1] for each in others)


def test_imports(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text(AUTHORS)
    trace = cli("messages", "trace", "--import", "mp-trace", "run.txt").stdout
    done = cli("messages", "check", "-", stdin=trace)
    assert done.returncode == 1
    assert "assert a == 4 is false: a is 5" in done.stdout
    (tmp_path / "run.jsonl").write_text(LOG)
    done = cli("messages", "trace", "--import", "mpi-log", "run.jsonl", "-o", "log.json")
    assert done.returncode == 0
    assert "run.jsonl: note: " in done.stderr
    done = cli("messages", "check", "log.json")
    assert done.returncode == 0
    assert "log.json: note: " in done.stderr
    assert json.loads(cli("messages", "check", "log.json", "--format", "json").stdout)["results"][0]["notes"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    share(
        [
            ("broken.mp", "broken.mp:4:10: error: unexpected `frm`"),
            ("missing.mp", "no such file"),
            ("relay.mp swap.mp", "writes one trace, and there are 2 inputs"),
            ("relay.mp -o ring.mp", "is there already; --force replaces it"),
            ("--import mp-trace relay.mp -D N=2", "a recorded run has no constants"),
            ("--import mp-trace relay.mp", "relay.mp:1:1: error: "),
            ("--import mpi-logs relay.mp", "did you mean `mpi-log`?"),
            ("relay.mp --buffer all", "--buffer all: it is one of zero, infinite, any"),
        ]
    ),
)
def test_mistakes_are_explained(cli: Cli, arguments: str, said: str) -> None:
    done = cli("messages", "trace", *arguments.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.ci
def test_a_trace_has_no_constants(cli: Cli, tmp_path: Path) -> None:
    cli("messages", "trace", "ring.mp", "-o", "run.json")
    done = cli("messages", "check", "run.json", "-D", "N=2")
    assert done.returncode == 2
    assert "a trace has no constants" in done.stderr
    (tmp_path / "cut.json").write_text((tmp_path / "run.json").read_text()[:100])
    done = cli("messages", "check", "cut.json")
    assert done.returncode == 2
    assert "cut.json:" in done.stderr
