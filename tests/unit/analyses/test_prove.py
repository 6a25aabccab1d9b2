"""The decision of `prove`: answers with their evidence, buffers that grow, and what is not decided."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rdma_robust.analyses.prove import engines
from rdma_robust.analyses.prove.path_replay import shows
from rdma_robust.analyses.prove.prove import decide_safety
from rdma_robust.analyses.prove.safety_outcome import ReductionOptions, Safety, SafetyOutcome
from rdma_robust.counters.kernel import driver
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.flow.claims import AnyModelName, OutcomeClaim
from rdma_robust.language.load import load_program
from tests.support.inserted import fenced

SB = """node A { x, y }
thread T1 on A { reg r; x = 1; r = y }
thread T2 on A { reg r; y = 1; r = x }
outcome T1.r == 0 && T2.r == 0 : forbidden under sc
"""
STORES = "node A { x }\nthread T1 on A { x = 1; x = 2; x = 3; x = 4; x = 5 }\noutcome A.x != 5 : forbidden under sc\n"


def load(text: str) -> Program:
    return load_program(text, "prove.rdma")


def under(program: Program, model: AnyModelName, *, allowed: bool = False) -> Program:
    """The program with its outcomes claimed under this model."""
    outcomes = tuple(replace(each, claims=(OutcomeClaim(allowed, model),)) for each in program.outcomes)
    return replace(program, outcomes=outcomes)


def proven(program: Program, model: AnyModelName) -> SafetyOutcome:
    outcome = decide_safety(program, model)
    forbids = any(not claim.allowed for claim in outcome.claims)
    assert (outcome.safety is Safety.SAFE and forbids) == (outcome.invariant is not None)
    assert (outcome.safety is Safety.UNSAFE) == (outcome.run is not None)
    if outcome.run is not None and outcome.claim is not None:
        assert shows(program, outcome.run, outcome.claim)
    return outcome


def test_store_buffering_is_safe_under_sc_and_with_fences() -> None:
    program = load(SB)
    assert proven(program, "sc").safety is Safety.SAFE
    for model in ("tso", "pso"):
        assert proven(under(program, model), model).safety is Safety.UNSAFE
        assert proven(fenced(under(program, model)), model).safety is Safety.SAFE


def test_buffers_get_as_much_room_as_is_needed() -> None:
    outcome = proven(under(load(STORES), "tso"), "tso")
    assert outcome.safety is Safety.SAFE and outcome.reduction.bound == 8


def test_a_buffer_that_may_hold_any_number_of_stores_is_not_decided() -> None:
    program = load("node A { x }\nthread T1 on A { loop { x = 1; x = 3 } }\noutcome A.x == 2 : forbidden under sc\n")
    assert proven(program, "sc").safety is Safety.SAFE
    outcome = proven(under(program, "tso"), "tso")
    assert outcome.safety is Safety.UNKNOWN and outcome.reason == "a buffer may hold more than 8 stores"


@pytest.mark.ci
def test_a_run_is_looked_for_on_the_machine_where_buffers_overflow() -> None:
    """Stores that nobody looks at pile up, as buffers move only where somebody can tell; the run has short buffers."""
    program = load("""node A { x, y, z }
thread T on A { reg i, r; while i < 20 { z = i; r = z; i = i + 1 }; x = 5 }
thread U on A { reg a; await x == 5; a = x; y = a + 1; a = y; assert a != 6 }
""")
    assert proven(program, "tso").safety is Safety.UNSAFE


def test_a_queue_pair_with_any_number_of_operations_is_not_decided() -> None:
    """A poll tells that a put is issued, not that it has landed; a flush does."""
    text = "node A { x }\nnode B { y }\nthread T on A { loop { put B.y = x; WAIT } }\ninvariant B.y == 0\n"
    outcome = proven(load(text.replace("WAIT", "poll B")), "rdma")
    assert outcome.safety is Safety.UNKNOWN
    assert outcome.reason == "a queue pair may have more than 8 operations in flight"
    assert proven(load(text.replace("WAIT", "flush B")), "rdma").safety is Safety.SAFE


def test_the_values_of_a_domain_are_kept_apart_if_nothing_else_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    program = load("""domain 0..54
node A { x = 1 }
thread T on A { reg r; loop { r = x; assert r != 0; x = r * 3 % 19 } }
""")
    monkeypatch.setattr(driver, "AVAILABLE", False)
    assert decide_safety(program, "sc", engine="explicit").safety is Safety.UNKNOWN
    monkeypatch.setattr(engines, "has_solver", lambda: False)
    outcome = proven(program, "sc")
    assert outcome.safety is Safety.SAFE and outcome.engine == "explicit" and outcome.reduction.narrow == 55


def test_outcomes_that_are_allowed_are_answered_one_by_one() -> None:
    program = load(SB)
    (claim,) = proven(under(program, "tso", allowed=True), "tso").allowed
    assert claim.possible and claim.run is not None and shows(program, claim.run, replace(claim.claim, allowed=False))
    (claim,) = decide_safety(under(fenced(program), "tso", allowed=True), "tso").allowed
    assert claim.possible is False


@pytest.mark.parametrize(
    "step",
    [
        "x = 2 / a",
        "b = faa(x, 2 / a)",
        "b = swap(x, 2 % a)",
        "b = cas(x, 0, 2 / a)",
        "b = nondet(0, 2 / a)",
        "b = nondet(2 / a, 2)",
    ],
)
@pytest.mark.parametrize("given", [0, 1])
def test_what_a_step_would_write_or_draw_is_not_asked_for_where_it_divides_by_zero(step: str, given: int) -> None:
    """Control has the divisor, so that the reductions calculate: only where the guard of the step holds."""
    program = load(f"node A {{ x, y = {given} }}\nthread T on A {{ reg a, b; a = y; {step} }}\n")
    for model in ("sc", "tso", "pso", "rma", "rdma"):
        assert proven(program, model).safety is (Safety.SAFE if given else Safety.UNSAFE), model
    sets = decide_safety(program, "rma", reduction=ReductionOptions(kind="sets"))
    assert (sets.safety is Safety.SAFE) == bool(given)


@pytest.mark.parametrize("ends", ["a, 2", "0, a + 2", "0, 99", ""])
def test_a_word_gets_every_value_that_nondet_has_chosen_for_it(ends: str) -> None:
    """What is chosen is in a hidden register until it is written, which no register of the text is."""
    program = load(f"node A {{ x, y }}\nthread T on A {{ reg a; x = nondet({ends}); a = y }}\ninvariant A.x != 2\n")
    for model in ("sc", "tso", "pso", "rma", "rdma"):
        assert proven(program, model).safety is Safety.UNSAFE, model


def test_a_predicate_may_divide_by_what_is_zero_at_the_start() -> None:
    program = load("""node A { x }
thread T on A { reg a; loop { a = nondet(); x = a } }
thread U on A { reg c, d; loop { c = x; if c != 0 { d = 8 % c; assert d <= 8 } } }
""")
    assert decide_safety(program, "sc", engine="predicates").safety is Safety.SAFE


def test_sets_are_for_rma_and_other_models_go_on_growing_their_buffers() -> None:
    outcome = decide_safety(under(load(STORES), "tso"), "tso", reduction=ReductionOptions(kind="sets"))
    assert outcome.safety is Safety.SAFE and outcome.reduction.kind == "slots" and outcome.reduction.bound == 8
