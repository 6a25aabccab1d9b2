"""The moves of a run that matter for the claim that fails in it: those on which what the claim looks at depends.

The question that :mod:`what_matters` answers for other runs, with its rules for registers; what the stepwise machines have
besides (store buffers, flushes, draws, remote atomics) is added here. Asked for is also the first reordering of the run that
sequential consistency does not have, which is why the run is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rdma_robust.analyses.prove.reorderings import BUFFERED, NEVER, difference, landing
from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.prove.transition_system import SafetyClaim
from rdma_robust.expr import conj, names
from rdma_robust.language.flow.cfg import (
    Cell,
    Get,
    Nondet,
    Program,
    Put,
    Read,
    RemoteOp,
    RemoteRmw,
    Rmw,
    Silent,
    Step,
    Write,
)
from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.semantics.what_matters import RunDependence, matter


def mattering(program: Program, run: SafetyRun, claim: SafetyClaim) -> set[int]:
    """Return the moves of `run` that matter for `claim`, by their numbers.

    Of a claim about places all do: what a thread has read and passed is how it came there.
    """
    if set(names(claim.bad)) & {name for name, _ in claim.atoms}:
        return set(range(len(run.moves)))
    slicing = _Slicing(run.model in BUFFERED, landing(run.model))
    for number, move in enumerate(run.moves):
        if move.action.verb is not Verb.START:
            slicing.add(number, move.action)
    wanted = {*_reordered(run), *slicing.looked_at(claim)}
    if claim.fault is not None:
        wanted.add(len(run.moves) - 1)
    threads = {thread.name: number for number, thread in enumerate(program.threads)}
    owned = [name.partition(".") for name in set(names(claim.bad))]
    registers = [(threads[owner], register) for owner, _, register in owned if owner in threads]
    return matter(program, slicing.deeds, wanted, registers)


def _reordered(run: SafetyRun) -> Iterator[int]:
    pair = difference(run.moves, run.model, "sc") if run.model != "sc" else None
    for each in (pair.earlier, pair.later) if pair is not None else ():
        yield each.place
        if each.moment < NEVER:
            yield each.moment


@dataclass
class _Slicing:
    """The moves that each move depends on. `under_way` has the stores of each thread to each word, and its operations by
    their statements, each by the numbers of their moves so far, oldest first."""

    buffered: bool
    landing: Verb
    deeds: dict[int, RunDependence] = field(default_factory=dict)
    written: dict[Cell, int] = field(default_factory=dict)
    under_way: dict[tuple[int, Step | Cell], list[list[int]]] = field(default_factory=dict)

    def looked_at(self, claim: SafetyClaim) -> Iterator[int]:
        """Yield the last writes of the words that a claim names."""
        used = set(names(claim.bad))
        yield from (number for cell, number in self.written.items() if str(cell) in used)

    def add(self, number: int, action: Action) -> None:
        step, thread = action.step, action.thread
        if step is None:
            self._land(number, action)
            return
        match step.op, action.verb:
            case (Put() | Get() | RemoteRmw()) as op, verb:
                self._operation(number, action, step, op, verb)
            case Write(cell), _ if self.buffered:
                self.deeds[number] = RunDependence(thread, step)
                self.under_way.setdefault((thread, cell), []).append([number])
            case op, _:
                self._access(number, action, step, op)

    def _land(self, number: int, action: Action) -> None:
        assert action.cell is not None
        stores = self.under_way.get((action.thread, action.cell), [])
        self.deeds[number] = RunDependence(action.thread, None, frozenset(stores.pop(0) if stores else ()))
        self.written[action.cell] = number

    def _access(self, number: int, action: Action, step: Step, op: object) -> None:
        sources: set[int] = set()
        cell = getattr(op, "cell", None)
        own = self.under_way.get((action.thread, cell), []) if isinstance(op, Read) and cell is not None else []
        if own:
            sources.add(own[-1][0])
        elif action.read is not None and cell in self.written:
            sources.add(self.written[cell])
        self.deeds[number] = RunDependence(action.thread, _known(step), frozenset(sources))
        if action.written is not None and cell is not None:
            self.written[cell] = number

    def _operation(self, number: int, action: Action, step: Step, op: RemoteOp, verb: Verb) -> None:
        mine = self.under_way.setdefault((action.thread, step), [])
        if verb is Verb.ISSUE or not mine:
            mine.append([number])
            self.deeds[number] = RunDependence(action.thread, _known(step))
            if verb is Verb.ISSUE:
                return
        found = mine[0]
        sources = {each for each in found if each != number}
        if verb is Verb.NIC_READ:
            sources |= {self.written[op.source]} if op.source in self.written else set()
        self.deeds[number] = RunDependence(action.thread, None, frozenset(sources))
        found.append(number)
        if verb is Verb.NIC_READ and action.written is not None:
            self.written[op.source] = number
        if verb is self.landing:
            self.written[op.target] = number
            mine.remove(found)


def _known(step: Step) -> Step:
    """Return a step with the same uses of registers whose operation the event table has."""
    match step.op:
        case Nondet(low, high):
            ends = [end for end in (low, high) if end is not None]
            return replace(step, op=Silent(), guard=conj(step.guard, *ends))
        case RemoteRmw(_, source, new, when):
            return replace(step, op=Rmw(source, new, when))
        case _:
            return step
