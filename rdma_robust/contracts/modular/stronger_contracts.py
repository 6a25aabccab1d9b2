"""Clauses that a callee's contract could say besides. Each is tried: the callee meets it, and the caller is proved by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rdma_robust.contracts.language.contract_program import AssignsClause, Contract, ContractProgram, PathClause, ProcessSet
from rdma_robust.contracts.language.spec_terms import Apply, Parameter, Spec, SpecCount, SpecNumber, SpecPid
from rdma_robust.contracts.modular.barrier_check import BarrierCheck
from rdma_robust.contracts.modular.widened_checks import WidenedChecks
from rdma_robust.limits import Limits

_ALL = ProcessSet(SpecNumber(0), Apply("-", (SpecCount(), SpecNumber(1))))


def proposal(program: ContractProgram, function: str, procs: int, limits: Limits, first: str = "") -> tuple[str, str] | None:
    """Return a callee of `function` and a clause that is enough to prove it, None if none of those tried is.

    `first` is the callee to begin with.
    """
    own = program.contract(function)
    callees = [] if own is None else sorted(own.calls, key=lambda name: name != first)
    for name in callees:
        contract = next((each for each in program.contracts if each.name == name), None)
        if contract is None or contract.loop is not None:
            continue
        for text, stronger in _stronger(contract):
            changed = replace(
                program, contracts=tuple(stronger if each.name == name else each for each in program.contracts)
            )
            widened = WidenedChecks(changed, limits)
            if widened.trust(name, procs) is None:
                continue
            if BarrierCheck(changed, function, procs, limits, widened=widened).proved():
                return name, text
    return None


def _stronger(contract: Contract) -> Iterator[tuple[str, Contract]]:
    if contract.frames is None:
        yield "assigns \\nothing", replace(contract, frames=(AssignsClause(()),))
    if contract.kind == "local":
        return
    for text, path in _paths(contract):
        yield text, replace(contract, paths=(*contract.paths, path))


def _paths(contract: Contract) -> Iterator[tuple[str, PathClause]]:
    ranks: list[tuple[str, Spec]] = [(name, Parameter(name)) for name in contract.parameters]
    ranks.append(("0", SpecNumber(0)))
    for name, rank in ranks:
        other = Apply("!=", (SpecPid(), rank))
        until = ProcessSet(rank, rank)
        text = f"quiet to \\all until {name} if PID != {name}"
        yield text, PathClause("quiet to", _ALL, until=until, condition=other)
    yield "quiet to \\all until \\all", PathClause("quiet to", _ALL, until=_ALL)
    yield "waitsfor \\all", PathClause("waitsfor", _ALL)
    for name, rank in ranks:
        yield f"waitsfor {name}", PathClause("waitsfor", ProcessSet(rank, rank))
        own = Apply("==", (SpecPid(), rank))
        yield f"waitsfor \\all if PID == {name}", PathClause("waitsfor", _ALL, condition=own)
