"""What a repair is made of, as plain data: costs, insertions, and the answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal

from rdma_robust.errors import UsageError

LOOP_FACTOR: Final = 10
"""What a loop around an insertion multiplies its cost by."""

DEEPEST: Final = 4
"""Loops that count; more of them cost no more."""

MOST_COST: Final = 1000

MOST_POLLS: Final = 4
"""Polls of one queue pair that are tried at one place."""


class Kind(Enum):
    """What is inserted. A DRAIN is a flush that leaves nothing outstanding on its queue pair; a REFILL one that leaves as
    many operations outstanding as it found, for later polls of the program, and so makes several gets."""

    POLL = "poll"
    RFENCE = "rfence"
    DRAIN = "flush"
    REFILL = "refilling flush"


FLUSHES: Final = frozenset({Kind.DRAIN, Kind.REFILL})


@dataclass(frozen=True, slots=True)
class Choice:
    """One elementary insertion: `kind` towards `node` at place number `place`; `copy` numbers polls of one place from 0."""

    place: int
    kind: Kind
    node: str
    copy: int = 0


Choices = frozenset[Choice]


@dataclass(frozen=True, slots=True)
class Costs:
    """What an insertion outside loops costs, from 1 to MOST_COST. Raises UsageError for anything else.

    A remote fence keeps the card waiting, a poll the processor, a flush keeps the processor waiting for a round trip through
    the network. A refilling flush makes more than one get, and costs twice a flush.
    """

    poll: int = 2
    rfence: int = 1
    flush: int = 5

    def __post_init__(self) -> None:
        for name, value in (("poll", self.poll), ("rfence", self.rfence), ("flush", self.flush)):
            if not 1 <= value <= MOST_COST:
                raise UsageError(f"the cost of a {name} is {value}; it must be from 1 to {MOST_COST}")

    def of(self, kind: Kind, depth: int) -> int:
        """Return the cost of one insertion inside `depth` loops."""
        plain = {Kind.POLL: self.poll, Kind.RFENCE: self.rfence, Kind.DRAIN: self.flush, Kind.REFILL: 2 * self.flush}
        factor: int = LOOP_FACTOR ** min(depth, DEEPEST)
        return plain[kind] * factor


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """`all_minimal` asks for every irreducible solution, up to `most_solutions`; `timeout` is in seconds for everything."""

    costs: Costs = field(default_factory=Costs)
    all_minimal: bool = False
    most_solutions: int = 100
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class Insertion:
    """One insertion as it stands in the patched program: `lines` are its statements, from line `line` on.

    Among what was removed, a statement of the program and its line there.
    """

    kind: str
    thread: str
    node: str
    line: int
    lines: tuple[str, ...]
    cost: int


@dataclass(frozen=True, slots=True)
class Solution:
    """A set of insertions that makes the program robust, with the patched text and its unified diff.

    `declared` are the words (`Node.word`) that flushes needed. `removed` is what can go, and then `cost` what that saves.
    """

    insertions: tuple[Insertion, ...]
    cost: int
    declared: tuple[str, ...]
    patched: str
    diff: str
    removed: tuple[Insertion, ...] = ()


Status = Literal["robust", "repaired", "impossible", "unknown"]


@dataclass(frozen=True, slots=True)
class Repair:
    """The answer for one program.

    `status` is `robust` (nothing to do), `repaired`, `impossible` (no set of insertions makes it robust; for needless
    instructions: it is not robust) or `unknown` (a limit came first). `reason` says why in a line. The first of
    `solutions` is the best; it is a cheapest one iff `optimal`. `complete` says, for all irreducible solutions, that
    these are all. `checked` counts the programs decided on the way, `cycles` the counterexamples learnt from.
    """

    status: Status
    reason: str
    solutions: tuple[Solution, ...] = ()
    optimal: bool = False
    complete: bool = False
    checked: int = 0
    cycles: int = 0
    time_s: float = 0.0

    @property
    def insertions(self) -> tuple[Insertion, ...]:
        return self.solutions[0].insertions if self.solutions else ()

    @property
    def removed(self) -> tuple[Insertion, ...]:
        return self.solutions[0].removed if self.solutions else ()

    @property
    def cost(self) -> int:
        return self.solutions[0].cost if self.solutions else 0

    @property
    def patched(self) -> str:
        """The repaired text; empty if there is none."""
        return self.solutions[0].patched if self.solutions else ""

    @property
    def diff(self) -> str:
        return self.solutions[0].diff if self.solutions else ""
