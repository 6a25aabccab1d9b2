"""Robustness and outcomes of tiny programs, straight from the text of the design: every choice, and sets of pairs.

Shares nothing with `rdma_robust.semantics`: it reads the operations, makes its own events of them, guesses every value
that is read, takes every prefix of every thread, every rf, mo, nfo and rao, and asks whether the relations are acyclic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import prod

from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.model import Model
from tests.support.naive_runs import Ev, Run, Runs

CPU = ("lR", "lW", "CAS", "P", "F", "V", "RP", "FL")
READS = ("lR", "CAS", "nlR", "nrR", "naR", "nA")
WRITES = ("init", "lW", "CAS", "nrW", "nlW", "naW", "nA")
QP = {
    "nlR": "nlR nrW nrR nlW nF naR naW",
    "nrW": "nrW nrR nlW nF* naR naW nO",
    "nrR": "nlW nF",
    "nlW": "nlW nF*",
    "nF": "nlR nrW nrR nlW nF naR naW nO",
    "naR": "nrW nrR nlW nF naR naW nO",
    "naW": "nrW nrR nlW* nF* naR naW nO",
    "nO": "nrW naR naW nO",
}
"""What a NIC event stays before on its queue pair; a star means issue order only."""

RELAXED = {"nrW": "nrW nrR nlW naR naW", "naW": "nrW nrR naR naW", "naR": "nrW nrR naR naW", "nlW": "nlW"}
PROMISES = ("none", "accumulate")
"""What standards promise: nothing of two requests, or nothing but the order of atomics on one word."""
REMOTE_WRITES = ("nrW", "naR", "naW", "nA")

Pairs = set[tuple[int, int]]
Final = tuple[tuple[int, ...], ...]
Link = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class Choice:
    """A choice of rf and mo for prefixes of all threads; `violating` iff sc has a cycle."""

    events: list[Ev]
    rf: Pairs
    mo: Pairs
    sm: Pairs
    rpf: Pairs
    issued: Pairs
    observed: Pairs
    ways: list[list[tuple[str, Pairs]]]
    violating: bool
    memory: tuple[int, ...]


class Naive:
    """What the axioms say of a program. `robust` and `outcomes` are None where there are more than `most` combinations,
    or more prefixes than can be made."""

    def __init__(self, program: Program, model: Model, most: int = 4_000) -> None:
        self.program = program
        self.model = model
        self.most = most
        self.names = [thread.name for thread in program.threads]
        try:
            self.runs = Runs(program, model).of
        except SizeLimitError:
            self.runs, self.most = [], 0  # the product of no runs is 1: more than that

    def robust(self) -> bool | None:
        if prod(len(runs) for runs in self.runs) > self.most:
            return None
        return not any(violating for chosen in product(*self.runs) for violating, _ in self.consistent(chosen, True))

    def outcomes(self) -> set[Final] | None:
        ended = [[run for run in runs if run.registers is not None] for runs in self.runs]
        if prod(len(runs) for runs in ended) > self.most:
            return None
        found = set()
        for chosen in product(*ended):
            registers = tuple(run.registers or () for run in chosen)
            found |= {(memory, *registers) for _, memory in self.consistent(chosen, False)}
        return found

    # ---- the choices for one prefix of every thread

    def consistent(self, chosen: Sequence[Run], wanted: bool) -> Iterator[tuple[bool, tuple[int, ...]]]:
        """Yield for every RDMA-consistent choice whether sc has a cycle, and the final memory.

        With `wanted` only those with such a cycle.
        """
        for choice in self.choices(chosen):
            if (choice.violating or not wanted) and any(self.keeps(choice, way) for way in product(*choice.ways)):
                yield choice.violating, choice.memory

    def choices(self, chosen: Sequence[Run]) -> Iterator[Choice]:
        """Yield every choice of rf and mo, with the ways to choose nfo and rao."""
        placed = self.matched([list(run.events) for run in chosen])
        if placed is None:
            return
        threads, sm, rpf = placed
        cells = self.program.cells
        events = [Ev("init", cell=c, written=c.init) for c in cells] + [e for mine in threads for e in mine]
        at = {(e.thread, e.position): i for i, e in enumerate(events)}
        messages = {(at[a], at[b]) for a, b in sm}, {(at[a], at[b]) for a, b in rpf}
        pf = self.polled(events)
        if pf is None:
            return
        issued, observed = self.static(events, pf, *messages)
        ways = self.ways(events)
        reads = [i for i, e in enumerate(events) if e.kind in READS]
        writes = [i for i, e in enumerate(events) if e.kind in WRITES and e.cell is not None]
        sources_of = [
            [w for w in writes if events[w].cell == events[r].cell and events[w].written == events[r].read and w != r]
            for r in reads
        ]
        by_cell = [[w for w in writes if events[w].cell == c and events[w].kind != "init"] for c in cells]
        for sources in product(*sources_of):
            rf = set(zip(sources, reads, strict=True))
            for orders in product(*(permutations(mine) for mine in by_cell)):
                chains = [[i, *order] for i, order in enumerate(orders)]
                mo = {(a, b) for chain in chains for i, a in enumerate(chain) for b in chain[i + 1 :]}
                ends = [events[chain[-1]] for chain in chains]
                memory = tuple(e.written or 0 for e, c in zip(ends, cells, strict=True) if not c.hidden)
                violating = self.sc_cycle(events, rf, mo, *messages)
                yield Choice(events, rf, mo, *messages, issued, observed, ways, violating, memory)

    def matched(self, threads: list[list[Ev]]) -> tuple[list[list[Ev]], list[Link], list[Link]] | None:
        """Fill in the buffers of messages; None if one has no receive, or an RP no message or another value."""
        sm: list[Link] = []
        rpf: list[Link] = []
        lanes = {"", *(lane for thread in self.program.threads for lane, _ in thread.lanes)}
        for t, u, lane in product(range(len(threads)), range(len(threads)), sorted(lanes)):
            receives: list[tuple[tuple[int, int] | None, Cell]] = [
                (None, cell) for sender, cell, on in self.program.threads[u].posted if (sender, on) == (self.names[t], lane)
            ]
            there = [e for e in threads[u] if e.peer == t and e.lane == lane]
            receives += [((u, e.position), e.cell) for e in there if e.kind == "V" and e.cell]
            sent = [e for e in threads[t] if e.kind == "nrW" and e.peer == u and e.lane == lane]
            polls = [e for e in there if e.kind == "RP"]
            if len(sent) > len(receives) or len(polls) > len(sent):
                return None
            for message, (place, buffer) in zip(sent, receives, strict=False):
                if message.data and buffer.void:
                    return None
                if message.data:
                    threads[t][message.position] = replace(message, cell=buffer)
                if place is not None:
                    sm.append((place, (t, message.position)))
            for message, poll in zip(sent, polls, strict=False):
                if poll.read != (None if message.data else message.written):
                    return None
                rpf.append(((t, message.position), (u, poll.position)))
        return threads, sm, rpf

    def polled(self, events: Sequence[Ev]) -> Pairs | None:
        """pf with the edges from all earlier completing events; None if a poll has nothing to poll."""
        pf = set()
        for p, e in enumerate(events):
            if e.kind != "P":
                continue
            number = sum(o.kind == "P" and self.before(o, e) and o.remote == e.remote for o in events)
            mine = [i for i, o in enumerate(events) if o.completing and o.thread == e.thread and o.remote == e.remote]
            signaled = [i for i in mine if events[i].signaled]
            if number >= len(signaled) or not self.before(events[signaled[number]], e):
                return None
            pf |= {(i, p) for i in mine if i <= signaled[number]}
        return pf

    @staticmethod
    def before(a: Ev, b: Ev) -> bool:
        return a.thread == b.thread >= 0 and a.position < b.position

    def static(self, events: Sequence[Ev], pf: Pairs, sm: Pairs, rpf: Pairs) -> tuple[Pairs, Pairs]:
        """What of ib and of ob does not depend on rf, mo, nfo and rao."""
        n = range(len(events))
        po = [(a, b) for a in n for b in n if self.before(events[a], events[b])]
        issued = {(a, b) for a, b in po if self.kept(events[a], events[b])[0]} | pf
        observed = {(a, b) for a, b in po if self.kept(events[a], events[b])[1]}
        observed |= {(a, b) for a, b in pf if events[a].kind == "nlW"}
        if self.model.order == "multipath":
            observed |= {(a, b) for a, b in po if self.polled_between(events, pf, a, b)}
        if self.model.cpu == "tso":
            observed |= {(s, p) for w, p in pf for s, later in po if later == w and events[s].kind == "lW"}
        arrived = set(rpf)
        for m, p in rpf if self.model.order != "default" else ():
            mine = (e for e, later in po if later == m and events[e].remote == events[m].remote)
            told = (e for e in mine if self.model.order not in PROMISES or events[e].op == events[m].op)
            arrived |= {(e, p) for e in told if events[e].kind in REMOTE_WRITES}
        return issued | sm | arrived, observed | sm | arrived

    def polled_between(self, events: Sequence[Ev], pf: Pairs, a: int, b: int) -> bool:
        """Whether b is posted behind a poll that has taken the completion of a's operation, or of a later one, and cards
        keep the two in order by default."""
        one, other = events[a], events[b]
        if one.kind in CPU or other.kind in CPU or one.remote != other.remote:
            return False
        told = [p for w, p in pf if w == a or (self.before(one, events[w]) and events[w].remote == one.remote)]
        return any(self.before(events[p], other) for p in told) and self.kept(one, other, "default")[1]

    def ways(self, events: Sequence[Ev]) -> list[list[tuple[str, Pairs]]]:
        """The ways to order each pair of nfo, and each two read-modify-writes of rao."""
        ways: list[list[tuple[str, Pairs]]] = []
        n = range(len(events))
        for a, b in ((a, b) for a in n for b in n if a < b):
            one, other = events[a], events[b]
            kinds = {one.kind, other.kind}
            pair = kinds == {"nlR", "nlW"} or (kinds & {"nrR", "naR", "nA"} and kinds & {"nrW", "naW"})
            if self.model.order == "default" and one.thread == other.thread and one.remote == other.remote and pair:
                ways.append([("nfo", {(a, b)}), ("nfo", {(b, a)})])
            if kinds == {"naR"} and one.cell == other.cell and self.model.atomics == "hca":
                ways.append([
                    ("rao", {(x, y), *((w, y) for w in n if self.naw_of(events[x], events[w]))})
                    for x, y in ((a, b), (b, a))
                    if not events[x].torn
                ])  # fmt: skip
        return ways

    @staticmethod
    def naw_of(read: Ev, write: Ev) -> bool:
        return read.kind == "naR" and write.kind == "naW" and (read.thread, read.op) == (write.thread, write.op)

    def kept(self, a: Ev, b: Ev, order: str = "") -> tuple[bool, bool]:
        """Whether issue order and observation order keep two events of one thread in program order."""
        order = order or self.model.order
        if a.kind in CPU:
            buffered = self.model.cpu == "tso" and a.kind in ("lW", "V")
            if buffered and b.kind in ("lR", "P", "RP", "FL"):
                return a.kind == "lW", False
            return not (buffered and a.kind == "V" and b.kind == "lW"), True
        if b.kind == "FL" and a.remote == b.remote:
            return True, True
        if b.kind in CPU or a.remote != b.remote:
            return False, False
        if a.op == b.op and a.kind in ("nlR", "nrR", "naR", "nA") and b.kind != "nlR":
            return True, True
        row, column = (("naR" if e.kind == "nA" else e.kind) for e in (a, b))
        if self.model.order in PROMISES and not {"nF", "nO"} & {row, column} and (row, column) != ("nrR", "nrR"):
            accumulates = self.model.order == "accumulate" and {row, column} <= {"naR", "naW"} and a.cell == b.cell
            relaxed = b.cell is not None and b.cell.relaxed
            return accumulates and not relaxed, accumulates and not relaxed
        if row == column == "nrR":
            return self.model.ordered_reads, self.model.ordered_reads
        weak = column in RELAXED.get(row, "").split() and order != "default"
        if weak and not (order == "multipath" and row != "nlW" and column in ("naR", "naW")):
            return False, False
        later = QP[row].split()
        return column in later or column + "*" in later, column in later

    def sc_cycle(self, events: Sequence[Ev], rf: Pairs, mo: Pairs, sm: Pairs, rpf: Pairs) -> bool:
        n = range(len(events))
        po = {(a, b) for a in n for b in n if self.before(events[a], events[b])}
        vertex = {w: r for w in n for r in n if self.naw_of(events[r], events[w])}
        edges = po | rf | mo | sm | rpf | reads_before(rf, mo)
        joined = {(vertex.get(a, a), vertex.get(b, b)) for a, b in edges if (b, a) not in vertex.items()}
        return cyclic(joined)

    def keeps(self, choice: Choice, way: Sequence[tuple[str, Pairs]]) -> bool:
        """Whether ib and ob are irreflexive, with this choice of nfo and rao."""
        events, own = choice.events, self.model.cpu == "tso"
        rb = reads_before(choice.rf, choice.mo)

        def inside(pairs: Pairs, first: str, second: str) -> Pairs:
            same = ((a, b) for a, b in pairs if own and events[a].thread == events[b].thread)
            return {(a, b) for a, b in same if events[a].kind == first and events[b].kind == second}

        delayed = ("nrW", "nlW", "naW", "nO", "lW") if own else ("nrW", "nlW", "naW", "nO")
        more: Pairs = set().union(*(pairs for _, pairs in way))
        ib = closure(choice.issued | choice.rf | inside(rb, "lR", "lW") | more)
        ob = choice.observed | (choice.rf - inside(choice.rf, "lW", "lR")) | more | rb | choice.mo
        ob |= {(a, b) for a, b in ib if events[a].kind not in delayed}
        return not cyclic(ob) and not any(a == b for a, b in ib)


def reads_before(rf: Pairs, mo: Pairs) -> Pairs:
    return {(r, later) for w, r in rf for earlier, later in mo if earlier == w and later != r}


def closure(pairs: Iterable[tuple[int, int]]) -> Pairs:
    found: Pairs = set(pairs)
    todo = list(found)
    while todo:
        a, b = todo.pop()
        new = {(a, d) for c, d in found if c == b} | {(c, b) for c, d in found if d == a}
        todo += new - found
        found |= new
    return found


def cyclic(pairs: Pairs) -> bool:
    """Whether taking away what nothing leads to leaves something."""
    rest = set(pairs)
    while rest:
        targets = {b for _, b in rest}
        kept = {(a, b) for a, b in rest if a in targets}
        if kept == rest:
            return True
        rest = kept
    return False
