"""The syntax tree of `.mp` programs: what was written, not yet what it means.

Control flow, names and operators are those of :mod:`rdma_robust.language.syntax.ast`; here is the rest. What is inside of
nodes of both trees has the types of `.rdma` there; :func:`operand`, :func:`target` and :func:`lines` give it as it is here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, cast

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language.contract_tree import ContractText
from rdma_robust.messages.language.message_program import Buffer, ClaimKind, CompletionKind, SendMode


@dataclass(frozen=True, slots=True)
class IndexedName:
    """`name`, or `name[index]` and so on: a register, a request, a constant or a process."""

    name: ast.Ident
    indices: tuple[Operand, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """`name(argument, ...)`; the grammar allows it as any operand, the checks only `len` and `new`."""

    name: ast.Ident
    arguments: tuple[Operand, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class OwnNumber:
    """`PID`."""

    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ProcessCount:
    """`NPROCS`."""

    span: Span = field(default=NO_SPAN, compare=False)


Operand = ast.NumberLiteral | ast.Unary | ast.Binary | IndexedName | FunctionCall | OwnNumber | ProcessCount


@dataclass(frozen=True, slots=True)
class Declarator:
    """`name`, `name[size]` or `name = value` in a `reg` line, or one of the first two in a `req` line."""

    name: ast.Ident
    size: Operand | None
    value: Operand | None = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class RegisterLine:
    registers: tuple[Declarator, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class RequestLine:
    requests: tuple[Declarator, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class CallLine:
    """A call whose result is not used."""

    call: FunctionCall
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class SendLine:
    """`send`, or with a request `request = isend`."""

    request: IndexedName | None
    value: Operand
    to: Operand
    port: ast.Ident | None
    tag: Operand | None
    span: Span = field(default=NO_SPAN, compare=False)
    mode: SendMode = "standard"
    of_type: Operand | None = None
    size: Operand | None = None


@dataclass(frozen=True, slots=True)
class AnyOf:
    """`any`, and where to store which it was."""

    stored: IndexedName | None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ReceiveLine:
    """`recv`, or with a request `request = irecv`; `mrecv` if it is `of` one. No `source` or `tag` is the same as `any`."""

    request: IndexedName | None
    target: IndexedName
    source: AnyOf | Operand | None
    port: ast.Ident | None
    tag: AnyOf | Operand | None
    span: Span = field(default=NO_SPAN, compare=False)
    of: IndexedName | None = None
    of_type: Operand | None = None
    room: Operand | None = None


@dataclass(frozen=True, slots=True)
class ProbeLine:
    """`probe`, with a `flag` `iprobe`, `mprobe` if a request takes the message. No `source` or `tag` is as `any`."""

    source: AnyOf | Operand | None
    port: ast.Ident | None
    tag: AnyOf | Operand | None
    flag: IndexedName | None
    span: Span = field(default=NO_SPAN, compare=False)
    taken: IndexedName | None = None


@dataclass(frozen=True, slots=True)
class WaitLine:
    requests: tuple[IndexedName, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class CompletionLine:
    """`wait any`, `wait some`, or `test`, with `all`, `any`, `some` or no word; `into` are the registers behind `into`."""

    tests: bool
    how: CompletionKind | Literal[""]
    requests: tuple[IndexedName, ...]
    into: tuple[IndexedName, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class CollectiveLine:
    """`collective`, or with a request `request = icollective`; None for parts that are left out."""

    request: IndexedName | None
    name: ast.Ident
    group: ast.Ident | None
    root: Operand | None
    op: Operand | None
    sig: Operand | None
    give: Operand | None
    get: IndexedName | None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class AbortLine:
    error: Operand
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ReturnLine:
    value: Operand | None
    span: Span = field(default=NO_SPAN, compare=False)


Line = (
    RegisterLine | RequestLine | ast.Assign | CallLine | SendLine | ReceiveLine | ProbeLine | WaitLine | CompletionLine
    | CollectiveLine | AbortLine | ReturnLine | ast.Assume | ast.Assert | ast.Halt | ast.Skip | ast.If | ast.While
    | ast.For | ast.Loop | ast.Choose | ast.BrokenStatement
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PortLine:
    names: tuple[ast.Ident, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class GroupLine:
    """`group name = {member, ...}`."""

    name: ast.Ident
    members: tuple[Operand, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class FunctionItem:
    name: ast.Ident
    parameters: tuple[ast.Ident, ...]
    body: ast.Block
    contract: ContractText | None = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Range:
    """`[counter in low..high]`."""

    counter: ast.Ident
    low: Operand
    high: Operand
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Proc:
    """A process or, with a range, one for each number of it."""

    name: ast.Ident
    numbers: Range | None
    body: ast.Block
    daemon: bool = False
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ClaimWords:
    kind: ClaimKind
    number: int = 0
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class BufferWord:
    """Buffers; of `eager` with the `limit` of what is few."""

    buffer: Buffer
    limit: int | None = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ContractClaimWords:
    """`contract name verified`, or `violated` with a class of errors and the number of processes from which on.

    `every` is the `n` of `verified any n`.
    """

    name: ast.Ident
    verified: bool
    error: ast.Ident | None = None
    since: int = 1
    span: Span = field(default=NO_SPAN, compare=False)
    every: ast.Ident | None = None


@dataclass(frozen=True, slots=True)
class ExpectLine:
    """Claims that are expected to hold under these buffers, under all if there are none; of `contracts` whatever the
    buffer."""

    claims: tuple[ClaimWords, ...]
    buffers: tuple[BufferWord, ...]
    contracts: tuple[ContractClaimWords, ...] = ()
    span: Span = field(default=NO_SPAN, compare=False)


Declaration = (
    ast.ProgramName
    | ast.Constants
    | PortLine
    | GroupLine
    | RegisterLine
    | FunctionItem
    | Proc
    | ExpectLine
    | ast.BrokenStatement
)


def as_part(part: object) -> Any:
    """Return a part of a node of both trees as that takes it."""
    return part


def operand(expr: object) -> Operand:
    """Return an expression of a node of both trees."""
    return cast(Operand, expr)


def target(assign: ast.Assign) -> IndexedName:
    """Return what an assignment assigns."""
    return cast(IndexedName, assign.target)


def lines(block: ast.Block) -> tuple[Line, ...]:
    """Return the statements of a block."""
    return cast("tuple[Line, ...]", block.statements)


def declarations(tree: ast.ProgramTree) -> tuple[Declaration, ...]:
    """Return the declarations of a program."""
    return cast("tuple[Declaration, ...]", tree.items)
