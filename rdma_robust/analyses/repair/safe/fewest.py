"""The search for the fewest waits: a cheapest set that meets all clauses, decided; a run that is left gives a clause.

A wait (a flush, an `mfence`) only removes runs: what is safe with some set is safe with every larger one. A run of the
program with a set of waits is one with any set that has none of the waits it would have been kept by. So every safe set
meets the clause of each run, and a set that is cheapest among those that meet all clauses, and safe, is a cheapest safe set.

Sets that take long to decide are put off, and tried again with more patience if they could be better than what was found.
What stays undecided is listed: nothing is claimed about it. Source: the implicit hitting set approach (Moreno-Centeno and
Karp 2013); the first clauses are those of all waits but one (Baumann et al., VMCAI 2018).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rdma_robust.analyses.prove.safety_outcome import Safety
from rdma_robust.analyses.repair.hitting import HittingSets
from rdma_robust.analyses.repair.repairs import Choices, InsertionChoice


@dataclass(frozen=True, slots=True)
class WaitJudgement:
    """The answer whether a program with some waits is safe; if not, the `clause` of a run: waits of which each safe set has
    one.

    UNKNOWN may be otherwise with more `patience`, if that would be of use.
    """

    safety: Safety
    clause: Choices = frozenset()
    patience: bool = False


Judge = Callable[[Choices, int], WaitJudgement]
"""Decides a set of waits, with a patience from 0 on. Raises OutOfTimeError when the time for everything is over."""


@dataclass
class Fewest:
    """The state of one search among the subsets of `universe`.

    `found` are the irreducible safe sets in the order of their cost; `undecided` those that were not decided, and of which
    no larger set shows that they are not safe; `exhausted` says that there are no more candidates: then `found` are all,
    but for the undecided. These three are of the last round that came to its end. `safe` is the cheapest set known to be
    safe, `needed` are waits that every safe set has.
    """

    universe: Sequence[InsertionChoice]
    costs: Mapping[InsertionChoice, int]
    judge: Judge
    found: list[Choices] = field(default_factory=list)
    undecided: list[Choices] = field(default_factory=list)
    clauses: list[Choices] = field(default_factory=list)
    safe: Choices | None = None
    needed: Choices = frozenset()
    exhausted: bool = False
    _safe: list[Choices] = field(default_factory=list)
    _unknown: dict[Choices, WaitJudgement] = field(default_factory=dict)
    _patience: int = 0

    def cost(self, chosen: Choices) -> int:
        return sum(self.costs[c] for c in chosen)

    def run(self, wanted: int) -> None:
        """Search for so many sets, given that all of `universe` is safe. Raises OutOfTimeError."""
        everything = frozenset(self.universe)
        self._is_safe(everything)
        while True:
            for choice in self._dear_first(everything - self.needed):
                if self._ask(everything - {choice}).safety is Safety.UNSAFE:
                    self.needed |= {choice}
            if self._ask(self.needed).safety is not Safety.SAFE:
                self._descend()
            self._search(wanted)
            put_off = [s for s in self.undecided if wanted > 1 or self.cost(s) < self.cost(self.found[0])]
            known = [self._known(chosen) or self._unknown[chosen] for chosen in put_off]
            if not any(each.patience or each.safety is Safety.SAFE for each in known):
                return
            self._patience += 1
            self._unknown = {c: each for c, each in self._unknown.items() if not each.patience}

    def left_undecided(self, than: Choices | None = None) -> list[Choices]:
        """Return the undecided sets (that cost less than a safe one) of which nothing is known by now."""
        left = (s for s in self.undecided if self._known(s) is None)
        return [s for s in left if than is None or self.cost(s) < self.cost(than)]

    def cheaper(self, chosen: Choices) -> bool:
        """Return whether a set costs less than what was found."""
        return not self.found or self.cost(chosen) < self.cost(self.found[0])

    def _search(self, wanted: int) -> None:
        """Take the cheapest sets that meet all clauses, one after the other, until so many are safe."""
        found: list[Choices] = []
        undecided: list[Choices] = []
        sets = HittingSets(self.universe, self.costs)
        known = 0
        chosen: Choices | None = frozenset()
        while len(found) < wanted and chosen is not None:
            for clause in self.clauses[known:]:
                sets.hit(clause)
            known = len(self.clauses)
            chosen = sets.best(None)
            if chosen is None:
                break
            if self.safe is not None and not found and self.cost(self.safe) == self.cost(chosen):
                chosen = self.safe
            judged = self._ask(chosen)
            if judged.safety is Safety.SAFE:
                found.append(chosen)
                sets.forbid(chosen)
            elif judged.safety is Safety.UNSAFE:
                self._shrink(judged.clause)
            elif not self._refuted_from_above(chosen):
                undecided.append(chosen)
                sets.exclude(chosen, sets.universe)
        self.found, self.undecided, self.exhausted = found, undecided, chosen is None

    def _known(self, chosen: Choices) -> WaitJudgement | None:
        """Return what clauses and safe sets say of a set."""
        for clause in self.clauses:
            if not clause & chosen:
                return WaitJudgement(Safety.UNSAFE, clause)
        return WaitJudgement(Safety.SAFE) if any(safe <= chosen for safe in self._safe) else None

    def _ask(self, chosen: Choices) -> WaitJudgement:
        """Decide a set, unless it is known what it is, or that this is not to be found out."""
        known = self._known(chosen) or self._unknown.get(chosen)
        if known is not None:
            return known
        judged = self.judge(chosen, self._patience)
        if judged.safety is Safety.SAFE:
            self._is_safe(chosen)
        elif judged.safety is Safety.UNSAFE:
            self.clauses.append(judged.clause)
        else:
            self._unknown[chosen] = judged
        return judged

    def _is_safe(self, chosen: Choices) -> None:
        self._safe = [each for each in self._safe if not chosen <= each] + [chosen]
        if self.safe is None or self.cost(chosen) < self.cost(self.safe):
            self.safe = chosen

    def _descend(self) -> None:
        """Take waits away one by one, the dear ones first, as long as what is left is safe: the more waits there are, the
        fewer runs, so these decisions are the quick ones."""
        left = frozenset(self.universe)
        for choice in self._dear_first(left - self.needed):
            if self._ask(left - {choice}).safety is Safety.SAFE:
                left -= {choice}

    def _refuted_from_above(self, chosen: Choices) -> bool:
        """Look for a larger set that is not safe, taking from all waits one after the other that a set has not."""
        left = frozenset(self.universe)
        for choice in self._dear_first(left - chosen):
            judged = self._ask(left - {choice})
            if judged.safety is Safety.UNSAFE:
                return True
            if judged.safety is Safety.SAFE:
                left -= {choice}
        return False

    def _shrink(self, clause: Choices) -> None:
        """Look for runs that are left by all but a part of a clause, which is a stronger clause."""
        everything = frozenset(self.universe)
        for choice in self._dear_first(clause):
            if choice in clause and len(clause) > 1:
                judged = self._ask(everything - clause | {choice})
                if judged.safety is Safety.UNSAFE:
                    clause = judged.clause

    def _dear_first(self, choices: Choices) -> list[InsertionChoice]:
        return sorted(choices, key=lambda c: (-self.costs[c], c.order))
