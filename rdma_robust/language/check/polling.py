"""What a thread waits for: completions of what it handed to its network card, and messages."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import TYPE_CHECKING

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.expr import VALUE, Const, Expr
from rdma_robust.language.check import advice, posting
from rdma_robust.language.check.accesses import Lowered
from rdma_robust.language.check.names import Register, ThreadNames, World
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import first_line

if TYPE_CHECKING:
    from rdma_robust.language.check.statements import StatementChecker

_Way = list[tuple[cfg.Op, tuple[tuple[str, Expr], ...]]]
"""Operations one after the other, each with what it assigns."""


def poll(checker: StatementChecker, statement: ast.Poll) -> Lowered:
    """Return the steps of `poll NODE`, one for each completion that it takes."""
    node = checker.queue_pair(statement.node)
    times = 1 if statement.count is None else _count(checker, statement.count)
    checker.thread.polls.append((statement.node, statement.span))
    if node is None or times is None:
        return Lowered()
    if times == 1:
        return checker.lowering(statement).plain(cfg.Poll(node.name))
    return checker.lowering(statement).chains([repeat((cfg.Poll(node.name), ()), times)])


def _count(checker: StatementChecker, count: ast.Expr) -> int | None:
    value = checker.names.private(count, "how often is polled is a constant").expr
    expected = "a constant of at least 1"
    if not isinstance(value, Const):
        message = "how often is polled is a constant"
    elif value.value > cfg.MAX_STEPS:
        expected = f"at most {cfg.MAX_STEPS:,}: each is a step of the control-flow graph"
        message = f"{value.value:,} polls are too many"
    elif value.value > 0:
        return value.value
    else:
        message = f"{value.value} completions cannot be waited for"
    checker.report.error("RR414", first_line(count.span), message, expected=expected)
    return None


def poll_any(checker: StatementChecker, statement: ast.PollAny) -> Lowered:
    """Return the steps of `r = poll NODE or NODE`: alternatives, each of which may say which it was."""
    found = [checker.queue_pair(name) for name in statement.nodes]
    for k, name in enumerate(statement.nodes):
        if any(name.text == before.text for before in statement.nodes[:k]):
            checker.report.error("RR414", name.span, f"{quote(name.text)} is one of them already")
    register = None if statement.target is None else register_of(checker, statement.target)
    nodes = [node.name for node in found if node is not None]
    if len(nodes) < len(found) or (statement.target is not None and register is None):
        return Lowered()
    if register is None:
        return checker.lowering(statement).chains([[(cfg.Poll(node), ())] for node in nodes])
    _fits(checker, statement, len(nodes) - 1)
    ways: list[_Way]
    ways = [[(cfg.Poll(node), ()), (cfg.Silent(), ((register, Const(k)),))] for k, node in enumerate(nodes)]
    return checker.lowering(statement).chains(ways)


def trypoll(checker: StatementChecker, statement: ast.TryPoll) -> Lowered:
    """Return the steps of `r = trypoll NODE`: a poll, or none."""
    node = checker.queue_pair(statement.node)
    register = register_of(checker, statement.target)
    if node is None or register is None:
        return Lowered()
    _fits(checker, statement, 1)
    taken: _Way
    taken = [(cfg.Poll(node.name), ()), (cfg.Silent(), ((register, Const(1)),))]
    return checker.lowering(statement).chains([taken, [(cfg.Silent(), ((register, Const(0)),))]])


def rpoll(checker: StatementChecker, statement: ast.RecvPoll) -> Lowered:
    """Return the step of `rpoll THREAD`."""
    sender = posting.sender(checker, statement.sender)
    register = None if statement.target is None else register_of(checker, statement.target)
    if sender is None or (statement.target is not None and register is None):
        return Lowered()
    if register is not None:
        _fits(checker, statement, 0)
    return checker.lowering(statement).plain(cfg.RecvPoll(sender), () if register is None else ((register, VALUE),))


def register_of(checker: StatementChecker, target: ast.Ref) -> str | None:
    """Return the register that something is put into; None after an error."""
    found = checker.names.find(target)
    if isinstance(found, Register):
        checker.names.no_index(target)
        return found.name
    if found is not None:
        checker.report.error("RR305", target.span, f"the result goes to a register, not to {quote(advice.written(target))}")
    return None


def warn_endless_polls(thread: ThreadNames, edges: Sequence[cfg.Edge], world: World, report: Reporter) -> None:
    """Warn of polls that nothing can complete, where the thread has no other branch of a `choose` or `loop` to go on in."""
    ways: dict[int, set[int]] = {}
    for source, _, step in edges:
        ways.setdefault(source, set()).add(step.span.start)
    alone = {start for starts in ways.values() if len(starts) == 1 for start in starts}
    for node, span in thread.polls:
        if node.text not in world.nodes or node.text in thread.completes_to or span.start not in alone:
            continue
        if node.text in thread.sends_to:
            why = f"every operation of thread {thread.name} towards {node.text} is unsignaled"
        else:
            why = f"thread {thread.name} has no operation towards {node.text}"
        report.warn("RR702", span, f"`poll {node.text}` blocks for ever: {why}")


def warn_never_signaled(thread: ThreadNames, report: Reporter) -> None:
    """Warn of queue pairs with operations but no signaled one."""
    for node, span in thread.unsignaled.items():
        if node not in thread.completes_to:
            report.warn(
                "RR707",
                first_line(span),
                f"no operation of thread {thread.name} towards {node} is signaled: its send queue never drains",
                hint="leave out `unsignaled` where the last of several is posted, and poll that one",
            )


def _fits(checker: StatementChecker, statement: ast.PollAny | ast.TryPoll | ast.RecvPoll, most: int) -> None:
    """Report that the domain has not all the numbers that a statement gives."""
    domain = checker.world.domain
    if domain is not None and not (domain[0] <= 0 <= most <= domain[1]):
        given = f"from 0 to {most}" if most else "0 for a message without an immediate"
        checker.report.error(
            "RR416", first_line(statement.span), f"the result is {given}, and the domain is {domain[0]}..{domain[1]}"
        )
