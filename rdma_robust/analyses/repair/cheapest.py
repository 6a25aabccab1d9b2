"""The search for a cheapest repair: candidates from counterexamples, each checked, each failure learnt from.

A candidate is a cheapest set that hits what every counterexample so far asks for, and keeps what is known of sets that
stand. If it does not stand, or a counterexample of before survives it, that gives another row; else the checker judges
the program with it. If that will do, it is a cheapest solution, because every solution that stands keeps all rows:
they say only what the extension lemma (`replay`) and paths (`counting`) prove. It is irreducible too: costs are positive,
and what is cheaper was excluded. Excluding the supersets of each solution found and going on lists all irreducible
ones, cheapest first.

Source: the implicit hitting set approach (Moreno-Centeno and Karp 2013).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal

from rdma_robust.analyses.repair.counting import Exactly, Refusal, commits, path_refusals, universe
from rdma_robust.analyses.repair.each_copy import EachCopy, Ties
from rdma_robust.analyses.repair.extension import Extension
from rdma_robust.analyses.repair.hitting import HittingSets, Lesson, OutOfTimeError
from rdma_robust.analyses.repair.keeping import Agreement, Deviation, HangComparison, Hangs, Where, unmoved, where_of
from rdma_robust.analyses.repair.patch import Patch, Patcher
from rdma_robust.analyses.repair.refused_runs import refused_by
from rdma_robust.analyses.repair.repairs import Choices, InsertionChoice, RepairOptions
from rdma_robust.analyses.repair.replay import End, anywhere, skeleton
from rdma_robust.analyses.repair.sites import Sites
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.spinning import spin_assumed
from rdma_robust.language.load import load_decidable
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict, Witness
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.reasons import waiting_among
from rdma_robust.semantics.trace import Trace
from rdma_robust.semantics.wording import torn

_RESERVE = 0.3
"""The share of the time that is kept for some solution when the cheapest is not found."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The answer whether a program is `good`, None if that was not decided, and why. If it is not, a counterexample: a
    trace whose threads come to the `end`, None for one that says nothing of other sets. `lasting`: no insertion changes
    that. `hopeless`: why no set can be proven. `model` is that of the counterexample."""

    good: bool | None
    reason: str
    trace: Trace | None = None
    end: End = anywhere
    violation: str = ""
    lasting: bool = False
    hopeless: str = ""
    model: Model | None = None


@dataclass
class Checker:
    """Decides whether programs are robust, until `deadline`, `given` seconds after the beginning, and counts them.

    With `others` they have to be robust under the model of the options and under each of these.
    """

    file: str
    options: CheckOptions
    deadline: float | None
    given: float | None = None
    checked: int = 0
    others: tuple[Model, ...] = ()
    fine: ClassVar[Literal["robust", "safe"]] = "robust"

    def left(self) -> float | None:
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    @property
    def late(self) -> bool:
        return self.left() == 0.0

    @property
    def models(self) -> tuple[Model, ...]:
        """The models under each of which programs have to be robust."""
        return (self.options.model, *self.others)

    def decide(self, program: Program, hardware: Model | None = None) -> Outcome:
        """Decide a program, on `hardware` if that is given, else under all models: return the first outcome that is not
        ROBUST, a counterexample rather than what was not decided, or else the last one."""
        if hardware is not None or not self.others:
            return self._decide_under(program, hardware)
        found = []
        for model in self.models:
            found.append(self._decide_under(program, model))
            if found[-1].verdict is Verdict.NOT_ROBUST:
                return found[-1]
        return next((each for each in found if each.verdict is not Verdict.ROBUST), found[-1])

    def _decide_under(self, program: Program, hardware: Model | None) -> Outcome:
        self.checked += 1
        own, options = self.options.timeout, replace(self.options, hardware=hardware or self.options.hardware)
        limits = Limits(self.deadline, options.max_states, options.memory, self.given)
        return decide(program, options, limits=limits if own is None else limits.within(own))

    def check(self, text: str) -> Outcome:
        """Decide a text as if it came from a file."""
        return self.decide(spin_assumed(load_decidable(text, self.file), self.options.await_loops))

    def judge(self, text: str, where: Where = unmoved) -> Judgement:
        """Decide whether a text with insertions will do. `where` tells where what is in the text is in the program's."""
        del where  # what is not robust is found in the events of the program itself
        outcome = self.check(text)
        if outcome.witness is not None:
            violation = _overtaking(outcome.witness)
            return Judgement(False, outcome.reason, outcome.witness.trace, violation=violation, model=outcome.model)
        hopeless = outcome.reason if waiting_among(outcome.faults) else ""
        return Judgement(True if outcome.verdict is Verdict.ROBUST else None, outcome.reason, hopeless=hopeless)

    def comparison(self, program: Program) -> HangComparison:
        """Return what compares the hangs of repaired programs with those of `program`."""
        return HangComparison(program, self.options.model, await_loops=self.options.await_loops)


def checker_of(
    checking: type[Checker], file: str, limits: CheckOptions, options: RepairOptions, deadline: float | None
) -> Checker:
    """Return what decides programs of a file, under all models of the options; `limits` have the hardware."""
    first, *others = options.models(limits.model)
    hardware = first if options.orders else limits.hardware
    return checking(file, replace(limits, hardware=hardware), deadline, options.timeout, others=tuple(others))


@dataclass(frozen=True, slots=True)
class PatchedSolution:
    """A solution: its choices, the patched text that the checker has found good, and what is known of its hangs."""

    chosen: Choices
    patch: Patch
    hangs: Hangs


@dataclass
class RepairSearch:
    """The state of one search.

    `exact` until something was left out that could have been a solution; `cheapest` if the first solution was found before.
    `exhausted` when there are no more candidates; then all sets are known. Every set that costs less than `least` is known
    to be no solution, but for those found. With `below` only what costs less is searched for.
    `undecided` counts the sets of which it is not known whether they will do; `hopeless` is why no set can be proven, if a
    message can wait for its receive: what stands changes nothing of that.
    For a program with families (`copies`) `sites` are those of the program written out, and `ties` say which choices are one
    statement.
    """

    sites: Sites
    checker: Checker
    options: RepairOptions
    comparison: HangComparison
    copies: EachCopy | None = None
    below: int | None = None
    found: list[PatchedSolution] = field(default_factory=list)
    cycles: int = 0
    exact: bool = True
    cheapest: bool = False
    exhausted: bool = False
    least: int = 0
    undecided: int = 0
    hopeless: str = ""
    ties: Ties | None = None
    _paid: frozenset[InsertionChoice] | None = None
    _bones: list[Extension] = field(default_factory=list)

    def cost(self, choice: InsertionChoice) -> int:
        if self._paid is not None and choice not in self._paid:
            return 0
        return self.options.costs.of(choice.kind, self.sites.places[choice.place].depth)

    @cached_property
    def patcher(self) -> Patcher:
        safe = self.checker.fine == "safe"
        return Patcher(self.sites, robust=not safe, safe=safe)

    def run(self, first: Judgement) -> None:
        """Search from the first counterexample on, until the answer or the end of the time."""
        try:
            standing = self.checker.fine == "safe" and bool(self.sites.program.invariants)
            everything = universe(self.sites, self.stop, every=self.options.all_minimal, standing=standing)
            sets = HittingSets(everything, {c: self.cost(c) for c in everything})
            if self.copies is not None:
                sets = self._tied(self.copies, everything)
            self._learn(sets, first, frozenset(), ())
            wanted = self.options.most_solutions if self.options.all_minimal else 1
            while len(self.found) < wanted and not self.hopeless:
                chosen = sets.best(self._left())
                if chosen is None:
                    self.exhausted = True
                    return
                price = sum(map(self.cost, chosen))
                if self.below is not None and price >= self.below:
                    self.exhausted = not self.found
                    return
                if self.exact:
                    self.least = price
                self._try(sets, chosen)
        except OutOfTimeError:
            self.exact = False

    def _tied(self, copies: EachCopy, everything: tuple[InsertionChoice, ...]) -> HittingSets:
        """Return the sets of a program with families, whose statements are each one, and cost what one does."""
        self.ties = ties = copies.ties(self.sites, everything)
        self._paid = frozenset(group[0] for group in ties.groups.values())
        self.exact &= ties.exact
        sets = HittingSets(everything, {c: self.cost(c) for c in everything})
        for group in ties.groups.values():
            sets.tie(group)
        sets.leave(ties.left)
        return sets

    def stop(self) -> None:
        """Raises OutOfTimeError if there is no time left."""
        if self.checker.late:
            raise OutOfTimeError

    def _left(self) -> float | None:
        """The seconds left, without what is kept for finding some solution. Raises OutOfTimeError if there are none."""
        left, whole = self.checker.left(), self.options.timeout
        if left is None or whole is None:
            return None
        left = left if self.found else left - _RESERVE * whole
        if left <= 0:
            raise OutOfTimeError
        return left

    def _try(self, sets: HittingSets, chosen: Choices) -> None:
        """Find out about one candidate."""
        if self._known(sets, chosen):
            return
        refused = path_refusals(self.sites, chosen)
        patch = self.patcher.patch(chosen)
        if refused or commits(self.sites, chosen):
            refused = self._by_runs(chosen, patch, refused)
            for refusal in refused:
                sets.refuse(refusal)
            if refused:
                return
        judged = self.checker.judge(patch.text, where_of(patch.edits))
        if judged.good:
            found = self.judged(chosen, patch)
            if not isinstance(found, PatchedSolution):
                sets.refuse(found)
                return
            self.cheapest = self.cheapest or (self.exact and not self.found)
            self.found.append(found)
            sets.forbid(chosen)
        elif judged.good is False:
            self._learn(sets, judged, chosen, patch.new)
        else:
            self.exact = False
            self.undecided += 1
            self.hopeless = judged.hopeless
            sets.exclude(chosen, sets.universe)

    def _by_runs(self, chosen: Choices, patch: Patch, by_paths: list[Refusal]) -> list[Refusal]:
        """Return why a set of which paths do not say that it stands does not: what a run says, nothing if it stands.

        If a limit comes first the set is left out, and with it what the path says of others.
        """
        found = self.comparison.kept(patch.text, where_of(patch.edits), self.checker.deadline)
        if isinstance(found, Agreement):
            return []
        if found is not None:
            return [refused_by(self.sites, chosen, found)]
        self.exact = False
        self.undecided += 1
        return by_paths or [Exactly(chosen, frozenset(range(len(self.sites.places))))]

    def judged(self, chosen: Choices, patch: Patch) -> PatchedSolution | Refusal:
        """Return a good candidate with what is known of its hangs; what its run says if it has one that the program has
        not."""
        hangs = self.comparison.hangs(patch.text, where_of(patch.edits), self.checker.deadline)
        if isinstance(hangs, Deviation):
            return refused_by(self.sites, chosen, hangs)
        if self._doubtful(chosen, hangs):
            self.exact = False
            self.undecided += 1
            return Exactly(chosen, frozenset(range(len(self.sites.places))))
        return PatchedSolution(chosen, patch, hangs)

    def _doubtful(self, chosen: Choices, hangs: Hangs) -> bool:
        """Whether a set may let a thread wait that did not, as far as its paths and the search for hangs tell.

        What is robust runs as under sequential consistency, where runs were compared if paths did not say that it stands.
        What is only safe may run otherwise.
        """
        if self.checker.fine == "robust":
            return hangs == "unknown" and commits(self.sites, chosen)
        return hangs != "none" and (commits(self.sites, chosen) or bool(path_refusals(self.sites, chosen)))

    def _known(self, sets: HittingSets, chosen: Choices) -> bool:
        """Learn from all counterexamples of before that a candidate leaves."""
        found = False
        for bones in self._bones:
            self.stop()
            found |= Lesson(bones, sets, chosen, self._on_time).learn()
        return found

    def _on_time(self) -> bool:
        return not self.checker.late

    def _learn(self, sets: HittingSets, judged: Judgement, chosen: Choices, new: tuple[tuple[int, int], ...]) -> None:
        """Add the clause of a counterexample to `chosen`."""
        self.cycles += 1
        trace, model = judged.trace, judged.model or self.checker.options.model
        found = None if trace is None else skeleton(self.sites, trace, new, model, judged.end)
        if found is not None:
            self._bones.append(Extension(found, sets.universe, model))
            if Lesson(self._bones[-1], sets, chosen, self._on_time).learn():
                return
        sets.exclude(chosen, sets.universe)


def _overtaking(witness: Witness) -> str:
    pairs = {(a.step.span.where, b.step.span.where) for a, b in witness.relaxed if a.step is not None and b.step is not None}
    told = [f"line {later} takes effect before line {earlier}" for earlier, later in sorted(pairs)]
    atomics = (edge.source for edge in witness.cycle.edges if edge.relation == "rmw")
    return ", ".join(told or (torn(f"of line {e.step.span.where}") for e in atomics if e.step is not None))
