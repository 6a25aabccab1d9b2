"""At which points of a thread it may have to wait, or go round forever: what its graph alone says.

Source: docs/theory-hangs.md, "Hangs".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rdma_robust.digraph import by_key, components, reachable
from rdma_robust.expr import TRUE, negate
from rdma_robust.language.flow.cfg import (
    BarrierWait,
    Fault,
    ImmPut,
    Poll,
    Program,
    Put,
    Recv,
    RecvPoll,
    Send,
    Step,
    Thread,
    Write,
    peer_of,
)
from rdma_robust.language.flow.exclusive import exclusive


def ends_execution(fault: Fault | None) -> bool:
    """Return whether a step with this fault ends the execution."""
    return fault is not None and fault.kind != "assertion"


def ended_by_faults(thread: Thread) -> frozenset[int]:
    """Return the points where executions are that a fault has ended."""
    left = {source for source, _, _ in thread.edges}
    return frozenset(to for _, to, step in thread.edges if ends_execution(step.fault) and to not in left)


def may_hang(program: Program) -> bool:
    """Return False only if no thread can ever hang: at every program point some step that waits for nothing is enabled, no
    message may find no buffer, and every loop writes or puts on each round, or can be left whenever the thread wants."""
    return any(_may_hang(thread) for thread in program.threads)


def preceding(thread: Thread) -> dict[int, list[int]]:
    """Return the points before each program point, once for each step from there."""
    found: dict[int, list[int]] = {point: [] for point in thread.points}
    for source, target, _ in thread.edges:
        found.setdefault(target, []).append(source)
    return found


def polls_ahead(thread: Thread, pairs: Sequence[str]) -> dict[int, tuple[bool, ...]]:
    """Return for each program point, and each of these queue pairs, whether a poll of it may still come."""
    ops = [(p, step.op) for p, _, step in thread.edges if isinstance(step.op, Poll)]
    polls = [[p for p, op in ops if peer_of(op) == pair] for pair in pairs]
    before = preceding(thread)
    ahead = [reachable(points, before) for points in polls]
    return {point: tuple(point in each for each in ahead) for point in thread.points}


WAITING: Final = (Poll, Recv, RecvPoll, Send, ImmPut, BarrierWait)
"""Operations that may have to wait, whatever words hold."""


def sends(thread: Thread) -> bool:
    """Return whether a thread sends messages."""
    return any(isinstance(step.op, Send | ImmPut) for _, _, step in thread.edges)


def _may_hang(thread: Thread) -> bool:
    if sends(thread):
        return True
    out = _leaving(thread)
    for point in standing_points(thread):
        here = out.get(point, [])
        if not goes_on(here):
            return True
    return bool(quiet_cycles(thread))


def standing_points(thread: Thread) -> frozenset[int]:
    """Return the program points at which a thread can be blocked: not its exit, nor where a fault has ended it, nor in front
    of nothing but `assume`s."""
    out = _leaving(thread)
    over = ended_by_faults(thread) | {thread.exit}
    return frozenset(point for point in thread.points if point not in over and not only_assumes(out.get(point, [])))


def quiet_cycles(thread: Thread) -> frozenset[int]:
    """Return the program points at which a thread may go round forever without a change.

    They are on cycles that neither write nor put, and that the thread cannot leave whenever it wants.
    """
    points = set(thread.points)
    while True:
        quiet: dict[int, list[int]] = {point: [] for point in points}
        for source, to, step in thread.edges:
            if source in points and to in points and not isinstance(step.op, Write | Put):
                quiet[source].append(to)
        cycles = [set(c) for c in components(quiet) if len(c) > 1 or c[0] in quiet.get(c[0], ())]
        at = {point: cycle for cycle in cycles for point in cycle}
        always = ((s, to, step) for s, to, step in thread.edges if step.guard == TRUE and not isinstance(step.op, WAITING))
        free = {s for s, to, step in always if s in at and (to not in at[s] or isinstance(step.op, Write | Put))}
        if not free:
            return frozenset(at)
        points = at.keys() - free


def makes_choices(thread: Thread, part: Callable[[Step], bool]) -> bool:
    """Return whether something makes a choice after which a thread may wait: it is the first of a branch of `choose` or of a
    `loop`, and what comes next there may not be possible.

    Without it the choice is made when that is done. It is all steps of the thread of which it is a `part`.
    """
    out = _leaving(thread)
    return any(
        part(step) and any(other.span.start != step.span.start for other in out[source]) and _may_wait(thread, to, part)
        for source, to, step in thread.edges
    )


def _may_wait(thread: Thread, point: int, part: Callable[[Step], bool]) -> bool:
    """Whether what comes behind a point and these steps may have to be waited for."""
    out = by_key((source, (to, step)) for source, to, step in thread.edges)
    todo, seen = [point], {point}
    for each in todo:
        here = out.get(each, [])
        behind = [to for to, step in here if part(step)]
        todo += [to for to in behind if to not in seen]
        seen.update(behind)
        if here and not behind and not goes_on([step for _, step in here]):
            return True
    return False


def goes_on(here: Sequence[Step]) -> bool:
    """Return whether one of the steps that leave a point can be taken under sequential consistency, whatever the others do
    and the values are. An answer of no may be wrong."""
    return any(step.guard == TRUE and not isinstance(step.op, WAITING) for step in here) or _exhaustive(here)


def _leaving(thread: Thread) -> dict[int, list[Step]]:
    return by_key((source, step) for source, _, step in thread.edges)


def only_assumes(here: Sequence[Step]) -> bool:
    """Whether a thread that can take none of these steps is set aside."""
    lasting = [step for step in here if not ends_execution(step.fault)]
    return bool(lasting) and all(step.aside for step in lasting)


def _exhaustive(here: Sequence[Step]) -> bool:
    """Whether two of the steps are a condition and its opposite, of one read."""
    pairs = ((a, b) for a in here for b in here if a.op == b.op and not isinstance(a.op, WAITING))
    return any(exclusive(negate(a.guard), negate(b.guard), same_read=True) for a, b in pairs)
