"""Each derived relation on small traces made by hand."""

from __future__ import annotations

from dataclasses import replace

from rdma_robust.model import rdma
from rdma_robust.semantics.axioms import (
    ib,
    inst,
    ippo,
    is_violating,
    nlw,
    ob,
    oppo,
    rb,
    rdma_violation,
    same_qp,
    sc,
    sc_violation,
)
from rdma_robust.semantics.linearise import nfo_pairs
from rdma_robust.semantics.trace import Cycle, Relation, Trace
from rdma_robust.semantics.wellformed import check_well_formed
from tests.support.traces import trace_in_order

SB = """
node A { x = 0 }
node B { y = 0 }
thread T1 on A { reg r; put B.y = 1; r = x }
thread T2 on B { reg r; put A.x = 1; r = y }
"""


def at(trace: Trace, thread: int, position: int) -> int:
    return next(e.index for e in trace.events if (e.thread, e.position) == (thread, position))


def relations(cycle: Cycle) -> list[str]:
    return [edge.relation for edge in cycle.edges]


def test_store_buffering_by_puts_is_violating() -> None:
    program, trace = trace_in_order(SB, "T1:0 T2:0 T1:2 T2:2 T1:1 T2:1")
    check_well_formed(program, trace)
    assert rdma_violation(trace) is None
    cycle = sc_violation(trace)
    assert cycle is not None
    assert sorted(relations(cycle)) == ["po", "po", "rb", "rb"]
    assert all(a.target == b.source for a, b in zip(cycle.edges, [*cycle.edges[1:], cycle.edges[0]], strict=True))
    assert is_violating(trace)


def test_a_cycle_through_a_given_event() -> None:
    _, trace = trace_in_order(SB, "T1:0 T2:0 T1:2 T2:2 T1:1 T2:1")
    put = at(trace, 0, 1)
    cycle = sc_violation(trace, through=put)
    assert cycle is not None
    assert cycle.edges[0].source.index == put
    assert sc_violation(trace, through=at(trace, 0, 0)) is None


def test_program_order_kept_between_cpu_accesses() -> None:
    text = "node A { x = 0, y = 0 }\nthread T1 on A { reg r; x = 1; r = y }\nthread T2 on A { reg r; y = 1; r = x }"
    program, trace = trace_in_order(text, "T1:1 T2:1 T1:0 T2:0")
    check_well_formed(program, trace)
    cycle = rdma_violation(trace)
    assert cycle is not None
    assert sorted(relations(cycle)) == ["oppo", "oppo", "rb", "rb"]


def test_queue_pairs_and_preserved_order() -> None:
    text = """
    node A { x = 0 }
    node B { y = 0 }
    node C { z = 0 }
    thread T on A { put B.y = x; put C.z = x; poll B; rfence B; get x = B.y }
    """
    program, trace = trace_in_order(text, " ".join(f"T:{i}" for i in range(8)))
    check_well_formed(program, trace)
    nlr, nrw, nlr2, nrw2, poll, fence, nrr, write = (at(trace, 0, i) for i in range(8))
    qp, i, o = same_qp(trace), ippo(trace), oppo(trace)
    assert (nlr, nrw) in qp and (nrw, poll) in qp and (nlr, nlr2) not in qp
    assert (nlr, nrw) in o and (nlr, nlr2) not in o
    assert (nrw, fence) in i and (nrw, fence) not in o
    assert (poll, nrr) in o and (nrw, nrr) in o and (nrr, write) in o
    assert (nrw, poll) not in i and (nlr2, nrw2) in i
    assert inst(trace) >> poll & 1 and not inst(trace) >> nrw & 1
    assert [k for k in range(len(trace.events)) if nlw(trace) >> k & 1] == [write]


def test_ordered_reads_keep_two_gets_in_order() -> None:
    text = "node A { x = 0, y = 0 }\nnode B { z = 0 }\nthread T on A { get x = B.z; get y = B.z }"
    _, trace = trace_in_order(text, "T:0 T:2 T:1 T:3")
    first, second = at(trace, 0, 0), at(trace, 0, 2)
    assert (first, second) not in oppo(trace) and (first, second) in oppo(trace, rdma(True))
    assert (first, second) not in ib(trace)


def test_polling_a_get_makes_its_write_visible_but_polling_a_put_does_not() -> None:
    get = "node A { x = 0 }\nnode B { y = 1 }\nthread T on A { reg r; get x = B.y; poll B; r = x }"
    _, trace = trace_in_order(get, "T:0 T:2 T:3 T:1")
    cycle = rdma_violation(trace)
    assert cycle is not None
    assert "[nlW];pf" in relations(cycle)
    put = "node A { x = 0 }\nnode B { y = 0 }\nthread T on A { put B.y = 1; poll B; x = 1 }\nthread U on A { reg r; r = x }"
    put += "\nthread V on B { reg r; r = y }"
    _, trace = trace_in_order(put, "T:0 T:2 T:3 U:0 V:0 T:1")
    assert rdma_violation(trace) is None


def test_polling_a_put_orders_its_source_read() -> None:
    text = "node A { x = 0 }\nnode B { y = 0 }\nthread T on A { put B.y = x; poll B; x = 1 }"
    _, trace = trace_in_order(text, "T:2 T:3 T:0 T:1")
    cycle = rdma_violation(trace)
    assert cycle is not None
    assert "[Inst];ib" in relations(cycle)
    expanded = next(edge for edge in cycle.edges if edge.relation == "[Inst];ib")
    assert [step.relation for step in expanded.via][:2] == ["ippo", "pf"]
    assert expanded.via[0].source == expanded.source and expanded.via[-1].target == expanded.target


def test_nfo_orders_get_and_put_of_one_queue_pair() -> None:
    text = "node A { x = 0, w = 0 }\nnode B { y = 0 }\nthread T on A { get x = B.y; put B.y = w }"
    program, trace = trace_in_order(text, "T:0 T:2 T:1 T:3")
    check_well_formed(program, trace)
    nrr, nlw_, nlr, nrw = (at(trace, 0, i) for i in range(4))
    assert list(trace.nfo) == sorted([(nlr, nlw_), (nrr, nrw)])
    assert set(nfo_pairs(trace.events)) == {(nlw_, nlr), (nlr, nlw_), (nrr, nrw), (nrw, nrr)}
    assert rdma_violation(trace) is None
    both = replace(trace, nfo=trace.nfo | trace.nfo.inverse())
    cycle = rdma_violation(both)
    assert cycle is not None
    assert relations(cycle) == ["nfo", "nfo"]


def test_a_compare_and_swap_does_not_read_before_itself() -> None:
    text = "node A { x = 0 }\nthread T on A { cas(x, 0, 1) }\nthread U on A { cas(x, 0, 1) }"
    program, trace = trace_in_order(text, "T:0 U:0")
    check_well_formed(program, trace)
    swap, other = at(trace, 0, 0), at(trace, 1, 0)
    assert trace.events[other].type.value == "lR"
    assert list(rb(trace)) == []
    assert (swap, other) in sc(trace)
    assert ob(trace).is_irreflexive()


def test_lost_update_is_not_consistent() -> None:
    text = "node A { x = 0 }\nthread T on A { cas(x, 0, 1) }\nthread U on A { x = 2 }"
    _, trace = trace_in_order(text, "T:0 U:0")
    swap, write = at(trace, 0, 0), at(trace, 1, 0)
    pairs = [(a, b) for a, b in trace.mo if {a, b} != {swap, write}] + [(write, swap)]
    broken = replace(trace, mo=Relation.of(len(trace.events), pairs))
    cycle = rdma_violation(broken)
    assert cycle is not None
    assert sorted(relations(cycle)) == ["mo", "rb"]
