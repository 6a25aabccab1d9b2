"""Syntax trees of `.mp` programs and their contracts as text, each in its one canonical form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, cast

from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.expressions import chain_text
from rdma_robust.language.syntax.formatter import Style, format_source
from rdma_robust.language.syntax.printer import common_statement, needs_brackets
from rdma_robust.messages.language import contract_tree as contracts
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_words import message_grammar

_OPEN = (contracts.LetIn, contracts.OverRange)
_LOOSE = (ast.Binary, contracts.ComparisonChain, contracts.Conditional)


def expression_text(node: object, *, last: bool = True) -> str:
    """Return an expression of a program or contract with the brackets it needs, and those around `&&` in `||`.

    What begins with a word such as `\\forall` goes on as far as it can: it needs them where it is not the `last` part.
    """
    match node:
        case ast.NumberLiteral(value):
            return str(value)
        case tree.IndexedName(name, indices):
            return name.text + "".join(f"[{expression_text(index)}]" for index in indices)
        case contracts.NameTerm(name):
            return name.text
        case tree.FunctionCall(name, arguments):
            return f"{name.text}({', '.join(map(expression_text, arguments))})"
        case tree.OwnNumber():
            return "PID"
        case tree.ProcessCount():
            return "NPROCS"
        case ast.Unary(op, arg):
            return op + _bracketed(arg, isinstance(arg, _LOOSE), last)
        case ast.Binary():
            return chain_text(node, lambda part, op, right, ends: _operand(part, op, right, last and ends))
        case contracts.ComparisonChain(operands, operators):
            pairs = zip(operators, operands[1:], strict=True)
            whole = len(operands) - 2
            rest = [f" {op} {_operand(each, op, 1, last and at == whole)}" for at, (op, each) in enumerate(pairs)]
            return _operand(operands[0], operators[0], 1, False) + "".join(rest)
        case contracts.Conditional(test, then, other):
            shown = _bracketed(test, isinstance(test, contracts.Conditional), False)
            return f"{shown} ? {expression_text(then)} : {expression_text(other)}"
        case _:
            return _word_text(node)


def _word_text(node: object) -> str:
    match node:
        case contracts.CellTerm(array, index):
            needs = isinstance(array, (ast.Unary, *_LOOSE))
            return f"{_bracketed(array, needs, False)}[{expression_text(index)}]"
        case contracts.ResultWord():
            return "\\result"
        case contracts.Position(name):
            return f"\\{name}"
        case contracts.AtProcess(process, value):
            return f"\\on({expression_text(process)}, {expression_text(value)})"
        case contracts.AtEntry(value, word):
            return f"{word}({expression_text(value)})"
        case contracts.AgreeTerm(value):
            return f"\\agree({expression_text(value)})"
        case contracts.LetIn(named, value, inner):
            return f"\\let {named.text} = {expression_text(value)} : {expression_text(inner)}"
        case contracts.OverRange(kind, named, low, high, inner, _, type_):
            over = ";" if low is None else f" in {_range(low, high)} :"
            typed = "" if type_ is None else f"{type_.text} "
            return f"\\{kind} {typed}{named.text}{over} {expression_text(inner)}"
        case contracts.AbsenceClause(what, after, until):
            return f"\\no {_event(what)} \\after {_event(after)} \\until {_event(until)}"
        case contracts.ExtremeTerm(kind, arguments):
            return f"\\{kind}({', '.join(map(expression_text, arguments))})"
    raise TypeError(node)


def _bracketed(node: object, needs: bool, last: bool) -> str:
    """Return an operand, in brackets if it `needs` them, or is not the last and would go on too far."""
    if needs or (isinstance(node, _OPEN) and not last):
        return f"({expression_text(node)})"
    return expression_text(node, last=last)


def _operand(node: object, op: str, right: int, last: bool) -> str:
    inner = _operator(node)
    if not inner:
        return _bracketed(node, isinstance(node, contracts.Conditional), last)
    if op == "==>" or inner == "==>":
        return _bracketed(node, inner == "==>" and (op != "==>" or not right), last)
    return _bracketed(node, needs_brackets(inner, op, right), last)


def _operator(node: object) -> str:
    """Return the operator by which an expression binds, nothing if it is not one with an operator between operands."""
    return (
        node.op if isinstance(node, ast.Binary) else node.operators[0] if isinstance(node, contracts.ComparisonChain) else ""
    )


def _range(low: object, high: object) -> str:
    return f"{_end(low)}..{_end(high)}"


def _end(node: object) -> str:
    """Return an end of a range: whatever binds less than `+` is in brackets."""
    inner = _operator(node)
    loose = inner == "==>" or needs_brackets(inner, "+", 0) if inner else isinstance(node, contracts.Conditional)
    return _bracketed(node, loose, False)


def _set(found: contracts.SetOf) -> str:
    if found.word:
        return f"\\{found.word}"
    return expression_text(found.low) if found.high is None else _range(found.low, found.high)


def _event(event: contracts.EventOf) -> str:
    return f"\\{event.word}({', '.join(map(_set, event.arguments))})"


def clause_text(part: contracts.Part) -> str:
    """Return a clause without its `;`, or the head of a behavior."""
    match part:
        case contracts.ConditionClause(word, value, condition):
            return f"{word} {expression_text(value)}{_if(condition)}"
        case contracts.Behaviors(word, names):
            return f"{word} behaviors" + (" " if names else "") + ", ".join(each.text for each in names)
        case contracts.AssignsLine(cells):
            return "assigns " + (", ".join(map(_cells, cells)) or "\\nothing")
        case contracts.BoundsLine(name, lengths, low, high):
            shown = "".join(f" len {_range(each.low, each.high)}" for each in lengths)
            return f"bounds {name.text}{shown}" + ("" if low is None else f" in {_range(low, high)}")
        case contracts.WaitsForClause(who, condition):
            return f"waitsfor {_set(who)}{_if(condition)}"
        case contracts.Quiet(who, port, tag, until, condition):
            shown = "" if port is None else f" on {port.text}"
            tagged = "" if tag is None else f" tag {expression_text(tag)}"
            ends = "" if until is None else f" until {_set(until)}"
            return f"quiet {'from' if until is None else 'to'} {_set(who)}{shown}{tagged}{ends}{_if(condition)}"
        case contracts.BehaviorHead(name):
            return f"behavior {name.text}:"
        case ast.BrokenStatement():
            return ""


def _cells(cells: contracts.CellsOf) -> str:
    if cells.low is None:
        return cells.name.text
    inside = expression_text(cells.low) if cells.high is None else _range(cells.low, cells.high)
    return f"{cells.name.text}[{inside}]"


def _if(condition: object) -> str:
    return "" if condition is None else f" if {expression_text(condition)}"


def contract_lines(contract: contracts.ContractText) -> Iterator[tuple[int, str, Span]]:
    """Yield the lines between the braces of a contract: how far each is indented, its text, and where it stood.

    `assumes` stands on the line of the head before it.
    """
    depth = 0
    parts = list(contract.parts)
    while parts:
        part = parts.pop(0)
        if not isinstance(part, contracts.BehaviorHead):
            depth = 0 if isinstance(part, contracts.Behaviors) else depth
            yield depth, f"{clause_text(part)};", part.span
            continue
        depth = 1
        text, span = clause_text(part), part.span
        if parts and isinstance(parts[0], contracts.ConditionClause) and parts[0].word == "assumes":
            assumed = parts.pop(0)
            text += f" {clause_text(assumed)};"
            span = _joined(span, assumed.span)
        yield 0, text, span


def _joined(first: Span, last: Span) -> Span:
    return Span(first.line, first.column, last.end_line, last.end_column, first.start, last.end, first.file)


def contract_of(item: object) -> tuple[str, Span, list[tuple[int, str, Span]]] | None:
    """Return the line that begins the contract of a function or loop, where that stood, and the lines between its braces.

    None for what has no contract.
    """
    contract = getattr(item, "contract", None)
    if contract is None:
        return None
    named = "" if contract.name is None else f" {contract.name.text}"
    return f"contract {contract.kind}{named}", contract.span, list(contract_lines(contract))


def statement_text(part: object) -> str:
    """Return the one line of a statement; for one with blocks, what stands before its first brace."""
    line = cast(tree.Line, part)
    match line:
        case tree.RegisterLine(registers):
            return _declared("reg", registers)
        case tree.RequestLine(requests):
            return _declared("req", requests)
        case ast.Assign(_, value, op):
            return f"{expression_text(tree.target(line))} {op}= {expression_text(value)}"
        case tree.CallLine(call):
            return expression_text(call)
        case tree.SendLine() | tree.ReceiveLine():
            return _message(line)
        case tree.ProbeLine():
            return _probe(line)
        case tree.WaitLine(requests):
            return f"wait {', '.join(map(expression_text, requests))}"
        case tree.CompletionLine(tests, how, requests, into):
            words = f"{'test' if tests else 'wait'} {how}".strip()
            named = [", ".join(map(expression_text, each)) for each in (requests, into)]
            return f"{words} {named[0]} into {named[1]}"
        case tree.CollectiveLine():
            return _collective(line)
        case tree.AbortLine(error):
            return f"abort {expression_text(error)}"
        case tree.ReturnLine(value):
            return "return" if value is None else f"return {expression_text(value)}"
        case _:
            return common_statement(line, expression_text)


def _collective(line: tree.CollectiveLine) -> str:
    given = "" if line.request is None else f"{expression_text(line.request)} = i"
    group = "" if line.group is None else f" on {line.group.text}"
    words = ("root", "op", "sig", "give", "get")
    said = zip(words, (line.root, line.op, line.sig, line.give, line.get), strict=True)
    rest = "".join(f" {word} {expression_text(each)}" for word, each in said if each is not None)
    return f"{given}collective {line.name.text}{group}{rest}"


def _declared(word: str, parts: Iterable[tree.Declarator]) -> str:
    found = []
    for each in parts:
        size = "" if each.size is None else f"[{expression_text(each.size)}]"
        found.append(f"{each.name.text}{size}{'' if each.value is None else f' = {expression_text(each.value)}'}")
    return f"{word} {', '.join(found)}"


def _message(line: tree.SendLine | tree.ReceiveLine) -> str:
    given = "" if line.request is None else f"{expression_text(line.request)} = i"
    port = "" if line.port is None else f" on {line.port.text}"
    tag = "" if line.tag is None else f" tag {_pattern(line.tag)}"
    if isinstance(line, tree.SendLine):
        mode = "" if line.mode == "standard" else f"{line.mode} "
        agreed = _agreed(line.of_type, "size", line.size)
        return f"{given}send {mode}{expression_text(line.value)} to {expression_text(line.to)}{port}{tag}{agreed}"
    if line.of is not None:
        return f"{given}mrecv {expression_text(line.target)} of {expression_text(line.of)}"
    source = "" if line.source is None else f" from {_pattern(line.source)}"
    agreed = _agreed(line.of_type, "room", line.room)
    return f"{given}recv {expression_text(line.target)}{source}{port}{tag}{agreed}"


def _agreed(of_type: tree.Operand | None, word: str, length: tree.Operand | None) -> str:
    typed = "" if of_type is None else f" of type {expression_text(of_type)}"
    return typed if length is None else f"{typed} {word} {expression_text(length)}"


def _probe(line: tree.ProbeLine) -> str:
    source = "" if line.source is None else f" from {_pattern(line.source)}"
    port = "" if line.port is None else f" on {line.port.text}"
    tag = "" if line.tag is None else f" tag {_pattern(line.tag)}"
    waits, flag = ("", "") if line.flag is None else ("i", f" into {expression_text(line.flag)}")
    word = "probe" if line.taken is None else f"mprobe {expression_text(line.taken)}"
    return f"{waits}{word}{source}{port}{tag}{flag}"


def _pattern(part: tree.AnyOf | tree.Operand) -> str:
    if not isinstance(part, tree.AnyOf):
        return expression_text(part)
    return "any" if part.stored is None else f"any {expression_text(part.stored)}"


def item_text(part: object) -> str:
    """Return the one line of a declaration; for a process or function, what stands before its brace."""
    declaration = cast(tree.Declaration, part)
    match declaration:
        case ast.ProgramName(name):
            return f"program {name.text}"
        case ast.Constants(bindings):
            return "const " + ", ".join(f"{each.name.text} = {expression_text(each.value)}" for each in bindings)
        case tree.PortLine(names):
            return f"port {', '.join(name.text for name in names)}"
        case tree.GroupLine(name, members):
            return f"group {name.text} = {{{', '.join(map(expression_text, members))}}}"
        case tree.RegisterLine(registers):
            return _declared("reg", registers)
        case tree.FunctionItem(name, parameters):
            return f"fun {name.text}({', '.join(each.text for each in parameters)})"
        case tree.Proc(name, numbers):
            bounds = ""
            if numbers is not None:
                bounds = f"[{numbers.counter.text} in {expression_text(numbers.low)}..{expression_text(numbers.high)}]"
            return f"{'daemon ' * declaration.daemon}proc {name.text}{bounds}"
        case tree.ExpectLine(claims, buffers, contracts):
            of_buffers = [f"matchings {each.number}" if each.kind == "matchings" else each.kind for each in claims]
            under = f" under {', '.join(map(_buffer, buffers))}" if buffers else ""
            return f"expect {', '.join((*of_buffers, *map(_contract_claim, contracts)))}{under}"
        case ast.BrokenStatement():
            return ""


def _buffer(word: tree.BufferWord) -> str:
    return word.buffer if word.limit is None else f"{word.buffer} {word.limit}"


def _contract_claim(claim: tree.ContractClaimWords) -> str:
    if claim.verified:
        return f"contract {claim.name.text} verified{'' if claim.every is None else f' any {claim.every.text}'}"
    error = "" if claim.error is None else f" {claim.error.text}"
    return f"contract {claim.name.text} violated{error}{f' from {claim.since}' if claim.since != 1 else ''}"


MESSAGE_STYLE: Final = Style(message_grammar, item_text, statement_text, expression_text, contract_of)


def format_messages(text: str, file: str) -> str:
    """Return the `.mp` program `text` in canonical layout, comments kept.

    Raises ProgramError with every syntax error; names are not checked, so also unfinished programs can be formatted.
    """
    return format_source(text, file, MESSAGE_STYLE)
