"""Checks each statement of a thread and makes its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from rdma_robust.diagnose import Hint, Reporter, quote
from rdma_robust.errors import Edit, Span
from rdma_robust.expr import Const, Expr, Name, conj
from rdma_robust.language.check import advice
from rdma_robust.language.check.accesses import StatementSteps
from rdma_robust.language.check.families import NONE_SUCH, OneOfThem
from rdma_robust.language.check.meaning import divides_by_no_zero
from rdma_robust.language.check.names import NamedConstant, ProgramNames, Register, SharedVariable, ThreadNames
from rdma_robust.language.check.request_statements import RequestChecker
from rdma_robust.language.check.resolve import UNKNOWN
from rdma_robust.language.check.threads import Named, ResolvedExpr
from rdma_robust.language.flow import cfg
from rdma_robust.language.syntax import ast, printer
from rdma_robust.language.syntax.tree_limits import first_line

MAX_ALTERNATIVES: Final = 64
"""The most values that become a step each; of more, or of values that only a run knows, nothing but proofs can be made."""
HIDDEN: Final = "$chosen"
"""No name that a program can have."""


class StatementChecker(RequestChecker):
    """Checks the statements of one thread. What is wrong goes to the report and makes no steps."""

    def __init__(
        self,
        world: ProgramNames,
        report: Reporter,
        thread: ThreadNames,
        spend: Callable[[Span], None],
        declare: Callable[[ThreadNames, ast.Registers], None],
    ) -> None:
        super().__init__(world, report, thread, spend)
        self._declare = declare

    def heading(self, statement: ast.Statement) -> tuple[str, Span]:
        """Return the text and the span of what stands before the first block of a statement."""
        text = printer.statement(statement)
        span = statement.span
        head = replace(span, end_line=span.line, end_column=span.column + len(text), end=span.start + len(text))
        return text, self.report.at(head)

    def check(self, statement: ast.Statement) -> StatementSteps:
        """Check a statement, without its blocks, and return its steps."""
        self.names.part = statement
        match statement:
            case ast.Registers():
                self._declare(self.thread, statement)
                return StatementSteps()
            case ast.Assign(target, value, ""):
                return self._assign(statement, target, value)
            case ast.Assign(target, value, op):
                return self._update(statement, target, ast.Binary(op, target, value, statement.span))
            case ast.Call(call, flags=flags):
                if call.target.owner is not None and self.is_remote(call.target.owner):
                    return self.remote_atomic(statement, None, call)
                for flag in flags:
                    message = (
                        f"`{printer.expression(call)}` is a step of the CPU, no request that could be {quote(flag.word)}"
                    )
                    self.report.error("RR419", flag.span, message, hint=self.without(flag))
                return self._atomic(statement, call, None)
            case ast.MFenceStatement():
                return self.lowering(statement).plain(cfg.MFence())
            case ast.BarrierStatement():
                return self._barrier(statement)
            case ast.Assume(condition, keyword):
                lowered = self._condition(statement, condition)
                aside = keyword == "assume"
                return StatementSteps([replace(step, aside=aside) for step in lowered.then], [], lowered.faults)
            case ast.Assert(condition):
                return self._assert(statement, condition)
            case ast.If(arms):
                for arm in arms:
                    self.condition(arm)
                return StatementSteps()
            case ast.While():
                return self.condition(statement)
            case ast.Loop() | ast.Choose() | ast.LabelStatement() | ast.Halt() | ast.Skip() | ast.BrokenStatement():
                return StatementSteps()
            case ast.For() | ast.MacroCall():
                raise AssertionError("these are written out before they are checked")
            case _:
                return self.request(statement)

    def condition(self, part: ast.Arm | ast.While) -> StatementSteps:
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
        return conj(divides_by_no_zero(condition), condition)

    def _barrier(self, statement: ast.BarrierStatement) -> StatementSteps:
        """Return the step of `barrier`, of the threads that it names or of all."""
        world, own = self.world, self.thread
        many = next((name for (kind, name), group in world.groups.items() if kind == "thread" and group.is_open), None)
        if many is not None and (own.crowd or not statement.threads):
            message = f"there is any number of threads {quote(many)}, which stand at no barrier"
            hint = "a barrier is one of threads that have names: `barrier T, U`"
            self.report.error("RR230", first_line(statement.span), message, hint=hint)
            return StatementSteps()
        found = [self._known_thread(name) for name in statement.threads]
        if None in found:
            return StatementSteps()
        named = [name for name in found if name is not None] or list(world.placed)
        if own.name not in named or len({*named}) < len(named):
            self._wrong_meeting(statement, named)
            return StatementSteps()
        return self.lowering(statement).plain(cfg.BarrierWait(tuple(name for name in world.placed if name in named)))

    def _wrong_meeting(self, statement: ast.BarrierStatement, named: list[str]) -> None:
        """Report a barrier that does not name its own thread, or names one twice."""
        own = self.thread.name
        twice = next((k for k, name in enumerate(named) if name in named[:k]), None)
        last = statement.threads[-1]
        if twice is None:
            end = replace(last.span, line=last.span.end_line, column=last.span.end_column, start=last.span.end)
            hint = Hint(f"write `{printer.statement(statement)}, {own}`", (Edit(end, f", {own}"),))
            message = f"this barrier does not name {quote(own)}, the thread that stands at it"
            self.report.error("RR417", first_line(statement.span), message, hint=hint)
        else:
            message = f"thread {quote(named[twice])} is named twice"
            self.report.error("RR417", statement.threads[twice].span, message, expected="each thread once")

    def _known_thread(self, name: ast.Ident) -> str | None:
        """Return a thread of the program by its name; None after an error."""
        if name.index is not None or ("thread", name.text) in self.world.groups:
            name = OneOfThem(self.world, self.report, "statement")(name, "thread")
        if name.text in self.world.placed:
            return name.text
        if name.text not in self.world.poisoned and not name.text.endswith(NONE_SUCH):
            hint = advice.threads(self.world, name, "")
            self.report.error("RR225", name.span, f"unknown thread {quote(name.text)}", hint=hint)
        return None

    def _condition(self, statement: ast.Assume | ast.Assert, condition: ast.Expr) -> StatementSteps:
        keyword = statement.keyword if isinstance(statement, ast.Assume) else "assert"
        value = self.names.reading(condition, f"{keyword} ")
        return self.lowering(statement).condition(value, printer.expression(condition))

    def _assert(self, statement: ast.Assert, condition: ast.Expr) -> StatementSteps:
        lowered = self._condition(statement, condition)
        message = f"assertion `{printer.expression(condition)}` fails"
        fault = cfg.Fault("assertion", message, self.report.at(statement.span), self.report.written(statement.span))
        failing = [replace(s, fault=fault) for s in lowered.otherwise]
        return StatementSteps(lowered.then, failing, lowered.faults)

    def _assign(self, statement: ast.Assign, target: ast.Ref, value: ast.Expr) -> StatementSteps:
        found = self.names.find(target, written=value)
        if isinstance(value, ast.AtomicCall):
            return self._atomic(statement, value, self._cas_target(target, found, value))
        if isinstance(value, ast.NondetCall):
            return self._nondet(statement, found, value)
        match found:
            case Register(name):
                self.names.no_index(target)
                return self._assign_register(statement, name, value)
            case SharedVariable():
                return self._write(statement, target, found, value)
            case NamedConstant(name):
                self.report.error("RR216", target.span, f"{quote(name)} is a constant, it cannot be assigned")
        self.names.reading(value)
        return StatementSteps()

    def _assign_register(self, statement: ast.Assign, register: str, value: ast.Expr) -> StatementSteps:
        resolved = self.names.reading(value, f"{register} = ")
        self.names.warn_outside(resolved.expr, value.span)
        return self.lowering(statement).assign(register, resolved, printer.expression(value))

    def _update(self, statement: ast.Assign, target: ast.Ref, value: ast.Binary) -> StatementSteps:
        """`target += ...`: only a register can be read and written by one statement."""
        found = self.names.find(target)
        proposals = self.names.proposals
        match found:
            case Register(name):
                self.names.no_index(target)
                return self._assign_register(statement, name, value)
            case SharedVariable():
                self.report.error(
                    "RR310",
                    statement.span,
                    f"`{statement.op}=` reads and writes {quote(advice.shown_reference(target))}, and a "
                    f"statement makes at most one "
                    "shared access",
                    hint=advice.element_hint(target, found) or proposals.local_update(target, value),
                )
            case NamedConstant(name):
                self.report.error("RR216", target.span, f"{quote(name)} is a constant, it cannot be assigned")
            case None:
                self.names.reading(value.right)
        return StatementSteps()

    def _write(self, statement: ast.Assign, target: ast.Ref, variable: SharedVariable, value: ast.Expr) -> StatementSteps:
        access = self.names.access(target, variable)
        reason = f"a statement makes at most one shared access, and this one writes {quote(variable.name)}"
        resolved = self.names.private(value, reason, f"{advice.shown_reference(target)} = ")
        self.names.warn_outside(resolved.expr, value.span)
        return self.lowering(statement).write(access, resolved, printer.expression(value))

    def _cas_target(self, target: ast.Ref, found: Named | None, call: ast.AtomicCall) -> str | None:
        if isinstance(found, Register):
            self.names.no_index(target)
            return found.name
        if found is not None:
            hint = self.names.proposals.old_value(target, call) if isinstance(found, SharedVariable) else ""
            self.report.error(
                "RR305",
                target.span,
                f"the old value goes to a register, not to {quote(advice.shown_reference(target))}",
                hint=hint,
            )
        return None

    def _atomic(self, statement: ast.Statement, call: ast.AtomicCall, register: str | None) -> StatementSteps:
        match call:
            case ast.CasCall():
                return self._cas(statement, call, register)
            case ast.RmwCall():
                return self._rmw(statement, call, register)
            case ast.FetchCall(target):
                self._report_fetch(statement, target)
                return StatementSteps()

    def _report_fetch(self, statement: ast.Statement, target: ast.Ref) -> None:
        """`fetch` where no request is."""
        shown = advice.shown_reference(target)
        remote = target.owner is not None and self.is_remote(target.owner)
        hint = f"`get x = fetch({shown})` with a variable of this node" if remote else f"read `{shown}` itself"
        message = "`fetch` asks the NIC of another node, which brings the value to a variable of this one"
        self.report.error("RR419", first_line(statement.span), message, hint=hint)

    def _rmw(self, statement: ast.Statement, call: ast.RmwCall, register: str | None) -> StatementSteps:
        value = self.names.private(call.value, f"`{call.kind}` makes its one shared access to the cell it changes")
        if call.kind == "faa":
            self.names.require_domain(call, "faa")
        else:
            self.names.warn_outside(value.expr, call.value.span)
        access = self.own_cell(call.target, f"`{call.kind}` works on a variable of this node")
        return StatementSteps() if access is None else self.lowering(statement).rmw(call, access, value, register)

    def _cas(self, statement: ast.Statement, call: ast.CasCall, register: str | None) -> StatementSteps:
        expected = self.names.private(call.expected, "`cas` makes its one shared access to the cell it changes")
        new = self.names.private(call.new, "`cas` makes its one shared access to the cell it changes")
        self.names.warn_outside(expected.expr, call.expected.span)
        self.names.warn_outside(new.expr, call.new.span)
        access = self.own_cell(call.target, "`cas` works on a variable of this node")
        if access is None:
            return StatementSteps()
        texts = printer.expression(call.expected), printer.expression(call.new)
        return self.lowering(statement).cas(access, expected, new, texts, register)

    def _nondet(self, statement: ast.Assign, found: Named | None, call: ast.NondetCall) -> StatementSteps:
        """Return the steps of a statement that gives `found`, what its target stands for, any value of a range."""
        bounds = self._bounds(call)
        match found:
            case Register():
                self.names.no_index(statement.target)
            case NamedConstant(name):
                self.report.error("RR216", statement.target.span, f"{quote(name)} is a constant, it cannot be assigned")
                return StatementSteps()
            case None:
                return StatementSteps()
        numbers = [bound.expr.value for bound in bounds if bound is not None and isinstance(bound.expr, Const)]
        if len(numbers) == 2:
            low, high = numbers
            if low > high:
                self.report.error(
                    "RR311", call.span, f"there is no value from {low} to {high}", expected="the smaller bound first"
                )
                return StatementSteps()
            if high - low < MAX_ALTERNATIVES:
                return self._alternatives(statement, found, range(low, high + 1))
        elif bounds[0] is None and self.world.domain is not None:
            low, high = self.world.domain
            bounds = (ResolvedExpr(Const(low), None, call.span), ResolvedExpr(Const(high), None, call.span))
            if high - low < MAX_ALTERNATIVES:
                return self._alternatives(statement, found, range(low, high + 1))
        self.report.leave_to_proofs(
            "RR312",
            call.span,
            f"`nondet` of more than {MAX_ALTERNATIVES} values, or of bounds that are no constants, is left to `prove`",
            hint=f"`nondet(0, 3)` has few values; up to {MAX_ALTERNATIVES} are decided",
        )
        return self._chosen(statement, found, call, bounds)

    def _bounds(self, call: ast.NondetCall) -> tuple[ResolvedExpr | None, ResolvedExpr | None]:
        found: list[ResolvedExpr | None] = []
        for bound in (call.low, call.high):
            if bound is None:
                found.append(None)
                continue
            value = self.names.private(bound, "the bounds of `nondet` are made of registers and constants")
            self.names.warn_outside(value.expr, bound.span)
            found.append(value)
        return found[0], found[1]

    def _alternatives(self, statement: ast.Assign, found: Register | SharedVariable, values: range) -> StatementSteps:
        """Return a step for each value; those of one value leave the domain if the value does."""
        result = StatementSteps()
        for value in values:
            resolved, text = ResolvedExpr(Const(value), None, statement.value.span), str(value)
            lowering = self.lowering(statement)
            if isinstance(found, Register):
                made = lowering.assign(found.name, resolved, text)
            else:
                made = lowering.write(self.names.access(statement.target, found), resolved, text)
            result.then += made.then
            result.faults += made.faults
        return result

    def _chosen(
        self,
        statement: ast.Assign,
        found: Register | SharedVariable,
        call: ast.NondetCall,
        bounds: tuple[ResolvedExpr | None, ResolvedExpr | None],
    ) -> StatementSteps:
        """Return a step that chooses; for a variable a second one that writes what a hidden register holds meanwhile."""
        texts = tuple("" if bound is None else printer.expression(bound) for bound in (call.low, call.high))
        register = found.name if isinstance(found, Register) else self._hidden()
        chosen = self.lowering(statement).nondet(register, *bounds, (texts[0], texts[1]))
        if isinstance(found, Register):
            return chosen
        value = ResolvedExpr(Name(register), None, call.span)
        made = self.lowering(statement).write(self.names.access(statement.target, found), value, register)
        return replace(made, before=chosen)

    def _hidden(
        self,
    ) -> str:
        """Return the register that holds what is chosen until it is written; a thread has one."""
        self.thread.hidden = {HIDDEN: Register(HIDDEN, 0, self.thread.span, used=True)}
        return HIDDEN
