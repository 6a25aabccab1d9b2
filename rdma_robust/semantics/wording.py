"""Events, edges and reorderings in words. The phrases are tables by event type; the code only fills them in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rdma_robust.language.flow.cfg import Cell, Program, is_padding
from rdma_robust.model import CARDS, RDMA
from rdma_robust.orders import order_name
from rdma_robust.orders.known_orders import order_table
from rdma_robust.semantics.event_table import remote_of
from rdma_robust.semantics.kinds import WordKind, kind_of, memory_of
from rdma_robust.semantics.machines.effects import event_of, events_of_section
from rdma_robust.semantics.machines.machine import Action, Verb, act_of
from rdma_robust.semantics.order_table import gives_up, lands_apart, oppo_scope
from rdma_robust.semantics.trace import CPU_TYPES, FENCE_TYPES, STORE_TYPES, Event, EventType
from rdma_robust.text import count, one_line

T = EventType

SPIN_ONLY: Final = (
    "Not robust only through failed spin reads: with --await-loops, which turns loops that only wait into blocking reads, "
    "the program is robust."
)

LABEL: Final[Mapping[EventType, str]] = {
    T.INIT: "{cell} starts as {written}",
    T.LR: "reads {cell} = {read}",
    T.LW: "writes {cell} = {written}",
    T.CAS: "swaps {cell} from {read} to {written}",
    T.P: "polls {remote}",
    T.NLR: "reads {cell} = {read}",
    T.NRW: "writes {cell} = {written}",
    T.NRR: "reads {cell} = {read}",
    T.NLW: "writes {cell} = {written}",
    T.NF: "passes rfence {remote}",
    T.NAR: "reads {cell} = {read} as an atomic",
    T.NAW: "writes {cell} = {written} as an atomic",
    T.NA: "swaps {cell} from {read} to {written}",
    T.F: "waits for its stores",
    T.V: "posts a buffer for {peer}",
    T.RP: "takes a message of {peer}",
    T.BAR: "meets the others at the barrier",
    T.FL: "flushes {remote}",
    T.NO: "passes order {remote}",
}

MESSAGE: Final = "delivers {cell} = {written} to {peer}"
BARE_MESSAGE: Final = "delivers {written} to {peer}"
END_OF_MESSAGE: Final = "delivers the end of a message to {peer}"
"""Of a message that is shorter than others of its connection: it has taken its whole buffer."""
"""Messages, which are nrW: one that fills a buffer, and one of a write with immediate."""

SENT: Final[Mapping[EventType, str]] = {T.NRW: "sends", T.NAW: "sends", T.NLW: "receives"}
"""What the card does with a write that it issues: it is not yet in memory."""

DEED: Final[Mapping[EventType, str]] = {
    T.NLR: "the NIC's read of {cell} for {statement}",
    T.NRW: "the NIC's write of {cell} for {statement}",
    T.NRR: "the NIC's read of {cell} for {statement}",
    T.NLW: "the NIC's write of {cell} for {statement}",
    T.NAR: "the atomic's read of {cell} for {statement}",
    T.NAW: "the atomic's write of {cell} for {statement}",
    T.NA: "the atomic access to {cell} for {statement}",
    T.NF: "{statement}",
    T.NO: "{statement}",
}
"""An event as a noun; a CPU event is its statement."""

MAY: Final[Mapping[EventType, str]] = {
    T.NLR: "the NIC may read {cell} of {statement}",
    T.NRW: "the NIC may write {cell} of {statement}",
    T.NRR: "the NIC may read {cell} of {statement}",
    T.NLW: "the NIC may write {cell} of {statement}",
    T.NAR: "the NIC may read {cell} of {statement}",
    T.NAW: "the NIC may write {cell} of {statement}",
    T.NA: "the NIC may access {cell} of {statement}",
    T.NF: "the NIC may pass {statement}",
    T.NO: "the NIC may pass {statement}",
}
"""What the earlier event of a reordered pair may do late; a CPU event "may happen"."""

AFTER: Final[Mapping[EventType, str]] = {
    T.NLR: "after it reads {cell} of {statement}",
    T.NRW: "after it writes {cell} of {statement}",
    T.NRR: "after it reads {cell} of {statement}",
    T.NLW: "after it writes {cell} of {statement}",
    T.NAR: "after it reads {cell} of {statement}",
    T.NAW: "after it writes {cell} of {statement}",
    T.NA: "after it accesses {cell} of {statement}",
    T.NF: "after it passes {statement}",
    T.NO: "after it passes {statement}",
}
"""The later event of a reordered pair; a CPU event is "after" its statement."""

CPU_DOES_NOT_WAIT: Final = "the CPU goes on without waiting for the NIC"
STORE_WAITS: Final = "it waits in the store buffer while later reads and polls go on"
POLLS_ANOTHER: Final = "this poll waits for another operation"
FLUSHES_ANOTHER: Final = "this flush waits for another queue pair"
ONLY_WRITES: Final = "`order` keeps only remote writes and atomics in order"
OTHER_QUEUE_PAIR: Final = "queue pairs are not ordered with one another"
NOT_KEPT: Final = "RDMA does not keep this order"
WEAKER_ORDER: Final = "the network may let it be overtaken on its way (order multipath)"
ATOMICS_TOO: Final = "the network may let it be overtaken on its way, also by atomics (order relaxed)"
IN_RELAXED_REGION: Final = "the later one is in a relaxed region, and may pass it on the way"
ANSWER_FROM_REGION: Final = "the later one answers a read of a relaxed region, which may have passed it on the way"
OTHER_MEMORY: Final = "they go over different paths: one is in the memory of {}, behind the NIC"
ATOMIC_BEFORE_GET: Final = "an atomic may be done before an earlier get has read"
ATOMIC_BEFORE_RESULT: Final = "an atomic may be done before an earlier result is stored"
READS_MEANWHILE: Final = "a put may read its source while an earlier atomic is in flight"

WHY_POLL: Final[Mapping[EventType, str]] = {
    T.NLR: POLLS_ANOTHER,
    T.NRW: "polling a put tells only that it was issued, not that it arrived",
    T.NRR: POLLS_ANOTHER,
    T.NLW: POLLS_ANOTHER,
    T.NF: "a poll does not wait for a remote fence",
    T.NAW: "polling an atomic tells only that its answer is there, not that its location is written",
}
"""Why a NIC event may take effect after a later poll."""

WHY: Final[Mapping[tuple[EventType, EventType], str]] = {
    (T.NRW, T.NLR): "a put reads its source without waiting for earlier remote writes to arrive",
    (T.NRW, T.NF): "a remote fence waits until a write is issued, not until it arrives",
    (T.NRR, T.NLR): "a put reads its source without waiting for earlier remote reads",
    (T.NRR, T.NRW): "a put may write before an earlier get has read",
    (T.NRR, T.NRR): "two remote reads may be reordered (unless --ordered-reads)",
    (T.NLW, T.NLR): "a put may read its source before an earlier get has stored its result",
    (T.NLW, T.NRW): "a put may write before an earlier get has stored its result",
    (T.NLW, T.NRR): "a get may read before an earlier get has stored its result",
    (T.NLW, T.NF): "a remote fence waits until a write is issued, not until it arrives",
    (T.NRR, T.NAR): ATOMIC_BEFORE_GET,
    (T.NRR, T.NAW): ATOMIC_BEFORE_GET,
    (T.NRR, T.NA): ATOMIC_BEFORE_GET,
    (T.NLW, T.NAR): ATOMIC_BEFORE_RESULT,
    (T.NLW, T.NAW): ATOMIC_BEFORE_RESULT,
    (T.NLW, T.NA): ATOMIC_BEFORE_RESULT,
    (T.NAR, T.NLR): READS_MEANWHILE,
    (T.NAW, T.NLR): READS_MEANWHILE,
    (T.NA, T.NLR): READS_MEANWHILE,
    (T.NAW, T.NLW): "the answer of an atomic may come back before its location is written",
    (T.NAW, T.NF): "a remote fence waits until an atomic is issued, not until its location is written",
}
"""Why two NIC events of one queue pair may change places."""

_ATOMIC: Final = (T.NAR, T.NAW, T.NA)
ON_THE_WAY: Final[Mapping[tuple[EventType, EventType], str]] = {
    **{(earlier, later): ATOMICS_TOO for earlier in (T.NRW, *_ATOMIC) for later in _ATOMIC},
    **{(earlier, later): WEAKER_ORDER for earlier in (T.NRW, *_ATOMIC) for later in (T.NRW, T.NRR)},
    (T.NRW, T.NLW): WEAKER_ORDER,
    (T.NLW, T.NLW): WEAKER_ORDER,
}
"""Why they may where orders are weaker than the default."""

EDGE: Final[Mapping[str, str]] = {
    "rf": "{target} reads {cell} = {read} written by {source} (rf)",
    "moment": "{target} sees the {word} in {source} (rf)",
    "mo": "{source} writes {cell} = {before}, later overwritten by {target} with {after} (mo)",
    "rb": "{source} reads {cell} = {seen}, later overwritten by {target} with {after} (rb)",
    "po": "{thread}: {first} is before {second} in program order (po)",
    "section": "{source}: between `lock` and `unlock` all is one step (section)",
    "barrier": "{source} is one step with {target}: both are at the same barrier (barrier)",
    "rmw": "{source}: the read and the write of {cell} are one step (rmw)",
    "sm": "{source} posts the buffer that {target} fills (sm)",
    "rpf": "{target} takes the receive completion of {source} (rpf)",
    "turn": "{source} fills {cell}, which is not the buffer whose turn it is (turn)",
}


@dataclass(frozen=True, slots=True)
class Words:
    """The phrases for events of one program, which runs under the `order` of that name."""

    program: Program
    order: str = RDMA.order

    def statement(self, event: Event) -> str:
        """Return the source text of the event's statement, on one line and printable."""
        return one_line(event.step.text) if event.step else ""

    def label(self, event: Event) -> str:
        """Return what the event does, without who does it: `writes x = 1`."""
        if event.cell is not None and event.cell.moment and event.type is not T.INIT:
            return of_moment(event.cell, event.read, event.written)
        if event.cell is not None and event.cell.hidden and event.type is not T.INIT:
            return f"takes the constant {event.read}"
        phrase = LABEL[event.type]
        if event.peer is not None and event.type is T.NRW:
            ends = event.step is not None and is_padding(event.step.op)
            phrase = MESSAGE if event.cell is not None else END_OF_MESSAGE if ends else BARE_MESSAGE
        return phrase.format(
            cell=self._cell(event), read=event.read, written=event.written, remote=event.remote, peer=event.peer
        )

    def clause(self, event: Event) -> str:
        """Return the event as a clause that stands alone: `T1's NIC writes B.y = 1 for `put B.y = x` (line 7)`."""
        if event.type is T.INIT:
            return self.label(event)
        agent = "CPU" if event.type in CPU_TYPES else "NIC"
        return f"{self._thread(event)}'s {agent} {self.label(event)} for {self._quoted(event)}"

    def noun(self, event: Event) -> str:
        """Return the event as a noun: `the NIC's write of `B.y` for `put B.y = x` (line 7)`, or a CPU event's statement."""
        return self.label(event) if event.type is T.INIT else self._fill(DEED, event, "{statement}")

    def short(self, event: Event) -> str:
        """Return a noun for an event that has been named before: `the NIC's write for line 7`, or `line 8`."""
        if event.step is None:
            return "the initial value"
        line = f"line {event.step.span.where}"
        deed = "read" if event.type in (T.NLR, T.NRR, T.NAR) else "write"
        return line if event.type in CPU_TYPES | FENCE_TYPES else f"the NIC's {deed} for {line}"

    def edge(self, source: Event, relation: str, target: Event) -> str:
        """Return one edge of an SC cycle as a sentence without a full stop."""
        if relation not in EDGE:
            return f"{self._place(source)} is before {self._place(target)} ({relation})"
        return EDGE[edge_kind(source, relation)].format(
            source=self._place(source),
            target=self._place(target),
            cell=target.cell,
            word="" if target.cell is None else target.cell.name,
            read=target.read,
            seen=source.read,
            before=source.written,
            after=target.written,
            thread=self._thread(source),
            first=self._fill(DEED, source, "{statement}"),
            second=self._fill(DEED, target, "{statement}"),
        )

    def reordering(self, earlier: Event, later: Event) -> str:
        """Return which reordering of two events of a thread happened, and why RDMA allows it."""
        return f"{self.turned_round(earlier, later)}: {why_reordered(earlier, later, self.order)}"

    def turned_round(self, earlier: Event, later: Event) -> str:
        """Return which reordering of two events of a thread happened."""
        may = self._fill(MAY, earlier, "{statement} may happen")
        return f"{may} {self._fill(AFTER, later, 'after {statement}')}"

    def _fill(self, table: Mapping[EventType, str], event: Event, default: str) -> str:
        cell = event.cell
        shown = "its constant" if cell is not None and cell.hidden else f"`{self._cell(event)}`"
        if cell is None and event.type is T.NRW:
            shown = "its message"
        return table.get(event.type, default).format(cell=shown, statement=self._quoted(event))

    def _quoted(self, event: Event) -> str:
        if event.step is None:
            return str(event)
        return f"`{self.statement(event)}` (line {event.step.span.where})"

    def _place(self, event: Event) -> str:
        if event.type is T.INIT:
            return "the initial value"
        nic = "" if event.type in CPU_TYPES else " (NIC)"
        line = f" line {event.step.span.where}" if event.step else ""
        return f"{self._thread(event)}{line}{nic}"

    def _thread(self, event: Event) -> str:
        return self.program.threads[event.thread].name

    def _cell(self, event: Event) -> str:
        """Return the cell as the event's thread would write it: without the node for its own node."""
        cell = event.cell
        if cell is None:
            return ""
        own = event.thread >= 0 and self.program.threads[event.thread].node == cell.node
        local = own and event.type not in (T.NRW, T.NRR, T.NAR, T.NAW, T.NA)
        return cell.name if local else str(cell)


def of_moment(cell: Cell, read: int | None, written: int | None) -> str:
    """Return what an access to the word of the start or the end of a thread is about."""
    if written is None:
        return f"sees the {cell.name}" if read == 1 else f"does without the {cell.name}"
    return f"makes the {cell.name}" if written == 1 else f"rules out the {cell.name}"


def edge_kind(source: Event, relation: str) -> str:
    """Return by which name the tables of phrases have an edge: `moment` for what `start` and `join` order."""
    return "moment" if relation == "rf" and source.cell is not None and source.cell.moment else relation


def proved_by_filter(engine: str, states: int) -> str:
    """Return how a program was proved robust by the static filter, and what the search was for, if there was one."""
    search = "" if engine == "none" else f" The search (engine {engine}, {count(states, 'state')}) was only for the faults."
    return f"Proved without a search: no access can be the last event of a violation (the static filter).{search}"


def torn(atomic: str) -> str:
    """Return why something may come between the read and the write of a remote atomic, which is named with its line."""
    return f"the NIC's atomic {atomic} excludes other atomics of NICs, and nothing else: atomics hca"


def why_reordered(earlier: Event, later: Event, order: str = RDMA.order) -> str:
    """Return what lets RDMA hardware reorder two events of a thread, as a clause."""
    if earlier.type in STORE_TYPES:
        return STORE_WAITS
    if earlier.type in CPU_TYPES:
        return NOT_KEPT
    if later.type is T.P and later.remote == earlier.remote:
        return WHY_POLL.get(earlier.type, NOT_KEPT)
    if later.type is T.FL:
        return FLUSHES_ANOTHER
    if later.type in CPU_TYPES:
        return CPU_DOES_NOT_WAIT
    if earlier.remote != later.remote:
        return OTHER_QUEUE_PAIR
    if T.NO in (earlier.type, later.type) and oppo_scope(earlier.type, later.type) == "-":
        return ONLY_WRITES
    pair = earlier.type, later.type
    if pair not in WHY and gives_up(kind_of(earlier.type, earlier), kind_of(later.type, later)):
        return ANSWER_FROM_REGION if later.cell is not None and not later.cell.relaxed else IN_RELAXED_REGION
    one, two = kind_of(earlier.type, earlier), kind_of(later.type, later)
    if pair not in WHY and lands_apart(one, two):
        words = two if isinstance(two, WordKind) else WordKind(later.type)
        return OTHER_MEMORY.format(memory_of(one) or words.memory or words.asked_memory)
    return WHY.get(pair) or _given_up(pair, order)


def _given_up(pair: tuple[EventType, EventType], order: str) -> str:
    """Why the table of an order does not keep what others do: what it says of the cell, or of all."""
    table = order_table(order)
    if table.says or order in (RDMA.order, *CARDS):
        return table.says or ON_THE_WAY.get(pair, NOT_KEPT)
    cell = " ".join("naR" if each is T.NA else each.value for each in pair)
    return f"{table.why.get(cell, 'the network may let it be overtaken on its way')} (order {order_name(order)})"


_BY_CPU = (Verb.ACCESS, Verb.ISSUE, Verb.POLL, Verb.RECV, Verb.RPOLL, Verb.DRAIN)


def deed(program: Program, action: Action, *, sc: bool = False) -> str:
    """Return what a move does, without who does it, as in `sends B.y = 1`; `sc` if a NIC write takes effect at once."""
    if action.step is None:
        return "starts"
    act = act_of(action)
    if action.verb is Verb.DRAIN:
        return _drained(program, action)
    if act is None:
        text = one_line(action.step.text)
        return f"posts {text}" if action.verb is Verb.ISSUE else text
    if action.verb is Verb.NIC_WRITE and not sc:
        if act.type in FENCE_TYPES:
            return f"issues {one_line(action.step.text)}"
        if act.cell is None:
            return f"{SENT[act.type]} {action.written} to {act.peer}"
        return f"{SENT[act.type]} {act.cell} = {action.written}"
    if action.words:
        return ", ".join(Words(program).label(event) for event in events_of_section(action))
    label = Words(program).label(event_of(action, act.type))
    return f"{label} in memory" if action.verb is Verb.FLUSH and act.peer is None else label


def _drained(program: Program, action: Action) -> str:
    """Return what leaves a store buffer: a store, a request, or a receive."""
    assert action.step is not None
    if action.written is None:
        return f"{one_line(action.step.text)} leaves the store buffer"
    own = action.cell is not None and action.cell.node == program.threads[action.thread].node
    name = action.cell.name if own and action.cell is not None else str(action.cell)
    return f"writes {name} = {action.written} in memory"


def lane(program: Program, action: Action) -> str:
    """Return whose move it is: `T1 CPU on A`, or `T1 NIC to B` for a queue pair; nobody's at the start."""
    if action.step is None:
        return ""
    thread = program.threads[action.thread]
    remote = remote_of(action.step.op)
    if action.verb in _BY_CPU or remote is None:
        return f"{thread.name} CPU on {thread.node}"
    return f"{thread.name} NIC to {remote}"


def event_name(action: Action) -> str:
    """Return the event that a move is about as in the theory, such as `nlR(A.x, 1)`; "" if there is none."""
    act = act_of(action)
    if act is None or action.step is None:
        return ""
    if action.words:
        return ", ".join(map(str, events_of_section(action)))
    return str(event_of(action, act.type))
