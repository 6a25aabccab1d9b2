"""What a thread cannot do whatever the others, the NIC and the hardware do: its own states, with reads that return anything
that is ever written. A superset of its states under every memory model, so that what is missing is unreachable."""

from __future__ import annotations

from collections.abc import Sequence

from rdma_robust.analyses.safety.goals import FaultGoal, Goal, HangGoal, points_at
from rdma_robust.errors import SizeLimitError
from rdma_robust.expr import evaluate, names
from rdma_robust.language.check.targets import At, Atom, Before, Ended
from rdma_robust.language.flow.cfg import Cell, Fault, Program, Thread, steps
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.threadcode import Registers, ThreadCode, Usage
from rdma_robust.semantics.values import possible_values

MOST = 20_000
"""States of one thread that are looked at."""

_CHECK_EVERY = 1024

Local = tuple[int, Registers]


def impossible_alone(program: Program, goals: Sequence[Goal], limits: Limits) -> frozenset[int]:
    """Return goals, by their places, that a thread by itself rules out; those that no thread rules out may be anything."""
    threads = {i: t for i, goal in enumerate(goals) if (t := _thread_of(program, goal)) is not None}
    try:
        values = possible_values(program, limits.exceeded) if threads else {}
    except SizeLimitError:
        return frozenset()
    found: set[int] = set()
    for t in sorted(set(threads.values())):
        states = _states(program, t, values, limits)
        if states is None:
            continue
        seen, faults = states
        mine = [i for i in threads if threads[i] == t]
        found |= {i for i in mine if not _met(program, t, goals[i], seen, faults)}
    return frozenset(found)


def _thread_of(program: Program, goal: Goal) -> int | None:
    """Return the one thread that the goal is about."""
    if isinstance(goal, HangGoal):
        return None
    numbers = {thread.name: i for i, thread in enumerate(program.threads)}
    if isinstance(goal, FaultGoal):
        owners = {i for i, t in enumerate(program.threads) for _, _, step in steps(t) if step.fault == goal.fault}
    else:
        atoms = dict(goal.target.atoms)
        registers = {f"{t.name}.{r}": i for i, t in enumerate(program.threads) for r, _ in t.registers}
        found: set[int | None] = set()
        for name in names(goal.target.condition):
            match atoms.get(name):
                case Ended(thread) | At(thread) | Before(thread):
                    found.add(numbers[thread])
                case None:
                    found.add(registers.get(name))
                case _:
                    found.add(None)
        if None in found or goal.final:
            return None
        owners = {t for t in found if t is not None}
    return owners.pop() if len(owners) == 1 else None


def _states(
    program: Program, t: int, values: dict[Cell, frozenset[int]], limits: Limits
) -> tuple[set[Local], set[Fault]] | None:
    """Return the thread's states and what can go wrong, None if they are too many."""
    code = ThreadCode(program, program.threads[t], Usage(program), stepwise=True)
    read = [sorted(values[cell]) for cell in program.cells]
    seen = {(code.thread.entry, code.initial)}
    todo = list(seen)
    faults: set[Fault] = set()
    work = 0
    while todo:
        point, registers = todo.pop()
        for command in code.visible.get(point, ()):
            for value in read[command.source] if command.source >= 0 and command.qp < 0 else (0,):
                work += 1
                if len(seen) > MOST or (work % _CHECK_EVERY == 0 and limits.exceeded()):
                    return None
                if command.enabled(registers, value):
                    if command.step.fault is not None:
                        faults.add(command.step.fault)
                    after = (command.to, command.after(registers, value))
                    if after not in seen:
                        seen.add(after)
                        todo.append(after)
    return seen, faults


def _met(program: Program, t: int, goal: Goal, seen: set[Local], faults: set[Fault]) -> bool:
    if isinstance(goal, FaultGoal):
        return goal.fault in faults
    assert not isinstance(goal, HangGoal), "a hang is about all threads"
    thread = program.threads[t]
    atoms = {name: _points_of(thread, atom) for name, atom in goal.target.atoms}
    for point, registers in seen:
        env = {f"{thread.name}.{r}": value for (r, _), value in zip(thread.registers, registers, strict=True)}
        env |= {name: int(point in points) for name, points in atoms.items()}
        if evaluate(goal.target.condition, env):
            return True
    return False


def _points_of(thread: Thread, atom: Atom) -> frozenset[int]:
    match atom:
        case At(_, line):
            return frozenset(points_at(thread, line))
        case Before(_, points):
            return frozenset(points)
        case _:
            return frozenset({thread.exit})
