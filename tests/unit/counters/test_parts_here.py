"""Searches in parts that are threads of this process: what parts find, keep and read back, without starting any."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

import rdma_robust
from bench.families import pipeline
from rdma_robust.counters.kernel import driver
from rdma_robust.counters.parts import checkpoint, links
from rdma_robust.counters.search import explore
from rdma_robust.errors import UsageError
from rdma_robust.limits import Limits
from rdma_robust.options import ALL_REDUCTIONS
from tests.support.parts_here import HostsHere
from tests.support.random_programs import LARGER, SMALL, random_program
from tests.support.searches import comparable
from tests.unit.counters.test_parts_asked import COUNTING
from tests.unit.counters.test_threads import MIXED, instrumented

pytestmark = pytest.mark.skipif(not driver.AVAILABLE, reason="the compiled kernel is not installed: it is not tested")


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "MANY", 0)
    monkeypatch.setattr(checkpoint, "EVERY_S", 0.0)
    monkeypatch.setattr(driver, "hosts_of", lambda executor: HostsHere(int(executor.removeprefix("local:"))))


def agreed(seeds: range, folder: Path) -> int:
    """Compare with one thread, in parts at once and after an end at half of the states; return how many there were."""
    done = 0
    for seed in seeds:
        text = random_program(Random(seed), (SMALL, LARGER)[seed % 2], loops=seed % 3 == 0)
        program = instrumented(text, (MIXED, ALL_REDUCTIONS, frozenset[str]())[seed % 3])
        engine = ("dfs", "bfs")[seed % 2]
        alone = explore(program, Limits(states=20_000), engine=engine)
        if alone.result.cut or alone.dimension:
            continue
        where, kept = f"local:{2 + seed % 3}", str(folder / str(seed))
        assert comparable(explore(program, Limits(executor=where), engine=engine)) == comparable(alone)
        half = Limits(states=max(1, alone.result.states // 2), executor=where, checkpoint=kept)
        explore(program, half, engine=engine)
        found = explore(program, Limits(executor=where, checkpoint=kept), engine=engine)
        assert comparable(found) == comparable(alone)
        done += alone.result.states > 20
    return done


@pytest.mark.ci
def test_answers_of_the_library_in_parts(tmp_path: Path) -> None:
    """reach, verify and prove find in parts what they find in one thread, and say which searchers there cannot be."""
    text = pipeline(3, 2)

    def answers(**searchers: Any) -> tuple[Any, ...]:
        reached = rdma_robust.reach(text, "Stage1.got == 2", **searchers)
        verified = rdma_robust.verify(text, **searchers)
        proved = rdma_robust.prove(COUNTING, engine="explicit", **searchers)
        return reached.answer, [each.status for each in verified.checked], proved.safety, proved.states

    assert answers(executor="local:2") == answers(threads=1)
    assert answers(executor="local:2", checkpoint=str(tmp_path)) == answers(threads=1)
    assert list(tmp_path.iterdir())
    for wrong in ({"executor": "local:2", "threads": 2}, {"checkpoint": "here"}, {"executor": "elsewhere"}):
        with pytest.raises(UsageError):
            answers(**wrong)


def test_parts_in_threads_find_keep_and_go_on(tmp_path: Path) -> None:
    assert agreed(range(3), tmp_path) > 0


@pytest.mark.long
@pytest.mark.parametrize("hundred", range(10))
def test_long_parts_in_threads_find_keep_and_go_on(tmp_path: Path, hundred: int) -> None:
    assert agreed(range(100 * hundred, 100 * hundred + 100), tmp_path) > 20


def test_what_is_too_much_for_a_frame_is_cut_between_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut within one, the rest would be read as other states."""
    monkeypatch.setattr(links, "_FRAME", 100)
    program = instrumented(pipeline(3, 2), ALL_REDUCTIONS)
    assert comparable(explore(program, Limits(executor="local:3"))) == comparable(explore(program, Limits()))
