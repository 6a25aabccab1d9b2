"""Claims with their answers as plain data, which loads nothing slow: what every form of report is written from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdma_robust.frame.exits import Exit
from rdma_robust.text import count


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of a run, or where a thread waits; without a line if no statement stands for it."""

    thread: str
    line: int | None
    column: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim of a program, or the target of `reach`, with its answer.

    `status` is that of :class:`verify.Status`, or the answer of `reach`; `exit_code` what it alone would exit with. `line`
    is None for what is claimed of the whole program. `waits` are the threads that hang, `run` leads there.
    """

    kind: str
    text: str
    model: str
    line: int | None
    column: int | None
    status: str
    reason: str
    exit_code: int
    waits: tuple[StepView, ...] = ()
    run: tuple[StepView, ...] = ()


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a program that were answered beside its verdict; `reason` says why they were not, if so."""

    findings: tuple[Finding, ...] = ()
    reason: str = ""

    @property
    def violated(self) -> tuple[Finding, ...]:
        """Those that count against the exit code: of what is undecided `verify`, with more time, says more."""
        return tuple(each for each in self.findings if each.exit_code == Exit.NOT_ROBUST)

    @property
    def decided(self) -> bool:
        """Whether every claim is."""
        return not self.reason and all(each.status != "unknown" for each in self.findings)


def violated_note(violated: Sequence[Finding]) -> str:
    """Return which claims are violated, as in `2 claims violated (line 3, line 9)`; nothing if none is."""
    if not violated:
        return ""
    lines = dict.fromkeys(line for each in violated for line in places(each))
    where = f" ({', '.join(f'line {line}' for line in lines)})" if lines else ""
    return f"{count(len(violated), 'claim')} violated{where}"


def places(finding: Finding) -> list[int]:
    """Return the line of a claim, of one of the whole program those where its threads wait."""
    return [line for line in ([finding.line] if finding.line else [w.line for w in finding.waits]) if line is not None]
