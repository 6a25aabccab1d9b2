"""What docs/deployed.md and docs/weaker-orders.md say of the order tables.

Every cell has programs that are robust iff the cell keeps the order.
"""

from __future__ import annotations

import re

from rdma_robust.orders.known_orders import order_table
from rdma_robust.orders.order_record import VARIANT_OF
from tests.conftest import ROOT


def cells_of(order: str) -> dict[tuple[str, str], str]:
    """The cells of a table, without those of sends, which are those of puts in all of them."""
    return {cell: kept for cell, kept in order_table(order).cells.items() if not {*VARIANT_OF} & {*cell}}


CELLS = cells_of("default")
TEXT = (ROOT / "docs/deployed.md").read_text(encoding="utf-8")
WEAKER_TEXT = (ROOT / "docs/weaker-orders.md").read_text(encoding="utf-8")
PROGRAM = re.compile(r"\]\(\.\./litmus/deployed/([\w-]+)\.rdma\)")
ROWS = re.findall(r"^\| (\w+) \| (\w+) \| (all|qp|i|-) \| (\[.+?) \| (.+) \|$", TEXT, re.MULTILINE)
WEAKER = re.findall(r"^\| (n\w+) \| (n\w+) \| (qp|-) (\[\S+) \| (qp|-) (\[\S+) \|$", WEAKER_TEXT, re.MULTILINE)


FENCES = {"nO", "FL"}


def is_robust(name: str) -> bool:
    """As the `expect` line says, which the tests of the suite hold against search and brute force."""
    return "\nexpect robust" in (ROOT / f"litmus/deployed/{name}.rdma").read_text(encoding="utf-8")


def test_every_cell_of_atomics_has_a_program_that_is_robust_iff_the_order_is_kept() -> None:
    cells = {cell: kept for cell, kept in CELLS.items() if {"naR", "naW"} & {*cell} and not FENCES & {*cell}}
    assert {(earlier, later): kept for earlier, later, kept, _, _ in ROWS} == cells
    for _, _, kept, programs, _ in ROWS:
        first, *elsewhere = PROGRAM.findall(programs)
        assert is_robust(first) == (kept in ("all", "qp")), first
        assert not any(map(is_robust, elsewhere)), elsewhere


def test_the_cells_of_flushes_and_of_order_are_those_that_are_used() -> None:
    section = TEXT[TEXT.index("## Flushes and `order`") : TEXT.index("## Threads that are started")]
    found = re.findall(r"^\| ([\w, ]+) \| ([\w, ]+) \| (all|qp|-) \|$", section, re.MULTILINE)
    names = {**{"all": ["CPU", "nlR", "nrW", "nrR", "nlW", "nF", "naR", "naW", "nO", "FL"]}, "other events of CPUs": ["CPU"]}
    cells = {
        (a, b): kept
        for earlier, later, kept in found
        for a in (part for name in earlier.split(", ") for part in names.get(name, [name]))
        for b in (part for name in later.split(", ") for part in names.get(name, [name]))
        if a != "FL"
    }
    wanted = {cell: kept for cell, kept in CELLS.items() if FENCES & {*cell} and cell[0] != "CPU"}
    assert cells == wanted


def test_every_cell_that_weaker_orders_change_has_programs() -> None:
    changed = {cell for order in ("multipath", "relaxed") for cell, kept in cells_of(order).items() if kept != CELLS[cell]}
    assert {(earlier, later) for earlier, later, *_ in WEAKER} == changed
    for earlier, later, *columns in WEAKER:
        for order, kept, programs in zip(("multipath", "relaxed"), columns[::2], columns[1::2], strict=True):
            assert order_table(order).cells[earlier, later] == kept
            (program,) = PROGRAM.findall(programs)
            assert program.startswith(f"{order}-{earlier}-{later}".lower())
            assert is_robust(program) == (kept == "qp")
