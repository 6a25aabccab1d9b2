"""The statements of a thread that name other nodes and threads: requests to its NIC, messages, and polls.

More than 400 lines: all requests share the checks of flags, data, immediates and the other end of a queue pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from typing import assert_never

from rdma_robust.diagnose import Hint, quote
from rdma_robust.errors import Edit
from rdma_robust.expr import FALSE, TRUE, VALUE, Binary, Const, Expr, Name, equals, names, negate, value_of
from rdma_robust.language.check import advice
from rdma_robust.language.check.accesses import PayloadSource, StatementSteps
from rdma_robust.language.check.buffers import BufferChecker
from rdma_robust.language.check.meaning import in_domain, wrapped
from rdma_robust.language.check.names import NodeNames, QueuePairName, Register, SharedVariable
from rdma_robust.language.check.resolve import UNKNOWN
from rdma_robust.language.check.rewrites import insertion, span_between
from rdma_robust.language.check.threads import ResolvedExpr, VariableAccess
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast, printer
from rdma_robust.language.syntax.tree_limits import first_line

FlagWords = frozenset[ast.FlagWord]

_Make = Callable[[cfg.Cell | None, cfg.Payload], cfg.Op]

_Way = list[tuple[cfg.Op, tuple[tuple[str, Expr], ...]]]
"""Operations one after the other, each with what it assigns."""


@dataclass(frozen=True, slots=True)
class _Change:
    """The change that an atomic operation makes: what it writes, when, and when that starts again at the other end of the
    domain."""

    new: Expr
    when: Expr = TRUE
    wraps: tuple[Expr, cfg.Fault] | None = None


class RequestChecker(BufferChecker):
    """Checks what a thread asks of others, and makes its steps. What is wrong goes to the report and makes no steps."""

    def request(self, statement: ast.Request) -> StatementSteps:
        """Check a statement that names another node or thread, and return its steps."""
        match statement:
            case ast.PutStatement():
                return self._put(statement)
            case ast.GetStatement():
                return self._get(statement)
            case ast.SendStatement():
                return self._send(statement)
            case ast.RecvStatement():
                return self.receive(statement)
            case ast.PostedStatement():
                return self.posted(statement)
            case ast.Lanes():
                return self.declare_lanes(statement)
            case ast.PollStatement():
                return self._poll(statement)
            case ast.PollAny():
                return self._poll_any(statement)
            case ast.TryPoll():
                return self._try_poll(statement)
            case ast.RecvPollStatement():
                return self._receive_poll(statement)
            case ast.RFenceStatement(node):
                return self._about(statement, node, cfg.RFence)
            case ast.FlushStatement(node):
                return self._about(statement, node, cfg.Flush)
            case ast.OrderStatement(node):
                return self._about(statement, node, cfg.OrderFence)
            case ast.StartStatement(name):
                return self.start(statement, name)
            case ast.JoinStatement(name):
                return self.join(statement, name)
            case _:
                assert_never(statement)

    def remote_cell(self, ref: ast.Ref, statement: ast.Request | ast.Call) -> VariableAccess | None:
        """Return the access to a cell of another node; None after an error."""
        verb = printer.statement(statement).partition(" ")[0]
        if ref.owner is None:
            self._unqualified(ref, statement, verb)
            return None
        node = self.names.node(ref.owner)
        if node is None or self.thread.node is None:
            return None
        if self.is_own_card(node) and not self.world.loopback:
            where = "on this one" if node is self.thread.node else "behind the same NIC"
            self.report.error(
                "RR401",
                ref.span,
                f"`{verb}` needs a variable of another node, {quote(advice.shown_reference(ref))} is {where}",
                hint=self._on_own_node(statement, node),
            )
            return None
        variable = self.names.variable(ref, node)
        if variable is None:
            return None
        return self.names.access(ref, variable)

    def _unqualified(self, ref: ast.Ref, statement: ast.Request | ast.Call, verb: str) -> None:
        name = ref.name.text
        own = self.thread.node
        if name in self.world.poisoned or own is None:
            return
        owners = [n.name for n in self.world.nodes_with(name) if n is not own or self.world.loopback]
        swapped = self.swapped(statement)
        named = f"{owners[0]}.{advice.unqualified(ref)}" if owners else ""
        inserted = (insertion(self.report.source, ref.span.start, f"{owners[0]}."),) if owners else ()
        hint = swapped or Hint(f"write `{named}`" if owners else "name its node: `NODE.variable`", inserted)
        self.report.error("RR402", ref.span, f"`{verb}` needs a variable of another node, with the node's name", hint=hint)

    def _on_own_node(self, statement: ast.Request | ast.Call, node: NodeNames) -> Hint:
        """Return what is meant by a request for a word that the thread's processor reaches."""
        if not isinstance(statement, ast.PutStatement | ast.GetStatement) or node is not self.thread.node:
            return self.names.proposals.loopback()
        return self.swapped(statement) or self.names.proposals.local_instead(statement)

    def swapped(self, statement: ast.Request | ast.Call) -> Hint:
        """Return the opposite statement, if that is what the sides look like."""
        if not isinstance(statement, ast.PutStatement | ast.GetStatement):
            return Hint("")
        source = statement.source
        own = self.thread.node
        if not isinstance(source, ast.Ref) or own is None:
            return Hint("")
        remote, local = (source, statement.target) if isinstance(statement, ast.PutStatement) else (statement.target, source)
        if remote.owner is None or not self.is_remote(remote.owner):
            return Hint("")
        if (local.owner is not None and local.owner.text != own.name) or local.name.text not in own.variables:
            return Hint("")
        verb = "get" if isinstance(statement, ast.PutStatement) else "put"
        at = statement.span.start
        keyword = Edit(span_between(self.report.source, at, at + len(verb)), verb)
        text = f"did you mean `{verb} {advice.shown_reference(statement.target)} = {advice.shown_reference(source)}`?"
        return self.names.proposals.site.rewritten(text, [keyword])

    def is_remote(self, owner: ast.Ident) -> bool:
        """Whether a name is that of a node which this thread's processor does not reach."""
        node = self.world.nodes.get(owner.text)
        return node is not None and self.thread.node is not None and not self.is_own_card(node)

    def _get(self, statement: ast.GetStatement) -> StatementSteps:
        if isinstance(statement.source, ast.AtomicCall):
            return self.remote_atomic(statement, statement.target, statement.source)
        words = self._get_flags(statement, "get")
        target = None
        swapped = self.swapped(statement)
        if not swapped:
            target = self.own_cell(statement.target, "`get` writes to a variable of this node")
        source = None
        if isinstance(statement.source, ast.Ref):
            source = self.remote_cell(statement.source, statement)
        else:
            self.names.reading(statement.source)
            self.report.error(
                "RR405",
                first_line(statement.source.span),
                "`get` reads a variable of another node",
                expected="`NODE.variable`",
            )
        if target is None or source is None:
            return StatementSteps()
        pair, signaled = self.pair_of(source.variable.node, statement), "unsignaled" not in words
        if pair is None:
            return StatementSteps()
        self.thread.posts(pair, signaled, statement.span)
        return self._fenced(
            statement,
            pair,
            words,
            self.lowering(statement).touch([target, source], lambda cells: cfg.Get(cells[0], cells[1], signaled, pair.lane)),
        )

    def _put(self, statement: ast.PutStatement) -> StatementSteps:
        """Return the steps of a put, also of one with an immediate."""
        words = self._flags(statement)
        target = self.remote_cell(statement.target, statement)
        imm = None if statement.imm is None else self._immediate(statement.imm)
        data = self._data(statement, "inline" in words)
        if target is None or data is None or (statement.imm is not None and imm is None):
            return StatementSteps()
        node, signaled = target.variable.node, "unsignaled" not in words
        pair = self.pair_of(node, statement)
        if pair is None:
            return StatementSteps()
        self.thread.posts(pair, signaled, statement.span)
        if imm is not None:
            _, to, place = imm
            self.thread.messages.append(((self.thread.name, to, pair.lane), 1, self.report.at(statement.span)))
            if place is not None and self.world.card(place) != self.world.card(node):
                self.report.error(
                    "RR411",
                    statement.imm.to.span if statement.imm is not None else statement.span,
                    f"thread {quote(to)} runs on {place}, and the put writes to {node}",
                    hint=self.threads_on(node),
                )
                return StatementSteps()
        made = self.lowering(statement).request(target, data, _put_op(signaled, imm, pair.lane))
        return self._fenced(statement, pair, words, made)

    def _send(self, statement: ast.SendStatement) -> StatementSteps:
        """Return the steps of a message."""
        words = self._flags(statement)
        found = self.receiver(statement.to)
        several = statement.last is not None
        cells = self.several(statement.source, statement.last, "`send` sends words of this node") if several else ()
        data = None if several else self._data(statement, "inline" in words)
        if found is None or cells is None or (data is None and not several):
            return StatementSteps()
        to, node = found
        pair, signaled = self.pair_of(node, statement), "unsignaled" not in words
        if pair is None:
            return StatementSteps()
        self.thread.posts(pair, signaled, statement.span)
        ends = self.thread.name, to, pair.lane
        self.thread.messages.append((ends, max(1, len(cells)), self.report.at(statement.span)))
        if data is None:
            payload = cfg.Payload(cells[0], VALUE, "inline" in words)
            lowered = self.lowering(statement).plain(cfg.Send(to, pair.node, payload, signaled, pair.lane, rest=cells[1:]))
        else:
            lowered = self.lowering(statement).request(
                None, data, lambda _, payload: cfg.Send(to, pair.node, payload, signaled, pair.lane)
            )
        return self._fenced(statement, pair, words, lowered)

    def _get_flags(self, statement: ast.GetStatement | ast.Call, verb: str) -> FlagWords:
        """Return the flags of a request that carries no data."""
        words = self._flags(statement)
        for flag in statement.flags:
            if flag.word == "inline":
                self.report.error(
                    "RR412", flag.span, f"`{verb}` carries no data that could be {quote('inline')}", hint=self.without(flag)
                )
        return words

    def _fenced(
        self, statement: ast.Statement, pair: QueuePairName, words: FlagWords, lowered: StatementSteps
    ) -> StatementSteps:
        """Return the steps of a request, behind a fence if it asks for one."""
        if "fenced" in words:
            lowered.before = self.lowering(statement).plain(cfg.RFence(pair.node, pair.lane))
        return lowered

    def _flags(self, statement: ast.PutStatement | ast.GetStatement | ast.SendStatement | ast.Call) -> FlagWords:
        seen: set[ast.FlagWord] = set()
        for flag in statement.flags:
            if flag.word in seen:
                self.report.error("RR413", flag.span, f"{quote(flag.word)} is said twice", hint=self.without(flag))
            seen.add(flag.word)
        return frozenset(seen)

    def without(self, flag: ast.Flag) -> Hint:
        return self.names.proposals.site.rewritten("leave the word out", [Edit(flag.span, "")])

    def _immediate(self, imm: ast.Immediate) -> tuple[Const | Name, str, str | None] | None:
        """Return the value, the thread it goes to and that one's node; None after an error."""
        value = self.names.private(imm.value, "an immediate is handed over when it is posted").expr
        self.names.warn_outside(value, imm.value.span)
        found = self.peer(imm.to, "a message goes to a thread of another node")
        if not isinstance(value, Const | Name):
            self.report.error(
                "RR412",
                first_line(imm.value.span),
                "an immediate is a register or a constant",
                hint="calculate it into a register first",
            )
            return None
        return None if found is None or value == UNKNOWN else (value, *found)

    def _data(self, statement: ast.PutStatement | ast.SendStatement, inline: bool) -> PayloadSource | None:
        """Return what a request carries; None after an error."""
        source = statement.source
        text = printer.expression(source)
        if isinstance(source, ast.Ref):
            if source.owner is not None and self.is_remote(source.owner):
                if not (isinstance(statement, ast.PutStatement) and self.swapped(statement)):
                    self._report_remote_source(statement, source)
                return None
            found = self.names.find(source)
            if isinstance(found, SharedVariable):
                return PayloadSource(text, self.names.access(source, found), inline=inline)
            if found is None:
                return None
            if isinstance(found, Register) and not inline:
                self._report_register_source(statement)
                return None
        return self._inline_value(source, text) if inline else self._constant(statement, text)

    def _inline_value(self, source: ast.Expr, text: str) -> PayloadSource | None:
        value = self.names.private(source, "inline data is one variable, or is made of registers and constants")
        if UNKNOWN.name in names(value.expr):
            return None
        self.names.warn_outside(value.expr, source.span)
        return PayloadSource(text, value=value, inline=True)

    def _constant(self, statement: ast.PutStatement | ast.SendStatement, text: str) -> PayloadSource | None:
        """Return the hidden cell of a constant."""
        source, node = statement.source, self.thread.node
        value = self.names.reading(source).expr
        if isinstance(value, Const):
            self.names.warn_outside(value, source.span)
            return None if node is None else PayloadSource(text, hidden=self.world.constant_cell(node.name, value.value))
        if UNKNOWN.name not in names(value):
            self._report_register_source(statement)
        return None

    def _report_register_source(self, statement: ast.PutStatement | ast.SendStatement) -> None:
        proposals = self.names.proposals
        verb = "put" if isinstance(statement, ast.PutStatement) else "send"
        self.report.error(
            "RR403",
            first_line(statement.source.span),
            f"`{verb}` sends a variable of this node or a constant, the NIC cannot see registers",
            hint=lambda: proposals.request_of(statement),
        )

    def _report_remote_source(self, statement: ast.PutStatement | ast.SendStatement, source: ast.Ref) -> None:
        proposals = self.names.proposals
        verb = "put" if isinstance(statement, ast.PutStatement) else "send"
        self.report.error(
            "RR404",
            source.span,
            f"`{verb}` sends a variable of this node, {quote(advice.shown_reference(source))} is on another one",
            hint=lambda: (
                proposals.request_of_remote(statement, source) if isinstance(statement, ast.PutStatement) else Hint("")
            ),
        )

    def _poll(self, statement: ast.PollStatement) -> StatementSteps:
        """Return the steps of `poll NODE` or `poll LANE`, one for each completion that it takes."""
        pair = self.queue_pair(statement.node)
        times = 1 if statement.count is None else self._count(statement.count)
        if pair is None or times is None:
            return StatementSteps()
        self.thread.polls.append((pair.name, statement.span))
        poll = cfg.Poll(pair.node, pair.lane)
        if times == 1:
            return self.lowering(statement).plain(poll)
        return self.lowering(statement).chains([repeat((poll, ()), times)])

    def _count(self, count: ast.Expr) -> int | None:
        value = self.names.private(count, "how often is polled is a constant").expr
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
        self.report.error("RR414", first_line(count.span), message, expected=expected)
        return None

    def _poll_any(self, statement: ast.PollAny) -> StatementSteps:
        """Return the steps of `r = poll NODE or NODE`: alternatives, each of which may say which it was."""
        found = [self.queue_pair(name) for name in statement.nodes]
        for k, name in enumerate(statement.nodes):
            if found[k] is not None and found[k] in found[:k]:
                self.report.error("RR414", name.span, f"{quote(name.text)} is one of them already")
        register = None if statement.target is None else self._register_of(statement.target)
        polls = [cfg.Poll(pair.node, pair.lane) for pair in found if pair is not None]
        if len(polls) < len(found) or (statement.target is not None and register is None):
            return StatementSteps()
        if register is None:
            return self.lowering(statement).chains([[(poll, ())] for poll in polls])
        self._fits(statement, len(polls) - 1)
        ways: list[_Way]
        ways = [[(poll, ()), (cfg.Silent(), ((register, Const(k)),))] for k, poll in enumerate(polls)]
        return self.lowering(statement).chains(ways)

    def _try_poll(self, statement: ast.TryPoll) -> StatementSteps:
        """Return the steps of `r = trypoll NODE`: a poll, or none."""
        pair = self.queue_pair(statement.node)
        register = self._register_of(statement.target)
        if pair is None or register is None:
            return StatementSteps()
        self._fits(statement, 1)
        taken: _Way
        taken = [(cfg.Poll(pair.node, pair.lane), ()), (cfg.Silent(), ((register, Const(1)),))]
        return self.lowering(statement).chains([taken, [(cfg.Silent(), ((register, Const(0)),))]])

    def _receive_poll(self, statement: ast.RecvPollStatement) -> StatementSteps:
        """Return the step of `rpoll THREAD`."""
        sender = self.sender_on(statement.sender, statement.on)
        register = None if statement.target is None else self._register_of(statement.target)
        if sender is None or (statement.target is not None and register is None):
            return StatementSteps()
        if register is not None:
            self._fits(statement, 0)
        return self.lowering(statement).plain(cfg.RecvPoll(*sender), () if register is None else ((register, VALUE),))

    def _register_of(self, target: ast.Ref) -> str | None:
        """Return the register that something is put into; None after an error."""
        found = self.names.find(target)
        if isinstance(found, Register):
            self.names.no_index(target)
            return found.name
        if found is not None:
            self.report.error(
                "RR305", target.span, f"the result goes to a register, not to {quote(advice.shown_reference(target))}"
            )
        return None

    def _fits(self, statement: ast.PollAny | ast.TryPoll | ast.RecvPollStatement, most: int) -> None:
        """Report that the domain has not all the numbers that a statement gives."""
        domain = self.world.domain
        if domain is not None and not (domain[0] <= 0 <= most <= domain[1]):
            given = f"from 0 to {most}" if most else "0 for a message without an immediate"
            self.report.error(
                "RR416", first_line(statement.span), f"the result is {given}, and the domain is {domain[0]}..{domain[1]}"
            )

    def _about(
        self,
        statement: ast.RFenceStatement | ast.FlushStatement | ast.OrderStatement,
        place: ast.NodeName,
        operation: type[cfg.RFence | cfg.Flush | cfg.OrderFence],
    ) -> StatementSteps:
        """Return the steps of a statement that only names a queue pair."""
        pair = self.queue_pair(place)
        return StatementSteps() if pair is None else self.lowering(statement).plain(operation(pair.node, pair.lane))

    def remote_atomic(
        self, statement: ast.GetStatement | ast.Call, answer: ast.Ref | None, call: ast.AtomicCall
    ) -> StatementSteps:
        """Return the steps of `get x = cas(NODE.y, e, f)`, or with `faa`, `swap` or `fetch`; without an `answer` the old
        value goes nowhere."""
        word, operands = _parts_of(call)
        words = self._get_flags(statement, word if answer is None else "get")
        target = None if answer is None else self.own_cell(answer, "`get` writes to a variable of this node")
        source = self.remote_cell(call.target, statement)
        values, memory = self._operands_of(word, operands)
        if word == "faa":
            self.names.require_domain(call, word)
        if (target is None and answer is not None) or source is None:
            return StatementSteps()
        pair, signaled = self.pair_of(source.variable.node, statement), "unsignaled" not in words
        if pair is None:
            return StatementSteps()
        self.thread.posts(pair, signaled, statement.span)
        texts = list(zip(values, map(printer.expression, operands), strict=True))
        change = self._change(call, word, [value.expr for value in values])

        def make(cells: list[cfg.Cell]) -> cfg.RemoteRmw:
            to, (of, *own) = (None, cells) if target is None else (cells[0], cells[1:])
            return cfg.RemoteRmw(to, of, change.new, change.when, signaled, change.wraps, pair.lane, tuple(own))

        written = texts[-1] if word in ("cas", "swap") else None
        accesses = [*([] if target is None else [target]), source, *memory]
        lowered = self.lowering(statement).remote_rmw(accesses, make, texts, written)
        return self._fenced(statement, pair, words, lowered)

    def _operands_of(self, word: str, operands: list[ast.Expr]) -> tuple[list[ResolvedExpr], list[VariableAccess]]:
        """Return the operands of a remote atomic, and those words of this node that are operands as they stand, which its
        card reads: `value_of` their number is what they hold."""
        values: list[ResolvedExpr] = []
        memory: list[VariableAccess] = []
        for operand in operands:
            found = self._own_word(operand)
            if found is not None:
                values.append(ResolvedExpr(value_of(len(memory)), None, operand.span))
                memory.append(found)
                continue
            value = self.names.private(
                operand,
                f"a remote `{word}` takes operands along when it is posted, but for a variable that stands alone",
            )
            self.names.warn_outside(value.expr, operand.span)
            values.append(value)
        return values, memory

    def _own_word(self, operand: ast.Expr) -> VariableAccess | None:
        """Return the access to a variable of this node that an operand is as it stands, None if it is anything else."""
        if not isinstance(operand, ast.Ref):
            return None
        name, node = operand.name.text, self.thread.node
        if operand.owner is not None:
            node = self.world.nodes.get(operand.owner.text)
        elif name in self.thread.registers or name in self.world.constants:
            return None
        if node is None or not self.names.reaches(node) or name not in node.variables:
            return None
        found = self.names.find(operand)
        return self.names.access(operand, found) if isinstance(found, SharedVariable) else None

    def _change(self, call: ast.AtomicCall, word: str, values: list[Expr]) -> _Change:
        match word:
            case "cas":
                return _Change(values[1], equals(VALUE, values[0]))
            case "swap":
                return _Change(values[0])
            case "fetch":
                return _Change(VALUE, FALSE)
        sum_ = Binary("+", VALUE, values[0])
        domain = self.world.domain
        if domain is None:
            return _Change(sum_)
        low, high = domain
        text = printer.expression(call)
        message = f"`{text}` leaves the domain {low}..{high} and goes on at its other end"
        fault = cfg.Fault("overflow", message, self.report.at(call.span), self.report.written(call.span))
        return _Change(wrapped(sum_, domain), TRUE, (negate(in_domain(sum_, domain)), fault))


def _parts_of(call: ast.AtomicCall) -> tuple[str, list[ast.Expr]]:
    """The word of an atomic operation, and its operands."""
    match call:
        case ast.CasCall(_, expected, new):
            return "cas", [expected, new]
        case ast.RmwCall(kind, _, value):
            return kind, [value]
        case ast.FetchCall():
            return "fetch", []


def _put_op(signaled: bool, imm: tuple[Const | Name, str, str | None] | None, lane: str) -> _Make:
    def make(target: cfg.Cell | None, data: cfg.Payload) -> cfg.Op:
        assert target is not None
        if imm is not None:
            return cfg.ImmPut(target, data, imm[0], imm[1], signaled, lane)
        if data.inline:
            return cfg.InlinePut(target, data, signaled, lane)
        assert data.source is not None
        return cfg.Put(target, data.source, signaled, lane)

    return make
