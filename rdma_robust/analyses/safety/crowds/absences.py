"""Hangs and final states of any number of copies: what may be one, among markings whose finite numbers are exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from rdma_robust.analyses.safety.crowds.copy_steps import LocalPart, SharedPart
from rdma_robust.analyses.safety.crowds.exact_markings import ANY, MarkingSearch, Tokens, search_exact
from rdma_robust.analyses.safety.crowds.instances import of_copy
from rdma_robust.analyses.safety.crowds.safety_system import Control, SafetySystem
from rdma_robust.analyses.safety.goals import HangGoal, StateGoal
from rdma_robust.expr import Binary, Const, Expr, Name, Unary, names
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.semantics.machines.resting import HANGING, LargeLoopError, Rest, RestTest, is_still, places_of

_OVER: Final = frozenset({Rest.FAULT, Rest.ASIDE})
_MIRRORED: Final = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NEGATED: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def search_absence(
    system: SafetySystem, goal: StateGoal | HangGoal, limits: Limits, progress: Progress = ignore
) -> MarkingSearch:
    """Look for markings that may be a hang, or a final state with a condition; the system's goals have what they look at."""
    may_be = _MayHang(system) if isinstance(goal, HangGoal) else _MayEnd(system, goal)
    return search_exact(system, may_be, limits, progress)


class _MayHang:
    """Whether a marking may be a hang: all threads are at rest, none has ended the execution, and one waits for ever."""

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
            if not is_still(self.steps.machine, state):
                return False, False
            ends = [self._ends(state, t) - _OVER for t in self.steps.named]
            return all(ends), any(each & HANGING for each in ends)
        ends = [self._of_start(shared, each) for each in self._starts(local)]
        return any(ends), any(each & HANGING for each in ends)

    def _of_start(self, shared: SharedPart, local: LocalPart) -> frozenset[Rest]:
        if local.thread.carried:  # type: ignore[union-attr]
            return frozenset()
        return self._ends(self.steps.state(shared, local), self.steps.crowd[local.template]) - _OVER

    def _starts(self, local: LocalPart) -> Iterator[LocalPart]:
        places = self.steps.starts[local.template] if local.thread is None else (local.thread,)
        return (local._replace(thread=place) for place in places)

    def _ends(self, state: Any, t: int) -> frozenset[Rest]:
        """Return what a thread may end up in. Registers that it no longer uses are not as they were, so that it may have to
        read before it is where it stays."""
        return self.test.ends_of_thread(t, places_of(self.steps.machine, state)[t], state.memory)


class _MayEnd:
    """Whether a marking may be a final state with a condition: all threads have ended."""

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
            case Binary(op, Name(name), Const(number)) if op in _NEGATED:
                return self._compares(name, op if wanted else _NEGATED[op], number, shared, tokens)
            case Binary(op, Const(number), Name(name)) if op in _NEGATED:
                op = _MIRRORED[op]
                return self._compares(name, op if wanted else _NEGATED[op], number, shared, tokens)
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
