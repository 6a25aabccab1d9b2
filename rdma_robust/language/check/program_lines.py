"""Lines about the whole program: `hardware`, what it runs on, and `expect`, a list of claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from rdma_robust.diagnose import Hint, Reporter, listing, meant_at, quote
from rdma_robust.errors import Span, UsageError
from rdma_robust.language.check.families import applies_here
from rdma_robust.language.check.names import ProgramNames, ThreadNames
from rdma_robust.language.flow import cfg, claims
from rdma_robust.language.flow.send_queues import MAX_DEPTH, RNR, SEND_DEPTH, StepLimitError, posted_to, with_send_depth
from rdma_robust.language.syntax import ast, printer
from rdma_robust.model import Hardware, Rnr
from rdma_robust.orders import SHIPPED, is_table_of_program

WORDS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "cpu": ("cpu", {"sc": "sc", "tso": "tso"}),
    "atomics": ("atomics", {"hca": "hca", "glob": "glob"}),
    "order": ("order", {word: word for word in SHIPPED}),
    "reads": ("ordered_reads", {"ordered": True, "unordered": False}),
    RNR: (RNR, {word: word for word in get_args(Rnr)}),
}
"""The words of a `hardware` line: the fields of :class:`HardwareDeclaration` that they are, and what they can be."""


def depth_of(value: int | str, span: Span, report: Reporter) -> int | None:
    """Return how many requests a send queue has room for, which is written at `span`; None after an error."""
    digits = str(value)
    depth = int(digits) if digits.isdecimal() and len(digits) <= len(str(MAX_DEPTH)) else 0
    if 1 <= depth <= MAX_DEPTH:
        return depth
    message = f"{quote(digits)} is no depth of a send queue"
    report.error("RR226", span, message, expected=f"a number from 1 to {MAX_DEPTH}")
    return None


class HardwareLines:
    """The hardware that a program names; each word counts once. Errors go to the report."""

    def __init__(self, report: Reporter) -> None:
        self.found = Hardware()
        self._report = report
        self._first: dict[str, Span] = {}

    def add(self, item: ast.HardwareDeclaration) -> None:
        for setting in item.settings:
            self._add(setting)

    def _add(self, setting: ast.HardwareSetting) -> None:
        word, value = setting.word, setting.value
        found: Any
        if word.text == SEND_DEPTH:
            field, found = "send_depth", depth_of(value.text, value.span, self._report)
        elif word.text not in WORDS:
            self._unknown(word, "setting of a `hardware` line", [*WORDS, SEND_DEPTH])
            return
        else:
            field, values = WORDS[word.text]
            found = values.get(value.text)
            if field == "order" and is_table_of_program(value.text):
                found = self._table(value)
            elif value.text not in values:
                self._unknown(value, f"value of {quote(word.text)}", list(values))
        if found is None:
            return
        first = self._first.setdefault(word.text, setting.span)
        if first is not setting.span:
            self._report.error("RR206", setting.span, f"a second {quote(word.text)}; the first is on line {first.line}")
            return
        self.found = replace(self.found, **{field: found})

    def _table(self, value: ast.Ident) -> str | None:
        """Return the order of a table that the program names by a file or flags; None after an error, and for the file of a
        text that is none itself."""
        from rdma_robust.orders.named_tables import NoTableError, order_named  # noqa: PLC0415 - few programs name one

        if not self._report.file and value.text.startswith('"'):
            return None
        try:
            return order_named(value.text, self._report.file)
        except NoTableError as error:
            self._report.error("RR828", value.span, f"{quote(value.text)}: {error}", hint=error.hint)
        except UsageError as error:
            self._report.error("RR828", value.span, str(error))
        return None

    def bounded(self, thread: cfg.Thread, names: ThreadNames) -> cfg.Thread:
        """Return a thread with send queues as deep as its lanes say, or else the hardware."""
        depths = {name: names.depths.get(name, self.found.send_depth) for name in posted_to(thread)}
        try:
            return with_send_depth(thread, {name: depth for name, depth in depths.items() if depth is not None})
        except StepLimitError:
            said = listing([str(depth) for depth in sorted({depth for depth in depths.values() if depth is not None})])
            message = f"thread {thread.name} has more than {cfg.MAX_STEPS:,} steps with send queues of depth {said}"
            self._report.error("RR215", names.span, message, hint="a smaller depth, or fewer queue pairs at a time")
            return thread

    def _unknown(self, name: ast.Ident, what: str, known: list[str]) -> None:
        hint = meant_at(name.span, name.text, known) or Hint("")
        expected = listing([quote(each) for each in known])
        self._report.error("RR226", name.span, f"{quote(name.text)} is no {what}", expected=expected, hint=hint)


def checked_needs(item: ast.NeedsDeclaration, report: Reporter) -> tuple[claims.NeedsLine, ...]:
    """Return the guarantees of a line; nothing after an error."""
    from rdma_robust.orders.guarantees import guarantees  # noqa: PLC0415 - few programs have such a line

    alone = len(item.guarantees) == 1
    names = [each for each in item.guarantees if not (alone and each.text == NOTHING)]
    wrong = [each for each in names if each.text not in guarantees()]
    for each in wrong:
        hint = meant_at(each.span, each.text, list(guarantees())) or Hint(
            "`rdma-robust needs` says which a program relies on"
        )
        report.error("RR827", each.span, f"no network guarantees {quote(each.text)}", expected=GUARANTEED, hint=hint)
    return () if wrong else (claims.NeedsLine(tuple(each.text for each in names), report.at(item.span)),)


GUARANTEED: Final = (
    "two types of events, as `nrW nrW`, `nrR pushes nrW`, `completions order`, `receive covers earlier`, or `nothing`"
)
NOTHING: Final = "nothing"
"""What a `needs` line says of a program that no network can break."""


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
