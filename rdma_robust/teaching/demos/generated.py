"""The account of a generated program in a demo: its verdict within a time limit, and the run of its witness."""

from __future__ import annotations

from collections.abc import Callable

from rdma_robust.language.load import load_decidable
from rdma_robust.model import RDMA
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.pipeline import check_program
from rdma_robust.semantics.machines.machine import Move
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.teaching.demos.walk import Animation, Block, Paragraph
from rdma_robust.teaching.explorer.run_tree import LONGEST
from rdma_robust.teaching.explorer.witness import witness_choices


def decide_generated(text: str, file: str, timeout: float | None) -> Outcome:
    """Return whether the program in `text` is robust. Raises ProgramError."""
    return check_program(load_decidable(text, file), CheckOptions(timeout=timeout))


def sizes(outcome: Outcome) -> str:
    """Return how large the search was, in words."""
    counts = outcome.counts
    return f"{counts.states:,} states and {counts.counters:,} unbounded counters"


def witness_run(outcome: Outcome) -> tuple[Move, ...] | None:
    """Return the run of the machine behind the witness, from its start; None if it is too long to be looked at."""
    choices = witness_choices(outcome, RDMA)
    if choices is None:
        return None
    machine = RdmaMachine(outcome.program)
    starts = machine.initial()
    # A machine that starts in one way has started before the first choice.
    first, *others = choices if starts.number > 1 else (0, *choices)
    moves = [starts[first]]
    for choice in others:
        moves.append(machine.successors(moves[-1].state)[choice])
    return tuple(moves)


def told_run(outcome: Outcome, title: str, notes: Callable[[tuple[Move, ...]], tuple[str, ...]]) -> Block:
    """Return the run of a program that is not robust, with the notes that `notes` makes, or why it is not shown."""
    assert outcome.verdict is Verdict.NOT_ROBUST
    moves = witness_run(outcome)
    if moves is None:
        return Paragraph(f"The run has more than {LONGEST:,} steps, too many to be shown here.")
    return Animation(title, outcome.program, moves, notes(moves))
