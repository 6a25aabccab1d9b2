"""SPIN, an independent model checker, decides the exported models; its verdicts and state counts must be ours.

All litmus programs are compared under the pivot instrumentation. TinyCC compiles these verifiers a hundred times as fast
as gcc; with gcc alone large models and the paper's are left to `make test-long`. Without SPIN all is skipped. A skipped
test says what was not run.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rdma_robust.counters.promela.write import Promela
from rdma_robust.counters.search import explore as our_search
from rdma_robust.exports import VARIANTS, Variant, promela_of
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits, ignore
from rdma_robust.limits import Limits as SearchLimits
from rdma_robust.model import RDMA, rdma
from rdma_robust.options import CheckOptions
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.values import is_loop_free
from tests.litmus.goldens import PROGRAMS, load, read_golden
from tests.support.random_programs import SMALL, Size, random_program
from tests.support.spin import COMPILER, MISSING, Found, verify_all

CHUNKS = 4
WITH_A_QUESTION: tuple[Variant, ...] = ("pivot", "paper")
fast = COMPILER == "tcc"

pytestmark = pytest.mark.skipif(
    bool(MISSING),
    reason=f"{' and '.join(MISSING)} is not installed: SPIN's verdicts on the litmus programs were not compared with ours",
)
each_chunk = pytest.mark.parametrize("chunk", range(CHUNKS))


def models(programs: list[Program], model: Variant, ordered_reads: bool = False) -> list[str]:
    """The models as users get them."""
    return [promela_of(program, model, hardware=rdma(ordered_reads)).text for program in programs]


def faithful(programs: list[Program], model: Variant, counter_bound: int = 7) -> list[Promela]:
    """Models with all the states of ours: dead variables keep their values."""
    return [promela_of(program, model, counter_bound, keep_dead=True) for program in programs]


def check(name: str, spin: Found, verdict: str, states: int) -> None:
    """Compare verdicts and, where the whole state space was searched, the numbers of states."""
    assert spin.verdict == verdict, f"{name}: SPIN says {spin.verdict}, we say {verdict}"
    if verdict == "robust":
        assert spin.states == states, f"{name}: SPIN stores {spin.states} states, we {states}"


def ours(program: Program, model: Variant) -> tuple[str, int, bool]:
    """Our verdict and the states of our search without any reduction, and whether counters were unbounded."""
    counters = VARIANTS[model](program, RDMA)
    found = our_search(counters, SearchLimits(), ignore, engine="auto", reduce=False, compiled=True)
    return "not-robust" if found.result.target >= 0 else "robust", found.result.states, found.dimension > 0


def part(chunk: int) -> tuple[list[Program], list[dict[str, Any]]]:
    """A part of the litmus programs, and their goldens, which another test compares with our verdicts."""
    paths = PROGRAMS[chunk::CHUNKS]
    return [load(path) for path in paths], [read_golden(path) for path in paths]


MOST_STEPS = 60
"""Without TinyCC models with more are left to `make test-long`: gcc takes 6 ms for each step."""


@pytest.mark.long
@each_chunk
def test_pivot_models_of_loop_free_programs(chunk: int, tmp_path: Path) -> None:
    """`.ci/run` compares these in a step of its own."""
    compare_pivot(chunk, range(10**9 if fast else MOST_STEPS + 1), tmp_path, loops=False)


@pytest.mark.skipif(fast, reason="all were compared by the test before, thanks to tcc")
@pytest.mark.long
@each_chunk
def test_long_pivot_models_of_large_programs(chunk: int, tmp_path: Path) -> None:
    compare_pivot(chunk, range(MOST_STEPS + 1, 10**9), tmp_path, loops=False)


@pytest.mark.long
@each_chunk
def test_long_pivot_models_of_looping_programs(chunk: int, tmp_path: Path) -> None:
    compare_pivot(chunk, range(10**9), tmp_path, loops=True)


@pytest.mark.skipif(not fast, reason=f"without tcc models with more than {MOST_STEPS} steps are left to make test-long")
def test_no_model_was_left_out() -> None:
    """Says so where some were."""
    assert fast


def compare_pivot(chunk: int, sizes: range, folder: Path, *, loops: bool) -> None:
    """Compare SPIN's verdicts with ours on the pivot models of these sizes.

    Without partial-order reduction, so that the states are comparable. Bounded models say so, find no error that is none,
    and there is none without loops.
    """
    programs, goldens = part(chunk)
    exports = faithful(programs, "pivot", counter_bound=3)
    wanted = [is_loop_free(program) != loops for program in programs]
    chosen = [i for i, export in enumerate(exports) if wanted[i] and export.text.count("d_step {") in sizes]
    found = verify_all([exports[i].text for i in chosen], folder, "-O0", "-DNOREDUCE")
    assert found
    for i, spin in zip(chosen, found, strict=True):
        program, export = programs[i], exports[i]
        verdict, states, bounded = ours(program, "pivot")
        assert verdict == goldens[i]["pivot"]["verdict"]
        assert bounded == bool(export.bounded) == ("bounded model" in export.text), program.name
        assert not (bounded and is_loop_free(program))
        if not bounded:
            check(program.name, spin, verdict, states)
        elif spin.errors:
            assert verdict == "not-robust", program.name


@each_chunk
@pytest.mark.skipif(not fast, reason="tcc is not installed: the paper's models are left to make test-long")
@pytest.mark.ci
def test_paper_models_of_small_programs(chunk: int, tmp_path: Path) -> None:
    """A sixth of the loop-free programs within the budget of the goldens, with partial-order reduction."""
    paths = [path for path in PROGRAMS if "states" in read_golden(path)["paper"]][chunk :: 6 * CHUNKS]
    programs = [program for program in map(load, paths) if is_loop_free(program)]
    found = verify_all(models(programs, "paper"), tmp_path, "-O0")
    for program, spin in zip(programs, found, strict=True):
        assert spin.verdict == ("robust" if program.expect_robust else "not-robust"), program.name


@pytest.mark.long
@each_chunk
def test_long_paper_models_of_loop_free_programs(chunk: int, tmp_path: Path) -> None:
    """All of them, as far as SPIN ends within its limits."""
    programs, goldens = part(chunk)
    chosen = [(p, g) for p, g in zip(programs, goldens, strict=True) if is_loop_free(p)]
    found = verify_all(models([p for p, _ in chosen], "paper"), tmp_path, "-O1", "-DMEMLIM=2000", timeout=20.0)
    for (program, golden), spin in zip(chosen, found, strict=True):
        assert spin.verdict in ("unknown", golden["pivot"]["verdict"]), program.name
        assert spin.verdict != "unknown" or "states" not in golden["paper"], program.name


@each_chunk
def test_plain_models(chunk: int, tmp_path: Path) -> None:
    """SPIN meets a fault under sequential consistency iff the SC machine does, in as many states as our search."""
    programs = [program for program in map(load, PROGRAMS[chunk :: 4 * CHUNKS]) if is_loop_free(program)]
    found = verify_all([m.text for m in faithful(programs, "none")], tmp_path, "-O0", "-DNOREDUCE")
    for program, spin in zip(programs, found, strict=True):
        faults = explore(ScMachine(program), Limits()).faults
        verdict, states, _ = ours(program, "none")
        assert (verdict == "not-robust") == bool(faults), program.name
        check(program.name, spin, verdict, states)


def random_programs(seeds: range, size: Size, *, loops: bool = False) -> list[Program]:
    """Every third one has atomic operations."""
    sizes = {False: size, True: replace(size, atomics=True)}
    texts = {seed: random_program(Random(seed), sizes[seed % 3 == 2], loops=loops) for seed in seeds}
    return [load_program(text, f"seed {seed}") for seed, text in texts.items()]


@pytest.mark.ci
def test_random_programs(tmp_path: Path) -> None:
    """A few by default, 200 in `make test-long`."""
    programs = random_programs(range(20 if fast else 10), SMALL)
    found = verify_all([m.text for m in faithful(programs, "pivot")], tmp_path, "-O0", "-DNOREDUCE")
    for program, spin in zip(programs, found, strict=True):
        verdict, states, _ = ours(program, "pivot")
        assert verdict == decide(program, CheckOptions()).verdict.value
        check(program.file, spin, verdict, states)


def test_random_looping_programs_give_models_that_spin_accepts(tmp_path: Path) -> None:
    programs = random_programs(range(1_000, 1_015 if fast else 1_005), SMALL, loops=True)
    found = verify_all(models(programs, "pivot"), tmp_path, "-O0", "-DMEMLIM=500")
    for program, spin in zip(programs, found, strict=True):
        verdict = decide(program, CheckOptions(max_states=50_000)).verdict.value
        assert not spin.errors or verdict == "not-robust", program.file


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_long_random_programs(chunk: int, tmp_path: Path) -> None:
    """200 programs, both instrumentations and two gets in order and not."""
    seeds = range(50_000 + 20 * chunk, 50_020 + 20 * chunk)
    programs = random_programs(seeds, SMALL)
    for ordered, instrumentation in itertools.product((False, True), WITH_A_QUESTION):
        found = verify_all(
            models(programs, instrumentation, ordered), tmp_path / instrumentation / str(ordered), "-DMEMLIM=2000"
        )
        for program, spin in zip(programs, found, strict=True):
            verdict = decide(program, CheckOptions(ordered_reads=ordered)).verdict.value
            assert spin.verdict in (verdict, "unknown"), f"{program.file}, {instrumentation}, ordered reads {ordered}"
