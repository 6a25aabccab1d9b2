"""Instructions that compute a register from registers, in every case of a symbolic value."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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
)  # fmt: skip
from rdma_robust.c.evaluate.thread_run import text_of

Registers = Mapping[Register, Value]


def _index(registers: Registers, each: Index) -> Value:
    def there(base: Scalar, index: Scalar) -> Scalar:
        return further_address(base, index * each.step if isinstance(index, int) else index)

    return map_two(registers[each.base], registers[each.index], there)


def _difference(registers: Registers, each: AddressDifference) -> Value:
    def distance(left: Scalar, right: Scalar) -> Scalar:
        if isinstance(left, Pointer) and isinstance(right, Pointer) and left.object == right.object:
            return (left.offset - right.offset) // each.step
        return UnknownValue("the difference of addresses of two objects")

    return map_two(registers[each.left], registers[each.right], distance)


def _unary(registers: Registers, each: Unary) -> Value:
    return map_one(registers[each.value], lambda x: negated(each.operator, x, each.type))


def _binary(registers: Registers, each: Binary) -> Value:
    left, right = registers[each.left], registers[each.right]
    return map_two(left, right, lambda x, y: binary(each.operator, x, y, each.operands, each.type))


def _cast(registers: Registers, each: Cast) -> Value:
    return map_one(registers[each.value], lambda x: convert(x, each.type))


def register_value(process: str, registers: Registers, instruction: Instruction) -> tuple[Register, Value]:
    """Return the register that an instruction of :data:`COMPUTING` sets, and its value."""
    match instruction:
        case ConstantValue():
            return instruction.target, instruction.value
        case TextAddress():
            return instruction.target, Pointer(text_of(process, instruction.text))
        case FunctionAddress():
            return instruction.target, FunctionValue(instruction.name)
        case Index() | AddressDifference() | Unary() | Binary() | Cast():
            return instruction.target, _COMPUTE[type(instruction)](registers, instruction)
        case _:
            raise TypeError(f"{type(instruction).__name__} computes no register")


_COMPUTE: dict[type[Instruction], Callable[..., Value]] = {
    Index: _index,
    AddressDifference: _difference,
    Unary: _unary,
    Binary: _binary,
    Cast: _cast,
}
COMPUTING = (ConstantValue, TextAddress, FunctionAddress, *_COMPUTE)
