"""The facts of order tables as Python decides them, against Coq, which is asked once: every table of the package and changes
of one of its cells, with reads that push all writes, and none.

One is apart on purpose: `operation` is no fact of tables in Python.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from rdma_robust.orders import SHIPPED
from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_facts import lacked_by
from rdma_robust.orders.order_record import PUSHABLE, TYPES, WRITES, OrderTable, with_written
from sitegen.theorems import PROOFS, not_compiled

KINDS = ("LR", "NLR", "NRW", "NRR", "NLW", "NF", "NAR", "NAW")
"""The kinds that have a row and a column of their own, as in RemoteAtomicsChanges.v."""

ROWS = dict(zip(KINDS, ("CPU", "nlR", "nrW", "nrR", "nlW", "nF", "naR", "naW"), strict=True))
CELLS = {"all": "a", "qp": "q", "i": "i"}
APART = {"operation"}

SCRIPT = """\
Require Import List Bool String Ascii.
Import ListNotations.
From RR Require Import RemoteAtomicsHardware.
Definition number k := match k with
  NLR => 1 | NRW => 2 | NRR => 3 | NLW => 4 | NF => 5 | NAR | NA => 6 | NAW => 7 | _ => 0 end.
Definition cell_of c :=
  if Ascii.eqb c "a" then All else if Ascii.eqb c "q" then Qp else if Ascii.eqb c "i" then Issue else Never.
Definition row_of := fun rows a => nth (number a) rows EmptyString.
Definition read rows a b := match a, b with Init, _ | _, Init => Never
  | _, _ => match get (number b) (row_of rows a) with Some c => cell_of c | None => Never end end.
Definition found := map (fun rows => (failing (read rows) true, failing (read rows) false)) [
%s
].
Redirect "found" Eval vm_compute in found.
"""


def changed(table: OrderTable) -> Iterator[OrderTable]:
    """Yield a table, and it with each other value of each of its cells."""
    yield table
    for cell, kept in table.written.items():
        for other in {"qp", "-", *(("i",) if cell[0] in WRITES else ())} - {kept}:
            yield with_written(table, {**table.written, cell: other}, table.pushes)


def written(table: OrderTable) -> str:
    rows = ("".join(CELLS.get(table.cells.get((ROWS[a], ROWS[b]), "-"), "-") for b in KINDS) for a in KINDS)
    return "[{}]%string".format("; ".join(f'"{row}"' for row in rows))


def lacked(table: OrderTable, *, flush: bool) -> set[str]:
    pushes = frozenset(PUSHABLE if flush else ())
    return {*lacked_by(with_written(table, table.written, pushes))} - APART


def asked(tables: list[str], folder: Path) -> list[tuple[set[str], set[str]]]:
    (folder / "Asked.v").write_text(SCRIPT % ";\n".join(tables))
    run = ["coqc", "-q", "-w", "none", "-R", str(PROOFS), "RR", "Asked.v"]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    lists = re.findall(r"\[([^\[\]]*)\]", re.sub(r"\s+", " ", (folder / "found.out").read_text()).replace("[(", "(", 1))
    facts = [set(re.findall(r'"(\w+)"', each)) - APART for each in lists]
    return list(zip(facts[::2], facts[1::2], strict=True))


OF_RELAXED_MR = """\
Require Import List String.
From RR Require Import RemoteAtomicsHardware RelaxedMr.
Definition kinds := (LR :: NLR :: NRW :: NRR :: NLW :: NF :: NAR :: NAW :: nil)%list.
Definition letter c := match c with All => "a" | Qp => "q" | Issue => "i" | Never => "-" end%string.
Definition found := map (fun a => String.concat "" (map (fun b => letter (table relaxed_mr a b)) kinds)) kinds.
Redirect "found" Eval vm_compute in found.
"""


def test_relaxed_mr_in_coq_is_the_table_of_the_file(tmp_path: Path) -> None:
    if reason := not_compiled():
        pytest.skip(f"not run: {reason}")
    (tmp_path / "Relaxed.v").write_text(OF_RELAXED_MR)
    done = subprocess.run(
        ["coqc", "-q", "-w", "none", "-R", str(PROOFS), "RR", "Relaxed.v"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, done.stderr
    found = re.findall(r'"([^"]*)"', (tmp_path / "found.out").read_text())
    assert found == re.findall(r'"([^"]*)"', written(order_table("relaxed-mr"))) and not order_table("relaxed-mr").pushes


def test_the_letters_of_tables_are_those_of_their_cells() -> None:
    default = written(order_table("default"))
    assert default.startswith('["aaaaaaaa"; "-qqqqqqq"; "--qqqiqq"') and len(TYPES) + 1 == len(KINDS)
    assert [kind for kind, row in ROWS.items() if row in TYPES] == list(KINDS[1:])
    assert {*product(TYPES, TYPES)} == {*order_table("srd").written}


@pytest.mark.parametrize(
    "orders",
    [pytest.param(("default",), marks=pytest.mark.ci), pytest.param(SHIPPED, marks=pytest.mark.long)],
    ids=["of default", "of all"],
)
def test_the_facts_are_those_of_coq(orders: tuple[str, ...], tmp_path: Path) -> None:
    """Of all tables of the package, and of those that differ in one cell from these orders."""
    if reason := not_compiled():
        pytest.skip(f"not run: {reason}")
    compared = [*map(order_table, SHIPPED), *(each for order in orders for each in changed(order_table(order)))]
    tables = {written(each): each for each in compared}
    answers = asked(list(tables), tmp_path)
    assert len(answers) == len(tables) > 60
    for table, (pushing, plain) in zip(tables.values(), answers, strict=True):
        assert (lacked(table, flush=True), lacked(table, flush=False)) == (pushing, plain), table.cells
    assert {fact for both in answers for some in both for fact in some} == {
        *("chain", "flush_chain", "issue_only", "flush_poll", "fence", "rmw_row", "rmw_column")
    }
