"""The loop of predicate abstraction: check the boolean program, see whether what it found is real, else add predicates."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from rdma_robust.analyses.prove.path_values import path_values
from rdma_robust.analyses.prove.predicates.boolean_checker import BooleanChecker, CheckResult, FoldedMore
from rdma_robust.analyses.prove.predicates.cube_oracle import SolverCounts, Vocabulary
from rdma_robust.analyses.prove.predicates.linear_atoms import predicates_of
from rdma_robust.analyses.prove.predicates.paths import NewPredicates, PathFeasibility, can_be_taken, predicates_against
from rdma_robust.analyses.prove.predicates.solving import Formulas, is_fresh, ways_of
from rdma_robust.analyses.prove.predicates.transformers import LARGEST, BooleanProgram, Transformers
from rdma_robust.analyses.prove.transition_system import AbstractPath, Control, TransitionSystem, Update
from rdma_robust.expr import Expr, names
from rdma_robust.limits import Limits, Progress

DEPTH: Final = 2
"""Assignments back from an atom, at first."""

DEEPEST: Final = 6
"""Assignments back at most. Going back is cheap: a predicate that is there exactly needs no search for cubes."""

MOST: Final = 64
"""No more predicates than this by closing; what they do not say, refinement finds."""


def seeds(
    seen: Iterable[tuple[Update, ...]],
    conditions: Iterable[tuple[Update, ...]],
    together: Collection[frozenset[str]],
    depth: int = DEPTH,
) -> tuple[Expr, ...]:
    """Return the predicates of guards of what was `seen` and of `conditions` of claims, and what these are before at most
    `depth` assignments: those with fewer first, in the order in which they were seen. A predicate is of use only where all
    its variables are live, `together`."""
    programs = tuple(way for updates in dict.fromkeys((*conditions, *seen)) for way in ways_of(updates))
    found = dict.fromkeys(_atoms(way.guard for way in programs))
    layer = tuple(found)
    for _ in range(depth):
        before = (
            each
            for way in programs
            for predicate in layer
            if not way.written.isdisjoint(names(predicate))
            for each in way.before(predicate)
        )
        layer = tuple(dict.fromkeys(each for each in _atoms(before) if each not in found and _live(each, together)))
        if len(found) + len(layer) > MOST:
            break
        found |= dict.fromkeys(layer)
    return tuple(found)


def _live(predicate: Expr, together: Collection[frozenset[str]]) -> bool:
    used = frozenset(names(predicate))
    return any(used <= live for live in together)


def _atoms(conditions: Iterable[Expr]) -> Iterator[Expr]:
    for condition in conditions:
        for each in predicates_of(condition):
            if not any(is_fresh(name) for name in names(each)):
                yield each


ROUNDS: Final = 30
"""So many spurious paths are refined before another engine is asked."""

PAIRS: Final = 2
"""Literals of cubes while predicates are still added: a search for larger ones takes longer than finding predicates does."""

_PATH_MS: Final = 10_000


@dataclass
class RefinementResult:
    """The end of the loop: with the last `checked`, `stuck` if it could not rule out its path, which cannot be taken."""

    checked: CheckResult
    overflowed: bool
    stuck: bool


@dataclass
class Refinement:
    """The loop over one system, from predicates that may be given. With `single` each update is a statement of its own."""

    system: TransitionSystem
    formulas: Formulas
    limits: Limits
    progress: Progress
    given: Iterable[Expr] = ()
    single: bool = False
    counts: SolverCounts = field(default_factory=SolverCounts)
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    overflows: set[Control] = field(default_factory=set)
    folded: set[str] = field(default_factory=set)
    seen: dict[tuple[Update, ...], None] = field(default_factory=dict)
    conditions: dict[tuple[Update, ...], None] = field(default_factory=dict)
    together: dict[frozenset[str], None] = field(default_factory=dict)
    depth: int = DEPTH
    rounds: int = 0
    states: int = 0
    taken: int = 0
    check_seconds: float = 0.0

    def __post_init__(self) -> None:
        for each in self.given:
            self.vocabulary.add(each)
        poll: Callable[[], None] = self.limits.poll("building the boolean program")
        self.transformers = Transformers(self.vocabulary, self.formulas, self.counts, poll, single=self.single)

    def run(self) -> RefinementResult:
        """Return how it ended. Raises LimitReached while transformers are built."""
        while True:
            checked = self.checked()
            if checked.path is None:
                return RefinementResult(checked, bool(self.overflows), False)
            taken = self.is_real(checked.path)
            if taken is not PathFeasibility.NO and not checked.overflow:
                return RefinementResult(checked, bool(self.overflows), False)
            if taken is not PathFeasibility.NO:
                self.overflows.add(checked.path.transitions[-1].to if checked.path.transitions else self.system.initial())
            elif self.overflows:  # then nothing can be proven, and predicates are not worth their time
                return RefinementResult(replace(checked, path=None), True, False)
            elif not self._better(checked.path):
                return RefinementResult(checked, bool(self.overflows), True)

    def _better(self, path: AbstractPath) -> bool:
        """Let the program know more, cheapest first: predicates of the text, pairs in cubes, predicates further back from
        the text, predicates against this path, and where there are none of these, larger cubes."""
        if self._add(self._seeds()) or self.transformers.enlarge(PAIRS):
            return True
        while self.depth < DEEPEST:
            self.depth += 1
            if self._add(self._seeds()):
                return True
        self.rounds += 1
        return (self.rounds <= ROUNDS and self._refined(path)) or self.transformers.enlarge(LARGEST)

    def _seeds(self) -> tuple[Expr, ...]:
        return seeds(self.seen, self.conditions, self.together, self.depth)

    def checked(self, program: BooleanProgram | None = None) -> CheckResult:
        """Search the boolean program as it is, or another one."""
        started = time.monotonic()
        while True:
            checker = BooleanChecker(self.system, program or self.transformers, self.folded, self.overflows)
            try:
                checked = checker.run(self.limits, self.progress)
            except FoldedMore:
                continue
            finally:
                self.check_seconds += time.monotonic() - started
                started = time.monotonic()
            self.states, self.taken = checked.states, checked.taken
            self.seen.update(checked.seen)
            self.conditions.update(checked.conditions)
            self.together.update(checked.together)
            return checked

    def is_real(self, path: AbstractPath) -> PathFeasibility:
        """Find out whether a path can be taken: by its values, and where these are drawn, perhaps by the solver."""
        feasible = path_values(self.system, path).feasible
        if feasible is not None:
            return PathFeasibility.YES if feasible else PathFeasibility.NO
        self.counts.called += 1
        return can_be_taken(self.system, path, self.formulas, self.milliseconds(_PATH_MS))

    def _refined(self, path: AbstractPath) -> bool:
        """Add predicates that may rule out a path; return whether there are new ones."""
        self.counts.called += 1
        found: NewPredicates = predicates_against(self.system, path, self.formulas, self.milliseconds(_PATH_MS))
        return self._add(found.atoms) or self._add(found.both) or self._add(found.whole)

    def _add(self, predicates: Iterable[Expr]) -> bool:
        before = len(self.vocabulary)
        for each in predicates:
            self.vocabulary.add(each)
        return len(self.vocabulary) > before

    def milliseconds(self, most: int) -> int:
        """Return how long the solver may take for one question."""
        left = self.limits.seconds_left()
        return most if left is None else max(1, min(most, int(1000 * left)))
