"""An inductive invariant in readable form: the facts that make a program safe, at the places that its claims are about.

An invariant has regions for each of often thousands of control states. Here the states at one place (where threads are) are
joined to the strongest simple facts that all of them have (:mod:`state_join`), for the places that decide a claim: `T1 at
cs`; and with it, where the other thread is one step away from the place that would violate the claim. Each fact follows from
the invariant, so it is true; together they may say less than the invariant does.

A search that puts off moves of buffers and cards, and tries only one order of steps that concern nobody, keeps fewer states
than there are, and what holds of those need not hold of all. So facts are read from an invariant of the system without that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

from rdma_robust.analyses.prove.prove import decide_safety
from rdma_robust.analyses.prove.safety_outcome import Safety, SafetyOutcome
from rdma_robust.analyses.prove.state_join import Bounds, StateJoin, read_facts, region_bounds, shown_condition
from rdma_robust.analyses.prove.transition_system import SafetyClaim, points_of
from rdma_robust.errors import LimitReached
from rdma_robust.expr import TRUE, VALUE, Binary, Expr, evaluate, names
from rdma_robust.language.flow.cfg import Get, Program, Read, RemoteRmw, Step, Thread, steps
from rdma_robust.language.flow.claims import AnyModelName, EndedAtom, PointAt
from rdma_robust.limits import Limits, Poll
from rdma_robust.text import one_line

MOST_STATES: Final = 20_000
"""With more states than these, facts would take longer than the proof."""
_MOST_TO_SPLIT: Final = 1_500

FACTS_S: Final = 5.0
"""For facts: the answer is there already."""


@dataclass(frozen=True, slots=True)
class PlaceKnown:
    """Facts that are true whenever threads are at a place, in so many states of the invariant."""

    place: str
    facts: tuple[str, ...]
    states: int


@dataclass(frozen=True, slots=True)
class _ProofState:
    """A state of the invariant: the program point of each thread, values of small variables, who has something under way,
    and what holds of the wide variables."""

    points: Mapping[str, int]
    values: Mapping[str, int]
    busy: frozenset[str]
    wide: tuple[Bounds, Sequence[Expr]]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where some threads are: each at one of some program points; `drained` if nothing is under way besides, `when` if a
    condition holds that small variables decide."""

    text: str
    at: tuple[tuple[str, frozenset[int]], ...] = ()
    drained: bool = False
    when: Expr = TRUE
    about: frozenset[str] = frozenset()
    """The variables that its claim is about, if it has one: cases are told by them."""

    def has(self, state: _ProofState) -> bool:
        if not all(state.points[thread] in points for thread, points in self.at) or (self.drained and state.busy):
            return False
        try:
            return bool(evaluate(self.when, state.values))
        except (KeyError, ZeroDivisionError):
            return True


def unreduced_proof(outcome: SafetyOutcome, limits: Limits) -> SafetyOutcome | None:
    """Return a proof of the same whose invariant has every state that can be reached, None if none is found in time."""
    if not outcome.reduction.lazy or outcome.system is None or outcome.model == "rdma":
        return outcome
    reduction = replace(outcome.reduction, lazy=False)
    found = decide_safety(outcome.program, outcome.model, limits, engine=outcome.engine or "auto", reduction=reduction)
    return found if found.safety is Safety.SAFE else None


def known_facts(outcome: SafetyOutcome, *, full: bool = False, seconds: float = FACTS_S) -> tuple[PlaceKnown, ...]:
    """Return the facts of a SAFE outcome: those that always hold, then place by place; with `full` for every combination of
    program points too.

    Nothing where there is no invariant, or one of more than MOST_STATES states; what is not found in `seconds` is left out.
    """
    if outcome.system is None or outcome.invariant is None:
        return ()
    if sum(map(len, outcome.invariant.values())) > MOST_STATES:
        return ()
    poll = Limits.of(seconds).poll("telling facts")
    found: list[PlaceKnown] = []
    with suppress(LimitReached):
        states = list(poll.each(_states(outcome)))
        names_ = _telling_names(outcome.program, outcome.claims)
        telling = _Telling(outcome.program, outcome.model, outcome.claims, names_, states, poll)
        for each in telling.all(full=full):
            found.append(each)
    return tuple(found)


def _states(outcome: SafetyOutcome) -> Iterator[_ProofState]:
    system, invariant = outcome.system, outcome.invariant
    assert system is not None and invariant is not None
    for control, regions in invariant.items():
        told: Any = system.described(control)
        if "threads" not in told:
            continue
        threads: Mapping[str, Any] = told["threads"]
        values = {f"{name}.{r}": v for name, each in threads.items() for r, v in each["registers"].items()} | told["memory"]
        points = {name: each["point"] for name, each in threads.items()}
        busy = frozenset(name for name, each in threads.items() if each.get("under way"))
        for region in regions:
            yield _ProofState(points, values, busy, region_bounds(region))


def _telling_names(program: Program, claims: Sequence[SafetyClaim]) -> list[str]:
    """Return the words and registers on which conditions depend: in claims, in guards, and what those are read from."""
    found = {name for claim in claims for name in names(claim.bad)}
    for thread in program.threads:
        guards = {name for _, _, step in thread.edges for name in names(step.guard) if name != VALUE.name}
        found |= {f"{thread.name}.{name}" for name in guards}
        found |= {str(step.op.cell) for _, _, step in thread.edges if isinstance(step.op, Read) and _matters(step, guards)}
    copies = [step.op for thread in program.threads for _, _, step in thread.edges if isinstance(step.op, Get | RemoteRmw)]
    found |= {str(op.source) for op in copies if str(op.target) in found}
    words = [str(cell) for cell in program.cells if not cell.hidden and str(cell) in found]
    registers = [f"{t.name}.{r}" for t in program.threads for r, _ in t.registers if f"{t.name}.{r}" in found]
    return words + registers


def _matters(step: Step, guards: set[str]) -> bool:
    return VALUE.name in names(step.guard) or any(name in guards for name, _ in step.assigns)


def _claimed(program: Program, claims: Sequence[SafetyClaim]) -> Iterator[str]:
    """Yield the variables that claims name; an assertion those of its condition."""
    for claim in claims:
        yield from names(claim.bad)
        for thread in program.threads if claim.fault is not None else ():
            failing = (step.guard for _, _, step in thread.edges if step.fault == claim.fault)
            yield from (f"{thread.name}.{name}" for guard in failing for name in names(guard))


@dataclass
class _Telling:
    program: Program
    model: AnyModelName
    claims: Sequence[SafetyClaim]
    names: list[str]
    states: list[_ProofState]
    poll: Poll
    threads: dict[str, Thread] = field(init=False)
    busy: frozenset[str] = field(init=False)
    """The threads that ever have something under way."""
    claimed: frozenset[str] = field(init=False)
    """The variables that claims name: facts about them come first."""

    def __post_init__(self) -> None:
        self.busy = frozenset(name for state in self.states for name in state.busy)
        self.claimed = frozenset(_claimed(self.program, self.claims))
        self.threads = {thread.name: thread for thread in self.program.threads}

    def all(self, *, full: bool) -> Iterator[PlaceKnown]:
        always = _Place("always")
        said = frozenset(self.of(self.states, frozenset()))
        places = [always, *dict.fromkeys(self.places()), *(self.everywhere() if full else ())]
        above: dict[_Place, frozenset[str]] = {}
        for place in places:
            smaller = next((p for p in reversed(above) if p.at and p.when == TRUE and place.at[: len(p.at)] == p.at), None)
            before = frozenset() if place is always else said | (above[smaller] if smaller is not None else frozenset())
            known = self.known(place, before)
            if known is None:
                continue
            above[place] = frozenset(known.facts)
            if known.facts or full:
                yield known
            if len(place.at) < 2 and not place.drained:
                yield from self.split(place, said | above[place])

    def known(self, place: _Place, said: frozenset[str]) -> PlaceKnown | None:
        """Return the facts at a place without those already said, None if it is never reached."""
        here = [state for state in self.states if place.has(state)]
        if not here:
            return None
        return PlaceKnown(place.text, (*self.apart(place, here), *self.of(here, said, ranges=bool(place.at))), len(here))

    def of(self, here: Sequence[_ProofState], said: frozenset[str], *, ranges: bool = True) -> tuple[str, ...]:
        joined = self.join(here)
        idle = [name for name in self.threads if not any(name in state.busy for state in here)]
        words = "buffer is empty" if self.model in ("tso", "pso") else "operations are all complete"
        empty = [f"{name}'s {words}" for name in idle if name in self.busy and self.model != "sc"]
        facts = (*read_facts(joined, said, ranges=ranges), *(each for each in empty if each not in said))
        return tuple(sorted(facts, key=lambda fact: not self.claimed.intersection(fact.split())))

    def join(self, states: Iterable[_ProofState]) -> StateJoin:
        joined = StateJoin(self.names)
        for state in self.poll.each(states):
            joined.add(state.values, state.wide)
        return joined

    def apart(self, place: _Place, here: Sequence[_ProofState]) -> Iterator[str]:
        """Yield where other threads never are at this place, of the places that claims name."""
        there = dict(place.at)
        for atom in dict.fromkeys(_atoms(self.claims)):
            points = self.points_of(atom)
            if atom.thread not in there and not any(state.points[atom.thread] in points for state in here):
                yield f"{atom.thread} not at {atom.label}" if isinstance(atom, PointAt) else f"{atom.thread} has not ended"

    def places(self) -> Iterator[_Place]:
        """Yield the places that decide claims."""
        for claim in self.claims:
            if claim.allowed:
                continue
            if claim.fault is not None:
                for thread in self.program.threads:
                    found = [(source, step.guard) for source, _, step in thread.edges if step.fault == claim.fault]
                    if found:
                        text = f"{thread.name} at line {claim.span.line} ({one_line(claim.text, 40)})"
                        about = frozenset(f"{thread.name}.{name}" for _, guard in found for name in names(guard))
                        yield _Place(text, ((thread.name, frozenset(point for point, _ in found)),), about=about)
            elif claim.final:
                at = tuple((name, frozenset((thread.exit,))) for name, thread in self.threads.items())
                yield _Place("in the end", at, drained=True)
                for part in _conjuncts(claim.bad):
                    yield _Place(f"in the end, if {shown_condition(part)}", at, drained=True, when=part)
            else:
                yield from self.of_atoms(list(dict.fromkeys(_atoms([claim]))))

    def of_atoms(self, atoms: Sequence[PointAt | EndedAtom]) -> Iterator[_Place]:
        for atom in atoms:
            here = _Place(_text(atom), ((atom.thread, self.points_of(atom)),))
            yield here
            for other in atoms:
                if other.thread != atom.thread:
                    before = self.before(other)
                    where = (
                        f"{other.thread} before {other.label}"
                        if isinstance(other, PointAt)
                        else f"{other.thread} at its end"
                    )
                    yield _Place(f"{here.text}, {where}", (*here.at, (other.thread, before)))

    def points_of(self, atom: PointAt | EndedAtom) -> frozenset[int]:
        return frozenset(points_of(self.threads[atom.thread], atom))

    def before(self, atom: PointAt | EndedAtom) -> frozenset[int]:
        """Return the program points from which one step leads to those of an atom."""
        points = self.points_of(atom)
        return frozenset(s for s, to, _ in self.threads[atom.thread].edges if to in points and s not in points)

    def everywhere(self) -> list[_Place]:
        """Return every combination of program points, in the order in which they are met."""
        combined = dict.fromkeys(tuple(state.points.items()) for state in self.states)
        return [
            _Place(", ".join(self.at(name, point) for name, point in each), tuple((n, frozenset((p,))) for n, p in each))
            for each in combined
        ]

    def at(self, name: str, point: int) -> str:
        thread = self.threads[name]
        if point == thread.exit:
            return f"{name} ended"
        label = next((label for label, at in thread.labels if at == point), None)
        if label is not None:
            return f"{name} at {label}"
        found = [step for source, _, step in steps(thread) if source == point]
        return f"{name} at line {found[0].span.line} ({one_line(found[0].text, 30)})" if found else f"{name} at a dead end"

    def split(self, place: _Place, said: frozenset[str]) -> Iterator[PlaceKnown]:
        """Yield what holds at a place in two cases, of a test of small variables, if that says more than without cases."""
        here = [state for state in self.states if place.has(state)]
        if not here or len(here) > _MOST_TO_SPLIT:
            return
        whole = self.join(here).equalities()
        best: tuple[int, str, list[_ProofState], list[_ProofState]] | None = None
        for text, first, given in self.tests(here, place.about):
            parts: tuple[list[_ProofState], list[_ProofState]] = ([], [])
            for number, state in enumerate(here):
                parts[number not in first].append(state)
            if not parts[0] or not parts[1]:
                continue
            told = [self.join(part).equalities() - more for part, more in zip(parts, given, strict=True)]
            gain = max(told) - whole if place.at else min(told) - whole
            if gain > 0 and (best is None or gain > best[0]):
                best = gain, text, *parts
        if best is not None:
            _, text, first_part, second_part = best
            for case, part in ((text, first_part), (text.replace(" == ", " != "), second_part)):
                facts = tuple(each for each in self.of(part, said) if each != case)
                if facts:
                    yield PlaceKnown(f"{place.text}, if {case}", facts, len(part))

    def tests(self, here: Sequence[_ProofState], about: frozenset[str]) -> Iterator[tuple[str, set[int], tuple[int, int]]]:
        """Yield tests of small variables, the states in which each is true, and how many equalities each case has by it."""
        small = [name for name in self.names if all(name in state.values for state in here) and (not about or name in about)]
        for number, x in enumerate(small):
            for y in () if about else small[:number]:
                yield f"{y} == {x}", {i for i, s in enumerate(here) if s.values[x] == s.values[y]}, (1, 0)
            values = sorted({s.values[x] for s in here})
            for value in values[:1] if len(values) == 2 else values if len(values) > 2 else ():
                given = (1, 1 if len(values) == 2 else 0)
                yield f"{x} == {value}", {i for i, s in enumerate(here) if s.values[x] == value}, given


def _atoms(claims: Iterable[SafetyClaim]) -> Iterator[PointAt | EndedAtom]:
    for claim in claims:
        used = set(names(claim.bad))
        yield from (atom for name, atom in claim.atoms if name in used)


def _conjuncts(condition: Expr) -> Iterator[Expr]:
    """Yield the parts of a conjunction, nothing for another condition."""
    match condition:
        case Binary("&&", left, right):
            for side in (left, right):
                yield from list(_conjuncts(side)) or [side]


def _text(atom: PointAt | EndedAtom) -> str:
    return f"{atom.thread} at {atom.label}" if isinstance(atom, PointAt) else f"{atom.thread} ended"
