"""A program and a model to the transition system that stands for it."""

from __future__ import annotations

from rdma_robust.analyses.prove.lazy_system import LazySystem
from rdma_robust.analyses.prove.reduced_rdma import PipeSystem
from rdma_robust.analyses.prove.reduced_rma import PendingSetSystem
from rdma_robust.analyses.prove.reduced_sc import InOrderSystem
from rdma_robust.analyses.prove.reduced_sets import StatementSetSystem
from rdma_robust.analyses.prove.reduced_system import ReducedSystem
from rdma_robust.analyses.prove.reduced_tso import StoreBufferSystem
from rdma_robust.analyses.prove.safety_outcome import ReductionOptions
from rdma_robust.analyses.prove.transition_system import SafetyClaim, TransitionSystem
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName


def reduce_program(
    program: Program, model: AnyModelName, claims: tuple[SafetyClaim, ...], options: ReductionOptions
) -> TransitionSystem:
    """Return the transition system of a program under a model, for claims that are all about this model.

    Only operations of the model may occur (`refusals` says which do not). Under rdma every move is a transition: it has
    orders of which :class:`LazySystem` knows nothing. Raises UsageError for a program that the `sets` of rma do not have.
    """
    base = _unreduced(program, model, claims, options)
    return LazySystem(base) if options.lazy and model != "rdma" else base


def _unreduced(
    program: Program, model: AnyModelName, claims: tuple[SafetyClaim, ...], options: ReductionOptions
) -> ReducedSystem:
    match model:
        case "sc":
            return InOrderSystem(program, claims, options.narrow)
        case "tso" | "pso":
            return StoreBufferSystem(program, claims, options.narrow, max(1, options.bound), model == "pso")
        case "rma" if options.kind == "sets":
            return StatementSetSystem(program, claims, options.narrow)
        case "rma":
            return PendingSetSystem(program, claims, options.narrow, options.bound, many=options.many)
        case "rdma":
            return PipeSystem(program, claims, options.narrow, max(1, options.bound))
