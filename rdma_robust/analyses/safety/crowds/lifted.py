"""Runs of the counting system as runs of the SC machine of P(n): who of the copies takes which step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rdma_robust.analyses.safety.crowds.copy_steps import LocalPart, SharedPart
from rdma_robust.analyses.safety.crowds.instances import goal_in
from rdma_robust.analyses.safety.crowds.safety_system import Control, Doing, SafetySystem
from rdma_robust.analyses.safety.goals import FaultGoal, StateGoal, met_by, watched_by_goals
from rdma_robust.analyses.safety.on_hardware import Run
from rdma_robust.counting.named_run import Copy, NamedRun
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.copies import copies_of
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.machines.chosen import AnyScMachine
from rdma_robust.semantics.machines.move_trail import MoveTrail
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.machines.threadcode import Watched


@dataclass(frozen=True)
class InstanceRun:
    """P(n) by its numbers, and a run of its SC machine that meets the goal."""

    numbers: tuple[tuple[str, int], ...]
    program: Program
    run: Run


@dataclass(frozen=True, slots=True)
class _Step:
    """What a thread of P(n) does; `copy` is which copy, None for a named thread."""

    doing: Doing
    copy: Copy | None


def lift_to_instance(
    system: SafetySystem,
    goal: StateGoal | FaultGoal,
    run: NamedRun[Control, LocalPart, Doing],
    recv_depth: int = RECV_DEPTH,
) -> InstanceRun | None:
    """Return the run in P(n) that a run of the system with finite numbers of tokens stands for, where n is what it takes.

    None if there is none, which can only be if the system was inexact about completions.
    """
    names = {t.name: number for t, number in zip(system.program.crowds, run.numbers, strict=True)}
    program = copies_of(system.program, names)
    there = goal_in(goal, system.program, names)
    look = watched_by_goals(program, [there])
    machine = _machine(system, program, look, recv_depth)
    parts = _Parts(system, program, run.numbers)
    met = met_by(there, machine)
    start = run.steps[0][0].label.shared if run.steps else None
    steps = [_Step(m.label, copies[0] if copies else None) for m, copies in run.steps if m.label.thread >= 0]
    fault = isinstance(goal, FaultGoal)
    ways = {m.state: MoveTrail(None, m) for m in machine.initial() if start is None or parts.shared(m.state) == start}
    if fault and not steps:
        ways = {state: way for state, way in ways.items() if met(way.move)}
    for number, step in enumerate(steps):
        last = number + 1 == len(steps)
        following: dict[Any, MoveTrail] = {}
        for state, way in ways.items():
            for move in machine.moves_of(state, parts.thread(step)):
                if parts.fits(move.state, step) and (not last or not fault or met(move)):
                    following.setdefault(move.state, MoveTrail(way, move))
        ways = following
    found = next((way for way in ways.values() if fault or met(way.move)), None)
    return None if found is None else InstanceRun(tuple(names.items()), program, found.run())


def _machine(system: SafetySystem, program: Program, look: Watched, recv_depth: int) -> AnyScMachine:
    """Return the machine of P(n) that is like the system's: what needs it may be a template of which P(n) has no copy."""
    if isinstance(system.steps.machine, ScMachine):
        return ScMachine(program, look)
    from rdma_robust.semantics.machines.deployed_sc import DeployedScMachine  # noqa: PLC0415 - few programs need it

    return DeployedScMachine(program, look, recv_depth)


class _Parts:
    """Where in a state of P(n) the parts are that the system knows."""

    def __init__(self, system: SafetySystem, program: Program, numbers: tuple[int, ...]) -> None:
        self.steps = system.steps
        threads = {t.name: i for i, t in enumerate(program.threads)}
        cells = {str(cell): c for c, cell in enumerate(program.cells)}
        single = self.steps.single
        self._named = [threads[single.threads[t].name] for t in self.steps.named]
        common = [single.cells[c] for c in self.steps.common]  # P(n) has no constant of a put that no copy of it makes
        self._common = [(None if c.hidden and str(c) not in cells else cells[str(c)], c.init) for c in common]
        self._threads: dict[Copy, int] = {}
        self._private: dict[Copy, list[int]] = {}
        for k, template in enumerate(system.program.crowds):
            own = [str(single.cells[c]) for c in self.steps.private[k]]
            for number in range(1, numbers[k] + 1):
                self._threads[Copy(k, number)] = threads[f"{template.name}[{number}]"]
                self._private[Copy(k, number)] = [cells[name.replace("[1]", f"[{number}]", 1)] for name in own]

    def thread(self, step: _Step) -> int:
        """Return the number of the thread in P(n)."""
        if step.copy is not None:
            return self._threads[step.copy]
        return self._named[self.steps.named.index(step.doing.thread)]

    def fits(self, state: Any, step: _Step) -> bool:
        """Whether the shared part after a step, and the own part of the copy that made it, are as the system has them."""
        doing, copy = step.doing, step.copy
        if self.shared(state) != doing.shared:
            return False
        if copy is None or doing.place is None:
            return True
        place = self.steps.limited(self.steps.cleaned(self.steps.crowd[copy.template], state.threads[self._threads[copy]]))
        memory = tuple([state.memory[c] for c in self._private[copy]])
        return bool(place == doing.place.thread) and memory == doing.place.memory

    def shared(self, state: Any) -> SharedPart:
        """Return the shared part of a state of P(n)."""
        named = zip(self.steps.named, self._named, strict=True)
        threads = [self.steps.limited(self.steps.cleaned(t, state.threads[mine])) for t, mine in named]
        memory = [init if c is None else state.memory[c] for c, init in self._common]
        return SharedPart(tuple(threads), tuple(memory), tuple(state[2:]))
