"""A thread's graph compiled for execution: what it can do at each program point, with register-only steps merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from rdma_robust.digraph import by_key, components, reachable
from rdma_robust.errors import InternalError
from rdma_robust.expr import TRUE, VALUE, Expr, names, value_of
from rdma_robust.kept import Kept
from rdma_robust.language.flow.cfg import (
    BarrierWait,
    Cell,
    Fault,
    Program,
    Recv,
    Step,
    Thread,
    named_lane,
    queue_pairs_of,
    steps,
)
from rdma_robust.model import RDMA, Model
from rdma_robust.semantics.connections import connection_numbers
from rdma_robust.semantics.event_table import Agent, acts_of, remote_of
from rdma_robust.semantics.machines.shapes import shape_of
from rdma_robust.semantics.terms import Evaluator, read_at, term_of
from rdma_robust.semantics.trace import EventType

Registers = tuple[int, ...]

Seen = int | tuple[int, ...]
"""What a step has read: a value, or, of a locked section, that of each word."""


def seeing(registers: Registers, seen: Seen) -> tuple[int, ...]:
    """Return what the expressions of a step are evaluated over."""
    return (*registers, 0, *seen) if isinstance(seen, tuple) else (*registers, seen)


@dataclass(frozen=True, slots=True)
class Arrival:
    """Where a thread is after register-only steps: `silent` are one way to get here, `faults` what was met on any."""

    point: int
    registers: Registers
    faults: tuple[Fault, ...] = ()
    silent: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """A step with its expressions compiled, over the registers followed by VALUE.

    `target` and `source` are cell numbers, -1 where there is none. `guard` is None for true. A CPU access writes `value` if
    it `succeeds` (None: always). `qp` numbers the thread's queue pairs, -1 for CPU accesses; `nic` are the events that the
    card makes of it: a read and a write of the value read, which may be a completion, or one that touches no word.
    `flushes`, `deployed`, `inline`, `fences` and, as the number of a cell, `buffer` are as in :class:`OperationShape`;
    `receives` and `takes` are the connections that it is about, by number. `number` is the command's own. `guard_reads`
    iff the guard depends on the value read. `eager` iff the CPU's part of the step commutes with everything that other
    threads and the NIC do, and lies on no cycle; a locked section reads all of `words`, and writes `stores`; then
    expressions are also over what they had. `members` are the threads of a barrier, by number. `constant` iff nobody ever
    writes the source; `own` iff only this thread's CPU does. `requests` iff the step hands something to the card.
    """

    step: Step
    to: int
    guard: Evaluator | None
    assigns: tuple[tuple[int, Evaluator], ...]
    target: int = -1
    source: int = -1
    value: Evaluator | None = None
    succeeds: Evaluator | None = None
    qp: int = -1
    nic: tuple[EventType, ...] = ()
    completes: bool = False
    polls: bool = False
    flushes: bool = False
    number: int = -1
    guard_reads: bool = False
    eager: bool = False
    constant: bool = False
    own: bool = False
    deployed: bool = False
    inline: bool = False
    receives: int = -1
    buffer: int = -1
    takes: int = -1
    fences: bool = False
    words: tuple[int, ...] = ()
    stores: tuple[tuple[int, Evaluator], ...] = ()
    members: tuple[int, ...] = ()
    requests: bool = False

    def enabled(self, registers: Registers, value: Seen = 0) -> bool:
        return self.guard is None or bool(self.guard(seeing(registers, value), 0))

    def may_run(self, registers: Registers) -> bool:
        """Return False only if the registers alone rule the command out."""
        return self.guard_reads or self.enabled(registers)

    def after(self, registers: Registers, value: Seen = 0) -> Registers:
        if not self.assigns:
            return registers
        env = seeing(registers, value)
        result = list(registers)
        for slot, expr in self.assigns:
            result[slot] = expr(env, 0)
        return tuple(result)


class CellUsage:
    """Who uses which cells: `written` by anyone, `owner` the only thread whose CPU uses it, None if the NIC does too."""

    def __init__(self, program: Program) -> None:
        self.written: set[Cell] = set()
        self.writers: dict[Cell, set[str | None]] = {}
        self.owner: dict[Cell, str | None] = {}
        for thread in program.threads:
            for _, cell, _ in thread.posted:
                self._received(cell)
            for _, _, step in steps(thread):
                if isinstance(step.op, Recv):
                    self._received(step.op.cell)
                for act in acts_of(step.op):
                    by = thread.name if act.agent is Agent.CPU else None
                    for cell in act.reads:
                        self._used(cell, by)
                    for cell, _ in act.writes:
                        self._used(cell, by)
                        self._writes(cell, by)

    def _received(self, cell: Cell) -> None:
        self._used(cell, None)
        self._writes(cell, None)

    def _used(self, cell: Cell, by: str | None) -> None:
        self.owner[cell] = by if self.owner.get(cell, by) == by else None

    def _writes(self, cell: Cell, by: str | None) -> None:
        self.written.add(cell)
        self.writers.setdefault(cell, set()).add(by)

    def is_local(self, step: Step, thread: Thread) -> bool:
        """Return whether the CPU's part of the step touches nothing that anyone else changes or sees."""
        if isinstance(step.op, Recv | BarrierWait):
            return False
        for act in acts_of(step.op):
            if act.agent is Agent.CPU:
                if any(self.owner[cell] != thread.name for cell, _ in act.writes):
                    return False
                if any(not self.writers.get(cell, set()) <= {thread.name} for cell in act.reads):
                    return False
        return True


def written_by_cards(program: Program) -> frozenset[Cell]:
    """Return the words that some NIC may write."""
    return frozenset(cell for cell, writers in usage_of(program).writers.items() if None in writers)


@dataclass(frozen=True, slots=True)
class Observables:
    """The parts of states that a question about reachable ones looks at, so that a machine must not skip over its changes.

    A thread in `threads` (by number) takes its register-only steps one by one. A reduced search keeps the order of what
    changes those threads, the `cells`, or, with `drained`, whether remote operations are under way.
    """

    threads: frozenset[int] = frozenset()
    cells: frozenset[Cell] = frozenset()
    drained: bool = False


NOTHING: Final = Observables()


_USAGES: Final = Kept[None, "CellUsage"]()

_CODES: Final = Kept[tuple[Observables | None, Model], "tuple[ThreadCode, ...]"]()
"""By what is watched, None where every step is."""


def usage_of(program: Program) -> CellUsage:
    return _USAGES.of(program, None, lambda: CellUsage(program))


def compile_threads(program: Program, watched: Observables = NOTHING, model: Model = RDMA) -> tuple[ThreadCode, ...]:
    """Return the code of each thread, compiled once for each program."""

    def compiled() -> tuple[ThreadCode, ...]:
        return tuple(
            ThreadCode(program, thread, usage_of(program), watched, i in watched.threads, model=model)
            for i, thread in enumerate(program.threads)
        )

    return _CODES.of(program, (watched, model), compiled)


def compile_stepwise(program: Program) -> tuple[ThreadCode, ...]:
    """Return the code of each thread, compiled once for each program, in which register-only steps are commands, too."""

    def compiled() -> tuple[ThreadCode, ...]:
        return tuple(ThreadCode(program, thread, usage_of(program), stepwise=True) for thread in program.threads)

    return _CODES.of(program, (None, RDMA), compiled)


def only_fast(codes: Sequence[ThreadCode], model: Model) -> None:
    """Raise InternalError for threads, or hardware, that only the machine of RDMA as deployed runs (:mod:`chosen`)."""
    other = any(code.thread.posted or any(command.deployed for command in code.commands) for code in codes)
    if other or model.cpu != "sc":
        raise InternalError("a program is run by a machine that does not know all of its operations, or its hardware")


class ThreadCode:
    """The code of one thread.

    `visible` and `silent` are the commands with and without a shared access by program point, `commands` all by number.
    With `stepwise`, all commands are `visible`. `remotes` are its queue pairs by their names, in a fixed order;
    `polls_ahead[point]` tells for each of them whether a poll of it may still come.
    """

    def __init__(
        self,
        program: Program,
        thread: Thread,
        usage: CellUsage,
        watched: Observables = NOTHING,
        stepwise: bool = False,
        *,
        model: Model = RDMA,
    ) -> None:
        self.thread = thread
        self.model = model
        self._program = program
        self._numbers = {each.name: i for i, each in enumerate(program.threads)}
        self.stepwise = stepwise
        self.initial = tuple(value for _, value in thread.registers)
        edges = steps(thread)
        self.remotes = _remotes(program, thread, [step for _, _, step in edges])
        component = {p: i for i, ps in enumerate(components(thread.following)) for p in ps}
        cells = {cell: i for i, cell in enumerate(program.cells)}
        self.commands: list[Command] = []
        self.visible: dict[int, list[Command]] = {}
        self.silent: dict[int, list[Command]] = {}
        for point, to, step in edges:
            command = self._command(step, to, cells)
            if command is not None:
                visible = (
                    stepwise
                    or (command.qp < 0 <= command.target and program.cells[command.target] in watched.cells)
                    or any(program.cells[cell] in watched.cells for cell, _ in command.stores)
                    or (watched.drained and (command.qp >= 0 or (model.cpu == "tso" and command.target >= 0)))
                )
                command = replace(
                    command,
                    number=len(self.commands),
                    guard_reads=bool(command.words) or VALUE.name in names(step.guard),
                    eager=not visible and component[point] != component[to] and usage.is_local(step, thread),
                    constant=command.source >= 0 and program.cells[command.source] not in usage.written,
                    requests=command.qp >= 0 and not (command.polls or command.flushes),
                    own=command.source >= 0 and usage.writers.get(program.cells[command.source]) == {thread.name},
                )
                self.commands.append(command)
                group = self.visible if stepwise or command.fences or acts_of(step.op) else self.silent
                group.setdefault(point, []).append(command)
        self.polls_ahead = self._polls_ahead()
        self.writes_ahead = self._writes_ahead()
        self._settled: dict[tuple[int, Registers], tuple[Arrival, ...]] = {}

    def settle(self, point: int, registers: Registers) -> tuple[Arrival, ...]:
        """Return the places where the thread may be after any number of register-only steps.

        A place counts if the thread has a shared access, its end, or nothing to do there; register-only steps commute
        with everything else, so nothing is lost. A thread that can only go on with register-only steps forever stays
        where it is. With `stepwise` register-only steps are commands like others.
        """
        if self.stepwise:
            return (Arrival(point, registers),)
        found = self._settled.get((point, registers))
        if found is None:
            found = self._settled[point, registers] = self._settle(point, registers)
        return found

    def only_command(self, point: int, registers: Registers) -> Command | None:
        """Return the one command that the registers leave possible here, or None if there are none or several."""
        possible = [command for command in self.visible.get(point, ()) if command.may_run(registers)]
        return possible[0] if len(possible) == 1 else None

    def _settle(self, point: int, registers: Registers) -> tuple[Arrival, ...]:
        reached = {(point, registers): Arrival(point, registers)}
        todo = [(point, registers)]
        faults: dict[Fault, None] = {}
        places = []
        for here in todo:
            commands = [c for c in self.silent.get(here[0], ()) if c.enabled(here[1])]
            if here[0] == self.thread.exit or not commands or any(c.may_run(here[1]) for c in self.visible.get(here[0], ())):
                places.append(here)
            for command in commands:
                after = (command.to, command.after(here[1]))
                if command.step.fault is not None:
                    faults[command.step.fault] = None
                if after not in reached:
                    reached[after] = Arrival(*after, (), (*reached[here].silent, command.step))
                    todo.append(after)
        if not places:
            places = [(point, registers)]
        return tuple(Arrival(*place, tuple(faults), reached[place].silent) for place in places)

    def _command(self, step: Step, to: int, cells: Mapping[Cell, int]) -> Command | None:
        env = {name: read_at(i) for i, (name, _) in enumerate(self.thread.registers)}
        slots = {name: i for i, name in enumerate(env)}
        env[VALUE.name] = read_at(len(slots))
        shape = shape_of(step.op, self.model)
        words = () if shape.section is None else shape.section.cells
        env |= {value_of(k).name: read_at(len(slots) + 1 + k) for k in range(len(words))}

        def compiled(expr: Expr) -> Evaluator:
            return term_of(expr, env).of

        if term_of(step.guard, env).const == 0:
            return None
        guard = None if step.guard == TRUE else compiled(step.guard)
        assigns = tuple((slots[name], compiled(expr)) for name, expr in step.assigns)
        return Command(
            step,
            to,
            guard,
            assigns,
            -1 if shape.target is None else cells[shape.target],
            -1 if shape.source is None else cells[shape.source],
            None if shape.value is None else compiled(shape.value),
            None if shape.succeeds is None else compiled(shape.succeeds),
            -1 if shape.remote is None else self.remotes.index(shape.remote),
            shape.nic,
            shape.completes,
            shape.polls,
            shape.flushes,
            deployed=shape.deployed,
            inline=shape.inline,
            receives=-1 if shape.receives is None else self._connection(shape.receives, step),
            buffer=-1 if shape.buffer is None else cells[shape.buffer],
            takes=-1 if shape.takes is None else self._connection(shape.takes, step),
            fences=shape.fences,
            words=tuple(cells[cell] for cell in words),
            stores=() if shape.section is None else tuple((cells[words[k]], compiled(e)) for k, e in shape.section.writes),
            members=tuple(self._numbers[name] for name in shape.members),
        )

    def _connection(self, sender: str, step: Step) -> int:
        """Return the number of the connection that a receive, or a poll of receives, is about."""
        ends = self._numbers[sender], self._numbers[self.thread.name]
        return connection_numbers(self._program)[(*ends, named_lane(step.op))]

    def _writes_ahead(self) -> dict[int, frozenset[int]]:
        """Return for each program point the cells that the thread's CPU may write from there on."""
        writing: dict[int, set[int]] = {}
        for point, commands in self.visible.items():
            for command in commands:
                if command.qp < 0 <= command.target:
                    writing.setdefault(command.target, set()).add(point)
                for cell, _ in command.stores:
                    writing.setdefault(cell, set()).add(point)
        ahead = {cell: self._leading_to(points) for cell, points in writing.items()}
        return {p: frozenset(cell for cell, before in ahead.items() if p in before) for p in self.thread.points}

    def _polls_ahead(self) -> dict[int, tuple[bool, ...]]:
        polling: list[set[int]] = [set() for _ in self.remotes]
        for point, commands in self.visible.items():
            for command in commands:
                if command.polls:
                    polling[command.qp].add(point)
        ahead = [self._leading_to(points) for points in polling]
        return {p: tuple(p in before for before in ahead) for p in self.thread.points}

    def _leading_to(self, points: set[int]) -> set[int]:
        """Return the program points from which the thread may come to one of `points`."""
        return reachable(points, self._preceding)

    @cached_property
    def _preceding(self) -> dict[int, list[int]]:
        return by_key((target, source) for source, target, _ in self.thread.edges)


def _remotes(program: Program, thread: Thread, all_steps: Sequence[Step]) -> tuple[str, ...]:
    used = {remote_of(step.op) for step in all_steps}
    return tuple(pair for pair in queue_pairs_of(program, thread) if pair in used)
