"""Predicates, by themselves and carried over from sc, and spacer hold against the explicit search, where values are few."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import z3

from rdma_robust.analyses.prove.explicit_search import explicit_search
from rdma_robust.analyses.prove.predicates.predicate_engine import predicates_engine
from rdma_robust.analyses.prove.predicates.solving import Formulas
from rdma_robust.analyses.prove.predicates.spacer_engine import invariant_flaw, spacer_engine
from rdma_robust.analyses.prove.prove import decide_safety
from rdma_robust.analyses.prove.reductions import reduce_program
from rdma_robust.analyses.prove.safety_outcome import ReductionOptions, Safety
from rdma_robust.analyses.prove.transition_system import EngineResult
from rdma_robust.language.flow.claims import AnyModelName
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits, ignore
from tests.support.claimed_programs import claimed_program

MODELS: tuple[AnyModelName, ...] = ("sc", "tso", "pso", "rma", "rdma")


def compare(seed: int, model: AnyModelName, *, loops: bool, narrow: int) -> str:
    """Compare every engine on a random program, all of whose variables with more than `narrow` values are wide."""
    program, claims = claimed_program(seed, model, loops=loops)
    claims = tuple(claim for claim in claims if not claim.allowed)
    truth = explicit_search(reduce_program(program, model, claims, ReductionOptions(bound=2)), Limits.of(60.0), ignore)
    options = ReductionOptions(bound=2, narrow=narrow)
    system, plain = reduce_program(program, model, claims, options), reduce_program(program, "sc", claims, options)
    engines: list[Callable[..., EngineResult]] = [predicates_engine, spacer_engine]
    if model != "sc":
        engines.append(partial(predicates_engine, plain=plain))
    for engine in engines:
        found = engine(system, Limits.of(60.0), ignore)
        where = f"{engine}, seed {seed}, {model}, loops {loops}, narrow {narrow}"
        if found.invariant is not None:
            assert truth.path is None or not truth.path.exact, where
            assert invariant_flaw(system, found.invariant, Formulas(z3), lambda: None) == "", where
        if truth.invariant is not None:
            assert found.path is None or not found.path.exact, where
        if found.overflowed:
            assert truth.invariant is None, where
    return "bad" if truth.path is not None else "good"


@pytest.mark.ci
@pytest.mark.parametrize("model", MODELS)
def test_engines_agree_on_random_programs(model: AnyModelName) -> None:
    answers = [compare(seed, model, loops=seed % 2 == 0, narrow=seed % 2) for seed in range(2, 7)]
    assert set(answers) == {"good", "bad"}


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("narrow", [0, 1, 2])
def test_engines_agree_on_many_random_programs(model: AnyModelName, narrow: int) -> None:
    for seed in range(100, 160):
        for loops in (False, True):
            compare(seed, model, loops=loops, narrow=narrow)


SUMS = """
node M { c = 0 }
thread P on M { reg a; while 1 { a = a + 1; faa(c, 1) } }
thread Q on M { reg b; while 1 { b = b + 2; faa(c, 2) } }
invariant M.c <= P.a + Q.b
"""

SPLIT = """
node M { x = 0 }
thread P on M {
  reg a, b, c
  while 1 {
    choose { a = a + 1 } or { b = b + 2; c = c + 1 }
    c = c + 1
    assert a + b == c
    x = c
  }
}
"""

EVEN = """
node M { x = 0 }
thread P on M { while 1 { faa(x, 2) } }
thread Q on M { while 1 { faa(x, 4) } }
invariant M.x % 2 == 0
"""

DOUBLE = """
node M { x = 0, y = 0 }
thread P on M { reg n; while 1 { n = n + 1; x = n; mfence; y = 2 * n; mfence } }
thread Q on M { reg u, v; while 1 { u = y; v = x; assert u <= 2 * v } }
"""


@pytest.mark.parametrize(
    ("text", "wrong", "model"),
    [
        pytest.param(SUMS, ("a = a + 1; faa(c, 1)", "faa(c, 1); a = a + 1"), "tso", marks=pytest.mark.ci),
        pytest.param(SPLIT, ("b + 2", "b + 3"), "sc", marks=pytest.mark.ci),
        (EVEN, ("x, 4", "x, 3"), "rma"),
        (DOUBLE, ("2 * n; mfence", "3 * n; mfence"), "sc"),
        pytest.param(DOUBLE, ("n; mfence; y", "n; y"), "pso", marks=pytest.mark.long),
    ],
    ids=["sums", "split", "even", "double", "double-pso"],
)
def test_what_zones_cannot_say_is_proven_and_what_is_wrong_has_a_run(
    text: str, wrong: tuple[str, str], model: AnyModelName
) -> None:
    program = load_program(text, "program.rdma")
    assert decide_safety(program, model, Limits.of(60.0), engine="zones").safety is Safety.UNKNOWN
    proof = decide_safety(program, model, Limits.of(60.0))
    assert (proof.safety, proof.engine) == (Safety.SAFE, "predicates"), proof.reason
    broken = load_program(text.replace(*wrong), "broken.rdma")
    assert broken.threads != program.threads
    answer = decide_safety(broken, model, Limits.of(60.0), engine="predicates")
    assert answer.safety is Safety.UNSAFE, answer.reason
    assert answer.run is not None
