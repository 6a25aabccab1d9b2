"""Processes that run one program: where set-up ends, barriers, and the queue pairs between them.

Set-up is what a process does before its first barrier, if no process reaches another one before its own: then what it has
written by then is what memory holds at the start. Otherwise set-up ends where the library is initialised.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from rdma_robust.c.evaluate.c_values import Object, Pointer, Value
from rdma_robust.c.evaluate.calls import CallContext, Result
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.operations import MainThreads, Queue, ThreadStatement
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.round_facts import ENDED_IN_SET_UP, World

_EARLY = "a process reaches another one before its first barrier"
_DEFAULT = ""
"""The label of the queue pairs that have none."""


def processes_of(world: World) -> tuple[str, ...]:
    """Return all processes in the order of their numbers."""
    return tuple(process for process, _ in world.units.processes())


def own_number(call: CallContext) -> int:
    """Return the number of the process that calls."""
    return processes_of(call.run.world).index(call.run.process)


def numbered(call: CallContext, number: int) -> str:
    """Return the process of a number. Raises RR818 if there is none."""
    found = processes_of(call.run.world)
    if not 0 <= number < len(found):
        raise Refusal("RR818", f"there is no process {number} here: there are {len(found)}", "-n N says how many there are")
    return found[number]


# set-up


def _is_early(world: World) -> bool:
    return bool({_EARLY, ENDED_IN_SET_UP} & world.known.said)


def begin(call: CallContext) -> None:
    """The library is there: set-up ends here, if it does not end at the first barrier."""
    if _is_early(call.run.world):
        call.run.world.end_set_up(call.run.process, call.state)


def reaches_others(call: CallContext) -> None:
    """Say that the process reaches others, or waits for them. Raises RR814 in a thread that was created."""
    if call.run.is_spawned:
        raise Refusal(
            "RR814",
            f"`{call.name}` in a thread that was created is not modelled",
            "call it in the thread that runs `main`",
        )
    if not call.state.is_set_up:
        call.run.world.found.said.add(_EARLY)
        call.run.world.end_set_up(call.run.process, call.state)


def barrier(
    call: CallContext, before: Sequence[ThreadStatement] = (), members: Sequence[str] = (), value: Value = 0
) -> Result:
    """Return the end of a call at which processes wait for each other: all of them, or `members`."""
    everybody = processes_of(call.run.world)
    chosen = tuple(members) or everybody
    if call.run.is_spawned:
        reaches_others(call)
    if chosen == everybody and not call.state.is_set_up and not _is_early(call.run.world):
        call.run.world.end_set_up(call.run.process, call.state)
        return value
    reaches_others(call)
    return call.step([*before, *meeting(chosen)], value)


def meeting(members: Sequence[str]) -> list[ThreadStatement]:
    """Return the statement of a barrier of these processes: none of one process alone."""
    return [ThreadStatement("barrier{0}", (MainThreads(tuple(members)),))] if len(members) > 1 else []


# queue pairs


def queue_pair(call: CallContext, peer: str, label: str = _DEFAULT) -> str:
    """Return the connection from this process to another one, or to itself; queue pairs of other labels are lanes."""
    low, high = sorted((call.run.process, peer))
    found = call.run.world.found
    name = f"{label}{low}_{high}"
    if low == high:
        found.said.add((LOOPBACK, name))
    found.connected[name].update({low: None, high: None})
    return name


LOOPBACK = "loopback"


def mark_outstanding(call: CallContext, connection: str, group: Hashable) -> None:
    """Say that requests of a queue pair may be under way; `group` is what completes them together."""
    call.state.numbers["outstanding", group, connection] = 1


def connections_under_way(call: CallContext, groups: Iterable[Hashable], peer: str | None = None) -> list[str]:
    """Return the queue pairs of groups on which requests may be under way, towards one process or all."""
    wanted = set(groups)
    found = [key for key in call.state.numbers if isinstance(key, tuple) and key[0] == "outstanding" and key[1] in wanted]
    names = sorted(str(key[2]) for key in found)
    return [each for each in names if peer is None or _leads_to(call, each, peer)]


def completed(call: CallContext, groups: Iterable[Hashable], peer: str | None = None) -> list[ThreadStatement]:
    """Return the flushes of all that groups have under way, towards one process or all."""
    done: list[ThreadStatement] = []
    for group in groups:
        for connection in connections_under_way(call, [group], peer):
            done.append(ThreadStatement("flush {0}", (Queue(connection),)))
            del call.state.numbers["outstanding", group, connection]
            call.state.numbers.pop(("fenced", connection), None)
    return done


def fenced(call: CallContext, group: Hashable) -> list[ThreadStatement]:
    """Return what keeps later requests of a group behind those that it has under way, towards each process."""
    found = connections_under_way(call, [group])
    for connection in found:
        call.state.numbers["fenced", connection] = 1
    return [ThreadStatement("order {0}", (Queue(connection),)) for connection in found]


def is_fenced(call: CallContext, connection: str) -> bool:
    """Return whether requests that are under way are to be in front of later ones."""
    return ("fenced", connection) in call.state.numbers


def _leads_to(call: CallContext, connection: str, peer: str) -> bool:
    ends = call.run.world.found.connected[connection]
    return set(ends) == {call.run.process, peer}


# memory


def twin(call: CallContext, name: Object, process: str) -> Object:
    """Return the same object of another process. Raises RR813 for one that only this process has."""
    world = call.run.world
    is_symmetric = name.kind == "global" or (name.kind == "heap" and name.key[:1] == (SYMMETRIC,))
    if not is_symmetric:
        what = "on the stack" if name.kind == "local" else "memory of this process alone"
        raise Refusal("RR813", f"`{name.name}` is {what}: it is not symmetric", "make it static, or use shmem_malloc")
    found = replace(name, process=process)
    if name in world.sizes:
        world.sizes.setdefault(found, world.sizes[name])
    if name in world.types:
        world.types.setdefault(found, world.types[name])
    return found


SYMMETRIC = "symmetric"


def store_handle(call: CallContext, address: Value, kind: str, key: tuple[str | int, ...]) -> None:
    """Store a handle at an address."""
    handle = Object("handle", call.run.process, kind, key)
    call.state.place(handle, ObjectBytes(zero=True))
    call.set_private(address, 8, Pointer(handle), f"this {kind}")
