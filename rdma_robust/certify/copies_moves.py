"""The steps of a program with crowds, for all numbers of copies at once: control states, and copies that are counted.

A step looks at another copy in two places only. The start of beta makes one the hero, which may be one that has not begun;
and a write of beta to a cell whose last write waits in the store buffer of a copy takes that knowledge from it. A copy that
ends between the two events of a remote atomic never moves again: the word that it holds is part of the control state.

Source: docs/theory-crowds.md, "Crowds need only counting"; docs/theory-search.md, "The search"; docs/theory-deployed.md,
"Store buffers" (T2); docs/theory-atomics.md, "Remote atomics" (M4).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from rdma_robust.certify.copies_places import (
    NOTHING,
    Control,
    CopyState,
    CrowdPlaces,
    Hero,
    calm,
    holds_last_write,
    lost,
    marks_apart,
    marks_together,
    released_marks,
    without_hold,
)
from rdma_robust.certify.document import reject
from rdma_robust.certify.invariant_states import Limit
from rdma_robust.certify.invariants import comes_to, fired
from rdma_robust.certify.remembered import Marks, PivotAccesses, Value
from rdma_robust.certify.search_steps import Around, SearchStep
from rdma_robust.certify.thread_events import LocalState, ThreadMove
from rdma_robust.language.flow.cfg import Cell

_NO_LIMIT: Limit = ()

Change = tuple[int, tuple[int, ...]]
"""From which limit of completions on a step changes them, and by how much."""

NO_CHANGE: Change = (-1, ())


@dataclass(frozen=True, slots=True)
class CopyFiring:
    """A step: the copies that it takes and those that they become, by number, and the control state after it.

    `change` is its effect on the completions of the control state (from which limit on, by how much); the
    hero `brings` its own. A copy that has ended, or is as one that has not begun, is not given back. If it `calms`, the
    cycle closes: the taint of all copies is forgotten.
    """

    what: str
    takes: tuple[int, ...]
    control: int
    gives: tuple[int, ...]
    change: Change = NO_CHANGE
    brings: Limit = ()
    calms: bool = False


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A firing that takes another copy as well: the hero, of a class of pivots, or the one that loses its hold of a cell."""

    what: str
    takes: tuple[int, ...]
    control: Control
    gives: tuple[int, ...]
    change: Change
    calms: bool
    hero: PivotAccesses | None = None
    loser: Cell | None = None


@dataclass
class Crowd(CrowdPlaces):
    """A program with crowds as control states and copies, each of which has a number."""

    controls: list[Control] = field(default_factory=list)
    copies: list[CopyState] = field(default_factory=list)
    fresh: tuple[int, ...] = ()
    _numbers: dict[Control | CopyState, int] = field(default_factory=dict)
    _firings: dict[tuple[int, int], tuple[CopyFiring | _Waiting, ...]] = field(default_factory=dict)
    _joined: dict[tuple[int, int, int, int], CopyFiring | None] = field(default_factory=dict)
    _comes: dict[tuple[LocalState, PivotAccesses], bool] = field(default_factory=dict)

    def number(self, control: Control) -> int:
        if control not in self._numbers:
            self._numbers[control] = len(self.controls)
            self.controls.append(control)
        return self._numbers[control]

    def copy_number(self, copy: CopyState) -> int:
        if copy not in self._numbers:
            self._numbers[copy] = len(self.copies)
            self.copies.append(copy)
        return self._numbers[copy]

    def firings(self, control: int, present: Iterable[int]) -> Iterator[CopyFiring]:
        """Yield every step from a control state, where copies with these numbers are, and any that have not begun."""
        here = tuple(dict.fromkeys((*self.fresh, *present)))
        for mover in (-1, *here):
            yield from self.firings_of(control, mover, here)

    def firings_of(self, control: int, mover: int, here: Iterable[int]) -> Iterator[CopyFiring]:
        """Yield every step of the copy `mover` (-1: of what is no such copy), where copies with the numbers `here` are."""
        for number, each in enumerate(self._found(control, mover)):
            if isinstance(each, CopyFiring):
                yield each
                continue
            for other in here:
                key = control, mover, number, other
                if key not in self._joined:
                    self._joined[key] = self._join(each, other)
                joined = self._joined[key]
                if joined is not None:
                    yield joined

    def calmed(self, copy: int) -> int:
        """The number of the copy when its taint is forgotten."""
        here = self.copies[copy]
        return self.copy_number(replace(here, share=calm(here.share)))

    def violates(self, control: int) -> bool:
        """Whether the pivot's thread stands before a pivot that can be put last into alpha, with the cycle closed."""
        here = self.controls[control]
        if here.marks is None:
            return False
        pivot = here.marks.pivot
        own = here.hero.values if here.hero is not None else ()
        value = here.marks.alpha_value if pivot.cell in here.marks.written else self._value(pivot.cell, here, own)
        aheads = self.readings[pivot.thread].ahead(self._pivots_thread(here, pivot))
        return any(self.steps.violates(here.marks, ahead, value, here.mail) for ahead in aheads)

    def unready(self, control: int) -> ThreadMove | None:
        """A message that can find no buffer, before the first event of beta."""
        here = self.controls[control]
        if here.marks is not None or not self.steps.connections:
            return None
        for t, local in zip(self.named, here.threads, strict=True):
            for move in self._moves(here, t, local, ()):
                if self.steps.finds_no_buffer(move.event, here.mail):
                    return move
        return None

    def _found(self, control: int, mover: int) -> tuple[CopyFiring | _Waiting, ...]:
        key = control, mover
        if key not in self._firings:
            here = self.controls[control]
            found = self._of_control(here) if mover < 0 else self._of_copy(here, mover)
            self._firings[key] = tuple(found)
        return self._firings[key]

    def _of_control(self, control: Control) -> Iterator[CopyFiring | _Waiting]:
        """The steps of named threads and of the hero."""
        for i, (t, local) in enumerate(zip(self.named, control.threads, strict=True)):
            for taken in self._taken(control, t, local, (), control.marks):
                threads = (*control.threads[:i], taken.after, *control.threads[i + 1 :])
                after = self._changed(replace(control, threads=threads), taken, ())[0]
                yield from self._ending(after, taken, (), (), control.marks)
        if control.hero is not None:
            hero = control.hero
            place = self.templates[hero.template].places[0]
            for taken in self._taken(control, place, hero.local, hero.values, control.marks):
                after, values = self._changed(control, taken, hero.values)
                moved = replace(after, hero=Hero(hero.template, taken.after, values))
                yield from self._ending(moved, taken, (), (), control.marks)

    def _of_copy(self, control: Control, number: int) -> Iterator[CopyFiring | _Waiting]:
        """The steps of a copy: as one of many, and, as the first event of beta, as the hero."""
        copy = self.copies[number]
        hero, mover = self.templates[copy.template].places
        marks = None if control.marks is None else marks_together(control.marks, copy.share)
        for taken in self._taken(control, mover, copy.local, copy.values, marks):
            limit = fired(copy.limit, *self._change(taken))
            if limit is None:
                continue
            after, values = self._changed(control, taken, copy.values)
            share = NOTHING
            if after.marks is not None:
                common, share = marks_apart(after.marks, mover, self._private[copy.template])
                after = replace(after, marks=common)
            after, gives = self._given(after, CopyState(copy.template, taken.after, values, limit, share))
            yield from self._ending(after, taken, (number,), gives, marks)
        if control.marks is not None:
            return
        for taken in self._taken(control, hero, copy.local, copy.values, None):
            limit = fired(copy.limit, *self._change(taken, self.counters * len(self.counted)))
            if taken.starts is not None and taken.starts.thread == hero and limit is not None:
                after, values = self._changed(control, taken, copy.values)
                begun = replace(after, hero=Hero(copy.template, taken.after, values))
                if self._may_end(begun):
                    yield CopyFiring(
                        self._what(taken), (number,), self.number(begun), (), NO_CHANGE, limit, _is_closed(begun)
                    )

    def _ending(
        self, after: Control, taken: SearchStep, takes: tuple[int, ...], gives: tuple[int, ...], before: Marks | None
    ) -> Iterator[CopyFiring | _Waiting]:
        """The firing of a step that leads to `after`, or what waits for another copy."""
        pivot = taken.starts
        if pivot is not None and pivot.thread in self._movers:
            return  # The hero has a place of its own.
        change = NO_CHANGE if takes else self._change(taken)
        calms = _is_closed(after) and not (before is not None and before.closed)
        what = self._what(taken)
        if pivot is not None and pivot.thread in self._hero_of:
            yield _Waiting(what, takes, after, gives, change, calms, hero=pivot)
            return
        if not self._may_end(after):
            return
        placed = taken.placed.marks
        losing = frozenset() if before is None or placed is None else lost(before, placed)
        for cell in losing:
            yield _Waiting(what, takes, after, gives, change, calms, loser=cell)
        if not losing:
            yield CopyFiring(what, takes, self.number(after), gives, change, (), calms)

    def _join(self, waiting: _Waiting, number: int) -> CopyFiring | None:
        """The firing that takes the copy `number` as well, None if it cannot be the hero, or has no hold to lose."""
        copy = self.copies[number]
        if waiting.loser is not None:
            if not holds_last_write(copy.share, waiting.loser):
                return None
            left = replace(copy, share=without_hold(copy.share, waiting.loser))
            after, given = self._given(waiting.control, left)
            gives, brings = (*waiting.gives, *given), _NO_LIMIT
        else:
            assert waiting.hero is not None
            if self._hero_of[waiting.hero.thread] != copy.template:
                return None
            after = replace(waiting.control, hero=Hero(copy.template, copy.local, copy.values))
            gives, brings = waiting.gives, copy.limit
            if not self._may_end(after):
                return None
        takes = (*waiting.takes, number)
        return CopyFiring(waiting.what, takes, self.number(after), gives, waiting.change, brings, waiting.calms)

    def _given(self, after: Control, copy: CopyState) -> tuple[Control, tuple[int, ...]]:
        """The copy as what a firing gives, nothing where it has ended; the control state then."""
        reading = self.readings[self.templates[copy.template].places[1]]
        if reading.ahead(copy.local):
            number = self.copy_number(copy)
            return after, () if number in self.fresh else (number,)
        held = reading.stopped_at(copy.local)
        if held is not None and held not in self._private[copy.template]:
            after = replace(after, held=after.held | {held})
        if after.marks is not None:
            after = replace(after, marks=released_marks(after.marks, copy.share))
        return after, ()

    def _taken(
        self, control: Control, thread: int, local: LocalState, own: tuple[int, ...], marks: Marks | None
    ) -> Iterator[SearchStep]:
        """What can become of the events that a thread can make next."""
        stopped = (self.readings[t].stopped_at(each) for t, each in zip(self.named, control.threads, strict=True))
        held = control.held | {cell for cell in stopped if cell is not None}
        for move in self._moves(control, thread, local, own):
            cell = self.steps.resolved(move.event, control.mail).cell
            yield from self.steps.taken(move, Around(marks, self._value(cell, control, own), control.mail, held))

    def _moves(self, control: Control, thread: int, local: LocalState, own: tuple[int, ...]) -> Iterator[ThreadMove]:
        reading = self.readings[thread]
        for ahead in reading.ahead(local):
            if ahead.hears is None:
                yield from reading.moves(ahead, self._value(ahead.reads, control, own))
            elif (heard := self.steps.heard(thread, ahead, control.mail)) is not None:
                yield from reading.moves(ahead, heard)

    def _value(self, cell: Cell | None, control: Control, own: tuple[int, ...]) -> Value:
        if cell is None:
            return None
        if cell in self._own:
            return own[self._own[cell]]
        return control.values[self._shared[cell]] if cell in self._shared else cell.init

    def _changed(self, control: Control, taken: SearchStep, own: tuple[int, ...]) -> tuple[Control, tuple[int, ...]]:
        """The control state after a step but for where its thread is, and what the cells of its own hold then."""
        values = control.values
        if taken.writes is not None:
            written = taken.written
            if written is None:
                reject(f"the invariant leaves open what {self._what(taken)} writes")
            if taken.writes in self._own:
                own = _with(own, self._own[taken.writes], written)
            else:
                values = _with(values, self._shared[taken.writes], written)
        return replace(control, values=values, marks=taken.placed.marks, mail=taken.mail), own

    def _change(self, taken: SearchStep, less: int = 0) -> Change:
        """The effect of a step on the completions of its queue pair; counters are numbered from `less`."""
        counts = taken.placed.counts
        remote = taken.event.remote
        counter = None if remote is None else self._counter.get((taken.event.thread, remote))
        return (counter - less, counts) if counter is not None and any(counts) else NO_CHANGE

    def _may_end(self, control: Control) -> bool:
        """Whether the pivot's thread may still come to the pivot: else a state may be missing."""
        if control.marks is None:
            return True
        pivot = control.marks.pivot
        key = self._pivots_thread(control, pivot), pivot
        if key not in self._comes:
            self._comes[key] = comes_to(self.readings[pivot.thread], *key)
        return self._comes[key]

    def _pivots_thread(self, control: Control, pivot: PivotAccesses) -> LocalState:
        if pivot.thread in self._at_named:
            return control.threads[self._at_named[pivot.thread]]
        assert control.hero is not None
        return control.hero.local

    def _what(self, taken: SearchStep) -> str:
        thread = self.two.threads[taken.event.thread]
        who = thread.name if taken.event.thread in self._at_named else f"a copy of {thread.family and thread.family[0]}"
        return f"{taken.event} of {who}" + ("" if taken.starts is None else " as the first event of beta")


def _with(values: tuple[int, ...], at: int, value: int) -> tuple[int, ...]:
    return (*values[:at], value, *values[at + 1 :])


def _is_closed(control: Control) -> bool:
    return control.marks is not None and control.marks.closed
