"""The clauses of a comment of C as the contract of the function of `.mp` that the function is.

An array to which the function stores is a parameter of that, and behind the call what it gives back: in `ensures` its name
is the latter, and inside of `\\old` the former.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Final, cast

from rdma_robust.c.contracts.acsl_comments import (
    AcslComment,
    EqualRegions,
    ExtentTerm,
    LoopClause,
    PointedTerm,
    RegionTerm,
    Universe,
    ValidTerm,
    binary_term,
    check_universe,
)
from rdma_robust.c.contracts.acsl_regions import RegionReader
from rdma_robust.c.contracts.c_functions import CFunction
from rdma_robust.diagnose import Reporter, quote
from rdma_robust.errors import Span
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import contract_tree as contracts
from rdma_robust.messages.language import message_tree as tree

_NAMELESS: Final = "\\nameless"
_HEADLESS: Final = "a comment before a loop has `loop invariant E;` and the like, one before a function has none of these"


@dataclass(slots=True)
class _Section:
    """Clauses of one behavior, or those before the first; of what all processes do together the `universe` says where."""

    head: contracts.BehaviorHead | None = None
    universe: Universe | None = None
    parts: list[contracts.Part] = field(default_factory=list)


@dataclass
class ClauseReader:
    """Reads the contract of one function. `lengths` are those of the arrays outside of functions that C gives."""

    function: CFunction
    report: Reporter
    span: Span
    lengths: Mapping[str, int]
    regions: RegionReader
    constants: frozenset[str]
    renamed: Mapping[str, str] = field(default_factory=dict)

    def contract(self, comment: AcslComment) -> contracts.ContractText:
        """Return the contract of the function. What is wrong is reported."""
        sections = self._sections(comment)
        parts: list[contracts.Part] = []
        for each in sorted(sections, key=lambda each: each.head is not None):
            parts += [] if each.head is None else [each.head]
            parts += [made for part in each.parts if (made := self._part(part, each)) is not None]
            parts += self._frames(each)
        is_together = any(each.universe is not None for each in sections)
        parts = [*self._implied(sections), *parts]
        return contracts.ContractText("collective" if is_together else "local", tuple(parts), comment.span)

    def _sections(self, comment: AcslComment) -> list[_Section]:
        sections = [_Section()]
        for item in comment.items:
            match item:
                case Universe():
                    check_universe(item, [self.function.communicator], self.report)
                    sections.append(_Section(universe=item))
                case contracts.BehaviorHead():
                    sections.append(_Section(item, sections[-1].universe))
                case contracts.AssignsLine(cells):
                    sections[-1].parts.append(replace(item, cells=tuple(self.regions.cells(each) for each in cells)))
                case LoopClause(span=span):
                    self.report.error("RR963", span, "`loop` stands before functions", hint=_HEADLESS)
                case _:
                    sections[-1].parts.append(item)
        return sections

    def of_loop(self, part: contracts.Part, names: Mapping[str, str]) -> contracts.Part:
        """Return a clause of a loop, in which variables have these names, and arrays are what they are at its head."""
        self.renamed = names
        try:
            made = self._inside(part, final=False)
            return cast(contracts.ConditionClause, made)
        finally:
            self.renamed = {}

    # Clauses.

    def _part(self, part: contracts.Part, section: _Section) -> contracts.Part | None:
        match part:
            case contracts.ConditionClause(word, value, condition):
                final = word == "ensures"
                made = self._term(value, final=final)
                given = None if condition is None else self._term(condition, final=False)
                return replace(part, value=made, condition=given)
            case contracts.AssignsLine(cells):
                self._check_assigned(cells)
                kept = [each for each in cells if each.name.text not in self.function.pointers]
                return replace(part, cells=tuple(kept))
            case contracts.WaitsForClause() | contracts.Quiet():
                return self._path(part, section)
            case _:
                return part

    def _check_assigned(self, cells: Sequence[contracts.CellsOf]) -> None:
        """Report pointers in `assigns`: what may change is behind them."""
        for each in cells:
            if each.name.text in self.function.pointers and each.low is None:
                hint = f"write `*{each.name.text}`, or `{each.name.text}[0 .. n - 1]`"
                self.report.error("RR963", each.span, f"{quote(each.name.text)} is a pointer", hint=hint)

    def _path(self, part: contracts.WaitsForClause | contracts.Quiet, section: _Section) -> contracts.Part:
        made = cast(contracts.Quiet, self._inside(part, final=False))
        if isinstance(part, contracts.WaitsForClause) or part.port is not None:
            return made
        if section.universe is not None and section.universe.kind.text == "COL":
            said = "`quiet` is not read of collective operations"
            self.report.error("RR963", part.span, said, hint="write it behind `\\mpi_collective(comm, P2P):`")
        return replace(made, port=ast.Ident(_NAMELESS, part.span))

    def _frames(self, section: _Section) -> list[contracts.Part]:
        """Return what `assigns` says of arrays that the function gives back: what it does not name is as it was."""
        lines = [each for each in section.parts if isinstance(each, contracts.AssignsLine)]
        if not lines:
            return []
        span = lines[0].span
        return [
            contracts.ConditionClause("ensures", self._unchanged(out, lines, span), None, span) for out in self.function.outs
        ]

    def _unchanged(self, out: str, lines: Sequence[contracts.AssignsLine], span: Span) -> object:
        """Return that elements are as they were which `assigns` does not name."""
        at = contracts.NameTerm(ast.Ident("$at", span), span)
        before = contracts.NameTerm(ast.Ident(out, span), span)
        same = binary_term(
            "==", contracts.CellTerm(self._final(out, span), at, span), contracts.CellTerm(before, at, span), span
        )
        for cells in (one for line in lines for one in line.cells if one.name.text == out):
            if cells.low is None:
                return ast.NumberLiteral(1, span)
            low = contracts.AtEntry(self._term(cells.low, final=False), span=span)
            high = low if cells.high is None else contracts.AtEntry(self._term(cells.high, final=False), span=span)
            named = binary_term("&&", binary_term("<=", low, at, span), binary_term("<=", at, high, span), span)
            same = binary_term("||", named, same, span)
        last = binary_term("-", _length(before, span), ast.NumberLiteral(1, span), span)
        return contracts.OverRange("forall", at.name, ast.NumberLiteral(0, span), last, same, span)

    def _implied(self, sections: Sequence[_Section]) -> list[contracts.Part]:
        """Return what C says by itself: lengths of arrays, and of what comes back."""
        own, span = self.function, self.span
        found: list[contracts.Part] = []
        bounded = {
            part.name.text: part for each in sections for part in each.parts if isinstance(part, contracts.BoundsLine)
        }
        for name, length in self.lengths.items():
            if name not in bounded:
                one = ast.NumberLiteral(length, span)
                found.append(contracts.BoundsLine(ast.Ident(name, span), (contracts.Lengths(one, one, span),), span=span))
        found += [each for each in self._valid_bounds(sections, bounded) if each is not None]
        if own.gives_several:
            total = ast.NumberLiteral(len(own.outs) + own.has_value, span)
            found.append(_ensures(binary_term("==", _length(contracts.ResultWord(span), span), total, span), span))
        for out in own.outs:
            before = _length(contracts.NameTerm(ast.Ident(out, span), span), span)
            found.append(_ensures(binary_term("==", _length(self._final(out, span), span), before, span), span))
        return found

    def _valid_bounds(
        self, sections: Sequence[_Section], bounded: Mapping[str, contracts.BoundsLine]
    ) -> list[contracts.BoundsLine | None]:
        """Return the lengths that are looked at of arrays of which `\\valid` says how many elements they have."""
        found: dict[str, contracts.BoundsLine | None] = {}
        counts: dict[str, object] = {}
        for section in sections:
            for part in section.parts:
                if isinstance(part, contracts.ConditionClause) and part.word == "requires":
                    always = section.head is None
                    for term, surely in _valid_terms(part.value, always):
                        name = term.pointer.text
                        if name not in bounded:
                            same = counts.setdefault(name, self._count(term)) == self._count(term)
                            found[name] = self._bounds_of(term, bounded, surely=surely) if same else None
        return list(found.values())

    def _bounds_of(
        self, term: ValidTerm, bounded: Mapping[str, contracts.BoundsLine], *, surely: bool
    ) -> contracts.BoundsLine | None:
        count, span = self._count(term), term.span
        ends = [_substituted(count, bounded, self.constants, which) for which in (0, 1)]
        if any(each is None for each in ends):
            return None
        low = ends[0] if surely else ast.NumberLiteral(0, span)
        return contracts.BoundsLine(term.pointer, (contracts.Lengths(low, ends[1], span),), span=span)

    # Expressions.

    def _term(self, node: object, *, final: bool) -> object:
        """Return an expression as one of `.mp`; `final` is where names are what they are at exit."""
        match node:
            case contracts.NameTerm(name, span) if name.text in self.renamed:
                return contracts.NameTerm(ast.Ident(self.renamed[name.text], span), span)
            case contracts.NameTerm(name, span) if final and name.text in self.function.outs:
                return self._final(name.text, span)
            case contracts.ResultWord(span) if final:
                return self._result(span)
            case PointedTerm(pointer, span):
                return contracts.CellTerm(self._term(pointer, final=final), ast.NumberLiteral(0, span), span)
            case ValidTerm():
                return self._valid(node, final=final)
            case EqualRegions():
                return self._term(self.regions.equal(node), final=final)
            case contracts.AgreeTerm() if (made := self.regions.agreed(node)) is not node:
                return self._term(made, final=final)
            case RegionTerm():
                return self.regions.alone(node)
            case ExtentTerm():
                return self.regions.extent(node)
            case contracts.AtEntry(value):
                return replace(node, value=self._term(value, final=False))
            case contracts.OverRange(low=None, span=span):
                hint = "write `\\forall integer i; 0 <= i < n ==> E`, `\\exists integer i; 0 <= i < n && E`"
                self.report.error("RR963", span, f"`\\{node.word}` has no range that is seen", hint=hint)
                return ast.NumberLiteral(0, span)
            case _:
                return self._inside(node, final=final)

    def _inside(self, node: object, *, final: bool) -> object:
        """Return a node with what is inside of it."""
        if isinstance(node, tuple):
            return tuple(self._term(each, final=final) for each in node)
        if not is_dataclass(node) or isinstance(node, type | Span | ast.Ident):
            return node
        made: dict[str, Any] = {each.name: self._term(getattr(node, each.name), final=final) for each in fields(node)}
        return replace(node, **made)

    def _final(self, out: str, span: Span) -> object:
        """Return an array as the function gives it back."""
        own = contracts.ResultWord(span)
        if not self.function.gives_several:
            return own
        return contracts.CellTerm(own, ast.NumberLiteral(self.function.place_of(out), span), span)

    def _result(self, span: Span) -> object:
        if not self.function.has_value:
            said = f"{quote(self.function.name)} returns nothing, so there is no `\\result`"
            self.report.error("RR951", span, said, hint="`return` with a value gives one")
        if not self.function.gives_several:
            return contracts.ResultWord(span)
        return contracts.CellTerm(contracts.ResultWord(span), ast.NumberLiteral(0, span), span)

    def _valid(self, term: ValidTerm, *, final: bool) -> object:
        """Return that an array has the elements that `\\valid` names."""
        span = term.span
        if not self.regions.is_known(term):
            return ast.NumberLiteral(1, span)
        if isinstance(term.low, ast.Unary):
            hint = "a pointer is to the first element that the function uses"
            self.report.error("RR963", span, "elements in front of a pointer are not read", hint=hint)
        array = self._term(contracts.NameTerm(term.pointer, span), final=final)
        there = binary_term(">=", _length(array, span), self._term(self._count(term), final=False), span)
        if term.low in (None, ast.NumberLiteral(0)):
            return there
        low, high = (self._term(each, final=False) for each in (term.low, term.high))
        there = binary_term("&&", binary_term("<=", ast.NumberLiteral(0, span), low, span), there, span)
        return binary_term("||", binary_term("<", high, low, span), there, span)

    def _count(self, term: ValidTerm) -> object:
        """Return how many elements `\\valid` names."""
        if term.high is None:
            return ast.NumberLiteral(1, term.span)
        match term.high:
            case ast.Binary("-", left, ast.NumberLiteral(1)):
                return left
            case ast.NumberLiteral(value):
                return ast.NumberLiteral(value + 1, term.span)
            case _:
                return binary_term("+", term.high, ast.NumberLiteral(1, term.span), term.span)


def _length(array: object, span: Span) -> tree.FunctionCall:
    return tree.FunctionCall(ast.Ident("len", span), (array,), span)  # type: ignore[arg-type]


def _ensures(value: object, span: Span) -> contracts.ConditionClause:
    return contracts.ConditionClause("ensures", value, None, span)


def _valid_terms(node: object, surely: bool) -> list[tuple[ValidTerm, bool]]:
    """Return each `\\valid` in an expression, and whether the expression says it in any case."""
    match node:
        case ValidTerm():
            return [(node, surely)]
        case ast.Binary("&&", left, right):
            return [*_valid_terms(left, surely), *_valid_terms(right, surely)]
        case ast.Binary("==>", _, right):
            return _valid_terms(right, False)
        case _:
            return []


def _substituted(
    node: object, bounded: Mapping[str, contracts.BoundsLine], constants: frozenset[str], which: int
) -> object | None:
    """Return an expression with the least value of each bounded number, or the greatest; None where one has no bounds."""
    match node:
        case ast.NumberLiteral() | tree.OwnNumber() | tree.ProcessCount():
            return node
        case contracts.NameTerm(name) if name.text in constants:
            return node
        case contracts.NameTerm(name):
            line = bounded.get(name.text)
            if line is None or line.lengths:
                return None
            return line.low if which == 0 else line.high
        case ast.Binary("+" | "*" | "-" as op, left, right, span):
            first = _substituted(left, bounded, constants, which)
            second = _substituted(right, bounded, constants, 1 - which if op == "-" else which)
            return None if first is None or second is None else binary_term(op, first, second, span)
        case _:
            return None
