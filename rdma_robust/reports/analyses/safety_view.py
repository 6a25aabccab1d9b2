"""What the answers of `verify` and `reach` look like: lines, numbers, JSON, and the forms for other tools."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.finding import Finding, problem_findings
from rdma_robust.frame.formats.columns import sentence
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.formats.junit import Case
from rdma_robust.frame.question import Layout, Section, View
from rdma_robust.reports.analyses.safety_record import SafetyRecord
from rdma_robust.reports.share.claim_findings import claim_cases, claim_findings
from rdma_robust.text import count

VERIFY_WORDS: Final = ("holds", "violated", "unknown", "unreachable")
"""The answers that a claim can have."""
REACH_WORDS: Final = ("reachable", "unreachable", "unknown")
"""The answers that a target can have."""


@dataclass(frozen=True)
class SafetyView(View[SafetyRecord]):
    """The answers of `verify` or `reach`, which has these `words` for a claim or a target."""

    words: tuple[str, ...]

    def text(self, layout: Layout) -> SafetyLines:
        return SafetyLines(self.words, layout)

    def objects(self, record: SafetyRecord) -> Sequence[JsonObject]:
        said = {"reason": record.reason} if "reason" not in record.answer or record.reason else {}
        return (
            {
                "file": valid_unicode(record.file),
                **record.answer,
                **said,
                "error_kind": record.error_kind,
                "warnings": [dataclasses.asdict(each) for each in record.warnings],
                "errors": [dataclasses.asdict(each) for each in record.errors],
                "exit_code": int(record.exit_code),
                "time_s": record.time_s,
            },
        )

    def numbers(self, records: Sequence[SafetyRecord]) -> Mapping[str, int]:
        found = Counter(each.status for record in records for each in record.findings)
        without = Counter(record.status for record in records if not record.findings)
        none = {"undecided": without["unknown"], "error": without["error"]}
        return {word: found[word] for word in self.words} | none

    def exit_of(self, record: SafetyRecord) -> Exit:
        return Exit(record.exit_code)

    def findings(self, record: SafetyRecord) -> Iterable[Finding]:
        return safety_findings(record)

    def cases(self, section: Section[Any, SafetyRecord]) -> Mapping[str, Sequence[Case]]:
        return {record.file: list(safety_cases(record)) for record in section.records}

    def more(self, section: Section[Any, SafetyRecord]) -> Mapping[str, object]:
        """Return the members of the only program, which stand beside `results` too, where readers of one look for them."""
        return self.objects(section.records[0])[0] if section.counts.requested == 1 and section.answers else {}


@dataclass(frozen=True)
class SafetyLines:
    """Writes the lines that records bring, and for many programs the totals."""

    words: tuple[str, ...]
    layout: Layout

    def header(self) -> list[str]:
        """Return nothing: a program has lines, not a row."""
        return []

    def lines(self, record: SafetyRecord) -> list[str]:
        """Return the lines of a program; an error of the only one is on standard error already."""
        if (self.layout.quiet and record.exit_code == Exit.OK) or (self.layout.alone and record.status == "error"):
            return []
        return list(record.lines)

    def totals(self, section: Section[Any, SafetyRecord]) -> list[str]:
        """Return the last lines of the text for many programs."""
        counts = section.counts
        if counts.requested == 1:
            return []
        said = [(counts[word], "hold" if word == "holds" and counts[word] > 1 else word) for word in self.words]
        told = ", ".join(f"{number} {word}" for number, word in said if number)
        line = count(counts.done, "program")
        if self.words is VERIFY_WORDS:
            line += f", {count(sum(counts[word] for word in self.words), 'claim')}"
        line += f": {told}" if told else ""
        undecided = f"{counts['undecided']} undecided" if counts["undecided"] else ""
        wrong = count(counts["error"], "error") if counts["error"] else ""
        line += "".join(f"; {each}" for each in (undecided, wrong) if each)
        if counts.interrupted:
            line = f"interrupted: {counts.done} of {counts.requested} done; {line}"
        return sentence(f"{line}; {counts.time_s:.2f} s", self.layout.width)


def safety_findings(record: SafetyRecord) -> Iterator[Finding]:
    """Yield what is to be looked at in the answers for one program."""
    undecided = record.reason if record.status == "unknown" and not record.findings else ""
    yield from problem_findings(record.file, (*record.errors, *record.warnings), record.error_kind, record.reason, undecided)
    yield from claim_findings(record.file, record.findings)


def safety_cases(record: SafetyRecord) -> Iterator[Case]:
    """Yield the tests of a program; one without answers, or that claims nothing, is a test of its own."""
    classname = f"rdma-robust.{record.file}"
    places = [f"{record.file}:{d.line}:{d.column}: {d.severity}: {d.message}" for d in (*record.errors, *record.warnings)]
    details = "\n".join(places)
    if record.findings:
        yield Case(record.file, classname, record.time_s, text=details)
        yield from claim_cases(record.findings, classname)
    elif record.exit_code == Exit.OK:
        yield Case(record.file, classname, record.time_s, text="\n".join([*record.lines, *places]))
    else:
        says = f"{record.status}: {record.reason}"
        yield Case(record.file, classname, record.time_s, "error", record.error_kind or record.status, says, details)
