"""Where waits may stand: the program with all of them in, and what it is with some.

A *spot* is one wait at one place: a flush of one peer, or an `mfence`; or a wait of the program itself that may go. The
program with all of them is read once; one with fewer is the same graphs, in which the steps of the others are left out and
their ends become one point. So program points, steps and labels of all these programs can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from rdma_robust.analyses.repair.edits import Gap, SourceEdit, SourceText
from rdma_robust.analyses.repair.repairs import Barrier, Choices, Costs, InsertionChoice
from rdma_robust.language.flow.cfg import Edge, Program, Thread
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.syntax import ast


@dataclass(frozen=True, slots=True)
class WaitSpot:
    """A wait to insert at `place`, or the `statement` of the program that it is, in thread number `thread`.

    `depth` counts the loops around it; `node` is the peer of a flush, else empty.
    """

    kind: Barrier
    node: str
    thread: int
    depth: int
    place: Gap | None = None
    statement: ast.Statement | None = None

    @property
    def text(self) -> str:
        """The statement."""
        return f"{self.kind.value} {self.node}".strip()

    @property
    def line(self) -> int:
        """The line of the program where the statement is, or behind which it is inserted."""
        if self.statement is not None:
            return self.statement.span.line
        assert self.place is not None
        before = self.place.before
        return self.place.block.span.line if before is None else before.span.end_line


@dataclass(frozen=True)
class WaitSpots:
    """The spots of a program under a model.

    `full` is the program with all that can be inserted, by `edits` of the source. `at` has, by thread and program point, the
    spot whose step begins there; no other step does. `universe` are the spots worth choosing: the others are never in.
    """

    source: SourceText
    program: Program
    model: AnyModelName
    spots: tuple[WaitSpot, ...]
    full: Program
    edits: tuple[SourceEdit, ...]
    at: tuple[Mapping[int, int], ...]
    universe: tuple[InsertionChoice, ...]

    def costs(self, costs: Costs) -> dict[InsertionChoice, int]:
        return {c: costs.of_wait(c.kind, self.spots[c.place].depth) for c in self.universe}

    def gone(self, chosen: Choices) -> tuple[frozenset[int], ...]:
        """Return the points, by thread, of the spots that are not chosen."""
        left = {c.place for c in chosen}
        return tuple(frozenset(p for p, k in at.items() if k not in left) for at in self.at)

    def having(self, chosen: Choices) -> Program:
        """Return the program with just these waits."""
        threads = zip(self.full.threads, self.gone(chosen), strict=True)
        return replace(self.full, threads=tuple(contracted(thread, gone) for thread, gone in threads))

    def line(self, offset: int) -> int:
        """Return the line of the program with what is at an offset of the full one."""
        shift = 0
        for edit in sorted(self.edits, key=lambda e: e.offset):
            if offset < edit.offset + shift + len(edit.text):
                break
            shift += len(edit.text)
        return self.source.text.count("\n", 0, offset - shift) + 1

    @cached_property
    def out(self) -> tuple[Mapping[int, tuple[Edge, ...]], ...]:
        """The edges of each thread of the full program, by the point before them."""
        found = []
        for thread in self.full.threads:
            out: dict[int, list[Edge]] = {}
            for edge in thread.edges:
                out.setdefault(edge[0], []).append(edge)
            found.append({point: tuple(edges) for point, edges in out.items()})
        return tuple(found)


def ends(thread: Thread, gone: frozenset[int]) -> Mapping[int, int]:
    """Return for every point of a thread the one that it becomes in :func:`contracted`."""
    target = {source: to for source, to, _ in thread.edges if source in gone}
    found: dict[int, int] = {}
    for point in thread.points:
        passed = {point: None}
        end = point
        while end not in found and end in target and (end := target[end]) not in passed:
            passed[end] = None
        found |= dict.fromkeys(passed, found.get(end, end))
    return found


def contracted(thread: Thread, gone: frozenset[int]) -> Thread:
    """Return a thread without the only steps from some points, each of which becomes one with where its step leads."""
    if not gone:
        return thread
    end = ends(thread, gone)
    return replace(
        thread,
        points=tuple(p for p in thread.points if end[p] == p),
        edges=tuple((end[a], end[b], step) for a, b, step in thread.edges if a not in gone),
        entry=end[thread.entry],
        exit=end[thread.exit],
        labels=tuple((name, end[point]) for name, point in thread.labels),
    )
