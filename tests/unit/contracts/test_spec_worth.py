"""What expressions and clauses of contracts are worth in a collective state."""

from __future__ import annotations

import pytest

from rdma_robust.contracts.language.contract_program import (
    AssignedCells,
    AssignsClause,
    Contract,
    PathClause,
    ProcessSet,
    StateClause,
)
from rdma_robust.contracts.language.path_worth import paths_of
from rdma_robust.contracts.language.spec_terms import (
    Agree,
    Apply,
    BoundVariable,
    FunctionResult,
    Global,
    Item,
    LengthOf,
    LetBinding,
    NewArray,
    OldValue,
    On,
    Parameter,
    Quantification,
    QuantifierKind,
    Spec,
    SpecCount,
    SpecNumber,
    SpecPid,
)
from rdma_robust.contracts.language.spec_worth import CollectiveState, clause_holds, spec_value
from rdma_robust.messages.language.message_terms import FaultError, Value
from tests.support.contracts_oracle.allowed_changes import changed_outside

PID, COUNT, X, U = SpecPid(), SpecCount(), Parameter("x"), Global("u")
STATE = CollectiveState(
    ({"x": 10}, {"x": 11}, {"x": 10}),
    ({"u": (1, 2)}, {"u": (3, 4)}, {"u": 5}),
    ({"u": (1, 7)}, {"u": (3, 4)}, {"u": (5,)}),
    ((10, 11, 10), None, 4),
)


def n(value: int) -> Spec:
    return SpecNumber(value)


def over(kind: QuantifierKind, low: int, high: int, inner: Spec) -> Spec:
    return Quantification(kind, "t", n(low), n(high), inner)


T = BoundVariable("t")
VALUES: list[tuple[Spec, int, Value]] = [
    (Apply("+", (PID, Apply("*", (COUNT, n(10))))), 2, 32),
    (Apply("/", (n(-7), n(2))), 0, -3),
    (Apply("%", (n(-7), n(2))), 0, -1),
    (On(n(1), X), 0, 11),
    (On(n(1), PID), 0, 1),
    (LetBinding("me", PID, On(n(1), BoundVariable("me"))), 2, 2),
    (Item(U, n(1)), 0, 7),
    (OldValue(Item(U, n(1))), 0, 2),
    (OldValue(X), 1, 11),
    (On(n(0), OldValue(Item(U, n(1)))), 1, 2),
    (OldValue(On(n(0), Item(U, n(1)))), 1, 2),
    (FunctionResult(), 0, (10, 11, 10)),
    (Agree(X), 0, 0),
    (Agree(Apply("/", (X, n(10)))), 0, 1),
    (LengthOf(FunctionResult()), 0, 3),
    (NewArray(n(2)), 0, (0, 0)),
    (Apply("==", (U, U)), 0, 1),
    (Apply("!=", (U, On(n(1), U))), 0, 1),
    (over("sum", 0, 2, On(T, X)), 0, 31),
    (over("count", 0, 2, Apply("==", (On(T, X), n(10)))), 0, 2),
    (over("max", 0, 2, On(T, X)), 0, 11),
    (over("min", 0, 2, On(T, X)), 0, 10),
    (over("sum", 1, 0, n(1)), 0, 0),
    (over("forall", 1, 0, n(0)), 0, 1),
    (over("exists", 0, 5, Apply("==", (On(T, X), n(11)))), 0, 1),
    (over("forall", 0, 5, Apply("<", (T, n(0)))), 0, 0),
    (Apply("==>", (n(0), Apply("/", (n(1), n(0))))), 0, 1),
    (Apply("&&", (n(0), Apply("/", (n(1), n(0))))), 0, 0),
    (Apply("||", (n(5), Apply("/", (n(1), n(0))))), 0, 1),
    (Apply("?", (PID, n(1), Apply("/", (n(1), n(0))))), 1, 1),
]


@pytest.mark.parametrize(("spec", "process", "value"), VALUES)
def test_worth(spec: Spec, process: int, value: Value) -> None:
    assert spec_value(spec, STATE, process) == value


FAULTS: list[tuple[Spec, int, str]] = [
    (On(n(3), n(1)), 0, "index"),
    (On(n(-1), n(1)), 0, "index"),
    (Item(U, n(2)), 0, "index"),
    (Item(X, n(0)), 0, "kind"),
    (Apply("==", (U, n(1))), 0, "kind"),
    (Apply("<", (U, U)), 0, "kind"),
    (Apply("/", (n(1), n(0))), 0, "division"),
    (over("max", 1, 0, n(1)), 0, "index"),
    (FunctionResult(), 1, "kind"),
    (Agree(OldValue(Item(U, n(0)))), 0, "kind"),
    (over("exists", 0, 5, Apply("==", (On(T, X), n(12)))), 0, "index"),
    (NewArray(n(-1)), 0, "length"),
]


@pytest.mark.parametrize(("spec", "process", "kind"), FAULTS)
def test_a_clause_in_which_a_fault_occurs_does_not_hold(spec: Spec, process: int, kind: str) -> None:
    with pytest.raises(FaultError, match=kind):
        spec_value(spec, STATE, process)
    assert not clause_holds(StateClause("ensures", spec), STATE, process)
    assert not clause_holds(StateClause("ensures", n(1), assumes=spec), STATE, process)
    assert changed_outside((AssignsClause((AssignedCells("u"),), assumes=spec),), STATE, process) == ""


def test_a_clause_of_a_behavior_is_about_where_it_was_assumed_at_entry() -> None:
    was_two = Apply("==", (Item(U, n(1)), n(2)))
    assert not clause_holds(StateClause("ensures", n(0), assumes=was_two), STATE, 0)
    assert clause_holds(StateClause("ensures", n(0), assumes=was_two), STATE, 1)


@pytest.mark.parametrize(
    ("cells", "process", "changed"),
    [
        ((), 0, "u"),
        ((), 1, None),
        ((AssignedCells("u"),), 0, None),
        ((AssignedCells("u", n(1)),), 0, None),
        ((AssignedCells("u", n(0)),), 0, "u"),
        ((AssignedCells("u", n(0)), AssignedCells("u", n(1), n(9))), 0, None),
        ((AssignedCells("u", n(0), n(9)),), 2, "u"),
    ],
)
def test_what_changes_outside_of_assigns(cells: tuple[AssignedCells, ...], process: int, changed: str | None) -> None:
    assert changed_outside((AssignsClause(cells),), STATE, process) == changed
    assert changed_outside(None, STATE, process) is None
    assert (
        changed_outside((AssignsClause((AssignedCells("u"),), assumes=n(0)), AssignsClause(cells)), STATE, process)
        == changed
    )


def test_sets_of_path_clauses() -> None:
    every = ProcessSet(n(-1), n(9))
    left = ProcessSet(Apply("-", (PID, n(1))), Apply("-", (PID, n(1))))
    clauses = (
        PathClause("waitsfor", every),
        PathClause("quiet to", ProcessSet(n(0), n(9), others=True), n(3), 1, left),
        PathClause("quiet from", left, condition=PID),
        PathClause("quiet from", ProcessSet(n(0), Item(X, n(0)))),
    )
    contract = Contract("f", "collective", ("x",), False, paths=clauses)
    waits, quiet, faulty = paths_of(contract, STATE.entry(), 0)
    assert (waits.who, quiet.who, quiet.until, faulty.faulty) == ({0, 1, 2}, {1, 2}, set(), True)
    assert [quiet.speaks_of(*each) for each in ((1, 1, 3), (0, 1, 3), (1, 0, 3), (1, 1, 2))] == [True, False, False, False]
    of_two = paths_of(contract, STATE.entry(), 2)
    assert [each.who for each in of_two[2:3]] == [{1}]
    assert of_two[2].covers(1, 5, None)
    assert not of_two[1].covers(0, 1, None)
    assert of_two[1].covers(0, 1, 3)
