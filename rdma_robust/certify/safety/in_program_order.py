"""Model sc: a put, get or remote atomic is two steps, read and write, for which its thread waits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rdma_robust.certify.safety.reduced_program import Own, PlacedState, ReducedProgram, ReducedStep, with_item
from rdma_robust.certify.safety.remote_reads import operand_values, remote_change
from rdma_robust.certify.safety.thread_steps import Instruction, Known, Variables, step_expression
from rdma_robust.certify.safety.wide_updates import WideAssignment, WideAssumption, WideHavoc, WideUpdates
from rdma_robust.digraph import reachable
from rdma_robust.expr import Expr, Name
from rdma_robust.language.flow.cfg import Flush, Poll, RFence, steps

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
            ops = [(source, step.op) for source, _, step in steps(thread)]
            polled = tuple(dict.fromkeys(op.node for _, op in ops if isinstance(op, Poll)))
            before: dict[int, list[int]] = {}
            for source, target, _ in thread.edges:
                before.setdefault(target, []).append(source)
            comes = [reachable([source for source, op in ops if op == Poll(node)], before) for node in polled]
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
            case Poll(node):
                return self._takes(state, t, instruction, node)
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
                yield ReducedStep(updates, None, text, None, "a word gets a value that is not listed")
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
