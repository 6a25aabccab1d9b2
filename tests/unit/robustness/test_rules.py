"""The forcing rules of docs/theory.md (Lemma 3) are exactly what keeps every ob edge forward, on random split runs."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.model import rdma
from rdma_robust.semantics.axioms import ob, oppo
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.trace import Event, EventType, Trace
from tests.support.random_splits import PROGRAM, random_split

ROUNDS = 400


def rules_hold(trace: Trace, border: int, ordered_reads: bool) -> bool:
    """R1, R2 and R3 of docs/theory.md; events from `border` on are in B."""
    events = trace.events
    in_b = [e.index >= border for e in events]

    def before(a: Event, b: Event) -> bool:
        return a.remote == b.remote and (a.index, b.index) in trace.po

    def forcing(w: Event) -> bool:
        starters = (EventType.NLR, EventType.NF)
        return w.type is EventType.NLW or any(in_b[e.index] and e.type in starters and before(e, w) for e in events)

    if any(in_b[a] and not in_b[b] for a, b in oppo(trace, rdma(ordered_reads))):
        return False
    if any(in_b[w] and not in_b[p] and forcing(events[w]) for w, p in trace.pf):
        return False
    writes = [e for e in events if e.type is EventType.NLW and in_b[e.index]]
    fences = [e for e in events if e.type is EventType.NF and not in_b[e.index]]
    reads = [e for e in events if e.type is EventType.NLR and not in_b[e.index]]
    return not any(before(w, f) and before(f, r) for f in fences for w in writes for r in reads)


@pytest.mark.ci
@pytest.mark.parametrize("ordered_reads", [False, True])
def test_the_rules_hold_iff_every_ob_edge_is_forward(ordered_reads: bool) -> None:
    random = Random(f"rules {ordered_reads}")
    seen = {True: 0, False: 0}
    for _ in range(ROUNDS):
        order, size = random_split(random)
        trace = trace_of_order(order, PROGRAM)
        forward = all(a < b for a, b in ob(trace, rdma(ordered_reads)))
        border = len(PROGRAM.cells) + size
        assert rules_hold(trace, border, ordered_reads) == forward, [str(e) for e in trace.events[len(PROGRAM.cells) :]]
        seen[forward] += 1
    assert min(seen.values()) > ROUNDS // 10
