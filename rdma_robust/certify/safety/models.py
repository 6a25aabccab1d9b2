"""The reduction of a program under a model, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rdma_robust.certify.safety.buffered_stores import PartialStoreOrder, TotalStoreOrder
from rdma_robust.certify.safety.in_program_order import InProgramOrder
from rdma_robust.certify.safety.pending_sets import PendingSets
from rdma_robust.certify.safety.queue_pairs import QueuePairs
from rdma_robust.certify.safety.reduced_program import ReducedProgram
from rdma_robust.certify.safety.thread_steps import Variables

REDUCTIONS: Final[Mapping[str, type[ReducedProgram]]] = {
    system.model: system for system in (InProgramOrder, TotalStoreOrder, PartialStoreOrder, PendingSets, QueuePairs)
}


def reduced_program(variables: Variables, model: str, bound: int, *, lazy: bool = True) -> ReducedProgram:
    """Return the reduction of the program under `model`. Raises InvalidCertificate if it has an operation that the model
    has not, and KeyError for a model that has no reduction here."""
    return REDUCTIONS[model](variables, bound, lazy=lazy)
