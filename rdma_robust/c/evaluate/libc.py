"""The C library: what its calls mean to evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable

from rdma_robust.c.evaluate import word_copies
from rdma_robust.c.evaluate.c_values import Object, Pointer, Scalar, UnknownValue, known_scalar, map_one
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, further, given
from rdma_robust.c.evaluate.memory import ObjectBytes
from rdma_robust.c.evaluate.operations import ABORTED, FAILED, HALT, ThreadStep
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.texts import TEXTS

_NOTHING = """
vprintf vfprintf putchar fputc fflush perror fclose close usleep sleep nanosleep sched_yield
setvbuf srand srand48 signal munmap mlock munlock shutdown setsockopt listen bind freeaddrinfo closelog openlog syslog
sched_setaffinity clock_nanosleep atexit setlocale
"""
_UNKNOWN = """
time getpid strerror fopen rdtsc __rdtsc clock gethostname socket accept connect fileno isatty
"""
RANDOM = ("rand", "rand_r", "random", "lrand48", "drand48")
"""Functions that draw numbers."""
_EXACT: dict[str, Callable[[float], float]] = {
    **dict.fromkeys(("ceil", "ceilf"), lambda x: float(math.ceil(x))),
    **dict.fromkeys(("floor", "floorf"), lambda x: float(math.floor(x))),
    **dict.fromkeys(("fabs", "fabsf"), abs),
    "sqrt": math.sqrt,
    "cbrt": math.cbrt,
}
"""Functions of numbers with a fraction."""
_IDENTITY = """
ntohl htonl htons ntohs htobe64 be64toh htonll ntohll htobe32 be32toh htole64 le64toh htole32 le32toh htobe16 be16toh
__bswap_64 __bswap_32 __bswap_16 __builtin_bswap64 __builtin_bswap32 __builtin_bswap16 bswap_64 bswap_32
"""


def allocated(call: CallContext, size: int, name: str = "", is_zero: bool = False) -> Pointer:
    """Return a new object of the heap."""
    state, place = call.state, call.chain[0] if call.chain else None
    base = name or call.run.hint(call.frame, call.call.target) or "heap"
    number = 0
    while True:
        found = Object("heap", call.run.process, base, (call.run.thread, place, number))
        if found not in state.memory:
            break
        number += 1
    call.run.world.sizes[found] = max(size, call.run.world.sizes.get(found, 0))
    state.place(found, ObjectBytes(zero=is_zero))
    return Pointer(found)


def _malloc(size_at: int, is_zero: bool = False) -> Handler:
    def handler(call: CallContext) -> Result:
        return allocated(call, call.number(size_at, "the size of this memory"), is_zero=is_zero)

    return handler


def _calloc(call: CallContext) -> Result:
    size = call.number(0, "the size of this memory") * call.number(1, "the size of this memory")
    return allocated(call, size, is_zero=True)


def _posix_memalign(call: CallContext) -> Result:
    found = allocated(call, call.number(2, "the size of this memory"))
    call.set_private(call.arguments[0], 8, found, "the address of this memory")
    return 0


def _realloc(call: CallContext) -> Result:
    size = call.number(1, "the size of this memory")
    old = known_scalar(call.arguments[0])
    new = allocated(call, size)
    if isinstance(old, Pointer):
        if call.run.is_visible(call.state, old.object):
            raise Refusal("RR814", f"`realloc` of `{old.object.name}`, which others can reach, is not modelled")
        count = min(size, call.run.world.sizes.get(old.object, size))
        word_copies.copied(call.run, call.state, (new.object, 0), (old.object, old.offset), count)
        call.state.drop(old.object)
    return new


def _free(call: CallContext) -> Result:
    found = known_scalar(call.arguments[0])
    if isinstance(found, Pointer) and found.object.kind == "heap" and not call.run.world.is_shared(found.object):
        call.state.drop(found.object)
    return 0


def _memcpy(call: CallContext) -> Result:
    size = call.number(2, "the size of this copy")
    if size == 0:
        return call.arguments[0]
    target, source = call.address(0, "this write"), call.address(1, "this read")
    if target == source:
        return call.arguments[0]
    operations = word_copies.copied(call.run, call.state, target, source, size)
    return call.step(operations, call.arguments[0]) if operations else call.arguments[0]


def _memset(call: CallContext) -> Result:
    size, byte = call.number(2, "the size of this memory"), call.number(1, "the byte that is written")
    if size == 0:
        return call.arguments[0]
    operations = word_copies.bytes_set(call.run, call.state, call.address(0, "this write"), size, byte)
    return call.step(operations, call.arguments[0]) if operations else call.arguments[0]


def _bzero(call: CallContext) -> Result:
    size = call.number(1, "the size of this memory")
    operations = word_copies.bytes_set(call.run, call.state, call.address(0, "this write"), size, 0) if size else []
    return call.step(operations) if operations else 0


def _time_into(index: int) -> Handler:
    """A call that writes a time, of 16 bytes."""

    def handler(call: CallContext) -> Result:
        if known_scalar(call.arguments[index]) != 0:
            for half in (0, 8):
                call.set_private(further(call.arguments[index], half), 8, UnknownValue("the time"), "this time")
        return 0

    return handler


def _exit(call: CallContext) -> Result:
    return [ThreadStep((HALT,), call.chain, None)]


def _assert_fail(call: CallContext) -> Result:
    return [ThreadStep((FAILED, HALT), call.chain, None)]


def _abort(call: CallContext) -> Result:
    return [ThreadStep((ABORTED, HALT), call.chain, None)]


def _global_exit(call: CallContext) -> Result:
    """End all processes, as a failure unless the status is 0: one that nobody looked at before is taken for 0."""
    return _exit(call) if call.arguments[0] in (0, None) or not isinstance(call.arguments[0], int) else _abort(call)


def _identity(call: CallContext) -> Result:
    call.run.world.remark("RR846", "conversions of byte order are taken for nothing: all machines have the same", call.chain)
    return call.arguments[0]


def _errno(call: CallContext) -> Result:
    found = Object("handle", call.run.process, "errno", (call.run.thread,))
    if found not in call.state.memory:
        call.state.place(found, ObjectBytes(zero=True))
    return Pointer(found)


def drawn_result(call: CallContext) -> Result:
    """Give what may be any number."""
    return UnknownValue(f"what `{call.name}` returns", is_random=True)


def _exactly(compute: Callable[[float], float]) -> Handler:
    def applied(value: Scalar) -> Scalar:
        if not isinstance(value, int | float):
            return value if isinstance(value, UnknownValue) else UnknownValue("an address as a number with a fraction")
        try:
            return compute(value)
        except (ValueError, OverflowError):
            return UnknownValue("what is no number")

    return lambda call: map_one(call.arguments[0], applied)


def _expect(call: CallContext) -> Result:
    return call.arguments[0]


def unknown_result(call: CallContext) -> Result:
    """Give what nothing is known of."""
    return UnknownValue(f"what `{call.name}` returns")


LIBC: dict[str, Handler] = {
    **TEXTS,
    **dict.fromkeys(_NOTHING.split(), given(0)),
    **dict.fromkeys(_UNKNOWN.split(), unknown_result),
    **dict.fromkeys(RANDOM, drawn_result),
    **{name: _exactly(compute) for name, compute in _EXACT.items()},
    **dict.fromkeys(_IDENTITY.split(), _identity),
    **dict.fromkeys(("malloc", "alloca", "__builtin_alloca", "valloc"), _malloc(0)),
    **dict.fromkeys(("memalign", "aligned_alloc"), _malloc(1)),
    "calloc": _calloc,
    "mmap": _malloc(1, is_zero=True),
    "posix_memalign": _posix_memalign,
    "realloc": _realloc,
    "free": _free,
    **dict.fromkeys(("memcpy", "memmove", "__builtin_memcpy", "__builtin_memmove"), _memcpy),
    **dict.fromkeys(("memset", "__builtin_memset"), _memset),
    "bzero": _bzero,
    "clock_gettime": _time_into(1),
    "gettimeofday": _time_into(0),
    **dict.fromkeys(("exit", "_exit", "_Exit"), _exit),
    **dict.fromkeys(("abort", "__builtin_trap", "__builtin_unreachable", "MPI_Abort"), _abort),
    "__assert_fail": _assert_fail,
    "shmem_global_exit": _global_exit,
    "__errno_location": _errno,
    "sysconf": given(4096),
    "getpagesize": given(4096),
    "__builtin_expect": _expect,
}
