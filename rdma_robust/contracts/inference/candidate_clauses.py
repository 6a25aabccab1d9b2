"""Path clauses that a function could have: sets of processes that people write, and the conditions under which they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rdma_robust.contracts.language.contract_program import Contract, PathClause, PathKind, ProcessSet
from rdma_robust.contracts.language.spec_terms import Apply, Global, Parameter, Spec, SpecCount, SpecNumber, SpecPid

ZERO: Final = SpecNumber(0)
ONE: Final = SpecNumber(1)
LAST: Final = Apply("-", (SpecCount(), ONE))
MOST_NAMES: Final = 6
"""Parameters and globals of which the number of a process could be the value, at most."""


@dataclass(frozen=True, slots=True)
class CandidateClause:
    """A path clause and its text."""

    clause: PathClause
    text: str

    @property
    def wideness(self) -> int:
        """Whether it is about any tag, any port, or both."""
        return (self.clause.tag is None) + (self.clause.port is None)


@dataclass(frozen=True, slots=True)
class Filter:
    """A tag and a port of receives from any, as their number and their name; None is any."""

    tag: int | None = None
    port: int | None = None
    port_name: str = ""

    @property
    def text(self) -> str:
        port = "" if self.port is None else f" on {self.port_name}"
        return port + ("" if self.tag is None else f" tag {self.tag}")


def clauses_to_try(
    kind: PathKind, contract: Contract, names: Sequence[str], filters: Sequence[Filter]
) -> list[CandidateClause]:
    """Return the clauses of a kind that are looked at; those of `quiet` have the `filters`.

    `names` are parameters and globals whose values are numbers of processes.
    """
    who = list(_sets(contract, names))
    if kind == "quiet from":
        who = [each for each in who if each[1] != "\\all"]
    elif kind == "quiet to":
        who = [each for each in who if each[1] in ("\\all", *names)]
    found = []
    for condition, when in _conditions(contract, names):
        for group, text in who:
            if kind == "waitsfor":
                found.append(CandidateClause(PathClause(kind, group, condition=condition), f"waitsfor {text}{when}"))
                continue
            word = kind
            for only in filters:
                tag = None if only.tag is None else SpecNumber(only.tag)
                said = f"{word} {text}{only.text}"
                if kind == "quiet from":
                    clause = PathClause(kind, group, tag, only.port, None, condition)
                    found.append(CandidateClause(clause, f"{said}{when}"))
                    continue
                for until, last in _sets(contract, names):
                    clause = PathClause(kind, group, tag, only.port, until, condition)
                    found.append(CandidateClause(clause, f"{said} until {last}{when}"))
    return found


def _names(contract: Contract, names: Sequence[str]) -> list[tuple[Spec, str]]:
    """Return the parameters and globals that are looked at."""
    return [(Parameter(each) if each in contract.parameters else Global(each), each) for each in names[:MOST_NAMES]]


def _processes(contract: Contract, names: Sequence[str]) -> Iterator[tuple[Spec, str]]:
    """Yield what could be the number of a process."""
    yield from _names(contract, names)
    yield ZERO, "0"
    yield LAST, "NPROCS-1"
    yield Apply("-", (SpecPid(), ONE)), "PID-1"
    yield Apply("+", (SpecPid(), ONE)), "PID+1"
    yield Apply("%", (Apply("+", (SpecPid(), ONE)), SpecCount())), "(PID+1) % NPROCS"
    yield Apply("%", (Apply("-", (Apply("+", (SpecPid(), SpecCount())), ONE)), SpecCount())), "(PID+NPROCS-1) % NPROCS"


def _sets(contract: Contract, names: Sequence[str]) -> Iterator[tuple[ProcessSet, str]]:
    yield ProcessSet(ZERO, LAST), "\\all"
    yield ProcessSet(ZERO, LAST, others=True), "\\others"
    for spec, text in _processes(contract, names):
        yield ProcessSet(spec, spec), text


def _conditions(contract: Contract, names: Sequence[str]) -> Iterator[tuple[Spec | None, str]]:
    """Yield conditions with the text behind the clause: none, that the own number is or is not something, even or odd."""
    yield None, ""
    for spec, text in (*_names(contract, names), (ZERO, "0"), (LAST, "NPROCS-1")):
        for op in ("==", "!="):
            yield Apply(op, (SpecPid(), spec)), f" if PID {op} {text}"
    for spec, text in _names(contract, contract.parameters):
        parity = Apply("%", (Apply("+", (SpecPid(), spec)), SpecNumber(2)))
        for value in (0, 1):
            yield Apply("==", (parity, SpecNumber(value))), f" if (PID+{text}) % 2 == {value}"
