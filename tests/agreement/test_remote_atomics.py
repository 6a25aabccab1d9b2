"""Remote atomics: the pivot search against brute force over the axioms, and each of its rules left out.

Every witness is executed with real values and confirmed by the axioms here: a reached target that is not confirmed fails the
test, also where the search would go on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import networkx as nx
import pytest

from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.language.flow.cfg import Program, RemoteRmw
from rdma_robust.model import Model
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import BRUTE_FORCE, Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.lift import confirm
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from tests.agreement.test_deployed import check_unrollings
from tests.support.atomic_mutants import FOLDER, MUTANTS, NOT_NOTICED, answer, applied
from tests.support.random_deployed import loaded, mutants, named, named_texts, random_deployed
from tests.support.random_programs import SMALL, random_program
from tests.support.shares import share

NAMES = [name for name, text in named_texts().items() if "cas(" in text or "faa(" in text]
CASES = sorted(FOLDER.glob("*.rdma"))


def has_atomics(program: Program) -> bool:
    return any(isinstance(step.op, RemoteRmw) for thread in program.threads for _, _, step in thread.edges)


def compare(programs: Iterable[tuple[Program, Model]], enough: int) -> None:
    """Compare the search with brute force on so many programs, by turns with all reductions and without any."""
    compared = 0
    for number, (program, model) in enumerate(pair for pair in programs if has_atomics(pair[0])):
        found = answer(program, model, ALL_REDUCTIONS if number % 2 else frozenset())
        if found == "unknown":
            continue
        try:
            expected = "robust" if oracle_robust(program, model) is None else "not-robust"
        except SizeLimitError:
            continue
        assert found == expected, f"{program.file}, {model}: {found} against {expected}\n{program.source}"
        compared += 1
        if compared == enough:
            return
    raise AssertionError(f"only {compared} of {enough} programs could be decided")


@pytest.mark.ci
def test_named_programs() -> None:
    compare(((p, m) for p, m in named() if p.file in NAMES), 25)


def test_random_programs() -> None:
    compare(random_deployed("atomics", range(200)), 15)


def test_mutated_programs() -> None:
    compare(mutants(range(200), NAMES), 15)


@pytest.mark.ci
def test_atomics_without_an_answer_and_fetches() -> None:
    compare(random_deployed("answers", range(20_000, 20_400)), 300)


@pytest.mark.long
@pytest.mark.parametrize("family", ["atomics", "mixed", "weaker", "answers"])
@pytest.mark.parametrize("chunk", range(10))
def test_long_random_programs(family: str, chunk: int) -> None:
    """200 programs a chunk, 8,000 in all."""
    compare(random_deployed(family, range(10_000 * (chunk + 1), 10_000 * (chunk + 2))), 200)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(20))
def test_long_mutated_programs(chunk: int) -> None:
    """250 programs a chunk, 5,000 in all."""
    compare(mutants(range(10_000 * (chunk + 1), 10_000 * (chunk + 2)), NAMES), 250)


def looping(seed: int) -> tuple[Program, Model] | None:
    """A random program with loops in which some gets are compare-and-swaps; None if it has no loop, or none of these."""
    rng = Random(seed)
    text = random_program(rng, SMALL, loops=True)
    text = re.sub(r"(get [^=\n]+= )(\S+)", lambda m: _swapped(m, rng), text)
    program, model = loaded(f"hardware atomics {'glob' if seed % 4 == 3 else 'hca'}\n{text}", f"seed {seed}")
    if not has_atomics(program) or all(nx.is_directed_acyclic_graph(t.graph) for t in program.threads):
        return None
    return program, model


def _swapped(get: re.Match[str], rng: Random) -> str:
    chosen = f"{get[1]}cas({get[2]}, {rng.choice([0, 0, 1])}, {rng.choice([1, 2])})"
    return chosen if rng.random() < 0.7 else get[0]


@pytest.mark.parametrize("chunk", [pytest.param(chunk, marks=pytest.mark.long) for chunk in range(100)])
def test_looping_programs_and_their_unrollings(chunk: int) -> None:
    """6 looping programs a chunk, 600 in all."""
    checked = 0
    for seed in range(1000 * chunk, 1000 * chunk + 400):
        case = looping(seed)
        if case is None:
            continue
        try:
            checked += check_unrollings(*case)
        except (AssertionError, InternalError) as error:
            raise AssertionError(f"{case[0].file}: {error}\n{case[0].source}") from error
        if checked == 6:
            return
    raise AssertionError(f"only {checked} of 6 programs could be decided")


def test_every_rule_has_a_program_or_is_listed() -> None:
    assert {path.stem for path in CASES} | set(NOT_NOTICED) == set(MUTANTS)


@pytest.mark.parametrize("path", share(CASES), ids=lambda path: path.stem)
def test_rules_left_out_are_noticed(path: Path) -> None:
    program, model = loaded(path.read_text(), path.name)
    expected = "robust" if oracle_robust(program, model) is None else "not-robust"
    assert answer(program, model) == answer(program, model, ALL_REDUCTIONS) == expected
    with applied(path.stem):
        assert answer(program, model) != expected


FLIP = (FOLDER / "m2-values-of-the-search.rdma").read_text()


def test_a_target_that_is_not_confirmed_is_no_verdict() -> None:
    """With the values of the search instead of real ones no witness is right: brute force decides."""
    program, model = loaded(FLIP, "flip.rdma")
    with applied("m2-values-of-the-search"):
        outcome = decide(program, CheckOptions(hardware=model))
    assert (outcome.verdict, outcome.engine) == (Verdict.NOT_ROBUST, BRUTE_FORCE)


def test_a_looping_program_with_a_target_that_is_not_confirmed_is_unknown() -> None:
    program, model = loaded(FLIP.replace("  x = 1\n", "  x = 1\n  loop { poll B }\n"), "flip.rdma")
    assert decide(program, CheckOptions(hardware=model)).verdict is Verdict.NOT_ROBUST
    with applied("m2-values-of-the-search"):
        outcome = decide(program, CheckOptions(hardware=model))
    assert outcome.verdict is Verdict.UNKNOWN
    assert "no run to one was confirmed" in outcome.reason


def test_another_run_to_a_target_is_tried() -> None:
    """The first run is refused, and a later one accepted."""
    program, model = loaded(FLIP, "flip.rdma")
    refused: list[object] = []

    def once(*arguments: Any) -> Any:
        refused.append(arguments)
        if len(refused) == 1:
            raise InternalError("refused")
        return confirm(*arguments)

    with patch("rdma_robust.robustness.decide.confirm", side_effect=InternalError("refused")):
        outcome = decide(program, CheckOptions(hardware=model))
    assert outcome.verdict is Verdict.NOT_ROBUST
    assert outcome.engine != BRUTE_FORCE
    with (
        patch("rdma_robust.robustness.decide.confirm", once),
        patch("rdma_robust.robustness.unconfirmed.confirm", once),
    ):
        assert decide(program, CheckOptions(hardware=model)).verdict is Verdict.NOT_ROBUST
