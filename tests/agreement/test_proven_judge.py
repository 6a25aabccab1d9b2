"""The judge that is extracted from the proofs agrees with the axioms of the tool: on splits at random, on counterexamples of
programs, and on mutations of them. The one that goes by all axioms: `test_proven_judge_deployed`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from rdma_robust.certify import proven_judge
from rdma_robust.certify.judge_question import JudgeQuestion, NotCovered
from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_decidable
from rdma_robust.model import Model, rdma
from rdma_robust.options import CheckOptions
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.trace import Trace
from tests.conftest import ROOT
from tests.support.judged import (
    answers,
    flawed_judge,
    is_counterexample,
    is_split_counterexample,
    mutated,
    question_about,
    with_values,
)
from tests.support.proven import without_completions_order
from tests.support.random_deployed import random_deployed
from tests.support.random_programs import random_program
from tests.support.random_splits import PROGRAM, random_split
from tests.support.shares import chunks

HARDWARE = (rdma(False), rdma(True), Model(order="relaxed"), Model(order="multipath", ordered_reads=True))
VIOLATING = "violating"


@pytest.fixture(autouse=True)
def _table_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The development has the table of `order multipath`, and no order behind completions."""
    without_completions_order(monkeypatch)


def splits(rng: Random, rounds: int) -> Iterator[tuple[JudgeQuestion, Model, Trace]]:
    """Random split runs with the values that they have."""
    while rounds:
        order, size = random_split(rng)
        if size:
            model = rng.choice(HARDWARE)
            yield with_values(order, len(PROGRAM.cells), size, model), model, trace_of_order(order, PROGRAM, model)
            rounds -= 1


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_the_judge_says_violating_iff_the_axioms_do(chunk: int) -> None:
    rng = Random(f"judged splits {chunk}")
    questions = [question for question, _, _ in splits(rng, 1500)]
    said = answers([question.text() for question in questions])
    expected = [is_split_counterexample(question) for question in questions]
    for question, answer, right in zip(questions, said, expected, strict=True):
        assert (answer == VIOLATING) == right, f"{answer}\n{question.text()}"
    assert sum(expected) > 20
    reasons = {answer.split()[-1] if "by rule" in answer else answer.split(": ")[-1].split()[0] for answer in said}
    assert reasons == {"violating", "there", "event", "R1", "R2", "R3"}, "no cycle, a wrong value, or a rule"


def counterexample(program: Program, model: Model) -> JudgeQuestion | None:
    """What the judge is asked of the counterexample that is found, None if there is none or the judge does not cover it."""
    outcome = decide(program, CheckOptions(hardware=model, max_states=30_000))
    if outcome.witness is None:
        return None
    try:
        return question_about(program, model, outcome.witness.trace)
    except NotCovered:
        return None


def confirmed(questions: list[JudgeQuestion], rng: Random) -> None:
    """The judge calls all of them violating, and mutations only if the axioms do."""
    assert set(answers([question.text() for question in questions])) == {VIOLATING}
    changed = [mutated(question, rng) for question in questions for _ in range(12)]
    said = answers([question.text() for question in changed])
    for question, answer in zip(changed, said, strict=True):
        assert answer != VIOLATING or is_counterexample(question), question.text()
        assert answer == VIOLATING or not question.cycle or answer.startswith("refused: "), answer
    assert 0 < sum(answer == VIOLATING for answer in said) < len(said) / 2


NOT_ROBUST = [path for path in sorted((ROOT / "litmus").glob("*.rdma")) if "expect not robust" in path.read_text("utf-8")]


@pytest.mark.parametrize("chunk", [pytest.param(n, marks=pytest.mark.ci) for n in range(2)])
def test_counterexamples_of_the_litmus_programs_are_violating(chunk: int) -> None:
    found = []
    for path in NOT_ROBUST[chunk::2]:
        program = load_decidable(path.read_text("utf-8"), path.name)
        if not program.crowds:
            found.append(counterexample(program, program.hardware.model))
    questions = [question for question in found if question is not None]
    assert len(questions) > 50
    confirmed(questions, Random(f"litmus {chunk}"))


@pytest.mark.parametrize("chunk", chunks(1, 30))
def test_counterexamples_of_random_programs_are_violating(chunk: int) -> None:
    rng = Random(f"judged programs {chunk}")
    found = [counterexample(load_decidable(random_program(rng), "random"), rdma(rng.random() < 0.5)) for _ in range(80)]
    for family in ("completions", "weaker", "mixed"):
        found += [counterexample(*each) for each in random_deployed(family, range(chunk * 30, chunk * 30 + 30))]
    questions = [question for question in found if question is not None]
    assert len(questions) > 20
    confirmed(questions, rng)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("", "there is no document"),
        ("judge 3", "a document begins with `judge 1`"),
        ("judge 1\nthread\na lR 0x1 0", '"0x1" is no number'),
        ("judge 1\nthread\na lR 1_0 0", '"1_0" is no number'),
        ("judge 1\nthread\na lR 0 1.5", '"1.5" is no integer'),
        ("judge 1\norder default", "a document ends with the line `end`"),
    ],
)
def test_lines_that_are_no_question_are_told(lines: str, why: str) -> None:
    with pytest.raises(UsageError, match=re.escape(why)):
        answers([lines and f"{lines}\n"])


SWITCHED_OFF = {
    "rule1": "true",
    "rule2": "true",
    "rule3": "true",
    "starts": "false",
    "carries_on": "true",
    "reads_memory": "true",
    "followsb": "true",
    "pollsb": "true",
    "edgeb": "true",
}
"""Functions of the judge, and what they answer where they test nothing."""


@pytest.mark.long
@pytest.mark.parametrize("name", SWITCHED_OFF)
def test_a_judge_without_one_of_its_tests_is_noticed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flawed = flawed_judge(tmp_path, name, SWITCHED_OFF[name])
    monkeypatch.setenv(proven_judge.VARIABLE, str(flawed))
    with pytest.raises(AssertionError):
        test_the_judge_says_violating_iff_the_axioms_do(0)
        test_counterexamples_of_the_litmus_programs_are_violating(0)
