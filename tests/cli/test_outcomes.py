"""The installed command: `outcomes`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import NOT_ROBUST, ROOT, Cli

SCHEMA = json.loads((ROOT / "rdma_robust/schema/outcomes.schema.json").read_text())
LOOPING = """node A { x }
node B { y }
thread T1 on A { loop { put B.y = x } }
thread T2 on B { reg r; r = y }
outcome T2.r == 7 : allowed under rdma
"""


def test_the_table_marks_what_only_rdma_reaches(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sb.rdma").write_text(NOT_ROBUST)
    done = cli("outcomes", "sb.rdma")
    assert done.returncode == 0
    marked = [line.split() for line in done.stdout.splitlines() if "<- only RDMA" in line]
    assert [row[:4] for row in marked] == [["1", "1", "0", "0"]]
    assert "holds" in done.stdout


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ("forbidden under sc, allowed under rdma", 0),
        ("allowed under sc", 1),
        ("forbidden under rdma", 1),
    ],
)
def test_claims_decide_the_exit_code(cli: Cli, tmp_path: Path, claims: str, code: int) -> None:
    text = NOT_ROBUST.replace("forbidden under sc, allowed under rdma", claims)
    (tmp_path / "sb.rdma").write_text(text)
    done = cli("outcomes", "sb.rdma", "--format", "json")
    assert done.returncode == code
    report = json.loads(done.stdout)
    Draft202012Validator(SCHEMA).validate(report)
    assert report["exit_code"] == code
    assert report["complete"] is True


def test_loops_are_searched_up_to_a_limit_which_is_reported(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "loop.rdma").write_text(LOOPING)
    done = cli("outcomes", "loop.rdma")
    assert done.returncode == 3
    assert "CUT at 16 operations of a queue pair in flight, so there may be more" in " ".join(done.stdout.split())
    done = cli("outcomes", "loop.rdma", "--under-way", "1")
    assert "CUT at 1 operation of a queue pair in flight" in " ".join(done.stdout.split())
    claimless = LOOPING.partition("outcome")[0].replace(
        "loop { put B.y = x }", "reg i\n while i == 0 { put B.y = x; i = z }"
    )
    (tmp_path / "plain.rdma").write_text(claimless.replace("{ x }", "{ x, z }"))
    report = json.loads(cli("outcomes", "plain.rdma", "--format", "json").stdout)
    Draft202012Validator(SCHEMA).validate(report)
    assert (report["complete"], report["exit_code"], report["options"]["under_way"]) == (False, 3, None)
    assert report["searches"]["rdma"]["cut"] == "16 operations of a queue pair in flight"
    done = cli("outcomes", "loop.rdma", "--depth", "6")
    assert done.returncode == 3
    assert "CUT at depth 6" in done.stdout
    assert "undecided" in done.stdout
    report = json.loads(cli("outcomes", "loop.rdma", "--max-states", "20", "--format", "json").stdout)
    Draft202012Validator(SCHEMA).validate(report)
    assert report["complete"] is False
    assert report["searches"]["rdma"]["cut"]


def test_a_claim_that_fails_comes_before_one_that_is_undecided(cli: Cli, tmp_path: Path) -> None:
    text = LOOPING.replace("loop { put B.y = x }", "reg c; while c == 0 { put B.y = x; choose { c = 1 } or { skip } }")
    claims = "outcome T2.r == 7 : allowed under rdma\noutcome T2.r == 0 : forbidden under rdma\n"
    (tmp_path / "both.rdma").write_text(text.partition("outcome")[0] + claims)
    done = cli("outcomes", "both.rdma", "--depth", "8")
    assert ("undecided" in done.stdout, "FAILS" in done.stdout) == (True, True), done.stdout + done.stderr
    assert done.returncode == 1


def test_input_errors(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "bad.rdma").write_text("node\n")
    assert cli("outcomes", "bad.rdma").returncode == 2
    assert cli("outcomes", "missing.rdma").returncode == 2
    assert cli("outcomes").returncode == 2
    assert cli("outcomes", "-", stdin=NOT_ROBUST).returncode == 0
    assert cli("outcomes", "--depth", "0", "bad.rdma").returncode == 2
