"""Checks each statement of a thread and makes its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rdma_robust.diagnose import Hint, Reporter, quote
from rdma_robust.errors import Edit, Span
from rdma_robust.expr import Expr, conj
from rdma_robust.language.check import advice, any_value, polling, posting, remote_statements
from rdma_robust.language.check.accesses import Lowered, Lowering
from rdma_robust.language.check.meaning import defined
from rdma_robust.language.check.names import Constant, NodeNames, Register, ThreadNames, Variable, World
from rdma_robust.language.check.resolve import UNKNOWN
from rdma_robust.language.check.rewrites import insertion, span_between
from rdma_robust.language.check.threads import Access, Named, ThreadResolver
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast, printer
from rdma_robust.language.syntax.tree_limits import first_line


class StatementChecker:
    """Checks the statements of one thread. What is wrong goes to the report and makes no steps."""

    def __init__(
        self,
        world: World,
        report: Reporter,
        thread: ThreadNames,
        spend: Callable[[Span], None],
        declare: Callable[[ThreadNames, ast.Registers], None],
    ) -> None:
        self.world = world
        self.report = report
        self.thread = thread
        self.names = ThreadResolver(world, report, thread)
        self._spend = spend
        self._declare = declare

    def heading(self, statement: ast.Statement) -> tuple[str, Span]:
        """Return the text and the span of what stands before the first block of a statement."""
        text = printer.statement(statement)
        span = statement.span
        head = replace(span, end_line=span.line, end_column=span.column + len(text), end=span.start + len(text))
        return text, self.report.at(head)

    def check(self, statement: ast.Statement) -> Lowered:
        """Check a statement, without its blocks, and return its steps."""
        self.names.part = statement
        match statement:
            case ast.Registers():
                self._declare(self.thread, statement)
                return Lowered()
            case ast.Assign(target, value, ""):
                return self._assign(statement, target, value)
            case ast.Assign(target, value, op):
                return self._update(statement, target, ast.Binary(op, target, value, statement.span))
            case ast.Call(call):
                return self._atomic(statement, call, None)
            case ast.Put() | ast.Get() | ast.Send() | ast.Recv():
                return self._request(statement)
            case ast.Poll() | ast.PollAny() | ast.TryPoll() | ast.RecvPoll():
                return self._waiting(statement)
            case ast.Posted():
                posting.posted(self, statement)
                return Lowered()
            case ast.RFence(node):
                remote = self.queue_pair(node)
                return self.lowering(statement).plain(cfg.RFence(remote.name)) if remote else Lowered()
            case ast.Flush(node):
                return remote_statements.flush(self, statement, node)
            case ast.MFence():
                return self.lowering(statement).plain(cfg.MFence())
            case ast.Assume(condition, keyword):
                lowered = self._condition(statement, condition)
                aside = keyword == "assume"
                return Lowered([replace(step, aside=aside) for step in lowered.then], [], lowered.faults)
            case ast.Assert(condition):
                return self._assert(statement, condition)
            case ast.If(arms):
                for arm in arms:
                    self.condition(arm)
                return Lowered()
            case ast.While():
                return self.condition(statement)
            case _:
                return Lowered()

    def _request(self, statement: ast.Put | ast.Get | ast.Send | ast.Recv) -> Lowered:
        match statement:
            case ast.Put():
                return posting.put(self, statement)
            case ast.Get():
                return self._get(statement)
            case ast.Send():
                return posting.send(self, statement)
            case ast.Recv():
                return posting.recv(self, statement)

    def _waiting(self, statement: ast.Poll | ast.PollAny | ast.TryPoll | ast.RecvPoll) -> Lowered:
        match statement:
            case ast.Poll():
                return polling.poll(self, statement)
            case ast.PollAny():
                return polling.poll_any(self, statement)
            case ast.TryPoll():
                return polling.trypoll(self, statement)
            case ast.RecvPoll():
                return polling.rpoll(self, statement)

    def condition(self, part: ast.Arm | ast.While) -> Lowered:
        """Check the condition of an `if`, `else if` or `while`."""
        self.names.part = part
        keyword = "while" if isinstance(part, ast.While) else "if"
        text = f"{keyword} {printer.expression(part.condition)}"
        end = part.condition.span
        span = replace(part.span, end_line=end.end_line, end_column=end.end_column, end=end.end)
        value = self.names.reading(part.condition, f"{keyword} ")
        return self._lowering_of(text, span).condition(value, printer.expression(part.condition))

    def guard(self, statement: ast.Statement) -> Expr:
        """Check an `assume` over registers that guards the next statement; return when it is defined and holds."""
        if not isinstance(statement, ast.Assume):
            return UNKNOWN
        self.names.part = statement
        reason = "a guard is made of registers and constants"
        condition = self.names.private(statement.condition, reason, "assume ").expr
        return conj(defined(condition), condition)

    def _condition(self, statement: ast.Assume | ast.Assert, condition: ast.Expr) -> Lowered:
        keyword = statement.keyword if isinstance(statement, ast.Assume) else "assert"
        value = self.names.reading(condition, f"{keyword} ")
        return self.lowering(statement).condition(value, printer.expression(condition))

    def _assert(self, statement: ast.Assert, condition: ast.Expr) -> Lowered:
        lowered = self._condition(statement, condition)
        message = f"assertion `{printer.expression(condition)}` fails"
        fault = cfg.Fault("assertion", message, self.report.at(statement.span), self.report.written(statement.span))
        failing = [replace(s, fault=fault) for s in lowered.otherwise]
        return Lowered(lowered.then, failing, lowered.faults)

    def lowering(self, statement: ast.Statement) -> Lowering:
        return self._lowering_of(printer.statement(statement), statement.span)

    def _lowering_of(self, text: str, span: Span) -> Lowering:
        return Lowering(text, self.report.at(span), self.world.domain, self._spend, self.report)

    def _assign(self, statement: ast.Assign, target: ast.Ref, value: ast.Expr) -> Lowered:
        found = self.names.find(target, written=value)
        if isinstance(value, ast.AtomicCall):
            return self._atomic(statement, value, self._cas_target(target, found, value))
        if isinstance(value, ast.NondetCall):
            return any_value.nondet(self, statement, found, value)
        match found:
            case Register(name):
                self.names.no_index(target)
                return self._assign_register(statement, name, value)
            case Variable():
                return self._write(statement, target, found, value)
            case Constant(name):
                self.report.error("RR216", target.span, f"{quote(name)} is a constant, it cannot be assigned")
        self.names.reading(value)
        return Lowered()

    def _assign_register(self, statement: ast.Assign, register: str, value: ast.Expr) -> Lowered:
        resolved = self.names.reading(value, f"{register} = ")
        self.names.warn_outside(resolved.expr, value.span)
        return self.lowering(statement).assign(register, resolved, printer.expression(value))

    def _update(self, statement: ast.Assign, target: ast.Ref, value: ast.Binary) -> Lowered:
        """`target += ...`: only a register can be read and written by one statement."""
        found = self.names.find(target)
        proposals = self.names.proposals
        match found:
            case Register(name):
                self.names.no_index(target)
                return self._assign_register(statement, name, value)
            case Variable():
                self.report.error(
                    "RR310",
                    statement.span,
                    f"`{statement.op}=` reads and writes {quote(advice.written(target))}, and a statement makes at most one "
                    "shared access",
                    hint=advice.element(target, found) or proposals.local_update(target, value),
                )
            case Constant(name):
                self.report.error("RR216", target.span, f"{quote(name)} is a constant, it cannot be assigned")
            case None:
                self.names.reading(value.right)
        return Lowered()

    def _write(self, statement: ast.Assign, target: ast.Ref, variable: Variable, value: ast.Expr) -> Lowered:
        access = self.names.access(target, variable)
        reason = f"a statement makes at most one shared access, and this one writes {quote(variable.name)}"
        resolved = self.names.private(value, reason, f"{advice.written(target)} = ")
        self.names.warn_outside(resolved.expr, value.span)
        return self.lowering(statement).write(access, resolved, printer.expression(value))

    def _cas_target(self, target: ast.Ref, found: Named | None, call: ast.AtomicCall) -> str | None:
        if isinstance(found, Register):
            self.names.no_index(target)
            return found.name
        if found is not None:
            hint = self.names.proposals.old_value(target, call) if isinstance(found, Variable) else ""
            self.report.error(
                "RR305", target.span, f"the old value goes to a register, not to {quote(advice.written(target))}", hint=hint
            )
        return None

    def _atomic(self, statement: ast.Statement, call: ast.AtomicCall, register: str | None) -> Lowered:
        return (
            self._cas(statement, call, register) if isinstance(call, ast.CasCall) else self._rmw(statement, call, register)
        )

    def _rmw(self, statement: ast.Statement, call: ast.RmwCall, register: str | None) -> Lowered:
        value = self.names.private(call.value, f"`{call.kind}` makes its one shared access to the cell it changes")
        if call.kind == "faa":
            self.names.require_domain(call, "faa")
        else:
            self.names.warn_outside(value.expr, call.value.span)
        access = self.own_cell(call.target, f"`{call.kind}` works on a variable of this node")
        return Lowered() if access is None else self.lowering(statement).rmw(call, access, value, register)

    def _cas(self, statement: ast.Statement, call: ast.CasCall, register: str | None) -> Lowered:
        expected = self.names.private(call.expected, "`cas` makes its one shared access to the cell it changes")
        new = self.names.private(call.new, "`cas` makes its one shared access to the cell it changes")
        self.names.warn_outside(expected.expr, call.expected.span)
        self.names.warn_outside(new.expr, call.new.span)
        access = self.own_cell(call.target, "`cas` works on a variable of this node")
        if access is None:
            return Lowered()
        texts = printer.expression(call.expected), printer.expression(call.new)
        return self.lowering(statement).cas(access, expected, new, texts, register)

    def own_cell(self, ref: ast.Ref, role: str) -> Access | None:
        """Return the access to a cell of this node; None after an error. `role` says why it must be one."""
        found = self.names.find(ref, role=role)
        if isinstance(found, Variable):
            return self.names.access(ref, found)
        if found is not None:
            kind = "register" if isinstance(found, Register) else "constant"
            self.report.error("RR309", ref.span, f"{quote(ref.name.text)} is a {kind}: {role}")
        return None

    def queue_pair(self, name: ast.Ident) -> NodeNames | None:
        """Return the node at the other end; None after an error."""
        node = self.names.node(name)
        if node is None or self.thread.node is None:
            return None
        if node is self.thread.node and not self.world.loopback:
            self.report.error(
                "RR401",
                name.span,
                f"{quote(name.text)} is the node thread {self.thread.name} itself runs on",
                hint=self.names.proposals.loopback(),
            )
            return None
        return node

    def remote_cell(self, ref: ast.Ref, statement: ast.Put | ast.Get) -> Access | None:
        """Return the access to a cell of another node; None after an error."""
        verb = "put" if isinstance(statement, ast.Put) else "get"
        if ref.owner is None:
            self._unqualified(ref, statement, verb)
            return None
        node = self.names.node(ref.owner)
        if node is None or self.thread.node is None:
            return None
        if node is self.thread.node and not self.world.loopback:
            self.report.error(
                "RR401",
                ref.span,
                f"`{verb}` needs a variable of another node, {quote(advice.written(ref))} is on this one",
                hint=self.swapped(statement) or self.names.proposals.local_instead(statement),
            )
            return None
        variable = self.names.variable(ref, node)
        if variable is None:
            return None
        self.thread.sends_to.add(node.name)
        return self.names.access(ref, variable)

    def _unqualified(self, ref: ast.Ref, statement: ast.Put | ast.Get, verb: str) -> None:
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

    def swapped(self, statement: ast.Put | ast.Get) -> Hint:
        """Return the opposite statement, if that is what the sides look like."""
        source = statement.source
        own = self.thread.node
        if not isinstance(source, ast.Ref) or own is None:
            return Hint("")
        remote, local = (source, statement.target) if isinstance(statement, ast.Put) else (statement.target, source)
        if remote.owner is None or remote.owner.text == own.name or remote.owner.text not in self.world.nodes:
            return Hint("")
        if (local.owner is not None and local.owner.text != own.name) or local.name.text not in own.variables:
            return Hint("")
        verb = "get" if isinstance(statement, ast.Put) else "put"
        at = statement.span.start
        keyword = Edit(span_between(self.report.source, at, at + len(verb)), verb)
        text = f"did you mean `{verb} {advice.written(statement.target)} = {advice.written(source)}`?"
        return self.names.proposals.site.rewritten(text, [keyword])

    def is_remote(self, owner: ast.Ident) -> bool:
        """Whether a name is that of another node."""
        known = owner.text in self.world.nodes
        return known and self.thread.node is not None and owner.text != self.thread.node.name

    def _get(self, statement: ast.Get) -> Lowered:
        words = posting.get_words(self, statement)
        if isinstance(statement.source, ast.AtomicCall):
            return remote_statements.atomic(self, statement, statement.source, words)
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
            return Lowered()
        node, signaled = source.variable.node, "unsignaled" not in words
        self.thread.posts(node, signaled, statement.span)
        return posting.fenced(self, statement, node, words, self.lowering(statement).get(target, source, signaled))
