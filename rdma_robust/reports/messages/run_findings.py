"""Findings about a message program that are worth a run: a violation, a deadlock, a leak; each with its chart and words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from rdma_robust.diagnose import listing
from rdma_robust.errors import Span
from rdma_robust.messages.language.message_program import Buffer, MessageProgram
from rdma_robust.messages.message_answers import BufferAnswer, Deadlock, Leak, OperationId, Schedule, Violation
from rdma_robust.reports.messages.message_claims import line_of, violation_text
from rdma_robust.reports.messages.narration import OperationNames, narrated, operation_names
from rdma_robust.reports.messages.wait_reasons import ChartContents, chart_of, deadlock_reason
from rdma_robust.reports.share.chart import Chart
from rdma_robust.text import count

FindingKind = Literal["violation", "deadlock", "leak", "run"]

CLEAREST: Final[tuple[Buffer, ...]] = ("infinite", "zero", "any", "eager")
"""Whose deadlock is shown, if there are several: that which no buffering helps, then that which any run may show."""


@dataclass(frozen=True, slots=True)
class RunFinding:
    """A run that shows something. `buffers` are those under which it is so, `buffer` that of the run; `headline` says what
    it is in a line, `words` why, `advice` what to change, '' if there is nothing to say."""

    kind: FindingKind
    buffers: tuple[Buffer, ...]
    buffer: Buffer
    headline: str
    words: tuple[str, ...]
    advice: str
    chart: Chart
    schedule: Schedule
    line: int | None = None


def run_findings(program: MessageProgram, answers: Sequence[BufferAnswer]) -> tuple[RunFinding, ...]:
    """Return the findings with runs: each violation once, a deadlock, a leak."""
    return tuple(_Finder(program, tuple(answers), operation_names(program)).all())


@dataclass(frozen=True, slots=True)
class _Finder:
    program: MessageProgram
    answers: tuple[BufferAnswer, ...]
    names: OperationNames

    def all(self) -> Iterator[RunFinding]:
        seen: dict[tuple[str, Span], tuple[BufferAnswer, Violation]] = {}
        for answer in self.answers:
            for each in answer.violations:
                seen.setdefault((each.kind, each.span), (answer, each))
        for answer, each in seen.values():
            yield self.violation(answer, each)
        found = next((a for b in CLEAREST for a in self.answers if a.buffer == b and a.deadlock is not None), None)
        if found is not None and found.deadlock is not None:
            yield self.deadlock(found, found.deadlock)
        leaking = next((answer for answer in self.answers if answer.leak is not None), None)
        if leaking is not None and leaking.leak is not None:
            yield self.leak(leaking, leaking.leak)

    def violation(self, answer: BufferAnswer, each: Violation) -> RunFinding:
        told = narrated(self.program, answer.buffer, each.schedule)
        buffers = tuple(
            other.buffer
            for other in self.answers
            if any((v.kind, v.span) == (each.kind, each.span) for v in other.violations)
        )
        line = line_of(self.program, each.span)
        made = chart_of(self.program, self.names, told, ChartContents("", feasible=answer.racing_sends()))
        what = next((row.text for row in reversed(made.rows) if row.bad), violation_text(self.program, each))
        headline = f"VIOLATED {self.under(buffers, 'violated')}: line {line}: {what}"
        chart = replace(made, title=f"line {line}: {what}")
        return RunFinding("violation", buffers, answer.buffer, headline, (), "", chart, each.schedule, line)

    def deadlock(self, answer: BufferAnswer, deadlock: Deadlock) -> RunFinding:
        buffers = tuple(other.buffer for other in self.answers if other.deadlocked == "yes")
        told = narrated(self.program, answer.buffer, deadlock.schedule)
        fine = any(other.buffer == "infinite" and other.deadlocked == "no" for other in self.answers)
        why = deadlock_reason(self.program, deadlock, told, buffered_is_fine=fine)
        who = [self.program.processes[each.process].name for each in deadlock.waiting]
        waits = f"{listing(who, 'and')} {'waits' if len(who) == 1 else 'wait'} forever"
        show = ChartContents(waits, why.reasons, why.cycle, feasible=answer.racing_sends())
        return RunFinding(
            "deadlock",
            buffers,
            answer.buffer,
            f"DEADLOCK {self.under(buffers, 'deadlocked')}: {waits}",
            (why.circle,) if why.circle else (),
            why.advice,
            chart_of(self.program, self.names, told, show),
            deadlock.schedule,
            line_of(self.program, deadlock.waiting[0].span) if deadlock.waiting else None,
        )

    def leak(self, answer: BufferAnswer, leak: Leak) -> RunFinding:
        buffers = tuple(other.buffer for other in self.answers if other.leaking == "yes")
        told = narrated(self.program, answer.buffer, leak.schedule)
        lost = {("send", each) for each in leak.sends} | {("receive", each) for each in leak.receives}
        left = tuple(each for each in told.unmatched if (each.direction, each.operation) in lost)
        parts = [count(len(leak.sends), "message") + " that nothing takes"] if leak.sends else []
        parts += [count(len(leak.receives), "receive") + " without a message"] if leak.receives else []
        what = f"a run ends with {' and '.join(parts)}"
        show = ChartContents(what, leaked=left, feasible=answer.racing_sends())
        chart = chart_of(self.program, self.names, told, show)
        headline = f"leak {self.under(buffers, 'leaking')}: {what}"
        return RunFinding("leak", buffers, answer.buffer, headline, (), "", chart, leak.schedule)

    def under(self, buffers: Sequence[Buffer], what: Literal["violated", "deadlocked", "leaking"]) -> str:
        """Return `under zero and any, not under infinite`."""
        text = f"under {listing(buffers, 'and')}"
        without = [each.buffer for each in self.answers if getattr(each, what) == "no"]
        return f"{text}, not under {listing(without, 'and')}" if without else text


def widest_answer(answers: Sequence[BufferAnswer]) -> BufferAnswer | None:
    """Return the answer with pairs under the buffers with most runs, None if no answer has pairs."""
    order: tuple[Buffer, ...] = ("infinite", "any", "eager", "zero")
    return next((each for b in order for each in answers if each.buffer == b and each.pairs is not None), None)


def race_lines(program: MessageProgram, answers: Sequence[BufferAnswer]) -> list[str]:
    """Return a line for each receive that races, under the buffers with most runs; those of one process and one line that
    can take the same messages share it."""
    names = operation_names(program)
    widest = widest_answer(answers)
    alike: dict[tuple[int, str, tuple[OperationId, ...]], list[int]] = {}
    for receive, sends in ({} if widest is None else widest.racing_sends()).items():
        alike.setdefault((receive.process, names.where("receive", receive), tuple(sends)), []).append(receive.nth + 1)
    lines = []
    for (process, where, senders), numbers in alike.items():
        which = f"receive{'s' if len(numbers) > 1 else ''} {_ranges(numbers)}"
        can = ", ".join(names.told("send", each) for each in senders[:MOST_NAMED])
        more = f" and {len(senders) - MOST_NAMED} more" if len(senders) > MOST_NAMED else ""
        lines.append(f"{which} of {program.processes[process].name}{where} can take {can}{more}")
    return lines


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers that go up as `1, 3 to 5`."""
    found: list[list[int]] = []
    for each in numbers:
        if found and found[-1][-1] == each - 1:
            found[-1] = [found[-1][0], each]
        else:
            found.append([each])
    return ", ".join(" to ".join(map(str, each)) for each in found)


MOST_NAMED: Final = 6
"""Sends of a race that are named."""
