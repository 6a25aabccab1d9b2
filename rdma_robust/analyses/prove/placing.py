"""Where a control state keeps what: program points, registers and words with few values, what threads have under way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from rdma_robust.analyses.prove.compiled_values import Valued
from rdma_robust.analyses.prove.value_sets import ValueSets
from rdma_robust.expr import Name
from rdma_robust.language.flow.cfg import Cell, Program
from rdma_robust.language.flow.claims import EndedAtom, PointAt

SmallState = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """A register or a word: `place` is where control states have it, -1 if it is wide; `values` what a small one can be."""

    name: str
    place: int
    values: tuple[int, ...] = ()

    @property
    def wide(self) -> bool:
        return self.place < 0


@dataclass(frozen=True)
class Placing:
    """A control state of a program with `n` threads is a flat tuple: `n` program points, the small registers of all threads,
    the small words, and from `under_way` on one entry per thread for what it has under way."""

    program: Program
    values: ValueSets

    @cached_property
    def variables(self) -> Mapping[str, Variable]:
        """Every register `T.r` and word `A.x`."""
        found: dict[str, Variable] = {}
        place = len(self.program.threads)
        for name, _ in self._initially:
            values = self.values.of[name]
            found[name] = Variable(name, -1 if values is None else place, values or ())
            place += values is not None
        return found

    @property
    def _initially(self) -> list[tuple[str, int]]:
        registers = [(f"{t.name}.{r}", value) for t in self.program.threads for r, value in t.registers]
        return registers + [(str(cell), cell.init) for cell in self.program.cells]

    @cached_property
    def under_way(self) -> int:
        return len(self.program.threads) + sum(not v.wide for v in self.variables.values())

    @cached_property
    def wide(self) -> tuple[tuple[str, int], ...]:
        """The wide registers and words with their initial values."""
        return tuple((name, value) for name, value in self._initially if self.variables[name].wide)

    @cached_property
    def initial(self) -> SmallState:
        """What a control state begins with at the start, without what is under way."""
        values = tuple(value for name, value in self._initially if not self.variables[name].wide)
        return (*(thread.entry for thread in self.program.threads), *values)

    @cached_property
    def small(self) -> Mapping[str, str]:
        """The code, over a control state `s`, of each small register and word."""
        return {name: f"s[{v.place}]" for name, v in self.variables.items() if not v.wide}

    @cached_property
    def words(self) -> tuple[Variable, ...]:
        """The variable of each word, in the order of the program's cells."""
        return tuple(self.variables[str(cell)] for cell in self.program.cells)

    def word(self, cell: Cell) -> Variable:
        return self.variables[str(cell)]

    def atom(self, atom: PointAt | EndedAtom) -> str:
        """Return the code, over a control state `s`, of an atom of a claim."""
        number = next(i for i, t in enumerate(self.program.threads) if t.name == atom.thread)
        thread = self.program.threads[number]
        at = thread.exit if isinstance(atom, EndedAtom) else dict(thread.labels)[atom.label]
        return f"(1 if s[{number}] == {at} else 0)"

    def register(self, thread: int, name: str) -> Variable:
        return self.variables[f"{self.program.threads[thread].name}.{name}"]


def seen(variable: Variable, state: SmallState) -> Valued:
    """Return the value of a register or word: as an expression if it is wide."""
    return Name(variable.name) if variable.wide else state[variable.place]
