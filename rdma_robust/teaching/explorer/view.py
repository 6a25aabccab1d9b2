"""Views of states: plain data that the web page and the terminal show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rdma_robust.messages.language.message_program import Buffer
from rdma_robust.reports.share.program_colours import ReportKind
from rdma_robust.teaching.explorer.address import Mode, Side

Status = Literal["ready", "waiting", "ended", "stopped"]
Ending = Literal["", "final", "stuck"]


@dataclass(frozen=True, slots=True)
class ValueView:
    """A word, a register or a request; `changed` by the last step. The values of message programs are texts."""

    name: str
    value: int | str
    changed: bool


@dataclass(frozen=True, slots=True)
class MoveView:
    """Something that can happen next, or that has happened. `operation` numbers the remote operations of the run.

    `then` tells where the thread goes on, `faults` what goes wrong, `effect` whether an event takes effect.
    """

    choice: int
    agent: Literal["cpu", "nic", "start"]
    thread: str
    remote: str | None
    line: int | None
    operation: int | None
    label: str
    hint: str
    then: str
    faults: tuple[str, ...]
    effect: bool


@dataclass(frozen=True, slots=True)
class ThreadView:
    """`lines` are those of the statements that are next; `text` says in words where the thread is."""

    name: str
    node: str
    status: Status
    lines: tuple[int, ...]
    text: str
    registers: tuple[ValueView, ...]
    carries: str


@dataclass(frozen=True, slots=True)
class NodeView:
    name: str
    cells: tuple[ValueView, ...]


@dataclass(frozen=True, slots=True)
class OperationView:
    """A remote operation, by its number, its line and what is known of it."""

    number: int
    line: int
    text: str
    value: str


@dataclass(frozen=True, slots=True)
class QueueView:
    """A queue pair: posted operations that have not issued their write, the two write buffers, and what can be polled.

    `unpolled` are the operations that a poll may still take, the next one first; `complete` is how many of them, from the
    front, are complete. Under SC all but `complete` is empty.
    """

    thread: str
    remote: str
    pipe: tuple[OperationView, ...]
    remote_writes: tuple[OperationView, ...]
    local_writes: tuple[OperationView, ...]
    unpolled: tuple[OperationView, ...]
    complete: int


@dataclass(frozen=True, slots=True)
class ClaimView:
    """An `outcome` line at the end of a run: whether its condition holds here, and what the program says of it."""

    line: int
    text: str
    holds: bool


@dataclass(frozen=True, slots=True)
class SideView:
    """One machine. `steps` is the whole run, of which `at` steps have been taken; `moves` is what can happen next."""

    side: Side
    at: int
    steps: tuple[MoveView, ...]
    moves: tuple[MoveView, ...]
    threads: tuple[ThreadView, ...]
    nodes: tuple[NodeView, ...]
    queues: tuple[QueueView, ...]
    ending: Ending
    ending_text: str
    claims: tuple[ClaimView, ...]
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BrokenView:
    """From step `step` of the RDMA side on sequential consistency cannot follow; `cycle` says why."""

    step: int
    cycle: tuple[str, ...]
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class View:
    """A place. `address` is the text that leads here; in mode `follow` the SC side cannot be stepped by hand."""

    address: str
    mode: Mode
    rdma: SideView
    sc: SideView
    broken: BrokenView | None


@dataclass(frozen=True, slots=True)
class ProgramView:
    """The fixed part of a page: the program, its source line by line, also in pieces that are told apart, its options."""

    file: str
    name: str
    source: tuple[str, ...]
    coloured: tuple[tuple[tuple[ReportKind, str], ...], ...]
    threads: tuple[str, ...]
    ordered_reads: bool
    await_loops: bool


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The answer of `check`. `address` leads to the beginning of the run of a program that is not robust, `steps` is its
    length, and `broken` its step from which on sequential consistency cannot follow."""

    verdict: Literal["robust", "not-robust", "unknown"]
    text: str
    address: str | None = None
    steps: int = 0
    broken: int | None = None


MessageEnding = Literal["", "complete", "deadlock", "stopped"]


@dataclass(frozen=True, slots=True)
class MessageMoveView:
    """Something that can happen next, or that has happened: a `step` of a process, a `match`, a `grant` of a buffer.

    `process` is whom it is listed with, `hint` says more, `faults` what goes wrong; `local` is a step without a choice.
    """

    choice: int
    kind: Literal["step", "match", "grant"]
    process: str
    line: int | None
    label: str
    hint: str = ""
    faults: tuple[str, ...] = ()
    local: bool = False


@dataclass(frozen=True, slots=True)
class ProcessView:
    """`text` is the statement that is next; `note` says for what the process waits."""

    name: str
    daemon: bool
    status: Status
    line: int | None
    text: str
    note: str
    registers: tuple[ValueView, ...]
    requests: tuple[ValueView, ...]


@dataclass(frozen=True, slots=True)
class PostedView:
    """An unmatched operation, and the line that issued it."""

    text: str
    line: int | None


@dataclass(frozen=True, slots=True)
class EndpointView:
    """A process and a port with operations that nothing has matched, each in issue order."""

    name: str
    sends: tuple[PostedView, ...]
    receives: tuple[PostedView, ...]


@dataclass(frozen=True, slots=True)
class MessageEndView:
    """The end of a run: what it is in a sentence, why in lines, and what to do."""

    kind: MessageEnding
    text: str = ""
    reasons: tuple[str, ...] = ()
    advice: str = ""


@dataclass(frozen=True, slots=True)
class MessageView:
    """A place. `steps` is the whole run, of which `at` steps have been taken; `moves` is what can happen next.

    `violations` are those of the steps taken; `chart` is their sequence chart as text and as an image without its styles.
    """

    address: str
    buffer: Buffer
    at: int
    steps: tuple[MessageMoveView, ...]
    moves: tuple[MessageMoveView, ...]
    processes: tuple[ProcessView, ...]
    endpoints: tuple[EndpointView, ...]
    end: MessageEndView
    violations: tuple[str, ...]
    chart: str
    drawing: str


@dataclass(frozen=True, slots=True)
class MessageProgramView:
    """The fixed part of a page: the program, its source line by line in pieces that are told apart."""

    file: str
    name: str
    coloured: tuple[tuple[tuple[ReportKind, str], ...], ...]
    processes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundRunView:
    """A run that was found; `address` leads to its beginning."""

    kind: Literal["violation", "deadlock", "leak"]
    text: str
    address: str
    steps: int


@dataclass(frozen=True, slots=True)
class MessageVerdictView:
    """The answer of `messages check`, under all buffer semantics, and runs that show it."""

    verdict: Literal["fine", "wrong", "unknown"]
    text: str
    runs: tuple[FoundRunView, ...] = ()
