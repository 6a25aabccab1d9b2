"""Sends and receives: their patterns as the checked program has them."""

from __future__ import annotations

from rdma_robust.errors import Span
from rdma_robust.expr import Const
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_program import IssueReceive, IssueSend, Place
from rdma_robust.messages.language.message_scope import NOTHING, Scope
from rdma_robust.messages.language.message_terms import Term


def issued_send(scope: Scope, line: tree.SendLine, request: Place, span: Span) -> IssueSend:
    """Return the issue of a send."""
    value, to = scope.term(line.value), scope.term(line.to)
    _check_process(scope, to, line.to)
    port = scope.port(line.port)
    tag = NOTHING if line.tag is None else scope.term(line.tag)
    _check_tag(scope, tag, line.tag)
    return IssueSend(request, value, to, port, tag, span)


def issued_receive(scope: Scope, line: tree.ReceiveLine, request: Place, span: Span) -> IssueReceive:
    """Return the issue of a receive."""
    target = scope.register(line.target)
    source, sender = _pattern(scope, line.source)
    _check_process(scope, source, line.source)
    port = scope.port(line.port)
    tag, which = _pattern(scope, line.tag)
    _check_tag(scope, tag, line.tag)
    return IssueReceive(request, target, source, port, tag, sender, which, span)


def _pattern(scope: Scope, part: tree.AnyOf | tree.Operand | None) -> tuple[Term | None, Place | None]:
    """Return what must be matched, None for anything, and where it is stored."""
    if part is None:
        return None, None
    if isinstance(part, tree.AnyOf):
        return None, None if part.stored is None else scope.register(part.stored)
    return scope.term(part), None


def _check_process(scope: Scope, term: Term | None, part: tree.AnyOf | tree.Operand | None) -> None:
    if not scope.strict or not isinstance(term, Const) or isinstance(part, tree.AnyOf) or part is None:
        return
    known = scope.world.processes
    if term.value < 0 or (known and term.value >= known):
        numbers = f"a number from 0 to {known - 1}" if known else "0 or more"
        scope.report.error("RR914", part.span, f"there is no process {term.value}", expected=numbers)


def _check_tag(scope: Scope, term: Term | None, part: tree.AnyOf | tree.Operand | None) -> None:
    if scope.strict and isinstance(term, Const) and term.value < 0 and not isinstance(part, tree.AnyOf) and part is not None:
        scope.report.error("RR915", part.span, f"the tag {term.value} is negative", expected="0 or more")
