"""The paper's instrumentation, the reference: two memories, guessed values, and a guessed SC cycle.

Every event goes to tau1 or tau2 as it pleases, unless a rule forbids tau1. tau2 runs on its own memory copy; the value a
cell has between the parts is guessed when tau2 first reads it and compared with tau1's copy at the target. Each thread of
the cycle marks one entry and one exit event; an exit is linked with an entry of the next thread, on the same cell, at
least one of them writing, the exit earlier in tau1 . tau2. Linked pairs form cycles, whoever is linked with whom.

Source: docs/theory-search.md, "The paper's instrumentation"; Section 6 and Appendix D of the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from rdma_robust.counters.program import (
    Assign,
    Body,
    Command,
    CounterProgram,
    ProcessGraph,
    Require,
    Statement,
    Target,
    leaf,
)
from rdma_robust.errors import UsageError
from rdma_robust.expr import Binary, Const, Name, conj, disj, equals, negate
from rdma_robust.language.flow.cfg import Cell, Program, steps
from rdma_robust.model import RDMA, Model
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import EventLabel, InstrumentationFrame, edge_effect, edge_reads, has_bit, set_bit, writes
from rdma_robust.robustness.rules import ForcingRules, buffers_stores
from rdma_robust.semantics.event_table import row_of
from rdma_robust.semantics.values import possible_values

GUESSED, KNOWN = "guessed", "known"
"""Cells whose value between the parts was guessed, and cells whose value in tau2 is known (guessed or written)."""

COPY_1, COPY_2, GUESS = "@1", "@2", "@guess"
_LINKED = 1


def instrument_paper(program: Program, model: Model = RDMA) -> CounterProgram[EventLabel]:
    """Return the counter program whose target is reachable iff `program` is not robust."""
    return instrument_frame(InstrumentationFrame.to_instrument(program, model))


def instrument_frame(frame: InstrumentationFrame) -> CounterProgram[EventLabel]:
    """Return the counter program of the frame's program, see :func:`instrument_paper`.

    Raises UsageError for models that the paper does not have: with store buffers, or where writes of one queue pair overtake
    each other; and for operations that it does not have, see :func:`beyond_paper`.
    """
    if (more := beyond_paper(frame.program, frame.model)) is not None:
        raise UsageError(f"the paper's instrumentation does not have {more}; use the instrumentation pivot")
    return _Paper(frame, ForcingRules(frame), possible_values(frame.program)).build()


def beyond_paper(program: Program, model: Model = RDMA) -> str | None:
    """Return what the program or the model has that those of the paper have not, None if there is nothing."""
    if buffers_stores(model) or model.order != RDMA.order:
        return "store buffers (cpu tso)" if buffers_stores(model) else f"order {model.order_name}"
    ops = [step.op for thread in program.threads for _, _, step in steps(thread)]
    found = next((beyond for op in ops if (beyond := row_of(op).beyond)), None)
    if found is None and not all(getattr(op, "signaled", True) for op in ops):
        return "unsignaled requests"
    return found or ("memory behind a NIC" if program.memories else "relaxed regions" if program.has_regions else None)


@dataclass(frozen=True, slots=True)
class _Mark:
    """A point of the cycle that waits for its partner: which access it is and in which part."""

    cell: Cell
    writes: bool
    part: int


@dataclass(frozen=True)
class _Paper:
    frame: InstrumentationFrame
    rules: ForcingRules
    values: Mapping[Cell, frozenset[int]]

    def build(self) -> CounterProgram[EventLabel]:
        frame = self.frame
        variables = (
            *((f"{c}{copy}", c.init) for c in frame.cells for copy in (COPY_1,)),
            *((f"{c}{copy}", 0) for c in frame.cells for copy in (COPY_2, GUESS)),
            *frame.registers(),
            *((frame.carried(t), 0) for t in frame.carriers()),
            *self.rules.variables(),
            (GUESSED, 0),
            (KNOWN, 0),
            *((point(t), 0) for t in range(len(frame.graphs)) for point in (_entry, _exit)),
        )
        poll = frame.limits.poll("instrumenting")
        processes = tuple(
            ProcessGraph(g.name, g.entry, tuple(Command(e.source, e.target, self._body(e)) for e in poll.each(g.edges)))
            for g in frame.graphs
        )
        values = (
            *(f"{c}{copy}" for c in frame.cells for copy in (COPY_1, COPY_2, GUESS)),
            *(r for r, _ in frame.registers()),
            *map(frame.carried, frame.carriers()),
        )
        return CounterProgram(
            frame.program.name,
            variables,
            self.rules.counters(),
            processes,
            (self._target(),),
            below=self.rules.counter_order(),
            ranges=tuple((name, *frame.value_range) for name in values),
            sizes=self.rules.sizes(),
        )

    def _body(self, edge: EventEdge) -> Body[EventLabel]:
        if edge.type is None:
            return leaf(EventLabel(edge, 0), *edge_effect(self.frame, edge, COPY_1))
        first = Body((Require(negate(self.rules.oppo_forces(edge))),), tuple(self._part1(edge)))
        return Body((), (first, *self._part2(edge)))

    def _part1(self, edge: EventEdge) -> Iterator[Body[EventLabel]]:
        for mark in self._marks(edge, 1):
            for counted in self.rules.first_part(edge):
                yield leaf(EventLabel(edge, 1), *edge_effect(self.frame, edge, COPY_1), *counted, *mark)

    def _part2(self, edge: EventEdge) -> Iterator[Body[EventLabel]]:
        for memory, mark, counted in product(
            tuple(self._memory2(edge)), tuple(self._marks(edge, 2)), self.rules.second_part(edge)
        ):
            yield leaf(EventLabel(edge, 2), *memory, *edge_effect(self.frame, edge, COPY_2), *counted, *mark)

    def _memory2(self, edge: EventEdge) -> Iterator[tuple[Statement, ...]]:
        """Make tau2's value of the accessed cell known: guess it at the first read, learn it at a first write."""
        bit = self.frame.bit(edge.cell)
        known = Assign((set_bit(KNOWN, bit),))
        if not bit or edge.cell is None:
            yield ()
        elif not edge_reads(edge):
            yield (known,)
        else:
            yield (Require(has_bit(KNOWN, bit)),)
            for value in sorted(self.values[edge.cell]):
                guess = ((f"{edge.cell}{copy}", Const(value)) for copy in (COPY_2, GUESS))
                yield Require(negate(has_bit(KNOWN, bit))), Assign((*guess, set_bit(GUESSED, bit))), known

    def _marks(self, edge: EventEdge, part: int) -> Iterator[tuple[Statement, ...]]:
        """The ways the event can serve the cycle: not at all, as its thread's entry, its exit, or both."""
        yield ()
        if edge.cell is None or not self.frame.bit(edge.cell):
            return
        me, mark = edge.thread, _Mark(edge.cell, writes(edge), part)
        fresh = Require(conj(equals(Name(_entry(me)), Const(0)), equals(Name(_exit(me)), Const(0))))
        entered = Require(conj(Name(_entry(me)), equals(Name(_exit(me)), Const(0))))
        entries, exits = list(self._entries(me, mark)), list(self._exits(me, mark))
        for entry in entries:
            yield fresh, *entry
        for leave in [*exits, *self._links(me, mark, (me,))]:
            yield entered, *leave
        for entry, leave in product(entries, exits):
            yield fresh, *entry, *leave

    def _entries(self, me: int, mark: _Mark) -> Iterator[tuple[Statement, ...]]:
        """Make the event its thread's entry: waiting, or linked with another thread's waiting exit."""
        yield (Assign(((_entry(me), Const(self._code(mark))),)),)
        for other in range(len(self.frame.graphs)):
            waiting = [m for m in self._partners(mark) if m.part == 1 or mark.part == 2]
            if other != me and waiting:
                yield self._link(_exit(other), waiting, _entry(me))

    def _exits(self, me: int, mark: _Mark) -> Iterator[tuple[Statement, ...]]:
        """Make the event its thread's exit: waiting, or linked with another thread's waiting entry."""
        yield (Assign(((_exit(me), Const(self._code(mark))),)),)
        yield from self._links(me, mark, tuple(t for t in range(len(self.frame.graphs)) if t != me))

    def _links(self, me: int, mark: _Mark, others: tuple[int, ...]) -> Iterator[tuple[Statement, ...]]:
        """Link this exit with an entry that was simulated before it and so must be later in tau1 . tau2."""
        if mark.part == 1:
            waiting = [m for m in self._partners(mark) if m.part == 2]
            for other in others:
                yield self._link(_entry(other), waiting, _exit(me))

    def _link(self, waiting: str, marks: list[_Mark], mine: str) -> tuple[Statement, ...]:
        there = disj(*(equals(Name(waiting), Const(self._code(m))) for m in marks))
        return Require(there), Assign(((waiting, Const(_LINKED)), (mine, Const(_LINKED))))

    def _partners(self, mark: _Mark) -> list[_Mark]:
        """The accesses that conflict with `mark`."""
        return [_Mark(mark.cell, w, part) for w in (False, True) for part in (1, 2) if w or mark.writes]

    def _code(self, mark: _Mark) -> int:
        return 2 + self.frame.cells.index(mark.cell) * 4 + mark.writes * 2 + (mark.part - 1)

    def _target(self) -> Target[EventLabel | None]:
        threads = range(len(self.frame.graphs))
        complete = (Binary("==", Name(_entry(t)), Name(_exit(t))) for t in threads)
        resolved = (Binary("<=", Name(_entry(t)), Const(_LINKED)) for t in threads)
        some = disj(*(Name(_entry(t)) for t in threads))
        matches = (
            disj(negate(has_bit(GUESSED, self.frame.bit(c))), equals(Name(f"{c}{COPY_1}"), Name(f"{c}{GUESS}")))
            for c in self.frame.cells
        )
        return Target(None, conj(*complete, *resolved, some, *matches))


def _entry(thread: int) -> str:
    return f"entry[{thread}]"


def _exit(thread: int) -> str:
    return f"exit[{thread}]"
