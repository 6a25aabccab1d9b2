"""Locks of windows, and epochs that processes open to each other (post, start, complete, wait, test).

A lock is a word of its target: 0 if it is free, -1 if it is taken exclusively, else the number of those that share it.
Windows that nobody locks exclusively have none.
"""

from __future__ import annotations

from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import Object, known_scalar, map_one
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.mpi.handles import members, process_of_rank
from rdma_robust.c.evaluate.mpi.window_memory import Window, window
from rdma_robust.c.evaluate.mpi.windows import done
from rdma_robust.c.evaluate.one_sided.spmd import queue_pair, reaches_others
from rdma_robust.c.evaluate.one_sided.tellings import Telling, hear, look_whether_told, next_of, saw_told, tell
from rdma_robust.c.evaluate.one_sided.transfers import Atomic, Remote, put_value, waited_atomic
from rdma_robust.c.evaluate.operations import ThreadStep
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.libraries.mpi import NUMBERS

_NUMBER: Final = CType("int", 8, signed=True)
_LOCK: Final = "a lock"
_DONE: Final = -9


def _has_locks(call: CallContext, of: Window) -> bool:
    return ("exclusive", of.number) in call.run.world.known.said


def _word(call: CallContext, of: Window, peer: str) -> Remote:
    reaches_others(call)
    name = Object("handle", peer, f"lock{of.number or ''}", ("lock", of.number))
    call.run.world.sizes[name] = 8
    return Remote(peer, queue_pair(call, peer, f"{of.label}lock_"), name, 0)


def _next_value(seen: int, *, is_exclusive: bool, gives_back: bool, most: int) -> int | None:
    """Return what a lock becomes where it has been seen with a value, None where one has to look again."""
    if gives_back:
        return seen - 1 if 1 <= seen <= most else None
    if is_exclusive:
        return -1 if seen == 0 else None
    return seen + 1 if 0 <= seen < most else None


def _change(
    call: CallContext, of: Window, peer: str, *, is_exclusive: bool = False, gives_back: bool = False
) -> list[ThreadStep] | None:
    """Return the next step towards a lock, or its return by one that shares it; None once that is done: look, and change the
    word if it has not changed."""
    word = _word(call, of, peer)
    seen = None if call.frame.pending is None else known_scalar(call.frame.pending)
    if seen == _DONE:
        call.frame.pending = None
        return None
    most = len(of.processes)
    found = seen if isinstance(seen, int) else -1
    new = _next_value(found, is_exclusive=is_exclusive, gives_back=gives_back, most=most)
    if new is None:
        operations, value = waited_atomic(call, word, Atomic("fetch", (), _NUMBER, _LOCK))
        return call.stay(operations, value)
    operations, value = waited_atomic(call, word, Atomic("cas", (found, new), _NUMBER, _LOCK))
    return call.stay(operations, map_one(value, lambda each: _DONE if each == found else -1))


def _lock(call: CallContext) -> Result:
    """`MPI_Win_lock`: kind, rank, assertion, window."""
    of = window(call, 3)
    peer = process_of_rank(call, 1, of.processes)
    is_exclusive = call.number(0, "the kind of this lock") == NUMBERS["LOCK_EXCLUSIVE"]
    if is_exclusive:
        call.run.world.found.said.add(("exclusive", of.number))
    if peer is not None and _has_locks(call, of):
        step = _change(call, of, peer, is_exclusive=is_exclusive)
        if step is not None:
            return step
    call.state.numbers["epoch", of.number, peer] = int(is_exclusive)
    return 0


def _unlock(call: CallContext) -> Result:
    """`MPI_Win_unlock`: rank, window."""
    of = window(call, 1)
    peer = process_of_rank(call, 0, of.processes)
    key = ("epoch", of.number, peer)
    if key not in call.state.numbers:
        raise Refusal("RR814", "this unlocks what is not locked", "MPI_Win_lock before")
    found = done(call, of, peer)
    if found:
        return call.stay(found, -1)
    if peer is not None and _has_locks(call, of):
        if call.state.numbers[key]:
            del call.state.numbers[key]
            return call.step(put_value(call, _word(call, of, peer), 0, _NUMBER, _LOCK))
        step = _change(call, of, peer, gives_back=True)
        if step is not None:
            return step
    del call.state.numbers[key]
    return 0


def _all_locks(gives_back: bool) -> Handler:
    """`MPI_Win_lock_all` and `MPI_Win_unlock_all`: the locks of all processes, one after the other."""

    def handler(call: CallContext) -> Result:
        of = window(call, 0 if gives_back else 1)
        found = done(call, of) if gives_back else []
        if found:
            return call.stay(found, -1)
        if not _has_locks(call, of):
            return 0
        key = ("locking", of.number)
        for at in range(call.state.numbers.get(key, 0), len(of.processes)):
            step = _change(call, of, of.processes[at], gives_back=gives_back)
            if step is not None:
                return step
            call.state.numbers[key] = at + 1
        del call.state.numbers[key]
        return 0

    return handler


# processes that open their windows to each other


def _opened(of: Window) -> Telling:
    return Telling(("post", of.number), "opened")


def _closed(of: Window) -> Telling:
    return Telling(("complete", of.number), "closed")


def _remembered(call: CallContext, what: str, of: Window, processes: tuple[str, ...]) -> None:
    for process in processes:
        call.state.numbers[what, of.number, process] = 1


def _under_way(call: CallContext, what: str, of: Window) -> list[str]:
    keys = (key for key in call.state.numbers if isinstance(key, tuple) and key[:2] == (what, of.number))
    return sorted(str(key[2]) for key in keys)


def _taken(call: CallContext, what: str, of: Window) -> list[str]:
    found = _under_way(call, what, of)
    for peer in found:
        del call.state.numbers[what, of.number, peer]
    return found


def _post(call: CallContext) -> Result:
    of, origins = window(call, 2), members(call, 0)
    _remembered(call, "exposed", of, origins)
    return call.step([each for peer in origins for each in tell(call, _opened(of), peer)]) if origins else 0


def _start(call: CallContext) -> Result:
    of, targets = window(call, 2), members(call, 0)
    _remembered(call, "started", of, targets)
    return call.step([each for peer in targets for each in hear(call, _opened(of), peer)]) if targets else 0


def _complete(call: CallContext) -> Result:
    of = window(call, 0)
    found = done(call, of)
    found += [each for peer in _taken(call, "started", of) for each in tell(call, _closed(of), peer)]
    return call.step(found) if found else 0


def _wait(call: CallContext) -> Result:
    of = window(call, 0)
    found = [each for peer in _taken(call, "exposed", of) for each in hear(call, _closed(of), peer)]
    return call.step(found) if found else 0


def _test(call: CallContext) -> Result:
    """`MPI_Win_test`: look whether one process after the other has completed, until one has not."""
    of, found = window(call, 0), None if call.frame.pending is None else known_scalar(call.frame.pending)
    left = _under_way(call, "exposed", of)
    if found == 1:
        peer = left.pop(0)
        saw_told(call, _closed(of), peer)
        del call.state.numbers["exposed", of.number, peer]
    if left and found != 0:
        looks, value = look_whether_told(call, next_of(call, _closed(of), left[0]))
        return call.stay([looks], value)
    call.set_private(call.arguments[1], 4, int(not left), "the answer")
    return 0


EPOCHS: Final[dict[str, Handler]] = {
    "MPI_Win_lock": _lock,
    "MPI_Win_unlock": _unlock,
    "MPI_Win_lock_all": _all_locks(gives_back=False),
    "MPI_Win_unlock_all": _all_locks(gives_back=True),
    "MPI_Win_post": _post,
    "MPI_Win_start": _start,
    "MPI_Win_complete": _complete,
    "MPI_Win_wait": _wait,
    "MPI_Win_test": _test,
}
