"""The parts of a report besides the programs that share memory: questions as tools register them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from rdma_robust.batch.cache import Cache, keep, known
from rdma_robust.frame import registry
from rdma_robust.frame.answer import Answer
from rdma_robust.frame.command_asking import CommandAsking
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.report_section import ReportSection
from rdma_robust.frame.question import Section
from rdma_robust.frame.report_part import AskedFile, ReportAsking, ReportPart
from rdma_robust.frame.run_question import answer_all, section_of
from rdma_robust.frame.shell.inputs import Item, Source, UnreadableError, read_source
from rdma_robust.frame.shell.stderr import warn
from rdma_robust.reports.batch.batch_view import BatchReport
from rdma_robust.reports.batch.report_sections import question_section
from rdma_robust.reports.check.result import with_codes
from rdma_robust.value_ranges import file_of

AnyPart = ReportPart[Any, Any]


@dataclass(frozen=True)
class _CommandPart(ReportPart[CommandAsking, Any]):
    """The question that is the default `command` of files."""

    command: registry.CommandEntry | None = None

    def asking(self, how: ReportAsking) -> CommandAsking:
        options = () if self.command is None else self.command.options
        own = {each.name: each.default for each in options if not each.configures}
        explain = not how.forms.isdisjoint({"junit", "html", "md"})
        return CommandAsking(how.timeout, how.memory, how.expect, explain, own)

    def section(self, found: Section[CommandAsking, Any]) -> ReportSection:
        return question_section(found)


def report_parts() -> list[AnyPart]:
    """Return the parts in the order in which their questions are asked."""
    registered: list[AnyPart] = [registry.at(place) for tool in registry.tools() for place in tool.reports]
    asked: list[AnyPart] = []
    for path, suffixes in registry.default_suffixes().items():
        command = registry.command_at(" ".join(path))
        if command is not None and command.question is not None:
            asked.append(_CommandPart(command.question(), suffixes, command=command))
    return sorted([*asked, *registered], key=lambda part: -part.rank)


def _is_of(part: AnyPart, item: Source) -> bool:
    return file_of(item.name).endswith(part.suffixes) and part.is_about(item)


def split(items: Sequence[Item], parts: Sequence[AnyPart]) -> tuple[list[Item], list[Source]]:
    """Return the items that share memory, and those of the parts, by their suffixes and what is in them."""
    mine = [each for each in items if isinstance(each, Source) and any(_is_of(part, each) for part in reversed(parts))]
    return [each for each in items if each not in mine], mine


@dataclass(frozen=True, slots=True)
class PartsRun:
    """How the parts of a report are run: so many inputs at a time, with the cache of answers if there is one."""

    how: ReportAsking
    jobs: int
    quiet: bool
    cache: Cache | None = None

    def added(self, report: BatchReport, parts: Sequence[AnyPart], items: Sequence[Source]) -> tuple[BatchReport, list[str]]:
        """Return the report with the parts about items, which are answered now, and a line of totals of each; what is wrong
        with them is said. After an interruption nothing more is asked."""
        done: list[tuple[int, ReportSection, str]] = []
        left = list(items)
        for part in parts:
            mine = [each for each in left if _is_of(part, each)]
            if not mine or report.summary.interrupted:
                continue
            before = 0 if self.cache is None else self.cache.hits
            asking = part.asking(self.how)
            answers, stopped = self._answers(part, asking, mine)
            hits = 0 if self.cache is None else self.cache.hits - before
            records = {answer.record.file: answer.record for answer in answers}
            left = [each for each in left if each not in mine or (each.name in records and part.leaves(records[each.name]))]
            listed = [answer for answer in answers if part.is_listed(answer.record)]
            found = section_of(part.question, asking, listed, requested=len(mine))
            report = replace(report, summary=with_codes(report.summary, [found.counts.exit_code], stopped))
            if listed:
                done.append((part.rank, part.section(found), f"; {hits:,} from the cache" if hits else ""))
        done.sort(key=lambda each: each[0])
        sections = [*report.sections, *(section for _, section, _ in done)]
        return replace(report, sections=sections), [f"{section.line}{cached}" for _, section, cached in done]

    def _answers(self, part: AnyPart, asking: Any, items: Sequence[Source]) -> tuple[list[Answer[Any]], Exit | None]:
        """Return the answers of a part in the order of its items, known ones too, and the exit code if it was stopped."""
        store = None if self.cache is None or part.kept is None else (self.cache, part.kept)
        asked: dict[str, AskedFile] = {}
        found: dict[str, Answer[Any]] = {}
        if store is not None:
            for item in items:
                with suppress(UnreadableError):
                    asked[item.name] = AskedFile.of(part.question, item.name, read_source(item), asking)
            records = {name: known(*store, each) for name, each in asked.items()}
            found = {name: Answer(record) for name, record in records.items() if record is not None}

        def told(answer: Answer[Any]) -> None:
            for message in answer.messages if part.is_said(answer.record) else ():
                warn(message)
            if store is not None and answer.record.file in asked:
                keep(*store, asked[answer.record.file], answer)

        open_ = [item for item in items if item.name not in found]
        answers, stopped = answer_all(part.question, asking, open_, self.jobs, told, quiet=self.quiet)
        found |= {answer.record.file: answer for answer in answers}
        return [found[item.name] for item in items if item.name in found], stopped
