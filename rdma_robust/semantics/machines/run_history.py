"""Runs of the machine of RDMA: which request a move is about, and which events have taken effect.

States of a machine that is `numbered` tell a thread's requests apart; a run of any other machine is made one of such a
machine first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Cell, Step
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.event_table import Act, cases_of, placed, remote_of
from rdma_robust.semantics.machines.chosen import AnyRdmaMachine
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_card import DeployedState
from rdma_robust.semantics.machines.machine import Action, Move, Verb
from rdma_robust.semantics.machines.requests import NOWHERE
from rdma_robust.semantics.machines.threadcode import Registers
from rdma_robust.semantics.trace import Event, EventType


def numbered_run(machine: AnyRdmaMachine, run: Sequence[Move]) -> tuple[DeployedMachine, list[Move]]:
    """Return a machine of the same program that numbers requests, and its run that makes the moves of `run`.

    All machines of RDMA have the same moves in the same order. Raises ValueError if `run` is none of `machine`.
    """
    depth = machine.recv_depth if isinstance(machine, DeployedMachine) else RECV_DEPTH
    other = DeployedMachine(machine.program, machine.model, machine.watched, depth, numbered=True)
    found = [other.initial()[machine.initial().place_of(run[0])]]
    for before, move in pairwise(run):
        place = machine.successors(before.state).index(move)
        found.append(other.successors(found[-1].state)[place])
    return other, found


def request_of(machine: DeployedMachine, before: DeployedState, move: Move) -> int | None:
    """Return the number of the request, among its thread's, that a move is about, None if it is about none: the one that it
    posts, that leaves the store buffer, of which an event happens, or of which a poll takes the completion."""
    action = move.action
    if action.verb is Verb.START:
        return None
    thread = before.threads[action.thread]
    if action.verb is Verb.ISSUE:
        return thread.posted + 1
    if action.verb is Verb.POLL:
        qp = machine.codes[action.thread].remotes.index(remote_of(_step(action).op) or "")
        return next(posted.number for posted in thread.queues[qp] if not posted.polled)
    if action.verb is Verb.DRAIN:
        return thread.buffer[0].number or None
    return None if action.at is None else thread.queues[action.at[0]][action.at[1]].number


def _step(action: Action) -> Step:
    assert action.step is not None
    return action.step


@dataclass(slots=True)
class RunEvent:
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
class _RequestEvents:
    """The events of one request, case by case as long as it may go in several ways."""

    cases: list[list[RunEvent]] = field(default_factory=list)


class RunHistory:
    """The events of a run, move by move."""

    def __init__(self, machine: DeployedMachine, start: Move) -> None:
        self.machine = machine
        self.state: DeployedState = start.state
        self.threads: list[list[RunEvent | _RequestEvents]] = [[] for _ in machine.codes]
        self.buffered: list[list[RunEvent | None]] = [[] for _ in machine.codes]
        self.requests: dict[tuple[int, int], _RequestEvents] = {}
        self.moves = 0

    def add(self, move: Move) -> None:
        """Note the next move of the run."""
        self.moves += 1
        action, t = move.action, move.action.thread
        number = request_of(self.machine, self.state, move)
        mine: RunEvent | None = None
        if action.verb in (Verb.ACCESS, Verb.POLL, Verb.RECV, Verb.RPOLL):
            mine = self._by_cpu(action)
        elif action.verb is Verb.ISSUE:
            self._post(action, number or 0, move.state)
        elif action.verb is Verb.DRAIN:
            effect = self.buffered[t].pop(0)
            if effect is not None:
                effect.number = self.moves
        elif action.act is not None and action.verb is not Verb.NIC_WRITE:
            self._by_card(number or 0, action, move.state)
        if len(move.state.threads[t].buffer) > len(self.state.threads[t].buffer):
            if mine is not None:
                mine.number = None
            self.buffered[t].append(mine)
        if mine is not None:
            thread = move.state.threads[t]
            mine.landing = thread.point, thread.registers
        self.state = move.state

    def _by_cpu(self, action: Action) -> RunEvent | None:
        """Note the events of a CPU step, and return the last, None if there is none."""
        happened = None
        words = iter(action.words)
        for act in self._acts(action):
            word = next(words, None) if act.reads else None
            happened = RunEvent(act, action, self.moves, self.moves, word=word)
            self.threads[action.thread].append(happened)
        return happened

    def _acts(self, action: Action) -> Sequence[Act]:
        did = (action.read is not None, action.written is not None)
        for case in cases_of(_step(action).op, self.machine.model):
            last = case.acts[-1:]
            if not last or not last[0].cell or (bool(last[0].reads), bool(last[0].writes)) == did:
                return case.acts
        raise InternalError("a CPU step goes in no way that the event table has")

    def _post(self, action: Action, number: int, after: DeployedState) -> None:
        requested = _RequestEvents()
        for case in cases_of(_step(action).op, self.machine.model):
            inline = action.read is not None
            requested.cases.append([RunEvent(act, action, self.moves) for act in case.acts[inline:]])
            if inline and len(requested.cases) == 1:
                self.threads[action.thread].append(RunEvent(case.acts[0], action, self.moves, self.moves))
        thread = after.threads[action.thread]
        for made in requested.cases:
            made[-1].landing = thread.point, thread.registers
        self.requests[action.thread, number] = requested
        self.threads[action.thread].append(requested)

    def _by_card(self, number: int, action: Action, after: DeployedState) -> None:
        assert action.at is not None
        requested = self.requests[action.thread, number]
        if len(requested.cases) > 1:
            queue = after.threads[action.thread].queues[action.at[0]]
            ways = [posted.way for posted in queue if posted.number == number]
            # A request of which nothing is left to happen is forgotten: this was its last event.
            left = [requested.cases[way] for way in ways if way != NOWHERE]
            if NOWHERE not in ways:
                requested.cases = left or [case for case in requested.cases if case[-1].act == action.act][:1]
        for case in requested.cases:
            happened = case[action.at[2]]
            happened.number, happened.action, happened.cell = self.moves, action, action.cell

    def program_order(self, t: int) -> list[RunEvent]:
        """Return the events of a thread; of a request that may still go in several ways those of the first."""
        found: list[RunEvent] = []
        for each in self.threads[t]:
            found += [each] if isinstance(each, RunEvent) else each.cases[0]
        return found

    def events(self) -> list[tuple[RunEvent, Event]]:
        """Return what has happened, in the order of the moves, as events with their place in program order."""
        found = []
        for t in range(len(self.threads)):
            for position, happened in enumerate(self.program_order(t)):
                if happened.number is not None:
                    found.append((happened, trace_event(happened, t, position)))
        found = sorted(found, key=lambda each: (each[0].number or 0, each[1].position))
        return [(happened, self._told(event, found)) for happened, event in found]

    def _told(self, event: Event, found: Sequence[tuple[RunEvent, Event]]) -> Event:
        """Return an RP of a message that carries data, and so no immediate, without a value."""
        if event.type is not EventType.RP:
            return event
        threads = self.machine.program.threads
        name = threads[event.thread].name
        here = event.thread, event.peer, event.lane
        mine = [e for _, e in found if e.type is EventType.RP and (e.thread, e.peer, e.lane) == here]
        messages = (e for _, e in found if e.type is EventType.NRW and (e.peer, e.lane) == (name, event.lane))
        sent = [e for e in messages if threads[e.thread].name == event.peer]
        message = sorted(sent, key=lambda e: e.position)[sorted(e.position for e in mine).index(event.position)]
        return event if message.cell is None else replace(event, read=None)

    def is_prefix(self) -> bool:
        """Return whether in every thread what has happened comes before what has not."""
        for t in range(len(self.threads)):
            happened = [each.number is not None for each in self.program_order(t)]
            if any(later and not earlier for earlier, later in pairwise(happened)):
                return False
        return True


def trace_event(happened: RunEvent, thread: int, position: int) -> Event:
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
        completing=act.completing,
        peer=act.peer,
        joined=act.joined,
        members=act.members,
    )


def word_of(happened: RunEvent, buffer: Cell | None) -> Cell | None:
    """Return the word that an event touches, if one; a message with data its `buffer`, None as long as that is not known."""
    if happened.act.message is None:
        return happened.act.cell
    return None if happened.act.message.data is None else buffer


def history(machine: DeployedMachine, moves: Iterable[Move]) -> RunHistory:
    """Return what happens in a run of a `numbered` machine, given by its moves, the start first."""
    first, *others = moves
    found = RunHistory(machine, first)
    for move in others:
        found.add(move)
    return found
