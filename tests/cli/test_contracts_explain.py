"""`contracts explain` as users see it: charts as text, drawings, a page, JSON, Mermaid."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import ROOT, Cli
from tests.support.contract_texts import written_contracts

SCHEMA = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/contracts-explain.schema.json").read_text()))


@pytest.fixture(autouse=True)
def programs(tmp_path: Path) -> None:
    written_contracts(tmp_path)


def test_text_fits_a_terminal(cli: Cli) -> None:
    done = cli("contracts", "explain", "gather.mp")
    assert done.returncode == 1
    assert "1 function with a contract: VIOLATED: gather_w" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "P0, P1: enter gather_w" in done.stdout


def test_what_is_verified_is_said(cli: Cli) -> None:
    done = cli("contracts", "explain", "bcast.mp")
    assert done.returncode == 0
    assert "verified" in done.stdout


def test_json_fits_the_schema(cli: Cli) -> None:
    SCHEMA.validate(json.loads(cli("contracts", "explain", "--format", "json", "gather.mp").stdout))


def test_a_drawing_a_page_and_a_diagram(cli: Cli, tmp_path: Path) -> None:
    for suffix in ("svg", "html"):
        assert cli("contracts", "explain", "gather.mp", "-o", f"g.{suffix}").returncode == 1
    ElementTree.parse(tmp_path / "g.svg")
    page = (tmp_path / "g.html").read_text()
    assert "gather_w, n = 3: ITF" in page
    assert "<script src" not in page
    diagram = cli("contracts", "explain", "gather.mp", "--format", "mermaid").stdout
    assert diagram.startswith("sequenceDiagram\n")
    assert "  p1->>p0: 11\n" in diagram


def test_without_a_violation_there_is_no_run_to_draw(cli: Cli) -> None:
    done = cli("contracts", "explain", "bcast.mp", "--format", "svg")
    assert done.returncode == 2
    assert "no contract is violated" in done.stderr
