"""Words of one thread only, such as those that gets write to, and where nobody asks for their values any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rdma_robust.analyses.prove.commands import words_of
from rdma_robust.analyses.prove.footprints import Words
from rdma_robust.analyses.prove.placing import Placing, Variable
from rdma_robust.analyses.prove.transition_system import SafetyClaim
from rdma_robust.expr import names
from rdma_robust.language.flow.cfg import Cell, Flush, Get, Put, RemoteRmw, Step, Thread, Write, peer_of, steps

Ways = frozenset[frozenset[str]]
"""The ways to come to where a word is read before its thread writes it: of each the nodes that are flushed on it."""

Asked = tuple[Variable, int, Ways]
"""A private word, its initial value, and the ways to where it is read."""


def private_words(
    placing: Placing, words: Words, claims: Iterable[SafetyClaim], *, at_once: bool
) -> list[Mapping[int, tuple[Asked, ...]]]:
    """Return for each thread and program point the words that only this thread and its cards use and no claim sees, and that
    are not read for certain.

    Such a word is dead in a state if nothing under way is to read it and on each way to where it is read it is overwritten
    before: by a get that is under way, from a node that is flushed on the way. `at_once`: gets and puts are over when the
    thread goes on.
    """
    seen = {name for claim in claims for name in names(claim.bad)}
    found: list[Mapping[int, tuple[Asked, ...]]] = []
    for t, thread in enumerate(placing.program.threads):
        here: dict[int, list[Asked]] = {}
        for cell in placing.program.cells:
            variable, users = placing.word(cell), words.users(str(cell))
            if users == 1 << t and not cell.hidden and variable.name not in seen:
                for point, ways in _asked(thread, cell, at_once).items():
                    if frozenset() not in ways:
                        here.setdefault(point, []).append((variable, cell.init, ways))
        found.append({point: tuple(asked) for point, asked in here.items()})
    return found


def _asked(thread: Thread, cell: Cell, at_once: bool) -> dict[int, Ways]:
    ways: dict[int, Ways] = {point: frozenset() for point in thread.points}
    edges: Sequence[tuple[int, int, Step]] = steps(thread)[::-1]
    changed = True
    while changed:
        changed = False
        for source, target, step in edges:
            wider = ways[source] | _before(step, cell, ways[target], at_once)
            if wider != ways[source]:
                ways[source] = wider
                changed = True
    return ways


def _before(step: Step, cell: Cell, after: Ways, at_once: bool) -> Ways:
    """Return the ways from before a step, from those behind it."""
    read, written = words_of(step)
    if read == cell:
        return frozenset({frozenset()})
    match step.op:
        case Flush(node):
            return frozenset(way | {node} for way in after)
        case Write() if written == cell:
            return frozenset()
        case Put() | Get() | RemoteRmw() if written == cell:
            return frozenset() if at_once else frozenset(way for way in after if peer_of(step.op) not in way)
        case _:
            return after
