"""Contracts in comments of C, `/*@ ... */`, as the clauses of contracts of `.mp` that they are."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from lark import Token

from rdma_robust.c.contracts.acsl_quantifiers import over_range, ranged
from rdma_robust.diagnose import Reporter, did_you_mean, quote
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.common_tree import Part, ident_of, last_of, parts_of_kind, span_from
from rdma_robust.language.syntax.grammar import Grammar, grammar_of
from rdma_robust.language.syntax.parse import parse_tree
from rdma_robust.language.syntax.syntax_words import SyntaxWords
from rdma_robust.messages.language import contract_tree as contracts
from rdma_robust.messages.language import message_tree as tree
from rdma_robust.messages.language.message_builder import MessageBuilder
from rdma_robust.messages.language.message_words import CLAUSES, message_grammar


@dataclass(frozen=True, slots=True)
class Universe:
    """`\\mpi_collective(communicator, kind):`."""

    communicator: ast.Ident
    kind: ast.Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class LoopClause:
    """`loop clause`; what is varied is `decreases` there."""

    clause: contracts.Part
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ValidTerm:
    """`\\valid(pointer + (low .. high))`, without a range of one element; in MPI's form with the datatypes that it names."""

    pointer: ast.Ident
    low: object
    high: object
    datatypes: tuple[ast.Ident, ...] = ()
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class PointedTerm:
    """`*pointer`."""

    pointer: object
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class RegionTerm:
    """`\\mpi_region(pointer + start, count, datatype)`, or with an operation `\\mpi_reduce` of it."""

    pointer: ast.Ident
    start: object
    count: object
    datatypes: tuple[ast.Ident, ...]
    operation: ast.Ident | None = None
    span: Span = field(default=NO_SPAN, compare=False)

    @property
    def last(self) -> object:
        """Return where the last element is."""
        end = self.count if self.start is None else binary_term("+", self.start, self.count, self.span)
        return binary_term("-", end, ast.NumberLiteral(1, self.span), self.span)


@dataclass(frozen=True, slots=True)
class EqualRegions:
    """`\\mpi_equals(left, right)`."""

    left: object
    right: object
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class ExtentTerm:
    """`\\mpi_extent(datatype)`."""

    datatype: ast.Ident
    span: Span = field(default=NO_SPAN, compare=False)


@dataclass(frozen=True, slots=True)
class _Pointer:
    """A pointer, how many elements it is moved, and the datatypes that say so."""

    name: ast.Ident
    moved: object = None
    datatypes: tuple[ast.Ident, ...] = ()


def binary_term(op: str, left: object, right: object, span: Span) -> ast.Binary:
    """Return an operator with its operands."""
    return ast.Binary(op, left, right, span)  # type: ignore[arg-type]


Clause = contracts.Part | Universe | LoopClause


@dataclass(frozen=True, slots=True)
class AcslComment:
    """All clauses of a comment. To parsers it is what a program is: the whole of a text."""

    items: tuple[Clause, ...]
    span: Span = field(default=NO_SPAN, compare=False)


_OWN: Final = contracts.SetOf("", tree.OwnNumber())


class AcslBuilder(MessageBuilder):
    """Stateless, so that one parser serves every comment."""

    def acsl(self, parts: list[Part]) -> AcslComment:
        found = tuple(each for each in parts if isinstance(each, Clause))
        return AcslComment(found, span_from(found[0], found[-1]) if found else NO_SPAN)

    def universe(self, parts: list[Part]) -> Universe:
        return Universe(ident_of(parts[2]), ident_of(parts[4]), span_from(parts[0], parts[-1]))

    def loop_clause(self, parts: list[Part]) -> LoopClause:
        return LoopClause(parts[1], span_from(parts[0], parts[1]))

    def variant(self, parts: list[Part]) -> contracts.ConditionClause:
        return contracts.ConditionClause("decreases", parts[1], None, span_from(parts[0], parts[1]))

    def cell_of_pointer(self, parts: list[Part]) -> contracts.CellsOf:
        return contracts.CellsOf(ident_of(parts[1]), ast.NumberLiteral(0), None, span_from(parts[0], parts[1]))

    def cells_of_pointer(self, parts: list[Part]) -> contracts.CellsOf:
        _, _, name, _, _, low, _, high, *_ = parts
        return contracts.CellsOf(ident_of(name), low, high, span_from(parts[0], parts[-1]))

    def cells_of_region(self, parts: list[Part]) -> object:
        return parts[0]

    def assigns(self, parts: list[Part]) -> contracts.AssignsLine:
        cells = tuple(each for each in parts if isinstance(each, contracts.CellsOf | RegionTerm))
        return contracts.AssignsLine(cast(tuple[contracts.CellsOf, ...], cells), span_from(parts[0], last_of(parts)))

    def pointed(self, parts: list[Part]) -> PointedTerm:
        return PointedTerm(parts[1], span_from(parts[0], parts[1]))

    def valid(self, parts: list[Part]) -> ValidTerm:
        name, low, high = parts[2], parts[5], parts[7]
        return ValidTerm(ident_of(name), low, high, (), span_from(parts[0], parts[-1]))

    def mpi_valid(self, parts: list[Part]) -> ValidTerm:
        found = cast(RegionTerm, parts[2])
        low = ast.NumberLiteral(0) if found.start is None else found.start
        return ValidTerm(found.pointer, low, found.last, found.datatypes, span_from(parts[0], parts[-1]))

    def pointer(self, parts: list[Part]) -> _Pointer:
        return _Pointer(ident_of(parts[0]), parts[2])

    def moved_pointer(self, parts: list[Part]) -> _Pointer:
        before, by = cast(_Pointer, parts[2]), parts[4]
        moved = by if before.moved is None else binary_term("+", before.moved, by, span_from(parts[0], parts[-1]))
        return _Pointer(before.name, moved, (*before.datatypes, ident_of(parts[6])))

    def elements(self, parts: list[Part]) -> RegionTerm:
        at = cast(_Pointer, parts[0])
        return RegionTerm(at.name, at.moved, parts[2], (*at.datatypes, ident_of(parts[4])), None, at.name.span)

    def region(self, parts: list[Part]) -> RegionTerm:
        operation = ident_of(parts[4]) if str(parts[0]) == "\\mpi_reduce" else None
        return replace(cast(RegionTerm, parts[2]), operation=operation, span=span_from(parts[0], parts[-1]))

    def equal_regions(self, parts: list[Part]) -> EqualRegions:
        return EqualRegions(parts[2], parts[4], span_from(parts[0], parts[-1]))

    def extent(self, parts: list[Part]) -> ExtentTerm:
        return ExtentTerm(ident_of(parts[2]), span_from(parts[0], parts[-1]))

    def of_processes(self, parts: list[Part]) -> contracts.OverRange:
        return ranged(super().of_processes(parts))

    def lambda_term(self, parts: list[Part]) -> tuple[ast.Ident, object]:
        return ident_of(parts[2]), parts[-1]

    def over_lambda(self, parts: list[Part]) -> contracts.OverRange:
        ends = [each for each in parts[1:] if not isinstance(each, Token | tuple)]
        counter, inner = next(each for each in parts if isinstance(each, tuple))
        return over_range(str(parts[0]), counter, ends, inner, span_from(parts[0], parts[-1]))

    def absence(self, parts: list[Part]) -> contracts.AbsenceClause:
        keyword, what, _, after, _, until = parts
        return contracts.AbsenceClause(what, after, until, span_from(keyword, until))

    def c_event(self, parts: list[Part]) -> contracts.EventOf:
        word, *_ = parts
        given, span = parts_of_kind(parts, contracts.SetOf), span_from(word, last_of(parts))
        match str(word):
            case "\\sendto":
                return contracts.EventOf("send", (_OWN, *given), span)
            case "\\sendfrom":
                return contracts.EventOf("send", (*given[:1], _OWN, *given[1:]), span)
            case "\\enter":
                return contracts.EventOf("enter", given or (_OWN,), span)
            case _:
                return contracts.EventOf("exit", given or (_OWN,), span)


_KEYWORDS: Final = CLAUSES | {"LOOP", "VARIANT"}
_BEFORE_PARTS: Final = frozenset({"NAME", "NUMBER", "RPAR", "RSQB"})
_OF_QUIET: Final = frozenset({"TAG", "UNTIL", "ON"})
_HEADS: Final = frozenset({"BEHAVIOR", "SL_MPI_COLLECTIVE"})
BOUNDS: Final = "rdma_bounds"
"""The clause of ours among those of ACSL."""


class _AcslWords:
    """One pass over the tokens of a comment, in which words are keywords where nothing else can stand."""

    def __init__(self) -> None:
        self._clause = ""
        self._looping = False
        self._depth = 0
        self._binds = False
        """Whether the next semicolon ends the name of a quantifier, a lambda or a `\\let`, and no clause."""

    def read(self, tokens: Sequence[Token]) -> Iterator[Token]:
        before = ""
        for token in tokens:
            if token.type == "NEWLINE":
                continue
            made = self._word(token, before) if token.isidentifier() else token
            self._note(made.type)
            yield made
            before = made.type

    def _word(self, token: Token, before: str) -> Token:
        kind = token.type
        if str(token) == BOUNDS and not self._clause:
            return token.update(type="BOUNDS")
        return token if self._is_keyword(kind, before) else token.update(type="NAME")

    def _is_keyword(self, kind: str, before: str) -> bool:
        if kind in _KEYWORDS and kind != "BOUNDS":
            return not self._clause
        if kind == "BEHAVIORS":
            return before in {"COMPLETE", "DISJOINT"}
        if kind in {"TO", "FROM"}:
            return self._clause == before == "QUIET"
        if kind in _OF_QUIET:
            return self._clause == "QUIET" and (before in _BEFORE_PARTS or before.startswith("SL_"))
        if kind == "LEN":
            return self._clause == "BOUNDS" and before in _BEFORE_PARTS
        if kind == "IN":
            return self._clause == "BOUNDS" and (before in _BEFORE_PARTS or before.startswith("SL_"))
        return kind == "IF"

    def _note(self, kind: str) -> None:
        if kind in {"SL_FORALL", "SL_EXISTS", "SL_LAMBDA", "SL_LET"}:
            self._binds = True
        if kind == "SEMICOLON" and self._binds:
            self._binds = False
        elif kind == "SEMICOLON" or (kind == "COLON" and self._clause in _HEADS):
            self._clause = ""
        elif kind != "LOOP" and not self._clause:
            self._clause = kind


def _tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    return _AcslWords().read(tokens)


def _is_shallow(comment: ast.ProgramTree, report: Reporter) -> bool:
    del comment, report
    return True


@functools.cache
def acsl_grammar() -> Grammar:
    """Return the grammar of contracts in comments of C."""
    words: SyntaxWords = replace(
        message_grammar().words,
        declarations=frozenset(),
        characters={"\\": "keywords with a backslash are those of ACSL, such as `\\result`"},
        other_languages={},
        one_word={},
        outside="a comment `/*@ ... */` has clauses: `requires E;`, `assigns \\nothing;`, `ensures E;`",
    )
    return grammar_of("acsl", AcslBuilder(), _tokens, words, _is_shallow)


def read_comment(text: str, start: int, end: int, report: Reporter) -> AcslComment | None:
    """Return what stands in a comment of a text, from `start` to before `end`; None after errors, which go to `report`.

    What is around it is read as white space, so that places are those of the text.
    """
    said = "".join(each if each == "\n" else " " for each in text[:start]) + _content(text[start:end])
    found, _, _ = parse_tree(said, report, acsl_grammar())
    return found if isinstance(found, AcslComment) else None


def _content(comment: str) -> str:
    """Return a comment with spaces for its ends, and for `@` where lines begin."""
    inner = f"   {comment[3:]}"
    if comment.startswith("/*"):
        inner = f"{inner.removesuffix('*/').rstrip('@')}"
    lines = inner.split("\n")
    return "\n".join([lines[0], *(_without_mark(each) for each in lines[1:])])


def _without_mark(line: str) -> str:
    bare = line.lstrip(" \t")
    return line.replace("@", " ", 1) if bare.startswith("@") else line


def check_universe(found: Universe, communicators: Sequence[str], report: Reporter) -> None:
    """Report a communicator or kind that is none."""
    if found.kind.text not in ("P2P", "COL"):
        hint = "P2P is for messages, COL for collective operations of MPI"
        report.error("RR963", found.kind.span, f"there is no kind {quote(found.kind.text)} of functions", hint=hint)
    if found.communicator.text not in communicators:
        hint = did_you_mean(found.communicator.text, communicators) or f"known: {', '.join(communicators)}"
        said = f"{quote(found.communicator.text)} is no communicator of this function"
        report.error("RR963", found.communicator.span, said, hint=hint)
