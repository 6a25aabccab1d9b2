"""Searches by several threads: they find what one finds, whatever its order; and what ends them leaves nothing running."""

from __future__ import annotations

import threading
from random import Random

import pytest

from bench.families import bakery, pipeline, producers
from rdma_robust.cli import asked_files
from rdma_robust.counters.kernel import driver, workers
from rdma_robust.counters.program import CounterProgram
from rdma_robust.counters.search import explore
from rdma_robust.errors import UsageError
from rdma_robust.frame.shell.inputs import Source
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits, processors
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.reports.check import paragraphs
from rdma_robust.reports.check.result import result_of
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.frame import EventLabel
from rdma_robust.robustness.pivot import instrument_pivot
from tests.litmus.goldens import PROGRAMS, load
from tests.support.random_programs import LARGER, SMALL, random_program
from tests.support.searches import comparable

pytestmark = pytest.mark.skipif(not driver.AVAILABLE, reason="the compiled kernel is not installed: it is not tested")

MIXED = frozenset({"por", "relevance", "dead-ends"})


@pytest.fixture(autouse=True)
def _from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "MANY", 0)


def instrumented(text: str, reductions: frozenset[str] = MIXED) -> CounterProgram[EventLabel]:
    return instrument_pivot(load_program(text, "it"), reductions=reductions)


def agree(program: CounterProgram[EventLabel], threads: tuple[int, ...], *, engine: str = "auto", times: int = 1) -> bool:
    """Compare with the search of one thread; return whether that had no counters and came to its end without a target."""
    alone = explore(program, Limits(states=20_000), engine=engine)
    if alone.result.cut:
        return False
    for count in threads:
        for _ in range(times):
            found = explore(program, Limits(states=20_000, threads=count), engine=engine)
            assert comparable(found) == comparable(alone)
    return alone.dimension == 0 and alone.result.target < 0


@pytest.mark.parametrize("engine", ["bfs", "dfs"])
@pytest.mark.parametrize("text", [pipeline(3, 3), bakery(2), producers(2, 2)], ids=["pipeline", "bakery", "like threads"])
def test_threads_find_what_one_finds(text: str, engine: str) -> None:
    assert agree(instrumented(text, ALL_REDUCTIONS), (2, 4), engine=engine)


@pytest.mark.ci
def test_threads_find_what_one_finds_in_litmus_and_random_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "MANY", 20)
    done = sum(agree(instrument_pivot(load(path), reductions=ALL_REDUCTIONS), (2, 4), times=3) for path in PROGRAMS[::12])
    for seed in range(30):
        text = random_program(Random(seed), (SMALL, LARGER)[seed % 2], loops=seed % 3 == 0)
        done += agree(instrumented(text, (MIXED, ALL_REDUCTIONS, frozenset[str]())[seed % 3]), (2, 4), times=3)
    assert done > 30


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(20))
def test_long_random_programs_by_threads(chunk: int) -> None:
    for seed in range(1000 * chunk, 1000 * chunk + 500):
        text = random_program(Random(seed), (SMALL, LARGER)[seed % 2], loops=seed % 3 == 0)
        agree(instrumented(text), (2, 3, 8))


@pytest.mark.long
def test_a_hundred_million_states_fit_into_four_gibibytes() -> None:
    """The pipeline of 4 threads with rings of 21: 115 million states, 2.9 GiB, 8 processor minutes by two threads."""
    limits = CheckOptions(memory=4096, threads=processors())
    outcome = decide(load_program(pipeline(4, 21), "it"), limits)
    assert outcome.verdict is Verdict.ROBUST and outcome.counts.states > 100_000_000


def test_few_states_are_searched_by_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    grown: list[int] = []
    monkeypatch.setattr(workers.Workers, "grow", lambda *_: grown.append(1))
    monkeypatch.setattr(driver, "MANY", 10_000_000)
    explore(instrumented(pipeline(3, 3)), Limits(threads=2))
    assert not grown


@pytest.mark.parametrize("limits", [{"states": 500}, {"memory": 1}, {"deadline": 0.0}], ids=str)
def test_limits_end_all_threads(limits: dict[str, float]) -> None:
    found = explore(instrumented(pipeline(3, 6)), Limits(threads=3, **limits))  # type: ignore[arg-type]
    assert found.result.cut in ("states", "memory", "time") and found.result.states <= 500
    assert found.result.frontier > 0
    assert threading.active_count() == 1


def test_numbers_end_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "MOST_NUMBERS", 3000)
    found = explore(instrumented(pipeline(3, 6)), Limits(threads=4))
    assert found.result.cut == "numbers" and found.result.states <= 3000


def test_an_interrupt_ends_all_threads() -> None:
    def stop(states: int, _frontier: int) -> None:
        if states > 2000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explore(instrumented(pipeline(3, 8)), Limits(threads=4), stop)
    assert threading.active_count() == 1


def test_a_thread_that_cannot_be_started_is_a_lack_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(workers.Thread, "start", refuse)
    found = explore(instrumented(pipeline(3, 3)), Limits(threads=2))
    assert found.result.cut == "memory"
    assert threading.active_count() == 1


def test_what_is_found_by_threads_is_told_where_one_thread_comes_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = driver._Run.go

    def cut_alone(run: driver._Run[str], limits: Limits, progress: object) -> int:
        if limits.threads == 1:
            run.cut = "time"
            return int(driver.Status.BUDGET)
        return whole(run, limits, progress)  # type: ignore[arg-type]

    program = instrument_pivot(load(next(path for path in PROGRAMS if path.stem == "dekker-entry-mirrored")))
    assert explore(program, Limits()).result.target >= 0
    monkeypatch.setattr(driver._Run, "go", cut_alone)
    found = explore(program, Limits(threads=2))
    assert found.result.target >= 0 and found.run and not found.result.cut


def test_threads_and_jobs_are_together_as_many_as_there_are_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked_files, "processors", lambda: 8)
    monkeypatch.setattr(asked_files, "KERNEL", "c")
    items = [Source("text", f"{i}.rdma") for i in range(20)]
    assert asked_files.threads_each(None, None, items[:1]) == (8, None)
    assert asked_files.threads_each(None, None, items[:3]) == (2, None)
    assert asked_files.threads_each(None, None, items) == (1, None)
    assert asked_files.threads_each(None, 2, items) == (4, 2)
    assert asked_files.threads_each(3, None, items) == (3, 2)
    assert asked_files.threads_each(1, None, items) == (1, None)
    assert asked_files.threads_each(16, 5, items) == (16, 5)
    monkeypatch.setattr(asked_files, "KERNEL", "python")
    with pytest.raises(UsageError, match="not installed"):
        asked_files.threads_each(2, None, items)


def test_explanations_say_how_many_threads_have_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(text: str, threads: int) -> str:
        return paragraphs.searched_by(result_of(decide(load_program(text, "it"), CheckOptions(threads=threads)), "it"))

    assert told(pipeline(3, 3), 2) == "Searched in 2 threads."
    assert "fewer than 100,000 states" in told(pipeline(3, 3), 1)
    monkeypatch.setattr(paragraphs, "MANY", 0)
    assert "there is no other" in told(pipeline(3, 3), 1)
    broken = next(path for path in PROGRAMS if path.stem == "dekker-entry-mirrored").read_text(encoding="utf-8")
    assert "once more in one" in told(broken, 2)
    assert CheckOptions().limits().threads == processors()


def test_threads_that_no_search_can_have_are_refused() -> None:
    with pytest.raises(UsageError, match="at least one thread"):
        CheckOptions(threads=0)
    with pytest.raises(UsageError, match="in Python has one thread"):
        CheckOptions(threads=2, kernel="python")
