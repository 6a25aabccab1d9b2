"""The reasons that the decisions for one program and for any number of copies share: messages that wait."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from rdma_robust.language.flow.cfg import Fault

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
    return f"{fault.kind} (line {fault.span.where}): {fault.message}; ROBUST is only decided where none has to wait"
