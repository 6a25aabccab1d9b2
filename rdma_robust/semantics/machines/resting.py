"""Where executions come to rest: states after which no word, no queue and no completion changes any more, and whether
threads hang there.

In such a state nothing is under way, and memory stays as it is whatever the threads do, so that what a thread can do
depends on no other: its local states, taken alone, form a graph (:class:`RestTest`), whose bottom components are
what it ends up in. The answer is the same under SC and RDMA: a remote operation that changes nothing reads and writes the
same values whenever it takes effect, and every one that is posted is completed.

Source: docs/theory.md, "Hangs".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final, NamedTuple

from rdma_robust.digraph import components, reachable
from rdma_robust.expr import TRUE, negate
from rdma_robust.language.flow.cfg import Fault, Poll, Program, Put, Step, Thread, Write
from rdma_robust.language.flow.exclusive import exclusive
from rdma_robust.semantics.machines.machine import access
from rdma_robust.semantics.machines.rdma import RdmaState
from rdma_robust.semantics.machines.sc import ScState
from rdma_robust.semantics.machines.threadcode import Command, Registers, ThreadCode, Usage
from rdma_robust.semantics.trace import EventType

MOST: Final = 2000
"""Local states of one thread that are looked at from one state."""


class Place(NamedTuple):
    """Where a thread is: its program point, its registers, and per queue pair the completions that it may still poll."""

    point: int
    registers: Registers
    unpolled: tuple[int, ...]


def places_of(state: ScState | RdmaState) -> tuple[Place, ...]:
    """Return where the threads are in a state of either machine in which no remote operation is under way."""
    if isinstance(state, ScState):
        return tuple([Place(t.point, t.registers, t.unpolled) for t in state.threads])
    return tuple(
        [Place(t.point, t.registers, tuple([sum(not e.polled for e in q) for q in t.queues])) for t in state.threads]
    )


class Rest(Enum):
    """What a thread ends up in where memory does not change any more.

    ENDED: its exit. FAULT: an overflow and the like ended it. ASIDE: it stands at a false `assume`. IDLE: it goes round in a
    loop that is meant to run for ever. BLOCKED: it waits for what does not come. SPIN: it re-reads in a loop that it could
    leave, but never will.
    """

    ENDED = "ended"
    FAULT = "fault"
    ASIDE = "aside"
    IDLE = "idle"
    BLOCKED = "blocked"
    SPIN = "spin"


HANGING: Final = frozenset({Rest.BLOCKED, Rest.SPIN})
_OVER: Final = frozenset({Rest.FAULT, Rest.ASIDE})
"""An execution with a thread like this is over, and is no hang."""


@dataclass(frozen=True, slots=True)
class Resting:
    """A thread (by number) at rest: where, and the steps that it waits for or takes again and again."""

    thread: int
    rest: Rest
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class AtRest:
    """All threads of a state that nothing changes any more."""

    threads: tuple[Resting, ...]

    @property
    def over(self) -> bool:
        """Whether a fault or a false `assume` has ended the execution."""
        return any(each.rest in _OVER for each in self.threads)

    @property
    def hanging(self) -> tuple[Resting, ...]:
        """The threads that hang; none if the execution is over by a fault or a false `assume`."""
        return () if self.over else tuple(each for each in self.threads if each.rest in HANGING)


class LargeLoopError(Exception):
    """A thread has more local states than are looked at, in a state in which nothing else changes."""


class RestTest:
    """Whether a state is at rest, and how."""

    def __init__(self, program: Program) -> None:
        self.program = program
        usage = Usage(program)
        self._threads = [_Local(ThreadCode(program, thread, usage, stepwise=True)) for thread in program.threads]

    def at_rest(self, places: Sequence[Place], memory: tuple[int, ...]) -> AtRest | None:
        """Return how the threads rest in a state without remote operations under way; None if something may still change.

        A thread counts as where its register-only steps lead; one that must read before it is where it stays is not at rest
        yet. If it could rest in several ways it is one that hangs, if there is one.
        Raises LargeLoopError if a thread has more than `MOST` local states.
        """
        for local, place in zip(self._threads, places, strict=True):
            if local.changes(place, memory):
                return None
        large = False
        found = []
        for t, (local, place) in enumerate(zip(self._threads, places, strict=True)):
            try:
                rests = local.rests(place, memory)
            except LargeLoopError:
                large = True
                continue
            if not rests:
                return None
            rest, steps = max(rests, key=lambda each: _PREFERRED.index(each[0]))
            found.append(Resting(t, rest, steps))
        if large:
            raise LargeLoopError
        return AtRest(tuple(found))


_PREFERRED: Final = (Rest.FAULT, Rest.ASIDE, Rest.ENDED, Rest.IDLE, Rest.BLOCKED, Rest.SPIN)


class _Changes(Exception):
    """A local state has a step that changes memory or posts what does."""


class _Local:
    """One thread by itself, while memory stays as it is."""

    def __init__(self, code: ThreadCode) -> None:
        self.code = code
        self.thread = code.thread
        self._ending = _ended_by_faults(code.thread)

    def changes(self, place: Place, memory: tuple[int, ...]) -> bool:
        """Return whether one of the thread's next steps changes something."""
        try:
            for _ in self._moves(place, memory):
                pass
        except _Changes:
            return True
        return False

    def rests(self, place: Place, memory: tuple[int, ...]) -> list[tuple[Rest, tuple[Step, ...]]]:
        """Return what the thread may end up in by register-only steps alone; nothing if it may still change something, or
        if it must read before. Raises LargeLoopError."""
        number = {place: 0}
        order = [place]
        following: dict[int, list[int]] = {}
        taken: dict[int, list[Step]] = {}
        silent: dict[int, list[int]] = {}
        try:
            for at, here in enumerate(order):
                following[at], taken[at], silent[at] = [], [], []
                for command, after in self._moves(here, memory):
                    if after not in number:
                        if len(order) >= MOST:
                            raise LargeLoopError
                        number[after] = len(order)
                        order.append(after)
                    following[at].append(number[after])
                    taken[at].append(command.step)
                    if command.qp < 0 and command.source < 0:
                        silent[at].append(number[after])
        except _Changes:
            return []
        soon = reachable([0], silent)
        found = []
        for component in components(following):
            inside = set(component)
            if any(after not in inside for at in component for after in following[at]) or not inside & soon:
                continue
            steps = tuple(dict.fromkeys(step for at in sorted(component) for step in taken[at]))
            points = {order[at].point for at in component}
            found.append(self._moving(points, steps) if steps else self._standing(order[component[0]]))
        return found

    def _moves(self, place: Place, memory: tuple[int, ...]) -> Iterator[tuple[Command, Place]]:
        """Yield what the thread can do from here. Raises _Changes at a step that changes something."""
        for command in self.code.visible.get(place.point, ()):
            unpolled = place.unpolled
            value = 0
            if command.qp < 0:
                done = access(command, place.registers, memory)
                if done is None:
                    continue
                if done[1] is not None:
                    raise _Changes
                value = done[0] or 0
            elif not command.enabled(place.registers):
                continue
            elif command.polls:
                if not unpolled[command.qp]:
                    continue
                unpolled = _added(unpolled, command.qp, -1)
            elif len(command.nic) > 1:
                if command.nic[0] is not EventType.NRR or memory[command.source] != memory[command.target]:
                    raise _Changes
                unpolled = _added(unpolled, command.qp, int(command.completes))
            ahead = self.code.polls_ahead[command.to]
            kept = tuple([n if more else 0 for n, more in zip(unpolled, ahead, strict=True)])
            yield command, Place(command.to, command.after(place.registers, value), kept)

    def _standing(self, place: Place) -> tuple[Rest, tuple[Step, ...]]:
        """A place that the thread does not leave."""
        if place.point == self.thread.exit:
            return Rest.ENDED, ()
        if place.point in self._ending:
            return Rest.FAULT, ()
        commands = self.code.visible.get(place.point, ())
        if _only_assumes(steps := [c.step for c in commands]):
            return Rest.ASIDE, tuple(steps)
        waiting = [c for c in commands if not c.step.aside and not ends_execution(c.step.fault)]
        possible = [c for c in waiting if c.may_run(place.registers)]
        return Rest.BLOCKED, tuple(c.step for c in possible or waiting)

    def _moving(self, points: set[int], steps: tuple[Step, ...]) -> tuple[Rest, tuple[Step, ...]]:
        """A loop that the thread does not leave."""
        return (Rest.IDLE if any(points & heads for heads in self._endless) else Rest.SPIN), steps

    @cached_property
    def _endless(self) -> list[set[int]]:
        """The heads of the loops without a way out: where the thread comes into them.

        A strongly connected set of points of such a loop without its heads lies in a loop inside of it, which has a way out:
        back to a head.
        """
        edges = [(s, to) for s, to, step in self.thread.edges if not ends_execution(step.fault)]
        following: dict[int, list[int]] = {point: [] for point in self.thread.points}
        for source, to in edges:
            following[source].append(to)
        found = []
        for component in components(following):
            inside = set(component)
            if any(source in inside and to not in inside for source, to in edges):
                continue
            if any(source in inside for source, _ in edges):
                found.append(
                    {to for source, to in edges if to in inside and source not in inside} | {self.thread.entry} & inside
                )
        return found


def _added(unpolled: tuple[int, ...], qp: int, number: int) -> tuple[int, ...]:
    return (*unpolled[:qp], unpolled[qp] + number, *unpolled[qp + 1 :])


def ends_execution(fault: Fault | None) -> bool:
    """Return whether a step with this fault ends the execution."""
    return fault is not None and fault.kind != "assertion"


def _ended_by_faults(thread: Thread) -> frozenset[int]:
    """Return the points where executions are that a fault has ended."""
    left = {source for source, _, _ in thread.edges}
    return frozenset(to for _, to, step in thread.edges if ends_execution(step.fault) and to not in left)


def may_hang(program: Program) -> bool:
    """Return False only if no thread can ever hang: at every program point some step other than a poll is enabled, and every
    loop writes or puts on each round, or can be left whenever the thread wants."""
    return any(_may_hang(thread) for thread in program.threads)


def _may_hang(thread: Thread) -> bool:
    out = _leaving(thread)
    for point in standing_points(thread):
        here = out.get(point, [])
        if not any(step.guard == TRUE and not isinstance(step.op, Poll) for step in here) and not _exhaustive(here):
            return True
    return bool(quiet_cycles(thread))


def standing_points(thread: Thread) -> frozenset[int]:
    """Return the program points at which a thread can be blocked: not its exit, nor where a fault has ended it, nor in front
    of nothing but `assume`s."""
    out = _leaving(thread)
    over = _ended_by_faults(thread) | {thread.exit}
    return frozenset(point for point in thread.points if point not in over and not _only_assumes(out.get(point, [])))


def quiet_cycles(thread: Thread) -> frozenset[int]:
    """Return the program points at which a thread may go round for ever without a change.

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
        always = ((s, to, step) for s, to, step in thread.edges if step.guard == TRUE and not isinstance(step.op, Poll))
        free = {s for s, to, step in always if s in at and (to not in at[s] or isinstance(step.op, Write | Put))}
        if not free:
            return frozenset(at)
        points = at.keys() - free


def _leaving(thread: Thread) -> dict[int, list[Step]]:
    out: dict[int, list[Step]] = {}
    for source, _, step in thread.edges:
        out.setdefault(source, []).append(step)
    return out


def _only_assumes(here: Sequence[Step]) -> bool:
    """Whether a thread that can take none of these steps is set aside."""
    lasting = [step for step in here if not ends_execution(step.fault)]
    return bool(lasting) and all(step.aside for step in lasting)


def _exhaustive(here: list[Step]) -> bool:
    """Whether two of the steps are a condition and its opposite, of one read."""
    pairs = ((a, b) for a in here for b in here if a.op == b.op and not isinstance(a.op, Poll))
    return any(exclusive(negate(a.guard), negate(b.guard), same_read=True) for a, b in pairs)
