"""The events of copies, remembered by the fields that they look at.

What an event of a copy does depends on the copy's local state and on few of the fields that threads share: those that the
compiled moves at its program point read. Most control states differ in others, so most events are looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from rdma_robust.robustness.crowds.instance import TwoCopyInstance
from rdma_robust.robustness.crowds.parts import WHOLE, Parts, State
from rdma_robust.robustness.crowds.settling import single_label
from rdma_robust.robustness.frame import EventLabel

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
