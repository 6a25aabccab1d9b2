"""A verdict that was found is kept, whatever becomes of what is done beside it, and what was left out is said."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import NoReturn

import pytest

from rdma_robust import beside
from rdma_robust.analyses.explain import compose
from rdma_robust.analyses.safety.questions import ReachOutcome
from rdma_robust.analyses.safety.verify import Verified
from rdma_robust.batch.job import Job
from rdma_robust.beside import MOST_S, Beside
from rdma_robust.cli.processes.decide_job import decide_job, kept_record
from rdma_robust.errors import InternalError, LimitReached, SizeLimitError
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.deciding import answer_item, kept_item, lost_item
from rdma_robust.frame.shell import pool
from rdma_robust.frame.shell.inputs import Source
from rdma_robust.guard import Overrun
from rdma_robust.limits import NO_LIMITS, Limits
from rdma_robust.model import Hardware
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.pipeline import check_text
from rdma_robust.questions.robustness_question import CHECK, RobustnessAsking
from rdma_robust.questions.safety_question import REACH, VERIFY, SafetyAsking
from rdma_robust.reports.analyses import safety_report
from rdma_robust.reports.check.result import Result
from rdma_robust.reports.explanation.explanation_dot import graph_dot
from rdma_robust.reports.explanation.explanation_text import explanation_text
from rdma_robust.robustness import decide
from rdma_robust.semantics.machines import hang_words
from tests.conftest import ROOT
from tests.support.questions import check_item

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")

WAITS = """node A { x }
node B { y }
thread T on A {
  await x == 1
  put B.y = 1 inline
}
"""
"""Robust, and it may hang, so that a check looks for that."""

ASSERTS = """node A { x }
node B { y }
thread T on A {
  put B.y = 1 inline
  assert x == 0
}
"""
"""Robust by the static filter, and a search only asks whether the assertion can fail."""

OPTIONS = CheckOptions(timeout=2.0, memory=4096)
PATIENT = CheckOptions(timeout=60.0, memory=4096)
"""So long that a note meets its limit of memory first, on a loaded machine too."""


def for_ever(*_: object) -> NoReturn:
    while True:
        pass


def grows(*_: object) -> NoReturn:
    kept = []
    while True:
        kept.append(bytearray(1 << 20))


def recurses(*_: object) -> None:
    recurses()


def sleeps(*_: object) -> None:
    time.sleep(1000)


def swallows(*_: object) -> None:
    """Go on whatever limit is reached, as a careless handler does."""
    while True:
        try:
            time.sleep(0.01)
        except Exception:
            continue


def raises(error: BaseException) -> Callable[..., NoReturn]:
    def note(*_: object) -> NoReturn:
        raise error

    return note


NOTES = [
    (for_ever, "its share of what notes beside an answer may take"),
    (grows, "MiB, what notes beside an answer may take"),
    (recurses, "nested too deeply"),
    (sleeps, "its share of what notes beside an answer may take"),
    (swallows, "its share of what notes beside an answer may take"),
    (raises(MemoryError()), "out of memory"),
    (raises(SizeLimitError("too many words")), "too many words"),
    (raises(LimitReached("time", "the time limit of 9 s", "thinking")), "the time limit of 9 s while thinking"),
    (raises(Overrun("reached the time limit of 9 s")), "the time limit of 9 s"),
    (raises(InternalError("odd")), "internal error: InternalError: odd"),
    (raises(ValueError("odd")), "internal error: ValueError: odd"),
]


@pytest.mark.parametrize(("note", "said"), NOTES)
def test_whatever_a_note_does_the_verdict_is_kept(
    note: Callable[..., object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hang_words, "first_hang", note)
    monkeypatch.setattr(beside, "MOST_MIB", 16)
    options = PATIENT if note is grows else OPTIONS
    result = check_item(Source("waits.rdma", None, WAITS.encode()), options).record
    assert result.verdict == "robust"
    (left_out,) = result.left_out
    assert left_out.startswith("whether it hangs: ") and said in left_out


@pytest.mark.parametrize("note", [for_ever, grows, recurses, raises(MemoryError()), raises(ValueError("odd"))])
def test_whatever_a_shorter_counterexample_costs_there_is_one(
    note: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = (ROOT / "litmus" / "2plus2w-put.rdma").read_text()
    searched = decide.explore_lowered

    def search(*args: object, **options: object) -> object:
        return note() if options.get("engine") == "bfs" else searched(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(decide, "explore_lowered", search)
    monkeypatch.setattr(beside, "MOST_MIB", 16)
    outcome = check_text(program, "2plus2w-put.rdma", OPTIONS)
    assert outcome.verdict is Verdict.NOT_ROBUST and outcome.witness is not None
    assert outcome.left_out[0].startswith("a shorter counterexample: ")


@pytest.mark.parametrize("note", [for_ever, grows, recurses, raises(MemoryError()), raises(ValueError("odd"))])
def test_whatever_the_look_at_spins_costs_there_is_a_verdict(
    note: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rdma_robust.pipeline.decide", note)
    monkeypatch.setattr(beside, "MOST_MIB", 16)
    outcome = check_text((ROOT / "litmus" / "barrier-two-spin.rdma").read_text(), "spin.rdma", OPTIONS)
    assert outcome.verdict is Verdict.NOT_ROBUST and not outcome.spin_only
    assert outcome.left_out[0].startswith("whether only failed spin reads are not robust: ")


@pytest.mark.parametrize("note", [for_ever, grows, recurses, raises(MemoryError()), raises(ValueError("odd"))])
def test_whatever_the_search_for_faults_costs_a_robust_program_is_one(
    note: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decide, "explore_lowered", note)
    monkeypatch.setattr(beside, "MOST_MIB", 16)
    outcome = check_text(ASSERTS, "asserts.rdma", OPTIONS)
    assert outcome.verdict is Verdict.ROBUST and not outcome.faults_exact
    assert outcome.left_out[0].startswith("which faults are reachable: ")


def test_a_note_that_kills_its_process_costs_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def kills(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(hang_words, "first_hang", kills)
    (answer,) = in_processes(lambda _pid, _seconds: "")
    assert answer.record.verdict == "robust"
    assert answer.record.left_out == (
        "what comes beside the verdict: its process was killed (signal 9), most likely for want of memory",
    )


def test_a_note_that_is_ended_from_outside_costs_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def deaf(*_: object) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        time.sleep(1000)

    monkeypatch.setattr(hang_words, "first_hang", deaf)
    (answer,) = in_processes(lambda _pid, seconds: "reached the time limit of 1 s" if seconds > 1 else "")
    assert answer.record.verdict == "robust"
    assert answer.record.left_out == ("what comes beside the verdict: reached the time limit of 1 s",)


def test_a_page_of_a_report_that_kills_its_process_costs_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rdma_robust.batch.pages.page_of", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    work = pool.Work(decide_job, pytest.fail, kept=kept_record)
    jobs = [(0, Job("waits.rdma", WAITS, OPTIONS, page=True, claims=1.0))]
    ((_, record),) = pool.in_processes(jobs, work, 1, lambda: None)
    assert record.result.verdict == "robust" and "killed" in record.result.left_out[0]
    assert record.page is not None and "killed" in record.page.problem
    assert record.claims is not None and "killed" in record.claims.reason and not record.settled


ASKING = RobustnessAsking(OPTIONS)


def in_processes(overdue: Callable[[int, float], str]) -> list[Answer[Result]]:
    def answer(item: Source, keep: Callable[[Answer[Result]], None]) -> Answer[Result]:
        return check_item(item, OPTIONS, keep)

    work = pool.Work(answer, partial(lost_item, CHECK, ASKING), overdue, kept=partial(kept_item, CHECK, ASKING))
    return [
        reply for _, reply in pool.in_processes([(0, Source("waits.rdma", None, WAITS.encode()))], work, 1, lambda: None)
    ]


def test_what_comes_after_the_verdict_costs_it_neither_outside_of_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    limit = LimitReached("memory", "the memory limit of 64 MiB", "telling")
    monkeypatch.setattr("rdma_robust.pipeline.with_spin", raises(limit))
    result = check_item(Source("waits.rdma", None, WAITS.encode()), OPTIONS).record
    assert result.verdict == "robust"
    assert result.left_out == ("what comes beside the verdict: reached the memory limit of 64 MiB while telling",)
    record = decide_job(Job("waits.rdma", WAITS, OPTIONS))
    assert record.result.verdict == "robust" and record.result.left_out and not record.settled


def test_methods_that_disagree_are_no_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rdma_robust.pipeline.self_check", raises(InternalError("pivot says robust, paper says not-robust")))
    result = check_item(Source("waits.rdma", None, WAITS.encode()), CheckOptions(self_check=True)).record
    assert result.verdict == "error" and "paper says" in result.reason


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(time, "monotonic", made)
    return made


@pytest.mark.parametrize(("limit", "most"), [(None, MOST_S), (10.0, 1.0), (1000.0, MOST_S)])
def test_notes_together_have_a_tenth_of_the_time_and_few_seconds(clock: Clock, limit: float | None, most: float) -> None:
    budget = Beside(Limits.of(limit))
    spent = 0.0

    def works(limits: Limits) -> bool:
        nonlocal spent
        left = limits.seconds_left()
        assert left is not None
        clock.now += left
        spent += left
        return True

    for _ in range(40):
        budget.note("something", works, False)
    assert spent == pytest.approx(most)


def test_a_note_after_the_end_of_the_time_is_not_begun(clock: Clock) -> None:
    budget = Beside(Limits.of(10.0))
    clock.now += 10.0
    assert budget.note("whether it hangs", partial(pytest.fail, "it was begun"), 7) == 7
    assert budget.left_out == ["whether it hangs: reached the time limit of 10 s while preparing it"]


def test_an_interrupt_goes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        Beside(NO_LIMITS).note("something", raises(KeyboardInterrupt()), None)


def test_a_note_beside_a_thread_polls_its_limits() -> None:
    found: list[Outcome] = []
    thread = threading.Thread(target=lambda: found.append(check_text(WAITS, "waits.rdma", OPTIONS)))
    thread.start()
    thread.join()
    assert found[0].verdict is Verdict.ROBUST and found[0].hang is not None


@pytest.mark.parametrize("part", ["machine_run", "graph", "explained_pairs", "final_states"])
@pytest.mark.parametrize("note", [for_ever, recurses, raises(MemoryError())])
def test_an_explanation_goes_on_without_a_part(
    part: str, note: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compose, part, note)
    outcome = check_text((ROOT / "litmus" / "2plus2w-put.rdma").read_text(), "2plus2w-put.rdma", CheckOptions())
    told = compose.explanation(outcome, CheckOptions(), Limits.of(0.1))
    assert told.verdict == "not-robust"
    assert any(text.startswith("Left out: ") for text in told.paragraphs)
    assert explanation_text(told) and graph_dot(told)


@pytest.mark.parametrize(("name", "target"), [("reach", "B.y == 1"), ("verify", None)])
def test_a_run_that_cannot_be_told_costs_no_answer(name: str, target: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    writes = getattr(safety_report, f"{name}_text")

    def costly(*args: object, **options: object) -> object:
        found = next(each for each in args if isinstance(each, ReachOutcome | Verified))
        answers = found.answers if isinstance(found, ReachOutcome) else [each.answer for each in found.checked]
        if any(answer.run for answer in answers):
            raise MemoryError
        return writes(*args, **options)

    monkeypatch.setattr(safety_report, f"{name}_text", costly)
    text = "node A { x }\nnode B { y }\nthread T on A {\n  put B.y = 1 inline\n  x = 1\n  assert x == 2\n}\n"
    question = REACH if target else VERIFY
    asking = SafetyAsking(Hardware(), 60.0, None, None, explain=True, target=target)
    lines = "\n".join(answer_item(question, asking, Source("p.rdma", None, text.encode())).record.lines)
    assert "the run was left out: out of memory" in " ".join(lines.split())
    assert ("REACHABLE" if target else "violated") in lines
