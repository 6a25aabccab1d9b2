"""Repairs as plain data: costs, insertions, and the answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, Literal

from rdma_robust.errors import UsageError
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.model import Model

LOOP_WEIGHT: Final = 10
"""How often the body of a loop counts, by default."""

DEEPEST: Final = 4
"""Loops that count; more of them cost no more."""

MOST_COST: Final = 1000

MOST_LOOP_WEIGHT: Final = 100

MOST_COPIES: Final = 24
"""The greatest number of polls, and of gets, of one queue pair that are ever tried at one place."""

MOST_UNBOUNDED: Final = 8
"""The greatest number of polls at one place where what is outstanding has no bound on the paths there."""


class Barrier(Enum):
    """The statement that is inserted, or can go. For robustness a flush is a get with the polls that take it where that does
    it, and a `flush` statement on other networks, and there are `order` statements where nothing else is promised of two
    requests; for safety there are `flush` and `mfence` statements."""

    GET = "get"
    POLL = "poll"
    RFENCE = "rfence"
    FLUSH = "flush"
    ORDER = "order"
    MFENCE = "mfence"


@dataclass(frozen=True, slots=True)
class InsertionChoice:
    """One statement: `kind` towards `node` at place number `place`; `copy` numbers equal ones of a place from 0.

    A get reads a word beside the card of its node, or in a `memory` behind that: then it lands what was issued to it.
    At a place stand an `mfence` (which has no node), for one node after the other its gets, its polls and its flush, and
    behind all of them the `order`s and remote fences.
    """

    place: int
    kind: Barrier
    node: str
    copy: int = 0
    memory: str = ""

    @property
    def order(self) -> tuple[int, bool, str, int, str, int]:
        """The key by which statements are sorted as they stand in the text."""
        late = {Barrier.POLL: 1, Barrier.FLUSH: 2, Barrier.RFENCE: 1}.get(self.kind, 0)
        return self.place, self.kind in (Barrier.ORDER, Barrier.RFENCE), self.node, late, self.memory, self.copy


Choices = frozenset[InsertionChoice]


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of statements outside of loops, from 1 to MOST_COST, and how often a loop runs, from 1 to MOST_LOOP_WEIGHT.

    `flush` is a round trip through the network, the price of a get; polls come on top of it. With the defaults the unit is
    a fifth of a round trip: a poll keeps the processor waiting for the card, a remote fence the card. A `flush` statement
    costs what a get with its poll does. An `order` keeps the writes behind it waiting for a round trip, and nobody else: it
    costs more than a poll, and less than a flush. Raises UsageError for anything else.
    """

    poll: int = 2
    rfence: int = 1
    flush: int = 5
    loop_weight: int = LOOP_WEIGHT
    mfence: int = 1
    order: int = 3

    def __post_init__(self) -> None:
        for name, value in self._of_statements.items():
            if not 1 <= value <= MOST_COST:
                raise UsageError(f"the cost of a {name} is {value}; it must be from 1 to {MOST_COST}")
        if not 1 <= self.loop_weight <= MOST_LOOP_WEIGHT:
            raise UsageError(f"the weight of a loop is {self.loop_weight}; it must be from 1 to {MOST_LOOP_WEIGHT}")

    def of(self, kind: Barrier, depth: int) -> int:
        """Return the cost of one statement inside `depth` loops."""
        plain = {**self._of_statements, "get": self.flush, "flush": self.flush + self.poll}
        factor: int = self.loop_weight ** min(depth, DEEPEST)
        return plain[kind.value] * factor

    @property
    def _of_statements(self) -> dict[str, int]:
        """What options say."""
        names = ("poll", "rfence", "order", "flush", "mfence")
        return {name: getattr(self, name) for name in names}

    def of_wait(self, kind: Barrier, depth: int) -> int:
        """Return the cost of one statement where only waits are inserted, for the goal `safe`: a flush is a round trip."""
        return self.of(Barrier.GET if kind is Barrier.FLUSH else kind, depth)


COUNTING: Final = Costs(flush=1, loop_weight=1)
"""Costs by which the cheapest set of waits is the one with the fewest."""

SiteName = Literal["after-remote", "all"]


@dataclass(frozen=True, slots=True)
class WaitOptions:
    """For the goal `safe`: the memory model, where flushes or `mfence`s can stand (behind each remote operation or store, at
    all places between two statements, or nowhere), and whether those of the program (`own`) can go."""

    model: AnyModelName
    sites: SiteName | None = "after-remote"
    own: bool = False


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """`all_minimal` asks for every irreducible solution, up to `most_solutions`; `timeout` is in seconds for everything.
    With `orders` a program is to be robust under each of these tables, and not under the one of the hardware."""

    costs: Costs = field(default_factory=Costs)
    all_minimal: bool = False
    most_solutions: int = 100
    timeout: float | None = None
    orders: tuple[str, ...] = ()

    def models(self, model: Model) -> tuple[Model, ...]:
        """Return the models under each of which programs are to be robust, on hardware that is else of this model."""
        return tuple(replace(model, order=order) for order in dict.fromkeys(self.orders)) or (model,)


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
class TextEdit:
    """Replace what stands from `line`, `column` up to before `end_line`, `end_column` by `text`.

    Lines and columns are counted from 1, columns in characters of Python; `offset` and `removed` say the same in characters
    from the beginning of the text.
    """

    offset: int
    removed: int
    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, slots=True)
class RepairSolution:
    """A set of insertions that makes the program robust, with the patched text, its unified diff and the edits that make it.

    `declared` are the words (`Node.word`) that flushes needed. `removed` is what can go, and then `cost` what that saves.
    The edits do not overlap and are in the order of the text. `hangs` is what a search through states says of the hangs of
    the repaired program: `none`, `kept` (the program has one too), or `unknown` (a limit came first). `spare` are polls of
    the program itself that could go, with lines of the patched one, each together with an inserted get. `kept` are waits of
    the program that could go and do not, with its lines; their cost counts. `elsewhere` are other files of a C program that
    change: `patched` and `edits` are about its own, `diff` about all, and a line of an insertion is one of its file.
    """

    insertions: tuple[Insertion, ...]
    cost: int
    declared: tuple[str, ...]
    patched: str
    diff: str
    removed: tuple[Insertion, ...] = ()
    edits: tuple[TextEdit, ...] = ()
    hangs: str = ""
    spare: tuple[Insertion, ...] = ()
    kept: tuple[Insertion, ...] = ()
    elsewhere: tuple[str, ...] = ()


Status = Literal["robust", "safe", "repaired", "impossible", "unknown"]


@dataclass(frozen=True, slots=True)
class Repair:
    """The answer for one program.

    `status` is `robust` or `safe` (nothing to do), `repaired`, `impossible` (no set of insertions will do; for needless
    instructions: the program is not robust, or not safe) or `unknown` (a limit came first). `reason` says why in a line. The
    first of `solutions` is the best; it is a cheapest one iff `optimal`. `complete` says, for all irreducible solutions,
    that these are all. `checked` counts the programs decided on the way, `cycles` the counterexamples learnt from.

    With `waits` the goal was safety under its model: then `candidates` counts the waits to choose from, `needed` are those
    that every safe set has, `undecided` the sets that may be better than the solutions, by the lines of the program that
    they stand behind, or on; and `run` tells why no set will do.
    """

    status: Status
    reason: str
    solutions: tuple[RepairSolution, ...] = ()
    optimal: bool = False
    complete: bool = False
    checked: int = 0
    cycles: int = 0
    time_s: float = 0.0
    scope: str = ""
    waits: WaitOptions | None = None
    candidates: int = 0
    needed: tuple[Insertion, ...] = ()
    undecided: tuple[tuple[Insertion, ...], ...] = ()
    run: tuple[str, ...] = ()

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


def edits_of(repair: Repair, number: int = 0) -> tuple[TextEdit, ...]:
    """Return solution `number` of a repair as edits of the program's text, none if there is no such solution.

    Together they make the patched text: an editor must apply all of them at once, or none.
    """
    return repair.solutions[number].edits if number < len(repair.solutions) else ()
