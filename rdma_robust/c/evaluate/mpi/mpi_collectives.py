"""MPI: collective calls, as messages: who needs data waits for those that have it, and for nobody else; and communicators.

The standard lets a collective call be a barrier, and does not say that it is one: no program may count on it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import Scalar, UnknownValue, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.mpi.datatypes import datatype
from rdma_robust.c.evaluate.mpi.handles import communicator, members, process_of_rank
from rdma_robust.c.evaluate.one_sided.contributions import contributed, reduction_results
from rdma_robust.c.evaluate.one_sided.spmd import reaches_others, store_handle
from rdma_robust.c.evaluate.one_sided.tellings import Telling, hear, tell
from rdma_robust.c.evaluate.one_sided.transfers import Range
from rdma_robust.c.evaluate.operations import ThreadStatement
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.word_copies import copied
from rdma_robust.c.libraries.mpi import IN_PLACE, NUMBERS

_REDUCED: Final = {
    NUMBERS["SUM"]: "sum", NUMBERS["PROD"]: "prod", NUMBERS["MAX"]: "max", NUMBERS["MIN"]: "min", NUMBERS["BAND"]: "and",
    NUMBERS["BOR"]: "or", NUMBERS["BXOR"]: "xor",
}  # fmt: skip
"""The operations that are modelled."""
_UNKNOWN: Final = UnknownValue("what a reduction gives")
Message = tuple[Range, int, int]
"""A buffer: where it is, its bytes, and those of an element."""


def collective_message(call: CallContext, first: int) -> Message | None:
    """Return a buffer that three arguments are: address, number of elements, type; None if it is empty."""
    kind, count = datatype(call, first + 2), call.number(first + 1, "the number of elements")
    if not kind.size * count:
        return None
    if not kind.is_contiguous:
        raise Refusal("RR814", "a message of this type is not modelled", "a type without gaps")
    return call.address(first, "the buffer"), kind.size * count, kind.basic.element.size


@dataclass(frozen=True, slots=True)
class _Collective:
    """A call of the processes of a communicator, by its name."""

    call: CallContext
    context: str
    processes: tuple[str, ...]

    @property
    def own(self) -> int:
        """The rank of this process."""
        return self.processes.index(self.call.run.process)

    @property
    def others(self) -> list[int]:
        """The ranks of the others."""
        return [rank for rank in range(len(self.processes)) if rank != self.own]

    @property
    def _telling(self) -> Telling:
        name = self.call.name.removeprefix("MPI_").lower()
        return Telling((name, self.context), name)

    def is_in_place(self, index: int) -> bool:
        """Whether an argument is `MPI_IN_PLACE`."""
        return known_scalar(self.call.arguments[index]) == IN_PLACE

    def root(self, index: int) -> int:
        """Return the rank that an argument is. Raises RR818 if there is none."""
        found = process_of_rank(self.call, index, self.processes)
        if found is None:
            raise Refusal("RR818", "MPI_PROC_NULL is no root of this call")
        return self.processes.index(found)

    def sent(self, rank: int, data: Message | None) -> list[ThreadStatement]:
        """Return what sends a message to another process."""
        return tell(self.call, self._telling, self.processes[rank], data)

    def heard(self, rank: int, data: Message | None) -> list[ThreadStatement]:
        """Return what waits for the message of another process."""
        return hear(self.call, self._telling, self.processes[rank], data)

    def kept(self, target: Message | None, source: Message | None) -> list[ThreadStatement]:
        """Return what copies data from this process to itself."""
        if target is None or source is None or target[0] == source[0]:
            return []
        return copied(self.call.run, self.call.state, target[0], source[0], min(target[1], source[1]))


def _part(data: Message | None, rank: int) -> Message | None:
    """Return the part of a buffer that belongs to a rank, where each has as much as `data` says."""
    if data is None:
        return None
    (name, offset), size, element = data
    return (name, offset + rank * size), size, element


def _collective(communicator_at: int, work: Callable[[_Collective], list[ThreadStatement]]) -> Handler:
    def handler(call: CallContext) -> Result:
        context, processes = communicator(call, communicator_at)
        if call.run.process not in processes:
            raise Refusal("RR818", f"{call.run.process} is none of the processes that call `{call.name}`")
        reaches_others(call)
        found = work(_Collective(call, context, processes))
        return call.step(found) if found else 0

    return handler


def _broadcast(what: _Collective) -> list[ThreadStatement]:
    """`MPI_Bcast`: buffer, count, type, root, communicator."""
    root, data = what.root(3), collective_message(what.call, 0)
    if what.own != root:
        return what.heard(root, data)
    return [each for rank in what.others for each in what.sent(rank, data)]


def _gathered(what: _Collective) -> list[ThreadStatement]:
    """`MPI_Gather`: what is sent, what is received (of each), root, communicator."""
    root = what.root(6)
    if what.own != root:
        return what.sent(root, collective_message(what.call, 0))
    parts = collective_message(what.call, 3)
    own = [] if what.is_in_place(0) else what.kept(_part(parts, root), collective_message(what.call, 0))
    return [*own, *(each for rank in what.others for each in what.heard(rank, _part(parts, rank)))]


def _gathered_by_all(what: _Collective) -> list[ThreadStatement]:
    """`MPI_Allgather`: what is sent, what is received (of each), communicator."""
    parts = collective_message(what.call, 3)
    mine = _part(parts, what.own) if what.is_in_place(0) else collective_message(what.call, 0)
    found = [each for rank in what.others for each in what.sent(rank, mine)]
    found += what.kept(_part(parts, what.own), mine)
    return [*found, *(each for rank in what.others for each in what.heard(rank, _part(parts, rank)))]


def _scattered(what: _Collective) -> list[ThreadStatement]:
    """`MPI_Scatter`: what is sent (to each), what is received, root, communicator."""
    root = what.root(6)
    if what.own != root:
        return what.heard(root, collective_message(what.call, 3))
    parts = collective_message(what.call, 0)
    own = [] if what.is_in_place(3) else what.kept(collective_message(what.call, 3), _part(parts, root))
    return [*own, *(each for rank in what.others for each in what.sent(rank, _part(parts, rank)))]


def _exchanged(what: _Collective) -> list[ThreadStatement]:
    """`MPI_Alltoall`: what is sent (to each), what is received (of each), communicator."""
    if what.is_in_place(0):
        raise Refusal("RR814", "MPI_Alltoall in place is not modelled", "a buffer to send from")
    sent, received = collective_message(what.call, 0), collective_message(what.call, 3)
    found = [each for rank in what.others for each in what.sent(rank, _part(sent, rank))]
    found += what.kept(_part(received, what.own), _part(sent, what.own))
    return [*found, *(each for rank in what.others for each in what.heard(rank, _part(received, rank)))]


# reductions


def _reduction(is_for_all: bool) -> Callable[[_Collective], list[ThreadStatement]]:
    """`MPI_Reduce` and `MPI_Allreduce`: what is sent, where the result goes, count, type, operation, root if there is one.
    What each contributes is known, or the result is not."""

    def work(what: _Collective) -> list[ThreadStatement]:
        call, root = what.call, what.own if is_for_all else what.root(5)
        count, kind, operation = call.number(2, "the number of elements"), datatype(call, 3), call.number(4, "the operation")
        if kind.size != kind.basic.element.size or operation not in _REDUCED:
            raise Refusal("RR814", "this reduction is not modelled", "MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX and those of bits")
        own, found = _elements(call, 1 if what.is_in_place(0) else 0, count, kind.basic.element)
        given = contributed(call, (call.name, what.context), what.processes, own)
        receivers = what.others if is_for_all else [root] if what.own != root else []
        found += [each for rank in receivers for each in what.sent(rank, None)]
        if not is_for_all and what.own != root:
            return found
        found += [each for rank in what.others for each in what.heard(rank, None)]
        name, offset = call.address(1, "where the result goes")
        for index, value in enumerate(reduction_results(call, _REDUCED[operation], given, count, kind.basic.element)):
            at = offset + index * kind.basic.element.size
            element = CType("int", kind.basic.element.size)
            found += call.run.store(call.state, call.frame, name, at, kind=element, value=value)
        return found

    return work


def _elements(call: CallContext, at: int, count: int, kind: CType) -> tuple[tuple[Scalar, ...], list[ThreadStatement]]:
    """Return the elements of a buffer as far as they are known, and the reads that others see."""
    name, offset = call.address(at, "what is reduced")
    values: list[Scalar] = []
    reads: list[ThreadStatement] = []
    for index in range(count):
        element = CType("int", kind.size)
        value, read = call.run.load(
            call.state, call.frame, name, offset + index * kind.size, kind=element, hint=f"part{index}"
        )
        values.append(value if isinstance(value, int) else _UNKNOWN)
        reads += read
    return tuple(values), reads


# communicators


def _new_name(call: CallContext, kind: str) -> str:
    number = call.state.numbers.get("communicators", 0) + 1
    call.state.numbers["communicators"] = number
    return f"{communicator(call, 0)[0]}{kind}{number}"


def _comm_dup(call: CallContext) -> Result:
    store_handle(call, call.arguments[1], "communicator", (_new_name(call, "dup"), *members(call, 0)))
    return 0


def _comm_split(call: CallContext) -> Result:
    """`MPI_Comm_split`: communicator, colour, key, where the new one goes: those of one colour, by their keys."""
    colour, name, processes = call.number(1, "the colour"), _new_name(call, "split"), members(call, 0)
    given: list[Hashable | None] = contributed(call, name, processes, (colour, call.number(2, "the key")))
    said = [each for each in given if isinstance(each, tuple)]
    if len(said) < len(processes):
        raise Refusal("RR814", "the colours and keys of all processes are not known here", "numbers that are known")
    if colour == NUMBERS["UNDEFINED"]:
        call.set_private(call.arguments[3], 8, 0, "this communicator")
        return 0
    chosen = sorted((key, rank) for rank, (other, key) in enumerate(said) if other == colour)
    own = (f"{name}of{colour}", *(processes[rank] for _, rank in chosen))
    store_handle(call, call.arguments[3], "communicator", own)
    return 0


MPI_COLLECTIVES: Final[dict[str, Handler]] = {
    "MPI_Bcast": _collective(4, _broadcast),
    "MPI_Gather": _collective(7, _gathered),
    "MPI_Allgather": _collective(6, _gathered_by_all),
    "MPI_Scatter": _collective(7, _scattered),
    "MPI_Alltoall": _collective(6, _exchanged),
    "MPI_Reduce": _collective(6, _reduction(is_for_all=False)),
    "MPI_Allreduce": _collective(5, _reduction(is_for_all=True)),
    "MPI_Comm_dup": _comm_dup,
    "MPI_Comm_split": _comm_split,
}
"""The handlers of collective calls, and of those that make communicators."""
