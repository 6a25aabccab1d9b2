"""Which pairs are feasible and how many matchings there are, by the names that operations have in the run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rdma_robust.messages.engines.message_goals import Goals, dynamic_names
from rdma_robust.messages.engines.solved_models import Executions
from rdma_robust.messages.message_answers import Issued, Matching, Matchings, Pair

_TOGETHER: Final = 64
"""Pairs that one question is about."""


class PairQuestions:
    """Asks about pairs. Where what happens depends on the run, an event has several names, and a pair several literals."""

    def __init__(self, executions: Executions, goals: Goals) -> None:
        self._executions, self._goals = executions, goals
        self._clauses = goals.clauses
        self._literals: dict[Pair, int] | None = None
        self._made = False

    def _named(self) -> dict[Pair, int] | None:
        """Return the literal of each pair by name, None if there are too many names."""
        if not self._made:
            self._made, self._literals = True, self._name()
        return self._literals

    def _name(self) -> dict[Pair, int] | None:
        formula, unrolled = self._executions.formula, self._goals.unrolled
        receives, sends = dynamic_names(formula, unrolled.receives), dynamic_names(formula, unrolled.sends)
        if receives is None or sends is None:
            return None
        found: dict[Pair, list[int]] = {}
        for receive, send in formula.candidates.pairs():
            literal = formula.literal(receive, send)
            a, b = unrolled.receives[receive], unrolled.sends[send]
            for nth, here in receives[receive].items():
                for other, there in sends[send].items():
                    pair = Pair(Issued(a.process, nth), Issued(b.process, other))
                    found.setdefault(pair, []).append(self._clauses.all_of((literal, here, there)))
        return {pair: self._clauses.any_of(literals) for pair, literals in found.items()}

    def feasible(self, found: set[Pair]) -> bool:
        """Add the feasible pairs to `found`; return whether these are all. Raises LimitReached."""
        named = self._named()
        if named is None:
            return False
        todo = sorted(named)
        for first in range(0, len(todo), _TOGETHER):
            left = [pair for pair in todo[first : first + _TOGETHER] if pair not in found]
            while left:
                goal = self._goals.one_of([named[pair] for pair in left])
                model = self._executions.find([goal])
                self._goals.over(goal)
                if model is None:
                    for pair in left:
                        self._clauses.clause(-named[pair])
                    break
                found.update(model.pairs())
                left = [pair for pair in left if pair not in found]
        return True

    def matchings(self, limit: int, listed: int, *, exact: bool) -> Matchings:
        """Count the matchings of complete executions up to a limit, each once. Raises LimitReached."""
        named = self._named()
        if named is None:
            return Matchings(0, False)
        goal = self._goals.one_of([self._goals.complete()])
        some: list[Matching] = []
        count = 0
        while (model := self._executions.find([goal])) is not None:
            if count == limit:
                return Matchings(count, False, tuple(some))
            pairs = frozenset(model.pairs())
            count += 1
            if len(some) < listed:
                some.append(pairs)
            self._clauses.clause(-goal, *[-named[pair] for pair in pairs], *self._beyond(pairs))
        return Matchings(count, exact, tuple(some))

    def _beyond(self, pairs: Iterable[Pair]) -> list[int]:
        """Return the pairs of receives that a matching leaves out: a larger matching is another one.

        There is none if nothing is chosen and every process does the same: what a complete execution leaves fits nothing.
        """
        unrolled, named = self._goals.unrolled, self._named()
        if named is None or (unrolled.fixed and not unrolled.choices):
            return []
        taken = {pair.receive for pair in pairs}
        return [literal for pair, literal in named.items() if pair.receive not in taken]
