"""What a thread hands to its network card: puts, messages, and buffers for messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rdma_robust.diagnose import Hint, Reporter, quote
from rdma_robust.errors import Edit
from rdma_robust.expr import Const, Name, names
from rdma_robust.language.check import advice
from rdma_robust.language.check.accesses import Data, Lowered
from rdma_robust.language.check.families import OneOfThem
from rdma_robust.language.check.names import Register, Variable, family_of
from rdma_robust.language.check.resolve import UNKNOWN
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast, printer
from rdma_robust.language.syntax.tree_limits import first_line, statements_in

if TYPE_CHECKING:
    from rdma_robust.language.check.statements import StatementChecker

Words = frozenset[ast.FlagWord]
_Make = Callable[[cfg.Cell | None, cfg.Payload], cfg.Op]


def put(checker: StatementChecker, statement: ast.Put) -> Lowered:
    """Return the steps of a put, also of one with an immediate."""
    words = _flags(checker, statement)
    target = checker.remote_cell(statement.target, statement)
    imm = None if statement.imm is None else _immediate(checker, statement.imm)
    data = _data(checker, statement, "inline" in words)
    if target is None or data is None or (statement.imm is not None and imm is None):
        return Lowered()
    node, signaled = target.variable.node, "unsignaled" not in words
    checker.thread.posts(node, signaled, statement.span)
    if imm is not None:
        _, to, place = imm
        if place is not None and place != node:
            checker.report.error(
                "RR411",
                statement.imm.to.span if statement.imm is not None else statement.span,
                f"thread {quote(to)} runs on {place}, and the put writes to {node}",
                hint=_threads_on(checker, node),
            )
            return Lowered()
    return fenced(checker, statement, node, words, checker.lowering(statement).request(target, data, _put_op(signaled, imm)))


def _put_op(signaled: bool, imm: tuple[Const | Name, str, str | None] | None) -> _Make:
    def make(target: cfg.Cell | None, data: cfg.Payload) -> cfg.Op:
        assert target is not None
        if imm is not None:
            return cfg.ImmPut(target, data, imm[0], imm[1], signaled)
        if data.inline:
            return cfg.InlinePut(target, data, signaled)
        assert data.source is not None
        return cfg.Put(target, data.source, signaled)

    return make


def send(checker: StatementChecker, statement: ast.Send) -> Lowered:
    """Return the steps of a message."""
    words = _flags(checker, statement)
    found = receiver(checker, statement.to)
    data = _data(checker, statement, "inline" in words)
    if found is None or data is None:
        return Lowered()
    to, node = found
    signaled = "unsignaled" not in words
    checker.thread.posts(node, signaled, statement.span)
    lowered = checker.lowering(statement).request(None, data, lambda _, payload: cfg.Send(to, node, payload, signaled))
    return fenced(checker, statement, node, words, lowered)


def get_words(checker: StatementChecker, statement: ast.Get) -> Words:
    """Return the flags of a get, which carries no data."""
    words = _flags(checker, statement)
    for flag in statement.flags:
        if flag.word == "inline":
            checker.report.error(
                "RR412", flag.span, f"`get` carries no data that could be {quote('inline')}", hint=_without(checker, flag)
            )
    return words


def fenced(checker: StatementChecker, statement: ast.Statement, node: str, words: Words, lowered: Lowered) -> Lowered:
    """Return the steps of a request, behind a fence if it asks for one."""
    if "fenced" in words:
        lowered.before = checker.lowering(statement).plain(cfg.RFence(node))
    return lowered


def recv(checker: StatementChecker, statement: ast.Recv) -> Lowered:
    """Return the steps of `recv`."""
    buffer = checker.own_cell(statement.buffer, "`recv` posts a variable of this node")
    found = sender(checker, statement.sender)
    if buffer is None or found is None:
        return Lowered()
    return checker.lowering(statement).recv(buffer, found)


def posted(checker: StatementChecker, statement: ast.Posted) -> None:
    """Declare receives that are posted before anything runs."""
    found = sender(checker, statement.sender)
    for ref in statement.buffers:
        buffer = checker.own_cell(ref, "`posted` names variables of this node")
        if buffer is None or found is None:
            continue
        if buffer.index is None:
            checker.thread.posted.append((found, buffer.variable.cells[0]))
        elif isinstance(buffer.index, Const):
            checker.thread.posted.append((found, buffer.variable.cells[buffer.index.value]))
        else:
            checker.report.error(
                "RR415",
                ref.span,
                f"which element {quote(advice.written(ref))} is, is not known before anything runs",
                expected="an index that is a constant",
            )


def check_posted_places(body: ast.Block, report: Reporter) -> None:
    """Check that receives that are posted before anything runs stand in no block of a thread that is written out."""
    top = {id(s) for s in body.statements}
    for statement in statements_in(body):
        if isinstance(statement, ast.Posted) and id(statement) not in top:
            report.error(
                "RR415",
                statement.span,
                "`posted` is about what is there before anything runs, it cannot stand in a block",
                hint="move this line up, out of the braces, or write `recv`",
            )


def receiver(checker: StatementChecker, name: ast.Ident) -> tuple[str, str] | None:
    """Return the thread that a message goes to and its node; None after an error."""
    found = _peer(checker, name, "a message goes to a thread of another node")
    return None if found is None or found[1] is None else (found[0], found[1])


def sender(checker: StatementChecker, name: ast.Ident) -> str | None:
    """Return the thread that messages come from; None after an error."""
    found = _peer(checker, name, "messages come from a thread of another node")
    return None if found is None else found[0]


def _peer(checker: StatementChecker, name: ast.Ident, role: str) -> tuple[str, str | None] | None:
    world, own = checker.world, checker.thread
    if own.crowd:
        message = f"there is any number of threads {quote(family_of(own.name))}, which have no messages"
        checker.report.error("RR230", name.span, message, hint="a connection is one of two threads that have names")
        return None
    if name.index is not None:
        name = OneOfThem(world, checker.report, "statement")(name, "thread")
    place = world.placed.get(name.text)
    if place is None:
        if name.text not in world.poisoned:
            hint = advice.threads(world, name, own.name)
            checker.report.error("RR225", name.span, f"unknown thread {quote(name.text)}", hint=hint)
        return None
    if own.node is None:
        return None
    if name.text == own.name:
        checker.report.error("RR410", name.span, f"{quote(name.text)} is this thread itself: {role}")
        return None
    if place.text == own.node.name and not world.loopback:
        checker.report.error(
            "RR410",
            name.span,
            f"thread {quote(name.text)} runs on {place.text}, as thread {own.name} does: {role}",
            hint=checker.names.proposals.loopback(),
        )
        return None
    return name.text, place.text


def _threads_on(checker: StatementChecker, node: str) -> str:
    found = [name for name, place in checker.world.placed.items() if place.text == node and name != checker.thread.name]
    return advice.listed(f"on {node} there is", found) or f"there is no thread on {node}"


def _flags(checker: StatementChecker, statement: ast.Put | ast.Get | ast.Send) -> Words:
    seen: set[ast.FlagWord] = set()
    for flag in statement.flags:
        if flag.word in seen:
            checker.report.error("RR413", flag.span, f"{quote(flag.word)} is said twice", hint=_without(checker, flag))
        seen.add(flag.word)
    return frozenset(seen)


def _without(checker: StatementChecker, flag: ast.Flag) -> Hint:
    return checker.names.proposals.site.rewritten("leave the word out", [Edit(flag.span, "")])


def _immediate(checker: StatementChecker, imm: ast.Immediate) -> tuple[Const | Name, str, str | None] | None:
    """Return the value, the thread it goes to and that one's node; None after an error."""
    value = checker.names.private(imm.value, "an immediate is handed over when it is posted").expr
    checker.names.warn_outside(value, imm.value.span)
    found = _peer(checker, imm.to, "a message goes to a thread of another node")
    if not isinstance(value, Const | Name):
        checker.report.error(
            "RR412",
            first_line(imm.value.span),
            "an immediate is a register or a constant",
            hint="calculate it into a register first",
        )
        return None
    return None if found is None or value == UNKNOWN else (value, *found)


def _data(checker: StatementChecker, statement: ast.Put | ast.Send, inline: bool) -> Data | None:
    """Return what a request carries; None after an error."""
    source = statement.source
    text = printer.expression(source)
    if isinstance(source, ast.Ref):
        if source.owner is not None and checker.is_remote(source.owner):
            if not (isinstance(statement, ast.Put) and checker.swapped(statement)):
                _report_remote_source(checker, statement, source)
            return None
        found = checker.names.find(source)
        if isinstance(found, Variable):
            return Data(text, checker.names.access(source, found), inline=inline)
        if found is None:
            return None
        if isinstance(found, Register) and not inline:
            _report_register_source(checker, statement)
            return None
    return _inline_value(checker, source, text) if inline else _constant(checker, statement, text)


def _inline_value(checker: StatementChecker, source: ast.Expr, text: str) -> Data | None:
    value = checker.names.private(source, "inline data is one variable, or is made of registers and constants")
    if UNKNOWN.name in names(value.expr):
        return None
    checker.names.warn_outside(value.expr, source.span)
    return Data(text, value=value, inline=True)


def _constant(checker: StatementChecker, statement: ast.Put | ast.Send, text: str) -> Data | None:
    """Return the hidden cell of a constant."""
    source, node = statement.source, checker.thread.node
    value = checker.names.reading(source).expr
    if isinstance(value, Const):
        checker.names.warn_outside(value, source.span)
        return None if node is None else Data(text, hidden=checker.world.constant_cell(node.name, value.value))
    if UNKNOWN.name not in names(value):
        _report_register_source(checker, statement)
    return None


def _report_register_source(checker: StatementChecker, statement: ast.Put | ast.Send) -> None:
    proposals = checker.names.proposals
    verb = "put" if isinstance(statement, ast.Put) else "send"
    checker.report.error(
        "RR403",
        first_line(statement.source.span),
        f"`{verb}` sends a variable of this node or a constant, the NIC cannot see registers",
        hint=lambda: proposals.request_of(statement),
    )


def _report_remote_source(checker: StatementChecker, statement: ast.Put | ast.Send, source: ast.Ref) -> None:
    proposals = checker.names.proposals
    verb = "put" if isinstance(statement, ast.Put) else "send"
    checker.report.error(
        "RR404",
        source.span,
        f"`{verb}` sends a variable of this node, {quote(advice.written(source))} is on another one",
        hint=lambda: proposals.request_of_remote(statement, source) if isinstance(statement, ast.Put) else Hint(""),
    )
