"""One process of any number whose own number is a term: its events, faults, and what it has in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, Literal

from rdma_robust.contracts.any_procs.any_events import (
    NPROCS,
    Counters,
    Need,
    ParametricEvent,
    ParametricRun,
    Received,
    Registers,
    assigned_globals,
    either,
    input_of,
    opaque,
    register,
    unknown,
)
from rdma_robust.contracts.any_procs.any_terms import TermReader
from rdma_robust.contracts.any_procs.any_values import (
    ArrayTerm,
    Bool,
    Int,
    LazyValue,
    NumberTerm,
    TermValue,
    UnrecognisedError,
    ValueTerm,
    conditional,
    in_range,
    known_truth,
)
from rdma_robust.contracts.any_procs.loop_states import LoopContext, all_statements, has_no_events, returns_early, stored_in
from rdma_robust.contracts.language.contract_program import Contract
from rdma_robust.errors import Span
from rdma_robust.guarded_z3 import z3
from rdma_robust.messages.language.message_program import (
    Assert,
    Assign,
    Block,
    CollectiveCall,
    For,
    If,
    InlinedCall,
    IssueReceive,
    IssueSend,
    Place,
    Return,
    Statement,
    Wait,
)
from rdma_robust.messages.language.message_terms import Term

_DEEPEST: Final = 12
"""Iterations that are looked at for the value of one."""


class ParametricFunction:
    """A function whose processes are terms. `contracts` are those of what it may call."""

    def __init__(self, body: InlinedCall, globals_: tuple[str, ...], contracts: Mapping[str, Contract]) -> None:
        self.body = body
        self.globals = globals_
        self.contracts = contracts
        self.received: Received = opaque
        self.depth = 0
        self.numbers = {id(each): number for number, each in enumerate(all_statements((body,)))}
        self._runs: dict[tuple[Any, ...], tuple[ParametricRun, Any]] = {}

    def entry(self, process: Int) -> tuple[Registers, Registers]:
        """Return the parameters and globals that a process has as it enters."""
        parameters: Registers = {
            name: ValueTerm(input_of("parameter", name)(process)) for name, _ in self.body.call.arguments
        }
        globals_: Registers = {name: ValueTerm(input_of("global", name)(process)) for name in self.globals}
        return parameters, globals_

    def run(self, process: Int, counters: Counters, *, strict: bool = False) -> ParametricRun:
        """Return what a process does, where the counters of some loops are what is asked for. Raises UnrecognisedError.

        Only if that is `strict` it is noted what must be true for there to be no fault.
        """
        counted = ((loop, term.get_id()) for loop, term in sorted(counters.items()))
        key = (process.get_id(), *counted, id(self.received), strict)
        found = self._runs.get(key)
        if found is None:
            walk = ParametricExecution(self, process, counters, strict=strict)
            parameters, globals_ = self.entry(process)
            registers = dict(globals_)
            for name, term in self.body.call.arguments:
                registers[getattr(term, "name", name)] = parameters[name]
            walk.run.registers = walk.block(self.body.body, registers)
            # what the key is made of has to stay, or z3 gives its number to another term
            found = self._runs[key] = walk.run, (process, dict(counters), self.received)
        return found[0]

    def event(self, number: int, process: Int, counters: Counters) -> ParametricEvent | None:
        """Return one event of a process; None if it never happens there."""
        return self.run(process, counters).events.get(number)


class ParametricExecution:
    """Goes through the text for one process.

    One that is `strict` notes where faults are possible; others compute values when they are looked at. One that is `quiet`
    notes no events either.
    """

    def __init__(
        self, function: ParametricFunction, process: Int, counters: Counters, *, strict: bool = False, quiet: bool = False
    ) -> None:
        self.function = function
        self.process = process
        self.counters = counters
        self.strict = strict
        self.quiet = quiet
        self.run = ParametricRun()
        self.guards: list[Bool] = []
        self.loops: dict[int, Int] = {}
        self._ranges: dict[int, tuple[Int, Int]] = {}
        self._gone: Bool = z3.BoolVal(False)
        self._base = 0
        self._segment = 0

    # what must be true

    def need(self, condition: Bool, span: Span) -> None:
        """Note that it is a fault if a condition is false here."""
        if self.strict and known_truth(condition) is not True:
            self.run.needs.append(Need(self.guard(), condition, span))

    def guard(self) -> Bool:
        return z3.And(*self.guards) if self.guards else z3.BoolVal(True)

    @contextmanager
    def under(self, *conditions: Bool) -> Iterator[None]:
        """Go on where conditions are true."""
        self.guards += conditions
        yield
        del self.guards[len(self.guards) - len(conditions) :]

    def terms(self, registers: Registers, span: Span) -> TermReader:
        own = {"PID": NumberTerm(self.process), "NPROCS": NumberTerm(NPROCS)}
        return TermReader(self, registers, own, span)

    # statements

    def block(self, block: Block, registers: Registers) -> Registers:
        """Return the registers after a block."""
        for each in block:
            if z3.is_true(self._gone):
                return registers
            if z3.is_false(self._gone):
                registers = self.statement(each, registers)
                continue
            gone = self._gone
            with self.under(z3.Not(gone)):
                after = self.statement(each, registers)
            registers = either(gone, registers, after)
        return registers

    def statement(self, statement: Statement, registers: Registers) -> Registers:
        """Return the registers after a statement. Raises UnrecognisedError."""
        match statement:
            case Assign(target, value, span):
                return self._stored(target, lambda terms: terms.value(value), registers, span)
            case If() if not self.strict and has_no_events((statement,)):
                return self._aside(statement, registers)
            case If(condition, then, other, span):
                return self._if(condition, then, other, registers, span)
            case For():
                return self._for(statement, registers)
            case IssueSend():
                return self._send(statement, registers)
            case IssueReceive():
                return self._receive(statement, registers)
            case InlinedCall():
                return self._inlined(statement, registers)
            case Assert(condition, span):
                if self.strict:
                    self.need(self.terms(registers, span).truth(condition), span)
                return registers
            case Return():
                self._gone = z3.simplify(z3.Or(self._gone, z3.And(*self.guards[self._base :], z3.BoolVal(True))))
                return registers
            case CollectiveCall():
                return registers
            case Wait(requests) if all(each.name in ("$send", "$recv") for each in requests):
                return registers
        raise UnrecognisedError(f"line {statement.span.line}: {_WHY.get(type(statement).__name__, 'non-blocking')}")

    def _stored(
        self, target: Place, value: Callable[[TermReader], TermValue], registers: Registers, span: Span
    ) -> Registers:
        """Return the registers after something was stored; what is received is there already as indices are evaluated."""

        def made() -> TermValue:
            terms = self.terms(registers, span)
            indices = [terms.number(each) for each in target.indices]
            return self._with_element(register(registers, target.name), indices, value(terms), span)

        return {**registers, target.name: made() if self.strict else LazyValue(made)}

    def _with_element(self, array: TermValue, indices: list[Int], value: TermValue, span: Span) -> TermValue:
        if not indices:
            return value
        at, rest = indices[0], indices[1:]
        self.need(z3.Not(array.is_number()), span)
        self.need(in_range(at, 0, array.length() - 1), span)
        new = self._with_element(array.cell(at), rest, value, span)
        return ArrayTerm(array.length(), lambda k: conditional(k == at, lambda: new, lambda: array.cell(k)))

    def _aside(self, statement: If, registers: Registers) -> Registers:
        """Return the registers after a branch in which nothing is noted, each computed when it is looked at."""
        known: list[Registers] = []

        def after(name: str) -> TermValue:
            if not known:
                walk = self.aside()
                test = walk.terms(registers, statement.span).truth(statement.condition)
                first, second = walk.block(statement.then, registers), walk.block(statement.other, registers)
                known.append(either(test, first, second))
            return register(known[0], name)

        return {**registers, **{name: LazyValue(partial(after, name)) for name in stored_in((statement,))}}

    def _if(self, condition: Term, then: Block, other: Block, registers: Registers, span: Span) -> Registers:
        test = self.terms(registers, span).truth(condition)
        known = known_truth(test)
        if known is not None:
            return self.block(then if known else other, registers)
        segment, gone = self._segment, self._gone
        with self.under(test):
            first = self.block(then, registers)
        gone_first, self._gone = self._gone, gone
        with self.under(z3.Not(test)):
            second = self.block(other, registers)
        self._gone = z3.simplify(z3.Or(gone_first, self._gone))
        if self._segment != segment:
            raise UnrecognisedError(f"line {span.line}: a collective function is called in one branch")
        return either(test, first, second)

    def _for(self, loop: For, registers: Registers) -> Registers:
        if returns_early(loop.body):
            raise UnrecognisedError(f"line {loop.span.line}: a `return` inside of a loop")
        terms = self.terms(registers, loop.span)
        low, high = terms.number(loop.low), terms.number(loop.high)
        number = self.function.numbers[id(loop)]
        looped = LoopContext(self, loop, number, registers, (low, high))
        counter = self.counters.get(number)
        if counter is None:
            counter = z3.Int(f"i{number}")
        if not self.quiet:
            segment = self._segment
            looped.iteration(counter)
            if self._segment != segment and len(self.loops) > 0:
                raise UnrecognisedError(f"line {loop.span.line}: collective calls in loops inside of one another")
        return looped.after()

    def iteration(self, loop: For, number: int, counter: Int, span: tuple[Int, Int], registers: Registers) -> Registers:
        """Return the registers after one iteration of a loop over a range."""
        self.loops[number] = counter
        self._ranges[number] = span
        with self.under(in_range(counter, *span)):
            found = self.block(loop.body, {**registers, loop.counter: NumberTerm(counter)})
        del self.loops[number], self._ranges[number]
        return found

    def aside(self) -> ParametricExecution:
        """Return one who looks at another iteration, and notes nothing."""
        if self.function.depth > _DEEPEST:
            raise UnrecognisedError("what an iteration does depends on too many before")
        found = ParametricExecution(self.function, self.process, self.counters, quiet=True)
        found.loops = dict(self.loops)
        return found

    # events

    def _note(
        self, statement: IssueSend | IssueReceive | InlinedCall, kind: Literal["send", "recv", "call"], **more: Any
    ) -> None:
        if not self.quiet:
            number = self.function.numbers[id(statement)]
            span = statement.span
            ranges = tuple(self._ranges.values())
            event = ParametricEvent(number, kind, tuple(self.loops), self.guard(), span, self._segment, ranges, **more)
            self.run.events[number] = event

    def _send(self, statement: IssueSend, registers: Registers) -> Registers:
        span = statement.span
        if statement.request.name != "$send":
            raise UnrecognisedError(f"line {span.line}: non-blocking")
        terms = self.terms(registers, span)
        value, to, tag = terms.value(statement.value), terms.number(statement.to), terms.number(statement.tag)
        self.need(in_range(to, 0, NPROCS - 1), span)
        self.need(tag >= 0, span)
        self._note(statement, "send", peer=to, tag=tag, port=statement.port, value=value)
        return registers

    def _receive(self, statement: IssueReceive, registers: Registers) -> Registers:
        span = statement.span
        if statement.request.name != "$recv":
            raise UnrecognisedError(f"line {span.line}: non-blocking")
        if statement.source is None:
            raise UnrecognisedError(f"line {span.line}: a receive from any")
        if statement.which is not None:
            raise UnrecognisedError(f"line {span.line}: a tag is stored")
        terms = self.terms(registers, span)
        source = terms.number(statement.source)
        tag = None if statement.tag is None else terms.number(statement.tag)
        self.need(in_range(source, 0, NPROCS - 1), span)
        if tag is not None:
            self.need(tag >= 0, span)
        self._note(statement, "recv", peer=source, tag=tag, port=statement.port)
        value = self.function.received(self.function.numbers[id(statement)], self.process, dict(self.loops))
        return self._stored(statement.target, lambda _: value, registers, span)

    # functions

    def _inlined(self, call: InlinedCall, registers: Registers) -> Registers:
        callee = self.function.contracts.get(call.name)
        if callee is not None:
            return self._called(call, callee, registers)
        before = self._gone, self._base
        self._gone, self._base = z3.BoolVal(False), len(self.guards)
        found = self.block(call.body, registers)
        self._gone, self._base = before
        return found

    def _called(self, call: InlinedCall, callee: Contract, registers: Registers) -> Registers:
        number = self.function.numbers[id(call)]
        terms = self.terms(registers, call.span)
        arguments = {name: terms.value(term) for name, term in call.call.arguments}
        before = {name: register(registers, name) for name in self.function.globals}
        after, found = dict(before), dict(registers)
        for name in assigned_globals(callee, self.function.globals):
            after[name] = found[name] = ValueTerm(unknown(f"{name} after {number}", self.process, self.loops))
        result = ValueTerm(unknown(f"result of {number}", self.process, self.loops)) if call.call.result else None
        if result is not None:
            found[call.call.result] = result
        self._note(call, "call", callee=callee, arguments=arguments, before=before, after=after, result=result)
        self._segment += callee.kind == "collective"
        return found


_WHY: Final = {
    "While": "a `while`, whose number of rounds is not known",
    "Loop": "a `loop`",
    "Choose": "a `choose`",
    "Assume": "an `assume`",
    "Halt": "a `halt`",
}
