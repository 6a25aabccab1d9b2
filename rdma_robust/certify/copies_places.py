"""A program with crowds by its places: what is of all threads, what is of one copy, and the program whose steps are used.

The control state is what all threads share and the threads that there is one of; since the first event of beta also the
*hero*, the copy that holds the pivot, if the class of pivots is one of a template. Of every other copy only its local state
matters. The steps are those of a program with two copies of each template: in the first one's place is the hero, in the
second one's the copy that moves.

Source: docs/theory-crowds.md, "Crowds need only counting".

Which marks are about one copy of a crowd, and which about all threads: a copy is known by what it has alone.

A field of the marks that is in no list here would be taken for one of all threads, so there must be none.

Source: docs/theory-crowds.md, "Crowds need only counting" (the local part of a thread); docs/theory-search.md, "The search".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from rdma_robust.certify.card_memories import CardMemoryRules
from rdma_robust.certify.document import reject
from rdma_robust.certify.hardware import Platform
from rdma_robust.certify.invariant_states import Limit
from rdma_robust.certify.invariants import fences_matter, rules_of
from rdma_robust.certify.remembered import Mail, Marks, PivotAccesses, QueuePair, Trail, TrailName
from rdma_robust.certify.search_steps import SearchSteps
from rdma_robust.certify.thread_events import LocalState
from rdma_robust.certify.thread_reading import readings_of
from rdma_robust.language.flow.cfg import Cell, Poll, Program, Thread, steps
from rdma_robust.language.flow.copies import copies_of

_THREAD_OF: Final[Mapping[str, Callable[[Any], int]]] = {
    **dict.fromkeys(("beta", "under_way", "settled", "on_words", "behind"), lambda member: member[0][0]),
    **dict.fromkeys(("forced", "overtaken", "awaited"), lambda member: member[0]),
    **dict.fromkeys(("forwarding",), lambda member: member[1]),
    **dict.fromkeys(("cpu", "poison_carried", "poison_taken", "tainted_threads", "stores"), lambda member: member),
}
"""For each set of marks that tells of threads the number of the thread that a member is about."""

_OF_CELLS: Final = ("read", "written", "poisoned", "tainted_reads", "tainted_writes", "atomics")
_OF_ALL: Final = ("pivot", "closed", "alpha_value", "half", "split")

PARTS: Final = (*_THREAD_OF, *_OF_CELLS, "trails")
"""The sets of marks that copies have a share of, in the order of a share. Of trails a share has what is on them, each by the
name of the trail and the set of it that it is in."""

_OF_TRAILS: Final[Mapping[str, Callable[[Any], int]]] = {
    "threads": lambda member: member,
    **dict.fromkeys(("events", "writes"), lambda member: member[0][0]),
    "tells": lambda member: member[0],
}
"""For each set of a trail that tells of threads the number of the thread; the others are of cells."""

Share = tuple[frozenset[Any], ...]
"""What the sets of `PARTS` hold of one copy, in the numbers and cells of the second copy of its thread."""

NOTHING: Final[Share] = (frozenset(),) * len(PARTS)
"""The share of a copy before beta, and of one that has done nothing since."""

SOME_COPY: Final = -1
"""Stands in `forwarding` for the copy, another one than that which moves, whose store is the last write of the cell."""

_TAINT: Final = tuple(PARTS.index(name) for name in ("tainted_threads", "tainted_reads", "tainted_writes"))
FORWARDING: Final = PARTS.index("forwarding")

if {*PARTS, *_OF_ALL} != {field.name for field in fields(Marks)}:
    raise AssertionError("a mark is neither one of threads or cells, nor one of all")


def marked_members(marks: Marks, name: str) -> frozenset[Any]:
    """Return what a set of marks has; of trails as a share has it."""
    if name != "trails":
        found: frozenset[Any] = getattr(marks, name)
        return found
    parts = [(of, part.name, getattr(trail, part.name)) for of, trail in marks.trails for part in fields(Trail)]
    return frozenset((of, part, item) for of, part, items in parts for item in items)


def _whole(name: str, members: frozenset[Any]) -> frozenset[Any]:
    """Return a set of marks that has these members."""
    if name != "trails":
        return members
    sets: dict[TrailName, dict[str, frozenset[Any]]] = {}
    for of, part, item in members:
        held = sets.setdefault(of, {})
        held[part] = held.get(part, frozenset()) | {item}
    return frozenset((of, Trail(**held)) for of, held in sets.items())


def _is_of(name: str, member: Any, thread: int, own_cells: frozenset[Cell]) -> bool:
    """Whether a member of a set of marks tells of a thread, or of a cell that only it knows."""
    name, of, member = (member[1], _OF_TRAILS, member[2]) if name == "trails" else (name, _THREAD_OF, member)
    return of[name](member) == thread if name in of else member in own_cells


def marks_together(marks: Marks, share: Share) -> Marks:
    """Return the marks as the copy that moves sees them: those of all with its own. Once the cycle is closed, its taint is
    forgotten, as that of all threads is."""
    own = calm(share) if marks.closed else share
    found: dict[str, Any] = {
        name: _whole(name, marked_members(marks, name) | own[i]) for i, name in enumerate(PARTS) if own[i]
    }
    if "forwarding" in found:
        mine = {cell for cell, _ in own[FORWARDING]}
        found["forwarding"] = frozenset(m for m in found["forwarding"] if m[1] != SOME_COPY or m[0] not in mine)
    return replace(marks, **found) if found else marks


def marks_apart(marks: Marks, thread: int, own_cells: frozenset[Cell]) -> tuple[Marks, Share]:
    """Return the marks of all, and the share of the copy that is `thread`, which alone knows `own_cells`."""
    share: list[frozenset[Any]] = []
    rest: dict[str, Any] = {}
    for name in PARTS:
        every = marked_members(marks, name)
        mine = frozenset(member for member in every if _is_of(name, member, thread, own_cells))
        share.append(mine)
        if mine:
            rest[name] = _whole(name, every - mine)
    held = share[FORWARDING]
    if held:
        rest["forwarding"] |= {(cell, SOME_COPY) for cell, _ in held if cell not in own_cells}
    return (replace(marks, **rest) if rest else marks), tuple(share)


def is_alone(share: Share, thread: int, own_cells: frozenset[Cell]) -> bool:
    """Whether a share tells of nothing but the copy that is `thread`."""
    return all(_is_of(name, member, thread, own_cells) for name, part in zip(PARTS, share, strict=True) for member in part)


def calm(share: Share) -> Share:
    """The share without taint, which is forgotten when the cycle closes."""
    return tuple(frozenset() if i in _TAINT else part for i, part in enumerate(share))


def lost(before: Marks, after: Marks) -> frozenset[Cell]:
    """The cells of which another copy was the last writer before a step, and is not after it."""
    return frozenset(cell for cell, thread in before.forwarding - after.forwarding if thread == SOME_COPY)


def holds_last_write(share: Share, cell: Cell) -> bool:
    """Whether the last write of the cell is a store of the copy."""
    return any(each == cell for each, _ in share[FORWARDING])


def without_hold(share: Share, cell: Cell) -> Share:
    left = frozenset(member for member in share[FORWARDING] if member[0] != cell)
    return (*share[:FORWARDING], left, *share[FORWARDING + 1 :])


def released_marks(marks: Marks, share: Share) -> Marks:
    """The marks of all when nobody asks any more for the copy that has the share: it has ended."""
    gone = {(cell, SOME_COPY) for cell, _ in share[FORWARDING]}
    return replace(marks, forwarding=marks.forwarding - gone) if gone & marks.forwarding else marks


HERO, MOVER = 1, 2
"""Which copy of a template has the place of the hero, and which that of the copy that moves."""


@dataclass(frozen=True, slots=True)
class CopyState:
    """The local state of a copy: where it is, what its own cells hold, its completions and its share of the marks."""

    template: int
    local: LocalState
    values: tuple[int, ...]
    limit: Limit
    share: Share = NOTHING


@dataclass(frozen=True, slots=True)
class Hero:
    """The copy that holds the pivot; its completions are counted with those of named threads, its marks are in the marks."""

    template: int
    local: LocalState
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Control:
    """The memory and marks that all share, and the places of the named threads and the hero. `held` are words on which a
    copy has ended between the events of a remote atomic."""

    threads: tuple[LocalState, ...]
    hero: Hero | None
    values: tuple[int, ...]
    marks: Marks | None
    mail: Mail
    held: frozenset[Cell] = frozenset()


@dataclass(frozen=True, slots=True)
class Template:
    """A template's places in the program with two copies, and its queue pairs whose completions are counted."""

    thread: Thread
    places: tuple[int, int]
    remotes: tuple[str, ...]


@dataclass
class CrowdPlaces:
    """The places of a program with crowds.

    `two` is the program with two copies of each template, `named` the numbers of its threads that there is one of, `cells`
    the words that all know and that are written, `own_cells` those of each template that only a copy itself knows (of the
    copy that moves), `counted` the queue pairs of named threads whose completions are counted, by so many `counters` each.
    """

    program: Program
    platform: Platform

    def __post_init__(self) -> None:
        """Raises UsageError if the program with two copies of each template is too large."""
        templates = self.program.crowds
        two = self.two = copies_of(self.program, {template.name: 2 for template in templates})
        self.readings = readings_of(two, self.platform)
        self.written = frozenset(a.cell for reading in self.readings for a in reading.accesses() if a.writes)
        place = {t.family: i for i, t in enumerate(two.threads) if t.family is not None}
        of_crowds = {(t.name, copy) for t in templates for copy in (HERO, MOVER)}
        self.named = tuple(i for i, t in enumerate(two.threads) if t.family not in of_crowds)
        self.templates = tuple(
            Template(t, (place[t.name, HERO], place[t.name, MOVER]), tuple(polled_by(t))) for t in templates
        )
        self._movers = frozenset(template.places[1] for template in self.templates)
        self._hero_of = {template.places[0]: k for k, template in enumerate(self.templates)}
        self._at_named = {thread: i for i, thread in enumerate(self.named)}
        self.counters = CardMemoryRules.of(two, self.platform).counters
        self._name_cells(self.written)
        self._name_counters()
        rules = rules_of(two, self.platform, self.written, frozenset(self._counter), fences_matter(two))
        self.steps = SearchSteps(two, self.readings, rules)
        if any(thread not in self._at_named for pair in self.steps.connections for thread in pair):
            reject("a thread of which there are any number has messages")

    def _name_cells(self, written: frozenset[Cell]) -> None:
        """Number the cells that all know, and for each place of a template those that only the copy there knows."""
        many = frozenset(self.program.many_nodes)
        self.cells = tuple(cell for cell in self.program.cells if cell.node not in many and cell in written)
        self._shared = {cell: i for i, cell in enumerate(self.cells)}
        self._own: dict[Cell, int] = {}
        self.own_cells: list[tuple[Cell, ...]] = []
        for template in self.templates:
            own: list[tuple[Cell, ...]] = []
            for place in template.places:
                node = self.two.threads[place].node if template.thread.node in many else None
                own.append(tuple(cell for cell in self.two.cells if cell.node == node and cell in written))
                self._own |= {cell: i for i, cell in enumerate(own[-1])}
            self.own_cells.append(own[1])
        self._private = [frozenset(own) for own in self.own_cells]

    def _name_counters(self) -> None:
        """Number the queue pairs on which completions are counted, for the control state and for copies."""
        pairs = [(t, remote) for t in self.named for remote in polled_by(self.two.threads[t])]
        self.counted: tuple[QueuePair, ...] = tuple(pairs)
        self._counter = {pair: self.counters * i for i, pair in enumerate(pairs)}
        for template in self.templates:
            for place, first in zip(template.places, (len(pairs), 0), strict=True):
                remotes = polled_by(self.two.threads[place])
                self._counter |= {(place, remote): self.counters * (first + i) for i, remote in enumerate(remotes)}

    @property
    def polled(self) -> tuple[tuple[str, str], ...]:
        """The queue pairs on which completions are counted, by the names of their threads."""
        named = tuple((self.two.threads[t].name, remote) for t, remote in self.counted)
        return named + tuple((t.thread.name, remote) for t in self.templates for remote in polled_by(t.thread))

    def template_of(self, thread: int) -> int | None:
        """The template whose hero a thread is, None if it is no hero."""
        return self._hero_of.get(thread)

    def counters_at(self, control: Control) -> int:
        """How many limits of completions there are in a control state: `counters` for each queue pair."""
        hero = control.hero
        pairs = len(self.counted) + (0 if hero is None else len(self.templates[hero.template].remotes))
        return self.counters * pairs

    def may_meet(self, pivot: PivotAccesses) -> bool:
        """Whether the pivot's thread knows the cell: it is one of all, or of the hero's own."""
        if pivot.cell not in self._own:
            return True
        template = self._hero_of.get(pivot.thread)
        thread = self.two.threads[pivot.thread]
        return template is not None and pivot.cell.node == thread.node

    def is_share(self, template: int, share: Share) -> bool:
        """Whether the share tells of nothing but the copy of the template that moves."""
        return is_alone(share, self.templates[template].places[1], self._private[template])

    def start(self) -> Control:
        """The control state that everything begins with."""
        threads = tuple(self.readings[t].start for t in self.named)
        return Control(threads, None, tuple(cell.init for cell in self.cells), None, self.steps.first_mail)

    def not_begun(self, template: int) -> CopyState:
        """A copy that has not begun."""
        here = self.templates[template]
        values = tuple(cell.init for cell in self.own_cells[template])
        return CopyState(template, self.readings[here.places[1]].start, values, (0,) * (self.counters * len(here.remotes)))


def polled_by(thread: Thread) -> tuple[str, ...]:
    """The remote nodes of the queue pairs that a thread polls, in the order of its flow graph."""
    return tuple(dict.fromkeys(step.op.lane or step.op.node for _, _, step in steps(thread) if isinstance(step.op, Poll)))
