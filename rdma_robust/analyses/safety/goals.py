"""Goals: states, faults and hangs that are looked for in a program, in the forms that the searches need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from rdma_robust.counters.program import Target as ProgramTarget
from rdma_robust.counters.program import pc
from rdma_robust.errors import Span
from rdma_robust.expr import Binary, Const, Expr, Name, conj, disj, equals, names, negate, substitute
from rdma_robust.language.check.targets import Atom, DrainedAtom, StateTarget, ThreadAtExit, ThreadAtLine, ThreadAtPoints
from rdma_robust.language.flow.cfg import Fault, ImmPut, Program, Recv, RemoteRmw, Send, Step, Thread, steps
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.robustness.event_graph import GraphDetail
from rdma_robust.robustness.frame import InstrumentationFrame
from rdma_robust.robustness.plain import PlainTarget, fault_targets
from rdma_robust.robustness.reasons import sorted_faults
from rdma_robust.semantics.machines.chosen import SomeMachine
from rdma_robust.semantics.machines.machine import Move, State, valuation
from rdma_robust.semantics.machines.resting import LargeLoopError, Resting, RestTest
from rdma_robust.semantics.machines.sc import ScState
from rdma_robust.semantics.machines.threadcode import Observables
from rdma_robust.semantics.terms import read_at, term_of
from rdma_robust.semantics.trace import EventType
from rdma_robust.semantics.waits import messages_wait, no_buffer, no_room


@dataclass(frozen=True)
class StateGoal:
    """A state in which the target holds; with `final` one in which all threads have ended and nothing is under way."""

    target: StateTarget
    final: bool = False


@dataclass(frozen=True, slots=True)
class FaultGoal:
    """A run on which this goes wrong."""

    fault: Fault


@dataclass(frozen=True, slots=True)
class HangGoal:
    """A state in which nothing is under way and nothing changes any more, and in which some thread waits forever; see
    :mod:`resting`."""


@dataclass(frozen=True, slots=True)
class SafeGoal:
    """Anything that the program forbids under a model. Only proofs look for it, see :mod:`handing_over`."""


Goal = StateGoal | FaultGoal | HangGoal
Met = Callable[[Move], bool]


def faults(program: Program) -> tuple[Fault, ...]:
    """Return everything that may go wrong in `program`, in the order of the source."""
    found = {f for thread in program.threads for _, _, step in steps(thread) for f in faults_of(thread, step)}
    return sorted_faults(f for f in found if f.kind != "rnr" or not messages_wait(program))


def faults_of(thread: Thread, step: Step) -> tuple[Fault, ...]:
    """Return what may go wrong with a step: its own fault, and what is met when its remote operation, message or receive is
    under way."""
    found = () if step.fault is None else (step.fault,)
    match step.op:
        case RemoteRmw(wraps=(_, fault)):
            return (*found, fault)
        case Send() | ImmPut():
            return (*found, no_buffer(step, thread.name))
        case Recv():
            return (*found, no_room(step, thread.name))
    return found


def faults_by_copy(program: Program) -> list[tuple[Fault, str]]:
    """Return everything that may go wrong, each with what tells it from other copies of its statement: from where that is
    expanded, in which threads it is, or what it says; '' where there is one."""
    statements: dict[tuple[str, str, int, int], list[Fault]] = {}
    for fault in (found := faults(program)):
        place = (fault.kind, fault.text or fault.message, fault.span.line, fault.span.column)
        statements.setdefault(place, []).append(fault)
    told: dict[Fault, str] = {}
    for alike in statements.values():
        told |= dict(zip(alike, _told_apart(program, alike) if len(alike) > 1 else [""], strict=True))
    return [(each, told[each]) for each in found]


def _told_apart(program: Program, alike: Sequence[Fault]) -> list[str]:
    threads: dict[Fault, dict[str, None]] = {}
    for thread in program.threads:
        for fault in (fault for _, _, step in steps(thread) for fault in faults_of(thread, step)):
            threads.setdefault(fault, {})[thread.name] = None
    ways = (
        [", ".join(f"from line {line}" for line in each.span.expanded_from) for each in alike],
        [f"in {', '.join(threads[each])}" for each in alike],
        ["`" + each.message.split("`")[1] + "`" if "`" in each.message else each.message for each in alike],
    )
    return next((way for way in ways if len(set(way)) == len(alike)), ways[-1])


def watched_by_goals(program: Program, goals: Iterable[Goal]) -> Observables:
    """Return what the goals look at before the end of a run."""
    threads: set[int] = set()
    used: set[str] = set()
    drained = False
    numbers = {thread.name: i for i, thread in enumerate(program.threads)}
    for goal in goals:
        if not isinstance(goal, StateGoal) or goal.final:
            continue
        atoms = dict(goal.target.atoms)
        for name in names(goal.target.condition):
            match atoms.get(name):
                case ThreadAtExit(thread) | ThreadAtLine(thread) | ThreadAtPoints(thread):
                    threads.add(numbers[thread])
                case None:
                    used.add(name)
                case _:
                    drained = True
    owners = {f"{t.name}.{r}": i for i, t in enumerate(program.threads) for r, _ in t.registers}
    threads |= {owners[name] for name in used if name in owners}
    cells = frozenset(c for c in program.cells if str(c) in used and not c.hidden)
    return Observables(frozenset(threads), cells, drained)


def event_detail(program: Program, goals: Iterable[StateGoal | FaultGoal]) -> tuple[GraphDetail, ...]:
    """Return how exactly each thread's events must be modelled for the goals."""
    goals = tuple(goals)
    exact = watched_by_goals(program, goals).threads
    end = any(isinstance(goal, StateGoal) and goal.final for goal in goals)
    return tuple(
        GraphDetail.ALL if t in exact else GraphDetail.END if end else GraphDetail.EVENTS
        for t in range(len(program.threads))
    )


def stands_at(span: Span, line: int) -> bool:
    """Whether something stands in a line of its file, or was expanded from what stands there."""
    return line in (span.line, *span.expanded_from)


def points_at(thread: Thread, line: int) -> tuple[int, ...]:
    """Return the program points from which a statement of `line` can be next."""
    return tuple(
        sorted({source for source, _, step in steps(thread) if stands_at(step.span, line) and source != thread.exit})
    )


def with_blocking_waits(program: Program, target: StateTarget) -> Program:
    """Return `program` with its loops that only wait as blocking reads, as far as `target` cannot tell the difference.

    Their failed reads change no state; but where such a loop is not one statement they may be all that makes a thread be at
    their line.
    """
    blocked = blocking(program)
    lines = [(atom.thread, atom.line) for _, atom in target.atoms if isinstance(atom, ThreadAtLine)]
    for before, after in zip(program.threads, blocked.threads, strict=True):
        if any(thread == before.name and points_at(before, line) != points_at(after, line) for thread, line in lines):
            return program
    return blocked


def met_by(goal: Goal, machine: SomeMachine) -> Met:
    """Return the test whether a move of the machine meets the goal, by the state after it or what goes wrong."""
    if isinstance(goal, FaultGoal):
        fault = goal.fault
        return lambda move: fault in move.faults
    if isinstance(goal, HangGoal):
        return HangMet(machine)
    target, program = goal.target, machine.program
    wanted = tuple(dict.fromkeys(names(target.condition)))
    term = term_of(target.condition, {name: read_at(i) for i, name in enumerate(wanted)})
    if goal.final:
        return lambda move: (
            machine.is_final(move.state)
            and bool(term.of([valuation(program, machine.final(move.state))[name] for name in wanted], 0))
        )
    atoms = dict(target.atoms)
    parts = [_reader(machine, name, atoms.get(name)) for name in wanted]
    return lambda move: bool(term.of([part(move.state) for part in parts], 0))


class HangMet:
    """The test for a :class:`HangGoal`. `large` once a loop of a thread was too large to be looked through, so that states
    that were not found to be hangs may be some."""

    def __init__(self, machine: SomeMachine) -> None:
        self.machine = machine
        self.large = False
        self._test = RestTest(machine.program)

    def __call__(self, move: Move) -> bool:
        return bool(self.hanging(move.state))

    def hanging(self, state: State) -> tuple[Resting, ...]:
        """Return the threads that hang in a state of the machine."""
        if not self.machine.is_still(state):
            return ()
        try:
            found = self._test.at_rest(self.machine.places(state), state.memory)
        except LargeLoopError:
            self.large = True
            return ()
        return () if found is None else found.hanging


def _reader(machine: SomeMachine, name: str, atom: Atom | None) -> Callable[[object], int]:
    """Return what the name stands for in a state of the machine."""
    program = machine.program
    numbers = {thread.name: i for i, thread in enumerate(program.threads)}

    def place(state: object, thread: int) -> int:
        at: int = state.threads[thread].point  # type: ignore[attr-defined]
        return at

    match atom:
        case ThreadAtExit(thread):
            t, end = numbers[thread], program.threads[numbers[thread]].exit
            return lambda state: int(place(state, t) == end)
        case ThreadAtLine(thread, line):
            t = numbers[thread]
            points = frozenset(points_at(program.threads[t], line))
            code = machine.codes[t]

            def at_line(state: object) -> int:
                half_done = state.threads[t].carried if isinstance(state, ScState) else ()
                if half_done:
                    return int(stands_at(code.commands[half_done[0].command].step.span, line))
                return int(place(state, t) in points)

            return at_line
        case ThreadAtPoints(thread, points):
            t, before = numbers[thread], frozenset(points)
            return lambda state: int(place(state, t) in before)
        case None:
            pass
        case _:
            return lambda state: int(machine.is_drained(state))  # type: ignore[arg-type]
    for i, cell in enumerate(program.cells):
        if str(cell) == name and not cell.hidden:
            return lambda state: state.memory[i]  # type: ignore[attr-defined]
    for t, thread_ in enumerate(program.threads):
        for r, (register, _) in enumerate(thread_.registers):
            if f"{thread_.name}.{register}" == name:
                return lambda state: state.threads[t].registers[r]  # type: ignore[attr-defined]
    raise AssertionError(f"a target names {name}")


def program_targets(frame: InstrumentationFrame, goal: StateGoal | FaultGoal) -> tuple[PlainTarget, ...]:
    """Return the goal as targets of the frame's sequential counter program, see :func:`event_detail`."""
    if isinstance(goal, FaultGoal):
        return tuple(t for t in fault_targets(frame) if t.label is not None and t.label.edge.fault == goal.fault)
    program = frame.program
    memory = {str(c): frame.memory(c) for c in program.cells}
    if goal.final:
        ends = [equals(Name(pc(t)), Const(thread.exit)) for t, thread in enumerate(program.threads)]
        return (ProgramTarget(None, conj(*ends, substitute(goal.target.condition, memory))),)
    atoms = {name: _atom(frame, atom) for name, atom in goal.target.atoms}
    return (ProgramTarget(None, substitute(goal.target.condition, {**memory, **atoms})),)


def _atom(frame: InstrumentationFrame, atom: Atom) -> Expr:
    threads = {thread.name: t for t, thread in enumerate(frame.program.threads)}
    match atom:
        case ThreadAtExit(thread):
            t = threads[thread]
            return equals(Name(pc(t)), Const(frame.program.threads[t].exit))
        case ThreadAtLine(thread, line):
            t = threads[thread]
            edges = (e for e in frame.graphs[t].edges if stands_at(e.step.span, line))
            found = {e.source for e in edges} - {frame.program.threads[t].exit}
            return disj(*(equals(Name(pc(t)), Const(p)) for p in sorted(found)))
        case ThreadAtPoints(thread, points):
            return disj(*(equals(Name(pc(threads[thread])), Const(p)) for p in sorted(points)))
        case _:
            halves = (
                (t, e.target)
                for t, g in enumerate(frame.graphs)
                for e in g.edges
                if e.type in (EventType.NLR, EventType.NRR)
            )
            return conj(*(negate(equals(Name(pc(t)), Const(p))) for t, p in sorted(set(halves))))


def concerns_threads(program: Program, target: StateTarget, changing: Iterable[str] | None = None) -> bool:
    """Return whether the target is about what threads have done, and about memory only where nothing is under way.

    Memory are the words that are `changing` when what is under way is completed, by default all.

    If it holds in a state of the RDMA machine, it still holds once the operations under way are completed. That run has a
    trace; of a robust program it is SC-consistent, so an SC execution ends with the same events: its threads are at the
    same points with the same registers, and every word holds the last write of its modification order.
    """
    atoms = dict(target.atoms)
    cells = {str(cell) for cell in program.cells} if changing is None else set(changing)
    quiet = any(
        isinstance(atoms.get(part.name), DrainedAtom) for part in _conjuncts(target.condition) if isinstance(part, Name)
    )
    used = chain(names(target.condition), *(names(counted.condition) for _, counted in target.counts))
    return quiet or not any(name in cells or isinstance(atoms.get(name), DrainedAtom) for name in used)


def _conjuncts(expr: Expr) -> Iterable[Expr]:
    if isinstance(expr, Binary) and expr.op == "&&":
        yield from _conjuncts(expr.left)
        yield from _conjuncts(expr.right)
    else:
        yield expr
