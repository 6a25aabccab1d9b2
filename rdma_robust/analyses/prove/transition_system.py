"""Transition systems, which reductions make and engines search, and the answers of engines.

A control state is found on the fly and holds everything that is finite: program points, small values, which buffers and
pending sets hold what. Words, registers and buffer slots that may hold any integer are *wide*: each has a name and is
changed by updates in order. An engine that knows only control states is exact if nothing is wide (E0); zones (E1) and
predicates (E2) describe the wide values at each control state; a Horn clause per transition is E3. Source:
docs/theory-safety.md, "What safe rests on".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from rdma_robust.errors import Span
from rdma_robust.expr import TRUE, Expr, conj, negate
from rdma_robust.language.check.meaning import divides_by_no_zero
from rdma_robust.language.flow.cfg import Cell, Fault, Program, Step, Thread, steps
from rdma_robust.language.flow.claims import AnyModelName, EndedAtom, PointAt
from rdma_robust.limits import Limits, Progress
from rdma_robust.semantics.machines.machine import Verb

Control = Hashable
"""The reduction's own business; equal control states are the same, and one is described by its system only."""


@dataclass(frozen=True, slots=True)
class Suppose:
    """The transition can be taken only if this condition over wide variables is true now."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name` := `value`, an expression over wide variables as they are now."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Draw:
    """`name` becomes any integer from `low` to `high` (expressions over wide variables; None: without that end)."""

    name: str
    low: Expr | None = None
    high: Expr | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """`name`, a folded variable, stands from now on for `value` as well as for all that it has stood for."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Selection:
    """`name` := any one of the values that the folded variable `folded` stands for, which still stands for all of them."""

    name: str
    folded: str


@dataclass(frozen=True, slots=True)
class Drop:
    """Nobody asks for `name` before it is set again: its value may be forgotten."""

    name: str


Update = Suppose | Assignment | Draw | Join | Selection | Drop


class Cause(NamedTuple):
    """One move of the model's machine: whose (the thread's number), what kind, of which step of its graph (a card's move:
    of that or another with the same operation), and for a store that reaches memory the word."""

    thread: int
    verb: Verb
    step: Step | None
    cell: Cell | None = None


class Transition(NamedTuple):
    """A step of the system: the machine's moves in order, what happens to wide variables in order, and where it leads.

    `fault` is what goes wrong on it. Not `exact`: the machine need not have it (it takes one of many, or one of a folded
    variable), so a path through it is no run yet.
    """

    causes: tuple[Cause, ...]
    updates: tuple[Update, ...]
    to: Control
    fault: Fault | None = None
    exact: bool = True


@dataclass(frozen=True)
class SafetyClaim:
    """A claim that something must not happen, under a model: a `fault`, a state with `bad` (an `invariant` that is false, or
    an `outcome` that is forbidden; then `final`), or, for an outcome that is `allowed`, what must be able to happen.

    `kind` is `assertion`, `invariant`, `outcome`, or the kind of the fault; `number` its place among the program's claims.
    `bad` is over `Thread.register`, `Node.cell` and the names of `atoms`.
    """

    kind: str
    text: str
    span: Span
    number: int
    fault: Fault | None = None
    bad: Expr = TRUE
    atoms: tuple[tuple[str, PointAt | EndedAtom], ...] = ()
    final: bool = False
    allowed: bool = False


def points_of(thread: Thread, atom: PointAt | EndedAtom) -> tuple[int, ...]:
    """Return the program points of `thread` at which an atom of a claim is true."""
    return (thread.exit,) if isinstance(atom, EndedAtom) else thread.points_at(atom.label)


class Bad(NamedTuple):
    """A way for a control state to violate a claim: if this condition over wide variables is true there.

    `causes` are moves of the machine to make before (a reduction may put cards off until somebody looks), `updates` theirs.
    """

    claim: int
    condition: Expr
    causes: tuple[Cause, ...] = ()
    updates: tuple[Update, ...] = ()
    exact: bool = True


class TransitionSystem(Protocol):
    """A program under a model, reduced. Deterministic: the same calls give the same lists in the same order.

    `wide` are the wide variables with their initial values. `overflowed` tells of a control state that a buffer was
    too short to go on from: unless none is reachable, SAFE cannot be concluded, and larger buffers must be tried.
    """

    program: Program
    model: AnyModelName
    claims: tuple[SafetyClaim, ...]
    wide: tuple[tuple[str, int], ...]

    def initial(self) -> Control:
        """Return the initial control state; wide variables have their initial values."""
        ...

    def successors(self, control: Control) -> list[Transition]:
        """Return every transition from a control state."""
        ...

    def violations(self, control: Control) -> list[Bad]:
        """Return every way in which a state with this control violates a claim; faults are on transitions."""
        ...

    def overflowed(self, control: Control) -> bool:
        """Return whether a buffer overflowed on the way here."""
        ...

    def live(self, control: Control) -> frozenset[str]:
        """Return the wide variables on whose values something after this control state may depend."""
        ...

    def described(self, control: Control) -> dict[str, object]:
        """Return the control state as JSON: what a certificate says of it and people can read (see certify/safety)."""
        ...


EngineName = Literal["explicit", "zones", "predicates", "spacer"]

Region = tuple[Expr, ...]
"""A conjunction over wide variables: with zones `x <= c`, `-x <= c` and `x - y <= c`, with predicates any conditions."""


@dataclass(frozen=True)
class AbstractPath:
    """A path of a transition system from its initial state that the engine could not rule out.

    It ends with the `fault` of its last transition (then `bad` is None), or in a control state that `bad` says violates a
    claim.
    """

    transitions: tuple[Transition, ...]
    bad: Bad | None

    @property
    def exact(self) -> bool:
        """Whether the model's machine has each of its steps, so that a solution for the wide variables is a run."""
        return all(t.exact for t in self.transitions) and (self.bad is None or self.bad.exact)

    def violated(self, claims: Sequence[SafetyClaim]) -> SafetyClaim:
        """Return the one of its system's claims that the path violates at its end."""
        if self.bad is not None:
            return claims[self.bad.claim]
        fault = self.transitions[-1].fault
        return next(claim for claim in claims if claim.fault is not None and claim.fault == fault)


@dataclass(frozen=True)
class EngineResult:
    """The answer of an engine.

    With `path` a way to violate a claim. Without: if nothing was `cut` (a limit by its name, as of :class:`Limits`, or what
    else the engine ran out of, in words) and no buffer `overflowed`, then `invariant` is inductive: it has the initial
    state, is closed under all transitions of the system, and violates no claim; at each control state it is a disjunction of
    regions.
    Without an invariant `taken_steps` are the steps that can be taken, each with its thread's number.
    `states` are stored, `taken` transitions taken; `counts` what else is worth telling, as in the papers' tables.
    """

    engine: EngineName
    path: AbstractPath | None
    invariant: Mapping[Control, tuple[Region, ...]] | None
    overflowed: bool
    cut: str
    states: int
    taken: int
    counts: Mapping[str, int | float] = field(default_factory=dict)
    taken_steps: frozenset[tuple[int, Step]] | None = None


Engine = Callable[[TransitionSystem, Limits, Progress], EngineResult]
"""An engine looks for claims that are not `allowed` (what must not happen); the others are asked one by one, see claims."""


def safety_claims(program: Program, model: AnyModelName) -> tuple[SafetyClaim, ...]:
    """Return every claim of a program that is about `model`, numbered: faults first, each once, in the order of the text.

    A condition that is undefined (division by zero) does not hold: as an invariant it is violated, as an outcome it is
    not there.
    """
    return tuple(_claims(program, model))


def _claims(program: Program, model: AnyModelName) -> Iterator[SafetyClaim]:
    number = 0
    for fault in _faults(program):
        yield SafetyClaim(fault.kind, fault.text or fault.message, fault.span, number, fault=fault)
        number += 1
    for line in program.invariants:
        bad = negate(conj(divides_by_no_zero(line.condition), line.condition))
        yield SafetyClaim("invariant", line.text, line.span, number, bad=bad, atoms=line.atoms)
        number += 1
    for outcome in program.outcomes:
        for claim in outcome.claims:
            if claim.model == model:
                seen = conj(divides_by_no_zero(outcome.condition), outcome.condition)
                yield SafetyClaim("outcome", outcome.text, outcome.span, number, bad=seen, final=True, allowed=claim.allowed)
                number += 1


def _faults(program: Program) -> list[Fault]:
    found = (step.fault for thread in program.threads for _, _, step in steps(thread) if step.fault is not None)
    return sorted(dict.fromkeys(found), key=lambda fault: (fault.span.start, fault.kind))


def claims_about_nothing(program: Program, claims: Sequence[SafetyClaim], found: EngineResult) -> tuple[SafetyClaim, ...]:
    """Return the claims that hold only because their statement is never next in its thread, or no state is final.

    Proven by what a search that was exhausted has met; it may meet more than can happen, and then less is said.
    """
    met, ends = _met(program, found)
    if not met:
        return ()
    return tuple(claim for claim in claims if not claim.allowed and _is_about_nothing(program, claim, met, ends))


def _is_about_nothing(program: Program, claim: SafetyClaim, met: set[tuple[int, int]], ends: bool) -> bool:
    if claim.fault is None:
        return claim.final and not ends
    if claim.fault.kind != "assertion":
        return False
    places = {
        (t, source) for t, thread in enumerate(program.threads) for source, _, s in steps(thread) if s.fault == claim.fault
    }
    return met.isdisjoint(places)


def _met(program: Program, found: EngineResult) -> tuple[set[tuple[int, int]], bool]:
    """Return where threads have been, each as its number and a program point, and whether all may have ended at once."""
    threads = list(enumerate(program.threads))
    exits = tuple(thread.exit for thread in program.threads)
    if found.taken_steps is not None:
        edges = [(t, edge) for t, thread in threads for edge in steps(thread) if (t, edge[2]) in found.taken_steps]
        met = {(t, thread.entry) for t, thread in threads} | {(t, at) for t, (source, to, _) in edges for at in (source, to)}
        return met, met.issuperset(enumerate(exits))
    controls: Iterable[tuple[int, ...]] = found.invariant or ()  # type: ignore[assignment]
    places = {control[: len(exits)] for control in controls}
    return {(t, point) for at in places for t, point in enumerate(at)}, exits in places
