"""The page of a program: its parts, and that the verdict survives whatever happens to them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rdma_robust.analyses.repair.repairs import Repair
from rdma_robust.batch import pages
from rdma_robust.batch.job import Job
from rdma_robust.batch.pages import repair_note
from rdma_robust.cli.processes import decide_job as module
from rdma_robust.cli.processes.decide_job import decide_job
from rdma_robust.guard import Overrun
from rdma_robust.options import CheckOptions
from rdma_robust.reports.batch.batch_view import Page
from tests.conftest import NOT_ROBUST, ROBUST, ROOT

OPTIONS = CheckOptions(timeout=60)
MAILBOX = Job("litmus/mailbox-plain.rdma", (ROOT / "litmus/mailbox-plain.rdma").read_text(), OPTIONS, page=True, repair=20.0)


def page(job: Job) -> Page:
    record = decide_job(job)
    assert record.page is not None
    return record.page


def test_a_program_that_is_not_robust_has_everything() -> None:
    record = decide_job(MAILBOX)
    found = record.page
    assert found is not None
    assert "not robust" in found.headline
    assert found.text
    assert re.findall(r'rr-line-cycle[^"]*" data-line="(\d+)"', found.source) == ["9", "10"]
    assert found.timeline.startswith("<svg")
    assert found.graph.startswith("<svg")
    assert "+  poll B" in found.repair.splitlines()
    assert not found.repair.startswith("---")
    assert found.repair_note == "A cheapest repair inserts `poll B` in Sender (line 10). It was decided again and is robust."
    assert (found.problem, found.cut, record.settled) == ("", False, True)


def test_a_robust_program_has_no_drawings_and_no_repair() -> None:
    found = page(Job("calm.rdma", ROBUST, OPTIONS, page=True, repair=20.0))
    assert "robust" in found.headline
    assert (found.timeline, found.graph, found.repair, found.repair_note) == ("", "", "", "")


def test_no_repair_is_looked_for_unless_wanted() -> None:
    assert page(replace(MAILBOX, repair=0.0)).repair_note == ""


def test_a_repair_that_was_cut_short_is_not_settled() -> None:
    record = decide_job(replace(MAILBOX, repair=1e-9))
    assert record.page is not None
    assert record.page.cut
    assert (record.settled, record.lasting) == (False, True)
    assert record.result.verdict == "not-robust"


def broken(*_: object, **__: object) -> str:
    raise ZeroDivisionError("oh <b>")


@pytest.mark.parametrize(
    ("part", "left"), [("explanation", ""), ("graph_svg", "headline"), ("timeline_svg", "graph"), ("repair", "timeline")]
)
def test_a_part_that_fails_costs_that_part(monkeypatch: pytest.MonkeyPatch, part: str, left: str) -> None:
    monkeypatch.setattr(pages, part, broken)
    record = decide_job(MAILBOX)
    assert record.result.verdict == "not-robust"
    assert record.page is not None
    assert "ZeroDivisionError: oh <b>" in record.page.problem + record.page.repair_note
    assert not left or getattr(record.page, left)
    assert record.settled is (part == "repair")


@pytest.mark.parametrize(
    ("error", "said"), [(Overrun("reached 60 s"), "left out: reached 60 s"), (MemoryError(), "left out: out of memory")]
)
def test_a_page_that_takes_too_much_costs_the_page(monkeypatch: pytest.MonkeyPatch, error: BaseException, said: str) -> None:
    def exhausted(*_: object) -> Page:
        raise error

    monkeypatch.setattr(pages, "page_of", exhausted)
    record = decide_job(MAILBOX)
    assert record.result.verdict == "not-robust"
    assert record.page is not None
    assert said in record.page.problem
    assert not record.settled


@pytest.mark.parametrize(
    ("error", "said"), [(Overrun("reached the time limit"), "time limit"), (MemoryError(), "out of memory")]
)
def test_a_program_that_takes_too_much_is_undecided(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, said: str
) -> None:
    def exhausted(*_: object) -> None:
        raise error

    monkeypatch.setattr(module, "_outcome", exhausted)
    record = decide_job(Job("sb.rdma", NOT_ROBUST, OPTIONS))
    assert (record.result.verdict, said in record.result.reason, record.settled) == ("unknown", True, False)


def test_what_libraries_print_is_dropped(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import os  # noqa: PLC0415

    def loud(*_: object) -> Page:
        os.write(2, b"Warning: fonts")
        return Page()

    monkeypatch.setattr(pages, "page_of", loud)
    decide_job(MAILBOX)
    os.write(2, b"heard")
    assert capfd.readouterr().err == "heard"


def test_the_note_says_why_there_is_no_repair() -> None:
    assert repair_note(Repair("impossible", "no set of insertions helps")) == "No set of insertions helps."
