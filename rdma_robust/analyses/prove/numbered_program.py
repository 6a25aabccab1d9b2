"""A program under a model as a counter program: every variable with its number, every move of the machine a command.

Threads are processes, so is each store buffer, and so is one that watches: it can make a step in every state that violates a
claim, and its footprint has all that its claims look at. So the reductions of the search, which are about processes that
run side by side, hold for claims as for everything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from rdma_robust.analyses.prove.compiled_steps import live_registers, verb_of, written_of
from rdma_robust.analyses.prove.reduced_system import DRAWN
from rdma_robust.analyses.prove.store_bounds import BufferVariables, queues_of
from rdma_robust.analyses.prove.transition_system import Cause, Draw, Drop, SafetyClaim, Transition, points_of
from rdma_robust.analyses.prove.value_sets import value_sets
from rdma_robust.counters.program import (
    Assign,
    Body,
    Choose,
    Command,
    CounterProgram,
    Footprint,
    ProcessGraph,
    Require,
    Statement,
    Target,
    leaf,
    pc,
)
from rdma_robust.expr import TRUE, VALUE, Binary, Const, Expr, Ite, Name, conj, disj, equals, names, negate, substitute
from rdma_robust.language.flow.cfg import Cas, Cell, MFence, Nondet, Program, Read, Rmw, Silent, Step, Thread, Write, steps
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.semantics.machines.machine import Verb

MOST_DRAWN: Final = 64
"""Values of one `nondet` that are tried at most."""

UNBOUNDED: Final = (-1 << 40, 1 << 40)
"""Ends of what has none: a search that comes there is not one of finitely many states that anybody waits for."""

WATCHER: Final = "$watcher"


FULL: Final = "full"
"""Where the steps lead whose store finds no room in a buffer; nothing follows."""


@dataclass(frozen=True)
class NumberedProgram:
    """The counter program, and of each of its targets the number of the claim that is violated there, None for a fault."""

    counters: CounterProgram[Transition]
    claims: tuple[int | None, ...]


def numbered_program(
    program: Program, model: AnyModelName, claims: Sequence[SafetyClaim], room: int
) -> NumberedProgram | None:
    """Return `program` under `model` for the compiled search, buffers with room for so many stores.

    None if it has what this translation does not know: remote operations, sections, a `nondet` with too many values.
    """
    known = Silent | Read | Write | Cas | Rmw | MFence | Nondet
    if not all(isinstance(step.op, known) for thread in program.threads for _, _, step in thread.edges):
        return None
    try:
        return _Translation(program, model, claims, room).translated()
    except _TooManyDrawn:
        return None


class _TooManyDrawn(Exception):
    """A `nondet` without ends, or with more than :data:`MOST_DRAWN` values."""


@dataclass
class _Translation:
    program: Program
    model: AnyModelName
    claims: Sequence[SafetyClaim]
    room: int
    targets: list[tuple[Target[Transition | None], int | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        bits = (1 << number for number in count())
        self.bits: Mapping[Cell, int] = {cell: next(bits) for cell in self.program.cells}
        self.seen_bits = [next(bits) for _ in self.program.threads]
        buffered = self.model in ("tso", "pso")
        threads = self.program.threads
        self.queues = (
            queues_of(self.program, self.room, bits, per_word=self.model == "pso") if buffered else [()] * len(threads)
        )
        self.faults = {claim.fault: claim for claim in self.claims if claim.fault is not None}
        self.asked = [claim for claim in self.claims if claim.fault is None and not claim.allowed]
        self.sets = value_sets(self.program, MOST_DRAWN) if self._draws() else None

    def _draws(self) -> bool:
        return any(isinstance(step.op, Nondet) for thread in self.program.threads for _, _, step in thread.edges)

    def translated(self) -> NumberedProgram:
        threads = [self._thread(t, thread) for t, thread in enumerate(self.program.threads)]
        buffers = [self._buffer(queue) for queues in self.queues for queue in queues]
        watchers = [self._watcher(len(threads) + len(buffers))] if self.asked else []
        queues = [queue for each in self.queues for queue in each]
        ends = self.program.domain or UNBOUNDED
        values = [(str(cell), cell.init) for cell in self.program.cells]
        values += [(f"{thread.name}.{name}", value) for thread in self.program.threads for name, value in thread.registers]
        stored = [variable for queue in queues for variable in queue.variables()]
        ranges = [(name, *ends) for name, _ in values]
        ranges += [(f"{q.name}:value{i}", *ends) for q in queues for i in range(q.room)]
        sizes = tuple((f"{q.name}:word{i}", len(q.cells).bit_length()) for q in queues for i in range(q.room))
        counters = CounterProgram(
            self.program.name,
            (*values, *stored),
            (),
            (*threads, *buffers, *watchers),
            tuple(target for target, _ in self.targets),
            ranges=tuple(ranges),
            sizes=sizes,
        )
        return NumberedProgram(counters, tuple(claim for _, claim in self.targets))

    def _target(self, process: int, location: int, claim: int | None) -> None:
        self.targets.append((Target(None, TRUE, process, location), claim))

    # Threads.

    def _thread(self, t: int, thread: Thread) -> ProcessGraph[Transition]:
        places = {point: number for number, point in enumerate(dict.fromkeys((*thread.points, thread.exit, thread.entry)))}
        live = live_registers(thread, self.claims)
        marked = self._marked(thread)
        watched = self._watched_registers(thread)
        full = failed = -1
        commands: list[Command[Transition]] = []
        after = len(places)
        for source, to, step in steps(thread):
            target = places[to]
            if step.fault in self.faults:
                if failed < 0:
                    failed, after = after, after + 1
                    self._target(t, failed, None)
                target = failed
            moved = source != to and (source in marked or to in marked)
            seen = moved or bool(watched & {name for name, _ in step.assigns})
            made = _StepTranslation(self, t, step, live[source], live[to], seen=seen)
            commands.append(Command(places[source], target, made.body(), made.footprint()))
            if (overflow := made.overflow()) is not None:
                if full < 0:
                    full, after = after, after + 1
                commands.append(Command(places[source], full, overflow, made.footprint()))
        return ProcessGraph(thread.name, places[thread.entry], tuple(commands))

    def _marked(self, thread: Thread) -> set[int]:
        """Return the program points that claims ask for."""
        atoms = [atom for claim in self.asked for _, atom in claim.atoms if atom.thread == thread.name]
        found = {point for atom in atoms for point in points_of(thread, atom)}
        return found | ({thread.exit} if any(claim.final for claim in self.asked) else set())

    def _watched_registers(self, thread: Thread) -> set[str]:
        own = {f"{thread.name}.{name}": name for name, _ in thread.registers}
        return {own[name] for claim in self.asked for name in names(claim.bad) if name in own}

    # Buffers and claims.

    def _buffer(self, queue: BufferVariables) -> ProcessGraph[Transition]:
        commands = []
        for cell in queue.cells:
            label = Transition((Cause(queue.thread, Verb.FLUSH, None, cell),), (), None)
            touches = Footprint(queue.bit, queue.bit | self.bits[cell])
            commands.append(Command(0, 0, leaf(label, *queue.landing(cell)), touches))
        return ProcessGraph(queue.name, 0, tuple(commands))

    def _watcher(self, process: int) -> ProcessGraph[Transition]:
        commands = []
        for number, claim in enumerate(self.asked, 1):
            condition, reads = self._looked_at(claim)
            label = Transition((), (), None)
            commands.append(Command(0, number, leaf(label, Require(condition)), Footprint(reads)))
            self._target(process, number, claim.number)
        return ProcessGraph(WATCHER, 0, tuple(commands))

    def _looked_at(self, claim: SafetyClaim) -> tuple[Expr, int]:
        """Return the condition under which a claim is violated, over variables and locations, and what it looks at."""
        numbers = {thread.name: t for t, thread in enumerate(self.program.threads)}
        by: dict[str, Expr] = {}
        reads = 0
        for name, atom in claim.atoms:
            t = numbers[atom.thread]
            by[name] = disj(*(self._at(t, point) for point in points_of(self.program.threads[t], atom)))
            reads |= self.seen_bits[t]
        cells = {str(cell): bit for cell, bit in self.bits.items()}
        owners = {
            f"{th.name}.{r}": bit
            for th, bit in zip(self.program.threads, self.seen_bits, strict=True)
            for r, _ in th.registers
        }
        for name in names(claim.bad):
            reads |= cells.get(name, 0) | owners.get(name, 0)
        constants = {
            name: Const(value) for name, value in self.program.constants if name not in cells and name not in owners
        }
        condition = substitute(claim.bad, {**constants, **by})
        if not claim.final:
            return condition, reads
        ended = [self._at(t, thread.exit) for t, thread in enumerate(self.program.threads)]
        drained = [queue.empty for queues in self.queues for queue in queues]
        for bit in (*self.seen_bits, *(queue.bit for queues in self.queues for queue in queues)):
            reads |= bit
        return conj(*ended, *drained, condition), reads

    def _at(self, t: int, point: int) -> Expr:
        thread = self.program.threads[t]
        places = dict.fromkeys((*thread.points, thread.exit, thread.entry))
        return equals(Name(pc(t)), Const(list(places).index(point)))


class _StepTranslation:
    """One step of a thread as a command."""

    def __init__(
        self, whole: _Translation, t: int, step: Step, before: frozenset[str], after: frozenset[str], *, seen: bool
    ) -> None:
        self.whole, self.t, self.step, self.seen = whole, t, step, seen
        self.thread = whole.program.threads[t]
        self.gone = (before | {name for name, _ in step.assigns}) - after
        self.registers: dict[str, Expr] = {name: Name(f"{self.thread.name}.{name}") for name, _ in self.thread.registers}
        self.queues = whole.queues[t]
        self.queue = next((q for q in self.queues if self.cell in q.cells), None)

    @property
    def cell(self) -> Cell | None:
        return self.step.op.cell if isinstance(self.step.op, Read | Write | Cas | Rmw) else None

    @property
    def waits(self) -> bool:
        return isinstance(self.step.op, MFence | Cas | Rmw)

    def _read(self) -> Expr:
        assert self.cell is not None
        memory: Expr = Name(str(self.cell))
        if isinstance(self.step.op, Read) and self.queue is not None:
            return self.queue.loaded(self.cell, memory)
        return memory

    def over(self, expr: Expr) -> Expr:
        """Return an expression over the variables of the counter program."""
        by = dict(self.registers)
        if self.cell is not None and not isinstance(self.step.op, Write):
            by[VALUE.name] = self._read()
        return substitute(expr, by)

    def _condition(self) -> Expr:
        empty = [queue.empty for queue in self.queues] if self.waits else []
        return conj(*empty, self.over(self.step.guard))

    def body(self) -> Body[Transition]:
        if isinstance(self.step.op, Nondet):
            return self._drawn(self.step.op)
        statements: list[Statement] = [Require(self._condition())]
        written, full = self._written()
        if full is not None:
            statements.append(Require(negate(full)))
        statements.append(Assign((*self._assigned(), *written)))
        return leaf(self._label(), *statements)

    def overflow(self) -> Body[Transition] | None:
        """Return the step where no buffer has room for its store, None if it needs none."""
        _, full = self._written()
        return None if full is None else leaf(self._label(to=FULL), Require(self._condition()), Require(full))

    def _label(self, updates: tuple[Draw | Drop, ...] = (), to: str | None = None) -> Transition:
        fault = self.step.fault if self.step.fault in self.whole.faults else None
        return Transition((Cause(self.t, verb_of(self.step), self.step),), updates, to, fault)

    def _assigned(self) -> tuple[tuple[str, Expr], ...]:
        starts = dict(self.thread.registers)
        given = {name: self.over(expr) for name, expr in self.step.assigns if name not in self.gone}
        given |= {name: Const(starts[name]) for name in self.gone}
        return tuple((f"{self.thread.name}.{name}", value) for name, value in given.items())

    def _written(self) -> tuple[tuple[tuple[str, Expr], ...], Expr | None]:
        """Return what the step writes, and for a store the condition that there is no room for it."""
        new, when = written_of(self.step)
        if new is None or self.cell is None:
            return (), None
        if isinstance(self.step.op, Write) and self.queue is not None:
            full, changed = self.queue.stored(self.cell, self.over(new))
            return changed, full
        value = self.over(new)
        if when is not None:
            value = Ite(self.over(when), value, Name(str(self.cell)))
        return ((str(self.cell), value),), None

    def _drawn(self, op: Nondet) -> Body[Transition]:
        low, high = (self._ends(end) for end in (op.low, op.high))
        values = range(low[0], high[1] + 1)
        if len(values) > MOST_DRAWN:
            raise _TooManyDrawn
        by = {**self.registers, VALUE.name: Name(DRAWN)}
        first, last = substitute(op.low or TRUE, self.registers), substitute(op.high or TRUE, self.registers)
        options = [(v, conj(self._at_most(first, Const(v)), self._at_most(Const(v), last))) for v in values]
        labels = [self._label((Draw(DRAWN, Const(v), Const(v)), Drop(DRAWN))) for v in values]
        if not options:  # an interval without numbers: never taken
            options, labels = [(0, Const(0))], [self._label()]
        given = {name: substitute(expr, by) for name, expr in self.step.assigns if name not in self.gone}
        starts = dict(self.thread.registers)
        given |= {name: Const(starts[name]) for name in self.gone}
        assigned = tuple((f"{self.thread.name}.{name}", value) for name, value in given.items())
        statements = (Choose(DRAWN, tuple(options)), Require(substitute(self.step.guard, by)), Assign(assigned))
        return Body(statements, (), tuple(labels))

    def _at_most(self, low: Expr, high: Expr) -> Expr:
        return substitute(Binary("<=", low, high), {})

    def _ends(self, end: Expr | None) -> tuple[int, int]:
        """Return the least and the greatest value that an end can have."""
        if isinstance(end, Const):
            return end.value, end.value
        sets = self.whole.sets
        if end is None or sets is None:
            raise _TooManyDrawn
        if isinstance(end, Name) and (found := sets.of.get(f"{self.thread.name}.{end.name}")):
            return min(found), max(found)
        raise _TooManyDrawn

    def footprint(self) -> Footprint:
        whole, op = self.whole, self.step.op
        own = whole.seen_bits[self.t] if self.seen else 0
        queued = 0
        for queue in self.queues:
            queued |= queue.bit if self.waits or queue is self.queue else 0
        match op:
            case Write(cell) if self.queue is not None:
                return Footprint(queued, queued | own)
            case Write(cell):
                return Footprint(0, whole.bits[cell] | own)
            case Read(cell):
                return Footprint(queued | whole.bits[cell], own)
            case Cas(cell) | Rmw(cell):
                return Footprint(queued | whole.bits[cell], whole.bits[cell] | own)
            case _:
                return Footprint(queued, own)
