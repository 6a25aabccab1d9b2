"""The cheapest set of insertions that breaks every counterexample found so far and may stand, by integer programming.

Source: the implicit hitting set approach (Moreno-Centeno and Karp 2013); the integer programs are solved by HiGHS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from rdma_robust.analyses.repair.counting import Exactly, Nothing, PollBalance, Refusal
from rdma_robust.analyses.repair.extension import Extension, Limit
from rdma_robust.analyses.repair.repairs import Barrier, Choices, InsertionChoice
from rdma_robust.errors import InternalError
from rdma_robust.solver_library import linear_solver


class OutOfTimeError(Exception):
    """The time limit came before the solver's answer; it never leaves this room."""


class HittingSets:
    """A 0-1 program over `universe`, to which rows are added. Of sets of the same cost the one with later places wins.

    All coefficients are integers, so an answer whose proven bound is less than half a unit away is exact.
    """

    def __init__(self, universe: Sequence[InsertionChoice], costs: Mapping[InsertionChoice, int]) -> None:
        import highspy  # noqa: PLC0415 - 0.1 s; robust programs do without

        self.universe = tuple(universe)
        self.cheapest_first = tuple(sorted(universe, key=costs.__getitem__))
        self._column = {choice: i for i, choice in enumerate(universe)}
        self._solver: Any = linear_solver()
        for name, value in (("output_flag", False), ("threads", 1), ("mip_rel_gap", 0.0), ("mip_abs_gap", 0.0)):
            self._solver.setOptionValue(name, value)
        self._infinity, self._integer = highspy.kHighsInf, highspy.HighsVarType.kInteger
        places = max((c.place for c in universe), default=0) + 1
        self._scale = places * len(universe) + 1
        for _choice in universe:
            self._solver.addVar(0.0, 1.0)
        for i, choice in enumerate(universe):
            self._solver.changeColCost(i, float(costs[choice] * self._scale + places - choice.place))
            self._solver.changeColIntegrality(i, self._integer)
        self._infeasible = False
        for choice in universe:
            if choice.copy:
                self._row(0, {replace(choice, copy=choice.copy - 1): 1, choice: -1})

    def tie(self, group: Sequence[InsertionChoice]) -> None:
        """All of these or none."""
        for one, other in pairwise(group):
            self._row(0, {one: 1, other: -1})
            self._row(0, {one: -1, other: 1})

    def leave(self, choices: Iterable[InsertionChoice]) -> None:
        """None of these."""
        for choice in choices:
            self._row(0, {choice: -1})

    def hit(self, choices: Iterable[InsertionChoice], unless: Choices = frozenset()) -> None:
        """At least one of these, or not all of `unless`."""
        members = dict.fromkeys(choices, 1) | dict.fromkeys(unless, -1)
        self._infeasible |= not members
        self._row(1 - len(unless), members)

    def reach(self, weights: Mapping[InsertionChoice, int], least: int, unless: Iterable[InsertionChoice]) -> None:
        """The sum of weights is at least that, or there is one of `unless`."""
        row = {c: weight for c, weight in weights.items() if weight}
        spare = least - sum(min(0, weight) for weight in row.values())
        for choice in unless:
            row[choice] = row.get(choice, 0) + spare
        self._infeasible |= not row
        self._row(least, row)

    def forbid(self, choices: Choices) -> None:
        """Not all of these."""
        self._infeasible |= not choices
        self._row(1 - len(choices), dict.fromkeys(choices, -1))

    def exclude(self, chosen: Choices, among: Iterable[InsertionChoice]) -> None:
        """Not exactly these of `among`."""
        self._row(1 - len(chosen), {c: -1 if c in chosen else 1 for c in among})

    def refuse(self, refusal: Refusal) -> None:
        """None of the sets that a refusal is about."""
        if isinstance(refusal, Exactly):
            here = [c for c in self.universe if c.place in refusal.places]
            self.exclude(refusal.chosen.intersection(here), here)
            return
        if isinstance(refusal, Nothing):
            self.leave(c for c in self.universe if c.place == refusal.place)
            return
        escapes = [self._escape(row, least) for row, least in refusal.escapes]
        members, spare = self._weighed(refusal.row, -refusal.sign)
        spare = max(0, -refusal.most - spare)
        least = -refusal.most
        if refusal.given is not None:
            column = self._column[refusal.given]
            members[column] = members.get(column, 0) - spare
            least -= spare
        self._add(least, members | dict.fromkeys(escapes, spare))

    def _escape(self, row: PollBalance, least: int) -> int:
        """Return a new column that can be 1 only if a row is at least that."""
        members, smallest = self._weighed(row, 1)
        self._solver.addVar(0.0, 1.0)
        column: int = self._solver.getNumCol() - 1
        self._solver.changeColIntegrality(column, self._integer)
        self._add(smallest, members | {column: smallest - least})
        return column

    def _weighed(self, row: PollBalance, sign: int) -> tuple[dict[int, int], int]:
        """Return a row by its columns, and the least that it can be."""
        weights = {self._column[c]: sign * row.weight(c) for c in self.universe if row.weight(c)}
        return weights, sum(min(0, w) for w in weights.values())

    def best(self, seconds: float | None) -> Choices | None:
        """Return a cheapest set that keeps all rows, None if there is none. Raises OutOfTimeError after `seconds`."""
        if self._infeasible:
            return None
        if not self.universe:
            return frozenset()
        solver = self._solver
        if seconds is not None:
            solver.setOptionValue("time_limit", solver.getRunTime() + max(seconds, 0.01))
        solver.run()
        status = str(solver.getModelStatus())
        if "kInfeasible" in status:
            return None
        if "kTimeLimit" in status:
            raise OutOfTimeError
        info = solver.getInfo()
        if "kOptimal" not in status or info.objective_function_value - info.mip_dual_bound > 0.5:
            raise InternalError(f"the solver ended with {status}")
        values = solver.getSolution().col_value
        return frozenset(c for c, value in zip(self.universe, values, strict=False) if value > 0.5)

    def _row(self, least: int, members: Mapping[InsertionChoice, int]) -> None:
        self._add(least, {self._column[c]: weight for c, weight in members.items()})

    def _add(self, least: int, members: Mapping[int, int]) -> None:
        if members:
            columns = sorted(members)
            weights = [float(members[c]) for c in columns]
            self._solver.addRow(float(least), self._infinity, len(columns), columns, weights)
        elif least > 0:
            self._infeasible = True


# A candidate that leaves a counterexample lies within a set T that leaves it too, made as large as it can be. Every
# solution then has something outside of T, or lacks a get that the candidate has (`extension`). Where polls of one
# queue pair decide, a row about their number is stronger than one about the places where they stand: with fewer polls
# before a point, less the gets in front, than it takes to come to the operation that decides, no distribution of them
# is a solution.


class Lesson:
    """The row that one counterexample adds for one candidate. `go_on` may say that there is no time for more."""

    def __init__(self, bones: Extension, sets: HittingSets, chosen: Choices, go_on: Callable[[], bool]) -> None:
        self._bones, self._sets, self._go_on = bones, sets, go_on
        self._chosen = chosen
        self._away = frozenset(c for c in sets.universe if c.place not in bones.places)

    def learn(self) -> bool:
        """Add a row that excludes the candidate, and return whether there is one: if the candidate leaves the violation."""
        most = self._chosen | self._away
        least: Choices = frozenset()
        if not self._bones.survives(most, least):
            least = frozenset(c for c in self._chosen - self._away if c.kind is Barrier.GET)
            if not least or not self._bones.survives(most, least):
                return False
            for get in sorted(least, key=lambda c: (c.copy, c.order), reverse=True):
                if self._bones.survives(most, least - {get}):
                    least -= {get}
        if any(self._counted(thread, node, slots) for thread, node, slots in self._bones.queue_pairs):
            return True
        kept = self._grown(most, least, None)
        self._sets.hit((c for c in self._sets.universe if c not in kept), least)
        return True

    def _counted(self, thread: int, node: str, slots: int) -> bool:
        """Add a row about the number of polls of a queue pair, if there is one that excludes the candidate."""
        operations = self._bones.operations(thread, node)

        def leaves(most: int, until: int) -> bool:
            return self._bones.survives(self._chosen | self._away, frozenset(), Limit(thread, node, most, until))

        if not operations or leaves(operations, slots) or not leaves(0, slots):
            return False
        most = _last(0, operations, lambda number: leaves(number, slots))
        until = slots - _last(0, slots, lambda fewer: leaves(most, slots - fewer))
        limit = Limit(thread, node, most, until)
        weights, needed = self._bones.row(limit)
        here = {c: weights.get((c.place, c.kind), 0) for c in self._sets.universe if c.node == node}
        if sum(here.get(c, 0) for c in self._chosen) >= needed:
            return False
        polls = frozenset(c for c in here if c.kind is Barrier.POLL and (c.place, c.kind) in weights)
        kept = self._grown(self._chosen | self._away | polls, frozenset(), limit)
        self._sets.reach(here, needed, [c for c in self._sets.universe if c not in kept])
        return True

    def _grown(self, kept: Choices, least: Choices, limit: Limit | None) -> Choices:
        """Return a superset of `kept` that the trace survives and to which nothing can be added, by repeated halving.

        What is cheap is kept if there is a choice: then the row asks for what is dear. Late in the time it may be less.
        Where one more of equal statements is one too many, so are all others of them.
        """
        full: set[InsertionChoice] = set()

        def add(group: list[InsertionChoice], kept: Choices) -> Choices:
            if not self._go_on():
                return kept
            group = [c for c in group if replace(c, copy=0) not in full]
            if not group or self._bones.survives(kept | frozenset(group), least, limit):
                return kept | frozenset(group)
            if len(group) == 1:
                full.add(replace(group[0], copy=0))
                return kept
            half = len(group) // 2
            return add(group[half:], add(group[:half], kept))

        return add([c for c in self._sets.cheapest_first if c not in kept], kept)


def _last(known: int, end: int, holds: Callable[[int], bool]) -> int:
    """Return the greatest number before `end` for which something holds that holds for `known` and for less than what it
    holds for."""
    while end - known > 1:
        middle = (known + end) // 2
        known, end = (middle, end) if holds(middle) else (known, middle)
    return known
