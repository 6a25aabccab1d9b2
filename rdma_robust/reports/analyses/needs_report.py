"""Reports of `needs` on programs: a paragraph for each, and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal, Protocol

from rdma_robust.analyses.needs.minimal_sets import Breach, MinimalSets, Names, row, turned_round, types_in
from rdma_robust.analyses.needs.table_answers import TableAnswer, lacking_of
from rdma_robust.frame.answer import Counts, DiagnosticView, JsonObject, diagnostics
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.finding import Finding, problem_findings
from rdma_robust.frame.formats.answer_table import AnswerParagraphs, counted
from rdma_robust.frame.formats.columns import sentence
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.formats.junit import Case
from rdma_robust.frame.question import Asking, Layout, Section, View
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import NeedsLine
from rdma_robust.orders import order_name
from rdma_robust.orders.fi_flags import PROMISED_BY
from rdma_robust.orders.guarantees import guarantees, with_implied
from rdma_robust.outcome import Verdict
from rdma_robust.reports.check.result import view
from rdma_robust.semantics.wording import Words
from rdma_robust.text import count, printable


@dataclass(frozen=True, slots=True)
class NeededGuarantee:
    """A guarantee of a set: the lines that it orders, the earlier first, what may happen without it, and the `run` in which
    that happens, which is not sequentially consistent, as what happens one after the other."""

    name: str
    lines: tuple[tuple[int, int], ...]
    without: str
    run: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NeededSet:
    """A minimal set that is enough, with the flags of libfabric that promise it; None if no flags do."""

    guarantees: tuple[NeededGuarantee, ...]
    flags: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class NeedsClaim:
    """A `needs` line: whether its guarantees are enough, None if that is left open, and what they lack of the set to which
    they come closest."""

    guarantees: tuple[str, ...]
    line: int
    enough: bool | None
    lacks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NeedsRecord:
    """The answer for one program. `open` says what is left open: without it there are no other minimal sets."""

    file: str
    status: str
    exit_code: int
    reason: str = ""
    error_kind: str | None = None
    program: str | None = None
    sets: tuple[NeededSet, ...] = ()
    tables: tuple[TableAnswer, ...] = ()
    open: tuple[str, ...] = ()
    claims: tuple[NeedsClaim, ...] = ()
    checks: int = 0
    warnings: tuple[DiagnosticView, ...] = ()
    errors: tuple[DiagnosticView, ...] = ()
    time_s: float = 0.0


_NO_SET: Final = "no guarantee of the order of a queue pair makes it robust"
_REPAIR: Final = "rdma-robust repair looks for polls and fences that do"


def needs_record(
    program: Program, found: MinimalSets, tables: Sequence[TableAnswer], time_s: float, within: str | None = None
) -> NeedsRecord:
    """Return the record of a program, of the guarantees of the order `within` if there is one: then nothing is said of
    `needs` lines."""
    verdict = found.strongest.verdict
    status, code, reason = "unknown", Exit.UNKNOWN, "; ".join(found.open)
    if verdict is Verdict.NOT_ROBUST:
        status, code, reason = (
            "not-robust",
            Exit.NOT_ROBUST,
            _NO_SET if within is None else f"{_NO_SET}, of those of order {order_name(within)}",
        )
    elif not found.open:
        status, code = "robust", Exit.OK
    return NeedsRecord(
        program.file,
        status,
        code,
        reason,
        program=program.name,
        sets=tuple(_needed(program, found, names) for names in found.sets),
        tables=tuple(replace(each, order=order_name(each.order)) for each in tables),
        open=found.open,
        claims=tuple(_claim(line, found) for line in program.needs) if within is None else (),
        checks=found.checks,
        warnings=diagnostics(program.warnings),
        time_s=round(time_s, 6),
    )


def _needed(program: Program, found: MinimalSets, names: Names) -> NeededSet:
    each = tuple(_guarantee(program, found.breach_without(name, names), name) for name in sorted(names))
    types = types_in(program)
    flags = dict.fromkeys(flag for name in sorted(names) for flag in _flags(name, types))
    return NeededSet(each, None if None in flags else tuple(f"FI_ORDER_{flag}" for flag in flags))


def _flags(name: str, types: frozenset[str]) -> list[str | None]:
    """Return the flags that promise a guarantee between events of these types, with None for what none does."""
    guarantee = guarantees()[name]
    if guarantee.push is not None or not guarantee.cells:
        return [None]
    return [PROMISED_BY.get(f"{a} {b}") for a, b in guarantee.cells if {a, b} <= types]


def _guarantee(program: Program, breach: Breach | None, name: str) -> NeededGuarantee:
    witness = None if breach is None else breach.outcome.witness
    if breach is None or witness is None:
        return NeededGuarantee(name, (), "")
    words = Words(program, breach.outcome.model.order)
    about = guarantees()[name].is_about
    pairs = [(a, b) for a, b in turned_round(witness.order) if about(row(a), row(b))]
    lines = tuple(dict.fromkeys((a.step.span.line, b.step.span.line) for a, b in pairs if a.step and b.step))
    told = {event.id: event.text for event in view(program, witness, breach.outcome.model.order).events}
    without = "; ".join(words.turned_round(a, b) for a, b in pairs or witness.relaxed)
    return NeededGuarantee(name, lines, without, tuple(told[event.index] for event in witness.order))


def _claim(line: NeedsLine, found: MinimalSets) -> NeedsClaim:
    given = with_implied(frozenset(line.guarantees))
    lacks = lacking_of(given, found.sets)
    enough = True if lacks == () else None if found.open else False
    return NeedsClaim(line.guarantees, line.span.line, enough, lacks or ())


def needs_text(record: NeedsRecord, width: int | None, *, runs: bool = False) -> list[str]:
    """Return the lines of one program, with the `runs` that each guarantee forbids if they are asked for."""
    claims = [line for claim in record.claims for line in sentence(f"line {claim.line}: {claim_said(claim)}", width, "  ")]
    if record.program is None or record.status == "not-robust":
        tables = record.tables if any(each.gives for each in record.tables) else ()
        return [
            *sentence(f"{printable(record.file)}: {record.status}: {printable(record.reason)}", width),
            *(sentence(_REPAIR, width, "  ") if record.status == "not-robust" else ()),
            *_tables_said(tables, width),
            *claims,
        ]
    many = count(len(record.sets), "minimal set")
    lines = sentence(f"{printable(record.file)}: {many}, {count(record.checks, 'check')}", width)
    for number, each in enumerate(record.sets, 1):
        names = ", ".join(guarantee.name for guarantee in each.guarantees) or "nothing"
        lines += sentence(f"{number}. {names}", width, "  ")
        for guarantee in each.guarantees:
            lines += sentence(guarantee_said(guarantee), width, "     ")
            for step, text in enumerate(guarantee.run if runs else (), 1):
                lines += sentence(f"{step:2} {printable(text)}", width, "       ")
        if each.guarantees:
            lines += sentence(flags_said(each), width, "     ")
    lines += _tables_said(record.tables, width)
    for reason in record.open:
        lines += sentence(f"left open: {printable(reason)}", width, "  ")
    return [*lines, *claims]


def _tables_said(tables: Sequence[TableAnswer], width: int | None) -> list[str]:
    """Return the lines that say which tables are enough, what others lack, and of which that is left open."""
    if not tables:
        return []
    said = {"enough": [printable(each.order) for each in tables if each.gives] or ["no table"]}
    for table in tables:
        if not table.gives:
            without = f", without {', '.join(table.lacks)}" if table.lacks else ""
            why = f"not enough{without}" if table.gives is False else f"left open ({printable(table.reason)})"
            said.setdefault(why, []).append(printable(table.order))
    return [line for why, orders in said.items() for line in sentence(f"{why}: {', '.join(orders)}", width, "  ")]


def claim_said(claim: NeedsClaim) -> str:
    """Return whether a `needs` line is enough, in words."""
    said = f"`needs {', '.join(claim.guarantees) or 'nothing'}`"
    if claim.enough is not False:
        return f"{said} is enough" if claim.enough else f"whether {said} is enough is left open"
    return f"{said} is NOT enough" + (f": it lacks {', '.join(claim.lacks)}" if claim.lacks else "")


def flags_said(needed: NeededSet) -> str:
    """Return which flags of libfabric promise a set."""
    return "no flags of libfabric promise it" if needed.flags is None else f"libfabric: {', '.join(needed.flags)}"


def guarantee_said(guarantee: NeededGuarantee) -> str:
    """Return which lines a guarantee orders, and what may happen without it."""
    where = "; ".join(f"line {a} before line {b}" for a, b in guarantee.lines)
    return f"{guarantee.name}{f' ({where})' if where else ''}: without it {printable(guarantee.without)}"


WORDS: Final = {"robust": "answered", "not-robust": "not robust at all", "unknown": "left open", "error": "in error"}


NO_LINE: Final = "no `needs` line says what the program relies on"


def mismatches(record: NeedsRecord) -> bool:
    """Return whether a program fails `--expect`: one of its `needs` lines is not enough, or it has none."""
    return not record.claims or any(claim.enough is False for claim in record.claims)


class NeedsAsked(Asking, Protocol):
    """How programs were asked: whether the `runs` that break without each guarantee are shown. `beside` verdicts only
    `needs` lines that are not enough count, if lines are compared."""

    @property
    def beside(self) -> bool: ...

    @property
    def runs(self) -> bool: ...


@dataclass(frozen=True)
class NeedsView(View[NeedsRecord]):
    """The answers of `needs`."""

    asking: NeedsAsked

    def text(self, layout: Layout) -> AnswerParagraphs[NeedsRecord]:
        return AnswerParagraphs(layout, self._told, _said, self._is_fine)

    def _told(self, record: NeedsRecord, width: int | None) -> list[str]:
        unclaimed = self.asking.expect and record.program is not None and not record.claims
        lines = needs_text(record, width, runs=self.asking.runs)
        return [*lines, *(sentence(NO_LINE, width, "  ") if unclaimed else ())]

    def _is_fine(self, record: NeedsRecord) -> bool:
        wrong = mismatches(record) if self.asking.expect else any(c.enough is False for c in record.claims)
        return record.exit_code == Exit.OK and not wrong

    def objects(self, record: NeedsRecord) -> Sequence[JsonObject]:
        return (asdict(record) | {"file": valid_unicode(record.file), "exit_code": int(record.exit_code)},)

    def numbers(self, records: Sequence[NeedsRecord]) -> Mapping[str, int]:
        found = Counter(record.status for record in records)
        numbers = {status.replace("-", "_"): found[status] for status in WORDS}
        answered = [record for record in records if record.program is not None]
        expected = sum(bool(record.claims) and all(claim.enough for claim in record.claims) for record in answered)
        claimed = self.asking.expect
        wrong = sum(mismatches(record) and (claimed or bool(record.claims)) for record in answered)
        return {**numbers, "as_expected": expected, "mismatched": wrong}

    def written(self, section: Section[Any, NeedsRecord], form: str) -> str | None:
        from rdma_robust.reports.batch.needs_rows import needs_csv, needs_markdown  # noqa: PLC0415 - for few forms

        write = {"md": needs_markdown, "csv": needs_csv}.get(form)
        return None if write is None else write(section)

    def exit_of(self, record: NeedsRecord) -> Exit:
        if self.asking.beside:
            wrong = self.asking.expect and any(claim.enough is False for claim in record.claims)
            return Exit.NOT_ROBUST if wrong else Exit.OK
        if not self.asking.expect or record.program is None:
            return Exit(record.exit_code)
        if mismatches(record):
            return Exit.NOT_ROBUST
        return Exit.UNKNOWN if any(claim.enough is None for claim in record.claims) else Exit.OK

    def findings(self, record: NeedsRecord) -> Iterator[Finding]:
        if not self.asking.beside:
            yield from problem_findings(record.file, (*record.errors, *record.warnings), record.error_kind, record.reason)
        if self.asking.expect and not self.asking.beside and record.program is not None and not record.claims:
            yield Finding(record.file, 1, 1, "error", "RR016", NO_LINE)
        for claim in record.claims:
            if claim.enough is not True:
                wrong = claim.enough is False
                code = "RR016" if wrong else "RR018"
                yield Finding(record.file, claim.line, 1, "error" if wrong else "warning", code, claim_said(claim))
        for guarantee in dict.fromkeys(each for some in record.sets for each in some.guarantees):
            for first, second in guarantee.lines:
                message = f"relies on {guarantee.name}, with line {second}: without it {guarantee.without}"
                yield Finding(record.file, first, 1, "note", "RR027", message)

    def cases(self, section: Section[Any, NeedsRecord]) -> Mapping[str, Sequence[Case]]:
        return {"needs": [self._case(record) for record in section.records]}

    def _case(self, record: NeedsRecord) -> Case:
        failed = [claim_said(claim) for claim in record.claims if claim.enough is False]
        if self.asking.expect and not self.asking.beside and not record.claims:
            failed.append(NO_LINE)
        code = self.exit_of(record)
        kind: Literal["", "failure", "error"] = "" if code is Exit.OK else "failure" if code is Exit.NOT_ROBUST else "error"
        return Case(record.file, "rdma-robust.needs", record.time_s, kind, record.status, "; ".join(failed) or record.reason)


def _said(counts: Counts) -> str:
    words = {status.replace("-", "_"): words for status, words in WORDS.items()}
    return counted(counts, (*words.items(), ("mismatched", "not as expected")))
