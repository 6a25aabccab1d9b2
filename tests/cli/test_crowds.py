"""Programs with any number of threads, as users decide them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Cli
from tests.support.crowd_programs import IRIW, LOCK, NAMED, SB

FLUSHED = LOCK.replace("  put L.lock = 0\n", "  get seen = D.data\n  poll D\n  poll D\n  put L.lock = 0\n")


def test_robust_for_any_number(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "flushed.rdma"
    path.write_text(FLUSHED)
    done = cli("check", str(path))
    assert done.returncode == 0
    assert "robust for any number of copies of C" in done.stdout


def test_not_robust_with_two_copies(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "sb.rdma"
    path.write_text(SB)
    done = cli("check", str(path), "--self-check")
    assert done.returncode == 1
    assert "not robust with 2 copies of C; robust with 1" in done.stdout
    assert "C[2]" in done.stdout
    assert "Checked by: axioms, hero from the start, few copies." in done.stdout


def test_json_says_how_many_copies(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "sb.rdma"
    path.write_text(SB)
    (result,) = json.loads(cli("check", str(path), "--format", "json").stdout)["results"]
    assert result["copies"] == {"templates": ["C"], "numbers": {"C": 2}, "least": True}
    assert result["verdict"] == "not-robust"
    assert {event["thread"] for event in result["witness"]["events"] if event["thread"]} == {"C[1]", "C[2]"}


def test_a_number_of_copies_is_decided_as_before(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "iriw.rdma"
    path.write_text(IRIW)
    assert cli("check", str(path), "-D", "C=2").returncode == 0
    assert "not robust with 4 copies of C; robust with 3" in cli("check", str(path)).stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--instrumentation", "paper"], "the paper's instrumentation does not have threads of which there are any number"),
        (["--dump-after", "nothing"], "there is no pass 'nothing'"),
    ],
)
def test_what_is_refused(cli: Cli, tmp_path: Path, options: list[str], words: str) -> None:
    path = tmp_path / "sb.rdma"
    path.write_text(SB)
    done = cli("check", str(path), *options)
    assert done.returncode == 2
    assert words in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("await", "thread C on CN"),
        ("events", "thread C[2]: entry"),
        ("filter", "class 1: thread C[1]"),
        ("instrument", "program"),
        ("lower", "local state of C: pc1"),
        ("cover", "not robust with 2 copies of C; robust with 1"),
        ("lift", "C[2]: "),
        ("confirm", "not-robust"),
    ],
)
def test_every_pass_shows_what_it_made(cli: Cli, tmp_path: Path, name: str, words: str) -> None:
    path = tmp_path / "sb.rdma"
    path.write_text(NAMED["sb"])
    assert words in cli("check", str(path), "--dump-after", name).stdout


UNBOUNDED = """
node A { x = 0, z = 0 }
node B { y = 0 }
node CN[*] { one = 1, p = 0 }
thread C[*] on CN[*] {
  choose {
    loop { put A.z = one }
    poll A
  } or {
    put A.x = one
    poll A
    EITHER
    get p = B.y
  } or {
    put B.y = one
    poll B
    assume one == 1
    get p = A.x
  }
}
"""
"""With a second poll there is nothing to poll, and no violation: seen only if each copy counts its own completions."""


@pytest.mark.ci
@pytest.mark.parametrize(
    ("either", "code", "words"),
    [
        ("poll A", 0, "robust for any number of copies of C"),
        ("mfence", 1, "not robust with"),
    ],
)
def test_completions_without_a_bound(cli: Cli, tmp_path: Path, either: str, code: int, words: str) -> None:
    path = tmp_path / "unbounded.rdma"
    path.write_text(UNBOUNDED.replace("EITHER", either))
    done = cli("check", str(path), "--timeout", "20")
    assert words in " ".join(done.stdout.split())
    assert done.returncode == code
