"""Path clauses as a process evaluates them when it enters, in its own state, and of whom they speak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rdma_robust.contracts.language.contract_program import PathClause, ProcessSet
from rdma_robust.contracts.language.spec_terms import Spec
from rdma_robust.contracts.runs.run_state import Promise
from rdma_robust.contracts.runs.run_terms import Condition, Number
from rdma_robust.contracts.runs.spec_reading import Snapshot, SpecEvaluator
from rdma_robust.contracts.runs.symbolic_data import Decisions


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

    def speaks(self, promise: Promise, other: int, port: int, tag: int | None) -> Condition:
        """Return whether a promise speaks of messages of this tag (None: of any) on this port, to or from another."""
        clause = promise.clause
        if clause.port not in (None, port) or (promise.tag is not None and tag is None):
            return False
        same = True if promise.tag is None or tag is None else self.on.terms.compare("==", promise.tag, tag)
        member = self.member(promise.low, promise.high, promise.others, other, promise.process)
        return self.on.terms.conjunction((promise.active, same, member))
