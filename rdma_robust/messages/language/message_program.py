"""Checked message programs: processes as structured statements, names resolved, functions and families written out.

What a statement does is docs/messages-language.md. A process executes its body from the first statement; at the end of the
body, and at :class:`Halt`, it has ended. At a false :class:`Assume` and at a fault it has stopped, which is something else.

More than 400 lines: one class for each statement, and what all of them are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, assert_never

from rdma_robust.errors import NO_SPAN, Diagnostic, Span
from rdma_robust.messages.language.collective_kinds import FoldName
from rdma_robust.messages.language.message_terms import Term

Buffer = Literal["zero", "infinite", "any", "eager"]
"""When a send completes: at its match; at once; at once or, if the runtime refuses to buffer it, at its match; at once if
it has few elements, else at its match."""

BUFFERS: tuple[Buffer, ...] = ("zero", "infinite", "any")
"""Those of every program; `eager` is asked about only where it is known how many elements are few."""

ALL_BUFFERS: tuple[Buffer, ...] = (*BUFFERS, "eager")

SendMode = Literal["standard", "sync", "buffered", "ready"]
"""A send completes when the buffers say; only at its match; or at once, whatever they say. `ready` is a fault unless a
posted receive takes the message, and else as `standard`."""

SEND_MODES: tuple[SendMode, ...] = ("standard", "sync", "buffered", "ready")


def completion_of(mode: SendMode, elements: int, buffer: Buffer, eager: int | None) -> Buffer:
    """Return when one send completes under `buffer`: as all do under `zero`, `infinite` or `any`.

    Under `eager` sends of at most so many elements are buffered.
    """
    if mode in ("sync", "buffered"):
        return "zero" if mode == "sync" else "infinite"
    if buffer != "eager":
        return buffer
    return "infinite" if elements <= (eager or 0) else "zero"


@dataclass(frozen=True, slots=True)
class Place:
    """A register, or an element of the array in it; or a request, or an element of an array of requests."""

    name: str
    indices: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value`; the indices are evaluated before the value."""

    target: Place
    value: Term
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Requests:
    """`req name` or `req name[size]`: from here on the request is, or all of the array are, inactive."""

    name: str
    size: Term | None = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class IssueSend:
    """`request = isend value to to on port tag tag`. All are evaluated when issued: value, to, tag, the request's indices.

    Faults: `to` is no process (destination), `tag` is negative (tag), no posted receive takes what is `ready` (ready).
    What a receive says of the type or the room of its message, and the send of its type or size, has to agree: see there.
    """

    request: Place
    value: Term
    to: Term
    port: int
    tag: Term
    span: Span = field(default=NO_SPAN, compare=False)
    mode: SendMode = "standard"
    of_type: Term | None = None
    size: Term | None = None


@dataclass(frozen=True, slots=True)
class IssueReceive:
    """`request = irecv target from source on port tag tag`.

    `source` and `tag` are None for `any`. The pattern and the indices of all places are evaluated when issued: source, tag,
    target, sender, which, then the request's; value, sender and tag are stored at the wait, into `target`, `sender` and
    `which`. Faults: `source` is no process (source), `tag` is negative (tag), and at the wait index and kind.

    A match with a send of another type is a violation (type), else one with a larger size than there is room (room), where
    both say something of it; all goes on as if it were none.

    With `of` it takes the message that this request holds, which holds none from then on, and the pattern is empty. A fault
    if it holds none (message), before anything else is evaluated.
    """

    request: Place
    target: Place
    source: Term | None
    port: int
    tag: Term | None
    sender: Place | None = None
    which: Place | None = None
    span: Span = field(default=NO_SPAN, compare=False)
    of: Place | None = None
    of_type: Term | None = None
    room: Term | None = None

    @property
    def is_checked(self) -> bool:
        """Return whether it says something of its messages that their sends may say too."""
        return self.of_type is not None or self.room is not None


@dataclass(frozen=True, slots=True)
class Probe:
    """Look for a message that a receive posted here would take, which stays where it is; its sender and tag are stored.

    `source` and `tag` are None for `any`. Without `flag` the process waits until there is one. With it, it goes on: 1 is
    stored there if it saw a message; 0, and nothing else, if not, which it need not have, even if there is one. All is
    evaluated when the process gets there. Choice s + 1 sees the message of process s, choice 0 none. Faults: `source` is no
    process (source), `tag` is negative (tag), index and kind.

    With `taken` it takes the message off that it sees: this request holds it, and only a receive `of` it matches, until when
    its send is unmatched. A request that holds a message is for that receive alone: a fault where it is waited for, declared
    or given to something else (held).
    """

    source: Term | None
    port: int
    tag: Term | None
    sender: Place | None = None
    which: Place | None = None
    flag: Place | None = None
    span: Span = field(default=NO_SPAN, compare=False)
    taken: Place | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait for each of the requests, one after the other; for an array of them in the order of its indices.

    A request that is inactive is passed. After its wait a request is inactive.
    """

    requests: tuple[Place, ...]
    span: Span = field(default=NO_SPAN, compare=False)


CompletionKind = Literal["any", "some", "all"]
"""One of the requests completes, at least one, or all of them."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A step that completes requests that can be, as their wait does, and stores which; without `tests` it waits for some.

    The requests, with the elements of arrays, are counted from 0; those that are inactive do not count. With `how`

    - `any`: choice k + 1 completes request k, and k is stored in `which`;
    - `some`: choice c completes those whose bits c has; how many they are is stored in `which`, their numbers in `places`;
    - `all`: choice 1 completes all.

    Choice 0 completes none. Something that `tests` may always take it, as that something is complete can be seen late; what
    waits may if no request is active. Then -1 is stored in `which`, but 0 where `some` of active ones were asked for.
    `flag` becomes 0 where choice 0 was taken though a request is active, else 1.
    Stored are, in this order, what is received, `flag`, `which` and `places`. Faults: index, kind, and held.
    """

    requests: tuple[Place, ...]
    how: CompletionKind
    tests: bool
    flag: Place | None = None
    which: Place | None = None
    places: Place | None = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Abort:
    """The program ends, with this error: a violation. Others are no further than they could be before: they go on."""

    error: Term
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class IssueCollective:
    """`request = icollective name on group ..`, or `collective` without a request: the process enters an operation.

    The k-th calls of a group by its members belong together. A member leaves at the wait, when those have entered that
    `COLLECTIVES` says; under `zero` when all have; under `any` it may leave before all have. It is a violation of one of two
    members, the one with the larger number, that both have entered and differ, of the first of these kinds: in the name, or
    in whether the call itself waits (collective); in the root (root); in the operation (operation) or the type `sig`
    (signature), where both say it. It is no deadlock that one waits who differs from somebody it waits for.

    All is evaluated when issued: root, op, sig, give, the indices of `get`, then those of the request. What is got is stored
    in `get` at the wait. Faults: this process or the root is none of the group (member), and at the wait index and kind.
    """

    request: Place
    name: str
    group: int = 0
    root: Term | None = None
    op: Term | None = None
    sig: Term | None = None
    give: Term | None = None
    get: Place | None = None
    fold: FoldName | Literal[""] = ""
    blocking: bool = True
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class CollectiveCall:
    """Here a library procedure is called; what it sends and receives follows. Changes nothing."""

    name: str
    root: Term | None = None
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Assume:
    condition: Term
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Assert:
    """Where the condition is false that is a violation; the process goes on."""

    condition: Term
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Halt:
    """The process ends."""

    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Return:
    """Go on after the innermost :class:`InlinedCall`."""

    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class If:
    condition: Term
    then: Block
    other: Block = ()
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class While:
    condition: Term
    body: Block
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class For:
    """`body` with `counter` from `low` to `high`, both evaluated once; nothing else assigns the counter."""

    counter: str
    low: Term
    high: Term
    body: Block
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Loop:
    """`body` any number of times, also zero: before each, choice 0 goes on behind the loop and choice 1 goes in."""

    body: Block
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Choose:
    """One of the branches; choice i takes the i-th, from 0."""

    branches: tuple[Block, ...]
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments that a call gives a function: for each parameter its name and where its value is, a constant or a
    register.

    `result` is the register of the result, "" if there is none.
    """

    arguments: tuple[tuple[str, Term], ...]
    result: str


@dataclass(frozen=True, slots=True)
class InlinedCall:
    """The body of the function `name`, called here; its registers have names of their own. `of_library` if it is no function
    of the file."""

    name: str
    body: Block
    span: Span = field(default=NO_SPAN, compare=False)
    call: Call = field(default=Call((), ""), compare=False, repr=False)
    of_library: bool = field(default=False, compare=False, repr=False)


Statement = (
    Assign | Requests | IssueSend | IssueReceive | Probe | IssueCollective | Wait | Completion | CollectiveCall | Assume
    | Assert | Abort | Halt | Return | If | While | For | Loop | Choose | InlinedCall
)  # fmt: skip
Block = tuple[Statement, ...]


def is_look(statement: object) -> bool:
    """Whether a statement looks for messages, or receives one that a look has taken off."""
    return isinstance(statement, Probe) or (isinstance(statement, IssueReceive) and statement.of is not None)


def inner_blocks(statement: Statement) -> tuple[Block, ...]:
    """Return the blocks directly inside of a statement."""
    match statement:
        case If(_, then, other):
            return then, other
        case Choose(branches):
            return branches
        case While(body=body) | For(body=body) | Loop(body=body) | InlinedCall(body=body):
            return (body,)
        case Assign() | Requests() | IssueSend() | IssueReceive() | Probe() | Wait() | Completion() | CollectiveCall():
            return ()
        case Assume() | Assert() | Abort() | Halt() | Return() | IssueCollective():
            return ()
        case _:
            assert_never(statement)


def with_blocks(statement: Statement, change: Callable[[Block], Block]) -> Statement:
    """Return a statement with another block in place of each that is directly inside of it."""
    match statement:
        case If(_, then, other):
            return replace(statement, then=change(then), other=change(other))
        case Choose(branches):
            return replace(statement, branches=tuple([change(each) for each in branches]))
        case While() | For() | Loop() | InlinedCall():
            return replace(statement, body=change(statement.body))
        case _:
            assert not inner_blocks(statement)
            return statement


@dataclass(frozen=True, slots=True)
class Process:
    """One process. All `registers` are 0 at the start and all `requests` inactive, neither an array.

    `name` is as people write it, `Client[2]`. Registers of functions are named `double.x`, of its second call in the text
    `double@2.x`; no name of the language has a point in it.
    """

    name: str
    body: Block
    registers: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    daemon: bool = False
    span: Span = field(default=NO_SPAN, compare=False)


ClaimKind = Literal["holds", "violated", "deadlock", "no deadlock", "race", "no race", "matchings"]


@dataclass(frozen=True, slots=True)
class MessageClaim:
    """One claim of an `expect` line; `buffers` are those it is about, `number` that of `matchings`."""

    kind: ClaimKind
    buffers: tuple[Buffer, ...] = BUFFERS
    number: int = 0
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ProcessGroup:
    """Processes that call collective operations together, in this order; the one of all processes has no name."""

    name: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LocalFinding:
    """Something wrong at a place by itself, of a program that was made of C: its class, what is said, and the processes."""

    kind: str
    text: str
    processes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LoggedMatches:
    """The matches of a logged run: receives that were completed, as process and number, each with the send that it took.

    The send is None where it is not known. At the places `tested` a process has asked whether it can go on: it did not wait.
    """

    matched: Mapping[tuple[int, int], tuple[int, int] | None]
    tested: frozenset[Span]


@dataclass(frozen=True, slots=True)
class MessageProgram:
    """A checked program; process i is `processes[i]`. `ports[0]` is '', the nameless one; operations name ports by index.

    `eager` is how many elements a send may have that is buffered under `eager`; None if nothing says so. `found` says of a
    program that was made of C what claims that are false by themselves are about, at their places. `left_out` says what of
    the program was not read, and why: then nothing holds of it that was not seen to be false. `declared` are the groups
    besides that of all processes. What an `unfinished` process of a trace does behind its last event is not known, nor what
    one of a `logged` run does behind a receive that takes another message.
    """

    name: str
    file: str
    source: str
    processes: tuple[Process, ...]
    ports: tuple[str, ...] = ("",)
    claims: tuple[MessageClaim, ...] = ()
    warnings: tuple[Diagnostic, ...] = field(default=(), compare=False)
    eager: int | None = None
    found: Mapping[Span, tuple[LocalFinding, ...]] | None = field(default=None, compare=False)
    left_out: str = ""
    declared: tuple[ProcessGroup, ...] = ()
    unfinished: tuple[int, ...] = ()
    logged: LoggedMatches | None = field(default=None, compare=False)

    @property
    def groups(self) -> tuple[ProcessGroup, ...]:
        """Return all groups; operations name them by index, and that of all processes is the first."""
        return (ProcessGroup("", tuple(range(len(self.processes)))), *self.declared)

    @property
    def is_c(self) -> bool:
        """Return whether it was made of C: then a message that nothing takes is an error."""
        return self.found is not None

    def found_at(self, span: Span) -> tuple[LocalFinding, ...]:
        """Return what is wrong at a place by itself."""
        return () if self.found is None else self.found.get(span, ())

    @property
    def looks(self) -> bool:
        """Return whether a process sees what others have issued: it looks for messages, sends what is to be expected, or
        enters a collective operation."""
        return self.peeks or self.gathers

    @property
    def peeks(self) -> bool:
        """Return whether a process looks for messages, or sends what is to be expected."""
        return any(is_look(each) for each in self._statements()) or bool(self.expecting)

    @property
    def gathers(self) -> bool:
        """Return whether a process enters collective operations that are no procedures of the library."""
        return any(isinstance(each, IssueCollective) for each in self._statements())

    @property
    def completes(self) -> bool:
        """Return whether a process sees which of several requests is complete, or whether one is."""
        return any(isinstance(each, Completion) for each in self._statements())

    @property
    def checks_matches(self) -> bool:
        """Return whether a match can be a violation."""
        return any(isinstance(each, IssueReceive) and each.is_checked for each in self._statements())

    @property
    def expecting(self) -> frozenset[int]:
        """Return the ports on which something is sent ready: a posted receive has to take it, so it matters when that is."""
        sends = (each for each in self._statements() if isinstance(each, IssueSend))
        return frozenset(each.port for each in sends if each.mode == "ready")

    def _statements(self) -> Iterator[Statement]:
        blocks = [each.body for each in self.processes]
        while blocks:
            for each in blocks.pop():
                yield each
                blocks += inner_blocks(each)

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """Return the buffer semantics that the program is asked about."""
        return BUFFERS if self.eager is None else ALL_BUFFERS


def with_eager(program: MessageProgram, eager: int) -> MessageProgram:
    """Return a program that is asked about another limit; what it claims about its own one is claimed no more."""
    if eager == program.eager:
        return program
    kept = [replace(each, buffers=tuple(b for b in each.buffers if b != "eager")) for each in program.claims]
    return replace(program, eager=eager, claims=tuple(each for each in kept if each.buffers))
