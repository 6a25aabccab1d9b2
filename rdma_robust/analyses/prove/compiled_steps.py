"""The steps of a program compiled for the reductions: what each does to a control state and to wide variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from rdma_robust.analyses.prove.placing import PlacedVariable, Placing, SmallState, Valued, Valuer, expression_of, valuer
from rdma_robust.analyses.prove.transition_system import Assignment, Cause, Drop, SafetyClaim, Suppose, Update
from rdma_robust.digraph import live_names, sets_of
from rdma_robust.expr import TRUE, VALUE, Const, Expr, Name, Unary, equals, names, substitute
from rdma_robust.language.flow.cfg import (
    Cas,
    Cell,
    Get,
    Nondet,
    Poll,
    Put,
    Read,
    RemoteRmw,
    RFence,
    Rmw,
    Step,
    Thread,
    Write,
    operands,
    peer_of,
    steps,
)
from rdma_robust.semantics.machines.machine import Verb

Live = Mapping[int, frozenset[str]]
"""Registers by program point."""


def live_registers(thread: Thread, claims: Sequence[SafetyClaim]) -> Live:
    """Return the registers of `thread` whose value at a program point a step or a claim may still ask for.

    Those of an invariant are asked for at every point, those of an outcome at the end.
    """
    own = {name for name, _ in thread.registers}
    always = {r for claim in claims if not claim.final for r in _registers(claim.bad, thread.name)} & own
    finally_ = {r for claim in claims if claim.final for r in _registers(claim.bad, thread.name)} & own
    held = dict.fromkeys(thread.points, always) | {thread.exit: always | finally_}
    flows = [(a, b, used_registers(step), sets_of(name for name, _ in step.assigns)) for a, b, step in steps(thread)]
    return live_names(flows, held)


def _registers(condition: Expr, thread: str) -> list[str]:
    return [name.partition(".")[2] for name in names(condition) if name.partition(".")[0] == thread]


def used_registers(step: Step) -> set[str]:
    """Return the names in a step's guard, its operation, and what it assigns, hidden registers included, VALUE not."""
    used = [step.guard, *(expr for _, expr in step.assigns), *operands(step.op)]
    return {name for expr in used for name in names(expr) if name != VALUE.name}


Write_ = tuple[PlacedVariable, Valued]
Way = tuple[list[object], tuple[Update, ...]]
"""The control state after, as a list that may still be changed, and what happens to wide variables."""

SPARE = "$old"
"""Begins the names of wide variables that hold old values within one transition."""


@dataclass(frozen=True, slots=True)
class CompiledStep:
    """A step of thread number `thread` compiled; `number` is its place in `cfg.steps`.

    `guard` is None for true. `source` and `target` are the words that the operation reads and writes, `new` what it
    writes, and `when` (None: always) whether it does; `ends` are those of what a `nondet` draws from; `peer` is the node
    of a remote operation, a flush, or a poll. `cleared` are small registers that nobody asks for after it, with the value
    that they get, `dropped` the wide ones. `plain` iff neither the guard nor what it assigns or writes has to do with
    anything wide. `forward` iff it goes no edge back, so that every cycle of the thread's graph has a step that is not.
    """

    thread: int
    number: int
    step: Step
    to: int
    causes: tuple[Cause, ...]
    guard: Valuer | None
    assigns: tuple[tuple[PlacedVariable, Valuer], ...]
    source: PlacedVariable | None
    target: PlacedVariable | None
    new: Valuer | None
    when: Valuer | None
    ends: tuple[Valuer | None, Valuer | None]
    peer: str | None
    cleared: tuple[tuple[int, int], ...]
    dropped: tuple[Update, ...]
    plain: bool
    forward: bool

    def may_pass(self, state: SmallState, value: Valued | None) -> bool:
        """Return False only if the guard is false for certain."""
        return self.guard is None or self.guard(state, value) != 0


Code = Mapping[int, tuple[CompiledStep, ...]]
"""The commands of a thread by program point."""


def compiled_thread(placing: Placing, number: int, claims: Sequence[SafetyClaim]) -> Code:
    """Compile every step of thread `number`."""
    thread = placing.program.threads[number]
    live = live_registers(thread, claims)
    back = _back_edges(thread)
    code: dict[int, list[CompiledStep]] = {}
    for place, (source, to, step) in enumerate(steps(thread)):
        command = _Compiler(placing, number, step).command(place, to, (source, to) not in back)
        gone = (live[source] | {name for name, _ in step.assigns}) - live[to]
        variables = [(placing.register(number, name), value) for name, value in thread.registers if name in gone]
        command = replace(
            command,
            cleared=tuple((v.place, value) for v, value in variables if not v.wide),
            dropped=tuple(Drop(v.name) for v, _ in variables if v.wide),
        )
        code.setdefault(source, []).append(command)
    return {point: tuple(found) for point, found in code.items()}


class _Compiler:
    def __init__(self, placing: Placing, number: int, step: Step) -> None:
        self.placing = placing
        self.number = number
        self.step = step
        self.registers: dict[str, Expr] = {
            name: Name(placing.register(number, name).name) for name, _ in placing.program.threads[number].registers
        }
        source, target = words_of(step)
        self.source = None if source is None else placing.word(source)
        self.target = None if target is None else placing.word(target)

    def expression(self, expr: Expr) -> Expr:
        return substitute(expr, self.registers)

    def compiled(self, expr: Expr | None) -> Valuer | None:
        return None if expr is None else self._valuer(expr)

    def _valuer(self, expr: Expr) -> Valuer:
        return valuer(self.expression(expr), self.placing.small, self._small_value)

    @property
    def _small_value(self) -> bool:
        """Whether VALUE is never wide."""
        if isinstance(self.step.op, Nondet):
            return all(not variable.wide for variable, _ in self._targets()) and self._bounded(self.step.op)
        return self.source is None or not self.source.wide

    def _bounded(self, op: Nondet) -> bool:
        return op.low is not None and op.high is not None and all(self._is_small(end) for end in (op.low, op.high))

    def _is_small(self, expr: Expr) -> bool:
        return all(name in self.placing.small for name in names(self.expression(expr)) if name != VALUE.name)

    def _targets(self) -> list[tuple[PlacedVariable, Expr]]:
        return [(self.placing.register(self.number, name), expr) for name, expr in self.step.assigns]

    def command(self, place: int, to: int, forward: bool) -> CompiledStep:
        step = self.step
        new, when = written_of(step)
        used = [step.guard, *(expr for _, expr in step.assigns), *operands(step.op)]
        touched = [variable for variable, _ in self._targets()] + [v for v in (self.source, self.target) if v is not None]
        plain = self._small_value and all(map(self._is_small, used)) and not any(v.wide for v in touched)
        return CompiledStep(
            self.number,
            place,
            step,
            to,
            (Cause(self.number, verb_of(step), step),),
            None if step.guard == TRUE else self.compiled(step.guard),
            tuple((variable, self._valuer(e)) for variable, e in self._targets()),
            self.source,
            self.target,
            self.compiled(new),
            self.compiled(when),
            (self.compiled(step.op.low), self.compiled(step.op.high)) if isinstance(step.op, Nondet) else (None, None),
            peer_of(step.op),
            (),
            (),
            plain,
            forward,
        )


def words_of(step: Step) -> tuple[Cell | None, Cell | None]:
    """Return the words that a step's operation reads and writes."""
    match step.op:
        case Read(cell):
            return cell, None
        case Write(cell, _):
            return None, cell
        case Cas(cell, _, _) | Rmw(cell, _, _):
            return cell, cell
        case Put(target, source) | Get(target, source) | RemoteRmw(target, source, _, _):
            return source, target
        case _:
            return None, None


def written_of(step: Step) -> tuple[Expr | None, Expr | None]:
    """Return what a store or an atomic writes, and when (None: always)."""
    match step.op:
        case Write(_, value):
            return value, None
        case Cas(_, expected, new):
            return new, equals(VALUE, expected)
        case Rmw(_, new, when) | RemoteRmw(_, _, new, when):
            return new, None if when == TRUE else when
        case _:
            return None, None


def verb_of(step: Step) -> Verb:
    """Return what the machines call it when a thread takes the step; a posting under sc is its card's read at once."""
    match step.op:
        case Put() | Get() | RemoteRmw():
            return Verb.ISSUE
        case Poll():
            return Verb.POLL
        case RFence():
            return Verb.FENCE
        case _:
            return Verb.ACCESS


def _back_edges(thread: Thread) -> frozenset[tuple[int, int]]:
    """Return edges that every cycle of the graph has one of: those to a point that is being visited, depth first."""
    back: set[tuple[int, int]] = set()
    following = {point: list(dict.fromkeys(after)) for point, after in thread.following.items()}
    done: set[int] = set()
    for root in (thread.entry, *thread.points):
        if root in done:
            continue
        path = {root}
        walk: list[tuple[int, Iterator[int]]] = [(root, iter(following.get(root, ())))]
        while walk:
            point, rest = walk[-1]
            after = next(rest, None)
            if after is None:
                walk.pop()
                path.discard(point)
                done.add(point)
            elif after in path:
                back.add((point, after))
            elif after not in done:
                path.add(after)
                walk.append((after, iter(following.get(after, ()))))
    return frozenset(back)


def ways(state: SmallState, command: CompiledStep, value: Valued | None, writes: Sequence[Write_] = ()) -> Iterable[Way]:
    """Yield what may be after a command whose operation has read `value` and writes all of `writes` at once.

    None if the guard is false. Where something small gets the value of an expression over wide variables, one way for each
    value that it can have.
    """
    if command.plain:
        if command.guard is not None and not command.guard(state, value):
            return ()
        after: list[object] = list(state)
        after[command.thread] = command.to
        for variable, of in command.assigns:
            after[variable.place] = of(state, value)
        for place, cleared in command.cleared:
            after[place] = cleared
        for variable, written in writes:
            after[variable.place] = written
        return ((after, ()),)
    return _with_wide(state, command, value, writes)


def _with_wide(state: SmallState, command: CompiledStep, value: Valued | None, writes: Sequence[Write_]) -> Iterator[Way]:
    condition: Valued = 1 if command.guard is None else command.guard(state, value)
    if condition == 0:
        return
    given = [(variable, of(state, value)) for variable, of in command.assigns]
    for changes, updates in ways_to_assign([*given, *writes]):
        after: list[object] = list(state)
        after[command.thread] = command.to
        for place, small in (*changes, *command.cleared):
            after[place] = small
        supposed = () if isinstance(condition, int) else (Suppose(condition),)
        yield after, (*supposed, *updates, *command.dropped)


def ways_to_assign(given: Sequence[Write_]) -> Iterator[tuple[list[tuple[int, int]], tuple[Update, ...]]]:
    """Yield the ways of giving variables their values, all at once: what small ones become, and the updates."""
    known = [(variable.place, v) for variable, v in given if not variable.wide and isinstance(v, int)]
    open_ = [(variable, v) for variable, v in given if not variable.wide and not isinstance(v, int)]
    lets = sequential_updates([(variable.name, expression_of(v)) for variable, v in given if variable.wide])
    for chosen in product(*(variable.values for variable, _ in open_)):
        supposed = tuple(Suppose(equals(v, Const(c))) for (_, v), c in zip(open_, chosen, strict=True))
        yield known + [(v.place, c) for (v, _), c in zip(open_, chosen, strict=True)], (*supposed, *lets)


def sequential_updates(given: Sequence[tuple[str, Expr]]) -> tuple[Update, ...]:
    """Return updates one after the other that do what these do all at once."""
    rest = [(name, value) for name, value in given if value != Name(name)]
    made: list[Update] = []
    while rest:
        for i, (name, value) in enumerate(rest):
            if not any(name in names(other) for j, (_, other) in enumerate(rest) if j != i):
                made.append(Assignment(name, value))
                del rest[i]
                break
        else:
            spares = [f"{SPARE}{i}" for i in range(len(rest))]
            made += [Assignment(spare, value) for spare, (_, value) in zip(spares, rest, strict=True)]
            made += [Assignment(name, Name(spare)) for spare, (name, _) in zip(spares, rest, strict=True)]
            made += [Drop(spare) for spare in spares]
            return tuple(made)
    return tuple(made)


def spares_needed(placing: Placing, number: int) -> int:
    """Return how many spare variables a thread may need: for the step that gives most wide ones values at once."""
    most = 0
    for _, _, step in steps(placing.program.threads[number]):
        _, target = words_of(step)
        wide = sum(placing.register(number, name).wide for name, _ in step.assigns)
        wide += target is not None and placing.word(target).wide
        most = max(most, wide)
    return most if most > 1 else 0


def covers_all_cases(conditions: Sequence[tuple[Expr, ...]]) -> bool:
    """Return whether one of these conjunctions is sure to hold: one is empty, or two are a condition and its negation."""
    if any(not each for each in conditions):
        return True
    single = {each[0] for each in conditions if len(each) == 1}
    return any(isinstance(each, Unary) and each.op == "!" and each.arg in single for each in single)
