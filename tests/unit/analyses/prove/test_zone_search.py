"""The search over zones, on systems written by hand and on random ones, against runs with numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from rdma_robust.analyses.prove.path_values import path_values
from rdma_robust.analyses.prove.transition_system import (
    Assignment,
    Draw,
    Drop,
    EngineResult,
    Join,
    SafetyClaim,
    Selection,
    Suppose,
    Update,
)
from rdma_robust.analyses.prove.zones import zone_updates
from rdma_robust.analyses.prove.zones.zone_search import ZONE_KERNELS, largest_value, search_zones, with_clip
from rdma_robust.errors import NO_SPAN
from rdma_robust.expr import TRUE, Const, Expr, Name, conj
from rdma_robust.language.flow.cfg import Fault
from rdma_robust.limits import NO_LIMITS, Limits, ignore
from tests.support.woven_systems import Places, WovenEdge, WovenSystem, op
from tests.support.zone_checks import follows, points_reached, said, uncovered


def ticket(threads: int, *, compare: str = "==", live: bool = True) -> WovenSystem:
    """A ticket lock: who holds the lock is at point 2."""
    names = [f"t{i}" for i in range(threads)]
    graphs = [
        [
            WovenEdge(0, 1, (Assignment(t, Name("next")), Assignment("next", op("+", "next", 1)))),
            WovenEdge(1, 2, (Suppose(op(compare, "serving", t)),)),
            WovenEdge(2, 0, (Assignment("serving", op("+", t, 1)),)),
        ]
        for t in names
    ]

    def live_at(places: Places) -> frozenset[str]:
        return frozenset({"next", "serving", *(t for t, p in zip(names, places, strict=True) if p or not live)})

    wide = (("next", 0), ("serving", 0), *((t, 0) for t in names))
    return WovenSystem(wide, graphs, lambda places: TRUE if places.count(2) > 1 else None, live_at)


def queue(room: int, *, off_by: int = 0) -> WovenSystem:
    """A bounded buffer by its two counters, head never beyond tail nor more than `room` behind."""
    producer = [
        WovenEdge(0, 1, (Assignment("h", Name("head")),)),
        WovenEdge(1, 0, (Suppose(op(">=", op("-", "tail", "h"), room)),)),
    ]
    producer.append(WovenEdge(1, 2, (Suppose(op("<", op("-", "tail", "h"), room + off_by)),)))
    producer.append(WovenEdge(2, 0, (Assignment("tail", op("+", "tail", 1)),)))
    consumer = [WovenEdge(0, 1, (Assignment("t", Name("tail")),)), WovenEdge(1, 0, (Suppose(op("<=", "t", "head")),))]
    consumer.append(WovenEdge(1, 0, (Suppose(op("<", "head", "t")), Assignment("head", op("+", "head", 1)))))
    full = op("||", op("<", "tail", "head"), op(">", op("-", "tail", "head"), room))
    return WovenSystem((("head", 0), ("tail", 0), ("h", 0), ("t", 0)), [producer, consumer], lambda _places: full)


def folded_slot(*, reset: bool = False, newest: bool = False) -> WovenSystem:
    """A producer puts 1, 2, 3, ... into a slot that keeps all of them, a consumer takes any: never one not sent yet.

    With `reset` the count goes back to 0, and what is taken may be larger than it. With `newest` only the last is good.
    """
    producer = [WovenEdge(0, 0, (Assignment("n", op("+", "n", 1)), Join("slot", Name("n"))))]
    if reset:
        producer.append(WovenEdge(0, 0, (Assignment("n", Const(0)),)))
    consumer = [WovenEdge(0, 1, (Selection("r", "slot"),)), WovenEdge(1, 0, (Drop("r"),))]
    if newest:
        consumer = [WovenEdge(0, 2, (Selection("r", "slot"), Suppose(op("!=", "r", "n"))))]
    bad = op("||", op("<", "r", 0), op(">", "r", "n"))
    return WovenSystem(
        (("n", 0), ("slot", 0), ("r", 0)),
        [producer, consumer],
        lambda places: {0: None, 1: bad, 2: TRUE}[places[1]],
        lambda places: frozenset({"n", "slot", "r"} if places[1] else {"n", "slot"}),
    )


def drawn() -> WovenSystem:
    """Two draws with a sum that is asked for: no difference constraint, so values along the path need a solver, or luck."""
    thread = [
        WovenEdge(0, 1, (Draw("x", Const(2)), Draw("y", Name("x"), op("+", "x", 5)))),
        WovenEdge(1, 2, (Suppose(op("==", op("-", "y", "x"), 4)),)),
    ]
    return WovenSystem((("x", 0), ("y", 0)), [thread], lambda places: op(">", "y", 9) if places == (2,) else None)


def searched(system: WovenSystem) -> EngineResult:
    return search_zones(system, NO_LIMITS, ignore)


SAFE: dict[str, Callable[[], WovenSystem]] = {
    "ticket of 2": lambda: ticket(2),
    "ticket of 3": lambda: ticket(3),
    "ticket with all variables kept": lambda: ticket(2, live=False),
    "queue of 1": lambda: queue(1),
    "queue of 3": lambda: queue(3),
    "folded slot": folded_slot,
}
UNSAFE: dict[str, Callable[[], WovenSystem]] = {
    "ticket with <=": lambda: ticket(2, compare="<="),
    "queue that is too full": lambda: queue(5, off_by=1),
    "folded slot that is reset": lambda: folded_slot(reset=True),
    "folded slot with older values": lambda: folded_slot(newest=True),
    "draws": drawn,
}


@pytest.mark.parametrize("name", SAFE)
def test_a_safe_system_has_an_inductive_invariant(name: str) -> None:
    system = SAFE[name]()
    found = searched(system)
    assert said(found) == "safe"
    assert found.counts["loose"] == 0
    assert found.invariant is not None
    assert sum(map(len, found.invariant.values())) == found.states
    assert uncovered(system, found.invariant) == []


@pytest.mark.parametrize("name", UNSAFE)
def test_an_unsafe_system_has_a_path_with_numbers(name: str) -> None:
    system = UNSAFE[name]()
    found = searched(system)
    assert found.path is not None
    assert found.invariant is None
    values = path_values(system, found.path)
    assert values.feasible
    assert follows(system, found.path, range(-3, 20), {"slot"})


def test_an_invariant_with_a_hole_is_not_inductive() -> None:
    """The check of this test is one: without a zone, with a bound too many, with a bound too few."""
    system = ticket(2)
    invariant = dict(searched(system).invariant or {})
    control, (first, *others) = next((c, regions) for c, regions in invariant.items() if len(regions) > 1)
    assert uncovered(system, {**invariant, control: tuple(others)})
    assert uncovered(system, {**invariant, control: ((*first, op("<=", "next", -1)), *others)})
    assert uncovered(system, {**invariant, (2, 1): ((),)})


def test_a_fault_is_a_violation() -> None:
    fault = Fault("assertion", "assertion may fail", NO_SPAN)
    thread = [WovenEdge(0, 0, (Assignment("x", op("+", "x", 1)),)), WovenEdge(0, 0, (Suppose(op("==", "x", 3)),), fault)]
    found = searched(WovenSystem((("x", 0),), [thread]))
    assert found.path is not None
    assert found.path.bad is None
    assert [t.fault for t in found.path.transitions] == [None, None, None, fault]


def test_claims_that_are_allowed_are_not_looked_for() -> None:
    claim = SafetyClaim("outcome", "allowed", NO_SPAN, 0, allowed=True)
    system = ticket(2, compare="<=")
    system.claims = (claim,)
    assert said(searched(system)) == "safe"


def test_a_finer_clip_is_used_where_the_coarse_one_finds_no_run() -> None:
    thread = [WovenEdge(0, 0, (Suppose(op("<", "x", 7)), Assignment("x", op("+", "x", 1)))), WovenEdge(0, 1)]
    system = WovenSystem((("x", 0),), [thread], lambda places: op(">", "x", 7) if places == (1,) else None)
    system.claims = (replace(system.claims[0], bad=op(">", "x", 7)),)
    assert with_clip(system, 2, NO_LIMITS, ignore).path is not None
    assert largest_value(system) == 7
    found = searched(system)
    assert (said(found), found.counts["clip"]) == ("safe", 8)
    assert uncovered(system, found.invariant or {}) == []


def test_limits_are_named() -> None:
    found = search_zones(ticket(3), Limits(states=20), ignore)
    assert (found.cut, found.invariant, found.path) == ("states", None, None)
    assert search_zones(ticket(3), Limits(deadline=0.0, seconds=0.0), ignore).cut == "time"


def test_numbers_of_any_size_are_searched_in_python() -> None:
    huge = 10**30
    thread = [WovenEdge(0, 0, (Assignment("x", op("+", "x", 1)),)), WovenEdge(0, 1, (Suppose(op("<=", "x", huge)),))]
    system = WovenSystem((("x", huge),), [thread], lambda places: op(">", "x", huge) if places == (1,) else None)
    found = searched(system)
    assert said(found) == "safe"
    assert uncovered(system, found.invariant or {}) == []


@pytest.mark.skipif(len(ZONE_KERNELS) == 1, reason="without a C compiler there is one kernel")
@pytest.mark.parametrize("name", [*SAFE, *UNSAFE])
def test_the_search_is_the_same_with_both_kernels(name: str) -> None:
    system = (SAFE | UNSAFE)[name]()
    results = [with_clip(system, 3, NO_LIMITS, ignore, kernels) for kernels in (ZONE_KERNELS, ZONE_KERNELS[-1:])]
    assert results[0] == results[1]


def random_system(rng: random.Random) -> WovenSystem:
    """Two threads over variables and a folded one, "f"."""
    names = ("x", "y", "r")

    def value() -> Expr:
        if rng.random() < 0.1:
            return op(rng.choice("*%/+"), rng.choice(names), rng.choice(names))
        return op("+", rng.choice(names), rng.randint(-1, 2)) if rng.random() < 0.6 else Const(rng.randint(0, 2))

    def condition() -> Expr:
        return op(rng.choice(["==", "!=", "<", "<="]), rng.choice(names), value())

    def update() -> Update:
        name = rng.choice(names)
        match rng.randrange(10):
            case 0 | 1 | 2 | 3:
                return Assignment(name, value())
            case 4:
                return Draw(name, Const(-1), op("+", rng.choice(names), 1) if rng.random() < 0.5 else Const(2))
            case 5:
                return Selection(name, "f")
            case 6:
                return rng.choice([Join, Join, Assignment])("f", value())
            case _:
                return Suppose(condition())

    def graph() -> list[WovenEdge]:
        return [
            WovenEdge(rng.randrange(3), rng.randrange(3), tuple(update() for _ in range(rng.randint(0, 2))))
            for _ in range(4)
        ]

    bad = conj(condition(), condition()) if rng.random() < 0.7 else condition()
    where = tuple(rng.randrange(3) for _ in range(2))
    wide = tuple((name, rng.randint(0, 2)) for name in (*names, "f"))
    return WovenSystem(wide, [graph(), graph()], lambda places: bad if places == where else None)


def disagreements(seeds: range) -> tuple[list[str], dict[str, int]]:
    """Compare answers on random systems with runs of a few steps; count the answers."""
    wrong, counted = [], {"safe": 0, "path": 0, "run": 0}
    for seed in seeds:
        system = random_system(random.Random(seed))
        found = with_clip(system, 3, Limits(states=3000), ignore)
        counted[said(found)] = counted.get(said(found), 0) + 1
        if found.path is None:
            if points_reached(system, 4, range(-2, 3), {"f"}):
                wrong.append(f"{seed}: a run")
            if found.invariant is not None and uncovered(system, found.invariant):
                wrong.append(f"{seed}: not inductive")
            continue
        values = path_values(system, found.path)
        runs = follows(system, found.path, range(-2, 5), {"f"})
        counted["run"] += runs
        if values.feasible is not None and runs and not values.feasible:
            wrong.append(f"{seed}: a path that can be taken")
        if values.feasible and not follows(system, found.path, range(-4, 12), {"f"}):
            wrong.append(f"{seed}: no numbers for the path")
    return wrong, counted


@pytest.mark.parametrize("seeds", [range(150), pytest.param(range(150, 2000), marks=pytest.mark.long)], ids=["few", "many"])
def test_random_systems(seeds: range) -> None:
    wrong, counted = disagreements(seeds)
    assert wrong == []
    assert counted["safe"] > len(seeds) // 8
    assert counted["run"] > len(seeds) // 8


def test_a_join_that_forgets_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    forgetful = lambda self, branch, name, value: self._let(branch, name, value)  # noqa: E731
    monkeypatch.setattr(zone_updates._Compiler, "_joined", forgetful)
    system = folded_slot(newest=True)
    assert said(searched(system)) == "safe"
    assert points_reached(system, 4, (), {"slot"})
