"""Reductions: what an operation gives of the values of all processes, and what each process contributes to a call."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations
from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import NOT_FOLLOWED, Scalar, UnknownValue, canonical, raw_of, value_of_raw
from rdma_robust.c.evaluate.calls import CallContext
from rdma_robust.c.evaluate.refused_code import Refusal

_UNKNOWN: Final = UnknownValue("what a collective function gives")
COMBINED: Final[Mapping[str, Callable[[int, int], int]]] = {
    "sum": lambda x, y: x + y,
    "prod": lambda x, y: x * y,
    "min": min,
    "max": max,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
}
_OF_FRACTIONS: Final[Mapping[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "sum": lambda x, y: x + y,
    "prod": lambda x, y: x * y,
    "min": min,
    "max": max,
}
"""What each operation is, of two values."""


def contributed(call: CallContext, topic: Hashable, members: tuple[str, ...], what: Hashable) -> list[Hashable | None]:
    """Say what this process brings to its next call of a kind; return what each member does, None if that is not known: not
    yet, or not the same on all ways."""
    world, key = call.run.world, ("contributed", topic, members)
    number = call.state.numbers.get(key, 0)
    call.state.numbers[key] = number + 1
    if world.found.regions.setdefault((*key, number, call.run.process), what) != what:
        world.found.regions[*key, number, call.run.process] = None
    return [world.known.regions.get((*key, number, process)) for process in members]


def reduction_results(
    call: CallContext, operation: str, given: Sequence[Hashable | None], count: int, kind: CType
) -> list[Scalar]:
    """Return the elements of the result of a reduction, of what each process contributes. Where all have said what that is,
    and it does not give a known value, the result is not followed. Raises RR814 for different numbers of elements."""
    parts = [each if isinstance(each, tuple) else (_UNKNOWN,) * count for each in given]
    if any(len(each) != count for each in parts):
        raise Refusal("RR814", f"`{call.name}` of different numbers of elements is not modelled")
    found = [reduced(operation, each, kind) for each in zip(*parts, strict=True)]
    if not all(isinstance(each, tuple) for each in given):
        return found
    lost = UnknownValue(f"what `{call.name}` gives{NOT_FOLLOWED}")
    return [lost if isinstance(each, UnknownValue) else each for each in found]


def reduced(operation: str, raws: Sequence[Scalar], kind: CType) -> Scalar:
    """Return the raw value that an operation gives of those of all processes; it is not known if one of them is not, or if
    it depends on the order in which fractions are rounded."""
    values = [value_of_raw(each, kind) for each in raws]
    numbers = [each for each in values if isinstance(each, int)]
    if kind.kind == "int" and len(numbers) == len(values):
        return canonical(reduce(COMBINED[operation], numbers), kind.size)
    fractions = [Fraction(each) for each in values if isinstance(each, float) and abs(each) < float("inf")]
    if kind.kind != "float" or len(fractions) < len(values) or operation not in _OF_FRACTIONS:
        return _UNKNOWN
    combine = _OF_FRACTIONS[operation]
    for count in range(2, len(fractions) + 1):
        for chosen in combinations(fractions, count):
            if not _is_exact(reduce(combine, chosen), kind):
                return _UNKNOWN
    return raw_of(float(reduce(combine, fractions)), kind)


def _is_exact(value: Fraction, kind: CType) -> bool:
    """Whether a number with a fraction of a type is this one."""
    try:
        found = value_of_raw(raw_of(float(value), kind), kind)
    except OverflowError:
        return False
    return isinstance(found, float) and Fraction(found) == value
