"""The rules of the certificate checker, each switched off or made too strong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from rdma_robust.certify.hardware import CPU, READS, WRITES, EventKind
from rdma_robust.certify.normal_form import NormalFormRules
from rdma_robust.certify.remembered import UNTAGGED, Marks, PivotAccesses, Tag, TraceParts, Value
from rdma_robust.certify.thread_events import Completion, ThreadEvent

_NONE: frozenset[Any] = frozenset()

_FORCED, _BY_QUEUE, _IN_BETA = NormalFormRules._forced, NormalFormRules._forced_by_queue, NormalFormRules._in_beta
_SPREAD, _FIRST, _ACCESSED = NormalFormRules._spread, NormalFormRules.first_of_beta, NormalFormRules._accessed


def _forgetting(original: Callable[..., Any], **forgotten: Any) -> Callable[..., Any]:
    """The rule, judged by marks in which something is missing."""
    return lambda self, marks, event: original(self, replace(marks, **forgotten), event)


def _any_thread(self: NormalFormRules, marks: Marks, event: ThreadEvent, value: Value, tag: Tag) -> TraceParts | None:
    """Put into beta what would keep the pivot out of alpha."""
    pivot = marks.pivot
    other = replace(marks, pivot=replace(pivot, thread=-1)) if event.kind in CPU else marks
    placed = _IN_BETA(self, other, event, value, tag)
    return placed and replace(placed, marks=placed.marks and replace(placed.marks, pivot=pivot))


def _reading_poison(self: NormalFormRules, marks: Marks, event: ThreadEvent, value: Value, tag: Tag) -> TraceParts | None:
    """Let a CPU read what depends on the pivot."""
    poisoned = marks.poisoned
    reads = event.kind in CPU and event.kind in READS
    placed = _IN_BETA(self, replace(marks, poisoned=_NONE) if reads else marks, event, value, tag)
    return replace(placed, marks=placed.marks and replace(placed.marks, poisoned=poisoned)) if placed and reads else placed


def _starting_anywhere(self: NormalFormRules, event: ThreadEvent, pivot: PivotAccesses, value: Value) -> TraceParts | None:
    """Begin beta with a CPU read although the pivot writes."""
    if event.kind is EventKind.LOCAL_READ and event.thread != pivot.thread and event.cell == pivot.cell and pivot.writes:
        return _reading_poison(self, Marks(pivot, poisoned=frozenset({pivot.cell})), event, value, UNTAGGED)
    return _FIRST(self, event, pivot, value)


def _always_frozen(self: NormalFormRules, marks: Marks, event: ThreadEvent, value: Value) -> Marks:
    """Take for the pivot's value what any write of beta finds, not the first one."""
    after = _ACCESSED(self, marks, event, value)
    changed = after.written != marks.written or (event.cell == marks.pivot.cell and event.cell in marks.written)
    return replace(after, alpha_value=value) if changed and event.cell == marks.pivot.cell else after


def _counting(early: int) -> Callable[..., Any]:
    """Count every completion as early, or none."""
    return lambda _rules, after, event: (
        TraceParts(after, (1, early)) if event.completion is Completion.SIGNALED else TraceParts(after)
    )


def _constantly(value: object) -> Callable[..., Any]:
    return lambda *_arguments: value


def _any_pivot(_rules: NormalFormRules, marks: Marks, event: ThreadEvent) -> bool:
    """Put the pivot into alpha whatever is in beta."""
    same = event.thread == marks.pivot.thread and event.cell == marks.pivot.cell
    return same and (event.kind in WRITES) == marks.pivot.writes


def _closing_elsewhere(self: NormalFormRules, marks: Marks, event: ThreadEvent, tainted: bool, closes: bool) -> Marks:
    """Do not close the cycle in the pivot's thread."""
    return _SPREAD(self, marks, event, tainted, closes and event.thread != marks.pivot.thread)


MUTANTS: dict[str, tuple[str, Callable[..., Any]]] = {
    "a CPU event in beta forces nothing": ("_forced", _forgetting(_FORCED, cpu=_NONE)),
    "conflicts force nothing": ("_forced", _forgetting(_FORCED, read=_NONE, written=_NONE)),
    "reads in beta force nothing": ("_forced", _forgetting(_FORCED, read=_NONE)),
    "NIC events in beta force nothing": ("_forced_by_queue", _forgetting(_BY_QUEUE, beta=_NONE)),
    "a fence may overtake a local write": ("_forced_by_queue", _forgetting(_BY_QUEUE, overtaken=_NONE)),
    "no completion forces its poll": ("_completing", _counting(1)),
    "every completion forces its poll": ("_completing", _counting(0)),
    "poison stays where it is": ("_poison", lambda _rules, marks, _event: marks),
    "a CPU may read poison": ("_in_beta", _reading_poison),
    "a CPU read may begin beta": ("first_of_beta", _starting_anywhere),
    "the pivot's thread may go on in beta": ("_in_beta", _any_thread),
    "taint does not spread": ("_reached", _constantly(False)),
    "taint is everywhere": ("_reached", _constantly(True)),
    "every pivot fits into alpha": ("may_be_pivot", _any_pivot),
    "the last value is the pivot's": ("_accessed", _always_frozen),
    "no cycle is closed by the thread": ("_spread", _closing_elsewhere),
}
"""What is wrong with a mutant, to the method of the rules and what replaces it.

That a cycle is closed by an access of another thread is not among them: a smallest violation seems to have another pivot
then.
"""


@contextmanager
def mutant(name: str) -> Iterator[None]:
    method, replacement = MUTANTS[name]
    with patch.object(NormalFormRules, method, replacement):
        yield
