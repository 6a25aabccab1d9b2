"""`expect` lines: a list of claims about the whole program."""

from __future__ import annotations

from rdma_robust.diagnose import Reporter, quote
from rdma_robust.language.check.names import ProgramNames
from rdma_robust.language.check.when import applies_here
from rdma_robust.language.flow import claims
from rdma_robust.language.syntax import ast, printer


class Expectations:
    """The claims of all `expect` lines so far: one of a kind and model. A second one is an error."""

    def __init__(self, report: Reporter) -> None:
        self._report = report
        self._first: dict[tuple[str, str | None], ast.ExpectationClause] = {}
        self._found: list[claims.ExpectedAnswer] = []

    @property
    def found(self) -> tuple[claims.ExpectedAnswer, ...]:
        return tuple(self._found)

    def add(self, item: ast.Expect, world: ProgramNames) -> None:
        """Add the claims of one line, if it is about such numbers as there are."""
        if not applies_here(item, world, self._report):
            return
        for claim in item.expectations:
            before = self._first.setdefault((claim.kind, claim.model), claim)
            if before is not claim:
                self._clash(claim, before)
                continue
            self._found.append(claims.ExpectedAnswer(claim.kind, claim.negated, claim.model, self._report.at(claim.span)))

    def _clash(self, claim: ast.ExpectationClause, before: ast.ExpectationClause) -> None:
        at = f"{before.span.line}:{before.span.column}"
        text, first = (quote(f"expect {printer.expectation(each)}") for each in (claim, before))
        if claim.negated == before.negated:
            self._report.error(
                "RR506", claim.span, f"{text} is said twice; the first is at {at}", hint="take one of them out"
            )
        else:
            self._report.error("RR506", claim.span, f"{text} contradicts {first} at {at}", hint="take one of them out")
