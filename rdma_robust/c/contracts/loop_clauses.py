"""Contracts of loops in comments of C: of loops that all processes go through together, and of those of local functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from rdma_robust.c.contracts.acsl_comments import AcslComment, LoopClause, Universe
from rdma_robust.c.contracts.body_values import is_pointer
from rdma_robust.c.contracts.contract_clauses import ClauseReader
from rdma_robust.c.front.cursors import cursor_kind
from rdma_robust.c.front.libclang import Cursor
from rdma_robust.language.syntax import ast
from rdma_robust.messages.language import contract_tree as contracts

if TYPE_CHECKING:
    from rdma_robust.c.contracts.body_statements import BodyReader

_CLAUSES: Final = "before a loop stand `loop invariant E;`, `loop assigns ...;`, `loop variant E;` and `rdma_bounds`"
_NOT_USED: Final = "the invariants of this loop are not used: it is executed as it stands"


@dataclass
class LoopReader:
    """Reads the contracts of the loops of one function, which has the contract `own`. `loops` are all of the file, by where
    what they belong to begins."""

    loops: Mapping[int, AcslComment]
    start: Callable[[Cursor], int]
    clauses: ClauseReader
    body: BodyReader
    own: contracts.ContractText | None
    number: int = field(default=0)

    def contract(self, loop: Cursor) -> object:
        """Return the contract of a loop, None if it has none, or none that counts: then it is executed as it stands."""
        found = self.loops.get(self.start(loop))
        if found is None:
            return None
        self.number += 1
        parts = [each for item in found.items for each in self._part(item)]
        lengths = self._lengths(loop, parts)
        if self.own is None or not (self.own.kind == "local" or self._is_together(loop)):
            hint = "those of local functions are, and of loops in which all processes communicate"
            self.clauses.report.warn("RR757", found.span, _NOT_USED, hint=hint)
            return None
        if lengths is None:
            hint = "`rdma_bounds a len 3 .. 3;` says how many elements an array has"
            self.clauses.report.warn("RR757", found.span, _NOT_USED, hint=hint)
            return None
        name = ast.Ident(f"{self.clauses.function.name}_loop{self.number}", found.span)
        return contracts.ContractText("loop", (*lengths, *parts), found.span, name)

    def _lengths(self, loop: Cursor, parts: list[contracts.Part]) -> list[contracts.Part] | None:
        """Return how many elements the arrays have that a loop names, None if that is not known of one."""
        said = {each.name.text for each in parts if isinstance(each, contracts.BoundsLine)}
        found: dict[str, contracts.Part] = {}
        for each in loop.walk_preorder():
            if cursor_kind(each) != "DECL_REF_EXPR" or each.referenced is None or not is_pointer(each.referenced.type):
                continue
            name = self.body.values.names.get(each.referenced.hash, "")
            if name in said or name in found or not name:
                continue
            made = self._length(each, name)
            if made is None:
                return None
            found[name] = made
        return list(found.values())

    def _length(self, named: Cursor, name: str) -> contracts.BoundsLine | None:
        """Return how many elements an array has, None if that is not known."""
        canonical, span = named.referenced.type.get_canonical(), self.body.at(named)
        if canonical.kind.name == "CONSTANTARRAY":
            one = ast.NumberLiteral(int(canonical.element_count), span)
            return contracts.BoundsLine(ast.Ident(name, span), (contracts.Lengths(one, one, span),), span=span)
        own = () if self.own is None else self.own.parts
        lines = (each for each in own if isinstance(each, contracts.BoundsLine) and each.name.text == name)
        return next((replace(each, low=None, high=None) for each in lines if each.lengths), None)

    def _part(self, item: object) -> list[contracts.Part]:
        report = self.clauses.report
        match item:
            case LoopClause(contracts.AssignsLine() as clause):
                kept = tuple(each for each in clause.cells if each.name.text in self.body.globals)
                return [replace(clause, cells=kept)]
            case LoopClause(clause):
                return [self.clauses.of_loop(clause, self._names())]
            case contracts.BoundsLine():
                return [self.clauses.of_loop(item, self._names())]
            case (
                contracts.ConditionClause()
                | contracts.Behaviors()
                | contracts.AssignsLine()
                | contracts.WaitsForClause()
                | contracts.Quiet()
                | contracts.BehaviorHead()
            ):
                report.error("RR963", item.span, "this clause is not one of loops", hint=_CLAUSES)
                return []
            case Universe(span=span):
                report.error("RR963", span, "loops have no universe of their own", hint=_CLAUSES)
                return []
            case _:
                return []

    def _names(self) -> dict[str, str]:
        """Return the registers by the names that they have in C, of several with one name the last."""
        return {name.partition("$")[0]: name for name in self.body.values.names.values()}

    def _is_together(self, loop: Cursor) -> bool:
        """Whether something in a loop communicates."""
        for each in loop.walk_preorder():
            if cursor_kind(each) == "CALL_EXPR":
                name = str(each.spelling)
                callee = self.body.functions.get(name)
                if name.startswith("MPI_") or (callee is not None and "MPI" in callee.reached):
                    return True
        return False
