"""E2 and E3 on small systems written by hand: what zones cannot say, folded variables, overflow, limits, no solver."""

from __future__ import annotations

import sys

import pytest
import z3

from rdma_robust.analyses.prove.predicates.paths import PathFeasibility, can_be_taken
from rdma_robust.analyses.prove.predicates.predicate_engine import predicates_engine
from rdma_robust.analyses.prove.predicates.solving import Formulas
from rdma_robust.analyses.prove.predicates.spacer_engine import invariant_flaw, spacer_engine
from rdma_robust.analyses.prove.transition_system import Draw, Engine, Join, Selection, Suppose
from rdma_robust.errors import UsageError
from rdma_robust.expr import Const, Expr, Name
from rdma_robust.limits import Limits, ignore
from tests.support.hand_systems import HandSystem, all_runs, let, never, op, outside

ENGINES = [predicates_engine, spacer_engine]
both = pytest.mark.parametrize("engine", ENGINES, ids=["predicates", "spacer"])


def ticket(ahead: int = 1) -> HandSystem:
    def thread(own: str) -> tuple:
        return (
            (0, (let(own, "next"), let("next", op("next", "+", 1))), 1),
            (1, (Suppose(op("serving", "==", own) if ahead else op("serving", "<=", own)),), 2),
            (2, (let("serving", op(own, "+", 1)),), 0),
        )

    wide = (("next", 0), ("serving", 0), ("t1", 0), ("t2", 0))
    return HandSystem((thread("t1"), thread("t2")), wide, never(at=(2, 2)))


def bakery() -> HandSystem:
    def thread(i: int, j: int) -> tuple:
        c, n, m, other = f"c{i}", f"n{i}", f"m{i}", f"n{j}"
        before = op(op(n, "==", other), "&&", int(i < j))
        wins = op(op(other, "==", 0), "||", op(op(n, "<", other), "||", before))
        return (
            (0, (let(c, 1),), 1),
            (1, (let(m, op(other, "+", 1)),), 2),
            (2, (let(n, m),), 3),
            (3, (let(c, 0),), 4),
            (4, (Suppose(op(f"c{j}", "==", 0)),), 5),
            (5, (Suppose(wins),), 6),
            (6, (let(n, 0),), 0),
        )

    wide = tuple((f"{kind}{i}", 0) for i in (1, 2) for kind in "cnm")
    return HandSystem((thread(1, 2), thread(2, 1)), wide, never(at=(6, 6)))


def sums(step: int = 1) -> HandSystem:
    """Both count a total beside their own counter."""
    one = ((0, (let("a", op("a", "+", 1)), let("c", op("c", "+", 1))), 0),)
    two = ((0, (let("b", op("b", "+", 1)), let("c", op("c", "+", step))), 0),)
    return HandSystem((one, two), (("a", 0), ("b", 0), ("c", 0)), lambda _: op(op("a", "+", "b"), "!=", "c"))


def doubled(step: int = 2) -> HandSystem:
    edges = ((0, (let("x", op("x", "+", 1)),), 1), (1, (let("y", op("y", "+", step)),), 0))
    return HandSystem((edges,), (("x", 0), ("y", 0)), never(at=(0,), condition=op("y", "!=", op(2, "*", "x"))))


def parity(step: int = 2) -> HandSystem:
    edges = ((0, (let("x", op("x", "-", step)),), 0),)
    return HandSystem((edges,), (("x", 4),), never(at=(0,), condition=op(op("x", "%", 2), "!=", 0)))


def drawn(low: int = 3) -> HandSystem:
    """A drawn value is added twice: the sum is at least twice the least value."""
    edges = (
        (0, (Draw("x", Const(low), None), let("y", op("x", "+", "x"))), 1),
        (1, (Suppose(op("y", ">", 100)), let("y", op("y", "-", 1))), 1),
    )
    return HandSystem((edges,), (("x", 0), ("y", 0)), never(at=(1,), condition=op("y", "<", 6)))


def pending(most: int = 3) -> HandSystem:
    """Values of a counter are gathered, and any of them is taken later."""
    edges = (
        (0, (let("set", "x"),), 1),
        (1, (Suppose(op("x", "<", most)), let("x", op("x", "+", 1)), Join("set", Name("x"))), 1),
        (1, (Selection("y", "set"),), 1),
    )
    return HandSystem((edges,), (("x", 0), ("y", 0), ("set", 0)), lambda _: op("y", ">", 3))


def two_taken(joined: int = 2) -> HandSystem:
    """Of even and odd values, two taken from the set may differ, but are both among them."""
    edges = (
        (0, (let("set", 1),), 1),
        (1, (Join("set", Const(joined)),), 1),
        (1, (Selection("x", "set"), Selection("y", "set")), 2),
        (2, (), 1),
    )
    bad: Expr = op(op("x", "+", "y"), ">", 4)
    return HandSystem((edges,), (("x", 1), ("y", 1), ("set", 0)), lambda _: bad)


GOOD = {
    "ticket": ticket(),
    "bakery": bakery(),
    "sums": sums(),
    "doubled": doubled(),
    "parity": parity(),
    "drawn": drawn(),
    "pending": pending(),
    "two-taken": two_taken(),
}
BROKEN = {
    "ticket": ticket(0),
    "sums": sums(2),
    "doubled": doubled(3),
    "parity": parity(3),
    "drawn": drawn(2),
    "pending": pending(4),
    "two-taken": two_taken(4),
}


@pytest.mark.parametrize(
    ("engine", "name"),
    [pytest.param(engine, name, marks=[pytest.mark.long] * (name == "bakery")) for engine in ENGINES for name in GOOD],
)
def test_what_holds_is_proven_by_an_inductive_invariant(engine: Engine, name: str) -> None:
    system = GOOD[name]
    found = engine(system, Limits.of(60.0), ignore)
    assert (found.path, found.cut, found.overflowed) == (None, "", False)
    assert found.invariant is not None
    assert invariant_flaw(system, found.invariant, Formulas(z3), lambda: None) == ""
    runs = all_runs(system, 8)
    assert not runs.bad
    assert outside(found, runs) == []


@both
@pytest.mark.parametrize("name", BROKEN)
def test_what_fails_has_a_path_that_can_be_taken(engine: Engine, name: str) -> None:
    system = BROKEN[name]
    found = engine(system, Limits.of(60.0), ignore)
    assert found.invariant is None
    assert all_runs(system, 14, range(-3, 4)).bad
    if found.path is None:
        assert engine is spacer_engine, found.cut
        assert found.cut
    else:
        assert can_be_taken(system, found.path, Formulas(z3), 5000) is PathFeasibility.YES


@both
def test_an_overflow_is_no_proof(engine: Engine) -> None:
    edges = ((0, (let("x", op("x", "+", 1)),), 1), (1, (Suppose(op("x", ">", 0)),), 2), (2, (), 0))
    system = HandSystem((edges,), (("x", 0),), never(at=(5,)), full=frozenset({(2,)}))
    found = engine(system, Limits.of(60.0), ignore)
    assert (found.overflowed, found.invariant, found.path) == (True, None, None)


@both
def test_an_overflow_that_data_exclude_does_not_matter(engine: Engine) -> None:
    edges = ((0, (let("x", op("x", "+", 1)),), 1), (1, (Suppose(op("x", "<", 0)),), 2), (1, (), 0))
    system = HandSystem((edges,), (("x", 0),), never(at=(5,)), full=frozenset({(2,)}))
    found = engine(system, Limits.of(60.0), ignore)
    assert (found.overflowed, found.cut) == (False, "")
    assert found.invariant is not None


@both
def test_what_is_allowed_is_not_looked_for(engine: Engine) -> None:
    from dataclasses import replace  # noqa: PLC0415

    system = sums(2)
    allowed = replace(system, claims=tuple(replace(each, allowed=True) for each in system.claims))
    assert engine(allowed, Limits.of(60.0), ignore).invariant is not None


@both
def test_a_limit_is_named(engine: Engine) -> None:
    found = engine(bakery(), Limits.of(0.0), ignore)
    assert (found.cut, found.invariant) == ("time", None)
    found = engine(bakery(), Limits.of(60.0, states=2), ignore)
    assert (found.cut, found.invariant) == ("states", None)


@both
def test_without_the_solver_it_is_said_what_to_install(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    with pytest.raises(UsageError, match=r"z3.*pip install z3-solver"):
        engine(sums(), Limits(), ignore)


def test_an_invariant_that_is_not_inductive_is_refused() -> None:
    system = ticket()
    found = predicates_engine(system, Limits.of(60.0), ignore)
    assert found.invariant is not None
    full = dict(found.invariant)
    refused = 0
    for control, regions in full.items():
        for number in range(len(regions)):
            fewer = full | {control: (*regions[:number], *regions[number + 1 :])}
            refused += invariant_flaw(system, fewer, Formulas(z3), lambda: None) != ""
    assert refused > len(full)
    everything = dict.fromkeys((*full, (2, 2)), ((),))
    assert "claim" in invariant_flaw(system, everything, Formulas(z3), lambda: None)
    assert invariant_flaw(system, {}, Formulas(z3), lambda: None) == "the initial state is not in it"


def test_regions_that_tell_apart_what_a_folded_variable_stands_for_are_refused() -> None:
    """After both values are joined neither region has both, so that a pick may mix them."""
    edges = (
        (0, (let("set", 1),), 1),
        (1, (Join("set", Const(2)),), 2),
        (2, (Selection("x", "set"), Selection("y", "set")), 3),
    )
    system = HandSystem((edges,), (("x", 0), ("y", 0), ("set", 0)), never(at=(3,), condition=op("x", "!=", "y")))
    one, two = (op("set", "==", 1),), (op("set", "==", 2),)
    claimed = {(0,): ((),), (1,): (one,), (2,): (one, two), (3,): ((op("x", "==", "y"),),)}
    assert invariant_flaw(system, claimed, Formulas(z3), lambda: None) == "a transition leads out of it"
    assert all_runs(system, 5).bad


def test_counts_are_told() -> None:
    counts = predicates_engine(doubled(), Limits.of(60.0), ignore).counts
    assert set(counts) >= {
        "predicates",
        "cubes_used",
        "candidates",
        "solver_calls",
        "rounds",
        "build_seconds",
        "check_seconds",
    }
    assert 0 < counts["solver_calls"] <= counts["candidates"] + 2 * counts["rounds"] + 5
