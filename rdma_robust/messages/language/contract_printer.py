"""Contracts and their expressions as text, each in its one canonical form."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.chains import chain_text
from rdma_robust.language.syntax.printer import needs_brackets
from rdma_robust.messages.language import contract_tree as tree
from rdma_robust.messages.language import message_tree

_OPEN = (tree.LetIn, tree.OverRange)
_LOOSE = (ast.Binary, tree.Row, tree.Conditional)


def spec_text(node: object, *, last: bool = True) -> str:
    """Return an expression with the brackets it needs, and those around `&&` in `||` that readers need.

    What begins with a word such as `\\forall` goes on as far as it can: it needs them where it is not the `last` part.
    """
    match node:
        case ast.Number(value):
            return str(value)
        case tree.Named(name):
            return name.text
        case message_tree.FunctionCall(name, arguments):
            return f"{name.text}({', '.join(map(spec_text, arguments))})"
        case message_tree.OwnNumber():
            return "PID"
        case message_tree.ProcessCount():
            return "NPROCS"
        case ast.Unary(op, arg):
            return op + _bracketed(arg, isinstance(arg, _LOOSE), last)
        case ast.Binary():
            return chain_text(node, lambda part, op, right, ends: _operand(part, op, right, last and ends))
        case tree.Row(operands, operators):
            pairs = zip(operators, operands[1:], strict=True)
            whole = len(operands) - 2
            rest = [f" {op} {_operand(each, op, 1, last and at == whole)}" for at, (op, each) in enumerate(pairs)]
            return _operand(operands[0], operators[0], 1, False) + "".join(rest)
        case tree.Conditional(test, then, other):
            shown = _bracketed(test, isinstance(test, tree.Conditional), False)
            return f"{shown} ? {spec_text(then)} : {spec_text(other)}"
        case _:
            return _word_text(node)


def _word_text(node: object) -> str:
    match node:
        case tree.Cell(array, index):
            needs = isinstance(array, (ast.Unary, *_LOOSE))
            return f"{_bracketed(array, needs, False)}[{spec_text(index)}]"
        case tree.ResultWord():
            return "\\result"
        case tree.Position(name):
            return f"\\{name}"
        case tree.AtProcess(process, value):
            return f"\\on({spec_text(process)}, {spec_text(value)})"
        case tree.AtEntry(value, word):
            return f"{word}({spec_text(value)})"
        case tree.Agreed(value):
            return f"\\agree({spec_text(value)})"
        case tree.LetIn(named, value, inner):
            return f"\\let {named.text} = {spec_text(value)} : {spec_text(inner)}"
        case tree.OverRange(kind, named, low, high, inner, _, type_):
            over = ";" if low is None else f" in {_range(low, high)} :"
            typed = "" if type_ is None else f"{type_.text} "
            return f"\\{kind} {typed}{named.text}{over} {spec_text(inner)}"
        case tree.Never(what, after, until):
            return f"\\no {_event(what)} \\after {_event(after)} \\until {_event(until)}"
        case tree.Extreme(kind, arguments):
            return f"\\{kind}({', '.join(map(spec_text, arguments))})"
    raise TypeError(node)


def _bracketed(node: object, needs: bool, last: bool) -> str:
    """Return an operand, in brackets if it `needs` them, or is not the last and would go on too far."""
    if needs or (isinstance(node, _OPEN) and not last):
        return f"({spec_text(node)})"
    return spec_text(node, last=last)


def _operand(node: object, op: str, right: int, last: bool) -> str:
    inner = _operator(node)
    if not inner:
        return _bracketed(node, isinstance(node, tree.Conditional), last)
    if op == "==>" or inner == "==>":
        return _bracketed(node, inner == "==>" and (op != "==>" or not right), last)
    return _bracketed(node, needs_brackets(inner, op, right), last)


def _operator(node: object) -> str:
    """Return the operator by which an expression binds, nothing if it is not one with an operator between operands."""
    return node.op if isinstance(node, ast.Binary) else node.operators[0] if isinstance(node, tree.Row) else ""


def _range(low: object, high: object) -> str:
    return f"{_end(low)}..{_end(high)}"


def _end(node: object) -> str:
    """Return an end of a range: whatever binds less than `+` is in brackets."""
    inner = _operator(node)
    loose = inner == "==>" or needs_brackets(inner, "+", 0) if inner else isinstance(node, tree.Conditional)
    return _bracketed(node, loose, False)


def _set(found: tree.SetOf) -> str:
    if found.word:
        return f"\\{found.word}"
    return spec_text(found.low) if found.high is None else _range(found.low, found.high)


def _event(event: tree.EventOf) -> str:
    return f"\\{event.word}({', '.join(map(_set, event.arguments))})"


def clause_text(part: tree.Part) -> str:
    """Return a clause without its `;`, or the head of a behavior."""
    match part:
        case tree.Condition(word, value, condition):
            return f"{word} {spec_text(value)}{_if(condition)}"
        case tree.Behaviors(word, names):
            return f"{word} behaviors" + (" " if names else "") + ", ".join(each.text for each in names)
        case tree.AssignsLine(cells):
            return "assigns " + (", ".join(map(_cells, cells)) or "\\nothing")
        case tree.BoundsLine(name, lengths, low, high):
            shown = "".join(f" len {_range(each.low, each.high)}" for each in lengths)
            return f"bounds {name.text}{shown}" + ("" if low is None else f" in {_range(low, high)}")
        case tree.WaitsFor(who, condition):
            return f"waitsfor {_set(who)}{_if(condition)}"
        case tree.Quiet(who, port, tag, until, condition):
            shown = "" if port is None else f" on {port.text}"
            tagged = "" if tag is None else f" tag {spec_text(tag)}"
            ends = "" if until is None else f" until {_set(until)}"
            return f"quiet {'from' if until is None else 'to'} {_set(who)}{shown}{tagged}{ends}{_if(condition)}"
        case tree.BehaviorHead(name):
            return f"behavior {name.text}:"
        case ast.Broken():
            return ""


def _cells(cells: tree.CellsOf) -> str:
    if cells.low is None:
        return cells.name.text
    inside = spec_text(cells.low) if cells.high is None else _range(cells.low, cells.high)
    return f"{cells.name.text}[{inside}]"


def _if(condition: object) -> str:
    return "" if condition is None else f" if {spec_text(condition)}"


def contract_lines(contract: tree.ContractText) -> Iterator[tuple[int, str, Span]]:
    """Yield the lines between the braces of a contract: how far each is indented, its text, and where it stood.

    `assumes` stands on the line of the head before it.
    """
    depth = 0
    parts = list(contract.parts)
    while parts:
        part = parts.pop(0)
        if not isinstance(part, tree.BehaviorHead):
            depth = 0 if isinstance(part, tree.Behaviors) else depth
            yield depth, f"{clause_text(part)};", part.span
            continue
        depth = 1
        text, span = clause_text(part), part.span
        if parts and isinstance(parts[0], tree.Condition) and parts[0].word == "assumes":
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
