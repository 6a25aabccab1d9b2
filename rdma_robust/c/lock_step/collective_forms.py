"""Collective calls of MPI: as messages of those whose data others need, which all of them wait for.

What a process gives to each other one, and takes of each, says who waits for whom: the standard does not let a program count
on more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.one_sided.spmd import store_handle
from rdma_robust.c.lock_step.call_arguments import (
    NOBODY,
    communicator_at,
    root_at,
)
from rdma_robust.c.lock_step.channels import Communicator
from rdma_robust.c.lock_step.collective_arguments import CollectiveArguments
from rdma_robust.c.lock_step.collective_entries import CollectiveEntry, enter
from rdma_robust.c.lock_step.collective_reductions import reduce_local, reduction_form, scattering
from rdma_robust.c.lock_step.graph_calls import neighbour_allgather, neighbour_alltoall
from rdma_robust.c.lock_step.message_layouts import EMPTY, NOTHING
from rdma_robust.c.lock_step.rank_machine import Blocked, rank_of


def _barrier(what: CollectiveArguments) -> CollectiveEntry:
    found = what.entered()
    found.gives = dict.fromkeys(what.group.peers, EMPTY)
    found.takes = dict.fromkeys(what.group.peers, NOTHING)
    return found


def _bcast(what: CollectiveArguments) -> CollectiveEntry:
    """Buffer, count, type, root."""
    root = root_at(what.call, 3, what.group)
    found, data = what.entered(root), NOTHING if root == NOBODY else what.part(0)
    if what.own == root:
        found.gives = {each: what.read_data(data) for each in what.group.peers if each != root}
    elif root != NOBODY:
        found.takes = {root: what.used(data, writes=True)}
    return found


def _gather(*, varying: int) -> Callable[[CollectiveArguments], CollectiveEntry]:
    """What is sent, what is received of each, root: arguments 0 to 2, from 3 on, and behind them."""

    def work(what: CollectiveArguments) -> CollectiveEntry:
        root = root_at(what.call, 6 + varying, what.group)
        found = what.entered(root)
        if what.own == root:
            for at, each in enumerate(what.group.peers):
                part = what.part_of(3, at, varying=varying)
                if each != root or not what.is_in_place(0):
                    found.takes[each] = what.used(part, writes=True)
        if what.has_part(root, 0):
            found.gives = {root: what.read_data(what.part(0))}
        return found

    return work


def _scatter(*, varying: int) -> Callable[[CollectiveArguments], CollectiveEntry]:
    """What is sent to each, what is received, root."""

    def work(what: CollectiveArguments) -> CollectiveEntry:
        root = root_at(what.call, 6 + varying, what.group)
        found = what.entered(root)
        if what.own == root:
            for at, each in enumerate(what.group.peers):
                if each != root or not what.is_in_place(3 + varying):
                    part = what.part_of(0, at, varying=varying)
                    found.gives[each] = what.read_data(part)
        if what.has_part(root, 3 + varying):
            found.takes = {root: what.used(what.part(3 + varying), writes=True)}
        return found

    return work


def _allgather(*, varying: int) -> Callable[[CollectiveArguments], CollectiveEntry]:
    """What is sent, what is received of each."""

    def work(what: CollectiveArguments) -> CollectiveEntry:
        found, in_place = what.entered(), what.is_in_place(0)
        parts = {each: what.part_of(3, at, varying=varying) for at, each in enumerate(what.group.peers)}
        mine = what.read_data(parts[what.own] if in_place else what.part(0))
        found.gives = dict.fromkeys(what.group.peers, mine)
        found.takes = {each: what.used(part, writes=True) for each, part in parts.items()}
        return found

    return work


def _alltoall(*, varying: int) -> Callable[[CollectiveArguments], CollectiveEntry]:
    """What is sent to each, what is received of each."""

    def work(what: CollectiveArguments) -> CollectiveEntry:
        found, second = what.entered(), 4 if varying else 3
        in_place = what.is_in_place(0)
        for at, each in enumerate(what.group.peers):
            here = what.part_of(second, at, varying=varying)
            found.takes[each] = here
            there = here if in_place else what.part_of(0, at, varying=varying)
            found.gives[each] = what.read_data(there)
        for layout in found.takes.values():
            what.used(layout, writes=True)
        return found

    return work


@dataclass(frozen=True, slots=True)
class CollectiveForm:
    """A collective function: where its communicator is among its arguments, and what it gives and takes."""

    communicator: int
    work: Callable[[CollectiveArguments], CollectiveEntry]
    between_groups: bool = True

    def entered(self, what: CollectiveArguments) -> CollectiveEntry:
        """Return the call as all of them see it. Raises WrongCallError where it is wrong by itself."""
        found = self.work(what)
        what.check_aliases()
        return found

    def group(self, call: CallContext) -> Communicator:
        """Return the communicator of a call."""
        return communicator_at(call, self.communicator, has_two_groups=self.between_groups)


FORMS: Final[Mapping[str, CollectiveForm]] = {
    "barrier": CollectiveForm(0, _barrier),
    "bcast": CollectiveForm(4, _bcast),
    "gather": CollectiveForm(7, _gather(varying=0)),
    "gatherv": CollectiveForm(8, _gather(varying=1)),
    "scatter": CollectiveForm(7, _scatter(varying=0)),
    "scatterv": CollectiveForm(8, _scatter(varying=1)),
    "allgather": CollectiveForm(6, _allgather(varying=0)),
    "allgatherv": CollectiveForm(7, _allgather(varying=1)),
    "alltoall": CollectiveForm(6, _alltoall(varying=0)),
    "alltoallv": CollectiveForm(8, _alltoall(varying=1)),
    "alltoallw": CollectiveForm(8, _alltoall(varying=2)),
    "neighbor_allgather": CollectiveForm(6, neighbour_allgather(varying=0), between_groups=False),
    "neighbor_allgatherv": CollectiveForm(7, neighbour_allgather(varying=1), between_groups=False),
    "neighbor_alltoall": CollectiveForm(6, neighbour_alltoall(varying=0), between_groups=False),
    "neighbor_alltoallv": CollectiveForm(8, neighbour_alltoall(varying=1), between_groups=False),
    "reduce": CollectiveForm(6, reduction_form("root")),
    "allreduce": CollectiveForm(5, reduction_form("all")),
    "scan": CollectiveForm(5, reduction_form("scan"), between_groups=False),
    "exscan": CollectiveForm(5, reduction_form("exscan"), between_groups=False),
    "reduce_scatter": CollectiveForm(5, scattering(varying=True)),
    "reduce_scatter_block": CollectiveForm(5, scattering(varying=False)),
}


def _blocking(form: CollectiveForm) -> Handler:
    def handler(call: CallContext) -> Result:
        rank = rank_of(call)
        if rank.ongoing is None:
            group = form.group(call)
            record = enter(call, group, form.entered(CollectiveArguments(call, group)))
            rank.emit_wait([record], call.chain)
            rank.ongoing = record
        record = rank.ongoing  # type: ignore[assignment]
        if not record.is_ready():
            raise Blocked
        rank.ongoing = None
        rank.complete(record)
        return 0

    return handler


def _nonblocking(form: CollectiveForm) -> Handler:
    def handler(call: CallContext) -> Result:
        rank, group = rank_of(call), form.group(call)
        what = CollectiveArguments(call, group)
        record = enter(call, group, form.entered(what))
        for layouts in (what.written, what.read):
            for layout in layouts:
                rank.begin(record, layout, writes=layouts is what.written)
        store_handle(call, call.arguments[form.communicator + 1], "request", (record.number,))
        return 0

    return handler


COLLECTIVE_CALLS: Final[dict[str, Handler]] = {
    **{f"MPI_{name.capitalize()}": _blocking(form) for name, form in FORMS.items()},
    **{f"MPI_I{name}": _nonblocking(form) for name, form in FORMS.items()},
    "MPI_Reduce_local": reduce_local,
}
