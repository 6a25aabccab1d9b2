"""The points of the code of a process: what is local, and where something visible happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rdma_robust.contracts.runs.symbolic_data import Decisions
from rdma_robust.contracts.runs.term_code import Code, Registers
from rdma_robust.errors import NO_SPAN, Span


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
class Pick:
    """`choose` and `loop`: choice i goes on at `targets[i]`."""

    targets: list[int]
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
class Goto:
    target: int
    span: Span = NO_SPAN


@dataclass(frozen=True, slots=True)
class Halted:
    span: Span = NO_SPAN


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
    | Pick
    | SendPoint
    | ReceivePoint
    | PostPoint
    | AwaitPoint
    | RequestPoint
    | EntryPoint
    | ExitPoint
    | Goto
    | Halted
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
