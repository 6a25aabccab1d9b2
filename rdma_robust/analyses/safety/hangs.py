"""Hangs: whether a program has one, and who waits where for what.

A robust program hangs under RDMA iff it does under SC; others are searched among the states of the machine
(docs/theory.md, "Hangs").
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rdma_robust.analyses.safety.goals import HangGoal, HangMet
from rdma_robust.analyses.safety.reach import Reached, answer
from rdma_robust.analyses.safety.sequential import Run
from rdma_robust.language.flow.cfg import Cas, Get, Poll, Program, Read, Step
from rdma_robust.language.flow.waiting import blocking
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import RDMA, Model, ModelName
from rdma_robust.semantics.event_table import acts_of, remote_of
from rdma_robust.semantics.machines.machine import Verb
from rdma_robust.semantics.machines.rdma import RdmaMachine, RdmaState
from rdma_robust.semantics.machines.resting import Rest, Resting
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.text import count

HangKind = Literal["deadlock", "stuck spin"]


@dataclass(frozen=True, slots=True)
class Wait:
    """A thread that hangs: where, in a sentence for people, and what it reads that nobody changes any more.

    `line` is None where the program has no statement for it. `spins` if it goes round in a loop instead of waiting in one
    statement. A thread that polls waits for `remote`; so many completions were `posted` by it and `polled` before.
    """

    thread: str
    line: int | None
    statement: str
    spins: bool
    text: str
    cells: tuple[str, ...] = ()
    remote: str | None = None
    posted: int = 0
    polled: int = 0


@dataclass(frozen=True, slots=True)
class Hang:
    """A state in which nothing changes any more: a deadlock, or a stuck spin if some thread goes round in a loop."""

    waits: tuple[Wait, ...]

    @property
    def spins(self) -> bool:
        """Whether some thread goes round in a loop."""
        return any(wait.spins for wait in self.waits)

    @property
    def kind(self) -> HangKind:
        return "stuck spin" if self.spins else "deadlock"

    @property
    def lines(self) -> tuple[int, ...]:
        """The lines where threads wait, ascending."""
        return tuple(sorted({wait.line for wait in self.waits if wait.line is not None}))


@dataclass(frozen=True)
class HangAnswer:
    """Whether there is a hang, why, and if so which one; its run is that of `answer`."""

    answer: Reached
    hang: Hang | None


def find_hang(
    program: Program, model: ModelName, limits: Limits, hardware: Model = RDMA, *, progress: Progress = ignore
) -> HangAnswer:
    """Look for a hang of `program` under `model`. Raises InternalError if a run that was found is not confirmed."""
    ready = blocking(program)
    found = answer(ready, [(HangGoal(), model)], limits, hardware, progress=progress).answers[0]
    return HangAnswer(found, None if found.run is None else hang_of(ready, found.run))


def hang_of(program: Program, run: Run) -> Hang:
    """Return the hang that a run of one of the machines ends in."""
    under_rdma = isinstance(run[-1].state, RdmaState)
    met = HangMet(RdmaMachine(program) if under_rdma else ScMachine(program))
    return Hang(tuple(_wait(program, run, each) for each in met.hanging(run[-1].state)))


def hanging_lines(resting: Iterable[Resting]) -> tuple[int, ...]:
    """Return the lines at which these threads hang."""
    return tuple(sorted({step.span.line for each in resting for step in each.steps[:1]}))


def _wait(program: Program, run: Run, resting: Resting) -> Wait:
    thread = program.threads[resting.thread]
    if not resting.steps:
        return Wait(thread.name, None, "", False, f"{thread.name} is at a point that nothing leads away from")
    first = resting.steps[0]
    cells = tuple(dict.fromkeys(str(cell) for step in resting.steps for cell in _read(step)))
    spins = resting.rest is Rest.SPIN or first.text.startswith("while ")
    if isinstance(first.op, Poll) and resting.rest is Rest.BLOCKED:
        posted, polled = _completions(run, resting.thread, first.op.node)
        was = "was" if posted == 1 else "were"
        said = f"for a completion from {first.op.node}: {posted} {was} posted, {polled} polled"
        text = f"{thread.name} waits at line {first.span.line} {said}"
        return Wait(thread.name, first.span.line, first.text, False, text, (), first.op.node, posted, polled)
    nobody = f"; nobody can change {_listed(cells)}" if cells else "; its registers do not change"
    if spins:
        lines = sorted({step.span.line for step in resting.steps})
        many = "lines " if len(lines) > 1 else "line "
        where = f"{many}{', '.join(map(str, lines))}"
        loop = f" in `{first.text}`" if first.text.startswith("while ") else ""
        text = f"{thread.name} goes round at {where}{loop} for ever{nobody}"
    else:
        text = f"{thread.name} waits {_alternatives(resting.steps)}{nobody}"
    return Wait(thread.name, first.span.line, first.text, spins, text, cells)


def _read(step: Step) -> Iterable[object]:
    """The words that the step looks at and that somebody might have changed."""
    if not isinstance(step.op, Read | Cas | Get):
        return ()
    return (cell for act in acts_of(step.op) for cell in act.reads if not cell.hidden)


def _alternatives(steps: tuple[Step, ...]) -> str:
    """Where a thread waits for what: one statement, or the first statements of the branches of a choice."""
    said: dict[str, None] = {}
    for step in steps:
        what = f"a completion from {step.op.node}" if isinstance(step.op, Poll) else step.text.removeprefix("await ")
        said[f"at line {step.span.line} for {what}"] = None
    return ", or ".join(said)


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _completions(run: Run, thread: int, remote: str) -> tuple[int, int]:
    """Return how many operations of a thread towards `remote` make completions, and how many of them it has polled."""
    posting = Verb.ISSUE if isinstance(run[-1].state, RdmaState) else Verb.NIC_WRITE
    posted = polled = 0
    for action in (move.action for move in run):
        if action.thread != thread or action.step is None or remote_of(action.step.op) != remote:
            continue
        polled += action.verb is Verb.POLL
        posted += action.verb is posting and any(act.completes for act in acts_of(action.step.op))
    return posted, polled


def told(hang: Hang) -> str:
    """Return the hang in a few words."""
    lines = ", ".join(f"line {line}" for line in hang.lines)
    return f"{hang.kind}: {lines or count(len(hang.waits), 'thread')}"
