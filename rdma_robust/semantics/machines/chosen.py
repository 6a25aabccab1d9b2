"""Which machine runs a program: those of RDMA as deployed where it, or its hardware, uses something of that."""

from __future__ import annotations

from rdma_robust.language.flow.cfg import Program, steps
from rdma_robust.model import RDMA, Model
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_card import DeployedState
from rdma_robust.semantics.machines.deployed_sc import DeployedScMachine
from rdma_robust.semantics.machines.rdma import RdmaMachine, RdmaState
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.machines.shapes import shape_of
from rdma_robust.semantics.machines.threadcode import NOTHING, Watched

AnyRdmaMachine = RdmaMachine | DeployedMachine
AnyScMachine = ScMachine | DeployedScMachine


def uses_deployed(program: Program) -> bool:
    """Return whether a program has operations, or receives, that only the machines of RDMA as deployed run."""
    return any(
        thread.posted or any(shape_of(step.op).deployed for _, _, step in steps(thread)) for thread in program.threads
    )


def is_deployed(program: Program, model: Model) -> bool:
    """Return whether a program under this hardware needs the machine of RDMA as deployed."""
    return model.cpu != "sc" or model.order != "default" or uses_deployed(program)


def machine_of(
    program: Program, model: Model = RDMA, watched: Watched = NOTHING, recv_depth: int = RECV_DEPTH
) -> AnyRdmaMachine:
    """Return the machine of a program under `model`: the fast one, unless something deployed is used."""
    if is_deployed(program, model):
        return DeployedMachine(program, model, watched, recv_depth)
    return RdmaMachine(program, model, watched)


def following_machine(program: Program, model: Model) -> AnyScMachine:
    """Return the SC machine that can follow that of :func:`machine_of` step by step."""
    return DeployedScMachine(program, model=model) if is_deployed(program, model) else ScMachine(program)


def sc_machine_of(program: Program, watched: Watched = NOTHING, recv_depth: int = RECV_DEPTH) -> AnyScMachine:
    """Return the machine of a program under sequential consistency."""
    return DeployedScMachine(program, watched, recv_depth) if uses_deployed(program) else ScMachine(program, watched)


def is_rdma(state: object) -> bool:
    """Return whether a state is one of a machine under RDMA; if not it is one under sequential consistency."""
    return isinstance(state, RdmaState | DeployedState)
