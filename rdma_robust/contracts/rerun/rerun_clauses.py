"""Clauses of a contract in a rerun: what may change, what inputs are looked at, and sets of path clauses that may fault."""

from __future__ import annotations

from collections.abc import Sequence

from rdma_robust.contracts.language.contract_program import AssignsClause, InputBounds, PathClause
from rdma_robust.contracts.language.spec_terms import Spec
from rdma_robust.contracts.rerun.rerun_specs import SpecView, looked, means, set_members, true
from rdma_robust.messages.language.message_terms import FaultError, Value


def keeps_frames(frames: Sequence[AssignsClause], view: SpecView) -> bool:
    """Whether a process has changed only what its frames allow; not if a fault occurs in one."""
    return changed_outside_frames(frames, view) is None


def changed_outside_frames(frames: Sequence[AssignsClause], view: SpecView) -> str | None:
    """Return what a process has changed that its frames do not allow, None if nothing, '' if a fault occurs in one."""
    own = view.everybody[view.me]
    then = SpecView(view.everybody, view.me, True)
    now = own.at_exit or {}
    try:
        allowed = [
            (cells.name, _cells(cells.low, cells.high, then))
            for frame in frames
            if frame.assumes is None or true(frame.assumes, then)
            for cells in frame.cells
        ]
    except FaultError:
        return ""
    kept = {
        name: _kept(own.at_entry[name], value, [each for of, each in allowed if of == name]) for name, value in now.items()
    }
    return next((name for name, fine in kept.items() if not fine), None)


def _cells(low: Spec | None, high: Spec | None, view: SpecView) -> tuple[int, int] | None:
    if low is None:
        return None
    return number_of(low, view), number_of(low if high is None else high, view)


def _kept(before: Value, now: Value, cells: list[tuple[int, int] | None]) -> bool:
    if before == now or None in cells:
        return True
    if not isinstance(before, tuple) or not isinstance(now, tuple) or len(before) != len(now):
        return False
    changed = [at for at in range(len(now)) if before[at] != now[at]]
    return all(any(each is not None and each[0] <= at <= each[1] for each in cells) for at in changed)


def number_of(spec: Spec, view: SpecView) -> int:
    """Return a number. Raises FaultError."""
    value = looked(spec, view)
    if isinstance(value, tuple):
        raise FaultError("kind")
    return value


def is_within(bounds: InputBounds, value: Value, view: SpecView) -> bool:
    """Whether an input is one at which the function's own check looks."""
    return _fits(value, bounds, view, ())


def _fits(value: Value, bounds: InputBounds, view: SpecView, indices: tuple[int, ...]) -> bool:
    depth = len(indices)
    here = SpecView(view.everybody, view.me, False, dict(zip("ij", indices, strict=False)))
    low, high = bounds.lengths[depth] if depth < len(bounds.lengths) else (bounds.low, bounds.high)
    if low is None or high is None:
        return isinstance(value, int)
    try:
        first, last = number_of(low, here), number_of(high, here)
    except FaultError:
        return False
    if depth == len(bounds.lengths):
        return isinstance(value, int) and first <= value <= last
    if isinstance(value, int) or not first <= len(value) <= last:
        return False
    return all(_fits(each, bounds, view, (*indices, at)) for at, each in enumerate(value))


def concerns(clause: PathClause, view: SpecView, other: int, message: tuple[int, int | None]) -> bool:
    """Whether a path clause speaks of a message, given as port and tag, of or to `other`. Raises FaultError."""
    return other in set_members(clause.who, view) and means(clause, view, *message)


def look_at_all(clause: PathClause, view: SpecView) -> None:
    """Raise FaultError if a fault occurs anywhere in a path clause."""
    for processes in (clause.who, clause.until):
        if processes is not None:
            set_members(processes, view)
    if clause.tag is not None:
        number_of(clause.tag, view)
