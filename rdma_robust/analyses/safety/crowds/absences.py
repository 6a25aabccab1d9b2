"""Hangs and final states of any number of copies: what may be one, among markings whose finite numbers are exact.

Whether a program hangs, or how it ends, is about all copies: each of them is stuck, or has ended. That is no coverability.
But every marking that can be reached is one of those that this search keeps, with some number in the place of "any":

- a marking that is reached is dropped only if a kept one of the same control state has, for each local state, the same
  number or "any";
- a number becomes "any" if an ancestor of the same control state has fewer, and nowhere more (Karp and Miller), or if the
  token came from a local state with "any" and the same move can be made again right after (copycats).

So if none of them can be made one of the markings in question by choosing numbers for "any", none of those can be reached.
The opposite does not follow: which numbers go together is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from rdma_robust.analyses.safety.crowds.copy_steps import LocalPart, SharedPart
from rdma_robust.analyses.safety.crowds.instances import of_copy
from rdma_robust.analyses.safety.crowds.safety_system import Control, Doing, SafetySystem
from rdma_robust.analyses.safety.goals import HangGoal, StateGoal
from rdma_robust.counting.interned import Few, NumberedMove, NumberedSystem, fire_move, set_bits, support
from rdma_robust.expr import MIRRORED, OPPOSITE, Binary, Const, Expr, Name, Unary, names
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.semantics.machines.resting import HANGING, LargeLoopError, RestKind, RestTest

_OVER: Final = frozenset({RestKind.FAULT, RestKind.ASIDE})


def search_absence(
    system: SafetySystem, goal: StateGoal | HangGoal, limits: Limits, progress: Progress = ignore
) -> MarkingSearch:
    """Look for markings that may be a hang, or a final state with a condition; the system's goals have what they look at."""
    may_be = _MayHang(system) if isinstance(goal, HangGoal) else _MayEnd(system, goal)
    return search_exact(system, may_be, limits, progress)


class _MayHang:
    """The test for what may be a hang: all threads are at rest, none has ended the execution, and one waits forever."""

    def __init__(self, system: SafetySystem) -> None:
        self.steps = system.steps
        self.test = RestTest(system.steps.single)
        self._known: dict[tuple[SharedPart, LocalPart | None], tuple[bool, bool]] = {}

    def __call__(self, control: Control, tokens: Tokens) -> bool:
        if not isinstance(control, SharedPart):
            return False
        rests, hangs = self._at_rest(control, None)
        if not rests:
            return False
        for local, number in tokens.items():
            resting, hanging = self._at_rest(control, local)
            if not resting and number != ANY:
                return False
            hangs = hangs or (resting and hanging)
        return hangs

    def _at_rest(self, shared: SharedPart, local: LocalPart | None) -> tuple[bool, bool]:
        """Return whether a copy, or all named threads, may be at rest without an end of the execution, and may hang."""
        found = self._known.get((shared, local))
        if found is None:
            try:
                found = self._look(shared, local)
            except LargeLoopError:
                found = True, True
            self._known[shared, local] = found
        return found

    def _look(self, shared: SharedPart, local: LocalPart | None) -> tuple[bool, bool]:
        if local is None:
            state = self.steps.state(shared, None)
            if not self.steps.machine.is_still(state):
                return False, False
            ends = [self._ends(state, t) - _OVER for t in self.steps.named]
            return all(ends), any(each & HANGING for each in ends)
        ends = [self._of_start(shared, each) for each in self._starts(local)]
        return any(ends), any(each & HANGING for each in ends)

    def _of_start(self, shared: SharedPart, local: LocalPart) -> frozenset[RestKind]:
        if local.thread.carried:  # type: ignore[union-attr]
            return frozenset()
        return self._ends(self.steps.state(shared, local), self.steps.crowd[local.template]) - _OVER

    def _starts(self, local: LocalPart) -> Iterator[LocalPart]:
        places = self.steps.starts[local.template] if local.thread is None else (local.thread,)
        return (local._replace(thread=place) for place in places)

    def _ends(self, state: Any, t: int) -> frozenset[RestKind]:
        """Return what a thread may end up in. Registers that it no longer uses are not as they were, so that it may have to
        read before it is where it stays."""
        return self.test.ends_of_thread(t, self.steps.machine.places(state)[t], state.memory)


class _MayEnd:
    """The test whether a marking may be a final state with a condition: all threads have ended."""

    def __init__(self, system: SafetySystem, goal: StateGoal) -> None:
        self.system = system
        self.steps = system.steps
        self.target = goal.target
        self.counts = dict(goal.target.counts)
        self._numbers = {t.name: k for k, t in enumerate(system.program.crowds)}
        self._tests: dict[str, Callable[[SharedPart, LocalPart | None], bool]] = {
            name: system.test(*of_copy(counted, system.program, 1)) for name, counted in self.counts.items()
        }
        self._shared: dict[Expr, Callable[[SharedPart, LocalPart | None], bool]] = {}

    def __call__(self, control: Control, tokens: Tokens) -> bool:
        if not isinstance(control, SharedPart) or not self._ended_named(control):
            return False
        if any(number != ANY and not self._ending(local) for local, number in tokens.items()):
            return False
        return self._may(self.target.condition, control, tokens, wanted=True)

    def _ended_named(self, shared: SharedPart) -> bool:
        threads = self.steps.single.threads
        pairs = zip(self.steps.named, shared.threads, strict=True)
        return all(place.point == threads[t].exit and not place.carried for t, place in pairs)

    def _ending(self, local: LocalPart) -> list[LocalPart]:
        """Return the local part of a copy that has ended; of one that has not started, as it ends without a step."""
        end = self.steps.single.threads[self.steps.crowd[local.template]].exit
        places = self.steps.starts[local.template] if local.thread is None else (local.thread,)
        return [local._replace(thread=p) for p in places if p.point == end and not p.carried]

    def _may(self, expr: Expr, shared: SharedPart, tokens: Tokens, *, wanted: bool) -> bool:
        """Whether the condition may be true, or false if it is not `wanted`; true where that is not clear."""
        if not any(name in self.counts for name in names(expr)):
            return self._shared_test(expr)(shared, None) is wanted
        match expr:
            case Unary("!", arg):
                return self._may(arg, shared, tokens, wanted=not wanted)
            case Binary("&&" | "||" as op, left, right):
                both = (op == "&&") is wanted
                found = self._may(left, shared, tokens, wanted=wanted)
                return (self._may(right, shared, tokens, wanted=wanted)) if found is both else found
            case Name(name):
                return self._compares(name, ">=" if wanted else "<", 1, shared, tokens)
            case Binary(op, Name(name), Const(number)) if op in OPPOSITE:
                return self._compares(name, op if wanted else OPPOSITE[op], number, shared, tokens)
            case Binary(op, Const(number), Name(name)) if op in OPPOSITE:
                op = MIRRORED[op]
                return self._compares(name, op if wanted else OPPOSITE[op], number, shared, tokens)
            case _:
                return True

    def _compares(self, name: str, op: str, number: int, shared: SharedPart, tokens: Tokens) -> bool:
        """Whether the number of copies may compare so with another."""
        k, test = self._numbers[self.counts[name].thread], self._tests[name]
        mine = [(each, n) for local, n in tokens.items() if local.template == k for each in self._ending(local)]
        meeting = [n for local, n in mine if test(shared, local)]
        low = sum(n for n in meeting if n != ANY)
        high = None if ANY in meeting else low
        match op:
            case ">=":
                return high is None or high >= number
            case ">":
                return high is None or high > number
            case "<=":
                return low <= number
            case "<":
                return low < number
            case "==":
                return low <= number and (high is None or number <= high)
            case _:
                return high is None or low != number

    def _shared_test(self, expr: Expr) -> Callable[[SharedPart, LocalPart | None], bool]:
        found = self._shared.get(expr)
        if found is None:
            found = self._shared[expr] = self.system.test(expr, dict(self.target.atoms))
        return found


ANY: Final = -1
"""The number of tokens that may be any."""

Tokens = Mapping[LocalPart, int]
"""The number of tokens of each local state that has some, or ANY; that of a fresh one is always ANY."""


@dataclass(frozen=True)
class MarkingSearch:
    """`possible` if a marking was kept that may be one of those in question; else none can be reached, unless `cut` names
    the limit that ended the search. `markings` were kept."""

    possible: bool
    cut: str
    markings: int


@dataclass(frozen=True, slots=True)
class _Node:
    """A marking in the numbers of :class:`NumberedSystem`: `wide` are the local states with any number of tokens."""

    control: int
    wide: int
    few: Few
    before: _Node | None


def search_exact(
    system: SafetySystem, may_be: Callable[[Control, Tokens], bool], limits: Limits, progress: Progress = ignore
) -> MarkingSearch:
    """Search until a marking may be one in question, all were seen, or a limit is reached."""
    search = _Search(system)
    kept: dict[int, list[_Node]] = {}
    todo = [_Node(0, search.known.fresh, {}, None)]
    stored = 0
    reached = limits.watch()
    while todo:
        node = _raised(todo.pop())
        those = kept.setdefault(node.control, [])
        if any(_stands_for(other, node) for other in those):
            continue
        if may_be(search.known.controls[node.control], search.tokens(node)):
            return MarkingSearch(possible=True, cut="", markings=stored)
        those.append(node)
        stored += 1
        if limits.states is not None and stored > limits.states:
            return MarkingSearch(possible=False, cut="states", markings=stored)
        if cut := reached():
            return MarkingSearch(possible=False, cut=cut, markings=stored)
        if stored % 256 == 0:
            progress(stored, len(todo))
        todo += search.following(node)
    return MarkingSearch(possible=False, cut="", markings=stored)


class _Search:
    def __init__(self, system: SafetySystem) -> None:
        self.known: NumberedSystem[Control, LocalPart, Doing] = NumberedSystem(system)
        self._again: dict[int, bool] = {}

    def tokens(self, node: _Node) -> dict[LocalPart, int]:
        names = self.known.locals
        return {names[i]: ANY for i in set_bits(node.wide)} | {names[i]: n for i, n in node.few.items()}

    def following(self, node: _Node) -> Iterator[_Node]:
        present = support(node.wide, node.few)
        for step in chain(self.known.away(node.control, present), self.known.loops(node.control, present)):
            if step.need & ~present or (few := fire_move(step, node.wide, node.few)) is None:
                continue
            wide = node.wide
            if step.need and not step.need & ~wide and self._can_be_made_again(step):
                wide |= step.gain
                few = {local: number for local, number in few.items() if not wide >> local & 1}
            yield _Node(step.control, wide, few, node)

    def _can_be_made_again(self, step: NumberedMove) -> bool:
        """Whether the same tokens can be taken once more right after a step, with the same tokens and control then."""
        found = self._again.get(step.move)
        if found is None:
            present = step.need | self.known.fresh
            others = chain(self.known.away(step.control, present), self.known.loops(step.control, present))
            same = (o for o in others if o.takes == step.takes and o.gives == step.gives)
            found = self._again[step.move] = any(other.control == step.control for other in same)
        return found


def _raised(node: _Node) -> _Node:
    """Return the marking with any number of those tokens of which an ancestor of the same control state has fewer, if it
    has of none more."""
    wide, few = node.wide, node.few
    before = node.before
    while before is not None:
        if before.control == node.control and not before.wide & ~wide and _at_least(wide, few, before.few):
            grown = [local for local, number in few.items() if before.few.get(local, 0) != number]
            if grown:
                for local in grown:
                    wide |= 1 << local
                few = {local: number for local, number in few.items() if not wide >> local & 1}
        before = before.before
    return _Node(node.control, wide, few, node.before)


def _at_least(wide: int, few: Few, lesser: Few) -> bool:
    return all(wide >> local & 1 or few.get(local, 0) >= number for local, number in lesser.items())


def _stands_for(general: _Node, node: _Node) -> bool:
    """Whether choosing numbers for "any" makes `general` every marking that `node` can be made."""
    if node.wide & ~general.wide or any(node.few.get(local) != number for local, number in general.few.items()):
        return False
    return all(general.wide >> local & 1 or local in general.few for local in node.few)
