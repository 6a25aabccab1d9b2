"""Polls that find nothing: what the numbers of outstanding completions say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rdma_robust.analyses.lints.queue_flow import Edge, Others, ThreadFlow, outstanding_after
from rdma_robust.diagnose import quote
from rdma_robust.errors import Diagnostic
from rdma_robust.expr import VALUE, Const, Expr, evaluate, names
from rdma_robust.language.flow.cfg import Poll, Read, Step
from rdma_robust.semantics.event_table import completes_on, polls_of, requests_to
from rdma_robust.semantics.machines.waiting_points import WAITING

MOST_STATES: Final = 2_000
"""States of one thread that are followed to prove that a poll can find nothing."""

_MANY: Final = 1_000_000
"""More completions than are ever outstanding in so many states."""

State = tuple[int, tuple[int | None, ...], tuple[int, ...]]
"""A point, the registers as far as they are known, and what is outstanding on each queue pair."""


def polls_that_find_nothing(flow: ThreadFlow, others: Others) -> Iterator[Diagnostic]:
    """Yield the polls that have nothing to take: those at which the thread waits for ever, on every path or on one that is
    sure to be possible (RR702), and those that take nothing and need not be waited for (RR731)."""
    unsure: list[tuple[Step, str]] = []
    for node in flow.nodes:
        at = flow.outstanding(node)
        for span, ways in flow.statements.items():
            edges = [edge for edge in ways if polls_of(edge[2].op) == node]
            have = set().union(*(at.get(source, set()) for source, _, _ in edges))
            if not edges or 0 not in have:
                continue
            step = edges[0][2]
            if have == {0}:
                waits = _alone(flow, edges)
                others_too = {polls_of(other.op) for _, _, other in ways} - {node, None}
                what = "waits for ever" if waits else f"never takes one of {node}" if others_too else "never takes anything"
                message = f"{quote(step.text)} {what}: nothing towards {node} is outstanding here"
                if waits:
                    yield Diagnostic("warning", "RR702", message, span, hint=_hint(flow, node))
                else:
                    yield Diagnostic("warning", "RR731", message, span, hint=_hint(flow, node))
            elif _alone(flow, edges):
                unsure.append((step, node))
    if unsure:
        found = _sure_to_wait(flow, others)
        for step, node in unsure:
            if step in found:
                message = (
                    f"{quote(step.text)} can wait for ever: the thread can come here with nothing towards {node} outstanding"
                )
                yield Diagnostic("warning", "RR702", message, step.span, hint=_hint(flow, node))


def windows_of_messages(flow: ThreadFlow) -> Iterator[Diagnostic]:
    """Yield the requests of a loop that goes on by messages of the other side, while none of its polls takes a completion of
    their queue pair (RR732): nothing bounds what the send queue holds."""
    for (_, _, request), (_, _, wait) in flow.windows():
        node = requests_to(request.op)
        message = (
            f"{quote(request.text)} waits for {quote(wait.text)} (line {wait.span.where}) only, and no poll of {node} in "
            "this loop takes its completion: the send queue fills up"
        )
        hint = f"a `poll {node}` in the loop for each signaled request"
        yield Diagnostic("warning", "RR732", message, request.span, hint=hint)


def _alone(flow: ThreadFlow, edges: list[Edge]) -> bool:
    """Whether the thread can do nothing else where a poll is next, as it can in a `loop`, a `choose` or a `trypoll`, and
    where another queue pair shares the completion queue."""
    return all(edge in edges for source, _, _ in edges for edge in flow.out[source])


def _hint(flow: ThreadFlow, node: str) -> str:
    ops = [step.op for edges in flow.out.values() for _, _, step in edges]
    if any(completes_on(op) == node for op in ops):
        return "every poll takes one completion; take this poll out, or put it where there is one"
    if any(requests_to(op) == node for op in ops):
        return f"every operation of the thread towards {node} is unsignaled"
    return f"the thread has no operation towards {node}"


def _sure_to_wait(flow: ThreadFlow, others: Others) -> set[Step]:
    """Return the polls to which some execution comes with nothing to take.

    Followed are only steps that can be taken whatever the others do: their guards are true of the registers that are known.
    Registers are known from constants and from words that nobody writes; polls end where there is something to take.
    """
    names_of = [name for name, _ in flow.thread.registers]
    start: State = (flow.thread.entry, tuple(value for _, value in flow.thread.registers), (0,) * len(flow.nodes))
    seen, todo = {start}, [start]
    found: set[Step] = set()
    while todo and len(seen) < MOST_STATES:
        point, registers, have = todo.pop()
        known = {name: value for name, value in zip(names_of, registers, strict=True) if value is not None}
        for _, target, step in flow.out.get(point, ()):
            if isinstance(step.op, WAITING) and not isinstance(step.op, Poll):
                continue
            env = known | _read(step, others)
            if _value(step.guard, env) in (None, 0):
                continue
            after = [
                n
                for node, number in zip(flow.nodes, have, strict=True)
                for n in outstanding_after(number, step, node, _MANY)
            ]
            if len(after) < len(have):
                found.add(step)
                continue
            assigned = {name: _value(expr, env) for name, expr in step.assigns}
            kept = tuple(assigned.get(name, known.get(name)) for name in names_of)
            state = (target, kept, tuple(after))
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return found


def _read(step: Step, others: Others) -> dict[str, int]:
    if isinstance(step.op, Read) and not others.writers.get(step.op.cell):
        return {VALUE.name: step.op.cell.init}
    return {}


def _value(expr: Expr, env: Mapping[str, int]) -> int | None:
    """Return the value of an expression, None if it depends on what is not known."""
    if isinstance(expr, Const):
        return expr.value
    if not set(names(expr)) <= env.keys():
        return None
    try:
        return evaluate(expr, env)
    except ZeroDivisionError:
        return None
