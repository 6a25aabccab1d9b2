"""The 3-valued explicit model checker: states are a control state with what is known of the predicates.

A guard blocks a state that contradicts it, else it adds what follows and, where one of several of its own atoms must hold,
splits (not over folded variables, of whose values some may satisfy an atom and some not). A state that another one of the
same control state has within it, because that one knows less, is dropped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rdma_robust.analyses.prove.predicates.cube_oracle import Cube, bit_numbers
from rdma_robust.analyses.prove.predicates.solving import folded_names
from rdma_robust.analyses.prove.predicates.transformers import BooleanProgram, ProgramWay, known_literals
from rdma_robust.analyses.prove.transition_system import (
    AbstractPath,
    Bad,
    Control,
    Region,
    Suppose,
    Transition,
    TransitionSystem,
    Update,
)
from rdma_robust.expr import FALSE, evaluate
from rdma_robust.limits import Limits, Progress


def saturated(known: Cube, impossible: Iterable[Cube], free: int) -> Cube | None:
    """Return `known` with every literal that follows because cubes are impossible; None if `known` has one of them.

    Only predicates of `free` are set: of a folded variable with copies, a cube speaks of all copies at once, so that no
    literal follows from it.
    """
    cubes = list(impossible)
    changed = True
    while changed:
        changed = False
        for each in cubes:
            if each.true & known.false or each.false & known.true:
                continue
            true, false = each.true & ~known.true, each.false & ~known.false
            if not true | false:
                return None
            if (true | false).bit_count() == 1 and (true | false) & free:
                known = Cube(known.true | false, known.false | true)
                changed = True
    return known


class Assumptions:
    """Guards over one boolean program. `folded` are variables of whose values some may satisfy an atom and some not."""

    def __init__(self, program: BooleanProgram, folded: set[str]) -> None:
        self._program = program
        self._folded = folded
        self._masks: dict[tuple[ProgramWay, int], tuple[int, int]] = {}

    def supposing(self, known: Cube, way: ProgramWay) -> Iterator[Cube]:
        """Yield what may be known once the guard of `way` is true, in all cases together; nothing if it cannot be."""
        if way.always:
            yield known
            return
        impossible = [*way.blocking(), *self._program.contradictions]
        yield from self._cases(known, way, impossible, *self._free_and_own(way))

    def _cases(self, known: Cube, way: ProgramWay, impossible: list[Cube], free: int, own: int) -> Iterator[Cube]:
        sharp = saturated(known, impossible, free)
        if sharp is None:
            return
        missing = next(filter(None, (_missing(each, sharp, own) for each in impossible)), 0)
        if not missing:
            yield sharp
            return
        bit = 1 << next(bit_numbers(missing))
        for value in (Cube(bit, 0), Cube(0, bit)):
            for each in self._cases(sharp.joined(value), way, impossible, free, own):
                if not way.excludes(each):
                    yield each

    def _free_and_own(self, way: ProgramWay) -> tuple[int, int]:
        """The predicates that may be concluded, and those that a case may be made of: atoms of the guard, not folded."""
        builder = self._program
        key = (way, len(builder.vocabulary))
        found = self._masks.get(key)
        if found is None:
            copied = frozenset(way.copies.values())
            numbers = range(len(builder.vocabulary))
            free = sum(1 << each for each in numbers if builder.names_of(each).isdisjoint(copied))
            own = sum(
                1 << builder.vocabulary.numbers[atom]
                for atom in way.guard_atoms
                if atom in builder.vocabulary.numbers
                and self._folded.isdisjoint(builder.names_of(builder.vocabulary.numbers[atom]))
            )
            found = self._masks[key] = (free, own)
        return found


def _missing(impossible: Cube, known: Cube, own: int) -> int:
    """The predicates of an impossible cube that are not known, if all of them are own and no literal is contradicted."""
    if impossible.true & known.false or impossible.false & known.true:
        return 0
    missing = impossible.used & ~known.used
    return 0 if missing & ~own else missing


@dataclass(eq=False, slots=True)
class _Node:
    """A state, how it was first reached, and whether a weaker one has taken its place."""

    control: Control
    known: Cube
    parent: _Node | None
    by: Transition | None
    dropped: bool = False


@dataclass
class CheckResult:
    """The answer of the checker: a path that it cannot rule out (to a control state that overflowed, if `overflow`), or all
    states. `seen` are the tuples of updates and `conditions` of claims that it met, in order, `together` the sets of
    variables that were live. `cut` names a limit."""

    path: AbstractPath | None = None
    overflow: bool = False
    cut: str = ""
    states: int = 0
    taken: int = 0
    regions: Mapping[Control, tuple[Region, ...]] | None = None
    seen: dict[tuple[Update, ...], None] = field(default_factory=dict)
    conditions: dict[tuple[Update, ...], None] = field(default_factory=dict)
    together: dict[frozenset[str], None] = field(default_factory=dict)


class BooleanChecker:
    """Searches the boolean program of a system, breadth first, for a fault, a bad state, or an overflow."""

    def __init__(self, system: TransitionSystem, program: BooleanProgram, folded: set[str], overflows: set[Control]) -> None:
        self._system = system
        self._program = program
        self._folded = folded
        self._assumptions = Assumptions(program, folded)
        self._overflows = overflows
        self._asked_for = {claim.number for claim in system.claims if not claim.allowed}
        self._stored: dict[Control, list[_Node]] = {}
        self._live: dict[Control, int] = {}
        self._result = CheckResult()

    def run(self, limits: Limits, progress: Progress) -> CheckResult:
        """Search until something is found, all is searched, or a limit is reached.

        `overflows` given at the start are known to be real, and not gone on from. Raises LimitReached while transformers are
        built; :class:`FoldedMore` when a variable turns out to be folded that was not known to be.
        """
        result = self._result
        exceeded = limits.watch()
        start = self._system.initial()
        agenda = deque([self._store(_Node(start, self._initially(), None, None))])
        while agenda:
            node = agenda.popleft()
            if node is None or node.dropped:
                continue
            result.cut = exceeded() or ("states" if limits.states is not None and result.states > limits.states else "")
            if result.cut:
                return result
            progress(result.states, len(agenda))
            if self._violates(node):
                return result
            if node.control in self._overflows:
                continue
            for transition in self._system.successors(node.control):
                for after in self._after(node, transition):
                    if transition.fault is not None:
                        result.path = _path(after, None)
                        return result
                    agenda.append(self._store(after))
        result.regions = self._regions()
        return result

    def _initially(self) -> Cube:
        """What is true of the initial values."""
        values = dict(self._system.wide)
        true = false = 0
        for number, predicate in enumerate(self._program.vocabulary.predicates):
            if self._program.names_of(number) <= values.keys():
                try:
                    holds = bool(evaluate(predicate, values))
                except ZeroDivisionError:  # nothing asks for it before the divisor is another
                    continue
                true |= holds << number
                false |= (not holds) << number
        return Cube(true, false)

    def _store(self, node: _Node) -> _Node | None:
        """Keep a state, unless one is kept that knows less; return it if it is to be gone on from."""
        kept = self._stored.setdefault(node.control, [])
        if any(each.known.within(node.known) for each in kept):
            return None
        for each in kept:
            each.dropped = node.known.within(each.known)
        kept[:] = [each for each in kept if not each.dropped]
        kept.append(node)
        self._result.states += 1
        return node

    def _violates(self, node: _Node) -> bool:
        """Whether a state may violate a claim, or overflows for the first time; then the path is in the result."""
        if node.control not in self._overflows and self._system.overflowed(node.control):
            self._result.path, self._result.overflow = _path(node, None), True
            return True
        for bad in self._system.violations(node.control):
            if bad.claim not in self._asked_for or bad.condition == FALSE:
                continue
            updates = (*bad.updates, Suppose(bad.condition))
            self._result.conditions[updates] = None
            self._noticed(updates)
            if self._possible(node.known, updates):
                self._result.path = _path(node, bad)
                return True
        return False

    def _possible(self, known: Cube, updates: tuple[Update, ...]) -> bool:
        """Whether updates, the last of which is a condition, may be made."""
        *first, last = self._program.steps(updates)
        everything = self._everything()
        return any(
            not way.excludes(known)
            for before in self._through(known, first, everything)
            for way in last
            for known in self._assumptions.supposing(before, way)
        )

    def _everything(self) -> int:
        return (1 << len(self._program.vocabulary)) - 1

    def _through(self, known: Cube, steps: Sequence[Sequence[ProgramWay]], live: int) -> Iterator[Cube]:
        """Yield what may be known after statements."""
        if not steps:
            yield known
            return
        for way in steps[0]:
            for supposed in self._assumptions.supposing(known, way):
                after = self._updated(supposed, way, live if len(steps) == 1 else self._everything())
                if after is not None:
                    yield from self._through(after, steps[1:], live)

    def _noticed(self, updates: tuple[Update, ...]) -> None:
        if self._folded.issuperset(folded_names(updates)):
            return
        self._folded.update(folded_names(updates))
        raise FoldedMore

    def _after(self, node: _Node, transition: Transition) -> Iterator[_Node]:
        """Yield the states after a transition, with what is known of live variables."""
        self._result.taken += 1
        if transition.updates:
            self._result.seen[transition.updates] = None
            self._noticed(transition.updates)
        live = self._live_predicates(transition.to)
        steps = self._program.steps(transition.updates)
        for known in dict.fromkeys(self._through(node.known, steps, live)):
            yield _Node(transition.to, _restricted(known, live), node, transition)

    def _live_predicates(self, control: Control) -> int:
        found = self._live.get(control)
        if found is None:
            live = self._system.live(control)
            self._result.together[live] = None
            numbers = range(len(self._program.vocabulary))
            found = sum(1 << each for each in numbers if self._program.names_of(each) <= live)
            self._live[control] = found
        return found

    def _updated(self, known: Cube, way: ProgramWay, live: int) -> Cube | None:
        """What is known after the values have changed; None if it contradicts itself."""
        true = false = 0
        for number in bit_numbers(live):
            bit = 1 << number
            if way.writes(number):
                after = way.choice(number).after(known)
                true |= bit if after is True else 0
                false |= bit if after is False else 0
            else:
                true |= known.true & bit
                false |= known.false & bit
        return saturated(Cube(true, false), self._program.contradictions, live)

    def _regions(self) -> dict[Control, tuple[Region, ...]]:
        """What has been found reachable, as conditions."""
        vocabulary = self._program.vocabulary
        return {
            control: tuple(known_literals(vocabulary, each.known) for each in kept) for control, kept in self._stored.items()
        }


def _restricted(known: Cube, live: int) -> Cube:
    return Cube(known.true & live, known.false & live)


def _path(node: _Node, bad: Bad | None) -> AbstractPath:
    """The path to a state."""
    taken: list[Transition] = []
    at: _Node | None = node
    while at is not None and at.by is not None:
        taken.append(at.by)
        at = at.parent
    return AbstractPath(tuple(reversed(taken)), bad)


class FoldedMore(Exception):
    """A variable turned out to be folded, after states may have been split by what is said of it."""
