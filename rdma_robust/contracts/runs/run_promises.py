"""Path clauses and `assigns` as one process evaluates them: of whom they speak, and what must not have changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdma_robust.contracts.language.contract_program import AssignedCells, AssignsClause, PathClause, ProcessSet
from rdma_robust.contracts.language.spec_terms import Spec
from rdma_robust.contracts.runs.run_state import Promise
from rdma_robust.contracts.runs.run_terms import Condition, Number
from rdma_robust.contracts.runs.spec_reading import Snapshot, SpecEvaluator
from rdma_robust.contracts.runs.symbolic_data import ArrayInput, Data, Decisions


@dataclass(frozen=True, slots=True)
class Promises:
    """Evaluates path clauses for `procs` processes."""

    on: Decisions
    procs: int

    def evaluated(self, clauses: Sequence[PathClause], process: int, snapshot: Snapshot) -> tuple[Promise, ...]:
        """Return path clauses of a function as they are as a process enters it."""
        states = [snapshot if each == process else Snapshot() for each in range(self.procs)]
        reader = SpecEvaluator(self.on, states)
        return tuple(self._promise(clause, process, reader) for clause in clauses)

    def _promise(self, clause: PathClause, process: int, reader: SpecEvaluator) -> Promise:
        terms = self.on.terms
        active = True if clause.condition is None else reader.holds(clause.condition, process)
        sound = True if clause.condition is None else reader.number(clause.condition, process)[1]
        fine: list[Condition] = []

        def number(spec: Spec) -> Number:
            value, good = reader.number(spec, process)
            fine.append(good)
            return value

        def ends(of: ProcessSet) -> tuple[Number, Number, bool]:
            return number(of.low), number(of.high), of.others

        who = ends(clause.who)
        tag = None if clause.tag is None else number(clause.tag)
        until = None if clause.until is None else ends(clause.until)
        good = terms.conjunction(fine)
        faulty = terms.disjunction((terms.negation(sound), terms.conjunction((active, terms.negation(good)))))
        return Promise(clause, process, terms.conjunction((active, good)), *who, tag, until, faulty)

    def member(self, low: Number, high: Number, others: bool, process: int, own: int) -> Condition:
        if others and process == own:
            return False
        terms = self.on.terms
        return terms.conjunction((terms.compare("<=", low, process), terms.compare("<=", process, high)))

    def covers_tag(self, promise: Promise, tag: Number | None) -> Condition:
        """Return whether a promise speaks of this tag (None: of all tags)."""
        if promise.tag is None:
            return True
        return False if tag is None else self.on.terms.compare("==", promise.tag, tag)

    def speaks(self, promise: Promise, other: int, port: int, tag: int | None) -> Condition:
        """Return whether a promise speaks of messages of this tag (None: of any) on this port, to or from another."""
        clause = promise.clause
        if clause.port not in (None, port) or (promise.tag is not None and tag is None):
            return False
        same = True if promise.tag is None or tag is None else self.on.terms.compare("==", promise.tag, tag)
        member = self.member(promise.low, promise.high, promise.others, other, promise.process)
        return self.on.terms.conjunction((promise.active, same, member))


# Whether a process changed nothing but what `assigns` names.

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
