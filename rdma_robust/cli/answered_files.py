"""What commands that answer for many files of message programs share: answers in order, in every form of report."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from rdma_robust import TOOL
from rdma_robust.cli.batch import Question, answer_all
from rdma_robust.cli.options.defaults import processors
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.json_text import dump, layout
from rdma_robust.frame.formats.lines import WRITERS
from rdma_robust.frame.shell.inputs import Item
from rdma_robust.frame.shell.output import Output, output
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.reports.batch.batch_formats import FORMS
from rdma_robust.reports.check.summary import summarise
from rdma_robust.reports.messages.file_record import reported_findings

if TYPE_CHECKING:
    from rdma_robust.reports.batch.batch_view import BatchReport

Asking = TypeVar("Asking")
Answer = TypeVar("Answer")
Totals = TypeVar("Totals")


@dataclass(frozen=True, slots=True)
class FilesRequest(Generic[Asking]):
    """What to ask of which files, and how to report it. `jobs` of None is one process per processor."""

    items: Sequence[Item]
    asking: Asking
    jobs: int | None = None
    format: str = "text"
    path: str | None = None
    quiet: bool = False


class Rows(Protocol):
    """Writes rows of text."""

    def header(self) -> list[str]:
        """Return the headings."""

    def rows(self, record: Any) -> list[str]:
        """Return the rows of a file."""

    def totals(self, summary: Any) -> list[str]:
        """Return the last lines."""


@dataclass(frozen=True, slots=True)
class FilesRun(ABC, Generic[Answer, Totals]):
    """Where and how to report answers, each of which has a `record`."""

    request: FilesRequest[Any]
    out: Output
    text: Rows

    @abstractmethod
    def said(self, answer: Answer) -> Sequence[str]:
        """Return what is said about a file on standard error, besides findings."""

    @abstractmethod
    def results(self, answer: Answer) -> Sequence[JsonObject]:
        """Return the JSON objects of a file."""

    @abstractmethod
    def summary(self, answers: Sequence[Answer], spent: float, stopped: Exit | None) -> Totals:
        """Return the totals, with `interrupted`, `exit_code` and `time_s`."""

    @abstractmethod
    def document(self, results: Sequence[JsonObject], summary: Totals, options: Mapping[str, object]) -> JsonObject:
        """Return the whole report as JSON."""

    @abstractmethod
    def with_records(self, report: BatchReport, answers: Sequence[Answer]) -> BatchReport:
        """Return a report to which the records are added."""

    @abstractmethod
    def done(self, summary: Totals) -> str:
        """Return how many files are done of how many."""

    def report(self, answer: Answer) -> None:
        """Report one answer."""
        request, record = self.request, answer.record  # type: ignore[attr-defined]
        if request.format in WRITERS:
            for finding in reported_findings(record):
                self.out.line(WRITERS[request.format](finding))
        for message in self.said(answer):
            warn(message)
        if request.format == "jsonl":
            for each in self.results(answer):
                self.out.line(dump(each))
        elif request.format == "text" and not (request.quiet and record.exit_code == Exit.OK):
            for line in self.text.rows(record):
                self.out.say(line)

    def end(self, answers: Sequence[Answer], summary: Any) -> None:
        """Report what there is about all."""
        if self.request.format == "text":
            self.out.say("\n".join(self.text.totals(summary)))
            return
        options = self.request.asking.described()
        if self.request.format == "json":
            results = [each for answer in answers for each in self.results(answer)]
            self.out.line(layout(self.document(results, summary, options)))
        elif self.request.format in FORMS and self.request.format != "jsonl":
            self.out.line(FORMS[self.request.format].write(self._batch(answers, summary, options)).rstrip("\n"))
        if summary.interrupted:
            warn(f"interrupted: {self.done(summary)} done")

    def _batch(self, answers: Sequence[Answer], summary: Any, options: dict[str, object]) -> BatchReport:
        """Return the answers as the forms for other tools are written from them."""
        from rdma_robust.reports.batch.batch_view import BatchReport  # noqa: PLC0415 - for few forms

        expect = self.request.asking.expect
        stopped = Exit(summary.exit_code) if summary.interrupted else None
        none = summarise([], requested=0, expect=expect, time_s=summary.time_s, stopped=stopped)
        totals = replace(none, exit_code=Exit(summary.exit_code))
        return self.with_records(BatchReport([], totals, expect, TOOL, options), answers)


def answer_files(
    request: FilesRequest[Any], question: Question[Answer], kind: type[FilesRun[Answer, Any]], text: Rows
) -> Exit:
    """Answer and report every item of `request`; return the exit code. Raises UsageError, BrokenPipeError."""
    started = time.monotonic()
    with output(request.path) as out:
        run = kind(request, out, text)
        if request.format == "text" and not request.quiet:
            out.line("\n".join(text.header()))
        jobs = request.jobs or processors()
        answers, stopped = answer_all(request.items, question, jobs, run.report, quiet=request.quiet)
        summary = run.summary(answers, time.monotonic() - started, stopped)
        run.end(answers, summary)
    return Exit(summary.exit_code)
