"""A program without relaxed regions."""

from __future__ import annotations

from dataclasses import replace

from rdma_robust.language.flow.cfg import Cell, Program, Thread
from rdma_robust.language.flow.copies import with_cells


def without_regions(program: Program) -> Program:
    """Return the program with all words strict."""
    return replace(program, cells=tuple(map(_strict, program.cells)), threads=tuple(map(_strict_thread, program.threads)))


def _strict(cell: Cell) -> Cell:
    return replace(cell, relaxed=False)


def _strict_thread(thread: Thread) -> Thread:
    edges = tuple((u, v, replace(step, op=with_cells(step.op, _strict))) for u, v, step in thread.edges)
    return replace(thread, edges=edges, posted=with_cells(thread.posted, _strict))
