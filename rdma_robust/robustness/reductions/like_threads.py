"""Groups of threads of which each two can be exchanged, with all that is theirs alone: what the reduction `permute` uses.

An exchange renames threads, nodes, cells, registers, program points and *values* such that the event edges of all threads
stay the same as a set. It is an involution, and keeps where threads begin; initial values of cells need not stay.
Values are renamed by *sorts*: variables between which values are copied or compared are of one sort, and where they are
only copied and compared for equality, other values serve as well (data independence). So clients that write their own
number into a word stay alike.

Threads are told apart by colour refinement over edges and what they mention. Then each thread of a group gets a colour of
its own, and the colours that arise when two of them are exchanged say what becomes of everything else. What that gives is
checked edge by edge; guesses are only wrong for the size of groups.

Source: colour refinement and individualisation as in McKay and Piperno 2014; sorts as in Ip and Dill 1996 (scalarsets).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rdma_robust.digraph import by_key, closure
from rdma_robust.language.flow.cfg import NAMELESS, Cell, Fault
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import InstrumentationFrame, PivotClass, qp_of, thing_of, things_of
from rdma_robust.robustness.messages import buffer_of
from rdma_robust.robustness.reductions.value_sorts import Sorts, Term, takes_value

_MOST_THREADS = 64
_MOST_IN_GROUP = 16
"""Each two of a group have an exchange of their own."""

_MOST_EDGES = 3_000
"""In larger programs no like threads are looked for: that would take seconds."""

Thing = tuple[Hashable, ...]
"""What a program mentions: ("thread", t), ("node", name), ("lane", t, name), ("cell", cell), ("register", name),
("point", t, p), or ("value", sort, v)."""

Renaming = Mapping[Thing, Thing]
"""What becomes of the things that are something else afterwards."""


@dataclass(frozen=True, slots=True)
class LikeThreads:
    """Threads of which the first can be exchanged with each other one: `exchanges` has those, in order.

    `faults` are those that exchanges map to each other.
    """

    threads: tuple[int, ...]
    exchanges: tuple[Renaming, ...]
    faults: tuple[tuple[Fault, Fault], ...]

    def between(self, i: int, j: int) -> Renaming:
        """Return what exchanges the i-th and the j-th of them, i < j."""
        if i == 0:
            return self.exchanges[j - 1]
        to, over = self.exchanges[j - 1], self.exchanges[i - 1]
        found = {}
        for thing in {**to, **over}:
            image = over.get(thing, thing)
            image = to.get(image, image)
            image = over.get(image, image)
            if image != thing:
                found[thing] = image
        return found


def image_of(c: PivotClass, by: Renaming) -> PivotClass:
    """Return the class of the images of the pivots of a class."""

    def thread(t: int) -> int:
        number = by.get(("thread", t), ("thread", t))[1]
        assert isinstance(number, int)
        return number

    def lane(t: int, name: str) -> str:
        image = by.get(("lane", t, name), ("lane", t, name))[2]
        assert isinstance(image, str)
        return image

    cell = by.get(("cell", c.cell), ("cell", c.cell))[1]
    assert isinstance(cell, Cell)
    receive = None
    if c.receive is not None:
        sender, receiver, on = c.receive
        receive = thread(sender), thread(receiver), lane(sender, on) if on != NAMELESS else on
    return PivotClass(thread(c.thread), cell, c.writes, c.atomic, receive)


def like_threads(frame: InstrumentationFrame, forgets: bool) -> tuple[LikeThreads, ...]:
    """Return groups of like threads of the program. With `forgets`, values of cells become 0 where nobody reads them."""
    edges = sum(len(g.edges) for g in frame.graphs)
    if len(frame.graphs) > _MOST_THREADS or edges > _MOST_EDGES:
        return ()
    if len({frozenset(Counter(e.type for e in g.edges).items()) for g in frame.graphs}) == len(frame.graphs):
        return ()
    return tuple(_Search(frame, Sorts(frame, forgets)).groups())


def closed_under(classes: Iterable[PivotClass], groups: Sequence[LikeThreads]) -> dict[PivotClass, None]:
    """Return the classes with all their images."""
    return closure(classes, lambda each: (image_of(each, by) for group in groups for by in group.exchanges))


def like_faults(groups: Iterable[LikeThreads]) -> dict[Fault, frozenset[Fault]]:
    """Return for each fault that an exchange maps to another one all that exchanges map it to, itself included."""
    found: dict[Fault, frozenset[Fault]] = {}
    for one, other in (pair for group in groups for pair in group.faults):
        joined = found.get(one, frozenset({one})) | found.get(other, frozenset({other}))
        found.update(dict.fromkeys(joined, joined))
    return found


class _Search:
    """The edges of a program as terms over numbered things, and the colours of these."""

    def __init__(self, frame: InstrumentationFrame, sorts: Sorts) -> None:
        self.number: dict[Thing, int] = {}
        self.sorts = sorts
        self.frame = frame
        self.threads = len(frame.graphs)
        for t in range(self.threads):
            self._of(("thread", t))
        self.edges = [e for g in frame.graphs for e in g.edges]
        terms = [*map(self._term, self.edges), *self._facts()]
        self.terms = terms
        self.flat = [_flat(term) for term in terms]
        self.things = list(self.number)
        self.mentions: list[list[int]] = [[] for _ in self.things]
        for i, (_, used) in enumerate(self.flat):
            for _, thing in used:
                if not self.mentions[thing] or self.mentions[thing][-1] != i:
                    self.mentions[thing].append(i)

    def groups(self) -> Iterator[LikeThreads]:
        """Find groups one after the other; a thread that is moved by one is looked at no more."""
        first = self._refined([hash((thing[0], self.sorts.fixed(thing))) for thing in self.things])
        kinds = by_key((first[t], t) for t in range(self.threads))
        moved: set[int] = set()
        for members in sorted((m for m in kinds.values() if len(m) > 1), key=lambda m: (-len(m), m)):
            left = [t for t in members if t not in moved][:_MOST_IN_GROUP]
            while len(left) > 1:
                found = self._group(first, left)
                if found is not None:
                    yield found
                    moved |= {t for t in range(self.threads) for by in found.exchanges if ("thread", t) in by}
                left = [t for t in left[1:] if t not in moved]

    def _group(self, colours: list[int], members: list[int]) -> LikeThreads | None:
        """What the first of these threads can be exchanged with."""
        own = list(colours)
        for t in members:
            own[t] = hash((colours[t], t + 1))
        alone = self._refined(own)
        with_first, exchanges, faults = [members[0]], [], list[tuple[Fault, Fault]]()
        for t in members[1:]:
            other = list(own)
            other[members[0]], other[t] = own[t], own[members[0]]
            renaming = self._matched(alone, self._refined(other))
            if renaming is not None and self._same(renaming):
                with_first.append(t)
                exchanges.append({self.things[a]: self.things[b] for a, b in renaming.items()})
                faults += self._faults(renaming)
        return LikeThreads(tuple(with_first), tuple(exchanges), tuple(faults)) if exchanges else None

    def _refined(self, colours: list[int]) -> list[int]:
        """Give things different colours if they are mentioned differently, until no more colours arise."""
        count = len(set(colours))
        while True:
            seen: list[list[int]] = [[] for _ in colours]
            for label, used in self.flat:
                colour = hash((label, tuple(sorted((role, colours[thing]) for role, thing in used))))
                for role, thing in used:
                    seen[thing].append(hash((role, colour)))
            colours = [hash((c, tuple(sorted(found)))) for c, found in zip(colours, seen, strict=True)]
            if len(set(colours)) == count:
                return colours
            count = len(set(colours))

    def _matched(self, one: list[int], other: list[int]) -> dict[int, int] | None:
        """Return what maps things to those of the same colour, if that is an involution; None if there is none."""
        here: dict[int, list[int]] = {}
        there: dict[int, list[int]] = {}
        for thing, (a, b) in enumerate(zip(one, other, strict=True)):
            here.setdefault(a, []).append(thing)
            there.setdefault(b, []).append(thing)
        if here.keys() != there.keys():
            return None
        found: dict[int, int] = {}
        for colour, mine in here.items():
            theirs = there[colour]
            if len(mine) != len(theirs):
                return None
            both = set(mine) & set(theirs)
            left = zip((t for t in mine if t not in both), (t for t in theirs if t not in both), strict=True)
            found.update(left)
        return found if all(found.get(b) == a for a, b in found.items()) else None

    def _same(self, renaming: Mapping[int, int]) -> bool:
        """Whether the renaming maps the edges to the edges."""
        touched = {i for thing in renaming for i in self.mentions[thing]}
        before = Counter(_frozen(self.terms[i], {}) for i in touched)
        return before == Counter(_frozen(self.terms[i], renaming) for i in touched)

    def _faults(self, renaming: Mapping[int, int]) -> Iterator[tuple[Fault, Fault]]:
        """The faults of edges that the renaming maps to each other."""
        wrong = [(i, e.fault) for i, e in enumerate(self.edges) if e.fault is not None]
        at = by_key((_frozen(self.terms[i], {}), fault) for i, fault in wrong)
        for i, fault in wrong:
            yield from ((fault, other) for other in at.get(_frozen(self.terms[i], renaming), ()) if other != fault)

    def _of(self, thing: Thing) -> Term:
        return "@", self.number.setdefault(thing, len(self.number))

    def _facts(self) -> Iterator[Term]:
        """What is to stay besides the edges."""
        for t, g in enumerate(self.frame.graphs):
            yield "entry", self._of(("thread", t)), self._of(("point", t, g.entry))
            yield "runs", self._of(("thread", t)), self._of(("node", self.frame.program.threads[t].node))
            yield from (("register", self._of(("thread", t)), self._of(("register", r))) for r, _ in g.registers)
        for cell in self.frame.cells:
            yield "lies", self._of(("cell", cell)), self._of(("node", cell.node))
        for connection, channel in self.frame.messages.channels.items():
            ends = map(self._of, things_of(self.frame.program, connection))
            buffers = tuple(self._of(("cell", cell)) for cell in channel.buffers)
            shape = [(q.width, q.capacity) for q in (channel.posted, channel.arrived)]
            yield "channel", *ends, *buffers, repr((shape, channel.least, channel.depth, channel.most))

    def _term(self, e: EventEdge) -> Term:
        """What an edge is, apart from names: equal terms, equal behaviour."""
        kind = (e.type and e.type.value, e.carries, e.completes, e.completing, e.also and e.also.value, e.stops, e.back)
        program = self.frame.program
        connection = None if e.connection is None else tuple(map(self._of, things_of(program, e.connection)))
        posted = buffer_of(e)
        return (
            repr((kind, None if e.fault is None else e.fault.kind)),
            self._of(("thread", e.thread)),
            self._of(("point", e.thread, e.source)),
            self._of(("point", e.thread, e.target)),
            self._cell(e.cell, takes_value(e)),
            tuple(self._cell(touch.cell, True) for touch in e.section),
            None if e.remote is None else self._of(thing_of(program, qp_of(e))),
            connection,
            None if posted is None else self._cell(posted, True),
            *self.sorts.terms(e, self._of),
        )

    def _cell(self, cell: Cell | None, read: bool) -> Term:
        """A cell; of one that nobody writes the node on which it lies and, if it is `read`, its value."""
        if cell is None or self.frame.bit(cell):
            return None if cell is None else self._of(("cell", cell))
        return "constant", self._of(("node", cell.node)), str(cell.init) if read else ""


def _flat(term: Term) -> tuple[int, list[tuple[int, int]]]:
    """A number for the shape of a term, and the things it mentions, each with a number for the place."""
    used: list[tuple[int, int]] = []

    def shape(part: Term, path: int) -> Hashable:
        if not isinstance(part, tuple):
            return str(part)
        if part and part[0] == "@":
            used.append((path, part[1]))
            return "@"
        if part and part[0] == "{}":
            return "{}", tuple(sorted(hash(shape(each, hash((path, "{}")))) for each in part[1:]))
        return tuple(shape(each, hash((path, i))) for i, each in enumerate(part))

    return hash(shape(term, 0)), used


def _frozen(term: Term, renaming: Mapping[int, int]) -> Hashable:
    """The term with other things, such that the order in sets does not matter."""
    if not isinstance(term, tuple):
        return str(term)
    if term and term[0] == "@":
        return "@", renaming.get(term[1], term[1])
    if term and term[0] == "{}":
        return "{}", frozenset(Counter(_frozen(each, renaming) for each in term[1:]).items())
    return tuple(_frozen(each, renaming) for each in term)
