"""Branches on what is not known, whose ways only compute and print, and meet: both are taken, and what differs is not known.

So a correct program may look at data that is not followed (`if (data[at] != at) errors++;`), as long as nothing comes of it.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Final

from rdma_robust.c.code import Branch, FunctionReturn, Instruction
from rdma_robust.c.evaluate.c_values import UnknownValue, Value, is_unset
from rdma_robust.c.evaluate.libc import LIBC
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.shared_texts import SHARED_TEXTS
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.evaluate.thread_machine import ThreadMachine
from rdma_robust.c.front.live_registers import followers
from rdma_robust.c.lock_step.memory_changes import memory_changes

_MOST_NESTED: Final = 8
_MOST_STEPS: Final = 20_000
_ENDING: Final = frozenset(("exit", "_exit", "_Exit", "abort", "__builtin_trap", "__builtin_unreachable", "__assert_fail"))
QUIET_CALLS: Final = (LIBC.keys() | SHARED_TEXTS.keys()) - _ENDING
"""Calls that nobody else sees, and behind which the process goes on."""


def _meeting_place(code: Sequence[Instruction], at: int) -> int | None:
    """Return where the ways of a branch meet, the end of the code where that is behind its function; None where one of them
    goes back to before it."""
    waiting = sorted(set(followers(at, code[at])))
    while len(waiting) > 1:
        here = heapq.heappop(waiting)
        if here >= len(code) or isinstance(code[here], FunctionReturn):
            return len(code)
        for to in followers(here, code[here]):
            if to <= at:
                return None
            if to > here and to not in waiting:  # a loop on the way is left where it ends
                heapq.heappush(waiting, to)
    return waiting[0]


class NotQuietError(Exception):
    """A way of a branch does more than compute and print."""


class BothWaysMachine(ThreadMachine):
    """A thread in execution that takes both ways of a branch where that is not decided and makes no difference.

    `quiet` is how many such branches it is inside of; then it does nothing that others see.
    """

    quiet = 0

    def count_step(self) -> None:
        """Count a step."""

    def check_loud(self) -> None:
        """Raises NotQuietError where others may not see anything."""
        if self.quiet:
            raise NotQuietError

    def check_call(self, name: str) -> None:
        """Raises NotQuietError where others may not see anything, and they may see a call of a library."""
        if name not in QUIET_CALLS:
            self.check_loud()

    def undecided(self, state: State, branch: Branch, way: UnknownValue, /) -> None:
        """Take both ways until they meet, and let the state be what they have in common. Raises Refusal, with the state as
        it was, where one does more than compute and print."""
        frame = state.frames[-1]
        join = _meeting_place(frame.function.code, frame.at)
        is_last = join == len(frame.function.code) and len(state.frames) == 1
        if is_unset(way) or join is None or is_last or self.quiet >= _MOST_NESTED:
            super().undecided(state, branch, way)
            return
        self.quiet += 1
        try:
            first, second = (self._at_join(state.copy(), to, join) for to in (branch.then, branch.otherwise))
            _merge(self, first, second, UnknownValue(way.reason))
            state.become(first)
        except (NotQuietError, Refusal):
            super().undecided(state, branch, way)
        finally:
            self.quiet -= 1

    def _at_join(self, state: State, to: int, join: int) -> State:
        """Go on from an instruction until the place where ways meet."""
        depth = len(state.frames)
        end = len(state.frames[-1].function.code)
        state.frames[-1].at = to
        for _ in range(_MOST_STEPS):
            if len(state.frames) < depth or (len(state.frames) == depth and state.frames[-1].at == join < end):
                return state
            self.count_step()
            if self.execute(state) is not None:
                raise NotQuietError
        raise NotQuietError


def _merge(run: ThreadMachine, first: State, second: State, unknown: UnknownValue) -> None:
    """Let one state be what it has in common with another one. Raises NotQuietError if they differ in more than values."""
    places = [[(each.function, each.at, each.pending) for each in state.frames] for state in (first, second)]
    if places[0] != places[1] or first.numbers != second.numbers or first.events != second.events:
        raise NotQuietError
    for name in first.memory.keys() ^ second.memory.keys():
        if name.kind not in ("global", "local"):
            raise NotQuietError
        missing = run.world.contents_of(name) if name.kind == "global" else ObjectBytes()
        (second if name in first.memory else first).memory[name] = missing
    for name, at, size in memory_changes(first, second):
        first.block(name).write(at, size, unknown)
    for one, other in zip(first.frames, second.frames, strict=True):
        for register in one.registers.keys() | other.registers.keys():
            if not _same(one.registers.get(register), other.registers.get(register)):
                one.registers[register] = unknown


def _same(one: Value | None, other: Value | None) -> bool:
    """Whether two values are one, also as numbers with a fraction: 0.0 is not -0.0."""
    return one is other or (type(one) is type(other) and repr(one) == repr(other))
