"""Statements of C as register code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from rdma_robust.c.code import Binary, Call, CType, Fresh, FunctionReturn
from rdma_robust.c.front.conditions import go_by
from rdma_robust.c.front.cursors import INT, c_type, children, cursor_kind, expressions, step_of, type_of_value
from rdma_robust.c.front.function_reader import FunctionReader, SwitchCases
from rdma_robust.c.front.initialisers import initialise
from rdma_robust.c.front.libclang import Cursor, constant_value, initial_expression
from rdma_robust.c.front.written_text import text_from_word

_NO_VALUE: Final = CType("void", 0, False, "void")


def _block(reader: FunctionReader, each: Cursor) -> None:
    for inner in each.get_children():
        reader.statement(inner)


def _declarations(reader: FunctionReader, each: Cursor) -> None:
    for declared in each.get_children():
        if cursor_kind(declared) == "VAR_DECL":
            _declaration(reader, declared)


def _declaration(reader: FunctionReader, declared: Cursor) -> None:
    storage = declared.storage_class.name
    if storage == "STATIC":
        reader.names.static_local(reader.name, declared)
    if storage == "EXTERN":
        reader.names.note(declared)
    if storage in ("STATIC", "EXTERN"):
        return
    variable = reader.local(declared)
    size = None
    if declared.type.get_canonical().kind.name == "VARIABLEARRAY":
        step = step_of(declared.type)
        if not step:
            reader.unread("RR814", "an array of arrays of variable length is not read", declared)
            return
        count = expressions(declared)[0]
        number = reader.converted(reader.value(count), type_of_value(count), CType("int", 8, False), declared)
        size = reader.binary("*", number, reader.constant(step, declared), CType("int", 8, False), declared)
    reader.emit(Fresh(variable, size), declared)
    initial = initial_expression(declared)
    if initial is not None:
        initialise(reader, variable, declared.type, initial, declared)


def _nothing(reader: FunctionReader, each: Cursor) -> None:
    del reader, each


def _if(reader: FunctionReader, each: Cursor) -> None:
    condition, then, *otherwise = children(each)
    yes, no, end = reader.label(), reader.label(), reader.label()
    go_by(reader, condition, yes, no)
    reader.mark(yes)
    reader.statement(then)
    reader.jump(end, each)
    reader.mark(no)
    for one in otherwise:
        reader.statement(one)
    reader.mark(end)


def _repeated(reader: FunctionReader, body: Cursor, on: int, end: int) -> None:
    """Read the body of a loop, which `continue` leaves for the label `on` and `break` for `end`."""
    reader.continues.append(on)
    reader.breaks.append(end)
    reader.statement(body)
    reader.continues.pop()
    reader.breaks.pop()


def _while(reader: FunctionReader, each: Cursor) -> None:
    condition, body = children(each)
    top, inside, end = reader.label(), reader.label(), reader.label()
    reader.mark(top)
    go_by(reader, condition, inside, end)
    reader.mark(inside)
    _repeated(reader, body, top, end)
    reader.jump(top, each)
    reader.mark(end)


def _do(reader: FunctionReader, each: Cursor) -> None:
    body, condition = children(each)
    top, test, end = reader.label(), reader.label(), reader.label()
    reader.mark(top)
    _repeated(reader, body, test, end)
    reader.mark(test)
    go_by(reader, condition, top, end)
    reader.mark(end)


ForParts = tuple[Cursor | None, Cursor | None, Cursor | None]


def parts_of_for(each: Cursor) -> tuple[ForParts | None, Cursor]:
    """Return the three parts of a `for`, None for those that are left out, and its body; no parts where a macro made it and
    it is not seen which are left out."""
    *inner, body = children(each)
    written = (True, True, True) if len(inner) == 3 else for_parts(text_from_word(each, _FOR))
    if written is None or sum(written) != len(inner):
        return None, body
    first, condition, more = (inner.pop(0) if there else None for there in written)
    return (first, condition, more), body


def _for(reader: FunctionReader, each: Cursor) -> None:
    parts, body = parts_of_for(each)
    if parts is None:
        reader.unread("RR814", "which parts of this `for` are left out is not seen, as a macro made it", each)
        return
    first, condition, more = parts
    if first is not None:
        reader.statement(first)
    top, inside, on, end = (reader.label() for _ in range(4))
    reader.mark(top)
    if condition is not None:
        go_by(reader, condition, inside, end)
    reader.mark(inside)
    _repeated(reader, body, on, end)
    reader.mark(on)
    if more is not None:
        reader.effect(more)
    reader.jump(top, each)
    reader.mark(end)


_FOR: Final = re.compile(r"\bfor\b")
_SKIPPED: Final = re.compile(
    r'/\*.*?(?:\*/|\Z)|//[^\n]*|"(?:\\.|[^"\\])*(?:"|\\?\Z)|\'(?:\\.|[^\'\\]){0,20}\'|\\\n|[\s\S]', re.DOTALL
)
"""Comments, texts and characters, each as a whole. What is not closed goes to the end: to look for it once takes no square
of the time."""


def for_parts(text: str) -> tuple[bool, bool, bool] | None:
    """Return which of its three parts a `for` has, from its text on; None where the text is not that of one."""
    if not text.startswith("for"):
        return None
    depth, parts = 0, [False]
    for piece in _SKIPPED.findall(text[3:]):
        if piece in ("(", "[", "{"):
            parts[-1] = parts[-1] or depth > 0
            depth += 1
        elif piece in (")", "]", "}"):
            depth -= 1
            if depth == 0:
                return (parts[0], parts[1], parts[2]) if len(parts) == 3 else None
        elif piece == ";" and depth == 1:
            parts.append(False)
        elif piece.strip() and not piece.startswith(("/*", "//", "\\\n")):
            parts[-1] = True
    return None


def _break(reader: FunctionReader, each: Cursor) -> None:
    reader.jump(reader.breaks[-1], each)


def _continue(reader: FunctionReader, each: Cursor) -> None:
    reader.jump(reader.continues[-1], each)


def _return(reader: FunctionReader, each: Cursor) -> None:
    given = children(each)
    if given and c_type(given[0].type).kind == "void":
        reader.effect(given[0])
        given = []
    reader.emit(FunctionReturn(reader.value(given[0]) if given else None), each)


def _switch(reader: FunctionReader, each: Cursor) -> None:
    asked, body = children(each)
    kind = type_of_value(asked)
    value = reader.value(asked)
    choose, end = reader.label(), reader.label()
    reader.jump(choose, each)
    reader.switches.append(SwitchCases())
    reader.breaks.append(end)
    reader.scopes_entered_within = True
    reader.statement(body)
    reader.breaks.pop()
    found = reader.switches.pop()
    reader.jump(end, each)
    reader.mark(choose)
    for least, greatest, label, at in found.cases:
        following = reader.label()
        for operator, bound in (("==", least),) if least == greatest else ((">=", least), ("<=", greatest)):
            inside = reader.label()
            number = reader.converted(reader.constant(bound, at), CType("int", 8, True), kind, at)
            holds = reader.register()
            reader.emit(Binary(holds, operator, value, number, kind, INT), at)
            reader.branch(holds, inside, following, at)
            reader.mark(inside)
        reader.jump(label, at)
        reader.mark(following)
    reader.jump(end if found.default is None else found.default, each)
    reader.mark(end)


def _case(reader: FunctionReader, each: Cursor) -> None:
    *bounds, inner = children(each)
    values = [constant_value(bound) for bound in bounds]
    label = reader.label()
    reader.mark(label)
    if all(isinstance(value, int) for value in values):
        numbers = [value for value in values if isinstance(value, int)]
        reader.switches[-1].cases.append((numbers[0], numbers[-1], label, each))
    else:
        reader.unread("RR814", "the value of this `case` is not known", each)
    reader.statement(inner)


def _default(reader: FunctionReader, each: Cursor) -> None:
    label = reader.label()
    reader.mark(label)
    reader.switches[-1].default = label
    for inner in each.get_children():
        reader.statement(inner)


def _label(reader: FunctionReader, each: Cursor) -> None:
    reader.mark(reader.named_label(str(each.spelling)))
    reader.scopes_entered_within = True
    reader.statement(children(each)[-1])


def _goto(reader: FunctionReader, each: Cursor) -> None:
    reader.jump(reader.named_label(str(children(each)[0].spelling)), each)


_ASSEMBLY: Final = re.compile(r"\b(?:asm|__asm__|__asm)\b(?:\s|volatile|__volatile__|__volatile|inline|goto)*+\(")
_STRING: Final = re.compile(r'\s*+(?:\\\n\s*+)*+"((?:\\.|[^"\\])*+)"')
_FENCES: Final = frozenset({"mfence", "lock; addl $0,0(%%rsp)", "lock;addl $0,0(%%rsp)", "lock; orl $0,(%%rsp)"})
_NO_FENCES: Final = frozenset({"", "sfence", "lfence", "pause", "rep; nop", "rep;nop", "rep nop", "nop"})


def _assembly(reader: FunctionReader, each: Cursor) -> None:
    """Read inline assembly: what is empty, and known fences, are what they are; nothing else is read."""
    text = text_from_word(each, _ASSEMBLY)
    begun = _ASSEMBLY.match(text)
    template, at = "", begun.end() if begun is not None else 0
    while begun is not None and (piece := _STRING.match(text, at)) is not None:
        template += piece[1].replace("\\n", ";").replace("\\t", " ")
        at = piece.end()
    said = re.sub(r"\s+", " ", template).strip(" ;").lower().replace(", ", ",")
    outputs = '"=' in text[at : text.find(";", at)]
    if begun is not None and said in _FENCES and not outputs:
        order = reader.constant(5, each)
        reader.emit(Call(None, "__rr_fence", (order,), (INT,), _NO_VALUE, ("5",)), each)
    elif begun is None or said not in _NO_FENCES or outputs:
        reader.unread("RR814", "inline assembly is not read", each, "say it in C, or RR_INSTEAD the function it is in")


def _unexposed(reader: FunctionReader, each: Cursor) -> None:
    """Read a statement that libclang does not name: one with attributes."""
    inner = children(each)
    if len(inner) == 1:
        reader.statement(inner[0])
    else:
        reader.unread("RR814", "a statement that libclang does not name is not read", each)


STATEMENTS: Final[Mapping[str, Callable[[FunctionReader, Cursor], None]]] = {
    "COMPOUND_STMT": _block,
    "DECL_STMT": _declarations,
    "NULL_STMT": _nothing,
    "IF_STMT": _if,
    "WHILE_STMT": _while,
    "DO_STMT": _do,
    "FOR_STMT": _for,
    "BREAK_STMT": _break,
    "CONTINUE_STMT": _continue,
    "RETURN_STMT": _return,
    "SWITCH_STMT": _switch,
    "CASE_STMT": _case,
    "DEFAULT_STMT": _default,
    "LABEL_STMT": _label,
    "GOTO_STMT": _goto,
    "ASM_STMT": _assembly,
    "UNEXPOSED_STMT": _unexposed,
}
