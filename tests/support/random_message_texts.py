"""Message programs as `.mp` text, a line for each statement, for those without functions and marks of calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rdma_robust.errors import Span
from rdma_robust.expr import Const
from rdma_robust.messages.language.message_program import (
    Abort,
    Assert,
    Assign,
    Assume,
    Block,
    Choose,
    CollectiveCall,
    Completion,
    For,
    Halt,
    If,
    InlinedCall,
    IssueReceive,
    IssueSend,
    Loop,
    MessageProgram,
    Place,
    Requests,
    Return,
    Statement,
    Wait,
    While,
)
from rdma_robust.messages.language.message_terms import Term
from rdma_robust.messages.traces.trace_writing import expression_of_term


def expressible(program: MessageProgram) -> MessageProgram:
    """Return the program with functions as what is in them, without their returns, and without marks of calls; `g` is an
    array of two requests from the start."""
    start = Requests("g", Const(2))
    return replace(program, processes=tuple(replace(each, body=(start, *_flat(each.body))) for each in program.processes))


def _flat(block: Block) -> Block:
    return tuple(each for statement in block for each in _parts(statement))


def _parts(statement: Statement) -> Block:
    match statement:
        case CollectiveCall() | Return() | If(then=(Return(),)) | Wait(requests=()) | Requests():
            return ()
        case InlinedCall(_, body):
            return _flat(body)
        case If(condition, then, other, span):
            return (If(condition, _flat(then), _flat(other), span),)
        case Choose(branches, span):
            return (Choose(tuple(_flat(each) for each in branches), span),)
        case While() | Loop() | For():
            return (replace(statement, body=_flat(statement.body)),)
        case _:
            return (statement,)


@dataclass
class MessageText:
    """The text, and on which of its lines what stands at a place of the program stands now."""

    lines: list[str] = field(default_factory=list)
    where: dict[Span, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def add(self, line: str, *spans: Span) -> None:
        self.lines.append(line)
        self.where.update((span, len(self.lines)) for span in spans)


def message_text(program: MessageProgram) -> MessageText:
    """Return the text of an expressible program with registers a, b, c and s, besides counters, and requests h, k, g."""
    made = MessageText()
    made.add(f"port {', '.join(program.ports[1:])}")
    for process in program.processes:
        made.add(f"{'daemon ' if process.daemon else ''}proc {process.name} {{")
        made.add("reg a, b, c, s")
        made.add("req h, k, g[2]")
        _write(process.body[1:], made)
        made.add("}")
    return made


def _write(block: Block, made: MessageText) -> None:
    if not block:
        made.add("skip")
    statements = list(block)
    while statements:
        statement = statements.pop(0)
        if isinstance(statement, IssueSend | IssueReceive):
            hidden = statement.request.name.startswith("$")
            spans = [statement.span]
            if hidden:
                wait = statements.pop(0)
                assert isinstance(wait, Wait)
                spans.append(wait.span)
            made.add(_issued(statement, "" if hidden else f"{_place(statement.request)} = i"), *spans)
        else:
            for line in _line(statement, made):
                made.add(line, statement.span)


def _issued(statement: IssueSend | IssueReceive, start: str) -> str:
    port = " on ctl" if statement.port else ""
    if isinstance(statement, IssueSend):
        to, tag = expression_of_term(statement.to), expression_of_term(statement.tag)
        mode = "" if statement.mode == "standard" else f"{statement.mode} "
        return f"{start}send {mode}{expression_of_term(statement.value)} to {to}{port} tag {tag}"
    source = _or_any(statement.source, statement.sender)
    return f"{start}recv {_place(statement.target)} from {source}{port} tag {_or_any(statement.tag, statement.which)}"


def _or_any(term: Term | None, stored: Place | None) -> str:
    if term is not None:
        return expression_of_term(term)
    return "any" if stored is None else f"any {_place(stored)}"


def _place(place: Place) -> str:
    return place.name + "".join(f"[{expression_of_term(each)}]" for each in place.indices)


def _line(statement: Statement, made: MessageText) -> Iterator[str]:
    match statement:
        case Assign(target, value):
            yield f"{_place(target)} = {expression_of_term(value)}"
        case Wait(requests):
            yield f"wait {', '.join(map(_place, requests))}"
        case Completion(requests, how, tests, flag, which, places):
            words = ("test" if how == "all" else f"test {how}") if tests else f"wait {how}"
            into = [_place(each) for each in (flag, which, places) if each is not None]
            yield f"{words} {', '.join(map(_place, requests))} into {', '.join(into)}"
        case Abort(error):
            yield f"abort 0 + {expression_of_term(error)}"
        case Assume(condition) | Assert(condition):
            yield f"{'assume' if isinstance(statement, Assume) else 'assert'} {expression_of_term(condition)}"
        case Halt():
            yield "halt"
        case _:
            yield from _nested(statement, made)


def _nested(statement: Statement, made: MessageText) -> Iterator[str]:
    match statement:
        case If(condition, then, other):
            heads, blocks = [f"if {expression_of_term(condition)} {{", "} else {"], [then, other]
        case While(condition, body):
            heads, blocks = [f"while {expression_of_term(condition)} {{"], [body]
        case Loop(body):
            heads, blocks = ["loop {"], [body]
        case For(counter, low, high, body):
            heads, blocks = [f"for {counter} in {expression_of_term(low)}..{expression_of_term(high)} {{"], [body]
        case Choose(branches):
            heads, blocks = ["choose {", *["} or {"] * (len(branches) - 1)], list(branches)
        case _:
            raise ValueError(f"no text for {statement}")
    for number, (head, block) in enumerate(zip(heads, blocks, strict=True)):
        made.add(head, *[statement.span] * (number == 0))
        _write(block, made)
    yield "}"
