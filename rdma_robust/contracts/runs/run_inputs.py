"""Inputs of processes: for each number within bounds an input, arrays whose lengths are decided when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rdma_robust.contracts.contract_answers import Counterexample, VisibleEvent
from rdma_robust.contracts.language.contract_program import Contract, ErrorClass, InputBounds
from rdma_robust.contracts.language.spec_terms import Spec
from rdma_robust.contracts.runs.fact_solver import Model, term_value
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.run_state import Clock, ClockedEvent, SymbolicRun, past
from rdma_robust.contracts.runs.run_terms import Condition, Range, SymbolicTerm
from rdma_robust.contracts.runs.spec_reading import Snapshot, SpecEvaluator
from rdma_robust.contracts.runs.symbolic_data import ArrayInput, Data, Decisions, ForkError, Unknown
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.messages.language.message_terms import Value

MOST_LENGTH = 1_000
"""Elements of an array of an input."""

_INDICES = ("i", "j")


class NoInputsError(Exception):
    """There are no inputs to look at: says why."""


@dataclass(frozen=True, slots=True)
class Wide:
    """More inputs than bounds name: anything at all for parameters and globals that are `tokens`.

    So for the innermost elements of arrays that are `cells`. Those of `numbers` are any integers.
    """

    tokens: frozenset[str] = frozenset()
    cells: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()


NARROW = Wide()


@dataclass(frozen=True, slots=True)
class Start:
    """The values of each process as it enters; `empty` if bounds leave nothing for some of it."""

    snapshots: tuple[Snapshot, ...]
    empty: bool


class InputMaker:
    """Makes the inputs of a function for `procs` processes. `same` maps names of inputs to those that they are equal to."""

    def __init__(self, contract: Contract, globals_: Sequence[str], procs: int, on: Decisions, wide: Wide = NARROW) -> None:
        self._wide = wide
        self._contract = contract
        self._globals = tuple(globals_)
        self._procs = procs
        self._on = on
        self._round = 0
        self._empty = False
        self._same: dict[str, str] = {}
        self._ranges: dict[str, Range] = {}

    def make(self, looked_at: Sequence[int]) -> Start:
        """Return the inputs of processes; numbers that `equate` made equal are one."""
        self._round += 1
        self._empty = False
        before, self._ranges = self._ranges, {}
        if self._same:
            self._ranges = before
        bounds = {each.name: each for each in self._contract.bounds}
        snapshots = tuple(
            Snapshot(
                {name: self._input(name, bounds.get(name), process) for name in self._contract.parameters},
                {name: self._input(name, bounds.get(name), process) for name in self._globals},
            )
            if process in looked_at
            else Snapshot()
            for process in range(self._procs)
        )
        return Start(snapshots, self._empty)

    def equate(self, one: SymbolicTerm, other: SymbolicTerm) -> None:
        """Note that two inputs are the same: the next ones that are made will be."""
        (_, first), (_, second) = one.args[0], other.args[0]
        keep, drop = self._kept(first), self._kept(second)
        if keep == drop:
            return
        self._same[drop] = keep
        low, high = zip(self._ranges[keep], self._ranges[drop], strict=True)
        lows = [each for each in low if each is not None]
        highs = [each for each in high if each is not None]
        self._ranges[keep] = max(lows, default=None), min(highs, default=None)

    def _kept(self, name: str) -> str:
        while name in self._same:
            name = self._same[name]
        return name

    def _input(self, name: str, bounds: InputBounds | None, process: int) -> Data:
        full = f"{name} of {process}"
        if name in self._wide.tokens:
            return Unknown(name)
        if bounds is None:
            return self._number(full, None, None)
        return self._bounded(full, bounds, process, {})

    def _number(self, name: str, low: int | None, high: int | None) -> Data:
        kept = self._kept(name)
        if kept not in self._ranges:
            self._ranges[kept] = low, high
        low, high = self._ranges[kept]
        if low is not None and high is not None and low >= high:
            self._empty |= low > high
            return low
        return self._on.terms.input((self._round, kept), low, high)

    def _bounded(self, name: str, bounds: InputBounds, process: int, indices: dict[str, Data]) -> Data:
        depth = len(indices)
        if depth == len(bounds.lengths):
            if bounds.name in self._wide.cells:
                return Unknown(name)
            if bounds.low is None or bounds.high is None or bounds.name in self._wide.numbers:
                return self._number(name, None, None)
            low, high = (self._constant(bounds, each, process, indices) for each in (bounds.low, bounds.high))
            return self._number(name, low, high)
        least, most = (self._constant(bounds, each, process, indices) for each in bounds.lengths[depth])
        if most > MOST_LENGTH:
            raise NoInputsError(f"{bounds.name} may have more than {MOST_LENGTH:,} elements")
        before, least = self._empty, max(least, 0)
        elements: list[Data] = []
        for at in range(most):
            self._empty = False
            made = self._bounded(f"{name}[{at}]", bounds, process, {**indices, _INDICES[depth]: at})
            if self._empty:
                break
            elements.append(made)
        self._empty = before or least > len(elements)
        return ArrayInput(name, least, len(elements), tuple(elements))

    def _constant(self, bounds: InputBounds, spec: Spec, process: int, indices: dict[str, Data]) -> int:
        nothing = [Snapshot()] * self._procs
        value, fine = SpecEvaluator(self._on, nothing).number(spec, process, indices)
        if not isinstance(value, int) or fine is not True:
            raise NoInputsError(f"the bounds of {bounds.name} have no meaning in process {process}")
        return value


def concrete(value: Data, path: Path, model: Model) -> Value:
    """Return what a value is for the inputs of a model; arrays of which nothing was decided are as short as they may be."""
    if isinstance(value, int):
        return value
    if isinstance(value, Unknown):
        return 0
    if isinstance(value, SymbolicTerm):
        return term_value(value, model)
    if isinstance(value, ArrayInput):
        length = path.lengths.get(value, value.low)
        return tuple(concrete(each, path, model) for each in value.elements[:length])
    return tuple(concrete(each, path, model) for each in value)


@dataclass(frozen=True, slots=True)
class PossibleViolation:
    """A violation where `condition` is true. `clock` counts the events that show it, None for all of the run.

    `call` is the place of the violated collate among the passings of its process. `clause` is as in Counterexample.
    """

    error: ErrorClass
    process: int
    condition: Condition
    clock: Clock | None
    text: str
    clause: str
    span: Span = NO_SPAN
    other: int | None = None
    call: int = 0


def case_split(on: Decisions, path: Path, make: Callable[[], PossibleViolation]) -> Iterator[tuple[Path, PossibleViolation]]:
    """Yield what `make` finds on a path: where it forks, on the path of each alternative."""
    before = on.path
    todo = [path]
    try:
        while todo:
            on.path = path = todo.pop()
            try:
                found = make()
            except ForkError as fork:
                todo += forked(on, path, fork)
                continue
            yield path, found
    finally:
        on.path = before


def forked(on: Decisions, path: Path, fork: ForkError) -> list[Path]:
    """Return the possible paths of the alternatives."""
    before, found = on.path, []
    if fork.array is not None:
        for length in range(fork.array.low, fork.array.high + 1):
            child = path.copy()
            child.lengths[fork.array] = length
            found.append(child)
        return found
    assert fork.condition is not None
    for value in (False, True):
        on.path = child = path.copy()
        if on.choose(fork.condition, value=value):
            found.append(child)
    on.path = before
    return found


# A violation that was found on a run, as a run with numbers for all that is not known.


def counterexample(run: SymbolicRun, path: Path, finding: PossibleViolation, model: Model) -> Counterexample:
    """Return the part of a run that shows a finding, for the inputs of a model."""
    events = run.events if finding.clock is None else past(run.events, finding.clock)

    def happening(event: ClockedEvent) -> VisibleEvent:
        if event.kind in ("enter", "exit"):
            return VisibleEvent(event.process, event.kind, event.function, choices=event.choices, span=event.span)
        value = concrete(event.value, path, model)
        return VisibleEvent(
            event.process, event.kind, "", event.peer, event.tag, event.port, value, event.choices, event.span
        )

    inputs = tuple(
        {name: concrete(value, path, model) for name, value in {**each.parameters, **each.globals}.items()}
        for each in run.inputs
    )
    calls = run.actors[finding.process].calls[: finding.call]
    return Counterexample(
        finding.error,
        inputs,
        tuple(happening(each) for each in events),
        finding.process,
        finding.other,
        finding.clause,
        finding.span,
        sum(each.kind == "enter" for each in calls),
        finding.text,
        tuple(_ending(run, process, events) for process in range(len(run.actors))),
    )


def _ending(run: SymbolicRun, process: int, events: list[ClockedEvent]) -> tuple[int, ...]:
    """Return the choices that a process makes behind its last event among these."""
    number = sum(each.process == process for each in events)
    following = next((each for each in run.events if each.process == process and each.number == number), None)
    return run.actors[process].choices if following is None else following.choices
