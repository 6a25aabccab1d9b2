"""The steps that evaluation gives a thread: statements of `.rdma` whose names are filled in once all are known."""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.c.code import SourcePlace
from rdma_robust.c.evaluate.c_values import (
    Object,
    Scalar,
    Symbolic,
    UnknownValue,
    Value,
    all_apart,
    is_unset,
)
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.state import State

Chain = tuple[SourcePlace, ...]
ANY_KIND = "any"
"""What an access says that synchronises with all that do."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of shared memory: bytes of an object that are always moved together."""

    object: Object
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class RegisterUse:
    """A register of the thread."""

    name: str


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue pair of this thread on a connection: the other node, or a lane."""

    connection: str


@dataclass(frozen=True, slots=True)
class OnLane:
    """` on LANE` if the queue pair of this thread on a connection is a lane."""

    connection: str


@dataclass(frozen=True, slots=True)
class Receiver:
    """The thread at the other end of a connection that takes messages."""

    connection: str


@dataclass(frozen=True, slots=True)
class Sender:
    """The thread at the other end of a connection that sends messages, with its lane."""

    connection: str


@dataclass(frozen=True, slots=True)
class Scratch:
    """A word at the other end of a connection that nobody reads."""

    connection: str


@dataclass(frozen=True, slots=True)
class NoBuffer:
    """The buffer of a message without data: a word of this process that nobody reads."""


@dataclass(frozen=True, slots=True)
class ThreadUse:
    """A thread of this process."""

    name: str


@dataclass(frozen=True, slots=True)
class BarrierUse:
    """All threads that wait at a barrier."""

    barrier: Word


@dataclass(frozen=True, slots=True)
class MainThreads:
    """The main threads of processes, behind a blank; nothing if they are all threads."""

    processes: tuple[str, ...]


Part = (
    Word
    | RegisterUse
    | Queue
    | OnLane
    | Receiver
    | Sender
    | Scratch
    | NoBuffer
    | ThreadUse
    | BarrierUse
    | MainThreads
    | Scalar
)


@dataclass(frozen=True, slots=True)
class ThreadStatement:
    """A statement: `form` with `{0}`, `{1}` for its parts.

    `writes` are the values that it may give words which were computed, not moved; `sends` is the connection on which it
    sends a message, `register` the one that it sets. An access of its word that synchronises says among which it does.
    """

    form: str
    parts: tuple[Part, ...] = ()
    writes: tuple[tuple[Word, Scalar], ...] = ()
    sends: str = ""
    register: str = ""
    synchronises: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A guard: a register holds one of `values`, of those in `among`."""

    register: str
    values: frozenset[Scalar]
    among: frozenset[Scalar]


@dataclass(frozen=True, slots=True)
class ThreadStep:
    """The next that a thread does: operations one after the other, the calls that they stand in, and the state behind them.

    Without a state it has ended. Without operations nobody sees the step.
    """

    operations: tuple[ThreadStatement | Choice, ...]
    chain: Chain
    state: State | None


HALT = ThreadStatement("halt")
FENCE = ThreadStatement("mfence")
FAILED = ThreadStatement("assert 1 == 0")
ABORTED = ThreadStatement("assert 0 == 1")
"""What is claimed never to be reached, whatever the branch before it asks, which is a claim of its own for FAILED."""
SET_ASIDE = ThreadStatement("assume 1 == 0")
SKIP = ThreadStatement("skip")


def read_statement(register: str, word: Word) -> ThreadStatement:
    """Return a read by the processor."""
    return ThreadStatement("{0} = {1}", (RegisterUse(register), word), register=register)


def write_statement(word: Word, operand: RegisterUse | Scalar) -> ThreadStatement:
    """Return a write by the processor."""
    return ThreadStatement("{0} = {1}", (word, operand), written_constants(word, operand))


def written_constants(word: Word, operand: RegisterUse | Scalar) -> tuple[tuple[Word, Scalar], ...]:
    """Return what an operand writes that is no copy of what was read."""
    return () if isinstance(operand, RegisterUse) else ((word, operand),)


def operand_of(raw: Value, what: str) -> tuple[RegisterUse | Scalar, tuple[Scalar, ...]]:
    """Return a raw value as an operand, and what it may be: a constant, or a register as it is.

    What was written_constants from a register is split; what is not known is refused.
    """
    if isinstance(raw, Symbolic):
        if all(held == value for held, value in raw.cases):
            return RegisterUse(raw.register), tuple(value for _, value in raw.cases)
        raise all_apart(raw)
    if isinstance(raw, UnknownValue):
        raise Refusal(
            "RR819",
            f"{what} depends on {raw.reason}, which is not known here",
            "RR_INSTEAD gives the function that it comes from a body, RR_IGNORE leaves a variable out",
        )
    return raw, (raw,)


def written_operand(raw: Value, what: str) -> tuple[RegisterUse | Scalar, tuple[Scalar, ...]]:
    """Return what is written to memory as an operand, and what it may be: a value that is not known makes the word one whose
    values are not followed, and nobody looks at what stands there. Refused is what was never given a value."""
    if isinstance(raw, UnknownValue) and not is_unset(raw):
        return raw, (raw,)
    return operand_of(raw, what)
