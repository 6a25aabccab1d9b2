"""The stepwise machine of each memory model, by its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.semantics.machines.in_order import InOrderMachine
from rdma_robust.semantics.machines.one_sided import OneSidedMachine
from rdma_robust.semantics.machines.pipes import PipesMachine
from rdma_robust.semantics.machines.stepping import Choose, StepMachine, few
from rdma_robust.semantics.machines.store_buffers import PsoMachine, TsoMachine

STEPWISE: Final[Mapping[AnyModelName, type[StepMachine]]] = {
    "sc": InOrderMachine,
    "tso": TsoMachine,
    "pso": PsoMachine,
    "rma": OneSidedMachine,
    "rdma": PipesMachine,
}


def stepwise_machine(program: Program, model: AnyModelName, choose: Choose = few) -> StepMachine:
    """Return the machine on which every step of `program` is a move. Raises UsageError for a model that has none."""
    if model not in STEPWISE:
        raise UsageError(f"no stepwise machine runs model {model}; there are those of {', '.join(STEPWISE)}")
    return STEPWISE[model](program, choose)
