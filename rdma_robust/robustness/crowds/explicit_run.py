"""From a run of the counting system to a trace of P(n), the program with so many copies, and its confirmation.

A run with named copies says of each token which copy it is. Copies of a template in the instance and in P(n) have the same
edges in the same order, so an event of the mover is the event of that copy at the same place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.counting.protocol import NamedRun, ProcessCopy
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Fault, Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.outcome import Copies, Counts, Outcome, Verdict
from rdma_robust.robustness.crowds.instance import Local, TwoCopyInstance
from rdma_robust.robustness.crowds.steps import Control, CrowdLabel
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import EventLabel, InstrumentationFrame
from rdma_robust.robustness.lift import LiftedTrace, lift
from rdma_robust.robustness.remote_atomics import with_prefixes
from rdma_robust.robustness.static_filter import Pivots

CrowdRun = NamedRun[Control, Local, CrowdLabel]


@dataclass(frozen=True)
class Explicit:
    """A run of an instance as one of the program with these numbers of copies."""

    instance: TwoCopyInstance
    run: CrowdRun

    @cached_property
    def numbers(self) -> tuple[tuple[str, int], ...]:
        """How many copies of each template take part."""
        names = (thread.name for thread in self.instance.original.crowds)
        return tuple(zip(names, self.run.numbers, strict=True))

    @cached_property
    def program(self) -> Program:
        """P(n)."""
        return copies_of(self.instance.original, dict(self.numbers))

    def copies(self, *, least: bool) -> Copies:
        return Copies(self.numbers, self.program, least)

    def lifted(self, target: int) -> LiftedTrace:
        """Return the trace of the run that ends at the target of this number. Raises InternalError if it has none."""
        frame = self.instance.frame
        label = self.instance.lowered.targets[target]
        if label is None:
            raise InternalError("a target of the pivot instrumentation has no label")
        labels, hero = self._labels
        pivot = EventLabel(self._edge(label.edge, hero), 0)
        return lift(self.program, labels, pivot, frame.model)

    @property
    def events(self) -> list[tuple[str, EventLabel]]:
        """The events of the run, with the names of their threads."""
        return [(self.program.threads[label.edge.thread].name, label) for label in self._labels[0]]

    @cached_property
    def _labels(self) -> tuple[list[EventLabel], ProcessCopy | None]:
        """The labels of the run, in P(n), and who the hero is."""
        hero: ProcessCopy | None = None
        found = []
        for move, copies in self.run.steps:
            label = move.label
            if label.chosen:
                hero = copies[int(label.moves)]
            who = copies[0] if label.moves else hero
            found += [EventLabel(self._edge(e.edge, who), e.part, None, e.torn) for e in label.events]
        return found, hero

    def _edge(self, edge: EventEdge, copy: ProcessCopy | None) -> EventEdge:
        """The edge of P(n) for one of the instance; `copy` is who takes it if that is a copy."""
        thread, number = self._places[id(edge)]
        name = self.instance.program.threads[thread].name
        if thread not in self.instance.named:
            if copy is None:
                raise InternalError(f"nobody is {name} in the run")
            name = f"{self.instance.original.crowds[copy.template].name}[{copy.number}]"
        there = self._edges[name][number]
        if (there.source, there.target, there.type) != (edge.source, edge.target, edge.type):
            raise InternalError(f"{name} has other events than the copy that took its place")
        return there

    @cached_property
    def _places(self) -> dict[int, tuple[int, int]]:
        """By identity of the instance's edges their thread, and their number there."""
        graphs = enumerate(self.instance.frame.graphs)
        return {id(edge): (thread, number) for thread, g in graphs for number, edge in enumerate(g.edges)}

    @cached_property
    def _edges(self) -> dict[str, Sequence[EventEdge]]:
        """The edges of P(n) by thread."""
        model = self.instance.frame.model
        frame = with_prefixes(
            InstrumentationFrame.to_instrument(self.program, model, recv_depth=self.instance.frame.recv_depth)
        )
        return {graph.name: graph.edges for graph in frame.graphs}


@dataclass(frozen=True, slots=True)
class Two:
    """A program with templates, and the frame of the one with two copies of each."""

    original: Program
    frame: InstrumentationFrame


@dataclass(frozen=True, slots=True)
class TwoFiltered:
    """The same with the pivot classes that are left."""

    original: Program
    pivots: Pivots


@dataclass(frozen=True, slots=True)
class CrowdSearchResult:
    """The findings of the searches for any number of copies.

    `found` is the run to a target with the fewest copies that could be had, None where there is none; `target` the number of
    that target. `explicit` is the outcome of some P(n) where that one is the answer. `unknown` says that there was none for
    some small n.
    """

    instance: TwoCopyInstance
    verdict: Verdict
    reason: str
    engine: str
    counts: Counts
    found: Explicit | None = None
    target: int = -1
    least: bool = False
    explicit: tuple[Outcome, Copies] | None = None
    unknown: bool = False
    faults: tuple[Fault, ...] = ()
    faults_exact: bool = False

    @property
    def pivot(self) -> EventLabel | None:
        """The label of the reached target."""
        return self.instance.lowered.targets[self.target] if self.target >= 0 else None


@dataclass(frozen=True, slots=True)
class CountedAttempt:
    """A run that was found, and the trace of P(n) that it lifts to; None where no target was reached."""

    counted: CrowdSearchResult
    lifted: LiftedTrace | None
