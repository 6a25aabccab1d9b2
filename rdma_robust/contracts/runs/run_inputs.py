"""What processes have at the start: for each number within bounds an input, arrays whose lengths are decided when needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdma_robust.contracts.language.contract_program import Contract, InputBounds
from rdma_robust.contracts.language.spec_terms import Spec
from rdma_robust.contracts.runs.fact_solver import Model, term_value
from rdma_robust.contracts.runs.path_facts import Path
from rdma_robust.contracts.runs.run_terms import Range, SymbolicTerm
from rdma_robust.contracts.runs.spec_reading import Snapshot, SpecEvaluator
from rdma_robust.contracts.runs.symbolic_data import ArrayInput, Data, Decisions, Unknown
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
    """What each process has as it enters; `empty` if bounds leave nothing for some of it."""

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
