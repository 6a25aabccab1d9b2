"""Accesses of a thread that the hardware may reorder, what keeps the others, and why no cycle closes through a pair.

An SC cycle that RDMA allows needs program order from an access a to a later b of a thread, b taking effect before a: b must
be one that :class:`Relaxation` lets overtake a. In a shortest SC cycle a thread has at most two events (section 6.5 of the
paper), so the rest of the cycle leads from b to a by conflicts and by program order of other threads, or b and a
conflict themselves. Where there is no such way, no execution whatever closes a cycle through the pair.

The relaxation is an over-approximation: a pair that it does not have is never reordered, one that it has may be. A pair that
it has only once a poll or fence is taken away is kept by that poll or fence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from rdma_robust.analyses.explain.explanation import Access, Keeper, Keeping, Pair, Why
from rdma_robust.language.flow.cfg import Cell, Step
from rdma_robust.model import Model
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Outcome, Verdict, Witness
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.event_graph import EventGraph
from rdma_robust.robustness.forwarding import buffered
from rdma_robust.robustness.frame import InstrumentationFrame, PivotClass, conflicts, writes
from rdma_robust.robustness.pivot_classes import classes_of
from rdma_robust.robustness.reductions.critical import CriticalCycles
from rdma_robust.robustness.reductions.relaxation import ThreadRelaxation
from rdma_robust.robustness.static_filter import pivots_to_try
from rdma_robust.semantics.trace import CPU_TYPES, FENCE_TYPES, Event, EventType
from rdma_robust.semantics.wording import Words

KEEPERS = (EventType.P, EventType.F, EventType.FL, *FENCE_TYPES)

WORK = 250_000
"""Edges looked at, about, to find out which polls and fences of a program keep an order: a few seconds. The pairs that are
left then are kept all the same."""

Place = tuple[int, int, str, str]
"""An access as the reader sees it: where its statement stands, CPU or the NIC's event type, and the cell."""

Statement = frozenset[int]
"""The edges of a poll or fence, by number."""


@dataclass
class WorkBudget:
    """The work that may still be spent."""

    left: int = WORK

    def spend(self, amount: int) -> bool:
        """Take `amount` away; return whether it was there."""
        self.left -= amount
        return self.left >= 0


@dataclass(frozen=True)
class ThreadOrders:
    """The orders of one thread's accesses, with all polls and fences or without some of them."""

    graph: EventGraph
    model: Model
    work: WorkBudget

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """The polls and fences."""
        found: dict[tuple[int, int], set[int]] = {}
        for i, edge in enumerate(self.graph.edges):
            if edge.type in KEEPERS:
                found.setdefault((edge.step.span.start, edge.step.span.end), set()).add(i)
        return tuple(frozenset(found[place]) for place in sorted(found))

    @cached_property
    def candidates(self) -> dict[tuple[Place, Place], list[tuple[int, int]]]:
        """The pairs of places that may be reordered once all polls and fences are gone, with their edges."""
        found: dict[tuple[Place, Place], list[tuple[int, int]]] = {}
        everything: Statement = frozenset().union(*self.statements)
        for a, edge in enumerate(self.graph.edges):
            if is_visible_access(edge) and (edge.type not in CPU_TYPES or buffered(edge, self.model)):
                for b in sorted(self.overtaking(a, everything)):
                    found.setdefault((access_place(edge), access_place(self.graph.edges[b])), []).append((a, b))
        return {places: found[places] for places in sorted(found)}

    def overtaking(self, a: int, gone: Statement = frozenset()) -> frozenset[int]:
        """Return which accesses may take effect before access `a`, which is po-earlier, if the polls and fences in `gone`
        were not there."""
        if gone not in self._relaxations:
            edges = tuple(_erased(e) if i in gone else e for i, e in enumerate(self.graph.edges))
            relaxation = ThreadRelaxation(replace(self.graph, edges=edges), self.model)
            self._relaxations[gone] = relaxation, {id(e): i for i, e in enumerate(edges)}, {}
        relaxation, numbers, known = self._relaxations[gone]
        if a not in known:
            later = relaxation.overtaking(relaxation.graph.edges[a])
            known[a] = frozenset(numbers[id(b)] for b in later if is_visible_access(b))
        return known[a]

    @cached_property
    def _relaxations(self) -> dict[Statement, tuple[ThreadRelaxation, dict[int, int], dict[int, frozenset[int]]]]:
        return {}

    def keepers(self, instances: list[tuple[int, int]]) -> tuple[tuple[Statement, ...], Keeping]:
        """Return the polls and fences without any one of which the order is lost; if there are none, a smallest set without
        all of which it is lost; and if it takes too long to know, all of the queue pair."""

        def lost(gone: Iterable[Statement]) -> bool:
            without = frozenset().union(*gone)
            return any(b in self.overtaking(a, without) for a, b in instances)

        remote = self.graph.edges[instances[0][0]].remote
        # A poll of several queue pairs is one statement. What empties the store buffer has no queue pair, or any.
        mine = [s for s in self.statements if remote is None or any(self.graph.edges[i].remote == remote for i in s)]
        if not self.work.spend(len(mine) * len(self.graph.edges)):
            return tuple(mine), "some"
        single = tuple(s for s in mine if lost([s]))
        if single:
            return single, "together"
        if not self.work.spend(len(mine) * len(self.graph.edges)):
            return tuple(mine), "some"
        needed = mine
        for statement in mine:
            fewer = [s for s in needed if s != statement]
            needed = fewer if lost(fewer) else needed
        return tuple(needed), "each"


def access_place(edge: EventEdge | Event) -> Place:
    """Return where an access is, for the reader."""
    assert edge.type is not None and edge.step is not None
    kind = "CPU" if edge.type in CPU_TYPES else edge.type.value
    return edge.step.span.start, edge.step.span.end, kind, str(edge.cell)


def is_visible_access(edge: EventEdge) -> bool:
    """Whether the edge is an access that others could see: not one of a constant that a put carries."""
    return edge.cell is not None and not edge.cell.hidden


def _erased(edge: EventEdge) -> EventEdge:
    return replace(edge, type=None, remote=None)


MOST_PAIRS = 5_000
"""Pairs that are listed at most."""


def explained_pairs(outcome: Outcome, options: CheckOptions) -> tuple[tuple[Pair, ...], bool]:
    """Return the pairs of accesses of a thread whose order the hardware alone does not keep, in program order, and whether
    these are all: at most `MOST_PAIRS` are."""
    options = options.on(outcome.program.hardware)
    frame = InstrumentationFrame.to_instrument(outcome.program, options.model)
    proofs = Proofs(frame)
    words = Words(outcome.program)
    closed = _reordered(outcome.witness)
    found: list[Pair] = []
    work = WorkBudget()
    for graph in frame.graphs:
        orders = ThreadOrders(graph, options.model, work)
        for places, instances in orders.candidates.items():
            if len(found) == MOST_PAIRS:
                return tuple(found), False
            pair = _bare(words, orders, instances)
            reordered = [(graph.edges[a], graph.edges[b]) for a, b in instances if b in orders.overtaking(a)]
            if places in closed:
                pair = replace(pair, why="cycle", reason="the counterexample reorders them and closes a cycle")
            elif reordered:
                why, reason = proofs.why(reordered, outcome)
                pair = replace(pair, why=why, reason=reason)
            else:
                kept_by, keeping = orders.keepers(instances)
                reason = kept_reason(words, [graph.edges[min(s)] for s in kept_by], keeping)
                keepers = tuple(_keeper(words, graph, s) for s in kept_by)
                pair = replace(pair, kept_by=keepers, keeping=keeping, reason=reason)
            found.append(pair)
    return tuple(found), True


def _bare(words: Words, orders: ThreadOrders, instances: list[tuple[int, int]]) -> Pair:
    """Return a pair of accesses about which nothing is said yet."""
    first, second = (orders.graph.edges[i] for i in instances[0])
    return Pair(orders.graph.name, _access(words, first), _access(words, second), (), None, None, "")


def _reordered(witness: Witness | None) -> set[tuple[Place, Place]]:
    relaxed = () if witness is None else witness.relaxed
    return {(access_place(a), access_place(b)) for a, b in relaxed}


@dataclass(frozen=True)
class Proofs:
    """Why no cycle closes through a reordered pair."""

    frame: InstrumentationFrame

    @cached_property
    def cycles(self) -> CriticalCycles:
        return CriticalCycles(self.frame)

    @cached_property
    def classes(self) -> tuple[PivotClass, ...]:
        return classes_of(self.frame, self.cycles.may_start)

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
        if self._filtered:
            return "filter", "no cycle through it closes with the values that locations can hold (the static filter)"
        if outcome.verdict is Verdict.ROBUST:
            states = f"{outcome.counts.states:,} states of the search"
            return "search", f"conflicts lead back, but no cycle closes in any of the {states}"
        return "open", "conflicts lead back, so a cycle may close"

    @cached_property
    def _filtered(self) -> bool:
        """Whether the static filter, which looks at values too, leaves no pivot."""
        return not pivots_to_try(self.frame, ALL_REDUCTIONS - {"permute"}).classes.tried

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
        for c in self.classes:
            useful = self.cycles.useful(c)
            ends = self.cycles.sites(c) if c.thread == thread else useful.exits[0]
            if useful.entries[1] >> a & 1 and ends >> b & 1:
                return True
        return False


def kept_reason(words: Words, keepers: list[EventEdge], keeping: Keeping) -> str:
    """Return which polls and fences keep an order, as a clause."""
    named = [f"`{_statement(words, e.step)}` (line {e.step.span.where})" for e in keepers]
    if keeping == "some":
        return f"polls or fences of the queue pair to {keepers[0].remote} keep the order"
    if len(named) == 1:
        return f"{named[0]} keeps the order"
    joined = f"{', '.join(named[:-1])} and {named[-1]}"
    return f"{joined} keep the order {'together' if keeping == 'together' else 'each by itself'}"


def _statement(words: Words, step: Step) -> str:
    return words.statement(_event(EventType.P, None, 0, None, step))


def _event(kind: EventType, cell: Cell | None, thread: int, remote: str | None, step: Step) -> Event:
    return Event(-1, kind, thread, -1, remote, cell, step=step)


def _access(words: Words, edge: EventEdge) -> Access:
    assert edge.type is not None
    event = _event(edge.type, edge.cell, edge.thread, edge.remote, edge.step)
    span = edge.step.span
    statement, noun = words.statement(event), words.noun(event)
    if edge.cell is not None and "[" in edge.cell.name and edge.cell.name not in noun:
        noun = f"{noun.removesuffix(')')}, `{edge.cell.name}`)"
    return Access(access_place(edge)[2], str(edge.cell), span.line, span.column, statement, noun)


def _keeper(words: Words, graph: EventGraph, statement: frozenset[int]) -> Keeper:
    step = graph.edges[min(statement)].step
    return Keeper(step.span.line, step.span.column, _statement(words, step))
