"""The stepwise machine of each memory model, by its name, and that of sequential consistency itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Flush, Poll, Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.semantics.machines.machine import Action, Move, Verb, with_value
from rdma_robust.semantics.machines.one_sided import OneSidedMachine
from rdma_robust.semantics.machines.pipes import PipesMachine
from rdma_robust.semantics.machines.stepcode import NOWHERE, StepCommand
from rdma_robust.semantics.machines.stepping import Choose, Passed, StepMachine, StepState, few
from rdma_robust.semantics.machines.store_buffers import PsoMachine, TsoMachine


class OpenOperation(NamedTuple):
    """The operation whose first step is done, by its command's number, -1 for none, with the value that it has read.

    `unpolled` counts, per queue pair, the completions that a poll may still take (0 where no poll can come).
    """

    command: int
    value: int
    unpolled: tuple[int, ...]


class InOrderMachine(StepMachine):
    """Model sc: a put, get or remote atomic is two steps, for which its thread waits.

    `flush` and `mfence` wait for nothing.
    """

    model = "sc"

    def nothing(self, t: int) -> OpenOperation:
        return OpenOperation(NOWHERE, 0, (0,) * len(self.codes[t].peers))

    def busy(self, own: OpenOperation) -> bool:
        return own.command != NOWHERE

    def passes(self, _t: int, own: OpenOperation, command: StepCommand) -> Passed | None:
        op = command.step.op
        if isinstance(op, Poll):
            left = own.unpolled[command.qp] - 1
            return None if left < 0 else (Verb.POLL, own._replace(unpolled=with_value(own.unpolled, command.qp, left)))
        return (Verb.ACCESS if isinstance(op, Flush) else Verb.FENCE), own

    def posts(self, state: StepState, t: int, command: StepCommand) -> Iterator[Move]:
        thread = state.threads[t]
        read = state.memory[command.source]
        written = command.replacing(thread.registers, read)
        memory = state.memory if written is None else with_value(state.memory, command.source, written)
        own = thread.own._replace(command=command.number, value=read)
        yield self.moved(state, Action(t, Verb.NIC_READ, command.step, read, written), own, memory)

    def system(self, state: StepState, t: int) -> Iterator[Move]:
        own: OpenOperation = state.threads[t].own
        if not self.busy(own):
            return
        command = self.codes[t].commands[own.command]
        unpolled = with_value(own.unpolled, command.qp, own.unpolled[command.qp] + 1)
        action = Action(t, Verb.NIC_WRITE, command.step, None, own.value)
        after = with_value(state.memory, command.target, own.value)
        yield self.goes(state, action, command, OpenOperation(NOWHERE, 0, unpolled), after)

    def forgotten(self, t: int, point: int, own: OpenOperation) -> OpenOperation:
        ahead = self.codes[t].polls_ahead[point]
        return own._replace(unpolled=tuple([n if more else 0 for n, more in zip(own.unpolled, ahead, strict=True)]))

    def drained(self, own: OpenOperation) -> bool:
        return own.command == NOWHERE

    def length(self, own: OpenOperation) -> int:
        return max(own.unpolled, default=0)

    def shown(self, t: int, own: OpenOperation) -> Iterable[str]:
        if self.busy(own):
            step = self.codes[t].commands[own.command].step
            yield f"{self.codes[t].thread.name} carries {own.value} of {step.text}"


STEPWISE: Final[Mapping[AnyModelName, type[StepMachine]]] = {
    "sc": InOrderMachine,
    "tso": TsoMachine,
    "pso": PsoMachine,
    "rma": OneSidedMachine,
    "rdma": PipesMachine,
}


def stepwise_machine(program: Program, model: AnyModelName, choose: Choose = few) -> StepMachine:
    """Return the machine on which every step of `program` is a move. Raises UsageError for a model that has none."""
    if model not in STEPWISE:
        raise UsageError(f"no stepwise machine runs model {model}; there are those of {', '.join(STEPWISE)}")
    return STEPWISE[model](program, choose)
