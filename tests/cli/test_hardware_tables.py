"""`hardware`: order tables, listed, shown, checked and compared."""

from __future__ import annotations

import json
from pathlib import Path

from jsonschema import Draft202012Validator

from rdma_robust.analyses.hardware.tables_apart import tables_apart
from rdma_robust.cli.app import run
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.orders import SHIPPED
from rdma_robust.orders.fi_flags import fi_order
from rdma_robust.orders.known_orders import order_of_file
from rdma_robust.semantics.machines.outcomes import explore_outcomes
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes
from tests.conftest import ROOT, Cli

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
    assert shown.count("decided by the search, the table has all facts") == 3


def test_the_source_of_a_file(cli: Cli, tmp_path: Path) -> None:
    """Title, source and `based on` of a file were left out, and what it says was written to the terminal as it stands."""
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\ntitle = "\\u001b[31mred"\nbased-on = "none"\nsource = "page 7"\n[why]\n"nrW nrW" = "\\u001b]0;x"\n'
    )
    shown = cli("hardware", "show", "mine.toml").stdout
    assert shown.startswith("mine: \\x1b[31mred\nsource: page 7\nbased on: none\n") and "nrW nrW: \\x1b]0;x\n" in shown
    (table,) = json.loads(cli("hardware", "show", "mine.toml", "--format", "json").stdout)["tables"]
    assert (table["source"], table["based_on"]) == ("page 7", "none")


def test_a_table_that_lacks_a_fact_and_its_neighbours(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MINE)
    done = cli("hardware", "check", "mine.toml")
    assert done.returncode == 0
    assert "it lacks rmw_column" in done.stdout
    assert "next weaker table with the facts: nrW naW: qp, i" in done.stdout
    compared = cli("hardware", "compare", "mine.toml", "multipath").stdout.splitlines()
    assert compared[:2] == ["multipath keeps all that mine keeps", "  nrW naR: -, qp"]
    assert (
        compared[2].startswith("    can end with ")
        and compared[2].endswith(" under mine only:")
        and any("faa(B.x, 2)" in line for line in compared)
    )


def test_tables_and_what_tells_them_apart_as_json(cli: Cli, tmp_path: Path) -> None:
    """Each program has the final state under one of both tables only."""
    schema = Draft202012Validator(json.loads((ROOT / "rdma_robust/schema/hardware.schema.json").read_text()))
    (tmp_path / "mine.toml").write_text(MINE + '"nrW nrR" = "?"\n"nmW nmW" = "-"\n')
    for asked in (("list",), ("show", "mine.toml", "fi-tcp"), ("check", "mine.toml"), ("compare", "mine.toml", "srd")):
        report = json.loads(cli("hardware", *asked, "--format", "json").stdout)
        schema.validate(report)
    assert {each["reason"] for each in report["differences"]} and not any(each["program"] for each in report["differences"])
    assert cli("hardware", "compare", "default", "relaxed-mr", "--up-to", "2", "-o", "apart.json").returncode == 0
    report = json.loads((tmp_path / "apart.json").read_text())
    schema.validate(report)
    assert report["keeps_all"] == "first"
    first, *others = report["differences"]
    assert (first["what"], first["first"], first["second"]) == ("nrW nrW", "qp", "-") and not first["allowed_by_first"]
    made = load_program(first["program"] + f"outcome {first['condition']}: allowed under rdma\n", "apart.rdma")
    runs = [explore_outcomes(made, Model(order=order)) for order in ("default", "relaxed-mr")]
    assert [run.lines[0].claims[0].holds for run in runs] == [False, True]
    assert [each["reason"] for each in others if not each["program"]] == ["no program of up to 2 statements notices it"] * 6


def test_programs_with_messages_tell_cells_of_sends_apart() -> None:
    """Each has its final state under one of both tables only; and each program is the one for some cell, or a rule."""
    pairs = [
        ("fi-verbs", "fi-cxi"),
        ("fi-tcp", "fi-efa"),
        ("fi-efa", "fi-none"),
        (fi_order("fi(RAS, SAR)"), "fi-none"),
        ("relaxed-mr", "fi-verbs"),
    ]
    used = set()
    for one, other in pairs:
        for each in tables_apart(one, other, 1, 0.0):
            if not {"nmW", "receive-covers"} & {*each.difference.what.split()} or not each.program:
                continue
            used.add(each.difference.what)
            made = load_program(each.program + f"outcome {each.condition} : allowed under rdma\n", "apart.rdma")
            runs = [explore_outcomes(made, Model(order=order)) for order in (one, each.difference.changed)]
            assert [run.lines[0].claims[0].holds for run in runs] == [each.by_first, not each.by_first]
    assert used >= {"nrW nmW", "nmW nrW", "nmW nmW", "nmW nrR", "nrR nmW", "naW nmW", "naR nmW", "nmW naR", "receive-covers"}


def test_cells_of_sends_that_no_table_of_the_package_changes_alone() -> None:
    """The source of a put before a message, answers before and behind one, and which receive it takes."""
    cells = "".join(f'"{cell}" = "qp"\n' for cell in ("nlR nmW", "nmW nlW", "nlW nmW"))
    other = order_of_file(f'name = "x"\nbased-on = "none"\n[cells]\n{cells}[rules]\nreceives-match = "any"\n', "x.toml")
    found = {each.difference.what: each for each in tables_apart("none", other, 1, 0.0)}
    assert {"nlR nmW", "nmW nlW", "nlW nmW", "receives-match"} <= set(found)
    for each in found.values():
        made = load_program(each.program, "apart.rdma")
        first, second = (axiomatic_outcomes(made, Model(order=order)).rdma for order in ("none", each.difference.changed))
        assert (first > second) if each.by_first else (first < second)


def test_what_is_wrong_is_said_at_its_place(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MINE + '"lR naR" = "-"\n"nrR nrW" = "i"\n')
    done = cli("hardware", "check", "mine.toml")
    assert done.returncode == 2
    assert "mine.toml:5:1: error: cells of lR are the same in every table [RR826]" in done.stderr
    assert "mine.toml:6:1: error: nrR is no write" in done.stderr
    assert cli("hardware", "paint").returncode == 2
    assert cli("hardware", "compare", "default").returncode == 2


def test_programs_that_tell_a_table_of_a_file_apart(cli: Cli, tmp_path: Path) -> None:
    """What is written names the table as a program does, and is true."""
    (tmp_path / "mine.toml").write_text(MINE.replace("naR", "naW"))
    between = ("--between", "order mine.toml", "order fi(WAW, ATOMIC_WAR)")
    done = cli("synthesise", *between, "--size", "2", "--statements", "put,quiet-faa", "-o", "made")
    assert done.returncode == 0, done.stderr
    texts = [path.read_text() for path in (tmp_path / "made").glob("*.rdma")]
    assert texts and any('hardware order "mine.toml"' in text for text in texts)
    assert cli("synthesise", "--between", "order nothing.toml", "order none", "--size", "1").returncode == 2


def test_sentences_are_broken_at_the_width_of_a_terminal(tmp_path: Path, monkeypatch, capsys) -> None:
    """Matrices and programs stay as they are, and nothing is broken without a width."""
    lacks = tmp_path / "lacks.toml"
    lacks.write_text('name = "lacks"\nbased-on = "default"\n[cells]\n"naR nrW" = "-"\n')
    for asked in (["list"], ["show", "ooo-dp"], ["check", str(lacks)], ["compare", "default", "relaxed-mr", "--up-to", "1"]):
        monkeypatch.delenv("COLUMNS", raising=False)
        assert run(["hardware", *asked]) == 0
        whole = capsys.readouterr().out
        monkeypatch.setenv("COLUMNS", "60")
        assert run(["hardware", *asked]) == 0
        broken = capsys.readouterr().out
        assert broken.split() == whole.split()
        assert max(len(line) for line in broken.splitlines() if " | " not in line) <= 60
        assert [line for line in broken.splitlines() if " | " in line] == [
            line for line in whole.splitlines() if " | " in line
        ]


def test_a_program_that_names_a_file_is_not_shared(cli: Cli, tmp_path: Path) -> None:
    """A link has no other files; flags, and a file in a comment, are none."""
    (tmp_path / "mine.toml").write_text(MINE)
    body = "node A { x }\nthread T on A { x = 1 }\n"
    (tmp_path / "own.rdma").write_text(f'// a program\nhardware order "mine.toml"\n{body}')
    done = cli("share", "own.rdma")
    assert done.returncode == 2 and not done.stdout
    assert 'own.rdma: line 2 names the file "mine.toml", which a link does not have: name a table' in done.stderr
    (tmp_path / "flags.rdma").write_text(f'// not order "mine.toml"\nhardware order fi(SAS)\n{body}')
    assert cli("share", "flags.rdma").returncode == 0
