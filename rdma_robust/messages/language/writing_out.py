"""Statements of one process as the checked program has them: functions written out, what is constant computed.

More than 400 lines: one walk over statements, a method for each kind, which hand each other the scope they stand in.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import Span
from rdma_robust.expr import Const, Name
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import first_line
from rdma_robust.messages.language import message_program as made
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.collective_loops import entry_assignments, written_for, written_while
from rdma_robust.messages.language.message_folding import GuardedBlock, fold_operation, nested_ifs
from rdma_robust.messages.language.message_library import LIBRARY_REPORT
from rdma_robust.messages.language.message_parts import assigned_names, declared_names, gives_value, returns
from rdma_robust.messages.language.message_scope import (
    NOTHING,
    ProcessScope,
    in_scope,
    issued_collective,
    issued_receive,
    issued_send,
)
from rdma_robust.messages.language.message_terms import Length, Term
from rdma_robust.messages.language.message_world import (
    BUILT_IN,
    MAX_DEPTH,
    MAX_STATEMENTS,
    GlobalScope,
    InFunction,
    LocalName,
    ProcessDraft,
    TooLargeError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


class Writer:
    """Reads the statements of one process or function.

    With `written` calls are written out. Without, they are only checked, and so is everything else.
    """

    def __init__(
        self,
        scope: ProcessScope,
        library: GlobalScope,
        written: ProcessDraft | None = None,
        inside: InFunction | None = None,
        depth: int = 0,
    ) -> None:
        self.scope = scope
        self.world = scope.world
        self.report: Reporter = scope.report
        self._library = library
        self._written = written
        self._inside = inside
        self._depth = depth
        self._repeats = False
        self.remembered_names: tuple[str, ...] = ()
        """What the function remembers of its entry, for the contracts of its loops."""

    def block(self, block: ast.Block) -> made.Block:
        """Return the statements of a block."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooLargeError(f"more than {MAX_DEPTH} blocks and functions inside of one another")
        found: list[made.Statement] = []
        before = len(self.scope.declared)
        for line in tree.lines(block):
            new = self.line(line)
            found += new
            self._count(len(new))
        self.scope.leave(before)
        self._depth -= 1
        return tuple(found)

    def _count(self, number: int) -> None:
        if self._written is not None:
            self._written.left -= number
            if self._written.left < 0:
                raise TooLargeError(f"more than {MAX_STATEMENTS:,} statements")

    def at(self, span: Span) -> Span:
        """Return where a statement stands, and for one of a function from where that was called."""
        call = None if self._inside is None else self._inside.call
        return self.report.at(span) if call is None else replace(self.report.at(span), origin=call)

    def line(self, line: tree.Line) -> list[made.Statement]:
        """Return what a statement is written out to."""
        match line:
            case tree.RegisterLine(registers):
                return [each for declared in registers for each in self._register(declared)]
            case tree.RequestLine(requests):
                return [self._request(declared) for declared in requests]
            case ast.Assign():
                return self._assign(line)
            case tree.CallLine(call):
                return self._call_line(call)
            case tree.SendLine():
                return self._send(line)
            case tree.ReceiveLine():
                return self._receive(line)
            case tree.CollectiveLine():
                return self._collective(line)
            case tree.WaitLine(requests):
                places = tuple(self.scope.request(each, whole=True) for each in requests)
                return [made.Wait(places, self.at(line.span))]
            case tree.ProbeLine() | tree.CompletionLine() | tree.AbortLine():
                return [in_scope(self.scope, line, self.at(line.span))]
            case tree.ReturnLine():
                return self._return(line)
            case ast.Assume(condition, keyword):
                if keyword == "await":
                    hint = "write `assume`, or receive what is waited for"
                    self.report.error("RR909", line.span, "no register changes while its process waits", hint=hint)
                return [made.Assume(self.scope.term(condition), self.at(line.span))]
            case ast.Assert(condition):
                return [made.Assert(self._claimed(line.span, condition), self.at(line.span))]
            case ast.Halt():
                return [made.Halt(self.at(line.span))]
            case ast.Skip():
                return []
            case ast.If() | ast.While() | ast.For() | ast.Loop() | ast.Choose():
                return self._structured(line)
            case ast.BrokenStatement(blocks):
                for block in blocks:
                    self.block(block)
                return []

    def _claimed(self, span: Span, condition: object) -> Term:
        term = self.scope.term(condition)
        if self.scope.strict and isinstance(term, Const) and term.value:
            self.report.warn("RR745", span, "this can never fail: the condition is a constant")
        return term

    def _structured(self, line: ast.If | ast.While | ast.For | ast.Loop | ast.Choose) -> list[made.Statement]:
        match line:
            case ast.If(arms, otherwise):
                return list(self._if(arms, otherwise, line.span))
            case ast.While(condition, body):
                return self._while(line, self.scope.term(condition), body)
            case ast.For():
                return self._for(line)
            case ast.Loop(body):
                with self._repeated():
                    return [made.Loop(self.block(body), self.at(line.span))]
            case ast.Choose(branches):
                return [made.Choose(tuple(self.block(each) for each in branches), self.at(line.span))]

    @contextmanager
    def _repeated(self) -> Iterator[None]:
        before, self._repeats = self._repeats, True
        yield
        self._repeats = before

    def _dead(self, block: ast.Block) -> None:
        """Read a block that is never executed: names must be right, numbers need not be."""
        before, self.scope.strict = self.scope.strict, False
        written, self._written = self._written, None
        known = dict(self.scope.locals)
        self.block(block)
        self.scope.strict, self._written, self.scope.locals = before, written, known

    def _if(self, arms: tuple[ast.Arm, ...], otherwise: ast.Block | None, span: Span) -> made.Block:
        """Return an `if` with its `else if`s, without the branches that are known not to be the one."""
        blocks: list[GuardedBlock] = []
        for at, arm in enumerate(arms):
            condition = self.scope.term(arm.condition)
            if isinstance(condition, Const) and condition.value:
                other = self.block(arm.block)
                for block in (*(each.block for each in arms[at + 1 :]), *(() if otherwise is None else (otherwise,))):
                    self._dead(block)
                break
            if isinstance(condition, Const):
                self._dead(arm.block)
            else:
                blocks.append(GuardedBlock(condition, self.block(arm.block), self.at(arm.span if at else span)))
        else:
            other = () if otherwise is None else self.block(otherwise)
        return nested_ifs(blocks, other, lambda: self.hidden_register("$taken"))

    def _while(self, line: ast.While, condition: Term, body: ast.Block) -> list[made.Statement]:
        calls = self._is_called(line)
        if isinstance(condition, Const) and not condition.value and not calls:
            self._dead(body)
            return []
        with self._repeated():
            if calls:
                return written_while(self, line, condition)
            return [made.While(condition, self.block(body), self.at(line.span))]

    def _for(self, line: ast.For) -> list[made.Statement]:
        low, high = self.scope.term(line.low), self.scope.term(line.high)
        counter = self._declared(self.scope.declare(line.counter, "counter"))
        try:
            calls = self._is_called(line)
            if isinstance(low, Const) and isinstance(high, Const) and low.value > high.value and not calls:
                if self.scope.strict:
                    said = f"from {low.value} to {high.value} there is no number: this block is never executed"
                    self.report.warn("RR705", first_line(line.span), said)
                self._dead(line.body)
                return []
            with self._repeated():
                if calls:
                    return written_for(self, line, counter.written, (low, high))
                return [made.For(counter.written, low, high, self.block(line.body), self.at(line.span))]
        finally:
            counter.visible = False

    def _is_called(self, line: ast.While | ast.For) -> bool:
        """Whether a loop is written out as calls."""
        return line.contract is not None and self._written is not None and self._written.loops

    def hidden_register(self, name: str) -> made.Place:
        """Return a register that the text does not name."""
        if self._written is not None:
            self._written.registers.setdefault(name)
        return made.Place(name)

    def _declared(self, local: LocalName) -> LocalName:
        if self._written is not None:
            names = self._written.requests if local.kind == "request" else self._written.registers
            names.setdefault(local.written)
        return local

    def set_global(self, declared: tree.Declarator) -> list[made.Statement]:
        """Return what gives a register its first value that is declared outside of processes."""
        size = None if declared.size is None else self.scope.zeros(self.scope.term(declared.size), declared.size.span)
        called = self._called(declared.value) is not None  # which is an error, and was reported
        value = None if declared.value is None or called else self.scope.term(declared.value)
        return self._first_value(made.Place(declared.name.text), size, value, self.at(declared.span))

    def _register(self, declared: tree.Declarator) -> list[made.Statement]:
        call = self._called(declared.value)
        size = None if declared.size is None else self.scope.zeros(self.scope.term(declared.size), declared.size.span)
        before: list[made.Statement] = []
        value: Term | None = None
        if call is not None:
            before, value = self._call(call)
        elif declared.value is not None:
            value = self.scope.term(declared.value)
        local = self._declared(self.scope.declare(declared.name, "register"))
        if size is None and value is None and (local.again or self._repeats):
            value = NOTHING
        return [*before, *self._first_value(made.Place(local.written), size, value, self.at(declared.span))]

    def _first_value(self, place: made.Place, size: Term | None, value: Term | None, span: Span) -> list[made.Statement]:
        """Return what gives a register its first value; without one it is 0 still."""
        if size is not None:
            filled = [] if value is None else self._filled(place, value, span)
            return [made.Assign(place, size, span), *filled]
        return [] if value is None else [made.Assign(place, value, span)]

    def _filled(self, place: made.Place, value: Term, span: Span) -> list[made.Statement]:
        """Return what gives every element of a new array the same value."""
        index, filling = f"{place.name}$index", f"{place.name}$value"
        if self._written is not None:
            self._written.registers |= dict.fromkeys((index, filling))
        high = fold_operation("-", Length(Name(place.name)), Const(1))
        each = made.Assign(made.Place(place.name, (Name(index),)), Name(filling), span)
        return [made.Assign(made.Place(filling), value, span), made.For(index, Const(0), high, (each,), span)]

    def _request(self, declared: tree.Declarator) -> made.Statement:
        size = None if declared.size is None else self.scope.term(declared.size)
        if size is not None and declared.size is not None:
            self.scope.zeros(size, declared.size.span)
        local = self._declared(self.scope.declare(declared.name, "request", array=size is not None))
        return made.Requests(local.written, size, self.at(declared.span))

    def _called(self, value: object) -> tree.FunctionCall | None:
        """Return the call of a function that is all of an expression."""
        if isinstance(value, tree.FunctionCall) and value.name.text not in BUILT_IN:
            return value
        return None

    def _assign(self, line: ast.Assign) -> list[made.Statement]:
        target, value = tree.target(line), tree.operand(line.value)
        call = None if line.op else self._called(value)
        if call is not None:
            before, result = self._call(call)
            return [*before, made.Assign(self.scope.register(target), result, self.at(line.span))]
        place, term = self.scope.register(target), self.scope.term(value)
        if line.op:
            if line.op in "/%" and term == Const(0) and self.scope.strict:
                self.report.error("RR917", line.value.span, "division by zero")
            term = fold_operation(line.op, self.scope.term(target), term)
        return [made.Assign(place, term, self.at(line.span))]

    def _send(self, line: tree.SendLine) -> list[made.Statement]:
        span = self.at(line.span)
        if line.request is not None:
            return [issued_send(self.scope, line, self.scope.request(line.request), span)]
        hidden = self._hidden("$send")
        return [issued_send(self.scope, line, hidden, span), made.Wait((hidden,), span)]

    def _receive(self, line: tree.ReceiveLine) -> list[made.Statement]:
        span = self.at(line.span)
        if line.request is not None:
            return [issued_receive(self.scope, line, self.scope.request(line.request), span)]
        hidden = self._hidden("$recv")
        return [issued_receive(self.scope, line, hidden, span), made.Wait((hidden,), span)]

    def _collective(self, line: tree.CollectiveLine) -> list[made.Statement]:
        span = self.at(line.span)
        if line.request is not None:
            return [issued_collective(self.scope, line, self.scope.request(line.request), span)]
        hidden = self._hidden("$collective")
        return [issued_collective(self.scope, line, hidden, span), made.Wait((hidden,), span)]

    def _hidden(self, name: str) -> made.Place:
        """Return the request of a statement that waits for it at once."""
        if self._written is not None:
            self._written.requests.setdefault(name)
        return made.Place(name)

    def _return(self, line: tree.ReturnLine) -> list[made.Statement]:
        span = self.at(line.span)
        term = None if line.value is None else self.scope.term(line.value)
        if self._inside is None:
            if line.value is not None:
                self.report.error("RR908", line.value.span, "a process has no result", hint="`return` alone ends it")
            return [made.Halt(span)]
        if term is None:
            return [made.Return(span)]
        return [made.Assign(made.Place(self._inside.result), term, span), made.Return(span)]

    def _call_line(self, call: tree.FunctionCall) -> list[made.Statement]:
        if call.name.text in BUILT_IN:
            self.scope.term(call)
            self.report.error("RR908", call.span, f"the value of `{call.name.text}` is used nowhere")
            return []
        return self._call(call, used=False)[0]

    def _call(self, call: tree.FunctionCall, *, used: bool = True) -> tuple[list[made.Statement], Term]:
        """Return a call written out, and its result."""
        name = call.name.text
        function = self.world.function(name)
        arguments = [self.scope.term(each) for each in call.arguments]
        self.world.called.add(name)
        if function is None:
            self.scope.unknown_function(call)
        elif len(arguments) != len(function.parameters):
            taken, given = len(function.parameters), len(arguments)
            said = f"{quote(name)} takes {taken or 'no'} argument{'s' * (taken != 1)}, and here are {given or 'none'}"
            written = f"{name}({', '.join(each.text for each in function.parameters)})"
            self.report.error("RR906", call.span, said, expected=quote(written))
        elif used and not returns(function.body):
            self.report.error("RR908", call.span, f"{quote(name)} returns nothing", hint="call it on a line of its own")
        elif self._written is not None:
            return self._inlined(function, call, arguments, self._written)
        return [], NOTHING

    def _inlined(
        self, function: tree.FunctionItem, line: tree.FunctionCall, arguments: list[Term], written: ProcessDraft
    ) -> tuple[list[made.Statement], Term]:
        """Return the statements of a function with these arguments. What is constant and stays so needs no register."""
        name, span = function.name.text, self.at(line.span)
        written.calls[name] += 1
        prefix = f"{name}." if written.calls[name] == 1 else f"{name}@{written.calls[name]}."
        of_library = self.world.is_library or name not in self.world.functions
        world = self._library if of_library else self.world
        written.uses_library |= of_library
        changed = assigned_names(function.body)
        constants = {
            parameter.text: term
            for parameter, term in zip(function.parameters, arguments, strict=True)
            if isinstance(term, Const) and parameter.text not in changed and (not of_library or parameter.text == "root")
        }
        report = LIBRARY_REPORT if of_library else self.report
        inner = ProcessScope(world, report, self.scope.pid, constants, prefix)
        inner.strict = False
        found: list[made.Statement] = []
        root: Term | None = None
        for parameter, term in zip(function.parameters, arguments, strict=True):
            if parameter.text not in constants:
                place = made.Place(self._declared(inner.declare(parameter, "register")).written)
                found.append(made.Assign(place, term, span))
            if parameter.text == "root":
                root = constants.get(parameter.text, Name(prefix + parameter.text))
        if of_library and not self.world.is_library:
            found.append(made.CollectiveCall(name, root, span))
        result, gives = f"{prefix}{'.' * ('result' in declared_names(function))}result", returns(function.body)
        writer = Writer(inner, self._library, written, InFunction(result, span), self._depth)
        writer._repeats = self._repeats
        if gives:
            written.registers.setdefault(result)
        kept = entry_assignments(writer, function, prefix) if written.loops else []
        body = (*kept, *writer.block(function.body))
        if gives and not gives_value(body, result):
            found.append(made.Assign(made.Place(result), NOTHING, span))
        given = tuple((each.text, constants.get(each.text, Name(prefix + each.text))) for each in function.parameters)
        call = made.Call(given, result if gives else "")
        return [*found, made.InlinedCall(name, body, span, call, of_library)], Name(result)

    def entered(self, function: tree.FunctionItem) -> made.InlinedCall:
        """Return a function as it is when all its arguments are in the registers that its `call` names."""
        assert self._written is not None
        call = tree.FunctionCall(function.name, (), function.name.span)
        arguments: list[Term] = [Name(each.text) for each in function.parameters]
        inlined = self._inlined(function, call, arguments, self._written)[0][-1]
        assert isinstance(inlined, made.InlinedCall)
        return inlined
