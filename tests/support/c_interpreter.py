"""Register code of C executed on one flat memory, for comparison with what a compiler's program prints.

It knows nothing of threads or cards: a function runs from its first instruction to its return. Calls of functions without a
body come to `called`.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence
from typing import Any

from rdma_robust.c.code import (
    Address,
    AddressDifference,
    Binary,
    Bits,
    Branch,
    Call,
    Cast,
    ConstantValue,
    CopyBytes,
    CType,
    Fresh,
    Function,
    FunctionAddress,
    FunctionReturn,
    Index,
    JumpTo,
    Load,
    Store,
    TextAddress,
    Unary,
    UnreadCode,
    ZeroBytes,
)
from rdma_robust.c.front.c_units import CUnits

FUNCTIONS = 1 << 40
FLOATS = {4: "<f", 8: "<d", 16: "<d"}
Number = int | float


class Interpreter:
    """All of a program's memory, and its functions."""

    def __init__(self, units: CUnits, called: Callable[[Interpreter, Call, Sequence[Number]], Number] | None = None) -> None:
        self.units, self.called = units, called
        self.memory = bytearray(64)
        self.globals: dict[str, int] = {}
        self.functions: list[str] = []
        self.steps = 200_000
        for variable in units.globals():
            self.run(units.initialiser(variable), ())

    def block(self, size: int) -> int:
        """Return the address of new memory, all zero."""
        at = (len(self.memory) + 15) // 16 * 16
        self.memory.extend(bytes(at - len(self.memory) + max(size, 1)))
        return at

    def global_at(self, name: str, size: int) -> int:
        if name not in self.globals:
            self.globals[name] = self.block(size)
        return self.globals[name]

    def call(self, name: str, *arguments: Number) -> Number:
        """Return what a function returns."""
        function = self.units.function(name)
        assert function is not None, name
        return self.run(function, arguments)

    def run(self, function: Function, arguments: Sequence[Number]) -> Number:
        frame = Frame(self, function)
        for variable, value in zip(function.parameters, arguments, strict=False):
            at = frame.local(variable.unique, variable.type.size)
            if variable.type.kind in ("record", "array"):
                self.memory[at : at + variable.type.size] = self.memory[int(value) : int(value) + variable.type.size]
            else:
                self.write(at, value, variable.type)
        at = 0
        while True:
            self.steps -= 1
            assert self.steps > 0, "too many steps"
            each = function.code[at]
            assert all(reg in frame.registers for reg in function.live[at]), (function.name, at, each)
            if isinstance(each, FunctionReturn):
                return 0 if each.value is None else frame.registers[each.value]
            if isinstance(each, JumpTo):
                at = each.to
            elif isinstance(each, Branch):
                at = each.then if frame.registers[each.condition] else each.otherwise
            else:
                frame.step(each)
                at += 1

    def read(self, at: int, kind: CType) -> Number:
        data = bytes(self.memory[at : at + kind.size])
        assert at > 0 and len(data) == kind.size, ("read", at, kind)
        if kind.kind == "float":
            return float(struct.unpack(FLOATS[kind.size], data[:8])[0])
        return int.from_bytes(data, "little", signed=kind.signed)

    def write(self, at: int, value: Number, kind: CType) -> None:
        assert 0 < at <= len(self.memory) - kind.size, ("write", at, kind)
        if kind.kind == "float":
            data = struct.pack(FLOATS[kind.size], value).ljust(kind.size, b"\0")
        else:
            data = (int(value) & ((1 << 8 * kind.size) - 1)).to_bytes(kind.size, "little")
        self.memory[at : at + kind.size] = data


class Frame:
    """A call that runs: its registers and locals."""

    def __init__(self, machine: Interpreter, function: Function) -> None:
        self.machine, self.function = machine, function
        self.registers: dict[int, Number] = {}
        self.locals: dict[str, int] = {}

    def local(self, unique: str, size: int) -> int:
        if unique not in self.locals:
            self.locals[unique] = self.machine.block(size)
        return self.locals[unique]

    def address(self, variable: Any) -> int:
        size = variable.type.size
        return self.machine.global_at(variable.unique, size) if variable.is_global else self.local(variable.unique, size)

    def step(self, each: Any) -> None:
        machine, regs = self.machine, self.registers
        match each:
            case ConstantValue():
                regs[each.target] = each.value
            case TextAddress():
                at = machine.block(len(each.text))
                machine.memory[at : at + len(each.text)] = each.text
                regs[each.target] = at
            case FunctionAddress():
                machine.functions.append(each.name)
                regs[each.target] = FUNCTIONS + len(machine.functions) - 1
            case Address():
                regs[each.target] = self.address(each.variable) + each.offset
            case Fresh():
                self.fresh(each)
            case ZeroBytes():
                at = self.address(each.variable) + each.offset
                machine.memory[at : at + each.size] = bytes(each.size)
            case Load():
                regs[each.target] = loaded(machine.read(int(regs[each.address]), each.type), each.type, each.bits)
            case Store():
                self.store(each)
            case CopyBytes():
                to, source = int(regs[each.to]), int(regs[each.source])
                machine.memory[to : to + each.size] = bytes(machine.memory[source : source + each.size])
            case _:
                self.compute(each)

    def fresh(self, each: Fresh) -> None:
        size = each.variable.type.size if each.size is None else int(self.registers[each.size])
        self.locals.pop(each.variable.unique, None)
        if not each.variable.is_global:
            at = self.local(each.variable.unique, size)
            self.machine.memory[at : at + size] = b"\xa5" * size

    def store(self, each: Store) -> None:
        at, value = int(self.registers[each.address]), self.registers[each.value]
        if each.bits is not None:
            whole = CType("int", each.type.size, False)
            mask = ((1 << each.bits.width) - 1) << each.bits.low
            value = int(self.machine.read(at, whole)) & ~mask | int(value) << each.bits.low & mask
            self.machine.write(at, value, whole)
        else:
            self.machine.write(at, value, each.type)

    def compute(self, each: Any) -> None:
        regs = self.registers
        match each:
            case Index():
                regs[each.target] = int(regs[each.base]) + int(regs[each.index]) * each.step
            case AddressDifference():
                regs[each.target] = (int(regs[each.left]) - int(regs[each.right])) // each.step
            case Unary():
                value = regs[each.value]
                made = {"!": lambda: int(not value), "-": lambda: -value, "~": lambda: ~int(value)}[each.operator]()
                regs[each.target] = wrapped(made, each.type)
            case Binary():
                regs[each.target] = combined(each, regs[each.left], regs[each.right])
            case Cast():
                regs[each.target] = cast(regs[each.value], each.type)
            case Call():
                self.call(each)
            case UnreadCode():
                raise AssertionError(each.message)
            case _:
                raise AssertionError(each)

    def call(self, each: Call) -> None:
        values = [self.registers[register] for register in each.arguments]
        name = each.callee if isinstance(each.callee, str) else None
        if name is None:
            name = self.machine.functions[int(self.registers[each.callee]) - FUNCTIONS]  # type: ignore[index]
        function = self.machine.units.function(name)
        if function is not None:
            found = self.machine.run(function, values)
            if each.result.kind == "record":
                at = self.machine.block(each.result.size)
                source = int(found)
                self.machine.memory[at : at + each.result.size] = bytes(
                    self.machine.memory[source : source + each.result.size]
                )
                found = at
        else:
            assert self.machine.called is not None, name
            found = self.machine.called(self.machine, each, values)
        if each.target is not None:
            self.registers[each.target] = found


def loaded(value: Number, kind: CType, bits: Bits | None) -> Number:
    if bits is None:
        return value
    found = int(value) >> bits.low & ((1 << bits.width) - 1)
    return found - (1 << bits.width) if kind.signed and found >> (bits.width - 1) else found


def wrapped(value: Number, kind: CType) -> Number:
    if kind.kind == "float":
        return struct.unpack("<f", struct.pack("<f", value))[0] if kind.size == 4 else float(value)
    if kind.kind == "bool":
        return int(bool(value))
    found = int(value) & ((1 << 8 * kind.size) - 1)
    return found - (1 << 8 * kind.size) if kind.signed and found >> (8 * kind.size - 1) else found


def cast(value: Number, kind: CType) -> Number:
    return wrapped(int(value) if kind.kind in ("int", "pointer") else value, kind)


def divided(left: int, right: int) -> int:
    found = abs(left) // abs(right)
    return found if (left < 0) == (right < 0) else -found


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def combined(each: Binary, left: Number, right: Number) -> Number:
    if each.operands.kind == "float" and each.operator == "/":
        return wrapped(left / right, each.type)
    if each.operator in ("/", "%"):
        whole = divided(int(left), int(right))
        return wrapped(whole if each.operator == "/" else int(left) - whole * int(right), each.type)
    return wrapped(OPERATORS[each.operator](left, right), each.type)
