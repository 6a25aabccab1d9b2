"""What a thread asks of another node besides to copy a word: atomic operations, and to wait for all that is under way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rdma_robust.expr import TRUE, VALUE, Binary, Expr, equals, negate
from rdma_robust.language.check import posting
from rdma_robust.language.check.accesses import Lowered
from rdma_robust.language.check.meaning import in_domain, wrapped
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


def atomic(checker: StatementChecker, statement: ast.Get, call: ast.AtomicCall, words: posting.Words) -> Lowered:
    """Return the steps of `get x = cas(NODE.y, e, f)`, or with `faa` or `swap`, made as `words` say."""
    word = "cas" if isinstance(call, ast.CasCall) else call.kind
    operands = [call.expected, call.new] if isinstance(call, ast.CasCall) else [call.value]
    target = checker.own_cell(statement.target, "`get` writes to a variable of this node")
    source = checker.remote_cell(call.target, statement)
    values = []
    for operand in operands:
        value = checker.names.private(operand, f"the operands of a remote `{word}` are handed over when it is posted")
        checker.names.warn_outside(value.expr, operand.span)
        values.append(value)
    if word == "faa":
        checker.names.require_domain(call, word)
    if target is None or source is None:
        return Lowered()
    node, signaled = source.variable.node, "unsignaled" not in words
    checker.thread.posts(node, signaled, statement.span)
    texts = list(zip(values, map(printer.expression, operands), strict=True))
    change = _change(checker, call, word, [value.expr for value in values])

    def make(to: cfg.Cell, of: cfg.Cell) -> cfg.RemoteRmw:
        return cfg.RemoteRmw(to, of, change.new, change.when, signaled, change.wraps)

    written = None if word == "faa" else texts[-1]
    lowered = checker.lowering(statement).remote_rmw((target, source), make, texts, written)
    return posting.fenced(checker, statement, node, words, lowered)


@dataclass(frozen=True, slots=True)
class _Change:
    """What an atomic operation writes, when, and when that starts again at the other end of the domain."""

    new: Expr
    when: Expr = TRUE
    wraps: tuple[Expr, cfg.Fault] | None = None


def _change(checker: StatementChecker, call: ast.AtomicCall, word: str, values: list[Expr]) -> _Change:
    match word:
        case "cas":
            return _Change(values[1], equals(VALUE, values[0]))
        case "swap":
            return _Change(values[0])
    sum_ = Binary("+", VALUE, values[0])
    domain = checker.world.domain
    if domain is None:
        return _Change(sum_)
    low, high = domain
    text = printer.expression(call)
    message = f"`{text}` leaves the domain {low}..{high} and goes on at its other end"
    fault = cfg.Fault("overflow", message, checker.report.at(call.span), checker.report.written(call.span))
    return _Change(wrapped(sum_, domain), TRUE, (negate(in_domain(sum_, domain)), fault))
