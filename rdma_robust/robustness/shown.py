"""Artefacts of the passes of the decision procedure as text for people (`--dump-after`)."""

from __future__ import annotations

from rdma_robust.counters.printing import show_expr, show_program
from rdma_robust.language.flow.cfg import Program, steps
from rdma_robust.outcome import Outcome
from rdma_robust.robustness.frame import InstrumentationFrame
from rdma_robust.robustness.lift import LiftedTrace
from rdma_robust.robustness.passes import Attempt, CounterArtefact, CoverArtefact, FilterArtefact, VassArtefact


def program(program: Program) -> str:
    """Return the control-flow graphs."""
    lines = []
    for thread in program.threads:
        lines.append(f"thread {thread.name} on {thread.node}: entry {thread.entry}, exit {thread.exit}")
        for source, target, step in steps(thread):
            guard = f" when {show_expr(step.guard)}" if show_expr(step.guard) != "1" else ""
            sets = "".join(f", {register} := {show_expr(value)}" for register, value in step.assigns)
            fault = f"  [{step.fault.kind}]" if step.fault else ""
            lines.append(f"  {source} -> {target}: {step.text or type(step.op).__name__}{guard}{sets}{fault}")
    return _text(lines)


def events(frame: InstrumentationFrame) -> str:
    """Return the event graphs."""
    lines = []
    for graph in frame.graphs:
        lines.append(f"thread {graph.name}: entry {graph.entry}")
        for edge in graph.edges:
            guard = f" when {show_expr(edge.guard)}" if show_expr(edge.guard) != "1" else ""
            sets = "".join(f", {register} := {show_expr(value)}" for register, value in edge.assigns)
            lines.append(f"  {edge.source} -> {edge.target}: {edge}{guard}{sets}")
    return _text(lines)


def filtered(left: FilterArtefact) -> str:
    """Return the pivot classes that are left, each with the events that may come first after it."""
    if left.pivots is None:
        return "the paper's instrumentation has no pivots: it guesses where the cycle is\n"
    classes = left.pivots.classes
    lines = [f"pivot classes to try: {len(classes.tried)}"]
    names = [thread.name for thread in left.frame.program.threads]
    for number, c in enumerate(classes.tried, 1):
        lines.append(f"class {number}: thread {names[c.thread]} {'writes' if c.writes else 'reads'} {c.cell}")
        first = (e for g in left.frame.graphs for e in g.edges if classes.may_start(e, c))
        lines += [f"  {names[e.thread]} {e.source} -> {e.target}: {e}" for e in first]
    return _text(lines)


def instrumented(made: CounterArtefact) -> str:
    """Return the counter program."""
    return show_program(made.counters)


def lowered(lowered: VassArtefact) -> str:
    """Return the fields and counters of the VASS, and its size."""
    vass = lowered.vass
    vass.compile_all()
    lines = [f"control state: {', '.join(vass.fields)}", f"initial: {vass.initial}"]
    for counter, bound in vass.bounds.items():
        lines.append(f"counter {counter}: {'unbounded' if bound is None else f'at most {bound}, part of the control state'}")
    lines.append(f"{len(vass.labels)} transitions, {len(vass.targets)} targets, {len(vass.effects)} counter effects")
    return _text(lines)


def covered(covered: CoverArtefact) -> str:
    """Return what the search has found, with the run."""
    result, shortest = covered.found.result, covered.shortest.result
    lines = [f"engine {covered.found.engine}: {result.states} states, {result.transitions} transitions"]
    if result.cut:
        lines.append(f"cut by the limit of {result.cut}, {result.frontier} states not yet expanded")
    elif result.target < 0:
        lines.append("no target is reachable" if covered.lowered.vass.targets else "there is no target")
    else:
        names = [thread.name for thread in covered.lowered.program.threads]
        lines += [f"  {names[label.edge.thread]}: {label}" for label in covered.shortest.run]
        target = covered.target
        pivot = "" if target is None else f": {names[target.edge.thread]}: {target.edge}"
        lines.append(f"target {shortest.target}{pivot}")
    return _text(lines)


def shown_trace(attempt: Attempt) -> str:
    """Return the events of the trace in their order."""
    if attempt.lifted is None:
        return "nothing to lift\n"
    return trace(attempt.covered.lowered.program, attempt.lifted)


def trace(program: Program, made: LiftedTrace) -> str:
    """Return the events of a trace of the program, each with its part."""
    lines = []
    for number, event in enumerate(made.trace.events[len(program.cells) :]):
        after = number - made.before - (made.pivot is not None)
        part = "pivot" if event == made.pivot else "second part" if after >= 0 else "first part"
        lines.append(f"{program.threads[event.thread].name}: {event}, {part}")
    return _text(lines)


def shown_outcome(outcome: Outcome) -> str:
    """Return the verdict, and the cycle of a violation."""
    lines = [f"{outcome.verdict.value}: {outcome.reason}"]
    return _text([*lines, str(outcome.witness.cycle)] if outcome.witness else lines)


def hangs(outcome: Outcome) -> str:
    """Return which faults were come by, and who waits where for what in the hang that was, if one was."""
    lines = [f"line {f.span.where}: {f.kind}: {'met' if outcome.meets(f) else 'possible'}" for f in outcome.faults]
    return _text([*lines, *([wait.text for wait in outcome.hang.waits] if outcome.hang else ["no hang was come by"])])


def _text(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
