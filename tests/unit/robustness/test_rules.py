"""The forcing rules of docs/theory.md (Lemma 3) are exactly what keeps every ob edge forward, on random split runs."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.language.cfg import Cell
from rdma_robust.language.load import load_program
from rdma_robust.semantics.axioms import ob, oppo
from rdma_robust.semantics.build import trace_of_order
from rdma_robust.semantics.trace import Event, EventType, Trace

PROGRAM = load_program("node A { x, y }\nnode B { x, y }\nnode C { x, y }\nthread T on A { x = 1 }", "cells")
CPU = (EventType.LR, EventType.LW, EventType.CAS)
ROUNDS = 400
STEPS = (("cpu",), ("put",), ("get",), ("put", "poll"), ("get", "poll"), ("get", "fence", "put"))


def random_thread(random: Random, thread: int) -> list[Event]:
    """A prefix of a thread on A, in program order: as many polls as there are completions at most."""
    made: list[tuple[EventType, str | None, Cell | None]] = []
    unpolled = {"B": 0, "C": 0}
    todo = [random.choice(STEPS) for _ in range(random.randint(1, 4))]
    for step in (step for steps in todo for step in steps):
        remote = random.choice("BBBC")
        own, other = (random.choice([c for c in PROGRAM.cells if c.node == node]) for node in ("A", remote))
        match step:
            case "cpu":
                made.append((random.choice(CPU), None, own))
            case "put":
                made += [(EventType.NLR, remote, own), (EventType.NRW, remote, other)]
                unpolled[remote] += 1
            case "get":
                made += [(EventType.NRR, remote, other), (EventType.NLW, remote, own)]
                unpolled[remote] += 1
            case "fence":
                made.append((EventType.NF, remote, None))
            case _ if unpolled[remote]:
                made.append((EventType.P, remote, None))
                unpolled[remote] -= 1
    if made and random.random() < 0.2:
        made.pop()
    return [Event(-1, kind, thread, i, remote, cell) for i, (kind, remote, cell) in enumerate(made)]


def random_split(random: Random) -> tuple[list[Event], int]:
    """Threads interleaved in program order, each event put into A or B; return A followed by B, and the size of A."""
    threads = [random_thread(random, t) for t in range(random.randint(1, 2))]
    turns = [t for t, events in enumerate(threads) for _ in events]
    random.shuffle(turns)
    merged = [threads[t].pop(0) for t in turns]
    late = random.choice((0.2, 0.5))
    first = [random.random() > late for _ in merged]
    early = [e for e, keep in zip(merged, first, strict=True) if keep]
    return early + [e for e, keep in zip(merged, first, strict=True) if not keep], len(early)


def rules_hold(trace: Trace, border: int, ordered_reads: bool) -> bool:
    """R1, R2 and R3 of docs/theory.md; events from `border` on are in B."""
    events = trace.events
    in_b = [e.index >= border for e in events]

    def before(a: Event, b: Event) -> bool:
        return a.remote == b.remote and (a.index, b.index) in trace.po

    def forcing(w: Event) -> bool:
        starters = (EventType.NLR, EventType.NF)
        return w.type is EventType.NLW or any(in_b[e.index] and e.type in starters and before(e, w) for e in events)

    if any(in_b[a] and not in_b[b] for a, b in oppo(trace, ordered_reads)):
        return False
    if any(in_b[w] and not in_b[p] and forcing(events[w]) for w, p in trace.pf):
        return False
    writes = [e for e in events if e.type is EventType.NLW and in_b[e.index]]
    fences = [e for e in events if e.type is EventType.NF and not in_b[e.index]]
    reads = [e for e in events if e.type is EventType.NLR and not in_b[e.index]]
    return not any(before(w, f) and before(f, r) for f in fences for w in writes for r in reads)


@pytest.mark.parametrize("ordered_reads", [False, True])
def test_the_rules_hold_iff_every_ob_edge_is_forward(ordered_reads: bool) -> None:
    random = Random(f"rules {ordered_reads}")
    seen = {True: 0, False: 0}
    for _ in range(ROUNDS):
        order, size = random_split(random)
        trace = trace_of_order(order, PROGRAM)
        forward = all(a < b for a, b in ob(trace, ordered_reads))
        border = len(PROGRAM.cells) + size
        assert rules_hold(trace, border, ordered_reads) == forward, [str(e) for e in trace.events[len(PROGRAM.cells) :]]
        seen[forward] += 1
    assert min(seen.values()) > ROUNDS // 10
