"""Calls of C as register code."""

from __future__ import annotations

from typing import Final

from rdma_robust.c.code import Call, CType, Register
from rdma_robust.c.front.cursors import bare, c_type, cursor_kind, expressions, type_of_value
from rdma_robust.c.front.function_reader import FunctionReader
from rdma_robust.c.front.libclang import Cursor, constant_value

_RESULTS: Final = ("__rr_load", "__rr_exchange")
_FIRST: Final = {"__builtin_expect", "__builtin_expect_with_probability", "__builtin_assume_aligned"}
_MOST_SHOWN: Final = 60


def callee_name(reader: FunctionReader, called: Cursor) -> str:
    """Return the name of the function that is called, '' where a pointer is."""
    named = bare(called)
    if cursor_kind(named) != "DECL_REF_EXPR":
        return ""
    declared = named.referenced
    if declared is None or named.type.spelling == "<builtin fn type>":
        return str(named.spelling)
    return reader.names.function_name(declared) if cursor_kind(declared) == "FUNCTION_DECL" else ""


def call(reader: FunctionReader, each: Cursor) -> Register:
    """Append a call; return its result, of a record its address."""
    called, *given = expressions(each)
    name = callee_name(reader, called)
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
    texts = tuple(written(argument) for argument in given)
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


def written(argument: Cursor) -> str:
    """Return an argument as it is written, in one line."""
    tokens = [str(token.spelling) for token in argument.get_tokens()]
    text = "".join(f" {token}" if token[:1].isalnum() else token for token in tokens).strip()
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 3] + "..."
