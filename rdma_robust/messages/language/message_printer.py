"""Syntax trees of `.mp` programs as text, each in its one canonical form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, cast

from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.chains import chain_text
from rdma_robust.language.syntax.formatter import Style, format_source
from rdma_robust.language.syntax.printer import common_statement, needs_brackets
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.contract_printer import contract_of
from rdma_robust.messages.language.message_words import message_grammar


def expression(expr: object) -> str:
    """Return an expression with the parentheses it needs, and those around `&&` in `||` that readers need."""
    match tree.operand(expr):
        case ast.Number(value):
            return str(value)
        case tree.Indexed(name, indices):
            return name.text + "".join(f"[{expression(index)}]" for index in indices)
        case tree.FunctionCall(name, arguments):
            return f"{name.text}({', '.join(map(expression, arguments))})"
        case tree.OwnNumber():
            return "PID"
        case tree.ProcessCount():
            return "NPROCS"
        case ast.Unary(op, arg):
            return f"{op}({expression(arg)})" if isinstance(arg, ast.Binary) else op + expression(arg)
        case ast.Binary() as chain:
            return chain_text(chain, _operand)


def _operand(part: object, op: str, right: int, _last: bool) -> str:
    text = expression(part)
    return f"({text})" if isinstance(part, ast.Binary) and needs_brackets(part.op, op, right) else text


def statement(part: object) -> str:
    """Return the one line of a statement; for one with blocks, what stands before its first brace."""
    line = cast(tree.Line, part)
    match line:
        case tree.RegisterLine(registers):
            return _declared("reg", registers)
        case tree.RequestLine(requests):
            return _declared("req", requests)
        case ast.Assign(_, value, op):
            return f"{expression(tree.target(line))} {op}= {expression(value)}"
        case tree.CallLine(call):
            return expression(call)
        case tree.SendLine() | tree.ReceiveLine():
            return _message(line)
        case tree.WaitLine(requests):
            return f"wait {', '.join(map(expression, requests))}"
        case tree.ReturnLine(value):
            return "return" if value is None else f"return {expression(value)}"
        case _:
            return common_statement(line, expression)


def _declared(word: str, parts: Iterable[tree.Declared]) -> str:
    found = []
    for each in parts:
        size = "" if each.size is None else f"[{expression(each.size)}]"
        found.append(f"{each.name.text}{size}{'' if each.value is None else f' = {expression(each.value)}'}")
    return f"{word} {', '.join(found)}"


def _message(line: tree.SendLine | tree.ReceiveLine) -> str:
    given = "" if line.request is None else f"{expression(line.request)} = i"
    port = "" if line.port is None else f" on {line.port.text}"
    tag = "" if line.tag is None else f" tag {_pattern(line.tag)}"
    if isinstance(line, tree.SendLine):
        return f"{given}send {expression(line.value)} to {expression(line.to)}{port}{tag}"
    source = "" if line.source is None else f" from {_pattern(line.source)}"
    return f"{given}recv {expression(line.target)}{source}{port}{tag}"


def _pattern(part: tree.AnyOf | tree.Operand) -> str:
    if not isinstance(part, tree.AnyOf):
        return expression(part)
    return "any" if part.stored is None else f"any {expression(part.stored)}"


def item(part: object) -> str:
    """Return the one line of a declaration; for a process or function, what stands before its brace."""
    declaration = cast(tree.Declaration, part)
    match declaration:
        case ast.ProgramName(name):
            return f"program {name.text}"
        case ast.Constants(bindings):
            return "const " + ", ".join(f"{each.name.text} = {expression(each.value)}" for each in bindings)
        case tree.PortLine(names):
            return f"port {', '.join(name.text for name in names)}"
        case tree.RegisterLine(registers):
            return _declared("reg", registers)
        case tree.Function(name, parameters):
            return f"fun {name.text}({', '.join(each.text for each in parameters)})"
        case tree.Proc(name, numbers):
            bounds = ""
            if numbers is not None:
                bounds = f"[{numbers.counter.text} in {expression(numbers.low)}..{expression(numbers.high)}]"
            return f"{'daemon ' * declaration.daemon}proc {name.text}{bounds}"
        case tree.ExpectLine(claims, buffers, contracts):
            of_buffers = [f"matchings {each.number}" if each.kind == "matchings" else each.kind for each in claims]
            under = f" under {', '.join(each.buffer for each in buffers)}" if buffers else ""
            return f"expect {', '.join((*of_buffers, *map(_contract_claim, contracts)))}{under}"
        case ast.Broken():
            return ""


def _contract_claim(claim: tree.ContractClaimWords) -> str:
    if claim.verified:
        return f"contract {claim.name.text} verified{'' if claim.every is None else f' any {claim.every.text}'}"
    error = "" if claim.error is None else f" {claim.error.text}"
    return f"contract {claim.name.text} violated{error}{f' from {claim.since}' if claim.since != 1 else ''}"


MESSAGE_STYLE: Final = Style(message_grammar, item, statement, expression, contract_of)


def format_messages(text: str, file: str) -> str:
    """Return the `.mp` program `text` in canonical layout, comments kept.

    Raises ProgramError with every syntax error; names are not checked, so also unfinished programs can be formatted.
    """
    return format_source(text, file, MESSAGE_STYLE)
