"""A reduced transition system as text: its control states as they are found, with what is updated on every transition."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from typing import Final

from rdma_robust.analyses.prove.state_join import shown_condition
from rdma_robust.analyses.prove.transition_system import (
    Assignment,
    Cause,
    Control,
    Draw,
    Drop,
    Join,
    Selection,
    Suppose,
    Transition,
    TransitionSystem,
    Update,
)
from rdma_robust.expr import TRUE
from rdma_robust.text import count, one_line

MOST_SHOWN: Final = 10_000


def system_lines(system: TransitionSystem, most: int | None = None) -> Iterator[str]:
    """Yield a system as lines: wide variables, claims, and up to `most` control states in breadth-first order."""
    most = MOST_SHOWN if most is None else most
    wide = ", ".join(f"{name} = {value}" for name, value in system.wide)
    yield f"  wide: {wide or 'nothing'}"
    for claim in system.claims:
        what = f"{'allowed: ' if claim.allowed else ''}{one_line(claim.text, 110)}"
        yield f"  claim {claim.number} (line {claim.span.line}): {what}"
    numbers: dict[Control, int] = {system.initial(): 0}
    todo = deque([system.initial()])
    while todo:
        control = todo.popleft()
        if numbers[control] >= most:
            yield f"  ... more than {count(most, 'state')}; --max-states says how many are shown"
            return
        yield f"  state {numbers[control]}: {json.dumps(system.described(control))}"
        for bad in system.violations(control):
            yield f"    violates claim {bad.claim}{_if(shown_condition(bad.condition), bad.condition != TRUE)}"
        if system.overflowed(control):
            yield "    a buffer overflowed"
        for transition in system.successors(control):
            if transition.to not in numbers:
                numbers[transition.to] = len(numbers)
                todo.append(transition.to)
            yield f"    -> {numbers[transition.to]}  {_transition(system, transition)}"


def _if(text: str, shown: bool) -> str:
    return f" if {text}" if shown else ""


def _transition(system: TransitionSystem, transition: Transition) -> str:
    parts = ["; ".join(_cause(system, each) for each in transition.causes)]
    parts += [f"[{'; '.join(map(_update, transition.updates))}]"] if transition.updates else []
    parts += [f"fault: {transition.fault.message}"] if transition.fault is not None else []
    parts += [] if transition.exact else ["(stands for several)"]
    return "  ".join(parts)


def _cause(system: TransitionSystem, cause: Cause) -> str:
    name = system.program.threads[cause.thread].name
    if cause.step is None:
        return f"{name} {cause.verb.value} {cause.cell}"
    return f"{name} {cause.verb.value} line {cause.step.span.line}: {one_line(cause.step.text)}"


def _update(update: Update) -> str:
    match update:
        case Suppose(condition):
            return f"suppose {shown_condition(condition)}"
        case Assignment(name, value):
            return f"{name} := {shown_condition(value)}"
        case Draw(name, low, high):
            ends = ["" if end is None else shown_condition(end) for end in (low, high)]
            return f"{name} := any of {ends[0]}..{ends[1]}"
        case Join(name, value):
            return f"{name} stands for {shown_condition(value)} too"
        case Selection(name, folded):
            return f"{name} := any value that {folded} stands for"
        case Drop(name):
            return f"forget {name}"
