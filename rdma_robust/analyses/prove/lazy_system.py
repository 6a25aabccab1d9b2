"""Fewer states: steps that concern nobody are taken alone, and buffers and cards move only where somebody can tell.

Both are about runs of the unreduced system, with all wide values; what holds for them holds for engines that know less.
Two moves are *independent* if neither makes the other possible and neither writes a word that the other uses: next to each
other they can be made in either order, with the same result.

**Lazy moves.** Take a run to a violation. A move of a buffer or card is *due* at the first step of a thread behind it that
it is not independent of (or that waits for it), or at which a later such move that it is not independent of is due; the look
of a claim at its words counts as a last step that reads them. Put each move directly before the step at which it is due,
those due at the same step in their old order; leave out those that are never due. Everything that a move is put behind is
independent of it: threads take the same steps, with the same result. So it is enough to take before each step of a thread,
and before a claim looks, any sequence of moves all of which are due there. `_Due` finds them: only what can come to be due
(the least set closed under dependence, from the step), each sequence only if every move in it is followed by one, or by the
step, that depends on it, and of sequences that differ in the order of independent neighbours one.

**Steps alone.** If all steps that a thread can take now are independent of all that others can do before it takes one
(`concerns_nobody`), one of them can surely be taken, they change nothing that an invariant sees, and none of them goes an
edge back, then nothing else is tried in this state. Take a run to a violation from here: if the thread ever moves in it,
its first step can be made first; if not, it can be added at the front, and the violation stays. Only finitely many steps in
a row go no edge back. Posting an operation and storing into a buffer are such steps: others only gain moves by them.

Where moves of cards have no end (`is_awkward`), or there are too many ways to make those that are due at a step or a look,
every move is a transition of its own: a run's first move is among them, and the rest of the run is treated where it leads.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from rdma_robust.analyses.prove.compiled_steps import covers_all_cases
from rdma_robust.analyses.prove.footprints import NO_TOUCH, SystemMove, WaitCondition, WordUse, quiet_points
from rdma_robust.analyses.prove.placing import CompiledClaim
from rdma_robust.analyses.prove.reduced_system import OVERFLOW, ReducedSystem, State
from rdma_robust.analyses.prove.safety_outcome import SafetyOutcome
from rdma_robust.analyses.prove.transition_system import Bad, Cause, Control, Draw, Suppose, Transition, Update
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.expr import TRUE
from rdma_robust.language.flow.cfg import Flush, MFence, Program, Silent, Step, Thread


@dataclass(frozen=True, slots=True)
class WaitTrial:
    """A flush or fence of the text, and the answer for the program `without` it: only if that is SAFE it is not needed."""

    span: Span
    text: str
    without: SafetyOutcome


def trials_without_waits(program: Program, prove: Callable[[Program], SafetyOutcome]) -> Iterator[WaitTrial]:
    """Yield, for every flush and fence in the order of the text, what `prove` says of the program without it."""
    waits = {
        step.span: step.text
        for thread in program.threads
        for _, _, step in thread.edges
        if isinstance(step.op, Flush | MFence) and step.span != NO_SPAN
    }
    for span in sorted(waits, key=lambda each: (each.start, each.line)):
        yield WaitTrial(span, waits[span], prove(without_wait(program, span)))


def without_wait(program: Program, span: Span) -> Program:
    """Return `program` in which the flush or fence at this place of the text does nothing."""
    return replace(program, threads=tuple(_without(thread, span) for thread in program.threads))


def _without(thread: Thread, span: Span) -> Thread:
    def passed(step: Step) -> Step:
        return replace(step, op=Silent()) if step.span == span and isinstance(step.op, Flush | MFence) else step

    return replace(thread, edges=tuple((source, to, passed(step)) for source, to, step in thread.edges))


MOST_BURSTS: Final = 8
"""States that moves due at one step may lead to, before each move is taken on its own."""


class _NotTogether(Exception):
    """More than :data:`MOST_BURSTS`, or a buffer overflows on the way."""


class Burst(NamedTuple):
    """Moves of buffers and cards in a row, and the control state after them."""

    state: State
    causes: tuple[Cause, ...] = ()
    updates: tuple[Update, ...] = ()
    exact: bool = True

    def then(self, transition: Transition) -> Transition:
        """Return the burst with a transition from its last state as one."""
        if not self.causes:
            return transition
        causes, updates, to, fault, exact = transition
        return Transition(self.causes + causes, self.updates + updates, to, fault, self.exact and exact)


class _Obligation(NamedTuple):
    """A move that is not due yet: `touch` and `leads` say what makes it so."""

    touch: WordUse
    leads: Hashable


class LazySystem:
    """A reduced system with fewer states and the same verdicts, as a transition system."""

    def __init__(self, base: ReducedSystem) -> None:
        self.base = base
        self.program = base.program
        self.model = base.model
        self.claims = base.claims
        self.wide = base.wide
        self.overflowed = base.overflowed
        self.live = base.live
        self.described = base.described
        self.initial = base.initial
        claims = [each.claim for each in base.compiled_claims]
        buffered = base.model in ("tso", "pso")
        self.quiet = quiet_points(base.program, base.code, claims, buffered=buffered)
        self.looks = tuple(
            (each, WordUse(sum(base.words.bit(word) for word in each.words))) for each in base.compiled_claims
        )

        self.searching = any(touch != NO_TOUCH or each.claim.final for each, touch in self.looks)
        """Whether a claim looks at words, or at the end, so that moves may be due at its look."""

    def successors(self, control: Control) -> list[Transition]:
        state: State = control  # type: ignore[assignment]
        if state == OVERFLOW:
            return []
        for t, quiet in enumerate(self.quiet):
            if state[t] in quiet:
                alone = self._alone(state, t)
                if alone:
                    return alone
        if self.base.is_awkward(state) or (self.searching and self._is_seen(state) is None):
            return self.base.successors(state)
        try:
            return self._with_bursts(state)
        except _NotTogether:
            return self.base.successors(state)

    def _with_bursts(self, state: State) -> list[Transition]:
        found: list[Transition] = []
        bursts: dict[tuple[WordUse, WaitCondition | None], list[Burst]] = {}
        for t in range(len(self.quiet)):
            for command in self.base.ready(state, t):
                touch, awaited, _ = self.base.concerned(command)
                due = touch, awaited
                if due not in bursts:
                    bursts[due] = list(self._bursts(state, *due))
                for burst in bursts[due]:
                    found += [burst.then(each) for each in self.base.taken(burst.state, command)]
        return found

    def _alone(self, state: State, t: int) -> list[Transition]:
        """Return the steps of a thread if nothing else has to be tried in this state, else none."""
        commands = self.base.ready(state, t)
        if not all(self.base.concerns_nobody(state, command) for command in commands):
            return []
        found = [each for command in commands for each in self.base.taken(state, command)]
        return found if found and _surely_taken(found) else []

    def _bursts(self, state: State, touch: WordUse, awaited: WaitCondition | None) -> Iterator[Burst]:
        """Yield every sequence of moves that are due at a step that uses words and waits."""
        if touch == NO_TOUCH and awaited is None:
            return iter((Burst(state),))
        return _Due(self.base, state, touch, awaited).bursts()

    def violations(self, control: Control) -> list[Bad]:
        state: State = control  # type: ignore[assignment]
        if not self.looks or state == OVERFLOW:
            return []
        found = self._is_seen(state)
        return self.base.violations(state) if found is None else found

    def _is_seen(self, state: State) -> list[Bad] | None:
        """Return the violations behind the moves that are due, None if every move is a transition of its own here."""
        if self.base.is_awkward(state):
            return None
        try:
            return self._violations(state)
        except _NotTogether:
            return None

    def _violations(self, state: State) -> list[Bad]:
        base = self.base
        ended = state[: len(base.exits)] == base.exits
        found: list[Bad] = []
        for claim, touch in self.looks:
            if claim.claim.final and not ended:
                continue
            for burst in self._bursts(state, touch, None):
                found += self._seen(burst, claim, touch)
                if found and found[-1].condition == TRUE and found[-1].exact:
                    return [found[-1]]
        return found

    def _seen(self, burst: Burst, claim: CompiledClaim, touch: WordUse) -> Iterator[Bad]:
        """Yield the violations of a claim behind a burst; an outcome looks once nothing is under way any more."""
        if not claim.claim.final:
            ends: Iterator[Burst] = iter((burst,))
        elif any(each.meets(touch) for move in self.base.system_moves_of(burst.state) for each in move.ahead):
            return
        else:
            ends = self._drained(burst)
        for end in ends:
            for bad in self.base.bad(end.state, claim):
                yield Bad(bad.claim, bad.condition, end.causes, end.updates, end.exact)

    def _drained(self, burst: Burst) -> Iterator[Burst]:
        """Yield what is behind the moves that are left, whose order is of no matter, where nothing is under way."""
        moves = self.base.system_moves_of(burst.state)
        if not moves:
            if self.base.drained(burst.state):
                yield burst
            return
        for each in self.base.made(burst.state, moves[0]):
            if each.to == OVERFLOW:
                raise _NotTogether
            if self.base.weight(each.to) < self.base.weight(burst.state):
                yield from self._drained(_after(burst, each))


def _after(burst: Burst, each: Transition) -> Burst:
    to: State = each.to  # type: ignore[assignment]
    return Burst(to, burst.causes + each.causes, burst.updates + each.updates, burst.exact and each.exact)


def _surely_taken(found: list[Transition]) -> bool:
    """Return whether one of the transitions is possible whatever the wide values are."""
    conditions = []
    for each in found:
        if not any(isinstance(update, Draw) and (update.low or update.high) is not None for update in each.updates):
            conditions.append(tuple(update.condition for update in each.updates if isinstance(update, Suppose)))
    return covers_all_cases(conditions)


class _Due:
    """The moves that are due at a step which uses the words of `touch` and waits for what is `awaited`."""

    def __init__(self, base: ReducedSystem, state: State, touch: WordUse, awaited: WaitCondition | None) -> None:
        self.base = base
        self.state = state
        self.touch = touch
        self.awaited = awaited
        self.reach = self._reach()
        self.ordered = bool(base.wide)

    def _reach(self) -> WordUse:
        """Return the words of all moves that can come to be due, and of the step."""
        moves = self.base.system_moves_of(self.state)
        reach = self.touch
        changed = True
        while changed:
            changed = False
            for move in moves:
                for i in range(len(move.ahead), 0, -1):
                    if self._waited(move) or move.ahead[i - 1].meets(reach):
                        wider = reach
                        for touch in move.ahead[:i]:
                            wider |= touch
                        changed = changed or wider != reach
                        reach = wider
                        break
        return reach

    def _waited(self, move: SystemMove) -> bool:
        return self.awaited is not None and self.awaited.has(move)

    def bursts(self) -> Iterator[Burst]:
        """Yield every burst of which all moves are due; the one without moves first."""
        first = Burst(self.state)
        todo: list[tuple[Burst, frozenset[_Obligation], SystemMove | None]] = [(first, frozenset(), None)]
        seen: set[Hashable] = {self._key(*todo[0])}
        for burst, owed, last in todo:
            if not owed:
                yield burst
            for move in self.base.system_moves_of(burst.state):
                if not self._matters(move) or (self.ordered and last is not None and _swapped(last, move)):
                    continue
                still = self._still_owed(owed, move)
                for each in self.base.made(burst.state, move):
                    following = (_after(burst, each), still, move)
                    key = self._key(*following)
                    if len(seen) > MOST_BURSTS or each.to == OVERFLOW:
                        raise _NotTogether
                    if key not in seen:
                        seen.add(key)
                        todo.append(following)

    def _key(self, burst: Burst, owed: frozenset[_Obligation], last: SystemMove | None) -> Hashable:
        """Return what decides over the rest; the order in which wide values changed is part of it."""
        return (burst.state, owed, burst.updates, last) if self.ordered else (burst.state, owed)

    def _matters(self, move: SystemMove) -> bool:
        return self._waited(move) or any(touch.meets(self.reach) for touch in move.ahead)

    def _still_owed(self, owed: frozenset[_Obligation], move: SystemMove) -> frozenset[_Obligation]:
        touch = move.touch
        left = [each for each in owed if each.leads != move.link and not each.touch.meets(touch)]
        if not self._waited(move) and not touch.meets(self.touch):
            left.append(_Obligation(touch, move.leads))
        return frozenset(left)


def _swapped(last: SystemMove, move: SystemMove) -> bool:
    """Return whether the two moves are independent and in the order that is not the one tried."""
    if last.leads == move.link or last.touch.meets(move.touch):
        return False
    return (move.thread, move.key) < (last.thread, last.key)
