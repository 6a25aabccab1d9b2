"""Tests of requests and of messages in loops that only test: such a loop is a wait.

What one more round changes is not known behind the loop, such as how many there were. A round is tried with that, until it
changes nothing more: so whatever number of rounds there is, each comes back to the test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from rdma_robust.c.code import Call
from rdma_robust.c.evaluate.c_values import Object, UnknownValue
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.state import State
from rdma_robust.c.lock_step.call_arguments import count_at
from rdma_robust.c.lock_step.message_calls import probed
from rdma_robust.c.lock_step.rank_machine import Blocked, RankMachine, WrongCallError, rank_of
from rdma_robust.c.lock_step.request_calls import wait_for_all

_STEPS: Final = 20_000
"""Steps of a round."""
_ROUNDS: Final = 6
_HARMLESS: Final = frozenset(("usleep", "sleep", "nanosleep", "sched_yield", "printf", "fflush", "MPI_Wtime"))
"""Calls of libraries in a round that change nothing."""
Change = tuple[Object, int, int]


def _round(rank: RankMachine, state: State) -> bool:
    """Go on behind a test, until it stands before the same test again; return False if it does something else first."""
    frame, depth = state.frames[-1], len(state.frames)
    at = frame.at
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


def _changes(before: State, after: State) -> list[Change]:
    """Return the memory in which two states differ."""
    found: list[Change] = []
    for name, block in after.memory.items():
        old = before.memory.get(name)
        if old is None or old.key() == block.key():
            continue
        places = {(at, size) for at, (size, _) in (*old.cells.items(), *block.cells.items())}
        found += [(name, at, size) for at, size in places if old.read(at, size, "") != block.read(at, size, "")]
    return found


def _poll(call: CallContext, flag: int) -> None:
    """Make sure that a test which fails comes back; forget what rounds change. Raises Refusal."""
    rank, state = rank_of(call), call.state
    reason = UnknownValue(f"how often `{call.name}` of line {call.chain[0].line} is called")
    other = Refusal(
        "RR814",
        f"`{call.name}` is modelled in loops that only test until it succeeds",
        "a wait, or while (!flag) MPI_Test(&request, &flag, &status);",
    )
    name, offset = call.address(flag, "the answer")
    for _ in range(_ROUNDS):
        trial = state.copy()
        rank.raw_write(trial, name, offset, 4, 0)
        begin = trial.copy()
        try:
            is_back = _round(rank, trial)
        except (Refusal, WrongCallError, Blocked):
            is_back = False
        if not is_back:
            raise other
        changed = _changes(begin, trial)
        if not changed:
            return
        for part in changed:
            rank.raw_write(state, *part, reason)
    raise other


def _tested(flag: int, wait: Callable[[CallContext], None]) -> Handler:
    """A test whose answer goes to an argument."""

    def handler(call: CallContext) -> Result:
        rank = rank_of(call)
        if rank.ongoing is None:
            _poll(call, flag)
        wait(call)
        call.set_private(call.arguments[flag], 4, 1, "the answer")
        return 0

    return handler


def _wait_for_one(call: CallContext) -> None:
    wait_for_all(call, 1, 0, 2)


def _wait_for_list(call: CallContext) -> None:
    wait_for_all(call, count_at(call, 0), 1, 3)


def _look(call: CallContext) -> None:
    """Source, tag, communicator, flag, status."""
    probed(call, 4)


POLLING_CALLS: Final[dict[str, Handler]] = {
    "MPI_Test": _tested(1, _wait_for_one),
    "MPI_Testall": _tested(2, _wait_for_list),
    "MPI_Iprobe": _tested(3, _look),
}
