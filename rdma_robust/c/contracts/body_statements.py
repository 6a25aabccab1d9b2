"""Statements of C functions as those of `.mp`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from rdma_robust.c.contracts.block_writer import BlockWriter, no_value, register_element
from rdma_robust.c.contracts.body_jumps import LOOPS_AND_JUMPS, exits_of, not_left
from rdma_robust.c.contracts.body_values import (
    ASSIGN,
    Memory,
    UnreadCodeError,
    ValueReader,
    binary_operand,
    call_operand,
    handle_value,
    is_pointer,
    named_register,
    number_operand,
)
from rdma_robust.c.contracts.c_functions import WORLD, CFunction
from rdma_robust.c.contracts.function_calls import call_function
from rdma_robust.c.contracts.local_variables import allocate, declare
from rdma_robust.c.front.cursors import bare, c_type, children, cursor_kind, expressions
from rdma_robust.c.front.libclang import Cursor, binary_kind, unary_kind
from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree

_STEPS: Final = {1: "+", 2: "-", 3: "+", 4: "-"}
_COMPOUND: Final = {23: "*", 24: "/", 25: "%", 26: "+", 27: "-"}
_SILENT: Final = frozenset({"printf", "fprintf", "puts", "putchar", "fflush"})
_FAILING: Final = frozenset({"__assert_fail", "__assert_rtn", "__assert"})
RESULT: Final = "$result"

CallReader = Callable[["BodyReader", Cursor], None]


def _no_contract(_: Cursor) -> object:
    return None


@dataclass
class BodyReader(BlockWriter):
    """Reads the body of one function."""

    function: CFunction
    functions: Mapping[str, CFunction]
    values: ValueReader
    library: Mapping[str, CallReader]
    report: Reporter
    single: bool
    """Whether every message and every collective operation of the file is of one element: then it is sent as a number."""
    globals: frozenset[str] = frozenset()
    loop_contract: Callable[[Cursor], object] = _no_contract
    datatypes: dict[str, Span] = field(default_factory=dict)
    exits: Mapping[str, tree.IndexedName] = field(default_factory=dict)
    """The registers that say how a loop or `switch` was left, by `break` and `continue`."""
    has_no_process: bool = False
    has_any_source: bool = False
    has_any_tag: bool = False

    def __post_init__(self) -> None:
        self.values.chosen = self._chosen
        self.taken |= set(self.values.names.values())

    def at(self, cursor: Cursor) -> Span:
        """Return where a cursor is."""
        return self.values.at(cursor)

    def whole(self, cursor: Cursor, span: Span) -> ast.Block:
        """Return the body of the function, which gives back what it stored where it ends."""

        def inside() -> None:
            self.compound(cursor)
            gives = self.function.has_value or self.function.outs
            if gives and not (self.lines and isinstance(self.lines[-1], tree.ReturnLine)):
                value = no_value(span) if self.function.has_value else None
                self.emit(tree.ReturnLine(self.given_back(value, span), span))

        return self.block(span, inside)

    def note_datatype(self, name: str, cursor: Cursor) -> None:
        """Note the datatype of a message. Raises UnreadCodeError if others have another one."""
        self.datatypes.setdefault(name, self.at(cursor))
        if len(self.datatypes) > 1:
            before = next(iter(self.datatypes))
            said = f"messages of MPI_{name} beside those of MPI_{before} are not read"
            raise self.values.unread(said, cursor, "take one datatype for all messages of the file")

    # Statements.

    def statement(self, cursor: Cursor, behind: Sequence[Cursor] = ()) -> None:
        """Append what a statement does, that stands before others. What is not read is reported, and left out."""
        try:
            if cursor_kind(cursor) == "DECL_STMT":
                declare(self, cursor, behind)
            else:
                self._statement(cursor)
        except UnreadCodeError as unread:
            self.report.error("RR964", unread.span, unread.message, hint=unread.hint)

    def _statement(self, cursor: Cursor) -> None:
        kind = cursor_kind(cursor)
        reader = _STATEMENTS.get(kind)
        if reader is not None:
            reader(self, cursor)
        elif cursor.kind.is_expression():
            self.effect(cursor)
        elif kind != "NULL_STMT":
            what = kind.removesuffix("_STMT").lower()
            raise self.values.unread(f"`{what}` is not read", cursor, "write it with `if`, `while` or `for`")

    def compound(self, cursor: Cursor) -> None:
        """Append the statements of a block."""
        names = dict(self.values.names)
        try:
            self.sequence(children(cursor))
        finally:
            self.values.names = names

    def sequence(self, statements: Sequence[Cursor]) -> None:
        """Append statements, those behind a jump only where it was not taken."""
        for place, each in enumerate(statements, start=1):
            behind = statements[place:]
            self.statement(each, behind)
            if behind and (leaves := exits_of(each)):
                self.branch(not_left(self, leaves, self.at(each)), self.at(each), partial(self.sequence, behind))
                return

    def body_of(self, cursor: Cursor) -> ast.Block:
        """Return a statement as a block."""
        return self.block(self.at(cursor), lambda: self.statement(cursor))

    def _if(self, cursor: Cursor) -> None:
        condition, then, *otherwise = children(cursor)
        arm = ast.Arm(tree.as_part(self.values.value(condition)), self.body_of(then), self.at(condition))
        other = self.body_of(otherwise[0]) if otherwise else None
        self.emit(ast.If((arm,), other, self.at(cursor)))

    def condition(self, cursor: Cursor) -> tree.Operand:
        """Return the value of an expression that is evaluated again or not always: nothing is put before it."""
        kept, self.values.chosen = self.values.chosen, None
        try:
            return self.values.value(cursor)
        finally:
            self.values.chosen = kept

    def _return(self, cursor: Cursor) -> None:
        given, span = children(cursor), self.at(cursor)
        value = self.values.value(given[0]) if given and cursor_kind(bare(given[0])) != "CALL_EXPR" else None
        if given and value is None:
            result = self.register("$returned", span)
            self._call(bare(given[0]), result)
            value = result
        self.emit(tree.ReturnLine(self.given_back(value, span), span))

    def given_back(self, value: tree.Operand | None, span: Span) -> tree.Operand | None:
        """Return what the function of `.mp` gives where that of C returns `value`."""
        own = self.function
        if not own.gives_several:
            return named_register(own.outs[0], span) if own.outs else value
        given = [*([value] if own.has_value else []), *(named_register(out, span) for out in own.outs)]
        size = number_operand(len(given), span)
        together = self.register(RESULT, span, call_operand("new", (size,), span))
        for place, each in enumerate(given):
            part = register_element(together.name.text, number_operand(place, span), span)
            self.assign(part, each or no_value(span), span)
        return together

    # Expressions that are statements.

    def effect(self, cursor: Cursor) -> None:
        """Append what an expression does. Raises UnreadCodeError."""
        found = bare(cursor)
        kind, span = cursor_kind(found), self.at(cursor)
        if kind == "BINARY_OPERATOR" and binary_kind(found) == ASSIGN:
            left, right = children(found)
            if is_pointer(left.type):
                self._reallocate(left, right, span)
            else:
                self.store(self.values.memory(left), right, span)
        elif kind == "COMPOUND_ASSIGNMENT_OPERATOR":
            left, right = children(found)
            operator = _COMPOUND.get(binary_kind(found))
            if operator is None:
                raise self.values.unread("this operator is not read", found)
            place = self.values.memory(left).element()
            self.assign(place, binary_operand(operator, place, self.values.value(right), span), span)
        elif kind == "UNARY_OPERATOR" and unary_kind(found) in _STEPS:
            place = self.values.memory(children(found)[0]).element()
            self.assign(place, binary_operand(_STEPS[unary_kind(found)], place, number_operand(1, span), span), span)
        elif kind == "CALL_EXPR":
            self._call(found, None)
        elif kind == "CSTYLE_CAST_EXPR" and c_type(found.type).kind == "void":
            inner = bare(expressions(found)[-1])
            if cursor_kind(inner) not in ("DECL_REF_EXPR", "INTEGER_LITERAL"):
                self.effect(inner)
        elif not self._assertion(found):
            raise self.values.unread("this expression is no statement", cursor, "assignments and calls are read")

    def _reallocate(self, left: Cursor, right: Cursor, span: Span) -> None:
        target = self.values.memory(left)
        name = self.new_name("$new")
        allocate(self, name, right, span)
        self.assign(named_register(target.name, span), named_register(name, span), span)

    def store(self, place: Memory, value: Cursor, span: Span) -> None:
        """Append what stores a value, which may be that of a call. Raises UnreadCodeError."""
        found = bare(value)
        if cursor_kind(found) == "CALL_EXPR":
            self._call(found, place.element())
        else:
            self.assign(place.element(), self.values.value(value), span)

    def _chosen(self, cursor: Cursor) -> tree.Operand:
        """Return the register of `condition ? one : other`, which is decided before."""
        condition, one, other = expressions(cursor)
        span = self.at(cursor)
        asked = self.values.value(condition)
        made = self.register("$choice", span)
        self.branch(
            asked,
            span,
            lambda: self.assign(made, self.values.value(one), span),
            lambda: self.assign(made, self.values.value(other), span),
        )
        return made

    def _assertion(self, cursor: Cursor) -> bool:
        """Append an `assert` of C, if that is what an expression is: its macro has a choice between nothing and the end."""
        for each in cursor.walk_preorder():
            if cursor_kind(each) in ("CONDITIONAL_OPERATOR", "IF_STMT"):
                condition, *_, other = children(each)
                if any(str(one.spelling) in _FAILING for one in other.walk_preorder()):
                    self.emit(ast.Assert(tree.as_part(self.condition(condition)), self.at(cursor)))
                    return True
        return False

    def _call(self, cursor: Cursor, result: tree.IndexedName | None) -> None:
        name = str(cursor.spelling)
        known = self.library.get(name)
        if known is not None:
            if result is not None:
                raise self.values.unread(f"what {quote(name)} returns is not read", cursor, "call it as a statement")
            known(self, cursor)
        elif name in self.functions:
            call_function(self, cursor, self.functions[name], result)
        elif name == "free" and result is None:
            self.assign(self.values.whole(next(cursor.get_arguments())), no_value(self.at(cursor)), self.at(cursor))
        elif name in _SILENT and result is None:
            self._check_silent(cursor)
        else:
            said = f"{quote(name or 'what is called')} is not read: it is no function of this file"
            hint = "functions of MPI that are read are those that send, receive and call all processes together"
            raise self.values.unread(said, cursor, hint)

    def _check_silent(self, cursor: Cursor) -> None:
        """Raise UnreadCodeError if the arguments of a call that does nothing do something."""
        for given in cursor.get_arguments():
            for each in given.walk_preorder():
                kind = cursor_kind(each)
                is_store = kind == "BINARY_OPERATOR" and binary_kind(each) == ASSIGN
                is_step = kind == "UNARY_OPERATOR" and unary_kind(each) in _STEPS
                if is_store or is_step or kind in ("CALL_EXPR", "COMPOUND_ASSIGNMENT_OPERATOR"):
                    raise self.values.unread("this argument does something", each, "write it as a statement before")

    def check_communicator(self, cursor: Cursor) -> None:
        """Raise UnreadCodeError for a communicator that is not that of the function."""
        found = bare(cursor)
        is_named = cursor_kind(found) == "DECL_REF_EXPR"
        name = str(found.spelling) if is_named else {1: WORLD}.get(handle_value(cursor) or 0, "")
        if name != self.function.communicator:
            said = f"this communicator is not {quote(self.function.communicator)}, that of {quote(self.function.name)}"
            raise self.values.unread(said, cursor, "a function with a contract uses one communicator")


_STATEMENTS: Final[Mapping[str, Callable[[BodyReader, Cursor], None]]] = {
    "COMPOUND_STMT": BodyReader.compound,
    "IF_STMT": BodyReader._if,
    "RETURN_STMT": BodyReader._return,
    **LOOPS_AND_JUMPS,
}
