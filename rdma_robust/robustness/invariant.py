"""The proof behind ROBUST: an inductive invariant of the pivot instrumentation, with every reduction off."""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.counters.inductive import Limit, inductive_set
from rdma_robust.counters.lower import lower
from rdma_robust.counters.vass import Control
from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import RECV_DEPTH
from rdma_robust.robustness.pivot import PivotInstrumentation, plain_instrumentation


@dataclass(frozen=True, slots=True)
class InductiveInvariant:
    """A set of states of the instrumented program, which was made by `instrumentation`.

    `fields` names the entries of a control state (locations `pc0`..., then the variables), `counters` those of an
    omega-marking, in which None is omega. Each pair stands for its control state with all markings up to the
    omega-marking.
    """

    instrumentation: PivotInstrumentation
    fields: tuple[str, ...]
    counters: tuple[str, ...]
    states: tuple[tuple[Control, Limit], ...]


def inductive_invariant(program: Program, model: Model, limits: Limits, recv_depth: int = RECV_DEPTH) -> InductiveInvariant:
    """Return an inductive invariant without a target of the instrumented `program`, which proves it robust.

    The program is instrumented plainly and every counter is a counter: no bound is used, nothing is pruned or merged.
    Raises SizeLimitError if one of `limits` is reached, and InternalError if a target is reached, so that the program
    is not robust.
    """
    instrumentation = plain_instrumentation(program, model, recv_depth)
    lowered = lower(instrumentation.build(), bounded=False)
    found = inductive_set(lowered, limits)
    if found.cut:
        raise SizeLimitError(f"the search for the invariant reached the limit of {found.cut} after {found.stored} states")
    if found.target >= 0:
        raise InternalError(f"{program.file}: decided robust, but the search for its invariant reached a target")
    return InductiveInvariant(instrumentation, lowered.fields, lowered.unbounded, found.states)
