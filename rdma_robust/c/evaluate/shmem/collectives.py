"""OpenSHMEM: collective functions that end for nobody before all have begun. Each process reads its source, they meet, and
each writes its target. What is contributed is known, or the result is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import Scalar, UnknownValue, Value, canonical
from rdma_robust.c.evaluate.calls import CallContext, Result
from rdma_robust.c.evaluate.one_sided.spmd import meeting, reaches_others
from rdma_robust.c.evaluate.operations import ThreadStatement
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.shmem.contexts import ShmemContext, own_team
from rdma_robust.c.libraries.openshmem import ShmemFunction

_REDUCED: Final[Mapping[str, Callable[[int, int], int]]] = {
    "sum": lambda x, y: x + y,
    "prod": lambda x, y: x * y,
    "min": min,
    "max": max,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
}
_UNKNOWN: Final = UnknownValue("what a collective function gives")
Contributions = Sequence[Sequence[Scalar]]
"""The elements of each process of a team, in the order of their numbers."""


def _collective(result: Callable[[Contributions, int, CType], list[Scalar]], blocks: bool = False) -> Callable[..., Result]:
    """Return the handler of a function of team, target, source and number of elements (of each process, with `blocks`)."""

    def handler(call: CallContext, function: ShmemFunction, _context: ShmemContext) -> Result:
        team = own_team(call, call.arguments[0])
        members = team.processes(call)
        reaches_others(call)
        count = call.number(3, "the number of elements") * (len(members) if blocks else 1)
        own, reads = _elements(call, count, function.type)
        given = _contributed(call, own, members)
        writes = _written(call, result(given, members.index(call.run.process), function.type), function.type)
        return call.step([*reads, *meeting(members), *writes])

    return handler


def _elements(call: CallContext, count: int, kind: CType) -> tuple[list[Value], list[ThreadStatement]]:
    """Return the elements of the source, and the reads that others see."""
    name, offset = call.address(2, "the source")
    values: list[Value] = []
    reads: list[ThreadStatement] = []
    element = CType("int", kind.size)
    for index in range(count):
        at = offset + index * kind.size
        value, read = call.run.load(call.state, call.frame, name, at, kind=element, hint=f"part{index}")
        values.append(value)
        reads += read
    return values, reads


def _contributed(call: CallContext, own: Sequence[Value], members: tuple[str, ...]) -> list[tuple[Scalar, ...]]:
    """Say what this process contributes; return what all do, as far as that is known."""
    world = call.run.world
    number = call.state.numbers.get(("collectives", members), 0)
    call.state.numbers["collectives", members] = number + 1
    known = tuple(each if isinstance(each, int) else _UNKNOWN for each in own)
    key = ("collective", members, number)
    if world.found.regions.setdefault((*key, call.run.process), known) != known:
        world.found.regions[*key, call.run.process] = (_UNKNOWN,) * len(known)
    found: list[tuple[Scalar, ...]] = []
    for process in members:
        each = world.known.regions.get((*key, process), (_UNKNOWN,) * len(known))
        assert isinstance(each, tuple)
        if len(each) != len(known):
            raise Refusal("RR814", f"`{call.name}` of different numbers of elements is not modelled")
        found.append(each)
    return found


def _written(call: CallContext, values: Sequence[Scalar], kind: CType) -> list[ThreadStatement]:
    name, offset = call.address(1, "the target")
    writes: list[ThreadStatement] = []
    element = CType("int", kind.size)
    for index, value in enumerate(values):
        at = offset + index * kind.size
        writes += call.run.store(call.state, call.frame, name, at, kind=element, value=value)
    return writes


def _reduced(operation: str) -> Callable[[Contributions, int, CType], list[Scalar]]:
    combine = _REDUCED[operation]

    def of_elements(parts: Sequence[Scalar], kind: CType) -> Scalar:
        numbers = [each for each in parts if isinstance(each, int)]
        if len(numbers) < len(parts) or kind.kind != "int":
            return _UNKNOWN
        mask = (1 << 8 * kind.size) - 1
        typed = [each if kind.signed or each >= 0 else each & mask for each in numbers]
        return canonical(reduce(combine, typed), kind.size)

    return lambda given, _own, kind: [of_elements(parts, kind) for parts in zip(*given, strict=True)]


def _joined(given: Contributions, _own: int, _kind: CType) -> list[Scalar]:
    return [each for part in given for each in part]


def _exchanged(given: Contributions, own: int, _kind: CType) -> list[Scalar]:
    count = len(given[0]) // len(given)
    return [each for part in given for each in part[own * count : (own + 1) * count]]


REDUCTIONS: Final[Mapping[str, Callable[..., Result]]] = {
    **{f"{name}_reduce": _collective(_reduced(name)) for name in _REDUCED},
    "fcollect": _collective(_joined),
    "collect": _collective(_joined),
    "alltoall": _collective(_exchanged, blocks=True),
}
