"""A thread's graph compiled for the stepwise machines: a command for each step, whatever its operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.digraph import by_key
from rdma_robust.errors import UsageError
from rdma_robust.expr import TRUE, VALUE, Expr, Name, equals, names
from rdma_robust.language.flow.cfg import (
    Cas,
    Cell,
    Flush,
    Get,
    MFence,
    Nondet,
    Op,
    Poll,
    Program,
    Put,
    Read,
    RemoteOp,
    RemoteRmw,
    RFence,
    Rmw,
    Silent,
    Step,
    Thread,
    Write,
    peer_of,
    queue_pairs_of,
    steps,
)
from rdma_robust.semantics.machines.threadcode import Registers
from rdma_robust.semantics.machines.waiting_points import polls_ahead
from rdma_robust.semantics.terms import Evaluator, read_at, term_of

NOWHERE: Final = -1


@dataclass(frozen=True, slots=True)
class StepCommand:
    """A step with its expressions compiled, over the registers followed by VALUE.

    `number` is that of the step in `cfg.steps` of the thread. `source` and `target` are the numbers of the words that the
    operation reads and writes, -1 if it has none; `new` and `when` (None: always) what an atomic or a store writes and
    whether it does; `peer` the node that a remote operation, a poll, or a wait is about, `qp` its number among the
    thread's. `needs` are the registers that `new` and `when` use, by number. `constant`: the source is a word that nobody
    can write. `low` and `high` are the ends of what a `nondet` draws from.
    """

    number: int
    step: Step
    to: int
    guard: Evaluator | None
    assigns: tuple[tuple[int, Evaluator], ...]
    source: int = NOWHERE
    target: int = NOWHERE
    new: Evaluator | None = None
    when: Evaluator | None = None
    needs: tuple[int, ...] = ()
    peer: str | None = None
    qp: int = NOWHERE
    constant: bool = False
    low: Evaluator | None = None
    high: Evaluator | None = None

    def enabled(self, registers: Registers, value: int = 0) -> bool:
        return self.guard is None or bool(self.guard((*registers, value), 0))

    def after(self, registers: Registers, value: int = 0) -> Registers:
        """Return the registers after the step's assignments, which are simultaneous."""
        if not self.assigns:
            return registers
        env = (*registers, value)
        result = list(registers)
        for slot, evaluator in self.assigns:
            result[slot] = evaluator(env, 0)
        return tuple(result)

    def replacing(self, registers: Registers, old: int) -> int | None:
        """Return what an atomic of a word, or a store, writes where there was `old`; None if it leaves the word alone."""
        env = (*registers, old)
        if self.new is None or (self.when is not None and not self.when(env, 0)):
            return None
        return self.new(env, 0)


@dataclass(frozen=True)
class StepCode:
    """The code of one thread: its commands by program point, and all of them by number, but for those never enabled.

    `peers` are the nodes of its queue pairs, in the order of the program's. `polls_ahead[point]` tells for each of them
    whether a poll of it may still come.
    """

    thread: Thread
    initial: Registers
    peers: tuple[str, ...]
    at: Mapping[int, tuple[StepCommand, ...]]
    commands: Mapping[int, StepCommand]
    polls_ahead: Mapping[int, tuple[bool, ...]] = field(default_factory=dict)


def compile_steps(program: Program, thread: Thread) -> StepCode:
    """Return the code of a thread. Raises UsageError for an operation that no stepwise machine knows."""
    edges = steps(thread)
    used = {peer_of(step.op) for _, _, step in edges}
    peers = tuple(pair for pair in queue_pairs_of(program, thread) if pair in used)
    writer = _Compiler(program, thread, peers)
    commands = {n: writer.command(n, to, step) for n, (_, to, step) in enumerate(edges) if not writer.never(step)}
    at = by_key((edges[number][0], command) for number, command in commands.items())
    return StepCode(
        thread,
        tuple(value for _, value in thread.registers),
        peers,
        {point: tuple(group) for point, group in at.items()},
        commands,
        polls_ahead(thread, peers),
    )


def delivered_to(op: RemoteOp) -> Cell:
    """Return the word that a request writes last. `prove` refuses atomics whose answer goes nowhere."""
    assert op.target is not None
    return op.target


@dataclass(frozen=True, slots=True)
class _Operands:
    source: Cell | None = None
    target: Cell | None = None
    new: Expr | None = None
    when: Expr = TRUE
    low: Expr | None = None
    high: Expr | None = None


def _operands(op: Op) -> _Operands:
    match op:
        case Read(cell):
            return _Operands(source=cell)
        case Write(cell, value):
            return _Operands(target=cell, new=value)
        case Cas(cell, expected, new):
            return _Operands(cell, cell, new, equals(VALUE, expected))
        case Rmw(cell, new, when):
            return _Operands(cell, cell, new, when)
        case Put(target, source) | Get(target, source):
            return _Operands(source, target)
        case RemoteRmw(target, source, new, when):
            return _Operands(source, target, new, when)
        case Nondet(low, high):
            return _Operands(low=low, high=high)
        case Silent() | MFence() | Poll() | RFence() | Flush():
            return _Operands()
        case _:  # whatever else there is, or will be
            raise UsageError(f"`prove` has no machine for an operation like {type(op).__name__}: `check` decides it")


class _Compiler:
    """Compiles the steps of one thread."""

    def __init__(self, program: Program, thread: Thread, peers: tuple[str, ...]) -> None:
        self.slots = {name: i for i, (name, _) in enumerate(thread.registers)}
        self.env = {name: read_at(i) for name, i in self.slots.items()}
        self.env[VALUE.name] = read_at(len(self.slots))
        self.cells = {cell: i for i, cell in enumerate(program.cells)}
        self.peers = peers

    def never(self, step: Step) -> bool:
        """Return whether the step is never enabled; what it does may then have no value."""
        return term_of(step.guard, self.env).const == 0

    def of(self, expr: Expr | None) -> Evaluator | None:
        return None if expr is None or expr == TRUE else term_of(expr, self.env).of

    def value(self, expr: Expr) -> Evaluator:
        return term_of(expr, self.env).of

    def command(self, number: int, to: int, step: Step) -> StepCommand:
        operands = _operands(step.op)
        needed = {self.slots[n] for e in (operands.new, operands.when) if e for n in names(e) if Name(n) != VALUE}
        peer = peer_of(step.op)
        return StepCommand(
            number,
            step,
            to,
            self.of(step.guard),
            tuple((self.slots[name], self.value(expr)) for name, expr in step.assigns),
            NOWHERE if operands.source is None else self.cells[operands.source],
            NOWHERE if operands.target is None else self.cells[operands.target],
            None if operands.new is None else self.value(operands.new),
            self.of(operands.when),
            tuple(sorted(needed)),
            peer,
            NOWHERE if peer is None else self.peers.index(peer),
            operands.source is not None and operands.source.hidden,
            None if operands.low is None else self.value(operands.low),
            None if operands.high is None else self.value(operands.high),
        )
