"""The visible list of passes from text to outcome, and the checks around them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.counters.counter_bounds import counter_bounds
from rdma_robust.counters.lower import lower
from rdma_robust.counters.printing import show_expr, show_program
from rdma_robust.errors import InternalError, SizeLimitError, UsageError
from rdma_robust.language.flow.cfg import Program, steps
from rdma_robust.language.flow.waiting import blocking
from rdma_robust.language.load import load_program
from rdma_robust.limits import Progress, ignore
from rdma_robust.options import CheckOptions, Instrumentation
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.decide import INSTRUMENTATIONS, decide
from rdma_robust.robustness.event_graph import event_graph


@dataclass(frozen=True, slots=True)
class Pass:
    """One step from text to verdict: what it needs, what holds afterwards, and its result as text."""

    name: str
    requires: str
    ensures: str
    show: Callable[[Program, CheckOptions], str]


def _show_cfg(program: Program, _options: CheckOptions) -> str:
    lines = []
    for thread in program.threads:
        lines.append(f"thread {thread.name} on {thread.node}: entry {thread.entry}, exit {thread.exit}")
        for source, target, step in steps(thread):
            guard = f" when {show_expr(step.guard)}" if show_expr(step.guard) != "1" else ""
            sets = "".join(f", {register} := {show_expr(value)}" for register, value in step.assigns)
            fault = f"  [{step.fault.kind}]" if step.fault else ""
            lines.append(f"  {source} -> {target}: {step.text or type(step.op).__name__}{guard}{sets}{fault}")
    return "\n".join(lines) + "\n"


def _show_events(program: Program, _options: CheckOptions) -> str:
    lines = []
    for index, thread in enumerate(program.threads):
        graph = event_graph(program, index)
        lines.append(f"thread {thread.name}: entry {graph.entry}")
        for edge in graph.edges:
            guard = f" when {show_expr(edge.guard)}" if show_expr(edge.guard) != "1" else ""
            sets = "".join(f", {register} := {show_expr(value)}" for register, value in edge.assigns)
            lines.append(f"  {edge.source} -> {edge.target}: {edge}{guard}{sets}")
    return "\n".join(lines) + "\n"


def _show_instrumented(program: Program, options: CheckOptions) -> str:
    return show_program(INSTRUMENTATIONS[options.instrumentation](program, options))


def _show_lowered(program: Program, options: CheckOptions) -> str:
    instrumented = INSTRUMENTATIONS[options.instrumentation](program, options)
    lowered = lower(instrumented)
    lowered.compile_all()
    lines = [f"control state: {', '.join(lowered.fields)}", f"initial: {lowered.initial}"]
    for counter, bound in counter_bounds(instrumented).items():
        lines.append(f"counter {counter}: {'unbounded' if bound is None else f'at most {bound}, part of the control state'}")
    lines.append(
        f"{len(lowered.labels)} transitions, {len(lowered.targets)} targets, {len(lowered.effects)} counter effects"
    )
    return "\n".join(lines) + "\n"


PASSES: Final = (
    Pass("parse", "text", "a checked program: names resolved, one shared access a step, faults explicit", _show_cfg),
    Pass("events", "parse", "one event an edge: puts and gets split, register steps folded, dead registers 0", _show_events),
    Pass("instrument", "events", "a counter program whose targets are reachable iff not robust", _show_instrumented),
    Pass("lower", "instrument", "a VASS: finite variables and bounded counters in the control state", _show_lowered),
)
"""The passes whose result can be looked at; `cover`, `lift` and `confirm` follow and end in the outcome."""


def dump(text: str, file: str, options: CheckOptions, pass_name: str) -> str:
    """Return the result of a pass as text. Raises UsageError for an unknown pass, ProgramError for a bad program."""
    for known in PASSES:
        if known.name == pass_name:
            return known.show(blocking(load_program(text, file), options.await_loops), options)
    raise UsageError(f"no pass is called {pass_name!r}; the passes are {', '.join(p.name for p in PASSES)}")


def check_text(text: str, file: str, options: CheckOptions, progress: Progress = ignore) -> Outcome:
    """Return the outcome for the program in `text`; `file` is for messages only.

    Raises ProgramError for an ill-formed program and InternalError where two methods disagree.
    """
    return check_program(load_program(text, file), options, progress)


def check_program(program: Program, options: CheckOptions, progress: Progress = ignore) -> Outcome:
    """Decide a program, compare with the other methods if asked, and look at failed spin reads."""
    started = time.monotonic()
    program = blocking(program, options.await_loops)
    outcome = decide(program, options, progress)
    if options.self_check:
        agreed = self_check(program, _remaining(options, started), outcome)
        outcome = replace(outcome, checked_by=outcome.checked_by + agreed)
    outcome = with_spin(outcome, _remaining(options, started))
    return replace(outcome, time_s=time.monotonic() - started)


def with_spin(outcome: Outcome, options: CheckOptions) -> Outcome:
    """Return `outcome` with `spin_only` set if its program is robust once loops that only wait are blocking reads."""
    if outcome.verdict is not Verdict.NOT_ROBUST:
        return outcome
    program = blocking(outcome.program)
    if program is not outcome.program and decide(program, options).verdict is Verdict.ROBUST:
        return replace(outcome, spin_only=True, reason="not robust only through failed spin reads")
    return outcome


def self_check(program: Program, options: CheckOptions, outcome: Outcome) -> tuple[str, ...]:
    """Decide again by the other instrumentation and, for loop-free programs of moderate size, by brute force.

    Returns the names of the methods that confirmed the verdict; one that reaches a limit is left out.
    Raises InternalError on a disagreement.
    """
    from rdma_robust.semantics.oracle.brute_force import oracle_robust  # noqa: PLC0415 - few ask for it

    if outcome.verdict is Verdict.UNKNOWN:
        return ()
    other: Instrumentation = "paper" if options.instrumentation == "pivot" else "pivot"
    methods: dict[str, Callable[[], Verdict]] = {
        other: lambda: decide(program, replace(options, instrumentation=other, engine="auto")).verdict,
        "brute force": lambda: Verdict.NOT_ROBUST if oracle_robust(program, options.model) else Verdict.ROBUST,
    }
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


def _remaining(options: CheckOptions, started: float) -> CheckOptions:
    """The same options with what is left of the time limit."""
    if options.timeout is None:
        return options
    return replace(options, timeout=max(0.0, options.timeout - (time.monotonic() - started)))
