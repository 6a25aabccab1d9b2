"""Evaluation of expressions in a replay: an evaluator of its own, so that a mistake in another one shows."""

from __future__ import annotations

from collections.abc import Mapping

from rdma_robust.expr import Const, Name
from rdma_robust.messages.language.message_terms import LONGEST, Element, FaultError, Length, Operation, Term, Value, Zeros


def replay_value(term: Term, registers: Mapping[str, Value]) -> Value:
    """Return the value of `term`, evaluated from left to right. Raises FaultError."""
    if isinstance(term, Const):
        return term.value
    if isinstance(term, Name):
        return registers[term.name]
    if isinstance(term, Element):
        items, at = replay_value(term.array, registers), replay_value(term.index, registers)
        if not isinstance(items, tuple) or not isinstance(at, int):
            raise FaultError("kind")
        if at < 0 or at >= len(items):
            raise FaultError("index")
        return items[at]
    if isinstance(term, Length):
        items = replay_value(term.array, registers)
        if not isinstance(items, tuple):
            raise FaultError("kind")
        return len(items)
    if isinstance(term, Zeros):
        size = replay_number(term.size, registers)
        if size < 0 or size > LONGEST:
            raise FaultError("length")
        return (0,) * size
    return _operation(term, registers)


def replay_number(term: Term, registers: Mapping[str, Value]) -> int:
    """Return the value of `term`, which must be a number. Raises FaultError."""
    value = replay_value(term, registers)
    if not isinstance(value, int):
        raise FaultError("kind")
    return value


def replay_size(value: Value) -> int:
    """Return how many numbers a value has."""
    return 1 if isinstance(value, int) else sum(replay_size(each) for each in value)


def _operation(term: Operation, registers: Mapping[str, Value]) -> Value:
    first = replay_number(term.operands[0], registers)
    if len(term.operands) == 1:
        if term.op == "-":
            return -first
        return 1 if first == 0 else 0
    if term.op == "?":
        return replay_value(term.operands[1] if first != 0 else term.operands[2], registers)
    if term.op == "&&" and first == 0:
        return 0
    if term.op == "||" and first != 0:
        return 1
    return _binary(term.op, first, replay_number(term.operands[1], registers))


def _binary(op: str, first: int, second: int) -> int:
    if op in ("/", "%"):
        if second == 0:
            raise FaultError("division")
        quotient = abs(first) // abs(second)
        if (first < 0) != (second < 0):
            quotient = -quotient
        return quotient if op == "/" else first - second * quotient
    if op in ("+", "-"):
        return first + second if op == "+" else first - second
    if op == "*":
        return first * second
    true = {
        "==": first == second,
        "!=": first != second,
        "<": first < second,
        "<=": first <= second,
        ">": first > second,
        ">=": first >= second,
        "&&": second != 0,
        "||": second != 0,
    }[op]
    return 1 if true else 0


def with_replacement(value: Value, indices: tuple[int, ...], new: Value) -> Value:
    """Return `value` with `new` at these indices. Raises FaultError."""
    if not indices:
        return new
    if not isinstance(value, tuple):
        raise FaultError("kind")
    at = indices[0]
    if at < 0 or at >= len(value):
        raise FaultError("index")
    items = list(value)
    items[at] = with_replacement(items[at], indices[1:], new)
    return tuple(items)
