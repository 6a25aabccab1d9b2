"""The message programs of `report`: decided beside the others, and reported in the same forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rdma_robust.batch.cache import Cache
from rdma_robust.batch.file_cache import keep_messages, known_messages
from rdma_robust.cli.kept_answers import KeptAnswers
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.run_question import answer_all
from rdma_robust.frame.shell.defaults import processors
from rdma_robust.frame.shell.inputs import MESSAGES_SUFFIX, Item, Source
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.language.value_ranges import file_of
from rdma_robust.options import CheckOptions
from rdma_robust.questions.messages_question import MESSAGES_CHECK, MessagesAsking
from rdma_robust.reports.check.summary import with_codes
from rdma_robust.reports.messages.messages_record import MessagesRecord

if TYPE_CHECKING:
    from rdma_robust.reports.batch.batch_view import BatchReport


def split(items: Sequence[Item]) -> tuple[list[Item], list[Item]]:
    """Return the items that share memory, and those that pass messages, by their suffix."""
    messages = [each for each in items if isinstance(each, Source) and file_of(each.name).endswith(MESSAGES_SUFFIX)]
    return [each for each in items if each not in messages], list(messages)


@dataclass(frozen=True, slots=True)
class Given:
    """The message programs of a report, how they are to be decided, the forms of the report, and where answers are kept."""

    items: Sequence[Item]
    options: CheckOptions
    jobs: int | None
    forms: Sequence[str]
    quiet: bool
    cache: Cache | None = None


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
        proofs=given.cache is not None,
    )
    kept = _Kept(given.cache, "messages", asking)
    known = {item.name: record for item in given.items if (record := kept.known(item)) is not None}
    items = [item for item in given.items if item.name not in known]
    answers, stopped = answer_all(MESSAGES_CHECK, asking, items, given.jobs or processors(), kept.report, quiet=given.quiet)
    known |= {answer.record.file: answer.record for answer in answers}
    records = [known[item.name] for item in given.items if item.name in known]
    return replace(
        report, messages=records, summary=with_codes(report.summary, [each.exit_code for each in records], stopped)
    )


class _Kept(KeptAnswers):
    """The answers of earlier runs, and where those of this one are kept, by the names of the programs."""

    def known(self, item: Item) -> MessagesRecord | None:
        """Return what is known of a program that can be read."""
        asked = self.question(item)
        return None if self.cache is None or asked is None else known_messages(self.cache, asked)

    def report(self, answer: Answer[MessagesRecord]) -> None:
        """Say what is wrong with a program, and keep its answer."""
        for message in answer.messages:
            warn(message)
        asked = self.asked.get(answer.record.file)
        if self.cache is not None and asked is not None:
            keep_messages(self.cache, asked, answer.record, answer.proofs, lasting=answer.lasting)
