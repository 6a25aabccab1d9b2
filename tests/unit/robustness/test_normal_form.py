"""The lemmas of docs/theory.md, step by step, on smallest violating traces of random programs that brute force finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import pytest

from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.model import rdma
from rdma_robust.semantics.axioms import ib, is_violating, ob, oppo, sc, sc_violation
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.oracle.brute_force import DEFAULT_LIMITS, Budget, ChoiceSearch, candidates
from rdma_robust.semantics.oracle.partial import Partial
from rdma_robust.semantics.oracle.thread_paths import Extent
from rdma_robust.semantics.trace import CPU_TYPES, READ_TYPES, WRITE_TYPES, Event, EventType, Relation, Trace
from tests.conftest import ROOT
from tests.support.random_programs import Size, random_program

SIZE = Size(threads=(1, 2), nodes=(2, 2), cells=(2, 2), instructions=(2, 6), registers=1, total=7)
MOST_TRACES = 3
"""Smallest violating traces looked at for each program."""

Key = tuple[int, int]
"""Thread and position: an event of a trace, whatever it reads there."""


def key(event: Event) -> Key:
    return event.thread, event.position


def smallest_violating(program: Program, ordered_reads: bool) -> list[Trace]:
    """Some violating traces with the fewest events. Raises SizeLimitError if brute force is too much."""
    budget = Budget(20_000, None)
    bases = sorted(candidates(program, rdma(ordered_reads), DEFAULT_LIMITS, Extent.ALL, budget), key=lambda b: b.n)
    found: list[Trace] = []
    for base in bases:
        if found and base.n > len(found[0].events) - len(program.cells):
            break
        search: ChoiceSearch

        def leaf(partial: Partial) -> bool:
            finished = None if partial.is_sc() else search.flush(partial)  # noqa: B023
            if finished is not None:
                found.append(finished.trace())
            return len(found) >= MOST_TRACES

        search = ChoiceSearch(base, budget, leaf)
        if search.run():
            break
    return found


@dataclass(frozen=True)
class Order:
    """Events of a program in a total order, and the relations of the trace of that order, between keys."""

    program: Program
    events: tuple[Event, ...]
    ordered_reads: bool

    @property
    def trace(self) -> Trace:
        return trace_of_order(self.events, self.program)

    def pairs(self, relation: Relation) -> set[tuple[Key, Key]]:
        events = self.trace.events
        return {(key(events[a]), key(events[b])) for a, b in relation if min(events[a].thread, events[b].thread) >= 0}

    def but(self, events: Sequence[Event]) -> Order:
        return Order(self.program, tuple(events), self.ordered_reads)


def linearised(random: Random, events: Sequence[Event], before: set[tuple[Key, Key]]) -> list[Event]:
    """A random total order of the events that contains the pairs of `before`, which are acyclic."""
    left, order = list(events), []
    while left:
        free = [e for e in left if not any((key(o), key(e)) in before for o in left)]
        order.append(random.choice(free))
        left.remove(order[-1])
    return order


def conflict(a: Event, b: Event) -> bool:
    return a.cell is not None and a.cell == b.cell and (a.type in WRITE_TYPES or b.type in WRITE_TYPES)


def forced(x: Event, order: Sequence[Event], late: list[Event], whole: Order) -> bool:
    """F1 to F4 against the events that are in B so far. `order` is L, `late` the events of B before x."""
    in_b = {key(b) for b in late}
    trace = whole.trace
    preserved, polls = whole.pairs(oppo(trace, rdma(whole.ordered_reads))), whole.pairs(trace.pf)
    same = [e for e in order if e.thread == x.thread and e.remote == x.remote and e.position < x.position]

    def forcing(w: Event) -> bool:
        starters = [e for e in late if e.thread == w.thread and e.remote == w.remote and e.position < w.position]
        return w.type is EventType.NLW or any(e.type in (EventType.NLR, EventType.NF) for e in starters)

    overtaken = any(
        w.type is EventType.NLW
        and key(w) in in_b
        and f.type is EventType.NF
        and key(f) not in in_b
        and w.position < f.position
        for w in same
        for f in same
    )
    return (
        any((key(b), key(x)) in preserved or conflict(b, x) for b in late)
        or any((key(w), key(x)) in polls and forcing(w) for w in late)
        or (x.type is EventType.NLR and overtaken)
    )


def depends(order: Order, m: Event) -> set[Key]:
    """The events that depend on m: read it or a write that depends on it, or carry what such a read has read."""
    reads_from = order.pairs(order.trace.rf)
    found = {key(m)}
    for event in order.events:
        carried = event.type in (EventType.NRW, EventType.NLW) and (event.thread, event.position - 1) in found
        if carried or any((w, key(event)) in reads_from for w in found):
            found.add(key(event))
    return found - {key(m)}


def is_violation_in_order(order: Order) -> bool:
    """Whether every ob edge is forward, as Lemma 3 says, and sc is cyclic."""
    return all(a < b for a, b in ob(order.trace, rdma(order.ordered_reads))) and sc_violation(order.trace) is not None


def maximal(trace: Trace, ordered_reads: bool) -> Iterator[Event]:
    issued = ib(trace, rdma(ordered_reads))
    for m in trace.events:
        last = not any(e.thread == m.thread >= 0 and e.position > m.position for e in trace.events)
        if m.thread >= 0 and last and not any((m.index, e.index) in issued for e in trace.events if e.type in CPU_TYPES):
            yield m


def check_pivot(random: Random, t: Order, m: Event) -> int:
    """Lemma 2, Theorem 5 and Theorem 7 for one maximal event; the number of splits that were checked."""
    assert sc_violation(t.trace) is not None and m.cell is not None
    at = [key(e) for e in t.events].index(key(m))
    rest = t.but([e for e in t.events if key(e) != key(m)])
    assert ob(rest.trace, rdma(t.ordered_reads)).is_irreflexive() and sc_violation(rest.trace) is None
    outside = {(a, b) for a, b in t.pairs(sc(t.trace)) if key(m) not in (a, b)}
    assert outside <= rest.pairs(sc(rest.trace))
    order = linearised(random, rest.events, rest.pairs(sc(rest.trace).closure()))
    late0 = {key(e) for e in t.events[at + 1 :]}
    first = t.but([*(e for e in order if key(e) not in late0), m, *(e for e in order if key(e) in late0)])
    assert is_violation_in_order(first)
    closed = t.pairs(sc(t.trace).closure())
    leaving = [e for e in order if (key(m), key(e)) in t.pairs(sc(t.trace)) and (key(e), key(m)) in closed]
    assert leaving and all(key(e) in late0 and conflict(m, e) for e in leaving)
    read = {(a, b) for a, b in t.pairs(t.trace.rf) if b == key(m)}
    for e in leaving:
        s = next(x for x in order if x is e or (key(x) in late0 and x.type in WRITE_TYPES and x.cell == m.cell))
        late = [s]
        for x in order[order.index(s) + 1 :]:
            if forced(x, order, late, t):
                late.append(x)
        assert {key(b) for b in late} <= late0
        split = t.but([*(x for x in order if x not in late), m, *late])
        assert is_violation_in_order(split)
        cpu = {key(x) for x in split.events if x.type in CPU_TYPES and x.type in READ_TYPES}
        assert not depends(split, m) & cpu
        assert {(a, b) for a, b in split.pairs(split.trace.rf) if b == key(m)} == read
        assert all((a, b) in split.pairs(sc(split.trace).closure()) for a, b in rest.pairs(sc(rest.trace)))
    return len(leaving)


def check_program(random: Random, program: Program, ordered_reads: bool) -> int:
    checked = 0
    for trace in smallest_violating(program, ordered_reads):
        events = [e for e in trace.events if e.thread >= 0]
        whole = Order(program, tuple(events), ordered_reads)
        keys = {e.index: key(e) for e in events}
        seen = {(keys[a], keys[b]) for a, b in ob(trace, rdma(ordered_reads)) if a in keys and b in keys}
        t = whole.but(linearised(random, events, seen))
        assert is_violating(t.trace, rdma(ordered_reads))
        pivots = list(maximal(t.trace, ordered_reads))
        assert pivots
        checked += sum(check_pivot(random, t, m) for m in pivots)
    return checked


def check_programs(seeds: range) -> int:
    checked = 0
    for seed in seeds:
        random = Random(f"normal form {seed}")
        program = load_program(random_program(random, SIZE), "random")
        try:
            checked += check_program(random, program, ordered_reads=seed % 2 == 1)
        except SizeLimitError:
            continue
    return checked


POLLED = """node A { x, r }
node B { one = 1 }
node D { w }
thread T1 on A { get x = B.one; poll B; get r = D.w }
thread T2 on A { reg q; put D.w = 1; q = x }"""
"""The get that overwrites what the pivot reads is polled: only F2 keeps the poll out of A."""

TWICE = """node A { x, r }
node D { w }
thread T1 on A { x = 1; x = 2; get r = D.w }
thread T2 on A { reg q; put D.w = 1; q = x }"""
"""The cycle may leave the pivot by the second write: the first must not come before the pivot for that."""

FENCED = (ROOT / "litmus/rendezvous-fenced-early-look.rdma").read_text(encoding="utf-8")
"""F3 matters."""


@pytest.mark.parametrize("text", [POLLED, TWICE, FENCED], ids=["polled", "twice", "fenced"])
def test_the_lemmas_hold_where_every_rule_is_needed(text: str) -> None:
    assert check_program(Random("rules"), load_program(text, "program"), False) > 0


def test_the_lemmas_hold_for_smallest_violating_traces() -> None:
    assert check_programs(range(80)) > 20


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(8))
def test_long_lemmas(chunk: int) -> None:
    assert check_programs(range(1_000 * (chunk + 1), 1_000 * (chunk + 2))) > 100
