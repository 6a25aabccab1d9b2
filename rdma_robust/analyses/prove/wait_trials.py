"""Trials of flushes and fences: the program without one is proved or refuted again, which tells whether a proof needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from rdma_robust.analyses.prove.safety_outcome import SafetyOutcome
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.language.flow.cfg import Flush, MFence, Program, Silent, Step, Thread


@dataclass(frozen=True, slots=True)
class WaitTrial:
    """A flush or fence of the text, and the answer for the program `without` it: only if that is SAFE it is not needed."""

    span: Span
    text: str
    without: SafetyOutcome


def trials_without_waits(program: Program, prove: Callable[[Program], SafetyOutcome]) -> Iterator[WaitTrial]:
    """Yield, for every flush and fence in the order of the text, what `prove` says of the program without it."""
    waits = {
        step.span: step.text
        for thread in program.threads
        for _, _, step in thread.edges
        if isinstance(step.op, Flush | MFence) and step.span != NO_SPAN
    }
    for span in sorted(waits, key=lambda each: (each.start, each.line)):
        yield WaitTrial(span, waits[span], prove(without_wait(program, span)))


def without_wait(program: Program, span: Span) -> Program:
    """Return `program` in which the flush or fence at this place of the text does nothing."""
    return replace(program, threads=tuple(_without(thread, span) for thread in program.threads))


def _without(thread: Thread, span: Span) -> Thread:
    def passed(step: Step) -> Step:
        return replace(step, op=Silent()) if step.span == span and isinstance(step.op, Flush | MFence) else step

    return replace(thread, edges=tuple((source, to, passed(step)) for source, to, step in thread.edges))
