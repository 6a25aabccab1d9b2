"""The pivot instrumentation: one memory, a pivot class, and taint.

Phase 1 is the program under sequential consistency. At an access that conflicts with a pivot class the search may start
phase 2: that access is the first event of beta. From there every event goes to alpha unless a rule forces it to beta. A
target is a thread standing before an event of the class that may be put last into alpha and that sc reaches from the
pivot, or that conflicts with an alpha event so reached.

Theorem 5 leaves it open to which part an access goes that conflicts with the pivot m. That choice is needless. Let v be m's
cell, e the event by which the SC cycle leaves m, and s the L-first among e and the writes to v in the given beta. Start at
s. Earlier accesses in beta that conflict with m are reads of v; in alpha they read the same write. After the first write
to v in beta every access of v conflicts with it and is forced, as it was in the given beta. Between s and that write there
can only be reads of v, by the NIC if they were in beta; in alpha they read the L-last write instead of m, on which no CPU
event depends. The new beta is a subset of the given one, sc without m is still that of L, and m -> s or m -> e remains.

Source: docs/theory.md, "The pivot refinement"; Theorem 5.2 and Appendix D.1 of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rdma_robust.counters.liveness import forget_dead
from rdma_robust.counters.program import (
    Assign,
    Body,
    Choose,
    Command,
    CounterProgram,
    Footprint,
    LazyBranches,
    ProcessGraph,
    Require,
    Statement,
    Target,
    Zero,
    leaf,
)
from rdma_robust.expr import FALSE, TRUE, VALUE, Const, Expr, Ite, Name, conj, disj, equals, negate, substitute
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import RDMA, Model
from rdma_robust.options import LARGE, RECV_DEPTH
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.forwarding import StoreBuffers
from rdma_robust.robustness.frame import (
    EventLabel,
    InstrumentationFrame,
    PivotClass,
    edge_effect,
    edge_reads,
    has_bit,
    set_bit,
    writes,
)
from rdma_robust.robustness.marks import ALPHA_VALUE, POISON_CARRIED, AccessMemory, marked_if
from rdma_robust.robustness.messages import TAINTED
from rdma_robust.robustness.pivot_classes import (
    ALPHA,
    BETA,
    CLASS,
    TORN,
    Continuation,
    PivotClasses,
    classes_of,
    every_start,
)
from rdma_robust.robustness.receiving import CLOSED, ReceiveRules
from rdma_robust.robustness.reductions.critical import CriticalCycles
from rdma_robust.robustness.reductions.dead_ends import DeadEnds
from rdma_robust.robustness.reductions.outlook import dead_ends
from rdma_robust.robustness.reductions.permute import with_exchanges
from rdma_robust.robustness.reductions.relevance import Relevance
from rdma_robust.robustness.remote_atomics import RemoteAtomics, with_prefixes
from rdma_robust.robustness.rules import CPU_BETA, ForcingRules
from rdma_robust.robustness.static_filter import Pivots, pivots_to_try
from rdma_robust.robustness.taint import Poison, Taint
from rdma_robust.semantics.trace import CPU_TYPES, EventType


def instrument_pivot(
    program: Program,
    model: Model = RDMA,
    reductions: frozenset[str] = frozenset(),
    large: int = LARGE,
) -> CounterProgram[EventLabel]:
    """Return the counter program whose targets are reachable iff `program` is not robust.

    Without `reductions` (names in options.REDUCTIONS) it is the plain one, on which certificates rely. With `filter` it has
    no targets if no pivot class is left: then the program is robust. With fewer than `large` combinations of program points
    `values` and `dead` are not used.
    """
    return instrument_pivots(pivots_to_try(InstrumentationFrame.to_instrument(program, model), reductions, large))


def instrument_pivots(pivots: Pivots) -> CounterProgram[EventLabel]:
    """Return the counter program that tries these classes, see :func:`instrument_pivot`."""
    frame, classes, reductions = pivots.frame, pivots.classes, pivots.reductions
    onward = Relevance(classes, pivots.cycles) if "relevance" in reductions else Continuation(classes)
    pivot = PivotInstrumentation.of(frame, classes, onward)
    instrumented = pivot.build()
    if classes.tried and "dead-ends" in reductions:
        instrumented = replace(instrumented, pruner=pivot.dead_ends(pivots.cycles))
    instrumented = with_exchanges(instrumented, pivot, pivots.alike, forgets="dead" in reductions)
    return forget_dead(instrumented, pivot.of_program) if "dead" in reductions else instrumented


def plain_instrumentation(program: Program, model: Model = RDMA, recv_depth: int = RECV_DEPTH) -> PivotInstrumentation:
    """Return the instrumentation without reductions, of every class: what certificates are about."""
    frame = with_prefixes(InstrumentationFrame.to_instrument(program, model, recv_depth=recv_depth))
    classes = PivotClasses(frame, classes_of(frame, every_start))
    return PivotInstrumentation.of(frame, classes, Continuation(classes))


@dataclass(frozen=True)
class PivotInstrumentation:
    """The plain instrumentation, of the classes to try and as far as `onward` lets it go."""

    frame: InstrumentationFrame
    rules: ForcingRules
    classes: PivotClasses
    seen: AccessMemory
    onward: Continuation
    buffers: StoreBuffers
    receiving: ReceiveRules
    atomics: RemoteAtomics
    taint: Taint
    poison: Poison

    @staticmethod
    def of(frame: InstrumentationFrame, classes: PivotClasses, onward: Continuation) -> PivotInstrumentation:
        rules, seen = ForcingRules(frame), AccessMemory.of(frame)
        buffers, receiving = StoreBuffers(frame, rules), ReceiveRules(frame, rules, classes, onward)
        atomics = RemoteAtomics(frame, rules, classes, seen)
        taint = Taint(classes, seen, onward, receiving)
        return PivotInstrumentation(
            frame, rules, classes, seen, onward, buffers, receiving, atomics, taint, Poison(classes, seen)
        )

    def build(self) -> CounterProgram[EventLabel]:
        frame = self.frame
        variables = (
            *((str(c), c.init) for c in frame.cells),
            *frame.registers(),
            *((name, 0) for name in frame.in_flight()),
            *(*frame.messages.variables(), *frame.barriers.variables()),
            (CLASS, 0),
            *self.rules.variables(),
            *((name, 0) for name in (*dict(self.seen.variables()), CLOSED, ALPHA_VALUE, POISON_CARRIED)),
            *((name, 0) for name in dict((*self.buffers.variables(), *self.atomics.variables()))),
            *((name, 0) for name in dict(self.poison.variables())),
        )
        poll = frame.limits.poll("instrumenting")
        processes = tuple(ProcessGraph(g.name, g.entry, tuple(map(self._command, poll.each(g.edges)))) for g in frame.graphs)
        targets = tuple(t for c in self.classes.tried for t in self._targets(c))
        sizes = {
            **dict(self.seen.variables()),
            **{POISON_CARRIED: len(frame.graphs), CLASS: len(self.classes.tried).bit_length()},
            **({CLOSED: 2} if self.receiving.by_message else {}),
            **dict(self.rules.sizes()),
            **dict(frame.barriers.sizes()),
            **dict((*self.buffers.variables(), *self.atomics.variables(), *self.poison.variables())),
        }
        return CounterProgram(
            frame.program.name,
            variables,
            self.rules.counters(),
            processes,
            targets,
            (CLASS, CLOSED),
            self.rules.counter_order(),
            (*((name, *frame.value_range) for name in (*self.of_program, ALPHA_VALUE)), *frame.messages.ranges()),
            tuple(sizes.items()),
        )

    def dead_ends(self, cycles: CriticalCycles) -> DeadEnds:
        """The test for states from which no target can be reached, in the variables of this instrumentation."""
        return dead_ends(cycles, self.classes.tried, self.rules, self.seen, self.buffers, closed=CLOSED, frozen=ALPHA_VALUE)

    @cached_property
    def of_program(self) -> tuple[str, ...]:
        """The variables of the program itself: cells, registers, and what is on its way from one to another cell."""
        frame = self.frame
        return (*map(str, frame.cells), *(r for r, _ in frame.registers()), *frame.in_flight())

    def _command(self, edge: EventEdge) -> Command[EventLabel]:
        return Command(edge.source, edge.target, self._body(edge), self._footprint(edge))

    def _footprint(self, edge: EventEdge) -> Footprint:
        """The cells that the event reads or writes, and the queues and barriers that it changes.

        Events of different threads that do not conflict are unordered in the trace, so in a run to a target they can
        change places: the two parts, taint and the cycle are properties of the trace. If the earlier one is the first of
        beta, or the later one, the other is untainted, in alpha, and the same in phase 1. What a target needs of others,
        a tainted alpha event or the value of its cell, comes from accesses that conflict with the pivot's own.
        """
        waiting, queues = self.frame.beside_cells(edge)
        ordered_by_rao = edge.type is EventType.NAR
        changed = self.frame.touched_by(edge) if ordered_by_rao else self.frame.written_by(edge)
        return Footprint(self.frame.read_by(edge) | waiting, changed | queues)

    def _body(self, edge: EventEdge) -> Body[EventLabel]:
        """What a step of the edge can do. Nothing where every alternative is cut, but its footprint still counts."""
        if edge.type is None:
            early = equals(Name(CLASS), Const(0))
            allowed = early if edge.connection is not None else disj(early, self.classes.current_kept(edge))
            return leaf(EventLabel(edge, 0), Require(allowed), *edge_effect(self.frame, edge))
        if edge.type is EventType.NAW:  # as a pivot only
            return leaf(EventLabel(edge, 1), Require(FALSE))
        first = (*self._phase1(edge), *self._starts(edge), *self.atomics.openings(edge))
        alternatives = [Body((Require(equals(Name(CLASS), Const(0))),), first)] if first else []
        if (current := self.classes.current_kept(edge)) != FALSE:
            outline, own = self._outline(edge), frozenset(self.of_program)
            second = LazyBranches(lambda: (self._alpha(edge), *self._beta(edge)), outline, own)
            alternatives.append(Body((Require(Name(CLASS)), Require(current)), second))
        return Body((), tuple(alternatives)) if alternatives else leaf(EventLabel(edge, 1), Require(FALSE))

    def _outline(self, edge: EventEdge) -> list[Body[EventLabel]]:
        """What a step of phase 2 does to the program's variables and to the counters."""
        frozen = [Require(self.frame.memory(c)) for c, _, written in edge.accesses if written] if self._freeze(edge) else []
        counted = (*self.rules.first_part(edge), *self.rules.second_part(edge))
        return [leaf(EventLabel(edge, 1), *frozen, *edge_effect(self.frame, edge), *each) for each in counted]

    def _phase1(self, edge: EventEdge) -> list[Body[EventLabel]]:
        counted, *_ = self.rules.first_part(edge)
        ahead = self.onward.start_ahead(edge)
        if ahead == FALSE:
            return []
        enabled = Require(conj(ahead, self.atomics.enabled_first(edge)))
        happens = (*edge_effect(self.frame, edge), Assign(self.atomics.after_first(edge)))
        return [leaf(EventLabel(edge, 1), enabled, *happens, *counted)]

    def _starts(self, edge: EventEdge) -> list[Body[EventLabel]]:
        """The event as the first of beta, tainted, after a pivot of any class for which it may be."""
        classes = [
            c for c in self.classes.touching(edge) if self.classes.is_kept(edge, c) and self.classes.may_start(edge, c)
        ]
        whole = [c for c in classes if self.atomics.may_be_whole(edge, c)]
        torn = [c for c in classes if self.atomics.may_be_torn(edge, c)]
        found = self._started(edge, whole, self._into_beta(edge, Const(1)), self.rules.second_part(edge)) if whole else []
        if credit := self.classes.on_credit(edge):
            found += self._started(edge, credit, self._into_beta(edge, Const(1), credit=True), self.rules.second_part(edge))
        if torn:
            found += self._started(edge, torn, self._tearing(edge, Const(1)), self.atomics.torn_part(edge), torn=True)
        return found

    def _started(
        self,
        edge: EventEdge,
        classes: Sequence[PivotClass],
        does: Sequence[Statement],
        parts: Sequence[Sequence[Statement]],
        *,
        torn: bool = False,
    ) -> list[Body[EventLabel]]:
        options = tuple(
            (self.classes.number(c), conj(self.classes.ahead_now(edge, c), self.onward.readable_now(edge, c)))
            for c in classes
        )
        writing = self.classes.current_in([c for c in self.classes.tried if c.writes], edge)
        poisoned = [(name, marked_if(writing, part)) for name, part in self.seen.poison.parts(self.frame.touched_by(edge))]
        statements = (Require(self.atomics.enabled_first(edge)), Choose(CLASS, options), Assign(tuple(poisoned)), *does)
        labels = tuple(EventLabel(edge, 1 if torn else 2, c, torn) for c in classes)
        return [Body((*statements, *counted), (), labels) for counted in parts]

    def _forced_by_conflict(self, edge: EventEdge) -> Expr:
        """The access conflicts with an earlier event of beta."""
        return self.seen.accessed.meets(self.seen.marks.conflicting(edge))

    def _taint(self, edge: EventEdge) -> Expr:
        """Non-zero if the event is reached from the pivot by sc through its thread, its cell, or what it has waited for."""
        by_access = self.seen.tainted.meets(self.seen.marks.threads(edge) | self.seen.marks.conflicting(edge))
        return disj(by_access, self.frame.messages.marked(edge, TAINTED))

    def _meets_pivot(self, edge: EventEdge) -> Expr:
        """The access conflicts with the pivot."""
        return self.classes.current_in(self.classes.touching(edge), edge)

    def _forced(self, edge: EventEdge) -> Expr:
        """In alpha the event would break a rule against the events already in beta."""
        conflict = self.buffers.forces(edge, self._forced_by_conflict(edge))
        return disj(self.rules.oppo_forces(edge), conflict, self.atomics.forces(edge))

    def _alpha_allowed(self, edge: EventEdge) -> Expr:
        return negate(self._forced(edge))

    def _cuts(self, edge: EventEdge) -> Expr:
        """In beta the event would keep the pivot out of alpha, as a CPU event of the pivot's own thread does."""
        return disj(self.classes.current_in(self.onward.keeps_pivot_out(edge), edge), self.atomics.cuts(edge))

    def _poisons(self, edge: EventEdge) -> Expr:
        """In beta the event would make a CPU event depend on the pivot's value."""
        return self.seen.poison.meets(self.frame.read_by(edge)) if edge.type in CPU_TYPES and edge_reads(edge) else FALSE

    def _alpha(self, edge: EventEdge) -> Body[EventLabel]:
        """The event stays in alpha: no rule forces it out."""
        taint = Assign((("taint'", self._taint(edge)),))
        closing = disj(self.buffers.is_before_pivot(edge, self._meets_pivot(edge)), self.classes.own(edge))
        spread = self.taint.spreading(edge, ALPHA, Name("taint'"), closing)
        marks = self.receiving.marks(edge, ALPHA, Name("taint'"))
        happens = (*edge_effect(self.frame, edge, marks=marks), *self.receiving.awaited(edge, Name("taint'")))
        enabled = Require(conj(self._alpha_allowed(edge), self.atomics.enabled(edge), self.receiving.allows(edge)))
        statements = (enabled, taint, *happens, Assign(self.atomics.after_alpha(edge, self.receiving.closed)), *spread)
        return Body(statements, tuple(leaf(EventLabel(edge, 1), *counted) for counted in self.rules.first_part(edge)))

    def _beta(self, edge: EventEdge) -> list[Body[EventLabel]]:
        """The event goes to beta: a rule forces it."""
        meets = self._meets_pivot(edge)
        if self._cuts(edge) == TRUE:
            return []
        if edge.type is EventType.P:
            return [self._beta_poll(edge)]
        taint = Assign((("taint'", disj(self._taint(edge), meets) if meets != FALSE else self._taint(edge)),))
        forced = self._forced(edge) if edge.also is None else self.atomics.read_forced(edge, self._forced(edge))
        statements = (
            Require(disj(forced, self.atomics.chooses(edge))),
            Require(conj(negate(self._cuts(edge)), self.atomics.enabled(edge), self.receiving.allows(edge))),
            taint,
            *self._into_beta(edge, Name("taint'")),
        )
        whole = Body(statements, tuple(leaf(EventLabel(edge, 2), *counted) for counted in self.rules.second_part(edge)))
        return [*self._torn(edge), whole]

    def _torn(self, edge: EventEdge) -> list[Body[EventLabel]]:
        """The naR of an RMW stays in alpha, its naW goes to beta."""
        if not edge.may_tear:
            return []
        allowed = conj(self.atomics.torn_allowed(edge, self._forced(edge)), negate(self._cuts(edge)))
        return [*self.atomics.torn(edge, allowed, self._taint(edge), self._tearing(edge, Name("taint'")))]

    def _tearing(self, edge: EventEdge, taint: Expr) -> tuple[Statement, ...]:
        """The effect of an RMW that is torn on everything but the types of its queue pair."""
        updates = (*self._freeze(edge), *self.buffers.after_beta_write(edge), *self.atomics.after_torn(edge))
        closing = disj(self.classes.own(edge), self.atomics.meets_torn(edge))
        spread = self.taint.spreading(edge, TORN, taint, closing)
        return (Assign(updates), *edge_effect(self.frame, edge), *spread)

    def _into_beta(self, edge: EventEdge, taint: Expr, *, credit: bool = False) -> tuple[Statement, ...]:
        """The effect of an event of beta on everything but the counters."""
        frame, bits = self.frame, self.frame.touched_by(edge)
        updates = [*self._freeze(edge), *self.poison.travelling(edge, bits), *self.buffers.after_beta_write(edge)]
        updates += self.atomics.after_beta(edge)
        if bits:
            updates += [set_bit(name, part) for name, part in self.seen.accessed.parts(self.seen.marks.left_by(edge))]
        spread = self.taint.spreading(edge, BETA, taint, self.classes.own(edge))
        happens = edge_effect(frame, edge, marks=self.receiving.marks(edge, BETA, taint), credit=credit)
        return (Require(negate(self._poisons(edge))), Assign(tuple(updates)), *happens, *spread)

    def _freeze(self, edge: EventEdge) -> list[tuple[str, Expr]]:
        """Before the first write of beta to the pivot's cell, remember what the cell holds for the pivot."""
        touching = self.classes.touching(edge) if writes(edge) else ()
        kept: Expr = Name(ALPHA_VALUE)
        for cell in (cell for cell, _, writing in edge.accesses if writing):
            written = self.seen.accessed.meets(self.seen.marks.written(cell))
            if frozen := [c for c in touching if c.cell == cell and c in self.classes.value_dependent]:
                kept = Ite(conj(self.classes.current_in(frozen, edge), negate(written)), self.frame.memory(cell), kept)
        return [] if kept == Name(ALPHA_VALUE) else [(ALPHA_VALUE, kept)]

    def _beta_poll(self, edge: EventEdge) -> Body[EventLabel]:
        """A poll goes to beta with its thread, or because no early completion is left for it."""
        frame, thread_in_beta = self.frame, has_bit(CPU_BETA, 1 << edge.thread)
        assert edge.remote is not None
        early = self.rules.early((edge.thread, edge.remote))
        taint = Assign((("taint'", self._taint(edge)),))
        spread = self.taint.spreading(edge, BETA, Name("taint'"), FALSE)
        ways = [(Require(thread_in_beta),), (Require(negate(thread_in_beta)), Zero(early))]
        found = (leaf(EventLabel(edge, 2), *way, *counted) for way in ways for counted in self.rules.second_part(edge))
        return Body((Require(negate(self._cuts(edge))), taint, *spread, *edge_effect(frame, edge)), tuple(found))

    def _targets(self, c: PivotClass) -> list[Target[EventLabel | None]]:
        """Where the pivot itself can be put, last into alpha."""
        frame = self.frame
        here = frame.memory(c.cell)
        value = (
            Ite(self.seen.accessed.meets(self.seen.marks.written(c.cell)), Name(ALPHA_VALUE), here)
            if c in self.classes.value_dependent
            else here
        )
        found: list[Target[EventLabel | None]] = []
        # The type and the queue pair count as well: before a put and a get of one cell, only one of the two may be forced.
        sites = {(e.source, e.possible, e.type, e.remote, e.connection, e.stops): e for e in self.classes.sites(c)}
        for edge in sites.values():
            by_nic = FALSE if edge.type in CPU_TYPES else self.rules.nic_forces(edge)
            allowed = negate(disj(self.rules.store_forces(edge), by_nic, self.atomics.keeps_out(edge)))
            condition = conj(
                equals(Name(CLASS), Const(self.classes.number(c))),
                self.receiving.closed_by(edge),
                frame.messages.enabled(edge),
                frame.barriers.enabled(edge),
                allowed,
                substitute(edge.possible, {**frame.values_for(edge), VALUE.name: value}),
            )
            found.append(Target(EventLabel(edge, 0, c), condition, c.thread, edge.source))
        return found
