"""The spots of a program: behind every remote operation or store, or everywhere, and the waits that it has itself.

None is at the beginning of a branch of `choose` or of a `loop`: what stands there makes the choice, and can do so too early.
With `all`, left out is what no cheapest set needs: spots where nothing can be under way, or behind which a thread does
nothing more; and those behind a statement of the same block that starts nothing to wait for: in front of it a wait costs the
same, and keeps a thread from all that it keeps it from behind it.

Where waits may stand: the program with all of them in, and what it is with some.

A *spot* is one wait at one place: a flush of one peer, or an `mfence`; or a wait of the program itself that may go. The
program with all of them is read once; one with fewer is the same graphs, in which the steps of the others are left out and
their ends become one point. So program points, steps and labels of all these programs can be compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from rdma_robust.analyses.repair.edits import Gap, SourceEdit, SourceText, apply_edits, gaps
from rdma_robust.analyses.repair.repairs import Barrier, Choices, Costs, InsertionChoice, SiteName, WaitOptions
from rdma_robust.digraph import by_key, reachable
from rdma_robust.errors import ProgramError, SizeLimitError
from rdma_robust.language.flow.cfg import (
    Cas,
    Edge,
    Flush,
    Get,
    MFence,
    Op,
    Program,
    Put,
    RemoteRmw,
    Rmw,
    Silent,
    Thread,
    Write,
)
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import blocks_of
from rdma_robust.semantics.machines.waiting_points import preceding


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
            out = by_key((edge[0], edge) for edge in thread.edges)
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


WAITS: Final[Mapping[AnyModelName, Barrier | None]] = {
    "sc": None,
    "tso": Barrier.MFENCE,
    "pso": Barrier.MFENCE,
    "rma": Barrier.FLUSH,
}
"""What waits under a model."""

_Started = Mapping[tuple[int, int], frozenset[str]]
"""What the statement of a thread that begins at an offset may start: peers of remote operations, '' for a store."""


def spots_of(text: str, file: str, waits: WaitOptions, *, await_loops: bool) -> WaitSpots:
    """Return the spots of the program in `text`.

    Raises ProgramError for a bad program and SizeLimitError for one that is too large with all waits in.
    """
    program = blocking(load_program(text, file), await_loops)
    source = SourceText.of(text, file)
    kind = WAITS[waits.model]
    mine = list(_own(source, program, kind)) if waits.own and kind else []
    new = list(_new(source, program, kind, waits.sites, await_loops)) if waits.sites and kind else []
    spots = sorted((*mine, *new), key=_order)
    full, edits, starts = _filled(source, file, spots, await_loops)
    while choosing := _choosing(full, starts):
        spots = [spot for number, spot in enumerate(spots) if number not in choosing]
        full, edits, starts = _filled(source, file, spots, await_loops)
    at = []
    for thread in full.threads:
        here = ((p, step.span.start) for p, _, step in thread.edges if _wait(step.op) is not None)
        at.append({p: starts[offset] for p, offset in here if offset in starts})
    found = WaitSpots(source, program, waits.model, tuple(spots), full, edits, tuple(at), ())
    return replace(found, universe=tuple(_universe(found)))


def _choosing(full: Program, starts: Mapping[int, int]) -> frozenset[int]:
    """Return the spots at the beginning of a branch of `choose`, or of a `loop`: a wait there makes the choice."""
    found: set[int] = set()
    for thread in full.threads:
        leaving = Counter(source for source, _, _ in thread.edges)
        waits = (step.span.start for p, _, step in thread.edges if leaving[p] > 1 and _wait(step.op) is not None)
        found |= {starts[offset] for offset in waits if offset in starts}
    return frozenset(found)


def _order(spot: WaitSpot) -> tuple[int, bool, str]:
    return _offset(spot), spot.statement is not None, spot.node


def _offset(spot: WaitSpot) -> int:
    if spot.statement is not None:
        return spot.statement.span.start
    assert spot.place is not None
    before = spot.place.before
    return spot.place.block.span.start + 1 if before is None else before.span.end


def _wait(op: Op) -> str | None:
    """Return whom a wait is for: a peer, '' for stores; None for what is no wait."""
    match op:
        case Flush(node):
            return node
        case MFence():
            return ""
    return None


def started(op: Op, kind: Barrier) -> str | None:
    """Return what an operation starts that a wait of this kind is for: its peer, '' for a store, None for nothing."""
    match op:
        case Put(target=cell) | Get(source=cell) | RemoteRmw(source=cell) if kind is Barrier.FLUSH:
            return cell.node
        case Write() if kind is Barrier.MFENCE:
            return ""
    return None


def _started(program: Program, kind: Barrier) -> _Started:
    found: dict[tuple[int, int], set[str]] = {}
    for number, thread in enumerate(program.threads):
        for _, _, step in thread.edges:
            what = started(step.op, kind)
            found.setdefault((number, step.span.start), set()).update(set() if what is None else {what})
    return {key: frozenset(each) for key, each in found.items()}


def _own(source: SourceText, program: Program, kind: Barrier) -> Iterator[WaitSpot]:
    """Yield the waits of the program itself, but for labelled ones and those in macros."""
    wanted: dict[tuple[int, int], str] = {}
    for number, thread in enumerate(program.threads):
        for _, _, step in thread.edges:
            node = _wait(step.op)
            if node is not None and bool(node) == (kind is Barrier.FLUSH):
                wanted[number, step.span.start] = node

    def inside(block: ast.Block, thread: int, depth: int) -> Iterator[WaitSpot]:
        labelled = False
        for statement in block.statements:
            node = wanted.get((thread, statement.span.start))
            if node is not None and not labelled:
                yield WaitSpot(kind, node, thread, depth, statement=statement)
            labelled = isinstance(statement, ast.LabelStatement)
            deeper = depth + isinstance(statement, ast.While | ast.Loop)
            for each in blocks_of(statement):
                yield from inside(each, thread, deeper)

    for number, tree in enumerate(source.threads):
        yield from inside(tree.body, number, 0)


def _new(source: SourceText, program: Program, kind: Barrier, sites: SiteName, await_loops: bool) -> Iterator[WaitSpot]:
    """Yield what can be inserted: nothing in front of a wait that is the same."""
    starts = _started(program, kind)
    own = {(spot.thread, spot.node, spot.statement) for spot in _own(source, program, kind)}
    peers = [
        sorted({n for (t, _), nodes in starts.items() if t == number for n in nodes})
        for number in range(len(source.threads))
    ]
    for place in gaps(source, await_loops=await_loops):
        here = None if place.before is None else starts.get((place.thread, place.before.span.start))
        for node in peers[place.thread]:
            behind = here is not None and node in here
            waits = behind if sites == "after-remote" else behind or here is None or bool(blocks_of_before(place))
            if waits and (place.thread, node, place.after) not in own:
                yield WaitSpot(kind, node, place.thread, place.depth, place)


def blocks_of_before(place: Gap) -> tuple[ast.Block, ...]:
    return () if place.before is None else blocks_of(place.before)


def _filled(
    source: SourceText, file: str, spots: Sequence[WaitSpot], await_loops: bool
) -> tuple[Program, tuple[SourceEdit, ...], dict[int, int]]:
    """Return the program with all spots, the edits that put them in, and the spots by where they begin in it."""
    edits, ordered = insertions(source, spots, range(len(spots)))
    text, new = apply_edits(source.text, edits)
    starts = {start: k for (start, _), k in zip(new, ordered, strict=True)}
    for number, spot in enumerate(spots):
        if spot.statement is not None:
            starts[offset_after(edits, spot.statement.span.start)] = number
    try:
        return blocking(load_program(text, file), await_loops), tuple(edits), starts
    except ProgramError as error:
        raise SizeLimitError(f"too large to be repaired: {error.diagnostics[0].message}") from error


def insertions(source: SourceText, spots: Sequence[WaitSpot], chosen: Iterable[int]) -> tuple[list[SourceEdit], list[int]]:
    """Return the edits that put in the chosen spots that can be inserted, and the spots in the order of their text."""
    groups: dict[tuple[int, int, int], list[int]] = {}
    for number in chosen:
        place = spots[number].place
        if place is not None:
            groups.setdefault((place.thread, place.block.span.start, place.index), []).append(number)
    edits = []
    for group in groups.values():
        place = spots[group[0]].place
        assert place is not None
        edits.append((source.insert(place, [spots[k].text for k in group]), group))
    edits.sort(key=lambda each: each[0].offset)
    return [edit for edit, _ in edits], [k for _, group in edits for k in group]


def offset_after(edits: Iterable[SourceEdit], offset: int) -> int:
    """Return where the character at an offset is after insertions."""
    return offset + sum(len(edit.text) for edit in edits if edit.offset <= offset)


def _universe(spots: WaitSpots) -> Iterator[InsertionChoice]:
    """Yield the spots worth choosing, see above."""
    useful = [_useful(spots, number) for number in range(len(spots.full.threads))]
    for number, spot in enumerate(spots.spots):
        if number in useful[spot.thread] or spot.statement is not None:
            yield InsertionChoice(number, spot.kind, spot.node)


def _useful(spots: WaitSpots, number: int) -> frozenset[int]:
    """Return the spots of a thread that a thread can come to with something to wait for, and with something left to do."""
    thread, at = spots.full.threads[number], spots.at[number]
    named = any(atom.thread == thread.name for line in spots.program.invariants for _, atom in line.atoms)
    busy = {a for a, _, s in thread.edges if a not in at and (not isinstance(s.op, Silent) or s.fault is not None)}
    ahead = reachable(busy, preceding(thread))
    pending = {node: _pending(spots, number, node) for node in {spot.node for spot in spots.spots}}
    return frozenset(k for p, k in at.items() if p in pending[spots.spots[k].node] and (named or p in ahead))


def _pending(spots: WaitSpots, number: int, node: str) -> set[int]:
    """Return the points of a thread before which something may be under way that a wait for `node` is for."""
    thread, at = spots.full.threads[number], spots.at[number]
    kind = WAITS[spots.model]
    assert kind is not None
    starts: set[int] = set()
    following: dict[int, list[int]] = {}
    for source, target, step in thread.edges:
        if started(step.op, kind) == node:
            starts.add(target)
        ended = source not in at and (_wait(step.op) == node or (kind is Barrier.MFENCE and isinstance(step.op, Cas | Rmw)))
        if not ended:
            following.setdefault(source, []).append(target)
    return reachable(starts, following)
