"""Any number of copies against P(0), P(1), ...: random templates, by both counting systems, with what makes them fast and
without."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.language.flow.cfg import Program
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.decide import decide
from tests.support.crowd_agreement import WAYS, exact, first_bad, loaded, model_of, robust_for_any
from tests.support.random_crowds import SHAPES, random_crowd
from tests.support.shares import chunks

EACH = 20
"""Programs of each shape in a chunk."""
MOST = 3
"""Copies in all up to which P(n) is decided explicitly."""


def program_of(kind: str, seed: int) -> Program:
    return loaded(random_crowd(Random(f"{kind} {seed}"), SHAPES[kind]))


def check(program: Program, ways: list[str]) -> bool:
    """Compare all there is; return whether the verdict for any number is known."""
    text = program.source
    outcome = decide(program, CheckOptions(timeout=8))
    for way in ways:
        said = robust_for_any(program, WAYS[way])
        if said is not None and outcome.verdict is not Verdict.UNKNOWN and exact(program):
            assert said is (outcome.verdict is Verdict.ROBUST), f"{way}\n{text}"
    fewest = first_bad(program, MOST)
    if outcome.verdict is Verdict.ROBUST and fewest is not None:
        assert fewest == MOST + 1, text
    if outcome.verdict is Verdict.NOT_ROBUST:
        agrees(outcome, fewest, text)
    return outcome.verdict is not Verdict.UNKNOWN


def agrees(outcome: Outcome, fewest: int | None, text: str) -> None:
    """A violation has a witness in P(n) with the smallest n."""
    copies = outcome.copies
    assert copies is not None, text
    assert outcome.witness is not None, text
    assert [t.name for t in copies.program.threads] == [t.name for t in outcome.shown.threads]
    total = sum(number for _, number in copies.numbers)
    if copies.least and fewest is not None:
        assert total == fewest if fewest <= MOST else total > MOST, text


@pytest.mark.parametrize("kind", SHAPES)
def test_few_random_templates(kind: str) -> None:
    assert all(check(program_of(kind, seed), ["hero from start, plain"]) for seed in range(3))


@pytest.mark.parametrize("chunk", chunks(2, 26))
def test_random_templates(chunk: int) -> None:
    ways = list(WAYS)
    known = 0
    for number, kind in enumerate(SHAPES):
        for seed in range(3 + EACH * chunk, 3 + EACH * (chunk + 1)):
            known += check(program_of(kind, seed), [ways[(number + seed) % len(ways)], "hero from start"])
    assert known >= 0.9 * EACH * len(SHAPES)


def test_hardware_is_that_of_the_program() -> None:
    settings = {model_of(program_of("deployed", seed)) for seed in range(12)}
    assert len(settings) > 3
