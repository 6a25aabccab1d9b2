"""What is known of expressions of contracts before anything is evaluated."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.contracts.language import spec_terms as spec
from rdma_robust.expr import OPERATORS


def known_value(term: spec.Spec) -> int | None:
    """Return the number that an expression is worth in every state, None if nothing is known or it has a fault."""
    match term:
        case spec.SpecNumber(value):
            return value
        case spec.Apply("?", (test, then, other)):
            known = known_value(test)
            return None if known is None else known_value(then if known else other)
        case spec.Apply("&&" | "||" | "==>" as op, (left, right)):
            return _known_truth(op, known_value(left), known_value(right))
        case spec.Apply(op, (operand,)):
            known = known_value(operand)
            return None if known is None else -known if op == "-" else int(not known)
        case spec.Apply(op, (left, right)):
            first, second = known_value(left), known_value(right)
            if first is None or second is None or (op in "/%" and second == 0):
                return None
            return OPERATORS[op](first, second)
        case _:
            return None


def _known_truth(op: str, left: int | None, right: int | None) -> int | None:
    if left is None:
        return None
    stops = {"&&": not left, "||": bool(left), "==>": not left}[op]
    if stops:
        return int(op != "&&")
    return None if right is None else int(bool(right))


def inner_specs(term: spec.Spec) -> tuple[spec.Spec, ...]:
    """Return the expressions directly inside of one."""
    match term:
        case spec.Apply(_, operands):
            return operands
        case spec.Item(first, second) | spec.On(first, second) | spec.LetBinding(_, first, second):
            return (first, second)
        case spec.LengthOf(inner) | spec.NewArray(inner) | spec.OldValue(inner) | spec.Agree(inner):
            return (inner,)
        case spec.Quantification(_, _, low, high, inner):
            return (low, high, inner)
        case _:
            return ()


def specs_in(term: spec.Spec) -> Iterator[spec.Spec]:
    """Yield an expression and all inside of it."""
    stack = [term]
    while stack:
        part = stack.pop()
        yield part
        stack += inner_specs(part)


def spec_conjuncts(term: spec.Spec) -> list[spec.Spec]:
    """Return the expressions that `&&` joins."""
    if isinstance(term, spec.Apply) and term.op == "&&":
        return [part for each in term.operands for part in spec_conjuncts(each)]
    return [term]


def sees_the_exit(term: spec.Spec) -> bool:
    """Whether an expression of `ensures` has a part that is looked at in the state after the call."""
    match term:
        case spec.FunctionResult() | spec.Global():
            return True
        case spec.OldValue():
            return False
        case _:
            return any(map(sees_the_exit, inner_specs(term)))
