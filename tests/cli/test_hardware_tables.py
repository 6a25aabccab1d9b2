"""`hardware`: order tables, listed, shown, checked and compared."""

from __future__ import annotations

from pathlib import Path

from rdma_robust.orders import SHIPPED
from tests.conftest import Cli

MINE = """\
name = "mine"
based-on = "multipath"
[cells]
"nrW naR" = "-"
"""


def test_the_tables_of_the_tool(cli: Cli) -> None:
    assert [line.split()[0] for line in cli("hardware").stdout.splitlines()] == list(SHIPPED)
    shown = cli("hardware", "show", "ooo-dp").stdout
    assert "source: mlx5dv_create_qp(3)" in shown and "completions-order = as default" in shown
    assert shown.count("decided by the search, the table has all facts") == 2


def test_a_table_that_lacks_a_fact_and_its_neighbours(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MINE)
    done = cli("hardware", "check", "mine.toml")
    assert done.returncode == 0
    assert "it lacks rmw_column" in done.stdout
    assert "next weaker table with the facts: nrW naW: qp, i" in done.stdout
    compared = cli("hardware", "compare", "mine.toml", "multipath").stdout.splitlines()
    assert compared == ["multipath keeps all that mine keeps", "  nrW naR: -, qp"]


def test_what_is_wrong_is_said_at_its_place(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MINE + '"lR naR" = "-"\n"nrR nrW" = "i"\n')
    done = cli("hardware", "check", "mine.toml")
    assert done.returncode == 2
    assert "mine.toml:5:1: error: cells of lR are the same in every table [RR826]" in done.stderr
    assert "mine.toml:6:1: error: nrR is no write" in done.stderr
    assert cli("hardware", "paint").returncode == 2
    assert cli("hardware", "compare", "default").returncode == 2
