"""The reduction of a program under a model, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from rdma_robust.certify.document import reject
from rdma_robust.certify.safety.cpu_memories import InProgramOrder, PartialStoreOrder, TotalStoreOrder
from rdma_robust.certify.safety.pending_sets import PendingSets
from rdma_robust.certify.safety.queue_pairs import QueuePairs
from rdma_robust.certify.safety.reduced_program import ReducedProgram
from rdma_robust.certify.safety.thread_steps import Variables
from rdma_robust.language.check.refusals import model_refusals
from rdma_robust.language.flow.claims import AnyModelName

REDUCTIONS: Final[Mapping[str, type[ReducedProgram]]] = {
    system.model: system for system in (InProgramOrder, TotalStoreOrder, PartialStoreOrder, PendingSets, QueuePairs)
}


def reduced_program(variables: Variables, model: str, bound: int, *, lazy: bool = True) -> ReducedProgram:
    """Return the reduction of the program under `model`. Raises InvalidCertificate if it has an operation that the model
    has not, or is about other hardware, and KeyError for a model that has no reduction here."""
    for refused in model_refusals(variables.program, cast(AnyModelName, model)):
        reject(f"line {refused.span.line}: {refused.message}")
    return REDUCTIONS[model](variables, bound, lazy=lazy)
