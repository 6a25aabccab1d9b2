"""Collective calls of MPI: as messages of those whose data others need, which all of them wait for.

What a process gives to each other one, and takes of each, says who waits for whom: the standard does not let a program count
on more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import Object, Scalar, UnknownValue, canonical, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, further
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.mpi.datatypes import Datatype
from rdma_robust.c.evaluate.one_sided.contributions import reduced
from rdma_robust.c.evaluate.one_sided.spmd import store_handle
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.libraries.mpi import IN_PLACE
from rdma_robust.c.lock_step.call_arguments import (
    check_written_once,
    communicator_at,
    count_at,
    datatype_at,
    layout_of,
    operation_at,
    root_at,
    wrong,
)
from rdma_robust.c.lock_step.channels import Communicator
from rdma_robust.c.lock_step.collective_entries import CollectiveEntry, enter
from rdma_robust.c.lock_step.message_layouts import EMPTY, NOTHING, BufferLayout, MessageData, delivered_into, message_data
from rdma_robust.c.lock_step.rank_machine import Blocked, rank_of

_COMBINED: Final = {"SUM": "sum", "PROD": "prod", "MIN": "min", "MAX": "max", "BAND": "and", "BOR": "or", "BXOR": "xor"}
_LOGICAL: Final[Mapping[str, Callable[[list[bool]], bool]]] = {
    "LAND": all, "LOR": any, "LXOR": lambda given: sum(given) % 2 == 1
}  # fmt: skip
_OF_INTEGERS: Final = ("LAND", "LOR", "LXOR", "BAND", "BOR", "BXOR")


# what each call gives and takes


@dataclass(frozen=True, slots=True)
class CollectiveArguments:
    """A collective call with its communicator, in terms of which others say what it gives and takes."""

    call: CallContext
    group: Communicator
    read: list[BufferLayout] = field(default_factory=list)
    """What it has read."""

    @property
    def own(self) -> int:
        """The number of this process."""
        return rank_of(self.call).number

    @property
    def name(self) -> str:
        """The name of the call."""
        return self.call.name

    def is_in_place(self, index: int) -> bool:
        """Whether an argument is MPI_IN_PLACE."""
        return known_scalar(self.call.arguments[index]) == IN_PLACE

    def entered(self, root: int | None = None, operation: str | None = None) -> CollectiveEntry:
        """Return the call without data."""
        said = self.name + ("" if root is None else f" root {self.group.rank(root)}")
        said += "" if operation is None else f" operation {operation or 'of the program'}"
        return CollectiveEntry(said, self.call.chain[0].line if self.call.chain else 0)

    def part(self, first: int) -> BufferLayout:
        """Return the buffer of three arguments."""
        return self.part_of(first, 0, varying=False)

    def part_of(self, first: int, at: int, *, varying: bool) -> BufferLayout:
        """Return the part of a process in a buffer: all are alike, or `varying` by lists of arguments."""
        if varying:
            return self._listed_part(first, at)
        count, kind = count_at(self.call, first + 1), datatype_at(self.call, first + 2)
        return self.piece(first, count, at * count, kind)

    def _listed_part(self, first: int, at: int) -> BufferLayout:
        """Return the part of a process in a buffer with lists of numbers of elements and of displacements."""
        kind, call = datatype_at(self.call, first + 3), self.call
        count, distance = (call.run.raw_read(call.state, *_listed(call, first + 1 + which, at), 4) for which in (0, 1))
        if not isinstance(count, int) or not isinstance(distance, int) or count < 0:
            raise wrong(call, "invalid-count", f"the number of elements of process {at} is {_told(count)}")
        return self.piece(first, count, distance, kind)

    def piece(self, buffer: int, count: int, distance: int, kind: Datatype) -> BufferLayout:
        """Return so many elements at a distance of elements in a buffer."""
        address = self.call.arguments[buffer]
        return layout_of(self.call, further(address, distance * kind.extent) if distance else address, count, kind)

    def used(self, layout: BufferLayout, *, writes: bool) -> BufferLayout:
        """Say that the call accesses memory."""
        if writes:
            check_written_once(self.call, layout)
        rank_of(self.call).note_layout(self.call.state, layout, is_write=writes)
        return layout

    def read_data(self, layout: BufferLayout) -> MessageData:
        """Return what lies in a buffer now."""
        self.read.append(layout)
        return message_data(self.call.run, self.call.state, self.used(layout, writes=False))


def _listed(call: CallContext, index: int, at: int) -> tuple[Object, int]:
    name, offset = call.address(index, "a list of this call")
    return name, offset + 4 * at


def _told(value: object) -> str:
    return str(value) if isinstance(value, int) else "not known"


def _barrier(what: CollectiveArguments) -> CollectiveEntry:
    found = what.entered()
    found.gives = dict.fromkeys(what.group.members, EMPTY)
    found.takes = dict.fromkeys(what.group.members, NOTHING)
    return found


def _bcast(what: CollectiveArguments) -> CollectiveEntry:
    """Buffer, count, type, root."""
    root = root_at(what.call, 3, what.group)
    found, data = what.entered(root), what.part(0)
    if what.own == root:
        found.gives = {each: what.read_data(data) for each in what.group.members if each != root}
    else:
        found.takes = {root: what.used(data, writes=True)}
    return found


def _gather(*, varying: bool) -> Callable[[CollectiveArguments], CollectiveEntry]:
    """What is sent, what is received of each, root: arguments 0 to 2, from 3 on, and behind them."""

    def work(what: CollectiveArguments) -> CollectiveEntry:
        root = root_at(what.call, 6 + varying, what.group)
        found = what.entered(root)
        if what.own == root:
            for at, each in enumerate(what.group.members):
                part = what.part_of(3, at, varying=varying)
                if each != root or not what.is_in_place(0):
                    found.takes[each] = what.used(part, writes=True)
        if what.own != root or not what.is_in_place(0):
            found.gives = {root: what.read_data(what.part(0))}
        return found

    return work


def _scatter(*, varying: bool) -> Callable[[CollectiveArguments], CollectiveEntry]:
    """What is sent to each, what is received, root."""

    def work(what: CollectiveArguments) -> CollectiveEntry:
        root = root_at(what.call, 6 + varying, what.group)
        found = what.entered(root)
        if what.own == root:
            for at, each in enumerate(what.group.members):
                if each != root or not what.is_in_place(3 + varying):
                    part = what.part_of(0, at, varying=varying)
                    found.gives[each] = what.read_data(part)
        if what.own != root or not what.is_in_place(3 + varying):
            found.takes = {root: what.used(what.part(3 + varying), writes=True)}
        return found

    return work


def _allgather(*, varying: bool) -> Callable[[CollectiveArguments], CollectiveEntry]:
    """What is sent, what is received of each."""

    def work(what: CollectiveArguments) -> CollectiveEntry:
        found, in_place = what.entered(), what.is_in_place(0)
        parts = {each: what.part_of(3, at, varying=varying) for at, each in enumerate(what.group.members)}
        mine = what.read_data(parts[what.own] if in_place else what.part(0))
        found.gives = dict.fromkeys(what.group.members, mine)
        found.takes = {each: what.used(part, writes=True) for each, part in parts.items()}
        return found

    return work


def _alltoall(*, varying: bool) -> Callable[[CollectiveArguments], CollectiveEntry]:
    """What is sent to each, what is received of each."""

    def work(what: CollectiveArguments) -> CollectiveEntry:
        found, second = what.entered(), 4 if varying else 3
        in_place = what.is_in_place(0)
        for at, each in enumerate(what.group.members):
            here = what.part_of(second, at, varying=varying)
            found.takes[each] = here
            there = here if in_place else what.part_of(0, at, varying=varying)
            found.gives[each] = what.read_data(there)
        for layout in found.takes.values():
            what.used(layout, writes=True)
        return found

    return work


# reductions


def _combined(operation: str, kind: CType, values: list[Scalar]) -> Scalar:
    """Return the raw value that an operation gives."""
    if not operation or kind.size > 8:
        return UnknownValue("what an operation of the program gives")
    if operation in _COMBINED:
        return reduced(_COMBINED[operation], values, kind)
    numbers = [each for each in values if isinstance(each, int)]
    if operation in _LOGICAL and len(numbers) == len(values):
        return canonical(int(_LOGICAL[operation]([each != 0 for each in numbers])), kind.size)
    return UnknownValue("what this reduction gives")


def _reduction(
    what: CollectiveArguments, count: int, kind: Datatype, operation: str, target: BufferLayout
) -> Callable[[State, dict[int, MessageData]], None]:
    """Return what stores the result of a reduction of all that is taken."""
    run = what.call.run

    def combine(state: State, found: dict[int, MessageData]) -> None:
        size = kind.size
        block = ObjectBytes()
        numbers = kind.runs if operation == "SUM" or not any(each.pair for each in kind.runs) else ()
        is_simple = len({each.name for each in numbers}) == 1
        element = kind.runs[0].element if is_simple and kind.runs else CType("int", 1)
        width = element.size if is_simple else max(size, 1)
        for at in range(0, count * size, width):
            values = [known_scalar(each.block.read(at, width, "data")) for each in found.values()]
            raw = _combined(operation, element, values) if is_simple else UnknownValue("what this reduction gives")
            block.write(at, width, raw)
        if target.object is not None:
            delivered_into(run, state, MessageData(block, count * size, None), target)

    return combine


def _reduce(kind_of_call: str) -> Callable[[CollectiveArguments], CollectiveEntry]:
    """What is given, where the result goes, count, type, operation, and the root if there is one."""

    def work(what: CollectiveArguments) -> CollectiveEntry:
        call, members, own = what.call, what.group.members, what.own
        count, kind = count_at(call, 2), datatype_at(call, 3)
        operation = _checked_operation(call, 4, kind)
        root = root_at(call, 5, what.group) if kind_of_call == "root" else None
        found = what.entered(root, operation)
        in_place = what.is_in_place(0)
        mine = what.read_data(what.piece(1 if in_place else 0, count, 0, kind))
        rank = members.index(own)
        takers = {"root": (root,), "all": members, "scan": members[rank:], "exscan": members[rank + 1 :]}[kind_of_call]
        found.gives = {each: mine for each in takers if each is not None}
        givers = {
            "root": members if own == root else (),
            "all": members,
            "scan": members[: rank + 1],
            "exscan": members[:rank],
        }
        if givers[kind_of_call]:
            target = what.used(what.piece(1, count, 0, kind), writes=True)
            found.takes = dict.fromkeys(givers[kind_of_call], BufferLayout(None, 0, target.runs))
            found.combine = _reduction(what, count, kind, operation, target)
        return found

    return work


def _checked_operation(call: CallContext, index: int, kind: Datatype) -> str:
    operation = operation_at(call, index)
    floats = any(each.element.kind == "float" for each in kind.runs)
    if operation in _OF_INTEGERS and floats:
        raise wrong(call, "invalid-operation", f"MPI_{operation} is not defined for numbers with a fraction")
    return operation


def _reduce_scatter_block(what: CollectiveArguments) -> CollectiveEntry:
    """What is given, where the result goes, number of elements of each, type, operation."""
    call, members = what.call, what.group.members
    count, kind = count_at(call, 2), datatype_at(call, 3)
    operation = _checked_operation(call, 4, kind)
    found, buffer = what.entered(None, operation), 1 if what.is_in_place(0) else 0
    for at, each in enumerate(members):
        found.gives[each] = what.read_data(what.piece(buffer, count, at * count, kind))
    target = what.used(what.piece(1, count, 0, kind), writes=True)
    found.takes = dict.fromkeys(members, BufferLayout(None, 0, target.runs))
    found.combine = _reduction(what, count, kind, operation, target)
    return found


@dataclass(frozen=True, slots=True)
class CollectiveForm:
    """A collective function: where its communicator is among its arguments, and what it gives and takes."""

    communicator: int
    work: Callable[[CollectiveArguments], CollectiveEntry]


FORMS: Final[Mapping[str, CollectiveForm]] = {
    "barrier": CollectiveForm(0, _barrier),
    "bcast": CollectiveForm(4, _bcast),
    "gather": CollectiveForm(7, _gather(varying=False)),
    "gatherv": CollectiveForm(8, _gather(varying=True)),
    "scatter": CollectiveForm(7, _scatter(varying=False)),
    "scatterv": CollectiveForm(8, _scatter(varying=True)),
    "allgather": CollectiveForm(6, _allgather(varying=False)),
    "allgatherv": CollectiveForm(7, _allgather(varying=True)),
    "alltoall": CollectiveForm(6, _alltoall(varying=False)),
    "alltoallv": CollectiveForm(8, _alltoall(varying=True)),
    "reduce": CollectiveForm(6, _reduce("root")),
    "allreduce": CollectiveForm(5, _reduce("all")),
    "scan": CollectiveForm(5, _reduce("scan")),
    "exscan": CollectiveForm(5, _reduce("exscan")),
    "reduce_scatter_block": CollectiveForm(5, _reduce_scatter_block),
}


def _blocking(form: CollectiveForm) -> Handler:
    def handler(call: CallContext) -> Result:
        rank = rank_of(call)
        if rank.ongoing is None:
            group = communicator_at(call, form.communicator)
            record = enter(call, group, form.work(CollectiveArguments(call, group)))
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
        rank, group = rank_of(call), communicator_at(call, form.communicator)
        what = CollectiveArguments(call, group)
        entered = form.work(what)
        record = enter(call, group, entered)
        for layout in entered.takes.values():
            rank.begin(record, layout, writes=True)
        for layout in what.read:
            rank.begin(record, layout, writes=False)
        store_handle(call, call.arguments[form.communicator + 1], "request", (record.number,))
        return 0

    return handler


COLLECTIVE_CALLS: Final[dict[str, Handler]] = {
    **{f"MPI_{name.capitalize()}": _blocking(form) for name, form in FORMS.items()},
    **{f"MPI_I{name}": _nonblocking(form) for name, form in FORMS.items()},
}
