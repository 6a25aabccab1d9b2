"""The checker's reading of a thread's steps where values may be unbounded: what they make of registers, and write.

A register or word is *small*, then states have its value, or *wide*, then it is a variable that conditions speak of. Which
is which the certificate says; every choice is sound. Where something small gets the value of an expression over wide
variables, there is a way for each number that the certificate lists for it, and one that must be impossible.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from rdma_robust.certify.document import reject
from rdma_robust.certify.safety.wide_updates import none_of
from rdma_robust.expr import FALSE, TRUE, VALUE, Const, Expr, Name, equals, names, negate, substitute
from rdma_robust.language.flow import cfg

Known = int | Expr
"""A value: a number, or an expression over wide variables."""

Small = tuple[int | None, ...]
"""Values of registers or words, None for those that are wide."""

NOWHERE = -1


def step_expression(value: Known) -> Expr:
    return Const(value) if isinstance(value, int) else value


def known(expr: Expr) -> Known:
    """Return the number that an expression without names is. Raises InvalidCertificate if it has none."""
    if isinstance(expr, Const):
        return expr.value
    if not any(True for _ in names(expr)):
        reject("an expression of the program has no value (a division by zero that no guard excludes)")
    return expr


@dataclass(frozen=True)
class Variables:
    """The wide registers and words, and for small ones the numbers that they may get from wide ones."""

    program: cfg.Program
    wide: frozenset[str]
    numbers: Mapping[str, tuple[int, ...]]
    place: dict[cfg.Cell, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", {cell: i for i, cell in enumerate(self.program.cells)})

    def given(self, name: str, value: Known) -> Iterator[tuple[int | None, tuple[Expr, ...]]]:
        """Yield what a small variable may be if it gets `value`, with what that assumes: None for no listed number."""
        if isinstance(value, int):
            yield value, ()
            return
        numbers = self.numbers.get(name, ())
        for number in numbers:
            yield number, (equals(value, Const(number)),)
        yield None, none_of(value, numbers)


@dataclass(frozen=True, slots=True)
class Instruction:
    """A step of a thread: its number in `cfg.steps`, where it leads, the places of the words that its operation reads and
    writes, and the node of a remote operation, a flush, a poll or a remote fence."""

    number: int
    target: int
    step: cfg.Step
    reads: int
    writes: int
    peer: str | None
    new: Expr | None
    when: Expr
    forward: bool


class StepEffect(NamedTuple):
    """A way to take a step: what it assumes of wide variables, the small registers after, what wide registers get, and what
    it writes (None: nothing). `bad` iff it must be impossible, as something small gets a number that is not listed."""

    assumed: tuple[Expr, ...]
    registers: Small
    assigned: tuple[tuple[str, Expr], ...]
    written: Known | None
    bad: bool


class ThreadSteps:
    """The instructions of thread number `number`, by program point."""

    def __init__(self, variables: Variables, number: int) -> None:
        self.thread = variables.program.threads[number]
        self.number = number
        self._variables = variables
        self.names = tuple(f"{self.thread.name}.{name}" for name, _ in self.thread.registers)
        self._index = {name: i for i, (name, _) in enumerate(self.thread.registers)}
        self._wide = tuple(name in variables.wide for name in self.names)
        self.initial: Small = tuple(
            None if wide else value for (_, value), wide in zip(self.thread.registers, self._wide, strict=True)
        )
        self.at: dict[int, list[Instruction]] = {}
        back = _back_edges(self.thread)
        for place, (source, target, step) in enumerate(cfg.steps(self.thread)):
            instruction = self._instruction(place, target, step, (source, target) not in back)
            self.at.setdefault(source, []).append(instruction)
        self._asked = _asked_for(variables.program, self.thread)
        self._done: dict[tuple[int, Small, Known | None], tuple[StepEffect, ...]] = {}

    def _instruction(self, place: int, target: int, step: cfg.Step, forward: bool) -> Instruction:
        reads, writes = (NOWHERE if cell is None else self._variables.place[cell] for cell in _words(step))
        new, when = _written(step)
        return Instruction(place, target, step, reads, writes, _peer(step), new, when, forward)

    def asked(self, point: int) -> frozenset[str]:
        """Return the registers of the thread, as `T.r`, that something may ask for at a program point."""
        return frozenset(self.names[self._index[name]] for name in self._asked[point])

    def values(self, registers: Small) -> dict[str, Expr]:
        """Return what the names of the thread's registers stand for in its expressions."""
        return {
            name: Name(self.names[i]) if (value := registers[i]) is None else Const(value) for name, i in self._index.items()
        }

    def guard(self, instruction: Instruction, registers: Small) -> tuple[Expr, ...] | None:
        """Return what a step's guard, over registers, assumes of wide ones, None if it is false."""
        guard = substitute(instruction.step.guard, self.values(registers))
        return () if (value := known(guard)) and isinstance(value, int) else None if value == 0 else (guard,)

    def done(self, instruction: Instruction, registers: Small, value: Known | None) -> tuple[StepEffect, ...]:
        """Return the ways to take a step that has read `value` (None if it reads nothing)."""
        key = instruction.number, registers, value
        if key not in self._done:
            self._done[key] = tuple(self._ways(instruction, registers, value))
        return self._done[key]

    def _ways(self, instruction: Instruction, registers: Small, value: Known | None) -> Iterator[StepEffect]:
        values = self.values(registers)
        if value is not None:
            values[VALUE.name] = step_expression(value)
        guard = substitute(instruction.step.guard, values)
        if guard == FALSE or known(guard) == 0:
            return
        assumed = () if isinstance(guard, Const) else (guard,)
        for written, also in self._writes(instruction, values) if instruction.peer is None else [(None, ())]:
            yield from self._assigned(instruction, registers, values, (*assumed, *also), written)

    def _writes(
        self, instruction: Instruction, values: Mapping[str, Expr]
    ) -> Iterator[tuple[Known | None, tuple[Expr, ...]]]:
        """Yield what a store or local atomic writes, None for nothing, with what that assumes."""
        if instruction.new is None:
            yield None, ()
            return
        when = substitute(instruction.when, values)
        if known(when) != 0:
            yield known(substitute(instruction.new, values)), () if isinstance(when, Const) else (when,)
        if not isinstance(when, Const) or when.value == 0:
            yield None, () if isinstance(when, Const) else (negate(when),)

    def _assigned(
        self,
        instruction: Instruction,
        registers: Small,
        values: Mapping[str, Expr],
        assumed: tuple[Expr, ...],
        written: Known | None,
    ) -> Iterator[StepEffect]:
        ways: list[tuple[tuple[Expr, ...], dict[int, int], tuple[tuple[str, Expr], ...], bool]] = [(assumed, {}, (), False)]
        for register, expr in instruction.step.assigns:
            i = self._index[register]
            value = known(substitute(expr, values))
            if self._wide[i]:
                ways = [(a, small, (*wide, (self.names[i], step_expression(value))), bad) for a, small, wide, bad in ways]
            else:
                ways = [
                    ((*a, *also), small if number is None else {**small, i: number}, wide, bad or number is None)
                    for a, small, wide, bad in ways
                    for number, also in self._variables.given(self.names[i], value)
                ]
        for a, small, wide, bad in ways:
            yield StepEffect(a, self._kept(instruction.target, registers, small), wide, written, bad)

    def _kept(self, point: int, registers: Small, changed: Mapping[int, int]) -> Small:
        """Return the small registers after; those that nobody asks for again have their initial value."""
        asked = self._asked[point]
        return tuple(
            [
                value if value is None or name in asked else initial
                for (name, initial), value in zip(
                    self.thread.registers, (changed.get(i, old) for i, old in enumerate(registers)), strict=True
                )
            ]
        )

    def forgotten(self, source: int, instruction: Instruction) -> tuple[str, ...]:
        """Return the wide registers that nobody asks for after a step from `source`, but might have before."""
        gone = (self._asked[source] | {name for name, _ in instruction.step.assigns}) - self._asked[instruction.target]
        return tuple(self.names[self._index[name]] for name in sorted(gone) if self._wide[self._index[name]])


def _words(step: cfg.Step) -> tuple[cfg.Cell | None, cfg.Cell | None]:
    match step.op:
        case cfg.Read(cell):
            return cell, None
        case cfg.Write(cell, _):
            return None, cell
        case cfg.Cas(cell, _, _) | cfg.Rmw(cell, _, _):
            return cell, cell
        case cfg.Put(target, source) | cfg.Get(target, source) | cfg.RemoteRmw(target, source, _, _):
            return source, target
        case _:
            return None, None


def _written(step: cfg.Step) -> tuple[Expr | None, Expr]:
    match step.op:
        case cfg.Write(_, value):
            return value, TRUE
        case cfg.Cas(_, expected, new):
            return new, equals(VALUE, expected)
        case cfg.Rmw(_, new, when) | cfg.RemoteRmw(_, _, new, when):
            return new, when
        case _:
            return None, TRUE


def _peer(step: cfg.Step) -> str | None:
    """Return the queue pair of a step, as the thread names it: a lane, or else the node of the card that is asked."""
    match step.op:
        case cfg.Put(target, _, _, lane):
            return lane or target.card
        case cfg.Get(_, source, _, lane):
            return lane or source.card
        case cfg.RemoteRmw(_, source, _, _) as op:
            return op.lane or source.card
        case cfg.Flush(node, lane) | cfg.Poll(node, lane) | cfg.RFence(node, lane):
            return lane or node
        case _:
            return None


def used(step: cfg.Step) -> set[str]:
    """Return the registers that a step's guard, operation and assignments name."""
    new, when = _written(step)
    of = [step.guard, when, *(expr for _, expr in step.assigns), *(() if new is None else (new,))]
    if isinstance(step.op, cfg.Nondet):
        of += [end for end in (step.op.low, step.op.high) if end is not None]
    return {name for expr in of for name in names(expr)} - {VALUE.name}


def _asked_for(program: cfg.Program, thread: cfg.Thread) -> dict[int, frozenset[str]]:
    """The registers that something may ask for at each program point, before they are assigned: backward, as far as it goes.

    An invariant may ask at any point, an outcome at the exit.
    """
    own = {name for name, _ in thread.registers}

    def named(conditions: list[Expr]) -> set[str]:
        every = {name for condition in conditions for name in names(condition)}
        return {name for name in own if f"{thread.name}.{name}" in every}

    always = named([line.condition for line in program.invariants])
    asked = {point: set(always) for point in thread.points}
    asked[thread.exit] |= named([line.condition for line in program.outcomes])
    changed = True
    while changed:
        changed = False
        for source, target, step in reversed(cfg.steps(thread)):
            needed = used(step) | (asked[target] - {name for name, _ in step.assigns})
            changed = changed or not needed <= asked[source]
            asked[source] |= needed
    return {point: frozenset(found) for point, found in asked.items()}


def _back_edges(thread: cfg.Thread) -> set[tuple[int, int]]:
    """Edges such that every cycle of the graph has one of them: those that do not go up in an order of finding points."""
    following = thread.following
    order: dict[int, int] = {}
    agenda: list[tuple[int, Literal["enter", "leave"]]] = [(thread.entry, "enter")]
    entered: set[int] = set()
    while agenda:
        point, what = agenda.pop()
        if what == "leave":
            order[point] = -len(order)
        elif point not in entered:
            entered.add(point)
            agenda.append((point, "leave"))
            agenda += [(after, "enter") for after in following[point]]
    return {(source, target) for source, target, _ in thread.edges if order.get(target, 0) <= order.get(source, 0)}


def remote_operands(instruction: Instruction) -> tuple[str, ...]:
    """Return the registers that a remote atomic uses, whose values are those of the moment of posting."""
    if instruction.new is None:
        return ()
    used = {*names(instruction.new), *names(instruction.when)} - {VALUE.name}
    return tuple(sorted(used))


def operand_values(code: ThreadSteps, instruction: Instruction, registers: Small) -> dict[str, Expr]:
    """Return the values of a remote atomic's operands where the thread's registers have these values."""
    values = code.values(registers)
    return {name: values[name] for name in remote_operands(instruction)}


def remote_change(
    instruction: Instruction, values: Mapping[str, Expr], read: Known
) -> Iterator[tuple[Known | None, tuple[Expr, ...]]]:
    """Yield what the card writes into the word that it has read (None: nothing), with what that assumes."""
    if instruction.new is None:
        yield None, ()
        return
    every = {**values, VALUE.name: step_expression(read)}
    when = substitute(instruction.when, every)
    if known(when) != 0:
        yield known(substitute(instruction.new, every)), () if isinstance(when, Const) else (when,)
    if not isinstance(when, Const) or when.value == 0:
        yield None, () if isinstance(when, Const) else (negate(when),)
