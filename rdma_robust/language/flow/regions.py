"""A program all of whose words are alike to cards: without relaxed regions, with all memory beside its card."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rdma_robust.language.flow.cfg import Cell, Program, Thread
from rdma_robust.language.flow.copies import with_cells


def without_regions(program: Program) -> Program:
    """Return the program with all words strict."""
    return replace(
        program,
        cells=tuple(map(_strict, program.cells)),
        threads=tuple(_changed(thread, _strict) for thread in program.threads),
    )


def without_memories(program: Program) -> Program:
    """Return the program with all words in the memory beside the card that reaches them."""
    return replace(
        program,
        nodes=tuple(node for node in program.nodes if program.card_of(node) == node),
        cells=tuple(map(_beside, program.cells)),
        threads=tuple(replace(_changed(t, _beside), node=program.card_of(t.node)) for t in program.threads),
        behind=(),
    )


def _beside(cell: Cell) -> Cell:
    return replace(cell, node=cell.via, name=str(cell), via="") if cell.via else cell


def _strict(cell: Cell) -> Cell:
    return replace(cell, relaxed=False)


def _changed(thread: Thread, word: Callable[[Cell], Cell]) -> Thread:
    edges = tuple((u, v, replace(step, op=with_cells(step.op, word))) for u, v, step in thread.edges)
    return replace(thread, edges=edges, posted=with_cells(thread.posted, word))
