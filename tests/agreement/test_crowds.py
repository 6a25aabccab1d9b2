"""Any number of copies against P(0), P(1), ...: random templates, by both counting systems, with what makes them fast and
without."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.errors import ProgramError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import RDMA, Model
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.crowds import decide_any
from rdma_robust.robustness.crowds.hero_at_start import HeroAtStart
from rdma_robust.robustness.crowds.instance import TwoCopyInstance
from rdma_robust.robustness.crowds.own_counters import HeroFromStart
from rdma_robust.robustness.crowds.steps import InstanceSteps
from rdma_robust.robustness.crowds.value_free import cut_off
from rdma_robust.robustness.decide import decide
from tests.support.crowd_agreement import WAYS, exact, first_bad, loaded, model_of, robust_for_any
from tests.support.crowd_mutants import FOLDER, MUTANTS, UNNOTICED, caught
from tests.support.crowd_programs import NAMED, mutation, plus_one, powers, ring
from tests.support.naive_crowds import cover
from tests.support.own_word_crowds import own_word_crowd
from tests.support.random_crowds import SHAPES, random_crowd
from tests.support.shares import chunks, share

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
    assert check(program_of(kind, 2), ["hero from start"])


@pytest.mark.parametrize("name", ["sb", "lock", "copied"])
def test_named_templates(name: str) -> None:
    assert check(loaded(NAMED[name]), [])


@pytest.mark.ci
@pytest.mark.parametrize("name", NAMED)
def test_named_templates_every_way(name: str) -> None:
    assert check(loaded(NAMED[name]), list(WAYS))


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_mutations_of_named_templates(chunk: int) -> None:
    """Programs of which several copies are needed, changed a little: P(1) of many is robust."""
    ways, known, several = list(WAYS), 0, 0
    for seed in range(60 * chunk, 60 * (chunk + 1)):
        text = mutation(Random(f"mutation {seed}"))
        if text is not None:
            known += check(loaded(text), [ways[seed % len(ways)]])
            several += first_bad(loaded(text), 1) == 2
    assert known >= 30
    assert several >= 10


@pytest.mark.parametrize("k", [0, 1, pytest.param(2, marks=pytest.mark.ci), pytest.param(4, marks=pytest.mark.ci)])
def test_one_copy_more_than_so_many(k: int) -> None:
    assert least(plus_one(k)) == k + 1


@pytest.mark.parametrize("k", [0, 1, pytest.param(2, marks=pytest.mark.ci), pytest.param(3, marks=pytest.mark.ci)])
def test_two_to_so_many(k: int) -> None:
    assert least(powers(k)) == 1 << k


@pytest.mark.parametrize("v", [2, pytest.param(3, marks=pytest.mark.ci)])
def test_a_ring_needs_two_copies_for_each_word(v: int) -> None:
    assert least(ring(v)) == 2 * v
    for model in (RDMA, Model(cpu="tso"), Model(order="multipath"), Model(order="relaxed", cpu="tso")):
        assert cut_off(loaded(ring(v)), model) == 2 * v
    assert cut_off(loaded(ring(v)), Model(cpu="pso")) is None


BACKLOG = """node S { x, w, z }
node Client[*] { one = 1, t }
thread C[*] on Client[*] {
  get t = S.x
  loop { put S.z = one }
  poll S
  put S.w = t
}
thread W on S { x = 1 }
"""
"""No number of completions is enough, nothing depends on values, and without the poll it is not robust."""


@pytest.mark.ci
@pytest.mark.parametrize(
    "model", share([RDMA, Model(cpu="tso"), Model(order="multipath"), Model(order="relaxed", cpu="tso")], 4)
)
def test_the_cut_off_says_what_own_counters_say(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    program = loaded(BACKLOG)
    options = CheckOptions(hardware=model, timeout=60)
    by_cut_off = decide(program, options)
    assert by_cut_off.verdict is (Verdict.ROBUST if model.order == "default" else Verdict.NOT_ROBUST)
    assert ("without values those with 6 copies decide" in by_cut_off.reason) is (model.order == "default")
    monkeypatch.setattr(decide_any, "MOST_CUT_OFF", 0)
    assert decide(program, options).verdict is by_cut_off.verdict


def least(text: str) -> int:
    outcome = decide(loaded(text), CheckOptions(timeout=60))
    assert outcome.copies is not None
    assert outcome.copies.least
    return sum(number for _, number in outcome.copies.numbers)


@pytest.mark.parametrize("name", ["sb", "copied", "tso-sb"])
def test_the_tree_as_in_the_book_says_the_same(name: str) -> None:
    program = loaded(NAMED[name])
    for system in (HeroAtStart, HeroFromStart):
        found = cover(system(InstanceSteps(TwoCopyInstance.of(program, model_of(program), ALL_REDUCTIONS))), 3_000)
        assert found.target is not None
        assert (found.target < 0) is robust_for_any(program, WAYS["hero at start"])


@pytest.mark.parametrize("name", share(sorted(path.stem for path in FOLDER.glob("*.rdma")), 5))
def test_what_a_crowd_needs_is_noticed_when_it_is_left_out(name: str) -> None:
    text = (FOLDER / f"{name}.rdma").read_text(encoding="utf-8")
    truth = first_bad(loaded(text), MOST)
    assert truth is not None
    assert truth > MOST or robust_for_any(loaded(text), WAYS["hero at start"]) is False
    assert caught(name, loaded(text))


def test_every_mutant_has_a_program_or_a_reason() -> None:
    assert {path.stem for path in FOLDER.glob("*.rdma")} | set(UNNOTICED) == set(MUTANTS)


@pytest.mark.parametrize("chunk", chunks(1, 26))
def test_random_templates(chunk: int) -> None:
    ways = list(WAYS)
    known = 0
    for number, kind in enumerate(SHAPES):
        for seed in range(3 + EACH * chunk, 3 + EACH * (chunk + 1)):
            known += check(program_of(kind, seed), [ways[(number + seed) % len(ways)], "hero from start"])
    assert known >= 0.9 * EACH * len(SHAPES)


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_copies_that_decide_by_their_own_words(chunk: int) -> None:
    """What a pivot finds in an own word was forgotten once: one in some hundreds of these programs tells."""
    known = 0
    for seed in range(100 * chunk, 100 * (chunk + 1)):
        try:
            program = loaded(own_word_crowd(Random(f"own words {seed}")))
        except ProgramError:  # a word that is not used, or a queue pair without operations
            continue
        known += check(program, [])
    assert known > 40


def test_hardware_is_that_of_the_program() -> None:
    settings = {model_of(program_of("deployed", seed)) for seed in range(12)}
    assert len(settings) > 3
