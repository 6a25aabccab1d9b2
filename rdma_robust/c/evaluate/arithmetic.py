"""Instructions that compute a register from registers, in every case of a symbolic value.

Each is translated once to a function that executes it: numbers, which are what most registers hold, have a short way.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from rdma_robust.c.code import (
    AddressDifference,
    Binary,
    Cast,
    ConstantValue,
    FunctionAddress,
    Index,
    Instruction,
    Register,
    TextAddress,
    Unary,
)  # fmt: skip
from rdma_robust.c.evaluate.c_values import (
    FunctionValue,
    Pointer,
    Scalar,
    UnknownValue,
    Value,
    binary,
    convert,
    further_address,
    map_one,
    map_two,
    negated,
    range_of,
)  # fmt: skip
from rdma_robust.c.evaluate.thread_run import text_of
from rdma_robust.expr import COMPARISONS

Registers = dict[Register, Value]
Executed = Callable[[Registers, Any], int]
"""What executes an instruction: it sets registers and returns the next instruction. The second argument is the memory of
the thread, which these do not look at."""

_INTEGERS: Mapping[str, Callable[[Any, Any], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}


def _constant(target: Register, value: Value, after: int) -> Executed:
    def execute(registers: Registers, _memory: object) -> int:
        registers[target] = value
        return after

    return execute


def _index(each: Index, after: int) -> Executed:
    target, base, index, step = each.target, each.base, each.index, each.step

    def there(address: Scalar, number: Scalar) -> Scalar:
        return further_address(address, number * step if isinstance(number, int) else number)

    def execute(registers: Registers, _memory: object) -> int:
        address, number = registers[base], registers[index]
        if type(address) is Pointer and type(number) is int:
            registers[target] = Pointer(address.object, address.offset + number * step)
        else:
            registers[target] = map_two(address, number, there)
        return after

    return execute


def _difference(each: AddressDifference, after: int) -> Executed:
    def distance(left: Scalar, right: Scalar) -> Scalar:
        if isinstance(left, Pointer) and isinstance(right, Pointer) and left.object == right.object:
            return (left.offset - right.offset) // each.step
        return UnknownValue("the difference of addresses of two objects")

    def execute(registers: Registers, _memory: object) -> int:
        registers[each.target] = map_two(registers[each.left], registers[each.right], distance)
        return after

    return execute


def _unary(each: Unary, after: int) -> Executed:
    def execute(registers: Registers, _memory: object) -> int:
        registers[each.target] = map_one(registers[each.value], lambda x: negated(each.operator, x, each.type))
        return after

    return execute


def _binary(each: Binary, after: int) -> Executed:
    target, left, right = each.target, each.left, each.right
    of_numbers = each.operands.kind != "float"
    compare = COMPARISONS.get(each.operator) if of_numbers else None
    compute = _INTEGERS.get(each.operator) if of_numbers else None
    low, high = range_of(each.type)

    def general(x: Scalar, y: Scalar) -> Scalar:
        return binary(each.operator, x, y, each.operands, each.type)

    def execute(registers: Registers, _memory: object) -> int:
        registers[target] = map_two(registers[left], registers[right], general)
        return after

    def comparison(registers: Registers, memory: object) -> int:
        x, y = registers[left], registers[right]
        if type(x) is int and type(y) is int:
            registers[target] = 1 if compare(x, y) else 0  # type: ignore[misc]
            return after
        return execute(registers, memory)

    def computation(registers: Registers, memory: object) -> int:
        x, y = registers[left], registers[right]
        if type(x) is int and type(y) is int:
            found = compute(x, y)  # type: ignore[misc]
            registers[target] = found if low <= found <= high else convert(found, each.type)
            return after
        return execute(registers, memory)

    return comparison if compare is not None else computation if compute is not None else execute


def _cast(each: Cast, after: int) -> Executed:
    target, value, kind = each.target, each.value, each.type
    low, high = range_of(kind)

    def execute(registers: Registers, _memory: object) -> int:
        found = registers[value]
        registers[target] = (
            found if type(found) is int and low <= found <= high else map_one(found, lambda x: convert(x, kind))
        )
        return after

    return execute


def computing(process: str, instruction: Instruction, after: int) -> Executed:
    """Return what executes an instruction of :data:`COMPUTING` in a process; `after` is the one behind it."""
    match instruction:
        case ConstantValue(target, value):
            return _constant(target, value, after)
        case TextAddress(target, text):
            return _constant(target, Pointer(text_of(process, text)), after)
        case FunctionAddress(target, name):
            return _constant(target, FunctionValue(name), after)
        case Index() | AddressDifference() | Unary() | Binary() | Cast():
            return _COMPUTE[type(instruction)](instruction, after)
        case _:
            raise TypeError(f"{type(instruction).__name__} computes no register")


_COMPUTE: dict[type[Instruction], Callable[..., Executed]] = {
    Index: _index,
    AddressDifference: _difference,
    Unary: _unary,
    Binary: _binary,
    Cast: _cast,
}
COMPUTING = (ConstantValue, TextAddress, FunctionAddress, *_COMPUTE)
