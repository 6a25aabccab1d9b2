"""The engine with symbolic data and clocks, on functions whose contracts are written out here."""

from __future__ import annotations

import pytest

from rdma_robust.contracts.contract_answers import ProcsAnswer
from rdma_robust.contracts.language.contract_program import (
    Bounds,
    Contract,
    ContractProgram,
    Frame,
    PathClause,
    ProcessSet,
    StateClause,
)
from rdma_robust.contracts.language.load_contracts import load_contracts
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
from rdma_robust.contracts.runs.runs_engine import runs
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
    return runs(ContractProgram("a", "a.mp", text, (contract,), tree=tree), "gather_w", procs, limits)


@pytest.mark.parametrize(("procs", "runs"), [(1, 1), (2, 2), (3, 6), (4, 24)])
def test_a_right_function(procs: int, runs: int) -> None:
    found = answer(procs, WAITS, QUIET)
    assert (found.verdict, found.runs, found.reason) == ("VERIFIED", runs, "")


def test_without_bounds_all_numbers_are_looked_at() -> None:
    found = answer(3, WAITS, QUIET, bounds=())
    assert (found.verdict, found.runs) == ("VERIFIED", 6)
    first = StateClause("ensures", Apply("!=", (Parameter("val"), SpecNumber(4711))))
    found = answer(2, WAITS, QUIET, bounds=(), clauses=(*CLAUSES, first))
    assert found.counterexample is not None
    assert 4711 in [each["val"] for each in found.counterexample.inputs]


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


def test_what_is_cut_short_is_unknown() -> None:
    assert answer(3, QUIET, limits=Limits(states=1)).reason == "the limit of 1 states"
    forever = TEXT.replace("return all", "while 1 { skip }\n return all")
    assert answer(1, text=forever).reason == "a process makes more than 100,000 steps"
    no = TEXT.replace("send val to root", "req h; h = isend val to root; wait h")
    assert answer(2, text=no).reason == "non-blocking: `isend`, `irecv` and `wait` are not checked yet"


def test_nothing_to_look_at() -> None:
    never: Spec = Apply("<", (ROOT, ZERO))
    found = answer(2, clauses=(StateClause("requires", never),))
    assert (found.verdict, found.reason) == ("VERIFIED", "no input within the bounds meets `requires`")


GROWING = """
fun squares(x) contract collective { bounds x in 2..2; } { while 1 { x = x * x } }
fun powers(x) contract collective { assigns \\nothing; } { while 1 { x = x * x } }
fun remainders(x) contract collective { assigns \\nothing; } { while 1 { x = x * x % 7 + 1 } }
"""


def test_what_grows_without_end_is_given_up() -> None:
    program = load_contracts(GROWING, "a.mp")
    reasons = [runs(program, each.name, 1).reason for each in program.contracts]
    nested = "what is computed is nested too deeply to be followed"
    assert reasons == ["a number becomes too large to be followed", nested, nested]
