"""The judge of a repair for what a program claims under RDMA, where that for robustness asks for more than is needed.

All else is the search for the cheapest repair (`cheapest`): places, statements, costs, and what is kept of what the program
does. A set will do if no claim that something does not happen on the hardware is violated with it; what may happen there
need not. A run that violates a claim is learnt from as a trace that is not robust is, if what it shows follows from its
events: that a thread comes to something that goes wrong, or that all end with certain values. Whatever leaves these events
leaves that. Of an invariant, or a hang, one run says nothing of other sets: these are tried one after the other.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Final, Literal

from rdma_robust.analyses.repair.cheapest import Checker, Judgement
from rdma_robust.analyses.repair.each_copy import has_families
from rdma_robust.analyses.repair.keeping import HANG_STATES, Deviation, HangComparison, Hangs, Where, unmoved
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import Repair, RepairOptions, Status, WaitOptions
from rdma_robust.analyses.repair.replay import End
from rdma_robust.analyses.repair.safe.placement import FAMILIES
from rdma_robust.analyses.safety.exploration import confirmed_trace
from rdma_robust.analyses.safety.goals import FaultGoal, Goal, SafeGoal, StateGoal, watched_by_goals
from rdma_robust.analyses.safety.hangs import find_hang
from rdma_robust.analyses.safety.on_hardware import Run
from rdma_robust.analyses.safety.questions import Answer, Argument, Reached
from rdma_robust.analyses.safety.reach import answer_goals
from rdma_robust.analyses.safety.verify import Claim, claims, status_of
from rdma_robust.analyses.safety.verify import Status as Standing
from rdma_robust.errors import UsageError
from rdma_robust.expr import names
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import is_trencher, load_decidable, refuse_edits
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.semantics.machines.chosen import AnyRdmaMachine, machine_of
from rdma_robust.text import one_line

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
