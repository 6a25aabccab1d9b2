"""Facts read from invariants are true of every state and as strong as they look; reorderings of runs, and needed fences."""

from __future__ import annotations

import random
from itertools import product

import pytest

from rdma_robust import parse, prove
from rdma_robust.analyses.prove.facts import known_facts
from rdma_robust.analyses.prove.lazy_system import trials_without_waits
from rdma_robust.analyses.prove.prove import decide_safety as proved
from rdma_robust.analyses.prove.reorderings import difference, mattering
from rdma_robust.analyses.prove.safety_outcome import Safety
from rdma_robust.analyses.prove.state_join import StateJoin, read_facts, region_bounds, shown_condition
from rdma_robust.errors import ProgramError, UsageError
from rdma_robust.expr import Binary, Const, Expr, Name, Unary, evaluate
from rdma_robust.language.flow.claims import AnyModelName

TICKET = """node A { next, serving }
thread T1 on A { reg t; loop { t = faa(next, 1)
  await serving == t
  cs: skip
  serving = t + 1 } }
thread T2 on A { reg t; loop { t = faa(next, 1)
  await serving == t
  cs: skip
  serving = t + 1 } }
invariant !(T1 at cs && T2 at cs)
"""

PETERSON = """node A {{ f0, f1, turn }}
thread T0 on A {{ reg a, b
  f0 = 1
  {fence}
  turn = 1
  mfence
  a = f1
  b = turn
  if a == 0 || b == 0 {{ cs: skip }} }}
thread T1 on A {{ reg a, b
  f1 = 1
  {fence}
  turn = 0
  mfence
  a = f0
  b = turn
  if a == 0 || b == 1 {{ cs: skip }} }}
invariant !(T0 at cs && T1 at cs)
"""


def _difference(x: str, y: str, limit: int) -> Expr:
    return Binary("<=", Binary("-", Name(x), Name(y)), Const(limit))


def test_what_is_read_from_random_states_is_true_and_tight() -> None:
    """Every fact, evaluated, holds in every point; every bound is met by one (points are states of small variables)."""
    shuffle = random.Random(3)
    for _ in range(60):
        names = ["a", "b", "c"]
        points = [{name: shuffle.randrange(-3, 4) for name in names} for _ in range(shuffle.randrange(1, 4))]
        small = shuffle.randrange(4)
        joined = StateJoin(names)
        for point in points:
            wide = {name: point[name] for name in names[small:]}
            region = [_difference(x, y, wide[x] - wide[y]) for x, y in product(wide, wide) if x != y]
            region += [Binary("==", Name(x), Const(v)) for x, v in wide.items()]
            joined.add({name: point[name] for name in names[:small]}, region_bounds(tuple(region)))
        for (x, y), limit in joined.bounds.items():
            assert limit == max(point.get(x, 0) - point.get(y, 0) for point in points)
        for fact in read_facts(joined):
            assert all(_holds(fact, point) for point in points), (fact, points)


def _holds(fact: str, point: dict[str, int]) -> bool:
    if " in " in fact:
        name, _, interval = fact.partition(" in ")
        low, _, high = interval.partition("..")
        return int(low) <= point[name] <= int(high)
    return bool(eval(fact, {}, dict(point)))  # facts are Python too


@pytest.mark.parametrize(
    ("condition", "bounds"),
    [
        (Binary("<=", Name("x"), Const(3)), {("x", ""): 3}),
        (Binary("<=", Unary("-", Name("x")), Const(3)), {("", "x"): 3}),
        (Binary("<", Name("x"), Binary("+", Name("y"), Const(2))), {("x", "y"): 1}),
        (Binary(">=", Name("x"), Name("y")), {("y", "x"): 0}),
        (Binary(">", Name("x"), Const(1)), {("", "x"): -2}),
        (Binary("==", Name("x"), Name("y")), {("x", "y"): 0, ("y", "x"): 0}),
    ],
)
def test_conditions_are_read_as_bounds(condition: Expr, bounds: dict[tuple[str, str], int]) -> None:
    assert region_bounds((condition,)) == (bounds, [])
    for x, y in product(range(-5, 6), repeat=2):
        env = {"x": x, "y": y, "": 0}
        told = all(env[a] - env[b] <= limit for (a, b), limit in bounds.items())
        assert told == bool(evaluate(condition, env))


def test_what_is_no_bound_is_kept() -> None:
    sum_ = Binary("<=", Binary("+", Name("x"), Name("y")), Const(3))
    assert region_bounds((sum_,)) == ({}, [sum_])
    joined = StateJoin(["x", "y"])
    joined.add({}, region_bounds((sum_, Binary("==", Name("x"), Const(1)))))
    joined.add({}, region_bounds((sum_, Binary("==", Name("x"), Const(2)))))
    assert read_facts(joined) == ("x in 1..2", "x + y <= 3")
    assert shown_condition(Binary("-", Name("a"), Binary("-", Name("b"), Name("c")))) == "a - (b - c)"


@pytest.mark.parametrize("model", ["sc", "tso"])
def test_the_facts_of_a_ticket_lock(model: AnyModelName) -> None:
    outcome = prove(TICKET, model)
    assert outcome.safety is Safety.SAFE
    told = {each.place: each.facts for each in known_facts(outcome)}
    assert told["T1 at cs"][:2] == ("T2 not at cs", "T1.t == A.serving")
    assert told["T1 at cs, T2 before cs"] == ("T2.t == A.serving + 1",)
    assert ("T1's buffer is empty" in told["T1 at cs"]) == (model == "tso")
    everything = known_facts(outcome, full=True)
    assert len(everything) > len(told) > 3
    assert not [each for each in everything if "T1 at cs" in each.place and "T2 at cs" in each.place]


def test_an_invariant_that_is_a_choice_is_told_in_cases() -> None:
    text = """node A { n }
thread T on A { reg b, x, y
  loop { y = n
    n = y + 1 }
  b = nondet(0, 1)
  y = n
  if b == 1 { x = y + 3 } else { x = y }
  l: n = x
  if b == 1 { n = 0 } }
invariant !(T at l) || T.x == T.y || T.x == T.y + 3
"""
    outcome = prove(text, "sc")
    assert outcome.safety is Safety.SAFE
    told = {each.place: each.facts for each in known_facts(outcome)}
    assert "T.y <= T.x" in told["T at l"]
    assert "T.y == T.x" in told["T at l, if T.b == 0"]
    assert "T.y == T.x - 3" in told["T at l, if T.b != 0"]


@pytest.mark.parametrize(
    ("text", "weaker", "stronger", "pair"),
    [
        ("x = 1\n r = y", "tso", "sc", ("store", "load", 3, 4)),
        ("x = 1\n z = 1\n r = y", "tso", "sc", ("store", "load", 3, 5)),
        ("x = 1\n mfence\n r = y", "tso", "sc", None),
    ],
)
def test_the_reordering_of_store_buffering(
    text: str, weaker: AnyModelName, stronger: AnyModelName, pair: tuple[str, str, int, int] | None
) -> None:
    """The store that the other thread misses, not one that nobody reads, and the load."""
    program = f"""node A {{ x, y, z }}
thread T1 on A {{ reg r
 {text} }}
thread T2 on A {{ reg r
 y = 1
 mfence
 r = x }}
outcome T1.r == 0 && T2.r == 0 : forbidden under sc, forbidden under tso
"""
    assert prove(program, stronger).safety is Safety.SAFE
    outcome = prove(program, weaker)
    assert (outcome.safety is Safety.SAFE) == (pair is None)
    if outcome.run is not None and pair is not None:
        found = difference(outcome.run.moves, weaker, stronger)
        assert found is not None
        lines = found.earlier.step.span.line, found.later.step.span.line
        assert (found.earlier.kind, found.later.kind, *lines) == pair


def test_pso_lets_a_later_store_be_first() -> None:
    program = """node A { data, flag }
thread W on A { data = 1
 flag = 1 }
thread R on A { reg f, d
 f = flag
 d = data
 assert f == 0 || d == 1 }
"""
    assert prove(program, "tso").safety is Safety.SAFE
    outcome = prove(program, "pso")
    assert outcome.run is not None
    found = difference(outcome.run.moves, "pso", "tso")
    assert found is not None
    assert (found.earlier.kind, found.later.kind) == ("store", "store")
    assert (str(found.earlier.cell), str(found.later.cell)) == ("A.data", "A.flag")


@pytest.mark.parametrize(("fence", "verdicts"), [("mfence", ["safe", "unsafe", "safe", "unsafe"]), ("skip", ["unsafe"] * 2)])
def test_which_fences_a_proof_needs(fence: str, verdicts: list[str]) -> None:
    """Under tso the fence behind the first store is not needed, that behind the second is."""
    program = parse(PETERSON.format(fence=fence))
    found = list(trials_without_waits(program, lambda each: proved(each, "tso")))
    assert [each.without.safety.value for each in found] == verdicts
    assert [each.text for each in found] == ["mfence"] * len(verdicts)
    assert [each.span.line for each in found] == sorted(each.span.line for each in found)


def test_of_a_long_run_the_moves_that_matter_are_known() -> None:
    """A thread that turns round by itself has nothing to do with what another one reads; whose value is read has."""
    text = """node A { x, y, z }
thread T on A { reg i, r
  while i < 20 { z = i
    mfence
    r = z
    i = i + 1 }
  x = 5 }
thread U on A { reg a
  await x == 5
  a = x
  y = a + 1
  a = y
  assert a != 6 }
"""
    for model in ("sc", "tso"):
        outcome = prove(text, model, reduction="slots")
        assert outcome.run is not None and outcome.claim is not None
        found = mattering(outcome.program, outcome.run, outcome.claim)
        told = [outcome.run.moves[number].action for number in sorted(found)]
        words = [action.step.text if action.step is not None else f"lands {action.cell}" for action in told]
        assert [each for each in words if "z" in each or "i" in each.split()] == []
        assert {"x = 5", "a = x", "y = a + 1", "a = y"} <= set(words)
        assert ("lands A.x" in words) == (model == "tso")
        assert len(outcome.run.moves) > 60
        assert len(words) < 10
    located = prove("node A { x }\nthread T on A { reg r; r = x; x = 1; l: skip }\ninvariant !(T at l)", "sc")
    assert located.run is not None and located.claim is not None
    assert mattering(located.program, located.run, located.claim) == set(range(len(located.run.moves)))


def test_rma_lets_writes_of_one_pipe_change_places() -> None:
    """Two puts to one node: rdma keeps their order, rma does not, and that is what is told."""
    text = """node A { }
node B { data, flag }
thread W on A { put B.data = 1
 put B.flag = 1 }
thread R on B { reg f, d
 f = flag
 d = data
 assert f == 0 || d == 1 }
"""
    assert prove(text, "rdma").safety is Safety.SAFE
    outcome = prove(text, "rma")
    assert outcome.run is not None
    found = difference(outcome.run.moves, "rma", "rdma")
    assert found is not None
    assert [(each.kind, str(each.cell)) for each in (found.earlier, found.later)] == [
        ("NIC write", "B.data"),
        ("NIC write", "B.flag"),
    ]


def test_facts_end_in_time() -> None:
    """What there is no time for is left out; without any time that is all."""
    outcome = prove(TICKET, "tso")
    assert known_facts(outcome, seconds=0.0) == ()
    assert known_facts(outcome)


def test_the_function_refuses_what_the_command_refuses() -> None:
    with pytest.raises(UsageError, match="no model is called 'arm'; there is sc, tso, pso, rma, rdma"):
        prove(TICKET, "arm")  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="`put` needs a network"):
        prove("node A { x }\nnode B { y }\nthread T on A { put B.y = x }\n", "tso")
    outcome = prove(TICKET, "tso", max_states=3)
    assert outcome.safety is Safety.UNKNOWN
    assert "3 states" in outcome.reason
