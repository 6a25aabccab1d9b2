"""The syntax tree: what was written, not yet what it means.

Spans do not count in comparisons: programs are equal that differ in layout, comments and redundant parentheses only.

More than 400 lines: one class for each thing that can be written, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.syntax.expressions import (
    AtomicCall,
    Binary,
    CasCall,
    ClaimClause,
    CopiesWhere,
    Expect,
    ExpectationClause,
    Expr,
    FetchCall,
    Ident,
    InvariantDeclaration,
    NeedsDeclaration,
    NondetCall,
    NumberLiteral,
    OutcomeDeclaration,
    Ref,
    RmwCall,
    ThreadAt,
    ThreadEnded,
    Unary,
)

__all__ = [
    "AnyModelName",
    "AtomicCall",
    "Binary",
    "CasCall",
    "ClaimClause",
    "CopiesWhere",
    "Expect",
    "ExpectationClause",
    "Expr",
    "FetchCall",
    "Ident",
    "InvariantDeclaration",
    "NeedsDeclaration",
    "NondetCall",
    "NumberLiteral",
    "OutcomeDeclaration",
    "Ref",
    "RmwCall",
    "ThreadAt",
    "ThreadEnded",
    "Unary",
]
"""What this module has of others; all that is declared here is for everyone too."""

NodeName = Ident
ThreadName = Ident
LabelName = Ident
LaneName = Ident
"""What a name in a statement is one of: `parts_of` finds it by what its field is declared as."""

FlagWord = Literal["unsignaled", "inline", "fenced", "on"]


@dataclass(frozen=True, slots=True)
class Block:
    """Statements between braces; the span includes the braces."""

    statements: tuple[Statement, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Binding:
    """`name = value` in a `const` or `reg` line."""

    name: Ident
    value: Expr | None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Registers:
    registers: tuple[Binding, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value`: a local write, a local read, register arithmetic or a compare-and-swap.

    With one of the operators `+ - * / %`, as in `target += value`, it is `target = target + (value)`.
    """

    target: Ref
    value: Expr
    op: str = ""
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """An atomic operation whose old value goes nowhere; with `flags` only a request to a card has."""

    call: AtomicCall
    span: Span = field(default=NO_SPAN, compare=False)
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class MacroCall:
    """`name(argument, ...)`: the statements of a macro."""

    name: Ident
    arguments: tuple[Expr, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class MFenceStatement:
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class LabelStatement:
    """`name:`, a label of what stands next in its block: a statement, or nothing where that was expanded to nothing."""

    name: LabelName
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Assume:
    """`await` waits: a thread that never gets past it hangs. `assume` only sets executions aside in which it fails."""

    condition: Expr
    keyword: Literal["assume", "await"] = "assume"
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Assert:
    """A claim about the thread where it stands; if it fails, that is reported and the thread goes on."""

    condition: Expr
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Halt:
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Skip:
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Arm:
    """`if condition block` or `else if condition block`; the span is that of the part before the block."""

    condition: Expr
    block: Block
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """`arms` are the `if` and its `else if`s, in order."""

    arms: tuple[Arm, ...]
    otherwise: Block | None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class While:
    condition: Expr
    body: Block
    span: Span = field(default=NO_SPAN, compare=False)
    contract: object = None


@dataclass(frozen=True, slots=True)
class Loop:
    body: Block
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class For:
    """`for counter in low..high body`: a copy of the body for each number. Contracts are those of message programs."""

    counter: Ident
    low: Expr
    high: Expr
    body: Block
    span: Span = field(default=NO_SPAN, compare=False)
    contract: object = None


@dataclass(frozen=True, slots=True)
class Choose:
    """Two or more branches."""

    branches: tuple[Block, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class BrokenStatement:
    """Where a syntax error was reported; `blocks` are the blocks that could still be read."""

    blocks: tuple[Block, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Flag:
    """How a request is made: without a completion, with data that the CPU reads at once, behind a fence; or, with a `lane`,
    `on` which queue pair it is, and for a receive on which one of its sender."""

    word: FlagWord
    span: Span = field(default=NO_SPAN, compare=False)
    lane: LaneName | None = None


@dataclass(frozen=True, slots=True)
class Immediate:
    """`imm value to thread`: a message that carries a number behind a put."""

    value: Expr
    to: ThreadName
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class PutStatement:
    target: Ref
    source: Expr
    span: Span = field(default=NO_SPAN, compare=False)
    flags: tuple[Flag, ...] = ()
    imm: Immediate | None = None


@dataclass(frozen=True, slots=True)
class GetStatement:
    target: Ref
    source: Expr
    span: Span = field(default=NO_SPAN, compare=False)
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class WordRange:
    """Words of an array from the `first` to that with the index `last`; without that just the first one, of any kind."""

    first: Ref
    last: Expr | None = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class SendStatement:
    """`send source to thread`; of several words the source is the first, and `last` the index of the last."""

    source: Expr
    to: ThreadName
    span: Span = field(default=NO_SPAN, compare=False)
    flags: tuple[Flag, ...] = ()
    last: Expr | None = None


@dataclass(frozen=True, slots=True)
class PollStatement:
    """`poll node`, or `poll node count`."""

    node: NodeName
    span: Span = field(default=NO_SPAN, compare=False)
    count: Expr | None = None


@dataclass(frozen=True, slots=True)
class PollAny:
    """`target = poll node or node ...`: the number of the node that was polled, from 0, goes to the target."""

    nodes: tuple[NodeName, ...]
    target: Ref | None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class TryPoll:
    """`target = trypoll node`: 1 and a completion, or 0."""

    target: Ref
    node: NodeName
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class RFenceStatement:
    node: NodeName
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class FlushStatement:
    node: NodeName
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class LaneDeclaration:
    """`name to node`, or as many as the family has; each with room for `depth` requests, if that is said."""

    name: Ident
    node: NodeName
    span: Span = field(default=NO_SPAN, compare=False)
    family: FamilyRange | None = None
    depth: Expr | None = None


@dataclass(frozen=True, slots=True)
class Lanes:
    """`qp name to node, ...`: queue pairs of the thread beside the one without a name that it has to each node."""

    lanes: tuple[LaneDeclaration, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class OrderStatement:
    node: NodeName
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class PostedStatement:
    """`posted buffer, ... from thread`: receives that are posted before anything runs."""

    buffers: tuple[WordRange, ...]
    sender: ThreadName
    span: Span = field(default=NO_SPAN, compare=False)
    on: Flag | None = None


@dataclass(frozen=True, slots=True)
class RecvStatement:
    """`recv buffer from thread`."""

    buffer: WordRange
    sender: ThreadName
    span: Span = field(default=NO_SPAN, compare=False)
    on: Flag | None = None


@dataclass(frozen=True, slots=True)
class RecvPollStatement:
    """`target = rpoll thread`; without a target what was carried is not used."""

    sender: ThreadName
    target: Ref | None
    span: Span = field(default=NO_SPAN, compare=False)
    on: Flag | None = None


@dataclass(frozen=True, slots=True)
class BarrierStatement:
    """`barrier thread, ...`; without threads it is one of all."""

    threads: tuple[ThreadName, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class StartStatement:
    """`start thread`."""

    thread: ThreadName
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class JoinStatement:
    """`join thread`."""

    thread: ThreadName
    span: Span = field(default=NO_SPAN, compare=False)


Receiving = PostedStatement | RecvStatement | RecvPollStatement
"""What names a lane of another thread, the sender."""

Request = (
    PutStatement
    | GetStatement
    | SendStatement
    | PollStatement
    | PollAny
    | TryPoll
    | RFenceStatement
    | FlushStatement
    | OrderStatement
    | Lanes
    | PostedStatement
    | RecvStatement
    | RecvPollStatement
    | StartStatement
    | JoinStatement
)
"""All of these that are statements."""


Simple = (
    Registers
    | Assign
    | Call
    | MacroCall
    | Request
    | MFenceStatement
    | BarrierStatement
    | LabelStatement
    | Assume
    | Assert
    | Halt
    | Skip
)
Statement = Simple | If | While | Loop | For | Choose | BrokenStatement


@dataclass(frozen=True, slots=True)
class ProgramName:
    name: Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class AllowLoopback:
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class HardwareSetting:
    """`word value` in a `hardware` line, as `order relaxed`, `order "mine.toml"`, `order fi(SAS)` and `send depth 16`."""

    word: Ident
    value: Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class HardwareDeclaration:
    """The hardware that the program runs on."""

    settings: tuple[HardwareSetting, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Constants:
    bindings: tuple[Binding, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Domain:
    low: Expr
    high: Expr
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class CellDeclaration:
    """A variable or, with a `size`, an array of a node; a `relaxed` one is in a relaxed memory region,
    and a `sync` one is meant for synchronisation."""

    name: Ident
    size: Expr | None
    init: Expr | None
    span: Span = field(default=NO_SPAN, compare=False)
    relaxed: bool = False
    sync: bool = False


@dataclass(frozen=True, slots=True)
class FamilyRange:
    """`[counter in low..high]`: one for each number, which `counter` names; without one (`[* in low..high]`) none knows its
    own. Without bounds, `[*]`: any number. `span` is that of all between the brackets.
    """

    counter: Ident | None
    low: Expr | None
    high: Expr | None
    span: Span = field(default=NO_SPAN, compare=False)

    @property
    def many(self) -> bool:
        """Whether it is a crowd, of which one copy is like the other, with a number or without."""
        return self.counter is None


@dataclass(frozen=True, slots=True)
class NodeDeclaration:
    """With `via` its memory lies behind the card of that other node."""

    name: Ident
    cells: tuple[CellDeclaration, ...]
    span: Span = field(default=NO_SPAN, compare=False)
    family: FamilyRange | None = None
    via: NodeName | None = None


@dataclass(frozen=True, slots=True)
class ThreadDeclaration:
    """With `on_own` each copy of a crowd runs on its own copy of the node: `on NODE[*]`."""

    name: Ident
    node: Ident
    body: Block
    span: Span = field(default=NO_SPAN, compare=False)
    family: FamilyRange | None = None
    on_own: bool = False


@dataclass(frozen=True, slots=True)
class Macro:
    """Statements with parameters, which stand for names and constants."""

    name: Ident
    parameters: tuple[Ident, ...]
    body: Block
    span: Span = field(default=NO_SPAN, compare=False)


Item = (
    ProgramName
    | AllowLoopback
    | HardwareDeclaration
    | Constants
    | Domain
    | NodeDeclaration
    | ThreadDeclaration
    | Macro
    | OutcomeDeclaration
    | InvariantDeclaration
    | Expect
    | NeedsDeclaration
    | BrokenStatement
)


@dataclass(frozen=True, slots=True)
class ProgramTree:
    items: tuple[Item, ...]
    span: Span = field(default=NO_SPAN, compare=False)
