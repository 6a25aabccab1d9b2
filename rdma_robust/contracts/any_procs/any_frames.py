"""That globals do not change where a contract does not allow it."""

from __future__ import annotations

from collections.abc import Iterator

from rdma_robust.contracts.any_procs.any_specs import Moment, MomentReader, ProofGoal
from rdma_robust.contracts.any_procs.any_values import Bool, Int, TermValue, equal, in_range
from rdma_robust.contracts.language.contract_program import AssignsClause
from rdma_robust.guarded_z3 import z3


def unchanged_goals(name: str, frames: tuple[AssignsClause, ...], moment: Moment, process: Int) -> Iterator[ProofGoal]:
    """Yield what has to be proved for a global to be at exit what it was, but for what the frames of its process allow."""
    before, now = moment.before(process)[name], moment.now(process)[name]
    index = z3.FreshInt("k")
    fine, whole, cell = allowed(name, frames, moment, process, index)
    yield ProofGoal((), fine)
    if before is now:
        return
    given = (z3.Not(whole), z3.Not(equal(before, now)))
    yield ProofGoal(given, kept(before, now))
    inside = in_range(index, 0, before.length() - 1)
    yield ProofGoal((*given, inside, z3.Not(cell)), equal(before.cell(index), now.cell(index)))


def kept(before: TermValue, now: TermValue) -> Bool:
    """Return whether both are arrays of the same length."""
    return z3.And(z3.Not(before.is_number()), z3.Not(now.is_number()), before.length() == now.length())


def allowed(
    name: str, frames: tuple[AssignsClause, ...], moment: Moment, process: Int, index: Int
) -> tuple[Bool, Bool, Bool]:
    """Return whether there is no fault in frames, whether a global may change, and whether its cell at an index may."""
    reader = MomentReader(moment.entry())
    fine, whole, cell = [], [z3.BoolVal(False)], [z3.BoolVal(False)]
    for frame in frames:
        active = z3.BoolVal(True)
        if frame.assumes is not None:
            fine_assumes, active = reader.truth(frame.assumes, process)
            fine.append(fine_assumes)
        for cells in frame.cells:
            if cells.name != name:
                continue
            if cells.low is None:
                whole.append(active)
                continue
            fine_low, low = reader.number(cells.low, process)
            fine_high, high = (fine_low, low) if cells.high is None else reader.number(cells.high, process)
            fine.append(z3.Implies(active, z3.And(fine_low, fine_high)))
            cell.append(z3.And(active, in_range(index, low, high)))
    return z3.And(*fine, z3.BoolVal(True)), z3.Or(*whole), z3.Or(*cell)
