"""A program with crowds by its places: what is of all threads, what is of one copy, and the program whose steps are used.

The control state is what all threads share and the threads that there is one of; since the first event of beta also the
*hero*, the copy that holds the pivot, if the class of pivots is one of a template. Of every other copy only its local state
matters. The steps are those of a program with two copies of each template: in the first one's place is the hero, in the
second one's the copy that moves.

Source: docs/theory-crowds.md, "Crowds need only counting".
"""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.certify.copies_marks import NOTHING, Share, is_alone
from rdma_robust.certify.document import reject
from rdma_robust.certify.hardware import Platform
from rdma_robust.certify.invariant_states import Limit
from rdma_robust.certify.invariants import fences_matter, rules_of
from rdma_robust.certify.remembered import Mail, Marks, PivotAccesses, QueuePair
from rdma_robust.certify.search_steps import SearchSteps
from rdma_robust.certify.thread_events import LocalState
from rdma_robust.certify.thread_reading import readings_of
from rdma_robust.language.flow.cfg import Cell, Poll, Program, Thread, steps
from rdma_robust.language.flow.copies import copies_of

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
    """What all share, and where the named threads and the hero are. `held` are words on which a copy has ended between the
    events of a remote atomic."""

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
    copy that moves), `counted` the queue pairs of named threads whose completions are counted.
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
        self._counter = {pair: self.platform.counters * i for i, pair in enumerate(pairs)}
        for template in self.templates:
            for place, first in zip(template.places, (len(pairs), 0), strict=True):
                remotes = polled_by(self.two.threads[place])
                self._counter |= {(place, remote): self.platform.counters * (first + i) for i, remote in enumerate(remotes)}

    @property
    def polled(self) -> tuple[tuple[str, str], ...]:
        """The queue pairs on which completions are counted, by the names of their threads."""
        named = tuple((self.two.threads[t].name, remote) for t, remote in self.counted)
        return named + tuple((t.thread.name, remote) for t in self.templates for remote in polled_by(t.thread))

    def template_of(self, thread: int) -> int | None:
        """The template whose hero a thread is, None if it is no hero."""
        return self._hero_of.get(thread)

    def counters_at(self, control: Control) -> int:
        """How many limits of completions there are in a control state: `Platform.counters` for each queue
        pair."""
        hero = control.hero
        pairs = len(self.counted) + (0 if hero is None else len(self.templates[hero.template].remotes))
        return self.platform.counters * pairs

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
        return CopyState(
            template, self.readings[here.places[1]].start, values, (0,) * (self.platform.counters * len(here.remotes))
        )


def polled_by(thread: Thread) -> tuple[str, ...]:
    """The remote nodes of the queue pairs that a thread polls, in the order of its flow graph."""
    return tuple(dict.fromkeys(step.op.lane or step.op.node for _, _, step in steps(thread) if isinstance(step.op, Poll)))
