"""The facts of order tables as Python decides them, against Coq, which is asked once: every table of the package and changes
of one of its cells, with reads that push all writes, and none.

`operation` is no fact of tables in Python: closing gives it.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

import pytest

from rdma_robust.orders import SHIPPED
from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_facts import lacked_by
from rdma_robust.orders.order_record import PUSHABLE, TYPES, WRITES, OrderTable, with_written
from sitegen.theorems import PROOFS, not_compiled
from tests.proofs.test_proofs import PROVEN_ORDERS

KINDS = ("LR", "NLR", "NRW", "NRR", "NLW", "NF", "NAR", "NAW")
"""The kinds that have a row and a column of their own, as in RemoteAtomicsChanges.v."""

ROWS = dict(zip(KINDS, ("CPU", "nlR", "nrW", "nrR", "nlW", "nF", "naR", "naW"), strict=True))
OF_UPDATES = {**ROWS, "NAR": "nuR", "NAW": "nuW"}
"""The atomics of a program may be such that fetch nothing."""

CELLS = {"all": "a", "qp": "q", "i": "i"}

SCRIPT = """\
Require Import List String.
Import ListNotations.
From RR Require Import RemoteAtomicsHardware OrderTables.
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


def letters(table: OrderTable, rows: Mapping[str, str] = ROWS) -> list[str]:
    return ["".join(CELLS.get(table.cells.get((rows[a], rows[b]), "-"), "-") for b in KINDS) for a in KINDS]


def written(table: OrderTable, rows: Mapping[str, str] = ROWS) -> str:
    return "[{}]%string".format("; ".join(f'"{row}"' for row in letters(table, rows)))


def lacked(table: OrderTable, rows: Mapping[str, str], *, flush: bool) -> set[str]:
    pushes = frozenset(PUSHABLE if flush else ())
    return {*lacked_by(with_written(table, table.written, pushes), atomics=frozenset({rows["NAR"], rows["NAW"]}))}


def computed(script: str, folder: Path) -> str:
    """Return what Coq finds by a script, on one line."""
    (folder / "Asked.v").write_text(script)
    run = ["coqc", "-q", "-w", "none", "-R", str(PROOFS), "RR", "Asked.v"]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return re.sub(r"\s+", " ", (folder / "found.out").read_text())


def asked(tables: list[str], folder: Path) -> list[tuple[set[str], set[str]]]:
    lists = re.findall(r"\[([^\[\]]*)\]", computed(SCRIPT % ";\n".join(tables), folder).replace("[(", "(", 1))
    facts = [set(re.findall(r'"(\w+)"', each)) for each in lists]
    return list(zip(facts[::2], facts[1::2], strict=True))


def test_the_tables_in_coq_are_those_of_the_files(tmp_path: Path) -> None:
    if reason := not_compiled():
        pytest.skip(f"not run: {reason}")
    found = computed(
        'Require Import String List.\nFrom RR Require Import OrderTables.\nRedirect "found" Eval vm_compute in tables.',
        tmp_path,
    )
    rows, name = dict[str, list[str]](), ""
    for each in re.findall(r'"([^"]*)"', found):
        if re.fullmatch("[aqi-]{8}", each):
            rows[name].append(each)
        else:
            name, rows[each] = each, []
    expected: dict[str, list[str]] = {}
    for order in SHIPPED:
        table = order_table(order)
        if not table.pushes and not table.by_word and order not in PROVEN_ORDERS:
            fetching, updates = letters(table), letters(table, OF_UPDATES)
            expected[order] = fetching
            if updates != fetching:
                expected[f"{order}, atomics that fetch nothing"] = updates
    assert rows == expected


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
    compared = [(order_table(order), rows) for order in SHIPPED for rows in (ROWS, OF_UPDATES)]
    compared += [(each, ROWS) for order in orders for each in changed(order_table(order))]
    tables = {written(*each): each for each in compared}
    answers = asked(list(tables), tmp_path)
    assert len(answers) == len(tables) > 60
    for (table, rows), (pushing, plain) in zip(tables.values(), answers, strict=True):
        assert (lacked(table, rows, flush=True), lacked(table, rows, flush=False)) == (pushing, plain), table.cells
    assert {fact for both in answers for some in both for fact in some} == {
        *("chain", "flush_chain", "issue_only", "flush_poll", "fence", "rmw_row", "rmw_column")
    }
