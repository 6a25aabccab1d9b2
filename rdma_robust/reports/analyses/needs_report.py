"""What `needs` says of programs: a paragraph for each, and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from rdma_robust.analyses.needs.guarantees import given_by, guarantees
from rdma_robust.analyses.needs.minimal_sets import Breach, MinimalSets, Names, row, turned_round
from rdma_robust.frame.answer import DiagnosticView, Failure, JsonObject, diagnostics
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.columns import sentence
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.question import Layout, Section, View
from rdma_robust.language.flow.cfg import Program
from rdma_robust.orders import SHIPPED
from rdma_robust.outcome import Verdict
from rdma_robust.semantics.wording import Words
from rdma_robust.text import count, printable

FLAGS: Final[Mapping[str, tuple[str, ...]]] = {
    "nrW nrW": ("FI_ORDER_RMA_WAW",),
    "nrW nrR": ("FI_ORDER_RMA_RAW",),
    "nrR nrR": ("FI_ORDER_RMA_RAR",),
    "nrW naR": ("FI_ORDER_RAW", "FI_ORDER_WAW"),
    "naR nrR": ("FI_ORDER_RAR",),
    "naW nrW": ("FI_ORDER_WAR", "FI_ORDER_WAW"),
    "naW nrR": ("FI_ORDER_RAR", "FI_ORDER_RAW"),
    "naW naR": ("FI_ORDER_ATOMIC_RAR", "FI_ORDER_ATOMIC_RAW", "FI_ORDER_ATOMIC_WAR", "FI_ORDER_ATOMIC_WAW"),
}
"""The flags of libfabric (`fi_endpoint(3)`, `msg_order`) that promise a guarantee; of others none does."""


@dataclass(frozen=True, slots=True)
class NeededGuarantee:
    """A guarantee of a set: the lines that it orders, the earlier first, and what may happen without it."""

    name: str
    lines: tuple[tuple[int, int], ...]
    without: str


@dataclass(frozen=True, slots=True)
class NeededSet:
    """A minimal set that is enough, with the flags of libfabric that promise it; None if no flags do."""

    guarantees: tuple[NeededGuarantee, ...]
    flags: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """An order table: whether it gives one of the sets, and what it lacks of the one to which it comes closest."""

    order: str
    gives: bool
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
    checks: int = 0
    warnings: tuple[DiagnosticView, ...] = ()
    errors: tuple[DiagnosticView, ...] = ()
    time_s: float = 0.0


def no_needs(failure: Failure) -> NeedsRecord:
    """Return the record of a program that got no answer."""
    return NeedsRecord(
        failure.file,
        failure.verdict,
        failure.exit_code,
        failure.reason,
        failure.error_kind,
        warnings=failure.warnings,
        errors=failure.errors,
        time_s=failure.time_s,
    )


def needs_record(program: Program, found: MinimalSets, time_s: float) -> NeedsRecord:
    """Return the record of a program."""
    verdict = found.strongest.verdict
    status, code, reason = "unknown", Exit.UNKNOWN, "; ".join(found.open)
    if verdict is Verdict.NOT_ROBUST:
        status, code, reason = "not-robust", Exit.NOT_ROBUST, "no guarantee of the order of a queue pair makes it robust"
    elif not found.open:
        status, code = "robust", Exit.OK
    return NeedsRecord(
        program.file,
        status,
        code,
        reason,
        program=program.name,
        sets=tuple(_needed(program, found, names) for names in found.sets),
        tables=tuple(_table(order, found.sets) for order in SHIPPED) if found.sets else (),
        open=found.open,
        checks=found.checks,
        warnings=diagnostics(program.warnings),
        time_s=round(time_s, 6),
    )


def _needed(program: Program, found: MinimalSets, names: Names) -> NeededSet:
    each = tuple(_guarantee(program, found.breach_without(name, names), name) for name in sorted(names))
    flags = [FLAGS.get(name) for name in sorted(names)]
    told = tuple(dict.fromkeys(flag for some in flags for flag in some or ()))
    return NeededSet(each, None if None in flags else told)


def _guarantee(program: Program, breach: Breach | None, name: str) -> NeededGuarantee:
    witness = None if breach is None else breach.outcome.witness
    if breach is None or witness is None:
        return NeededGuarantee(name, (), "")
    words = Words(program, breach.outcome.model.order)
    about = guarantees()[name].is_about
    pairs = [(a, b) for a, b in turned_round(witness.order) if about(row(a), row(b))]
    lines = tuple(dict.fromkeys((a.step.span.line, b.step.span.line) for a, b in pairs if a.step and b.step))
    return NeededGuarantee(name, lines, "; ".join(words.turned_round(a, b) for a, b in pairs or witness.relaxed))


def _table(order: str, sets: Sequence[Names]) -> TableAnswer:
    given = given_by(order)
    lacks = min((names - given for names in sets), key=lambda each: (len(each), sorted(each)))
    return TableAnswer(order, not lacks, tuple(sorted(lacks)))


def needs_text(record: NeedsRecord, width: int | None) -> list[str]:
    """Return the lines of one program."""
    if record.program is None or record.status == "not-robust":
        return sentence(f"{printable(record.file)}: {record.status}: {printable(record.reason)}", width)
    many = count(len(record.sets), "minimal set")
    lines = sentence(f"{printable(record.file)}: {many}, {count(record.checks, 'check')}", width)
    for number, each in enumerate(record.sets, 1):
        names = ", ".join(guarantee.name for guarantee in each.guarantees) or "nothing"
        lines += sentence(f"{number}. {names}", width, "  ")
        for guarantee in each.guarantees:
            lines += sentence(_said(guarantee), width, "     ")
        if each.guarantees:
            lines += sentence(_flags(each), width, "     ")
    if record.sets:
        enough = ", ".join(each.order for each in record.tables if each.gives)
        lines += sentence(f"enough: {enough or 'no table'}", width, "  ")
        for table in record.tables:
            if not table.gives:
                lines += sentence(f"not enough: {table.order}, which lacks {', '.join(table.lacks)}", width, "  ")
    for reason in record.open:
        lines += sentence(f"left open: {printable(reason)}", width, "  ")
    return lines


def _flags(needed: NeededSet) -> str:
    return "no flags of libfabric promise it" if needed.flags is None else f"libfabric: {', '.join(needed.flags)}"


def _said(guarantee: NeededGuarantee) -> str:
    where = "; ".join(f"line {a} before line {b}" for a, b in guarantee.lines)
    return f"{guarantee.name}{f' ({where})' if where else ''}: without it {printable(guarantee.without)}"


WORDS: Final = {"robust": "answered", "not-robust": "not robust at all", "unknown": "left open", "error": "in error"}


class NeedsView(View[NeedsRecord]):
    """The answers of `needs`."""

    def text(self, layout: Layout) -> NeedsLines:
        return NeedsLines(layout)

    def objects(self, record: NeedsRecord) -> Sequence[JsonObject]:
        return (asdict(record) | {"file": valid_unicode(record.file), "exit_code": int(record.exit_code)},)

    def numbers(self, records: Sequence[NeedsRecord]) -> Mapping[str, int]:
        found = Counter(record.status for record in records)
        return {status.replace("-", "_"): found[status] for status in WORDS}

    def exit_of(self, record: NeedsRecord) -> Exit:
        return Exit(record.exit_code)


@dataclass(frozen=True)
class NeedsLines:
    """Writes a paragraph for each program, and for many programs the totals."""

    layout: Layout

    def header(self) -> list[str]:
        """Return nothing: each program has a paragraph of its own."""
        return []

    def lines(self, record: NeedsRecord) -> list[str]:
        """Return the lines of a program; an error of the only one is on standard error already."""
        if (self.layout.quiet and record.exit_code == Exit.OK) or (self.layout.alone and record.status == "error"):
            return []
        return needs_text(record, self.layout.width)

    def totals(self, section: Section[Any, NeedsRecord]) -> list[str]:
        """Return the last lines of the text for many programs."""
        counts = section.counts
        if counts.requested == 1:
            return []
        numbers = [(counts[status.replace("-", "_")], words) for status, words in WORDS.items()]
        said = ", ".join(f"{number} {words}" for number, words in numbers if number)
        line = f"{count(counts.done, 'program')}{f': {said}' if said else ''}; {counts.time_s:.2f} s"
        if counts.interrupted:
            line = f"interrupted: {counts.done} of {counts.requested} done; {line}"
        return sentence(line, self.layout.width)
