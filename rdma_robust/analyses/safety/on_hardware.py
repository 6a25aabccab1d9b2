"""A run under sequential consistency as one of a machine of RDMA, each request and each store at once."""

from __future__ import annotations

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Flush, OrderFence
from rdma_robust.semantics.event_table import remote_of
from rdma_robust.semantics.machines.chosen import AnyRdmaMachine
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.machine import Action, Move, State, Verb

Run = tuple[Move, ...]
"""Moves of a machine, the start first."""

_REQUEST = (Verb.NIC_READ, Verb.NIC_WRITE, Verb.FENCE)


def run_on_hardware(machine: AnyRdmaMachine, run: Run) -> Run:
    """Return a run of the machine that does what `run` of an SC machine does.

    A request that has written nothing yet, and that `run` does not end, is left out, unless something goes wrong with it.
    Both machines must watch the same.
    Raises InternalError if there is none: everything that SC allows is allowed under RDMA.
    """
    made = _started(machine, places_of_threads(run[0].state))
    left_out: set[int] = set()
    for number, move in enumerate(run[1:], 1):
        t = move.action.thread
        first = not run[number - 1].state.threads[t].carried
        if first and _is_request(move.action):
            end = next((m for m in run[number:] if m.action.thread == t and not m.state.threads[t].carried), None)
            wrote = any(m.action.written is not None for m in run[number:] if m.action.thread == t)
            if end is None and not wrote and not (run[-1].faults and run[-1].action.thread == t):
                left_out.add(t)
            else:
                made.step(Verb.ISSUE, move.action, None if end is None else places_of_threads(end.state)[t])
                made.drain(t)
        if t in left_out:
            continue
        if not _is_request(move.action):
            made.step(move.action.verb, move.action, places_of_threads(move.state)[t])
            made.drain(t)
        elif move.action.verb is not Verb.ACCESS:
            made.events(move.action)
    return tuple(made.moves)


def _is_request(action: Action) -> bool:
    """Whether a move is of a request: an event of the card, or the read of the CPU for inline data."""
    if action.verb in _REQUEST:
        return True
    op = None if action.step is None else action.step.op
    return action.verb is Verb.ACCESS and op is not None and not isinstance(op, Flush) and remote_of(op) is not None


def _started(machine: AnyRdmaMachine, wanted: tuple[object, ...]) -> _GrowingRun:
    """Return the run with its start, and with the fences that threads pass at once under SC."""
    starts = machine.initial()
    begun = []
    for t, place in enumerate(wanted):
        mine = (move.state for move in starts.of_threads([t]))
        begun.append(
            next((places_of_threads(s)[t] for s in mine if _GrowingRun(machine, []).passed(s, t, place) is not None), None)
        )
    for start in starts.at(begun):
        made = _GrowingRun(machine, [start])
        for t, place in enumerate(wanted):
            made.moves += made.passed(made.moves[-1].state, t, place) or []
        return made
    raise InternalError("the machine of RDMA does not start as the SC machine does")


class _GrowingRun:
    """The run so far."""

    def __init__(self, machine: AnyRdmaMachine, moves: list[Move]) -> None:
        self.machine = machine
        self.buffering = machine if isinstance(machine, DeployedMachine) and machine.buffers else None
        self.moves = moves

    def step(self, verb: Verb, wanted: Action, place: object) -> None:
        """Add the first move with this verb for the step of `wanted`, with its thread at `place` then, if that is told."""
        t = wanted.thread
        for move in self.machine.successors(self.moves[-1].state):
            if (move.action.verb, move.action.thread, move.action.step) == (verb, t, wanted.step):
                passed = self.passed(move.state, t, place)
                if passed is not None:
                    self.moves += [move, *passed]
                    return
        raise InternalError("the machine of RDMA cannot do what the SC machine does")

    def passed(self, state: State, t: int, place: object) -> list[Move] | None:
        """Return the moves by which a thread comes to its place through fences, which are nothing under SC; None if it does
        not."""
        if place is None or places_of_threads(state)[t] == place:
            return []
        if self.buffering is None:
            return None
        moves: list[Move] = []
        while state.threads[t].buffer:
            moves.append(self.buffering.drain(state, t))
            state = moves[-1].state
        for move in self.buffering.cpu_moves(state, t):
            if move.action.verb is Verb.ACCESS and move.action.read is None and move.action.written is None:
                others = self.passed(move.state, t, place)
                if others is not None:
                    return [*moves, move, *others]
        return None

    def drain(self, t: int) -> None:
        """Let all that is in the thread's store buffer leave it."""
        while self.buffering is not None and self.moves[-1].state.threads[t].buffer:
            self.moves.append(self.buffering.drain(self.moves[-1].state, t))

    def events(self, action: Action) -> None:
        """Add the events of the card for one of SC: a write is issued and lands, an `order` is issued and ends, an atomic is
        its read and its write."""
        if action.step is not None and isinstance(action.step.op, OrderFence):
            self.step(Verb.NIC_WRITE, action, None)
        if action.verb is not Verb.NIC_WRITE:
            self.step(action.verb, action, None)
        read = self.moves[-1].action
        whole = action.verb is Verb.NIC_READ and read.written == action.written
        if action.written is not None and not whole:
            self.step(Verb.NIC_WRITE, action, None)
            self.step(Verb.FLUSH, action, None)


def places_of_threads(state: State) -> tuple[object, ...]:
    """Return where the threads are in a state of any machine."""
    return tuple((thread.point, thread.registers) for thread in state.threads)
