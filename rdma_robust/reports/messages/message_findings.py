"""What somebody should look at in a message program, each with its place and the run that shows it, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rdma_robust.errors import NO_SPAN, Span
from rdma_robust.frame.finding import Level
from rdma_robust.messages.language.message_program import MessageProgram
from rdma_robust.messages.message_answers import BufferAnswer, Issued
from rdma_robust.reports.analyses.claim_findings import StepView
from rdma_robust.reports.messages.chart import BAD, ChartRow
from rdma_robust.reports.messages.message_claims import JudgedClaim, judged
from rdma_robust.reports.messages.messages_explained import order_line
from rdma_robust.reports.messages.operation_names import OperationNames, operation_names
from rdma_robust.reports.messages.run_findings import RunFinding, racing_sends, run_findings, widest_answer
from rdma_robust.reports.messages.violation_words import place_of
from rdma_robust.text import count, one_line

MOST_RACES: Final = 3
"""Receives of one statement that are said one by one."""
MOST_SENDS: Final = 4
"""Sends of a receive that are named."""

CONTRADICTED: Final = {"RR020": "holds", "RR021": "holds", "RR022": "no deadlock", "RR023": "no race"}
"""The claim that a finding of a code is against."""


@dataclass(frozen=True, slots=True)
class MessageFinding:
    """Something at a 1-based place of the text. `counts` says whether it counts against the exit code, of a note as well.

    `shape` is the text without lines and values, by which the finding is known again after edits elsewhere. `others` are
    further places that it is about, `run` leads there. `statement` is what stands at the place, if that is on one line.
    """

    code: str
    level: Level
    line: int
    column: int
    text: str
    shape: str
    counts: bool = True
    others: tuple[StepView, ...] = ()
    run: tuple[StepView, ...] = ()
    statement: str = ""


def message_findings(
    program: MessageProgram, answers: Sequence[BufferAnswer], *, expect: bool, deny: Sequence[str] = ()
) -> tuple[MessageFinding, ...]:
    """Return the findings: with `expect` those that contradict the claims or are denied; else all, and claims that fail."""
    finder = _Finder(program, operation_names(program), deny)
    claims = judged(program, answers)
    failed = [each for each in claims if each.status == "failed"]
    broken = {each.text for each in failed}
    found = [*finder.runs(answers), *finder.races(answers), *finder.orders(answers)]
    if expect:
        found = [
            replace(each, level="error", counts=True)
            for each in found
            if CONTRADICTED.get(each.code) in broken or (each.counts and each.code in ("RR023", "RR024"))
        ]
    found += finder.claims([each for each in failed if each.text not in CONTRADICTED.values()])
    if expect and not claims:
        found.append(MessageFinding("RR013", "warning", 1, 1, "There is no `expect` line", "no claims"))
    reasons = dict.fromkeys(answer.reason for answer in answers if answer.reason)
    if reasons and _open(answers, claims, expect=expect):
        found.append(MessageFinding("RR011", "warning", 1, 1, f"Undecided: {'; '.join(reasons)}", "undecided"))
    return tuple(found)


def _open(answers: Sequence[BufferAnswer], claims: Sequence[JudgedClaim], *, expect: bool) -> bool:
    if expect:
        return any(each.status == "unknown" for each in claims)
    return any("unknown" in (each.violated, each.deadlocked) for each in answers)


@dataclass(frozen=True, slots=True)
class _Finder:
    program: MessageProgram
    names: OperationNames
    deny: Sequence[str]

    def runs(self, answers: Sequence[BufferAnswer]) -> Iterator[MessageFinding]:
        """Yield what runs show: false assertions and faults, a deadlock, a leak."""
        for found in run_findings(self.program, answers):
            steps = tuple(self.step(row) for row in found.chart.rows if row.line is not None)
            places = [row for row in found.chart.rows if row.mark in BAD or row.mark == "leak"]
            places = places[-1:] if found.kind == "violation" else places
            at = next((row for row in places if row.line is not None), None)
            code, level = self.kind(found, at)
            others = tuple(self.step(row) for row in places if row is not at and row.line is not None)
            line, column = (1, 1) if at is None else (at.line or 1, at.column or 1)
            counts = code != "RR024" or "leak" in self.deny
            said = ". ".join((found.headline, *(each.rstrip(". ") for each in (*found.words, found.advice) if each)))
            shape = f"{found.kind} {' '.join(found.buffers)}"
            yield MessageFinding(code, level, line, column, said, shape, counts, others, steps)

    def kind(self, found: RunFinding, at: ChartRow | None) -> tuple[str, Level]:
        """Return the code and the level of what a run shows."""
        if found.kind == "leak":
            return "RR024", "error" if "leak" in self.deny else "note"
        if found.kind == "deadlock":
            return "RR022", "error"
        return ("RR021" if at is not None and at.mark == "fault" else "RR020"), "error"

    def step(self, row: ChartRow) -> StepView:
        return StepView(self.program.processes[row.lane].name, row.line, row.column, row.text)

    def races(self, answers: Sequence[BufferAnswer]) -> Iterator[MessageFinding]:
        """Yield a finding for each statement that is a receive which races, under the buffers with most runs."""
        widest = widest_answer(answers)
        statements: dict[Span, list[tuple[Issued, list[Issued]]]] = {}
        for receive, sends in ({} if widest is None else racing_sends(widest)).items():
            span = next(iter(self.names.spans("receive", receive)), NO_SPAN)
            statements.setdefault(place_of(self.program, span), []).append((receive, sends))
        denied = "race" in self.deny
        for place, racing in statements.items():
            said = [self.race(*each) for each in racing[:MOST_RACES]]
            more = len(racing) - MOST_RACES
            said += [f"{more} more here race"] if more > 0 else []
            issued = {span for _, sends in racing for each in sends for span in self.names.spans("send", each)[:1]}
            places = sorted({place_of(self.program, span) for span in issued}, key=lambda span: span.start)
            yield MessageFinding(
                "RR023",
                "error" if denied else "note",
                place.line,
                place.column,
                f"{count(len(racing), 'racing receive')}: {'; '.join(said)}",
                f"race {len(racing)}",
                denied,
                tuple(StepView("", each.line, each.column, "a message that can be taken") for each in places),
            )

    def race(self, receive: Issued, sends: Sequence[Issued]) -> str:
        named = ", ".join(self.names.told("send", each) for each in sends[:MOST_SENDS])
        more = f" and {len(sends) - MOST_SENDS} more" if len(sends) > MOST_SENDS else ""
        return f"{self.names.told('receive', receive)} can take {named}{more}"

    def orders(self, answers: Sequence[BufferAnswer]) -> Iterator[MessageFinding]:
        """Yield calls of library procedures in different orders."""
        for each in dict.fromkeys(each for answer in answers for each in answer.mismatches):
            place = place_of(self.program, each.span)
            text = order_line(self.program, each)
            yield MessageFinding("RR025", "warning", place.line, place.column, text, f"orders {each.calls}", counts=False)

    def claims(self, failed: Sequence[JudgedClaim]) -> Iterator[MessageFinding]:
        """Yield the claims that fail without a run that shows it, each once for its buffers."""
        buffers: dict[tuple[int, int, str, str], list[str]] = {}
        for each in failed:
            buffers.setdefault((each.line, each.column, each.text, each.found), []).append(each.buffer)
        for (line, column, claim, found), under in buffers.items():
            text = one_line(f"`{claim}` under {', '.join(under)}: found {found}", 200)
            yield MessageFinding("RR026", "warning", line, column, text, f"claim {claim}")
