"""The checker's rules for RDMA as deployed, each switched off: T1 to T3, M1 and M3 to M6, S1 to S3, completions, orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from rdma_robust.certify.hardware import STORES, EventKind
from rdma_robust.certify.normal_form import NormalFormRules
from rdma_robust.certify.remembered import UNTAGGED, Mail, Marks, Tag, TraceParts, Value
from rdma_robust.certify.search_steps import Around, SearchStep, SearchSteps
from rdma_robust.certify.thread_events import CellAccess, Completion, OperationStage, ThreadEvent, ThreadMove
from rdma_robust.certify.thread_reading import Ahead, CardRequest, ThreadReading
from tests.support.patches import Patch

_NONE: frozenset[Any] = frozenset()
_PLACED, _IN_ALPHA, _IN_BETA, _POISON = (
    NormalFormRules.placed,
    NormalFormRules._in_alpha,
    NormalFormRules._in_beta,
    NormalFormRules._poison,
)
_TOLD, _COMPLETING = NormalFormRules._told, NormalFormRules._completing
_FORCES, _BY_QUEUE, _BEGUN = NormalFormRules._forces, NormalFormRules._forced_by_queue, NormalFormRules.begun
_ACCESSES_OF = ThreadReading._accesses_of
_TAKEN, _VIOLATES = SearchSteps.taken, SearchSteps.violates


def _constantly(value: object) -> Callable[..., Any]:
    return lambda *_arguments: value


def _forwarded_is_before(self: NormalFormRules, marks: Marks, event: ThreadEvent, tag: Tag) -> TraceParts:
    placed = _IN_ALPHA(self, replace(marks, forwarding=_NONE), event, tag)
    return replace(placed, marks=placed.marks and replace(placed.marks, forwarding=marks.forwarding))


def _any_store_waits(self: NormalFormRules, _marks: Marks, event: ThreadEvent) -> bool:
    return self.platform.buffered and event.kind in STORES


def _poison_cuts(self: NormalFormRules, marks: Marks, event: ThreadEvent, value: Value, tag: Tag) -> TraceParts | None:
    atomic = event.kind in (EventKind.ATOMIC_READS, EventKind.ATOMIC) and event.cell in marks.poisoned
    return None if atomic else _IN_BETA(self, marks, event, value, tag)


def _writing_cleans(self: NormalFormRules, marks: Marks, event: ThreadEvent) -> Marks:
    after = _POISON(self, marks, event)
    if event.kind in (EventKind.ATOMIC_WRITES, EventKind.ATOMIC) and event.cell is not None:
        return replace(after, poisoned=after.poisoned - {event.cell})
    return after


def _as_a_write(self: NormalFormRules, marks: Marks, event: ThreadEvent, tag: Tag) -> bool:
    atomic = event.kind in (EventKind.ATOMIC_READS, EventKind.ATOMIC)
    return _FORCES(self, marks, replace(event, kind=EventKind.ATOMIC_WRITES) if atomic else event, tag)


def _of_writers(self: ThreadReading, request: CardRequest | None) -> Iterator[CellAccess]:
    for access in _ACCESSES_OF(self, request):
        yield replace(access, atomic=access.atomic and request is not None and request.swaps)


def _by_itself(self: NormalFormRules, marks: Marks, event: ThreadEvent, value: Value) -> TraceParts | None:
    return _IN_BETA(self, marks, event, value, UNTAGGED)


def _only_half(self: NormalFormRules, marks: Marks, event: ThreadEvent) -> bool:
    return self.platform.ranked and marks.half and event.cell == marks.pivot.cell


def _only_ranks(self: NormalFormRules, marks: Marks, event: ThreadEvent) -> bool:
    return self.platform.ranked and event.swaps and event.cell in marks.atomics


def _never_at(stage: OperationStage) -> Callable[..., Iterator[SearchStep]]:
    """Threads that never stand there."""

    def taken(self: SearchSteps, move: ThreadMove, around: Around) -> Iterator[SearchStep]:
        return (each for each in _TAKEN(self, move, around) if each.after.stage is not stage)

    return taken


def _nothing_held(self: SearchSteps, move: ThreadMove, around: Around) -> Iterator[SearchStep]:
    return _TAKEN(self, move, replace(around, held=_NONE))


def _opening_nothing(self: NormalFormRules, marks: Marks, event: ThreadEvent) -> TraceParts | None:
    begun = _BEGUN(self, marks, event)
    if begun is None or begun.marks is None or begun.marks.closed:
        return begun
    return replace(begun, marks=replace(begun.marks, tainted_reads=marks.tainted_reads))


def _without_choices(
    self: NormalFormRules, marks: Marks, event: ThreadEvent, value: Value, tag: Tag = UNTAGGED
) -> Iterator[TraceParts]:
    return _PLACED(replace(self, choices=False), marks, event, value, tag)


def _without_parts(
    self: NormalFormRules, marks: Marks, event: ThreadEvent, value: Value, tag: Tag = UNTAGGED
) -> Iterator[TraceParts]:
    return _PLACED(self, marks, event, value, Tag(False, tag.tainted))


def _without_taint(
    self: NormalFormRules, marks: Marks, event: ThreadEvent, value: Value, tag: Tag = UNTAGGED
) -> Iterator[TraceParts]:
    return _PLACED(self, marks, event, value, Tag(tag.beta))


def _pivot_without_taint(self: SearchSteps, marks: Marks, ahead: Ahead, value: Value, mail: Mail) -> bool:
    return marks.closed and _VIOLATES(self, marks, ahead, value, mail)


def _forcing_but(**forgotten: Any) -> Callable[..., bool]:
    return lambda self, marks, event, tag: _FORCES(self, replace(marks, **forgotten), event, tag)


def _unsignaled_forces_nothing(self: NormalFormRules, marks: Marks, event: ThreadEvent, tag: Tag) -> bool:
    return event.completion is Completion.SIGNALED and _FORCES(self, marks, event, tag)


def _ignoring_the_buffer(self: NormalFormRules, marks: Marks, event: ThreadEvent, _tag: Tag) -> bool:
    return _FORCES(self, marks, event, UNTAGGED)


def _ignoring_awaited(self: NormalFormRules, marks: Marks, event: ThreadEvent) -> bool | None:
    return _BY_QUEUE(self, replace(marks, awaited=_NONE), event)


def _ignoring_words(self: NormalFormRules, marks: Marks, event: ThreadEvent) -> bool | None:
    return _BY_QUEUE(self, replace(marks, on_words=_NONE), event)


def _on_every_word(self: NormalFormRules, marks: Marks, event: ThreadEvent) -> bool | None:
    everywhere = frozenset((queue, event.cell) for queue, _ in marks.on_words if event.cell is not None)
    return _BY_QUEUE(self, replace(marks, on_words=everywhere), event)


def _telling_always(self: NormalFormRules, placed: TraceParts, event: ThreadEvent) -> Iterator[TraceParts]:
    yield list(_TOLD(self, placed, event))[-1]


def _always_ahead(self: NormalFormRules, after: Marks, event: ThreadEvent) -> TraceParts:
    placed = _COMPLETING(self, after, event)
    return replace(placed, counts=(*placed.counts[:2], *(1 for _ in placed.counts[2:])))


def _reading_is_writing(self: NormalFormRules, event: ThreadEvent, pivot: Any) -> bool:
    return self._meets(event, pivot)


MUTANTS: dict[str, tuple[Patch, ...]] = {
    "T1 a store in beta forces nothing": ((NormalFormRules, "_drains", _constantly(False)),),
    "T1 a store in beta forces loads as well": ((NormalFormRules, "_drains", _constantly(True)),),
    "T2 no load forwards": ((NormalFormRules, "_forwards", _constantly(False)),),
    "T2 a forwarded load is before the pivot": ((NormalFormRules, "_in_alpha", _forwarded_is_before),),
    "T3 no store of the pivot's thread waits": ((NormalFormRules, "_may_wait", _constantly(False)),),
    "T3 every store of the pivot's thread waits": ((NormalFormRules, "_may_wait", _any_store_waits),),
    "M1 a poisoned atomic cuts": ((NormalFormRules, "_in_beta", _poison_cuts),),
    "M1 an atomic that writes leaves no poison": ((NormalFormRules, "_poison", _writing_cleans),),
    "M3 the order of atomics forces nothing": ((NormalFormRules, "_forced_by_rank", _only_half),),
    "M3 the pivot's read begins nothing": ((NormalFormRules, "_is_about", _reading_is_writing),),
    "M3 a split atomic excludes no pivot": ((NormalFormRules, "apart", lambda _rules, _before, after, _event: after),),
    "M4 no thread ends between the events": ((SearchSteps, "taken", _never_at(OperationStage.STOPPED)),),
    "M4 atomics do not wait for one that ended": ((SearchSteps, "taken", _nothing_held),),
    "M4 the write alone is no pivot": ((SearchSteps, "taken", _never_at(OperationStage.HALF)),),
    "M4 behind the pivot's read nothing is forced": ((NormalFormRules, "_forced_by_rank", _only_ranks),),
    "M4 the pivot's read opens no cycle": ((NormalFormRules, "begun", _opening_nothing),),
    "M4 the whole atomic is no pivot": ((SearchSteps, "_whole", _constantly(False)),),
    "M5 the two events are two vertices": ((NormalFormRules, "closing", lambda _rules, marks, _event: marks),),
    "M6 no access chooses": ((NormalFormRules, "placed", _without_choices),),
    "S1 what waits for beta is not forced": ((NormalFormRules, "placed", _without_parts),),
    "S2 a polled send tells of no buffer": ((NormalFormRules, "_forces", _ignoring_the_buffer),),
    "S2 a fence tells of no buffer": ((NormalFormRules, "_forced_by_queue", _ignoring_awaited),),
    "S3 taint does not go with messages": ((NormalFormRules, "placed", _without_taint),),
    "S3 a tainted buffer does not close the cycle": ((SearchSteps, "violates", _pivot_without_taint),),
    "a store tells nothing by a poll": ((NormalFormRules, "_forces", _forcing_but(stores=_NONE)),),
    "unsignaled operations force no poll": ((NormalFormRules, "_forces", _unsignaled_forces_nothing),),
    "completions give no order": ((NormalFormRules, "_settled_forces", _constantly(False)),),
    "every poll tells of remote writes": ((NormalFormRules, "_told", _telling_always),),
    "every completion is ahead of remote writes": ((NormalFormRules, "_completing", _always_ahead),),
    "atomics of one word keep no order": ((NormalFormRules, "_forced_by_queue", _ignoring_words),),
    "atomics of all words are in order": ((NormalFormRules, "_forced_by_queue", _on_every_word),),
    "a fetch is no atomic": ((ThreadReading, "_accesses_of", _of_writers),),
    "a polled atomic has read nothing": ((NormalFormRules, "_forces", _as_a_write),),
    "a polled atomic has written before it read": ((NormalFormRules, "written_behind", _by_itself),),
    "receive completions stay behind nothing": ((NormalFormRules, "_behind_beta", _constantly(False)),),
}
"""What is wrong with a mutant, to what is replaced, and by what. M2 is none of the checker's rules."""
