"""What a state looks like, as plain data that the web page and the terminal show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rdma_robust.reports.share.coloured import Kind
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
    """What does not change: the program, its source line by line, also in pieces that are told apart, its options."""

    file: str
    name: str
    source: tuple[str, ...]
    coloured: tuple[tuple[tuple[Kind, str], ...], ...]
    threads: tuple[str, ...]
    ordered_reads: bool
    await_loops: bool


@dataclass(frozen=True, slots=True)
class VerdictView:
    """What `check` says. `address` leads to the beginning of the run of a program that is not robust, `steps` is its length,
    and `broken` its step from which on sequential consistency cannot follow."""

    verdict: Literal["robust", "not-robust", "unknown"]
    text: str
    address: str | None = None
    steps: int = 0
    broken: int | None = None
