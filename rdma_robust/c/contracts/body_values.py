"""Values of C expressions as operands of `.mp`, whose integers have no bounds; and the memory that lvalues name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.c.front.cursors import bare, c_type, children, cursor_kind, cursor_place, expressions
from rdma_robust.c.front.libclang import ClangType, Cursor, binary_kind, constant_value, unary_kind
from rdma_robust.c.front.parsing import place_span
from rdma_robust.diagnose import quote
from rdma_robust.errors import RdmaRobustError, Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import message_tree as tree

OPERATORS: Final = {
    3: "*", 4: "/", 5: "%", 6: "+", 7: "-", 11: "<", 12: ">", 13: "<=", 14: ">=", 15: "==", 16: "!=", 20: "&&", 21: "||",
}  # fmt: skip
"""Binary operators by libclang's numbers, of those that `.mp` has too."""

ASSIGN: Final = 22
_DEREFERENCE: Final = 6
ADDRESS: Final = 5
_PLUS: Final = 6
_MINUS: Final = 7
_SIGNS: Final = {7: "+", 8: "-", 10: "!"}
_UPDATES: Final = (1, 2, 3, 4)
_LITERALS: Final = ("INTEGER_LITERAL", "CHARACTER_LITERAL")


class UnreadCodeError(RdmaRobustError):
    """C that has no counterpart in `.mp`; with where it stands, and what to write instead."""

    def __init__(self, message: str, span: Span, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.span, self.hint = message, span, hint


@dataclass(frozen=True, slots=True)
class Memory:
    """A register, or elements of the array in it from an index on. Of a number `index` is None."""

    name: str
    index: tree.Operand | None
    span: Span

    def element(self, after: tree.Operand | None = None) -> tree.IndexedName:
        """Return an element as a place, so many after the first."""
        if self.index is None:
            return tree.IndexedName(ast.Ident(self.name, self.span), (), self.span)
        index = self.index if after is None else sum_operand(self.index, after)
        return tree.IndexedName(ast.Ident(self.name, self.span), (index,), self.span)


def number_operand(value: int, span: Span) -> tree.Operand:
    """Return a number as it is written, a negative one with its sign."""
    if value < 0:
        return ast.Unary("-", ast.NumberLiteral(-value, span), span)
    return ast.NumberLiteral(value, span)


def binary_operand(op: str, left: object, right: object, span: Span) -> ast.Binary:
    """Return an operation of two operands."""
    return ast.Binary(op, left, right, span)  # type: ignore[arg-type]


def sum_operand(left: tree.Operand, right: tree.Operand) -> tree.Operand:
    """Return a sum, without what is zero."""
    if left == ast.NumberLiteral(0):
        return right
    return left if right == ast.NumberLiteral(0) else binary_operand("+", left, right, left.span)


def named_register(name: str, span: Span) -> tree.IndexedName:
    """Return the register of a name."""
    return tree.IndexedName(ast.Ident(name, span), (), span)


def call_operand(name: str, arguments: Iterable[tree.Operand], span: Span) -> tree.FunctionCall:
    """Return a call of a function of `.mp`."""
    return tree.FunctionCall(ast.Ident(name, span), tuple(arguments), span)


def handle_value(cursor: Cursor) -> int | None:
    """Return the number that a constant of MPI is, whatever its type; None of what is no constant."""
    found = bare(cursor)
    while cursor_kind(found) == "CSTYLE_CAST_EXPR":
        found = bare(expressions(found)[-1])
    value = constant_value(found)
    return value if isinstance(value, int) else None


def is_whole(kind: ClangType) -> bool:
    """Return whether the values of a type are integers with a sign, of four bytes or more."""
    found = c_type(kind)
    return found.kind == "int" and found.size >= 4 and (found.signed or _is_enum(kind))


def _is_enum(kind: ClangType) -> bool:
    return str(kind.get_canonical().kind.name) == "ENUM"


def is_pointer(kind: ClangType) -> bool:
    """Return whether a type is that of pointers to integers, or of arrays of them."""
    canonical = kind.get_canonical()
    if canonical.kind.name == "POINTER":
        return is_whole(canonical.get_pointee())
    is_array = canonical.kind.name in ("CONSTANTARRAY", "VARIABLEARRAY", "INCOMPLETEARRAY")
    return is_array and is_whole(canonical.element_type)


@dataclass
class ValueReader:
    """Reads expressions of one function. `names` are the registers of what is declared, by libclang's number of it;
    `chosen` puts a choice before the expression that it is in, and returns the register of its value."""

    span_of: Callable[[Span], Span]
    names: dict[int, str] = field(default_factory=dict)
    constants: Mapping[int, int] = field(default_factory=dict)
    chosen: Callable[[Cursor], tree.Operand] | None = None

    def at(self, cursor: Cursor) -> Span:
        """Return where a cursor is."""
        return self.span_of(place_span(cursor_place(cursor)))

    def unread(self, message: str, cursor: Cursor, hint: str = "") -> UnreadCodeError:
        """Return the error that something is not read."""
        return UnreadCodeError(message, self.at(cursor), hint)

    def value(self, cursor: Cursor) -> tree.Operand:
        """Return the value of an expression that is an integer. Raises UnreadCodeError."""
        found, span = bare(cursor), self.at(cursor)
        kind = cursor_kind(found)
        if not is_whole(found.type):
            raise self.unread(
                _unread_type(found.type), found, "contracts in C are about `int` and `long`, and arrays of them"
            )
        if kind in _LITERALS or kind == "CXX_UNARY_EXPR":
            return self._constant(found, span)
        if kind == "CSTYLE_CAST_EXPR":
            return self._converted(found)
        self._check_conversion(cursor, found)
        match kind:
            case "DECL_REF_EXPR" | "ARRAY_SUBSCRIPT_EXPR":
                return self._stored(found, span)
            case "MEMBER_REF_EXPR" if str(children(found)[0].type.spelling) == "MPI_Status":
                return named_register(f"{self.register(bare(children(found)[0]))}.{found.spelling}", span)
            case "UNARY_OPERATOR":
                return self._unary(found, span)
            case "BINARY_OPERATOR":
                return self._binary(found, span)
            case "CONDITIONAL_OPERATOR" if self.chosen is not None:
                return self.chosen(found)
            case "CALL_EXPR" | "CONDITIONAL_OPERATOR":
                what = "a call" if kind == "CALL_EXPR" else "`?:`"
                raise self.unread(f"{what} is not read here", found, "store its value in a variable first")
            case _:
                raise self.unread("this expression is not read", found)

    def _constant(self, found: Cursor, span: Span) -> tree.Operand:
        value = constant_value(found)
        if not isinstance(value, int):
            raise self.unread("the value of this expression is not known", found)
        return number_operand(value, span)

    def _converted(self, found: Cursor) -> tree.Operand:
        inner = expressions(found)[-1]
        self._check_conversion(found, bare(inner))
        return self.value(inner)

    def _check_conversion(self, cursor: Cursor, found: Cursor) -> None:
        """Raise UnreadCodeError where a value is converted to a smaller type."""
        source, target = c_type(found.type), c_type(cursor.type)
        if source.kind == "int" and target.kind == "int" and target.size < source.size and constant_value(found) is None:
            said = f"a value of type {quote(found.type.spelling)} becomes one of {quote(cursor.type.spelling)}"
            raise self.unread(f"{said}, which has fewer bits", cursor, "give both the same type")

    def _stored(self, found: Cursor, span: Span) -> tree.Operand:
        declared = found.referenced if cursor_kind(found) == "DECL_REF_EXPR" else None
        if declared is not None and cursor_kind(declared) == "ENUM_CONSTANT_DECL":
            return number_operand(int(declared.enum_value), span)
        if declared is not None and declared.hash in self.constants:
            return number_operand(self.constants[declared.hash], span)
        return self.memory(found).element()

    def _unary(self, found: Cursor, span: Span) -> tree.Operand:
        operator, inner = unary_kind(found), children(found)[0]
        if operator == _DEREFERENCE:
            return self.memory(found).element()
        if operator in _UPDATES:
            hint = "write it as a statement of its own"
            raise self.unread("`++` and `--` are not read inside of expressions", found, hint)
        sign = _SIGNS.get(operator)
        if sign is None:
            raise self.unread("this operator is not read", found)
        return self.value(inner) if sign == "+" else ast.Unary(sign, self.value(inner), span)  # type: ignore[arg-type]

    def _binary(self, found: Cursor, span: Span) -> tree.Operand:
        operator = OPERATORS.get(binary_kind(found))
        left, right = children(found)
        if operator is None:
            raise self.unread("this operator is not read inside of expressions", found)
        if operator in ("&&", "||"):
            kept, first = self.chosen, self.value(left)
            self.chosen = None
            try:
                return binary_operand(operator, first, self.value(right), span)
            finally:
                self.chosen = kept
        return binary_operand(operator, self.value(left), self.value(right), span)

    def memory(self, cursor: Cursor) -> Memory:
        """Return what an lvalue names. Raises UnreadCodeError."""
        found, span = bare(cursor), self.at(cursor)
        kind = cursor_kind(found)
        if kind == "DECL_REF_EXPR":
            return Memory(self.register(found), None, span)
        if kind == "ARRAY_SUBSCRIPT_EXPR":
            array, index = expressions(found)
            start = self.array(array)
            return Memory(start.name, sum_operand(start.index or ast.NumberLiteral(0), self.value(index)), span)
        if kind == "UNARY_OPERATOR" and unary_kind(found) == _DEREFERENCE:
            return self.array(children(found)[0])
        raise self.unread("this lvalue is not read", found, "numbers, and elements of arrays of numbers, are")

    def register(self, found: Cursor) -> str:
        """Return the register of a variable. Raises UnreadCodeError."""
        declared = found.referenced
        name = None if declared is None else self.names.get(declared.hash)
        if name is None:
            said = f"{quote(str(found.spelling))} is not read: {_unread_type(found.type)}"
            raise self.unread(said, found, "variables are `int`, `long`, and arrays of them")
        return name

    def whole(self, cursor: Cursor) -> tree.IndexedName:
        """Return the register of an array that a pointer is the beginning of. Raises UnreadCodeError."""
        found = self.array(cursor)
        if found.index != ast.NumberLiteral(0):
            raise self.unread("this is not the beginning of an array", cursor)
        return named_register(found.name, found.span)

    def array(self, cursor: Cursor) -> Memory:
        """Return the elements from that on to which a pointer points. Raises UnreadCodeError."""
        found, span = bare(cursor), self.at(cursor)
        kind = cursor_kind(found)
        if not is_pointer(found.type):
            raise self.unread(_unread_type(found.type), found, "pointers to `int` and `long` are read")
        if kind == "DECL_REF_EXPR":
            return Memory(self.register(found), ast.NumberLiteral(0, span), span)
        if kind == "UNARY_OPERATOR" and unary_kind(found) == ADDRESS:
            return self.memory(children(found)[0])
        if kind == "BINARY_OPERATOR" and binary_kind(found) in (_PLUS, _MINUS):
            left, right = children(found)
            if is_pointer(bare(left).type):
                start, offset = self.array(left), self.value(right)
                if start.index is not None:
                    is_sum = binary_kind(found) == _PLUS
                    index = sum_operand(start.index, offset) if is_sum else binary_operand("-", start.index, offset, span)
                    return Memory(start.name, index, span)
        raise self.unread("this pointer is not read", found, "write `a`, `a + i`, `&a[i]` or `&x`")


def _unread_type(kind: ClangType) -> str:
    """Return in words that values of a type are not read."""
    found = c_type(kind)
    if found.kind == "float":
        return f"values of type {quote(kind.spelling)} are not read yet"
    if found.kind == "int" and not found.signed:
        return f"values of type {quote(kind.spelling)} are not read: they begin anew behind the greatest"
    return f"values of type {quote(kind.spelling)} are not read"


def names_variable(cursor: Cursor, declared: Cursor) -> bool:
    """Return whether an expression is the name of a variable."""
    found = bare(cursor)
    return cursor_kind(found) == "DECL_REF_EXPR" and found.referenced == declared
