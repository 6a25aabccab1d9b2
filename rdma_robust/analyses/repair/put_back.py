"""Repairs of a program with other values for its constants, or with numbers for its crowds, as repairs of its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rdma_robust.analyses.repair.edits import one_edit
from rdma_robust.analyses.repair.patch import unified
from rdma_robust.analyses.repair.repairs import Repair, RepairSolution
from rdma_robust.errors import ProgramError
from rdma_robust.language.defines import undefined
from rdma_robust.language.load import load_decidable


def repair_of_original(repair: Repair, original: str, define: Sequence[str], file: str) -> Repair:
    """Return the repair of the program that :func:`~rdma_robust.language.defines.defined` makes of `original` as one of
    `original` itself. No line moves.

    A solution that is no program with the values of that text, because it uses more elements of an array, keeps the others.
    """
    return replace(repair, solutions=tuple(_solution_back(s, original, define, file) for s in repair.solutions))


def _solution_back(solution: RepairSolution, original: str, define: Sequence[str], file: str) -> RepairSolution:
    """Return one solution of such a repair."""
    text = undefined(solution.patched, original, define)
    try:
        load_decidable(text, file, crowds=True)
    except ProgramError:
        text = solution.patched
    return replace(solution, patched=text, diff=unified(original, text, file), edits=(one_edit(original, text),))
