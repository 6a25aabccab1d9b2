"""`x = nondet(low, high)` and `x = nondet()`: some value, as alternatives where there are few."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rdma_robust.diagnose import quote
from rdma_robust.expr import Const, Name
from rdma_robust.language.check.accesses import Lowered
from rdma_robust.language.check.names import Constant, Register, Variable
from rdma_robust.language.check.threads import Named, Resolved
from rdma_robust.language.syntax import ast, printer

if TYPE_CHECKING:
    from rdma_robust.language.check.statements import StatementChecker

MAX_ALTERNATIVES: Final = 64
"""The most values that become a step each; of more, or of values that only a run knows, nothing but proofs can be made."""


HIDDEN: Final = "$chosen"
"""No name that a program can have."""


def nondet(checker: StatementChecker, statement: ast.Assign, found: Named | None, call: ast.NondetCall) -> Lowered:
    """Return the steps of a statement that gives `found`, what its target stands for, any value of a range."""
    bounds = _bounds(checker, call)
    match found:
        case Register():
            checker.names.no_index(statement.target)
        case Constant(name):
            checker.report.error("RR216", statement.target.span, f"{quote(name)} is a constant, it cannot be assigned")
            return Lowered()
        case None:
            return Lowered()
    numbers = [bound.expr.value for bound in bounds if bound is not None and isinstance(bound.expr, Const)]
    if len(numbers) == 2:
        low, high = numbers
        if low > high:
            checker.report.error(
                "RR311", call.span, f"there is no value from {low} to {high}", expected="the smaller bound first"
            )
            return Lowered()
        if high - low < MAX_ALTERNATIVES:
            return _alternatives(checker, statement, found, range(low, high + 1))
    elif bounds[0] is None and checker.world.domain is not None:
        low, high = checker.world.domain
        bounds = (Resolved(Const(low), None, call.span), Resolved(Const(high), None, call.span))
        if high - low < MAX_ALTERNATIVES:
            return _alternatives(checker, statement, found, range(low, high + 1))
    checker.report.leave_to_proofs(
        "RR312",
        call.span,
        f"`nondet` of more than {MAX_ALTERNATIVES} values, or of bounds that are no constants, is left to `prove`",
        hint=f"`nondet(0, 3)` has few values; up to {MAX_ALTERNATIVES} are decided",
    )
    return _chosen(checker, statement, found, call, bounds)


def _bounds(checker: StatementChecker, call: ast.NondetCall) -> tuple[Resolved | None, Resolved | None]:
    found: list[Resolved | None] = []
    for bound in (call.low, call.high):
        if bound is None:
            found.append(None)
            continue
        value = checker.names.private(bound, "the bounds of `nondet` are made of registers and constants")
        checker.names.warn_outside(value.expr, bound.span)
        found.append(value)
    return found[0], found[1]


def _alternatives(checker: StatementChecker, statement: ast.Assign, found: Register | Variable, values: range) -> Lowered:
    """Return a step for each value; those of one value leave the domain if the value does."""
    result = Lowered()
    for value in values:
        resolved, text = Resolved(Const(value), None, statement.value.span), str(value)
        lowering = checker.lowering(statement)
        if isinstance(found, Register):
            made = lowering.assign(found.name, resolved, text)
        else:
            made = lowering.write(checker.names.access(statement.target, found), resolved, text)
        result.then += made.then
        result.faults += made.faults
    return result


def _chosen(
    checker: StatementChecker,
    statement: ast.Assign,
    found: Register | Variable,
    call: ast.NondetCall,
    bounds: tuple[Resolved | None, Resolved | None],
) -> Lowered:
    """Return a step that chooses; for a variable a second one that writes what a hidden register holds meanwhile."""
    texts = tuple("" if bound is None else printer.expression(bound) for bound in (call.low, call.high))
    register = found.name if isinstance(found, Register) else _hidden(checker)
    chosen = checker.lowering(statement).nondet(register, *bounds, (texts[0], texts[1]))
    if isinstance(found, Register):
        return chosen
    value = Resolved(Name(register), None, call.span)
    made = checker.lowering(statement).write(checker.names.access(statement.target, found), value, register)
    return replace(made, before=chosen)


def _hidden(checker: StatementChecker) -> str:
    """Return the register that holds what is chosen until it is written; a thread has one."""
    checker.thread.hidden = {HIDDEN: Register(HIDDEN, 0, checker.thread.span, used=True)}
    return HIDDEN
