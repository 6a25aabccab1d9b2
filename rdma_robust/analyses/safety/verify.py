"""Do the assertions of a program hold, and what its `outcome` lines claim? Can it hang? And which claims are about nothing?

Robust: what SC does is all there is. Not robust: what the RDMA machine does is searched, which ends for a program without
loops, and for others if its queues cannot grow forever.

Vacuous claims: what holds only because its line, or a final state, is never reached.

A statement is reached if it is next in some state, a final state if every thread has ended there and nothing is under way.
Both are decided as everything else is (:mod:`reach`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from itertools import product
from math import prod
from typing import Final

from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.safety.goals import FaultGoal, Goal, HangGoal, SafeGoal, StateGoal, faults_by_copy, faults_of
from rdma_robust.analyses.safety.hangs import hang_of
from rdma_robust.analyses.safety.questions import Answer, Reached, ReachOutcome
from rdma_robust.analyses.safety.reach import answer_goals
from rdma_robust.errors import NO_SPAN, InternalError, SizeLimitError, Span
from rdma_robust.expr import TRUE, Binary, Expr, Name, conj, evaluate, names, negate
from rdma_robust.guard import found_within
from rdma_robust.language.check.meaning import divides_by_no_zero
from rdma_robust.language.check.targets import Atom, CopyCountAtom, StateTarget, ThreadAtExit, ThreadAtPoints
from rdma_robust.language.flow.cfg import Fault, Program, steps
from rdma_robust.language.flow.claims import AnyModelName, CopiesWith, EndedAtom, InvariantLine, OutcomeLine, PointAt
from rdma_robust.language.flow.claims import OutcomeClaim as OfOutcome
from rdma_robust.language.flow.exclusive import guard_conjuncts
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import RDMA, SEARCHED, Model, ModelName
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.hang import Hang
from rdma_robust.semantics.machines.hang_words import every_execution_hangs
from rdma_robust.semantics.values import named_values

MOST_CASES: Final = 4096
"""Combinations of values that are tried to see whether an outcome can have values at all."""

NOT_KNOWN: Final = "it is not known whether it is about anything"

_STATES: Final = 20_000
"""States that are looked at to say that every execution hangs."""


@dataclass(frozen=True, slots=True)
class Vacuity:
    """The answer whether what a claim is about is reached, None if that is not known, and why it is not, or not known."""

    reached: bool | None
    reason: str = ""


def impossible_values(program: Program, condition: Expr) -> str:
    """Return why no state can meet the condition, as in "`T.r` is never anything but 0"; empty if that is not clear."""
    used = tuple(sorted(names(condition)))
    try:
        values = named_values(program)
    except SizeLimitError:
        return ""
    for part in reversed(tuple(guard_conjuncts(condition))):
        mine = tuple(name for name in used if name in names(part))
        if not mine or prod(len(values[name]) for name in mine) > MOST_CASES:
            continue
        if not any(_met(part, mine, each) for each in product(*(sorted(values[name]) for name in mine))):
            if isinstance(part, Binary) and part.op == "&&":
                return "its parts exclude one another"
            return "; ".join(f"`{name}` is never anything but {_set(sorted(values[name]))}" for name in mine)
    return ""


def _met(condition: Expr, used: tuple[str, ...], values: tuple[int, ...]) -> bool:
    return bool(evaluate(condition, dict(zip(used, values, strict=True))))


def _set(values: list[int]) -> str:
    shown = [str(value) for value in values[:8]] + ["..."] * (len(values) > 8)
    return ", ".join(shown)


def vacuities(
    program: Program,
    questions: list[tuple[Goal, ModelName]],
    limits: Limits,
    hardware: Model,
    robust: bool | None,
    *,
    recv_depth: int = RECV_DEPTH,
) -> list[Vacuity]:
    """Return for every goal, with its model, whether what a claim with that goal is about is reached.

    `robust` says whether the program is robust, if that is known.
    """
    places = {goal: _place(program, goal) for goal, _ in questions}
    wanted = tuple(dict.fromkeys(places[goal] for goal, _ in questions))
    ask = partial(answer_goals, program, limits=limits, hardware=hardware, recv_depth=recv_depth)
    sc = dict(zip(wanted, ask([(p, "sc") for p in wanted]).answers, strict=True))
    left = tuple(
        dict.fromkeys(
            places[g] for g, model in questions if model == "rdma" and sc[places[g]].answer is not Answer.REACHABLE
        )
    )
    asked = ask([(p, "rdma") for p in left], robust=robust) if left else None
    under_rdma = {} if asked is None else dict(zip(left, asked.answers, strict=True))
    robust = robust if asked is None or asked.robust is None else asked.robust
    ends = _Ends(program, limits)
    found = []
    for goal, model in questions:
        place = places[goal]
        here = under_rdma.get(place, sc[place]) if model == "rdma" else sc[place]
        found.append(_vacuity(_what(goal), here, ends if model == "sc" or robust else None))
    return found


class _Ends:
    """The words about executions that all hang; looked for when it is first asked for."""

    def __init__(self, program: Program, limits: Limits) -> None:
        self._program = program
        self._limits = limits
        self._said: str | None = None

    def said(self) -> str:
        """Return "every execution hangs at line 6" if that is so, else nothing."""
        if self._program.crowds:
            return ""
        if self._said is None:
            hanging = every_execution_hangs(self._program, self._limits.at_most(_STATES))
            lines = sorted({step.span.line for each in hanging for step in each.steps[:1]})
            self._said = f"every execution hangs at {', '.join(f'line {line}' for line in lines)}" if lines else ""
        return self._said


def _place(program: Program, goal: Goal) -> StateGoal:
    """Return the states without which a claim with this goal is about nothing."""
    if not isinstance(goal, FaultGoal):
        return StateGoal(StateTarget("the end", TRUE), final=True)
    for thread in program.threads:
        # In C a claim may need several steps of one statement, as `a || b` does, of which only the last ones can fail.
        begun = {step.span.beginning for _, _, step in steps(thread) if goal.fault in faults_of(thread, step)}
        if begun:
            points = sorted({source for source, _, step in steps(thread) if step.span.beginning in begun})
            atoms = (("next", ThreadAtPoints(thread.name, tuple(points))),)
            if not thread.many:
                return StateGoal(StateTarget("next", Name("next"), atoms))
            copies = (("copies", CopyCountAtom(thread.name, Name("next"), atoms)),)
            return StateGoal(StateTarget("next", Binary(">=", Name("copies"), TRUE), (), copies))
    raise AssertionError("a fault is one of the program's")


def _what(goal: Goal) -> str:
    return f"line {goal.fault.span.where} is never reached" if isinstance(goal, FaultGoal) else "no final state is reached"


def _vacuity(what: str, here: Reached, ends: _Ends | None) -> Vacuity:
    if here.answer is Answer.REACHABLE:
        return Vacuity(True)
    if here.answer is Answer.UNKNOWN:
        return Vacuity(None, f"{NOT_KNOWN}: {here.reason}")
    return Vacuity(False, f"{what}: {(ends.said() if ends else '') or here.reason}")


class Status(Enum):
    """Of a claim. A VIOLATED one comes with a confirmed run, unless it claims that there is one. One that holds only because
    what it is about is never reached is UNREACHABLE."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True)
class Claim:
    """Something the program claims: that `goal` is reachable under `model` (`allowed`) or that it is not.

    `kind` is `assertion`, `invariant`, `outcome`, `hang`, `safe` (what `expect safe` says), or what else can go wrong (see
    :class:`cfg.Fault`); `text` is the source. The claim that a program does not hang, which every program makes, has no
    place in it: NO_SPAN. Claims about other models than sc and rdma are those of :mod:`handing_over`. `copy` tells copies of
    one statement apart, in a family of threads or where a macro or `for` is expanded; it is empty where there is one.
    """

    kind: str
    text: str
    span: Span
    goal: Goal | SafeGoal
    model: AnyModelName = "rdma"
    allowed: bool = False
    copy: str = ""


@dataclass(frozen=True)
class Checked:
    """A claim, whether it holds, and the answer that says why, with its run.

    `reached` says of a claim that nothing goes wrong whether what it is about is ever reached, None if that is not known or
    was not asked. `hang` is where the run of a claim about hangs ends. `model_run` is a run that `prove` has found. A
    violated claim is `expected` if an `expect` line says so.
    """

    claim: Claim
    status: Status
    answer: Reached
    reached: bool | None = None
    hang: Hang | None = None
    model_run: SafetyRun | None = None
    expected: bool = False


@dataclass(frozen=True)
class Verified:
    """The claims that were checked, in the order of the source, and the searches behind it."""

    program: Program
    checked: tuple[Checked, ...]
    asked: ReachOutcome

    @property
    def status(self) -> Status:
        """VIOLATED if some claim is and is not expected to be, else UNKNOWN if some is, else UNREACHABLE if some is."""
        found = {each.status for each in self.checked if not each.expected}
        return next((s for s in (Status.VIOLATED, Status.UNKNOWN, Status.UNREACHABLE) if s in found), Status.HOLDS)


def claims(program: Program, *, hangs: bool = True) -> tuple[Claim, ...]:
    """Return every claim of the program about sc and rdma, in the order of the source: its `assert` statements, its
    `invariant` and `outcome` lines, what it expects about hangs, and that nothing else goes wrong where it could.

    With `hangs` it claims as well that it does not hang under RDMA, unless it says something else about that.
    """
    found = [Claim(f.kind, f.text or f.message, f.span, FaultGoal(f), copy=c) for f, c in faults_by_copy(program)]
    found += [Claim("invariant", line.text, line.span, StateGoal(_violation(program, line))) for line in program.invariants]
    found += [outcome_claim(line, c) for line in program.outcomes for c in line.claims if c.model in SEARCHED]
    expected = [e for e in program.expectations if e.kind == "hang"]
    found += [
        Claim("hang", e.text, e.span, HangGoal(), "sc" if e.model == "sc" else "rdma", not e.negated) for e in expected
    ]
    found.sort(key=lambda c: (c.span.start, c.kind, c.model))
    if hangs and all(e.negated and e.model == "sc" for e in expected):
        found.append(Claim("hang", "no hang under rdma", NO_SPAN, HangGoal()))
    return tuple(found)


def outcome_claim(line: OutcomeLine, claim: OfOutcome) -> Claim:
    """Return what a line claims about one model."""
    condition = line.text.removeprefix("outcome ").rpartition(" : ")[0]
    # An outcome says nothing of where threads are.
    counted = tuple((name, CopyCountAtom(each.thread, each.condition)) for name, each in line.counts)
    goal = StateGoal(StateTarget(condition, line.condition, (), counted), final=True)
    return Claim("outcome", condition, line.span, goal, claim.model, claim.allowed)


def _violation(program: Program, line: InvariantLine) -> StateTarget:
    """Return the states in which an invariant does not hold."""
    condition = negate(conj(divides_by_no_zero(line.condition), line.condition))
    atoms = tuple((name, _atom(program, of)) for name, of in line.atoms)
    return StateTarget(line.text, condition, atoms, _counted(program, line.counts))


def _counted(program: Program, counts: Iterable[tuple[str, CopiesWith]]) -> tuple[tuple[str, CopyCountAtom], ...]:
    return tuple(
        (name, CopyCountAtom(each.thread, each.condition, tuple((word, _atom(program, atom)) for word, atom in each.atoms)))
        for name, each in counts
    )


def _atom(program: Program, of: PointAt | EndedAtom) -> Atom:
    if isinstance(of, EndedAtom):
        return ThreadAtExit(of.thread)
    thread = next(thread for thread in program.threads if thread.name == of.thread)
    return ThreadAtPoints(of.thread, thread.points_at(of.label))


def check_claims(
    program: Program,
    limits: Limits,
    hardware: Model = RDMA,
    *,
    hangs: bool = True,
    besides: Sequence[Claim] = (),
    recv_depth: int = RECV_DEPTH,
    progress: Progress = ignore,
) -> Verified:
    """Check every claim of the program, see :func:`claims`, and those `besides`. Raises InternalError if a run is not
    confirmed."""
    every = (*claims(program, hangs=hangs), *besides)
    questions = [_question(c) for c in every]
    asked = answer_goals(program, questions, limits, hardware, recv_depth=recv_depth, progress=progress)
    checked = []
    for claim, found in zip(every, asked.answers, strict=True):
        is_hang = claim.kind == "hang" and found.run is not None
        there = program if found.copies is None else found.copies.program
        hang = hang_of(there, found.run or (), hardware, recv_depth) if is_hang else None
        checked.append(Checked(claim, status_of(claim, found), found, None, hang))

    def about(claimed: list[tuple[Goal, ModelName]]) -> list[Vacuity]:
        look = partial(vacuities, program, claimed, limits, hardware, asked.robust, recv_depth=recv_depth)
        return found_within(limits, look, lambda why: [Vacuity(None, f"{NOT_KNOWN}: {why}")] * len(claimed))

    return Verified(program, _about_something(program, checked, about), asked)


def _question(claim: Claim) -> tuple[Goal, ModelName]:
    """Return what is asked about a claim of :func:`claims`."""
    if isinstance(claim.goal, SafeGoal):
        raise InternalError("a claim that only proofs answer is asked of a search")
    return claim.goal, "sc" if claim.model == "sc" else "rdma"


def status_of(claim: Claim, answer: Reached) -> Status:
    """Return what an answer means for a claim."""
    if answer.answer is Answer.UNKNOWN:
        return Status.UNKNOWN
    return Status.HOLDS if (answer.answer is Answer.REACHABLE) == claim.allowed else Status.VIOLATED


def _about_something(
    program: Program,
    checked: Sequence[Checked],
    about: Callable[[list[tuple[Goal, ModelName]]], list[Vacuity]],
) -> tuple[Checked, ...]:
    """Return what was checked; claims that hold but, as `about` says, are about nothing are UNREACHABLE."""
    found = list(checked)
    asked = []
    for i, each in enumerate(found):
        claim = each.claim
        if each.status is not Status.HOLDS or claim.allowed or claim.kind in ("hang", "invariant"):
            continue
        if isinstance(claim.goal, FaultGoal) and _is_never_true(program, claim.goal.fault):
            continue  # it claims just this, that its line is never reached: `assert 1 == 0`, and `abort()` in C
        of_state = isinstance(claim.goal, StateGoal) and not program.crowds
        why = (
            impossible_values(program, claim.goal.target.condition) if isinstance(claim.goal, StateGoal) and of_state else ""
        )
        if why:
            found[i] = _judged(each, Vacuity(False, f"no state can have these values: {why}"))
        else:
            asked.append(i)
    if asked:
        questions = [_question(found[i].claim) for i in asked]
        for i, vacuity in zip(asked, about(questions), strict=True):
            found[i] = _judged(found[i], vacuity)
    return tuple(found)


def _is_never_true(program: Program, fault: Fault) -> bool:
    """Return whether this is an assertion that reads nothing: it fails wherever it is reached."""
    found = (step for thread in program.threads for _, _, step in steps(thread) if step.fault == fault)
    return fault.kind == "assertion" and not any(set(names(step.guard)) for step in found)


def _judged(checked: Checked, vacuity: Vacuity) -> Checked:
    answer = checked.answer
    if vacuity.reached is None:
        return replace(checked, answer=replace(answer, reason=f"{answer.reason}; {vacuity.reason}"))
    if vacuity.reached:
        return replace(checked, reached=True)
    return replace(checked, status=Status.UNREACHABLE, reached=False, answer=replace(answer, reason=vacuity.reason))
