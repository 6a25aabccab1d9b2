"""The visible list of passes from text to outcome, which is what runs, and the checks around them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.errors import InternalError, SizeLimitError, UsageError
from rdma_robust.guard import guarded_by
from rdma_robust.language.flow.cfg import Fault, ImmPut, Program, Recv, RemoteRmw, Send, Step
from rdma_robust.language.flow.spinning import blocking, spin_assumed
from rdma_robust.language.load import decidable, has_text, is_c, is_foreign, load_decidable
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.options import CheckOptions, Instrumentation
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness import contracts, shown
from rdma_robust.robustness.decide import DECISION, decide, decided_by_passes, passes_for
from rdma_robust.robustness.paper import beyond_paper
from rdma_robust.robustness.passes import Context, DecisionPass, PassContract, Passes, run_passes
from rdma_robust.robustness.searched_orders import not_searched


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a program; `file` is its name for messages."""

    text: str
    file: str


Given = Text | Program
"""What is to be decided: a text, or a program that was read or built before."""


def _given(given: Given) -> Iterator[str]:
    if not isinstance(given, Text | Program):
        yield f"{type(given).__name__} is neither a text nor a program"


def _parse(given: Given, context: Context) -> Program:
    if isinstance(given, Text):
        # What evaluates C polls no limits; texts of the language are read in no time.
        with guarded_by(context.limits) if is_c(given.text, given.file) else nullcontext():
            return load_decidable(given.text, given.file, crowds=context.crowds)
    from rdma_robust.language.flow.valid import validate  # noqa: PLC0415 - a text is checked as it is read

    if is_foreign(given.source, given.file) and has_text(given):
        return decidable(given, crowds=context.crowds)  # reading has found which values there are
    validate(decidable(given, crowds=context.crowds))
    return given


def _wait(program: Program, context: Context) -> Program:
    return spin_assumed(program, context.options.await_loops)


GIVEN: Final = PassContract("a text, or a program as a value", _given)

PREPARATION: Final[Passes] = (
    DecisionPass("parse", _parse, GIVEN, contracts.PROGRAM, shown.program),
    DecisionPass("await", _wait, contracts.PROGRAM, contracts.PROGRAM, shown.program),
)


def with_spin(outcome: Outcome, context: Context) -> Outcome:
    """Return `outcome` with `spin_only` set if its program is robust without the failed rounds of its spin loops."""
    if outcome.verdict is not Verdict.NOT_ROBUST:
        return outcome
    program = spin_assumed(outcome.program)
    if program is outcome.program:
        return outcome
    what, options = "whether only failed spin reads are not robust", context.options.on(outcome.program.hardware)

    def verdict(limits: Limits) -> Verdict:
        found = decide(program, options, limits=limits)
        if found.verdict is Verdict.UNKNOWN:
            context.beside.leave_out(what, found.reason)
        return found.verdict

    if context.beside.note(what, verdict, Verdict.UNKNOWN, share=0.8) is Verdict.ROBUST:
        return replace(outcome, spin_only=True, reason="not robust only through failed spin reads")
    return outcome


def _may_fail(step: Step) -> bool:
    return step.fault is not None or isinstance(step.op, RemoteRmw | Send | ImmPut | Recv)


def _look_for_hangs(outcome: Outcome, context: Context) -> Outcome:
    from rdma_robust.semantics.machines.hang_words import first_hang  # noqa: PLC0415 - a word in passing
    from rdma_robust.semantics.machines.waiting_points import may_hang  # noqa: PLC0415

    if outcome.program.crowds or any(e.kind == "hang" and not e.negated for e in outcome.program.expectations):
        return outcome
    program = blocking(outcome.program)
    if sum(len(thread.edges) for thread in program.threads) > HANG_STEPS or not may_hang(program):
        return outcome
    hang = context.beside.note("whether it hangs", lambda limits: first_hang(program, limits.at_most(HANG_STATES)), None)
    return replace(outcome, hang=hang)


def _look_for_faults(outcome: Outcome, context: Context) -> Outcome:
    """Note which faults runs meet: those of an exact answer, of others what a short search under SC comes to."""
    from rdma_robust.robustness.reasons import sorted_faults  # noqa: PLC0415 - a word in passing
    from rdma_robust.semantics.machines.hang_words import faults_met  # noqa: PLC0415

    program = outcome.program
    steps = [step for thread in program.threads for _, _, step in thread.edges]
    if outcome.faults_exact or program.crowds or len(steps) > HANG_STEPS or not any(map(_may_fail, steps)):
        return outcome
    what = "which faults runs meet"
    met = context.beside.note(what, lambda limits: faults_met(program, limits.at_most(FAULT_STATES)), frozenset[Fault]())
    return replace(outcome, met=met, faults=sorted_faults({*outcome.faults, *met}))


HANG_STATES: Final = 300
FAULT_STATES: Final = 1000
"""States under SC that a check looks at for faults, if its own search does not tell which are met: some 30 ms."""

HANG_STEPS: Final = 1000
"""States under SC that a check looks at for hangs, and steps of the largest programs in which it does: some 10 ms."""


def _look_on(outcome: Outcome, context: Context) -> Outcome:
    return _look_for_hangs(_look_for_faults(outcome, context), context)


NOTES: Final[Passes] = (DecisionPass("hangs", _look_on, contracts.DECIDED, contracts.DECIDED, shown.hangs),)
PASSES: Final[Passes] = (*PREPARATION, *DECISION, *NOTES)
"""From what is given to the outcome; each makes what the next one takes."""


def dump(text: str, file: str, options: CheckOptions, pass_name: str) -> str:
    """Return the result of a pass as text. Raises UsageError for an unknown pass, ProgramError for a bad program."""
    names = [each.name for each in PASSES]
    if pass_name not in names:
        raise UsageError(f"no pass is called {pass_name!r}; the passes are {', '.join(names)}")
    wanted, first = PASSES[: names.index(pass_name) + 1], len(PREPARATION)
    program: Program = run_passes(PREPARATION, Text(text, file), Context.of(options, crowds=True))
    if len(wanted) <= first:
        return wanted[-1].show(program if len(wanted) == first else load_decidable(text, file, crowds=True))
    context = Context.of(options.on(program.hardware))
    decision = passes_for(program, context.options.model) if program.crowds else DECISION
    wanted = (*PREPARATION, *decision, *NOTES)[first : names.index(pass_name) + 1]
    return wanted[-1].show(run_passes(wanted, program, context))


def check_text(
    text: str,
    file: str,
    options: CheckOptions,
    progress: Progress = ignore,
    *,
    crowds: bool = False,
    keep: Callable[[Outcome], None] = lambda _: None,
    more: Passes = (),
) -> Outcome:
    """Return the outcome for the program in `text`; `file` is for messages only. See :func:`check_program`."""
    return check_program(Text(text, file), options, progress, crowds=crowds, keep=keep, more=more)


def check_program(
    given: Given,
    options: CheckOptions,
    progress: Progress = ignore,
    *,
    crowds: bool = False,
    keep: Callable[[Outcome], None] = lambda _: None,
    more: Passes = (),
) -> Outcome:
    """Decide a program, compare with the other methods if asked, and look at failed spin reads.

    What comes beside the verdict has a budget of its own (:mod:`beside`), `more` notes, which come last, included. `keep`
    is called with the outcome as soon as there is a verdict, for who wants it whatever happens then. With `crowds` one with
    templates is decided for any number of copies, see :class:`Outcome`.
    Raises ProgramError for a text or program that is not well-formed, or has templates without `crowds`, and InternalError
    where two methods disagree.
    """
    context = Context.of(options, progress, crowds=crowds)
    started = time.monotonic()
    reading, spinning = PREPARATION
    written: Program = run_passes((reading,), given, context)
    program: Program = run_passes((spinning,), written, context)
    outcome = decided_by_passes(program, context)
    keep(replace(outcome, time_s=time.monotonic() - started))
    if options.self_check:
        agreed = self_check(program, options.on(program.hardware), outcome, context.limits)
        outcome = replace(outcome, checked_by=outcome.checked_by + agreed)
    noted: Outcome = run_passes((*NOTES, *more), replace(with_spin(outcome, context), program=written), context)
    return replace(noted, program=program, time_s=time.monotonic() - started, left_out=tuple(context.beside.left_out))


def self_check(program: Program, options: CheckOptions, outcome: Outcome, limits: Limits) -> tuple[str, ...]:
    """Decide again by the other instrumentation and, for loop-free programs of moderate size, by brute force.

    The paper's instrumentation decides under the paper's model, and programs of the paper's operations, alone.

    Returns the names of the methods that confirmed the verdict; one that reaches a limit is left out.
    Raises InternalError on a disagreement.
    """
    from rdma_robust.semantics.oracle.brute_force import DEFAULT_LIMITS, oracle_robust  # noqa: PLC0415 - few ask for it

    if outcome.verdict is Verdict.UNKNOWN or not_searched(program, options.model):
        return ()
    if program.crowds:
        from rdma_robust.robustness.crowds.compared import confirming_ways  # noqa: PLC0415 - few ask for it

        return confirming_ways(outcome, options, limits)
    other: Instrumentation = "paper" if options.instrumentation == "pivot" else "pivot"
    methods: dict[str, Callable[[], Verdict]] = {
        other: lambda: decide(program, replace(options, instrumentation=other, engine="auto"), limits=limits).verdict,
        "brute force": lambda: (
            Verdict.NOT_ROBUST
            if oracle_robust(program, options.model, DEFAULT_LIMITS.within(limits.seconds_left()))
            else Verdict.ROBUST
        ),
    }
    if not options.model.is_of_paper or beyond_paper(program) is not None:
        del methods[other]
    agreed = []
    for name, method in methods.items():
        try:
            verdict = method()
        except SizeLimitError:
            continue
        if verdict is Verdict.UNKNOWN:
            continue
        if verdict is not outcome.verdict:
            said = f"{options.instrumentation} says {outcome.verdict.value}, {name} says {verdict.value}"
            raise InternalError(f"{program.file}: {said}; please report this program")
        agreed.append(name)
    return tuple(agreed)
