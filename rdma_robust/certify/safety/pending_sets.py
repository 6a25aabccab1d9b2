"""Model rma: what a thread has posted is one unordered multiset, of which its card takes anything at any time.

Elements that are alike are counted up to `bound`; more are *many*, of which any number may follow. The value of a wide
word that is to be written is in the variable `T@n` (n: the number of the step), that of a wide operand of a remote
atomic in `T@n.r` (r: the register), or `T@n(1,2).r` if there are small operands as well. Where several elements share
one, it is folded. Source: docs/theory-safety.md, "Pending operations as counts".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rdma_robust.certify.document import reject
from rdma_robust.certify.safety.lead_ups import AgentMove
from rdma_robust.certify.safety.reduced_program import Own, PlacedState, ReducedProgram, ReducedStep, with_item
from rdma_robust.certify.safety.thread_steps import (
    Instruction,
    Known,
    Variables,
    operand_values,
    remote_change,
    remote_operands,
)
from rdma_robust.certify.safety.wide_updates import Fold, Take, WideAssignment, WideAssumption, WideHavoc, WideUpdates
from rdma_robust.expr import Const, Expr, Name
from rdma_robust.language.flow.cfg import Flush, Get, Poll, Put, RemoteRmw, RFence

READ: Final = 0
WRITE: Final = 1

Element = tuple[int, int, tuple[tuple[int, int], ...]]
"""READ or WRITE, the number of the step (of the first that is like it), and the values: of a write the one to be written, of
a remote atomic to be read those of its operands. A value is (0, number), or (1, 0) if it is wide."""

Pending = tuple[tuple[Element, int], ...]
"""The elements of a thread, sorted, each with how many there are; more than `bound` is many."""

WIDE: Final = (1, 0)
TAKEN: Final = "$taken"


class PendingSets(ReducedProgram):
    model = "rma"
    posts_local = True

    def __init__(self, variables: Variables, bound: int, *, lazy: bool = True) -> None:
        super().__init__(variables, bound, lazy=lazy)
        self._by_number: list[dict[int, Instruction]] = []
        self._reads: list[dict[int, int]] = []
        self._writes: list[dict[int, int]] = []
        for code in self.code:
            posts = [i for at in code.at.values() for i in at if isinstance(i.step.op, Put | Get | RemoteRmw)]
            posts.sort(key=lambda i: i.number)
            self._by_number.append({i.number: i for i in posts})
            self._reads.append(_first_alike((i.number, i.number if i.new else (i.peer, i.reads, i.writes)) for i in posts))
            self._writes.append(_first_alike((i.number, (i.peer, i.writes)) for i in posts))

    def refuse(self, thread: str, op: object) -> None:
        if isinstance(op, Poll | RFence):
            reject(f"thread {thread} has a {type(op).__name__.lower()}, which model rma does not have")

    def nothing(self, _t: int) -> Own:
        return ()

    def local(self, instruction: Instruction) -> bool:
        return isinstance(instruction.step.op, Put | Get | RemoteRmw)

    def remote(self, state: PlacedState, t: int, instruction: Instruction) -> Iterator[ReducedStep]:
        if isinstance(instruction.step.op, Flush):
            waits = any(self._by_number[t][e[1]].peer == instruction.peer for e, _ in state.own[t])
            yield from () if waits else self.finish(state, t, instruction, None)
            return
        if self.program.cells[instruction.reads].hidden:
            element, values = self._to_write(t, instruction.number, self.program.cells[instruction.reads].init)
        else:
            element, values = self._to_read(state, t, instruction)
        own, updates = self._added(t, state.own[t], element, values)
        for done in self.code[t].done(instruction, state.registers[t], None):
            taken = self.stepped(state, t, instruction, done, own=own)
            yield taken if taken.to is None else taken._replace(updates=(*updates, *taken.updates))

    def _to_read(self, state: PlacedState, t: int, instruction: Instruction) -> tuple[Element, list[Expr]]:
        values = operand_values(self.code[t], instruction, state.registers[t])
        wide: list[Expr] = [value for value in values.values() if not isinstance(value, Const)]
        coded = tuple((0, value.value) if isinstance(value, Const) else WIDE for value in values.values())
        return (READ, self._reads[t][instruction.number], coded), wide

    def _to_write(self, t: int, number: int, value: Known) -> tuple[Element, list[Expr]]:
        if isinstance(value, int):
            return (WRITE, self._writes[t][number], ((0, value),)), []
        return (WRITE, self._reads[t][number], (WIDE,)), [value]

    def _slots(self, t: int, element: Element) -> list[str]:
        """Return the wide variables of an element."""
        kind, number, values = element
        name = f"{self.program.threads[t].name}@{number}"
        if kind == WRITE:
            return [name] if values == (WIDE,) else []
        registers = remote_operands(self._by_number[t][number])
        small = ",".join(str(value) for wide, value in values if not wide)
        name = f"{name}({small})" if small else name
        return [f"{name}.{register}" for register, value in zip(registers, values, strict=True) if value == WIDE]

    def _added(self, t: int, own: Pending, element: Element, values: Sequence[Expr]) -> tuple[Pending, WideUpdates]:
        counts = dict(own)
        before = counts.get(element, 0)
        counts[element] = min(before + 1, self.bound + 1)
        slots = list(zip(self._slots(t, element), values, strict=True))
        if before:
            return _sorted(counts), tuple(Fold(slot, value) for slot, value in slots)
        return _sorted(counts), (WideAssignment(tuple(slots)),) if slots else ()

    def _left(self, own: Pending, element: Element) -> Iterator[Pending]:
        """Yield what may be left where one of an element is taken."""
        counts = dict(own)
        count = counts.pop(element)
        for n in (count - 1,) if count <= self.bound else (self.bound, count):
            yield _sorted({**counts, element: n} if n else counts)

    def agents(self, state: PlacedState) -> Sequence[AgentMove]:
        return [self._agent(t, element) for t, own in enumerate(state.own) for element, _ in own]

    def ahead(self, state: PlacedState) -> Sequence[AgentMove]:
        now = self.agents(state)
        later = [
            self._agent(t, (WRITE, n, ())) for t, own in enumerate(state.own) for (kind, n, _), _ in own if kind == READ
        ]
        return [*now, *later]

    def _agent(self, t: int, element: Element) -> AgentMove:
        kind, number, _ = element
        instruction = self._by_number[t][number]
        if kind == WRITE:
            return AgentMove(
                t, -1, instruction.writes, (WRITE, instruction.writes, instruction.peer), None, instruction.peer
            )
        writes = instruction.reads if instruction.new is not None else -1
        gives = (WRITE, instruction.writes, instruction.peer)
        return AgentMove(t, instruction.reads, writes, (READ, number), gives, instruction.peer)

    def act(self, state: PlacedState, agent: AgentMove) -> Iterator[ReducedStep]:
        t = agent.thread
        for element, count in state.own[t]:
            if self._agent(t, element) == agent:
                for own in self._left(state.own[t], element):
                    yield from self._acted(state, t, element, own, count)

    def _acted(self, state: PlacedState, t: int, element: Element, own: Pending, count: int) -> Iterator[ReducedStep]:
        slots = self._slots(t, element)
        single = count == 1 and self.bound > 0
        names = slots if single else [f"{TAKEN}{i}" for i in range(len(slots))]
        before: WideUpdates = () if single else tuple(Take(new, slot) for new, slot in zip(names, slots, strict=True))
        gone = [] if single else list(names)
        if not any(each == element for each, _ in own):
            gone += slots
        after: WideUpdates = tuple(map(WideHavoc, gone))
        if element[0] == WRITE:
            value: Known = Name(names[0]) if names else element[2][0][1]
            word = self._by_number[t][element[1]].writes
            text = f"the NIC writes {self.words[word]}"
            found = self.moved(state, t, word, value, own=own, text=text, after=after)
        else:
            found = self._read(state, t, element, own=own, names=dict(zip(slots, names, strict=True)), after=after)
        for taken in found:
            yield taken._replace(updates=(*before, *taken.updates)) if before else taken

    def _read(
        self, state: PlacedState, t: int, element: Element, *, own: Pending, names: Mapping[str, str], after: WideUpdates
    ) -> Iterator[ReducedStep]:
        instruction = self._by_number[t][element[1]]
        text = f"the NIC reads {self.words[instruction.reads]}"
        read = self.in_memory(state, instruction.reads)
        slots = iter(self._slots(t, element))
        values: dict[str, Expr] = {
            register: Name(names[next(slots)]) if value == WIDE else Const(value[1])
            for register, value in zip(remote_operands(instruction), element[2], strict=True)
        }
        target, wide = self._to_write(t, element[1], read)
        pending, added = self._added(t, own, target, wide)
        for written, also in remote_change(instruction, values, read):
            assumed: WideUpdates = (*map(WideAssumption, also), *added)
            if written is None:
                yield ReducedStep((*assumed, *after), state._replace(own=with_item(state.own, t, pending)), text)
                continue
            for taken in self.moved(state, t, instruction.reads, written, own=pending, text=text, after=after):
                yield taken._replace(updates=(*assumed, *taken.updates))

    def own_moves(
        self, state: PlacedState, t: int, does: str, *, step: int, word: int, value: int | None
    ) -> Iterator[ReducedStep]:
        alike = {READ: self._reads[t].get(step), WRITE: self._writes[t].get(step)}
        for element, count in state.own[t] if word < 0 else ():
            kind, number, values = element
            said = does == ("read" if kind == READ else "write") and number == alike[kind]
            if said and (kind == READ or value in (None, values[0][1])):
                for own in self._left(state.own[t], element):
                    yield from self._acted(state, t, element, own, count)

    def touches(self, agent: AgentMove, t: int, instruction: Instruction) -> bool:
        op = instruction.step.op
        if isinstance(op, Flush):
            return agent.thread == t and agent.peer == instruction.peer
        if isinstance(op, Put | Get | RemoteRmw):
            return False
        words = {word for word in (instruction.reads, instruction.writes) if word >= 0}
        return agent.writes in words or (instruction.writes >= 0 and agent.reads == instruction.writes)

    def told(self, _t: int, own: Own) -> object:
        """What there is of each: `read` or `write` with the number of the step, the values (null: wide), and the count."""
        return [
            {
                "read" if kind == READ else "write": number,
                "values": [None if wide else value for wide, value in values],
                "count": "many" if count > self.bound else count,
            }
            for (kind, number, values), count in own
        ]

    def folded(self, state: PlacedState) -> frozenset[str]:
        return frozenset(
            slot
            for t, own in enumerate(state.own)
            for element, count in own
            if count > 1 or count > self.bound
            for slot in self._slots(t, element)
        )

    def slots(self, state: PlacedState) -> frozenset[str]:
        return frozenset(slot for t, own in enumerate(state.own) for element, _ in own for slot in self._slots(t, element))


def _first_alike(keyed: Iterable[tuple[int, object]]) -> dict[int, int]:
    first: dict[object, int] = {}
    return {number: first.setdefault(key, number) for number, key in keyed}


def _sorted(counts: Mapping[Element, int]) -> Pending:
    return tuple(sorted(counts.items()))
