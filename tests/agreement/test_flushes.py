"""`flush` and `order` in the paper's programs: the pivot search, the paper's road and brute force over the axioms agree, the
stepwise machine of `prove` ends as the machine of the order tables does, and what explanations say of an `order`.

Programs with the rest of what is deployed are the family `flushes` of `random_deployed`, in the tests of all families.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from random import Random

import pytest

from rdma_robust.analyses.explain.compose import explanation
from rdma_robust.errors import ProgramError, SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.machines.by_model import stepwise_machine
from rdma_robust.semantics.machines.chosen import machine_of
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from tests.conftest import ROOT
from tests.support.random_programs import SMALL, random_program

STATES = Limits(states=30_000)
WORDS = ("flush", "flush", "order")


def fenced(seed: int, words: tuple[str, ...]) -> Program | None:
    """A random program with statements behind some of its requests; None if none came in, or there is a syntax for none."""
    rng = Random(f"flushed {seed}")
    lines = []
    for line in random_program(rng, SMALL).splitlines():
        lines.append(line)
        word, *rest = line.split()
        if word in ("put", "get") and rng.random() < 0.5:
            node = rest[0 if word == "put" else 2].partition(".")[0]
            lines.append(f"  {rng.choice(words)} {node}")
    text = "\n".join(lines) + "\n"
    try:
        program = load_program(text, f"seed {seed}")
    except ProgramError:
        return None
    return program if any(word in text for word in words) else None


def agreeing(seeds: Iterable[int]) -> Counter[tuple[str, str]]:
    said: Counter[tuple[str, str]] = Counter()
    for seed in seeds:
        program = fenced(seed, WORDS)
        if program is None:
            continue
        try:
            truth = Verdict.ROBUST if oracle_robust(program) is None else Verdict.NOT_ROBUST
        except SizeLimitError:
            continue
        for options in (CheckOptions(), CheckOptions("paper", max_states=3_000), CheckOptions(reductions=frozenset())):
            outcome = decide(program, options)
            assert outcome.verdict in (truth, Verdict.UNKNOWN), f"{program.file}, {options}\n{program.source}"
            said[options.instrumentation, outcome.verdict.value] += 1
    return said


@pytest.mark.ci
def test_both_roads_answer_as_brute_force() -> None:
    said = agreeing(range(90))
    assert said["pivot", "robust"] > 40
    assert said["pivot", "not-robust"] > 20
    assert said["paper", "robust"] and said["paper", "not-robust"]


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(1, 40))
def test_both_roads_answer_as_brute_force_on_many(chunk: int) -> None:
    agreeing(range(500 * chunk, 500 * chunk + 500))


def same_ends(seeds: Iterable[int]) -> int:
    """How many programs with flushes the machines of `prove` and of the order tables agree on."""
    compared = 0
    for seed in seeds:
        program = fenced(seed, ("flush",))
        if program is None:
            continue
        ours, theirs = explore(stepwise_machine(program, "rdma"), STATES), explore(machine_of(program), STATES)
        if ours.cut is None and theirs.cut is None:
            assert ours.finals == theirs.finals, program.source
            compared += 1
    return compared


def test_flushes_mean_the_same_to_prove() -> None:
    assert same_ends(range(25)) > 8


@pytest.mark.long
def test_flushes_mean_the_same_to_prove_in_many_programs() -> None:
    assert same_ends(range(25, 1_000)) > 200


def test_an_order_is_issued_and_passed_in_a_run() -> None:
    text = (ROOT / "litmus/flushes/order-tells-nothing.rdma").read_text(encoding="utf-8")
    program = load_program(text, "order-tells-nothing.rdma")
    told = explanation(decide(program, CheckOptions(order="relaxed")), CheckOptions(order="relaxed"))
    assert told.timeline is not None
    labels = [step.label for step in told.timeline.steps if step.line == 9]
    assert labels == ["posts order B", "issues order B", "passes order B"]
