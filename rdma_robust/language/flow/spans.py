"""The pass that moves the spans of a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rdma_robust.errors import Span
from rdma_robust.language.flow.cfg import Program, Step, Thread, steps


def with_moved_spans(program: Program, move: Callable[[Span], Span]) -> Program:
    """Return `program` with every span of steps, faults, claims and messages as `move` says.

    Messages propose no edits any more: those were of the text that the spans were of.
    """
    return replace(
        program,
        threads=tuple(_moved(thread, move) for thread in program.threads),
        expectations=tuple(replace(each, span=move(each.span)) for each in program.expectations),
        outcomes=tuple(replace(line, span=move(line.span)) for line in program.outcomes),
        invariants=tuple(replace(line, span=move(line.span)) for line in program.invariants),
        warnings=tuple(replace(warning, span=move(warning.span)) for warning in program.warnings),
        undecided=tuple(replace(error, span=move(error.span), edits=()) for error in program.undecided),
    )


def _moved(thread: Thread, move: Callable[[Span], Span]) -> Thread:
    return replace(thread, edges=tuple((source, target, _step(step, move)) for source, target, step in steps(thread)))


def _step(step: Step, move: Callable[[Span], Span]) -> Step:
    fault = None if step.fault is None else replace(step.fault, span=move(step.fault.span))
    return replace(step, span=move(step.span), fault=fault)
