"""Collective operations in the machine: which calls differ, when a member may leave, and what it gets then.

The calls of a group are kept by those who have made them until all have, and everyone may leave: then the first of each is
forgotten, and the others move up. So the n-th calls that are kept belong together, and states come again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Final, NamedTuple

from rdma_robust.messages.language.collective_kinds import COLLECTIVES
from rdma_robust.messages.language.message_terms import FaultError, Value, element_at, require_number
from rdma_robust.messages.machine.process_state import (
    ANYTHING,
    CollectiveHandle,
    CollectiveOp,
    Gotten,
    Handle,
    LocalState,
    ProcessFrame,
    Slot,
)

_Members = tuple[int, ...]
_Change = Callable[[Handle | None], Handle | None]
_EARLY: Final = 1
"""Those have entered whom the member waits for, but not all: under `any` a wait is not open by that."""
_OPEN: Final = 2

_FOLDS: Final[Mapping[object, Callable[[list[int]], int]]] = {"sum": sum, "prod": prod, "max": max, "min": min}

CALL_DIFFERENCES: Final = ("collective", "root", "operation", "signature")
"""The kinds of violation that two calls are which belong together."""


class Opening(NamedTuple):
    """Call number `at` of those that a process keeps comes to another stage; what it gets."""

    process: int
    at: int
    stage: int
    got: Gotten


def call_difference(one: CollectiveOp, other: CollectiveOp) -> str:
    """Return the kind of violation that two calls are which belong together, '' if they agree."""
    if (one.name, one.blocking) != (other.name, other.blocking):
        return "collective"
    if one.root != other.root:
        return "root"
    if None not in (one.op, other.op) and one.op != other.op:
        return "operation"
    return "signature" if None not in (one.sig, other.sig) and one.sig != other.sig else ""


def call_differences(locals_: Sequence[LocalState | ProcessFrame]) -> Iterator[tuple[int, CollectiveOp, str]]:
    """Yield the calls that differ from that of a process with a smaller number: by which process, and the kind."""
    for me, local in enumerate(locals_):
        for op in local.ops:
            for before in locals_[:me]:
                other = _call(before, op.group, op.nth)
                kind = "" if other is None else call_difference(other, op)
                if kind:
                    yield me, op, kind


def _call(local: LocalState | ProcessFrame, group: int, nth: int) -> CollectiveOp | None:
    return next((op for op in local.ops if (op.group, op.nth) == (group, nth)), None)


def awaited_members(op: CollectiveOp, me: int, members: _Members, *, everyone: bool) -> _Members:
    """Return the other members that have to enter before one leaves."""
    others = tuple([each for each in members if each != me])
    depends = "all" if everyone else COLLECTIVES[op.name].depends
    if depends == "root":
        return tuple([each for each in others if each == op.root])
    if depends == "at root":
        return others if me == op.root else ()
    return members[: members.index(me)] if depends == "lower" else others


def absent_members(
    me: int, handle: Handle | None, locals_: Sequence[LocalState | ProcessFrame], groups: Sequence[_Members]
) -> tuple[str, _Members] | None:
    """Return the name of the operation that a process waits in, and the members it waits for that have not entered.

    None if it waits for something else. Under `any` it waits for everyone, as under `zero`. If nobody is absent and it still
    waits, somebody has entered something else.
    """
    op = _call(locals_[me], handle.group, handle.nth) if isinstance(handle, CollectiveHandle) else None
    if op is None:
        return None
    others = awaited_members(op, me, groups[op.group], everyone=op.rule != "infinite")
    return op.name, tuple([each for each in others if _call(locals_[each], op.group, op.nth) is None])


def next_opening(locals_: Sequence[LocalState | ProcessFrame], groups: Sequence[_Members]) -> Opening | None:
    """Return the first call that comes to another stage now, if there is one."""
    for me, local in enumerate(locals_):
        for at, op in enumerate(local.ops):
            stages = {"zero": (_OPEN,), "infinite": (_EARLY,)}.get(op.rule, (_OPEN, _EARLY))
            for stage in stages:
                if op.stage >= stage:
                    break
                members = groups[op.group]
                others = awaited_members(op, me, members, everyone=stage == _OPEN)
                calls = {each: _call(locals_[each], op.group, op.nth) for each in others}
                entered = {each: call for each, call in calls.items() if call is not None}
                if len(entered) == len(calls) and not any(call_difference(op, each) for each in entered.values()):
                    return Opening(me, at, stage, _got(op, me, members, {**entered, me: op}))
    return None


def first_to_forget(locals_: Sequence[LocalState | ProcessFrame], groups: Sequence[_Members]) -> int | None:
    """Return a group whose first calls are over for everyone, if there is one."""
    for group in sorted({op.group for local in locals_ for op in local.ops}):
        calls = [_call(locals_[each], group, 0) for each in groups[group]]
        if all(call is not None and call.stage >= (_EARLY if call.rule == "infinite" else _OPEN) for call in calls):
            return group
    return None


def open_call(frame: ProcessFrame, opening: Opening) -> None:
    """Bring a call to its stage, and open its request where that is enough, if it is not lost."""
    op = frame.ops[opening.at]
    frame.ops = (*frame.ops[: opening.at], op._replace(stage=opening.stage), *frame.ops[opening.at + 1 :])
    is_open = opening.stage == _OPEN or op.rule == "infinite"

    def opened(handle: Handle | None) -> Handle | None:
        if not isinstance(handle, CollectiveHandle) or handle.is_open or (handle.group, handle.nth) != (op.group, op.nth):
            return handle
        return CollectiveHandle(op.group, ANYTHING if is_open else op.nth, handle.target, opening.got, is_open)

    frame.requests = {name: _changed(slot, opened) for name, slot in frame.requests.items()}


def open_early(frame: ProcessFrame, handle: CollectiveHandle) -> None:
    """Open the request of a call that those have entered whom it waits for; only under `any`."""

    def opened(each: Handle | None) -> Handle | None:
        return CollectiveHandle(handle.group, ANYTHING, handle.target, handle.got, True) if each == handle else each

    frame.requests = {name: _changed(slot, opened) for name, slot in frame.requests.items()}


def forget_call(frame: ProcessFrame, group: int) -> None:
    """Forget the first call of a group, which is over for everyone; the others move up."""
    kept = [op for op in frame.ops if (op.group, op.nth) != (group, 0)]
    frame.ops = tuple([op._replace(nth=op.nth - 1) if op.group == group else op for op in kept])

    def moved(handle: Handle | None) -> Handle | None:
        if isinstance(handle, CollectiveHandle) and handle.group == group and not handle.is_open:
            return CollectiveHandle(group, handle.nth - 1, handle.target, handle.got)
        return handle

    frame.requests = {name: _changed(slot, moved) for name, slot in frame.requests.items()}


def _changed(slot: Slot, change: _Change) -> Slot:
    return tuple([change(each) for each in slot]) if isinstance(slot, tuple) else change(slot)


def _got(op: CollectiveOp, me: int, members: _Members, calls: Mapping[int, CollectiveOp]) -> Gotten:
    """Return what a member gets from the calls of those it waits for and its own; nothing, or a fault."""
    kind = COLLECTIVES[op.name]
    if kind.gets == "nothing" or (kind.depends == "at root" and op.root != me):
        return ()
    try:
        return _value(op, me, members, calls)
    except FaultError as fault:
        return fault.kind


def _value(op: CollectiveOp, me: int, members: _Members, calls: Mapping[int, CollectiveOp]) -> tuple[Value, ...]:
    gets, at = COLLECTIVES[op.name].gets, members.index(me)
    if gets in ("of root", "element of root"):
        assert op.root is not None
        whole = calls[op.root].value
        return (whole if gets == "of root" else element_at(whole, at),)
    before = members[: at + (gets != "fold before")] if COLLECTIVES[op.name].depends == "lower" else members
    values = [calls[each].value for each in before]
    if gets in ("column", "fold column"):
        values = [element_at(each, at) for each in values]
    if gets in ("array", "column"):
        return (tuple(values),)
    numbers, fold = [require_number(each) for each in values], _FOLDS.get(op.op or "sum")
    return (fold(numbers),) if fold is not None and numbers else ()
