"""The engine that looks at all interleavings, on functions whose contracts are written out here."""

from __future__ import annotations

import pytest

from rdma_robust.contracts.contract_answers import ProcsAnswer
from rdma_robust.contracts.explicit import local_steps
from rdma_robust.contracts.explicit.interleavings import by_interleavings
from rdma_robust.contracts.language.contract_program import (
    Bounds,
    Contract,
    ContractProgram,
    Frame,
    PathClause,
    ProcessSet,
    StateClause,
)
from rdma_robust.contracts.language.spec_terms import (
    Agree,
    Apply,
    Bound,
    Item,
    LengthOf,
    On,
    Parameter,
    Quantified,
    Result,
    Spec,
    SpecCount,
    SpecNumber,
    SpecPid,
)
from rdma_robust.diagnose import Reporter
from rdma_robust.language.syntax.parse import parse
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.messages.language.message_words import message_grammar

TEXT = """
fun gather_w(val, root) {
  reg v, s, all = new(NPROCS)
  if PID == root {
    all[root] = val
    for i in 1..NPROCS - 1 { recv v from any s; all[s] = v }
  } else { send val to root }
  return all
}
"""
ZERO, COUNT, ROOT = SpecNumber(0), SpecCount(), Parameter("root")
LAST = Apply("-", (COUNT, SpecNumber(1)))
AT_ROOT = Apply("==", (SpecPid(), ROOT))
IN_PLACE = Apply("==", (Item(Result(), Bound("t")), On(Bound("t"), Parameter("val"))))
CLAUSES = (
    StateClause("requires", Apply("&&", (Apply("&&", (Apply("<=", (ZERO, ROOT)), Apply("<", (ROOT, COUNT)))), Agree(ROOT)))),
    StateClause("ensures", Apply("==", (LengthOf(Result()), COUNT)), AT_ROOT),
    StateClause("ensures", Quantified("forall", "t", ZERO, LAST, IN_PLACE), AT_ROOT),
)
OWN = Apply("+", (SpecNumber(10), SpecPid()))
BOUNDS = (Bounds("val", (), OWN, OWN), Bounds("root", (), ZERO, LAST))
WAITS = PathClause("waitsfor", ProcessSet(ZERO, LAST), condition=AT_ROOT)
QUIET = PathClause("quiet from", ProcessSet(ZERO, LAST, others=True), condition=AT_ROOT)


def answer(
    procs: int,
    *paths: PathClause,
    text: str = TEXT,
    clauses: tuple[StateClause, ...] = CLAUSES,
    bounds: tuple[Bounds, ...] = BOUNDS,
    limits: Limits = NO_LIMITS,
) -> ProcsAnswer:
    """Return the answer for the function of a text."""
    report = Reporter("a.mp", text)
    tree, _, _ = parse(text, report, message_grammar())
    report.raise_errors()
    contract = Contract("gather_w", "collective", ("val", "root"), True, clauses, (Frame(()),), paths, bounds)
    return by_interleavings(ContractProgram("a", "a.mp", text, (contract,), tree=tree), "gather_w", procs, limits)


@pytest.mark.parametrize(("procs", "states"), [(1, 3), (2, 24), (3, 180)])
def test_a_right_function(procs: int, states: int) -> None:
    found = answer(procs, WAITS, QUIET)
    assert (found.verdict, found.runs, found.states) == ("VERIFIED", procs, states)


def violated(
    procs: int, *paths: PathClause, text: str = TEXT, clauses: tuple[StateClause, ...] = CLAUSES
) -> tuple[str, int, int | None]:
    found = answer(procs, *paths, text=text, clauses=clauses)
    if found.counterexample is None:
        return found.verdict, 0, None
    return found.counterexample.error, found.counterexample.process, found.counterexample.other


def test_each_class_is_noticed() -> None:
    def with_(before: str, after: str) -> str:
        assert before in TEXT
        return TEXT.replace(before, after)

    assert violated(2, WAITS) == ("VERIFIED", 0, None)
    assert violated(3, WAITS)[0] == "ITF"
    assert violated(2, QUIET, text=with_("all[s]", "all[i]"))[0] == "SGV"
    assert violated(2, QUIET, text=with_("send val to root", "send val to root; send val to root"))[0] == "SGV"
    assert violated(2, QUIET, text=with_("1..NPROCS - 1", "1..NPROCS"))[0] == "DL"
    assert violated(2, QUIET, text=with_("all[s] = v", "all[s] = v / 0")) == ("RTE", 0, None)
    assert violated(2, QUIET, PathClause("waitsfor", ProcessSet(ZERO, LAST)))[0] == "PGV"
    promise = PathClause("quiet to", ProcessSet(ZERO, LAST), until=ProcessSet(ROOT, ROOT))
    assert violated(2, QUIET, promise) == ("PGV", 1, 0)


def test_what_is_cut_short_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_steps, "MOST_STEPS", 1_000)
    assert answer(2, QUIET, bounds=BOUNDS[:1]).reason == "needs bounds: root may be anything"
    assert answer(2, QUIET, limits=Limits(states=5)).reason == "reached the limit of 5 states"
    forever = TEXT.replace("return all", "while 1 { skip }\n return all")
    assert answer(1, text=forever).reason == "process 0 does not end: it computes for ever"
    longer = TEXT.replace("return all", "while 1 { v = v + 1 }\n return all")
    assert answer(1, text=longer).reason == "process 0 computes longer than is followed"


def test_nothing_to_look_at() -> None:
    never: Spec = Apply("<", (ROOT, ZERO))
    found = answer(2, clauses=(StateClause("requires", never),))
    assert (found.verdict, found.reason) == ("VERIFIED", "no input within the bounds meets `requires`")
