"""Events of processes that are terms, and what registers hold: terms for values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from rdma_robust.contracts.any_procs.any_values import WORTH, Bool, Int, TermValue, ValueTerm, conditional, number_constant
from rdma_robust.contracts.language.contract_program import Contract
from rdma_robust.errors import Span
from rdma_robust.guarded_z3 import z3

NPROCS: Final = z3.Int("NPROCS")
Registers = dict[str, TermValue]
Counters = Mapping[int, Int]
"""Loops, by the number of their statement, to what their counters are."""


@dataclass(frozen=True, slots=True)
class Need:
    """A condition that must be true where `guard` is: otherwise there is a fault, or an assertion is false, at `span`."""

    guard: Bool
    condition: Bool
    span: Span


@dataclass(frozen=True, slots=True)
class ParametricEvent:
    """A send, receive or call in the text, as one process does it in one iteration of the `loops` around it.

    It happens if `guard` is true. `number` is its place in the text, `segment` the number of collective calls before that;
    `ranges` are those of the loops.
    """

    number: int
    kind: Literal["send", "recv", "call"]
    loops: tuple[int, ...]
    guard: Bool
    span: Span
    segment: int
    ranges: tuple[tuple[Int, Int], ...] = ()
    peer: Int = None
    tag: Int = None
    port: int = 0
    value: TermValue | None = None
    callee: Contract | None = None
    arguments: Registers = field(default_factory=dict)
    before: Registers = field(default_factory=dict)
    after: Registers = field(default_factory=dict)
    result: TermValue | None = None


@dataclass(slots=True)
class ParametricRun:
    """The run of a process: the `events` by their number, and what it has in the end."""

    events: dict[int, ParametricEvent] = field(default_factory=dict)
    needs: list[Need] = field(default_factory=list)
    registers: Registers = field(default_factory=dict)


Received = Callable[[int, Int, Counters], TermValue]
"""What a receive gets: its number, the process, the counters of the loops around it."""


def input_of(kind: str, name: str) -> Any:
    return z3.Function(f"{kind} {name}", z3.IntSort(), WORTH)


def opaque(number: int, process: Int, counters: Counters) -> TermValue:
    """Return a value of which nothing is known for a receive."""
    return ValueTerm(unknown(f"received {number}", process, counters))


def unknown(name: str, process: Int, counters: Counters) -> Any:
    """Return a value of which nothing is known, of one process in one iteration."""
    arguments = [process, *(term for _, term in sorted(counters.items()))]
    return z3.Function(name, *[z3.IntSort()] * len(arguments), WORTH)(*arguments)


def assigned_globals(callee: Contract, globals_: tuple[str, ...]) -> tuple[str, ...]:
    """Return the globals that a function may change, as far as its contract says."""
    if callee.frames is None:
        return globals_
    return tuple(dict.fromkeys(cells.name for frame in callee.frames for cells in frame.cells))


def register(registers: Registers, name: str) -> TermValue:
    """Return what a register holds, 0 if nothing was stored to it."""
    return registers.get(name) or number_constant(0)


def either(test: Bool, then: Registers, other: Registers) -> Registers:
    """Return the registers of one of two branches."""
    if then is other:
        return then
    names = dict.fromkeys((*then, *other))
    return {each: _one(test, register(then, each), register(other, each)) for each in names}


def _one(test: Bool, then: TermValue, other: TermValue) -> TermValue:
    return conditional(test, lambda: then, lambda: other)
