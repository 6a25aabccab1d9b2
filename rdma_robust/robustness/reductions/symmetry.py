"""Symmetry: threads with the same code and the variables they use, interchanged; one pivot class is tried of each orbit.

An automorphism of a program permutes its threads, nodes, cells and registers, and maps the program points of each thread
to those of its image, such that the event graph of every thread becomes the event graph of its image: the same event
types, guards, assignments and written values, and the same initial values. Values are never renamed. A connection of two
threads becomes that of their images, with the same buffers posted at first.

It maps the RDMA traces of the program to RDMA traces and the SC ones to SC ones, since neither the axioms nor the order
tables look at names, hence violating traces to violating traces; and in their normal form alpha.m.beta a pivot m of class c
to one of class sigma(c). So there is a violating trace with a pivot of class c iff there is one for any other class of its
orbit, and it is enough to try one of them. Other reductions go with it if they leave out a class only where no violating
trace has a pivot of it (as the filter does: such a class has no target): then they leave all of an orbit that matters.

Any set of automorphisms will do, so the search may stop early. Event edges are compared in
their order: programs that differ in the order of branches are not found to be symmetric.

Source: Ip and Dill, Better verification through symmetry, 1996; generators along a base as in Sims, Computational
methods in the study of permutation groups, 1970.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rdma_robust.digraph import closure
from rdma_robust.expr import Expr, Name, is_value, names, substitute
from rdma_robust.language.flow.cfg import NAMELESS, Cell
from rdma_robust.robustness.event_graph import EventGraph
from rdma_robust.robustness.frame import InstrumentationFrame, LaneThing, PivotClass, QueuePairThing, qp_of, thing_of
from rdma_robust.robustness.messages import buffer_of
from rdma_robust.semantics.connections import Connection

_MAX_COMPARED = 3_000
"""Names compared at most in the search for automorphisms: 8 equal threads take 250, the limit about 5 ms."""

_MAX_THREADS = 64
"""Of more threads no symmetry is looked for."""


_Place = str | Cell | int | LaneThing
"""What threads share: a node, a cell, or a connection, of which they know the other thread by its number, and the lane."""


@dataclass(frozen=True, slots=True)
class Automorphism:
    """A renaming that leaves the program the same.

    `threads[t]` is the image of thread t and `points[t]` maps its program points to those of the image. Nodes, lanes, cells
    and registers that no event graph mentions do not occur.
    """

    threads: tuple[int, ...]
    nodes: Mapping[str, str]
    cells: Mapping[Cell, Cell]
    registers: Mapping[str, str]
    points: tuple[Mapping[int, int], ...]
    lanes: Mapping[LaneThing, LaneThing] = field(default_factory=dict)

    def image(self, c: PivotClass) -> PivotClass:
        """Return the class of the images of the pivots of class `c`."""
        receive = None
        if c.receive is not None:
            sender, receiver, on = c.receive
            lane = on if on == NAMELESS else self.lanes["lane", sender, on][2]
            receive = self.threads[sender], self.threads[receiver], lane
        return replace(c, thread=self.threads[c.thread], cell=self.cells[c.cell], receive=receive)


def automorphisms(frame: InstrumentationFrame) -> tuple[Automorphism, ...]:
    """Return generators of the automorphisms of the program that keep the order of event edges, or of some of them.

    Empty if there is none but the identity. If the search is cut short, what it has found so far is returned. The time is
    linear in the size of the program if no two threads make the same events.
    """
    if len({_events(g) for g in frame.graphs}) == len(frame.graphs) or len(frame.graphs) > _MAX_THREADS:
        return ()
    shapes = [_Shape(frame, g) for g in frame.graphs]
    kinds = _kinds(shapes)
    number: dict[_Place, int] = {}
    places = [tuple(number.setdefault(p, len(number)) for p in s.places) for s in shapes]
    return tuple(_automorphism(shapes, images) for images in _Search(kinds, places).generators())


def representatives(classes: Iterable[PivotClass], generators: Sequence[Automorphism]) -> tuple[PivotClass, ...]:
    """Return the first class of each orbit under the group of `generators`, in the order of `classes`."""
    seen: set[PivotClass] = set()
    kept = []
    for c in classes:
        if c not in seen:
            kept.append(c)
            seen.update(closure([c], lambda each: (g.image(each) for g in generators)))
    return tuple(kept)


def _events(graph: EventGraph) -> tuple[object, ...]:
    """What threads that correspond have in common, as far as it is cheap to see."""
    return tuple(e.type for e in graph.edges)


class _Shape:
    """An event graph apart from names, which are numbered by their first occurrence.

    Threads correspond iff they have equal `code` and edge by edge equal expressions: then `places`, `points` and
    `registers` correspond one by one, in order.
    """

    def __init__(self, frame: InstrumentationFrame, graph: EventGraph) -> None:
        self.graph = graph
        self.initial = dict(graph.registers)
        self.registers: dict[str, Expr] = {}
        nodes: dict[str, int] = {frame.program.threads[graph.thread].node: 0}
        cells: dict[Cell, int] = {}
        points: dict[int, int] = {graph.entry: 0}
        threads: dict[int, int] = {graph.thread: 0} if frame.messages.channels else {}
        lanes: dict[LaneThing, int] = {}
        program = frame.program

        def pair(thing: QueuePairThing) -> object:
            if len(thing) == 2:
                return nodes.setdefault(thing[1], len(nodes))
            return "lane", lanes.setdefault(thing, len(lanes))

        def connection(c: Connection) -> object:
            ends = tuple(threads.setdefault(t, len(threads)) for t in c[:2])
            return ends if c[2] == NAMELESS else (ends, pair(thing_of(program, (c[0], c[2]))))

        edges = tuple(
            (
                e.type,
                e.carries,
                e.completes,
                e.completing,
                e.also,
                e.stops,
                e.back,
                points.setdefault(e.source, len(points)),
                points.setdefault(e.target, len(points)),
                None if e.cell is None else cells.setdefault(e.cell, len(cells)),
                tuple((t.type, t.cell and cells.setdefault(t.cell, len(cells))) for t in e.section),
                None if e.remote is None else pair(thing_of(program, qp_of(e))),
                None if e.fault is None else e.fault.kind,
                None if e.connection is None else connection(e.connection),
                None if (cell := buffer_of(e)) is None else cells.setdefault(cell, len(cells)),
            )
            for e in graph.edges
        )
        posted = tuple(
            (connection(where), cells.setdefault(cell, len(cells))) for where, cell in frame.messages.posted_by(graph.thread)
        )
        held = tuple((nodes.setdefault(c.node, len(nodes)), c.init) for c in cells)
        self.code = ((edges, posted), held)
        self.places: tuple[_Place, ...] = (*nodes, *cells, *threads, *lanes)
        self.points = tuple(points)

    def expressions(self, number: int) -> object:
        """The expressions of an edge. To be called for one edge after the other, since it numbers the registers."""
        edge = self.graph.edges[number]
        assigns = tuple((self._coded(Name(r)), self._coded(value)) for r, value in edge.assigns)
        stored = tuple(touch.written and self._coded(touch.written) for touch in edge.section)
        return self._coded(edge.guard), assigns, edge.written and self._coded(edge.written), stored

    def _coded(self, expr: Expr) -> object:
        """The expression with numbers for registers, and the initial values of those."""
        used = [name for name in names(expr) if not is_value(name)]
        for name in used:
            self.registers.setdefault(name, Name(str(len(self.registers))))
        return substitute(expr, self.registers) if used else expr, tuple(self.initial.get(name) for name in used)


def _kinds(shapes: Sequence[_Shape]) -> list[int]:
    """Number the threads such that those with equal numbers correspond; expressions are looked at while any may differ."""
    kinds = _numbered([s.code for s in shapes])
    for number in range(max(len(s.graph.edges) for s in shapes)):
        several = {k for k, threads in Counter(kinds).items() if threads > 1}
        if not several:
            break
        open_ = [k in several and number < len(s.graph.edges) for k, s in zip(kinds, shapes, strict=True)]
        kinds = _numbered([(k, s.expressions(number) if o else None) for k, s, o in zip(kinds, shapes, open_, strict=True)])
    return kinds


def _numbered(objects: Iterable[object]) -> list[int]:
    """Replace each object by a number, equal objects by equal numbers."""
    numbers: dict[object, int] = {}
    return [numbers.setdefault(o, len(numbers)) for o in objects]


def _refined(kinds: list[int], places: Sequence[Sequence[int]]) -> list[int]:
    """Give threads different numbers as well if they share their places with different threads: colour refinement."""
    while len(set(kinds)) < len(kinds):
        uses: dict[int, list[tuple[int, int]]] = {}
        for kind, mine in zip(kinds, places, strict=True):
            for position, place in enumerate(mine):
                uses.setdefault(place, []).append((kind, position))
        shared = dict(zip(uses, _numbered(tuple(sorted(each)) for each in uses.values()), strict=True))
        finer = _numbered((kind, tuple(shared[p] for p in mine)) for kind, mine in zip(kinds, places, strict=True))
        if len(set(finer)) == len(set(kinds)):
            break
        kinds = finer
    return kinds


class _Search:
    """Looks for permutations of the threads under which the places of all threads correspond one to one."""

    def __init__(self, kinds: list[int], places: Sequence[Sequence[int]]) -> None:
        self.kinds = _refined(kinds, places)
        self.places = places
        self.base = self._base()
        self.left = _MAX_COMPARED

    def _base(self) -> list[int]:
        """The threads, each sharing as many places as possible with those before: little is left to choose for it."""
        base: list[int] = []
        rest = list(range(len(self.places)))
        bound: set[int] = set()
        while rest:
            base.append(max(rest, key=lambda t: len(bound.intersection(self.places[t]))))
            rest.remove(base[-1])
            bound.update(self.places[base[-1]])
        return base

    def generators(self) -> list[Mapping[int, int]]:
        """Return generators as maps of threads: for each thread of the base, of those that fix the threads before it.

        From the last to the first, so that a thread already in the orbit of another one need not be tried as its image.
        """
        found: list[Mapping[int, int]] = []
        if len(set(self.kinds)) == len(self.kinds):
            return found
        for i in reversed(range(len(self.base))):
            thread, fixed = self.base[i], self.base[:i]
            same = {p: p for t in fixed for p in self.places[t]}
            orbit = {thread}
            for image in self.base[i + 1 :]:
                if image not in orbit and self.kinds[image] == self.kinds[thread]:
                    renaming = self._with(_Renaming(same, same), thread, image)
                    images = renaming and self._complete({**{t: t for t in fixed}, thread: image}, renaming)
                    if images:
                        found.append(images)
                        orbit = set(closure([thread], lambda each: (g[each] for g in found)))
        return found

    def _complete(self, images: Mapping[int, int], renaming: _Renaming) -> Mapping[int, int] | None:
        """Return an automorphism that extends `images`, given for the first threads of the base, or None."""
        if len(images) == len(self.base):
            return images
        thread = self.base[len(images)]
        taken = set(images.values())
        for image in (thread, *self.base):
            if image not in taken and self.kinds[image] == self.kinds[thread]:
                taken.add(image)
                further = self._with(renaming, thread, image)
                found = further and self._complete({**images, thread: image}, further)
                if found:
                    return found
        return None

    def _with(self, renaming: _Renaming, thread: int, image: int) -> _Renaming | None:
        """Return `renaming` extended to the places of `thread`, if that is possible one to one and work is left."""
        ours, theirs = self.places[thread], self.places[image]
        self.left -= len(ours)
        to, back = renaming.to, renaming.back
        if self.left < 0 or any(to.get(a, b) != b or back.get(b, a) != a for a, b in zip(ours, theirs, strict=True)):
            return None
        return _Renaming(to | dict(zip(ours, theirs, strict=True)), back | dict(zip(theirs, ours, strict=True)))


@dataclass(frozen=True, slots=True)
class _Renaming:
    """A one-to-one map of places and its inverse."""

    to: dict[int, int]
    back: dict[int, int]


def _automorphism(shapes: Sequence[_Shape], images: Mapping[int, int]) -> Automorphism:
    """Return the automorphism that maps each thread to its image and what it mentions, in order, to what that mentions."""
    pairs = [(shapes[t], shapes[images[t]]) for t in range(len(shapes))]
    places = [p for ours, theirs in pairs for p in zip(ours.places, theirs.places, strict=True)]
    return Automorphism(
        tuple(images[t] for t in range(len(shapes))),
        {a: b for a, b in places if isinstance(a, str) and isinstance(b, str)},
        {a: b for a, b in places if isinstance(a, Cell) and isinstance(b, Cell)},
        {a: b for ours, theirs in pairs for a, b in _registers(ours, theirs)},
        tuple(dict(zip(ours.points, theirs.points, strict=True)) for ours, theirs in pairs),
        {a: b for a, b in places if isinstance(a, tuple) and isinstance(b, tuple)},
    )


def _registers(ours: _Shape, theirs: _Shape) -> Iterable[tuple[str, str]]:
    """Registers of a thread and its image; only those of threads that may have another image are all numbered."""
    return ((r, r) for r in ours.initial) if ours is theirs else zip(ours.registers, theirs.registers, strict=True)
