"""Findings about a message program, each with its place and the run that shows it, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.digraph import by_key
from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.frame.finding import Finding, Level, Step
from rdma_robust.messages.language.message_program import MessageProgram
from rdma_robust.messages.message_answers import BufferAnswer, OperationId
from rdma_robust.reports.messages.message_claims import JudgedClaim, judged, place_of
from rdma_robust.reports.messages.messages_explanation import order_line
from rdma_robust.reports.messages.narration import OperationNames, operation_names
from rdma_robust.reports.messages.run_findings import RunFinding, run_findings, widest_answer
from rdma_robust.reports.share.chart import BAD, ChartRow
from rdma_robust.reports.share.file_record import ShapedFinding, known_again, run_flow
from rdma_robust.text import count, one_line

MOST_RACES: Final = 3
"""Receives of one statement that are said one by one."""
MOST_SENDS: Final = 4
"""Sends of a receive that are named."""

CONTRADICTED: Final = {"RR020": "holds", "RR021": "holds", "RR022": "no deadlock", "RR023": "no race"}
"""The claim that a finding of a code is against."""


def message_findings(
    program: MessageProgram, answers: Sequence[BufferAnswer], *, expect: bool, deny: Sequence[str] = ()
) -> tuple[Finding, ...]:
    """Return the findings: with `expect` those that contradict the claims or are denied; else all, and claims that fail."""
    finder = _Finder(program, operation_names(program), deny)
    claims = judged(program, answers)
    failed = [each for each in claims if each.status == "failed"]
    broken = {each.text for each in failed}
    found = [*finder.runs(answers), *finder.races(answers), *finder.orders(answers)]
    if expect:
        found = [
            replace(each, finding=replace(each.finding, level="error"))
            for each in found
            if CONTRADICTED.get(each.finding.code) in broken
            or (each.finding.level == "error" and each.finding.code in ("RR023", "RR024"))
        ]
    found += finder.claims([each for each in failed if each.text not in CONTRADICTED.values()])
    if expect and not claims:
        found.append(
            ShapedFinding(Finding(program.file, 1, 1, "warning", "RR013", "There is no `expect` line"), "no claims")
        )
    reasons = dict.fromkeys(answer.reason for answer in answers if answer.reason)
    if reasons and _open(answers, claims, expect=expect):
        says = f"Undecided: {'; '.join(reasons)}"
        found.append(ShapedFinding(Finding(program.file, 1, 1, "warning", "RR011", says), "undecided"))
    return known_again(found, program.name, program.source)


def _open(answers: Sequence[BufferAnswer], claims: Sequence[JudgedClaim], *, expect: bool) -> bool:
    if expect:
        return any(each.status == "unknown" for each in claims)
    return any("unknown" in (each.violated, each.deadlocked) for each in answers)


@dataclass(frozen=True, slots=True)
class _Finder:
    program: MessageProgram
    names: OperationNames
    deny: Sequence[str]

    def runs(self, answers: Sequence[BufferAnswer]) -> Iterator[ShapedFinding]:
        """Yield what runs show: false assertions and faults, a deadlock, a leak."""
        for found in run_findings(self.program, answers):
            steps = tuple(self.step(row) for row in found.chart.rows if row.line is not None)
            places = [row for row in found.chart.rows if row.mark in BAD or row.mark == "leak"]
            places = places[-1:] if found.kind == "violation" else places
            at = next((row for row in places if row.line is not None), None)
            code, level = self.kind(found, at)
            others = tuple(self.step(row) for row in places if row is not at and row.line is not None)
            line, column = (1, 1) if at is None else (at.line or 1, at.column or 1)
            said = ". ".join((found.headline, *(each.rstrip(". ") for each in (*found.words, found.advice) if each)))
            shape = f"{found.kind} {' '.join(found.buffers)}"
            finding = Finding(
                self.program.file, line, column, level, code, said, related=others, flows=run_flow(steps, line)
            )
            yield ShapedFinding(finding, shape)

    def kind(self, found: RunFinding, at: ChartRow | None) -> tuple[str, Level]:
        """Return the code and the level of what a run shows."""
        if found.kind == "leak":
            return "RR024", "error" if "leak" in self.deny else "note"
        if found.kind == "deadlock":
            return "RR022", "error"
        return ("RR021" if at is not None and at.mark == "fault" else "RR020"), "error"

    def step(self, row: ChartRow) -> Step:
        return Step(row.line, row.column, row.text, kinds=(self.program.processes[row.lane].name,))

    def races(self, answers: Sequence[BufferAnswer]) -> Iterator[ShapedFinding]:
        """Yield a finding for each statement that is a receive which races, under the buffers with most runs."""
        widest = widest_answer(answers)
        statements: dict[Span, list[tuple[OperationId, list[OperationId]]]] = {}
        for receive, sends in ({} if widest is None else widest.racing_sends()).items():
            span = next(iter(self.names.spans("receive", receive)), NO_SPAN)
            statements.setdefault(place_of(self.program, span), []).append((receive, sends))
        denied = "race" in self.deny
        for place, racing in statements.items():
            said = [self.race(*each) for each in racing[:MOST_RACES]]
            more = len(racing) - MOST_RACES
            said += [f"{more} more here race"] if more > 0 else []
            issued = {span for _, sends in racing for each in sends for span in self.names.spans("send", each)[:1]}
            places = sorted({place_of(self.program, span) for span in issued}, key=lambda span: span.start)
            level: Level = "error" if denied else "note"
            text = f"{count(len(racing), 'racing receive')}: {'; '.join(said)}"
            others = tuple(Step(each.line, each.column, "a message that can be taken") for each in places)
            finding = Finding(self.program.file, place.line, place.column, level, "RR023", text, related=others)
            yield ShapedFinding(finding, f"race {len(racing)}")

    def race(self, receive: OperationId, sends: Sequence[OperationId]) -> str:
        named = ", ".join(self.names.told("send", each) for each in sends[:MOST_SENDS])
        more = f" and {len(sends) - MOST_SENDS} more" if len(sends) > MOST_SENDS else ""
        return f"{self.names.told('receive', receive)} can take {named}{more}"

    def orders(self, answers: Sequence[BufferAnswer]) -> Iterator[ShapedFinding]:
        """Yield calls of library procedures in different orders."""
        for each in dict.fromkeys(each for answer in answers for each in answer.mismatches):
            place = place_of(self.program, each.span)
            text = order_line(self.program, each)
            finding = Finding(self.program.file, place.line, place.column, "warning", "RR025", text)
            yield ShapedFinding(finding, f"orders {each.calls}")

    def claims(self, failed: Sequence[JudgedClaim]) -> Iterator[ShapedFinding]:
        """Yield the claims that fail without a run that shows it, each once for its buffers."""
        buffers = by_key(((each.line, each.column, each.text, each.found), each.buffer) for each in failed)
        for (line, column, claim, found), under in buffers.items():
            text = one_line(f"`{claim}` under {', '.join(under)}: found {found}", 200)
            finding = Finding(self.program.file, line, column, "warning", "RR026", text)
            yield ShapedFinding(finding, f"claim {claim}")
