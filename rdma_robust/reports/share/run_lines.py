"""A replayed run for people: a table with a lane for each CPU, store buffer and network card, and the state at its end.

Steps that only look at registers are left out unless they go wrong. Of a long run the steps that matter are shown
(:mod:`run_slice`), with `-v` all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rdma_robust.analyses.prove.run_slice import mattering
from rdma_robust.analyses.prove.safety_outcome import SafetyRun
from rdma_robust.analyses.prove.transition_system import SafetyClaim
from rdma_robust.frame.formats.columns import PAPER
from rdma_robust.language.flow.cfg import Program, Silent
from rdma_robust.reports.share.move_wording import deed_of, lane_of
from rdma_robust.reports.share.steps_table import StepRow, folded_rows, gutter, line_text, note_of_places, table
from rdma_robust.semantics.machines.machine import Action, Move, Verb
from rdma_robust.text import count, filled, printable

INDENT: Final = "  "


def safety_run_lines(
    program: Program,
    run: SafetyRun,
    end: Sequence[str],
    width: int | None,
    *,
    full: bool = False,
    claim: SafetyClaim | None = None,
) -> list[str]:
    """Return a run as lines of a table, with the state `end` that it leads to.

    Of a long run in which `claim` fails only the moves that matter are shown, unless all are asked for (`full`).
    """
    moves = [(number, move) for number, move in enumerate(run.moves) if move.action.verb is not Verb.START]
    steps = [(number, move) for number, move in moves if full or not is_quiet(move)]
    rows = []
    places: list[tuple[str, ...]] = []
    for number, move in steps:
        action = move.action
        places.append(() if action.step is None else action.step.span.places)
        what = "; ".join(fault.message for fault in move.faults) or deed_of(program, action, run.model)
        rows.append(StepRow(number, (gutter(number, line_text(places[-1]), False, False), lane_of(program, action), what)))
    shown, note = folded_rows(rows, () if claim is None else mattering(program, run, claim), full=full)
    room = (width or PAPER) - len(INDENT)
    lines = [
        f"{INDENT}{text}".rstrip() for text in table(_lanes(program, [m.action for _, m in steps]), shown, room, full=full)
    ]
    lines = lines if rows else []
    hidden = len(moves) - len(steps)
    quiet = f"Not shown: {count(hidden, 'step')} without an access; -v shows all." if hidden and rows else ""
    for remark in (note_of_places(places), note, quiet):
        lines += filled(remark, width or PAPER, INDENT * 2, INDENT * 2) if remark else []
    lines.append("    in the end:" if rows else "    at the start:")
    for text in end:
        lines += filled(printable(text), width or PAPER, " " * 6, "  ")
    return lines


def is_quiet(move: Move) -> bool:
    """Return whether a move only looks at registers of its thread."""
    step = move.action.step
    return step is not None and isinstance(step.op, Silent) and not step.assigns and not move.faults


def _lanes(program: Program, actions: Sequence[Action]) -> list[str]:
    """Return the lanes: those of one thread together, its CPU first; threads in the order of their first move."""
    threads = list(dict.fromkeys(action.thread for action in actions))
    rank = {lane_of(program, a): (threads.index(a.thread), " CPU on " not in lane_of(program, a)) for a in actions}
    return sorted(rank, key=lambda lane: (*rank[lane], lane))
