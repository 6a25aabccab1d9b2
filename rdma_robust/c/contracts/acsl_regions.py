"""Regions of memory in contracts, `\\mpi_region` and `\\mpi_reduce`: what is said of them, said of their elements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from rdma_robust.c.contracts.acsl_comments import EqualRegions, ExtentTerm, RegionTerm, ValidTerm, binary_term
from rdma_robust.c.libraries.mpi import TYPES
from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import contract_tree as contracts
from rdma_robust.messages.language import message_tree as tree

_FOLDS: Final[dict[str, Literal["sum", "max", "min"]]] = {"MPI_SUM": "sum", "MPI_MAX": "max", "MPI_MIN": "min"}
_FORMS: Final = (
    "write `\\mpi_region(p, n, MPI_INT)`, or `\\mpi_reduce(p, n, MPI_INT, MPI_SUM)`; `\\on` and `\\old` of them too"
)


@dataclass(frozen=True, slots=True)
class _Elements:
    """How many elements a region has, and which one is at an index."""

    count: object
    at: Callable[[object], object]


@dataclass(frozen=True, slots=True)
class RegionReader:
    """Reads what is said of regions. `sizes` says of each pointer and array how many bytes an element has."""

    sizes: Mapping[str, int]
    report: Reporter

    def equal(self, term: EqualRegions) -> object:
        """Return that two regions have as many elements, and the same ones."""
        left, right, span = self._elements(term.left), self._elements(term.right), term.span
        if left is None or right is None:
            return ast.NumberLiteral(1, span)
        same = binary_term("==", left.count, right.count, span)
        return binary_term(
            "&&", same, _each(left.count, lambda at: binary_term("==", left.at(at), right.at(at), span), span), span
        )

    def agreed(self, term: contracts.AgreeTerm) -> object:
        """Return that all processes have as many elements, and the same ones; any other term is as it was."""
        if not _has_region(term.value):
            return term
        found, span = self._elements(term.value), term.span
        if found is None:
            return ast.NumberLiteral(1, span)
        agreed = contracts.AgreeTerm(found.count, span)
        return binary_term("&&", agreed, _each(found.count, lambda at: contracts.AgreeTerm(found.at(at), span), span), span)

    def alone(self, term: RegionTerm) -> object:
        """Report a region where a number is expected."""
        hint = "regions stand in `\\mpi_agree`, `\\mpi_equals` and `assigns`"
        self.report.error("RR963", term.span, "a region is no number", hint=hint)
        return ast.NumberLiteral(0, term.span)

    def extent(self, term: ExtentTerm) -> object:
        """Return how many bytes an element of a datatype has."""
        kind, size = _element(term.datatype)
        if not kind:
            said = f"{quote(term.datatype.text)} is no datatype that is known here"
            self.report.error("RR963", term.datatype.span, said, hint="`MPI_INT` and `MPI_LONG` are")
        return ast.NumberLiteral(size, term.span)

    def is_known(self, term: RegionTerm | ValidTerm) -> bool:
        """Return whether there is such a pointer. Reported are others, and datatypes that are not those of its elements."""
        name = term.pointer.text
        if name not in self.sizes:
            self.report.error("RR963", term.pointer.span, f"{quote(name)} is no pointer to numbers that is known here")
            return False
        for each in term.datatypes:
            if _element(each) != ("int", self.sizes[name]):
                said = f"{quote(each.text)} is not the datatype of what {quote(name)} points to"
                self.report.error("RR963", each.span, said, hint="MPI_INT is for `int`, MPI_LONG for `long`")
        return True

    def cells(self, found: contracts.CellsOf | RegionTerm) -> contracts.CellsOf:
        """Return what `assigns` names, of a region its elements."""
        if not isinstance(found, RegionTerm):
            return found
        self.is_known(found)
        if found.operation is not None:
            self.alone(found)
        low = ast.NumberLiteral(0, found.span) if found.start is None else found.start
        return contracts.CellsOf(found.pointer, low, found.last, found.span)

    def _elements(self, node: object) -> _Elements | None:
        """Return the elements of a region, also of another process or at entry; None, which is reported, of what is none."""
        match node:
            case RegionTerm(operation=operation):
                self.is_known(node)
                return self._reduced(node, operation) if operation else _Elements(node.count, lambda at: _cell(node, at))
            case contracts.AtProcess(process, value, span):
                return _wrapped(self._elements(value), lambda inner: contracts.AtProcess(process, inner, span))
            case contracts.AtEntry(value, word, span):
                return _wrapped(self._elements(value), lambda inner: contracts.AtEntry(inner, word, span))
            case _:
                self.report.error("RR963", getattr(node, "span", NO_SPAN), "this is no region of memory", hint=_FORMS)
                return None

    def _reduced(self, node: RegionTerm, operation: ast.Ident) -> _Elements | None:
        word, span = _FOLDS.get(operation.text), node.span
        if word is None:
            said = f"{quote(operation.text)} is not read in `\\mpi_reduce`"
            self.report.error("RR963", operation.span, said, hint=f"known: {', '.join(_FOLDS)}")
            return None
        process = contracts.NameTerm(ast.Ident("$process", span), span)
        last = binary_term("-", tree.ProcessCount(span), ast.NumberLiteral(1, span), span)

        def at(index: object) -> object:
            one = contracts.AtProcess(process, _cell(node, index), span)
            return contracts.OverRange(word, process.name, ast.NumberLiteral(0, span), last, one, span)

        return _Elements(node.count, at)


def _element(datatype: ast.Ident) -> tuple[str, int]:
    """Return the kind of the elements of a predefined datatype and their bytes; "" for one that is not known."""
    kind, size, _ = TYPES.get(datatype.text.removeprefix("MPI_"), ("", 0, False))
    return kind, size


def _has_region(node: object) -> bool:
    match node:
        case contracts.AtProcess(_, value) | contracts.AtEntry(value):
            return _has_region(value)
        case _:
            return isinstance(node, RegionTerm)


def _wrapped(found: _Elements | None, wrapped: Callable[[object], object]) -> _Elements | None:
    """Return elements as they are elsewhere or before, and how many there are then."""
    return None if found is None else _Elements(wrapped(found.count), lambda at: wrapped(found.at(at)))


def _cell(node: RegionTerm, index: object) -> contracts.CellTerm:
    place = index if node.start is None else binary_term("+", node.start, index, node.span)
    return contracts.CellTerm(contracts.NameTerm(node.pointer, node.span), place, node.span)


def _each(count: object, said: Callable[[object], object], span: Span) -> contracts.OverRange:
    """Return that something is said of each index below a count."""
    index = contracts.NameTerm(ast.Ident("$element", span), span)
    last = binary_term("-", count, ast.NumberLiteral(1, span), span)
    return contracts.OverRange("forall", index.name, ast.NumberLiteral(0, span), last, said(index), span)
