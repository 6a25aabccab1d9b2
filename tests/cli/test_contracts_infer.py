"""`contracts infer` as users see it: clauses, JSON, and why there are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import ROOT, Cli
from tests.support.contract_texts import BCAST, written_contracts

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/contracts-infer.schema.json").read_text()))


@pytest.fixture(autouse=True)
def programs(tmp_path: Path) -> None:
    written_contracts(tmp_path)


def test_the_clauses_of_a_broadcast(cli: Cli) -> None:
    done = cli("contracts", "infer", "bcast.mp", "--procs", "1..3")
    assert done.returncode == 0
    assert done.stdout.splitlines()[:2] == ["bcast, n = 1..3:", "  waitsfor root;"]
    assert "  quiet to \\all until \\all if PID != root;" in done.stdout


def test_what_a_receive_from_any_needs(cli: Cli) -> None:
    made = json.loads(cli("contracts", "infer", "gather.mp", "--procs", "1..3", "--format", "json").stdout)
    SCHEMA.validate(made)
    (found,) = made["functions"]
    assert found["quiet_from"] == ["quiet from \\others if PID == root"]
    assert found["waitsfor"] == ["waitsfor \\all if PID == root"]


def test_with_what_it_needs_a_function_is_verified(cli: Cli, tmp_path: Path) -> None:
    text = (tmp_path / "gather.mp").read_text().replace("waitsfor", "quiet from \\others; waitsfor", 1)
    (tmp_path / "quiet.mp").write_text(text.replace("violated ITF from 3", "verified"))
    assert cli("contracts", "check", "quiet.mp", "--expect", "--procs", "1..3").returncode == 0


def test_of_a_function_that_hangs_nothing_is_inferred(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "hangs.mp").write_text(BCAST.replace("if p != root { send dat to p }", "if p > root { send dat to p }"))
    done = cli("contracts", "infer", "hangs.mp")
    assert done.returncode == 3
    assert "nothing is inferred: n = 2: DL" in done.stdout


def test_where_sends_wait_more_is_promised(cli: Cli) -> None:
    path = str(ROOT / "litmus/contracts/zero-gather.mp")
    buffered, waiting = (
        cli("contracts", "infer", "--procs", "2..3", "--buffer", each, path) for each in ("infinite", "zero")
    )
    assert "waitsfor root;" not in buffered.stdout
    assert "waitsfor root;" in waiting.stdout
