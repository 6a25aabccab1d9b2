"""OpenSHMEM: waiting for a word of the own memory, and looking at it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import Scalar, UnknownValue, Value, map_one, value_of_raw
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, encoded, scalar_at
from rdma_robust.c.evaluate.one_sided.spmd import reaches_others
from rdma_robust.c.evaluate.operations import ANY_KIND, ThreadStatement, ThreadStep, Word, operand_of, read_statement
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.shmem.contexts import ShmemContext
from rdma_robust.c.evaluate.spelling import is_short
from rdma_robust.c.libraries.openshmem import ShmemFunction

_COMPARED: Final[Mapping[int, tuple[str, Callable[[int, int], bool]]]] = {
    1: ("==", lambda x, y: x == y),
    2: ("!=", lambda x, y: x != y),
    3: (">", lambda x, y: x > y),
    4: ("<=", lambda x, y: x <= y),
    5: ("<", lambda x, y: x < y),
    6: (">=", lambda x, y: x >= y),
}
"""What `SHMEM_CMP_EQ` and the others are in our header."""
_SIGNAL: Final = CType("int", 8, signed=False)


def _comparison(call: CallContext, index: int) -> tuple[str, Callable[[int, int], bool]]:
    number = call.number(index, "the comparison")
    if number not in _COMPARED:
        raise Refusal("RR814", f"a comparison {number} is not known", "SHMEM_CMP_EQ and the like")
    return _COMPARED[number]


def _word(call: CallContext, address: int, distance: int, kind: CType) -> Word:
    """Return a word of this process that is waited for or looked at."""
    run = call.run
    name, offset = call.address(address, "what is waited for")
    run.own(name, "wait for")
    run.world.share(name)
    reaches_others(call)
    word = run.one_word(name, offset + distance, kind.size, "look")
    run.world.found.by_processor[word.object].add(word)
    run.world.found.watched.add(word)
    return word


def _wait(call: CallContext, word: Word, comparison: int, value: int, kind: CType) -> ThreadStatement:
    """Return the statement that waits until a comparison of a word holds."""
    name, holds = _comparison(call, comparison)
    values = [(raw, value_of_raw(raw, kind)) for raw in call.run.world.values_of(word)]
    wanted, _ = operand_of(encoded(call.arguments[value], kind), "what is waited for")
    limit = call.number(value, "what is waited for")
    if wanted == limit and all(raw == each and isinstance(raw, int) and is_short(raw) for raw, each in values):
        return ThreadStatement(f"await {{0}} {name} {{1}}", (word, limit), synchronises=ANY_KIND)
    good = [raw for raw, each in values if isinstance(each, int) and holds(each, limit)]
    form = " || ".join(f"{{0}} == {{{index + 1}}}" for index in range(len(good))) or "{0} != {0}"
    return ThreadStatement(f"await {form}", (word, *good), synchronises=ANY_KIND)


def _wait_until(call: CallContext, function: ShmemFunction, _context: ShmemContext) -> Result:
    word = _word(call, 0, 0, function.type)
    return call.step([_wait(call, word, 1, 2, function.type)])


def _old_wait(call: CallContext, function: ShmemFunction, context: ShmemContext) -> Result:
    """`shmem_wait`: until a word differs from a value."""
    call.arguments = [call.arguments[0], 2, call.arguments[1]]
    return _wait_until(call, function, context)


def _listed(call: CallContext, function: ShmemFunction) -> list[tuple[int, Word]]:
    """Return the elements of a list that are waited for, those whose status is zero, with their indices."""
    found: list[tuple[int, Word]] = []
    count, size = call.number(1, "the number of elements"), function.type.size
    for index in range(count):
        if call.arguments[2] == 0 or scalar_at_index(call, 2, index) == 0:
            found.append((index, _word(call, 0, index * size, function.type)))
    return found


def scalar_at_index(call: CallContext, address: int, index: int) -> Value:
    """Return an element of a private array of `int` that an argument points to."""
    name, offset = call.address(address, "the status of an element")
    return scalar_at(call.run, call.state, name, offset + 4 * index, CType("int", 4, True))


def _wait_until_all(call: CallContext, function: ShmemFunction, _context: ShmemContext) -> Result:
    found = [_wait(call, word, 3, 4, function.type) for _, word in _listed(call, function)]
    return call.step(found) if found else 0


def _wait_until_any(call: CallContext, function: ShmemFunction, _context: ShmemContext) -> Result:
    """One way for each element: the one that is found first."""
    steps: list[ThreadStep] = []
    for index, word in _listed(call, function):
        branch = call.branch(call.state)
        steps += branch.step([_wait(branch, word, 3, 4, function.type)], index)
    return steps or -1


def _look(call: CallContext, word: Word, kind: CType) -> tuple[ThreadStatement, Value]:
    register, raw = call.run.read_word(call.state, word, call.run.hint(call.frame, call.call.target) or "seen")
    read = read_statement(register, word)
    look = ThreadStatement(read.form, read.parts, register=register, synchronises=ANY_KIND)
    return look, map_one(raw, lambda each: value_of_raw(each, kind))


def _test(call: CallContext, function: ShmemFunction, _context: ShmemContext) -> Result:
    word = _word(call, 0, 0, function.type)
    _, holds = _comparison(call, 1)
    limit = call.number(2, "what is tested for")

    def tested(value: Scalar) -> Scalar:
        return int(holds(value, limit)) if isinstance(value, int) else UnknownValue("a test of an address")

    look, value = _look(call, word, function.type)
    return call.step([look], map_one(value, tested))


def _signal_fetch(call: CallContext) -> Result:
    look, value = _look(call, _word(call, 0, 0, _SIGNAL), _SIGNAL)
    return call.step([look], value)


def _signal_wait_until(call: CallContext) -> Result:
    word = _word(call, 0, 0, _SIGNAL)
    wait = _wait(call, word, 1, 2, _SIGNAL)
    look, value = _look(call, word, _SIGNAL)
    return call.step([wait, look], value)


def _wait_for_long(call: CallContext) -> Result:
    call.arguments = [call.arguments[0], 2, call.arguments[1]]
    word = _word(call, 0, 0, CType("int", 8, True))
    return call.step([_wait(call, word, 1, 2, CType("int", 8, True))])


WAITS: Final[Mapping[str, Callable[[CallContext, ShmemFunction, ShmemContext], Result]]] = {
    "wait_until": _wait_until,
    "wait_until_all": _wait_until_all,
    "wait_until_any": _wait_until_any,
    "wait": _old_wait,
    "test": _test,
}
SIGNALS: Final[Mapping[str, Handler]] = {
    "shmem_signal_fetch": _signal_fetch,
    "shmem_signal_wait_until": _signal_wait_until,
    "shmem_wait": _wait_for_long,
}
