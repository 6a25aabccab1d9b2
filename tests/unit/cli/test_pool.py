"""Parallel processes: order, deaths, and errors that nobody foresaw."""

from __future__ import annotations

import os
import signal
import time
from functools import partial

import pytest

from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.deciding import lost_item
from rdma_robust.frame.shell import pool
from rdma_robust.frame.shell.inputs import Item, Source
from rdma_robust.guard import Overrun
from rdma_robust.options import CheckOptions
from rdma_robust.questions import robustness_question
from rdma_robust.questions.robustness_question import CHECK, RobustnessAsking
from rdma_robust.reports.check.result import Result
from tests.support.questions import check_item, gave_up
from tests.support.shares import share

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")

OPTIONS = CheckOptions()
LOST = partial(lost_item, CHECK, RobustnessAsking(OPTIONS))


def fake(item: Item) -> Answer[Result]:
    """Do what the name says."""
    verb, _, argument = item.name.partition(" ")
    if verb == "sleep":
        time.sleep(float(argument))
    elif verb == "kill":
        os.kill(os.getpid(), int(argument))
    elif verb == "exit":
        os._exit(int(argument))
    return Answer(gave_up(item.name, "done"))


def run(names: list[str], jobs: int) -> dict[int, Answer[Result]]:
    items = [(number, Source(name, name)) for number, name in enumerate(names)]
    return dict(pool.in_processes(items, pool.Work(fake, LOST), jobs, lambda: None))


@pytest.mark.parametrize("jobs", share([2, 1, 5, 20], 2))
def test_every_item_is_answered_once(jobs: int) -> None:
    names = [f"item {k}" for k in range(9)]
    answers = run(names, jobs)
    assert [answers[k].record.file for k in range(9)] == names


def test_a_death_costs_one_program() -> None:
    names = ["item", f"kill {signal.SIGKILL:d}", "item", f"kill {signal.SIGUSR1:d}", "exit 3", "item"]
    answers = run(names, 2)
    results = [answers[k].record for k in range(len(names))]
    assert [r.verdict for r in results] == ["unknown", "unknown", "unknown", "error", "error", "unknown"]
    assert "want of memory" in results[1].reason
    assert f"signal {signal.SIGUSR1:d}" in results[3].reason
    assert "exit code 3" in results[4].reason
    assert results[3].error_kind == "internal"


def test_closing_ends_the_processes() -> None:
    started = time.monotonic()
    answers = pool.in_processes(
        [(0, Source("item", "")), (1, Source("sleep 60", ""))], pool.Work(fake, LOST), 2, lambda: None
    )
    assert next(answers)[0] == 0
    answers.close()
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("error", "verdict", "said"),
    [
        (ValueError("odd"), "error", "internal error: ValueError: odd"),
        (RecursionError("deep"), "error", "internal error: RecursionError"),
        (InternalError("contradiction"), "error", "internal error: contradiction"),
        (SizeLimitError("too large"), "unknown", "too large"),
        (MemoryError(), "unknown", "out of memory"),
        (Overrun("reached the time limit of 9 s"), "unknown", "time limit of 9 s"),
    ],
)
def test_no_exception_leaves_a_program(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, verdict: str, said: str
) -> None:
    def fail(*_: object) -> str:
        raise error

    monkeypatch.setattr(robustness_question, "read_source", fail)
    answer = check_item(Source("x.rdma", "x.rdma"), CheckOptions(timeout=9))
    assert answer.record.verdict == verdict
    assert said in answer.record.reason
    assert not any("Traceback" in message for message in answer.messages)


@pytest.mark.parametrize("swallows", [False, True])
def test_the_guard_ends_what_does_not_look_at_its_limits(monkeypatch: pytest.MonkeyPatch, swallows: bool) -> None:
    def stuck(_: object) -> str:
        while True:
            try:
                time.sleep(60)
            except Exception:
                if not swallows:
                    raise

    monkeypatch.setattr(robustness_question, "read_source", stuck)
    answer = check_item(Source("x.rdma", "x.rdma"), CheckOptions(timeout=0.05))
    assert answer.record.verdict == "unknown"
    assert answer.record.reason == "reached the time limit of 0.05 s while deciding"
    assert 0.05 < answer.record.time_s < 30


def test_the_traceback_is_shown_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robustness_question, "read_source", lambda _: 1 // 0)
    monkeypatch.setenv("RDMA_ROBUST_DEBUG", "1")
    (message,) = check_item(Source("x.rdma", "x.rdma"), OPTIONS).messages
    assert "Traceback" in message
    assert "ZeroDivisionError" in message
