"""Random runs split into two parts, as the normal form splits them."""

from __future__ import annotations

from random import Random

from rdma_robust.language.flow.cfg import Cell
from rdma_robust.language.load import load_program
from rdma_robust.semantics.trace import Event, EventType

PROGRAM = load_program("node A { x, y }\nnode B { x, y }\nnode C { x, y }\nthread T on A { x = 1 }", "cells")
CPU = (EventType.LR, EventType.LW, EventType.CAS)
STEPS = (("cpu",), ("put",), ("get",), ("put", "poll"), ("get", "poll"), ("get", "fence", "put"), ("fence",))


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
