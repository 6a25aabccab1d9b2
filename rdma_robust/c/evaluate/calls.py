"""Calls that evaluation knows by name: what a handler gets, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from rdma_robust.c.code import Call, CType, Function
from rdma_robust.c.evaluate.c_values import (
    FunctionValue,
    Object,
    Pointer,
    Scalar,
    UnknownValue,
    Value,
    convert,
    known_scalar,
    map_one,
    raw_of,
    value_of_raw,
)
from rdma_robust.c.evaluate.operations import Chain, Choice, ThreadStatement, ThreadStep
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.state import Frame, State
from rdma_robust.c.evaluate.thread_run import ThreadRun, bytes_of_text


class FramesChanged(Enum):
    """A handler has changed the frames itself; evaluation goes on where they stand."""

    FRAMES_CHANGED = 0


FRAMES_CHANGED: Final = FramesChanged.FRAMES_CHANGED
Result = Value | list[ThreadStep] | FramesChanged
"""What a handler gives: the value of the call, or the steps that the thread takes, or the frames as they are."""


@dataclass(slots=True)
class CallContext:
    """A call in execution: the thread, its state, the frame of the caller, the call, and the values of its arguments."""

    run: ThreadRun
    state: State
    frame: Frame
    call: Call
    arguments: list[Value]
    name: str
    chain: Chain
    push: Callable[[State, Function, list[Value], int | None], None]
    """Let a function begin in a state, with arguments; where the result goes."""

    def number(self, index: int, what: str) -> int:
        """Return an argument that has to be a known number. Raises RR819 where it is none."""
        return as_number(self.arguments[index], what)

    def address(self, index: int, what: str) -> tuple[Object, int]:
        """Return an argument as an address of an object."""
        return self.run.address(self.arguments[index], what)

    def content(self, index: int) -> bytes:
        """Return the bytes of a string that an argument points to. Raises RR819 for one that is not known."""
        return string_at(self.run, self.state, self.arguments[index])

    def text(self, index: int) -> str:
        """Return a string that an argument points to, as a name or a message. Raises RR819 for one that is not known."""
        return self.content(index).decode("utf-8", "replace")

    def step(self, operations: Sequence[ThreadStatement | Choice], value: Value = 0) -> list[ThreadStep]:
        """Return the step that ends the call: what others see, and its value."""
        self.finish(value)
        return [ThreadStep(tuple(operations), self.chain, self.state)]

    def stay(self, operations: Sequence[ThreadStatement | Choice], pending: Value) -> list[ThreadStep]:
        """Return a step after which the call goes on, with what it has found so far."""
        self.frame.pending = pending
        return [ThreadStep(tuple(operations), self.chain, self.state)]

    def finish(self, value: Value = 0) -> None:
        """Go on behind the call, with its value."""
        if self.call.target is not None:
            self.frame.registers[self.call.target] = map_one(value, lambda each: convert(each, self.call.result))
        self.frame.pending = None
        self.frame.at += 1

    def branch(self, state: State) -> CallContext:
        """Return the same call in a copy of a state."""
        other = state.copy()
        return CallContext(self.run, other, other.frames[-1], self.call, self.arguments, self.name, self.chain, self.push)

    def private(self, address: Value, size: int, what: str) -> Value:
        """Return a raw value that the library reads at an address, from memory that nobody else writes."""
        name, offset = self.run.address(address, what)
        if self.run.is_visible(self.state, name, offset, size):
            raise Refusal(
                "RR814", f"{what} lies in `{name.name}`, which others can reach", "keep it in memory of the thread alone"
            )
        return self.run.raw_read(self.state, name, offset, size)

    def set_private(self, address: Value, size: int, raw: Value, what: str) -> None:
        """Store a raw value that the library gives back at an address."""
        name, offset = self.run.address(address, what)
        if self.run.is_visible(self.state, name, offset, size):
            raise Refusal(
                "RR814", f"{what} lies in `{name.name}`, which others can reach", "keep it in memory of the thread alone"
            )
        self.run.raw_write(self.state, name, offset, size, raw)


Handler = Callable[[CallContext], Result]


def further(address: Value, distance: int) -> Value:
    """Return an address that is so many bytes further, if it is one."""
    found = known_scalar(address)
    return Pointer(found.object, found.offset + distance) if isinstance(found, Pointer) else found


def as_number(value: Value, what: str) -> int:
    """Return a value that has to be a known number. Raises RR819 where it is none."""
    found = known_scalar(value)
    if isinstance(found, UnknownValue):
        raise Refusal("RR819", f"{what} depends on {found.reason}, which is not known here", "RR_INSTEAD, or RR_ASSUME")
    if not isinstance(found, int):
        raise Refusal("RR819", f"{what} is an address, where a number is expected")
    return found


def call_without_body(frame: Frame, each: Call, arguments: list[Value], name: str) -> None:
    """Go on behind a call of a function that is not known: its result is not. Raises RR816 for one that gets an address."""
    for value, kind in zip(arguments, each.types, strict=False):
        found = known_scalar(value)
        if isinstance(found, FunctionValue):
            raise Refusal(
                "RR816",
                f"`{name}` is not known here, and gets the function `{found.name}`, which it may call",
                f"read the file that has its body too (--with), or RR_INSTEAD({name})",
            )
        if isinstance(found, Pointer) and found.object.kind != "text" and kind.kind in ("pointer", "int"):
            raise Refusal(
                "RR816",
                f"`{name}` is not known here, and gets the address of `{found.object.name}`",
                f"read the file that has its body too (--with), or RR_INSTEAD({name}), or RR_SETUP if it does nothing",
            )
    if each.target is not None:
        frame.registers[each.target] = UnknownValue(f"what `{name}` returns")
    frame.at += 1


def string_at(run: ThreadRun, state: State, value: Value) -> bytes:
    """Return the bytes of the string at an address."""
    name, offset = run.address(value, "this text")
    if name.kind == "text" and 0 <= offset < len(bytes_of_text(name)):
        return bytes_of_text(name)[offset:].partition(b"\0")[0]
    found = bytearray()
    while True:
        byte = known_scalar(run.raw_read(state, name, offset + len(found), 1))
        if not isinstance(byte, int):
            raise Refusal("RR819", "this text is not known here")
        if byte == 0:
            return bytes(found)
        found.append(byte & 0xFF)


def scalar_at(run: ThreadRun, state: State, name: Object, offset: int, kind: CType) -> Value:
    """Return a scalar of private memory."""
    return map_one(run.raw_read(state, name, offset, kind.size), lambda raw: value_of_raw(raw, kind))


def encoded(value: Value, kind: CType) -> Value:
    """Return the raw form of a value of a type."""
    return map_one(value, lambda each: raw_of(each, kind))


def given(value: Scalar) -> Callable[[CallContext], Value]:
    """Return a handler that gives a value and does nothing."""
    return lambda call: value  # noqa: ARG005
