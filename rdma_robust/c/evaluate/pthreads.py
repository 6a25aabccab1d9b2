"""Threads of a process, and what they wait for each other with: calls of pthread and semaphores, as statements of `.rdma`.

A mutex is a word that compare-and-swap takes and an exchange gives back, as glibc does it on x86; a spin lock is given back
by a plain write. A condition variable may wake up for no reason, so waiting for it is giving the mutex back and taking it.
"""

from __future__ import annotations

from collections.abc import Callable

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.atomics import compare_and_swap, possible_sums
from rdma_robust.c.evaluate.c_values import (
    FunctionValue,
    Object,
    Pointer,
    Scalar,
    UnknownValue,
    Value,
    all_apart,
    known_scalar,
    map_one,
)
from rdma_robust.c.evaluate.calls import FRAMES_CHANGED, CallContext, Handler, Result, given
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.operations import (
    BarrierUse,
    ThreadStatement,
    ThreadStep,
    ThreadUse,
    Word,
    read_statement,
    write_statement,
)
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.round_facts import SpawnedThread
from rdma_robust.c.evaluate.state import State

EBUSY = 16
_LOCK = CType("int", 4, signed=True, volatile=True, atomic=True)
_GIVEN_BACK = -1
_MOST_THREADS = 16
_TRY = Pointer(Object("handle", "", "trial"))
_HAS_RUN = Pointer(Object("handle", "", "has run"))
"""What is pending in pthread_once: that it has been read as new, and that its function has run."""


def _create(call: CallContext) -> Result:
    run, state = call.run, call.state
    function = known_scalar(call.arguments[2])
    if not isinstance(function, FunctionValue) or run.world.units.function(function.name) is None:
        raise Refusal("RR818", "the function of this thread is not known here", "read the file that has it too (--with)")
    for value in state.symbols():
        raise all_apart(value)
    run.world.end_set_up(run.process, state)
    number = state.numbers.get(("thread", function.name), 0)
    state.numbers["thread", function.name] = number + 1
    base = f"{run.thread}_{function.name}" if run.is_spawned or function.name == run.thread else function.name
    name = f"{base}_{number}" if number else base
    if len(state.threads) >= _MOST_THREADS:
        raise Refusal("RR817", f"more than {_MOST_THREADS} threads are created here", "give the loop a bound")
    state.threads = (*state.threads, name)
    handle = Object("handle", run.process, "thread", (name,))
    state.place(handle, ObjectBytes(zero=True))
    call.set_private(call.arguments[0], 8, Pointer(handle), "where the thread's name goes")
    _spawn(call, name, function.name)
    return call.step([ThreadStatement("start {0}", (ThreadUse(name),))])


def _spawn(call: CallContext, name: str, function: str) -> None:
    """Say that a thread begins, with the memory as it is now. Raises RR844 where that differs between ways."""
    run, base = call.run, State()
    for object, block in call.state.memory.items():
        base.memory[object] = block.without(run.world.known.shared.get(object, ()))
    base.queue_pairs, base.numbers = dict(call.state.queue_pairs), {}
    base.is_set_up = True
    found = SpawnedThread(run.process, name, run.thread, function, known_scalar(call.arguments[3]), base)
    before = run.world.found.spawned.setdefault((run.process, name), found)
    if before is not found and (before.function, before.argument, before.state.key()) != (
        function,
        found.argument,
        base.key(),
    ):
        raise Refusal("RR844", f"thread `{name}` begins with different memory on different ways", "create it at one place")


def _join(call: CallContext) -> Result:
    handle = known_scalar(call.arguments[0])
    if not isinstance(handle, Pointer) or handle.object.name != "thread":
        raise Refusal("RR818", "the thread that is joined is not known here")
    name = handle.object.key[0]
    assert isinstance(name, str)
    if call.arguments[1:] and known_scalar(call.arguments[1]) != 0:
        returned = call.run.world.known.returned.get((call.run.process, name), set())
        value = next(iter(returned)) if len(returned) == 1 else UnknownValue(f"what thread `{name}` returns")
        call.set_private(call.arguments[1], 8, value, "what this thread returns")
    return call.step([ThreadStatement("join {0}", (ThreadUse(name),))])


def _thread_exit(call: CallContext) -> Result:
    call.run.returns(call.arguments[0])
    return [ThreadStep((), call.chain, None)]


def _word(call: CallContext, index: int, what: str) -> tuple[Object, int, Word | None]:
    """Return the word of a lock, if others see it."""
    name, offset = call.address(index, what)
    call.run.note(call.state, name, offset, 4, is_write=True)
    call.run.own(name, "use")
    if not call.run.is_visible(call.state, name, offset, 4):
        return name, offset, None
    word = call.run.one_word(name, offset, 4, what)
    call.run.kind_of_access(word, _LOCK)
    call.run.world.locks.add(word)
    return name, offset, word


def _set_word(call: CallContext, index: int, value: int, what: str) -> Result:
    name, offset = call.address(index, what)
    if call.run.is_visible(call.state, name, offset, 4):
        return _put_word(call, index, value, what)
    call.run.raw_write(call.state, name, offset, 4, value)
    return 0


def _put_word(call: CallContext, index: int, value: int, what: str) -> Result:
    _, _, word = _word(call, index, what)
    assert word is not None
    return call.step([call.run.write_word(call.state, word, value, what)])


def _clear_word(call: CallContext) -> Result:
    return _set_word(call, 0, 0, "this lock")


def _lock(call: CallContext) -> Result:
    return _take(call, 0)


def _take(call: CallContext, index: int) -> Result:
    """Take a lock: try until it was free."""
    name, offset, word = _word(call, index, "this lock")
    if word is None:
        if known_scalar(call.run.raw_read(call.state, name, offset, 4)) == 1:
            raise Refusal("RR817", f"`{name.name}` is taken by the thread that has it, which waits forever")
        call.run.raw_write(call.state, name, offset, 4, 1)
        return 0
    if call.frame.pending is not None and known_scalar(call.frame.pending) == 0:
        return 0
    operation, old = compare_and_swap(call, word, 0, 1)
    return call.stay([operation], old)


def _try_lock(call: CallContext) -> Result:
    name, offset, word = _word(call, 0, "this lock")
    if word is None:
        is_taken = known_scalar(call.run.raw_read(call.state, name, offset, 4)) == 1
        if not is_taken:
            call.run.raw_write(call.state, name, offset, 4, 1)
        return EBUSY if is_taken else 0
    operation, old = compare_and_swap(call, word, 0, 1)
    return call.step([operation], map_one(old, lambda x: 0 if x == 0 else EBUSY))


def _given_back(call: CallContext, index: int, is_spin: bool) -> ThreadStatement | None:
    name, offset, word = _word(call, index, "this lock")
    if word is None:
        call.run.raw_write(call.state, name, offset, 4, 0)
        return None
    call.run.world.add_values(word, (0,))
    if is_spin:
        return write_statement(word, 0)
    return ThreadStatement("swap({0}, {1})", (word, 0), ((word, 0),))


def _unlock(is_spin: bool) -> Handler:
    def handler(call: CallContext) -> Result:
        operation = _given_back(call, 0, is_spin)
        return 0 if operation is None else call.step([operation])

    return handler


def _wait(call: CallContext) -> Result:
    """Wait for a condition variable, which may wake up for no reason."""
    if call.frame.pending is None:
        operation = _given_back(call, 1, False)
        if operation is None:
            raise Refusal(
                "RR817", "a condition that no other thread can make true is waited for", "create the thread before"
            )
        return call.stay([operation], _GIVEN_BACK)
    return _take(call, 1)


def _barrier_init(call: CallContext) -> Result:
    name, offset = call.address(0, "this barrier")
    call.run.raw_write(call.state, name, offset, 4, call.number(2, "the number of threads of this barrier"))
    call.run.world.found.counts[Word(name, offset, 4)] = call.number(2, "the number of threads of this barrier")
    return 0


def _barrier_wait(call: CallContext) -> Result:
    barrier = Word(*call.address(0, "this barrier"), 4)
    call.run.world.found.barriers[barrier].add(call.run.thread)
    count, users = call.run.world.known.counts.get(barrier), call.run.world.known.barriers.get(barrier, set())
    if count != len(users):
        raise Refusal(
            "RR814",
            f"this barrier is for {count} threads, and {len(users)} wait at it: barriers that some of several threads "
            "pass are not modelled",
        )
    return call.step([ThreadStatement("barrier {0}", (BarrierUse(barrier),))])


def _sem_init(call: CallContext) -> Result:
    return _set_word(call, 0, call.number(2, "the value of this semaphore"), "this semaphore")


def _sem_post(call: CallContext) -> Result:
    name, offset, word = _word(call, 0, "this semaphore")
    if word is None:
        value = known_scalar(call.run.raw_read(call.state, name, offset, 4))
        call.run.raw_write(call.state, name, offset, 4, value + 1 if isinstance(value, int) else value)
        return 0
    written = possible_sums(call.run.world, word, (1,))
    call.run.world.add_values(word, written)
    return call.step([ThreadStatement("faa({0}, {1})", (word, 1), tuple((word, value) for value in written))])


def _sem_wait(call: CallContext) -> Result:
    """Wait for a semaphore: read it until it is positive, and take one if it has not changed."""
    name, offset, word = _word(call, 0, "this semaphore")
    if word is None:
        value = known_scalar(call.run.raw_read(call.state, name, offset, 4))
        if not isinstance(value, int) or value <= 0:
            raise Refusal(
                "RR817", f"`{name.name}` is waited for, and no other thread can post it", "create the thread before"
            )
        call.run.raw_write(call.state, name, offset, 4, value - 1)
        return 0
    if call.frame.pending is None:
        register, seen = call.run.read_word(call.state, word, "seen")
        return call.stay([read_statement(register, word)], map_one(seen, lambda x: x))
    count = known_scalar(call.frame.pending)
    if isinstance(count, Pointer):
        return 0
    if not isinstance(count, int) or count <= 0:
        register, seen = call.run.read_word(call.state, word, "seen")
        return call.stay([read_statement(register, word)], seen)
    operation, old = compare_and_swap(call, word, count, count - 1)
    return call.stay([operation], map_one(old, _taken(count)))


def _taken(count: int) -> Callable[[Scalar], Scalar]:
    """Return what is pending after an attempt: the value that was seen instead, or a mark that one was taken."""
    done = Pointer(Object("handle", "", "taken"))
    return lambda seen: done if seen == count else seen


def _once(call: CallContext) -> Result:
    """Call a function if nobody has: 1 stands for that it runs, 2 for that it has run, which others wait for."""
    name, offset, word = _word(call, 0, "this `pthread_once_t`")
    function = known_scalar(call.arguments[1])
    body = call.run.world.units.function(function.name) if isinstance(function, FunctionValue) else None
    if body is None:
        raise Refusal(
            "RR816", "the function of this pthread_once is not known here", "read the file that has it too (--with)"
        )
    pending = call.frame.pending
    if pending == _HAS_RUN:
        if word is None:
            call.run.raw_write(call.state, name, offset, 4, 2)
            return 0
        return call.step([call.run.write_word(call.state, word, 2, "this `pthread_once_t`")])
    if word is None:
        seen: Value = call.run.raw_read(call.state, name, offset, 4)
    elif pending is None or pending == 1:
        register, seen = call.run.read_word(call.state, word, "once")
        return call.stay([read_statement(register, word)], map_one(seen, lambda x: _TRY if x == 0 else x))
    elif pending == _TRY:
        operation, old = compare_and_swap(call, word, 0, 1)
        return call.stay([operation], old)
    else:
        seen = pending
    if known_scalar(seen) != 0:
        return 0 if known_scalar(seen) == 2 else call.stay([], seen)
    call.frame.pending = _HAS_RUN
    call.push(call.state, body, [], None)
    return FRAMES_CHANGED


_INITIALISED = """
pthread_attr_init pthread_attr_destroy pthread_attr_setdetachstate pthread_setaffinity_np pthread_mutexattr_init
pthread_mutexattr_destroy pthread_condattr_init pthread_cond_init pthread_cond_destroy pthread_cond_signal
pthread_cond_broadcast pthread_mutex_destroy pthread_spin_destroy pthread_barrier_destroy sem_destroy pthread_detach
pthread_setname_np pthread_attr_setstacksize
"""
_REFUSED = """
pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_rwlock_unlock pthread_cond_timedwait
pthread_mutex_timedlock pthread_cancel pthread_kill sem_timedwait sem_getvalue sem_open fork vfork thrd_create
"""


def _refused(call: CallContext) -> Result:
    raise Refusal("RR814", f"`{call.name}` is not modelled", "mutexes, conditions, barriers and semaphores are")


THREADS: dict[str, Handler] = {
    **dict.fromkeys(_INITIALISED.split(), given(0)),
    **dict.fromkeys(_REFUSED.split(), _refused),
    "pthread_create": _create,
    "pthread_join": _join,
    "pthread_once": _once,
    "pthread_exit": _thread_exit,
    **dict.fromkeys(("pthread_mutex_init", "pthread_spin_init"), _clear_word),
    **dict.fromkeys(("pthread_mutex_lock", "pthread_spin_lock"), _lock),
    **dict.fromkeys(("pthread_mutex_trylock", "pthread_spin_trylock"), _try_lock),
    "pthread_mutex_unlock": _unlock(is_spin=False),
    "pthread_spin_unlock": _unlock(is_spin=True),
    "pthread_cond_wait": _wait,
    "pthread_barrier_init": _barrier_init,
    "pthread_barrier_wait": _barrier_wait,
    "sem_init": _sem_init,
    "sem_post": _sem_post,
    "sem_wait": _sem_wait,
}
