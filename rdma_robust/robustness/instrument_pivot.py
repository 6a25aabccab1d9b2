"""The pivot instrumentation: one memory, a pivot class, and taint.

Phase 1 is the program under sequential consistency. At an access that conflicts with a pivot class the search may start
phase 2: that access is the first event of beta. From there every event goes to alpha unless a rule forces it to beta. A
target is a thread standing before an event of the class that may be put last into alpha and that sc reaches from the
pivot, or that conflicts with an alpha event so reached.

normal-form.md lets every access that conflicts with the pivot m choose its part. That choice is needless. Let v be m's
cell, e the event by which the SC cycle leaves m, and s the L-first among e and the writes to v in the given beta. Start at
s. Earlier accesses in beta that conflict with m are reads of v; in alpha they read the same write. After the first write
to v in beta every access of v conflicts with it and is forced, as it was in the given beta. Between s and that write there
can only be reads of v, by the NIC if they were in beta; in alpha they read the L-last write instead of m, on which no CPU
event depends. The new beta is a subset of the given one, sc without m is still that of L, and m -> s or m -> e remains.

Source: normal-form.md, part 2; Theorem 5.2 and Appendix D.1 of the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rdma_robust.language.cfg import Cell, Program
from rdma_robust.language.expr import (
    FALSE,
    TRUE,
    VALUE,
    Binary,
    Const,
    Expr,
    Ite,
    Name,
    conj,
    disj,
    equals,
    names,
    negate,
    substitute,
)
from rdma_robust.program.model import (
    Assign,
    Body,
    Choose,
    Command,
    CounterProgram,
    Footprint,
    Process,
    Require,
    Statement,
    Target,
    Zero,
    leaf,
    pc,
)
from rdma_robust.robustness.event_graph import EventEdge
from rdma_robust.robustness.instrument import (
    CPU_BETA,
    EventLabel,
    Frame,
    PivotClass,
    conflicts,
    effect,
    has_bit,
    reads,
    set_bit,
    writes,
)
from rdma_robust.robustness.symmetry import automorphisms, representatives
from rdma_robust.semantics.trace import CPU_TYPES, EventType

CLASS = "class"
CLOSED, ALPHA_VALUE, POISON, POISON_CARRIED = "closed", "alpha_value", "poison", "poison_carried"
ACCESSED, TAINT = "accessed_in_beta", "tainted"
"""Sets of marks: a cell was read, a cell was written (by an event of beta, by a tainted event), a thread is tainted."""


def instrument_pivot(
    program: Program, ordered_reads: bool = False, reductions: frozenset[str] = frozenset()
) -> CounterProgram[EventLabel]:
    """Return the counter program whose targets are reachable iff `program` is not robust.

    Without `reductions` (names in options.REDUCTIONS) it is the plain definition, in which every pivot class is tried.
    """
    return _Pivot(Frame.of(program, ordered_reads), reductions).build()


@dataclass(frozen=True)
class _Pivot:
    frame: Frame
    reductions: frozenset[str] = frozenset()

    @cached_property
    def classes(self) -> tuple[PivotClass, ...]:
        """Every pivot class that has a site and a conflicting access elsewhere, or with the reduction `symmetry` one of each
        orbit; class i has number i + 1.
        """
        found: dict[PivotClass, None] = {}
        for graph in self.frame.graphs:
            for edge in graph.edges:
                if edge.cell is not None and self.frame.bit(edge.cell):
                    found[PivotClass(edge.thread, edge.cell, writes(edge))] = None
        classes = tuple(c for c in found if any(self._may_start(e, c) for g in self.frame.graphs for e in g.edges))
        return representatives(classes, automorphisms(self.frame)) if "symmetry" in self.reductions else classes

    @cached_property
    def ahead(self) -> dict[PivotClass, frozenset[int]]:
        """The program points of the pivot's thread from which it can still come to an event of the class."""
        return {c: self.frame.graphs[c.thread].leading_to(e.source for e in self._sites(c)) for c in self.classes}

    @cached_property
    def value_dependent(self) -> frozenset[PivotClass]:
        """Classes with a site whose guard depends on the value it reads."""
        return frozenset(c for c in self.classes if any(VALUE.name in names(e.guard) for e in self._sites(c)))

    def build(self) -> CounterProgram[EventLabel]:
        frame = self.frame
        masks = (ACCESSED, TAINT, CLOSED, ALPHA_VALUE, POISON, POISON_CARRIED)
        variables = (
            *((str(c), c.init) for c in frame.cells),
            *frame.registers(),
            *((frame.carried(t), 0) for t in frame.carriers()),
            (CLASS, 0),
            *frame.part_variables(),
            *((m, 0) for m in masks),
        )
        processes = tuple(
            Process(g.name, g.entry, tuple(Command(e.source, e.target, self._body(e), self._footprint(e)) for e in g.edges))
            for g in frame.graphs
        )
        targets = tuple(t for c in self.classes for t in self._targets(c))
        values = (
            *map(str, frame.cells),
            *(r for r, _ in frame.registers()),
            *map(frame.carried, frame.carriers()),
            ALPHA_VALUE,
        )
        cells, threads = len(frame.cells), len(frame.graphs)
        sizes = {
            **{ACCESSED: 2 * cells, TAINT: 2 * cells + threads, POISON: cells, POISON_CARRIED: threads},
            **{CLASS: len(self.classes).bit_length()},
            **dict(frame.part_sizes()),
        }
        return CounterProgram(
            frame.program.name,
            variables,
            frame.counters(),
            processes,
            targets,
            (CLASS, CLOSED),
            frame.counter_order(),
            tuple((name, *frame.value_range) for name in values),
            tuple(sizes.items()),
        )

    def _footprint(self, edge: EventEdge) -> Footprint:
        """The cell that the event reads or writes.

        Events of different threads that do not conflict are unordered in the trace, so in a run to a target they can
        change places: the two parts, taint and the cycle are properties of the trace. If the earlier one is the first of
        beta, or the later one, the other is untainted, in alpha, and the same in phase 1. What a target needs of others,
        a tainted alpha event or the value of its cell, comes from accesses that conflict with the pivot's own.
        """
        bit = self.frame.bit(edge.cell)
        return Footprint(bit * reads(edge), bit * writes(edge))

    def _sites(self, c: PivotClass) -> list[EventEdge]:
        return [e for e in self.frame.graphs[c.thread].edges if e.cell == c.cell and writes(e) == c.writes]

    def _may_start(self, edge: EventEdge, c: PivotClass) -> bool:
        """Whether the edge's event can be the first of beta for a pivot of class `c`.

        A CPU event of the pivot's own thread would keep the pivot out of alpha; a CPU read would depend on its value.
        """
        if not conflicts(edge, c.cell, c.writes):
            return False
        cpu = edge.type in CPU_TYPES
        return not (cpu and (edge.thread == c.thread or (c.writes and reads(edge))))

    def _in(self, classes: list[PivotClass]) -> Expr:
        """The current class is one of these."""
        if not classes or len(classes) == len(self.classes):
            return TRUE if classes else FALSE
        mask = sum(1 << self._number(c) for c in classes)
        return Binary("&", Binary(">>", Const(mask), Name(CLASS)), Const(1))

    def _number(self, c: PivotClass) -> int:
        return self.classes.index(c) + 1

    def _body(self, edge: EventEdge) -> Body[EventLabel]:
        if edge.type is None:
            keeps = self._in([c for c in self.classes if self._keeps_pivot(edge, c)])
            allowed = disj(equals(Name(CLASS), Const(0)), keeps)
            return leaf(EventLabel(edge, 0), Require(allowed), *effect(self.frame, edge))
        first = Body((Require(equals(Name(CLASS), Const(0))),), (self._phase1(edge), *self._starts(edge)))
        kept = [c for c in self.classes if self._keeps_pivot(edge, c)]
        second = (
            Body((Require(Name(CLASS)), Require(self._in(kept))), (self._alpha(edge), self._beta(edge))) if kept else None
        )
        return Body((), (first, second) if second else (first,))

    def _keeps_pivot(self, edge: EventEdge, c: PivotClass) -> bool:
        return edge.thread != c.thread or edge.target in self.ahead[c]

    def _phase1(self, edge: EventEdge) -> Body[EventLabel]:
        counted, *_ = self.frame.first_part(edge)
        return leaf(EventLabel(edge, 1), *effect(self.frame, edge), *counted)

    def _starts(self, edge: EventEdge) -> list[Body[EventLabel]]:
        """The event as the first of beta, tainted, after a pivot of any class for which it may be."""
        classes = [c for c in self.classes if self._may_start(edge, c) and self._keeps_pivot(edge, c)]
        if not classes:
            return []
        options = tuple((self._number(c), self._ahead_now(edge, c)) for c in classes)
        poisoned = Ite(self._in([c for c in self.classes if c.writes]), Const(self.frame.bit(edge.cell)), Const(0))
        statements = (Choose(CLASS, options), Assign(((POISON, poisoned),)), *self._into_beta(edge, Const(1)))
        labels = tuple(EventLabel(edge, 2, c) for c in classes)
        return [Body((*statements, *counted), (), labels) for counted in self.frame.second_part(edge)]

    def _ahead_now(self, edge: EventEdge, c: PivotClass) -> Expr:
        """The pivot's thread can still come to an event of the class."""
        points = sorted(self.ahead[c])
        if edge.thread == c.thread or len(points) == len(self.frame.graphs[c.thread].points):
            return TRUE
        mask = sum(1 << p for p in points)
        return Binary("&", Binary(">>", Const(mask), Name(pc(c.thread))), Const(1))

    def _written_mark(self, cell: Cell | None) -> int:
        return self.frame.bit(cell) << len(self.frame.cells)

    def _thread_mark(self, thread: int) -> int:
        return 1 << 2 * len(self.frame.cells) + thread

    def _left_by(self, edge: EventEdge) -> int:
        """The marks that the access leaves on its cell."""
        return self.frame.bit(edge.cell) * reads(edge) | self._written_mark(edge.cell) * writes(edge)

    def _conflicting(self, edge: EventEdge) -> int:
        """The marks of accesses that conflict with this one."""
        return self.frame.bit(edge.cell) * writes(edge) | self._written_mark(edge.cell)

    def _forced_by_conflict(self, edge: EventEdge) -> Expr:
        """The access conflicts with an earlier event of beta."""
        return has_bit(ACCESSED, self._conflicting(edge))

    def _taint(self, edge: EventEdge) -> Expr:
        """Non-zero if the event is reached from the pivot by sc through its thread or its cell."""
        return has_bit(TAINT, self._thread_mark(edge.thread) | self._conflicting(edge))

    def _meets_pivot(self, edge: EventEdge) -> Expr:
        """The access conflicts with the pivot."""
        return self._in([c for c in self.classes if conflicts(edge, c.cell, c.writes)])

    def _own(self, edge: EventEdge) -> Expr:
        """The event belongs to the pivot's thread."""
        return self._in([c for c in self.classes if c.thread == edge.thread])

    def _spreading(self, edge: EventEdge, taint: Expr, closing: Expr) -> tuple[Statement, ...]:
        """Record that the event is tainted if `taint` is non-zero, and that it closes the cycle if `closing` is as well.

        Once the cycle is closed, taint has done its work and is forgotten.
        """
        marks = Const(self._thread_mark(edge.thread) | self._left_by(edge))
        closed = Name("closed'")
        spread = Ite(taint, Binary("|", Name(TAINT), marks), Name(TAINT))
        if closing == FALSE and self._meets_pivot(edge) == FALSE:
            return (Assign(((TAINT, spread),)),)
        return (
            Assign((("closed'", Ite(disj(Name(CLOSED), conj(taint, closing)), Const(1), Const(0))),)),
            Assign(((CLOSED, closed), (TAINT, Ite(closed, Const(0), spread)))),
        )

    def _forced(self, edge: EventEdge) -> Expr:
        """In alpha the event would break a rule against the events already in beta."""
        return disj(self.frame.oppo_forces(edge), self._forced_by_conflict(edge))

    def _alpha_allowed(self, edge: EventEdge) -> Expr:
        return negate(self._forced(edge))

    def _cuts(self, edge: EventEdge) -> Expr:
        """In beta the event would keep the pivot out of alpha: a CPU event of the pivot's own thread."""
        return self._own(edge) if edge.type in CPU_TYPES else FALSE

    def _poisons(self, edge: EventEdge) -> Expr:
        """In beta the event would make a CPU event depend on the pivot's value."""
        return has_bit(POISON, self.frame.bit(edge.cell)) if edge.type in CPU_TYPES and reads(edge) else FALSE

    def _alpha(self, edge: EventEdge) -> Body[EventLabel]:
        """The event stays in alpha: no rule forces it out."""
        taint = Assign((("taint'", self._taint(edge)),))
        closing = disj(self._meets_pivot(edge), self._own(edge))
        spread = self._spreading(edge, Name("taint'"), closing)
        statements = (Require(self._alpha_allowed(edge)), taint, *effect(self.frame, edge), *spread)
        return Body(statements, tuple(leaf(EventLabel(edge, 1), *counted) for counted in self.frame.first_part(edge)))

    def _beta(self, edge: EventEdge) -> Body[EventLabel]:
        """The event goes to beta: a rule forces it."""
        frame = self.frame
        meets = self._meets_pivot(edge)
        if edge.type is EventType.P:
            return self._beta_poll(edge)
        taint = Assign((("taint'", disj(self._taint(edge), meets) if meets != FALSE else self._taint(edge)),))
        statements = (
            Require(self._forced(edge)),
            Require(negate(self._cuts(edge))),
            taint,
            *self._into_beta(edge, Name("taint'")),
        )
        return Body(statements, tuple(leaf(EventLabel(edge, 2), *counted) for counted in frame.second_part(edge)))

    def _into_beta(self, edge: EventEdge, taint: Expr) -> tuple[Statement, ...]:
        """The effect of an event of beta on everything but the counters."""
        frame, bit = self.frame, self.frame.bit(edge.cell)
        updates = [*self._freeze(edge), *self._poisoning(edge, bit)]
        if bit:
            updates.append(set_bit(ACCESSED, self._left_by(edge)))
        spread = self._spreading(edge, taint, self._own(edge))
        return (Require(negate(self._poisons(edge))), Assign(tuple(updates)), *effect(frame, edge), *spread)

    def _freeze(self, edge: EventEdge) -> list[tuple[str, Expr]]:
        """Before the first write of beta to the pivot's cell, remember what the cell holds for the pivot."""
        frozen = [c for c in self.classes if c in self.value_dependent and c.cell == edge.cell]
        if not frozen or not writes(edge) or edge.cell is None:
            return []
        first = conj(self._in(frozen), negate(has_bit(ACCESSED, self._written_mark(edge.cell))))
        return [(ALPHA_VALUE, Ite(first, self.frame.memory(edge.cell), Name(ALPHA_VALUE)))]

    def _poisoning(self, edge: EventEdge, bit: int) -> list[tuple[str, Expr]]:
        """How values that depend on a writing pivot travel through NIC reads and writes of beta."""
        if not any(c.writes for c in self.classes):
            return []
        me = 1 << edge.thread
        match edge.type:
            case EventType.NLR | EventType.NRR if bit:
                return [(POISON_CARRIED, _copy_bit(POISON, bit, POISON_CARRIED, me))]
            case EventType.NRW | EventType.NLW:
                cleared = Binary("&~", Name(POISON_CARRIED), Const(me))
                return [(POISON, _copy_bit(POISON_CARRIED, me, POISON, bit)), (POISON_CARRIED, cleared)]
            case EventType.LW:
                return [(POISON, Binary("&~", Name(POISON), Const(bit)))]
            case _:
                return []

    def _beta_poll(self, edge: EventEdge) -> Body[EventLabel]:
        """A poll goes to beta with its thread, or because no early completion is left for it."""
        frame, thread_in_beta = self.frame, has_bit(CPU_BETA, 1 << edge.thread)
        assert edge.remote is not None
        early = frame.early((edge.thread, edge.remote))
        taint = Assign((("taint'", self._taint(edge)),))
        spread = self._spreading(edge, Name("taint'"), FALSE)
        (counted,) = frame.second_part(edge)
        again = leaf(EventLabel(edge, 2), Require(thread_in_beta), *counted)
        first = leaf(EventLabel(edge, 2), Require(negate(thread_in_beta)), Zero(early), *counted)
        return Body((Require(negate(self._cuts(edge))), taint, *spread, *effect(frame, edge)), (again, first))

    def _targets(self, c: PivotClass) -> list[Target[EventLabel | None]]:
        """Where the pivot itself can be put, last into alpha."""
        frame = self.frame
        here = frame.memory(c.cell)
        value = (
            Ite(has_bit(ACCESSED, self._written_mark(c.cell)), Name(ALPHA_VALUE), here)
            if c in self.value_dependent
            else here
        )
        found: list[Target[EventLabel | None]] = []
        for edge in self._sites(c):
            allowed = TRUE if edge.type in CPU_TYPES else negate(frame.nic_forces(edge))
            condition = conj(
                equals(Name(CLASS), Const(self._number(c))),
                Name(CLOSED),
                allowed,
                substitute(edge.guard, {VALUE.name: value}),
            )
            found.append(Target(EventLabel(edge, 0, c), condition, c.thread, edge.source))
        return found


def _copy_bit(source: str, source_bit: int, target: str, target_bit: int) -> Expr:
    """`target` with `target_bit` set or cleared as `source_bit` is in `source`."""
    return Ite(
        has_bit(source, source_bit),
        Binary("|", Name(target), Const(target_bit)),
        Binary("&~", Name(target), Const(target_bit)),
    )
