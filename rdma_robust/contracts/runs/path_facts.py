"""Assumptions of one path: facts about inputs, ranges that follow from them, and lengths that were chosen."""

from __future__ import annotations

from rdma_robust.contracts.runs.run_terms import Condition, Range, SymbolicTerm, TermTable, number_range


class Path:
    """The facts of one path, which is copied where it forks. What follows from facts is kept in `known`.

    Facts that hold for all inputs (ranges that inputs have) are not among `facts`. `lengths` are those of arrays.
    """

    __slots__ = ("facts", "known", "lengths", "model", "open", "ranges")

    def __init__(self) -> None:
        self.facts: tuple[SymbolicTerm, ...] = ()
        self.known: dict[SymbolicTerm, bool] = {}
        self.ranges: dict[SymbolicTerm, Range] = {}
        self.lengths: dict[object, int] = {}
        self.open: tuple[SymbolicTerm, ...] = ()
        """Disjunctions among the facts of which more than one part may be the true one."""
        self.model: dict[SymbolicTerm, int] | None = None
        """Inputs for which all facts are true, if such are known; those that are missing may have any value."""

    def copy(self) -> Path:
        made = Path()
        made.facts = self.facts
        made.known = dict(self.known)
        made.ranges = dict(self.ranges)
        made.lengths = dict(self.lengths)
        made.model = self.model
        made.open = self.open
        return made

    def key(self) -> tuple[object, ...]:
        """Return what two paths with the same facts have in common."""
        return frozenset(self.facts), frozenset(self.lengths.items())

    def verdict(self, condition: Condition, terms: TermTable) -> bool | None:
        """Return what a condition is on this path, None where that takes a solver."""
        if isinstance(condition, bool):
            return condition
        found = self.known.get(condition)
        if found is not None:
            return found
        found = self._verdict(condition, terms)
        if found is not None:
            self.known[condition] = found
        return found

    def _verdict(self, condition: SymbolicTerm, terms: TermTable) -> bool | None:
        match condition.op:
            case "and" | "or":
                neutral = condition.op == "and"
                parts = [self.verdict(each, terms) for each in condition.args]
                if (not neutral) in parts:
                    return not neutral
                return None if None in parts else neutral
            case "zero" | "nonzero":
                low, high = number_range(condition.args[0], self.ranges)
                if (low is not None and low > 0) or (high is not None and high < 0):
                    return condition.op == "nonzero"
                if low == high == 0:
                    return condition.op == "zero"
            case _:
                low, high = number_range(condition.args[0], self.ranges)
                if low is not None and low >= 0:
                    return True
                if high is not None and high < 0:
                    return False
        against = terms.negation(condition)
        if isinstance(against, bool):
            return not against
        found = self.known.get(against)
        return None if found is None else not found

    def assume(self, condition: Condition, terms: TermTable) -> bool:
        """Add a fact, and what follows where one part of a disjunction is left; return False if it is surely impossible."""
        if not self._assumed(condition, terms):
            return False
        again = True
        while again:
            again = False
            for each in self.open:
                parts = [part for part in each.args if self.verdict(part, terms) is not False]
                if len(parts) > 1 and not any(self.verdict(part, terms) for part in parts):
                    continue
                self.open = tuple(other for other in self.open if other is not each)
                again = True
                if not parts or not self._assumed(parts[0] if len(parts) == 1 else True, terms):
                    return False
                break
        return True

    def _assumed(self, condition: Condition, terms: TermTable) -> bool:
        verdict = self.verdict(condition, terms)
        if verdict is not None:
            return verdict
        assert isinstance(condition, SymbolicTerm)
        if condition.op == "and":
            return all(self._assumed(each, terms) for each in condition.args)
        if condition.op == "or":
            self.open += (condition,)
        self.facts += (condition,)
        self.model = None
        self.learn(condition, terms)
        return True

    def learn(self, condition: Condition, terms: TermTable) -> None:
        """Note what follows from the facts, which is no fact of its own."""
        if isinstance(condition, bool):
            return
        self.known[condition] = True
        against = terms.negation(condition)
        if isinstance(against, SymbolicTerm):
            self.known[against] = False
        self._narrow(condition)

    def _narrow(self, condition: SymbolicTerm) -> None:
        """Narrow the range of an atom by a fact about it alone."""
        if condition.op not in ("zero", "nonzero", "positive"):
            return
        number = condition.args[0]
        atoms = [monomial for monomial, _ in number.poly if monomial]
        if len(atoms) != 1 or len(atoms[0]) != 1:
            return
        atom, factor, constant = atoms[0][0], 0, 0
        for monomial, times in number.poly:
            factor, constant = (times, constant) if monomial else (factor, times)
        low, high = self.ranges.get(atom) or (atom.low, atom.high)
        if condition.op == "zero":
            low = high = -constant // factor
        elif condition.op == "nonzero":
            at = -constant // factor
            low = at + 1 if low == at else low
            high = at - 1 if high == at else high
        elif factor > 0:
            least = -(constant // factor)
            low = least if low is None else max(low, least)
        else:
            most = constant // -factor
            high = most if high is None else min(high, most)
        self.ranges[atom] = low, high

    def value_of(self, number: int | SymbolicTerm) -> int | None:
        """Return what a number is, where ranges leave one possibility."""
        if isinstance(number, int):
            return number
        low, high = number_range(number, self.ranges)
        return low if low is not None and low == high else None
