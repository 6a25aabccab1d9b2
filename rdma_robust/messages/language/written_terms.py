"""Terms and places of checked message programs as expressions of the language."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from rdma_robust.errors import InternalError
from rdma_robust.expr import Const, Name
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.layout import MAX_DIGITS
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_program import Place
from rdma_robust.messages.language.message_terms import Element, Length, Operation, Term, Zeros
from rdma_robust.text import free_name


@dataclass(frozen=True, slots=True)
class FamilyNames:
    """The processes of one declaration."""

    name: str
    first: int
    low: int
    size: int
    numbered: bool
    daemon: bool


@dataclass(frozen=True, slots=True)
class Families:
    """All declarations of processes."""

    found: tuple[FamilyNames, ...]

    def checked(self, term: Term) -> tuple[FamilyNames, Term] | None:
        """Return the family and the index of a process's number with a check: `first + (k + new(size)[k])`."""
        first, inner = 0, term
        match term:
            case Operation("+", (Const(value), Operation() as summed)):
                first, inner = value, summed
        match inner:
            case Operation("+", (shifted, Element(Zeros(Const(size)), again))) if shifted == again:
                for family in self.found:
                    if family.numbered and (family.first, family.size) == (first, size):
                        return family, shifted
        return None


@dataclass(slots=True)
class TextNames:
    """Names that the language has for those of registers and requests."""

    taken: set[str]
    _known: dict[str, str] = field(default_factory=dict)
    _zero: str = ""

    def of(self, name: str) -> str:
        """Return the name for a register or request: its own, if that is one."""
        if name not in self._known:
            self._known[name] = free_name(self.cleaned(name), self.taken)
        return self._known[name]

    @staticmethod
    def cleaned(name: str) -> str:
        """Return a name of the language that is like another one."""
        return re.sub(r"^(?=[^A-Za-z_]|$)", "_", re.sub(r"\W", "_", name, flags=re.ASCII))

    def always_zero(self) -> str:
        """Return the name of a register that is always 0."""
        self._zero = self._zero or free_name("nought", self.taken)
        return self._zero

    def zero(self) -> tuple[str, ...]:
        """Return the register that is always 0, if there is need of it."""
        return (self._zero,) if self._zero else ()


_LARGE: Final = 10**MAX_DIGITS


def number_text(value: int) -> tree.Operand:
    """Return a number as an expression: of more digits than the language has, it is a sum."""
    if value < 0:
        return ast.Unary("-", tree.as_part(number_text(-value)))
    if value < _LARGE:
        return ast.NumberLiteral(value)
    high, low = divmod(value, _LARGE)
    half = ast.NumberLiteral(10 ** (MAX_DIGITS // 2))
    product = _binary("*", _binary("*", number_text(high), half), half)
    return _binary("+", product, ast.NumberLiteral(low)) if low else product


def _binary(op: str, left: tree.Operand, right: tree.Operand) -> ast.Binary:
    return ast.Binary(op, tree.as_part(left), tree.as_part(right))


class TermTrees:
    """Terms of one process or function as expressions."""

    def __init__(self, families: Families, names: TextNames, prefix: str = "") -> None:
        self._families = families
        self._names = names
        self.prefix = prefix

    def name(self, name: str) -> ast.Ident:
        """Return a register or request."""
        own = name.removeprefix(self.prefix)
        if "." in own.removeprefix("."):
            raise InternalError(f"{name} is a register of another function")
        return ast.Ident(self._names.of(own))

    def place(self, place: Place) -> tree.IndexedName:
        """Return a place."""
        return tree.IndexedName(self.name(place.name), tuple(map(self.term, place.indices)))

    def term(self, term: Term) -> tree.Operand:
        """Return an expression for a term."""
        checked = self._families.checked(term)
        if checked is not None:
            return self._process(*checked)
        match term:
            case Const(value):
                return number_text(value)
            case Name(name):
                return tree.IndexedName(self.name(name), ())
            case Element():
                return self._element(term)
            case Length(array):
                return tree.FunctionCall(ast.Ident("len"), (self.term(array),))
            case Zeros(size):
                shown = self._fault(size) if isinstance(size, Const) and size.value < 0 else self.term(size)
                return tree.FunctionCall(ast.Ident("new"), (shown,))
            case Operation(op, (operand,)):
                return ast.Unary(op, tree.as_part(self.term(operand)))
            case Operation("/" | "%" as op, (left, Const(0) as zero)):
                return _binary(op, self.term(left), self._fault(zero))
            case Operation(op, (left, right)):
                return _binary(op, self.term(left), self.term(right))
        raise InternalError(f"no text of the language is {term}")

    def _element(self, term: Element) -> tree.IndexedName:
        indices: list[tree.Operand] = []
        array: Term = term
        while isinstance(array, Element):
            indices.insert(0, self.term(array.index))
            array = array.array
        if not isinstance(array, Name):
            raise InternalError(f"no text of the language is {term}")
        return tree.IndexedName(self.name(array.name), tuple(indices))

    def _process(self, family: FamilyNames, shifted: Term) -> tree.Operand:
        match shifted:
            case Const(value):
                index = self._fault(Const(value + family.low))
            case Operation("-", (inner, Const(low))) if low == family.low and low:
                index = self.term(inner)
            case _:
                index = self.term(Operation("+", (shifted, Const(family.low)))) if family.low else self.term(shifted)
        return tree.IndexedName(ast.Ident(family.name), (index,))

    def within(self, term: Term, low: int, high: int | None) -> tree.Operand:
        """Return an expression that the reader accepts also where a constant is not between these."""
        if isinstance(term, Const) and (term.value < low or (high is not None and term.value > high)):
            return self._fault(term)
        return self.term(term)

    def _fault(self, term: Const) -> tree.Operand:
        """Return an expression for a number of which nothing is known before it is computed."""
        nought = tree.IndexedName(ast.Ident(self._names.always_zero()), ())
        return _binary("+", nought, number_text(term.value)) if term.value else nought
