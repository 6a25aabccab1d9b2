"""Cartesian topologies of MPI (MPI 4.1, chapter 8): the coordinates of ranks, and who is beside whom."""

from __future__ import annotations

from math import prod
from typing import Final

from rdma_robust.c.evaluate.c_values import known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.libraries.mpi import NUMBERS
from rdma_robust.c.lock_step.call_arguments import PROC_NULL, communicator_at, wrong
from rdma_robust.c.lock_step.channels import Communicator
from rdma_robust.c.lock_step.grids import Grid, NeighbourGraph, balanced
from rdma_robust.c.lock_step.rank_machine import rank_of

_INT: Final = 4


def numbers_at(call: CallContext, index: int, count: int, what: str) -> tuple[int, ...]:
    """Return a list of numbers, of an argument that is its address. Raises Refusal where one is not known."""
    if count == 0:
        return ()
    name, offset = call.address(index, what)
    values = [known_scalar(call.run.raw_read(call.state, name, offset + _INT * at, _INT)) for at in range(count)]
    found = [each for each in values if isinstance(each, int)]
    if len(found) < count:
        raise wrong(call, "invalid-argument", f"{what} is not initialised, or not known here")
    return tuple(found)


def store_numbers(call: CallContext, index: int, values: tuple[int, ...]) -> None:
    """Store numbers where an argument says."""
    if not values:
        return
    name, offset = call.address(index, "the answer")
    for at, each in enumerate(values):
        call.run.raw_write(call.state, name, offset + _INT * at, _INT, each)


def grid_said(call: CallContext, group: Communicator) -> Grid:
    """Return the topology that `MPI_Cart_create` asks for: communicator, dimensions, their lengths, whether they are
    periodic, whether ranks may change (which they do not here), where the communicator goes. Raises WrongCallError."""
    count = call.number(1, "the number of dimensions")
    if count < 0:
        raise wrong(call, "invalid-argument", f"the number of dimensions is {count}")
    lengths, periods = numbers_at(call, 2, count, "the list of lengths"), numbers_at(call, 3, count, "the list of periods")
    if any(each < 1 for each in lengths):
        raise wrong(call, "invalid-argument", f"a dimension has the length {min(lengths)}")
    if prod(lengths) > len(group.members):
        raise wrong(call, "invalid-argument", f"{prod(lengths)} places for {len(group.members)} processes")
    return Grid(lengths, tuple(map(bool, periods)))


def grid_of(call: CallContext, group: Communicator) -> Grid:
    """Return the topology of a communicator. Raises WrongCallError for one without."""
    found = rank_of(call).job.grids.get(group.name)
    if not isinstance(found, Grid):
        raise wrong(call, "invalid-communicator", "the communicator has no cartesian topology")
    return found


def _coords(call: CallContext) -> Result:
    """Communicator, rank, number of dimensions, where the coordinates go."""
    group = communicator_at(call, 0)
    grid, rank = grid_of(call, group), call.number(1, "the rank")
    if not 0 <= rank < len(group.members):
        raise wrong(call, "invalid-rank", f"rank {rank} of {len(group.members)} processes")
    if call.number(2, "the number of dimensions") < len(grid.lengths):
        raise wrong(call, "invalid-argument", f"the topology has {len(grid.lengths)} dimensions")
    store_numbers(call, 3, grid.coordinates(rank))
    return 0


def _rank(call: CallContext) -> Result:
    """Communicator, coordinates, where the rank goes."""
    grid = grid_of(call, communicator_at(call, 0))
    found = grid.rank(numbers_at(call, 1, len(grid.lengths), "the list of coordinates"))
    if found is None:
        raise wrong(call, "invalid-argument", "the coordinates are outside of the topology")
    call.set_private(call.arguments[2], _INT, found, "the rank")
    return 0


def _shift(call: CallContext) -> Result:
    """Communicator, dimension, distance, where the ranks of source and destination go."""
    group = communicator_at(call, 0)
    grid, along, distance = grid_of(call, group), call.number(1, "the dimension"), call.number(2, "the distance")
    if not 0 <= along < len(grid.lengths):
        raise wrong(call, "invalid-argument", f"dimension {along} of {len(grid.lengths)}")
    here = grid.coordinates(group.rank(rank_of(call).number))
    for argument, step in ((3, -distance), (4, distance)):
        found = grid.rank((*here[:along], here[along] + step, *here[along + 1 :]))
        call.set_private(call.arguments[argument], _INT, PROC_NULL if found is None else found, "the rank")
    return 0


def _get(call: CallContext) -> Result:
    """Communicator, number of dimensions, where lengths, periods and the own coordinates go."""
    group = communicator_at(call, 0)
    grid = grid_of(call, group)
    if call.number(1, "the number of dimensions") < len(grid.lengths):
        raise wrong(call, "invalid-argument", f"the topology has {len(grid.lengths)} dimensions")
    store_numbers(call, 2, grid.lengths)
    store_numbers(call, 3, tuple(map(int, grid.periods)))
    store_numbers(call, 4, grid.coordinates(group.rank(rank_of(call).number)))
    return 0


def _dimensions(call: CallContext) -> Result:
    call.set_private(call.arguments[1], _INT, len(grid_of(call, communicator_at(call, 0)).lengths), "the answer")
    return 0


def _kind(call: CallContext) -> Result:
    found = rank_of(call).job.grids.get(communicator_at(call, 0).name)
    of_graph = "GRAPH" if isinstance(found, NeighbourGraph) and found.ends else "DIST_GRAPH"
    kind = "CART" if isinstance(found, Grid) else "UNDEFINED" if found is None else of_graph
    call.set_private(call.arguments[1], _INT, NUMBERS[kind], "the answer")
    return 0


def _dims_create(call: CallContext) -> Result:
    """Number of processes, number of dimensions, their lengths: those that are 0 are chosen."""
    nodes, count = call.number(0, "the number of processes"), call.number(1, "the number of dimensions")
    given = numbers_at(call, 2, count, "the list of lengths")
    fixed = prod(each for each in given if each)
    if any(each < 0 for each in given) or nodes < 1 or nodes % fixed:
        raise wrong(call, "invalid-argument", f"{nodes} processes cannot be divided by the lengths that are given")
    free = given.count(0)
    chosen = iter(balanced(nodes // fixed, free) if free else ())
    store_numbers(call, 2, tuple(each or next(chosen) for each in given))
    return 0


TOPOLOGY_CALLS: Final[dict[str, Handler]] = {
    "MPI_Cart_coords": _coords,
    "MPI_Cart_rank": _rank,
    "MPI_Cart_shift": _shift,
    "MPI_Cart_get": _get,
    "MPI_Cartdim_get": _dimensions,
    "MPI_Topo_test": _kind,
    "MPI_Dims_create": _dims_create,
}
