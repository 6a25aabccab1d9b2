"""RDMA: a pipe and two write buffers per queue pair, with room for `bound` puts, gets and remote fences each.

Exact as long as no queue overflows, and then valid for queues of any length: a run on which none ever holds more is a run
here, and one on which some does comes, with the first operation too many, to a state that has overflowed here.
Source: docs/model.md, "The machine".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple

from rdma_robust.analyses.prove.compiled_steps import CompiledStep
from rdma_robust.analyses.prove.placing import PlacedVariable, Valued, expression_of, seen
from rdma_robust.analyses.prove.reduced_system import OVERFLOW, ReducedSystem, State
from rdma_robust.analyses.prove.transition_system import Assignment, Cause, Drop, SafetyClaim, Transition, Update
from rdma_robust.expr import Name
from rdma_robust.language.flow.cfg import Flush, Get, Poll, Program, Put, RFence, queue_pairs_of
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.semantics.machines.waiting_points import polls_ahead

TO_READ: Final = "to read"
"""The value of an operation that has read nothing yet."""

Held = int | None | Literal["to read"]
"""The value of an operation: None if the wide variable of its slot holds it."""

Operation = tuple[int, Held]
"""The number of its step, and its value."""

COMPLETIONS: Final = 4
"""Completions of a queue pair that wait for a poll may be so many more than the puts and gets that there is room for."""


class QueuePairState(NamedTuple):
    """A queue pair, everything oldest first: the operations that are not issued, the issued writes of puts and of gets, and
    of each operation that a poll may still take whether it is a get and whether it is complete."""

    pipe: tuple[Operation, ...] = ()
    right: tuple[Operation, ...] = ()
    left: tuple[Operation, ...] = ()
    unpolled: tuple[tuple[bool, bool], ...] = ()

    @property
    def drained(self) -> bool:
        return not (self.pipe or self.right or self.left)


class PipeSystem(ReducedSystem):
    """RDMA, reduced. A thread has under way a :class:`QueuePairState` per queue pair.

    The wide value of the i-th put of thread T towards node B that is not in memory is the variable `T@B.put#i`, and that of
    the i-th get `T@B.get#i`. `ordered_reads`: the gets of a queue pair read in order.
    """

    def __init__(
        self, program: Program, claims: tuple[SafetyClaim, ...], narrow: int, bound: int, *, ordered_reads: bool = False
    ) -> None:
        self.bound = bound
        self.ordered_reads = ordered_reads
        super().__init__(program, "rdma", claims, narrow)

    def slots(self) -> Iterable[str]:
        self._commands = [{c.number: c for found in code.values() for c in found} for code in self.code]
        self._peers = [self._queue_pairs(t) for t in range(len(self.code))]
        self._ahead = [polls_ahead(*each) for each in zip(self.program.threads, self._peers, strict=True)]
        for t, commands in enumerate(self._commands):
            moving = [c for c in commands.values() if isinstance(c.step.op, Put | Get) and c.target and c.target.wide]
            kinds = dict.fromkeys((c.peer, isinstance(c.step.op, Get)) for c in moving)
            for peer, get in kinds:
                assert peer is not None
                yield from (self._slot(t, self._peers[t].index(peer), get, i) for i in range(self.bound))

    def _slot(self, t: int, qp: int, get: bool, place: int) -> str:
        return f"{self.program.threads[t].name}@{self._peers[t][qp]}.{'get' if get else 'put'}#{place + 1}"

    def _queue_pairs(self, t: int) -> tuple[str, ...]:
        used = {command.peer for command in self._commands[t].values()}
        return tuple(pair for pair in queue_pairs_of(self.program, self.program.threads[t]) if pair in used)

    def nothing(self, thread: int) -> Hashable:
        return (QueuePairState(),) * len(self._peers[thread])

    def operate(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        match command.step.op:
            case Put() | Get() | RFence():
                return self._posts(state, command)
            case Poll() | Flush():
                return self._takes(state, command)
            case _:
                return self.access_memory(state, command)

    def _posts(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        t, qp = command.thread, self._qp(command)
        pair: QueuePairState = state[self.under_way + t][qp]
        op = command.step.op
        ahead = self._ahead[t][command.to][qp] and not isinstance(op, RFence)
        unpolled = (*pair.unpolled, (isinstance(op, Get), False)) if ahead else pair.unpolled
        if self._alike(t, pair, op) >= self.bound or len(unpolled) > self.bound + COMPLETIONS:
            if command.may_pass(state, None):
                yield Transition(command.causes, (), OVERFLOW)
            return
        posted = pair._replace(pipe=(*pair.pipe, (command.number, TO_READ)), unpolled=unpolled)
        cause = (Cause(t, Verb.ISSUE, command.step),)
        yield from self.done(state, command, causes=cause, own=self._own(state, t, qp, posted, command.to))

    def _alike(self, t: int, pair: QueuePairState, op: object) -> int:
        """Return how many operations of this kind are not over."""
        every = (*pair.pipe, *pair.right, *pair.left)
        return sum(type(self._commands[t][number].step.op) is type(op) for number, _ in every)

    def _takes(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        """Pass a poll or a flush."""
        t, qp = command.thread, self._qp(command)
        pair: QueuePairState = state[self.under_way + t][qp]
        if isinstance(command.step.op, Flush):
            if not pair.drained:
                return ()
            after = pair
        elif pair.unpolled and pair.unpolled[0][1]:
            after = pair._replace(unpolled=pair.unpolled[1:])
        else:
            return ()
        return self.done(state, command, own=self._own(state, t, qp, after, command.to))

    def _qp(self, command: CompiledStep) -> int:
        assert command.peer is not None
        return self._peers[command.thread].index(command.peer)

    def _own(self, state: State, t: int, qp: int, pair: QueuePairState, point: int) -> tuple[QueuePairState, ...]:
        """Return what thread `t` has under way with this queue pair, without what no poll from `point` on can take."""
        pairs = (*state[self.under_way + t][:qp], pair, *state[self.under_way + t][qp + 1 :])
        ahead = self._ahead[t][point]
        return tuple(
            [p if more or not p.unpolled else p._replace(unpolled=()) for p, more in zip(pairs, ahead, strict=True)]
        )

    def system_moves(self, state: State) -> Iterator[Transition]:
        for t in range(len(self.code)):
            for qp, pair in enumerate(state[self.under_way + t]):
                yield from self._from_pipe(state, t, qp, pair)
                for get, buffer in ((False, pair.right), (True, pair.left)):
                    if buffer:
                        yield self._lands(state, t, qp, get)

    def _from_pipe(self, state: State, t: int, qp: int, pair: QueuePairState) -> Iterator[Transition]:
        """Yield the moves of what is not issued yet."""
        earlier: list[tuple[type, bool]] = []
        for i, (number, held) in enumerate(pair.pipe):
            kind = type(self._commands[t][number].step.op)
            if RFence in (kind for kind, _ in earlier):
                return
            if kind is RFence:
                if not earlier:
                    after = pair._replace(pipe=pair.pipe[1:])
                    yield self._moved(state, (t, qp), after, Cause(t, Verb.FENCE, self._commands[t][number].step))
            elif held == TO_READ:
                if self._may_read(pair, kind, earlier):
                    yield self._reads(state, t, qp, i)
            elif not earlier if kind is Get else Put not in (kind for kind, _ in earlier):
                yield self._issues(state, t, qp, i)
            earlier.append((kind, held != TO_READ))

    def _may_read(self, pair: QueuePairState, kind: type, earlier: list[tuple[type, bool]]) -> bool:
        """Return whether an operation may read behind these, each with whether it has."""
        if kind is Put:
            return not pair.left and (Put, False) not in earlier
        if self.ordered_reads and (Get, False) in earlier:
            return False
        return not pair.right and not any(other is Put for other, _ in earlier)

    def _reads(self, state: State, t: int, qp: int, i: int) -> Transition:
        pair: QueuePairState = state[self.under_way + t][qp]
        command = self._commands[t][pair.pipe[i][0]]
        assert command.source is not None and command.target is not None
        get = isinstance(command.step.op, Get)
        value = seen(command.source, state)
        held: Held = None
        updates: tuple[Update, ...] = ()
        if command.target.wide:
            before = [n for n, _ in pair.pipe[:i] if isinstance(self._commands[t][n].step.op, Get) == get]
            slot = self._slot(t, qp, get, len(pair.left if get else pair.right) + len(before))
            updates = (Assignment(slot, expression_of(value)),)
        else:
            assert isinstance(value, int)
            held = value
        after = pair._replace(pipe=(*pair.pipe[:i], (command.number, held), *pair.pipe[i + 1 :]))
        return self._moved(state, (t, qp), after, Cause(t, Verb.NIC_READ, command.step), updates=updates)

    def _issues(self, state: State, t: int, qp: int, i: int) -> Transition:
        pair: QueuePairState = state[self.under_way + t][qp]
        operation = pair.pipe[i]
        command = self._commands[t][operation[0]]
        rest = pair._replace(pipe=(*pair.pipe[:i], *pair.pipe[i + 1 :]))
        if isinstance(command.step.op, Get):
            after = rest._replace(left=(*rest.left, operation))
        else:
            after = _completed(rest._replace(right=(*rest.right, operation)), get=False)
        return self._moved(state, (t, qp), after, Cause(t, Verb.NIC_WRITE, command.step))

    def _lands(self, state: State, t: int, qp: int, get: bool) -> Transition:
        pair: QueuePairState = state[self.under_way + t][qp]
        number, held = (pair.left if get else pair.right)[0]
        command = self._commands[t][number]
        assert command.target is not None and held != TO_READ
        landed = pair._replace(left=pair.left[1:]) if get else pair._replace(right=pair.right[1:])
        after = _completed(landed, get=True) if get else landed
        value: Valued = Name(self._slot(t, qp, get, 0)) if held is None else held
        updates = tuple(self._shifted(t, qp, pair, get))
        return self._moved(
            state, (t, qp), after, Cause(t, Verb.FLUSH, command.step), updates=updates, writes=[(command.target, value)]
        )

    def _shifted(self, t: int, qp: int, pair: QueuePairState, get: bool) -> Iterator[Update]:
        """Yield what moves the wide values of a queue pair's puts or gets forward by one."""
        held = self._wide_places(t, pair, get)
        for place in held:
            if place:
                yield Assignment(self._slot(t, qp, get, place - 1), Name(self._slot(t, qp, get, place)))
            if place + 1 not in held:
                yield Drop(self._slot(t, qp, get, place))

    def _wide_places(self, t: int, pair: QueuePairState, get: bool) -> list[int]:
        """Return the places of the puts or gets that a wide variable has the value of."""
        piped = [held for n, held in pair.pipe if isinstance(self._commands[t][n].step.op, Get if get else Put)]
        values = [*(held for _, held in (pair.left if get else pair.right)), *piped]
        return [place for place, held in enumerate(values) if held is None]

    def _moved(
        self,
        state: State,
        where: tuple[int, int],
        after: QueuePairState,
        cause: Cause,
        *,
        updates: tuple[Update, ...] = (),
        writes: Sequence[tuple[PlacedVariable, Valued]] = (),
    ) -> Transition:
        """Return the move of the card after which a thread's queue pair is like this; `updates` come behind `writes`."""
        t, qp = where
        own = self._own(state, t, qp, after, state[t])
        (made,) = self.moved(state, t, cause, writes, own, after=updates)
        return made

    def drained(self, state: State) -> bool:
        return all(pair.drained for pairs in state[self.under_way :] for pair in pairs)

    def slots_in_use(self, state: State) -> Iterable[str]:
        for t, pairs in enumerate(state[self.under_way :]):
            for qp, pair in enumerate(pairs):
                for get in (False, True):
                    yield from (self._slot(t, qp, get, place) for place in self._wide_places(t, pair, get))

    def described_under_way(self, thread: int, under_way: Any) -> dict[str, object]:
        """By node, or lane, without those of which nothing is under way: `pipe`, `wbR` and `wbL`, lists with the `step` of
        each operation and the `value` that it has read (null if a wide variable has it), if it has; and `unpolled`, of each
        operation whether it is a `get` and whether it is `complete`."""
        pairs: tuple[QueuePairState, ...] = under_way
        return {node: _told(pair) for node, pair in zip(self._peers[thread], pairs, strict=True) if pair != QueuePairState()}


def _told(pair: QueuePairState) -> dict[str, object]:
    def listed(operations: tuple[Operation, ...]) -> list[dict[str, object]]:
        return [{"step": n} if held == TO_READ else {"step": n, "value": held} for n, held in operations]

    told: dict[str, object] = {"pipe": listed(pair.pipe), "wbR": listed(pair.right), "wbL": listed(pair.left)}
    return told | {"unpolled": [{"get": get, "complete": complete} for get, complete in pair.unpolled]}


def _completed(pair: QueuePairState, get: bool) -> QueuePairState:
    """Return the queue pair after the oldest put or get that is not complete is."""
    for i, each in enumerate(pair.unpolled):
        if each == (get, False):
            return pair._replace(unpolled=(*pair.unpolled[:i], (get, True), *pair.unpolled[i + 1 :]))
    return pair
