"""Collective operations in a replay: which calls belong together, where they differ, who may leave, what each gets."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.messages.language.collective_kinds import COLLECTIVES
from rdma_robust.messages.language.message_terms import FaultError, Value
from rdma_robust.messages.replay.world import ActiveCall, ReplayState, StepViolation, UnfinishedCall

_Members = tuple[int, ...]


def unfinished_call(world: ReplayState, process: int, group: int, nth: int) -> UnfinishedCall | None:
    """Return the nth call of a process in a group, if it was made and is not over for all."""
    for call in world.calls:
        if call.process == process and call.group == group and call.nth == nth:
            return call
    return None


def call_mismatch(one: UnfinishedCall, other: UnfinishedCall) -> str:
    """Return in what two calls that belong together differ first; '' if in nothing that both say."""
    if one.name != other.name or one.blocking is not other.blocking:
        return "collective"
    if one.root != other.root:
        return "root"
    for kind, ours, theirs in (("operation", one.op, other.op), ("signature", one.sig, other.sig)):
        if ours is not None and theirs is not None and ours != theirs:
            return kind
    return ""


def new_mismatches(world: ReplayState, call: UnfinishedCall) -> Iterator[StepViolation]:
    """Yield the violations that a new call is: each at the one of the two with the larger process."""
    for other in world.calls:
        if other.process != call.process and (other.group, other.nth) == (call.group, call.nth):
            kind = call_mismatch(call, other)
            later = call if call.process > other.process else other
            if kind:
                yield StepViolation(later.process, kind, later.at)


def waits_for(world: ReplayState, active: ActiveCall, group: _Members, *, everyone: bool) -> list[int]:
    """Return the other members without whom one does not leave."""
    call = unfinished_call(world, active.process, active.group, active.nth)
    assert call is not None
    depends = COLLECTIVES[call.name].depends
    found = []
    for place, member in enumerate(group):
        if member == call.process:
            continue
        if depends == "root":
            needed = member == call.root
        elif depends == "at root":
            needed = call.process == call.root
        elif depends == "lower":
            needed = place < group.index(call.process)
        else:
            needed = True
        if needed or everyone:
            found.append(member)
    return found


def have_entered(world: ReplayState, active: ActiveCall, group: _Members, *, everyone: bool) -> bool:
    """Whether all have made their calls for whom a member waits."""
    needed = waits_for(world, active, group, everyone=everyone)
    return all(unfinished_call(world, each, active.group, active.nth) is not None for each in needed)


def may_leave(world: ReplayState, active: ActiveCall, group: _Members, *, everyone: bool) -> bool:
    """Whether all have made their calls for whom a member waits, and the same as it."""
    own = unfinished_call(world, active.process, active.group, active.nth)
    assert own is not None
    for member in waits_for(world, active, group, everyone=everyone):
        call = unfinished_call(world, member, active.group, active.nth)
        if call is None or call_mismatch(own, call):
            return False
    return True


def gotten(world: ReplayState, active: ActiveCall, group: _Members) -> list[Value]:
    """Return the value that a member gets, in a list; an empty one for nothing. Raises FaultError."""
    calls = {each: unfinished_call(world, each, active.group, active.nth) for each in group}
    given = {each: call.value for each, call in calls.items() if call is not None}
    own = calls[active.process]
    assert own is not None
    gets, place = COLLECTIVES[own.name].gets, group.index(active.process)
    if gets == "nothing" or (COLLECTIVES[own.name].depends == "at root" and own.root != own.process):
        return []
    if gets == "of root" and own.root is not None:
        return [given[own.root]]
    if gets == "element of root" and own.root is not None:
        return [_item(given[own.root], place)]
    if gets == "array":
        return [tuple(given[each] for each in group)]
    if gets == "column":
        return [tuple(_item(given[each], place) for each in group)]
    counted = list(group)
    if own.name == "scan":
        counted = counted[: place + 1]
    if own.name == "exscan":
        counted = counted[:place]
    numbers = []
    for each in counted:
        value = _item(given[each], place) if gets == "fold column" else given[each]
        if not isinstance(value, int):
            raise FaultError("kind")
        numbers.append(value)
    return [_fold(own.op, numbers)] if numbers else []


def _item(value: Value, at: int) -> Value:
    if isinstance(value, int):
        raise FaultError("kind")
    if at >= len(value):
        raise FaultError("index")
    return value[at]


def _fold(op: object, numbers: list[int]) -> int:
    found = numbers[0]
    for each in numbers[1:]:
        if op == "prod":
            found *= each
        elif op == "max":
            found = each if each > found else found
        elif op == "min":
            found = each if each < found else found
        else:
            found += each
    return found
