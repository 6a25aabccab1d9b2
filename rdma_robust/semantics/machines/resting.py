"""Where executions come to rest: states after which no word, no queue and no completion changes any more, and whether
threads hang there.

In such a state nothing is under way, and memory stays as it is whatever the threads do, so that what a thread can do
depends on no other: its local states, taken alone, form a graph (:class:`RestTest`), whose bottom components are
what it ends up in. The answer is the same under SC and RDMA: a remote operation that changes nothing reads and writes the
same values whenever it takes effect, and every one that is posted is completed.

Source: docs/theory-hangs.md, "Hangs".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final

from rdma_robust.digraph import components, reachable
from rdma_robust.language.flow.cfg import Program, Step
from rdma_robust.semantics.machines.inboxes import Inbox, ThreadPlace, with_inbox
from rdma_robust.semantics.machines.machine import access
from rdma_robust.semantics.machines.requests import WHOLE, CardRequest, compile_requests
from rdma_robust.semantics.machines.threadcode import Command, Registers, Seen, ThreadCode, compile_stepwise
from rdma_robust.semantics.machines.waiting_points import ended_by_faults, ends_execution, only_assumes
from rdma_robust.semantics.trace import FENCE_TYPES, EventType

MOST: Final = 2000
"""Local states of one thread that are looked at from one state."""


class RestKind(Enum):
    """The kind of rest that a thread ends up in where memory does not change any more.

    ENDED: its exit, or it was never started. FAULT: an overflow and the like ended it. ASIDE: it stands at a false
    `assume`. IDLE: it goes round in a loop that is meant to run forever. BLOCKED: it waits for what does not come. SPIN: it
    re-reads in a loop that it could leave, but never will.
    """

    ENDED = "ended"
    FAULT = "fault"
    ASIDE = "aside"
    IDLE = "idle"
    BLOCKED = "blocked"
    SPIN = "spin"


HANGING: Final = frozenset({RestKind.BLOCKED, RestKind.SPIN})
_OVER: Final = frozenset({RestKind.FAULT, RestKind.ASIDE})
"""An execution with a thread like this is over, and is no hang."""


@dataclass(frozen=True, slots=True)
class Resting:
    """A thread (by number) at rest: where, and the steps that it waits for or takes again and again."""

    thread: int
    rest: RestKind
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
    """The test whether a state is at rest, and how."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._threads = [_Local(code, compile_requests(program, code, WHOLE)) for code in compile_stepwise(program)]

    def at_rest(self, places: Sequence[ThreadPlace], memory: tuple[int, ...]) -> AtRest | None:
        """Return how the threads rest in a state without remote operations under way; None if something may still change.

        A thread counts as where its register-only steps lead; one that must read before it is where it stays is not at rest
        yet. If it could rest in several ways it is one that hangs, if there is one.
        Raises LargeLoopError if a thread has more than `MOST` local states.
        """
        for local, place in zip(self._threads, places, strict=True):
            if local.changes(place, memory):
                return None
        if self._may_meet(places, memory):
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
        found += [Resting(t, RestKind.BLOCKED, (step,)) for t, place in enumerate(places) for step in place.messages]
        return AtRest(tuple(found))

    def _may_meet(self, places: Sequence[ThreadPlace], memory: tuple[int, ...]) -> bool:
        """Whether all threads of some barrier can come to stand at it. Raises LargeLoopError."""
        at = [local.barriers(place, memory) for local, place in zip(self._threads, places, strict=True)]
        return any(all(members in at[t] for t in members) for members in set().union(*at))

    def ends_of_thread(self, t: int, place: ThreadPlace, memory: tuple[int, ...]) -> frozenset[RestKind]:
        """Return what one thread may end up in while memory stays as it is, also after steps that only read; nothing if it
        may still change something.

        What messages wait for is left to :meth:`at_rest`. Raises LargeLoopError.
        """
        local = self._threads[t]
        return (
            frozenset() if local.changes(place, memory) else frozenset(r for r, _ in local.rests(place, memory, late=True))
        )


_PREFERRED: Final = (RestKind.FAULT, RestKind.ASIDE, RestKind.ENDED, RestKind.IDLE, RestKind.BLOCKED, RestKind.SPIN)


class _Changes(Exception):
    """A local state has a step that changes memory or posts what does."""


class _Local:
    """One thread by itself, while memory stays as it is."""

    def __init__(self, code: ThreadCode, requests: Sequence[CardRequest | None]) -> None:
        self.code = code
        self.requests = requests
        self.thread = code.thread
        self._ending = ended_by_faults(code.thread)
        self._begun = code.thread.begun

    def changes(self, place: ThreadPlace, memory: tuple[int, ...]) -> bool:
        """Return whether one of the thread's next steps changes something."""
        try:
            for _ in self._moves(place, memory):
                pass
        except _Changes:
            return True
        return False

    def rests(
        self, place: ThreadPlace, memory: tuple[int, ...], *, late: bool = False
    ) -> list[tuple[RestKind, tuple[Step, ...]]]:
        """Return what the thread may end up in by register-only steps alone, or if it may be `late` by any; nothing if it
        may still change something, or if it must read before. Raises LargeLoopError."""
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
                    if command.qp < 0 and command.source < 0 and not command.words:
                        silent[at].append(number[after])
        except _Changes:
            return []
        soon = reachable([0], following if late else silent)
        found = []
        for component in components(following):
            inside = set(component)
            if any(after not in inside for at in component for after in following[at]) or not inside & soon:
                continue
            steps = tuple(dict.fromkeys(step for at in sorted(component) for step in taken[at]))
            points = {order[at].point for at in component}
            found.append(self._moving(points, steps) if steps else self._standing(order[component[0]]))
        return found

    def barriers(self, place: ThreadPlace, memory: tuple[int, ...]) -> frozenset[tuple[int, ...]]:
        """Return the barriers, by their threads, at which the thread can come to stand. Raises LargeLoopError."""
        if not any(command.members for command in self.code.commands):
            return frozenset()
        found: set[tuple[int, ...]] = set()
        seen, todo = {place}, [place]
        for here in todo:
            commands = self.code.visible.get(here.point, ())
            found |= {c.members for c in commands if c.members and c.enabled(here.registers)}
            try:
                following = [after for _, after in self._moves(here, memory)]
            except _Changes:
                continue
            todo += [after for after in following if after not in seen]
            seen.update(following)
            if len(seen) > MOST:
                raise LargeLoopError
        return frozenset(found)

    def _moves(self, place: ThreadPlace, memory: tuple[int, ...]) -> Iterator[tuple[Command, ThreadPlace]]:
        """Yield what the thread can do from here. Raises _Changes at a step that changes something."""
        if place.held >= 0:
            return
        for command in self.code.visible.get(place.point, ()):
            if command.members:  # that all others stand there too, :meth:`RestTest.at_rest` has ruled out
                continue
            unpolled = place.unpolled
            inboxes = place.inboxes
            value: Seen = 0
            if command.receives >= 0 or command.takes >= 0:
                found = self._receives(place, command)
                if found is None:
                    continue
                value, inboxes = found
                after = ThreadPlace(command.to, command.after(place.registers, value), unpolled, inboxes, place.stuck)
                yield command, after
                continue
            if command.qp < 0:
                done = access(command, place.registers, memory)
                if done is None:
                    continue
                if done.memory is not memory:
                    raise _Changes
                value = done.seen
            elif not command.enabled(place.registers):
                continue
            elif command.polls:
                if not unpolled[command.qp]:
                    continue
                unpolled = _added(unpolled, command.qp, -1)
            elif command.flushes:
                if command.qp in place.stuck:
                    continue
            elif command.nic[-1] not in FENCE_TYPES:
                if command.qp in place.stuck or self._writes(command, place.registers, memory):
                    raise _Changes
                unpolled = _added(unpolled, command.qp, int(command.completes))
            ahead = self.code.polls_ahead[command.to]
            kept = tuple([n if more else 0 for n, more in zip(unpolled, ahead, strict=True)])
            yield command, ThreadPlace(command.to, command.after(place.registers, value), kept, inboxes, place.stuck)

    def _receives(self, place: ThreadPlace, command: Command) -> tuple[int, tuple[Inbox, ...]] | None:
        """Return the immediate that a poll of receive completions takes, and what is left; None for one that must wait, or a
        receive that finds no room. Raises _Changes for one that does."""
        number = max(command.receives, command.takes)
        inbox = place.inboxes[number]
        if command.receives >= 0:
            if inbox.room > 0 and command.enabled(place.registers):
                raise _Changes
            return None
        if not inbox.arrived or not command.enabled(place.registers, inbox.arrived[0]):
            return None
        return inbox.arrived[0], with_inbox(place.inboxes, number, inbox.polled())

    def _writes(self, command: Command, registers: Registers, memory: tuple[int, ...]) -> bool:
        """Return whether a request may change a word: one that copies a word to where the same value is does not."""
        request = self.requests[command.number]
        if request is None or request.inline >= 0 or not request.ways[0].parts[0].reads:
            return True
        *operands, value = [memory[part.cell] for part in request.ways[0].parts[: request.opening]]
        env = (*registers, *operands)
        parts = request.ways[request.way(env, value)].parts
        answers = [part for part in parts if part.writes]
        if not answers or any(part.type is not EventType.NLW for part in answers):
            return True
        return any(part.value is None or memory[part.cell] != part.value((*env, value), 0) for part in answers)

    def _standing(self, place: ThreadPlace) -> tuple[RestKind, tuple[Step, ...]]:
        """A place that the thread does not leave."""
        if place.point == self.thread.exit or self._waits_for_start(place):
            return RestKind.ENDED, ()
        if place.point in self._ending:
            return RestKind.FAULT, ()
        if place.held >= 0:
            return RestKind.BLOCKED, (self.code.commands[place.held].step,)
        commands = self.code.visible.get(place.point, ())
        if only_assumes(steps := [c.step for c in commands]):
            return RestKind.ASIDE, tuple(steps)
        waiting = [c for c in commands if not c.step.aside and not ends_execution(c.step.fault)]
        possible = [c for c in waiting if c.may_run(place.registers)]
        return RestKind.BLOCKED, tuple(c.step for c in possible or waiting)

    def _waits_for_start(self, place: ThreadPlace) -> bool:
        """Whether no other thread has started this one: it is not there."""
        return self._begun is not None and place.point == self.thread.entry

    def _moving(self, points: set[int], steps: tuple[Step, ...]) -> tuple[RestKind, tuple[Step, ...]]:
        """A loop that the thread does not leave."""
        return (RestKind.IDLE if any(points & heads for heads in self._endless) else RestKind.SPIN), steps

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
