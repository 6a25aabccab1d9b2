"""Expressions of C as register code: values, and what is done for effects alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rdma_robust.c.code import AddressDifference, Binary, Call, CopyBytes, CType, Index, Register, Unary
from rdma_robust.c.front.conditions import AND, NOT, OR, go_by
from rdma_robust.c.front.cursors import (
    EXTENSION,
    INT,
    bare,
    c_type,
    children,
    cursor_kind,
    expressions,
    step_of,
    type_of_value,
)
from rdma_robust.c.front.function_reader import FunctionReader, Location
from rdma_robust.c.front.layouts import leaves_of
from rdma_robust.c.front.libclang import Cursor, binary_kind, constant_value, unary_kind
from rdma_robust.c.front.objects import DEREFERENCE, parameter_pointer
from rdma_robust.c.front.updates import assigned, stepped, updated

_OPERATORS: Final = {
    3: "*",
    4: "/",
    5: "%",
    6: "+",
    7: "-",
    8: "<<",
    9: ">>",
    11: "<",
    12: ">",
    13: "<=",
    14: ">=",
    15: "==",
    16: "!=",
    17: "&",
    18: "^",
    19: "|",
}
_ASSIGN: Final = 22
_COMMA: Final = 33
_STEPS: Final = (1, 2, 3, 4)
_ADDRESS: Final = 5
_PLUS: Final = 7
_ARITHMETIC: Final = {8: "-", 9: "~"}
_DECAYED: Final = ("pointer", "array")


_RESULTS: Final = ("__rr_load", "__rr_exchange")
_FIRST: Final = {"__builtin_expect", "__builtin_expect_with_probability", "__builtin_assume_aligned"}
_MOST_SHOWN: Final = 60


def _constant(reader: FunctionReader, each: Cursor) -> Register:
    value = constant_value(each)
    if value is None:
        return reader.unread("RR814", "the value of this expression is not known", each)
    return reader.constant(value, each)


def _of_place(reader: FunctionReader, each: Cursor) -> Register:
    return reader.load(reader.place(each), each)


def _name(reader: FunctionReader, each: Cursor) -> Register:
    declared = each.referenced
    if declared is not None and cursor_kind(declared) == "ENUM_CONSTANT_DECL":
        return reader.constant(int(declared.enum_value), each)
    pointer = parameter_pointer(reader, each)
    return _of_place(reader, each) if pointer is None else pointer


def _inner(reader: FunctionReader, each: Cursor) -> Register:
    return reader.value(expressions(each)[0])


def _converted(reader: FunctionReader, each: Cursor) -> Register:
    """An implicit conversion, or what libclang does not name: `offsetof`, `a ?: b`."""
    inner = expressions(each)
    if not inner:
        return _constant(reader, each)
    if len(inner) == 4 and inner[0].extent == inner[2].extent:
        return _or_else(reader, each, inner[0], inner[3])
    if len(inner) > 1:
        return _constant(reader, each)
    return _cast(reader, each)


def _cast(reader: FunctionReader, each: Cursor) -> Register:
    inner = expressions(each)[-1]
    target, source = c_type(each.type), type_of_value(inner)
    if target.kind == "void":
        reader.effect(inner)
        return reader.constant(0, each)
    if cursor_kind(each) == "UNEXPOSED_EXPR" and target.kind in _DECAYED:
        pointer = parameter_pointer(reader, each)
        if pointer is not None:
            return pointer
    return reader.converted(reader.value(inner), source, target, each)


def _or_else(reader: FunctionReader, each: Cursor, first: Cursor, second: Cursor) -> Register:
    """`first ?: second`."""
    kind = c_type(each.type)
    found = reader.hidden(kind, each)
    source = type_of_value(first)
    value = reader.value(first)
    yes, no, end = reader.label(), reader.label(), reader.label()
    reader.branch(value, yes, no, each)
    reader.mark(yes)
    reader.store(reader.again(found, each), reader.converted(value, source, kind, each), each)
    reader.jump(end, each)
    reader.mark(no)
    reader.store(reader.again(found, each), reader.value(second), second)
    reader.mark(end)
    return reader.load(reader.again(found, each), each)


def _truth(reader: FunctionReader, each: Cursor) -> Register:
    """The value of `&&` and `||`, 1 or 0."""
    found = reader.hidden(INT, each)
    yes, no, end = reader.label(), reader.label(), reader.label()
    go_by(reader, each, yes, no)
    for label, value in ((yes, 1), (no, 0)):
        reader.mark(label)
        reader.store(reader.again(found, each), reader.constant(value, each), each)
        reader.jump(end, each)
    reader.mark(end)
    return reader.load(reader.again(found, each), each)


def _choice(reader: FunctionReader, each: Cursor) -> Register:
    """`condition ? one : other`; of records the address of one of them."""
    condition, *ways = expressions(each)
    whole = c_type(each.type)
    kind = whole if whole.kind in ("int", "bool", "float", "pointer") else CType("pointer", 8, False, whole.name)
    found = None if whole.kind == "void" else reader.hidden(kind, each)
    yes, no, end = reader.label(), reader.label(), reader.label()
    go_by(reader, condition, yes, no)
    for label, way in zip((yes, no), ways, strict=True):
        reader.mark(label)
        if found is None:
            reader.effect(way)
        else:
            value = reader.converted(reader.value(way), type_of_value(way), kind, way)
            reader.store(reader.again(found, each), value, way)
        reader.jump(end, each)
    reader.mark(end)
    return reader.constant(0, each) if found is None else reader.load(reader.again(found, each), each)


def _unary(reader: FunctionReader, each: Cursor) -> Register:
    kind, inner = unary_kind(each), children(each)[0]
    if kind in _STEPS:
        return stepped(reader, each, by=1 if kind in (1, 3) else -1, old=kind in (1, 2))
    if kind == _ADDRESS:
        return reader.place(bare(inner)).address
    if kind == DEREFERENCE:
        return _of_place(reader, each)
    if kind in (_PLUS, EXTENSION):
        return reader.value(inner)
    if kind == NOT:
        target = reader.register()
        reader.emit(Unary(target, "!", reader.value(inner), INT), each)
        return target
    if kind in _ARITHMETIC:
        target = reader.register()
        reader.emit(Unary(target, "-" if kind == 8 else "~", reader.value(inner), c_type(each.type)), each)
        return target
    return reader.unread("RR814", "this operator is not read", each)


def _binary(reader: FunctionReader, each: Cursor) -> Register:
    kind = binary_kind(each)
    left, right = children(each)
    if kind == _COMMA:
        reader.effect(left)
        return reader.value(right)
    if kind in (AND, OR):
        return _truth(reader, each)
    if kind == _ASSIGN:
        return _assignment(reader, each, left, right)
    operator = _OPERATORS.get(kind)
    if operator is None:
        return reader.unread("RR814", "this operator is not read", each)
    one, other = type_of_value(left), type_of_value(right)
    first, second = reader.value(left), reader.value(right)
    if operator in "+-" and (one.kind in _DECAYED or other.kind in _DECAYED):
        return _of_addresses(reader, each, operator, (first, second))
    target = reader.register()
    reader.emit(Binary(target, operator, first, second, one, c_type(each.type)), each)
    return target


def _of_addresses(reader: FunctionReader, each: Cursor, operator: str, values: tuple[Register, Register]) -> Register:
    left, right = children(each)
    both = all(type_of_value(side).kind in _DECAYED for side in (left, right))
    base = left if type_of_value(left).kind in _DECAYED else right
    step = step_of(bare(base).type if c_type(base.type).kind == "array" else base.type)
    if not step:
        return reader.unread("RR814", "steps of a size that is not known are not read", each)
    target = reader.register()
    if both:
        reader.emit(AddressDifference(target, *values, step), each)
    else:
        address, number = values if base is left else (values[1], values[0])
        reader.emit(Index(target, address, number, step if operator == "+" else -step), each)
    return target


def _assignment(reader: FunctionReader, each: Cursor, left: Cursor, right: Cursor) -> Register:
    kind = c_type(left.type)
    if kind.kind not in ("record", "array"):
        return assigned(reader, each, left, right)
    source = reader.value(right)
    target = reader.place(left).address
    reader.emit(CopyBytes(target, source, kind.size, leaves_of(left.type)), each)
    return target


def _block_value(reader: FunctionReader, each: Cursor) -> Register:
    """`({ ...; value; })`."""
    inner = children(children(each)[0])
    has_value = c_type(each.type).kind != "void" and inner and inner[-1].kind.is_expression()
    for one in inner[:-1] if has_value else inner:
        reader.statement(one)
    return reader.value(inner[-1]) if has_value else reader.constant(0, each)


def _generic(reader: FunctionReader, each: Cursor) -> Register:
    """`_Generic`: what is chosen is the only one of its type, or a constant."""
    value = constant_value(each)
    if value is not None:
        return reader.constant(value, each)
    chosen = [one for one in expressions(each)[1:] if one.type == each.type]
    if len(chosen) != 1:
        return reader.unread("RR814", "which expression `_Generic` chooses is not seen", each)
    return reader.value(chosen[0])


def _callee_name(reader: FunctionReader, called: Cursor) -> str:
    """Return the name of the function that is called, '' where a pointer is."""
    named = bare(called)
    if cursor_kind(named) != "DECL_REF_EXPR":
        return ""
    declared = named.referenced
    if declared is None or named.type.spelling == "<builtin fn type>":
        return str(named.spelling)
    return reader.names.function_name(declared) if cursor_kind(declared) == "FUNCTION_DECL" else ""


def _call(reader: FunctionReader, each: Cursor) -> Register:
    """Append a call; return its result, of a record its address."""
    called, *given = expressions(each)
    name = _callee_name(reader, called)
    if name.startswith("__builtin_"):
        if name in _FIRST:
            return reader.converted(reader.value(given[0]), type_of_value(given[0]), c_type(each.type), each)
        value = constant_value(each)
        if value is not None or name == "__builtin_constant_p":
            return reader.constant(value or 0, each)
    callee = name or reader.value(called)
    arguments = tuple(reader.value(argument) for argument in given)
    types = tuple(type_of_value(argument) for argument in given)
    result = c_type(each.type)
    reader.names.note_type(each.type)
    texts = tuple(_written(argument) for argument in given)
    if not (name.startswith("__rr_fetch_") or name in _RESULTS):
        target = None if result.kind == "void" else reader.register()
        reader.emit(Call(target, callee, arguments, types, result, texts), each)
        return reader.constant(0, each) if target is None else target
    held = c_type(bare(_uncast(given[0])).type.get_canonical().get_pointee())
    held = CType(held.kind, held.size, held.signed, held.name)
    target = reader.register()
    reader.emit(Call(target, callee, arguments, types, held, texts), each)
    return reader.converted(target, held, result, each)


def _uncast(argument: Cursor) -> Cursor:
    """Return what our own macros convert to a pointer to anything."""
    inner = bare(argument)
    return expressions(inner)[-1] if cursor_kind(inner) == "CSTYLE_CAST_EXPR" else inner


def _written(argument: Cursor) -> str:
    """Return an argument as it is written, in one line. Of a macro's use these may be many tokens: what is not shown is not
    looked at."""
    text = ""
    for token in argument.get_tokens():
        spelled = str(token.spelling)
        text += f" {spelled}" if text and spelled[:1].isalnum() else spelled
        if len(text) > _MOST_SHOWN:
            break
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 3] + "..."


def _scalar_list(reader: FunctionReader, each: Cursor) -> Register:
    inner = expressions(each)
    return reader.value(inner[0]) if inner else reader.constant(0, each)


def _update(reader: FunctionReader, each: Cursor) -> Register:
    return updated(reader, each)


VALUES: Final[Mapping[str, Callable[[FunctionReader, Cursor], Register]]] = {
    "INTEGER_LITERAL": _constant,
    "CHARACTER_LITERAL": _constant,
    "FLOATING_LITERAL": _constant,
    "CXX_UNARY_EXPR": _constant,
    "STRING_LITERAL": _of_place,
    "DECL_REF_EXPR": _name,
    "MEMBER_REF_EXPR": _of_place,
    "ARRAY_SUBSCRIPT_EXPR": _of_place,
    "COMPOUND_LITERAL_EXPR": _of_place,
    "PAREN_EXPR": _inner,
    "UNEXPOSED_EXPR": _converted,
    "CSTYLE_CAST_EXPR": _cast,
    "UNARY_OPERATOR": _unary,
    "BINARY_OPERATOR": _binary,
    "COMPOUND_ASSIGNMENT_OPERATOR": _update,
    "CONDITIONAL_OPERATOR": _choice,
    "CALL_EXPR": _call,
    "StmtExpr": _block_value,
    "GENERIC_SELECTION_EXPR": _generic,
    "INIT_LIST_EXPR": _scalar_list,
}


def _effect_of_inner(reader: FunctionReader, each: Cursor) -> None:
    inner = expressions(each)
    if len(inner) == 1:
        reader.effect(inner[0])
    else:
        reader.value(each)


def _effect_of_place(reader: FunctionReader, each: Cursor) -> None:
    """The value of a place that is neither volatile nor atomic is not read for nothing."""
    if cursor_kind(each) == "DECL_REF_EXPR" and cursor_kind(each.referenced) == "ENUM_CONSTANT_DECL":
        return
    found: Location = reader.place(each)
    if found.type.volatile or found.type.atomic:
        reader.load(found, each)


def _effect_of_unary(reader: FunctionReader, each: Cursor) -> None:
    if unary_kind(each) == DEREFERENCE:
        _effect_of_place(reader, each)
    else:
        reader.value(each)


def _effect_of_binary(reader: FunctionReader, each: Cursor) -> None:
    if binary_kind(each) == _COMMA:
        for inner in children(each):
            reader.effect(inner)
    else:
        reader.value(each)


EFFECTS: Final[Mapping[str, Callable[[FunctionReader, Cursor], None]]] = {
    "PAREN_EXPR": _effect_of_inner,
    "UNEXPOSED_EXPR": _effect_of_inner,
    "CSTYLE_CAST_EXPR": _effect_of_inner,
    "DECL_REF_EXPR": _effect_of_place,
    "MEMBER_REF_EXPR": _effect_of_place,
    "ARRAY_SUBSCRIPT_EXPR": _effect_of_place,
    "UNARY_OPERATOR": _effect_of_unary,
    "BINARY_OPERATOR": _effect_of_binary,
}
