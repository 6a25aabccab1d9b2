"""The checker's rules for RDMA as deployed, each switched off: T1 to T3, M1 and M3 to M6, S1 to S3, completions, orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from rdma_robust.certify.hardware import STORES, Kind
from rdma_robust.certify.known_values import Value
from rdma_robust.certify.normal_form import Rules
from rdma_robust.certify.remembered import UNTAGGED, Mail, Marks, Placed, Tag
from rdma_robust.certify.search_steps import Around, Steps, Taken
from rdma_robust.certify.thread_events import Completion, Event, Move, Stage
from rdma_robust.certify.thread_reading import Ahead

Replaced = dict[tuple[type, str], Callable[..., Any]]

_NONE: frozenset[Any] = frozenset()
_PLACED, _IN_ALPHA, _IN_BETA, _POISON = Rules.placed, Rules._in_alpha, Rules._in_beta, Rules._poison
_FORCES, _BY_QUEUE, _BEGUN = Rules._forces, Rules._forced_by_queue, Rules.begun
_TAKEN, _VIOLATES = Steps.taken, Steps.violates


def _constantly(value: object) -> Callable[..., Any]:
    return lambda *_arguments: value


def _forwarded_is_before(self: Rules, marks: Marks, event: Event, tag: Tag) -> Placed:
    placed = _IN_ALPHA(self, replace(marks, forwarding=_NONE), event, tag)
    return replace(placed, marks=placed.marks and replace(placed.marks, forwarding=marks.forwarding))


def _any_store_waits(self: Rules, _marks: Marks, event: Event) -> bool:
    return self.platform.buffered and event.kind in STORES


def _poison_cuts(self: Rules, marks: Marks, event: Event, value: Value, tag: Tag) -> Placed | None:
    atomic = event.kind in (Kind.ATOMIC_READS, Kind.ATOMIC) and event.cell in marks.poisoned
    return None if atomic else _IN_BETA(self, marks, event, value, tag)


def _writing_cleans(self: Rules, marks: Marks, event: Event) -> Marks:
    after = _POISON(self, marks, event)
    if event.kind in (Kind.ATOMIC_WRITES, Kind.ATOMIC) and event.cell is not None:
        return replace(after, poisoned=after.poisoned - {event.cell})
    return after


def _only_half(self: Rules, marks: Marks, event: Event) -> bool:
    return self.platform.ranked and marks.half and event.cell == marks.pivot.cell


def _only_ranks(self: Rules, marks: Marks, event: Event) -> bool:
    return self.platform.ranked and event.swaps and event.cell in marks.atomics


def _never_at(stage: Stage) -> Callable[..., Iterator[Taken]]:
    """Threads that never stand there."""

    def taken(self: Steps, move: Move, around: Around) -> Iterator[Taken]:
        return (each for each in _TAKEN(self, move, around) if each.after.stage is not stage)

    return taken


def _nothing_held(self: Steps, move: Move, around: Around) -> Iterator[Taken]:
    return _TAKEN(self, move, replace(around, held=_NONE))


def _opening_nothing(self: Rules, marks: Marks, event: Event) -> Placed | None:
    begun = _BEGUN(self, marks, event)
    if begun is None or begun.marks is None or begun.marks.closed:
        return begun
    return replace(begun, marks=replace(begun.marks, tainted_reads=marks.tainted_reads))


def _without_choices(self: Rules, marks: Marks, event: Event, value: Value, tag: Tag = UNTAGGED) -> Iterator[Placed]:
    return _PLACED(replace(self, choices=False), marks, event, value, tag)


def _without_parts(self: Rules, marks: Marks, event: Event, value: Value, tag: Tag = UNTAGGED) -> Iterator[Placed]:
    return _PLACED(self, marks, event, value, Tag(False, tag.tainted))


def _without_taint(self: Rules, marks: Marks, event: Event, value: Value, tag: Tag = UNTAGGED) -> Iterator[Placed]:
    return _PLACED(self, marks, event, value, Tag(tag.beta))


def _pivot_without_taint(self: Steps, marks: Marks, ahead: Ahead, value: Value, mail: Mail) -> bool:
    return marks.closed and _VIOLATES(self, marks, ahead, value, mail)


def _forcing_but(**forgotten: Any) -> Callable[..., bool]:
    return lambda self, marks, event, tag: _FORCES(self, replace(marks, **forgotten), event, tag)


def _unsignaled_forces_nothing(self: Rules, marks: Marks, event: Event, tag: Tag) -> bool:
    return event.completion is Completion.SIGNALED and _FORCES(self, marks, event, tag)


def _ignoring_the_buffer(self: Rules, marks: Marks, event: Event, _tag: Tag) -> bool:
    return _FORCES(self, marks, event, UNTAGGED)


def _ignoring_awaited(self: Rules, marks: Marks, event: Event) -> bool | None:
    return _BY_QUEUE(self, replace(marks, awaited=_NONE), event)


def _reading_is_writing(self: Rules, event: Event, pivot: Any) -> bool:
    return self._meets(event, pivot)


MUTANTS: dict[str, Replaced] = {
    "T1 a store in beta forces nothing": {(Rules, "_drains"): _constantly(False)},
    "T1 a store in beta forces loads as well": {(Rules, "_drains"): _constantly(True)},
    "T2 no load forwards": {(Rules, "_forwards"): _constantly(False)},
    "T2 a forwarded load is before the pivot": {(Rules, "_in_alpha"): _forwarded_is_before},
    "T3 no store of the pivot's thread waits": {(Rules, "_may_wait"): _constantly(False)},
    "T3 every store of the pivot's thread waits": {(Rules, "_may_wait"): _any_store_waits},
    "M1 a poisoned atomic cuts": {(Rules, "_in_beta"): _poison_cuts},
    "M1 an atomic that writes leaves no poison": {(Rules, "_poison"): _writing_cleans},
    "M3 the order of atomics forces nothing": {(Rules, "_forced_by_rank"): _only_half},
    "M3 the pivot's read begins nothing": {(Rules, "_is_about"): _reading_is_writing},
    "M3 a split atomic excludes no pivot": {(Rules, "apart"): lambda _rules, _before, after, _event: after},
    "M4 no thread ends between the events": {(Steps, "taken"): _never_at(Stage.STOPPED)},
    "M4 atomics do not wait for one that ended": {(Steps, "taken"): _nothing_held},
    "M4 the write alone is no pivot": {(Steps, "taken"): _never_at(Stage.HALF)},
    "M4 behind the pivot's read nothing is forced": {(Rules, "_forced_by_rank"): _only_ranks},
    "M4 the pivot's read opens no cycle": {(Rules, "begun"): _opening_nothing},
    "M4 the whole atomic is no pivot": {(Steps, "_whole"): _constantly(False)},
    "M5 the two events are two vertices": {(Rules, "closing"): lambda _rules, marks, _event: marks},
    "M6 no access chooses": {(Rules, "placed"): _without_choices},
    "S1 what waits for beta is not forced": {(Rules, "placed"): _without_parts},
    "S2 a polled send tells of no buffer": {(Rules, "_forces"): _ignoring_the_buffer},
    "S2 a fence tells of no buffer": {(Rules, "_forced_by_queue"): _ignoring_awaited},
    "S3 taint does not go with messages": {(Rules, "placed"): _without_taint},
    "S3 a tainted buffer does not close the cycle": {(Steps, "violates"): _pivot_without_taint},
    "a store tells nothing by a poll": {(Rules, "_forces"): _forcing_but(stores=_NONE)},
    "unsignaled operations force no poll": {(Rules, "_forces"): _unsignaled_forces_nothing},
    "receive completions stay behind nothing": {(Rules, "_behind_beta"): _constantly(False)},
}
"""What is wrong with a mutant, to the methods and what replaces them. M2 is none of the checker's rules."""


@contextmanager
def mutant(name: str) -> Iterator[None]:
    with ExitStack() as stack:
        for (owner, method), replacement in MUTANTS[name].items():
            stack.enter_context(patch.object(owner, method, replacement))
        yield
