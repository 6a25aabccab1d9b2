"""Final states: what can be observed when an execution is over."""

from __future__ import annotations

from collections.abc import Sequence

from rdma_robust.language.flow.cfg import Program

FinalState = tuple[int, ...]
"""The values of the names of :func:`state_names`, in that order."""


def state_names(program: Program) -> tuple[str, ...]:
    """Return the names of a final state's values: cells that are not hidden (`A.x`), then registers (`T.r`)."""
    cells = [str(cell) for cell in program.cells if not cell.hidden]
    registers = [f"{thread.name}.{name}" for thread in program.threads for name, _ in thread.registers]
    return (*cells, *registers)


def final_state(program: Program, memory: Sequence[int], registers: Sequence[Sequence[int]]) -> FinalState:
    """Return the final state for `memory`, by cell of `program.cells`, and each thread's registers, as declared."""
    shown = [value for cell, value in zip(program.cells, memory, strict=True) if not cell.hidden]
    return (*shown, *(value for values in registers for value in values))


def valuation(program: Program, state: FinalState) -> dict[str, int]:
    """Return a final state as a mapping from names to values."""
    return dict(zip(state_names(program), state, strict=True))
