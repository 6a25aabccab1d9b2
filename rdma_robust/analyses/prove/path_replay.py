"""From a path of a transition system to a run of the model's machine, which shares no code with the reductions.

The machine is driven along the causes of the path; wide values come out of it. Where a cause leaves a choice (operations
of one statement that are under way together, the values of `nondet`) all states that agree with the causes so far are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.prove.transition_system import AbstractPath, Cause, SafetyClaim, points_of
from rdma_robust.expr import Const, constants, names, substitute
from rdma_robust.language.flow.cfg import Nondet, Program, operands, steps
from rdma_robust.language.flow.claims import AnyModelName, EndedAtom, PointAt
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.semantics.machines.by_model import stepwise_machine
from rdma_robust.semantics.machines.machine import Action, Move, MoveTrail, Verb
from rdma_robust.semantics.machines.stepping import Choose, StepMachine, StepState, few
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


MOST_WAYS = 5_000
"""States kept side by side. There are more only with draws, of which a solver's model leaves one."""


def replay_path(
    program: Program,
    model: AnyModelName,
    claims: Sequence[SafetyClaim],
    path: AbstractPath,
    *,
    draws: Sequence[int | None] | None = None,
    limits: Limits = NO_LIMITS,
) -> SafetyRun | None:
    """Return a run of the model's machine along `path` at whose end the path's claim is violated, None if none was found.

    `claims` are those of the path's system, `draws` the values of `nondet` in the order of the path; without them, or for
    None, values next to the program's constants, and to the values in the state, are tried. None is no proof that there is
    no run if values were tried, or a limit of time or memory was reached.
    """
    machine = stepwise_machine(program, model)
    causes = [cause for transition in path.transitions for cause in transition.causes]
    if path.bad is not None:
        causes += path.bad.causes
    way = _Replay(machine, path.violated(claims), draws, limits).along(causes)
    return None if way is None else SafetyRun.of(machine, model, way.run())


class _Replay:
    """The run ends where it shows the claim, which may come before the end of the path."""

    def __init__(self, machine: StepMachine, claim: SafetyClaim, draws: Sequence[int | None] | None, limits: Limits) -> None:
        self.machine = machine
        self.met = met_on(machine, claim)
        self.limits = limits
        self.draws = None if draws is None else iter(draws)
        self.near = _near(constants_of(machine.program, [claim]))

    def along(self, causes: Iterable[Cause]) -> MoveTrail | None:
        """Return the way to a move that meets the claim, at the first cause after which there is one."""
        ways: dict[StepState, MoveTrail] = {}
        for move in self.machine.initial():
            ways[move.state] = MoveTrail(None, move)
        if found := next((way for way in ways.values() if self.met(way.move)), None):
            return found
        reached = self.limits.watch()
        for cause in causes:
            drawing = cause.step is not None and isinstance(cause.step.op, Nondet)
            given = next(self.draws, None) if drawing and self.draws is not None else None
            following: dict[StepState, MoveTrail] = {}
            for way in self._after(ways.values(), cause, given):
                if self.met(way.move):
                    return way
                following.setdefault(way.move.state, way)
                if len(following) >= MOST_WAYS:
                    break
            if not following or reached():
                return None
            ways = following
        return None

    def _after(self, ways: Iterable[MoveTrail], cause: Cause, given: int | None) -> Iterator[MoveTrail]:
        for way in ways:
            state: StepState = way.move.state
            for move in self.machine.moves_of(state, cause.thread, self._choice(state, given)):
                if _caused(move.action, cause):
                    yield from self._and_like(MoveTrail(way, move), cause)

    def _and_like(self, way: MoveTrail, cause: Cause) -> Iterator[MoveTrail]:
        """Yield a way, and those on which like stores reach memory with the one that did: a path may have one for all."""
        yield way
        while cause.verb is Verb.FLUSH and cause.cell is not None:
            state: StepState = way.move.state
            made = (m for m in self.machine.moves_of(state, cause.thread, self._choice(state, None)))
            like = next((m for m in made if _caused(m.action, cause) and m.action.written == way.move.action.written), None)
            if like is None:
                return
            way = MoveTrail(way, like)
            yield way

    def _choice(self, state: StepState, given: int | None) -> Choose:
        if given is not None:
            return lambda _low, _high: (given,)

        def choose(low: int | None, high: int | None) -> Iterable[int]:
            held = chain(state.memory, *(thread.registers for thread in state.threads))
            return sorted({*few(low, high), *self.near, *_near(held)}, key=lambda value: (abs(value), value))

        return choose


def _caused(action: Action, cause: Cause) -> bool:
    return (
        action.verb is cause.verb
        and (action.step is cause.step or action.step == cause.step or _same_work(action, cause))
        and (cause.cell is None or action.cell == cause.cell)
    )


def _same_work(action: Action, cause: Cause) -> bool:
    """Return whether it is a card's move for a step with the same operation: a path does not tell which of these it was."""
    if cause.verb not in (Verb.NIC_READ, Verb.NIC_WRITE) or action.step is None or cause.step is None:
        return False
    return action.step.op == cause.step.op


def _near(values: Iterable[int]) -> set[int]:
    return {near for value in values for near in (value - 1, value, value + 1)}
