"""A run of a machine for the terminal: a table as that of a counterexample of `check`, and the state that it leads to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rdma_robust.analyses.safety.goals import FaultGoal, Goal, StateGoal
from rdma_robust.analyses.safety.hangs import Hang
from rdma_robust.analyses.safety.on_hardware import Run
from rdma_robust.expr import names
from rdma_robust.frame.formats.columns import PAPER
from rdma_robust.language.check.targets import ThreadAtExit, ThreadAtLine, ThreadAtPoints
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import RDMA, Model
from rdma_robust.reports.share.steps_table import StepRow, folded_rows, gutter, line_text, note_of_places, table
from rdma_robust.semantics.machines.chosen import is_rdma, machine_of, sc_machine_of
from rdma_robust.semantics.machines.machine import Action, Verb
from rdma_robust.semantics.run_wording import deed, event_name, lane
from rdma_robust.semantics.what_matters import MachineRun
from rdma_robust.text import filled, printable

INDENT = "  "


def claim_run_table(
    program: Program,
    run: Run,
    goal: Goal,
    width: int | None,
    *,
    hardware: Model = RDMA,
    hang: Hang | None = None,
    full: bool = False,
) -> list[str]:
    """Return a run that reaches `goal`, as lines, and the state that it leads to; one under RDMA is one of `hardware`.

    A long run shows the steps that matter (:mod:`what_matters`); with `full` all, and the names of their events.
    """
    sc = not is_rdma(run[-1].state)
    moves = [(number, move.action) for number, move in enumerate(run) if move.action.verb is not Verb.START]
    rows = []
    places: list[tuple[str, ...]] = []
    for number, action in moves:
        name = event_name(action) if full else ""
        what = printable(deed(program, action, sc=sc)) + (f"  {name}" if name else "")
        places.append(() if action.step is None else action.step.span.places)
        rows.append(StepRow(number, (gutter(number, line_text(places[-1]), False, False), lane(program, action), what)))
    shown, note = folded_rows(rows, _mattering(program, run, goal, hang, sc), full=full)
    room = (width or PAPER) - len(INDENT)
    lanes = _lanes(program, [action for _, action in moves])
    lines = [f"{INDENT}{text}".rstrip() for text in table(lanes, shown, room, full=full)] if rows else []
    for remark in (note_of_places(places), note):
        lines += filled(remark, width or PAPER, INDENT * 2, INDENT * 2) if remark else []
    machine = sc_machine_of(program) if sc else machine_of(program, hardware)
    lines.append("    in the end:" if rows else "    at the start:")
    for text in machine.describe(run[-1].state):
        lines += filled(printable(text), width or PAPER, " " * 6, "  ")
    return lines


def _lanes(program: Program, actions: Sequence[Action]) -> list[str]:
    """Return the lanes: those of one thread together, its CPU first; threads in the order of their first move."""
    threads = list(dict.fromkeys(action.thread for action in actions))
    rank = {lane(program, a): (threads.index(a.thread), " NIC to " in lane(program, a)) for a in actions}
    return sorted(rank, key=rank.__getitem__)


def _mattering(program: Program, run: Run, goal: Goal, hang: Hang | None, sc: bool) -> set[int]:
    """Return the moves that matter for reaching `goal`: those on which what it says of the last state depends."""
    known = MachineRun(program, [move.action for move in run], sc=sc)
    cells = {str(cell): number for cell, number in known.written.items()}
    threads = {thread.name: number for number, thread in enumerate(program.threads)}
    if isinstance(goal, FaultGoal):
        return known.matter([len(run) - 1])
    if isinstance(goal, StateGoal):
        used = set(names(goal.target.condition))
        atoms = [atom for name, atom in goal.target.atoms if name in used]
        named = {atom.thread for atom in atoms if isinstance(atom, ThreadAtExit | ThreadAtLine | ThreadAtPoints)}
        owned = [name.partition(".") for name in used]
        registers = [(threads[owner], register) for owner, _, register in owned if owner in threads]
        return known.matter(_last(known, named, threads) | {cells[name] for name in used if name in cells}, registers)
    waits = hang.waits if hang is not None else ()
    return known.matter(
        _last(known, {wait.thread for wait in waits}, threads)
        | {cells[name] for wait in waits for name in wait.cells if name in cells}
    )


def _last(known: MachineRun, named: Iterable[str], threads: dict[str, int]) -> set[int]:
    return {known.last[threads[name]] for name in named if threads.get(name) in known.last}
