"""The small explicit program on which a crowd runs: of each template two copies, the *hero* and the *mover*.

The hero is the thread of the pivot, where its class is one of the template. The mover lends its place, its program point,
registers and marks, to one copy of the crowd after the other. Classes are those of named threads and of heroes: what can be
a pivot in one copy can be one in every copy.

A crowd is more than the two: its copies conflict with one another. Of the reductions of the pivot search those are used
that know it: `filter`, and what of `relevance` looks at one thread alone. A copy that is not of the pivot's thread never
stops behind the read of a remote read-modify-write. With the write at the end of the run the trace is RDMA-consistent and
has the same cycle; if the write may also come next to its read, the copy did not stop, else there is a cycle through the two
and other events without the pivot, so a violation with fewer events, whose pivot is that write.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from rdma_robust.counters.lower import LoweredProgram, lower
from rdma_robust.errors import InternalError, UsageError
from rdma_robust.expr import TRUE, Expr
from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.model import Model
from rdma_robust.options import RECV_DEPTH
from rdma_robust.robustness.event_graph import EventEdge
from rdma_robust.robustness.frame import EventLabel, InstrumentationFrame, PivotClass, QueuePair
from rdma_robust.robustness.pivot import PivotInstrumentation
from rdma_robust.robustness.pivot_classes import Continuation, PivotClasses, classes_of, every_start
from rdma_robust.robustness.reductions.critical import CriticalCycles
from rdma_robust.robustness.reductions.relevance import Relevance
from rdma_robust.robustness.remote_atomics import with_prefixes
from rdma_robust.robustness.static_filter import Pivots

HERO, MOVER = 1, 2
"""The numbers of the two copies of each template."""


class CrowdRelevance(Relevance):
    """The part of `relevance` that looks at one thread alone: others may be anywhere, and tainted."""

    @property
    def needs_taint(self) -> bool:
        return False

    def start_ahead(self, _edge: EventEdge) -> Expr:
        return TRUE


def two_copies(
    program: Program, model: Model, limits: Limits = NO_LIMITS, recv_depth: int = RECV_DEPTH
) -> InstrumentationFrame:
    """Return the frame of P(2). Raises UsageError for a program without templates, or a model without a normal form."""
    if not program.crowds:
        raise UsageError("there is no thread of which there is any number")
    two = copies_of(program, {thread.name: MOVER for thread in program.crowds})
    return with_prefixes(InstrumentationFrame.to_instrument(two, model, limits, recv_depth))


def pivots_of(program: Program, frame: InstrumentationFrame, reductions: frozenset[str]) -> Pivots:
    """Return the classes of named threads and of heroes; with `filter` only those on a critical cycle of some P(n)."""
    movers = frozenset(_threads(program, frame.program, MOVER))
    cycles = CriticalCycles(frame, movers)
    allowed = cycles.may_start if "filter" in reductions else every_start
    tried = tuple(c for c in classes_of(frame, allowed) if c.thread not in movers)
    return Pivots(PivotClasses(frame, tried, allowed), cycles, reductions & {"filter", "relevance", "dead-ends"})


@dataclass(frozen=True)
class TwoCopyInstance:
    """The program with two copies of each template, instrumented, for `original`, the program with templates."""

    original: Program
    pivot: PivotInstrumentation
    cycles: CriticalCycles
    reductions: frozenset[str]

    @staticmethod
    def of(
        program: Program,
        model: Model,
        reductions: frozenset[str] = frozenset(),
        limits: Limits = NO_LIMITS,
        recv_depth: int = RECV_DEPTH,
    ) -> TwoCopyInstance:
        """Return the instance of a program with templates. Raises UsageError under a model without a normal form."""
        frame = two_copies(program, model, limits, recv_depth)
        return TwoCopyInstance.with_pivots(program, pivots_of(program, frame, reductions))

    @staticmethod
    def with_pivots(program: Program, pivots: Pivots) -> TwoCopyInstance:
        """Return the instance that tries these classes, as :func:`pivots_of` gives them."""
        relevant = "relevance" in pivots.reductions
        onward = CrowdRelevance(pivots.classes, pivots.cycles) if relevant else Continuation(pivots.classes)
        return TwoCopyInstance(
            program, PivotInstrumentation.of(pivots.frame, pivots.classes, onward), pivots.cycles, pivots.reductions
        )

    @property
    def frame(self) -> InstrumentationFrame:
        return self.pivot.frame

    @property
    def program(self) -> Program:
        """The explicit program."""
        return self.frame.program

    @property
    def classes(self) -> tuple[PivotClass, ...]:
        return self.pivot.classes.tried

    @cached_property
    def lowered(self) -> LoweredProgram[EventLabel]:
        return lower(self.pivot.build())

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """The counters without a bound that are named threads', as numbers in those of the lowered instance."""
        names = self.counters(self.named)
        return tuple(i for i, name in enumerate(self.lowered.unbounded) if name in names)

    @cached_property
    def uncounted(self) -> tuple[QueuePair, ...]:
        """The queue pairs of heroes whose completions have no bound: those of copies are not counted."""
        frame, rules = self.frame, self.pivot.rules
        unbounded = set(self.lowered.unbounded)
        of_heroes = (qp for qp in frame.polled if qp[0] in self.heroes)
        return tuple(qp for qp in of_heroes if unbounded.intersection(rules.counters_of(qp)))

    def counters(self, threads: tuple[int, ...]) -> frozenset[str]:
        """The names of the counters of these threads, with a bound or without."""
        rules, frame = self.pivot.rules, self.frame
        mine = (qp for qp in frame.polled if qp[0] in threads)
        return frozenset(name for qp in mine for name in rules.counters_of(qp))

    @cached_property
    def heroes(self) -> tuple[int, ...]:
        """The hero of each template, as a thread of the instance."""
        return _threads(self.original, self.program, HERO)

    @cached_property
    def movers(self) -> tuple[int, ...]:
        """The mover of each template."""
        return _threads(self.original, self.program, MOVER)

    @cached_property
    def named(self) -> tuple[int, ...]:
        """The threads that are no copies."""
        copies = {*self.heroes, *self.movers}
        return tuple(t for t in range(len(self.program.threads)) if t not in copies)

    def owner(self, cell: Cell) -> int | None:
        """The copy whose private word this is, None for a word that threads share."""
        return self._owners.get(cell.node)

    @cached_property
    def _owners(self) -> dict[str, int]:
        """The nodes of copies that have one of their own."""
        many = set(self.original.many_nodes)
        templates = [k for k, thread in enumerate(self.original.crowds) if thread.node in many]
        copies = [t for k in templates for t in (self.heroes[k], self.movers[k])]
        return {self.program.threads[t].node: t for t in copies}

    def __post_init__(self) -> None:
        for hero, mover in zip(self.heroes, self.movers, strict=True):
            shapes = [[(e.source, e.target, e.type) for e in self.frame.graphs[t].edges] for t in (hero, mover)]
            if shapes[0] != shapes[1]:
                raise InternalError(f"two copies of {self.program.threads[hero].name} differ")


def _threads(original: Program, program: Program, number: int) -> tuple[int, ...]:
    """The copies of this number, one for each template."""
    index = {thread.family: t for t, thread in enumerate(program.threads)}
    return tuple(index[thread.name, number] for thread in original.crowds)
