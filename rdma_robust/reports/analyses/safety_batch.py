"""The answers of `verify` or `reach` for many programs: totals, JSON, and the forms for other tools."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit, worst
from rdma_robust.frame.formats.columns import sentence
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.reports.analyses.safety_record import SafetyRecord
from rdma_robust.text import count

VERSION: Final = 1
WORDS: Final[Mapping[str, Sequence[str]]] = {
    "verify": ("holds", "violated", "unknown", "unreachable"),
    "reach": ("reachable", "unreachable", "unknown"),
}
"""The answers that a claim or a target can have, by the command."""


@dataclass(frozen=True, slots=True)
class SafetyBatch:
    """The records in the order of the programs, of which `requested` were asked for.

    `stopped` is the exit code of a run that was stopped before its end; `tool` and `options` say by what and how they were
    found.
    """

    command: Literal["verify", "reach"]
    records: Sequence[SafetyRecord]
    requested: int
    time_s: float
    stopped: Exit | None
    tool: Mapping[str, object]
    options: Mapping[str, object]

    @property
    def exit_code(self) -> Exit:
        return self.stopped if self.stopped is not None else worst([Exit(r.exit_code) for r in self.records])

    @property
    def counts(self) -> dict[str, int]:
        """The claims, or the targets, by their answers."""
        found = Counter(each.status for record in self.records for each in record.findings)
        return {word: found[word] for word in WORDS[self.command]}

    @property
    def without_answer(self) -> dict[str, int]:
        """The programs without an answer: undecided as a whole, and in error."""
        found = Counter(record.status for record in self.records if not record.findings)
        return {"undecided": found["unknown"], "error": found["error"]}


def result_object(record: SafetyRecord) -> JsonObject:
    """Return the JSON object of one program. A file name that is no valid Unicode is escaped."""
    said = {"reason": record.reason} if "reason" not in record.answer or record.reason else {}
    return {
        "file": valid_unicode(record.file),
        **record.answer,
        **said,
        "error_kind": record.error_kind,
        "warnings": [dataclasses.asdict(each) for each in record.warnings],
        "errors": [dataclasses.asdict(each) for each in record.errors],
        "exit_code": int(record.exit_code),
        "time_s": record.time_s,
    }


def document(batch: SafetyBatch) -> JsonObject:
    """Return the whole report (`schema/verify.schema.json`, `schema/reach.schema.json`).

    The members of the only program stand beside `results` too, where readers of a report on one program look for them.
    """
    results = [result_object(record) for record in batch.records]
    only = results[0] if batch.requested == 1 and results else {}
    return {
        "format": f"rdma-robust/{batch.command}",
        "version": VERSION,
        "tool": dict(batch.tool),
        "options": dict(batch.options),
        "interrupted": batch.stopped is not None,
        **only,
        "results": results,
        "summary": {
            "requested": batch.requested,
            "programs": len(batch.records),
            **batch.counts,
            **batch.without_answer,
            "exit_code": int(batch.exit_code),
            "time_s": round(batch.time_s, 6),
        },
    }


def totals(batch: SafetyBatch, width: int | None) -> list[str]:
    """Return the last lines of the text for many programs."""
    counts = batch.counts
    said = [f"{number} {'hold' if word == 'holds' and number > 1 else word}" for word, number in counts.items() if number]
    claims = sum(counts.values())
    line = count(len(batch.records), "program")
    line += f", {count(claims, 'claim')}" if batch.command == "verify" else ""
    line += f": {', '.join(said)}" if said else ""
    none = batch.without_answer
    undecided = f"{none['undecided']} undecided" if none["undecided"] else ""
    wrong = count(none["error"], "error") if none["error"] else ""
    line += "".join(f"; {each}" for each in (undecided, wrong) if each)
    if batch.stopped is not None:
        line = f"interrupted: {len(batch.records)} of {batch.requested} done; {line}"
    return sentence(f"{line}; {batch.time_s:.2f} s", width)
