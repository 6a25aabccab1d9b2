"""Searches whose states are divided among processes: they find what one thread finds, and leave nothing running."""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bench.families import bakery, pipeline, producers
from rdma_robust.counters.kernel import driver
from rdma_robust.counters.kernel.search_plan import SearchPlan
from rdma_robust.counters.parts import all_parts, local
from rdma_robust.counters.parts.links import Links, PeerLostError
from rdma_robust.counters.parts.lost_parts import PartsLostError
from rdma_robust.counters.search import explore
from rdma_robust.errors import UsageError
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits, executor_of
from rdma_robust.options import ALL_REDUCTIONS, CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.reports.check.paragraphs import searched_by
from rdma_robust.reports.check.result import result_of
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.pivot import instrument_pivot
from tests.litmus.goldens import PROGRAMS, load
from tests.support.random_programs import LARGER, SMALL, random_program
from tests.support.searches import comparable
from tests.unit.counters.test_threads import MIXED, instrumented

pytestmark = pytest.mark.skipif(not driver.AVAILABLE, reason="the compiled kernel is not installed: it is not tested")


@pytest.fixture(autouse=True)
def _from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "MANY", 0)


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes that were started for parts, of which none is there at the end of a test."""
    found: list[int] = []
    begin = local.LocalHosts.begin

    def noted(self: local.LocalHosts, plan: SearchPlan, parts: int) -> None:
        begin(self, plan, parts)
        found.extend(self.call("process"))

    monkeypatch.setattr(local.LocalHosts, "begin", noted)
    return found


def gone(pid: int) -> bool:
    """Return whether a process has ended, or nobody has asked yet how: one without a parent waits for the system to ask."""
    with suppress(FileNotFoundError, ProcessLookupError):
        for _ in range(200):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            time.sleep(0.01)
        return False
    return True


def agree(program: Any, counts: tuple[int, ...], *, engine: str = "auto", times: int = 1) -> bool:
    """Compare with the search of one thread; return whether that had no counters and came to its end without a target."""
    alone = explore(program, Limits(states=20_000), engine=engine)
    if alone.result.cut or alone.dimension:
        return False
    for count in counts:
        for _ in range(times):
            found = explore(program, Limits(states=20_000, executor=f"local:{count}"), engine=engine)
            assert comparable(found) == comparable(alone)
            assert found.processes in (0, count)  # none if it was done at once
    return alone.result.target < 0


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        (pipeline(3, 3), "dfs"),
        pytest.param(pipeline(3, 3), "bfs", marks=pytest.mark.ci),
        pytest.param(producers(2, 2), "dfs", marks=pytest.mark.ci),
    ],
    ids=["pipeline", "in layers", "like threads"],
)
def test_parts_find_what_one_thread_finds(text: str, engine: str, started: list[int]) -> None:
    assert agree(instrumented(text, ALL_REDUCTIONS), (2,), engine=engine)
    assert len(started) == 2 and all(map(gone, started))


@pytest.mark.ci
def test_one_two_and_three_parts_find_the_same_three_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "MANY", 20)
    done = sum(agree(instrument_pivot(load(path), reductions=ALL_REDUCTIONS), (1, 2, 3), times=3) for path in PROGRAMS[::12])
    done += agree(instrumented(bakery(2), ALL_REDUCTIONS), (1, 2, 3), times=3)
    for seed in range(40):
        text = random_program(Random(seed), (SMALL, LARGER)[seed % 2], loops=seed % 3 == 0)
        done += agree(instrumented(text, (MIXED, ALL_REDUCTIONS, frozenset[str]())[seed % 3]), (2, 3))
    assert done > 30


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_long_random_programs_in_parts(chunk: int) -> None:
    for seed in range(1000 * chunk, 1000 * chunk + 200):
        text = random_program(Random(seed), (SMALL, LARGER)[seed % 2], loops=seed % 3 == 0)
        agree(instrumented(text), (2, 5))


@pytest.mark.ci
def test_a_limit_of_states_is_kept_to_the_state() -> None:
    for states in (50, 1000, 1001):
        found = explore(instrumented(pipeline(3, 6)), Limits(states=states, executor="local:3"))
        assert (found.result.cut, found.result.states) == ("states", states)
        assert found.result.frontier > 0


@pytest.mark.ci
def test_limits_of_memory_and_time_end_all_parts() -> None:
    program = instrumented(pipeline(4, 6), frozenset({"por"}))
    for limits in (Limits(memory=1, executor="local:2"), Limits(deadline=0.0, executor="local:2")):
        assert explore(program, limits).result.cut in ("memory", "time")


@pytest.mark.ci
def test_the_run_is_told_that_one_thread_finds_or_else_that_of_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    program = instrument_pivot(load(next(p for p in PROGRAMS if p.stem == "dekker-entry-mirrored")), reductions=MIXED)
    alone = explore(program, Limits())
    assert alone.result.target >= 0
    assert comparable(explore(program, Limits(executor="local:2"))) == comparable(alone)
    monkeypatch.setattr(Limits, "alone", lambda _: Limits(states=3))
    found = explore(program, Limits(executor="local:2"))
    assert found.result.target >= 0 and found.run and not found.result.cut


@pytest.mark.ci
def test_a_check_in_parts_says_so_and_is_the_same() -> None:
    for text in (pipeline(3, 3), load_text("dekker-entry-mirrored")):
        program = load_program(text, "it")
        one, many = (decide(program, CheckOptions(threads=1, executor=where)) for where in ("", "local:2"))
        assert (one.verdict, one.reason, one.counts.states, one.counts.transitions) == (
            many.verdict,
            many.reason,
            many.counts.states,
            many.counts.transitions,
        )
        assert one.witness == many.witness
        assert "2 processes, each with a part of the states" in searched_by(result_of(many, "it"))


def load_text(name: str) -> str:
    return next(p for p in PROGRAMS if p.stem == name).read_text(encoding="utf-8")


def killing(monkeypatch: pytest.MonkeyPatch, started: list[int], after: int, how: int) -> None:
    """Let a process be hit before round number `after`."""
    rounds: list[int] = []
    run: Callable[..., list[int]] = all_parts.SearchParts.run

    def hit(self: all_parts.SearchParts, budget: int, limits: Limits) -> list[int]:
        rounds.append(1)
        if len(rounds) == after:
            os.kill(started[-1], how)
        return run(self, budget, limits)

    monkeypatch.setattr(all_parts.SearchParts, "run", hit)
    monkeypatch.setattr(local.LocalHosts, "seconds", 0.002)


@pytest.mark.ci
@pytest.mark.parametrize("after", [1, 2])
def test_a_part_that_is_killed_leaves_the_question_open(
    after: int, started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    killing(monkeypatch, started, after, signal.SIGKILL)
    outcome = decide(load_program(pipeline(3, 6), "it"), CheckOptions(executor="local:2"))
    assert outcome.verdict is Verdict.UNKNOWN
    assert "the process of part 2 of the search was killed by SIGKILL" in outcome.reason
    assert all(map(gone, started))


@pytest.mark.ci
def test_the_process_that_has_started_the_others_is_not_missed(started: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """It only tells how others end: killed, it leaves the search what it was, and nothing running."""
    program = instrumented(pipeline(3, 4))
    alone = explore(program, Limits())
    run = all_parts.SearchParts.run
    killed: list[int] = []

    def hit(self: all_parts.SearchParts, budget: int, limits: Limits) -> list[int]:
        if not killed:
            stat = Path(f"/proc/{started[0]}/stat").read_text().rpartition(")")[2].split()
            killed.append(int(stat[1]))
            os.kill(killed[0], signal.SIGKILL)
        return run(self, budget, limits)

    monkeypatch.setattr(all_parts.SearchParts, "run", hit)
    monkeypatch.setattr(local.LocalHosts, "seconds", 0.002)
    assert comparable(explore(program, Limits(executor="local:2"))) == comparable(alone)
    assert killed and all(map(gone, [*killed, *started]))


@pytest.mark.ci
def test_modules_that_cannot_be_loaded_are_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "_CODE", "raise SystemExit(7)")
    with pytest.raises(PartsLostError, match="the process of part 1 of the search ended with code 7"):
        explore(instrumented(pipeline(3, 3)), Limits(executor="local:2"))


def test_a_process_that_cannot_be_started_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(PartsLostError, match="no process can be started"):
        explore(instrumented(pipeline(3, 3)), Limits(executor="local:2"))


def test_more_processes_than_there_may_be_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(socket, "socketpair", refused)
    with pytest.raises(PartsLostError, match=rf"{os.strerror(errno.EMFILE)}; try fewer, --executor local:N"):
        explore(instrumented(pipeline(3, 3)), Limits(executor="local:2"))


@pytest.mark.ci
def test_an_interrupt_ends_all_parts(started: list[int]) -> None:
    def stop(_states: int, _frontier: int) -> None:
        if started:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explore(instrumented(pipeline(3, 8)), Limits(executor="local:2"), stop)
    assert all(map(gone, started))


def test_who_does_not_know_the_key_is_no_part() -> None:
    links = Links(0, "127.0.0.1", 8)
    links._listener.settimeout(0.2)
    with socket.create_connection(links.address) as stranger:
        stranger.sendall(b"x" * 36)
        with pytest.raises(PeerLostError, match="cannot connect"):
            links.connect([links.address, links.address], b"k" * 32)
    links.close()


@pytest.mark.parametrize("wrong", ["", "local:0", "local:5000", "remote", "dask://", "dask://here", "local:2 "])
def test_executors_that_there_are_not(wrong: str) -> None:
    with pytest.raises(UsageError, match="--executor"):
        executor_of(wrong)


def test_executors_that_do_not_fit() -> None:
    with pytest.raises(UsageError, match="leave out"):
        CheckOptions(executor="local", threads=2)
    with pytest.raises(UsageError, match="leave out"):
        CheckOptions(executor="local", kernel="python")
