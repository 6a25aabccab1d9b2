"""Answers about a message program under one buffer semantics: the same records from every engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, NamedTuple

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.limits import Limits
from rdma_robust.messages.language.message_program import Buffer, MessageProgram


class OperationId(NamedTuple):
    """A send, the `nth` that `process` issued in a run, or a receive, the `nth` that it issued; each counted from 0."""

    process: int
    nth: int


class MatchedPair(NamedTuple):
    """A receive and the send that it takes."""

    receive: OperationId
    send: OperationId


Matching = frozenset[MatchedPair]
"""The pairs of one complete execution."""


@dataclass(frozen=True, slots=True)
class ProcessStep:
    """A process executes its next statement, issues, or passes a wait that is open; `choice` of `choose` and `loop`."""

    process: int
    choice: int | None = None


@dataclass(frozen=True, slots=True)
class MatchMove:
    """The rule `match` fires."""

    pair: MatchedPair


@dataclass(frozen=True, slots=True)
class BufferGrant:
    """Only under `any`: the send that `process` waits for gets a buffer, so that the wait is open.

    Or the collective operation that it waits in is over for it, though not all members have entered.
    """

    process: int


Move = ProcessStep | MatchMove | BufferGrant
Schedule = tuple[Move, ...]
"""A run, move by move, from the start. A `wait` of several requests takes a step for each of them; an inactive one too."""


@dataclass(frozen=True, slots=True)
class Violation:
    """An assertion that is false (`assert`), or a fault, at the end of the `schedule`. The text says it for people."""

    process: int
    kind: str
    span: Span
    schedule: Schedule
    text: str = ""


WaitKind = Literal["receive", "send", "collective"]


@dataclass(frozen=True, slots=True)
class WaitingProcess:
    """A process that waits forever, where, and for what; the operation of a collective one is the number of its group."""

    process: int
    kind: WaitKind
    operation: OperationId
    span: Span


@dataclass(frozen=True, slots=True)
class Deadlock:
    """A run after which no rule applies, no process has stopped and some wait."""

    waiting: tuple[WaitingProcess, ...]
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class Leak:
    """A complete run with operations that nothing matched; posted receives of daemons are none."""

    sends: tuple[OperationId, ...]
    receives: tuple[OperationId, ...]
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class Matchings:
    """How many matchings there are; at least so many, unless `exact`. `listed` are as many of them as were asked for."""

    count: int
    exact: bool
    listed: tuple[Matching, ...] = ()


@dataclass(frozen=True, slots=True)
class MessageQuestions:
    """The questions about a message program. Violations, deadlocks and leaks always are; pairs give races too. `limit` is
    that of counting."""

    pairs: bool = True
    count: bool = False
    limit: int = 10_000
    listed: int = 0
    loop_bound: int = 8
    beside_s: float | None = None
    """Seconds for pairs and matchings, after the verdict is known; None: all that is left."""

    @property
    def of_the_verdict(self) -> MessageQuestions:
        """What is left if pairs and matchings are not asked for."""
        return replace(self, pairs=False, count=False, listed=0)


Tri = Literal["no", "yes", "unknown"]


@dataclass(frozen=True, slots=True)
class BufferAnswer:
    """The answers under one buffer semantics.

    `violated`, `deadlocked` and `leaking` are `no` only after an exhausted search or a proof, and `yes` with a record whose
    schedule was replayed. `violations` has at most one for each place of the text. `pairs` is None where they were not asked
    for, or not all were found (`pairs_exact` is false then, and it may hold those that were). `reason` says what was left
    open and which limit was reached; `engine` is the name of what decided. `mismatches` say which processes call library
    procedures in different orders. `work` counts what the engine counts, by name.
    """

    buffer: Buffer
    engine: str
    violated: Tri
    deadlocked: Tri
    leaking: Tri
    violations: tuple[Violation, ...] = ()
    deadlock: Deadlock | None = None
    leak: Leak | None = None
    pairs: frozenset[MatchedPair] | None = None
    pairs_exact: bool = True
    matchings: Matchings | None = None
    mismatches: tuple[Mismatch, ...] = ()
    reason: str = ""
    work: dict[str, int] = field(default_factory=dict)

    @property
    def races(self) -> tuple[OperationId, ...]:
        """Return the receives that have two feasible partners, of those known."""
        return _racing(self.pairs or frozenset())

    def racing_sends(self) -> dict[OperationId, list[OperationId]]:
        """Return the racing receives with the sends that they can take."""
        found: dict[OperationId, list[OperationId]] = {each: [] for each in self.races}
        for pair in sorted(each for each in self.pairs or () if each.receive in found):
            found[pair.receive].append(pair.send)
        return found


@lru_cache(maxsize=2)
def _racing(pairs: frozenset[MatchedPair]) -> tuple[OperationId, ...]:
    counts: dict[OperationId, int] = {}
    for pair in pairs:
        counts[pair.receive] = counts.get(pair.receive, 0) + 1
    return tuple(sorted(each for each, count in counts.items() if count > 1))


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The `position`-th library procedure that each of two processes calls, and they are not the same."""

    position: int
    processes: tuple[int, int]
    calls: tuple[str, str]
    span: Span = NO_SPAN


MessageEngine = Callable[[MessageProgram, Buffer, MessageQuestions, Limits], BufferAnswer]
"""Every engine: it answers all that is asked, or says `unknown` with the reason; it raises nothing on purpose."""
