"""Expressions of programs as functions over registers: what they are worth where some registers are not known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from rdma_robust.contracts.runs.symbolic_data import ArrayInput, Data, Decisions, NeedsDecisionError
from rdma_robust.errors import Span
from rdma_robust.expr import OPERATORS, Const, Name
from rdma_robust.messages.language.message_terms import Element, FaultError, Length, Operation, Term, Zeros
from rdma_robust.messages.machine.flat_code import BranchChoice, EndOfProcess, Jump

Registers = dict[str, Data]
Code = Callable[[Registers, Decisions], Data]
Known = TypeVar("Known")


def code_of(term: Term) -> Code:
    """Return what computes a term, from left to right as `value_of` does. It raises FaultError, ForkError, TooManyError."""
    match term:
        case Const(value):
            return lambda _registers, _on: value
        case Name(name):
            return lambda registers, _on: registers[name]
        case Element(of, index):
            array, at = code_of(of), code_of(index)
            return lambda registers, on: on.element(array(registers, on), at(registers, on))
        case Length(of):
            inner = code_of(of)
            return lambda registers, on: _length(inner(registers, on), on)
        case Zeros(size):
            wanted = code_of(size)
            return lambda registers, on: on.zeros(wanted(registers, on))
        case Operation(op, operands):
            return _operation(op, [code_of(each) for each in operands])


def _length(value: Data, on: Decisions) -> Data:
    return on.length(value) if isinstance(value, ArrayInput) else len(on.array(value))


def _operation(op: str, codes: list[Code]) -> Code:
    if op in ("&&", "||"):
        left, right = codes
        return lambda registers, on: _junction(op, left, right, registers, on)
    if op == "?":
        test, then, other = codes
        return lambda registers, on: _chosen(test, then, other, registers, on)
    if len(codes) == 1:
        (inner,) = codes
        return lambda registers, on: _unary(op, inner(registers, on), on)
    left, right = codes
    plain = OPERATORS[op]
    divides = op in "/%"

    def binary(registers: Registers, on: Decisions) -> Data:
        a, b = left(registers, on), right(registers, on)
        if type(a) is int and type(b) is int and not (divides and b == 0):
            return plain(a, b)
        return operated(op, a, b, on)

    return binary


def operated(op: str, left: Data, right: Data, on: Decisions) -> Data:
    """Return `left op right` of two numbers. Raises FaultError."""
    a, b, terms = on.number(left), on.number(right), on.terms
    match op:
        case "+" | "-":
            return terms.add(a, b, 1 if op == "+" else -1)
        case "*":
            return terms.multiply(a, b)
        case "/" | "%":
            if on.decide(terms.zero(b)):
                raise FaultError("division")
            return terms.divide(op, a, b)
        case _:
            return terms.counted(terms.compare(op, a, b))


def _unary(op: str, value: Data, on: Decisions) -> Data:
    number = on.number(value)
    if op == "-":
        return on.terms.multiply(-1, number)
    return on.terms.counted(on.terms.negation(on.terms.truth(number)))


def _tried(read: Callable[[Data], Known], code: Code, registers: Registers, on: Decisions) -> Known | None:
    """Return what is only computed sometimes, as `read` takes it; None if that takes a decision or may fault."""
    on.trying += 1
    try:
        return read(code(registers, on))
    except (NeedsDecisionError, FaultError):
        return None
    finally:
        on.trying -= 1


def _junction(op: str, left: Code, right: Code, registers: Registers, on: Decisions) -> Data:
    first = on.truth(left(registers, on))
    over = op == "||"
    known = on.path.verdict(first, on.terms)
    if known is None:
        second = _tried(on.truth, right, registers, on)
        if second is not None:
            join = on.terms.disjunction if over else on.terms.conjunction
            return on.terms.counted(join((first, second)))
        known = on.decide(first)
    if known is over:
        return int(over)
    return on.terms.counted(on.truth(right(registers, on)))


def _chosen(test: Code, then: Code, other: Code, registers: Registers, on: Decisions) -> Data:
    condition = on.truth(test(registers, on))
    known = on.path.verdict(condition, on.terms)
    if known is None:
        a, b = (_tried(on.number, each, registers, on) for each in (then, other))
        if a is not None and b is not None:
            return on.terms.either(condition, a, b)
        known = on.decide(condition)
    return (then if known else other)(registers, on)


class NonBlockingError(Exception):
    """Receives that are posted are not followed through calls of which only contracts count; says which."""


@dataclass(frozen=True, slots=True)
class LocalStep:
    """A local step: `go` executes it and returns where the process goes on; it changes nothing if it raises."""

    go: Callable[[Registers, Decisions], int]
    span: Span


@dataclass(frozen=True, slots=True)
class ClaimPoint:
    """An `assert`; or an `assume`, at which a process that does not meet it stops."""

    condition: Code
    assumed: bool
    span: Span


@dataclass(frozen=True, slots=True)
class SendPoint:
    """`request` becomes active, if there is one."""

    value: Code
    to: Code
    port: int
    tag: Code
    span: Span
    request: Spot | None = None


@dataclass(frozen=True, slots=True)
class Spot:
    """A register, or an element of the array in it."""

    name: str
    indices: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class ReceivePoint:
    """`source` and `tag` are None for any."""

    target: Spot
    source: Code | None
    port: int
    tag: Code | None
    sender: Spot | None
    which: Spot | None
    span: Span


@dataclass(frozen=True, slots=True)
class PostPoint:
    """A receive that joins those that are posted: no event."""

    receive: ReceivePoint
    request: Spot
    span: Span


@dataclass(frozen=True, slots=True)
class AwaitPoint:
    """The wait for a request, or for all of an array: an event for each receive, and for each send that has to be got."""

    place: Spot
    span: Span


@dataclass(frozen=True, slots=True)
class RequestPoint:
    """`req name` or `req name[size]`."""

    name: str
    size: Code | None
    span: Span


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """The entry of a function with a contract; `parameters` are worth what they are there."""

    function: str
    parameters: tuple[tuple[str, Code], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ExitPoint:
    """The exit of a function with a contract; `result` is the register of its result, or ''."""

    function: str
    result: str
    span: Span


@dataclass(frozen=True, slots=True)
class CalleePoint:
    """Where the body of a callee would be of which only the contract counts; `result` is the register of its result.

    `given` are its parameters that are worth what a register is. Of a loop these are the registers of its function.
    """

    function: str
    result: str
    span: Span
    given: tuple[tuple[str, str], ...] = ()


Instruction = (
    LocalStep
    | CalleePoint
    | ClaimPoint
    | SendPoint
    | ReceivePoint
    | PostPoint
    | AwaitPoint
    | RequestPoint
    | EntryPoint
    | ExitPoint
    | Jump
    | BranchChoice
    | EndOfProcess
)


@dataclass(frozen=True, slots=True)
class RunCode:
    """The code of one process. `registers` are all it has; it begins at 0 and is over at its last instruction.

    `parameters` are those of the function that it is, each with its register.
    """

    code: tuple[Instruction, ...]
    registers: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    rendezvous: bool = False
    """Whether a send is complete only when a receive has got its message."""
