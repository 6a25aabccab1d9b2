"""A program and a model to the transition system that stands for it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final

from rdma_robust.analyses.prove.compiled_steps import Code, CompiledStep
from rdma_robust.analyses.prove.footprints import private_words
from rdma_robust.analyses.prove.lazy_system import LazySystem
from rdma_robust.analyses.prove.placing import Valued, expression_of, seen
from rdma_robust.analyses.prove.reduced_rdma import PipeSystem
from rdma_robust.analyses.prove.reduced_rma import PendingSetSystem
from rdma_robust.analyses.prove.reduced_sets import StatementSetSystem, StoreBufferSystem
from rdma_robust.analyses.prove.reduced_system import ReducedSystem, State
from rdma_robust.analyses.prove.safety_outcome import ReductionOptions
from rdma_robust.analyses.prove.transition_system import (
    Assignment,
    Cause,
    Drop,
    SafetyClaim,
    Suppose,
    Transition,
    TransitionSystem,
    Update,
)
from rdma_robust.expr import Name
from rdma_robust.language.flow.cfg import Flush, Get, Poll, Program, Put, RemoteOp, RemoteRmw
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.semantics.machines.waiting_points import polls_ahead

MOST_COMPLETIONS: Final = 3
"""Completions of a queue pair that wait for a poll are counted up to here; more are many."""


class InOrderSystem(ReducedSystem):
    """SC, reduced. A thread has under way the number of the step whose first half is done (-1: none) with the value that it
    has read (None: in the wide variable `T@number`), and per queue pair the completions that a poll may still take."""

    def __init__(self, program: Program, claims: tuple[SafetyClaim, ...], narrow: int) -> None:
        super().__init__(program, "sc", claims, narrow)
        self.private = private_words(self.placing, self.words, claims, at_once=True)

    def slots(self) -> Iterable[str]:
        self._peers = [_polled(code) for code in self.code]
        self._ahead = [polls_ahead(*each) for each in zip(self.program.threads, self._peers, strict=True)]
        for t, code in enumerate(self.code):
            for commands in code.values():
                for command in commands:
                    if isinstance(command.step.op, RemoteOp) and command.target is not None and command.target.wide:
                        yield self._slot(t, command.number)

    def _slot(self, t: int, number: int) -> str:
        return f"{self.program.threads[t].name}@{number}"

    def nothing(self, thread: int) -> Hashable:
        return (-1, 0, (0,) * len(self._peers[thread]))

    def ready(self, state: State, t: int) -> Sequence[CompiledStep]:
        """Return the commands that thread `t` may begin with, or the one that it is in the middle of."""
        number = state[self.under_way + t][0]
        commands = self.code[t].get(state[t], ())
        return commands if number < 0 else tuple([c for c in commands if c.number == number])

    def concerns_nobody(self, state: State, command: CompiledStep) -> bool:
        """Of an operation in two halves it is the next half that counts."""
        if not isinstance(command.step.op, RemoteOp):
            return super().concerns_nobody(state, command)
        first, second = self.words.halves(command)
        return self.words.only(command.thread, first if state[self.under_way + command.thread][0] < 0 else second)

    def operate(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        match command.step.op:
            case Put() | Get() | RemoteRmw():
                halfway = state[self.under_way + command.thread][0] >= 0
                return self._second(state, command) if halfway else self._first(state, command)
            case Poll() | Flush():
                return self._takes(state, command)
            case _:
                return self.access_memory(state, command)

    def _first(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        """The first half: read, and for an atomic write. The guard is over registers, so it still holds in the second."""
        condition: Valued = 1 if command.guard is None else command.guard(state, None)
        if condition == 0:
            return
        assert command.source is not None and command.target is not None
        t, value = command.thread, seen(command.source, state)
        supposed = () if isinstance(condition, int) else (Suppose(condition),)
        let: tuple[Update, ...] = ()
        if command.target.wide:
            let = (Assignment(self._slot(t, command.number), expression_of(value)),)
        own = (command.number, None if command.target.wide else value, state[self.under_way + t][2])
        for writes, also in [((), ())] if command.new is None else self.atomically(state, command, value):
            before = (*supposed, *also, *let)
            yield from self.moved(state, t, Cause(t, Verb.NIC_READ, command.step), writes, own, before=before)

    def _second(self, state: State, command: CompiledStep) -> list[Transition]:
        t = command.thread
        _, value, unpolled = state[self.under_way + t]
        assert command.target is not None
        place = self._peers[t].index(command.peer) if command.peer in self._peers[t] else -1
        counts = tuple(min(n + (i == place), MOST_COMPLETIONS + 1) for i, n in enumerate(unpolled))
        slot = self._slot(t, command.number)
        written, after = (Name(slot), (Drop(slot),)) if value is None else (value, ())
        own = (-1, 0, self._kept(t, command.to, counts))
        cause = (Cause(t, Verb.NIC_WRITE, command.step),)
        return self.done(state, command, None, [(command.target, written)], causes=cause, own=own, after=after)

    def _takes(self, state: State, command: CompiledStep) -> Iterable[Transition]:
        """Pass a poll, or a flush, which waits for nothing."""
        t = command.thread
        unpolled: tuple[int, ...] = state[self.under_way + t][2]
        if isinstance(command.step.op, Flush):
            return self.done(state, command)
        if command.peer not in self._peers[t]:
            return ()
        place = self._peers[t].index(command.peer)
        count = unpolled[place]
        left = [MOST_COMPLETIONS, count] if count > MOST_COMPLETIONS else [count - 1] if count else []
        found = []
        for n in left:
            counts = (*unpolled[:place], n, *unpolled[place + 1 :])
            own = (-1, 0, self._kept(t, command.to, counts))
            found += self.done(state, command, own=own, exact=count <= MOST_COMPLETIONS)
        return found

    def _kept(self, t: int, point: int, counts: tuple[int, ...]) -> tuple[int, ...]:
        """Return the completions without those that no poll can come for."""
        return tuple([n if more else 0 for n, more in zip(counts, self._ahead[t][point], strict=True)])

    def drained(self, state: State) -> bool:
        return all(own[0] < 0 for own in state[self.under_way :])

    def slots_in_use(self, state: State) -> Iterable[str]:
        for t, (number, value, _) in enumerate(state[self.under_way :]):
            if number >= 0 and value is None:
                yield self._slot(t, number)

    def described_under_way(self, thread: int, under_way: Any) -> dict[str, object]:
        """`carried`: the step whose first half is done and its value (null: the wide variable); `completions` by node."""
        number, value, unpolled = under_way
        told: dict[str, object] = {} if number < 0 else {"carried": {"step": number, "value": value}}
        counted = [(node, n) for node, n in zip(self._peers[thread], unpolled, strict=True) if n]
        counts = {node: "many" if n > MOST_COMPLETIONS else n for node, n in counted}
        return told | ({"completions": counts} if counts else {})


def _polled(code: Code) -> tuple[str, ...]:
    """Return the queue pairs that a thread polls."""
    polls = [command for commands in code.values() for command in commands if isinstance(command.step.op, Poll)]
    return tuple(dict.fromkeys(command.peer for command in polls if command.peer is not None))


def reduce_program(
    program: Program, model: AnyModelName, claims: tuple[SafetyClaim, ...], options: ReductionOptions
) -> TransitionSystem:
    """Return the transition system of a program under a model, for claims that are all about this model.

    Only operations of the model may occur (`refusals` says which do not). Under rdma every move is a transition: it has
    orders of which :class:`LazySystem` knows nothing. Raises UsageError for a program that the `sets` of rma do not have.
    """
    base = _unreduced(program, model, claims, options)
    return LazySystem(base) if options.lazy and model != "rdma" else base


def _unreduced(
    program: Program, model: AnyModelName, claims: tuple[SafetyClaim, ...], options: ReductionOptions
) -> ReducedSystem:
    match model:
        case "sc":
            return InOrderSystem(program, claims, options.narrow)
        case "tso" | "pso":
            return StoreBufferSystem(program, claims, options.narrow, max(1, options.bound), model == "pso")
        case "rma" if options.kind == "sets":
            return StatementSetSystem(program, claims, options.narrow)
        case "rma":
            return PendingSetSystem(program, claims, options.narrow, options.bound, many=options.many)
        case "rdma":
            return PipeSystem(program, claims, options.narrow, max(1, options.bound))
