"""Conditions of C as branches: `&&`, `||` and `!` decide where to go, without a value of their own."""

from __future__ import annotations

from typing import Final

from rdma_robust.c.front.cursors import children, cursor_kind, expressions
from rdma_robust.c.front.function_reader import FunctionReader, Label
from rdma_robust.c.front.libclang import Cursor, binary_kind, unary_kind

AND: Final = 20
OR: Final = 21
NOT: Final = 10


def go_by(reader: FunctionReader, condition: Cursor, yes: Label, no: Label) -> None:
    """Append code that goes on at `yes` where a condition holds, at `no` elsewhere."""
    kind = cursor_kind(condition)
    if kind == "PAREN_EXPR":
        go_by(reader, expressions(condition)[0], yes, no)
    elif kind == "UNARY_OPERATOR" and unary_kind(condition) == NOT:
        go_by(reader, children(condition)[0], no, yes)
    elif kind == "BINARY_OPERATOR" and binary_kind(condition) in (AND, OR):
        left, right = children(condition)
        second = reader.label()
        if binary_kind(condition) == AND:
            go_by(reader, left, second, no)
        else:
            go_by(reader, left, yes, second)
        reader.mark(second)
        go_by(reader, right, yes, no)
    else:
        reader.branch(reader.value(condition), yes, no, condition)
