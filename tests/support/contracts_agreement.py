"""Both engines for contracts on one function: what they must agree on, and counterexamples that must run again."""

from __future__ import annotations

from collections import Counter

from rdma_robust.contracts.language.contract_program import ContractProgram
from rdma_robust.contracts.rerun.confirming import confirmed
from rdma_robust.contracts.runs.runs_engine import RunsCheck
from rdma_robust.limits import Limits
from tests.support.contracts_oracle.interleavings import nothing_in, searched

ENDS = frozenset({"RTE", "SRV", "CCM", "DL"})
"""Classes at which a run ends: where both engines show one of them, it need not be the same."""


def compared(
    program: ContractProgram, function: str, procs: int, states: int = 2_000, *, use_z3: bool = True
) -> Counter[str]:
    """Compare the classes that both engines show of a function; return what they are, or why they were not compared.

    Raises AssertionError if the engines differ, and InternalError for a counterexample that does not run again.
    """
    plain = searched(program, function, procs, Limits(states=states))
    if any(word in each for each in plain.reasons for word in ("limit", "more than", "needs bounds")):
        return Counter(("too large",))
    check = RunsCheck(program, function, procs, use_z3=use_z3, all_classes=True)
    answer = check.answer()
    for example in check.examples.values():
        confirmed(program, function, example)
    found, shown = set(plain.counterexamples), set(check.examples)
    if found != shown and not (found & ENDS and shown & ENDS):
        assert plain.reasons and answer.reason, (function, procs, found, shown, plain.reasons, answer.reason)
        return Counter(("unknown",))
    if not found:
        assert bool(plain.reasons) == (answer.verdict == "UNKNOWN"), (function, procs, plain.reasons, answer.reason)
        assert plain.reasons or bool(answer.reason) == bool(nothing_in(program, function, plain)), (answer.reason, plain)
        return Counter((answer.verdict,))
    return Counter(shown)
