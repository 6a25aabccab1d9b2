"""OpenSHMEM: waiting for a word of the own memory, and looking at it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import Pointer, Scalar, UnknownValue, Value, map_one, value_of_raw
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, as_number, encoded, scalar_at
from rdma_robust.c.evaluate.one_sided.spmd import reaches_others
from rdma_robust.c.evaluate.operations import ANY_KIND, ThreadStatement, ThreadStep, Word, operand_of, read_statement
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.shmem.contexts import ShmemContext
from rdma_robust.c.evaluate.spelling import is_short
from rdma_robust.c.libraries.openshmem import ShmemFunction
from rdma_robust.expr import COMPARISONS

_COMPARED: Final = {1: "==", 2: "!=", 3: ">", 4: "<=", 5: "<", 6: ">="}
"""What `SHMEM_CMP_EQ` and the others are in our header."""
_SIGNAL: Final = CType("int", 8, signed=False)
_LONG: Final = CType("int", 8, signed=True)
_INT: Final = CType("int", 4, signed=True)


def _comparison(call: CallContext, index: int) -> tuple[str, Callable[[int, int], bool]]:
    number = call.number(index, "the comparison")
    if number not in _COMPARED:
        raise Refusal("RR814", f"a comparison {number} is not known", "SHMEM_CMP_EQ and the like")
    return _COMPARED[number], COMPARISONS[_COMPARED[number]]


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


def _wait(call: CallContext, word: Word, comparison: int, value: Value, kind: CType) -> ThreadStatement:
    """Return the statement that waits until a comparison of a word with a value holds."""
    name, holds = _comparison(call, comparison)
    call.run.world.followed(word, "this wait")
    values = [(raw, value_of_raw(raw, kind)) for raw in call.run.world.values_of(word)]
    wanted, _ = operand_of(encoded(value, kind), "what is waited for")
    limit = as_number(value, "what is waited for")
    if wanted == limit and all(raw == each and isinstance(raw, int) and is_short(raw) for raw, each in values):
        return ThreadStatement(f"await {{0}} {name} {{1}}", (word, limit), synchronises=ANY_KIND)
    good = [raw for raw, each in values if isinstance(each, int) and holds(each, limit)]
    form = " || ".join(f"{{0}} == {{{index + 1}}}" for index in range(len(good))) or "{0} != {0}"
    return ThreadStatement(f"await {form}", (word, *good), synchronises=ANY_KIND)


def _wait_until(call: CallContext, function: ShmemFunction, _context: ShmemContext) -> Result:
    word = _word(call, 0, 0, function.type)
    return call.step([_wait(call, word, 1, call.arguments[2], function.type)])


def _old_wait(call: CallContext, function: ShmemFunction, context: ShmemContext) -> Result:
    """`shmem_wait`: until a word differs from a value."""
    call.arguments = [call.arguments[0], 2, call.arguments[1]]
    return _wait_until(call, function, context)


# lists of words


@dataclass(frozen=True, slots=True)
class _Element:
    """An element of a list that is waited for: its index, its word, and what it is compared with."""

    index: int
    word: Word
    value: Value


@dataclass(frozen=True, slots=True)
class _List:
    """The elements of a list whose status is zero; the argument that is the comparison, and the type of the elements."""

    elements: tuple[_Element, ...]
    comparison: int
    type: CType

    def wait(self, call: CallContext, each: _Element) -> ThreadStatement:
        """Return what waits for an element."""
        return _wait(call, each.word, self.comparison, each.value, self.type)

    def look(self, call: CallContext, at: int) -> tuple[ThreadStatement, Value]:
        """Return what looks at an element, by its place among these, and whether the comparison holds for it."""
        _, holds = _comparison(call, self.comparison)
        limit = as_number(self.elements[at].value, "what is tested for")
        look, value = _look(call, self.elements[at].word, self.type)
        return look, map_one(value, lambda each: _holds(holds, each, limit))


def _listed(call: CallContext, function: ShmemFunction, status: int = 2) -> _List:
    """Return the elements of a list: list, number of elements, `status`, comparison, and a value or one for each."""
    found: list[_Element] = []
    size, is_vector = function.type.size, function.operation.endswith("_vector")
    for index in range(call.number(1, "the number of elements")):
        if call.arguments[status] == 0 or _at_index(call, status, index, _INT) == 0:
            value = _at_index(call, status + 2, index, function.type) if is_vector else call.arguments[status + 2]
            found.append(_Element(index, _word(call, 0, index * size, function.type), value))
    return _List(tuple(found), status + 1, function.type)


def _at_index(call: CallContext, address: int, index: int, kind: CType) -> Value:
    """Return an element of a private array that an argument points to."""
    name, offset = call.address(address, "the status, or what is compared, of an element")
    return scalar_at(call.run, call.state, name, offset + kind.size * index, kind)


def _wait_until_all(call: CallContext, function: ShmemFunction, _context: ShmemContext) -> Result:
    found = _listed(call, function)
    waits = [found.wait(call, each) for each in found.elements]
    return call.step(waits) if waits else 0


def _wait_until_any(call: CallContext, function: ShmemFunction, _context: ShmemContext) -> Result:
    """One way for each element: the one that is found first."""
    found = _listed(call, function)
    steps: list[ThreadStep] = []
    for each in found.elements:
        branch = call.branch(call.state)
        steps += branch.step([found.wait(branch, each)], each.index)
    return steps or -1


def _test_all(call: CallContext, function: ShmemFunction, _context: ShmemContext) -> Result:
    """Look at one element after the other until a comparison does not hold; what is pending is how many did."""
    found = _listed(call, function)
    at = _pending(call)
    if at < 0 or at == len(found.elements):
        return int(at >= 0)
    look, holds = found.look(call, at)
    return call.stay([look], map_one(holds, lambda each: at + 1 if each else -1))


def _test_any(call: CallContext, function: ShmemFunction, _context: ShmemContext) -> Result:
    """Look at one element after the other, from any one on, until a comparison holds. What is pending is the first element
    and how many were looked at, or, below zero, the one that was found."""
    found = _listed(call, function)
    count = len(found.elements)
    if call.frame.pending is None:
        steps: list[ThreadStep] = []
        for first in range(count):
            branch = call.branch(call.state)
            steps += branch.stay([], first * (count + 1))
        return steps or -1
    pending = _pending(call)
    if pending < 0:
        return found.elements[-1 - pending].index
    first, seen = divmod(pending, count + 1)
    if seen == count:
        return -1
    at = (first + seen) % count
    look, holds = found.look(call, at)
    return call.stay([look], map_one(holds, lambda each: -1 - at if each else pending + 1))


def _some(is_waiting: bool) -> Callable[[CallContext, ShmemFunction, ShmemContext], Result]:
    """Look at all elements, again and again if none is found and it `is_waiting`. What is pending are bits: those that were
    found, and one behind those that were looked at."""

    def handler(call: CallContext, function: ShmemFunction, _context: ShmemContext) -> Result:
        found = _listed(call, function, 3)
        count, bits = len(found.elements), _pending(call) or 1
        at = bits.bit_length() - 1
        if at == count and (bits > 1 << count or not is_waiting or not count):
            chosen = [each.index for number, each in enumerate(found.elements) if bits >> number & 1]
            name, offset = call.address(2, "the indices")
            for number, index in enumerate(chosen):
                call.set_private(Pointer(name, offset + 8 * number), 8, index, "the indices")
            return len(chosen)
        if at == count:
            bits, at = 1, 0
        look, holds = found.look(call, at)
        seen = bits ^ 1 << at | 1 << at + 1
        return call.stay([look], map_one(holds, lambda each: seen | 1 << at if each else seen))

    return handler


def _pending(call: CallContext) -> int:
    """Return what a call that takes several steps has found so far, 0 at its first."""
    return 0 if call.frame.pending is None else as_number(call.frame.pending, "what was found")


def _holds(holds: Callable[[int, int], bool], value: Scalar, limit: int) -> Scalar:
    return int(holds(value, limit)) if isinstance(value, int) else UnknownValue("a test of an address")


def _look(call: CallContext, word: Word, kind: CType) -> tuple[ThreadStatement, Value]:
    register, raw = call.run.read_word(call.state, word, call.run.hint(call.frame, call.call.target) or "seen")
    read = read_statement(register, word)
    look = ThreadStatement(read.form, read.parts, register=register, synchronises=ANY_KIND)
    return look, map_one(raw, lambda each: value_of_raw(each, kind))


def _test(call: CallContext, function: ShmemFunction, _context: ShmemContext) -> Result:
    word = _word(call, 0, 0, function.type)
    _, holds = _comparison(call, 1)
    limit = call.number(2, "what is tested for")
    look, value = _look(call, word, function.type)
    return call.step([look], map_one(value, lambda each: _holds(holds, each, limit)))


def _signal_fetch(call: CallContext) -> Result:
    look, value = _look(call, _word(call, 0, 0, _SIGNAL), _SIGNAL)
    return call.step([look], value)


def _signal_wait_until(call: CallContext) -> Result:
    word = _word(call, 0, 0, _SIGNAL)
    wait = _wait(call, word, 1, call.arguments[2], _SIGNAL)
    look, value = _look(call, word, _SIGNAL)
    return call.step([wait, look], value)


def _wait_for_long(call: CallContext) -> Result:
    call.arguments = [call.arguments[0], 2, call.arguments[1]]
    word = _word(call, 0, 0, _LONG)
    return call.step([_wait(call, word, 1, call.arguments[2], _LONG)])


WAITS: Final[Mapping[str, Callable[[CallContext, ShmemFunction, ShmemContext], Result]]] = {
    "wait_until": _wait_until,
    **dict.fromkeys(("wait_until_all", "wait_until_all_vector"), _wait_until_all),
    **dict.fromkeys(("wait_until_any", "wait_until_any_vector"), _wait_until_any),
    **dict.fromkeys(("wait_until_some", "wait_until_some_vector"), _some(is_waiting=True)),
    **dict.fromkeys(("test_all", "test_all_vector"), _test_all),
    **dict.fromkeys(("test_any", "test_any_vector"), _test_any),
    **dict.fromkeys(("test_some", "test_some_vector"), _some(is_waiting=False)),
    "wait": _old_wait,
    "test": _test,
}
SIGNALS: Final[Mapping[str, Handler]] = {
    "shmem_signal_fetch": _signal_fetch,
    "shmem_signal_wait_until": _signal_wait_until,
    "shmem_wait": _wait_for_long,
}
