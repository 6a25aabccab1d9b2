"""Solving an instance of Post's problem by running its program: a guide that follows the protocol, and what a run says.

The guide lets the receivers run as far as they get, delivers a put when its receiver waits for it, lets the expanders
send, and lets the guesser go on only when nothing else is left to do. So the only choices are the guesser's: the next
index or the end. A letter is compared as soon as both sides have one, so a wrong guess is a dead end at once.

**Nothing is lost.** Let i1 ... in be a solution. The run in which the guesser sends these indices and the guide picks all
other moves meets no dead end before Checker has ended: all puts are delivered in lockstep, so every round of the protocol
is completed, and Checker compares the letters of two equal words. So the search considers this run, or one from a state
with the same future (:mod:`rdma_robust.hardness.guided`) that has made no more guesses. When no sequence of choices is
left, there is no solution, and the first run found has the fewest indices.

**Nothing is invented.** Every move is one of the machine's, and a Checker that has ended proves a solution whatever the
order of the moves was (:mod:`rdma_robust.hardness.abp`). Indices and words are read off the run, not off the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdma_robust.errors import InternalError
from rdma_robust.hardness.guided import GuidedRun, guided_search
from rdma_robust.hardness.pcp import BOTTOM, CHECKER, GUESSER, INDEX, LETTER, NODES, SENT, TOP, PcpInstance
from rdma_robust.language.flow.cfg import Program, Read, Step, Write
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.machine import Move
from rdma_robust.semantics.machines.rdma import RdmaMachine, RdmaState

RECEIVERS = (CHECKER, TOP, BOTTOM)
"""In the order in which they are served."""


class PcpGuide:
    """The guide described above, for the machine of a program of :func:`rdma_robust.hardness.pcp.pcp_program`."""

    def __init__(self, machine: RdmaMachine) -> None:
        self.machine = machine
        cells = {str(cell): k for k, cell in enumerate(machine.program.cells)}
        channels = [(GUESSER, channel) for channel in INDEX.values()] + list(LETTER.items())
        self._wires: dict[int, tuple[int, int]] = {}
        for sender, channel in channels:
            wire = sender, machine.codes[sender].remotes.index(channel.node)
            self._wires |= {cells[f"{channel.node}.{name}"]: wire for name in (channel.symbol, channel.flag)}

    def is_goal(self, state: RdmaState) -> bool:
        return state.threads[CHECKER].point == self.machine.codes[CHECKER].thread.exit

    def moves(self, state: RdmaState) -> Sequence[Move]:
        for t in RECEIVERS:
            moves: Sequence[Move] = [move for move in self.machine.cpu_moves(state, t) if not self.is_stuck(move.state, t)]
            if moves:
                return moves
        for t in RECEIVERS:
            cell = self._awaited(state, t)
            if cell is None:
                continue
            if state.memory[cell]:
                return ()
            moves = self._delivery(state, cell)
            if moves:
                return moves
        return self.machine.cpu_moves(state, GUESSER)

    def is_step(self, move: Move) -> bool:
        return move.action.thread == GUESSER and _writes(move.action.step, SENT)

    def is_stuck(self, state: RdmaState, t: int) -> bool:
        """Return whether the thread has gone where it can neither go on nor end: it has read the wrong symbol, or none."""
        place = state.threads[t]
        code = self.machine.codes[t]
        possible = any(command.may_run(place.registers) for command in code.visible.get(place.point, ()))
        return place.point != code.thread.exit and not possible

    def _awaited(self, state: RdmaState, t: int) -> int | None:
        """Return the cell that a receiver wants to read next, None if it has ended."""
        return next((command.source for command in self.machine.codes[t].visible.get(state.threads[t].point, ())), None)

    def _delivery(self, state: RdmaState, cell: int) -> Sequence[Move]:
        """Return the next step of the put of the oldest symbol or flag on its way to the cell, if there is one."""
        thread, qp = self._wires[cell]
        return self.machine.nic_moves(state, thread, qp)[:1]


@dataclass(frozen=True, slots=True)
class PcpSolution:
    """What a run in which Checker ends says: the indices, counted from 1, the word that both sides make, and the run."""

    indices: tuple[int, ...]
    word: str
    run: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class PcpAnswer:
    """What the search found out: a solution, or that there is none (`search.cut` is None), or how far it came."""

    solution: PcpSolution | None
    search: GuidedRun


def solve(instance: PcpInstance, program: Program, limits: Limits) -> PcpAnswer:
    """Search a shortest solution of `instance` by running `program`, that of :func:`rdma_robust.hardness.pcp.pcp_program`.

    The depth of `limits` counts indices. Raises InternalError if a run says something that is no solution.
    """
    machine = RdmaMachine(program)
    found = guided_search(machine, PcpGuide(machine), limits)
    return PcpAnswer(None if found.run is None else decoded(instance, program, found.run), found)


def decoded(instance: PcpInstance, program: Program, run: Sequence[Move]) -> PcpSolution:
    """Return what a run that ends with Checker's end says. Raises InternalError if that is not a solution.

    The indices are those that the guesser has shown and both expanders have read; the words those that Checker has read.
    """
    sent = [a.written for a in (move.action for move in run) if a.thread == GUESSER and _writes(a.step, SENT)]
    indices = tuple(value for value in sent if value is not None)
    if any(_received(run, t, INDEX[t].symbol) != [*indices, instance.end] for t in INDEX):
        raise InternalError("the expanders have not received the indices that were sent")
    texts = []
    for t, channel in LETTER.items():
        *letters, end = _received(run, CHECKER, channel.symbol)
        word = "".join(instance.letters[value - 1] for value in letters)
        if end != instance.end or word != "".join(instance.words(t)[i - 1] for i in indices):
            raise InternalError(f"the checker has not received the word that {NODES[t]} was to send")
        texts.append(word)
    state = run[-1].state
    ended = state.threads[CHECKER].point == program.threads[CHECKER].exit
    if not ended or texts[0] != texts[1] or not instance.is_solution(indices):
        raise InternalError("a run of the program is not a solution of the instance")
    return PcpSolution(indices, texts[0], tuple(run))


def _writes(step: Step | None, variable: str) -> bool:
    return step is not None and isinstance(step.op, Write) and step.op.cell.name == variable


def _received(run: Sequence[Move], thread: int, symbol: str) -> list[int]:
    """Return the symbols that a thread has read from a channel into a register."""
    reads = [(a.step, a.read) for a in (move.action for move in run) if a.thread == thread and a.read is not None]
    return [value for step, value in reads if step is not None and _reads(step, symbol) and step.assigns]


def _reads(step: Step, variable: str) -> bool:
    return isinstance(step.op, Read) and step.op.cell.name == variable
