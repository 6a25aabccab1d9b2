"""The reasons that the decisions for one program and for any number of copies share: limits, and messages that wait."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Fault
from rdma_robust.options import CheckOptions

WAITING: Final = ("rnr", "receive queue full")
"""Faults that stand for a message or a receive that has to wait: then violations need not have the normal form."""


def sorted_faults(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the faults in the order of the source."""
    return tuple(sorted(faults, key=lambda f: (f.span.start, f.kind, f.message)))


def waiting_among(faults: Iterable[Fault | None]) -> Fault | None:
    """Return the first of the faults by which a message or a receive has to wait."""
    return next((fault for fault in faults if fault is not None and fault.kind in WAITING), None)


def waiting_reason(fault: Fault) -> str:
    """Return why a program in which a message or a receive waits is not called robust."""
    return f"{fault.kind} (line {fault.span.line}): {fault.message}; ROBUST is only decided where none has to wait"


def limit_said(cut: str, options: CheckOptions) -> str:
    """Return what people call the limit by which a search was cut. Raises InternalError for one that there is not."""
    match cut:
        case "time":
            return f"the time limit of {options.timeout} s"
        case "states":
            return f"the limit of {options.max_states} states"
        case "memory":
            return f"the memory limit of {options.memory} MiB"
        case _:
            raise InternalError(f"a search was cut by an unknown limit {cut!r}")
