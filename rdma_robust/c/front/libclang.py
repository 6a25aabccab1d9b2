"""libclang as it is used here: loaded late, with the functions that its Python binding leaves out."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from rdma_robust.errors import UsageError

NEEDED: Final = "pip install libclang"

Cursor = Any
"""A cursor of libclang, which has no types."""

ClangType = Any

_NUMBER: Final = 1
_FRACTION: Final = 2


@cache
def index_library() -> Any:
    """Return the module `clang.cindex`. Raises UsageError, with what to install, where it is missing or too old."""
    if find_spec("clang") is None:
        raise UsageError(f"reading C needs libclang, which is not installed: {NEEDED}")
    library = import_module("clang.cindex")
    try:
        _declare(library, library.conf.lib)
    except (AttributeError, library.LibclangError) as error:
        raise UsageError(f"this libclang cannot be used, 18 or newer is needed: {NEEDED} ({error})") from None
    return library


def _declare(library: Any, calls: Any) -> None:
    """Declare the functions that the binding has not."""
    cursor, kind = library.Cursor, library.Type
    pointer = ctypes.c_void_p
    for name, arguments, result, check in (
        ("clang_getCursorBinaryOperatorKind", [cursor], ctypes.c_int, None),
        ("clang_getCursorUnaryOperatorKind", [cursor], ctypes.c_int, None),
        ("clang_Cursor_getVarDeclInitializer", [cursor], cursor, cursor.from_result),
        ("clang_Type_getValueType", [kind], kind, kind.from_result),
        ("clang_Cursor_Evaluate", [cursor], pointer, None),
        ("clang_EvalResult_getKind", [pointer], ctypes.c_int, None),
        ("clang_EvalResult_getAsLongLong", [pointer], ctypes.c_longlong, None),
        ("clang_EvalResult_isUnsignedInt", [pointer], ctypes.c_uint, None),
        ("clang_EvalResult_getAsUnsigned", [pointer], ctypes.c_ulonglong, None),
        ("clang_EvalResult_getAsDouble", [pointer], ctypes.c_double, None),
        ("clang_EvalResult_dispose", [pointer], None, None),
    ):
        call = getattr(calls, name)
        call.argtypes, call.restype = arguments, result
        if check is not None:
            call.errcheck = check


def constant_value(cursor: Cursor) -> int | float | None:
    """Return the value of an expression that is a constant, None if it is none."""
    calls = index_library().conf.lib
    found = calls.clang_Cursor_Evaluate(cursor)
    if not found:
        return None
    try:
        kind = calls.clang_EvalResult_getKind(found)
        if kind == _NUMBER:
            unsigned = calls.clang_EvalResult_isUnsignedInt(found)
            read = calls.clang_EvalResult_getAsUnsigned if unsigned else calls.clang_EvalResult_getAsLongLong
            return int(read(found))
        return float(calls.clang_EvalResult_getAsDouble(found)) if kind == _FRACTION else None
    finally:
        calls.clang_EvalResult_dispose(found)


def binary_kind(cursor: Cursor) -> int:
    """Return the number of a binary operator, of compound assignments too."""
    return int(index_library().conf.lib.clang_getCursorBinaryOperatorKind(cursor))


def unary_kind(cursor: Cursor) -> int:
    """Return the number of a unary operator."""
    return int(index_library().conf.lib.clang_getCursorUnaryOperatorKind(cursor))


def initial_expression(variable: Cursor) -> Cursor | None:
    """Return what a variable is initialised with, None if with nothing."""
    return index_library().conf.lib.clang_Cursor_getVarDeclInitializer(variable)


def without_atomic(kind: ClangType) -> ClangType:
    """Return the type of the value of an atomic type."""
    return index_library().conf.lib.clang_Type_getValueType(kind)
