"""A function that gathers, with its clauses written out as records: what no reader of contracts has made."""

from __future__ import annotations

from dataclasses import dataclass

from rdma_robust.contracts.contract_answers import ContractEngine, ProcsAnswer
from rdma_robust.contracts.language.contract_program import (
    AssignsClause,
    Contract,
    ContractProgram,
    InputBounds,
    PathClause,
    ProcessSet,
    StateClause,
)
from rdma_robust.contracts.language.spec_terms import (
    Agree,
    Apply,
    BoundVariable,
    FunctionResult,
    Item,
    LengthOf,
    On,
    Parameter,
    Quantification,
    SpecCount,
    SpecNumber,
    SpecPid,
)
from rdma_robust.diagnose import Reporter
from rdma_robust.language.syntax.parse import parse_tree
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
IN_PLACE = Apply("==", (Item(FunctionResult(), BoundVariable("t")), On(BoundVariable("t"), Parameter("val"))))
CLAUSES = (
    StateClause("requires", Apply("&&", (Apply("&&", (Apply("<=", (ZERO, ROOT)), Apply("<", (ROOT, COUNT)))), Agree(ROOT)))),
    StateClause("ensures", Apply("==", (LengthOf(FunctionResult()), COUNT)), AT_ROOT),
    StateClause("ensures", Quantification("forall", "t", ZERO, LAST, IN_PLACE), AT_ROOT),
)
OWN = Apply("+", (SpecNumber(10), SpecPid()))
BOUNDS = (InputBounds("val", (), OWN, OWN), InputBounds("root", (), ZERO, LAST))
WAITS = PathClause("waitsfor", ProcessSet(ZERO, LAST), condition=AT_ROOT)
QUIET = PathClause("quiet from", ProcessSet(ZERO, LAST, others=True), condition=AT_ROOT)


@dataclass(frozen=True, slots=True)
class Gathering:
    """Asks an engine about the function."""

    engine: ContractEngine

    def answer(
        self,
        procs: int,
        *paths: PathClause,
        text: str = TEXT,
        clauses: tuple[StateClause, ...] = CLAUSES,
        bounds: tuple[InputBounds, ...] = BOUNDS,
        limits: Limits = NO_LIMITS,
    ) -> ProcsAnswer:
        """Return the answer for the function of a text, with these clauses."""
        report = Reporter("a.mp", text)
        tree, _, _ = parse_tree(text, report, message_grammar())
        report.raise_errors()
        contract = Contract("gather_w", "collective", ("val", "root"), True, clauses, (AssignsClause(()),), paths, bounds)
        return self.engine(ContractProgram("a", "a.mp", text, (contract,), tree=tree), "gather_w", procs, limits)

    def violated(self, procs: int, *paths: PathClause, text: str = TEXT) -> tuple[str, int, int | None]:
        """Return the class of the violation, its process and the other one; the verdict if there is none."""
        found = self.answer(procs, *paths, text=text)
        if found.counterexample is None:
            return found.verdict, 0, None
        return found.counterexample.error, found.counterexample.process, found.counterexample.other

    def notices_each_class(self) -> None:
        """Assert which class each of several mistakes has."""

        def with_(before: str, after: str) -> str:
            assert before in TEXT
            return TEXT.replace(before, after)

        assert self.violated(2, WAITS) == ("VERIFIED", 0, None)
        assert self.violated(3, WAITS)[0] == "ITF"
        assert self.violated(2, QUIET, text=with_("all[s]", "all[i]"))[0] == "SGV"
        assert self.violated(2, QUIET, text=with_("send val to root", "send val to root; send val to root"))[0] == "SGV"
        assert self.violated(2, QUIET, text=with_("1..NPROCS - 1", "1..NPROCS"))[0] == "DL"
        assert self.violated(2, QUIET, text=with_("all[s] = v", "all[s] = v / 0")) == ("RTE", 0, None)
        assert self.violated(2, QUIET, PathClause("waitsfor", ProcessSet(ZERO, LAST)))[0] == "PGV"
        promise = PathClause("quiet to", ProcessSet(ZERO, LAST), until=ProcessSet(ROOT, ROOT))
        assert self.violated(2, QUIET, promise) == ("PGV", 1, 0)

    def has_nothing_to_look_at(self) -> None:
        """Assert what is said where no input meets `requires`."""
        found = self.answer(2, clauses=(StateClause("requires", Apply("<", (ROOT, ZERO))),))
        assert (found.verdict, found.reason) == ("VERIFIED", "no input within the bounds meets `requires`")
