"""Model rdma: per queue pair the operations in the order they were posted, each as far as its card has come with it.

A put or get is to read, has read, is sent, or is done; it stays until its completion is polled, if a poll can come. Sent
puts are what docs/model.md calls wbR, sent gets wbL. Every move is a step of its own here: nothing is put off. A queue pair
has room for `bound` puts, gets and remote fences each that are not done; the certificate shows that none needs more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from rdma_robust.certify.document import reject
from rdma_robust.certify.safety.lead_ups import AgentMove
from rdma_robust.certify.safety.reduced_program import Own, PlacedState, ReducedProgram, ReducedStep, with_item
from rdma_robust.certify.safety.thread_steps import Instruction, Known, Variables, step_expression
from rdma_robust.certify.safety.wide_updates import WideAssignment, WideAssumption, WideHavoc, WideUpdates
from rdma_robust.digraph import reachable
from rdma_robust.expr import Expr, Name
from rdma_robust.language.flow.cfg import Flush, Get, Poll, Put, RemoteRmw, RFence, steps

TO_READ, HAS_READ, SENT, DONE = range(4)

MOST_COMPLETIONS: Final = 4
"""So many more operations than there is room for may wait for a poll."""


class QueueOperation(NamedTuple):
    """An operation: the number of its step, how far it is, the value that it has read (None: in the wide variable of its
    place), and whether its completion is taken, or can never be."""

    number: int
    stage: int
    value: int | None
    polled: bool


Queue = tuple[QueueOperation, ...]


class QueuePairs(ReducedProgram):
    """`own` of a thread: a :data:`Queue` for each node it has operations with, the oldest first. The wide value of the entry
    at place i of thread T's queue towards node B is in the variable `T@B#i`."""

    model = "rdma"

    def __init__(self, variables: Variables, bound: int, *, lazy: bool = True) -> None:
        _ = lazy  # moves of these cards are ordered among themselves, of which `lead_ups.py` knows nothing
        super().__init__(variables, bound, lazy=False)
        self._by_number = [{i.number: i for at in code.at.values() for i in at} for code in self.code]
        used = [{i.peer for i in found.values()} for found in self._by_number]
        named = [(*self.program.nodes, *dict(thread.lanes)) for thread in self.program.threads]
        self._peers = [tuple(pair for pair in all_ if pair in mine) for all_, mine in zip(named, used, strict=True)]
        self._ahead = [self._polls_ahead(t) for t in range(len(self.code))]

    def _polls_ahead(self, t: int) -> dict[int, tuple[bool, ...]]:
        """Return for each program point whether a poll of each queue pair may still come."""
        thread = self.program.threads[t]
        before: dict[int, list[int]] = {}
        for source, target, _ in thread.edges:
            before.setdefault(target, []).append(source)
        ops = [(source, step.op) for source, _, step in steps(thread) if isinstance(step.op, Poll)]
        polls = [[source for source, op in ops if (op.lane or op.node) == pair] for pair in self._peers[t]]
        comes = [reachable(points, before) for points in polls]
        return {point: tuple(point in points for points in comes) for point in thread.points}

    def refuse(self, thread: str, op: object) -> None:
        if isinstance(op, RemoteRmw):
            reject(f"thread {thread} has a remote atomic, which model rdma does not have")

    def nothing(self, t: int) -> Own:
        return ((),) * len(self._peers[t])

    def _op(self, t: int, entry: QueueOperation) -> object:
        return self._by_number[t][entry.number].step.op

    def remote(self, state: PlacedState, t: int, instruction: Instruction) -> Iterator[ReducedStep]:
        assert instruction.peer is not None
        qp = self._peers[t].index(instruction.peer)
        queue: Queue = state.own[t][qp]
        match instruction.step.op:
            case Flush():
                if all(entry.stage == DONE for entry in queue):
                    yield from self._step(state, t, instruction, qp, queue)
            case Poll():
                first = next((i for i, entry in enumerate(queue) if not entry.polled), None)
                if first is not None and self._complete(t, queue[first]):
                    taken = queue[first]._replace(polled=True)
                    yield from self._step(state, t, instruction, qp, with_item(queue, first, taken))
            case op:
                entry = QueueOperation(instruction.number, TO_READ, None, isinstance(op, RFence))
                if self._full(t, queue, op, self._ahead[t][instruction.target][qp]):
                    guard = self.code[t].guard(instruction, state.registers[t])
                    if guard is not None:
                        never = "a queue pair has no room for another operation"
                        yield ReducedStep(tuple(map(WideAssumption, guard)), None, instruction.step.text, None, never)
                    return
                yield from self._step(state, t, instruction, qp, (*queue, entry))

    def _complete(self, t: int, entry: QueueOperation) -> bool:
        return entry.stage == DONE or (entry.stage == SENT and isinstance(self._op(t, entry), Put))

    def _full(self, t: int, queue: Queue, op: object, polled: bool) -> bool:
        """Return whether there is no room for another operation; `polled` iff polls may come behind it."""
        if sum(entry.stage < DONE and type(self._op(t, entry)) is type(op) for entry in queue) >= self.bound:
            return True
        waiting = sum(not entry.polled for entry in queue)
        return polled and not isinstance(op, RFence) and waiting >= self.bound + MOST_COMPLETIONS

    def _step(
        self, state: PlacedState, t: int, instruction: Instruction, qp: int, queue: Sequence[QueueOperation | None]
    ) -> Iterator[ReducedStep]:
        own, moved = self._kept(state, t, qp, queue, instruction.target)
        for taken in self.finish(state, t, instruction, None, own):
            yield taken._replace(updates=(*moved, *taken.updates))

    def _kept(
        self, state: PlacedState, t: int, qp: int, queue: Sequence[QueueOperation | None], point: int
    ) -> tuple[tuple[Queue, ...], WideUpdates]:
        """Return all queues of thread `t` at a program point, and what moves wide values to the places of their entries.

        `queue` is the new one at `qp`, with None for an entry that is gone. What no poll can take counts as polled.
        """
        queues: list[Queue] = []
        values: list[tuple[str, Expr]] = []
        gone: list[str] = []
        for number, old in enumerate(state.own[t]):
            entries = queue if number == qp else old
            comes = self._ahead[t][point][number]
            kept: list[QueueOperation] = []
            for i, entry in enumerate(entries):
                if entry is not None and (entry.stage < DONE or (comes and not entry.polled)):
                    kept.append(entry._replace(polled=entry.polled or not comes))
                    if self._is_wide(t, entry) and i != len(kept) - 1:
                        values.append((self._slot(t, number, len(kept) - 1), Name(self._slot(t, number, i))))
            queues.append(tuple(kept))
            before = {self._slot(t, number, i) for i, entry in enumerate(old) if self._is_wide(t, entry)}
            after = {self._slot(t, number, i) for i, entry in enumerate(kept) if self._is_wide(t, entry)}
            gone += sorted(before - after)
        updates: WideUpdates = (WideAssignment(tuple(values)),) if values else ()
        return tuple(queues), (*updates, *map(WideHavoc, gone))

    def _is_wide(self, t: int, entry: QueueOperation) -> bool:
        return entry.stage in (HAS_READ, SENT) and entry.value is None and not isinstance(self._op(t, entry), RFence)

    def _slot(self, t: int, qp: int, place: int) -> str:
        return f"{self.program.threads[t].name}@{self._peers[t][qp]}#{place}"

    def agents(self, state: PlacedState) -> Sequence[AgentMove]:
        return [
            AgentMove(t, -1, -1, (qp, i), None, self._peers[t][qp])
            for t, queues in enumerate(state.own)
            for qp, queue in enumerate(queues)
            for i in range(len(queue))
            if self._may_go(t, queue, i)
        ]

    def _may_go(self, t: int, queue: Queue, i: int) -> bool:
        """Return whether the card can take the next step of an entry, by the rules of docs/model.md."""
        ops = [self._op(t, entry) for entry in queue]
        puts = [entry.stage for entry, op in zip(queue[:i], ops, strict=False) if isinstance(op, Put)]
        sent = [op for entry, op in zip(queue, ops, strict=True) if entry.stage == SENT]
        entry, op = queue[i], ops[i]
        if entry.stage == DONE:
            return False
        if entry.stage == SENT:
            return all(e.stage == DONE or type(o) is not type(op) for e, o in zip(queue[:i], ops, strict=False))
        if isinstance(op, RFence) or (entry.stage == HAS_READ and isinstance(op, Get)):
            return all(each.stage >= SENT for each in queue[:i])
        if any(isinstance(each, RFence) for each in ops[:i]):
            return False
        if entry.stage == HAS_READ:
            return all(stage >= SENT for stage in puts)
        if isinstance(op, Put):
            return all(stage >= HAS_READ for stage in puts) and not any(isinstance(each, Get) for each in sent)
        return all(stage >= SENT for stage in puts) and not any(isinstance(each, Put) for each in sent)

    def act(self, state: PlacedState, agent: AgentMove) -> Iterator[ReducedStep]:
        assert isinstance(agent.takes, tuple)
        qp, i = agent.takes
        t = agent.thread
        queue: Queue = state.own[t][qp]
        entry = queue[i]
        instruction = self._by_number[t][entry.number]
        if isinstance(instruction.step.op, RFence):
            yield self._went(state, t, qp, with_item(queue, i, None), "the NIC passes a fence")
        elif entry.stage == TO_READ:
            read = self.in_memory(state, instruction.reads)
            known = read if isinstance(read, int) else None
            own = with_item(queue, i, entry._replace(stage=HAS_READ, value=known))
            taken = self._went(state, t, qp, own, f"the NIC reads {self.words[instruction.reads]}")
            if known is None:
                taken = taken._replace(
                    updates=(*taken.updates, WideAssignment(((self._slot(t, qp, i), step_expression(read)),)))
                )
            yield taken
        elif entry.stage == HAS_READ:
            yield self._went(state, t, qp, with_item(queue, i, entry._replace(stage=SENT)), "the NIC sends a write")
        else:
            value: Known = Name(self._slot(t, qp, i)) if entry.value is None else entry.value
            done = with_item(queue, i, entry._replace(stage=DONE, value=None))
            queues, after = self._kept(state, t, qp, done, state.points[t])
            text = f"the NIC writes {self.words[instruction.writes]}"
            yield from self.moved(state, t, instruction.writes, value, own=queues, text=text, after=after)

    def _went(self, state: PlacedState, t: int, qp: int, queue: Sequence[QueueOperation | None], text: str) -> ReducedStep:
        own, updates = self._kept(state, t, qp, queue, state.points[t])
        return ReducedStep(updates, state._replace(own=with_item(state.own, t, own)), text)

    def own_moves(
        self, state: PlacedState, t: int, does: str, *, step: int, word: int, value: int | None
    ) -> Iterable[ReducedStep]:
        found: list[ReducedStep] = []
        wanted = self._by_number[t].get(step)
        if wanted is None or word >= 0:
            return found
        for agent in self.agents(state):
            assert isinstance(agent.takes, tuple)
            entry: QueueOperation = state.own[agent.thread][agent.takes[0]][agent.takes[1]]
            said = {"read": TO_READ, "write": HAS_READ, "store": SENT}.get(does)
            same = agent.thread == t and self._by_number[t][entry.number].step == wanted.step
            if same and entry.stage == said and value in (None, entry.value):
                found += self.act(state, agent)
        return found

    def drained(self, state: PlacedState) -> bool:
        return all(entry.stage == DONE for queues in state.own for queue in queues for entry in queue)

    def told(self, t: int, own: Own) -> object:
        """By node the operations, the oldest first: the `number` of the step, how far it is (`stage`), the `value` read
        (null: none, or wide), and whether it is `polled`."""
        return {node: [entry._asdict() for entry in queue] for node, queue in zip(self._peers[t], own, strict=True) if queue}

    def slots(self, state: PlacedState) -> frozenset[str]:
        return frozenset(
            self._slot(t, qp, i)
            for t, queues in enumerate(state.own)
            for qp, queue in enumerate(queues)
            for i, entry in enumerate(queue)
            if self._is_wide(t, entry)
        )
