"""The choice of the machine that runs a program under RDMA: that of all that is deployed, where it or its hardware uses
something of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Union

from rdma_robust.kept import Kept
from rdma_robust.language.flow.cfg import Program, steps
from rdma_robust.model import RDMA, Model
from rdma_robust.options import RECV_DEPTH
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.machines.shapes import shape_of
from rdma_robust.semantics.machines.threadcode import NOTHING, Observables
from rdma_robust.semantics.waits import messages_wait

if TYPE_CHECKING:
    from rdma_robust.semantics.machines.deployed import DeployedMachine  # slow, and few programs need it

AnyRdmaMachine = Union[RdmaMachine, "DeployedMachine"]
SomeMachine = AnyRdmaMachine | ScMachine

_DEPLOYED: Final = Kept[None, bool]()


def uses_deployed(program: Program) -> bool:
    """Return whether a program has operations, or receives, that only the machines of RDMA as deployed run."""

    def found() -> bool:
        return any(
            thread.posted or any(shape_of(step.op).deployed for _, _, step in steps(thread)) for thread in program.threads
        )

    return _DEPLOYED.of(program, None, found)


def is_deployed(program: Program, model: Model) -> bool:
    """Return whether a program under this hardware needs the machine of RDMA as deployed."""
    return model.cpu != "sc" or model.order != "default" or uses_deployed(program) or not program.plain


def machine_of(
    program: Program, model: Model = RDMA, watched: Observables = NOTHING, recv_depth: int = RECV_DEPTH
) -> AnyRdmaMachine:
    """Return the machine of a program under `model`: the fast one, unless something deployed is used."""
    if is_deployed(program, model):
        from rdma_robust.semantics.machines.deployed import DeployedMachine  # noqa: PLC0415

        return DeployedMachine(program, model, watched, recv_depth)
    return RdmaMachine(program, model, watched)


def sc_machine_of(
    program: Program, watched: Observables = NOTHING, recv_depth: int = RECV_DEPTH, model: Model = RDMA
) -> ScMachine:
    """Return the machine of a program under sequential consistency."""
    if messages_wait(program) and uses_deployed(program):
        from rdma_robust.semantics.machines.waiting_sc import WaitingScMachine  # noqa: PLC0415

        return WaitingScMachine(program, watched, recv_depth, model)
    return ScMachine(program, watched, recv_depth, model)
