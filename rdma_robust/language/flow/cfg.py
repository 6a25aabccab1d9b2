"""Control-flow graphs: what a checked program means to everything after the language room.

A thread is a multigraph whose nodes are integer program points and whose edges carry a :class:`Step`. A step makes at most
one shared access; everything else it does (its guard, its register updates) is local to the thread. Array elements are
separate cells: an access with a computed index is one edge per possible index, guarded by `index == k`. Only a
:class:`Section` makes several accesses, all at one moment.

More than 400 lines: each operation is a record of a few lines, and a program is read with all of them in view.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal

from rdma_robust.errors import NO_SPAN, Diagnostic, Span
from rdma_robust.expr import TRUE, VALUE, Expr
from rdma_robust.language.flow.claims import ExpectedAnswer, InvariantLine, NeedsLine, OutcomeLine
from rdma_robust.model import UNSAID, Hardware
from rdma_robust.notebook_view import NotebookView

if TYPE_CHECKING:
    import networkx as nx  # slow, and few need it

MAX_CELLS: Final = 4096
MAX_STEPS: Final = 50_000
"""The largest programs, in shared words and in steps of all threads together."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One shared memory word. `name` is `data` or `ring[1]`.

    A hidden cell, which no program names, holds a put's constant and is never written; or it is that of a `moment`, the
    start or the end of a thread: 0 before, 1 after it, 2 if it is never to come. Every CPU reaches those.
    A `relaxed` one is in a memory region that is registered with relaxed ordering: NICs keep less order for it.
    A `sync` one is meant for synchronisation, which no behaviour depends on.
    With `via` its memory lies behind the NIC of that node, as an accelerator's does, and not beside the node's own.
    A `void` one is hidden, and stands for a word that a receive buffer has not: no message with data finds room there.
    """

    node: str
    name: str
    init: int = 0
    hidden: bool = False
    moment: bool = False
    relaxed: bool = False
    sync: bool = False
    via: str = ""
    void: bool = False

    def __str__(self) -> str:
        return f"{self.node}.{self.name}"

    @property
    def memory(self) -> str:
        """Which memory it is in: none of a name beside the card, or that of the node that lies behind it."""
        return self.node if self.via else ""

    @property
    def plain(self) -> bool:
        """Whether NICs keep the order of accesses as that of the table says: it is strict, and beside its card."""
        return not (self.relaxed or self.via)

    @property
    def card(self) -> str:
        """The node whose card reaches it: queue pairs to its words are with that one."""
        return self.via or self.node


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
class Section:
    """A locked section: with an empty store buffer, all of `cells` are read, and then some written, at one moment.

    What cell k had is `value_of(k)` in the step's guard and assignments, and in the values of `writes`: a number of a cell
    and what is written there. All of its events are one vertex of a trace, and joined for everybody.
    """

    cells: tuple[Cell, ...]
    writes: tuple[tuple[int, Expr], ...] = ()


@dataclass(frozen=True, slots=True)
class MFence:
    """`F`: wait until the own store buffer is empty; without effect where CPUs have none."""


@dataclass(frozen=True, slots=True)
class Nondet:
    """No shared access. VALUE is any integer from `low` to `high` (None: without that end), over registers."""

    low: Expr | None = None
    high: Expr | None = None


@dataclass(frozen=True, slots=True)
class Flush:
    """`FL`: wait until every earlier operation of a queue pair to `node` has taken effect."""

    node: str
    lane: str = ""


@dataclass(frozen=True, slots=True)
class OrderFence:
    """`nO`: remote writes and atomics of a queue pair to `node` before it take effect before those behind it."""

    node: str
    lane: str = ""


@dataclass(frozen=True, slots=True)
class RemoteRmw:
    """Remote atomic on the queue pair towards `source.card`: its card replaces VALUE, the value of `source`, by `new` if
    `when` is true (of a fetch it never is), in one step; the old value goes to `target`, a word of the own node, in a second
    one, or nowhere: then it completes with the first. `new` and `when` are over VALUE and registers, whose values are
    those of the moment of posting.

    With `wraps` and a condition over the same, such a step is reported where it is true (a `faa` that leaves the domain
    and starts again at its other end); the thread goes on.

    Its `operands` are words of the own node that the own card reads before, one after the other; `value_of(k)` is what it
    has read of the k-th, in all three."""

    target: Cell | None
    source: Cell
    new: Expr
    when: Expr = TRUE
    signaled: bool = True
    wraps: tuple[Expr, Fault] | None = None
    lane: str = ""
    operands: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Put:
    """`nlR(source)` then `nrW(target)` on the queue pair towards `target.card`. No poll takes one that is not `signaled`."""

    target: Cell
    source: Cell
    signaled: bool = True
    lane: str = ""


@dataclass(frozen=True, slots=True)
class Get:
    """`nrR(source)` then `nlW(target)` on the queue pair towards `source.card`."""

    target: Cell
    source: Cell
    signaled: bool = True
    lane: str = ""


@dataclass(frozen=True, slots=True)
class Payload:
    """The data that a request was given: if `inline`, the CPU reads it when it posts, else the card does later.

    `source` is the word that is read, VALUE in `value`; it is None for inline data that only depends on registers. `value`
    is VALUE for what is not inline.
    """

    source: Cell | None
    value: Expr = VALUE
    inline: bool = False


@dataclass(frozen=True, slots=True)
class InlinePut:
    """`lR(source)`, if `data` has one, by the CPU, then `nrW(target)` of the value of `data`, which is inline."""

    target: Cell
    data: Payload
    signaled: bool = True
    lane: str = ""


LaneEnds = tuple[str, str, str]
"""The sender of messages, their receiver, and the lane of the sender that they go on."""


@dataclass(frozen=True, slots=True)
class Send:
    """A message to the thread `to` on `node`: `nlR(source)`, or `lR(source)` or nothing if inline, then `nrW` of the buffer
    that the receive it is matched with has posted. It completes when that is there.

    It is the `word` of that number of its message, and the next send is the next one if that `goes_on`; one without `data`
    only takes a buffer. The words of the `rest` are sent behind it; :mod:`long_messages` writes them out, and no program
    has any. What is `put` stands behind the first word of a write with immediate, and is as that.
    """

    to: str
    node: str
    data: Payload | None
    signaled: bool = True
    lane: str = ""
    word: int = 1
    goes_on: bool = False
    rest: tuple[Cell, ...] = ()
    put: bool = False


@dataclass(frozen=True, slots=True)
class ImmPut:
    """A write with immediate: a put of `data` to `target`, then a message to the thread `to` that carries `imm`, a register
    or a constant, and no data: `nrW` without a word, which takes a buffer and leaves it as it is. It `goes_on` as a send."""

    target: Cell
    data: Payload
    imm: Expr
    to: str
    signaled: bool = True
    lane: str = ""
    word: int = 1
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Recv:
    """`V`: post the buffer `cell` for a message from the thread `sender`, on this lane of it, with a `rest` as that of a
    message."""

    cell: Cell
    sender: str
    lane: str = ""
    rest: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class RecvPoll:
    """`RP`: wait for the earliest receive completion from the thread `sender` not yet polled; VALUE is its immediate, or
    0. On a `lane` only the messages on it count."""

    sender: str
    lane: str = ""


@dataclass(frozen=True, slots=True)
class Poll:
    """`P` of a queue pair to `node`."""

    node: str
    lane: str = ""


@dataclass(frozen=True, slots=True)
class RFence:
    """`nF` of a queue pair to `node`."""

    node: str
    lane: str = ""


@dataclass(frozen=True, slots=True)
class BarrierWait:
    """`BAR`: wait until every one of `threads`, the own one among them, stands at one of the same; then all go on.

    They are named in the order of the program. The k-th barrier of each of them belongs together.
    """

    threads: tuple[str, ...]


NAMELESS: Final = ""
"""The `lane` of what is on the queue pair to a node that has no name of its own. The lane of a receive is its sender's."""

RemoteOp = Put | Get | RemoteRmw
"""What a thread hands to its NIC: it reads `source` and writes `target`."""

Message = Send | ImmPut
"""What takes a receive buffer of another thread."""

CpuOp = Silent | Read | Write | Cas | Rmw | Section | MFence | Nondet | Recv | RecvPoll | BarrierWait
"""What a CPU does without its NIC."""

Op = CpuOp | RemoteOp | Poll | RFence | Flush | OrderFence | InlinePut | Message


FaultKind = (
    Literal["overflow", "division by zero", "index out of range", "assertion"]
    | Literal["rnr", "receive queue full", "value not followed", "send queue full"]
)


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: something that goes wrong when a step with it is taken.

    `overflow`, `division by zero`, `index out of range` and `send queue full` end the execution (the step leads to a program
    point without edges that is not the exit); `assertion` is only reported, the thread goes on, and so is the `overflow` of
    a remote `faa`. `rnr` (receiver not ready: a message finds no buffer) and `receive queue full` are no faults of a step:
    they are met where a message or a receive cannot go on, and the thread waits. `value not followed` is none of the
    program: its integers have no ends, and one leaves the range that it is read with. `text` is what was written there.
    """

    kind: FaultKind
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
    `synchronises`: the access of its word is one by which threads tell each other something, among those that say the same
    here (`happens_before.Synchronising`); a program whose words are declared `sync`, or none, has no such step.
    """

    op: Op
    guard: Expr = TRUE
    assigns: tuple[tuple[str, Expr], ...] = ()
    span: Span = NO_SPAN
    text: str = ""
    fault: Fault | None = None
    aside: bool = False
    synchronises: str = ""


def moved_step(step: Step, move: Callable[[Span], Span]) -> Step:
    """Return a step with its span, and those of all that may go wrong with it, as `move` says."""
    op = step.op
    if isinstance(op, RemoteRmw) and op.wraps is not None:
        condition, fault = op.wraps
        op = replace(op, wraps=(condition, replace(fault, span=move(fault.span))))
    own = None if step.fault is None else replace(step.fault, span=move(step.fault.span))
    return replace(step, op=op, span=move(step.span), fault=own)


Edge = tuple[int, int, Step]


@dataclass(frozen=True)
class Thread:
    """The code of one thread. `registers` are (name, initial value) pairs; `exit` is the only final program point.

    `edges` are (from, to, step), in the order of the source; `points` are all program points. `labels` are (name, program
    point before the statement with that label) pairs, several of a label where send queues have a depth. `posted` are
    (sending thread, buffer, lane of that thread): receives that are posted before anything runs, in this order. `lanes` are
    (name, node) pairs: the queue pairs that have a name of their own. Of a template, which is `many`, any number of copies
    run. The `family` of one of several is their name and its number: ("P", 2) for `P[2]`.
    """

    name: str
    node: str
    registers: tuple[tuple[str, int], ...]
    points: tuple[int, ...]
    edges: tuple[Edge, ...]
    entry: int
    exit: int
    labels: tuple[tuple[str, int], ...] = ()
    posted: tuple[tuple[str, Cell, str], ...] = ()
    many: bool = False
    family: tuple[str, int] | None = None
    lanes: tuple[tuple[str, str], ...] = ()

    @cached_property
    def graph(self) -> nx.MultiDiGraph[int]:
        """The same as a graph of networkx, each step under the key `step`."""
        import networkx as nx  # noqa: PLC0415 - slow, and few need it

        graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
        graph.add_nodes_from(self.points)
        for source, target, step in self.edges:
            graph.add_edge(source, target, step=step)
        return graph

    def points_at(self, label: str) -> tuple[int, ...]:
        """Return the program points before the statement with a label."""
        return tuple(point for name, point in self.labels if name == label)

    @property
    def begun(self) -> Cell | None:
        """The word of the moment at which another thread starts this one; None if it begins at once."""
        first = (step.op for source, _, step in self.edges if source == self.entry)
        words = (op.cell for op in first if isinstance(op, Read) and op.cell.moment)
        return next((word for word in words if word.name == f"start of {self.name}"), None)

    @property
    def following(self) -> dict[int, list[int]]:
        """The points that follow each program point, once for each step there."""
        found: dict[int, list[int]] = {point: [] for point in self.points}
        for source, target, _ in self.edges:
            found.setdefault(source, []).append(target)
        return found


@dataclass(frozen=True)
class Program(NotebookView):
    """A checked program.

    `cells` lists every shared word, hidden ones last; `domain`, where one is given, is (lo, hi) inclusive. `constants` are
    names that conditions on states may use. `undecided` are errors for everyone who does not prove: nothing else knows
    integers without a domain, for example. `source` is the text that spans point into, for people: what the program does
    is what its threads say.
    `words` are the connections with messages of several words, and how many the longest has: so many sends, receives and
    polls of the receiver are one.
    With `crowds` it stands for all P(n), see :mod:`copies`; of `many_nodes` each copy of the one thread there has its own.
    `behind` are the nodes whose memory lies behind the card of another one, with that one.
    """

    name: str
    file: str
    source: str
    nodes: tuple[str, ...]
    cells: tuple[Cell, ...]
    threads: tuple[Thread, ...]
    domain: tuple[int, int] | None = None
    outcomes: tuple[OutcomeLine, ...] = ()
    expectations: tuple[ExpectedAnswer, ...] = ()
    invariants: tuple[InvariantLine, ...] = ()
    needs: tuple[NeedsLine, ...] = ()
    allow_loopback: bool = False
    constants: tuple[tuple[str, int], ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    undecided: tuple[Diagnostic, ...] = ()
    hardware: Hardware = UNSAID
    many_nodes: tuple[str, ...] = ()
    behind: tuple[tuple[str, str], ...] = ()
    words: tuple[tuple[LaneEnds, int], ...] = ()

    def card_of(self, node: str) -> str:
        """Return the node whose NIC a node uses: itself, unless its memory lies behind that of another one."""
        return dict(self.behind).get(node, node)

    def words_of(self, sender: int, receiver: int, lane: str) -> int:
        """Return how many words the longest message of a connection has; of threads by number."""
        return dict(self.words).get((self.threads[sender].name, self.threads[receiver].name, lane), 1)

    @property
    def has_regions(self) -> bool:
        """Whether some word is in a relaxed region."""
        return any(cell.relaxed for cell in self.cells)

    @property
    def plain(self) -> bool:
        """Whether NICs keep the order of accesses to all words as that of the table says."""
        return all(cell.plain for cell in self.cells)

    @cached_property
    def memories(self) -> tuple[str, ...]:
        """The nodes with words that lie behind the card of another node."""
        return tuple(dict.fromkeys(cell.memory for cell in self.cells if cell.memory))

    @property
    def crowds(self) -> tuple[Thread, ...]:
        """The templates."""
        return tuple(thread for thread in self.threads if thread.many)

    @property
    def expect_robust(self) -> bool | None:
        """Whether the program is expected to be robust, None if its `expect` lines do not say."""
        return next((not e.negated for e in self.expectations if e.kind == "robust"), None)


def steps(thread: Thread) -> list[tuple[int, int, Step]]:
    """Return every edge of `thread` as (from, to, step), in a fixed order."""
    return sorted(thread.edges, key=lambda edge: edge[:2])


def is_unwritten(step: Step) -> bool:
    """Whether no statement makes a step: a thread that others start, or wait for, begins or ends with it."""
    cell: Cell | None = getattr(step.op, "cell", None)
    return cell is not None and cell.moment and cell.name in step.text


def node_of(op: Op) -> str | None:
    """Return the node with whose card a remote operation, or a poll, fence or flush of such, has to do; None for all
    others."""
    match op:
        case Put(target=target) | InlinePut(target=target) | ImmPut(target=target):
            return target.card
        case Get(source=source) | RemoteRmw(source=source):
            return source.card
        case Poll(node) | RFence(node) | Flush(node) | OrderFence(node) | Send(node=node):
            return node
        case Silent() | Read() | Write() | Cas() | Rmw() | Section() | MFence() | Nondet():
            return None
        case Recv() | RecvPoll() | BarrierWait():
            return None


def fills(op: object) -> bool:
    """Return whether an operation is a message with data, which needs room in its buffer."""
    return isinstance(op, Send) and op.data is not None


def is_padding(op: object) -> bool:
    """Return whether an operation only takes a buffer, behind the words of a message that is shorter than others."""
    return isinstance(op, Send) and op.data is None


def named_lane(op: object) -> str:
    """Return the lane that an operation names, NAMELESS if it names none."""
    lane: str = getattr(op, "lane", NAMELESS)
    return lane


def on_lane(lane: str) -> str:
    """Return what stands behind the name of a thread or request for a lane; nothing for NAMELESS."""
    return lane and f" on {lane}"


def peer_of(op: Op) -> str | None:
    """Return the queue pair of a remote operation, or of a poll, fence or flush of such, as its thread names it: by a lane,
    or by the node where it has none; None for all others. No lane of a program has the name of a node."""
    node = node_of(op)
    return None if node is None else named_lane(op) or node


def queue_pairs_of(program: Program, thread: Thread) -> dict[str, str]:
    """Return the queue pairs that a thread can have, by their names, with the nodes at their other ends."""
    cards = [node for node in program.nodes if program.card_of(node) == node]
    return {**{node: node for node in cards}, **dict(thread.lanes)}


def operands(op: Op) -> tuple[Expr, ...]:
    """Return the expressions of an operation."""
    match op:
        case Write(_, value):
            return (value,)
        case Cas(_, expected, new):
            return expected, new
        case Rmw(_, new, when) | RemoteRmw(_, _, new, when):
            return new, when
        case Section(_, writes):
            return tuple(value for _, value in writes)
        case Nondet(low, high):
            return tuple(end for end in (low, high) if end is not None)
        case InlinePut(data=data) | Send(data=Payload() as data):
            return (data.value,)
        case ImmPut(data=data, imm=imm):
            return data.value, imm
        case Silent() | Read() | Put() | Get() | Poll() | RFence() | MFence() | Flush() | OrderFence():
            return ()
        case Send() | Recv() | RecvPoll() | BarrierWait():
            return ()
