"""OpenSHMEM: contexts and teams, how they are made and what they say of themselves; and what the library says of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from rdma_robust.c.evaluate.c_values import Pointer, Value, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, given
from rdma_robust.c.evaluate.one_sided.spmd import barrier, own_number, store_handle
from rdma_robust.c.evaluate.shmem.contexts import (
    SHARED,
    WORLD,
    ShmemTeam,
    context_of,
    default_context,
    new_context,
    own_team,
    team_of,
)

_NUM_CONTEXTS: Final = 1
"""What `SHMEM_TEAM_NUM_CONTEXTS` is in our header."""
_VENDOR: Final = b"rdma-robust\0"
"""`SHMEM_VENDOR_STRING` of our header."""


# contexts


def _ctx_create(call: CallContext) -> Result:
    return new_context(call, call.arguments[1], default_context(call).team)


def _team_create_ctx(call: CallContext) -> Result:
    team = team_of(call, call.arguments[0])
    if team is None:
        call.set_private(call.arguments[2], 8, 0, "this context")
        return -1
    return new_context(call, call.arguments[2], own_team(call, call.arguments[0]))


def _ctx_get_team(call: CallContext) -> Result:
    if known_scalar(call.arguments[0]) == 0:
        call.set_private(call.arguments[1], 8, 0, "this team")
        return -1
    team = context_of(call, call.arguments[0]).team
    made = {"world": WORLD, "shared": SHARED}.get(team.name)
    if made is None:
        store_handle(call, call.arguments[1], "team", team.members)
    else:
        call.set_private(call.arguments[1], 8, made, "this team")
    return 0


# teams


def _team_my_pe(call: CallContext) -> Result:
    team, own = team_of(call, call.arguments[0]), own_number(call)
    return team.members.index(own) if team is not None and own in team.members else -1


def _team_n_pes(call: CallContext) -> Result:
    team = team_of(call, call.arguments[0])
    return -1 if team is None else len(team.members)


def _translate(call: CallContext) -> Result:
    source, target = team_of(call, call.arguments[0]), team_of(call, call.arguments[2])
    number = call.number(1, "the process that is named")
    if source is None or target is None or not 0 <= number < len(source.members):
        return -1
    return target.members.index(source.members[number]) if source.members[number] in target.members else -1


def _chosen(call: CallContext, team: ShmemTeam | None, numbers: Sequence[int], at: int) -> int:
    """Store the team of those of another team whose numbers these are, for its members, behind its configuration: argument
    `at`, with a mask of what is set in it, and where the team goes. Return what the call returns."""
    call.set_private(call.arguments[at + 2], 8, 0, "this team")
    if team is None or not numbers or not all(0 <= each < len(team.members) for each in numbers):
        return -1
    chosen = tuple(team.members[each] for each in numbers)
    if own_number(call) in chosen:
        store_handle(call, call.arguments[at + 2], "team", chosen)
        _configured(call, chosen, call.arguments[at], call.number(at + 1, "the mask of a configuration"))
    return 0


def _configured(call: CallContext, members: tuple[int, ...], config: Value, mask: int) -> None:
    contexts = 0
    if mask & _NUM_CONTEXTS:
        found = known_scalar(call.private(config, 4, "the configuration of a team"))
        contexts = found if isinstance(found, int) else 0
    call.state.numbers["contexts of", members] = contexts


def _split(call: CallContext) -> Result:
    """`shmem_team_split_strided`: parent, start, stride, size, configuration, mask, where the team goes."""
    start, stride, size = (call.number(index, "the members of this team") for index in (1, 2, 3))
    return _chosen(call, team_of(call, call.arguments[0]), [start + index * stride for index in range(size)], 4)


def _split_2d(call: CallContext) -> Result:
    """`shmem_team_split_2d`: parent, range of x; configuration, mask and team of the x axis, and of the y axis."""
    team, width = team_of(call, call.arguments[0]), call.number(1, "the range of the x axis")
    if team is None or width < 1 or own_number(call) not in team.members:
        _chosen(call, None, [], 2)
        return _chosen(call, None, [], 5)
    count, own = len(team.members), team.members.index(own_number(call))
    width = min(width, count)
    row = range(own // width * width, min(own // width * width + width, count))
    _chosen(call, team, row, 2)
    return _chosen(call, team, range(own % width, count, width), 5)


def _get_config(call: CallContext) -> Result:
    """`shmem_team_get_config`: team, mask, where the configuration goes."""
    team = team_of(call, call.arguments[0])
    if team is None:
        return -1
    if call.number(1, "the mask of a configuration") & _NUM_CONTEXTS:
        contexts = call.state.numbers.get(("contexts of", team.members), 0)
        call.set_private(call.arguments[2], 4, contexts, "the configuration of a team")
    return 0


def _team_sync(call: CallContext) -> Result:
    return barrier(call, members=own_team(call, call.arguments[0]).processes(call))


# the library


def _version(call: CallContext) -> Result:
    for index, value in enumerate((1, 5)):
        call.set_private(call.arguments[index], 4, value, "a version")
    return 0


def _name(call: CallContext) -> Result:
    name, offset = call.address(0, "where the name goes")
    for at, byte in enumerate(_VENDOR):
        call.set_private(Pointer(name, offset + at), 1, byte, "the name of the library")
    return 0


TEAM_CALLS: Final[Mapping[str, Handler]] = {
    "shmem_ctx_create": _ctx_create,
    "shmem_team_create_ctx": _team_create_ctx,
    "shmem_ctx_get_team": _ctx_get_team,
    "shmem_team_my_pe": _team_my_pe,
    "shmem_team_n_pes": _team_n_pes,
    "shmem_team_translate_pe": _translate,
    "shmem_team_split_strided": _split,
    "shmem_team_split_2d": _split_2d,
    "shmem_team_get_config": _get_config,
    "shmem_team_destroy": given(0),
    "shmem_team_sync": _team_sync,
    "shmem_info_get_version": _version,
    "shmem_info_get_name": _name,
}
"""The handlers of contexts and teams, and of what the library says of itself."""
