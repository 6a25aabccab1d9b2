"""The steps of a crowd: those of the instance, with a copy in the place of its template's mover.

The control state is what threads share, with the named threads and, once there is one, the hero; a token is the local state
of a copy. Where a step looks at other threads, and what becomes of it:

- Threads that stop behind the read of a remote atomic: only the pivot's thread does, see :mod:`instance`, so the hero is
  chosen at the latest when it stops.
- The marks by which a read forwards (T2): a write of beta clears those of every thread. A copy keeps the mark that a store
  leaves only if it *promises* to use it: then the control state says that there is a promise for the word, and writes of
  others to it are left out, until the copy takes it back. So no step need look for the copy that has a mark. Nothing is
  lost, since it may have promised nothing; nor is anything won, since a read that may forward can be in beta as well, after
  its store.
- Taint of all threads is forgotten when the cycle closes. That of copies stays, which changes nothing: a closed cycle
  remains closed.

A counter of a named thread that has no bound is a token as well, as often as it counts; those of copies are left out, so
that their polls always succeed: see :meth:`Instance.uncounted`.

The events of copies, remembered by the fields that they look at.

What an event of a copy does depends on the copy's local state and on few of the fields that threads share: those that the
compiled moves at its program point read. Most control states differ in others, so most events are looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from rdma_robust.counters.independence import LONGEST_CHAIN
from rdma_robust.counting.protocol import CountingMove
from rdma_robust.robustness.crowds.hopeless import Hopeless
from rdma_robust.robustness.crowds.instance import NOBODY, WHOLE, Local, Parts, State, TwoCopyInstance
from rdma_robust.robustness.crowds.unread import Settling, Unread, single_label
from rdma_robust.robustness.frame import EventLabel
from rdma_robust.robustness.pivot_classes import CLASS

Held = tuple[int, ...]
"""What the slots of a mover hold."""


class EventChange(NamedTuple):
    """An event of a mover: what its slots hold then, the fields that have other values then, and the effect on counters."""

    event: EventLabel
    held: Held
    changes: tuple[tuple[int, int], ...]
    effect: int


@dataclass
class LookedAt:
    """The events of the movers of one instance."""

    instance: TwoCopyInstance
    parts: Parts
    _key: dict[tuple[int, int], Callable[[State], object]] = field(default_factory=dict)
    _known: dict[tuple[int, Held], dict[object, tuple[EventChange, ...]]] = field(default_factory=dict)

    def __call__(self, mover: int, held: Held, state: State) -> tuple[EventChange, ...]:
        """Return the events of a mover whose slots hold this, at a control state with first values there."""
        known = self._known.get((mover, held))
        if known is None:
            known = self._known[mover, held] = {}
        at = mover, held[0]
        if at not in self._key:
            self._key[at] = self._looks(mover, held[0])
        key = self._key[at](state)
        found = known.get(key)
        if found is None:
            found = known[key] = tuple(self._changes(mover, held, state))
        return found

    def _changes(self, mover: int, held: Held, state: State) -> list[EventChange]:
        lowered = self.instance.lowered
        found = []
        for number, after, effect in lowered.successors(self.parts.put_in(state, mover, held), 1 << mover):
            held_after, left = self.parts.taken_out(after, mover)
            changes = tuple((i, new) for i, (new, old) in enumerate(zip(left, state, strict=True)) if new != old)
            found.append(EventChange(single_label(lowered.labels[number]), held_after, changes, effect))
        return found

    def _looks(self, mover: int, point: int) -> Callable[[State], object]:
        """Return the function that takes from a control state what the mover's events at a program point look at.

        What they change is looked at as well, so that what they leave as it is here is left in all of these states.
        """
        own = {number for number, bits in self.parts.slots[mover] if bits == WHOLE}
        fields = [number for number in self.instance.lowered.touched(mover, point) if number not in own]
        return itemgetter(*fields) if fields else lambda _state: ()


def with_fields(state: State, changes: tuple[tuple[int, int], ...]) -> State:
    """Return a control state with these fields set."""
    if not changes:
        return state
    after = list(state)
    for number, value in changes:
        after[number] = value
    return tuple(after)


Control = tuple[State, int, int]
"""The state of the instance with first values in the slots of movers, the hero, and for which marks there is a promise."""


@dataclass(frozen=True, slots=True)
class CrowdLabel:
    """The label of a move: the events in their order, all of one thread of the instance.

    If `moves`, the first of what the move takes is the copy that moves, the first of what it gives is that copy after it.
    If `chosen`, the copy behind that one becomes the hero.
    """

    events: tuple[EventLabel, ...]
    moves: bool = False
    chosen: bool = False


Events = tuple[EventLabel, ...]
CrowdMove = CountingMove[Control, Local, CrowdLabel]


@dataclass
class InstanceSteps:
    """The steps of an instance; those that were asked for are remembered."""

    instance: TwoCopyInstance
    active: bool = True
    """Whether copies settle, see :mod:`unread`."""
    _of_copies: dict[tuple[Control, Local], tuple[CrowdMove, ...]] = field(default_factory=dict)
    _of_threads: dict[Control, tuple[CrowdMove, ...]] = field(default_factory=dict)
    _tidy: dict[tuple[int, Held], Held] = field(default_factory=dict)

    @cached_property
    def parts(self) -> Parts:
        return Parts.of(self.instance)

    @cached_property
    def settling(self) -> Settling:
        return Settling(self.instance, self.parts, self.active)

    @cached_property
    def unread(self) -> Unread:
        return Unread(self.instance, self.parts, self.active)

    @cached_property
    def looked_at(self) -> LookedAt:
        return LookedAt(self.instance, self.parts)

    @cached_property
    def hopeless(self) -> Hopeless:
        return Hopeless(self.instance, self.active and "dead-ends" in self.instance.reductions)

    @cached_property
    def counted(self) -> tuple[int, ...]:
        """The counters that are tokens."""
        return self.instance.counted

    @cached_property
    def initial(self) -> Control:
        return self.parts.initial, NOBODY, 0

    @cached_property
    def fresh(self) -> tuple[Local, ...]:
        """The first local state of each template."""
        movers = enumerate(self.instance.movers)
        return tuple((k, self.parts.taken_out(self.parts.initial, mover)[0]) for k, mover in movers)

    @cached_property
    def _class(self) -> int:
        return self.instance.lowered.fields.index(CLASS)

    def started(self, control: Control) -> bool:
        """Whether the control state is one of phase 2."""
        return control[0][self._class] != 0

    def at_end(self, local: Local) -> bool:
        """Whether a copy can do nothing any more."""
        template, held = local
        return template >= 0 and held[0] in self._ends[template]

    @cached_property
    def _ends(self) -> tuple[frozenset[int], ...]:
        graphs = (self.instance.frame.graphs[mover] for mover in self.instance.movers)
        return tuple(g.points - {e.source for e in g.edges} for g in graphs)

    def of_threads(self, control: Control) -> tuple[CrowdMove, ...]:
        """The moves of the named threads and of the hero."""
        if control not in self._of_threads:
            hero = control[1]
            members = (*self.instance.named, *(() if hero == NOBODY else (hero,)))
            found = [
                CountingMove(CrowdLabel(events), takes, (state, *control[1:]), gives)
                for thread in members
                for events, state, takes, gives in self.taken(thread, control, control[2])
            ]
            self._of_threads[control] = tuple(found)
        return self._of_threads[control]

    def of_copy(self, control: Control, local: Local) -> tuple[CrowdMove, ...]:
        """The moves of a copy in this local state."""
        key = control, local
        if key not in self._of_copies:
            moves = (
                CountingMove(CrowdLabel(events, moves=True), (local, *takes), after, (now, *gives))
                for events, after, now, takes, gives in self._copied(control, local)
            )
            self._of_copies[key] = (*self._taken_back(control, local), *moves)
        return self._of_copies[key]

    def copied(self, control: Control, local: Local) -> Iterator[tuple[Events, Control, Local]]:
        """Yield the steps of a copy: the control state and its local state after each."""
        for events, after, now, _, _ in self._copied(control, local):
            yield events, after, now

    def _copied(
        self, control: Control, local: Local
    ) -> Iterator[tuple[Events, Control, Local, tuple[Local, ...], tuple[Local, ...]]]:
        """Yield the same with the tokens of counters that each step takes and gives."""
        template, promised, before = local[0], control[2], self._promises(local)
        for events, held, left, effect in self._moved(control, local, promised & ~before):
            takes, gives = self._counted(effect)
            now = template, held
            marks = self._promises(now)
            kept = promised & ~before | marks & before
            yield events, (left, control[1], kept), self._without(now, marks & ~before), takes, gives
            if marks & ~before:
                yield events, (left, control[1], kept | marks), now, takes, gives

    def _moved(self, control: Control, local: Local, others: int) -> Iterator[tuple[Events, Held, State, int]]:
        """Yield the events of a copy, each with those that follow at once, what it holds then, the state without that, and
        the effect on counters; see :meth:`taken`. Copies do not stop."""
        (template, held), (state, hero, _) = local, control
        mover = self.instance.movers[template]
        for first in self.looked_at(mover, held, state):
            event = first.event
            if event.edge.stops or not self._allows(event, hero, others):
                continue
            began = (after := with_fields(state, first.changes))[self._class] != 0
            passed, last, after = self._passed(mover, first, after, chosen=began or hero != NOBODY)
            after = self.unread.forgotten(after, hero)
            if not (began and self.hopeless(after, hero)):
                yield (event, *passed), self._tidied(mover, last), after, first.effect

    def _passed(self, mover: int, change: EventChange, state: State, *, chosen: bool) -> tuple[Events, Held, State]:
        """The steps that a copy takes at once, as :meth:`Settling.passed` has them."""
        if not self.settling.is_passed(mover, change.held[0], chosen=chosen):
            return (), change.held, state
        taken: list[EventLabel] = []
        held = change.held
        while len(taken) < LONGEST_CHAIN and self.settling.is_passed(mover, held[0], chosen=chosen):
            following = self.looked_at(mover, held, state)
            if len(following) != 1 or self._counted(following[0].effect) != ((), ()) or self._is_target(state):
                break
            taken.append(following[0].event)
            held, state = following[0].held, with_fields(state, following[0].changes)
        return tuple(taken), held, state

    def _is_target(self, state: State) -> bool:
        return self.instance.lowered.target(state) >= 0

    def _tidied(self, mover: int, held: Held) -> Held:
        key = mover, held
        if key not in self._tidy:
            self._tidy[key] = self.settling.tidied(mover, held)
        return self._tidy[key]

    def taken(
        self, thread: int, control: Control, others: int
    ) -> Iterator[tuple[Events, State, tuple[Local, ...], tuple[Local, ...]]]:
        """Yield the steps of a named thread or hero: the state after each, and the tokens of counters that it takes and
        gives. `others` are the promises of others. A class that starts is one of the hero, or if there is none, of a named
        thread."""
        state, hero, _ = control
        lowered = self.instance.lowered
        for number, after, effect in lowered.successors(state, 1 << thread):
            event = single_label(lowered.labels[number])
            if not self._allows(event, hero, others):
                continue
            began = after[self._class] != 0
            passed, after = self.settling.passed(thread, after, chosen=began or hero != NOBODY)
            after = self.unread.forgotten(after, hero)
            if not (began and self.hopeless(after, hero)):
                yield (event, *passed), after, *self._counted(effect)

    def _allows(self, event: EventLabel, hero: int, others: int) -> bool:
        """Whether the class that an event starts is of the hero, or a named thread, and it breaks no promise of others."""
        if (c := event.starts) is not None and (c.thread not in self.instance.named if hero == NOBODY else c.thread != hero):
            return False
        return not (others and (event.part == 2 or event.torn) and self._breaks(event, others))

    def _counted(self, effect: int) -> tuple[tuple[Local, ...], tuple[Local, ...]]:
        """The tokens that an effect on counters takes and gives."""
        if not self.counted:
            return (), ()
        made = self.instance.lowered.effects[effect]
        takes: list[Local] = []
        gives: list[Local] = []
        for i in self.counted:
            takes += [(-1 - i, ())] * made.guard[i]
            gives += [(-1 - i, ())] * (made.guard[i] + made.delta[i])
        return tuple(takes), tuple(gives)

    def _breaks(self, event: EventLabel, promised: int) -> bool:
        """Whether the event, one of beta, writes a word of which a promise says that nobody does."""
        edge = event.edge
        return edge.writes and any(promised >> pair & 1 for cell, pair in self._promisable if cell == edge.cell)

    @cached_property
    def _promisable(self) -> tuple[tuple[object, int], ...]:
        """The shared words, and numbers of pairs, for which a copy can have a mark."""
        pairs = self.instance.pivot.buffers.pairs.items()
        movers = self.instance.movers
        return tuple((cell, n) for (t, cell), n in pairs if t in movers and self.instance.owner(cell) is None)

    @cached_property
    def _mark_slots(self) -> tuple[tuple[tuple[int, int, int], ...], ...]:
        """For each template the slots of these marks: their place, their bit, and the number of the pair as a bit."""
        found = []
        numbers = {number for _, number in self._promisable}
        fields = self.instance.lowered.fields
        for mover in self.instance.movers:
            mine = [n for (t, _), n in self.instance.pivot.buffers.pairs.items() if t == mover and n in numbers]
            places = {slot: place for place, slot in enumerate(self.parts.slots[mover])}
            marks = self.instance.pivot.buffers.marks
            slots = [(fields.index(name), bits, 1 << n) for n in mine for name, bits in marks.parts(1 << n)]
            found.append(tuple((places[number, bits], bits, pair) for number, bits, pair in slots))
        return tuple(found)

    def _promises(self, local: Local) -> int:
        """The marks on shared words that a copy has."""
        template, held = local
        if not (slots := self._mark_slots[template]):
            return 0
        return sum(pair for place, _, pair in slots if held[place])

    def _without(self, local: Local, marks: int) -> Local:
        """The local state without these marks."""
        if not marks:
            return local
        template, held = local
        gone = {place for place, _, pair in self._mark_slots[template] if pair & marks}
        return template, tuple(0 if place in gone else value for place, value in enumerate(held))

    def _taken_back(self, control: Control, local: Local) -> Iterator[CrowdMove]:
        """The move by which a copy takes its promises back."""
        if marks := self._promises(local):
            state, hero, promised = control
            after = state, hero, promised & ~marks
            yield CountingMove(CrowdLabel((), moves=True), (local,), after, (self._without(local, marks),))
