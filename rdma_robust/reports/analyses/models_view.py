"""What the answers of `models` look like: lines for each program, numbers, JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.columns import sentence
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.question import Layout, Section, View
from rdma_robust.reports.analyses.models_report import ModelsRecord, models_text
from rdma_robust.text import count

WORDS: Final = {
    "robust": "robust everywhere",
    "not-robust": "not robust somewhere",
    "unknown": "unknown",
    "error": "in error",
}


class ModelsView(View[ModelsRecord]):
    """The answers of `models`."""

    def text(self, layout: Layout) -> ModelsLines:
        return ModelsLines(layout)

    def objects(self, record: ModelsRecord) -> Sequence[JsonObject]:
        return (asdict(record) | {"file": valid_unicode(record.file), "exit_code": int(record.exit_code)},)

    def numbers(self, records: Sequence[ModelsRecord]) -> Mapping[str, int]:
        found = Counter(record.status for record in records)
        return {status.replace("-", "_"): found[status] for status in WORDS}

    def exit_of(self, record: ModelsRecord) -> Exit:
        return Exit(record.exit_code)


@dataclass(frozen=True)
class ModelsLines:
    """Writes a table for each program, and for many programs the totals."""

    layout: Layout

    def header(self) -> list[str]:
        """Return nothing: each program has a table of its own."""
        return []

    def lines(self, record: ModelsRecord) -> list[str]:
        """Return the lines of a program; an error of the only one is on standard error already."""
        if (self.layout.quiet and record.exit_code == Exit.OK) or (self.layout.alone and record.status == "error"):
            return []
        return models_text(record, self.layout.width)

    def totals(self, section: Section[Any, ModelsRecord]) -> list[str]:
        """Return the last lines of the text for many programs."""
        counts = section.counts
        if counts.requested == 1:
            return []
        numbers = [(counts[status.replace("-", "_")], words) for status, words in WORDS.items()]
        said = ", ".join(f"{number} {words}" for number, words in numbers if number)
        line = f"{count(counts.done, 'program')}{f': {said}' if said else ''}; {counts.time_s:.2f} s"
        if counts.interrupted:
            line = f"interrupted: {counts.done} of {counts.requested} done; {line}"
        return sentence(line, self.layout.width)
