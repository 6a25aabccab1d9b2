"""A run of the operational machine as data for a page: small, and quick to step through.

What can be seen of a state is a row of slots, each with one number: the words of memory, the registers, where each thread
is, and how far each remote operation of the run is. A frame holds the slots that its move changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Cell, Program, Step
from rdma_robust.semantics.event_table import remote_of
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_card import DeployedState
from rdma_robust.semantics.machines.effects import cell_of, event_type
from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.semantics.machines.queues import OVER, TO_COME, PostedRequest
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.machines.shapes import shape_of
from rdma_robust.semantics.trace import EventType
from rdma_robust.semantics.wording import event_name
from rdma_robust.teaching.demos.walk import Animation
from rdma_robust.teaching.explorer.run_tree import RunPoint, Runs, behind
from rdma_robust.teaching.explorer.sides import SideViews
from rdma_robust.teaching.explorer.view import Ending, MoveView, Status
from rdma_robust.text import one_line

GONE, POSTED, READ, BUFFERED, DONE = range(5)
"""How far an operation is: not there, in the pipe, there with its value read, in a write buffer, in memory."""

POLLABLE = 8
"""Added to how far an operation is while a poll may still take its completion."""

EXACT = 2**53
"""From here on not all whole numbers are numbers of JavaScript."""


@dataclass(frozen=True, slots=True)
class RunQueue:
    """A queue pair. `gets` and `polls` tell whether its thread has any on it."""

    thread: int
    remote: str
    gets: bool
    polls: bool


@dataclass(frozen=True, slots=True)
class RunOperation:
    """A remote operation of the run. `queue` numbers the queue pairs; `value` is what it reads, None if it never does.

    `target` and `source` are its words on their nodes; the source of a put may be a constant.
    """

    queue: int
    line: int
    text: str
    kind: Literal["put", "get", "fence"]
    target: str
    source: str
    value: int | None = None


@dataclass(frozen=True, slots=True)
class RunPlace:
    """Where a thread is: its status, the lines of what it can do next, and that in words."""

    status: Status
    lines: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class RunFrame:
    """A move and what it changes: (slot, value) pairs, ascending. `operation` counts from 0, and so does `queue`.

    `word` is the slot of the word of memory that it reads or writes, None if there is none or it is a constant.
    """

    agent: Literal["cpu", "nic", "start"]
    thread: int
    verb: Verb
    line: int | None
    queue: int | None
    operation: int | None
    word: int | None
    label: str
    hint: str
    then: str
    event: str
    faults: tuple[str, ...]
    changes: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Film:
    """A run. Before its first frame every slot is 0.

    The slots are those of `cells`, then those of the registers of each thread in turn, then one for each thread with the
    number of its place in `places`, then one for each of `operations`, as the constants above say. `ending` is about the
    last state.
    """

    cells: tuple[Cell, ...]
    queues: tuple[RunQueue, ...]
    operations: tuple[RunOperation, ...]
    places: tuple[RunPlace, ...]
    frames: tuple[RunFrame, ...]
    ending: Ending


def film(animation: Animation) -> Film:
    """Return the run of `animation`.

    Raises InternalError if its moves are not a run of the RDMA machine, or notes are missing.
    """
    if len(animation.notes) != len(animation.moves) or not animation.moves:
        raise InternalError("an animation needs a start, and a note, maybe empty, for each move")
    return _Filming(animation.program).film(_points(animation))


def _points(animation: Animation) -> Iterator[tuple[SideViews, RunPoint]]:
    """Yield the point after each move, once it is known to be one that the machine can make there."""
    machine, runs = RdmaMachine(animation.program), Runs(DeployedMachine(animation.program, numbered=True))
    shown, starts = SideViews(animation.program, runs, "rdma"), machine.initial()
    point = RunPoint(None, posted=((),) * len(machine.codes))
    for number, move in enumerate(animation.moves):
        possible = machine.successors(animation.moves[number - 1].state) if number else starts
        if move not in possible:
            raise InternalError(f"move {number} of the run `{animation.title}` is not one that the machine can make there")
        # Both machines have the same moves in the same order.
        place = possible.index(move) if number else starts.place_of(move)
        before, point = point, behind(runs.machine, point, place, runs.moves(point)[place])
        yield shown, point
        # What could have happened instead would fill the memory.
        before.moves = before.parent = None


class _Filming:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.cells = tuple(cell for cell in program.cells if not cell.hidden)
        self.seen = [i for i, cell in enumerate(program.cells) if not cell.hidden]
        self.slots = {cell: slot for slot, cell in enumerate(self.cells)}
        self.queues: dict[tuple[int, str], RunQueue] = {}
        self.operations: list[RunOperation] = []
        self.places: dict[RunPlace, int] = {}
        self.first_operation = len(self.cells) + sum(len(t.registers) + 1 for t in program.threads)

    def film(self, points: Iterator[tuple[SideViews, RunPoint]]) -> Film:
        frames: list[RunFrame] = []
        before: dict[int, int] = {}
        for shown, point in points:
            if not frames:
                self._find_queues(shown)
            self._note_operation(point)
            after = self._slots(shown, point)
            changed = [slot for slot in before.keys() | after.keys() if before.get(slot, 0) != after.get(slot, 0)]
            frames.append(self._frame(shown.taken(point), point, tuple((s, after.get(s, 0)) for s in sorted(changed))))
            before = after
        queues, places = tuple(self.queues.values()), tuple(self.places)
        return Film(self.cells, queues, tuple(self.operations), places, tuple(frames), shown.ending(point))

    def _find_queues(self, shown: SideViews) -> None:
        for t, code in enumerate(shown.codes):
            for qp, remote in enumerate(code.remotes):
                gets = any(c.qp == qp and EventType.NLW in c.nic for c in code.commands)
                polls = any(ahead[qp] for ahead in code.polls_ahead.values())
                self.queues[t, remote] = RunQueue(t, remote, gets, polls)

    def _note_operation(self, point: RunPoint) -> None:
        """Write down an operation when it is posted, and its value when it reads."""
        action = _action(point)
        if action.verb is Verb.ISSUE:
            assert action.step is not None
            self.operations.append(self._operation(action.thread, action.step))
        elif action.verb is Verb.NIC_READ:
            assert point.operation is not None
            number = point.operation - 1
            self.operations[number] = replace(self.operations[number], value=action.read)

    def _operation(self, thread: int, step: Step) -> RunOperation:
        queue = list(self.queues).index((thread, remote_of(step.op) or ""))
        line, text, shape = step.span.line, one_line(step.text), shape_of(step.op)
        if shape.source is None or shape.target is None:
            return RunOperation(queue, line, text, "fence", "", "")
        source = str(shape.source.init) if shape.source.hidden else shape.source.name
        return RunOperation(queue, line, text, "get" if EventType.NLW in shape.nic else "put", shape.target.name, source)

    def _slots(self, shown: SideViews, point: RunPoint) -> dict[int, int]:
        state = point.state
        assert isinstance(state, DeployedState)
        registers = [value for thread in state.threads for value in thread.registers]
        places = [RunPlace(t.status, t.lines, t.text) for t in shown.threads(point)]
        numbered = [self.places.setdefault(place, len(self.places)) for place in places]
        row = [*(state.memory[i] for i in self.seen), *registers, *numbered]
        return dict(enumerate(row)) | {self.first_operation + n: far for n, far in _distances(point, state)}

    def _frame(self, move: MoveView, point: RunPoint, changes: tuple[tuple[int, int], ...]) -> RunFrame:
        action = _action(point)
        remote = None if action.step is None else remote_of(action.step.op)
        word = self._word(action)
        return RunFrame(
            agent=move.agent,
            thread=action.thread,
            verb=action.verb,
            line=move.line,
            queue=None if remote is None else list(self.queues).index((action.thread, remote)),
            operation=None if move.operation is None else move.operation - 1,
            word=word,
            label=move.label,
            # A constant stands in no memory that is shown.
            hint="" if action.verb is Verb.NIC_READ and word is None else move.hint,
            then=", ".join(one_line(step.text) for step in action.silent if step.assigns),
            event=event_name(action),
            faults=move.faults,
            changes=changes,
        )

    def _word(self, action: Action) -> int | None:
        kind = event_type(action)
        cell = None if kind is None or action.step is None else cell_of(action.step, kind)
        return None if cell is None else self.slots.get(cell)


def _action(point: RunPoint) -> Action:
    assert point.move is not None
    return point.move.action


def _distances(point: RunPoint, state: DeployedState) -> Iterator[tuple[int, int]]:
    """Yield (operation, how far it is) for the operations that are not over, counted from 0."""
    for numbers, thread in zip(point.posted, state.threads, strict=True):
        for queue in thread.queues:
            for posted in queue:
                yield numbers[posted.number - 1] - 1, _far(posted) + (0 if posted.polled else POLLABLE)


def _far(posted: PostedRequest) -> int:
    """Return how far an operation is, whose last event is its write, or all that it has."""
    if posted.stages[-1] != TO_COME:
        return DONE if posted.stages[-1] == OVER else BUFFERED
    return READ if posted.stages[0] == OVER else POSTED


def packed(film: Film) -> Mapping[str, object]:
    """Return the run in as little JSON as is easy to read back: texts once, frames and operations as rows."""
    texts: dict[str, int] = {"": 0}

    def text(value: str) -> int:
        return texts.setdefault(value, len(texts))

    operations = [
        [o.queue, o.line, text(o.text), o.kind, text(o.target), text(o.source), _number(o.value)] for o in film.operations
    ]
    frames = [
        [
            f.agent,
            f.thread,
            f.verb.value,
            f.line,
            f.queue,
            f.operation,
            f.word,
            text(f.label),
            text(f.hint),
            text(f.then),
            text(f.event),
            [text(fault) for fault in f.faults],
            [part for slot, value in f.changes for part in (slot, _number(value))],
        ]
        for f in film.frames
    ]
    return {
        "queues": [[q.thread, q.remote] for q in film.queues],
        "operations": operations,
        "places": [[p.status, p.lines, p.text] for p in film.places],
        "frames": frames,
        "ending": film.ending,
        "texts": list(texts),
    }


def _number(value: int | None) -> int | str | None:
    """Return a value as JavaScript can read it without losing digits."""
    return value if value is None or abs(value) < EXACT else str(value)
