"""Atomic operations and fences of the processor: of C11, of gcc, and of the intrinsics of x86.

The front end makes functions of them: `__rr_load(p, size, order)`, `__rr_store(p, size, v, order)`, `__rr_exchange`,
`__rr_fetch_add` and `__rr_fetch_or` likewise, `__rr_compare_exchange(p, size, expected, v, order)`, `__rr_fence(order)`.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import and_, or_, xor

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import Object, Scalar, UnknownValue, Value, canonical, known_scalar, map_one, map_two
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result, as_number, encoded, given
from rdma_robust.c.evaluate.operations import (
    FENCE,
    RegisterUse,
    ThreadStatement,
    ThreadStep,
    Word,
    operand_of,
    read_statement,
)
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.c.evaluate.round_facts import World
from rdma_robust.c.evaluate.spelling import is_short
from rdma_robust.c.front.live_registers import is_dropped

SEQ_CST = 5


def _type(size: int) -> CType:
    return CType("int", size, atomic=False, volatile=True)


def _load(call: CallContext) -> Result:
    name, offset = call.address(0, "this read")
    kind = _type(call.number(1, "the size of this atomic"))
    hint = call.run.hint(call.frame, call.call.target)
    value, operations = call.run.load(call.state, call.frame, name, offset, kind=kind, hint=hint)
    return call.step(operations, value) if operations else value


def _store(call: CallContext) -> Result:
    name, offset = call.address(0, "this write")
    kind = _type(call.number(1, "the size of this atomic"))
    operations = call.run.store(call.state, call.frame, name, offset, kind=kind, value=call.arguments[2])
    if operations and call.number(3, "the order of this atomic") == SEQ_CST:
        operations.append(FENCE)
    return call.step(operations) if operations else 0


def _fence(call: CallContext) -> Result:
    order = call.number(0, "the order of this fence")
    return call.step([FENCE]) if order == SEQ_CST and call.state.is_set_up else 0


def _full_fence(call: CallContext) -> Result:
    return call.step([FENCE]) if call.state.is_set_up else 0


def _target(call: CallContext, index: int, size: int) -> tuple[Object, int, Word | None]:
    """Return what an atomic changes, with its word if others see that."""
    run = call.run
    name, offset = run.address(call.arguments[index], "this atomic")
    run.note(call.state, name, offset, size, is_write=True)
    run.own(name, "change")
    if not run.is_visible(call.state, name, offset, size):
        return name, offset, None
    word = run.one_word(name, offset, size, "atomic")
    run.kind_of_access(word, _type(size))
    return name, offset, word


def possible_sums(world: World, word: Word, added: tuple[Scalar, ...]) -> list[Scalar]:
    """Return what a word may hold after an addition. Raises RR820 where the sum leaves its bytes.

    What RR_VALUES leaves out is left out: the domain of the program ends the run there.
    """
    found: list[Scalar] = []
    lost: list[Scalar] = [each for each in (*world.values_of(word), *added) if isinstance(each, UnknownValue)]
    if lost:
        return lost[:1]
    for value in world.values_of(word):
        for each in added:
            if not isinstance(value, int) or not isinstance(each, int):
                raise Refusal("RR814", "an addition to an address in shared memory is not modelled")
            if not is_short(value) or not is_short(value + each):
                raise Refusal("RR814", "an addition to a number of more than 18 digits in shared memory is not modelled")
            if canonical(value + each, word.size) != value + each:
                raise Refusal(
                    "RR820", f"the sum {value + each} goes around in the {word.size} bytes of `{word.object.name}`"
                )
            found.append(value + each)
    return [each for each in found if world.is_within(each)]


def _changed(is_swap: bool = False, is_negative: bool = False) -> Handler:
    """An exchange, or an addition."""

    def handler(call: CallContext) -> Result:
        size = call.number(1, "the size of this atomic")
        name, offset, word = _target(call, 0, size)
        value = map_one(call.arguments[2], lambda x: -x if is_negative and isinstance(x, int) else x)
        raw = encoded(value, _type(size))
        if word is not None:
            return _visible_rmw(call, word, raw, is_swap)
        old = call.run.raw_read(call.state, name, offset, size)
        new = raw if is_swap else map_two(old, raw, lambda x, y: _sum(x, y, size))
        call.run.raw_write(call.state, name, offset, size, new)
        return old

    return handler


def _refused(call: CallContext) -> Result:
    what = call.name.removeprefix("__rr_").replace("_", "-and-")
    raise Refusal("RR814", f"{what} is not modelled", "fetch-and-add, exchange and compare-and-swap are")


def _visible_rmw(call: CallContext, word: Word, raw: Value, is_swap: bool) -> list[ThreadStep]:
    operand, values = operand_of(raw, "the operand of this atomic")
    register, old = call.run.read_word(call.state, word, call.run.hint(call.frame, call.call.target) or "old")
    written = list(values) if is_swap else possible_sums(call.run.world, word, values)
    call.run.world.computed(word, written)
    form = f"{{0}} = {'swap' if is_swap else 'faa'}({{1}}, {{2}})"
    parts = (RegisterUse(register), word, operand)
    return call.step([ThreadStatement(form, parts, tuple((word, value) for value in written), register=register)], old)


def _bitwise(change: Callable[[int, int], int]) -> Handler:
    """An atomic that changes bits. If its value is used it is a loop of compare-and-swaps behind a read, as on x86.

    Else it is one locked operation, that is a compare-and-swap for each value that the word may hold, of which one succeeds.
    What a run has done before another one that fails, it does before the one that succeeds there, too.
    """

    def handler(call: CallContext) -> Result:
        size = call.number(1, "the size of this atomic")
        name, offset, word = _target(call, 0, size)
        by = encoded(call.arguments[2], _type(size))
        if word is None:
            old = call.run.raw_read(call.state, name, offset, size)
            call.run.raw_write(call.state, name, offset, size, map_two(old, by, lambda x, y: _bits(change, x, y, size)))
            return old
        if is_dropped(call.frame.function.code, call.call.target):
            return _locked_change(call, word, lambda old: _bits(change, old, known_scalar(by), size))
        return _loop_of_swaps(call, word, lambda old: _bits(change, old, known_scalar(by), size))

    return handler


def _bits(change: Callable[[int, int], int], old: Scalar, by: Scalar, size: int) -> Scalar:
    lost = next((each for each in (old, by) if isinstance(each, UnknownValue)), None)
    if lost is not None:
        return lost
    if not isinstance(old, int) or not isinstance(by, int):
        raise Refusal("RR814", "bits of an address in shared memory are not modelled")
    return canonical(change(old, by), size)


def _locked_change(call: CallContext, word: Word, change: Callable[[Scalar], Scalar]) -> list[ThreadStep]:
    """One way for each value that the word may hold. One whose values are not followed takes a value that is not either."""
    lost = call.run.world.unfollowed(word)
    if lost is not None:
        return _visible_rmw(call, word, lost, is_swap=True)
    steps: list[ThreadStep] = []
    for old in call.run.world.values_of(word):
        branch = call.branch(call.state)
        swap, _ = compare_and_swap(branch, word, old, change(old))
        steps += branch.step([swap, ThreadStatement("assume {0} == {1}", (RegisterUse(swap.register), old))])
    return steps


def _loop_of_swaps(call: CallContext, word: Word, change: Callable[[Scalar], Scalar]) -> Result:
    """What is pending is twice the value that the word had, and one more once it was changed."""
    call.run.world.followed(word, "this atomic")
    if call.frame.pending is None:
        register, value = call.run.read_word(call.state, word, call.run.hint(call.frame, call.call.target) or "old")
        return call.stay([read_statement(register, word)], map_one(value, _twice))
    found = as_number(call.frame.pending, "what this atomic changes")
    expected = found // 2
    if found % 2:
        return expected
    swap, value = compare_and_swap(call, word, expected, change(expected))
    return call.stay([swap], map_one(value, lambda each: _twice(each, each == expected)))


def _twice(value: Scalar, is_done: bool = False) -> Scalar:
    if not isinstance(value, int):
        raise Refusal("RR814", "bits of an address in shared memory are not modelled")
    return 2 * value + is_done


def _sum(left: Scalar, right: Scalar, size: int) -> Scalar:
    if isinstance(left, int) and isinstance(right, int):
        return canonical(left + right, size)
    return left if not isinstance(left, int) else right


def _cas(call: CallContext) -> Result:
    size = call.number(1, "the size of this atomic")
    name, offset, word = _target(call, 0, size)
    expected = known_scalar(call.private(call.arguments[2], size, "what is expected"))
    new = encoded(call.arguments[3], _type(size))
    if word is None:
        old = known_scalar(call.run.raw_read(call.state, name, offset, size))
        if old == expected:
            call.run.raw_write(call.state, name, offset, size, new)
            return 1
        call.set_private(call.arguments[2], size, old, "what is expected")
        return 0
    operation, old_value = compare_and_swap(call, word, expected, known_scalar(new))
    call.set_private(call.arguments[2], size, old_value, "what is expected")
    return call.step([operation], map_one(old_value, lambda x: int(x == expected)))


def compare_and_swap(call: CallContext, word: Word, expected: Scalar, new: Scalar) -> tuple[ThreadStatement, Value]:
    """Return a compare-and-swap by the processor, and the old value."""
    first, _ = operand_of(expected, "what is expected")
    second, values = operand_of(new, "the operand of this atomic")
    call.run.world.followed(word, "this compare-and-swap")
    register, old = call.run.read_word(call.state, word, "old")
    if expected not in call.run.world.values_of(word):
        values = ()
    call.run.world.computed(word, values)
    parts = (RegisterUse(register), word, first, second)
    written = tuple((word, value) for value in values)
    return ThreadStatement("{0} = cas({1}, {2}, {3})", parts, written, register=register), old


ATOMICS: dict[str, Handler] = {
    "__rr_load": _load,
    "__rr_store": _store,
    "__rr_fence": _fence,
    "__rr_exchange": _changed(is_swap=True),
    "__rr_fetch_add": _changed(),
    "__rr_fetch_sub": _changed(is_negative=True),
    "__rr_compare_exchange": _cas,
    "__rr_fetch_and": _bitwise(and_),
    "__rr_fetch_or": _bitwise(or_),
    "__rr_fetch_xor": _bitwise(xor),
    "__rr_fetch_nand": _refused,
    **dict.fromkeys(("_mm_mfence", "__sync_synchronize", "__rr_full_fence"), _full_fence),
    **dict.fromkeys(("_mm_sfence", "_mm_lfence", "_mm_pause", "__builtin_ia32_pause", "__rr_compiler_fence"), given(0)),
}
