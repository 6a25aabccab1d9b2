"""What path clauses of a contract say in one process: their sets as numbers, from the state in which the process enters."""

from __future__ import annotations

from dataclasses import dataclass, field

from rdma_robust.contracts.language.contract_program import Contract, PathClause, PathKind, ProcessSet
from rdma_robust.contracts.language.spec_worth import CollectiveState, is_true, spec_value
from rdma_robust.messages.language.message_terms import FaultError, require_number


@dataclass(frozen=True, slots=True)
class LocalPathClause:
    """A path clause of one process; `tag` and `port` are None for any.

    Where a fault occurs in the clause it does not hold: of a guarantee that is a violation (PGV) as the process enters, of a
    callee's requirement one (PRV) as the process enters, and the own requirement keeps nobody quiet. Sets are empty then.
    """

    clause: PathClause = field(compare=False)
    kind: PathKind
    who: frozenset[int] = frozenset()
    tag: int | None = None
    port: int | None = None
    until: frozenset[int] = frozenset()
    faulty: bool = False

    def speaks_of(self, other: int, port: int, tag: int) -> bool:
        """Whether a message with this tag, to or from `other` on `port`, is one of which the clause speaks."""
        return other in self.who and self.port in (None, port) and self.tag in (None, tag)

    def covers(self, sender: int, port: int, tag: int | None) -> bool:
        """Whether no message for a receive of this tag (None: any) comes from `sender` while this `quiet from` is obeyed."""
        return sender in self.who and self.port in (None, port) and (self.tag is None or self.tag == tag)


def paths_of(contract: Contract, state: CollectiveState, process: int) -> tuple[LocalPathClause, ...]:
    """Return the path clauses of `contract` in a process that enters; those whose `if` is false are left out.

    Of `state` only what the process itself has is looked at.
    """
    found = []
    for clause in contract.paths:
        try:
            if clause.condition is None or is_true(clause.condition, state, process):
                found.append(_path(clause, state, process))
        except FaultError:
            found.append(LocalPathClause(clause, clause.kind, faulty=True))
    return tuple(found)


def _path(clause: PathClause, state: CollectiveState, process: int) -> LocalPathClause:
    who = _members(clause.who, state, process)
    tag = None if clause.tag is None else require_number(spec_value(clause.tag, state, process))
    until = frozenset[int]() if clause.until is None else _members(clause.until, state, process)
    return LocalPathClause(clause, clause.kind, who, tag, clause.port, until)


def _members(processes: ProcessSet, state: CollectiveState, process: int) -> frozenset[int]:
    """Return the numbers of a set; those that are no process contribute nothing."""
    low, high = (require_number(spec_value(each, state, process)) for each in (processes.low, processes.high))
    found = frozenset(range(max(low, 0), min(high, state.procs - 1) + 1))
    return found - {process} if processes.others else found
