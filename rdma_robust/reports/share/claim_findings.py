"""The answers for claims as plain data, which loads nothing slow, and what somebody should look at in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.frame.exits import Exit
from rdma_robust.frame.finding import Finding, Flow, Step, in_a_line
from rdma_robust.frame.formats.junit import Case, Kind
from rdma_robust.text import count

VIOLATED: Final = "RR016"
ABOUT_NOTHING: Final = "RR017"
UNDECIDED: Final = "RR018"
REACHABLE: Final = "RR019"


@dataclass(frozen=True, slots=True)
class StepView:
    """A step of a run, or where a thread waits; without a line if no statement stands for it."""

    thread: str
    line: int | None
    column: int | None
    text: str
    file: str = ""
    """The file of the place, where it is another than that of the program."""

    @property
    def step(self) -> Step:
        """The step as findings have it."""
        return Step(self.line, self.column, self.text, file=self.file)


@dataclass(frozen=True, slots=True)
class ClaimAnswer:
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
    file: str = ""

    @property
    def lines(self) -> list[int]:
        """The line of the claim; of one of the whole program those where its threads wait."""
        return [line for line in ([self.line] if self.line else [w.line for w in self.waits]) if line is not None]


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a program that were answered beside its verdict; `reason` says why they were not, if so."""

    findings: tuple[ClaimAnswer, ...] = ()
    reason: str = ""

    @property
    def violated(self) -> tuple[ClaimAnswer, ...]:
        """Those that count against the exit code: of what is undecided `verify`, with more time, says more."""
        return tuple(each for each in self.findings if each.exit_code == Exit.NOT_ROBUST)

    @property
    def decided(self) -> bool:
        """Whether every claim is."""
        return not self.reason and all(each.status != "unknown" for each in self.findings)


def violated_note(violated: Sequence[ClaimAnswer]) -> str:
    """Return which claims are violated, as in `2 claims violated (line 3, line 9)`; nothing if none is."""
    if not violated:
        return ""
    lines = dict.fromkeys(line for each in violated for line in each.lines)
    where = f" ({', '.join(f'line {line}' for line in lines)})" if lines else ""
    return f"{count(len(violated), 'claim')} violated{where}"


def claim_findings(file: str, answers: Iterable[ClaimAnswer]) -> Iterator[Finding]:
    """Yield the claims that somebody should look at, and targets of `reach` that are reachable.

    A finding is at the line of its claim; of what has none, where the first thread waits.
    """
    for answer in answers:
        remark = _remark(answer)
        if remark is None:
            continue
        code, words = remark
        waits = [wait for wait in answer.waits if wait.line is not None]
        at = waits[0] if answer.line is None and waits else answer
        sentence = f"{words}: {answer.reason}."
        run = tuple(each.step for each in answer.run)
        yield Finding(
            at.file or file,
            at.line or 1,
            at.column,
            "error" if code == VIOLATED else "warning",
            code,
            in_a_line(sentence),
            sentence=sentence,
            related=tuple(wait.step for wait in waits),
            flows=(Flow("run", "The run that leads there", run),) if any(each.line for each in run) else (),
        )


def _remark(answer: ClaimAnswer) -> tuple[str, str] | None:
    """Return the code and the words for a claim that somebody should look at, None for others."""
    match answer.status:
        case "holds":
            return None
        case "violated" if answer.exit_code == Exit.OK:  # an `expect` line says so
            return None
        case "unreachable" if answer.kind == "target":
            return None
        case "violated" if answer.kind == "hang":
            return VIOLATED, f"The program hangs, and claims `{answer.text}`"
        case "violated":
            return VIOLATED, f"Violated: {answer.text}"
        case "unreachable":
            return ABOUT_NOTHING, f"About nothing: {answer.text}"
        case "reachable":
            return REACHABLE, f"Reachable under {answer.model}: {answer.text}"
        case _:
            return UNDECIDED, f"Undecided: {answer.text}"


def claim_cases(answers: Iterable[ClaimAnswer], classname: str, prefix: str = "") -> Iterator[Case]:
    """Yield a test for every claim: a failure if it is violated, an error if it is undecided.

    Their time is that of their program. A claim that is about nothing is skipped, with `--strict` a failure.
    """
    for answer in answers:
        place = "" if answer.line is None else f"line {answer.line}: "
        name = f"{prefix}{place}{answer.text}"
        says = f"{answer.status}: {answer.reason}"
        if answer.exit_code != Exit.OK:
            kind: Kind = "failure" if answer.exit_code == Exit.NOT_ROBUST else "error"
            yield Case(name, classname, 0.0, kind, answer.status, says, _details(answer))
        elif answer.status == "unreachable" and answer.kind != "target":
            yield Case(name, classname, 0.0, "skipped", answer.status, says)
        else:
            yield Case(name, classname, 0.0, text=says)


def _details(answer: ClaimAnswer) -> str:
    waits = [wait.text for wait in answer.waits]
    steps = [f"line {step.line}: {step.text}" for step in answer.run]
    return "\n".join([answer.reason, *waits, *(["", "the run:", *steps] if steps else [])])
