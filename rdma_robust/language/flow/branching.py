"""Where a thread decides between branches: with the first step that it takes behind a `choose` or a `loop`.

So a statement at the beginning of a branch, even one that changes nothing, decides for it. Without the statement the
decision waits for what comes behind it, if that has to wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from rdma_robust.expr import TRUE, Expr, Unary, negate
from rdma_robust.language.flow.cfg import Flush, ImmPut, Poll, Recv, RecvPoll, Send, Step

Edge = tuple[int, int, Step]

WAITS_FOR_OTHERS: Final = RecvPoll | Send | ImmPut | Recv | Flush
"""What can wait under sequential consistency for what others do; a poll waits for nothing but its own thread's requests."""


def goes_on(steps: Iterable[Step]) -> bool:
    """Return whether one of the steps that leave a point can be taken under sequential consistency, whatever the others do
    and the values are. An answer of no may be wrong."""
    free = [step for step in steps if not isinstance(step.op, WAITS_FOR_OTHERS | Poll)]
    guards = {(step.op, step.guard) for step in free}
    return any(step.guard == TRUE or (step.op, _complement(step.guard)) in guards for step in free)


def decides(
    out: Mapping[int, Sequence[Edge]], end: int, edges: Sequence[Edge], gone: Callable[[Step], bool] = lambda _: False
) -> bool:
    """Return whether a thread may wait elsewhere, or not wait, without a statement that changes nothing.

    The statement is `edges`; `out` are those that leave each point, of which more may be `gone` with it, and a thread at its
    `end` waits for nothing. An answer of yes may be wrong.
    """
    return any(
        any(other not in edges for other in out.get(source, ())) and not _goes_on_behind(out, end, target, edges, gone)
        for source, target, _ in edges
    )


def _goes_on_behind(
    out: Mapping[int, Sequence[Edge]], end: int, start: int, edges: Sequence[Edge], gone: Callable[[Step], bool]
) -> bool:
    """Whether the thread surely goes on from a point, past all that is gone."""
    todo, seen = [start], {start}
    while todo:
        point = todo.pop()
        here = out.get(point, ())
        skipped = [edge for edge in here if edge in edges or gone(edge[2])]
        if point == end or goes_on(step for edge in here if edge not in skipped for step in (edge[2],)):
            return True
        new = {target for _, target, _ in skipped} - seen
        seen |= new
        todo += new
    return False


def _complement(guard: Expr) -> Expr:
    """Return the condition that is true where `guard` is not, as the other branch has it."""
    match guard:
        case Unary("!", inner):
            return inner
        case _:
            return negate(guard)
