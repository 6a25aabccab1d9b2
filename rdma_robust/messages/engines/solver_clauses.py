"""One incremental solver, CaDiCaL by python-sat, with gates and cardinalities as clauses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isqrt
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from rdma_robust.limits import NO_LIMITS, Limits

_BUDGET: Final = 4000
"""Conflicts between looks at the limits, at first."""

_MOST: Final = 8000
_KEPT: Final = 32
"""Gates with fewer literals are made once."""


class Clauses:
    """Variables, gates over them, and a solver that has all clauses. A literal is a number, its negation the negative one.

    `proof`, if asked for, gets the DRAT lines of all that the solver derives. `clauses` counts those added.
    """

    true: Final = 1

    def __init__(self, limits: Limits = NO_LIMITS, *, proof: bool = False) -> None:
        from pysat.solvers import Cadical195  # noqa: PLC0415 -- only those who ask this engine load it

        self._solver: Any = Cadical195(with_proof=proof)
        self._limits = limits
        self._limited = limits.deadline is not None or limits.memory is not None
        self._poll = limits.poll("writing clauses")
        self._gates: dict[tuple[int, ...], int] = {}
        self.last = 1
        self.clauses = 0
        self.calls = 0
        self.add([self.true])

    def new(self, count: int = 1) -> int:
        """Return the first of so many new variables, which are numbered on end."""
        first = self.last + 1
        self.last += count
        return first

    def add(self, literals: Sequence[int]) -> None:
        """Add a clause. Raises LimitReached now and then."""
        self._poll()
        self.clauses += 1
        self._solver.add_clause(literals)

    def clause(self, *literals: int) -> None:
        """Add a clause, without literals that are false, unless one of them is true."""
        kept = [each for each in literals if each != -self.true]
        if self.true not in kept:
            self.add(kept)

    def both(self, a: int, b: int) -> int:
        return self.all_of((a, b))

    def all_of(self, literals: Iterable[int]) -> int:
        """Return a literal that is true exactly if all of these are."""
        kept = sorted({each for each in literals if each != self.true})
        if not kept:
            return self.true
        if -self.true in kept or (kept[0] < 0 and not {-each for each in kept}.isdisjoint(kept)):
            return -self.true
        if len(kept) == 1:
            return kept[0]
        key = tuple(kept) if len(kept) < _KEPT else ()
        gate = self._gates.get(key)
        if gate is None:
            gate = self.new()
            if key:
                self._gates[key] = gate
            for each in kept:
                self.add([-gate, each])
            self.add([gate, *[-each for each in kept]])
        return gate

    def any_of(self, literals: Iterable[int]) -> int:
        """Return a literal that is true exactly if one of these is."""
        return -self.all_of([-each for each in literals])

    def at_most_one(self, literals: Sequence[int]) -> None:
        """Say that at most one is true: by pairs for a few, else by a square of which one row and one column is true."""
        if len(literals) <= 5:
            for at, a in enumerate(literals):
                for b in literals[:at]:
                    self.clause(-a, -b)
            return
        self._square(literals)

    def _square(self, literals: Sequence[int]) -> list[int]:
        """Say that at most one is true; return the rows, of which one is true if one of the literals is."""
        width = isqrt(len(literals) - 1) + 1
        rows = [self.new() for _ in range(-(-len(literals) // width))]
        columns = [self.new() for _ in range(width)]
        for at, each in enumerate(literals):
            self.clause(-each, rows[at // width])
            self.clause(-each, columns[at % width])
        self.at_most_one(rows)
        self.at_most_one(columns)
        return rows

    def one_at_most(self, literals: Sequence[int]) -> int:
        """Say that at most one is true; return a literal that is true exactly if one is."""
        if len(literals) < _KEPT:
            self.at_most_one(literals)
            return self.any_of(literals)
        found = self.new()
        for row in self._square(literals):
            self.add([-row, found])
        self.add([-found, *literals])
        return found

    def solve(self, assumptions: Sequence[int]) -> bool:
        """Return whether all clauses can be true together with these literals. Raises LimitReached."""
        self.calls += 1
        if not self._limited:
            return bool(self._solver.solve(assumptions=list(assumptions)))
        budget = _BUDGET
        while True:
            self._limits.look("solving")
            self._solver.conf_budget(budget)
            found = self._solver.solve_limited(assumptions=list(assumptions))
            if found is not None:
                return bool(found)
            budget = min(2 * budget, _MOST)

    def model(self) -> npt.NDArray[np.bool_]:
        """Return what the variables are after `solve` said yes, by number; those of no clause are false."""
        values = np.array(self._solver.get_model() or [], np.int64)
        found = np.zeros(self.last + 1, np.bool_)
        found[1 : len(values) + 1] = values[: self.last] > 0
        return found

    def proof(self) -> list[str]:
        """Return the DRAT lines so far."""
        return list(self._solver.get_proof() or [])

    def close(self) -> None:
        self._solver.delete()

    def __enter__(self) -> Clauses:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
