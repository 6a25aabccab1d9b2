"""Claims as tests on the moves of the model's machine, and runs of it that were made elsewhere, made again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.prove.transition_system import SafetyClaim, points_of
from rdma_robust.expr import Const, constants, names, substitute
from rdma_robust.language.flow.cfg import Program, operands, steps
from rdma_robust.language.flow.claims import EndedAtom, PointAt
from rdma_robust.semantics.machines.by_model import stepwise_machine
from rdma_robust.semantics.machines.machine import Move
from rdma_robust.semantics.machines.stepping import StepMachine, StepState
from rdma_robust.semantics.terms import read_at, term_of

Met = Callable[[Move], bool]


def met_on(machine: StepMachine, claim: SafetyClaim) -> Met:
    """Return the test whether a move shows what the claim is about: its fault, or a state after it with what is bad."""
    if claim.fault is not None:
        fault = claim.fault
        return lambda move: fault in move.faults
    reader = _Reader.of(machine.program)
    bad = substitute(claim.bad, {name: Const(value) for name, value in machine.program.constants if not reader.has(name)})
    wanted = tuple(dict.fromkeys(names(bad)))
    atoms = dict(claim.atoms)
    parts = [reader.atom(atoms[name]) if name in atoms else reader.value(name) for name in wanted]
    term = term_of(bad, {name: read_at(i) for i, name in enumerate(wanted)})
    final = claim.final

    def met(move: Move) -> bool:
        state: StepState = move.state
        if final and not machine.is_final(state):
            return False
        return bool(term.of([part(state) for part in parts], 0))

    return met


def shows(program: Program, run: SafetyRun, claim: SafetyClaim) -> bool:
    """Return whether `run` is one of the model's machine, move by move, and its last move shows what the claim is about."""
    drawn: list[int] = []
    machine = stepwise_machine(program, run.model, lambda _low, _high: drawn)
    if not run.moves or run.moves[0] not in machine.initial():
        return False
    for before, move in pairwise(run.moves):
        drawn[:] = [] if move.action.read is None else [move.action.read]
        if move not in machine.successors(before.state):
            return False
    return met_on(machine, claim)(run.moves[-1])


@dataclass(frozen=True)
class _Reader:
    """Where states of the machine have what conditions name."""

    threads: dict[str, int]
    registers: dict[str, tuple[int, int]]
    cells: dict[str, int]
    program: Program

    @classmethod
    def of(cls, program: Program) -> _Reader:
        registers = {
            f"{thread.name}.{name}": (t, i)
            for t, thread in enumerate(program.threads)
            for i, (name, _) in enumerate(thread.registers)
        }
        threads = {thread.name: t for t, thread in enumerate(program.threads)}
        return cls(threads, registers, {str(cell): i for i, cell in enumerate(program.cells)}, program)

    def has(self, name: str) -> bool:
        return name in self.registers or name in self.cells

    def value(self, name: str) -> Callable[[StepState], int]:
        if name in self.registers:
            t, i = self.registers[name]
            return lambda state: state.threads[t].registers[i]
        cell = self.cells[name]
        return lambda state: state.memory[cell]

    def atom(self, atom: PointAt | EndedAtom) -> Callable[[StepState], int]:
        t = self.threads[atom.thread]
        points = points_of(self.program.threads[t], atom)
        return lambda state: int(state.threads[t].point in points)


def constants_of(program: Program, claims: Iterable[SafetyClaim] = ()) -> Iterator[int]:
    """Yield the constants of a program's steps and of claims, and the values at the start, as often as they occur."""
    yield from (value for claim in claims for value in constants(claim.bad))
    yield from (value for _, value in program.constants)
    yield from (cell.init for cell in program.cells)
    for thread in program.threads:
        yield from (value for _, value in thread.registers)
        for _, _, step in steps(thread):
            for part in (step.guard, *(expr for _, expr in step.assigns), *operands(step.op)):
                yield from constants(part)
