"""What a thread asks of another node besides to copy a word: atomic operations, and to wait for all that is under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rdma_robust.expr import TRUE, VALUE, Binary, Expr, equals
from rdma_robust.language.check.accesses import Lowered
from rdma_robust.language.check.threads import Access, Resolved
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast, printer

if TYPE_CHECKING:
    from rdma_robust.language.check.statements import StatementChecker


def flush(checker: StatementChecker, statement: ast.Flush, name: ast.Ident) -> Lowered:
    """Return the steps of `flush NODE`."""
    node = checker.queue_pair(name)
    if node is None:
        return Lowered()
    checker.report.leave_to_proofs(
        "RR406",
        statement.span,
        f"`flush` is not decided by `check` yet: write `get scrap = {node.name}.any` and poll it",
        hint="`prove` decides it",
    )
    return checker.lowering(statement).plain(cfg.Flush(node.name))


def atomic(checker: StatementChecker, statement: ast.Get, call: ast.AtomicCall) -> Lowered:
    """Return the steps of `get x = cas(NODE.y, e, f)`, or with `faa` or `swap`."""
    word = "cas" if isinstance(call, ast.CasCall) else call.kind
    operands = [call.expected, call.new] if isinstance(call, ast.CasCall) else [call.value]
    target = checker.own_cell(statement.target, "`get` writes to a variable of this node")
    source = checker.remote_cell(call.target, statement)
    values = []
    for operand in operands:
        value = checker.names.private(operand, f"the operands of a remote `{word}` are handed over when it is posted")
        checker.names.warn_outside(value.expr, operand.span)
        values.append(value)
    if word == "faa" and checker.world.has_domain:
        checker.report.error(
            "RR409",
            call.span,
            "a remote `faa` in a program with a domain: no card checks that the sum is in it",
            hint="leave the `domain` out; `prove` takes all integers",
        )
    checker.report.leave_to_proofs(
        "RR407", call.span, f"a remote `{word}` is not decided by `check` yet", hint="`prove --model rma` decides it"
    )
    if target is None or source is None:
        return Lowered()
    texts = list(zip(values, map(printer.expression, operands), strict=True))
    return _steps(checker, statement, (target, source), word, texts)


def _steps(
    checker: StatementChecker,
    statement: ast.Get,
    places: tuple[Access, Access],
    word: str,
    operands: list[tuple[Resolved, str]],
) -> Lowered:
    values = [value.expr for value, _ in operands]
    change: tuple[Expr, Expr]
    match word:
        case "cas":
            change = values[1], equals(VALUE, values[0])
        case "faa":
            change = Binary("+", VALUE, values[0]), TRUE
        case _:
            change = values[0], TRUE
    return checker.lowering(statement).remote_rmw(*places, change, operands)
