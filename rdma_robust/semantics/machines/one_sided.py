"""The machine of model rma: what a thread has posted is one unordered multiset.

Source: docs/theory-safety.md, "Machines"; Baumann, Dan, Meshman, Hoefler, Vechev (VMCAI 2018), without in-order
routing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rdma_robust.language.flow.cfg import Flush
from rdma_robust.semantics.machines.machine import Action, Move, Verb, with_value
from rdma_robust.semantics.machines.stepcode import StepCommand
from rdma_robust.semantics.machines.stepping import Passed, StepMachine, StepState, no_such
from rdma_robust.semantics.machines.threadcode import Registers


class PendingOperation(NamedTuple):
    """A remote operation under way, by the number of its command, which gives its peer and its words.

    To be read: `value` is None, and `registers` are those that its atomic uses, as they were when it was posted. To be
    written: `value`, which has been read.
    """

    command: int
    registers: Registers
    value: int | None


Pending = tuple[PendingOperation, ...]
"""A multiset, sorted."""


def _order(posted: PendingOperation) -> tuple[int, bool, int, Registers]:
    return posted.command, posted.value is None, posted.value or 0, posted.registers


class OneSidedMachine(StepMachine):
    """Model rma: the card serves what is pending in any order; a flush waits for all of the thread's with its peer."""

    model = "rma"

    def nothing(self, _t: int) -> Pending:
        return ()

    def passes(self, t: int, own: Pending, command: StepCommand) -> Passed | None:
        if not isinstance(command.step.op, Flush):
            raise no_such(self.model, command)
        commands = self.codes[t].commands
        waits = any(commands[posted.command].peer == command.peer for posted in own)
        return None if waits else (Verb.ACCESS, own)

    def posts(self, state: StepState, t: int, command: StepCommand) -> Iterator[Move]:
        """Post the operation; the constant of a put is read already."""
        thread = state.threads[t]
        read = state.memory[command.source] if command.constant else None
        used = () if command.new is None else thread.registers
        kept = tuple([value if i in command.needs else 0 for i, value in enumerate(used)])
        own = _sorted((*thread.own, PendingOperation(command.number, kept, read)))
        yield self.goes(state, Action(t, Verb.ISSUE, command.step), command, own, state.memory)

    def system(self, state: StepState, t: int) -> Iterator[Move]:
        own: Pending = state.threads[t].own
        for place, posted in enumerate(own):
            if place and posted == own[place - 1]:
                continue
            rest = (*own[:place], *own[place + 1 :])
            yield self._read(state, t, posted, rest) if posted.value is None else self._write(state, t, posted, rest)

    def _read(self, state: StepState, t: int, posted: PendingOperation, rest: Pending) -> Move:
        command = self.codes[t].commands[posted.command]
        read = state.memory[command.source]
        written = command.replacing(posted.registers, read)
        memory = state.memory if written is None else with_value(state.memory, command.source, written)
        own = _sorted((*rest, PendingOperation(posted.command, (), read)))
        return self.moved(state, Action(t, Verb.NIC_READ, command.step, read, written), own, memory)

    def _write(self, state: StepState, t: int, posted: PendingOperation, rest: Pending) -> Move:
        command = self.codes[t].commands[posted.command]
        assert posted.value is not None
        memory = with_value(state.memory, command.target, posted.value)
        return self.moved(state, Action(t, Verb.NIC_WRITE, command.step, None, posted.value), rest, memory)

    def drained(self, own: Pending) -> bool:
        return not own

    def length(self, own: Pending) -> int:
        """Return the most operations under way that are alike, each as far as the others."""
        return max((sum(_alike(a, b) for b in own) for a in own), default=0)

    def shown(self, t: int, own: Pending) -> Iterable[str]:
        if own:
            texts = [
                self.codes[t].commands[p.command].step.text + ("" if p.value is None else f" (read {p.value})") for p in own
            ]
            yield f"{self.codes[t].thread.name} pending: {{{', '.join(texts)}}}"


def _alike(a: PendingOperation, b: PendingOperation) -> bool:
    return a.command == b.command and (a.value is None) == (b.value is None)


def _sorted(posted: Iterable[PendingOperation]) -> Pending:
    return tuple(sorted(posted, key=_order))
