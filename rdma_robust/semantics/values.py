"""The values that each cell can ever hold, and whether a program has loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Final

from rdma_robust.digraph import Following, by_key, components
from rdma_robust.errors import SizeLimitError
from rdma_robust.expr import VALUE, Expr, constants, names, value_of
from rdma_robust.kept import Kept
from rdma_robust.language.flow.cfg import Cell, Program, RecvPoll, Section, Step, Thread, named_lane, steps
from rdma_robust.semantics.connections import buffers_for
from rdma_robust.semantics.event_table import Act, cases_of, expected_value, expressions_of, operands_read
from rdma_robust.semantics.terms import Evaluator, read_at, term_of

MAX_VALUATIONS = 512
"""A step is evaluated for at most so many valuations of its names; beyond, its results are taken to be anything."""

MAX_DOMAIN = 1 << 20

Values = frozenset[int]

Connection = tuple[str, str, str]
"""The names of a sending and a receiving thread, and the lane of the first."""


def is_loop_free(program: Program) -> bool:
    """Return whether no thread's graph has a cycle, so that every path is finite."""
    return all(_is_acyclic(thread.following) for thread in program.threads)


def _is_acyclic(following: Following) -> bool:
    return all(len(each) == 1 and each[0] not in following.get(each[0], ()) for each in components(following))


@dataclass(frozen=True)
class ValueFlow:
    """Supersets of what can be in any execution, SC or RDMA: the values of every cell, those of the registers of each
    thread, by its number, at each program point that it may come to, the steps that may be taken (thread, points before and
    after, step), and the immediates of messages between two threads, where some message has one."""

    cells: Mapping[Cell, Values]
    points: Mapping[tuple[int, int], Mapping[str, Values]]
    taken: frozenset[tuple[int, int, int, Step]]
    immediates: Mapping[Connection, Values]


_FLOWS: Final = Kept[None, ValueFlow]()


def value_flow(program: Program, exceeded: Callable[[], str] = lambda: "") -> ValueFlow:
    """Return the values that there can be, analysed once for each program.

    Thread-modular: a read may return any value the cell can hold; registers are followed along each thread's graph, as
    one set of values per register and program point (their correlation is lost). Steps with too many valuations yield
    the whole domain and what may be outside it, or without a domain every constant of the program.
    Raises SizeLimitError if that domain has more than `MAX_DOMAIN` values, or once `exceeded` names a limit.
    """
    return _FLOWS.of(program, None, lambda: _analysed(program, exceeded))


def _analysed(program: Program, exceeded: Callable[[], str]) -> ValueFlow:
    analysis = _Analysis(program, {cell: frozenset({cell.init}) for cell in program.cells}, exceeded)
    changed = True
    while changed:
        before = dict(analysis.cells), dict(analysis.immediates)
        for number, thread in enumerate(program.threads):
            analysis.run(number, thread)
        changed = before != (analysis.cells, analysis.immediates)
    return ValueFlow(analysis.cells, analysis.points, frozenset(analysis.taken), analysis.immediates)


def possible_values(program: Program, exceeded: Callable[[], str] = lambda: "") -> dict[Cell, Values]:
    """Return for every cell a superset of the values it can hold. Raises SizeLimitError as :func:`value_flow` does."""
    return dict(value_flow(program, exceeded).cells)


def held_and_carried(program: Program) -> tuple[dict[Cell, Values], dict[Connection, Values]]:
    """Return what :func:`possible_values` does, and a superset of what an RP of the second thread can read of a message from
    the first, by their names, where some message has an immediate: that of one without is 0. Raises SizeLimitError as that
    does."""
    flow = value_flow(program)
    return dict(flow.cells), {connection: values | {0} for connection, values in flow.immediates.items()}


def named_values(program: Program) -> dict[str, Values]:
    """Return for every word `Node.cell` and register `Thread.register` a superset of the values it can ever hold.

    Raises SizeLimitError as :func:`value_flow` does.
    """
    flow = value_flow(program)
    found = {str(cell): values for cell, values in flow.cells.items()}
    for t, thread in enumerate(program.threads):
        for name, value in thread.registers:
            at = (values[name] for (owner, _), values in flow.points.items() if owner == t)
            found[f"{thread.name}.{name}"] = frozenset({value}).union(*at)
    return found


@dataclass(frozen=True, slots=True)
class _Store:
    """A word that a step may write, or the connection to which it gives an immediate: the places, among the results, of its
    value (None: what the step has read) and of the value that must have been read for it (None: any)."""

    target: Cell | Connection
    value: int | None
    expected: int | None


@dataclass(frozen=True, slots=True)
class _StepTerms:
    """A step's guard and the expressions whose values matter, over the values of the names in `used`."""

    used: tuple[str, ...]
    guard: Evaluator
    wanted: tuple[Evaluator, ...]
    reads: tuple[Cell, ...]
    stores: tuple[_Store, ...]
    receives: Connection | None


def _targets(program: Program, thread: Thread, act: Act, lane: str) -> Sequence[tuple[Cell | Connection, Expr]]:
    """What an event may write: for a message every buffer that its receiver may post for this thread."""
    if act.message is None:
        return act.writes
    receiver = next(each for each in program.threads if each.name == act.peer)
    if act.message.data is None:
        return [((thread.name, receiver.name, lane), act.message.imm)]
    return [(buffer, act.message.data) for buffer in buffers_for(receiver, thread.name, lane)]


def _compile(program: Program, thread: Thread, step: Step) -> _StepTerms:
    exprs = [expr for _, expr in step.assigns]
    stores = []

    def place(expr: Expr) -> int:
        exprs.append(expr)
        return len(exprs) - 1

    cases = cases_of(step.op)
    for case in cases:
        for target, value in (write for act in case.acts for write in _targets(program, thread, act, named_lane(step.op))):
            expected = expected_value(case.when)
            at = None if expected is None else place(expected)
            stores.append(_Store(target, None if value == VALUE else place(value), at))
    used = tuple(sorted({name for expr in (step.guard, *exprs) for name in names(expr)}))
    env = {name: read_at(i) for i, name in enumerate(used)}
    guard = term_of(step.guard, env)
    wanted = () if guard.const == 0 else tuple(term_of(expr, env).of for expr in exprs)
    reads = tuple({cell: None for case in cases for act in case.acts if not act.operand for cell in act.reads})
    receives = (step.op.sender, thread.name, step.op.lane) if isinstance(step.op, RecvPoll) else None
    return _StepTerms(used, guard.of, wanted, reads, tuple(stores), receives)


@dataclass
class _Analysis:
    program: Program
    cells: dict[Cell, Values]
    exceeded: Callable[[], str]
    points: dict[tuple[int, int], dict[str, Values]] = field(default_factory=dict)
    compiled: dict[tuple[int, Step], _StepTerms] = field(default_factory=dict)
    immediates: dict[Connection, Values] = field(default_factory=dict)
    taken: set[tuple[int, int, int, Step]] = field(default_factory=set)
    anything_cache: Values | None = None

    def run(self, number: int, thread: Thread) -> None:
        out = by_key((source, (target, step)) for source, target, step in steps(thread))
        self.points.setdefault((number, thread.entry), {name: frozenset({value}) for name, value in thread.registers})
        todo = sorted(point for owner, point in self.points if owner == number)
        while todo:
            point = todo.pop(0)
            if limit := self.exceeded():
                raise SizeLimitError(f"the values that variables can have were not found within the limit of {limit}")
            for target, step in out.get(point, []):
                after = self.apply(number, step, self.points[number, point])
                if after is None:
                    continue
                self.taken.add((number, point, target, step))
                if self.join(number, target, after) and target not in todo:
                    todo.append(target)

    def join(self, number: int, point: int, values: Mapping[str, Values]) -> bool:
        old = self.points.get((number, point))
        new = dict(values) if old is None else {name: old[name] | values[name] for name in old}
        self.points[number, point] = new
        return new != old

    def apply(self, number: int, step: Step, registers: Mapping[str, Values]) -> dict[str, Values] | None:
        """Return the registers after the step, or None if it is never enabled; enlarges the cell it writes."""
        compiled = self.compiled.get((number, step))
        if compiled is None:
            compiled = _compile(self.program, self.program.threads[number], step)
            self.compiled[number, step] = compiled
        choices = dict(registers)
        read: Values = frozenset()
        if compiled.reads:
            first, *more = (self.cells[cell] for cell in compiled.reads)
            choices[VALUE.name] = read = first.union(*more) if more else first
            choices |= {name: self.cells[cell] for name, cell in operands_read(step.op).items()}
            if isinstance(step.op, Section):
                choices |= {value_of(k).name: self.cells[cell] for k, cell in enumerate(step.op.cells)}
        elif compiled.receives is not None:
            choices[VALUE.name] = read = self.immediates.get(compiled.receives, frozenset()) | {0}
        results = self.results(compiled, choices)
        if results is None:
            return None
        for store in compiled.stores:
            if store.expected is None or results[store.expected] & read:
                self.hold(store.target, read if store.value is None else results[store.value])
        return {**registers, **{name: result for (name, _), result in zip(step.assigns, results, strict=False)}}

    def hold(self, target: Cell | Connection, values: Values) -> None:
        if isinstance(target, Cell):
            self.cells[target] |= values
        else:
            self.immediates[target] = self.immediates.get(target, frozenset()) | values

    def results(self, compiled: _StepTerms, choices: Mapping[str, Values]) -> list[Values] | None:
        """Return the values of each expression over the valuations that satisfy the guard, None if there are none."""
        if prod(len(choices[name]) for name in compiled.used) > MAX_VALUATIONS:
            return [self.anything()] * len(compiled.wanted)
        found: list[set[int]] = [set() for _ in compiled.wanted]
        enabled = False
        for valuation in product(*(choices[name] for name in compiled.used)):
            if compiled.guard(valuation, 0):
                enabled = True
                for values, of in zip(found, compiled.wanted, strict=True):
                    values.add(of(valuation, 0))
        return [frozenset(values) for values in found] if enabled else None

    def anything(self) -> Values:
        if self.anything_cache is None:
            self.anything_cache = _universe(self.program)
        return self.anything_cache


def _universe(program: Program) -> Values:
    if program.domain is None:
        return frozenset(_constants(program)) | {0, 1}
    lo, hi = program.domain
    if hi - lo >= MAX_DOMAIN:
        raise SizeLimitError(f"the domain {lo}..{hi} has more than {MAX_DOMAIN} values")
    # Truth values and initial values may be outside the domain, and are copied from there.
    return frozenset(range(lo, hi + 1)) | {0, 1} | frozenset(_initial(program))


def _initial(program: Program) -> Iterator[int]:
    yield from (cell.init for cell in program.cells)
    for thread in program.threads:
        yield from (value for _, value in thread.registers)


def _constants(program: Program) -> Iterator[int]:
    yield from _initial(program)
    for thread in program.threads:
        for _, _, step in steps(thread):
            exprs = [step.guard, *(expr for _, expr in step.assigns)]
            for expr in (*exprs, *expressions_of(step.op)):
                yield from _constants_of(expr)


def _constants_of(expr: Expr) -> Iterator[int]:
    for value in constants(expr):
        yield value
        yield -value
