"""SPIN, an independent model checker, decides the exported models; its verdicts and state counts must be ours.

All loop-free litmus programs are compared under the pivot instrumentation, and under the paper's those whose search is
small by the goldens. With TinyCC installed this takes seconds. With gcc alone, which is a hundred times slower on these
verifiers, the paper's models move to `make test-long`. Without SPIN all of this is skipped, and says so.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from random import Random

import pytest

from rdma_robust.exports import ExportOptions, Model, export_text, promela_of
from rdma_robust.language.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.options import CheckOptions, Instrumentation
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.instrument_plain import instrument_plain
from rdma_robust.semantics.explore import Limits, explore
from rdma_robust.semantics.machine_sc import ScMachine
from rdma_robust.semantics.values import is_loop_free
from rdma_robust.vass.lower import lower
from rdma_robust.vass.search import Limits as SearchLimits
from rdma_robust.vass.search import breadth_first
from tests.litmus.goldens import PROGRAMS, load, read_golden
from tests.support.random_programs import SMALL, Size, random_program
from tests.support.spin import COMPILER, MISSING, Found, verify_all

LOOP_FREE = tuple(path for path in PROGRAMS if is_loop_free(load(path)))
LOOPING = tuple(path for path in PROGRAMS if path not in LOOP_FREE)
SMALL_PAPER = tuple(path for path in LOOP_FREE if "states" in read_golden(path)["paper"])
CHUNKS = 4
fast = COMPILER == "tcc"

pytestmark = pytest.mark.skipif(
    bool(MISSING),
    reason=f"SPIN's verdicts were not compared with ours ({len(LOOP_FREE)} loop-free litmus programs and more): "
    f"{' and '.join(MISSING)} is not installed",
)
each_chunk = pytest.mark.parametrize("chunk", range(CHUNKS))


def models(programs: list[Program], model: Model, ordered_reads: bool = False) -> list[str]:
    return [promela_of(program, model, ordered_reads=ordered_reads).text for program in programs]


def disagreements(programs: list[Program], instrumentation: Instrumentation, found: list[Found]) -> list[str]:
    """What SPIN and we do not agree on. Where the whole state space was searched, the numbers of states must be equal."""
    wrong = []
    for program, spin in zip(programs, found, strict=True):
        ours = decide(program, CheckOptions(instrumentation=instrumentation))
        if spin.verdict != ours.verdict.value:
            wrong.append(f"{program.name}: SPIN says {spin.verdict}, we say {ours.verdict.value}")
        elif spin.verdict == "robust" and spin.states != ours.counts.states:
            wrong.append(f"{program.name}: SPIN stores {spin.states} states, we {ours.counts.states}")
    return wrong


@each_chunk
def test_pivot_models_of_all_loop_free_programs(chunk: int, tmp_path: Path) -> None:
    """Without partial-order reduction, so that the states are comparable."""
    programs = [load(path) for path in LOOP_FREE[chunk::CHUNKS]]
    found = verify_all(models(programs, "pivot"), tmp_path, "-O0", "-DNOREDUCE")
    assert disagreements(programs, "pivot", found) == []


def compare_paper(paths: tuple[Path, ...], folder: Path) -> None:
    """With partial-order reduction, as a user would run SPIN: the verdicts only."""
    programs = [load(path) for path in paths]
    found = verify_all(models(programs, "paper"), folder, "-O0")
    expected = ["robust" if p.expect_robust else "not-robust" for p in programs]
    assert [(p.name, f.verdict) for p, f in zip(programs, found, strict=True)] == [
        (p.name, verdict) for p, verdict in zip(programs, expected, strict=True)
    ]


@each_chunk
@pytest.mark.skipif(not fast, reason=f"the paper's models of {len(SMALL_PAPER)} programs were not run: tcc is not installed")
def test_paper_models_of_small_loop_free_programs(chunk: int, tmp_path: Path) -> None:
    compare_paper(SMALL_PAPER[chunk::CHUNKS], tmp_path)


@pytest.mark.long
@each_chunk
def test_long_paper_models_of_loop_free_programs(chunk: int, tmp_path: Path) -> None:
    """Those too that are beyond the budget of the goldens, as long as SPIN ends within its limits."""
    programs = [load(path) for path in LOOP_FREE[chunk::CHUNKS] if path not in SMALL_PAPER]
    found = verify_all(models(programs, "paper"), tmp_path, "-DMEMLIM=2000", timeout=20.0)
    for program, spin in zip(programs, found, strict=True):
        assert spin.verdict in ("unknown", "robust" if program.expect_robust else "not-robust"), program.name
    assert sum(spin.verdict != "unknown" for spin in found) > len(found) // 4


@each_chunk
def test_looping_programs(chunk: int, tmp_path: Path) -> None:
    """Models with proven bounds are exact; bounded models say so and never find an error that is none."""
    paths = [path for path in LOOPING[chunk::CHUNKS] if read_golden(path)["pivot"]["states"] < 20_000]
    programs = [load(path) for path in paths]
    exports = [export_text(p.source, p.file, ExportOptions("promela", "pivot", counter_bound=3)) for p in programs]
    found = verify_all([e.text for e in exports], tmp_path, "-O0")
    for program, export, spin in zip(programs, exports, found, strict=True):
        ours = decide(program, CheckOptions()).verdict.value
        bounded = bool(lower(instrument_plain(program)).dimension)
        assert bounded == bool(export.remarks) == ("bounded model" in export.text), program.name
        assert spin.verdict == ours or (bounded and ours == "not-robust"), program.name


@each_chunk
def test_plain_models(chunk: int, tmp_path: Path) -> None:
    """SPIN meets a fault under sequential consistency iff the SC machine does, in as many states as ours."""
    programs = [load(path) for path in LOOP_FREE[chunk::CHUNKS]]
    found = verify_all(models(programs, "none"), tmp_path, "-O0", "-DNOREDUCE")
    for program, spin in zip(programs, found, strict=True):
        faults = explore(ScMachine(program), Limits()).faults
        assert bool(spin.errors) == bool(faults), program.name
        if not faults:
            assert spin.states == breadth_first(lower(instrument_plain(program)), SearchLimits()).states, program.name


def random_programs(seeds: range, size: Size, *, loops: bool = False) -> list[Program]:
    return [load_program(random_program(Random(seed), size, loops=loops), f"seed {seed}") for seed in seeds]


def test_random_programs(tmp_path: Path) -> None:
    """40 loop-free programs by default, 200 more in `make test-long`."""
    programs = random_programs(range(40 if fast else 10), SMALL)
    assert disagreements(programs, "pivot", verify_all(models(programs, "pivot"), tmp_path, "-O0", "-DNOREDUCE")) == []


def test_random_looping_programs_give_models_that_spin_accepts(tmp_path: Path) -> None:
    programs = random_programs(range(1_000, 1_015 if fast else 1_005), SMALL, loops=True)
    found = verify_all(models(programs, "pivot"), tmp_path, "-O0", "-DMEMLIM=500")
    for program, spin in zip(programs, found, strict=True):
        ours = decide(program, CheckOptions(max_states=50_000)).verdict.value
        assert not spin.errors or ours == "not-robust", program.file


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_long_random_programs(chunk: int, tmp_path: Path) -> None:
    """200 programs, both instrumentations and both settings of the open cell."""
    seeds = range(50_000 + 20 * chunk, 50_020 + 20 * chunk)
    programs = random_programs(seeds, SMALL)
    for ordered, instrumentation in itertools.product((False, True), ("pivot", "paper")):
        found = verify_all(
            models(programs, instrumentation, ordered), tmp_path / instrumentation / str(ordered), "-DMEMLIM=2000"
        )
        for program, spin in zip(programs, found, strict=True):
            ours = decide(program, CheckOptions(ordered_reads=ordered)).verdict.value
            assert spin.verdict in (ours, "unknown"), f"{program.file}, {instrumentation}, ordered reads {ordered}"
