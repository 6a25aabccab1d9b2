"""The functions of rdma_robust.h: what each means to evaluation."""

from __future__ import annotations

from rdma_robust.c.code import CType
from rdma_robust.c.evaluate.c_values import (
    CaseSplit,
    Scalar,
    Symbolic,
    UnknownValue,
    Value,
    known_scalar,
    symbolic,
    truth,
    value_of_raw,
)
from rdma_robust.c.evaluate.calls import CallContext, Handler, Result
from rdma_robust.c.evaluate.operations import FAILED, SET_ASIDE, RegisterUse, ThreadStatement, ThreadStep
from rdma_robust.c.evaluate.refused_code import Refusal
from rdma_robust.expr import COMPARISONS, OPERATORS


def _export(call: CallContext) -> Result:
    key, value = call.text(0), known_scalar(call.arguments[1])
    if isinstance(value, UnknownValue):
        raise Refusal("RR819", f'RR_EXPORT("{key}") depends on {value.reason}, which is not known here')
    before = call.run.world.found.exports.setdefault(key, value)
    if before != value:
        raise Refusal("RR844", f'RR_EXPORT("{key}") has different values on different ways', "a key for each")
    return 0


def _import(call: CallContext) -> Result:
    key = call.text(0)
    exported = call.run.world.known.exports
    return exported[key] if key in exported else UnknownValue(f'RR_IMPORT("{key}"), which nobody has exported')


def _start(call: CallContext) -> Result:
    call.run.world.end_set_up(call.run.process, call.state)
    return 0


def decided(value: Value, what: str) -> bool:
    """Return whether a value is true; raises :class:`Split` where that depends on a register, RR819 where it is unknown."""
    if isinstance(value, Symbolic):
        ways: dict[bool, set[Scalar]] = {}
        for raw, each in value.cases:
            ways.setdefault(_known_truth(each, what), set()).add(raw)
        if len(ways) > 1:
            raise CaseSplit(value.register, [frozenset(raws) for raws in ways.values()])
        return next(iter(ways))
    return _known_truth(value, what)


def _known_truth(value: Scalar, what: str) -> bool:
    found = truth(value)
    if isinstance(found, UnknownValue):
        raise Refusal("RR819", f"{what} depends on {found.reason}, which is not known here")
    return found


def _assume(call: CallContext) -> Result:
    value = call.arguments[0]
    if isinstance(value, UnknownValue):
        call.run.world.remark("RR846", f"RR_ASSUME holds, although it depends on {value.reason}", call.chain)
        return 0
    if decided(value, "RR_ASSUME"):
        return 0
    return [ThreadStep((SET_ASIDE,), call.chain, None)]


def _assert(call: CallContext) -> Result:
    return 0 if decided(call.arguments[0], "RR_ASSERT") else call.step([FAILED])


def _await(call: CallContext) -> Result:
    """Wait for a word, once: a step that is there where the comparison holds."""
    run, (name, offset) = call.run, call.address(0, "the word that is waited for")
    size, comparison, wanted = call.number(1, "the size of a word"), call.text(2), call.number(3, "what is waited for")
    if comparison not in COMPARISONS:
        raise Refusal("RR814", f"`{comparison}` compares nothing", "one of == != < <= > >=")
    run.own(name, "wait for")
    run.world.share(name, offset, size)
    word, kind = run.one_word(name, offset, size, "wait"), CType("int", size, signed=True)
    run.world.found.by_processor[word.object].add(word)
    run.world.found.watched.add(word)
    run.world.followed(word, "this wait")
    values = ((raw, value_of_raw(raw, kind)) for raw in run.world.values_of(word))
    good = [raw for raw, each in values if isinstance(each, int) and OPERATORS[comparison](each, wanted)]
    form = " || ".join(f"{{0}} == {{{index + 1}}}" for index in range(len(good))) or "{0} != {0}"
    keyword = "assume" if call.number(4, "the kind of a wait") else "await"
    return call.step([ThreadStatement(f"{keyword} {form}", (word, *good))])


def _ignore(call: CallContext) -> Result:
    name, _ = call.address(0, "RR_IGNORE")
    call.run.world.found.ignored.add(name)
    return 0


def _values(call: CallContext) -> Result:
    limits = call.number(0, "RR_VALUES"), call.number(1, "RR_VALUES")
    world = call.run.world
    if world.found.limits not in (None, limits) or limits[0] > limits[1]:
        raise Refusal("RR820", "RR_VALUES is said twice, or its range is empty", "one range for all words of a program")
    world.found.limits = limits
    world.remark("RR846", f"a thread ends where it would write a value that is not within {limits[0]}..{limits[1]}")
    return 0


def _input(call: CallContext) -> Result:
    low, high = call.number(0, "RR_INPUT"), call.number(1, "RR_INPUT")
    if not 0 <= high - low < call.run.world.options.values:
        raise Refusal("RR820", f"RR_INPUT has {max(high - low + 1, 0)} values")
    register = call.run.new_register(call.state, call.run.hint(call.frame, call.call.target) or "input")
    operation = ThreadStatement("{0} = nondet({1}, {2})", (RegisterUse(register), low, high), register=register)
    return call.step([operation], symbolic(register, [(value, value) for value in range(low, high + 1)]))


ANNOTATIONS: dict[str, Handler] = {
    "__rr_export": _export,
    "__rr_import": _import,
    "__rr_start": _start,
    "__rr_assume": _assume,
    "__rr_assert": _assert,
    "__rr_await": _await,
    "__rr_ignore": _ignore,
    "__rr_values": _values,
    "__rr_input": _input,
}
