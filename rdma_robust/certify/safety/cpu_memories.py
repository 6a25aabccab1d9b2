"""Model sc: a put, get or remote atomic is two steps, read and write, for which its thread waits.

Models tso and pso: stores wait in a buffer per thread (tso) or per thread and word (pso), with room for `bound` each.

A store that finds no room must be impossible; then no buffer of any length is ever longer (Dan, Meshman, Vechev, Yahav,
SAS 2013, Theorem 1), and the reduction is exact.

A store like the newest one of its buffer, to a word that no other thread ever writes, adds nothing: between the two landing
nothing can change that word. A run with both is one with one of them that lands when the first does, and a run with one is
one in which both land at once. (Without `lazy` every store is kept: runs have them all.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

from rdma_robust.certify.document import reject
from rdma_robust.certify.safety.lead_ups import AgentMove
from rdma_robust.certify.safety.reduced_program import Own, PlacedState, ReducedProgram, ReducedStep, with_item
from rdma_robust.certify.safety.thread_steps import (
    Instruction,
    Known,
    Variables,
    operand_values,
    remote_change,
    step_expression,
)
from rdma_robust.certify.safety.wide_updates import WideAssignment, WideAssumption, WideHavoc, WideUpdates
from rdma_robust.digraph import reachable
from rdma_robust.expr import Expr, Name
from rdma_robust.language.flow.cfg import Flush, MFence, Poll, Program, RFence, Write, steps

Stores = tuple[tuple[int, int | None], ...]
"""The stores of a buffer, oldest first: the place of the word, and the value, None for a wide word."""


class _StoreBuffers(ReducedProgram, ABC):
    """`own` of a thread: its buffers, one for each of `queues`."""

    posts_local = True

    def __init__(self, variables: Variables, bound: int, *, lazy: bool = True) -> None:
        program: Program = variables.program
        self.stores = [
            sorted({variables.place[e[2].op.cell] for e in t.edges if isinstance(e[2].op, Write)}) for t in program.threads
        ]
        super().__init__(variables, bound, lazy=lazy)
        writers = [{i.writes for found in code.at.values() for i in found} for code in self.code]
        self.alone = [{w for w in own if sum(w in each for each in writers) == 1} for own in writers]
        if bound < 1:
            reject(f"a bound of {bound} leaves buffers no room")

    def refuse(self, thread: str, op: object) -> None:
        if getattr(op, "node", None) is not None or hasattr(op, "source"):
            reject(f"thread {thread} has a {type(op).__name__.lower()}: model {self.model} is one shared memory")

    @abstractmethod
    def queue(self, t: int, word: int) -> int:
        """Return the number of the buffer that a store of thread `t` to a word goes to."""

    @abstractmethod
    def slot(self, t: int, queue: int, place: int) -> str:
        """Return the wide variable of a place in a buffer."""

    def load(self, state: PlacedState, t: int, word: int) -> Known:
        queue = self.queue(t, word) if word in self.stores[t] else -1
        stores: Stores = state.own[t][queue] if queue >= 0 else ()
        for i in range(len(stores) - 1, -1, -1):
            if stores[i][0] == word:
                value = stores[i][1]
                return Name(self.slot(t, queue, i)) if value is None else value
        return self.in_memory(state, word)

    def stored(self, state: PlacedState, t: int) -> bool:
        return not any(state.own[t])

    def remote(self, state: PlacedState, t: int, instruction: Instruction) -> Iterable[ReducedStep]:
        raise AssertionError(state, t, instruction)

    def store(self, state: PlacedState, t: int, instruction: Instruction, value: None) -> Iterator[ReducedStep]:
        word = instruction.writes
        queue = self.queue(t, word)
        stores: Stores = state.own[t][queue]
        full = len(stores) >= self.bound
        for done in self.code[t].done(instruction, state.registers[t], value):
            assert done.written is not None
            for number, assigned, assumed, bad in self._entries(t, queue, len(stores), word, done.written):
                changed = done._replace(assumed=(*done.assumed, *assumed), bad=done.bad or bad)
                if self.lazy and word in self.alone[t] and number is not None and stores[-1:] == ((word, number),):
                    yield self.stepped(state, t, instruction, changed, assigned=assigned)
                    continue
                own = with_item(state.own[t], queue, (*stores, (word, number)))
                taken = self.stepped(state, t, instruction, changed, assigned=assigned, own=own)
                if full and not changed.bad:
                    taken = taken._replace(to=None, never=f"a buffer may hold more than {self.bound} stores")
                yield taken

    def _entries(
        self, t: int, queue: int, place: int, word: int, value: Known
    ) -> Iterator[tuple[int | None, tuple[tuple[str, Expr], ...], tuple[Expr, ...], bool]]:
        if self.wide_words[word]:
            yield None, ((self.slot(t, queue, place), step_expression(value)),), (), False
            return
        for number, assumed in self.variables.given(self.words[word], value):
            yield number, (), assumed, number is None

    def agents(self, state: PlacedState) -> Sequence[AgentMove]:
        return [AgentMove(t, -1, q[0][0], takes=i) for t, own in enumerate(state.own) for i, q in enumerate(own) if q]

    def ahead(self, state: PlacedState) -> Sequence[AgentMove]:
        return [AgentMove(t, -1, w, takes=i) for t, own in enumerate(state.own) for i, q in enumerate(own) for w, _ in q]

    def act(self, state: PlacedState, agent: AgentMove) -> Iterator[ReducedStep]:
        t, queue = agent.thread, agent.takes
        assert isinstance(queue, int)
        stores: Stores = state.own[t][queue]
        (word, number), *rest = stores
        slots = [self.slot(t, queue, i) for i in range(len(stores))]
        value: Known = Name(slots[0]) if number is None else number
        moves = tuple((slots[i], Name(slots[i + 1])) for i, (_, v) in enumerate(rest) if v is None)
        used = {slots[i] for i, (_, v) in enumerate(rest) if v is None}
        gone = [slot for slot, (_, v) in zip(slots, stores, strict=True) if v is None and slot not in used]
        after: WideUpdates = (*((WideAssignment(moves),) if moves else ()), *map(WideHavoc, gone))
        own = with_item(state.own[t], queue, tuple(rest))
        text = f"a store to {self.words[word]} reaches memory"
        yield from self.moved(state, t, word, value, own=own, text=text, after=after)

    def own_moves(
        self, state: PlacedState, t: int, does: str, *, step: int, word: int, value: int | None
    ) -> Iterator[ReducedStep]:
        for agent in self.agents(state):
            if does == "store" and agent.thread == t and agent.writes == word and step < 0 and value is None:
                yield from self.act(state, agent)

    def touches(self, agent: AgentMove, t: int, instruction: Instruction) -> bool:
        if isinstance(instruction.step.op, MFence) or (instruction.reads >= 0 and instruction.writes >= 0):
            return agent.thread == t or agent.writes == instruction.reads
        return instruction.reads >= 0 and agent.writes == instruction.reads and agent.thread != t

    def local(self, instruction: Instruction) -> bool:
        return isinstance(instruction.step.op, Write)

    def told(self, _t: int, own: Own) -> object:
        """The stores, oldest first, each word and value: null if that is wide."""
        return [[self.words[word], value] for stores in own for word, value in stores]

    def slots(self, state: PlacedState) -> frozenset[str]:
        return frozenset(
            self.slot(t, queue, i)
            for t, own in enumerate(state.own)
            for queue, stores in enumerate(own)
            for i, (_, value) in enumerate(stores)
            if value is None
        )


class TotalStoreOrder(_StoreBuffers):
    """One buffer per thread; its slots are `T#1`, `T#2`, ..., the oldest first."""

    model = "tso"

    def __init__(self, variables: Variables, bound: int, *, lazy: bool = True) -> None:
        super().__init__(variables, bound, lazy=lazy)
        self.leads.in_order = True

    def nothing(self, _t: int) -> Own:
        return ((),)

    def queue(self, _t: int, _word: int) -> int:
        return 0

    def slot(self, t: int, _queue: int, place: int) -> str:
        return f"{self.program.threads[t].name}#{place + 1}"


class PartialStoreOrder(_StoreBuffers):
    """One buffer per thread and word that it stores to; its slots are `T#A.x#1`, `T#A.x#2`, ..., the oldest first."""

    model = "pso"

    def nothing(self, t: int) -> Own:
        return ((),) * len(self.stores[t])

    def queue(self, t: int, word: int) -> int:
        return self.stores[t].index(word)

    def slot(self, t: int, queue: int, place: int) -> str:
        return f"{self.program.threads[t].name}#{self.words[self.stores[t][queue]]}#{place + 1}"


MOST_COMPLETIONS = 3
"""Completions that wait for a poll are counted up to here; more are any number of more."""


class InProgramOrder(ReducedProgram):
    """`own` of a thread: the number of the step that it is in the middle of (-1: none), the value that was read (None: in
    the wide variable `T@number`), and the completions of each polled node."""

    model = "sc"

    def __init__(self, variables: Variables, bound: int, *, lazy: bool = True) -> None:
        self._polled: list[tuple[str, ...]] = []
        self._ahead: list[dict[int, tuple[bool, ...]]] = []
        for thread in variables.program.threads:
            polls = [(source, step.op) for source, _, step in steps(thread) if isinstance(step.op, Poll)]
            ops = [(source, op.lane or op.node) for source, op in polls]
            polled = tuple(dict.fromkeys(pair for _, pair in ops))
            before: dict[int, list[int]] = {}
            for source, target, _ in thread.edges:
                before.setdefault(target, []).append(source)
            comes = [reachable([source for source, mine in ops if mine == pair], before) for pair in polled]
            self._polled.append(polled)
            self._ahead.append({point: tuple(point in points for points in comes) for point in thread.points})
        super().__init__(variables, bound, lazy=lazy)

    def nothing(self, t: int) -> Own:
        return (-1, 0, (0,) * len(self._polled[t]))

    def drained(self, state: PlacedState) -> bool:
        return all(own[0] < 0 for own in state.own)

    def _slot(self, t: int, number: int) -> str:
        return f"{self.program.threads[t].name}@{number}"

    def busy(self, state: PlacedState, t: int) -> Iterable[ReducedStep] | None:
        number, value, completions = state.own[t]
        if number < 0:
            return None
        instruction = next(i for i in self.code[t].at[state.points[t]] if i.number == number)
        return self._second(state, t, instruction, value, completions)

    def remote(self, state: PlacedState, t: int, instruction: Instruction) -> Iterable[ReducedStep]:
        match instruction.step.op:
            case RFence() | Flush():
                return self.finish(state, t, instruction, None)
            case Poll(node, lane):
                return self._takes(state, t, instruction, lane or node)
            case _:
                return self._first(state, t, instruction)

    def _first(self, state: PlacedState, t: int, instruction: Instruction) -> Iterator[ReducedStep]:
        read = self.in_memory(state, instruction.reads)
        slot = self._slot(t, instruction.number)
        guard = self.code[t].guard(instruction, state.registers[t])
        if guard is None:
            return
        values = operand_values(self.code[t], instruction, state.registers[t])
        for written, also in remote_change(instruction, values, read):
            own = (instruction.number, read if isinstance(read, int) else None, state.own[t][2])
            carried = () if isinstance(read, int) else ((slot, step_expression(read)),)
            yield from self._read(
                state, t, instruction, (tuple(map(WideAssumption, (*guard, *also))), carried, written), own
            )

    def _read(
        self,
        state: PlacedState,
        t: int,
        instruction: Instruction,
        what: tuple[WideUpdates, tuple[tuple[str, Expr], ...], Known | None],
        own: Own,
    ) -> Iterator[ReducedStep]:
        guard, carried, written = what
        text = instruction.step.text
        every = (
            [(state.memory, (), (), False)] if written is None else self.written(state.memory, instruction.reads, written)
        )
        for memory, assigned, assumed, bad in every:
            updates: WideUpdates = (*guard, *map(WideAssumption, assumed))
            if bad:
                yield ReducedStep(updates, None, text, None, "a location gets a value that is not listed")
                continue
            values = (*carried, *assigned)
            updates = (*updates, WideAssignment(values)) if values else updates
            yield ReducedStep(updates, state._replace(memory=memory, own=with_item(state.own, t, own)), text)

    def _second(
        self, state: PlacedState, t: int, instruction: Instruction, value: int | None, completions: tuple[int, ...]
    ) -> Iterator[ReducedStep]:
        slot = self._slot(t, instruction.number)
        polled = self._polled[t]
        counts = tuple(
            min(n + (node == instruction.peer), MOST_COMPLETIONS + 1) for node, n in zip(polled, completions, strict=True)
        )
        own = (-1, 0, self._kept(t, instruction.target, counts))
        written: Known = Name(slot) if value is None else value
        gone: WideUpdates = (WideHavoc(slot),) if value is None else ()
        for done in self.code[t].done(instruction, state.registers[t], None):
            for memory, assigned, assumed, bad in self.written(state.memory, instruction.writes, written):
                changed = done._replace(assumed=(*done.assumed, *assumed), bad=done.bad or bad)
                taken = self.stepped(state, t, instruction, changed, assigned=assigned, memory=memory, own=own)
                yield taken._replace(updates=(*taken.updates, *gone))

    def _takes(self, state: PlacedState, t: int, instruction: Instruction, node: str) -> Iterator[ReducedStep]:
        completions: tuple[int, ...] = state.own[t][2]
        if node not in self._polled[t]:
            return
        place = self._polled[t].index(node)
        count = completions[place]
        left = [MOST_COMPLETIONS, count] if count > MOST_COMPLETIONS else [count - 1] if count else []
        for n in left:
            counts = with_item(completions, place, n)
            own = (-1, 0, self._kept(t, instruction.target, counts))
            yield from self.finish(state, t, instruction, None, own)

    def _kept(self, t: int, point: int, counts: tuple[int, ...]) -> tuple[int, ...]:
        return tuple([n if more else 0 for n, more in zip(counts, self._ahead[t][point], strict=True)])

    def own_moves(
        self, state: PlacedState, t: int, does: str, *, step: int, word: int, value: int | None
    ) -> Iterable[ReducedStep]:
        number, carried, _ = state.own[t]
        if does != "write" or number != step or number < 0 or word >= 0 or value not in (None, carried):
            return ()
        return self.busy(state, t) or ()

    def refuse(self, _thread: str, _op: object) -> None:
        return

    def told(self, t: int, own: Own) -> object:
        """`step` and `read`: the step in the middle of which it is, and the value (null: wide); `completions` by node."""
        number, value, counts = own
        middle = {} if number < 0 else {"step": number, "read": value}
        waiting = {node: _shown(n) for node, n in zip(self._polled[t], counts, strict=True) if n}
        return middle | ({"completions": waiting} if waiting else {})

    def slots(self, state: PlacedState) -> frozenset[str]:
        return frozenset(
            self._slot(t, number) for t, (number, value, _) in enumerate(state.own) if number >= 0 and value is None
        )


def _shown(count: int) -> object:
    return "many" if count > MOST_COMPLETIONS else count
