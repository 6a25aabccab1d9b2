"""Loops, `switch`, `break` and `continue` of C in `.mp`, which has no jumps: a register says whether one was taken."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rdma_robust.c.contracts.body_values import (
    OPERATORS,
    UnreadCodeError,
    binary_operand,
    names_variable,
    number_operand,
)
from rdma_robust.c.front.cursors import bare, children, cursor_kind
from rdma_robust.c.front.libclang import Cursor, binary_kind, constant_value, initial_expression, unary_kind
from rdma_robust.c.front.statement_code import ForParts, parts_of_for
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_parts import assigned_names, function_calls_in

if TYPE_CHECKING:
    from rdma_robust.c.contracts.body_statements import BodyReader

_JUMPS: Final = {"CONTINUE_STMT": "continue", "BREAK_STMT": "break"}
_ONGOING: Final = 0
_LEFT: Final = {"continue": 1, "break": 2}
"""What the register of a loop or `switch` holds after a jump."""
_LOOPS: Final = ("WHILE_STMT", "DO_STMT", "FOR_STMT")


def exits_of(cursor: Cursor) -> frozenset[str]:
    """Return the jumps in a statement that leave it: `break`, `continue`."""
    kind = cursor_kind(cursor)
    if kind in _JUMPS:
        return frozenset({_JUMPS[kind]})
    if kind in _LOOPS or cursor.kind.is_expression():
        return frozenset()
    inner = frozenset[str]().union(*map(exits_of, children(cursor)))
    return inner - {"break"} if kind == "SWITCH_STMT" else inner


def not_left(reader: BodyReader, leaves: frozenset[str], span: Span) -> tree.Operand:
    """Return the condition that none of some jumps was taken."""
    made: tree.Operand | None = None
    for flag in dict.fromkeys(reader.exits[each] for each in sorted(leaves) if each in reader.exits):
        one = binary_operand("==", flag, number_operand(_ONGOING, span), span)
        made = one if made is None else binary_operand("&&", made, one, span)
    return number_operand(1, span) if made is None else made


def _jump(reader: BodyReader, cursor: Cursor) -> None:
    name = _JUMPS[cursor_kind(cursor)]
    if name not in reader.exits:
        hint = "write the condition of the loop so that it ends there, or leave out the contract of the loop"
        raise reader.values.unread(f"`{name}` is not read in a loop with a contract", cursor, hint)
    reader.assign(reader.exits[name], number_operand(_LEFT[name], reader.at(cursor)), reader.at(cursor))


class _Loop:
    """A loop that is written: `flag` is the register that says how its body was left, None without jumps in it."""

    def __init__(self, reader: BodyReader, body: Cursor, span: Span, contract: object) -> None:
        self.reader, self.body, self.span, self.contract = reader, body, span, contract
        has_flag = contract is None and bool(exits_of(body))
        self.flag = reader.register("$left", span, number_operand(_ONGOING, span)) if has_flag else None

    def condition(self, asked: tree.Operand) -> tree.Operand:
        """Return the condition that the loop goes on, which is evaluated only where no `break` was taken."""
        going = self.not_broken()
        return asked if going is None else binary_operand("&&", going, asked, self.span)

    def not_broken(self) -> tree.Operand | None:
        """Return the condition that no `break` was taken, None where there is no jump."""
        if self.flag is None:
            return None
        return binary_operand("!=", self.flag, number_operand(_LEFT["break"], self.span), self.span)

    def round(self) -> None:
        """Append one round of the body."""
        reader = self.reader
        if self.flag is not None:
            reader.assign(self.flag, number_operand(_ONGOING, self.span), self.span)
        kept = reader.exits
        reader.exits = {} if self.flag is None else dict.fromkeys(_LEFT, self.flag)
        try:
            reader.statement(self.body)
        finally:
            reader.exits = kept

    def after_round(self, body: Callable[[], None]) -> None:
        """Append what is done after a round that was not left by `break`."""
        going = self.not_broken()
        if going is None:
            body()
        else:
            self.reader.branch(going, self.span, body)

    def emit(self, asked: tree.Operand, body: Callable[[], None]) -> None:
        """Append the loop."""
        made = tree.as_part(self.condition(asked))
        self.reader.emit(ast.While(made, self.reader.block(self.span, body), self.span, self.contract))


def _while(reader: BodyReader, cursor: Cursor) -> None:
    condition, body = children(cursor)
    asked = reader.condition(condition)
    loop = _Loop(reader, body, reader.at(cursor), reader.loop_contract(cursor))
    loop.emit(asked, loop.round)


def _do(reader: BodyReader, cursor: Cursor) -> None:
    body, condition = children(cursor)
    span = reader.at(cursor)
    if reader.loop_contract(cursor) is not None:
        raise reader.values.unread("contracts of `do` loops are not read", cursor, "write it with `while`")
    first = reader.register("$first", span, number_operand(1, span))
    loop = _Loop(reader, body, span, None)

    def inside() -> None:
        reader.assign(first, number_operand(0, span), span)
        loop.round()

    loop.emit(binary_operand("||", first, reader.condition(condition), span), inside)


def _for(reader: BodyReader, cursor: Cursor) -> None:
    parts, body = parts_of_for(cursor)
    if parts is None:
        raise reader.values.unread("which parts of this `for` are left out is not seen", cursor)
    names = dict(reader.values.names)
    try:
        _for_of_parts(reader, cursor, parts, body)
    finally:
        reader.values.names = names


def _for_of_parts(reader: BodyReader, cursor: Cursor, parts: ForParts, body: Cursor) -> None:
    first, condition, more = parts
    before = len(reader.lines)
    if first is not None:
        reader.statement(first)
    behind = len(reader.lines)
    span, contract = reader.at(cursor), reader.loop_contract(cursor)
    loop = _Loop(reader, body, span, contract)
    block = reader.block(span, loop.round)
    counted = None if first is None or condition is None else _counter(reader, first, condition, more, block)
    if counted is not None:
        name, low, high = counted
        del reader.lines[before:behind]
        counter = ast.Ident(name, reader.at(first))
        kept = reader.block(span, lambda: loop.after_round(lambda: reader.lines.extend(tree.lines(block))))
        reader.emit(ast.For(counter, tree.as_part(low), tree.as_part(high), kept, span, contract))
        return

    def inside() -> None:
        reader.lines += tree.lines(block)
        if more is not None:
            loop.after_round(lambda: reader.statement(more))

    loop.emit(number_operand(1, span) if condition is None else reader.condition(condition), inside)


def _counter(
    reader: BodyReader, first: Cursor, condition: Cursor, more: Cursor | None, block: ast.Block
) -> tuple[str, tree.Operand, tree.Operand] | None:
    """Return the counter of a loop that counts up by one, its first and its last number; None for any other loop."""
    declared = [each for each in children(first) if cursor_kind(each) == "VAR_DECL"]
    asked = bare(condition)
    if cursor_kind(first) != "DECL_STMT" or len(declared) != 1 or not _is_step(more, declared[0]):
        return None
    operator = OPERATORS.get(binary_kind(asked)) if cursor_kind(asked) == "BINARY_OPERATOR" else None
    initial = initial_expression(declared[0])
    if operator not in ("<", "<=") or initial is None or not names_variable(children(asked)[0], declared[0]):
        return None
    try:
        low, high = reader.condition(initial), reader.condition(children(asked)[1])
    except UnreadCodeError:
        return None
    name = reader.values.names[declared[0].hash]
    stored = assigned_names(block) | {name}
    if name in assigned_names(block) or _mentioned(high) & (stored | _changed_by_calls(reader, block)):
        return None
    return name, low, high if operator == "<=" else binary_operand("-", high, number_operand(1, high.span), high.span)


def _changed_by_calls(reader: BodyReader, block: ast.Block) -> frozenset[str]:
    """Return the registers that functions may change which a block calls."""
    called_here = {each.name.text for each in function_calls_in(block)} & reader.functions.keys()
    return reader.globals if called_here else frozenset()


def _is_step(more: Cursor | None, declared: Cursor) -> bool:
    """Return whether an expression makes a variable one more."""
    found = None if more is None else bare(more)
    is_step = found is not None and cursor_kind(found) == "UNARY_OPERATOR" and unary_kind(found) in (1, 3)
    return is_step and names_variable(children(found)[0], declared)


def _mentioned(operand: object) -> set[str]:
    match operand:
        case tree.IndexedName(name, indices):
            return {name.text}.union(*map(_mentioned, indices))
        case ast.Unary(_, inner):
            return _mentioned(inner)
        case ast.Binary(_, left, right):
            return _mentioned(left) | _mentioned(right)
        case _:
            return set()


def _switch(reader: BodyReader, cursor: Cursor) -> None:
    """Append a `switch`: the number of the label that it goes to is found first, and from that on everything is executed."""
    asked, body = children(cursor)
    span = reader.at(cursor)
    parts = _labelled_parts(reader, body)
    value = reader.register("$switch", span, reader.values.value(asked))
    start = reader.register("$label", span, number_operand(len(parts), span))
    for place, (labels, _) in enumerate(parts):
        if None in labels:
            reader.assign(start, number_operand(place, span), span)
    for place, (labels, _) in enumerate(parts):
        for label in labels:
            if label is not None:
                is_it = binary_operand("==", value, number_operand(label, span), span)
                reader.branch(is_it, span, _assigning(reader, start, place, span))
    flag = reader.register("$left", span, number_operand(_ONGOING, span))
    kept = reader.exits
    reader.exits = {**kept, "break": flag}
    try:
        for place, (_, statements) in enumerate(parts):
            reached = binary_operand("<=", start, number_operand(place, span), span)
            leaves = frozenset({"break"}).union(*(exits_of(one) for _, some in parts[:place] for one in some))
            going = binary_operand("&&", reached, not_left(reader, leaves, span), span)
            reader.branch(going, span, _sequence(reader, statements))
    finally:
        reader.exits = kept


def _assigning(reader: BodyReader, target: tree.IndexedName, value: int, span: Span) -> Callable[[], None]:
    return lambda: reader.assign(target, number_operand(value, span), span)


def _sequence(reader: BodyReader, statements: Sequence[Cursor]) -> Callable[[], None]:
    return lambda: reader.sequence(statements)


def _labelled_parts(reader: BodyReader, body: Cursor) -> list[tuple[list[int | None], list[Cursor]]]:
    """Return what stands behind the labels of a `switch`: the values, None for `default`, and the statements.

    Raises UnreadCodeError.
    """
    if cursor_kind(body) != "COMPOUND_STMT":
        raise reader.values.unread("this `switch` is not read", body, "write its cases in braces")
    parts: list[tuple[list[int | None], list[Cursor]]] = []
    for each in children(body):
        labels: list[int | None] = []
        inner = each
        while cursor_kind(inner) in ("CASE_STMT", "DEFAULT_STMT"):
            *values, behind = children(inner)
            labels.append(_label(reader, inner, values))
            inner = behind
        if labels:
            parts.append((labels, []))
        if not parts or cursor_kind(inner) == "DECL_STMT":
            hint = "put braces around the statements of the case"
            raise reader.values.unread("what is declared or stands before the cases is not read", inner, hint)
        parts[-1][1].append(inner)
    return parts


def _label(reader: BodyReader, label: Cursor, values: Sequence[Cursor]) -> int | None:
    if cursor_kind(label) == "DEFAULT_STMT":
        return None
    value = constant_value(values[0]) if len(values) == 1 else None
    if not isinstance(value, int):
        raise reader.values.unread("this `case` is not read", label, "write one constant number")
    return value


LOOPS_AND_JUMPS: Final[Mapping[str, Callable[[BodyReader, Cursor], None]]] = {
    "WHILE_STMT": _while,
    "DO_STMT": _do,
    "FOR_STMT": _for,
    "SWITCH_STMT": _switch,
    "BREAK_STMT": _jump,
    "CONTINUE_STMT": _jump,
}
"""The readers of loops and of what leaves them, by the kinds of libclang."""
