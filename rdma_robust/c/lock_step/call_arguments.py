"""Arguments of calls of MPI, with the checks that the standard asks of each by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.c.evaluate.c_values import Object, Pointer, UnknownValue, Value, is_unset, known_scalar
from rdma_robust.c.evaluate.calls import CallContext
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.mpi.datatypes import Datatype, datatype_of
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.libraries.mpi import FILLED, NUMBERS, OPERATIONS, ROWS, TYPES
from rdma_robust.c.lock_step.channels import ANY, Communicator
from rdma_robust.c.lock_step.message_layouts import NOTHING, BufferLayout, doubled_byte
from rdma_robust.c.lock_step.rank_machine import WrongCallError, rank_of

PROC_NULL: Final = NUMBERS["PROC_NULL"]
TAG_UB: Final = 2**30
NOBODY: Final = -1
"""The root of a call between two groups for those of its own group that have no part in it."""
BETWEEN: Final = "|"
"""What stands between the processes of two groups in the key of a handle."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The arguments of a send or receive: where the data is, the process at the other end (`ANY`, PROC_NULL), tag, and
    communicator."""

    layout: BufferLayout
    peer: int
    tag: int
    communicator: Communicator


def wrong(call: CallContext, kind: str, text: str) -> WrongCallError:
    """Return the exception for a call that is wrong by itself."""
    return WrongCallError(kind, f"{call.name}: {text}")


def with_arguments(call: CallContext, arguments: list[Value]) -> CallContext:
    """Return a call with other arguments."""
    return CallContext(call.run, call.state, call.frame, call.call, arguments, call.name, call.chain, call.push)


def check_pointers(call: CallContext) -> None:
    """Raises WrongCallError for a call that gets NULL where it stores what it gives back."""
    for nth, (letter, value) in enumerate(
        zip(ROWS.get(call.name.removeprefix("MPI_"), ()), call.arguments, strict=False), 1
    ):
        if letter in (*FILLED, "s") and known_scalar(value) == 0:
            hint = " (MPI_STATUS_IGNORE is not)" if letter == "s" else ""
            raise wrong(call, "invalid-argument", f"argument {nth} is NULL{hint}")


def mpi_handle(call: CallContext, index: int, kind: str, what: str) -> tuple[object, ...] | int:
    """Return what a handle was made with, or the number of a predefined one. Raises WrongCallError for one without value."""
    found = known_scalar(call.arguments[index])
    if isinstance(found, Pointer) and found.object.kind == "handle" and found.object.name == kind:
        return found.object.key
    if isinstance(found, int):
        return found
    if is_unset(found):
        raise wrong(call, f"invalid-{what}", f"the {what} is not initialised")
    if isinstance(found, UnknownValue):
        raise Refusal("RR819", f"this {what} depends on {found.reason}, which is not known here")
    raise wrong(call, f"invalid-{what}", f"this is no {what}")


def communicator_at(call: CallContext, index: int, *, has_two_groups: bool = False) -> Communicator:
    """Return the communicator that an argument is. Raises WrongCallError for none, and for one of two groups unless it may
    have them."""
    rank = rank_of(call)
    found = mpi_handle(call, index, "communicator", "communicator")
    if found == NUMBERS["COMM_WORLD"]:
        return Communicator("", tuple(range(rank.job.processes)))
    if found == NUMBERS["COMM_SELF"]:
        return Communicator(f"self{rank.number}", (rank.number,))
    if isinstance(found, int):
        said = "MPI_COMM_NULL" if found == 0 else f"the number {found}"
        raise wrong(call, "invalid-communicator", f"the communicator is {said}")
    if not rank.owned.get(("communicator", found)):
        raise wrong(call, "invalid-communicator", "the communicator is freed")
    at = found.index(BETWEEN) if BETWEEN in found else len(found)
    if at < len(found) and not has_two_groups:
        raise wrong(call, "invalid-communicator", "it is an inter-communicator")
    members, remote = (tuple(int(str(each)[1:]) for each in part) for part in (found[1:at], found[at + 1 :]))
    return Communicator(str(found[0]), members, remote)


def datatype_at(call: CallContext, index: int, *, used: bool = True) -> Datatype:
    """Return the type that an argument is; one that is `used` for data has to be committed."""
    rank = rank_of(call)
    found = mpi_handle(call, index, "type", "datatype")
    if isinstance(found, int):
        if not 1 <= found <= len(TYPES):
            said = "MPI_DATATYPE_NULL" if found == 0 else f"the number {found}"
            raise wrong(call, "invalid-datatype", f"the datatype is {said}")
    elif not rank.owned.get(("type", found)):
        raise wrong(call, "invalid-datatype", "the datatype is freed")
    elif used and found not in rank.committed:
        raise wrong(call, "invalid-datatype", "the datatype is not committed")
    return datatype_of(call.arguments[index])


def operation_at(call: CallContext, index: int) -> str:
    """Return the name of the operation that an argument is; "" for one of the program."""
    found = mpi_handle(call, index, "operation", "operation")
    if isinstance(found, int):
        if not 1 <= found <= len(OPERATIONS) or OPERATIONS[found - 1] in ("REPLACE", "NO_OP"):
            said = "MPI_OP_NULL" if found == 0 else "not one of reductions"
            raise wrong(call, "invalid-operation", f"the operation is {said}")
        return OPERATIONS[found - 1]
    if not rank_of(call).owned.get(("operation", found)):
        raise wrong(call, "invalid-operation", "the operation is freed")
    return ""


def count_at(call: CallContext, index: int) -> int:
    """Return a number of elements."""
    found = call.number(index, "the number of elements")
    if found < 0:
        raise wrong(call, "invalid-count", f"the number of elements is {found}")
    return found


def layout_of(call: CallContext, buffer: Value, count: int, kind: Datatype) -> BufferLayout:
    """Return the memory of so many elements of a type at an address."""
    runs = tuple(kind.laid_out(count))
    if not any(each.size for each in runs):
        return NOTHING
    found = known_scalar(buffer)
    if isinstance(found, UnknownValue):
        if is_unset(found):
            raise wrong(call, "invalid-buffer", "the buffer is not initialised")
        raise Refusal("RR811", f"this buffer is {found.reason}, which is not known here")
    if not isinstance(found, Pointer):
        said = "NULL" if found == 0 else "no address of an object"
        raise wrong(call, "invalid-buffer", f"the buffer is {said}, for {count} elements")
    name, rank = found.object, rank_of(call)
    if name.kind != "text" and name not in call.state.memory and name.kind != "global":
        raise wrong(call, "invalid-buffer", f"`{name.name}` is memory that is no more")
    layout = BufferLayout(name, found.offset, runs)
    if (total := rank.world.sizes.get(name, 0)) == 0:
        return layout
    low = min(each for each, _ in layout.ranges)
    high = max(each for _, each in layout.ranges)
    return (
        BufferLayout(stand_in(call, name, low, high), found.offset - min(low, 0), runs)
        if low < 0 or high > total
        else layout
    )


def stand_in(call: CallContext, name: Object, low: int, high: int) -> Object:
    """Say that a call reaches beyond an object, and return one that is large enough, by which what else is wrong is looked
    for. Nothing is known of the contents of both."""
    rank, total = rank_of(call), rank_of(call).world.sizes[name]
    said = f"{call.name}: bytes {low} to {high} of `{name.name}`, which has {total}"
    rank.wrong("buffer-overflow", said, call.chain)
    larger = replace(name, key=(*name.key, "beyond"))
    rank.world.sizes[larger] = max(high - min(low, 0), rank.world.sizes.get(larger, 0))
    for each in (name, larger):
        unknown = UnknownValue(f"what `{name.name}` has where {call.name} of line {call.chain[0].line} reaches beyond it")
        call.state.place(each, ObjectBytes({0: (rank.world.sizes[each], unknown)}))
    return larger


def check_written_once(call: CallContext, layout: BufferLayout) -> None:
    """Raises WrongCallError for memory of a receive whose type has some byte twice."""
    if (byte := doubled_byte([layout])) is not None:
        raise wrong(call, "buffer-alias", f"elements of the datatype overlap in byte {byte} of the buffer")


def peer_at(call: CallContext, index: int, communicator: Communicator, *, any_source: bool = False) -> int:
    """Return the process that a rank is, PROC_NULL, or ANY where it may be that."""
    found = call.number(index, "the rank")
    if found == PROC_NULL or (any_source and found == ANY):
        return found
    if not 0 <= found < len(communicator.peers):
        what = "source" if any_source else "destination"
        raise wrong(call, "invalid-rank", f"{what} {found} of {len(communicator.peers)} processes")
    return communicator.peers[found]


def tag_at(call: CallContext, index: int, *, any_tag: bool = False) -> int:
    """Return a tag."""
    found = call.number(index, "the tag")
    if not (0 <= found <= TAG_UB or (any_tag and found == ANY)):
        raise wrong(call, "invalid-tag", f"the tag is {found}")
    return found


def root_at(call: CallContext, index: int, communicator: Communicator) -> int:
    """Return the process that is the root of a call. Between two groups, those of one of them give MPI_ROOT for it, and
    MPI_PROC_NULL for all others, which are `NOBODY`."""
    found = call.number(index, "the root")
    if communicator.remote and found in (NUMBERS["ROOT"], PROC_NULL):
        return rank_of(call).number if found == NUMBERS["ROOT"] else NOBODY
    if not 0 <= found < len(communicator.peers):
        raise wrong(call, "invalid-root", f"root {found} of {len(communicator.peers)} processes")
    return communicator.peers[found]


def envelope_at(call: CallContext, first: int, communicator: int, *, receives: bool) -> Envelope:
    """Return what six arguments are: address, number of elements, type, rank, tag; and the communicator."""
    group = communicator_at(call, communicator, has_two_groups=True)
    count, kind = count_at(call, first + 1), datatype_at(call, first + 2)
    peer = peer_at(call, first + 3, group, any_source=receives)
    tag = tag_at(call, first + 4, any_tag=receives)
    layout = NOTHING if peer == PROC_NULL else layout_of(call, call.arguments[first], count, kind)
    if receives:
        check_written_once(call, layout)
    return Envelope(layout, peer, tag, group)


def group_members(call: CallContext, index: int) -> tuple[int, ...]:
    """Return the processes of the group that an argument is. Raises WrongCallError for MPI_GROUP_NULL."""
    found = mpi_handle(call, index, "group", "group")
    if isinstance(found, int):
        if found == 1:
            return ()
        raise wrong(call, "invalid-group", "the group is MPI_GROUP_NULL")
    return tuple(int(str(each)[1:]) for each in found)
