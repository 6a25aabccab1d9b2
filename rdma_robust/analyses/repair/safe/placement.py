"""Repair for safety: the way in from text to answer.

The judge of a repair for what a program claims under RDMA, where that for robustness asks for more than is needed.

All else is the search for the cheapest repair (`cheapest`): places, statements, costs, and what is kept of what the program
does. A set will do if no claim that something does not happen on the hardware is violated with it; what may happen there
need not. A run that violates a claim is learnt from as a trace that is not robust is, if what it shows follows from its
events: that a thread comes to something that goes wrong, or that all end with certain values. Whatever leaves these events
leaves that. Of an invariant, or a hang, one run says nothing of other sets: these are tried one after the other.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Final, Literal

from rdma_robust.analyses.prove.prove import decide_safety
from rdma_robust.analyses.prove.safety_outcome import Safety, SafetyOutcome
from rdma_robust.analyses.repair.cheapest import Checker, Judgement
from rdma_robust.analyses.repair.each_copy import has_families, outside_of_copies
from rdma_robust.analyses.repair.hitting import OutOfTimeError
from rdma_robust.analyses.repair.keeping import HANG_STATES, Deviation, HangComparison, Hangs, Where, unmoved
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import COUNTING, Choices, Repair, RepairOptions, Status, WaitOptions
from rdma_robust.analyses.repair.replay import End
from rdma_robust.analyses.repair.safe.fewest import Fewest
from rdma_robust.analyses.repair.safe.judging import WaitDecisions
from rdma_robust.analyses.repair.safe.rewriting import Rewriter
from rdma_robust.analyses.repair.safe.standing import WAITS, WaitSpots, spots_of
from rdma_robust.analyses.safety.exploration import confirmed_trace
from rdma_robust.analyses.safety.goals import FaultGoal, Goal, SafeGoal, StateGoal, watched_by_goals
from rdma_robust.analyses.safety.hangs import find_hang
from rdma_robust.analyses.safety.on_hardware import Run
from rdma_robust.analyses.safety.questions import Answer, Argument, Reached
from rdma_robust.analyses.safety.reach import answer_goals
from rdma_robust.analyses.safety.verify import Claim, claims, status_of
from rdma_robust.analyses.safety.verify import Status as Standing
from rdma_robust.errors import LimitReached, ProgramError, UsageError
from rdma_robust.expr import names
from rdma_robust.language.check.refusals import model_refusals
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import is_trencher, load_decidable, load_program, refuse_edits
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.semantics.machines.chosen import AnyRdmaMachine, machine_of
from rdma_robust.text import count, one_line


def make_safe(
    text: str, file: str, waits: WaitOptions, options: RepairOptions | None = None, limits: CheckOptions | None = None
) -> Repair:
    """Return the cheapest waits, of those that `waits` allows, with which the program in `text` is safe under its model.

    `options.timeout` limits everything together; of `limits` the states, the memory, and `await_loops` count. Every solution
    was proven again from its text. Raises ProgramError for a bad program and for one with statements that the model does
    not have, UsageError for a model that is not known here, SizeLimitError for a program too large with all waits in.
    """
    return outside_of_copies(_answer(text, file, waits, options, limits), text, file)


def remove_waits(
    text: str, file: str, waits: WaitOptions, options: RepairOptions | None = None, limits: CheckOptions | None = None
) -> Repair:
    """Return the waits of the program in `text` that can go while it stays safe under a model: of most cost together.

    Labelled ones stay, and those in macros. What is left was proven again from its text. Raises ProgramError, UsageError.
    """
    found = _answer(text, file, replace(waits, sites=None, own=True), options, limits)
    if found.status == "impossible":
        return replace(found, reason=f"the program is not safe under {waits.model}: repair it first", run=())
    gone = tuple(replace(s, cost=sum(i.cost for i in s.removed), kept=()) for s in found.solutions)
    done = found.status in ("safe", "repaired")
    return replace(found, solutions=gone, complete=found.optimal if done else found.complete)


def _answer(text: str, file: str, waits: WaitOptions, options: RepairOptions | None, limits: CheckOptions | None) -> Repair:
    started = time.monotonic()
    options, limits = options or RepairOptions(COUNTING), limits or CheckOptions()
    if waits.model not in WAITS:
        raise UsageError(f"which waits make a program safe under {waits.model} is not known; take {', '.join(WAITS)}")
    work = Limits.of(options.timeout, limits.max_states, limits.memory, started=started)
    if refused := model_refusals(load_program(text, file), waits.model):
        raise ProgramError(file, text, refused)
    if has_families(text, file):
        return Repair("unknown", FAMILIES, time_s=time.monotonic() - started, waits=waits)
    try:
        spots = spots_of(text, file, waits, await_loops=limits.await_loops)
        found = _Placement(spots, waits, options, work, limits.await_loops).answer()
    except OutOfTimeError:
        found = Repair("unknown", f"{work.said('time')} came before it was known what all waits together do")
    except LimitReached as reached:
        found = Repair("unknown", str(reached))
    return replace(found, time_s=time.monotonic() - started, waits=waits)


FAMILIES: Final = (
    "waits are not looked for in families: one in the template stands in every copy; `rdma-robust fmt --expand` writes the "
    "copies out, and what it prints can be made safe"
)


class _Placement:
    """One search, from the program with all waits to the answer."""

    def __init__(
        self, spots: WaitSpots, waits: WaitOptions, options: RepairOptions, work: Limits, await_loops: bool
    ) -> None:
        self.spots, self.waits, self.options = spots, waits, options
        self.rewriter = Rewriter(spots, options.costs)
        self.decisions = WaitDecisions(spots, self.rewriter, self._prove, work, await_loops)
        self.search = Fewest(self.spots.universe, self.spots.costs(options.costs), self.decisions.judge)

    def _prove(self, program: Program, limits: Limits) -> SafetyOutcome:
        return decide_safety(program, self.waits.model, limits)

    def answer(self) -> Repair:
        """Return the answer. Raises OutOfTimeError if not even all waits were decided."""
        first = self.decisions.decide(frozenset(self.spots.universe))
        if first.safety is not Safety.SAFE:
            return self._hopeless(first)
        on_time = True
        try:
            self.search.run(self.options.most_solutions if self.options.all_minimal else 1)
        except (OutOfTimeError, LimitReached):
            on_time = False
        safe = frozenset(self.spots.universe) if self.search.safe is None else self.search.safe
        chosen = self.search.found if on_time or not self.search.cheaper(safe) else [safe]
        return self._repair(chosen, on_time)

    def _hopeless(self, first: SafetyOutcome) -> Repair:
        """Return the answer for a program that was not proven safe with all waits in."""
        having = f"with all of {count(len(self.spots.universe), 'candidate')}" if self.spots.universe else "as it is"
        if first.safety is Safety.UNKNOWN:
            return self._with("unknown", f"{having} it is not known to be safe: {first.reason}")
        assert first.run is not None
        assert first.claim is not None
        violated = f"line {self.spots.line(first.claim.span.start)}, `{one_line(first.claim.text)}`"
        reason = f"no {NAMES[self.waits.model]} make it safe: {having} this is violated: {violated}"
        return replace(self._with("impossible", reason), run=self.rewriter.told(first.run))

    def _repair(self, chosen: list[Choices], on_time: bool) -> Repair:
        search = self.search
        solutions = tuple(map(self.rewriter.solution, chosen))
        better = search.left_undecided(chosen[0])
        optimal = chosen is search.found and not better
        complete = on_time and search.exhausted and not search.left_undecided()
        scope = _scope(self.waits)
        if optimal:
            reason = f"the cheapest of {scope}"
        elif better:
            reason = f"no smaller set was proven; {count(len(better), 'set')} undecided"
        else:
            reason = "the cheapest found: a limit came before all cheaper sets were decided"
        if not solutions[0].edits:
            found = self._with("safe", "nothing is missing" if not self.waits.own else f"its own waits are {reason}")
        else:
            found = self._with("repaired", reason)
        return replace(
            found,
            solutions=solutions if solutions[0].edits else (),
            optimal=optimal,
            complete=complete,
            scope=scope,
            needed=self.rewriter.rows(search.needed),
            undecided=tuple(map(self.rewriter.rows, search.left_undecided() if self.options.all_minimal else better)),
        )

    def _with(self, status: Status, reason: str) -> Repair:
        return Repair(
            status,
            reason,
            checked=self.decisions.checked,
            cycles=self.decisions.cycles,
            candidates=len(self.spots.universe),
        )


NAMES: Final[Mapping[AnyModelName, str]] = {"sc": "waits", "tso": "mfences", "pso": "mfences", "rma": "flushes"}
"""What waits of a model are called."""


def _scope(waits: WaitOptions) -> str:
    """Return which sets a cheapest one is a cheapest of, in words."""
    behind = {"rma": "of the peer behind each put, get and remote atomic"}.get(waits.model, "behind each store")
    where = behind if waits.sites == "after-remote" else "between any two statements, but first in a branch or loop"
    own = ", and those of the program, which can go" * waits.own
    return f"all sets of {NAMES[waits.model]} {where}{own}"


SHARE: Final = 0.25
"""Of the time that is left, for one set of insertions."""

NOTHING: Final = "it claims nothing of what happens under rdma"


def keep_claims(text: str, file: str, options: RepairOptions | None = None, limits: CheckOptions | None = None) -> Repair:
    """Return a cheapest set of insertions with which the program in `text` keeps what it claims of what happens under RDMA.

    Arguments, limits and errors are those of :func:`~rdma_robust.analyses.repair.plan.repair`; automata are refused.
    """
    refuse_edits(text, file)
    if is_trencher(text, file):
        raise UsageError("a program of Trencher is made robust: it has no polls, remote fences and gets")
    started = time.monotonic()
    options, limits = options or RepairOptions(), limits or CheckOptions()
    found = None
    if has_families(text, file):
        found = _as_they_are(text, file, options, limits)
    found = found or repair(text, file, options, limits, ClaimChecker)
    return replace(found, waits=WaitOptions("rdma", None), time_s=time.monotonic() - started)


def _as_they_are(text: str, file: str, options: RepairOptions, limits: CheckOptions) -> Repair | None:
    """Return the answer for families with claims that are about several threads, which no written-out copy makes: only
    whether they hold. None if there are no such claims."""
    program = load_decidable(text, file)
    if all(isinstance(claim.goal, FaultGoal) for claim in forbidding_claims(program)):
        return None
    deadline = None if options.timeout is None else time.monotonic() + options.timeout
    judged = ClaimChecker(file, limits.on(program.hardware), deadline, options.timeout).judge(text)
    if judged.good is False and not judged.lasting:
        return Repair("unknown", f"{judged.reason}; {FAMILIES}", checked=1)
    status: Status = "unknown" if judged.good is None else "safe" if judged.good else "impossible"
    return Repair(status, judged.reason, optimal=bool(judged.good), complete=judged.lasting, checked=1)


@dataclass
class ClaimChecker(Checker):
    """Decides whether programs keep what they claim of the hardware, until `deadline`, and counts them."""

    fine: ClassVar[Literal["robust", "safe"]] = "safe"

    def judge(self, text: str, where: Where = unmoved) -> Judgement:
        """Decide whether a text with insertions keeps its claims."""
        program = load_decidable(text, self.file)
        asked = {c: c.goal for c in forbidding_claims(program) if not isinstance(c.goal, SafeGoal)}
        if not asked:
            return Judgement(True, NOTHING)
        self.checked += 1
        limits = Limits(self.deadline, self.options.max_states, self.options.memory).share(SHARE)
        model, depth = self.options.model, self.options.recv_depth
        answers = answer_goals(program, [(goal, "rdma") for goal in asked.values()], limits, model, recv_depth=depth).answers
        violated = [(c, found) for c, found in zip(asked, answers, strict=True) if status_of(c, found) is Standing.VIOLATED]
        for claim, found in violated:
            if found.argument is Argument.SC_RUN and claim.kind != "hang":
                reason = f"{_said(claim)} is violated under sequential consistency, where insertions change nothing"
                return Judgement(False, reason, lasting=True)
        if violated:
            machine = machine_of(program, model, watched_by_goals(program, asked.values()), depth)
            return self._learnt(machine, [(c, asked[c], found.run) for c, found in violated if found.run], where)
        unknown = (f"{_said(c)}: {found.reason}" for c, found in zip(asked, answers, strict=True) if _open(found))
        reason = next(unknown, "")
        return Judgement(None, reason) if reason else Judgement(True, "all that it claims of what happens under rdma holds")

    def _learnt(self, machine: AnyRdmaMachine, runs: Sequence[tuple[Claim, Goal, Run]], where: Where) -> Judgement:
        """Return the first run that says something of other sets, as what it says; else only that a claim is violated."""
        said = f"{_said(runs[0][0])} is violated"
        for _, goal, run in runs:
            end = end_of(machine.program, goal, run, where)
            trace = None if end is None else confirmed_trace(machine, run, goal)
            if end is not None and trace is not None:
                return Judgement(False, said, trace, end, said)
        return Judgement(False, said, violation=said)

    def comparison(self, program: Program) -> HangComparison:
        return HardwareComparison(program, self.options.model, self.deadline, await_loops=self.options.await_loops)


def forbidding_claims(program: Program) -> list[Claim]:
    """Return the claims that something does not happen on the hardware, as the program makes them itself."""
    return [claim for claim in claims(program, hangs=False) if claim.model != "sc" and not claim.allowed]


def _said(claim: Claim) -> str:
    return f"line {claim.span.line}, `{one_line(claim.text)}`"


def _open(found: Reached) -> bool:
    return found.answer is Answer.UNKNOWN


def end_of(program: Program, goal: Goal, run: Run, where: Where) -> End | None:
    """Return where threads have to come to so that what a run shows is there, if that and its events are all that it takes.

    That is something that goes wrong with a step of the thread, or the end of all threads with some values.
    """
    last = run[-1]
    match goal:
        case FaultGoal(fault) if any(step.fault == fault for _, _, step in program.threads[last.action.thread].edges):
            wrong = fault.kind, where(fault.span.start)
            return lambda there: there.thread != last.action.thread or there.fault == wrong
        case StateGoal(target, final=True) if not target.atoms and not target.counts:
            asked = names(target.condition)
            wanted = [
                {r: v for (r, _), v in zip(t.registers, s.registers, strict=True) if f"{t.name}.{r}" in asked}
                for t, s in zip(program.threads, last.state.threads, strict=True)
            ]
            return lambda there: there.ended and wanted[there.thread].items() <= there.registers.items()
    return None


class HardwareComparison(HangComparison):
    """Compares hangs on the hardware as well: a repaired program that is not robust may have one there only."""

    def __init__(self, program: Program, model: Model, deadline: float | None, *, await_loops: bool = False) -> None:
        super().__init__(program, model, await_loops=await_loops)
        self._own = program
        self._hardware, self._deadline = model, deadline

    def hangs(self, text: str, where: Where, deadline: float | None) -> Hangs | Deviation:
        """Return what is known of the hangs of a text; a hang that the program has not is a reason to refuse the text."""
        compared = self.kept(text, where, deadline)
        if isinstance(compared, Deviation):
            return compared
        found = self._look(self._loaded(text))
        if found.answer is Answer.UNREACHABLE:
            return "none"
        if found.answer is Answer.REACHABLE and self._never_hung:
            return Deviation("waits", 0, (), alone=False)
        kept = compared is not None and compared.hangs and found.argument is Argument.SC_RUN
        return "kept" if kept else "unknown"

    @cached_property
    def _never_hung(self) -> bool:
        return self._look(self._own).answer is Answer.UNREACHABLE

    def _look(self, program: Program) -> Reached:
        return find_hang(program, "rdma", Limits(self._deadline, HANG_STATES).share(SHARE), self._hardware).answer
