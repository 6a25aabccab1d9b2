"""What a state of a message program looks like, as plain data that the web page and the terminal show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rdma_robust.messages.language.message_program import Buffer
from rdma_robust.reports.share.coloured import Kind
from rdma_robust.teaching.explorer.view import Status, ValueView

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
    """What does not change: the program, its source line by line in pieces that are told apart."""

    file: str
    name: str
    coloured: tuple[tuple[tuple[Kind, str], ...], ...]
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
    """What `messages check` says, under all buffer semantics, and runs that show it."""

    verdict: Literal["fine", "wrong", "unknown"]
    text: str
    runs: tuple[FoundRunView, ...] = ()
