"""The installed command: `hardware list`, `show`, `check` and `compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.orders import SHIPPED
from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_changes import changed_as, table_differences
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes
from tests.conftest import ROOT, Cli

MINE = 'name = "mine"\nbased-on = "default"\nsource = "page 7"\n[cells]\n"nrW nrW" = "-"\n[why]\n"nrW nrW" = "it says so"\n'


def test_list_names_every_table(cli: Cli) -> None:
    lines = cli("hardware", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(SHIPPED)


def test_show_has_cells_rules_and_sources(cli: Cli) -> None:
    said = cli("hardware", "show", "ooo-dp").stdout
    assert "  nrW   -     -     qp    qp    i     qp    qp\n" in said
    assert "mlx5dv_create_qp(3)" in said
    assert "reads-push-writes naR nrW: no" in said
    assert "the search decides programs under it" in said


def test_a_file_is_shown_and_checked(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(MINE)
    assert "nrW nrW: it says so" in cli("hardware", "show", str(file)).stdout
    said = cli("hardware", "check", str(file))
    assert (said.returncode, "an order table, mine" in said.stdout) == (0, True)
    file.write_text(MINE.replace('"-"', '"never"').replace("nrW nrW", "nrW nxW"))
    said = cli("hardware", "check", str(file))
    assert said.returncode == 2
    assert said.stderr.count("RR826") == 2


@pytest.mark.parametrize("command", [["show", "adefault"], ["check", "none.toml"], ["compare", "default", "x"]])
def test_what_is_no_table_is_said(cli: Cli, command: list[str]) -> None:
    said = cli("hardware", *command)
    assert (said.returncode, "internal" in said.stderr) == (2, False)


def test_compare_tells_cells_apart(cli: Cli) -> None:
    said = cli("hardware", "compare", "default", "ooo-dp", "--up-to", "2", "--format", "json")
    report = json.loads(said.stdout)
    Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/hardware.schema.json").read_text())).validate(report)
    assert [each["name"] for each in report["tables"]] == ["default", "ooo-dp"]
    found = {each["what"]: each for each in report["differences"]}
    assert {"nrW nrW", "naW nrW", "nrR nrR", "nlW nlW"} <= found.keys()
    assert found["nrW nrW"]["program"].count("put") == 2
    assert found["nlW nlW"]["reason"] == "no program of up to 2 statements notices it"
    differing = {each.what: each for each in table_differences(order_table("default"), order_table("ooo-dp"))}
    for what in ("nrW nrW", "naW nrW"):
        changed = Model(order=changed_as(order_table("default"), order_table("ooo-dp"), differing[what]))
        program = load_program(found[what]["program"], "found.rdma")
        assert axiomatic_outcomes(program, Model()).rdma != axiomatic_outcomes(program, changed).rdma


def test_tables_that_are_one_have_no_difference(cli: Cli) -> None:
    assert cli("hardware", "compare", "srd", "none").stdout == "srd and none are the same table\n"


@pytest.mark.parametrize("first", SHIPPED)
def test_all_changes_together_make_the_other_table(first: str) -> None:
    for second in SHIPPED:
        made = order_table(first)
        for difference in table_differences(made, order_table(second)):
            made = order_table(changed_as(made, order_table(second), difference))
        assert not list(table_differences(made, order_table(second))), second
