"""Calls of functions with bodies: arrays are passed whole or from an element on, and what comes back is stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from rdma_robust.c.contracts.block_writer import indexed_place, register_element
from rdma_robust.c.contracts.body_values import Memory, binary_operand, call_operand, named_register, number_operand
from rdma_robust.c.contracts.c_functions import WORLD, CFunction, is_communicator
from rdma_robust.c.front.libclang import Cursor
from rdma_robust.diagnose import quote
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree

if TYPE_CHECKING:
    from rdma_robust.c.contracts.body_statements import BodyReader


def call_function(reader: BodyReader, cursor: Cursor, callee: CFunction, result: tree.IndexedName | None) -> None:
    span, own = reader.at(cursor), reader.function.communicator
    if callee.communicator == WORLD != own and "MPI" in callee.reached:
        said = f"{quote(callee.name)} uses {WORLD}, and {quote(reader.function.name)} {quote(own)}"
        raise reader.values.unread(said, cursor, "a function with a contract uses one communicator")
    arguments: list[tree.Operand] = []
    backs: dict[str, Callable[[tree.IndexedName], None]] = {}
    used: dict[str, str] = {}
    for declared, given in zip(callee.cursor.get_arguments(), cursor.get_arguments(), strict=False):
        parameter = str(declared.spelling)
        if is_communicator(declared):
            reader.check_communicator(given)
        elif parameter not in callee.pointers:
            arguments.append(reader.values.value(given))
        else:
            memory = reader.values.array(given)
            if memory.name in used and {parameter, used[memory.name]} & set(callee.outs):
                said = f"{quote(memory.name)} is passed twice, and {quote(callee.name)} stores to it"
                raise reader.values.unread(said, given, "pointers of a function are to different arrays")
            if memory.name in callee.reached:
                said = f"{quote(callee.name)} names {quote(memory.name)} itself, and gets it as an argument"
                raise reader.values.unread(said, given, "pass another array")
            used[memory.name] = parameter
            value, backs[parameter] = _passed(reader, memory, span)
            arguments.append(value)
    _finish_call(reader, call_operand(callee.name, arguments, span), callee, result, backs)


def _finish_call(
    reader: BodyReader,
    call: tree.FunctionCall,
    callee: CFunction,
    result: tree.IndexedName | None,
    backs: Mapping[str, Callable[[tree.IndexedName], None]],
) -> None:
    """Append a call, and what takes its result and the arrays that it gives back."""
    span = call.span
    if not callee.outs:
        reader.emit(tree.CallLine(call, span)) if result is None else reader.assign(result, call, span)
        return
    given = reader.register(f"${callee.name}", span, call)
    if callee.gives_several and callee.has_value and result is not None:
        reader.assign(result, register_element(given.name.text, number_operand(0, span), span), span)
    for out in callee.outs:
        back = given
        if callee.gives_several:
            back = register_element(given.name.text, number_operand(callee.place_of(out), span), span)
        backs[out](back)


def _passed(reader: BodyReader, memory: Memory, span: Span) -> tuple[tree.Operand, Callable[[tree.IndexedName], None]]:
    """Return an array that is passed, and what stores one that comes back."""
    whole = named_register(memory.name, span)
    if memory.index is None:
        one = reader.register("$passed", span, call_operand("new", (number_operand(1, span),), span))
        first = register_element(one.name.text, number_operand(0, span), span)
        reader.assign(first, whole, span)
        return one, lambda back: reader.assign(whole, indexed_place(back, number_operand(0, span)), span)
    if memory.index == ast.NumberLiteral(0):
        return whole, lambda back: reader.assign(whole, back, span)
    offset = reader.register("$offset", span, memory.index)
    length = binary_operand("-", call_operand("len", (whole,), span), offset, span)
    part = reader.register("$passed", span, call_operand("new", (length,), span))
    moved = Memory(memory.name, offset, span)
    reader.counted(
        length, span, lambda at: reader.assign(register_element(part.name.text, at, span), moved.element(at), span)
    )

    def store(back: tree.IndexedName) -> None:
        reader.counted(length, span, lambda at: reader.assign(moved.element(at), indexed_place(back, at), span))

    return part, store
