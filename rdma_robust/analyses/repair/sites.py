"""Where something can be inserted: a copy of the program that carries a mark at every place.

The mark is a local read of a word that nobody writes. It changes nothing: the word has no conflicts, and CPU events are
ordered with all later events of their thread already. But it shows, in graphs and in traces, when a thread comes past a
place.

Where an `mfence` can be inserted into a program of automata: at each state of a thread, before all that leaves it.

An `mfence` at a state q is a transition from q to a new state, which all others that left q then leave. So one of them
stands behind every transition that enters q, and before every one that leaves it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

import networkx as nx

from rdma_robust.analyses.repair.edits import Gap, SourceEdit, SourceText, apply_edits, gaps
from rdma_robust.analyses.repair.repairs import Barrier
from rdma_robust.diagnose import Reporter
from rdma_robust.errors import ProgramError, SizeLimitError
from rdma_robust.expr import TRUE
from rdma_robust.language.flow.cfg import Cell, Edge, Program, Read, Step, Thread, steps
from rdma_robust.language.flow.spinning import blocking, spin_assumed
from rdma_robust.language.load import is_trencher, load_decidable
from rdma_robust.language.syntax.ast import NodeDeclaration
from rdma_robust.language.trencher.trencher_reader import flow_graph_labels
from rdma_robust.language.trencher.trencher_syntax import AutomataFile, read_automata_file
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.event_table import acts_of, completes_on, polls_of, requests_to
from rdma_robust.semantics.machines.waiting_points import goes_on
from rdma_robust.semantics.order_table import nfo_pairs_of, promises_nothing
from rdma_robust.semantics.trace import EventType


@dataclass(frozen=True, slots=True)
class StatePlace:
    """A state of thread number `thread`. Loops are not told apart: what counts is the number of fences."""

    thread: int
    state: str
    depth: int = 0
    before: None = None


@dataclass(frozen=True)
class AutomataSource:
    """The text of a program of Trencher, and what was read in it."""

    text: str
    automata: AutomataFile

    @staticmethod
    def of(text: str, file: str) -> AutomataSource:
        """Raises ProgramError."""
        report = Reporter(file, text)
        automata = read_automata_file(text, report)
        report.raise_errors()
        return AutomataSource(text, automata)

    def places(self) -> tuple[StatePlace, ...]:
        """Return every state that a transition leaves, in the order of the text."""
        return tuple(
            StatePlace(number, state)
            for number, thread in enumerate(self.automata.threads)
            for state in dict.fromkeys(t.source for t in thread.transitions)
        )

    def marked(self, program: Program, mark: str) -> Program:
        """Return `program` with a read of a word that nobody writes at each state, its text as `Sites.place_of` knows it."""
        cell = Cell(program.nodes[0], mark)
        numbers = {(p.thread, p.state): k for k, p in enumerate(self.places())}
        threads = []
        for t, thread in enumerate(program.threads):
            labels, names = dict(thread.labels), flow_graph_labels(self.automata.threads[t])
            at = {names[state]: k for (number, state), k in numbers.items() if number == t}
            threads.append(_marked(thread, {labels[name]: k for name, k in at.items() if name in labels}, cell))
        return replace(program, cells=(*program.cells, cell), threads=tuple(threads))

    def fence(self, place: Gap | StatePlace) -> tuple[str, tuple[SourceEdit, ...]]:
        """Return the transition that is an `mfence` at a place, and the edits that put it there, the new line first."""
        assert isinstance(place, StatePlace)
        thread = self.automata.threads[place.thread]
        names = {name for t in thread.transitions for name in (t.source, t.target)}
        fenced = next(name for k in range(len(names) + 1) if (name := f"{place.state}_fenced{k or ''}") not in names)
        leaving = [t for t in thread.transitions if t.source == place.state]
        start = self.text.rfind("\n", 0, leaving[0].span.start) + 1
        indent = self.text[start : leaving[0].span.start]
        if indent.strip():
            start, indent = leaving[0].span.start, ""
        line = f"transition {place.state} {fenced} mfence"
        new = SourceEdit(start, f"{indent}{line}\n", 0, ((len(indent), len(indent) + len(line)),))
        renamed = (SourceEdit(t.source_span.start, fenced, len(place.state)) for t in leaving)
        return line, (new, *renamed)

    def expect_robust(self) -> list[SourceEdit]:
        """Return the edit after which a line expects robustness."""
        for claim in self.automata.expectations:
            at = self.text.find("not", claim.span.start)
            if claim.negated:
                return [SourceEdit(at, "", len("not "))]
        return []


def _marked(thread: Thread, marks: dict[int, int], cell: Cell) -> Thread:
    """Return a thread that reads `cell` at each of these points, before it does anything else there."""
    behind = {point: len(thread.points) + k for k, point in enumerate(marks)}
    edges: list[Edge] = []
    for point, number in marks.items():
        text = f"await {cell.name} != {number + 1}"
        edges.append((point, behind[point], Step(Read(cell), TRUE, (), text=text)))
    edges += ((behind.get(source, source), target, step) for source, target, step in thread.edges)
    points = tuple(range(len(thread.points) + len(marks)))
    return replace(thread, points=points, edges=tuple(edges))


_MARK = "mark"


def fresh_word(name: str, taken: frozenset[str]) -> str:
    """Return `name`, with a number if need be, so that it is not in `taken`."""
    if name not in taken:
        return name
    return next(f"{name}{k}" for k in range(2, len(taken) + 3) if f"{name}{k}" not in taken)


def inserted_on(models: Sequence[Model], program: Program) -> frozenset[Barrier]:
    """Return which statements are inserted beside gets, polls and remote fences: an `mfence` where CPUs have store buffers,
    a `flush` on a network, or with words, where no get need do that, and `order` where nothing else is promised of two
    requests: then programs are written for a library, and that has it. Under several models, what is under one of them."""
    kinds = (
        (Barrier.MFENCE, any(model.cpu == "tso" for model in models)),
        (Barrier.FLUSH, not all(map(nfo_pairs_of, models)) or not program.plain),
        (Barrier.ORDER, any(map(promises_nothing, models))),
    )
    return frozenset(kind for kind, there in kinds if there)


@dataclass(frozen=True)
class Sites:
    """The places of a program and the marked program. Beside gets, polls and remote fences there are statements of `more`
    kinds to insert: see :func:`inserted_on`. `lands` says whether a card's read of memory behind it lands what was issued
    to that."""

    source: SourceText | AutomataSource
    program: Program
    places: tuple[Gap | StatePlace, ...]
    marked: Program
    mark: str
    more: Set[Barrier] = frozenset()
    edits: tuple[SourceEdit, ...] = ()
    lands: bool = False

    @staticmethod
    def of(text: str, file: str, *, await_loops: bool, models: Sequence[Model] = (RDMA,)) -> Sites:
        """Raises ProgramError for a bad program and SizeLimitError for one that is too large to be marked."""
        program = spin_assumed(load_decidable(text, file), await_loops)
        more = inserted_on(models, program)
        if is_trencher(text, file):
            automata = AutomataSource.of(text, file)
            return Sites(automata, program, automata.places(), automata.marked(program, _MARK), _MARK, more)
        source = SourceText.of(text, file)
        found = tuple(gaps(source, await_loops=await_loops))
        mark = fresh_word(_MARK, source.identifiers())
        homes = {thread.node.text for thread in source.threads}
        edits: list[SourceEdit] = [
            source.declare(item, [mark])
            for item in source.tree.items
            if isinstance(item, NodeDeclaration) and item.name.text in homes
        ]
        edits += (source.insert(place, [f"await {mark} != {k + 1}"]) for k, place in enumerate(found))
        try:
            # With every round: what is put into a spin loop is in the rounds that fail too.
            marked = blocking(load_decidable(apply_edits(text, edits)[0], file), await_loops)
        except ProgramError as error:
            raise SizeLimitError(f"too large to be repaired: {error.diagnostics[0].message}") from error
        return Sites(source, program, found, marked, mark, more, tuple(edits), any(map(nfo_pairs_of, models)))

    @property
    def tso(self) -> bool:
        """Whether CPUs have store buffers."""
        return Barrier.MFENCE in self.more

    def place_of(self, step: Step) -> int | None:
        """Return the number of the place whose mark this step is, None for steps of the program itself."""
        return self._by_text.get(step.text) if isinstance(step.op, Read) and step.op.cell.name == self.mark else None

    @cached_property
    def _by_text(self) -> Mapping[str, int]:
        return {f"await {self.mark} != {k + 1}": k for k in range(len(self.places))}

    @property
    def cards(self) -> Mapping[str, str]:
        """The nodes whose memory lies behind the card of another one, with that one, without the numbers of families."""
        return {node.partition("[")[0]: card.partition("[")[0] for node, card in self.program.behind}

    def memories(self, thread: int, node: str) -> tuple[str, ...]:
        """Return the memories of which reads on this queue pair of a thread land what was issued."""
        card = dict(self.program.threads[thread].lanes).get(node, node)
        return tuple(memory for memory, via in self.program.behind if via == card) if self.lands else ()

    def queue_pairs(self, thread: int) -> tuple[str, ...]:
        """Return the queue pairs that a thread uses, and that to the card of its node if reads of it can land something."""
        used, card = self.flows[thread].nodes, self.program.card_of(self.program.threads[thread].node)
        own = (card,) if self.program.allow_loopback and self.memories(thread, card) and card not in used else ()
        return used + own

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The graph of every thread of the marked program."""
        return tuple(Flow.of(self, thread) for thread in self.marked.threads)


@dataclass(frozen=True, slots=True)
class MarkedEdge:
    """A step of the marked program; `place` is set if it is a mark."""

    source: int
    target: int
    step: Step
    place: int | None


@dataclass(frozen=True)
class Flow:
    """The graph of one thread of the marked program: its edges that can be reached, by source."""

    thread: Thread
    out: Mapping[int, tuple[MarkedEdge, ...]]

    @staticmethod
    def of(sites: Sites, thread: Thread) -> Flow:
        reached = nx.descendants(thread.graph, thread.entry) | {thread.entry}
        out: dict[int, list[MarkedEdge]] = {}
        for source, target, step in steps(thread):
            if source in reached:
                out.setdefault(source, []).append(MarkedEdge(source, target, step, sites.place_of(step)))
        return Flow(thread, {point: tuple(edges) for point, edges in out.items()})

    @cached_property
    def buffered(self) -> tuple[int, ...]:
        """The places at which a store may wait in the buffer and that something can follow which need not wait for it."""
        ahead = self._reached({EventType.LR, EventType.P, EventType.RP}, self.thread.graph.reverse(copy=False))
        return tuple(sorted(self.stored & ahead))

    @cached_property
    def stored(self) -> frozenset[int]:
        """The places at which a store may wait in the buffer."""
        return self._reached({EventType.LW, EventType.V}, self.thread.graph)

    def _reached(self, types: set[EventType], graph: nx.MultiDiGraph[int]) -> frozenset[int]:
        forward = graph is self.thread.graph
        edges = [e for each in self.out.values() for e in each if e.place is None]
        found = [e for e in edges if any(act.type in types for act in acts_of(e.step.op))]
        starts = {e.target if forward else e.source for e in found}
        near = starts.union(*(nx.descendants(graph, s) for s in starts))
        return frozenset(k for k, e in self.marks.items() if (e.source if forward else e.target) in near)

    @cached_property
    def marks(self) -> Mapping[int, MarkedEdge]:
        """The edge of every place that can be reached."""
        return {e.place: e for edges in self.out.values() for e in edges if e.place is not None}

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The nodes that the thread sends requests to, signaled or not."""
        found = {requests_to(e.step.op): None for edges in self.out.values() for e in edges}
        return tuple(n for n in found if n is not None)

    def operations(self, node: str) -> int:
        """Return at how many points of the thread is a request that a poll of `node` can take."""
        return sum(any(completes_on(e.step.op) == node for e in edges) for edges in self.out.values())

    def polls_of_program(self, node: str) -> bool:
        """Whether the thread has a poll of `node`."""
        return any(polls_of(e.step.op) == node for edges in self.out.values() for e in edges if e.place is None)

    def polls_ahead(self, place: int, node: str) -> int:
        """Return how many polls of `node` in the thread can follow a place."""
        start = self.marks[place].target
        points = nx.descendants(self.thread.graph, start) | {start}
        return sum(any(polls_of(e.step.op) == node for e in self.out.get(point, ())) for point in points)

    def idle(self, point: int, poll: MarkedEdge) -> bool:
        """Whether a thread at a point can do without a poll all that it can do behind it next; marks are no steps."""
        return not poll.step.assigns and self._next(poll.target) <= self._next(point)

    def shared(self, poll: MarkedEdge) -> bool:
        """Whether a poll is one of several queue pairs, which can take of another instead."""
        others = (e for e in self.out[poll.source] if e is not poll and polls_of(e.step.op) is not None)
        return any(e.target == poll.target and e.step.span == poll.step.span for e in others)

    def chooses(self, place: int) -> bool:
        """Whether something at a place makes a choice."""
        mark = self.marks.get(place)
        return mark is not None and not self._next(mark.source) <= self._next(mark.target)

    def commits(self, place: int) -> bool:
        """Whether something at a place makes a choice after which the thread may have to wait."""
        return self.chooses(place) and not all(self._free(point) for point in self._next(self.marks[place].target))

    def _free(self, point: int) -> bool:
        """Whether the thread is at its end, or has a step there that waits for nothing."""
        here = [e.step for e in self.out.get(point, ()) if e.place is None]
        return not here or goes_on(here)

    def _next(self, start: int) -> frozenset[int]:
        """The points of the steps that can come next, and the end if it can."""
        if start not in self._known:
            todo, seen = [start], {start}
            found = set()
            while todo:
                point = todo.pop()
                out = self.out.get(point, ())
                marks = [e.target for e in out if e.place is not None]
                if len(marks) < len(out) or not out:
                    found.add(point)
                todo += (target for target in marks if target not in seen)
                seen.update(marks)
            self._known[start] = frozenset(found)
        return self._known[start]

    @cached_property
    def _known(self) -> dict[int, frozenset[int]]:
        return {}

    def behind(self, node: str | None) -> frozenset[int]:
        """Return the places that some event, or with a `node` some request towards it, can come before."""
        return self._places(node, self.thread.graph)

    def ahead(self, node: str | None) -> frozenset[int]:
        """Return the places that some event, or with a `node` some request towards it, can follow."""
        return self._places(node, self.thread.graph.reverse(copy=False))

    def _places(self, node: str | None, graph: nx.MultiDiGraph[int]) -> frozenset[int]:
        forward = graph is self.thread.graph
        starts = {
            e.target if forward else e.source
            for edges in self.out.values()
            for e in edges
            if e.place is None and (requests_to(e.step.op) == node if node else bool(acts_of(e.step.op)))
        }
        near = starts.union(*(nx.descendants(graph, s) for s in starts))
        return frozenset(k for k, e in self.marks.items() if (e.source if forward else e.target) in near)
