"""Runs of the machine of RDMA as deployed: which request a move is about, and which events have taken effect.

The machine's states do not number requests, and forget those of which nothing is left to happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Cell, Step
from rdma_robust.semantics.event_table import Act, cases_of, placed, remote_of
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_card import DeployedState
from rdma_robust.semantics.machines.machine import Action, Move, Verb
from rdma_robust.semantics.machines.queues import tidied
from rdma_robust.semantics.machines.threadcode import Registers
from rdma_robust.semantics.trace import COMPLETING_TYPES, Event, EventType

Held = tuple[tuple[int, ...], ...]
"""The numbers of a thread's requests: for each queue pair of those that it holds, then of those in the store buffer, where 0
is an entry that is none."""


@cache
def _untidied(machine: DeployedMachine) -> DeployedMachine:
    twin = DeployedMachine(machine.program, machine.model, machine.watched, machine.recv_depth)
    twin.tidies = False
    return twin


def _tidied(state: DeployedState) -> DeployedState:
    threads = tuple(t._replace(queues=tuple(tidied(queue) for queue in t.queues)) for t in state.threads)
    return state._replace(threads=threads)


def nothing_held(machine: DeployedMachine) -> tuple[Held, ...]:
    """Return the numbers before anything is posted."""
    return tuple(((),) * (len(code.remotes) + 1) for code in machine.codes)


def renumbered(
    machine: DeployedMachine, before: DeployedState, move: Move, held: tuple[Held, ...], posted: int
) -> tuple[int | None, tuple[Held, ...]]:
    """Return the number of the request that the move is about, None if it is about none, and all numbers after it.

    `posted` is the number of the request that the move posts, if it posts one.
    """
    action = move.action
    t = action.thread
    rows = [list(row) for row in held[t]]
    old, buffer = before.threads[t], rows[-1]
    about = None
    if action.verb is Verb.ISSUE:
        about = posted
    if action.verb is Verb.POLL:
        qp = machine.codes[t].remotes.index(remote_of(_step(action).op) or "")
        about = next(number for number, entry in zip(rows[qp], old.queues[qp], strict=True) if not entry.polled)
    elif action.at is not None:
        about = rows[action.at[0]][action.at[1]]
    leaving = None
    if action.verb is Verb.DRAIN:
        leaving = buffer.pop(0)
        about = leaving or None
    elif len(move.state.threads[t].buffer) > len(old.buffer):
        buffer.append(posted if action.verb is Verb.ISSUE else 0)
    elif action.verb is Verb.ISSUE:
        leaving = posted
    whole = next(
        (m.state for m in _untidied(machine).successors(before) if m.action == action and _tidied(m.state) == move.state),
        None,
    )
    if whole is None:
        raise InternalError("a move of a run is none of the machine of RDMA as deployed")
    for qp, queue in enumerate(whole.threads[t].queues):
        if leaving and len(queue) > len(rows[qp]):
            rows[qp].append(leaving)
        rows[qp] = [number for number, entry in zip(rows[qp], queue, strict=True) if tidied((entry,))]
    return about, (*held[:t], tuple(tuple(row) for row in rows), *held[t + 1 :])


def _step(action: Action) -> Step:
    assert action.step is not None
    return action.step


@dataclass(slots=True)
class Happened:
    """One event of a run. `number` is the move (from 0) with which it takes effect, None while it is to come, and `posted`
    that with which the CPU did it or posted its request. `landing` is where the thread goes on after its step. Of an event
    of a locked section `word` is what it read and wrote."""

    act: Act
    action: Action
    posted: int
    number: int | None = None
    cell: Cell | None = None
    landing: tuple[int, Registers] | None = None
    word: tuple[int, int | None] | None = None


@dataclass
class _Requested:
    """The events of one request, case by case as long as it may go in several ways."""

    cases: list[list[Happened]] = field(default_factory=list)


class History:
    """What happens in a run, move by move."""

    def __init__(self, machine: DeployedMachine, start: Move) -> None:
        self.machine = machine
        self.state: DeployedState = start.state
        self.held = nothing_held(machine)
        self.posted = 0
        self.threads: list[list[Happened | _Requested]] = [[] for _ in machine.codes]
        self.buffered: list[list[Happened | None]] = [[] for _ in machine.codes]
        self.requests: dict[int, _Requested] = {}
        self.moves = 0

    def add(self, move: Move) -> int | None:
        """Note the next move of the run; return the number of the request that it is about, None if it is about none."""
        self.moves += 1
        action, t = move.action, move.action.thread
        self.posted += action.verb is Verb.ISSUE
        about, self.held = renumbered(self.machine, self.state, move, self.held, self.posted)
        mine: Happened | None = None
        if action.verb in (Verb.ACCESS, Verb.POLL, Verb.RECV, Verb.RPOLL):
            mine = self._by_cpu(action)
        elif action.verb is Verb.ISSUE:
            self._post(action, move.state)
        elif action.verb is Verb.DRAIN:
            effect = self.buffered[t].pop(0)
            if effect is not None:
                effect.number = self.moves
        elif action.act is not None and action.verb is not Verb.NIC_WRITE:
            self._by_card(self.requests[about or 0], action, move.state)
        if len(move.state.threads[t].buffer) > len(self.state.threads[t].buffer):
            if mine is not None:
                mine.number = None
            self.buffered[t].append(mine)
        if mine is not None:
            thread = move.state.threads[t]
            mine.landing = thread.point, thread.registers
        self.state = move.state
        return about

    def _by_cpu(self, action: Action) -> Happened | None:
        """Note the events of a CPU step, and return the last, None if there is none."""
        happened = None
        words = iter(action.words)
        for act in self._acts(action):
            word = next(words, None) if act.reads else None
            happened = Happened(act, action, self.moves, self.moves, word=word)
            self.threads[action.thread].append(happened)
        return happened

    def _acts(self, action: Action) -> Sequence[Act]:
        did = (action.read is not None, action.written is not None)
        for case in cases_of(_step(action).op, self.machine.model):
            last = case.acts[-1:]
            if not last or not last[0].cell or (bool(last[0].reads), bool(last[0].writes)) == did:
                return case.acts
        raise InternalError("a CPU step goes in no way that the event table has")

    def _post(self, action: Action, after: DeployedState) -> None:
        requested = _Requested()
        for case in cases_of(_step(action).op, self.machine.model):
            inline = action.read is not None
            requested.cases.append([Happened(act, action, self.moves) for act in case.acts[inline:]])
            if inline and len(requested.cases) == 1:
                self.threads[action.thread].append(Happened(case.acts[0], action, self.moves, self.moves))
        thread = after.threads[action.thread]
        for made in requested.cases:
            made[-1].landing = thread.point, thread.registers
        self.requests[self.posted] = requested
        self.threads[action.thread].append(requested)

    def _by_card(self, requested: _Requested, action: Action, after: DeployedState) -> None:
        assert action.at is not None
        qp, place, event = action.at
        if len(requested.cases) > 1:
            way = after.threads[action.thread].queues[qp][place].way
            requested.cases = [requested.cases[way]]
        happened = requested.cases[0][event]
        happened.number, happened.action, happened.cell = self.moves, action, action.cell

    def program_order(self, t: int) -> list[Happened]:
        """Return the events of a thread; of a request that may still go in several ways those of the first."""
        found: list[Happened] = []
        for each in self.threads[t]:
            found += [each] if isinstance(each, Happened) else each.cases[0]
        return found

    def events(self) -> list[tuple[Happened, Event]]:
        """Return what has happened, in the order of the moves, as events with their place in program order."""
        found = []
        for t in range(len(self.threads)):
            for position, happened in enumerate(self.program_order(t)):
                if happened.number is not None:
                    found.append((happened, event_of(happened, t, position)))
        found = sorted(found, key=lambda each: (each[0].number or 0, each[1].position))
        return [(happened, self._told(event, found)) for happened, event in found]

    def _told(self, event: Event, found: Sequence[tuple[Happened, Event]]) -> Event:
        """Return an RP of a message that carries data, and so no immediate, without a value."""
        if event.type is not EventType.RP:
            return event
        threads = self.machine.program.threads
        name = threads[event.thread].name
        mine = [e for _, e in found if e.type is EventType.RP and (e.thread, e.peer) == (event.thread, event.peer)]
        sent = [e for _, e in found if e.type is EventType.NRW and e.peer == name and threads[e.thread].name == event.peer]
        message = sorted(sent, key=lambda e: e.position)[sorted(e.position for e in mine).index(event.position)]
        return event if message.cell is None else replace(event, read=None)

    def is_prefix(self) -> bool:
        """Return whether in every thread what has happened comes before what has not."""
        for t in range(len(self.threads)):
            happened = [each.number is not None for each in self.program_order(t)]
            if any(later and not earlier for earlier, later in pairwise(happened)):
                return False
        return True


def event_of(happened: Happened, thread: int, position: int) -> Event:
    """Return an event of a run as one of a trace, without its index."""
    act = placed(happened.act, happened.cell)
    action = happened.action
    cell = word_of(happened, happened.cell)
    read, written = happened.word or (action.read, action.written)
    return Event(
        -1,
        act.type,
        thread,
        position,
        remote_of(_step(action).op),
        cell,
        read if act.reads or act.type is EventType.RP else None,
        written if act.writes or act.message is not None else None,
        action.step,
        unsignaled=act.completing and not act.completes,
        within=act.type in COMPLETING_TYPES and not act.completing,
        peer=act.peer,
        joined=act.joined,
    )


def word_of(happened: Happened, buffer: Cell | None) -> Cell | None:
    """Return the word that an event touches, if one; a message with data its `buffer`, None as long as that is not known."""
    if happened.act.message is None:
        return happened.act.cell
    return None if happened.act.message.data is None else buffer


def history(machine: DeployedMachine, moves: Iterable[Move]) -> History:
    """Return what happens in a run, given by its moves, the start first."""
    first, *others = moves
    found = History(machine, first)
    for move in others:
        found.add(move)
    return found
