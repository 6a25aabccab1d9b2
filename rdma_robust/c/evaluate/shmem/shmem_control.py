"""OpenSHMEM: processes, symmetric memory, order and completion, barriers, locks, contexts and teams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import Object, Pointer, Value, known_scalar, map_one
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, as_number, given
from rdma_robust.c.evaluate.libc import LIBC
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.one_sided.spmd import (
    SYMMETRIC,
    barrier,
    begin,
    completed,
    fenced,
    mark_outstanding,
    meeting,
    numbered,
    own_number,
    processes_of,
    queue_pair,
    reaches_others,
    twin,
)  # fmt: skip
from rdma_robust.c.evaluate.one_sided.transfers import Atomic, Remote, put_value, waited_atomic
from rdma_robust.c.evaluate.operations import ThreadStatement
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.shmem.contexts import active_set, context_of, default_context, own_team
from rdma_robust.c.evaluate.shmem.shmem_waits import SIGNALS
from rdma_robust.c.evaluate.shmem.team_calls import TEAM_CALLS
from rdma_robust.c.evaluate.word_copies import copied

_LONG: Final = CType("int", 8, signed=True)
_LOCK: Final = "a lock"
_LEVEL: Final = "thread level"


def _init(call: CallContext) -> Result:
    begin(call)
    return 0


def _init_thread(call: CallContext) -> Result:
    begin(call)
    call.state.numbers[_LEVEL] = call.number(0, "the thread level")
    return _query(call, 1)


def _query_thread(call: CallContext) -> Result:
    return _query(call, 0)


def _query(call: CallContext, index: int) -> int:
    """Store the thread level that was asked for, `SHMEM_THREAD_SINGLE` if none was."""
    call.set_private(call.arguments[index], 4, call.state.numbers.get(_LEVEL, 0), "the thread level")
    return 0


def _my_pe(call: CallContext) -> Result:
    return own_number(call)


def _n_pes(call: CallContext) -> Result:
    return len(processes_of(call.run.world))


# memory


def _made(call: CallContext, size: int) -> Pointer:
    """Return a new symmetric object: all processes make the same ones in the same order."""
    run = call.run
    number = call.state.numbers.get(SYMMETRIC, 0)
    call.state.numbers[SYMMETRIC] = number + 1
    wanted = run.hint(call.frame, call.call.target) or "heap"
    name = run.world.found.regions.setdefault((SYMMETRIC, number), wanted)
    found = Object("heap", run.process, str(name), (SYMMETRIC, number))
    run.world.sizes[found] = max(size, run.world.sizes.get(found, 0))
    call.state.place(found, ObjectBytes())
    return Pointer(found)


def _allocated(call: CallContext, size: int) -> Result:
    """Symmetric memory that all processes wait for."""
    return _together(call, _made(call, size)) if size > 0 else 0


def _realloc(call: CallContext) -> Result:
    """`shmem_realloc`: all processes meet before and behind it; each copies what it had."""
    size, old = call.number(1, "the size of this memory"), known_scalar(call.arguments[0])
    if not isinstance(old, Pointer):
        return _allocated(call, size)
    if size <= 0:
        return _together(call)
    new, count = _made(call, size), min(size, call.run.world.sizes.get(old.object, size))
    copies = copied(call.run, call.state, (new.object, 0), (old.object, old.offset), count)
    if not call.state.is_set_up:
        return new
    meet = meeting(processes_of(call.run.world))
    return barrier(call, [*meet, *copies], value=new)


def _together(call: CallContext, value: Value = 0) -> Result:
    """A call of all processes that wait for each other; it says nothing of what is under way, and does not end set-up."""
    return barrier(call, value=value) if call.state.is_set_up else value


def _malloc(call: CallContext) -> Result:
    return _allocated(call, call.number(0, "the size of this memory"))


def _calloc(call: CallContext) -> Result:
    found = _allocated(call, call.number(0, "the size of this memory") * call.number(1, "the size of this memory"))
    for each in call.state.memory:
        if each.kind == "heap" and each.key == (SYMMETRIC, call.state.numbers[SYMMETRIC] - 1):
            call.state.place(each, ObjectBytes(zero=True))
    return found


def _align(call: CallContext) -> Result:
    return _allocated(call, call.number(1, "the size of this memory"))


def _free(call: CallContext) -> Result:
    return _together(call)


def _is_symmetric(call: CallContext) -> Result:
    found = known_scalar(call.arguments[0])
    return int(isinstance(found, Pointer) and (found.object.kind == "global" or found.object.key[:1] == (SYMMETRIC,)))


def _alias(call: CallContext) -> Result:
    if call.number(1, "the process that is named") == own_number(call):
        return call.arguments[0]
    raise Refusal("RR842", "`shmem_ptr` gives loads and stores to another process, which are not modelled", "put and get")


# order and completion


def quiet(call: CallContext, label: str = "") -> list[ThreadStatement]:
    """Return what waits for all requests of a context."""
    call.state.numbers.pop(("signals", label), None)
    return completed(call, [label])


def _pe_quiet(has_context: bool) -> Handler:
    """`shmem_pe_quiet`: processes, and how many; requests of a context to them are done."""

    def handler(call: CallContext) -> Result:
        if has_context and _is_of_none(call):
            return 0
        context = context_of(call, call.arguments[0]) if has_context else default_context(call)
        name, offset = call.address(int(has_context), "these processes")
        peers: list[str] = []
        for at in range(call.number(int(has_context) + 1, "the number of processes")):
            pe = call.private(Pointer(name, offset + 4 * at), 4, "the number of a process")
            peers.append(context.process(call, as_number(pe, "the number of a process")))
        found = [each for peer in dict.fromkeys(peers) for each in completed(call, [context.label], peer)]
        return call.step(found) if found else 0

    return handler


def _is_of_none(call: CallContext) -> bool:
    """Whether a call names `SHMEM_CTX_INVALID`: it does nothing then."""
    return bool(call.arguments) and known_scalar(call.arguments[0]) == 0


def _quiet(call: CallContext) -> Result:
    if _is_of_none(call):
        return 0
    label = context_of(call, call.arguments[0]).label if call.arguments else ""
    found = quiet(call, label)
    return call.step(found) if found else 0


def _fence(call: CallContext) -> Result:
    if _is_of_none(call):
        return 0
    context = context_of(call, call.arguments[0]) if call.arguments else default_context(call)
    if ("signals", context.label) in call.state.numbers:
        raise Refusal("RR814", "a fence behind a put with a signal is not modelled", "shmem_quiet in place of the fence")
    found = fenced(call, context.label)
    return call.step(found) if found else 0


def _barrier_all(call: CallContext) -> Result:
    return barrier(call, quiet(call))


def _sync_all(call: CallContext) -> Result:
    return barrier(call)


def _sync(call: CallContext) -> Result:
    if len(call.arguments) != 1:
        return barrier(call, members=active_set(call, 0).processes(call))
    return barrier(call, members=own_team(call, call.arguments[0]).processes(call))


def _old_barrier(call: CallContext) -> Result:
    return barrier(call, quiet(call), active_set(call, 0).processes(call))


def _finalize(call: CallContext) -> Result:
    return barrier(call, quiet(call))


# locks


def _lock_word(call: CallContext) -> Remote:
    """Return the word of a lock, which is the one of process 0."""
    name, offset = call.address(0, "this lock")
    peer = numbered(call, 0)
    found = twin(call, name, peer)
    reaches_others(call)
    connection = queue_pair(call, peer)
    mark_outstanding(call, connection, "")
    return Remote(peer, connection, found, offset)


def _attempt(call: CallContext) -> tuple[list[ThreadStatement], Value]:
    return waited_atomic(call, _lock_word(call), Atomic("cas", (0, own_number(call) + 1), _LONG, _LOCK))


def _set_lock(call: CallContext) -> Result:
    if call.frame.pending is not None and known_scalar(call.frame.pending) == 0:
        return 0
    operations, old = _attempt(call)
    return call.stay(operations, map_one(old, lambda each: int(each != 0)))


def _test_lock(call: CallContext) -> Result:
    operations, old = _attempt(call)
    return call.step(operations, map_one(old, lambda each: int(each != 0)))


def _clear_lock(call: CallContext) -> Result:
    done = quiet(call)
    return call.step([*done, *put_value(call, _lock_word(call), 0, _LONG, _LOCK)])


def _ctx_destroy(call: CallContext) -> Result:
    return _quiet(call)


_OF_CACHES: Final = "clear_cache_inv set_cache_inv clear_cache_line_inv set_cache_line_inv udcflush udcflush_line"
CONTROL: Final[Mapping[str, Handler]] = {
    **SIGNALS,
    **TEAM_CALLS,
    **dict.fromkeys(("shmem_init", "start_pes"), _init),
    "shmem_init_thread": _init_thread,
    "shmem_finalize": _finalize,
    "shmem_global_exit": LIBC["shmem_global_exit"],
    **dict.fromkeys(("shmem_my_pe", "_my_pe", "my_pe"), _my_pe),
    **dict.fromkeys(("shmem_n_pes", "_num_pes", "num_pes"), _n_pes),
    "shmem_pe_accessible": given(1),
    "shmem_addr_accessible": _is_symmetric,
    "shmem_ptr": _alias,
    **dict.fromkeys(("shmem_malloc", "shmem_malloc_with_hints", "shmalloc"), _malloc),
    "shmem_calloc": _calloc,
    **dict.fromkeys(("shmem_align", "shmemalign"), _align),
    **dict.fromkeys(("shmem_free", "shfree"), _free),
    **dict.fromkeys(("shmem_realloc", "shrealloc"), _realloc),
    **dict.fromkeys(("shmem_quiet", "shmem_ctx_quiet"), _quiet),
    "shmem_pe_quiet": _pe_quiet(has_context=False),
    "shmem_ctx_pe_quiet": _pe_quiet(has_context=True),
    **dict.fromkeys(("shmem_fence", "shmem_ctx_fence"), _fence),
    "shmem_barrier_all": _barrier_all,
    "shmem_sync_all": _sync_all,
    "shmem_sync": _sync,
    "shmem_barrier": _old_barrier,
    "shmem_set_lock": _set_lock,
    "shmem_test_lock": _test_lock,
    "shmem_clear_lock": _clear_lock,
    "shmem_ctx_destroy": _ctx_destroy,
    "shmem_query_thread": _query_thread,
    "shmem_pcontrol": given(0),
    **dict.fromkeys(
        (f"shmem_{each}" for each in _OF_CACHES.split()),
        given(0),
    ),
}
"""The handlers of functions that move no elements."""
