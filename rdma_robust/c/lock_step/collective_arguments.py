"""The arguments of collective calls of MPI, in terms of which these say what they give and take."""

from __future__ import annotations

from dataclasses import dataclass, field

from rdma_robust.c.evaluate.c_values import Object, Value, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, further
from rdma_robust.c.evaluate.mpi.datatypes import Datatype
from rdma_robust.c.libraries.mpi import IN_PLACE, ROWS
from rdma_robust.c.lock_step.call_arguments import (
    NOBODY,
    check_written_once,
    count_at,
    datatype_at,
    layout_of,
    with_arguments,
    wrong,
)
from rdma_robust.c.lock_step.channels import Communicator
from rdma_robust.c.lock_step.collective_entries import CollectiveEntry
from rdma_robust.c.lock_step.message_layouts import BufferLayout, MessageData, doubled_byte, message_data
from rdma_robust.c.lock_step.rank_machine import rank_of


@dataclass(frozen=True, slots=True)
class CollectiveArguments:
    """A collective call with its communicator, in terms of which others say what it gives and takes."""

    call: CallContext
    group: Communicator
    read: list[BufferLayout] = field(default_factory=list)
    written: list[BufferLayout] = field(default_factory=list)
    """What it reads, and what it writes."""

    @property
    def own(self) -> int:
        """The number of this process."""
        return rank_of(self.call).number

    @property
    def name(self) -> str:
        """The name of the call."""
        return self.call.name

    def has_part(self, root: int, index: int) -> bool:
        """Whether a process has a part of its own in a call with a root. The root has it unless an argument is MPI_IN_PLACE;
        between two groups those of its own group have none."""
        if self.group.remote:
            return root not in (self.own, NOBODY)
        return self.own != root or not self.is_in_place(index)

    def is_in_place(self, index: int) -> bool:
        """Whether an argument is MPI_IN_PLACE."""
        return known_scalar(self.call.arguments[index]) == IN_PLACE

    def entered(self, root: int | None = None, operation: str | None = None) -> CollectiveEntry:
        """Return the call without data."""
        said = self.name + ("" if root is None or self.group.remote else f" root {self.group.rank(root)}")
        said += "" if operation is None else f" operation {operation or 'of the program'}"
        return CollectiveEntry(said, self.call.chain[0].line if self.call.chain else 0)

    def part(self, first: int) -> BufferLayout:
        """Return the buffer of three arguments."""
        return self.part_of(first, 0, varying=0)

    def part_of(self, first: int, at: int, *, varying: int) -> BufferLayout:
        """Return the part of a process in a buffer: all are alike, `varying` by lists of arguments, or (2) with types."""
        if varying:
            return self._listed_part(first, at, has_types=varying > 1)
        count, kind = count_at(self.call, first + 1), datatype_at(self.call, first + 2)
        return self.piece(first, count, at * count, kind)

    def _listed_part(self, first: int, at: int, *, has_types: bool) -> BufferLayout:
        """Return the part of a process in a buffer with lists of numbers of elements and of displacements, and maybe one of
        types: then displacements are in bytes."""
        call = self.call
        count, distance = (call.run.raw_read(call.state, *_listed(call, first + 1 + which, at, 4), 4) for which in (0, 1))
        if not isinstance(count, int) or not isinstance(distance, int) or count < 0:
            raise wrong(call, "invalid-count", f"the number of elements of process {at} is {_told(count)}")
        if not has_types:
            return self.piece(first, count, distance, datatype_at(call, first + 3))
        handle: Value = call.run.raw_read(call.state, *_listed(call, first + 3, at, 8), 8)
        kind = datatype_at(with_arguments(call, [handle]), 0)
        return layout_of(call, further(call.arguments[first], distance), count, kind)

    def piece(self, buffer: int, count: int, distance: int, kind: Datatype) -> BufferLayout:
        """Return so many elements at a distance of elements in a buffer."""
        address = self.call.arguments[buffer]
        return layout_of(self.call, further(address, distance * kind.extent) if distance else address, count, kind)

    def used(self, layout: BufferLayout, *, writes: bool) -> BufferLayout:
        """Say that the call accesses memory."""
        if writes:
            check_written_once(self.call, layout)
        (self.written if writes else self.read).append(layout)
        rank_of(self.call).note_layout(self.call.state, layout, is_write=writes)
        return layout

    def read_data(self, layout: BufferLayout) -> MessageData:
        """Return what lies in a buffer now."""
        return message_data(self.call.run, self.call.state, self.used(layout, writes=False))

    def check_aliases(self) -> None:
        """Raises WrongCallError where memory that the call writes overlaps what it reads, or is written twice."""
        names = enumerate(ROWS.get(self.name.removeprefix("MPI_"), ()))
        in_place = any(self.is_in_place(index) for index, letter in names if letter in ("b", "cb"))
        if not in_place and any(one.overlaps(other) for one in self.written for other in self.read):
            raise wrong(self.call, "buffer-alias", "send and receive buffer overlap (use MPI_IN_PLACE)")
        if doubled_byte(self.written) is not None:
            raise wrong(self.call, "buffer-alias", "what is received of two processes overlaps")


def _listed(call: CallContext, index: int, at: int, size: int) -> tuple[Object, int]:
    name, offset = call.address(index, "a list of this call")
    return name, offset + size * at


def _told(value: object) -> str:
    return str(value) if isinstance(value, int) else "not known"
