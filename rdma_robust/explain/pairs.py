"""Which accesses of a thread the hardware may reorder, what keeps the others, and why no cycle closes through a pair.

An SC cycle that RDMA allows needs program order from an access a to a later b of a thread, b taking effect before a: b must
be one that :class:`Relaxation` lets overtake a. In a shortest SC cycle a thread has at most two events (section 6.5 of the
paper), so the rest of the cycle leads from b to a by conflicts and by program order of other threads, or b and a
conflict themselves. Where there is no such way, no execution whatever closes a cycle through the pair.

The relaxation is an over-approximation: a pair that it does not have is never reordered, one that it has may be. A pair that
it has only once a poll or fence is taken away is kept by that poll or fence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from rdma_robust.explain.model import Access, Keeper, Pair, Why
from rdma_robust.language.cfg import Cell, Step
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Outcome, Verdict, Witness
from rdma_robust.reports.wording import Words
from rdma_robust.robustness.critical import CriticalCycles, Relaxation
from rdma_robust.robustness.event_graph import EventEdge, EventGraph
from rdma_robust.robustness.instrument import Frame, conflicts, writes
from rdma_robust.robustness.pivot_classes import PivotClasses
from rdma_robust.semantics.trace import CPU_TYPES, Event, EventType

KEEPERS = (EventType.P, EventType.NF)

Place = tuple[int, int, str, str]
"""An access as the reader sees it: where its statement stands, CPU or the NIC's event type, and the cell."""


def explained_pairs(outcome: Outcome, options: CheckOptions) -> tuple[Pair, ...]:
    """Return every pair of accesses of a thread whose order the hardware alone does not keep, in program order."""
    frame = Frame.of(outcome.program, options.ordered_reads)
    proofs = Proofs(frame)
    words = Words(outcome.program)
    closed = _reordered(outcome.witness)
    found: list[Pair] = []
    for graph in frame.graphs:
        orders = ThreadOrders(graph, options.ordered_reads)
        for (one, other), instances in orders.candidates.items():
            first, second = (graph.edges[i] for i in instances[0])
            reordered = [(a, b) for a, b in instances if b in orders.overtaking(frozenset())[a]]
            kept_by, alone = ((), False) if reordered else orders.keepers(instances)
            edges = [(graph.edges[a], graph.edges[b]) for a, b in reordered]
            why, reason = proofs.why(edges, outcome) if edges else (None, "")
            if (one, other) in closed:
                why, reason = "cycle", "the counterexample reorders them and closes a cycle"
            pair = Pair(
                thread=graph.name,
                earlier=_access(words, first, one),
                later=_access(words, second, other),
                kept_by=tuple(_keeper(words, graph, s) for s in kept_by),
                alone=alone,
                why=why,
                reason=reason or kept_reason(words, [graph.edges[min(s)] for s in kept_by], alone),
            )
            found.append(pair)
    return tuple(found)


def _reordered(witness: Witness | None) -> set[tuple[Place, Place]]:
    relaxed = () if witness is None else witness.relaxed
    return {(_place(a), _place(b)) for a, b in relaxed}


@dataclass(frozen=True)
class ThreadOrders:
    """The orders of one thread's accesses, with all polls and fences or without some of them."""

    graph: EventGraph
    ordered_reads: bool

    @cached_property
    def statements(self) -> tuple[frozenset[int], ...]:
        """The polls and fences: for each statement its edges, by number."""
        found: dict[tuple[int, int], set[int]] = {}
        for i, edge in enumerate(self.graph.edges):
            if edge.type in KEEPERS:
                found.setdefault((edge.step.span.start, edge.step.span.end), set()).add(i)
        return tuple(frozenset(found[place]) for place in sorted(found))

    @cached_property
    def candidates(self) -> dict[tuple[Place, Place], list[tuple[int, int]]]:
        """The pairs of places that may be reordered once all polls and fences are gone, with their edges."""
        found: dict[tuple[Place, Place], list[tuple[int, int]]] = {}
        everything: frozenset[int] = frozenset().union(*self.statements)
        for a, later in self.overtaking(everything).items():
            for b in sorted(later):
                found.setdefault((_place(self.graph.edges[a]), _place(self.graph.edges[b])), []).append((a, b))
        return {places: found[places] for places in sorted(found)}

    def overtaking(self, gone: frozenset[int]) -> dict[int, frozenset[int]]:
        """Return which accesses may overtake which earlier one if the polls and fences in `gone` were not there."""
        if gone not in self._found:
            erased = [_erased(e) if i in gone else e for i, e in enumerate(self.graph.edges)]
            numbers = {id(e): i for i, e in enumerate(erased)}
            relaxation = Relaxation(replace(self.graph, edges=tuple(erased)), self.ordered_reads)
            self._found[gone] = {
                i: frozenset(numbers[id(b)] for b in relaxation.overtaking(e) if _shown(b))
                for i, e in enumerate(erased)
                if _shown(e) and e.type not in CPU_TYPES
            }
        return self._found[gone]

    @cached_property
    def _found(self) -> dict[frozenset[int], dict[int, frozenset[int]]]:
        return {}

    def keepers(self, instances: list[tuple[int, int]]) -> tuple[tuple[frozenset[int], ...], bool]:
        """Return the polls and fences without any one of which the order is lost; if there are none, a smallest set
        without all of which it is lost, and False."""

        def lost(gone: Iterable[frozenset[int]]) -> bool:
            after = self.overtaking(frozenset().union(*gone))
            return any(b in after[a] for a, b in instances)

        remote = self.graph.edges[instances[0][0]].remote
        mine = [s for s in self.statements if self.graph.edges[min(s)].remote == remote]
        single = tuple(s for s in mine if lost([s]))
        if single:
            return single, True
        needed = mine
        for statement in mine:
            fewer = [s for s in needed if s != statement]
            needed = fewer if lost(fewer) else needed
        return tuple(needed), False


@dataclass(frozen=True)
class Proofs:
    """Why no cycle closes through a reordered pair."""

    frame: Frame

    @cached_property
    def cycles(self) -> CriticalCycles:
        return self.classes.cycles

    @cached_property
    def classes(self) -> PivotClasses:
        return PivotClasses(self.frame, ALL_REDUCTIONS - {"symmetry"})

    def why(self, pairs: list[tuple[EventEdge, EventEdge]], outcome: Outcome) -> tuple[Why, str]:
        """Return the strongest reason that holds for all of `pairs`, which are instances of one pair of places."""
        numbers = [(self.cycles.number(a), self.cycles.number(b)) for a, b in pairs]
        racing = [(a, b) for a, b in numbers if self._conflict(a, b) or (self._raced(a) and self._raced(b))]
        if not racing:
            return "no-race", self._unraced(numbers)
        first, second = pairs[0]
        if not any(self._conflict(a, b) or self._leads_back(b, a) for a, b in racing):
            back = f"from `{second.cell}` back to `{first.cell}`"
            return "no-cycle", f"no chain of conflicts between other threads leads {back}"
        if not any(self._critical(a, b) for a, b in racing):
            return "filter", "no cycle through it has an event that can be the last of a violation (the static filter)"
        if outcome.verdict is Verdict.ROBUST:
            states = f"{outcome.counts.states:,} states of the search"
            return "search", f"conflicts lead back, but no cycle closes in any of the {states}"
        return "open", "conflicts lead back, so a cycle may close"

    def _raced(self, event: int) -> bool:
        return bool(self.cycles.conflicting[event])

    def _unraced(self, numbers: list[tuple[int, int]]) -> str:
        """Return on which of two accesses nobody races."""
        for same in zip(*numbers, strict=True):
            if not any(map(self._raced, same)):
                edges = [self.cycles.events[i] for i in same]
                others = "accesses" if any(map(writes, edges)) else "writes"
                return f"no other thread {others} `{edges[0].cell}`"
        return "no other thread races on both"

    def _conflict(self, a: int, b: int) -> bool:
        one, other = self.cycles.events[a], self.cycles.events[b]
        return one.cell is not None and conflicts(other, one.cell, writes(one))

    def _leads_back(self, b: int, a: int) -> bool:
        """Whether conflicts and program order of other threads lead from b to a."""
        cycles = self.cycles
        others = cycles.accesses & ~cycles.of_thread[cycles.events[a].thread]
        reached, todo = 0, cycles.conflicting[b] & others
        while todo:
            low = todo & -todo
            todo ^= low
            reached |= low
            e = low.bit_length() - 1
            todo |= (cycles.after[e] | cycles.conflicting[e]) & others & ~reached
        return bool(cycles.conflicting[a] & reached)

    def _critical(self, a: int, b: int) -> bool:
        """Whether a walk of the static filter goes from a in beta to b in alpha, or to b as the pivot."""
        thread = self.cycles.events[a].thread
        for c in self.classes.classes:
            useful = self.cycles.useful(c)
            ends = self.cycles.sites(c) if c.thread == thread else useful.exits[0]
            if useful.entries[1] >> a & 1 and ends >> b & 1:
                return True
        return False


def kept_reason(words: Words, keepers: list[EventEdge], alone: bool) -> str:
    """Return which polls and fences keep an order, as a clause."""
    named = [f"`{_statement(words, e.step)}` (line {e.step.span.line})" for e in keepers]
    if len(named) == 1:
        return f"{named[0]} keeps the order"
    joined = f"{', '.join(named[:-1])} and {named[-1]}"
    return f"{joined} keep the order {'together' if alone else 'each by itself'}"


def _statement(words: Words, step: Step) -> str:
    return words.statement(_event(EventType.P, None, 0, None, step))


def _event(kind: EventType, cell: Cell | None, thread: int, remote: str | None, step: Step) -> Event:
    return Event(-1, kind, thread, -1, remote, cell, step=step)


def _access(words: Words, edge: EventEdge, place: Place) -> Access:
    assert edge.type is not None
    event = _event(edge.type, edge.cell, edge.thread, edge.remote, edge.step)
    span = edge.step.span
    return Access(place[2], str(edge.cell), span.line, span.column, words.statement(event), words.noun(event))


def _keeper(words: Words, graph: EventGraph, statement: frozenset[int]) -> Keeper:
    step = graph.edges[min(statement)].step
    return Keeper(step.span.line, step.span.column, _statement(words, step))


def _place(edge: EventEdge | Event) -> Place:
    assert edge.type is not None and edge.step is not None
    kind = "CPU" if edge.type in CPU_TYPES else edge.type.value
    return edge.step.span.start, edge.step.span.end, kind, str(edge.cell)


def _shown(edge: EventEdge) -> bool:
    """Whether the edge is an access that others could see: not one of a constant that a put carries."""
    return edge.cell is not None and not edge.cell.hidden


def _erased(edge: EventEdge) -> EventEdge:
    return replace(edge, type=None, remote=None)


def places(found: Iterable[Pair]) -> Iterator[tuple[int, int]]:
    """Yield the lines of the earlier and the later access of every pair."""
    for pair in found:
        yield pair.earlier.line, pair.later.line
