"""OpenSHMEM: transfers, atomics and signals, by the table of its functions; and all handlers together.

Puts and atomics of an element have no completion (`unsignaled`). What a call returns for is waited for: the source of a put
has been read, the answer of a get or an atomic is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import Value
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.one_sided.spmd import mark_outstanding, queue_pair, reaches_others, twin
from rdma_robust.c.evaluate.one_sided.transfers import (
    Atomic,
    Remote,
    atomic,
    card_words,
    get,
    get_value,
    not_modelled,
    put,
    put_value,
    waited_atomic,
)  # fmt: skip
from rdma_robust.c.evaluate.operations import Queue, ThreadStatement
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.shmem.collectives import REDUCTIONS
from rdma_robust.c.evaluate.shmem.contexts import ShmemContext, context_of, default_context
from rdma_robust.c.evaluate.shmem.shmem_control import CONTROL
from rdma_robust.c.evaluate.shmem.shmem_waits import WAITS
from rdma_robust.c.libraries.openshmem import FUNCTIONS, ShmemFunction

_SIGNAL: Final = CType("int", 8, signed=False)
_SET, _ADD = 1, 2


def _remote(call: CallContext, context: ShmemContext, address: int, process: int, is_waited: bool) -> Remote:
    """Return the other end of a transfer whose symmetric address and process are arguments; unless it is waited for, it may
    be under way afterwards."""
    peer = context.process(call, call.number(process, "the process that is named"))
    name, offset = call.address(address, "the symmetric address")
    found = twin(call, name, peer)
    reaches_others(call)
    connection = queue_pair(call, peer, context.queue)
    if not is_waited:
        mark_outstanding(call, connection, context.label)
    return Remote(peer, connection, found, offset)


def _ended(call: CallContext, operations: list[ThreadStatement], value: Value = 0) -> Result:
    return call.step(operations, value) if operations else value


def _put(call: CallContext, function: ShmemFunction, context: ShmemContext) -> Result:
    size = call.number(2, "the number of elements") * function.type.size
    if not size:
        return 0
    remote, source = _remote(call, context, 0, 3, False), call.address(1, "the source")
    return _ended(call, put(call, remote, source, size, function.type.size, late=function.is_late))


def _get(call: CallContext, function: ShmemFunction, context: ShmemContext) -> Result:
    size = call.number(2, "the number of elements") * function.type.size
    if not size:
        return 0
    remote, target = _remote(call, context, 1, 3, not function.is_late), call.address(0, "the target")
    return _ended(call, get(call, remote, target, size, function.type.size, late=function.is_late))


def _strided(call: CallContext, function: ShmemFunction, context: ShmemContext) -> Result:
    """`iput` and `iget`: elements with distances, of the target and of the source."""
    is_put, size = function.operation == "iput", function.type.size
    to, origin, count = (call.number(index, "a distance or a number of elements") for index in (2, 3, 4))
    there, here = (to, origin) if is_put else (origin, to)
    if not count:
        return 0
    remote = _remote(call, context, 0 if is_put else 1, 5, not is_put)
    name, offset = call.address(1 if is_put else 0, "the buffer")
    found: list[ThreadStatement] = []
    for index in range(count):
        end, local = remote.further(index * there * size), (name, offset + index * here * size)
        found += (put if is_put else get)(call, end, local, size, size, late=False)
    return _ended(call, found)


def _put_one(call: CallContext, function: ShmemFunction, context: ShmemContext) -> Result:
    return call.step(put_value(call, _remote(call, context, 0, 2, False), call.arguments[1], function.type))


def _get_one(call: CallContext, function: ShmemFunction, context: ShmemContext) -> Result:
    return call.step(*get_value(call, _remote(call, context, 0, 1, True), function.type))


def _put_signal(call: CallContext, function: ShmemFunction, context: ShmemContext) -> Result:
    """A put, and behind it the update of a signal."""
    size = call.number(2, "the number of elements") * function.type.size
    apart = context.of_signal(call, context.process(call, call.number(6, "the process that is named")))
    remote, signal = _remote(call, apart, 0, 6, False), _remote(call, apart, 3, 6, False)
    found = put(call, remote, call.address(1, "the source"), size, function.type.size, late=function.is_late)
    operation = call.number(5, "the signal operation")
    if operation not in (_SET, _ADD):
        raise Refusal("RR814", f"a signal operation {operation} is not known", "SHMEM_SIGNAL_SET, SHMEM_SIGNAL_ADD")
    what = Atomic("swap" if operation == _SET else "faa", (call.arguments[4],), _SIGNAL, "a signal")
    order = [ThreadStatement("order {0}", (Queue(remote.connection),))]
    return call.step([*found, *order, *atomic(call, signal, what)])


_ATOMICS: Final[Mapping[str, tuple[str, bool, int | None]]] = {
    "atomic_fetch": ("fetch", True, None),
    "atomic_set": ("swap", False, None),
    "atomic_swap": ("swap", True, None),
    "atomic_compare_swap": ("cas", True, None),
    "atomic_fetch_inc": ("faa", True, 1),
    "atomic_inc": ("faa", False, 1),
    "atomic_fetch_add": ("faa", True, None),
    "atomic_add": ("faa", False, None),
    **{f"atomic_{each}": ("mix", False, None) for each in ("and", "or", "xor")},
    **{f"atomic_fetch_{each}": ("mix", True, None) for each in ("and", "or", "xor")},
}
"""What each atomic does, whether it has an answer, and what it adds if no argument says so."""


def _atomic(call: CallContext, function: ShmemFunction, context: ShmemContext) -> Result:
    operation, has_answer, step = _ATOMICS[function.operation]
    late = function.is_late
    first, last = int(late), len(call.arguments) - 1
    remote = _remote(call, context, first, last, has_answer and not late and operation == "fetch")
    operands = tuple(call.arguments[first + 1 : last]) if step is None else (step,)
    what = Atomic(operation, operands, function.type, f"{_kind(function.type)}, {context.team.name}")
    if late:
        answers = card_words(call, call.address(0, "where the answer goes"), function.type.size)
        return call.step(atomic(call, remote, what, answers))
    if not has_answer:
        return call.step(atomic(call, remote, what))
    return call.step(*waited_atomic(call, remote, what))


def _kind(kind: CType) -> str:
    """Return what types have in common whose atomics are atomic with each other: integers of a size, or fractions."""
    return f"{kind.kind}{8 * kind.size}"


def _not_modelled(call: CallContext, _function: ShmemFunction, _context: ShmemContext) -> Result:
    raise not_modelled(call, "puts, gets, atomics, signals, locks and collectives are")


_Operation = Callable[[CallContext, ShmemFunction, ShmemContext], Result]
_OPERATIONS: Final[Mapping[str, _Operation]] = {
    "put": _put,
    "get": _get,
    "iput": _strided,
    "iget": _strided,
    "p": _put_one,
    "g": _get_one,
    "put_signal": _put_signal,
    **dict.fromkeys(_ATOMICS, _atomic),
    **WAITS,
    **REDUCTIONS,
}


def _handler(function: ShmemFunction) -> Handler:
    """Return the handler of a function of the table: its context is taken off its arguments."""
    operation = _OPERATIONS.get(function.operation, _not_modelled)

    def handler(call: CallContext) -> Result:
        if not function.has_context:
            return operation(call, function, default_context(call))
        context = context_of(call, call.arguments[0])
        call.arguments = call.arguments[1:]
        return operation(call, function, context)

    return handler


SHMEM: Final[Mapping[str, Handler]] = {name: CONTROL.get(name) or _handler(function) for name, function in FUNCTIONS.items()}
"""The handlers of all functions of OpenSHMEM: those that are not modelled refuse."""
