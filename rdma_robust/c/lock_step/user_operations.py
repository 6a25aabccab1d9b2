"""Operations of reductions that a program makes itself (MPI 4.1, 6.9.5): their function is evaluated, in order of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.c.evaluate.c_values import Pointer, UnknownValue, Value, known_scalar
from rdma_robust.c.evaluate.calls import CallContext
from rdma_robust.c.evaluate.libc import allocated
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.mpi.datatypes import Datatype
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.lock_step.memory_changes import memory_changes
from rdma_robust.c.lock_step.message_layouts import BufferLayout, MessageData, delivered_into, message_data
from rdma_robust.c.lock_step.rank_machine import RankMachine, rank_of

_STEPS: Final = 1_000_000
_UNKNOWN: Final = UnknownValue("what an operation of the program gives")


@dataclass(frozen=True, slots=True)
class UserOperation:
    """A function of the program with what it combines: its name, whether order makes no difference to it, the type of an
    element with its handle, and how many there are."""

    name: str
    commutes: bool
    kind: Datatype
    handle: Value
    count: int

    def applied(self, call: CallContext, state: State, data: Sequence[MessageData]) -> MessageData:
        """Return what it makes of data of several processes. One that may be applied in any order gives what it gives in
        two; where these differ, nothing is known."""
        found = self._folded(call, state, data)
        if not self.commutes or self._folded(call, state, data[::-1]).block.key() == found.block.key():
            return found
        return _forgotten(found)

    def _folded(self, call: CallContext, state: State, data: Sequence[MessageData]) -> MessageData:
        found = data[0]
        for each in data[1:]:
            found = self._once(call, state, found, each)
        return found

    def _once(self, call: CallContext, state: State, first: MessageData, second: MessageData) -> MessageData:
        """Return what the function leaves in its second argument. What else it changes is not known from here on."""
        rank = rank_of(call)
        body = rank.world.units.function(self.name)
        if body is None:
            return _forgotten(second)
        trial, runs = state.copy(), tuple(self.kind.laid_out(self.count))
        call = CallContext(rank, trial, trial.frames[-1], call.call, call.arguments, call.name, call.chain, call.push)
        size = max((each.offset + each.size for each in runs), default=0)
        own = left, right, number, place = [allocated(call, each, self.name).object for each in (size, size, 4, 8)]
        for argument, data in ((left, first), (right, second)):
            delivered_into(rank, trial, data, BufferLayout(argument, 0, runs))
        rank.raw_write(trial, number, 0, 4, self.count)
        rank.raw_write(trial, place, 0, 8, known_scalar(self.handle))
        before, depth = trial.copy(), len(trial.frames)
        rank.push(trial, body, [Pointer(each) for each in own], None)
        self._run(rank, trial, depth)
        for changed, at, width in memory_changes(before, trial):
            if changed not in own and changed in state.memory:
                rank.raw_write(state, changed, at, width, _UNKNOWN)
        return message_data(rank, trial, BufferLayout(right, 0, runs))

    def _run(self, rank: RankMachine, trial: State, depth: int) -> None:
        """Go on until the function has returned. Raises Refusal if it does not, or does more than compute."""
        for _ in range(_STEPS):
            if len(trial.frames) == depth:
                return
            if rank.execute(trial) is not None:
                raise Refusal("RR814", f"`{self.name}`, an operation of reductions, does more than compute")
        raise Refusal("RR817", f"`{self.name}`, an operation of reductions, takes more than {_STEPS:,} steps")


def _forgotten(data: MessageData) -> MessageData:
    block = ObjectBytes()
    block.write(0, data.size, _UNKNOWN)
    return MessageData(block, data.size, data.basic)


def named_operation(call: CallContext, index: int) -> str:
    """Return the name of the function that an argument is, "" for one that is not known here."""
    found = known_scalar(call.arguments[index])
    return getattr(found, "name", "") if not isinstance(found, Pointer | int | UnknownValue) else ""
