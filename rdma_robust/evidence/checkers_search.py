"""The search of the checker's normal form for every state that it can reach: what is inductive by how it is found.

For programs and hardware of which the checker has rules of its own and the instrumentation others: store buffers,
remote atomics, messages, unsignaled operations, weaker networks. Source: docs/theory-search.md, "The search", Theorem 8;
Karp and Miller 1969.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rdma_robust.certify.hardware import EventKind, Platform
from rdma_robust.certify.invariant_states import Limit
from rdma_robust.certify.invariants import comes_to, fences_matter, fired, rules_of
from rdma_robust.certify.mailboxes import Mailboxes, meetings_of
from rdma_robust.certify.remembered import Mail, Marks, PivotAccesses, QueuePair, Seen, TraceParts, Value
from rdma_robust.certify.search_steps import Around, SearchStep, SearchSteps
from rdma_robust.certify.thread_events import LocalState, OperationStage, ThreadMove
from rdma_robust.certify.thread_reading import Ahead, readings_for_search
from rdma_robust.counters.inductive import limit_covers
from rdma_robust.digraph import live_names, reachable
from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.expr import VALUE, is_value, names
from rdma_robust.language.flow.cfg import Cas, Cell, Poll, Program, Read, RemoteRmw, Rmw, Step, Thread, operands, steps
from rdma_robust.limits import Limits

Spot = tuple[tuple[LocalState, ...], tuple[int, ...], Marks | None, Mail]
"""Where the threads are, what the cells hold, the marks, and the messages."""


@dataclass(frozen=True, slots=True)
class CheckersStates:
    """All states, by spot with the largest limits of completions, and what they are about."""

    cells: tuple[Cell, ...]
    counted: tuple[QueuePair, ...]
    watched: frozenset[QueuePair]
    steps: SearchSteps
    states: dict[Spot, list[Limit]]


@dataclass(slots=True)
class _Node:
    spot: Spot
    limit: Limit
    parent: _Node | None


def all_states(program: Program, platform: Platform, depth: int, limits: Limits) -> CheckersStates:
    """Return every state that the search of the checker's rules reaches, or can reach by repeating what adds completions.

    Raises SizeLimitError if one of `limits` is reached, if a message can find no buffer or more than `depth` receives of
    one connection can be outstanding, and where remote atomics make the rules find what may be no violation;
    InternalError if they find a violation in any other program.
    """
    return _Exploration(program, platform, depth, limits).found()


@dataclass
class _Exploration:
    program: Program
    platform: Platform
    depth: int
    limits: Limits
    _taken: dict[tuple[ThreadMove, Around], tuple[SearchStep, ...]] = field(default_factory=dict)
    _comes: dict[tuple[LocalState, PivotAccesses], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        program = self.program
        self.readings = readings_for_search(program, self.platform)
        written = {access.cell for reading in self.readings for access in reading.accesses() if access.writes}
        self.cells = tuple(cell for cell in program.cells if cell in written)
        self._index = {cell: i for i, cell in enumerate(self.cells)}
        polls = ((t, s.op) for t, thread in enumerate(program.threads) for _, _, s in steps(thread))
        self.counted = tuple(sorted({(t, op.lane or op.node) for t, op in polls if isinstance(op, Poll)}))
        self.watched = fences_matter(program) if self.platform.answers_pushed else frozenset()
        rules = rules_of(program, self.platform, frozenset(written), frozenset(self.counted), self.watched)
        self.steps = SearchSteps(program, self.readings, rules)
        self._threads = [ThreadFacts(thread) for thread in program.threads]
        self._exceeded = self.limits.watch()
        self._loops = any(facts.loops for facts in self._threads)

    def found(self) -> CheckersStates:
        start: Spot = (
            tuple(self._forgetting(t, reading.start) for t, reading in enumerate(self.readings)),
            tuple(cell.init for cell in self.cells),
            None,
            self.steps.first_mail,
        )
        states: dict[Spot, list[Limit]] = {}
        todo = [_Node(start, self._open(start, (0,) * (self.steps.rules.counters * len(self.counted))), None)]
        stored = 0
        while todo:
            node = todo.pop()
            known = states.setdefault(node.spot, [])
            if any(limit_covers(most, node.limit) for most in known):
                continue
            known[:] = [most for most in known if not limit_covers(node.limit, most)] + [node.limit]
            stored += 1
            self._within(stored)
            todo += (self._accelerated(_Node(spot, limit, node)) for spot, limit in self._after(node))
        return CheckersStates(self.cells, self.counted, self.watched, self.steps, states)

    def _within(self, stored: int) -> None:
        cut = "states" if self.limits.states is not None and stored > self.limits.states else self._exceeded()
        if cut:
            raise SizeLimitError(f"the search for the invariant reached the limit of {cut} after {stored} states")

    def _accelerated(self, node: _Node) -> _Node:
        """Let completions be any number that a repetition adds."""
        if not self._loops or not self.counted:
            return node
        above = node.parent
        while above is not None:
            if above.spot == node.spot and above.limit != node.limit and limit_covers(node.limit, above.limit):
                grown = tuple(b if a == b else None for a, b in zip(above.limit, node.limit, strict=True))
                node = _Node(node.spot, grown, node.parent)
            above = above.parent
        return node

    def _after(self, node: _Node) -> Iterator[tuple[Spot, Limit]]:
        locals_, values, marks, mail = node.spot
        if marks is not None:
            self._refuse_violation(node.spot, marks)
        stopped = (self.steps.held_by(thread, local) for thread, local in enumerate(locals_))
        held = frozenset(cell for cell in stopped if cell is not None)
        for thread, move in self._moves(node.spot):
            self._refuse_unready(node.spot, move)
            event = self.steps.resolved(move.event, mail)
            seen = self._held_by(event.read, values) if event.words else self._value(event.cell, values)
            around = Around(marks, seen, mail, held)
            for taken in self._all_taken(move, around):
                left = self._fired(node.limit, (thread, move.event.remote), taken.placed)
                spot = self._spot(node.spot, thread, taken)
                if left is None or not self._may_end(spot):
                    continue
                self._refuse_full(spot, move)
                yield spot, self._open(spot, left)

    def _all_taken(self, move: ThreadMove, around: Around) -> tuple[SearchStep, ...]:
        key = move, around
        if key not in self._taken:
            self._taken[key] = tuple(self.steps.taken(move, around))
        return self._taken[key]

    def _moves(self, spot: Spot) -> Iterator[tuple[int, ThreadMove]]:
        arriving = []
        for thread, move in self._moves_alone(spot):
            if move.event.kind is EventKind.BARRIER:
                arriving.append(move)
            else:
                yield thread, move
        yield from ((move.event.thread, move) for move in meetings_of(arriving))

    def _moves_alone(self, spot: Spot) -> Iterator[tuple[int, ThreadMove]]:
        locals_, values, _, mail = spot
        for thread, (reading, local) in enumerate(zip(self.readings, locals_, strict=True)):
            for ahead in reading.ahead(local):
                value = self._read(thread, ahead, values, mail)
                if ahead.hears is None or value is not None:
                    yield from ((thread, move) for move in reading.moves(ahead, value))

    def _held_by(self, cells: Sequence[Cell], values: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(values[self._index[cell]] if cell in self._index else cell.init for cell in cells)

    def _read(self, thread: int, ahead: Ahead, values: tuple[int, ...], mail: Mail) -> Seen:
        if ahead.words:
            return self._held_by(ahead.words, values)
        return self._value(ahead.reads, values) if ahead.hears is None else self.steps.heard(thread, ahead, mail)

    def _value(self, cell: Cell | None, values: tuple[int, ...]) -> Value:
        if cell is None:
            return None
        return values[self._index[cell]] if cell in self._index else cell.init

    def _spot(self, spot: Spot, thread: int, taken: SearchStep) -> Spot:
        locals_, values, _, _ = spot
        for cell, written in taken.stores or ((taken.writes, taken.written),):
            if cell is not None:
                assert written is not None
                i = self._index[cell]
                values = (*values[:i], written, *values[i + 1 :])
        for moved, after in ((thread, taken.after), *taken.elsewhere):
            locals_ = (*locals_[:moved], self._forgetting(moved, after), *locals_[moved + 1 :])
        marks = taken.placed.marks
        if marks is not None and not self._threads[marks.pivot.thread].looks_at(marks.pivot.cell):
            marks = marks.without_value()
        return locals_, values, marks, taken.mail

    def _forgetting(self, thread: int, local: LocalState) -> LocalState:
        """The same with the registers left open that are not read any more."""
        return self._threads[thread].forgetting(local, self.readings[thread].names)

    def _fired(self, limit: Limit, pair: tuple[int, str | None], placed: TraceParts) -> Limit | None:
        """The limits after an event, None where a poll finds too few completions."""
        at = next((self.steps.rules.counters * i for i, counted in enumerate(self.counted) if counted == pair), -1)
        return fired(limit, at, placed.counts)

    def _open(self, spot: Spot, limit: Limit) -> Limit:
        """The limits without those of queue pairs that the thread does not poll any more."""
        polled = [self._threads[t].polls_ahead(spot[0][t].point, node) for t, node in self.counted]
        return tuple(most if polled[i // self.steps.rules.counters] else None for i, most in enumerate(limit))

    def _may_end(self, spot: Spot) -> bool:
        """Whether the pivot's thread may still come to the pivot."""
        if spot[2] is None:
            return True
        pivot = spot[2].pivot
        key = spot[0][pivot.thread], pivot
        if key not in self._comes:
            self._comes[key] = comes_to(self.readings[pivot.thread], *key)
        return self._comes[key]

    def _refuse_unready(self, spot: Spot, move: ThreadMove) -> None:
        if spot[2] is None and self.steps.finds_no_buffer(move.event, spot[3]):
            raise SizeLimitError(f"{UNREADY}: line {move.line}")

    def _refuse_full(self, spot: Spot, move: ThreadMove) -> None:
        if spot[2] is None and beyond(self.depth, self.program, self.steps, spot[3]):
            raise SizeLimitError(f"more than {self.depth} receives of one connection can be outstanding: line {move.line}")

    def _refuse_violation(self, spot: Spot, marks: Marks) -> None:
        locals_, values, _, mail = spot
        pivot = marks.pivot
        value = marks.alpha_value if pivot.cell in marks.written else self._value(pivot.cell, values)
        for ahead in self.readings[pivot.thread].ahead(locals_[pivot.thread]):
            if self.steps.violates(marks, ahead, value, mail):
                if self.steps.rules.choices or self.program.memories:
                    raise SizeLimitError("the checker's rules find what may be a violation, and no more than that")
                raise InternalError(f"{self.program.file}: decided robust, but the checker's rules find a violation")


UNREADY = "under sequential consistency a message can find no buffer (rnr), and ROBUST then has no proof"


def beyond(depth: int, program: Program, boxes: Mailboxes, mail: Mail) -> bool:
    """Return whether some connection has more than so many receives, each of as many words as its longest message."""
    return any(
        len(channel.posted) + len(channel.arrived) > depth * program.words_of(*connection)
        for connection, channel in zip(boxes.connections, mail, strict=True)
    )


class ThreadFacts:
    """Facts of a thread that can still matter: registers, polls, the values of cells; and whether it has loops."""

    def __init__(self, thread: Thread) -> None:
        self._steps = steps(thread)
        self._live = _live(self._steps)
        self._reach = _reachable(self._steps)
        self._polls: dict[str, set[int]] = {}
        for source, _, step in self._steps:
            if isinstance(step.op, Poll):
                self._polls.setdefault(step.op.lane or step.op.node, set()).add(source)
        self.loops = any(point in reached for point, reached in self._reach.items())
        self._looked_at = frozenset(cell for _, _, step in self._steps for cell in _looked_at(step))

    def looks_at(self, cell: Cell) -> bool:
        """Whether what some access of the cell does depends on its value."""
        return cell in self._looked_at

    def polls_ahead(self, point: int, node: str) -> bool:
        polls = self._polls.get(node, set())
        return point in polls or not polls.isdisjoint(self._reach.get(point, ()))

    def forgetting(self, local: LocalState, registers: Sequence[str]) -> LocalState:
        """Return the same with the registers, which have these names, left open that are not read any more."""
        live = self.live(local)
        return local.leaving_open([name not in live for name in registers])

    def live(self, local: LocalState) -> frozenset[str]:
        """The registers that may be read from there."""
        if local.operation is None:
            return self._live.get(local.point, frozenset())
        _, target, step = self._steps[local.operation]
        if local.stage is OperationStage.STOPPED:
            return frozenset()
        return self._live.get(target, frozenset()) | _used(step) | frozenset(n for _, e in step.assigns for n in names(e))


def _looked_at(step: Step) -> Iterator[Cell]:
    match step.op:
        case Cas(cell, _, _) | Rmw(cell, _, _) | RemoteRmw(_, cell):
            yield cell
        case Read(cell) if VALUE.name in names(step.guard):
            yield cell
        case _:
            pass


def _used(step: Step) -> frozenset[str]:
    expressions = (step.guard, *operands(step.op))
    return frozenset(name for expr in expressions for name in names(expr) if not is_value(name))


def _live(listed: list[tuple[int, int, Step]]) -> dict[int, frozenset[str]]:
    flows = [
        (a, b, _used(step), {r: {n for n in names(e) if not is_value(n)} for r, e in step.assigns}) for a, b, step in listed
    ]
    return live_names(flows, {})


def _reachable(listed: list[tuple[int, int, Step]]) -> dict[int, set[int]]:
    """For each point those that some steps lead to."""
    following: dict[int, set[int]] = {}
    for source, target, _ in listed:
        following.setdefault(source, set()).add(target)
    return {point: reachable(onward, following) for point, onward in following.items()}
