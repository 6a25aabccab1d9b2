"""Words that remote atomics change, and others write too, on hardware where only remote atomics exclude each other."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.diagnose import quote
from rdma_robust.errors import Diagnostic, Span
from rdma_robust.language.flow.cfg import Cas, Cell, Program, RemoteRmw, Rmw, Step, steps
from rdma_robust.semantics.event_table import cells_written


def mixed_writes(program: Program) -> Iterator[Diagnostic]:
    """Yield the statements that write a word which a remote atomic of another thread changes (RR728).

    The hardware is that which the program names: under `atomics glob` they exclude each other.
    """
    if program.hardware.model.atomics == "glob":
        return
    changed: dict[Cell, dict[str, Span]] = {}
    for thread in program.threads:
        for _, _, step in steps(thread):
            if isinstance(step.op, RemoteRmw):
                changed.setdefault(step.op.source, {}).setdefault(thread.name, step.span)
    for thread in program.threads:
        for _, _, step in steps(thread):
            for cell in sorted(_written(step), key=str):
                other = next((span for name, span in changed.get(cell, {}).items() if name != thread.name), None)
                if other is not None:
                    yield _told(step, cell, other)


def _written(step: Step) -> frozenset[Cell]:
    written = cells_written(step.op) if step.fault is None else frozenset[Cell]()
    return written - {step.op.source} if isinstance(step.op, RemoteRmw) else written


def _told(step: Step, cell: Cell, other: Span) -> Diagnostic:
    what = "the CPU's atomic operation" if isinstance(step.op, Cas | Rmw) else "this write"
    message = f"the NIC's atomic on {quote(str(cell))} (line {other.line}) does not exclude {what}: atomics hca"
    hint = "change the word by remote atomics only, also from its own node, or say `hardware atomics glob`"
    return Diagnostic("warning", "RR728", message, step.span, hint=hint)
