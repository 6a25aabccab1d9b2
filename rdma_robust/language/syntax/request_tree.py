"""The syntax tree of what a thread hands to its network card, and of what it waits for there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.language.syntax.expressions import Expr, Ident, Ref

FlagWord = Literal["unsignaled", "inline", "fenced"]


@dataclass(frozen=True, slots=True)
class Flag:
    """How a request is made: without a completion, with data that the CPU reads at once, behind a fence."""

    word: FlagWord
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Immediate:
    """`imm value to thread`: a message that carries a number behind a put."""

    value: Expr
    to: Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Put:
    target: Ref
    source: Expr
    span: Span = field(default=NO_SPAN, compare=False)
    flags: tuple[Flag, ...] = ()
    imm: Immediate | None = None


@dataclass(frozen=True, slots=True)
class Get:
    target: Ref
    source: Expr
    span: Span = field(default=NO_SPAN, compare=False)
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class Send:
    """`send source to thread`."""

    source: Expr
    to: Ident
    span: Span = field(default=NO_SPAN, compare=False)
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class Poll:
    """`poll node`, or `poll node count`."""

    node: Ident
    span: Span = field(default=NO_SPAN, compare=False)
    count: Expr | None = None


@dataclass(frozen=True, slots=True)
class PollAny:
    """`target = poll node or node ...`: the number of the node that was polled, from 0, goes to the target."""

    nodes: tuple[Ident, ...]
    target: Ref | None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class TryPoll:
    """`target = trypoll node`: 1 and a completion, or 0."""

    target: Ref
    node: Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class RFence:
    node: Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Flush:
    node: Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Posted:
    """`posted buffer, ... from thread`: receives that are posted before anything runs."""

    buffers: tuple[Ref, ...]
    sender: Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Recv:
    """`recv buffer from thread`."""

    buffer: Ref
    sender: Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class RecvPoll:
    """`target = rpoll thread`; without a target what was carried is not used."""

    sender: Ident
    target: Ref | None
    span: Span = field(default=NO_SPAN, compare=False)


Request = Put | Get | Send | Poll | PollAny | TryPoll | RFence | Flush | Posted | Recv | RecvPoll
"""All of these that are statements."""
