"""Locks of windows, and epochs that processes open to each other (post, start, complete, wait).

A lock is a word of its target: 0 if it is free, -1 if it is taken exclusively, else the number of those that share it.
Windows that nobody locks exclusively have none.
"""

from __future__ import annotations

from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import Object, Value, known_scalar, map_one
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.mpi.handles import members, process_of_rank
from rdma_robust.c.evaluate.mpi.windows import Window, done, window
from rdma_robust.c.evaluate.one_sided.spmd import queue_pair, reaches_others
from rdma_robust.c.evaluate.one_sided.tellings import Telling, hear, tell
from rdma_robust.c.evaluate.one_sided.transfers import Atomic, Remote, atomic, put_value, waited_atomic
from rdma_robust.c.evaluate.operations import ThreadStatement, ThreadStep
from rdma_robust.c.evaluate.refused_code import Refusal

_EXCLUSIVE: Final = 2
_NUMBER: Final = CType("int", 8, signed=True)
_LOCK: Final = "a lock"
_TAKEN: Final = -9


def _has_locks(call: CallContext, of: Window) -> bool:
    return ("exclusive", of.number) in call.run.world.known.said


def _word(call: CallContext, of: Window, peer: str) -> Remote:
    reaches_others(call)
    name = Object("handle", peer, f"lock{of.number or ''}", ("lock", of.number))
    call.run.world.sizes[name] = 8
    return Remote(peer, queue_pair(call, peer, f"{of.label}lock_"), name, 0)


def _try(call: CallContext, of: Window, peer: str, is_exclusive: bool) -> list[ThreadStep] | None:
    """Return the next step towards a lock, None once it is taken: look, and take it if it has not changed."""
    word = _word(call, of, peer)
    seen = None if call.frame.pending is None else known_scalar(call.frame.pending)
    if seen == _TAKEN:
        call.frame.pending = None
        return None
    if not isinstance(seen, int) or seen < 0 or (is_exclusive and seen > 0):
        operations, value = waited_atomic(call, word, Atomic("fetch", (), _NUMBER, _LOCK))
        return call.stay(operations, value)
    new = -1 if is_exclusive else seen + 1
    operations, value = waited_atomic(call, word, Atomic("cas", (seen, new), _NUMBER, _LOCK))
    return call.stay(operations, _after(value, seen))


def _after(value: Value, seen: int) -> Value:
    return map_one(value, lambda found: _TAKEN if found == seen else -1)


def _release(call: CallContext, of: Window, peer: str, is_exclusive: bool) -> ThreadStatement:
    word = _word(call, of, peer)
    if is_exclusive:
        return put_value(call, word, 0, _NUMBER, _LOCK)
    return atomic(call, word, Atomic("faa", (-1,), _NUMBER, _LOCK), None)


def _lock(call: CallContext) -> Result:
    """`MPI_Win_lock`: kind, rank, assertion, window."""
    of = window(call, 3)
    peer = process_of_rank(call, 1, of.processes)
    is_exclusive = call.number(0, "the kind of this lock") == _EXCLUSIVE
    if is_exclusive:
        call.run.world.found.said.add(("exclusive", of.number))
    if peer is not None and _has_locks(call, of):
        step = _try(call, of, peer, is_exclusive)
        if step is not None:
            return step
    call.state.numbers["epoch", of.number, peer] = int(is_exclusive)
    return 0


def _unlock(call: CallContext) -> Result:
    """`MPI_Win_unlock`: rank, window."""
    of = window(call, 1)
    peer = process_of_rank(call, 0, of.processes)
    kind = call.state.numbers.pop(("epoch", of.number, peer), None)
    if kind is None:
        raise Refusal("RR814", "this unlocks what is not locked", "MPI_Win_lock before")
    found = done(call, of, peer)
    if peer is not None and _has_locks(call, of):
        found.append(_release(call, of, peer, bool(kind)))
    return call.step(found) if found else 0


def _lock_all(call: CallContext) -> Result:
    of = window(call, 1)
    if _has_locks(call, of):
        at = call.state.numbers.get(("locking", of.number), 0)
        while at < len(of.processes):
            step = _try(call, of, of.processes[at], is_exclusive=False)
            if step is not None:
                return step
            at += 1
            call.state.numbers["locking", of.number] = at
        del call.state.numbers["locking", of.number]
    return 0


def _unlock_all(call: CallContext) -> Result:
    of = window(call, 0)
    found = done(call, of)
    if _has_locks(call, of):
        found += [_release(call, of, peer, is_exclusive=False) for peer in of.processes]
    return call.step(found) if found else 0


# processes that open their windows to each other


def _opened(of: Window) -> Telling:
    return Telling(("post", of.number), "posted")


def _closed(of: Window) -> Telling:
    return Telling(("complete", of.number), "completed")


def _remembered(call: CallContext, what: str, of: Window, processes: tuple[str, ...]) -> None:
    for process in processes:
        call.state.numbers[what, of.number, process] = 1


def _taken(call: CallContext, what: str, of: Window) -> list[str]:
    keys = [key for key in call.state.numbers if isinstance(key, tuple) and key[:2] == (what, of.number)]
    for key in keys:
        del call.state.numbers[key]
    return sorted(str(key[2]) for key in keys)


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


EPOCHS: Final[dict[str, Handler]] = {
    "MPI_Win_lock": _lock,
    "MPI_Win_unlock": _unlock,
    "MPI_Win_lock_all": _lock_all,
    "MPI_Win_unlock_all": _unlock_all,
    "MPI_Win_post": _post,
    "MPI_Win_start": _start,
    "MPI_Win_complete": _complete,
    "MPI_Win_wait": _wait,
}
