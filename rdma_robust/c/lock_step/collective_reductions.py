"""Reductions of MPI: what they make of the data of several processes, in the order of their ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import Scalar, UnknownValue, canonical, known_scalar, value_of_raw
from rdma_robust.c.evaluate.calls import CallContext, Result
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.mpi.datatypes import Datatype
from rdma_robust.c.evaluate.one_sided.contributions import reduced
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.libraries.mpi import PAIRS, TYPES
from rdma_robust.c.lock_step.call_arguments import (
    NOBODY,
    count_at,
    datatype_at,
    layout_of,
    mpi_handle,
    operation_at,
    root_at,
    wrong,
)
from rdma_robust.c.lock_step.collective_arguments import CollectiveArguments
from rdma_robust.c.lock_step.collective_entries import CollectiveEntry
from rdma_robust.c.lock_step.message_layouts import EMPTY, BufferLayout, MessageData, delivered_into, message_data
from rdma_robust.c.lock_step.rank_machine import rank_of
from rdma_robust.c.lock_step.user_operations import UserOperation

_COMBINED: Final = {"SUM": "sum", "PROD": "prod", "MIN": "min", "MAX": "max", "BAND": "and", "BOR": "or", "BXOR": "xor"}
_LOGICAL: Final[Mapping[str, Callable[[list[bool]], bool]]] = {
    "LAND": all, "LOR": any, "LXOR": lambda given: sum(given) % 2 == 1
}  # fmt: skip
_OF_INTEGERS: Final = ("LAND", "LOR", "LXOR", "BAND", "BOR", "BXOR")
_OF_PAIRS: Final = ("MAXLOC", "MINLOC")
_NOT_KNOWN: Final = UnknownValue("what this reduction gives")


def _combined(operation: str, kind: CType, values: list[Scalar]) -> Scalar:
    """Return the raw value that an operation gives."""
    if operation in _COMBINED:
        return reduced(_COMBINED[operation], values, kind)
    numbers = [each for each in values if isinstance(each, int)]
    if operation in _LOGICAL and len(numbers) == len(values):
        return canonical(int(_LOGICAL[operation]([each != 0 for each in numbers])), kind.size)
    return _NOT_KNOWN


def _located(operation: str, pair: str, given: Sequence[ObjectBytes], at: int) -> tuple[Scalar, Scalar]:
    """Return value and index, raw, that an operation on pairs gives: of equal values the one with the lowest index."""
    name, _, _ = PAIRS[pair]
    kind, size, signed = TYPES[name]
    of = CType("float" if kind == "float" else "int", size, signed)
    raws = [(known_scalar(each.read(at, size, "data")), known_scalar(each.read(at + size, 4, "data"))) for each in given]
    values = [(value_of_raw(raw, of), index, raw) for raw, index in raws]
    known = [
        (value, index, raw) for value, index, raw in values if isinstance(value, int | float) and isinstance(index, int)
    ]
    if len(known) < len(values):
        return _NOT_KNOWN, _NOT_KNOWN
    best = (max if operation == "MAXLOC" else min)(value for value, _, _ in known)
    return min(((raw, index) for value, index, raw in known if value == best), key=lambda each: each[1])


def _written(operation: str, kind: Datatype, count: int, data: Sequence[MessageData]) -> ObjectBytes:
    """Return what a predefined operation makes of data, element by element."""
    block, names, pairs = ObjectBytes(), {each.name for each in kind.runs}, {each.pair for each in kind.runs}
    given = [each.block for each in data]
    if operation in _OF_PAIRS and len(pairs) == 1 and (pair := pairs.pop()).endswith("INT"):
        first = TYPES[PAIRS[pair][0]][1]
        for at in range(0, count * kind.size, first + 4):
            value, index = _located(operation, pair, given, at)
            block.write(at, first, value)
            block.write(at + first, 4, index)
    elif len(names) == 1 and (operation == "SUM" or not any(pairs)):
        element = kind.runs[0].element
        for at in range(0, count * kind.size, element.size):
            values = [known_scalar(each.read(at, element.size, "data")) for each in given]
            block.write(at, element.size, _combined(operation, element, values))
    else:
        block.write(0, max(count * kind.size, 1), _NOT_KNOWN)
    return block


def _reduction(
    call: CallContext, count: int, kind: Datatype, operation: str, target: BufferLayout
) -> Callable[[State, dict[int, MessageData]], None]:
    """Return what stores the result of a reduction of all that is taken. Type and operation are the fourth and the fifth
    argument."""
    made = mpi_handle(call, 4, "operation", "operation")
    own = None if isinstance(made, int) else UserOperation(str(made[0]), bool(made[1]), kind, call.arguments[3], count)

    def combine(state: State, found: dict[int, MessageData]) -> None:
        data = list(found.values())
        block = _written(operation, kind, count, data) if own is None else own.applied(call, state, data).block
        if target.object is not None:
            delivered_into(call.run, state, MessageData(block, count * kind.size, None), target)

    return combine


def reduction_form(kind_of_call: str) -> Callable[[CollectiveArguments], CollectiveEntry]:
    """What is given, where the result goes, count, type, operation, and the root if there is one."""

    def work(what: CollectiveArguments) -> CollectiveEntry:
        call, members, own = what.call, what.group.members, what.own
        count, kind = count_at(call, 2), datatype_at(call, 3)
        operation = _checked_operation(call, 4, kind)
        root = root_at(call, 5, what.group) if kind_of_call == "root" else None
        found = what.entered(root, operation)
        in_place = what.is_in_place(0)
        has_part = root is None or not what.group.remote or root not in (own, NOBODY)
        mine = what.read_data(what.piece(1 if in_place else 0, count, 0, kind)) if has_part else EMPTY
        rank, peers = members.index(own), what.group.peers
        takers = {"root": (root,), "all": peers, "scan": members[rank:], "exscan": members[rank + 1 :]}[kind_of_call]
        found.gives = {each: mine for each in takers if each is not None and has_part}
        givers = {
            "root": peers if own == root else (),
            "all": peers,
            "scan": members[: rank + 1],
            "exscan": members[:rank],
        }
        if givers[kind_of_call]:
            target = what.used(what.piece(1, count, 0, kind), writes=True)
            found.takes = dict.fromkeys(givers[kind_of_call], BufferLayout(None, 0, target.runs))
            found.combine = _reduction(what.call, count, kind, operation, target)
        return found

    return work


def _checked_operation(call: CallContext, index: int, kind: Datatype) -> str:
    operation = operation_at(call, index)
    floats = any(each.element.kind == "float" for each in kind.runs)
    if operation in _OF_INTEGERS and floats:
        raise wrong(call, "invalid-operation", f"MPI_{operation} is not defined for numbers with a fraction")
    return operation


def _lengths(what: CollectiveArguments, count: int, *, varying: bool) -> list[int]:
    """Return how many elements each process gets: as many each, or those of a list, the third argument."""
    if not varying:
        return [count] * len(what.group.members)
    name, offset = what.call.address(2, "the list of numbers of elements")
    found = [what.call.run.raw_read(what.call.state, name, offset + 4 * at, 4) for at, _ in enumerate(what.group.members)]
    known = [each for each in found if isinstance(each, int) and each >= 0]
    if len(known) < len(found):
        raise wrong(what.call, "invalid-count", "a number of elements is negative, or not known here")
    return known


def scattering(*, varying: bool) -> Callable[[CollectiveArguments], CollectiveEntry]:
    """What is given, where the result goes, numbers of elements, type, operation."""

    def work(what: CollectiveArguments) -> CollectiveEntry:
        call, members, kind = what.call, what.group.members, datatype_at(what.call, 3)
        lengths = _lengths(what, 0 if varying else count_at(call, 2), varying=varying)
        operation = _checked_operation(call, 4, kind)
        found, buffer = what.entered(None, operation), 1 if what.is_in_place(0) else 0
        own = members.index(what.own)
        before, count, total = sum(lengths[:own]), lengths[own], sum(lengths)
        target = what.used(what.piece(1, count, 0, kind), writes=True)
        combine = _reduction(call, count, kind, operation, target)
        if what.group.remote:  # the other group divides the whole by its own lengths
            whole = what.read_data(what.piece(buffer, total, 0, kind))
            found.gives = dict.fromkeys(what.group.remote, whole)
            found.takes = dict.fromkeys(what.group.remote, BufferLayout(None, 0, tuple(kind.laid_out(total))))
            found.combine = lambda state, data: combine(
                state, {each: _segment(given, before * kind.size, count * kind.size) for each, given in data.items()}
            )
            return found
        for at, each in enumerate(members):
            found.gives[each] = what.read_data(what.piece(buffer, lengths[at], sum(lengths[:at]), kind))
        found.takes = dict.fromkeys(members, BufferLayout(None, 0, target.runs))
        found.combine = combine
        return found

    return work


def _segment(data: MessageData, begin: int, size: int) -> MessageData:
    """Return a part of data."""
    block = ObjectBytes()
    for low, width, value in data.block.pieces(begin, size, "a message"):
        block.write(low, width, value)
    return MessageData(block, size, data.basic)


def reduce_local(call: CallContext) -> Result:
    """What is given, where the other part is and the result goes, number of elements, type, operation."""
    rank, count, kind = rank_of(call), count_at(call, 2), datatype_at(call, 3)
    operation = _checked_operation(call, 4, kind)
    given, target = (layout_of(call, call.arguments[at], count, kind) for at in (0, 1))
    rank.note_layout(call.state, given, is_write=False)
    rank.note_layout(call.state, target, is_write=True)
    data = {at: message_data(rank, call.state, each) for at, each in enumerate((given, target))}
    _reduction(call, count, kind, operation, target)(call.state, data)
    return 0
