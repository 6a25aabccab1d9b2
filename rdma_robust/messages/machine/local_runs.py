"""Running one process until it waits, ends or stops, in every way that its choices allow: half of Lemma 1's normal form.

Other processes cannot see it happen, so a run from one local state is computed once and used in every state that has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from rdma_robust.digraph import reachable
from rdma_robust.messages.language.message_program import Completion
from rdma_robust.messages.machine.flat_code import BranchChoice, Round
from rdma_robust.messages.machine.process_rules import ProcessRules
from rdma_robust.messages.machine.process_state import (
    ANYTHING,
    CollectiveHandle,
    LocalState,
    ProcessFrame,
    ReceiveHandle,
    SendHandle,
    Slot,
)
from rdma_robust.messages.machine.request_rules import grant_buffer, is_grantable

BUFFERED: Final = -1
"""In a trail, less the number of the next step: what is waited for there gets a buffer."""

_STEPS: Final = 200_000
"""Steps of one process without a wait, after which the search does not follow it."""

_AHEAD: Final = 4096
"""Unmatched operations of a process in a loop after which the search does not follow it."""

_BITS: Final = 100_000
"""Numbers longer than this are not computed with."""

Cut = Literal["steps", "ahead", "digits", "many"]
"""Why the search does not follow a process: too many steps, unmatched operations, too large numbers, too many requests."""


class LocalTrail(NamedTuple):
    """A way through a run: its choices, and buffers for what is waited for; and how many steps it takes."""

    decisions: tuple[int, ...]
    steps: int


class LocalViolation(NamedTuple):
    """A violation on the way: the instruction, what kind, and the trail whose last step it is."""

    at: int
    kind: str
    trail: LocalTrail


@dataclass(slots=True)
class LocalRun:
    """All ends of runs from one local state, none twice, the violations met, and which cuts were made.

    `issued` says of an end how many sends and receives were issued where the run to it got its last buffer.
    """

    ends: dict[LocalState, LocalTrail] = field(default_factory=dict)
    issued: dict[LocalState, tuple[int, int]] = field(default_factory=dict)
    violations: dict[tuple[int, str], LocalViolation] = field(default_factory=dict)
    cuts: set[Cut] = field(default_factory=set)


Key = tuple[object, ...]


@dataclass(slots=True)
class _Way:
    """A run so far: the loop head or choice passed last, what loop heads on it were like, and how many operations were
    issued when it got its last buffer."""

    frame: ProcessFrame
    decisions: tuple[int, ...] = ()
    steps: int = 0
    node: LocalState | None = None
    heads: dict[Key, tuple[int, int, int]] = field(default_factory=dict)
    issued: tuple[int, int] = (0, 0)

    def branch(self) -> _Way:
        return _Way(self.frame.copy(), self.decisions, self.steps, self.node, dict(self.heads), self.issued)

    @property
    def trail(self) -> LocalTrail:
        return LocalTrail(self.decisions, self.steps)


def local_runs_from(
    rules: ProcessRules, local: LocalState, ahead: int, look: Callable[[], None], *, buffered: bool = False
) -> LocalRun:
    """Return all runs of a process from `local` to where it waits, ends or stops.

    If it is `buffered`, every wait for a send is an end, and behind it the run goes on, with a buffer for the send.
    A local computation that never ends gives an end whose status is `endless`, if nothing else can follow. A process that
    comes back to a loop head as it was, but for `ahead` unmatched operations more, is `paused`. `look` is called now and
    then and may raise LimitReached.
    """
    if local.status in ("ended", "stopped", "endless"):
        return LocalRun({local: LocalTrail((), 0)}, {local: (0, 0)})
    frame = ProcessFrame(rules.process, local)
    frame.status = "runs"
    return _Runner(rules, ahead, look, buffered).all_from(frame)


class _Runner:
    def __init__(self, rules: ProcessRules, ahead: int, look: Callable[[], None], buffered: bool) -> None:
        self.rules = rules
        self.ahead = ahead
        self.look = look
        self.buffered = buffered
        self.found = LocalRun()
        self.total = 0
        self.before: dict[LocalState, list[LocalState]] = {}
        self.over: set[LocalState] = set()
        self.again: dict[LocalState, LocalTrail] = {}
        self.pending: list[_Way] = []

    def all_from(self, frame: ProcessFrame) -> LocalRun:
        self.pending = [_Way(frame)]
        while self.pending:
            self.follow(self.pending.pop())
        self.add_endless()
        return self.found

    def follow(self, way: _Way) -> None:
        """Follow one way to its end, to a branch, or to where another has been."""
        frame, rules = way.frame, self.rules
        while True:
            self.total += 1
            if self.total % 256 == 0:
                self.look()
            if frame.status != "runs":
                return self.end(way)
            instruction = rules.process.code[frame.pc]
            is_head = rules.process.is_head(frame.pc)
            if is_head and self.met(way):
                return None
            cut = self.cut(way, is_head)
            if cut:
                self.found.cuts.add(cut)
                frame.status = "paused"
                return self.end(way)
            handle = rules.blocking(frame)
            if rules.is_seen(frame):
                frame.status = "looks"
                return self.end(way)
            if isinstance(instruction, Completion):
                return self.complete_on(way)
            if rules.look(frame) is not None:
                if not self.look_on(way):
                    return None
            elif handle is not None:
                frame.status = "waits"
                self.end(way)
                if not self.buffered or not is_grantable(handle):
                    return None
                frame.status = "runs"
                grant_buffer(frame, handle)
                way.decisions = (*way.decisions, BUFFERED - way.steps)
                way.issued = frame.sent, frame.received
            elif isinstance(instruction, BranchChoice):
                return self.choose(way)
            else:
                self.step(way)

    def choose(self, way: _Way) -> None:
        """Go on with every choice of the next step."""
        for choice in reversed(self.rules.choices(way.frame)):
            other = way.branch()
            other.decisions = (*way.decisions, choice)
            self.step(other, choice)
            self.pending.append(other)

    def complete_on(self, way: _Way) -> None:
        """End a way before what completes requests, unless all can be by now, and go on with what can be."""
        if self.rules.lacks(way.frame):
            way.frame.status = "looks" if self.rules.held_up(way.frame) is None else "waits"
            self.end(way)
            way.frame.status = "runs"
        if self.rules.choices(way.frame):
            self.choose(way)
        elif not self.rules.lacks(way.frame):
            self.step(way)
            self.pending.append(way)

    def look_on(self, way: _Way) -> bool:
        """End a way before a look, and go on with the one that sees nothing; return whether there is one."""
        goes_on = bool(self.rules.choices(way.frame))
        way.frame.status = "looks" if goes_on else "waits"
        self.end(way)
        way.frame.status = "runs"
        if goes_on:
            way.decisions = (*way.decisions, 0)
            self.step(way)
        return goes_on

    def step(self, way: _Way, choice: int = 0) -> None:
        at = way.frame.pc
        kind = self.rules.step(way.frame, choice)
        way.steps += 1
        if kind:
            self.found.violations.setdefault((at, kind), LocalViolation(at, kind, way.trail))

    def end(self, way: _Way) -> None:
        here = way.frame.frozen()
        if here not in self.found.ends:
            self.found.ends[here], self.found.issued[here] = way.trail, way.issued
        if way.node is not None:
            self.over.add(way.node)

    def met(self, way: _Way) -> bool:
        """Note a loop head or choice; return whether some way has been there, with everything the same."""
        here = way.frame.frozen()
        known = here in self.before
        before = self.before.setdefault(here, [])
        if way.node is not None:
            before.append(way.node)
        way.node = here
        if known:
            self.again.setdefault(here, way.trail)
        return known

    def cut(self, way: _Way, is_head: bool) -> Cut | None:
        """Return why not to follow a way any further, if there is a reason."""
        if self.total > _STEPS:
            return "steps"
        frame = way.frame
        is_round = isinstance(self.rules.process.code[frame.pc], Round)
        if (is_head or is_round) and any(_is_long(each) for each in frame.registers.values()):
            return "digits"
        if self.rules.chooses_among_many(frame):
            return "many"
        if not is_head:
            return None
        unmatched = len(frame.sends) + len(frame.receives) + len(frame.ops)
        issued = frame.sent, frame.received, len(frame.ops)
        earlier = way.heads.setdefault(_shape(frame), issued)
        if unmatched >= _AHEAD or (unmatched >= self.ahead and earlier != issued):
            return "ahead"
        return None

    def add_endless(self) -> None:
        """Add an end for every loop head that is met again and from which no end can be reached."""
        self.over |= reachable(self.over, self.before)
        for head, trail in self.again.items():
            if head not in self.over:
                endless = head._replace(status="endless")
                self.found.ends.setdefault(endless, trail)
                self.found.issued.setdefault(endless, (0, 0))


def _shape(frame: ProcessFrame) -> Key:
    """Return all but the unmatched operations and how many there were; requests name theirs by how long ago it was."""

    def aged(slot: Slot) -> object:
        match slot:
            case SendHandle(nth, matched) if nth != ANYTHING:
                return (frame.sent - nth, matched)
            case ReceiveHandle(nth, target, sender, which, None):
                return (frame.received - nth, target, sender, which)
            case CollectiveHandle(group, nth) if nth != ANYTHING:
                return (len([op for op in frame.ops if op.group == group]) - nth, slot.target, slot.got)
            case tuple():
                return tuple(aged(each) for each in slot)
            case _:
                return slot

    return (frame.pc, *frame.registers.values(), *(aged(each) for each in frame.requests.values()))


def _is_long(value: object) -> bool:
    if isinstance(value, int):
        return value.bit_length() > _BITS
    return isinstance(value, tuple) and any(_is_long(each) for each in value)
