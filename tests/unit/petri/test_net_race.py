"""Searches in two processes: the first answer counts, limits are kept, no process stays behind."""

from __future__ import annotations

import os
import time

import pytest

from rdma_robust.errors import InternalError
from rdma_robust.limits import Limits, Progress
from rdma_robust.petri import cover as engines
from rdma_robust.petri.net import CoverResult, NetRun
from rdma_robust.petri.race import race
from rdma_robust.petri.spec.reader import read_spec
from rdma_robust.processes import can_fork, family
from tests.conftest import ROOT
from tests.support.nets import check_result

pytestmark = pytest.mark.skipif(not can_fork(), reason="processes are forked")
UNSAFE = CoverResult("auto", run=NetRun((1,), (), 0))
Numbers = list[tuple[int, int]]


def at_once(_limits: Limits, _progress: Progress) -> CoverResult:
    return UNSAFE


def gives_up(_limits: Limits, _progress: Progress) -> CoverResult:
    return CoverResult("auto", cut="incomplete")


def never(_limits: Limits, progress: Progress) -> CoverResult:
    progress(7, 3)
    time.sleep(60)
    return UNSAFE


def hungry(_limits: Limits, _progress: Progress) -> CoverResult:
    kept = [bytes([i % 251]) * (1 << 20) for i in range(400)]
    time.sleep(60)
    return CoverResult(str(len(kept)))


def ends(*_: object) -> CoverResult:
    raise SystemExit(7)


def grows(_limits: Limits, _progress: Progress) -> CoverResult:
    raise OverflowError("a number is too large for the compiled kernel")


def ignore(_stored: int, _frontier: int) -> None:
    return None


@pytest.fixture(autouse=True)
def _no_process_stays() -> object:
    before = family(os.getpid())
    yield
    assert family(os.getpid()) == before


@pytest.mark.parametrize("tasks", [(at_once, never), (never, at_once), (gives_up, at_once), (at_once, hungry)])
def test_the_first_answer_counts(tasks: tuple[object, ...]) -> None:
    assert race(tasks, Limits(time.monotonic() + 50), ignore) == UNSAFE  # type: ignore[arg-type]


def test_nobody_knows() -> None:
    found = race((gives_up, gives_up), Limits(), ignore)
    assert found is not None
    assert found.cut == "incomplete"


def test_the_time_limit_ends_what_does_not_look_at_it() -> None:
    told: Numbers = []
    found = race((gives_up, never), Limits(time.monotonic() + 0.3), lambda *numbers: told.append(numbers))
    assert found is not None
    assert (found.cut, found.stored) == ("time", 7)
    assert (7, 3) in told


def test_the_memory_limit_ends_what_does_not_look_at_it() -> None:
    found = race((hungry, gives_up), Limits(time.monotonic() + 50, memory=200), ignore)
    assert found is not None
    assert found.cut == "memory"


def test_limits_are_shared() -> None:
    def shows(limits: Limits, _progress: Progress) -> CoverResult:
        assert (limits.memory, limits.states) == (50, 10)
        return UNSAFE

    assert race((shows, never), Limits(None, 20, 100), ignore) == UNSAFE


def test_what_a_task_raises_is_raised() -> None:
    with pytest.raises(OverflowError, match="too large"):
        race((grows, never), Limits(), ignore)
    with pytest.raises(InternalError, match="exit code 7"):
        race((never, ends), Limits(), ignore)


def test_a_stop_leaves_no_process() -> None:
    def stop(_stored: int, _frontier: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        race((never, never), Limits(), stop)


@pytest.mark.parametrize("path", sorted((ROOT / "tests/nets").glob("[cmt]*.spec"))[::4], ids=lambda p: p.stem)
def test_the_halves_decide_alone_what_they_decide_together(path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any work done before, so that every net goes to the processes."""
    monkeypatch.setattr(engines, "_TOGETHER", 0)
    net = read_spec(path.read_text(), path.name)  # type: ignore[attr-defined]
    alone, together = engines.cover(net), engines.cover(net, Limits(time.monotonic() + 50), processes=2)
    assert check_result(net, alone) == check_result(net, together)
