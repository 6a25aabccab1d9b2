"""Copies of `for` blocks and of macros, written out: what later passes see has neither.

An expansion is hygienic: a counter, a parameter or a register of a macro never hides what an argument names, and each
expansion of a macro has registers of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import Span
from rdma_robust.language.check.families import OneOfThem
from rdma_robust.language.check.macros import Macros, check_names, names_mentioned
from rdma_robust.language.check.names import ProgramNames
from rdma_robust.language.check.resolve import ConstantResolver
from rdma_robust.language.check.substitution import ExpansionScope, Meaning, Substitution, number_expr
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.layout import MAX_NESTING
from rdma_robust.language.syntax.tree_limits import blocks_of, first_line, statements_in
from rdma_robust.text import free_name

MAX_EXPANDED: Final = 20_000
"""The most copies of `for` blocks, expansions and statements in them that a program may have."""


class ExpansionLimit(Exception):
    """The program grows too large; it never leaves this room."""


class Expander:
    """Expands the threads of a program, one after the other. `taken` are the names that registers must not get."""

    def __init__(
        self, world: ProgramNames, report: Reporter, macros: Macros, taken: frozenset[str], one_of: OneOfThem
    ) -> None:
        self._world = world
        self._one_of = one_of
        self._report = report
        self._macros = macros
        self._taken = taken
        self._constants = ConstantResolver(world, report)
        self._spent = 0
        self._registers: list[ast.Binding] = []
        self._given: set[str] = set()
        self._own: dict[str, str] = {}
        self._checked: set[str] = set()

    def thread(self, item: ast.ThreadDeclaration, own: dict[str, str], scope: ExpansionScope) -> ast.ThreadDeclaration:
        """Return the thread without `for` and calls, and with what its names stand for in `scope`; registers of macros are
        declared before the first statement that needs them. `own` says of the names that the thread can use itself what they
        are.

        Raises ExpansionLimit after reporting that there are too many statements.
        """
        if self._stays(scope) and not any(isinstance(s, ast.For | ast.MacroCall) for s in statements_in(item.body)):
            return item
        self._given = set(self._taken)
        self._own = own
        statements: list[ast.Statement] = []
        for statement in item.body.statements:
            made = list(self._statement(statement, scope, 1))
            if self._registers:
                before = len(statements)
                while before and isinstance(statements[before - 1], ast.LabelStatement):
                    before -= 1
                statements.insert(before, ast.Registers(tuple(self._registers), statement.span))
                self._registers = []
            statements += made
        return replace(item, body=replace(item.body, statements=tuple(statements)))

    def _stays(self, scope: ExpansionScope) -> bool:
        """Whether statements stay as they are written."""
        return scope.plain and not self._world.groups

    def _put_in(self, scope: ExpansionScope) -> Substitution:
        return Substitution(scope, self._report, self._one_of)

    def _block(self, block: ast.Block, scope: ExpansionScope, depth: int) -> ast.Block:
        if depth > MAX_NESTING:
            self._too_deep(scope, block.span)
        made = (part for statement in block.statements for part in self._statement(statement, scope, depth))
        return ast.Block(tuple(made), scope.at(block.span))

    def _too_deep(self, scope: ExpansionScope, span: Span) -> None:
        message = f"nested more than {MAX_NESTING} deep when it is expanded"
        self._report.error("RR109", scope.at(first_line(span)), message, hint="split it into simpler parts")
        raise ExpansionLimit

    def _spend(self, scope: ExpansionScope, span: Span) -> None:
        self._spent += not scope.plain or self._report.copy is not None
        if self._spent > MAX_EXPANDED:
            outermost = list(scope.at(span).chain())[-1] if scope.origin is not None else first_line(span)
            copies = "`for` and macros" if self._report.copy is None else "families, `for` and macros"
            self._report.error(
                "RR215",
                outermost,
                f"this program is too large: {copies} make more than {MAX_EXPANDED:,} statements",
                hint="a `while` loop makes no copies; it needs a register to count and a `domain`",
            )
            raise ExpansionLimit

    def _statement(self, statement: ast.Statement, scope: ExpansionScope, depth: int) -> Iterator[ast.Statement]:
        self._spend(scope, statement.span)
        match statement:
            case ast.For():
                yield from self._copies(statement, scope, depth)
            case ast.MacroCall():
                yield from self._expansion(statement, scope, depth)
            case ast.Registers(registers) if scope.calls == 0 and scope.origin is None:
                yield replace(statement, registers=tuple(_given(each, self._put_in(scope)) for each in registers))
            case ast.Registers():
                pass
            case _ if self._stays(scope) and not blocks_of(statement):
                yield statement
            case _:
                put_in = self._put_in(scope)
                made = self._with_blocks(statement, put_in, depth)
                if not put_in.failed:
                    yield made

    def _with_blocks(self, statement: ast.Statement, put_in: Substitution, depth: int) -> ast.Statement:
        """Return a statement with what its names stand for, and with its blocks written out."""
        scope = put_in.scope
        span = scope.at(statement.span)
        looping = replace(scope, again=True)
        match statement:
            case ast.If(arms, otherwise):
                made = tuple(
                    ast.Arm(put_in.expression(a.condition), self._block(a.block, scope, depth + 1), scope.at(a.span))
                    for a in arms
                )
                return ast.If(made, otherwise and self._block(otherwise, scope, depth + 1), span)
            case ast.While(condition, body):
                return ast.While(put_in.expression(condition), self._block(body, looping, depth + 1), span)
            case ast.Loop(body):
                return ast.Loop(self._block(body, looping, depth + 1), span)
            case ast.Choose(branches):
                return ast.Choose(tuple(self._block(b, scope, depth + 1) for b in branches), span)
            case ast.BrokenStatement(blocks):
                return ast.BrokenStatement(tuple(self._block(b, scope, depth + 1) for b in blocks), span)
            case ast.For() | ast.MacroCall():
                raise AssertionError("these are written out, and never put in")
            case _:
                return put_in.statement(statement)

    def _copies(self, loop: ast.For, scope: ExpansionScope, depth: int) -> Iterator[ast.Statement]:
        self._check_counter(loop, scope)
        put_in = self._put_in(scope)
        low, high = (self._constants.value(put_in.expression(bound)) for bound in (loop.low, loop.high))
        if low is None or high is None:
            return
        head = replace(
            loop.span, end_line=loop.high.span.end_line, end_column=loop.high.span.end_column, end=loop.high.span.end
        )
        if low > high:
            bounds = replace(head, line=loop.low.span.line, column=loop.low.span.column, start=loop.low.span.start)
            self._report.warn("RR705", scope.at(bounds), f"this `for` makes no copies: {low} is more than {high}")
        for value in range(low, high + 1):
            counter = Meaning("counter", number_expr(value, loop.counter.span))
            meanings = {**scope.meanings, loop.counter.text: counter}
            inner = replace(scope, meanings=meanings, origin=self._report.at(scope.at(head)))
            self._spend(inner, loop.span)
            for statement in loop.body.statements:
                yield from self._statement(statement, inner, depth)

    def _check_counter(self, loop: ast.For, scope: ExpansionScope) -> None:
        name = loop.counter.text
        meaning = scope.meanings.get(name)
        if meaning is not None:
            what = "the number of a copy" if meaning.kind == "number" else f"a {meaning.kind}"
            self._report.error("RR205", scope.at(loop.counter.span), f"{quote(name)} is {what} already")
        elif name in self._world.constants:
            line = self._world.constants[name].span.line
            self._report.error(
                "RR205", scope.at(loop.counter.span), f"counter {quote(name)} has the name of a constant (line {line})"
            )
        elif scope.calls == 0 and name in self._own:
            self._report.error(
                "RR205",
                loop.counter.span,
                f"counter {quote(name)} has the name of {self._own[name]}",
                hint="a `for` declares its counter itself; give one of them another name",
            )

    def _expansion(self, call: ast.MacroCall, scope: ExpansionScope, depth: int) -> Iterator[ast.Statement]:
        macro = self._macros.of(call)
        arguments = [self._argument(argument, scope) for argument in call.arguments]
        if macro is None or None in arguments:
            return
        if scope.calls >= MAX_NESTING:
            self._too_deep(scope, call.span)
        if macro.name.text not in self._checked:
            self._checked.add(macro.name.text)
            check_names(macro, self._world.constants, self._report)
        origin = self._report.at(scope.at(call.span))
        meanings = {
            parameter.text: Meaning("parameter", argument)
            for parameter, argument in zip(macro.parameters, arguments, strict=True)
            if argument is not None
        }
        outside = ExpansionScope(meanings, origin, scope.calls + 1, scope.again)
        inner = replace(outside, meanings=meanings | self._declared(macro, outside))
        self._spend(inner, call.span)
        for k, statement in enumerate(macro.body.statements):
            if isinstance(statement, ast.Registers):
                if scope.again:
                    yield from self._begun_again(statement, macro.body.statements[k + 1 :], inner)
            else:
                yield from self._statement(statement, inner, depth)

    def _declared(self, macro: ast.Macro, scope: ExpansionScope) -> dict[str, Meaning]:
        """Declare registers for an expansion, and return what their names in the macro stand for."""
        put_in = self._put_in(scope)
        found: dict[str, Meaning] = {}
        for statement in macro.body.statements:
            for register in statement.registers if isinstance(statement, ast.Registers) else ():
                name = free_name(f"{macro.name.text}_{register.name.text}", self._given)
                span = scope.at(register.name.span)
                found[register.name.text] = Meaning("register", ast.Ref(None, ast.Ident(name, span), None, span))
                value = put_in.expression(register.value) if register.value is not None else None
                self._registers.append(ast.Binding(ast.Ident(name, span), value, scope.at(register.span)))
                self._report.shown_as[name] = register.name.text
        return found

    def _begun_again(
        self, declared: ast.Registers, rest: tuple[ast.Statement, ...], scope: ExpansionScope
    ) -> Iterator[ast.Statement]:
        """Yield what gives registers their initial values where an expansion in a loop begins once more.

        What the macro assigns before it uses it needs none.
        """
        put_in = self._put_in(scope)
        for register in declared.registers:
            if not _assigned_first(register.name.text, rest):
                name = put_in.target(ast.Ref(None, register.name, None, register.name.span))
                value = register.value or ast.NumberLiteral(0, register.name.span)
                yield ast.Assign(name, put_in.expression(value), "", scope.at(register.span))

    def _argument(self, argument: ast.Expr, scope: ExpansionScope) -> ast.Expr | None:
        """Return what an argument stands for: a name, an element of an array, or a number; None after an error."""
        found = self._put_in(scope).expression(argument)
        if isinstance(found, ast.Ref):
            return found
        known = self._world.constants
        todo: list[ast.Expr] = [found]
        while todo:
            match todo.pop():
                case ast.Unary(_, arg):
                    todo.append(arg)
                case ast.Binary(_, left, right):
                    todo += (left, right)
                case ast.NumberLiteral():
                    pass
                case ast.Ref(None, name, None) if name.text in known or name.text in self._world.poisoned:
                    pass
                case _:
                    self._report.error(
                        "RR222",
                        scope.at(first_line(argument.span)),
                        "an argument is a name or a constant, and this has to be calculated",
                        hint="calculate it into a register first, and hand that over",
                    )
                    return None
        value = self._constants.value(found)
        return None if value is None else number_expr(value, found.span)


def _given(register: ast.Binding, put_in: Substitution) -> ast.Binding:
    return register if register.value is None else replace(register, value=put_in.expression(register.value))


def _assigned_first(name: str, statements: tuple[ast.Statement, ...]) -> bool:
    """Whether the first of `statements` that mentions a register gives it a value of which it is no part."""
    for statement in statements:
        match statement:
            case ast.Assign(ast.Ref(None, target, None), value, "") if target.text == name:
                return name not in names_mentioned(ast.Assert(value))
            case _:
                inside = statements_in(ast.Block((statement,)))
                if any(name in names_mentioned(part) for part in inside):
                    return False
    return True
