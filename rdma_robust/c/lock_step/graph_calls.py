"""Topologies of graphs (MPI 4.1, 8.5), and the neighbours that collective calls of a topology reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.lock_step.call_arguments import PROC_NULL, communicator_at, wrong
from rdma_robust.c.lock_step.channels import Communicator
from rdma_robust.c.lock_step.collective_arguments import CollectiveArguments
from rdma_robust.c.lock_step.collective_entries import CollectiveEntry
from rdma_robust.c.lock_step.grids import Grid, NeighbourGraph
from rdma_robust.c.lock_step.rank_machine import rank_of
from rdma_robust.c.lock_step.topology_calls import numbers_at, store_numbers

_INT: Final = 4


def _edges_at(call: CallContext, index: int, count: int, group: Communicator) -> tuple[int, ...]:
    """Return a list of ranks. Raises WrongCallError for one that is none."""
    if count < 0:
        raise wrong(call, "invalid-argument", f"the number of neighbours is {count}")
    found = numbers_at(call, index, count, "the list of neighbours")
    if any(not 0 <= each < len(group.members) for each in found):
        raise wrong(call, "invalid-rank", f"a neighbour is not one of {len(group.members)} processes")
    return found


def graph_said(call: CallContext, group: Communicator) -> NeighbourGraph:
    """Return the graph of `MPI_Graph_create`: communicator, number of nodes, where the neighbours of each end, and these."""
    nodes = call.number(1, "the number of nodes")
    if not 0 <= nodes <= len(group.members):
        raise wrong(call, "invalid-argument", f"{nodes} nodes for {len(group.members)} processes")
    ends = numbers_at(call, 2, nodes, "the list of indices")
    if list(ends) != sorted(ends):
        raise wrong(call, "invalid-argument", "the indices become smaller")
    edges = _edges_at(call, 3, ends[-1] if ends else 0, group)
    beside = tuple(edges[begin:end] for begin, end in zip((0, *ends), ends, strict=False))
    return NeighbourGraph(beside, beside, ends)


def adjacent_said(call: CallContext, group: Communicator) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the own edges that `MPI_Dist_graph_create_adjacent` says: communicator, numbers, lists and weights of both."""
    sources = _edges_at(call, 2, call.number(1, "the number of sources"), group)
    return sources, _edges_at(call, 5, call.number(4, "the number of destinations"), group)


def edges_said(call: CallContext, group: Communicator) -> tuple[tuple[int, int], ...]:
    """Return the edges that `MPI_Dist_graph_create` says: communicator, number, sources, degrees, destinations."""
    count = call.number(1, "the number of sources")
    sources, degrees = _edges_at(call, 2, count, group), numbers_at(call, 3, count, "the list of degrees")
    ends = iter(_edges_at(call, 4, sum(degrees), group))
    return tuple((source, next(ends)) for source, degree in zip(sources, degrees, strict=True) for _ in range(degree))


def adjacent_graph(told: list[object]) -> NeighbourGraph:
    """Return the graph of which every process says its own edges."""
    own = [each for each in told if isinstance(each, tuple)]
    return NeighbourGraph(tuple(each[0] for each in own), tuple(each[1] for each in own))


def graph_of_edges(told: list[object]) -> NeighbourGraph:
    """Return the graph of which every process says some edges."""
    edges = [edge for each in told if isinstance(each, tuple) for edge in each]
    sources = tuple(tuple(a for a, b in edges if b == rank) for rank, _ in enumerate(told))
    return NeighbourGraph(sources, tuple(tuple(b for a, b in edges if a == rank) for rank, _ in enumerate(told)))


def _graph_at(call: CallContext) -> tuple[Communicator, NeighbourGraph]:
    group = communicator_at(call, 0)
    found = rank_of(call).job.grids.get(group.name)
    if not isinstance(found, NeighbourGraph):
        raise wrong(call, "invalid-communicator", "the communicator has no topology of a graph")
    return group, found


def _own_edges(call: CallContext) -> tuple[tuple[int, ...], tuple[int, ...]]:
    group, graph = _graph_at(call)
    rank = group.rank(rank_of(call).number)
    return graph.sources[rank], graph.destinations[rank]


def _edges_of(call: CallContext) -> tuple[int, ...]:
    """Return the neighbours of a rank, the second argument."""
    group, graph = _graph_at(call)
    rank = call.number(1, "the rank")
    if not 0 <= rank < len(group.members):
        raise wrong(call, "invalid-rank", f"rank {rank} of {len(group.members)} processes")
    return graph.destinations[rank]


def _dims(call: CallContext) -> Result:
    _, graph = _graph_at(call)
    call.set_private(call.arguments[1], _INT, len(graph.ends), "the answer")
    call.set_private(call.arguments[2], _INT, graph.ends[-1] if graph.ends else 0, "the answer")
    return 0


def _get(call: CallContext) -> Result:
    """Communicator, room of both lists, where indices and edges go."""
    _, graph = _graph_at(call)
    store_numbers(call, 3, graph.ends[: call.number(1, "the room")])
    store_numbers(call, 4, tuple(each for of in graph.destinations for each in of)[: call.number(2, "the room")])
    return 0


def _count(call: CallContext) -> Result:
    call.set_private(call.arguments[2], _INT, len(_edges_of(call)), "the answer")
    return 0


def _neighbours(call: CallContext) -> Result:
    store_numbers(call, 3, _edges_of(call)[: call.number(2, "the room")])
    return 0


def _own_counts(call: CallContext) -> Result:
    for index, edges in enumerate(_own_edges(call), 1):
        call.set_private(call.arguments[index], _INT, len(edges), "the answer")
    call.set_private(call.arguments[3], _INT, 0, "whether there are weights")
    return 0


def _own_neighbours(call: CallContext) -> Result:
    """Communicator; room, where the sources go, and their weights; the same for destinations."""
    for index, edges in zip((1, 4), _own_edges(call), strict=True):
        store_numbers(call, index + 1, edges[: call.number(index, "the room")])
    return 0


GRAPH_CALLS: Final[dict[str, Handler]] = {
    "MPI_Graphdims_get": _dims,
    "MPI_Graph_get": _get,
    "MPI_Graph_neighbors_count": _count,
    "MPI_Graph_neighbors": _neighbours,
    "MPI_Dist_graph_neighbors_count": _own_counts,
    "MPI_Dist_graph_neighbors": _own_neighbours,
}


# collective calls of neighbours


def _both_sides(what: CollectiveArguments) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the processes that a call takes from and gives to, each with its place among its neighbours. Raises Refusal for
    one that is a neighbour twice."""
    found, rank = rank_of(what.call).job.grids.get(what.group.name), what.group.rank(what.own)
    if found is None:
        raise wrong(what.call, "invalid-communicator", "the communicator has no topology")
    if isinstance(found, Grid):
        beside = found.neighbours(rank)
        sources = destinations = tuple(PROC_NULL if each is None else each for each in beside)
    else:
        sources, destinations = found.sources[rank], found.destinations[rank]
    sides = [
        [(at, what.group.members[each]) for at, each in enumerate(side) if each != PROC_NULL]
        for side in (sources, destinations)
    ]
    if any(len({process for _, process in side}) < len(side) for side in sides):
        raise Refusal("RR814", "a process that is a neighbour twice is not modelled", "a topology with other neighbours")
    return sides[0], sides[1]


def neighbour_allgather(*, varying: int) -> Callable[[CollectiveArguments], CollectiveEntry]:
    """What is sent, what is received of each neighbour."""

    def work(what: CollectiveArguments) -> CollectiveEntry:
        found, (sources, destinations) = what.entered(), _both_sides(what)
        mine = what.read_data(what.part(0))
        found.gives = {process: mine for _, process in destinations}
        found.takes = {process: what.used(what.part_of(3, at, varying=varying), writes=True) for at, process in sources}
        return found

    return work


def neighbour_alltoall(*, varying: int) -> Callable[[CollectiveArguments], CollectiveEntry]:
    """What is sent to each neighbour, what is received of each."""

    def work(what: CollectiveArguments) -> CollectiveEntry:
        found, (sources, destinations) = what.entered(), _both_sides(what)
        second = 4 if varying else 3
        found.gives = {each: what.read_data(what.part_of(0, at, varying=varying)) for at, each in destinations}
        found.takes = {each: what.used(what.part_of(second, at, varying=varying), writes=True) for at, each in sources}
        return found

    return work
