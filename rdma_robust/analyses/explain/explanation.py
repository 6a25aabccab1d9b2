"""The data of an explanation: frozen records of strings, numbers and tuples, one to one to JSON and safe to pickle.

Field names are the JSON's (`schema/explain.schema.json`). Lines are source lines from 1, `order` numbers count from 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model

VerdictWord = Literal["robust", "not-robust", "unknown"]
LaneKind = Literal["cpu", "nic"]
StepKind = Literal["access", "post", "read", "send", "write", "fence", "poll"]
Relation = Literal["po", "rf", "mo", "rb", "pf", "nfo", "oppo"]
Why = Literal["no-race", "no-cycle", "filter", "search", "cycle", "open"]
Keeping = Literal["together", "each", "some"]
Change = Literal["new", "none", "unknown", "not-asked"]
OperationKind = Literal["put", "get", "rfence", "order", "store", "atomic"]


@dataclass(frozen=True, slots=True)
class Lane:
    """One processor's work for a thread (`cpu`), or what works for it beside (`nic`): the NIC for one of its queue
    pairs, or without a `remote` node its store buffer."""

    id: str
    kind: LaneKind
    thread: str
    node: str
    remote: str | None


def lanes_named(named: Iterable[str], program: Program) -> tuple[Lane, ...]:
    """Return the lanes that are `named`, as `T1 CPU on A`, `T1 buffer` or `T1 NIC to B`; those of one thread stand together,
    its CPU first."""
    used = dict.fromkeys(named)
    lanes = []
    for thread in program.threads:
        cpu = f"{thread.name} CPU on {thread.node}"
        beside = [lane for lane in used if lane.startswith((f"{thread.name} buffer", f"{thread.name} NIC to "))]
        if cpu in used or beside:
            lanes.append(Lane(cpu, "cpu", thread.name, thread.node, None))
        for lane in beside:
            remote = lane.removeprefix(f"{thread.name} NIC to ") if " NIC to " in lane else None
            lanes.append(Lane(lane, "nic", thread.name, thread.node, remote))
    return tuple(lanes)


@dataclass(frozen=True, slots=True)
class TimelineStep:
    """One move of the machine. `event` is the id of the event that takes effect with it, if one does.

    `kind` is `access` (CPU reads or writes memory), `post` (CPU hands an operation to the NIC), `read` (NIC reads),
    `send` (a NIC write enters the write buffer, which completes a put), `write` (it reaches memory), `fence`, `poll`.
    A `write` with `sent` did both in one row, because nothing happened between. `operation` is the number of the remote
    operation, for `poll` of the one whose completion it takes. `name` is that of the event in the theory, "" if there is
    none; `matters` if the cycle and the reorderings depend on it (:mod:`what_matters`).
    """

    number: int
    lane: str
    kind: StepKind
    sent: bool
    event: int | None
    operation: int | None
    line: int | None
    label: str
    text: str
    on_cycle: bool
    pivot: bool
    name: str
    matters: bool


@dataclass(frozen=True, slots=True)
class Operation:
    """A put, get or remote fence of the run; in runs of `prove` a store that is buffered, or a remote atomic, too.

    Steps are numbers of timeline steps, None where the run ends before.
    """

    number: int
    kind: OperationKind
    lane: str
    line: int
    statement: str
    posted: int
    read: int | None
    sent: int | None
    written: int | None
    polled: int | None


@dataclass(frozen=True, slots=True)
class Timeline:
    lanes: tuple[Lane, ...]
    steps: tuple[TimelineStep, ...]
    operations: tuple[Operation, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """An event of the execution graph. `lane` is None for initial writes; `row` is its place in the order of effects, from 1
    (0 for initial writes), `position` that in its thread's program order, from 0 (-1 for initial writes)."""

    id: int
    type: str
    lane: str | None
    thread: str | None
    row: int
    position: int
    line: int | None
    label: str
    text: str
    on_cycle: bool
    pivot: bool


@dataclass(frozen=True, slots=True)
class Edge:
    """`relations` are all base relations drawn as this edge; on the cycle, `cycle` is the one that the cycle uses.

    A program-order edge without `oppo` is one that RDMA does not keep.
    """

    source: int
    target: int
    relations: tuple[Relation, ...]
    cycle: Relation | None
    text: str


@dataclass(frozen=True, slots=True)
class Graph:
    """The execution graph: po, mo and nfo between neighbours, rb to the next write, oppo where po edges do not imply it."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """`name == value`, about a final state."""

    name: str
    value: int


@dataclass(frozen=True, slots=True)
class FinalStates:
    """Final states that RDMA reaches and SC does not.

    `new`: yes, `only_rdma` of them (at least, unless `complete`), and `telling` are values of one of them, as few as
    possible, that no final state of SC has together. `none`: there are none. `unknown`: a search was cut,
    `reason` says by what.
    """

    change: Change
    reason: str
    sc: int
    rdma: int
    only_rdma: int
    complete: bool
    telling: tuple[Condition, ...]
    example: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Access:
    """One memory access of a statement, by the CPU or the NIC."""

    type: str
    cell: str
    line: int
    column: int
    statement: str
    text: str


@dataclass(frozen=True, slots=True)
class Keeper:
    """A poll or remote fence that keeps an order."""

    line: int
    column: int
    statement: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two accesses of one thread in program order, the order of which the hardware by itself would not keep.

    With `kept_by` it is kept all the same: never does `later` take effect before `earlier`. `keeping` is `together` if
    without any one of these keepers nothing keeps the order, `each` if that is so only without all of them, `some` if it
    took too long to know which of them matter.
    Without `kept_by` the two may take effect the other way round, and `why` is the reason that no cycle closes through
    them: `no-race` and `no-cycle` are facts about the text of the program, `filter` and `search` say what excluded it.
    If the verdict is not `robust`, `cycle` says that the counterexample reorders them, `open` that nothing is known.
    """

    thread: str
    earlier: Access
    later: Access
    kept_by: tuple[Keeper, ...]
    keeping: Keeping | None
    why: Why | None
    reason: str


@dataclass(frozen=True, slots=True)
class LineMark:
    """A source line that matters: `roles` of `cycle`, `pivot`, `late` (takes effect late), `early` (overtakes it), `keeps`,
    `fault`. `notes` are the events of the cycle there, in words."""

    line: int
    roles: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CycleStep:
    """One edge of the SC cycle as a sentence; `source` and `target` are event ids."""

    source: int
    relation: str
    target: int
    text: str


@dataclass(frozen=True, slots=True)
class FaultNote:
    kind: str
    message: str
    line: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything the writers need. `paragraphs` are the English text, without markup, code in backquotes."""

    file: str
    program: str
    source: str
    verdict: VerdictWord
    reason: str
    headline: str
    paragraphs: tuple[str, ...]
    ordered_reads: bool
    model: Model
    instrumentation: str
    engine: str
    states: int
    transitions: int
    pivots: int
    spin_only: bool
    checked_by: tuple[str, ...]
    faults: tuple[FaultNote, ...]
    faults_exact: bool
    lines: tuple[LineMark, ...]
    cycle: tuple[CycleStep, ...]
    timeline: Timeline | None
    graph: Graph | None
    final_states: FinalStates
    pairs: tuple[Pair, ...]
    pairs_complete: bool
