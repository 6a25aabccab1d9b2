"""Control-flow graphs: what a checked program means to everything after the language room.

A thread is a multigraph whose nodes are integer program points and whose edges carry a :class:`Step`. A step makes at most
one shared access; everything else it does (its guard, its register updates) is local to the thread. Array elements are
separate cells: an access with a computed index is one edge per possible index, guarded by `index == k`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from rdma_robust.errors import NO_SPAN, Diagnostic, Span
from rdma_robust.expr import TRUE, Expr

if TYPE_CHECKING:
    import networkx as nx  # slow, and few need it

AnyModelName = Literal["sc", "tso", "pso", "rma", "rdma"]
"""The memory models that claims can be about."""

MAX_CELLS: Final = 4096
MAX_STEPS: Final = 50_000
"""The largest programs, in shared words and in steps of all threads together."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One shared memory word. `name` is `data` or `ring[1]`; a hidden cell holds a put's constant and is never written."""

    node: str
    name: str
    init: int = 0
    hidden: bool = False

    def __str__(self) -> str:
        return f"{self.node}.{self.name}"


@dataclass(frozen=True, slots=True)
class Silent:
    """No shared access."""


@dataclass(frozen=True, slots=True)
class Read:
    """`lR`: a local read; the value read is VALUE in the step's guard and assignments."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class Write:
    """`lW`: a local write of an expression over registers."""

    cell: Cell
    value: Expr


@dataclass(frozen=True, slots=True)
class Cas:
    """Compare-and-swap: VALUE is the old value; a `CAS` event writing `new` if it equals `expected`, else an `lR` event."""

    cell: Cell
    expected: Expr
    new: Expr


@dataclass(frozen=True, slots=True)
class Rmw:
    """Local read-modify-write: VALUE is the old value; a `CAS` event writing `new` (which may name VALUE) if `when` is true
    (it may name VALUE too), else an `lR` event. `faa` is new = VALUE + e, `swap` is new = e."""

    cell: Cell
    new: Expr
    when: Expr = TRUE


@dataclass(frozen=True, slots=True)
class MFence:
    """`mfence`: wait until the own store buffers are empty; nothing where there are none. No event."""


@dataclass(frozen=True, slots=True)
class Nondet:
    """No shared access. VALUE is any integer from `low` to `high` (None: without that end), over registers."""

    low: Expr | None = None
    high: Expr | None = None


@dataclass(frozen=True, slots=True)
class Flush:
    """Wait until every operation of the thread towards `node` is complete, and take all their completions."""

    node: str


@dataclass(frozen=True, slots=True)
class RemoteRmw:
    """Remote atomic on the queue pair towards `source.node`: its card replaces VALUE, the value of `source`, by `new` if
    `when` is true, in one step; the old value goes to `target`, a word of the own node, in a second one. `new` and `when`
    are over VALUE and registers, whose values are those of the moment of posting."""

    target: Cell
    source: Cell
    new: Expr
    when: Expr = TRUE


@dataclass(frozen=True, slots=True)
class Put:
    """`nlR(source)` then `nrW(target)` on the queue pair towards `target.node`."""

    target: Cell
    source: Cell


@dataclass(frozen=True, slots=True)
class Get:
    """`nrR(source)` then `nlW(target)` on the queue pair towards `source.node`."""

    target: Cell
    source: Cell


@dataclass(frozen=True, slots=True)
class Poll:
    """`P(node)`."""

    node: str


@dataclass(frozen=True, slots=True)
class RFence:
    """`nF(node)`."""

    node: str


RemoteOp = Put | Get | RemoteRmw
"""What a thread hands to its network card: it reads `source` and writes `target`."""

Op = Silent | Read | Write | Cas | Put | Get | Poll | RFence | Rmw | MFence | Nondet | Flush | RemoteRmw


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong when a step with this fault is taken.

    `overflow`, `division by zero` and `index out of range` end the execution (the step leads to a program point without
    edges that is not the exit); `assertion` is only reported, the thread goes on. `text` is what was written there.
    """

    kind: Literal["overflow", "division by zero", "index out of range", "assertion"]
    message: str
    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of a control-flow graph, taken as one atomic step under sequential consistency (a put or get is two).

    Enabled iff `guard` (over the thread's registers, and VALUE for Read and Cas) is non-zero. `assigns` are simultaneous.
    Division by zero never happens when guards are evaluated: a guard that divides is itself guarded by `&&`.
    `text` is the source of the statement, for people.

    `aside`: the step of an `assume`. A thread that can only take such steps and none of them is enabled does not hang: its
    execution is set aside. Every other step that is not enabled is waited for, also those of loops that only wait and
    were made blocking. Enabling and events do not depend on it.
    """

    op: Op
    guard: Expr = TRUE
    assigns: tuple[tuple[str, Expr], ...] = ()
    span: Span = NO_SPAN
    text: str = ""
    fault: Fault | None = None
    aside: bool = False


Edge = tuple[int, int, Step]


@dataclass(frozen=True)
class Thread:
    """The code of one thread. `registers` are (name, initial value) pairs; `exit` is the only final program point.

    `edges` are (from, to, step), in the order of the source; `points` are all program points. `labels` are (name, program
    point before the statement with that label) pairs.
    """

    name: str
    node: str
    registers: tuple[tuple[str, int], ...]
    points: tuple[int, ...]
    edges: tuple[Edge, ...]
    entry: int
    exit: int
    labels: tuple[tuple[str, int], ...] = ()

    @cached_property
    def graph(self) -> nx.MultiDiGraph[int]:
        """The same as a graph of networkx, each step under the key `step`."""
        import networkx as nx  # noqa: PLC0415 - slow, and few need it

        graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
        graph.add_nodes_from(self.points)
        for source, target, step in self.edges:
            graph.add_edge(source, target, step=step)
        return graph

    @property
    def following(self) -> dict[int, list[int]]:
        """The points that follow each program point, once for each step there."""
        found: dict[int, list[int]] = {point: [] for point in self.points}
        for source, target, _ in self.edges:
            found.setdefault(source, []).append(target)
        return found


@dataclass(frozen=True, slots=True)
class Claim:
    """`allowed under rdma` or `forbidden under sc`."""

    allowed: bool
    model: AnyModelName


@dataclass(frozen=True, slots=True)
class OutcomeLine:
    """An `outcome` line: a condition over final states (names `Thread.register`, `Node.cell`) and its claims."""

    condition: Expr
    claims: tuple[Claim, ...]
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class PointAt:
    """`T at LABEL`: the thread is at the program point with that label, so that the labelled statement is its next one."""

    thread: str
    label: str


@dataclass(frozen=True, slots=True)
class ThreadEnded:
    """`T ended`: the thread is at its exit."""

    thread: str


@dataclass(frozen=True, slots=True)
class Invariant:
    """An `invariant` line: true in every reachable state.

    `condition` is over the names `Thread.register`, `Node.cell` (memory, not a buffer) and those of `atoms`, which are 0
    or 1. A condition that is undefined (division by zero) does not hold.
    """

    condition: Expr
    atoms: tuple[tuple[str, PointAt | ThreadEnded], ...]
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """What an `expect` line says: `kind` holds, or does not if it is `negated`, under `model`, if that matters to the kind.

    `span` is the place of the claim, not of its line.
    """

    kind: Literal["robust", "hang", "safe"]
    negated: bool
    model: AnyModelName | None
    span: Span = NO_SPAN

    @property
    def text(self) -> str:
        """The claim as it is written."""
        if self.model is None:
            return f"{'not ' if self.negated else ''}{self.kind}"
        if self.kind == "safe":
            return f"{'un' if self.negated else ''}safe under {self.model}"
        return f"{'no ' if self.negated else ''}{self.kind} under {self.model}"


@dataclass(frozen=True)
class Program:
    """A checked program.

    `cells` lists every shared word, hidden ones last; `domain`, where one is given, is (lo, hi) inclusive. `constants` are
    names that conditions on states may use. `undecided` are errors for everyone who does not prove: nothing else knows
    integers without a domain, for example. `source` is the text that spans point into, for people: what the program does
    is what its threads say.
    """

    name: str
    file: str
    source: str
    nodes: tuple[str, ...]
    cells: tuple[Cell, ...]
    threads: tuple[Thread, ...]
    domain: tuple[int, int] | None = None
    outcomes: tuple[OutcomeLine, ...] = ()
    expectations: tuple[Expectation, ...] = ()
    invariants: tuple[Invariant, ...] = ()
    allow_loopback: bool = False
    constants: tuple[tuple[str, int], ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    undecided: tuple[Diagnostic, ...] = ()

    @property
    def expect_robust(self) -> bool | None:
        """Whether the program is expected to be robust, None if its `expect` lines do not say."""
        return next((not e.negated for e in self.expectations if e.kind == "robust"), None)


def steps(thread: Thread) -> list[tuple[int, int, Step]]:
    """Return every edge of `thread` as (from, to, step), in a fixed order."""
    return sorted(thread.edges, key=lambda edge: edge[:2])


def peer_of(op: Op) -> str | None:
    """Return the node that a remote operation, or a poll, fence or flush of such, is about; None for all others."""
    match op:
        case Put(target=target):
            return target.node
        case Get(source=source) | RemoteRmw(source=source):
            return source.node
        case Poll(node) | RFence(node) | Flush(node):
            return node
        case Silent() | Read() | Write() | Cas() | Rmw() | MFence() | Nondet():
            return None


def operands(op: Op) -> tuple[Expr, ...]:
    """Return the expressions of an operation."""
    match op:
        case Write(_, value):
            return (value,)
        case Cas(_, expected, new):
            return expected, new
        case Rmw(_, new, when) | RemoteRmw(_, _, new, when):
            return new, when
        case Nondet(low, high):
            return tuple(end for end in (low, high) if end is not None)
        case Silent() | Read() | Put() | Get() | Poll() | RFence() | MFence() | Flush():
            return ()
