"""The run of a question over many inputs: processes that answer, reports in order, totals, and the exit code."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from rdma_robust.frame.answer import Answer, Counts, R
from rdma_robust.frame.deciding import answer_item, kept_item, lost_item
from rdma_robust.frame.exits import Exit, worst
from rdma_robust.frame.formats.json_text import dump
from rdma_robust.frame.question import A, Layout, Question, Section, Text, View
from rdma_robust.frame.shell.inputs import Item, Missing, Source, all_loaded
from rdma_robust.frame.shell.meter import Meter, wanted
from rdma_robust.frame.shell.output import Output, output, width_of_output
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.frame.shell.stop import Stopped, released
from rdma_robust.limits import processors
from rdma_robust.processes import can_fork

Reply = TypeVar("Reply")


@dataclass(frozen=True, slots=True)
class Run(Generic[A, R]):
    """A question to be asked of inputs, and how to report on it. `jobs` of None is one process per processor; a `path` of
    None or `-` is standard output. `passed_over` is that of :class:`Counts`.
    """

    question: Question[A, R]
    asking: A
    items: Sequence[Item]
    jobs: int | None = None
    form: str = "text"
    path: str | None = None
    quiet: bool = False
    passed_over: int | None = None


def run_question(run: Run[A, R]) -> Exit:
    """Answer and report every input of a run; return the exit code. Raises UsageError, BrokenPipeError."""
    started = time.monotonic()
    if run.question.heavy_records and any(isinstance(item, Source) for item in run.items):
        with suppress(Exception):  # what answers fails again, and says for which input
            run.question.load()
    with output(run.path) as out:
        view = run.question.view(run.asking)
        alone = len(run.items) == 1 and run.path in (None, "-")
        layout = Layout([item.name for item in run.items], width_of_output(run.path), run.quiet, alone)
        report = _Report(run, out, view, view.text(layout))
        if run.form == "text" and not run.quiet and (head := report.text.header()):
            out.line("\n".join(head))
        jobs = run.jobs or processors()
        answers, stopped = answer_all(run.question, run.asking, run.items, jobs, report.answer, quiet=run.quiet)
        section = section_of(
            run.question,
            run.asking,
            answers,
            requested=len(run.items),
            time_s=time.monotonic() - started,
            stopped=stopped,
            passed_over=run.passed_over,
        )
        report.end(section)
    return Exit(section.counts.exit_code)


def section_of(
    question: Question[A, R],
    asking: A,
    answers: Sequence[Answer[R]],
    *,
    requested: int,
    time_s: float = 0.0,
    stopped: Exit | None = None,
    passed_over: int | None = None,
) -> Section[A, R]:
    """Return the answers for so many `requested` inputs, with their numbers; `stopped` is the exit code of a run that was
    stopped before its end."""
    view, records = question.view(asking), [answer.record for answer in answers]
    codes = [view.exit_of(each) for each in records]
    codes += [Exit.UNKNOWN for answer in answers if answer.uncertified]
    counts = Counts(
        noun=question.noun,
        requested=requested,
        done=len(answers),
        numbers=view.numbers(records),
        interrupted=stopped is not None,
        exit_code=worst(codes) if stopped is None else stopped,
        time_s=time_s,
        passed_over=passed_over,
    )
    return Section(question, asking, answers, counts)


@dataclass(frozen=True, slots=True)
class _Report(Generic[A, R]):
    """Where and how to report."""

    run: Run[A, R]
    out: Output
    view: View[R]
    text: Text[R]

    def answer(self, answer: Answer[R]) -> None:
        """Report one answer."""
        run, record = self.run, answer.record
        told = run.form != "text" and self._findings(record)
        hides = told or (run.quiet and record.error_kind is None)
        for message in answer.messages[len(answer.messages) - answer.uncertified if hides else 0 :]:
            warn(message)
        if run.form == "jsonl":
            for each in self.view.objects(record):
                self.out.line(dump(each))
        elif run.form == "text" and (lines := self.text.lines(record)):
            self.out.say("\n".join(lines))

    def _findings(self, record: R) -> bool:
        """Write what is found in an input, a line each, if the form is one of such lines; return whether it is."""
        from rdma_robust.frame.formats.lines import WRITERS  # noqa: PLC0415 - for few forms

        write = WRITERS.get(self.run.form)
        if write is None:
            return False
        for finding in self.view.findings(record):
            self.out.line(write(finding))
        return True

    def end(self, section: Section[A, R]) -> None:
        """Report what there is about all."""
        run, counts = self.run, section.counts
        if run.form == "text":
            if lines := self.text.totals(section):
                self.out.say("\n".join(lines))
            return
        from rdma_robust.frame.formats.section import SECTION_WRITERS  # noqa: PLC0415 - for few forms

        if run.form in SECTION_WRITERS:
            self.out.line(SECTION_WRITERS[run.form](section).rstrip("\n"))
        elif (written := self.view.written(section, run.form)) is not None:
            self.out.line(written.rstrip("\r\n"))
        if counts.interrupted:
            warn(f"interrupted: {counts.done} of {counts.requested} {counts.noun}s done")


def answer_all(
    question: Question[A, R],
    asking: A,
    items: Sequence[Item],
    jobs: int,
    report: Callable[[Answer[R]], None],
    *,
    quiet: bool,
) -> tuple[list[Answer[R]], Exit | None]:
    """Answer `question` for every item, `jobs` at a time, and report the answers in the order of the items as they come.

    Returns them in this order; when stopped by a signal those there are, all reported, and the exit code it means.
    """
    answers = partial(_answers, question, asking, items, jobs, quiet=quiet)
    return report_in_order(answers, len(items), report, quiet=quiet)


def _answers(
    question: Question[A, R], asking: A, items: Sequence[Item], jobs: int, meter: Meter, *, quiet: bool
) -> Generator[tuple[int, Answer[R]]]:
    """Yield the numbered answers as they come: first those that need no deciding, then in parallel what is left."""
    answer = partial(answer_item, question, asking)
    work: list[tuple[int, Source]] = []
    for number, item in enumerate(items):
        if isinstance(item, Missing):
            yield number, answer(item)
        else:
            work.append((number, item))
    jobs = min(jobs, len(work))
    ready = zip([number for number, _ in work], all_loaded([item for _, item in work], asking.limits), strict=True)
    limits = asking.limits()
    limited = limits.deadline is not None or limits.memory is not None
    if work and can_fork() and (jobs > 1 or limited or question.families):
        from rdma_robust.frame.shell.apart import overdue  # noqa: PLC0415 - loaded late, as all that decides
        from rdma_robust.frame.shell.pool import Work, in_processes, retirement  # noqa: PLC0415

        given = list(ready)
        if len(work) > 1:
            question.load()
        crew = Work(
            answer,
            partial(lost_item, question, asking),
            partial(overdue, limits),
            question.families,
            meter.search if jobs == 1 and wanted(quiet) else None,
            retirement(limits),
            partial(kept_item, question, asking) if question.kept is not None else None,
        )
        yield from in_processes(given, crew, jobs, meter.tick)
        return
    for number, item in ready:
        yield number, answer(item, meter.search)


def report_in_order(
    answers: Callable[[Meter], Generator[tuple[int, Reply]]], total: int, report: Callable[[Reply], None], *, quiet: bool
) -> tuple[list[Reply], Exit | None]:
    """Report numbered answers in the order of their numbers, as soon as all before are there, and show a meter meanwhile.

    Returns them in this order; when stopped by a signal those there are, all reported, and the exit code it means.
    """
    found: dict[int, Reply] = {}
    reported = 0

    def report_ready() -> None:
        nonlocal reported
        while reported in found:
            report(found[reported])
            reported += 1

    stopped: Exit | None = None
    meter = Meter(total, wanted(quiet))
    try:
        with meter.running(), closing(answers(meter)) as coming:
            for number, answer in coming:
                found[number] = answer
                meter.printing(report_ready)
                meter.done(len(found))
    except Stopped as stop:
        stopped = stop.exit
        released()
        for number in sorted(n for n in found if n >= reported):
            report(found[number])
    return [found[number] for number in sorted(found)], stopped
