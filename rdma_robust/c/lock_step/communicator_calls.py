"""Communicators and groups of MPI (MPI 4.1, chapter 7): what makes them, and what is asked of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.mpi.mpi_calls import MPI
from rdma_robust.c.evaluate.one_sided.spmd import store_handle
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.libraries.mpi import NUMBERS
from rdma_robust.c.lock_step.call_arguments import BETWEEN, communicator_at, group_members, peer_at, tag_at, wrong
from rdma_robust.c.lock_step.channels import Communicator
from rdma_robust.c.lock_step.collective_entries import CollectiveEntry, all_enter
from rdma_robust.c.lock_step.graph_calls import (
    GRAPH_CALLS,
    adjacent_graph,
    adjacent_said,
    edges_said,
    graph_of_edges,
    graph_said,
)
from rdma_robust.c.lock_step.grids import Grid, NeighbourGraph
from rdma_robust.c.lock_step.group_operations import COMPARING_CALLS, GROUP_CALLS
from rdma_robust.c.lock_step.message_calls import exchange_signals
from rdma_robust.c.lock_step.own_handles import freeing, making, own_handle
from rdma_robust.c.lock_step.rank_machine import rank_of
from rdma_robust.c.lock_step.topology_calls import grid_of, grid_said, numbers_at


def _number(find: Callable[[CallContext, Communicator], int]) -> Handler:
    def handler(call: CallContext) -> Result:
        call.set_private(call.arguments[1], 4, find(call, communicator_at(call, 0, has_two_groups=True)), "the answer")
        return 0

    return handler


@dataclass(frozen=True, slots=True)
class NewCommunicator:
    """A new communicator: what tells it from others of its call, its processes in the order of their ranks, its topology."""

    label: str
    members: tuple[int, ...]
    grid: Grid | NeighbourGraph | None = None
    remote: tuple[int, ...] = ()


def store_communicator(call: CallContext, made: NewCommunicator, name: str) -> None:
    """Store the handle of a new communicator, whose name no other one has, where the last argument says."""
    rank = rank_of(call)
    remote = (BETWEEN, *(f"P{each}" for each in made.remote)) if made.remote else ()
    key = (name, *(f"P{each}" for each in made.members), *remote)
    if made.grid is not None:
        rank.job.grids[name] = made.grid
    store_handle(call, call.arguments[-1], "communicator", key)
    own_handle(rank, "communicator", key, call.name, call.chain)


def _constructor(
    said: Callable[[CallContext, Communicator], object],
    made: Callable[[CallContext, dict[int, object]], NewCommunicator | None],
    *,
    has_two_groups: bool = False,
) -> Handler:
    """A call that makes a communicator of what all processes of another one say."""

    def handler(call: CallContext) -> Result:
        rank, group = rank_of(call), communicator_at(call, 0, has_two_groups=has_two_groups)
        all_enter(call, group, lambda: said(call, group))
        number = rank.collectives[group.name] - 1
        others = rank.job.calls[group.name, number]
        told = {at: each.said for at, each in others.items() if isinstance(each, CollectiveEntry)}
        chosen = made(call, told)
        if chosen is None:
            call.set_private(call.arguments[-1], 8, 0, "this communicator")
            return 0
        store_communicator(call, chosen, f"{group.name or 'world'}_{number}_{chosen.label}")
        return 0

    return handler


def _split_said(call: CallContext, group: Communicator) -> object:
    return call.number(1, "the colour"), call.number(2, "the key"), group.rank(rank_of(call).number)


def _split_type_said(call: CallContext, group: Communicator) -> object:
    """All processes are of one machine, and so share memory."""
    if call.number(1, "the kind of split") not in (NUMBERS["COMM_TYPE_SHARED"], NUMBERS["UNDEFINED"]):
        raise Refusal("RR814", "this kind of split is not modelled", "MPI_COMM_TYPE_SHARED")
    return _split_said(call, group)


def _split_made(call: CallContext, told: dict[int, object]) -> NewCommunicator | None:
    own = told[rank_of(call).number]
    assert isinstance(own, tuple)
    if own[0] == NUMBERS["UNDEFINED"]:
        return None
    if own[0] < 0:
        raise wrong(call, "invalid-argument", f"the colour is {own[0]}")
    group = communicator_at(call, 0, has_two_groups=True)

    def part(processes: tuple[int, ...]) -> tuple[int, ...]:
        said = [(at, each) for at in processes if isinstance(each := told[at], tuple) and each[0] == own[0]]
        return tuple(at for _, _, at in sorted((each[1], each[2], at) for at, each in said))

    members, remote = part(group.members), part(group.remote)
    return None if group.remote and not remote else NewCommunicator(str(own[0]), members, None, remote)


def _dup_made(call: CallContext, _: dict[int, object]) -> NewCommunicator:
    group = communicator_at(call, 0, has_two_groups=True)
    return NewCommunicator("dup", group.members, rank_of(call).job.grids.get(group.name), group.remote)


def _topology_made(label: str) -> Callable[[CallContext, dict[int, object]], NewCommunicator | None]:
    def made(call: CallContext, told: dict[int, object]) -> NewCommunicator | None:
        topology, group = told[rank_of(call).number], communicator_at(call, 0)
        assert isinstance(topology, Grid | NeighbourGraph)
        if any(each != topology for each in told.values()):
            raise wrong(call, "invalid-argument", "processes ask for different topologies")
        members = group.members[: topology.size]
        return NewCommunicator(label, members, topology) if rank_of(call).number in members else None

    return made


def _edges_made(
    of: Callable[[list[object]], NeighbourGraph],
) -> Callable[[CallContext, dict[int, object]], NewCommunicator]:
    def made(call: CallContext, told: dict[int, object]) -> NewCommunicator:
        members = communicator_at(call, 0).members
        return NewCommunicator("edges", members, of([told[each] for each in members]))

    return made


def _sub_said(call: CallContext, group: Communicator) -> object:
    return numbers_at(call, 1, len(grid_of(call, group).lengths), "the list of dimensions that remain")


def _sub_made(call: CallContext, told: dict[int, object]) -> NewCommunicator:
    """The part of a topology that some dimensions span: who has the same coordinates in the others is in it."""
    group, kept = communicator_at(call, 0), told[rank_of(call).number]
    grid = grid_of(call, group)
    assert isinstance(kept, tuple)
    if any(each != kept for each in told.values()):
        raise wrong(call, "invalid-argument", "processes keep different dimensions")

    def others(rank: int) -> tuple[int, ...]:
        return tuple(at for at, stays in zip(grid.coordinates(rank), kept, strict=True) if not stays)

    own = others(group.rank(rank_of(call).number))
    members = tuple(each for rank, each in enumerate(group.members) if others(rank) == own)
    dimensions = [each for each, stays in zip(zip(grid.lengths, grid.periods, strict=True), kept, strict=True) if stays]
    part = Grid(tuple(each for each, _ in dimensions), tuple(each for _, each in dimensions))
    return NewCommunicator("sub" + "_".join(map(str, own)), members, part)


def _create_made(call: CallContext, told: dict[int, object]) -> NewCommunicator | None:
    members, group = told[rank_of(call).number], communicator_at(call, 0, has_two_groups=True)
    assert isinstance(members, tuple)
    remote = told[group.remote[0]] if group.remote else ()
    assert isinstance(remote, tuple)
    if rank_of(call).number not in members or (group.remote and not remote):
        return None
    label = "groups" if remote else "group" + "_".join(map(str, members))
    return NewCommunicator(label, members, None, remote)


def _create_of_group(call: CallContext) -> Result:
    """`MPI_Comm_create_group`: communicator, group, tag, where the new one goes. Only the processes of the group call it."""
    rank, group, members, tag = rank_of(call), communicator_at(call, 0), group_members(call, 1), tag_at(call, 2)
    if rank.number not in members:
        call.set_private(call.arguments[3], 8, 0, "this communicator")
        return 0
    name = "_".join([group.name or "world", "group", *map(str, members), "tag", str(tag)])
    all_enter(call, Communicator(name, members))
    store_communicator(call, NewCommunicator("", members), f"{name}_{rank.collectives[name]}")
    return 0


# two groups


def _joined(call: CallContext) -> Result:
    """`MPI_Intercomm_create`: own group, its leader, a communicator of both leaders, the other leader there, tag, where the
    new one goes. The leaders tell each other of their groups, and then all others."""
    rank, group, leader = rank_of(call), communicator_at(call, 0), call.number(1, "the leader")
    if not 0 <= leader < len(group.members):
        raise wrong(call, "invalid-rank", f"leader {leader} of {len(group.members)} processes")
    if rank.joining is None and rank.number == group.members[leader]:
        bridge = communicator_at(call, 2)
        other, tag = peer_at(call, 3, bridge), tag_at(call, 4)
        if other in group.members:
            raise wrong(call, "invalid-rank", "the leader of the other group is in this one")
        low, high = sorted((rank.number, other))
        name = f"joined_{bridge.name or 'world'}_{low}_{high}_{tag}"
        if rank.ongoing is None:
            rank.collectives[name] = rank.collectives.get(name, 0) + 1
            said = CollectiveEntry(call.name, 0, said=group.members)
            rank.job.calls.setdefault((name, rank.collectives[name]), {})[rank.number] = said
        exchange_signals(call, Communicator(name, bridge.members), [other], tag, ("receive", "send"))
        rank.joining = f"{name} {rank.collectives[name]} {other}"
    all_enter(call, group, lambda: rank.joining)
    told = rank.job.calls[group.name, rank.collectives[group.name] - 1]
    of_leader = told[group.members[leader]]
    assert isinstance(of_leader, CollectiveEntry)
    name, number, other_leader = str(of_leader.said).split()
    there = rank.job.calls[name, int(number)][int(other_leader)]
    assert isinstance(there, CollectiveEntry)
    assert isinstance(there.said, tuple)
    rank.joining = None
    store_communicator(call, NewCommunicator("", group.members, None, there.said), f"{name}_{number}")
    return 0


def _merged_said(call: CallContext, group: Communicator) -> object:
    if not group.remote:
        raise wrong(call, "invalid-communicator", "the communicator has one group")
    return int(call.number(1, "whether the group comes last") != 0)


def _merged(call: CallContext, told: dict[int, object]) -> NewCommunicator:
    """The group that comes last by what its processes say is the second one; else the one with the first process."""
    group = communicator_at(call, 0, has_two_groups=True)
    for part in (group.members, group.remote):
        if len({told[each] for each in part}) > 1:
            raise wrong(call, "invalid-argument", "processes of one group do not agree on whether it comes last")
    first, second = sorted((group.members, group.remote), key=lambda part: (str(told[part[0]]), part))
    return NewCommunicator("merge", first + second)


def _has_two_groups(call: CallContext) -> Result:
    found = communicator_at(call, 0, has_two_groups=True)
    call.set_private(call.arguments[1], 4, int(bool(found.remote)), "the answer")
    return 0


def _other_group(call: CallContext) -> Communicator:
    """Raises WrongCallError for a communicator of one group."""
    found = communicator_at(call, 0, has_two_groups=True)
    if not found.remote:
        raise wrong(call, "invalid-communicator", "the communicator has one group")
    return found


def _remote_size(call: CallContext) -> Result:
    call.set_private(call.arguments[1], 4, len(_other_group(call).remote), "the answer")
    return 0


def _remote_group(call: CallContext) -> Result:
    store_handle(call, call.arguments[1], "group", tuple(f"P{each}" for each in _other_group(call).remote))
    return 0


# groups


def _group_of(call: CallContext) -> Result:
    group = communicator_at(call, 0, has_two_groups=True)
    store_handle(call, call.arguments[1], "group", tuple(f"P{each}" for each in group.members))
    return 0


_GROUPS: Final = ("MPI_Group_incl", "MPI_Group_excl")
COMMUNICATOR_CALLS: Final[dict[str, Handler]] = {
    **{name: making("group", MPI[name]) for name in _GROUPS},
    **{name: making("group", handler) for name, handler in GROUP_CALLS.items()},
    **COMPARING_CALLS,
    "MPI_Comm_rank": _number(lambda call, group: group.rank(rank_of(call).number)),
    "MPI_Comm_size": _number(lambda _, group: len(group.members)),
    "MPI_Comm_dup": _constructor(lambda *_: None, _dup_made, has_two_groups=True),
    "MPI_Comm_split": _constructor(_split_said, _split_made, has_two_groups=True),
    "MPI_Comm_split_type": _constructor(_split_type_said, _split_made),
    "MPI_Cart_create": _constructor(grid_said, _topology_made("cart")),
    "MPI_Graph_create": _constructor(graph_said, _topology_made("graph")),
    "MPI_Dist_graph_create": _constructor(edges_said, _edges_made(graph_of_edges)),
    "MPI_Dist_graph_create_adjacent": _constructor(adjacent_said, _edges_made(adjacent_graph)),
    **GRAPH_CALLS,
    "MPI_Cart_sub": _constructor(_sub_said, _sub_made),
    "MPI_Comm_create": _constructor(lambda call, _: group_members(call, 1), _create_made, has_two_groups=True),
    "MPI_Comm_create_group": _create_of_group,
    "MPI_Intercomm_create": _joined,
    "MPI_Intercomm_merge": _constructor(_merged_said, _merged, has_two_groups=True),
    "MPI_Comm_test_inter": _has_two_groups,
    "MPI_Comm_remote_size": _remote_size,
    "MPI_Comm_remote_group": making("group", _remote_group),
    "MPI_Comm_free": freeing("communicator", "communicator"),
    "MPI_Comm_group": making("group", _group_of),
    "MPI_Group_rank": MPI["MPI_Group_rank"],
    "MPI_Group_size": MPI["MPI_Group_size"],
    "MPI_Group_free": freeing("group", "group"),
}
