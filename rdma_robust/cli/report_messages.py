"""The message programs of `report`: decided beside the others, and reported in the same forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rdma_robust.cli.batch import Question, answer_all
from rdma_robust.cli.inputs import MESSAGES_SUFFIX, Item, Source
from rdma_robust.cli.options.defaults import processors
from rdma_robust.cli.processes.decide_messages import (
    MessagesAnswer,
    MessagesAsking,
    answer_messages,
    load_messages_room,
    lost_messages,
)
from rdma_robust.cli.stderr import warn
from rdma_robust.language.value_ranges import file_of
from rdma_robust.options import CheckOptions
from rdma_robust.reports.share.exits import Exit, worst

if TYPE_CHECKING:
    from rdma_robust.reports.batch.batch_view import BatchReport


def split(items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """Return the items that share memory, and those that pass messages, by their suffix."""
    messages = [each for each in items if isinstance(each, Source) and file_of(each.name).endswith(MESSAGES_SUFFIX)]
    return [each for each in items if each not in messages], list(messages)


@dataclass(frozen=True, slots=True)
class Given:
    """The message programs of a report, how they are to be decided, and the forms of the report."""

    items: Sequence[Item]
    options: CheckOptions
    jobs: int | None
    forms: Sequence[str]
    quiet: bool


def with_messages(report: BatchReport, given: Given) -> BatchReport:
    """Return the report with the programs that pass messages, which are decided now; what is wrong with them is said."""
    if not given.items:
        return report
    asking = MessagesAsking(
        timeout=given.options.timeout,
        memory=given.options.memory,
        expect=report.expect,
        define=given.options.define,
        explain="junit" in given.forms,
        page="html" in given.forms,
        objects=not {"json", "jsonl"}.isdisjoint(given.forms),
        findings="sarif" in given.forms,
    )
    question = Question(lambda item, *_tell: answer_messages(item, asking), lost_messages, asking.limits, load_messages_room)
    answers, stopped = answer_all(given.items, question, given.jobs or processors(), _say, quiet=given.quiet)
    records = [answer.record for answer in answers]
    codes = [Exit(report.summary.exit_code), *(Exit(each.exit_code) for each in records)]
    code = int(worst(codes) if stopped is None else stopped)
    interrupted = report.summary.interrupted or stopped is not None
    summary = replace(report.summary, exit_code=code, interrupted=interrupted)
    return replace(report, messages=records, summary=summary)


def _say(answer: MessagesAnswer) -> None:
    for message in answer.messages:
        warn(message)
