"""Hangs: whether a program has one, and who waits where for what.

A robust program hangs under RDMA iff it does under SC; others are searched among the states of the machine
(docs/theory-hangs.md, "Hangs").
"""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.analyses.safety.goals import HangGoal, HangMet
from rdma_robust.analyses.safety.on_hardware import Run
from rdma_robust.analyses.safety.questions import Reached
from rdma_robust.analyses.safety.reach import answer_goals
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.limits import Limits, Progress, ignore
from rdma_robust.model import RDMA, Model, ModelName
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.hang import Hang
from rdma_robust.semantics.machines.chosen import machine_of, sc_machine_of
from rdma_robust.semantics.machines.hang_words import hang_at
from rdma_robust.semantics.machines.sc import ScState
from rdma_robust.text import count


@dataclass(frozen=True)
class HangAnswer:
    """The answer whether there is a hang, why, and if so which one; its run is that of `answer`."""

    answer: Reached
    hang: Hang | None


def find_hang(
    program: Program,
    model: ModelName,
    limits: Limits,
    hardware: Model = RDMA,
    *,
    recv_depth: int = RECV_DEPTH,
    progress: Progress = ignore,
) -> HangAnswer:
    """Look for a hang of `program` under `model`. Raises InternalError if a run that was found is not confirmed."""
    ready = blocking(program)
    asked = answer_goals(ready, [(HangGoal(), model)], limits, hardware, recv_depth=recv_depth, progress=progress)
    found = asked.answers[0]
    there = ready if found.copies is None else found.copies.program
    return HangAnswer(found, None if found.run is None else hang_of(there, found.run, hardware, recv_depth))


def hang_of(program: Program, run: Run, hardware: Model = RDMA, recv_depth: int = RECV_DEPTH) -> Hang:
    """Return the hang that a run of one of the machines ends in."""
    machine = machine_of(program, hardware, recv_depth=recv_depth)
    met = HangMet(sc_machine_of(program, recv_depth=recv_depth) if isinstance(run[-1].state, ScState) else machine)
    return hang_at(program, run, met.hanging(run[-1].state))


def hang_summary(hang: Hang) -> str:
    """Return the hang in a few words."""
    lines = ", ".join(f"line {line}" for line in hang.lines)
    return f"{hang.kind}: {lines or count(len(hang.waits), 'thread')}"
