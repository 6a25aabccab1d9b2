"""The checker's reading of a thread: which events it can make next, from the flow graph that the front end gives.

One event is one step; steps without an event are taken just before the event that follows them, since no other thread can
tell. A value may be unknown (None): a register that an invariant leaves open, or a read of which nothing is assumed.
Where a condition is unknown, both cases are possible, so what is unknown only adds events.

Source: semantics.md ("Events"); language.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rdma_robust.certify.hardware import Kind
from rdma_robust.expr import VALUE, Binary, Const, Expr, Ite, Name, Unary
from rdma_robust.language.flow.cfg import (
    Cas,
    Cell,
    Get,
    MFence,
    Poll,
    Put,
    Read,
    RFence,
    Rmw,
    Silent,
    Step,
    Thread,
    Write,
    steps,
)

Value = int | None
"""None is unknown."""


@dataclass(frozen=True, slots=True)
class Local:
    """Where a thread is: at a program point, with the values of its registers in the order of their declaration.

    Between the two events of a put or get, `operation` is the number of its step, `point` where that starts, and `carried`
    the value that the NIC has read; else both are None.
    """

    point: int
    registers: tuple[Value, ...]
    operation: int | None = None
    carried: Value = None


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a thread, but for its values: polls and fences have no cell, CPU accesses no remote node."""

    thread: int
    kind: Kind
    cell: Cell | None = None
    remote: str | None = None

    def __str__(self) -> str:
        return f"{self.kind}({self.remote if self.cell is None else self.cell})"


@dataclass(frozen=True, slots=True)
class Move:
    """An event that a thread can make: the value that it writes (None also where it writes none), where the thread is
    afterwards, and the line of the statement."""

    event: Event
    written: Value
    after: Local
    line: int


@dataclass(slots=True)
class Ahead:
    """What a thread can do next: a step that it stands before, or is in the middle of, and its registers there."""

    number: int
    local: Local
    reads: Cell | None
    """The cell whose value decides what happens, None if there is none."""
    found: dict[Value, tuple[Move, ...]] = field(default_factory=dict)


class ThreadReading:
    """A thread as what it can do next; `number` is its place in the program."""

    def __init__(self, thread: Thread, number: int) -> None:
        self.number = number
        self.name = thread.name
        self.names = tuple(name for name, _ in thread.registers)
        self.steps = steps(thread)
        self.start = Local(thread.entry, tuple(value for _, value in thread.registers))
        self._from: dict[int, list[int]] = {}
        for i, (source, _, _) in enumerate(self.steps):
            self._from.setdefault(source, []).append(i)
        self._ahead: dict[Local, tuple[Ahead, ...]] = {}

    def accesses(self) -> Iterator[tuple[Cell, bool]]:
        """Yield every cell that some step accesses, and whether an event of it writes there."""
        for _, _, step in self.steps:
            match step.op:
                case Read(cell):
                    yield cell, False
                case Write(cell, _):
                    yield cell, True
                case Cas(cell, _, _) | Rmw(cell, _, _):
                    yield from ((cell, False), (cell, True))
                case Put(target, source) | Get(target, source):
                    yield from ((source, False), (target, True))

    def ahead(self, local: Local) -> tuple[Ahead, ...]:
        """Return every step with an event that can come next, after any steps without one."""
        if local not in self._ahead:
            self._ahead[local] = tuple(self._find_ahead(local))
        return self._ahead[local]

    def moves(self, ahead: Ahead, value: Value) -> tuple[Move, ...]:
        """Return the events that a step makes where the cell that it reads holds `value`: none if it is not enabled."""
        if value not in ahead.found:
            ahead.found[value] = tuple(self._find_moves(ahead, value))
        return ahead.found[value]

    def _find_ahead(self, local: Local) -> Iterator[Ahead]:
        if local.operation is not None:
            yield Ahead(local.operation, local, None)
            return
        seen = {local}
        todo = [local]
        while todo:
            here = todo.pop()
            for number in self._from.get(here.point, ()):
                _, target, step = self.steps[number]
                if not isinstance(step.op, Silent | MFence):
                    yield Ahead(number, here, _cell_read(step))
                elif self._may(step, here, None):
                    after = Local(target, self._assigned(step, here, None))
                    if after not in seen:
                        seen.add(after)
                        todo.append(after)

    def _find_moves(self, ahead: Ahead, value: Value) -> Iterator[Move]:
        here, line = ahead.local, self.steps[ahead.number][2].span.line
        _, target, step = self.steps[ahead.number]
        if here.operation is not None:
            yield Move(self._second(step), here.carried, Local(target, self._assigned(step, here, None)), line)
            return
        if not self._may(step, here, value):
            return
        after = Local(target, self._assigned(step, here, value))
        match step.op:
            case Read(cell):
                yield Move(Event(self.number, Kind.LOCAL_READ, cell), None, after, line)
            case Write(cell, expr):
                yield Move(Event(self.number, Kind.LOCAL_WRITE, cell), evaluated(expr, self._values(here)), after, line)
            case Cas(cell, expected, new):
                values = self._values(here)
                same = evaluated(Binary("==", VALUE, expected), values | {VALUE.name: value})
                if same != 0:
                    yield Move(Event(self.number, Kind.SWAP, cell), evaluated(new, values), after, line)
                if same != 1:
                    yield Move(Event(self.number, Kind.LOCAL_READ, cell), None, after, line)
            case Rmw(cell, new, when):
                values = self._values(here) | {VALUE.name: value}
                written = evaluated(when, values)
                if written != 0:
                    yield Move(Event(self.number, Kind.SWAP, cell), evaluated(new, values), after, line)
                if written is None or written == 0:
                    yield Move(Event(self.number, Kind.LOCAL_READ, cell), None, after, line)
            case Put(target_cell, source):
                middle = Local(here.point, here.registers, ahead.number, value)
                yield Move(Event(self.number, Kind.PUT_READS, source, target_cell.node), None, middle, line)
            case Get(_, source):
                middle = Local(here.point, here.registers, ahead.number, value)
                yield Move(Event(self.number, Kind.GET_READS, source, source.node), None, middle, line)
            case Poll(node):
                yield Move(Event(self.number, Kind.POLL, None, node), None, after, line)
            case RFence(node):
                yield Move(Event(self.number, Kind.FENCE, None, node), None, after, line)
            case _:
                raise AssertionError(f"nothing is certified of {type(step.op).__name__}")

    def _second(self, step: Step) -> Event:
        """The event that ends a put or get."""
        match step.op:
            case Put(target, _):
                return Event(self.number, Kind.PUT_WRITES, target, target.node)
            case Get(target, source):
                return Event(self.number, Kind.GET_WRITES, target, source.node)
            case _:
                raise AssertionError("only a put or a get has two events")

    def _values(self, here: Local) -> dict[str, Value]:
        return dict(zip(self.names, here.registers, strict=True))

    def _may(self, step: Step, here: Local, value: Value) -> bool:
        return evaluated(step.guard, self._values(here) | {VALUE.name: value}) != 0

    def _assigned(self, step: Step, here: Local, value: Value) -> tuple[Value, ...]:
        if not step.assigns:
            return here.registers
        values = self._values(here)
        known = values | {VALUE.name: value}
        return tuple((values | {name: evaluated(expr, known) for name, expr in step.assigns}).values())


def is_operation(step: Step) -> bool:
    """Return whether the step has two events."""
    return isinstance(step.op, Put | Get)


def _cell_read(step: Step) -> Cell | None:
    match step.op:
        case Read(cell) | Cas(cell, _, _) | Rmw(cell, _, _):
            return cell
        case Put(_, source) | Get(_, source):
            return source
        case _:
            return None


def evaluated(expr: Expr, values: Mapping[str, Value]) -> Value:
    """Return the value of a source expression, None where it is unknown (or, after something unknown, has none).

    Division truncates towards zero, as in C.
    """
    match expr:
        case Const(value):
            return value
        case Name(name):
            return values[name]
        case Unary(operator, arg):
            inner = evaluated(arg, values)
            return None if inner is None else -inner if operator == "-" else int(inner == 0)
        case Binary("&&", left, right):
            return _both(evaluated(left, values), right, values)
        case Binary("||", left, right):
            either = _both(_not(evaluated(left, values)), Unary("!", right), values)
            return _not(either)
        case Binary(operator, left, right):
            return _operation(operator, evaluated(left, values), evaluated(right, values))
        case Ite():
            raise AssertionError("a source program has no conditional expressions")


def _not(value: Value) -> Value:
    return None if value is None else int(value == 0)


def _both(left: Value, right: Expr, values: Mapping[str, Value]) -> Value:
    """Whether both sides are true; the right one is not looked at where the left one is false."""
    if left == 0:
        return 0
    second = evaluated(right, values)
    if second == 0:
        return 0
    return None if left is None or second is None else 1


def _operation(operator: str, a: Value, b: Value) -> Value:
    if a is None or b is None:
        return None
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" | "%":
            return _divided(operator, a, b)
        case "==":
            return int(a == b)
        case "!=":
            return int(a != b)
        case "<":
            return int(a < b)
        case "<=":
            return int(a <= b)
        case ">":
            return int(a > b)
        case ">=":
            return int(a >= b)
        case _:
            raise AssertionError(f"a source program has no operator {operator}")


def _divided(operator: str, a: int, b: int) -> Value:
    if b == 0:
        return None
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if operator == "/" else a - b * quotient
