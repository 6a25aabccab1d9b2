"""`needs`: which guarantees of a network a program relies on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry

from rdma_robust.analyses.needs.minimal_sets import MinimalSets, minimal_sets
from rdma_robust.analyses.needs.table_answers import table_answers
from rdma_robust.language.load import load_program
from rdma_robust.model import RDMA
from rdma_robust.options import CheckOptions
from rdma_robust.orders import SHIPPED
from rdma_robust.orders.fi_flags import FLAGS, PROMISED_BY, fi_order
from rdma_robust.orders.guarantees import given_by, guarantees, order_giving, with_implied
from rdma_robust.orders.known_orders import order_of_file, order_table
from rdma_robust.orders.order_strength import keeps_all_of
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.decide import decide
from tests.conftest import ROOT, Cli

SCHEMAS = {
    name: json.loads((ROOT / f"rdma_robust/schema/{name}.schema.json").read_text()) for name in ("needs", "report", "check")
}
REGISTRY: Registry = Registry().with_contents([(each["$id"], each) for each in SCHEMAS.values()])

HEAD = """\
node A { a, b }
node B { x, f }
node C { g }
"""
READS = "thread U on B { reg r, s; r = f; s = x }\n"
BACK = "put B.x = 1; get a = B.x; poll B; poll B; put C.g = 1"
TELLS = "thread U on C { reg r; await g == 1; get g = B.x }\n"
STORES = "thread U on B { x = 1; f = 1 }\n"
PROGRAMS = {
    "put data; put flag": ("put B.x = 1; put B.f = 1", READS, [["nrW nrW"]]),
    "put data; poll; put flag": ("put B.x = 1; poll B; put B.f = 1", READS, [["completions order"], ["nrW nrW"]]),
    "put data; faa flag": ("put B.x = 1; faa(B.f, 1)", READS, [["nrW naR"]]),
    "put data; fetch and add": ("put B.x = 1; get a = faa(B.f, 1)", READS, [["nrW naR"]]),
    "faa lock; put data": ("faa(B.x, 1); put B.f = 1", READS, [["naW nrW"]]),
    "put; read back; tell a third node": (BACK, TELLS, [["nrW nrR"]]),
    "get flag; get data": ("get a = B.f; get b = B.x", STORES, [["nrR nrR"]]),
    "get flag; poll; get data": ("get a = B.f; poll B; get b = B.x", STORES, [[]]),
}


def found(text: str, most: int = 50) -> MinimalSets:
    program = load_program(text, "t")
    return minimal_sets(program, RDMA, lambda model: decide(program, CheckOptions(hardware=model)), most)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_protocols_rely_on(name: str) -> None:
    body, others, wanted = PROGRAMS[name]
    answer = found(f"{HEAD}thread T on A {{ {body} }}\n{others}")
    assert sorted(map(sorted, answer.sets)) == wanted
    assert not answer.open and answer.checks <= 5
    for names in answer.sets:
        assert all(answer.breach_without(each, names) for each in names)


def test_no_guarantee_is_enough_where_the_strongest_network_is_not() -> None:
    answer = found((ROOT / "litmus/sb-put-plain.rdma").read_text())
    assert not answer.sets and answer.checks == 1 and answer.strongest.verdict.value == "not-robust"


def test_what_is_cut_short_says_so() -> None:
    body, others, _ = PROGRAMS["put data; poll; put flag"]
    answer = found(f"{HEAD}thread T on A {{ {body} }}\n{others}", most=3)
    assert answer.open == ("reached the limit of 3 checks (--max-checks)",) and len(answer.sets) <= 1


def test_text_json_and_exit_codes(cli: Cli, tmp_path: Path) -> None:
    body, others, _ = PROGRAMS["put data; poll; put flag"]
    (tmp_path / "p.rdma").write_text(f"{HEAD}thread T on A {{\n  {body}\n}}\n{others}")
    (tmp_path / "n.rdma").write_text((ROOT / "litmus/sb-put-plain.rdma").read_text())
    done = cli("needs", "p.rdma")
    assert done.returncode == 0
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[0] == "p.rdma: 2 minimal sets, 4 checks"
    assert lines[1] == "1. completions order" and "2. nrW nrW" in lines
    assert "libfabric: FI_ORDER_RMA_WAW" in lines
    assert any(line.startswith("enough: default, multipath, ooo-dp") for line in lines)
    assert any(line.startswith("not enough, without completions order: relaxed, none, accumulate") for line in lines)
    done = cli("needs", "p.rdma", "n.rdma", "--format", "json", "-o", "out.json")
    assert done.returncode == 1
    report = json.loads((tmp_path / "out.json").read_text())
    Draft202012Validator(SCHEMAS["needs"]).validate(report)
    first, second = report["results"]
    assert [[each["name"] for each in some["guarantees"]] for some in first["sets"]] == [["completions order"], ["nrW nrW"]]
    assert first["sets"][1]["guarantees"][0]["lines"] == [[5, 5]]
    assert second["status"] == "not-robust" and not second["sets"]


def test_needs_lines_are_compared(cli: Cli, tmp_path: Path) -> None:
    body, others, _ = PROGRAMS["put data; poll; put flag"]
    text = f"{HEAD}thread T on A {{\n  {body}\n}}\n{others}"
    (tmp_path / "two.rdma").write_text(f"needs completions order\nneeds nrW nrW, nrR pushes nrW\n{text}")
    (tmp_path / "less.rdma").write_text(f"needs nothing\n{text}needs nrW naR\n")
    (tmp_path / "none.rdma").write_text(text)
    done = cli("needs", "two.rdma", "--expect", "--format", "json")
    assert done.returncode == 0
    report = json.loads(done.stdout)
    Draft202012Validator(SCHEMAS["needs"]).validate(report)
    assert [claim["enough"] for claim in report["results"][0]["claims"]] == [True, True]
    done = cli("needs", "less.rdma", "two.rdma", "--expect", "--format", "concise")
    assert done.returncode == 1
    wrong = [line for line in done.stdout.splitlines() if "RR016" in line]
    assert wrong == [
        "less.rdma:1:1: error: `needs nothing` is NOT enough: it lacks completions order [RR016]",
        "less.rdma:9:1: error: `needs nrW naR` is NOT enough: it lacks completions order [RR016]",
    ]
    assert sum("RR027" in line for line in done.stdout.splitlines()) == 4
    assert cli("needs", "none.rdma", "--expect").returncode == 1
    assert cli("needs", "less.rdma").returncode == 0


def test_what_no_network_guarantees_is_an_error(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "p.rdma").write_text("node A { }\nneeds nrW nxW, completions order\n")
    done = cli("check", "p.rdma")
    assert done.returncode == 2
    assert "p.rdma:2:7: error: no network guarantees `nrW nxW` [RR827]" in done.stderr
    assert "did you mean `nrW nrW`?" in done.stderr


@pytest.mark.parametrize(
    "path",
    sorted(path for folder in ("guarantees", "hardware") for path in (ROOT / "litmus" / folder).glob("*.rdma")),
    ids=lambda path: f"{path.parent.stem}/{path.stem}",
)
def test_needs_lines_of_the_suite_are_minimal(path: Path) -> None:
    """And two tables of the package tell each program apart, unless nothing is needed."""
    answer = found(path.read_text())
    claimed = [frozenset(line.guarantees) for line in load_program(path.read_text(), "p").needs]
    assert claimed and set(answer.sets) == set(claimed) and not answer.open
    enough = {any(names <= given_by(order) for names in answer.sets) for order in SHIPPED}
    assert enough == ({True} if frozenset() in claimed else {True, False})


def test_flags_promise_the_guarantees_that_are_said_of_them() -> None:
    flags = {
        name: {PROMISED_BY.get(f"{earlier} {later}") for earlier, later in each.cells}
        for name, each in guarantees().items()
        if each.push is None and each.cells
    }
    every = given_by(fi_order(f"fi({', '.join(FLAGS)})")) - given_by("none")
    assert every == {name for name, of_cells in flags.items() if None not in of_cells}
    for name in every:
        assert name in given_by(fi_order(f"fi({', '.join(sorted(flags[name] - {None}))})")), name
    for cell, flag in PROMISED_BY.items():
        earlier, later = cell.split()
        assert order_table(fi_order(f"fi({flag})")).cells[earlier, later] == "qp", cell


ONE_WORD = """\
domain 0..7
node A { a, b }
node B { x }
thread T on A { get a = faa(B.x, 1); get b = faa(B.x, 2); poll B; poll B }
thread U on B { reg r, s; r = x; s = x }
"""
"""Robust where atomics of one word keep their order, which no guarantee says."""

TWO_MESSAGES = """\
node A { }
node B { p, q }
thread T on A { send 1 to U; send 2 to U }
thread U on B { reg r, s; posted p from T; posted q from T; s = q; r = p }
"""
"""Not robust where a message may take any receive."""


@pytest.mark.ci
@pytest.mark.parametrize("text", [ONE_WORD, TWO_MESSAGES, f"{HEAD}thread T on A {{ {BACK} }}\n{TELLS}"])
def test_tables_are_enough_where_a_check_says_so(text: str) -> None:
    """Also tables of files: that give a guarantee, that keep part of one, and with cells that nobody knows."""
    own = ["", '[cells]\n"nrW nrR" = "qp"', '[cells]\n"nmW nmW" = "?"', '[cells]\n"naR naR" = "qp"\n"naW naR" = "?"']
    files = [order_of_file(f'name = "own{k}"\nbased-on = "none"\n{cells}\n', "o.toml") for k, cells in enumerate(own)]
    program, answer = load_program(text, "t"), found(text)
    assert answer.sets and not answer.open

    def verdict(order: str) -> Outcome:
        return decide(program, CheckOptions(hardware=replace(RDMA, order=order)))

    answers = table_answers(program, answer, (*SHIPPED, *files), verdict, most=50)
    said = {None: "unknown", True: "robust", False: "not-robust"}
    assert [(each.order, said[each.gives]) for each in answers] == [
        (o, verdict(o).verdict.value) for o in (*SHIPPED, *files)
    ]
    assert {each.gives for each in answers} >= {True, False}
    assert all(each.lacks for each in answers if each.gives is False) and all(
        each.reason for each in answers if each.gives is None
    )
    assert {each.gives for each in table_answers(program, answer, ("ooo-dp",), verdict, most=0)} <= {True, None}


def test_own_tables_are_columns_of_the_matrix(cli: Cli, tmp_path: Path) -> None:
    body, others, _ = PROGRAMS["put data; poll; put flag"]
    (tmp_path / "p.rdma").write_text(f"{HEAD}thread T on A {{ {body} }}\n{others}")
    (tmp_path / "mine.toml").write_text('name = "mine"\nbased-on = "srd"\n[cells]\n"nrW nrW" = "qp"\n')
    done = cli("needs", "p.rdma", "--orders", "mine.toml,srd,fi(RMA_WAW, SAS)", "--format", "csv")
    head, row = done.stdout.splitlines()
    assert head == 'file,needs,mine,srd,"fi(RMA_WAW, SAS)",note'
    assert row == "p.rdma,{completions order} or {nrW nrW},yes,completions order,yes,"
    run = ("report", "p.rdma", "--no-cache", "-o", "r.md", "--orders")
    assert cli(*run, "mine.toml,srd", "--needs", "9").returncode == 0
    head, _, row = (tmp_path / "r.md").read_text().split("\n\n")[-2].splitlines()
    assert head == "| file | needs | mine | srd | note |"
    assert "| yes | completions order |" in row
    for asked in (("needs", "p.rdma", "--orders"), run):
        assert "two tables are called srd" in cli(*asked, "srd,srd").stderr


def test_no_table_of_the_package_keeps_more_than_all_guarantees() -> None:
    strongest = order_giving(frozenset(guarantees()))
    assert all(keeps_all_of(strongest, order) for order in SHIPPED)


@pytest.mark.ci
def test_a_folder_is_a_matrix_of_programs_and_tables(cli: Cli, tmp_path: Path) -> None:
    """Also beside the verdicts of `report`, where a `needs` line that is not enough counts with --expect only."""
    flag, polled = (f"{HEAD}thread T on A {{ {text} }}\n{READS}" for text, _, _ in list(PROGRAMS.values())[:2])
    (tmp_path / "flag.rdma").write_text(f"{flag}needs nothing\n")
    (tmp_path / "polled.rdma").write_text(polled)
    (tmp_path / "wrong.rdma").write_text("node")
    head, rule, *rows = cli("needs", "flag.rdma", "polled.rdma", "wrong.rdma", "--format", "md").stdout.splitlines()[4:]
    columns = [each.strip() for each in head.split("|")[1:-1]]
    assert columns == ["file", "needs", *SHIPPED, "note"] and rule.count("---") == len(columns)
    cells = [dict(zip(columns, (each.strip() for each in row.split("|")[1:-1]), strict=True)) for row in rows[:3]]
    assert [each["needs"] for each in cells] == [r"\{nrW nrW\}", r"\{completions order\} or \{nrW nrW\}", r"\-"]
    assert [each["ooo-dp"] for each in cells] == ["nrW nrW", "yes", "?"]
    assert cells[0]["default"] == "yes" and "is NOT enough" in cells[0]["note"]
    assert cli("needs", "flag.rdma", "polled.rdma", "-o", "m.csv").returncode == 0
    assert (tmp_path / "m.csv").read_text().splitlines()[1].startswith("flag.rdma,{nrW nrW},yes,nrW nrW,")

    run = ("report", "flag.rdma", "polled.rdma", "--no-cache", "--repair", "0", "--claims", "0")
    assert cli(*run, "--needs", "9", "-o", "r.json").returncode == 0
    report = json.loads((tmp_path / "r.json").read_text())
    assert [each["file"] for each in report["needs"]] == ["flag.rdma", "polled.rdma"]
    Draft202012Validator(SCHEMAS["report"], registry=REGISTRY).validate(report)
    assert cli(*run, "--needs", "9", "--expect", "-o", "r.html").returncode == 1
    page = (tmp_path / "r.html").read_text()
    assert "completions order (line 4 before line 4)" in page and "is NOT enough" in page
    assert cli(*run, "-o", "r.json").returncode == 0 and "needs" not in json.loads((tmp_path / "r.json").read_text())


def test_of_one_order_only_its_guarantees_are_asked_about(cli: Cli, tmp_path: Path) -> None:
    body, others, _ = PROGRAMS["put data; poll; put flag"]
    (tmp_path / "p.rdma").write_text(f"needs nrW nrW\n{HEAD}thread T on A {{\n  {body}\n}}\n{others}")
    wanted = {"multipath": [["completions order"]], "fi(RMA_WAW)": [["nrW nrW"]], "srd": []}
    for order, sets in wanted.items():
        done = cli("needs", "p.rdma", "--order", order, "--format", "json")
        report = json.loads(done.stdout)
        Draft202012Validator(SCHEMAS["needs"]).validate(report)
        found = report["results"][0]
        assert [[each["name"] for each in some["guarantees"]] for some in found["sets"]] == sets, order
        assert done.returncode == (0 if sets else 1) and not found["claims"]
        enough = [table["order"] for table in found["tables"] if table["gives"]]
        assert enough == ["default", "multipath", "ooo-dp", "fi-verbs", "fi-tcp", "fi-cxi", "fi-psm3"], order
        assert [table["order"] for table in found["tables"]] == [*SHIPPED]
    assert "of those of order srd" in cli("needs", "p.rdma", "--order", "srd").stdout
    assert cli("needs", "p.rdma", "--order", "srd", "--expect").returncode == 2


def test_within_an_order_every_table_is_told_of() -> None:
    """Cells of sends do not count where there are none, and a table that gives what was not asked about is decided."""
    body, others, _ = PROGRAMS["put data; put flag"]
    program = load_program(f"{HEAD}thread T on A {{ {body} }}\n{others}", "t")

    def verdict(order: str) -> Outcome:
        return decide(program, CheckOptions(hardware=replace(RDMA, order=order)))

    for within in (fi_order("fi(RMA_WAW)"), "srd"):
        answer = minimal_sets(program, RDMA, lambda model: verdict(model.order), 50, within)
        answers = table_answers(program, answer, SHIPPED, verdict, most=50, within=within)
        assert [(each.order, each.gives) for each in answers] == [
            (order, verdict(order).verdict is Verdict.ROBUST) for order in SHIPPED
        ]
    said = table_answers(program, answer, ("default",), verdict, most=0, within="srd")
    assert [(each.gives, each.reason) for each in said] == [(None, "no check was left (--max-checks)")]


@pytest.mark.ci
@pytest.mark.parametrize("name", PROGRAMS)
def test_sets_within_an_order_are_those_that_it_gives(name: str) -> None:
    body, others, _ = PROGRAMS[name]
    program = load_program(f"{HEAD}thread T on A {{ {body} }}\n{others}", "t")

    def sets(within: str | None) -> set[frozenset[str]]:
        found = minimal_sets(program, RDMA, lambda model: decide(program, CheckOptions(hardware=model)), 50, within)
        assert not found.open
        return {with_implied(names) for names in found.sets}

    for order in SHIPPED:
        assert sets(order) == {names for names in sets(None) if names <= given_by(order)}, order


def test_the_run_that_breaks_without_a_guarantee(cli: Cli, tmp_path: Path) -> None:
    """It is shown where it is asked for, and JSON has it: what happens, the write of the data last."""
    (tmp_path / "p.rdma").write_text((ROOT / "litmus/guarantees/flag-behind-data.rdma").read_text())
    (each,) = json.loads(cli("needs", "p.rdma", "--format", "json").stdout)["results"][0]["sets"][0]["guarantees"]
    assert each["run"] and "writes B.data = 1" in each["run"][-1]
    shown = cli("needs", "--runs", "p.rdma").stdout
    assert all(f"{step:2} {text}" in shown for step, text in enumerate(each["run"], 1))
    assert each["run"][0] not in cli("needs", "p.rdma").stdout
