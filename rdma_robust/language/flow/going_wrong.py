"""Steps that go wrong: such a step reads what its operation reads, keeps its order, and changes nothing."""

from __future__ import annotations

from rdma_robust.expr import FALSE, VALUE, Const
from rdma_robust.language.flow.cfg import Op, Read, Rmw, Section, Silent


def failing(op: Rmw) -> Rmw:
    """Return a read-modify-write as it is made where it goes wrong by what it reads: it writes nothing, and keeps its order
    (with buffered stores, that of a locked instruction)."""
    return Rmw(op.cell, VALUE, FALSE)


def only_reads(op: Op) -> bool:
    """Whether an operation cannot change anything: all that a step that goes wrong may do."""
    match op:
        case Silent() | Read() | Section(_, ()) | Rmw(when=Const(0)):
            return True
        case _:
            return False
