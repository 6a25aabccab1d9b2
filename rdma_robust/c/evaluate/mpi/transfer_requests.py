"""MPI: requests of transfers and messages, and calls that wait for them or ask whether they are done.

A request is done where its completions are polled. A call that asks may find it done or not, and one that waits for any
of several may find each: one way for each answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rdma_robust.c.evaluate.c_values import Pointer, known_scalar
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.mpi.accumulates_under_way import follows_others
from rdma_robust.c.evaluate.mpi.handles import handle_key
from rdma_robust.c.evaluate.mpi.point_to_point import RECEIVED, look_for_message, message_received
from rdma_robust.c.evaluate.mpi.windows import polled
from rdma_robust.c.evaluate.operations import ThreadStatement, ThreadStep
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.libraries.mpi import NUMBERS


def _addresses(call: CallContext, count: int | None, first: int) -> list[Pointer]:
    """Return where the requests of a call are: one, or as many as an argument says."""
    name, offset = call.address(first, "these requests")
    number = 1 if count is None else call.number(count, "the number of requests")
    return [Pointer(name, offset + 8 * at) for at in range(number)]


def _request(call: CallContext, at: Pointer) -> tuple[str, int, int] | None:
    """Return the queue pair of a request, its number, and how many completions it has, None for a request of nothing."""
    key = handle_key(call.run.raw_read(call.state, at.object, at.offset, 8), "request")
    return None if key is None else (str(key[0]), int(key[1]), int(key[2]))


def _done(call: CallContext, places: Sequence[Pointer]) -> list[ThreadStatement]:
    """Return what waits for requests, which are none afterwards; the oldest first. Raises RR814 where older ones of the
    standard's accumulates have to stay under way: their completions come first on their queue pair."""
    left = dict.fromkeys(found for at in places if (found := _request(call, at)) is not None)
    for at in places:
        call.run.raw_write(call.state, at.object, at.offset, 8, 0)
    received = [each for _, slot, _ in [one for one in left if one[0] == RECEIVED] for each in message_received(call, slot)]
    left = {found: None for found in left if found[0] != RECEIVED}
    numbers = {found: call.state.numbers[("request", *found[:2])] for found in left}
    polls, waited = list[ThreadStatement](), {connection for connection, _, _ in left}
    for connection, slot, own in sorted(left, key=lambda found: numbers[found]):
        number = call.state.numbers.pop(("request", connection, slot))
        if (number > own and call.run.world.options.is_of_standard) or follows_others(call, connection, waited):
            raise Refusal(
                "RR814",
                "a wait for an accumulate alone is not modelled where older ones of its type are in flight at its location",
                "MPI_Waitall for all of them, or MPI_Win_flush_local before",
            )
        polls += polled(call, connection, number)
    return [*polls, *received]


def _wait_all(count: int | None, first: int) -> Handler:
    def handler(call: CallContext) -> Result:
        found = _done(call, _addresses(call, count, first))
        return call.step(found) if found else 0

    return handler


def _test_all(count: int | None, first: int, flag: int) -> Handler:
    """`MPI_Test`, `MPI_Testall`: done, or not yet."""

    def handler(call: CallContext) -> Result:
        steps: list[ThreadStep] = []
        expected = _expected(call, _addresses(call, count, first))
        if expected is not None:
            seen = None if call.frame.pending is None else known_scalar(call.frame.pending)
            if seen is None:
                return look_for_message(call, expected)
            if seen != 1:
                call.set_private(call.arguments[flag], 4, 0, "the answer")
                return 0
        elif any(_request(call, at) for at in _addresses(call, count, first)):
            other = call.branch(call.state)
            other.set_private(other.arguments[flag], 4, 0, "the answer")
            steps += other.step([])
        found = _done(call, _addresses(call, count, first))
        call.set_private(call.arguments[flag], 4, 1, "the answer")
        return [*steps, *call.step(found)] if steps or found else 0

    return handler


def _expected(call: CallContext, places: Sequence[Pointer]) -> int | None:
    """Return the number of the request for a message that is the only one of a call that asks, None if all are of transfers.
    Raises RR814 if it is not the only one."""
    left = {found for at in places if (found := _request(call, at)) is not None}
    slots = [slot for connection, slot, _ in left if connection == RECEIVED]
    if slots and len(left) > 1:
        raise Refusal("RR814", f"`{call.name}` of several requests, some for messages, is not modelled", "MPI_Waitall")
    return slots[0] if slots else None


def _any(is_waiting: bool) -> Handler:
    """`MPI_Waitany`, `MPI_Testany`: number, requests, index, and whether there is one if it only asks."""

    def handler(call: CallContext) -> Result:
        under_way = [number for number, at in enumerate(_addresses(call, 0, 1)) if _request(call, at)]
        if _expected(call, _addresses(call, 0, 1)) is not None:
            raise Refusal("RR814", f"`{call.name}` of a request for a message is not modelled", "MPI_Wait, MPI_Test")
        answers: list[int | None] = [*under_way, *([] if is_waiting or not under_way else [None])]
        steps: list[ThreadStep] = []
        for answer in answers:
            branch = call.branch(call.state)
            found = [] if answer is None else _done(branch, _addresses(branch, 0, 1)[answer : answer + 1])
            _answer(branch, NUMBERS["UNDEFINED"] if answer is None else answer, None if is_waiting else answer is not None)
            steps += branch.step(found)
        if not steps:
            _answer(call, NUMBERS["UNDEFINED"], None if is_waiting else True)
        return steps or 0

    return handler


def _answer(call: CallContext, index: int, is_done: bool | None) -> None:
    call.set_private(call.arguments[2], 4, index, "the answer")
    if is_done is not None:
        call.set_private(call.arguments[3], 4, int(is_done), "the answer")


REQUESTS: Final[dict[str, Handler]] = {
    "MPI_Wait": _wait_all(None, 0),
    "MPI_Waitall": _wait_all(0, 1),
    "MPI_Test": _test_all(None, 0, 1),
    "MPI_Testall": _test_all(0, 1, 2),
    "MPI_Waitany": _any(is_waiting=True),
    "MPI_Testany": _any(is_waiting=False),
}
"""The handlers of calls that complete requests."""
