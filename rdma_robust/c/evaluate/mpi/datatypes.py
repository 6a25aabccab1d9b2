"""Types of MPI: predefined ones, and what the constructors make of them, as runs of elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import Value, binary, map_two
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, as_number
from rdma_robust.c.evaluate.mpi.handles import handle_key
from rdma_robust.c.evaluate.one_sided.spmd import store_handle
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.libraries.mpi import NUMBERS, PAIRS, TYPES

_TYPES: Final = tuple(TYPES.items())
_MOST_RUNS: Final = 20_000
_AINT: Final = CType("int", 8, signed=True)


@dataclass(frozen=True, slots=True)
class ElementRun:
    """Elements of one predefined type, one behind the other: where the first is, and how many; `pair` is the predefined type
    of two numbers that they are of, if they are."""

    offset: int
    name: str
    element: CType
    count: int
    pair: str = ""

    @property
    def predefined(self) -> str:
        """The predefined type as accumulates tell them apart: `MPI_2INT` is another one than `MPI_INT` (MPI 4.1, 12.7.1)."""
        return self.pair or self.name

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.element.size * self.count

    @property
    def whole(self) -> int:
        """The bytes of what accumulates combine as a whole: an element, or a pair."""
        return TYPES[self.pair][1] if self.pair else self.element.size


@dataclass(frozen=True, slots=True)
class Datatype:
    """A type: its runs, in the order of its type map; its lower bound and extent, and whether these were given."""

    runs: tuple[ElementRun, ...]
    low: int
    extent: int
    is_resized: bool = False

    @property
    def size(self) -> int:
        """Its bytes."""
        return sum(each.size for each in self.runs)

    @property
    def is_contiguous(self) -> bool:
        """Whether elements of it, one behind the other, have no gaps."""
        return (self.low, self.extent) == (0, self.size) and len(self.runs) < 2 and not any(r.offset for r in self.runs)

    @property
    def basic(self) -> ElementRun:
        """Its elements, which have one predefined type. Raises RR814 if they have several."""
        if len({each.name for each in self.runs}) != 1:
            raise Refusal("RR814", "elements of several types are not modelled here", "one predefined type")
        return self.runs[0]

    def laid_out(self, count: int) -> list[ElementRun]:
        """Return the runs of so many elements, one behind the other."""
        if self.is_contiguous:
            return [replace(each, count=each.count * count) for each in self.runs] if count else []
        return _merged((self, number * self.extent) for number in range(count))


def _merged(parts: Iterable[tuple[Datatype, int]]) -> list[ElementRun]:
    """Return the runs of types at distances; what is adjacent is one run."""
    found: list[ElementRun] = []
    for kind, distance in parts:
        for each in kind.runs:
            last, offset = found[-1] if found else None, each.offset + distance
            if last is not None and (last.name, last.pair, last.offset + last.size) == (each.name, each.pair, offset):
                found[-1] = replace(last, count=last.count + each.count)
            else:
                found.append(replace(each, offset=offset))
            if len(found) > _MOST_RUNS:
                raise Refusal("RR817", f"more than {_MOST_RUNS} pieces of a type are not followed", "fewer elements")
    return found


def _predefined(number: int) -> Datatype:
    name, (kind, size, signed) = _TYPES[number - 1]
    if kind == "pair":
        first, second, at = PAIRS[name]
        parts = [(_predefined(NUMBERS[first]), 0), (_predefined(NUMBERS[second]), at)]
        return Datatype(tuple(replace(each, pair=name) for each in _merged(parts)), 0, size)
    element = CType("float" if kind == "float" else "int", size, signed)
    return Datatype((ElementRun(0, name, element, 1),), 0, size)


def datatype_of(value: Value) -> Datatype:
    """Return the type that a handle is."""
    made = handle_key(value, "type")
    if made is None:
        number = as_number(value, "this type")
        if not 1 <= number <= len(_TYPES):
            raise Refusal("RR814", "this type is not known here", "predefined types, and what is made of them")
        return _predefined(number)
    low, extent, is_resized, *numbers = map(int, made)
    runs: list[ElementRun] = []
    for at in range(0, len(numbers), 4):
        offset, number, count, pair = numbers[at : at + 4]
        of = _TYPES[pair - 1][0] if pair else ""
        runs.append(replace(_predefined(number).runs[0], offset=offset, count=count, pair=of))
    return Datatype(tuple(runs), low, extent, bool(is_resized))


def datatype(call: CallContext, index: int) -> Datatype:
    """Return the type that an argument is."""
    return datatype_of(call.arguments[index])


# constructors


_Part = tuple[Datatype, int, int]
"""Elements of a type: the type, where they begin, and how many there are."""


def _made(parts: Sequence[_Part]) -> Datatype:
    """Return the type of these parts. Its bounds are those that parts were given, else those of its bytes, rounded up so
    that elements behind each other are aligned."""
    chosen = [each for each in parts if each[2]]
    runs = tuple(_merged((kind, at + number * kind.extent) for kind, at, count in chosen for number in range(count)))
    bounding = [each for each in chosen if each[0].is_resized] or chosen
    lows = [at + kind.low + min(0, (count - 1) * kind.extent) for kind, at, count in bounding]
    highs = [at + kind.low + kind.extent + max(0, (count - 1) * kind.extent) for kind, at, count in bounding]
    low, extent = min(lows, default=0), max(highs, default=0) - min(lows, default=0)
    is_resized = any(kind.is_resized for kind, _, _ in chosen)
    align = 1 if is_resized else max((each.element.size for each in runs), default=1)
    return Datatype(runs, low, -(-extent // align) * align, is_resized)


def _list(call: CallContext, index: int, count: int, size: int) -> list[int]:
    """Return numbers of a list that an argument points to."""
    name, offset = call.address(index, "a list of this type")
    values = [call.run.raw_read(call.state, name, offset + size * at, size) for at in range(count)]
    return [as_number(each, "a number of this type") for each in values]


def _count(call: CallContext, index: int = 0) -> int:
    found = call.number(index, "a number of this type")
    if found < 0:
        raise Refusal("RR818", f"a type of {found} elements is none")
    return found


def _contiguous(call: CallContext) -> list[_Part]:
    return [(datatype(call, 1), 0, _count(call))]


def _vector(is_in_bytes: bool) -> Callable[[CallContext], list[_Part]]:
    def parts(call: CallContext) -> list[_Part]:
        kind, stride = datatype(call, 3), call.number(2, "the stride")
        step = stride if is_in_bytes else stride * kind.extent
        return [(kind, at * step, _count(call, 1)) for at in range(_count(call))]

    return parts


def _indexed(is_in_bytes: bool) -> Callable[[CallContext], list[_Part]]:
    def parts(call: CallContext) -> list[_Part]:
        kind, count = datatype(call, 3), _count(call)
        step, size = (1, 8) if is_in_bytes else (kind.extent, 4)
        places = _list(call, 2, count, size)
        return [(kind, at * step, each) for at, each in zip(places, _list(call, 1, count, 4), strict=True)]

    return parts


def _block(is_in_bytes: bool) -> Callable[[CallContext], list[_Part]]:
    def parts(call: CallContext) -> list[_Part]:
        kind, length = datatype(call, 3), _count(call, 1)
        step, size = (1, 8) if is_in_bytes else (kind.extent, 4)
        return [(kind, at * step, length) for at in _list(call, 2, _count(call), size)]

    return parts


def _struct(call: CallContext) -> list[_Part]:
    count = _count(call)
    name, offset = call.address(3, "the types of this type")
    kinds = [datatype_of(call.run.raw_read(call.state, name, offset + 8 * at, 8)) for at in range(count)]
    return list(zip(kinds, _list(call, 2, count, 8), _list(call, 1, count, 4), strict=True))


def _constructor(parts: Callable[[CallContext], list[_Part]]) -> Handler:
    """A constructor whose last argument is where the new type goes."""

    def handler(call: CallContext) -> Result:
        return _stored(call, _made(parts(call)))

    return handler


def _stored(call: CallContext, kind: Datatype) -> Result:
    runs = [number for each in kind.runs for number in _numbers(each)]
    store_handle(call, call.arguments[-1], "type", (kind.low, kind.extent, int(kind.is_resized), *runs))
    return 0


def _numbers(run: ElementRun) -> tuple[int, ...]:
    return run.offset, NUMBERS[run.name], run.count, NUMBERS[run.pair] if run.pair else 0


def _subarray(call: CallContext) -> Result:
    """`MPI_Type_create_subarray`: dimensions, sizes, those of the part, where it begins, order, type, where the new one
    goes."""
    kind, count = datatype(call, 5), _count(call)
    sizes, inner, starts = (_list(call, index, count, 4) for index in (1, 2, 3))
    if call.number(4, "the order") == 2:  # that of Fortran: the first index is the fastest
        sizes, inner, starts = sizes[::-1], inner[::-1], starts[::-1]
    if any(low < 0 or length < 1 or low + length > size for size, length, low in zip(sizes, inner, starts, strict=True)):
        raise Refusal("RR818", "this part is not inside of the array")
    steps = [prod(sizes[at + 1 :]) for at in range(count)]
    places = [0]
    for start, length, step in zip(starts[:-1], inner[:-1], steps[:-1], strict=True):
        places = [place + (start + at) * step for place in places for at in range(length)]
    rows: list[_Part] = [(kind, (place + starts[-1]) * kind.extent, inner[-1]) for place in places]
    return _stored(call, Datatype(_made(rows).runs, 0, prod(sizes) * kind.extent, is_resized=True))


def _resized(call: CallContext) -> Result:
    kind, low, extent = datatype(call, 0), call.number(1, "the lower bound"), call.number(2, "the extent")
    return _stored(call, Datatype(kind.runs, low, extent, is_resized=True))


def _dup(call: CallContext) -> Result:
    return _stored(call, datatype(call, 0))


def _extent(is_true: bool) -> Handler:
    """`MPI_Type_get_extent`, `MPI_Type_get_true_extent`: type, where the lower bound and the extent go."""

    def handler(call: CallContext) -> Result:
        kind = datatype(call, 0)
        low, extent = kind.low, kind.extent
        if is_true:
            low = min((each.offset for each in kind.runs), default=0)
            extent = max((each.offset + each.size for each in kind.runs), default=0) - low
        call.set_private(call.arguments[1], 8, low, "the lower bound")
        call.set_private(call.arguments[2], 8, extent, "the extent")
        return 0

    return handler


def _size(call: CallContext) -> Result:
    call.set_private(call.arguments[1], 4, datatype(call, 0).size, "the answer")
    return 0


def _get_address(call: CallContext) -> Result:
    call.set_private(call.arguments[1], 8, call.arguments[0], "this address")
    return 0


def _aint(operator: str) -> Handler:
    """`MPI_Aint_add`, `MPI_Aint_diff`: an operation of addresses as numbers."""

    def handler(call: CallContext) -> Result:
        left, right, *_ = call.arguments
        return map_two(left, right, lambda x, y: binary(operator, x, y, _AINT, _AINT))

    return handler


DATATYPES: Final[dict[str, Handler]] = {
    "MPI_Type_contiguous": _constructor(_contiguous),
    "MPI_Type_vector": _constructor(_vector(is_in_bytes=False)),
    "MPI_Type_create_hvector": _constructor(_vector(is_in_bytes=True)),
    "MPI_Type_indexed": _constructor(_indexed(is_in_bytes=False)),
    "MPI_Type_create_hindexed": _constructor(_indexed(is_in_bytes=True)),
    "MPI_Type_create_indexed_block": _constructor(_block(is_in_bytes=False)),
    "MPI_Type_create_hindexed_block": _constructor(_block(is_in_bytes=True)),
    "MPI_Type_create_struct": _constructor(_struct),
    "MPI_Type_create_subarray": _subarray,
    "MPI_Type_create_resized": _resized,
    "MPI_Type_dup": _dup,
    "MPI_Type_size": _size,
    "MPI_Type_get_extent": _extent(is_true=False),
    "MPI_Type_get_true_extent": _extent(is_true=True),
    "MPI_Get_address": _get_address,
    "MPI_Aint_add": _aint("+"),
    "MPI_Aint_diff": _aint("-"),
}
"""The handlers of types, and of addresses as numbers."""


# data at two ends


@dataclass(frozen=True, slots=True)
class TransferPiece:
    """Bytes of a transfer: where they are here and there, how many, and the size of an element."""

    here: int
    there: int
    size: int
    element: int


def transfer_pieces(here: Sequence[ElementRun], there: Sequence[ElementRun]) -> list[TransferPiece]:
    """Return the pieces of a transfer between two layouts. Raises RR814 if they have different lengths."""
    if sum(each.size for each in here) != sum(each.size for each in there):
        raise Refusal("RR814", "a transfer of other lengths at its two ends is not modelled", "the same count and type")
    found: list[TransferPiece] = []
    places = [(each.offset, each.size) for each in there]
    at = used = 0
    for each in here:
        done = 0
        while done < each.size:
            offset, size = places[at]
            count = min(each.size - done, size - used)
            found.append(TransferPiece(each.offset + done, offset + used, count, each.element.size))
            done, used = done + count, used + count
            if used == size:
                at, used = at + 1, 0
    return found


def elements(runs: Iterable[ElementRun]) -> list[ElementRun]:
    """Return the elements of runs, one by one."""
    return [replace(each, offset=each.offset + at * each.element.size, count=1) for each in runs for at in range(each.count)]
