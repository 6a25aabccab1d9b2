"""What docs/model.md says of the order table: its cells, a program for every cell, which cells follow from others."""

from __future__ import annotations

import json
import re
from random import Random

import pytest

from rdma_robust import Model, check
from rdma_robust.orders.known_orders import order_of_file, order_table
from rdma_robust.orders.order_record import VARIANT_OF
from rdma_robust.semantics.axioms import Relation, ib_parts, inst, ob_parts
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.trace import CPU_TYPES, Event, EventType, Trace
from tests.conftest import ROOT
from tests.support.left_out import suite_program
from tests.support.random_splits import PROGRAM, random_split

OTHERS = {"naR", "naW", "nO", "FL", *VARIANT_OF}
CELLS = {cell: kept for cell, kept in order_table("default").cells.items() if not OTHERS & {*cell}}
"""Those of the paper."""

TEXT = (ROOT / "docs/model.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\w+) \| (\w+) \| (\S+) \| (\[order-.+?) \| (.+) \|$", TEXT, re.MULTILINE)
FOLLOW = {
    *(("CPU", later) for later in ("nrW", "nlW", "nF")),
    *(("nlR", later) for later in ("nrW", "nrR", "nlW", "nF")),
    *(("nF", later) for later in ("nrW", "nlW", "nF")),
    ("nrW", "nlW"),
    ("nrR", "nlW"),
    ("nrR", "nF"),
}
"""The cells that are redundant, all together; of nrW before nF, that it is kept in issue."""


def litmus(name: str) -> str:
    return (ROOT / f"litmus/{name}.rdma").read_text(encoding="utf-8")


def programs(cell: str) -> list[str]:
    return re.findall(r"\]\(\.\./litmus/([\w-]+)\.rdma\)", cell)


def is_robust(name: str) -> bool:
    """As the `expect` line says, which the tests of the suite hold against every engine."""
    return "\nexpect robust" in litmus(name)


def test_the_table_is_the_one_that_is_used() -> None:
    lines = TEXT[TEXT.index("| earlier \\ later") :].splitlines()
    columns = [c.strip() for c in lines[0].strip("|").split("|")][1:]
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in lines[2:8]]
    assert {(row[0], c): cell for row in rows for c, cell in zip(columns, row[1:], strict=True)} == CELLS


def test_every_cell_has_a_row_with_a_program_that_is_robust_iff_the_order_is_kept() -> None:
    assert {(a, b): cell for a, b, cell, _, _ in ROWS} == CELLS
    assert len(ROWS) == len(CELLS)
    for earlier, later, cell, links, text in ROWS:
        program, *elsewhere = programs(links)
        assert is_robust(program) == (cell in ("all", "qp")), program
        assert [is_robust(p) for p in elsewhere] == [False] * len(elsewhere)
        assert ("ollows" in text) == ((earlier, later) in FOLLOW or (earlier, later) == ("nrW", "nF"))
        for linked in programs(text):
            assert ("robust]" in text) == is_robust(linked) or "polled" in linked


def test_the_program_of_a_cell_is_about_its_two_types() -> None:
    for earlier, later, cell, links, text in ROWS:
        for program in programs(links):
            if "nF" in (earlier, later):
                assert "rfence" in litmus(program) or "has no fence" in text
            else:
                assert litmus(program).startswith(f"// Order table: {earlier} before {later}")
            assert ("two queue pairs" in litmus(program)) == program.endswith("-twoqp")
        assert (cell == "qp" and "nF" not in (earlier, later)) == ("two queue pairs" in links)


def test_only_the_open_cell_depends_on_the_option() -> None:
    for _, _, cell, links, _ in ROWS:
        for name in programs(links):
            golden = json.loads((ROOT / "litmus/expected/order.json").read_text(encoding="utf-8"))[name]["pivot"]
            assert (golden["verdict"] != golden["ordered_reads"]) == (cell == "(-)")


def consistent_without(trace: Trace, cells: set[tuple[str, str]], parts: tuple[str, ...] = ("ippo", "oppo")) -> bool:
    """Whether ob is irreflexive when pairs of these cells, but those of one operation, are taken out of ippo and oppo."""

    def kind(index: int) -> str:
        event = trace.events[index].type
        return "CPU" if event in CPU_TYPES else event.value

    def of_one_operation(a: int, b: int) -> bool:
        earlier, later = trace.events[a], trace.events[b]
        next_to = (earlier.thread, earlier.position + 1) == (later.thread, later.position)
        return next_to and (kind(a), kind(b)) in {("nlR", "nrW"), ("nrR", "nlW")}

    def thin(name: str, relation: Relation) -> Relation:
        if name not in parts:
            return relation
        kept = ((a, b) for a, b in relation if of_one_operation(a, b) or (kind(a), kind(b)) not in cells)
        return Relation.of(len(trace.events), kept)

    def closed(relations: dict[str, Relation]) -> Relation:
        union = Relation.of(len(trace.events), ())
        for name, relation in relations.items():
            union = union | thin(name, relation)
        return union.closure()

    observed = ob_parts(trace) | {"[Inst];ib": closed(ib_parts(trace)).restrict(inst(trace))}
    return closed(observed).is_irreflexive()


def test_the_cells_that_follow_from_others_change_no_verdict() -> None:
    random = Random("cells")
    verdicts = {True: 0, False: 0}
    matters = 0
    for _ in range(150):
        order, _ = random_split(random)
        trace = trace_of_order(order, PROGRAM)
        consistent = consistent_without(trace, set())
        verdicts[consistent] += 1
        assert consistent_without(trace, FOLLOW) == consistent
        assert consistent_without(trace, {("nrW", "nF")}, ("ippo",)) == consistent
        matters += consistent_without(trace, {("nrR", "nF"), ("nF", "nlR"), ("nF", "nrR")}) != consistent
    assert min(verdicts.values()) > 20
    assert matters


@pytest.mark.parametrize("row", [row for row in ROWS if row[2] in ("qp", "i") and (row[0], row[1]) != ("nrW", "nF")])
def test_a_cell_follows_or_a_program_depends_on_it(row: tuple[str, str, str, str, str]) -> None:
    earlier, later, _, links, text = row
    torn = order_of_file(f'name = "torn"\nbased-on = "default"\n[cells]\n"{earlier} {later}" = "-"\n', "torn.toml")
    shown = [suite_program(name) for name in programs(links + text)]
    changed = [check(each, hardware=Model(order=torn)).verdict is not check(each).verdict for each in shown]
    assert ("ollows" in text) == (not any(changed))


@pytest.mark.parametrize("later", [EventType.LR, EventType.NLR, EventType.NRR])
def test_what_cpus_keep_follows_or_makes_a_difference(later: EventType) -> None:
    """Store buffering: each of two threads reads what the other one stores, before its own store."""
    assert {kept for first, kept in CELLS.keys() - FOLLOW if first == "CPU"} == {"CPU", "nlR", "nrR"}
    x, y = (cell for cell in PROGRAM.cells if cell.node == "A")
    reads = [Event(-1, later, 0, 1, "B", y), Event(-1, later, 1, 1, "B", x)]
    stores = [Event(-1, EventType.LW, 0, 0, None, x), Event(-1, EventType.LW, 1, 0, None, y)]
    trace = trace_of_order([*reads, *stores], PROGRAM)
    cell = ("CPU", "CPU" if later in CPU_TYPES else later.value)
    assert (consistent_without(trace, set()), consistent_without(trace, {cell})) == (False, True)
