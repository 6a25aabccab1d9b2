"""The states of one thread by itself, with reads that return anything that is ever written.

They are a superset of its states under every memory model, whatever the others, the NIC and the hardware do: what is
missing is unreachable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from rdma_robust.analyses.safety.goals import FaultGoal, Goal, HangGoal, points_at
from rdma_robust.errors import SizeLimitError
from rdma_robust.expr import evaluate, names
from rdma_robust.language.check.targets import Atom, ThreadAtExit, ThreadAtLine, ThreadAtPoints
from rdma_robust.language.flow.cfg import BarrierWait, Cell, Fault, ImmPut, Program, Recv, RecvPoll, Send, Thread, steps
from rdma_robust.limits import Limits
from rdma_robust.semantics.machines.threadcode import Command, Registers, Seen, compile_stepwise
from rdma_robust.semantics.machines.waiting_points import quiet_cycles, standing_points
from rdma_robust.semantics.values import Connection, held_and_carried, possible_values

MOST = 20_000
"""States of one thread that are looked at."""

_CHECK_EVERY = 1024

MOST_COUNTED = 6
"""Completions of a queue pair that are told apart."""

Local = tuple[int, Registers]


def impossible_alone(program: Program, goals: Sequence[Goal], limits: Limits) -> frozenset[int]:
    """Return goals, by their places, that a thread by itself rules out; those that no thread rules out may be anything."""
    threads = {i: t for i, goal in enumerate(goals) if (t := _thread_of(program, goal)) is not None}
    try:
        values, carried = held_and_carried(program) if threads else ({}, {})
    except SizeLimitError:
        return frozenset()
    found: set[int] = set()
    for t in sorted(set(threads.values())):
        states = _states(program, t, values, carried, limits)
        if states is None:
            continue
        seen, faults = states
        mine = [i for i in threads if threads[i] == t]
        found |= {i for i in mine if not _met(program, t, goals[i], seen, faults)}
    return frozenset(found)


def never_waits_alone(program: Program, limits: Limits) -> bool:
    """Return True only if no thread can ever hang, whatever it reads and whatever the others do.

    It has no loop that changes nothing, it sends and receives nothing, it stands at no barrier, and wherever it is it can go
    on, at a poll because it has posted more than it has polled.

    Whether a poll can go on depends on its own thread alone: the card completes what is posted, under every model.
    Completions are counted exactly up to `MOST_COUNTED`, and as "so many or more" from there.
    """
    others = any(
        isinstance(step.op, Send | ImmPut | Recv | RecvPoll | BarrierWait)
        for thread in program.threads
        for _, _, step in thread.edges
    )
    if others or any(quiet_cycles(thread) for thread in program.threads):
        return False
    try:
        values = possible_values(program, limits.exceeded)
    except SizeLimitError:
        return False
    return all(_never_waits(program, t, values, limits) for t in range(len(program.threads)))


def _never_waits(program: Program, t: int, values: dict[Cell, frozenset[int]], limits: Limits) -> bool:
    code = compile_stepwise(program)[t]
    read = [sorted(values[cell]) for cell in program.cells]
    standing = standing_points(code.thread)
    first = (code.thread.entry, code.initial, (0,) * len(code.remotes))
    seen = {first}
    todo = [first]
    while todo:
        point, registers, counts = todo.pop()
        passed: dict[tuple[int, ...], set[Seen]] = {}
        for command in code.visible.get(point, ()):
            if command.polls and not counts[command.qp]:
                continue
            words = command.words or ((command.source,) if command.source >= 0 and command.qp < 0 else ())
            if prod(len(read[word]) for word in words) > MOST:
                return False
            for value in _read_by(command, read):
                if not command.enabled(registers, value):
                    continue
                passed.setdefault(words, set()).add(value)
                for after in _counted(counts, command):
                    state = (command.to, command.after(registers, value), after)
                    if state not in seen:
                        seen.add(state)
                        todo.append(state)
        goes_on = any(len(got) == prod(len(read[word]) for word in words) for words, got in passed.items())
        if (point in standing and not goes_on) or len(seen) > MOST or (len(seen) % _CHECK_EVERY == 0 and limits.exceeded()):
            return False
    return True


def _counted(counts: tuple[int, ...], command: Command) -> Iterator[tuple[int, ...]]:
    """Yield the completions of each queue pair that may be there after the command."""
    change = int(command.completes) - int(command.polls)
    if not change:
        yield counts
        return
    old = counts[command.qp]
    for new in {min(old + change, MOST_COUNTED), *([MOST_COUNTED] if old == MOST_COUNTED else [])}:
        yield (*counts[: command.qp], new, *counts[command.qp + 1 :])


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
                case ThreadAtExit(thread) | ThreadAtLine(thread) | ThreadAtPoints(thread):
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
    program: Program,
    t: int,
    values: Mapping[Cell, frozenset[int]],
    carried: Mapping[Connection, frozenset[int]],
    limits: Limits,
) -> tuple[set[Local], set[Fault]] | None:
    """Return the thread's states and what can go wrong, None if they are too many."""
    code = compile_stepwise(program)[t]
    read = [sorted(values[cell]) for cell in program.cells]
    seen = {(code.thread.entry, code.initial)}
    todo = list(seen)
    faults: set[Fault] = set()
    work = 0
    while todo:
        point, registers = todo.pop()
        for command in code.visible.get(point, ()):
            for value in _readable(program, command, t, read, carried):
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


def _readable(
    program: Program,
    command: Command,
    t: int,
    read: Sequence[Sequence[int]],
    carried: Mapping[Connection, frozenset[int]],
) -> Iterable[Seen]:
    """Return what a step of the thread's CPU may read; 0 for one that reads nothing."""
    if isinstance(command.step.op, RecvPoll):
        names = command.step.op.sender, program.threads[t].name, command.step.op.lane
        return sorted(carried.get(names, frozenset()) | {0})
    return _read_by(command, read)


def _read_by(command: Command, read: Sequence[Sequence[int]]) -> Iterable[Seen]:
    """Return what a step may read of its words, each of which has one of the values in `read`."""
    if command.words:
        return product(*(read[word] for word in command.words))
    return read[command.source] if command.source >= 0 and command.qp < 0 else (0,)


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
        case ThreadAtLine(_, line):
            return frozenset(points_at(thread, line))
        case ThreadAtPoints(_, points):
            return frozenset(points)
        case _:
            return frozenset({thread.exit})
