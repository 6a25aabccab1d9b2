"""The search for a cheapest repair: candidates from counterexamples, each checked, each failure learnt from.

A candidate is a cheapest set that hits what every counterexample so far asks for. If the checker proves the program with it
robust, it is a cheapest solution, because every solution hits all clauses: the clauses say only what the projection and the
extension lemma (`replay`) and the superset lemma (`counting`) prove. It is irreducible too: costs are positive. Excluding
the supersets of each solution found and going on lists all irreducible ones, cheapest first.

Source: the implicit hitting set approach (Moreno-Centeno and Karp 2013).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from rdma_robust.analyses.repair.candidates import universe
from rdma_robust.analyses.repair.counting import Plan, Refused, plan
from rdma_robust.analyses.repair.hitting import HittingSets, OutOfTimeError
from rdma_robust.analyses.repair.patch import Patch, Patcher, Usage
from rdma_robust.analyses.repair.repairs import FLUSHES, Choice, Choices, Kind, RepairOptions
from rdma_robust.analyses.repair.replay import Skeleton, skeleton
from rdma_robust.analyses.repair.sites import Sites
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.waiting import blocking
from rdma_robust.language.load import load_program
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict, Witness
from rdma_robust.robustness.decide import decide

_RESERVE = 0.3
"""The share of the time that is kept for some solution when the cheapest is not found."""

_MOST_WORDS = 4
"""Words of a node that are tried before another one is declared."""


@dataclass
class Checker:
    """Decides programs until `deadline` and counts them."""

    file: str
    options: CheckOptions
    deadline: float | None
    checked: int = 0

    def left(self) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    @property
    def late(self) -> bool:
        return self.left() == 0.0

    def decide(self, program: Program) -> Outcome:
        self.checked += 1
        left, own = self.left(), self.options.timeout
        limit = left if own is None else own if left is None else min(own, left)
        return decide(program, replace(self.options, timeout=limit))

    def check(self, text: str) -> Outcome:
        """Decide a text as if it came from a file."""
        return self.decide(blocking(load_program(text, self.file), self.options.await_loops))


@dataclass(frozen=True, slots=True)
class Found:
    """A solution: its choices and the patched text that the checker has found robust."""

    chosen: Choices
    plan: Plan
    patch: Patch


@dataclass
class Search:
    """The state of one search.

    `exact` until something was left out that could have been a solution; `cheapest` if the first solution was found before.
    `exhausted` when there are no more candidates.
    """

    sites: Sites
    checker: Checker
    options: RepairOptions
    found: list[Found] = field(default_factory=list)
    cycles: int = 0
    exact: bool = True
    cheapest: bool = False
    exhausted: bool = False

    def run(self, first: Witness) -> None:
        """Search from the first counterexample on, until the answer or the end of the time."""
        try:
            choices = universe(self.sites, self._stop)
        except OutOfTimeError:
            self.exact = False
            return
        costs = {c: self.options.costs.of(c.kind, self.sites.places[c.place].depth) for c in choices}
        sets = HittingSets(choices, costs)
        patcher = Patcher(self.sites)
        self._learn(sets, first, frozenset(), ())
        wanted = self.options.most_solutions if self.options.all_minimal else 1
        while len(self.found) < wanted:
            left = self._left()
            if left == 0.0:
                self.exact = False
                return
            try:
                chosen = sets.best(left)
            except OutOfTimeError:
                self.exact = False
                return
            if chosen is None:
                self.exhausted = True
                return
            self._try(sets, patcher, chosen)

    def _stop(self) -> None:
        if self.checker.late:
            raise OutOfTimeError

    def _left(self) -> float | None:
        """The seconds left, without what is kept for finding some solution."""
        left, whole = self.checker.left(), self.options.timeout
        if left is None or whole is None:
            return None
        return left if self.found else max(0.0, left - _RESERVE * whole)

    def _try(self, sets: HittingSets, patcher: Patcher, chosen: Choices) -> None:
        """Check one candidate."""
        planned = plan(self.sites, chosen)
        if isinstance(planned, Refused):
            if planned.blocks:
                sets.forbid(planned.chosen)
            else:
                among = planned.among.intersection(sets.universe)
                sets.exclude(planned.chosen & among, among)
            return
        patch = patcher.patch(chosen, planned)
        outcome = self.checker.check(patch.text)
        if outcome.verdict is Verdict.ROBUST:
            self.cheapest = self.cheapest or (self.exact and not self.found)
            self.found.append(Found(chosen, planned, patch))
            sets.forbid(chosen)
        elif outcome.witness is not None:
            self._learn(sets, outcome.witness, chosen, patch.new)
        else:
            self.exact = False
            sets.exclude(chosen, sets.universe)

    def _learn(self, sets: HittingSets, witness: Witness, chosen: Choices, new: tuple[tuple[int, int], ...]) -> None:
        """Add the clause of a counterexample to `chosen`: an insertion outside of a largest set that it survives."""
        self.cycles += 1
        bones = skeleton(self.sites, witness.trace, new)
        kept = chosen
        if bones is not None and bones.survives(chosen, self.checker.options.model):
            kept = self._grown(bones, chosen, sets.cheapest_first)
        sets.hit(c for c in sets.universe if c not in kept)

    def _grown(self, bones: Skeleton, chosen: Choices, choices: tuple[Choice, ...]) -> Choices:
        """Return a superset of `chosen` that the trace survives and to which nothing can be added, by repeated halving.

        What comes first in `choices` is kept if there is a choice: with the cheap ones kept, the clause asks for dear ones.
        Late in the time it may be less.
        """
        kept = chosen | {c for c in choices if c.place not in bones.places}
        model = self.checker.options.model

        def add(group: list[Choice], kept: Choices) -> Choices:
            if self.checker.late:
                return kept
            if not group or bones.survives(kept | frozenset(group), model):
                return kept | frozenset(group)
            if len(group) == 1:
                return kept
            half = len(group) // 2
            return add(group[half:], add(group[:half], kept))

        return add([c for c in choices if c not in kept], kept)

    def any_solution(self) -> None:
        """Look for some solution: as many flushes as can stand, and then without those that are not needed."""
        patcher = Patcher(self.sites)
        chosen: Choices = frozenset()
        for choice in universe(self.sites, self._stop):
            more = chosen | {choice}
            same = any(c.place == choice.place and c.node == choice.node for c in chosen)
            if choice.kind in FLUSHES and not same and isinstance(plan(self.sites, more), Plan):
                chosen = more
        best = self._robust(patcher, chosen)
        costly = sorted(
            chosen, key=lambda c: (-self.sites.places[c.place].depth, c.kind is not Kind.REFILL, c.place, c.node)
        )
        for choice in costly:
            if best is None or self.checker.late:
                break
            best = self._robust(patcher, best.chosen - {choice}) or best
        if best is not None:
            self.found.append(best)

    def _robust(self, patcher: Patcher, chosen: Choices) -> Found | None:
        planned = plan(self.sites, chosen)
        if isinstance(planned, Refused):
            return None
        patch = patcher.patch(chosen, planned)
        robust = self.checker.check(patch.text).verdict is Verdict.ROBUST
        return Found(chosen, planned, patch) if robust else None

    def with_words(self, found: Found) -> Found:
        """Return a solution whose flushes read words of the program, where it stays robust, instead of declared ones."""
        reads: dict[str, str] = {}
        for node in sorted({c.node for c in found.chosen if c.kind in FLUSHES}):
            usage = Usage(self.sites.program)
            if usage.unwritten(node):
                continue
            for word in [w.name for w in usage.words(node)][:_MOST_WORDS]:
                if self.checker.late:
                    return found
                patch = Patcher(self.sites, {**reads, node: word}).patch(found.chosen, found.plan)
                if self.checker.check(patch.text).verdict is Verdict.ROBUST:
                    reads[node] = word
                    found = replace(found, patch=patch)
                    break
        return found
