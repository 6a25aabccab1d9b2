"""The programs of `report` that belong to questions of other tools: each asked by the default command of its suffix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rdma_robust.frame import registry
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.command_asking import CommandAsking
from rdma_robust.frame.question import Section
from rdma_robust.frame.registry import CommandEntry
from rdma_robust.frame.run_question import Run, answer_all, counted
from rdma_robust.frame.shell.defaults import processors
from rdma_robust.frame.shell.inputs import Item, Source
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.reports.check.summary import with_codes
from rdma_robust.value_ranges import file_of

if TYPE_CHECKING:
    from rdma_robust.cli.report_messages import Given
    from rdma_robust.reports.batch.batch_view import BatchReport


def of_questions(items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """Return the items without those that a registered question is asked about, and those."""
    asked = [each for each in items if isinstance(each, Source) and _command(each) is not None]
    return [each for each in items if each not in asked], list(asked)


def _command(source: Source) -> CommandEntry | None:
    """Return the command of the question that is asked about a file, None if it is one of no such question."""
    command = registry.command_at(" ".join(registry.default_command([file_of(source.name)])))
    return None if command is None or command.question is None else command


def with_questions(report: BatchReport, given: Given) -> BatchReport:
    """Return the report with the answers to the questions about `given`, which are asked now; what is wrong is said."""
    asked: dict[str, tuple[CommandEntry, list[Item]]] = {}
    for item in given.items:
        if isinstance(item, Source) and (command := _command(item)) is not None:
            asked.setdefault(command.name, (command, []))[1].append(item)
    for command, items in asked.values():
        report = _with_question(report, given, command, items)
    return report


def _with_question(report: BatchReport, given: Given, command: CommandEntry, items: Sequence[Item]) -> BatchReport:
    assert command.question is not None
    question = command.question()
    own = {each.name: each.default for each in command.options if not each.configures}
    explain = not {"junit", "html", "md"}.isdisjoint(given.forms)
    asking = CommandAsking(given.options.timeout, given.options.memory, report.expect, explain, own)
    jobs = given.jobs or processors()
    answers, stopped = answer_all(question, asking, items, jobs, _say, quiet=given.quiet)
    counts = counted(Run(question, asking, items), answers, 0.0, stopped)
    section = Section(question, asking, answers, counts)
    return replace(
        report,
        sections=[*report.sections, section],
        summary=with_codes(report.summary, [counts.exit_code], stopped),
    )


def _say(answer: Answer[object]) -> None:  # type: ignore[type-var]
    for message in answer.messages:
        warn(message)
