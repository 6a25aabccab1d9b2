"""Tests of requests and of messages. A loop that only tests is a wait; where else one fails or succeeds is followed.

What one more round changes is not known behind the loop, such as how many there were. A round is tried with that, until it
changes nothing more: so whatever number of rounds there is, each comes back to the test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rdma_robust.c.code import Call
from rdma_robust.c.evaluate.c_values import UnknownValue
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.libraries.mpi import NUMBERS
from rdma_robust.c.lock_step.call_arguments import count_at
from rdma_robust.c.lock_step.memory_changes import Change, memory_changes
from rdma_robust.c.lock_step.probe_calls import probed
from rdma_robust.c.lock_step.rank_machine import Blocked, RankMachine, WrongCallError, rank_of
from rdma_robust.c.lock_step.request_calls import all_tested, wait_for_all, wait_for_any, wait_for_some

_STEPS: Final = 20_000
"""Steps of a round."""
_ROUNDS: Final = 6
_HARMLESS: Final = frozenset(("usleep", "sleep", "nanosleep", "sched_yield", "printf", "fflush", "MPI_Wtime"))
"""Calls of libraries in a round that change nothing."""


def _round(rank: RankMachine, state: State) -> bool:
    """Go on behind a test, until it stands before the same test again; return False if it does something else first."""
    frame, depth = state.frames[-1], len(state.frames)
    at, test = frame.at, frame.function.code[frame.at]
    if isinstance(test, Call) and test.target is not None:
        frame.registers[test.target] = 0
    frame.at += 1
    for _ in range(_STEPS):
        top = state.frames[-1]
        if len(state.frames) == depth and top.at == at:
            return True
        if len(state.frames) < depth or top.at >= len(top.function.code):
            return False
        each = top.function.code[top.at]
        name = each.callee if isinstance(each, Call) else ""
        if not isinstance(name, str) or (name in rank.library and name not in _HARMLESS):
            return False
        if rank.execute(state) is not None:
            return False
    return False


def _is_wait(call: CallContext, failing: Mapping[int, int]) -> bool:
    """Return whether a test that fails, with these answers, comes back to itself; if so, forget what rounds change."""
    rank, state = rank_of(call), call.state
    reason = UnknownValue(f"how often `{call.name}` of line {call.chain[0].line} is called")
    forgotten: dict[Change, None] = {}
    for _ in range(_ROUNDS):
        trial = state.copy()
        for part in forgotten:
            rank.raw_write(trial, *part, reason)
        for argument, answer in failing.items():
            rank.raw_write(trial, *call.address(argument, "the answer"), 4, answer)
        begin = trial.copy()
        try:
            if not _round(rank, trial):
                return False
        except (Refusal, WrongCallError, Blocked):
            return False
        changed = memory_changes(begin, trial)
        if not changed:
            for part in forgotten:
                rank.raw_write(state, *part, reason)
            return True
        forgotten |= dict.fromkeys(changed)
    return False


def test_or_wait(
    flag: int | None, failing: Mapping[int, int], wait: Callable[[CallContext], object], test: Callable[[CallContext], bool]
) -> Handler:
    """A test: where its answer goes, what it stores if it fails, what it is in a loop that only tests, and elsewhere."""

    def handler(call: CallContext) -> Result:
        rank = rank_of(call)
        if rank.ongoing is None:
            rank.is_polling = _is_wait(call, failing)
        if rank.is_polling:
            wait(call)
        elif not rank.follows:
            rank.job.is_open = True
            raise Refusal("RR814", f"whether `{call.name}` succeeds decides something", "a wait")
        elif not test(call):
            for argument, answer in failing.items():
                call.set_private(call.arguments[argument], 4, answer, "the answer")
            return 0
        if flag is not None:
            call.set_private(call.arguments[flag], 4, 1, "the answer")
        return 0

    return handler


POLLING_CALLS: Final[dict[str, Handler]] = {
    "MPI_Test": test_or_wait(1, {1: 0}, lambda call: wait_for_all(call, 1, 0, 2), lambda call: all_tested(call, 1, 0, 2)),
    "MPI_Testall": test_or_wait(
        2,
        {2: 0},
        lambda call: wait_for_all(call, count_at(call, 0), 1, 3),
        lambda call: all_tested(call, count_at(call, 0), 1, 3),
    ),
    "MPI_Testany": test_or_wait(
        3, {3: 0, 2: NUMBERS["UNDEFINED"]}, wait_for_any, lambda call: wait_for_any(call, tests=True)
    ),
    "MPI_Testsome": test_or_wait(None, {2: 0}, wait_for_some, lambda call: wait_for_some(call, tests=True)),
    "MPI_Iprobe": test_or_wait(3, {3: 0}, lambda call: probed(call, 4), lambda call: probed(call, 4, tests=True)),
    "MPI_Improbe": test_or_wait(
        3, {3: 0}, lambda call: probed(call, 5, takes=True), lambda call: probed(call, 5, tests=True, takes=True)
    ),
}
