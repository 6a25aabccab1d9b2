"""Whether a process changed nothing but what `assigns` names."""

from __future__ import annotations

from collections.abc import Sequence

from rdma_robust.contracts.language.contract_program import AssignedCells, AssignsClause
from rdma_robust.contracts.runs.run_terms import Condition, Number
from rdma_robust.contracts.runs.spec_reading import Snapshot, SpecEvaluator
from rdma_robust.contracts.runs.symbolic_data import ArrayInput, Data, Decisions

Allowed = list[tuple[Condition, AssignedCells, Number, Number]]
"""What a frame lets change of one global, where its condition is true: from which element to which."""


def unchanged(
    on: Decisions, frames: tuple[AssignsClause, ...], process: int, entries: Sequence[Snapshot], after: Snapshot
) -> Condition:
    """Return whether a process changed nothing but what its frames name; a fault in a frame makes it false."""
    terms, entry = on.terms, SpecEvaluator(on, entries)
    conditions: list[Condition] = []
    allowed: dict[str, Allowed] = {}
    for frame in frames:
        holds: Condition = True
        if frame.assumes is not None:
            number, fine = entry.number(frame.assumes, process)
            holds = terms.truth(number)
            conditions.append(fine)
        for cells in frame.cells:
            low, first = (0, True) if cells.low is None else entry.number(cells.low, process)
            high, last = (low, True) if cells.high is None else entry.number(cells.high, process)
            conditions.append(terms.disjunction((terms.negation(holds), terms.conjunction((first, last)))))
            allowed.setdefault(cells.name, []).append((holds, cells, low, high))
    before = entries[process].globals
    for name, now in after.globals.items():
        conditions.append(_same_but(on, entry, before[name], now, allowed.get(name, [])))
    return terms.conjunction(conditions)


def _same_but(on: Decisions, reader: SpecEvaluator, old: Data, new: Data, allowed: Allowed) -> Condition:
    terms = on.terms
    whole = [holds for holds, cells, _, _ in allowed if cells.low is None]
    if old is new or True in whole:
        return True
    parts = [each for each in allowed if each[1].low is not None]
    if not parts or not isinstance(old, tuple | ArrayInput) or not isinstance(new, tuple | ArrayInput):
        return terms.disjunction((*whole, reader.same(old, new)))
    before, after = on.array(old), on.array(new)
    if len(before) != len(after):
        return terms.disjunction(whole)
    cells = []
    for at, (one, other) in enumerate(zip(before, after, strict=True)):
        may = [
            terms.conjunction((holds, terms.compare("<=", low, at), terms.compare("<=", at, high)))
            for holds, _, low, high in parts
        ]
        cells.append(terms.disjunction((*may, reader.same(one, other))))
    return terms.disjunction((*whole, terms.conjunction(cells)))
