"""The explanation of a message program as JSON (`schema/messages-explain.schema.json`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final

from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.reports.messages.chart import Chart
from rdma_robust.reports.messages.messages_explanation import MessagesExplanation
from rdma_robust.reports.messages.run_findings import RunFinding

FORMAT: Final = "rdma-robust/messages-explain"
VERSION: Final = 1


def messages_explanation_object(told: MessagesExplanation, tool: Mapping[str, object]) -> JsonObject:
    """Return the whole explanation; `tool` says what made it."""
    program = told.program
    return {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "file": valid_unicode(program.file),
        "program": program.name,
        "processes": [process.name for process in program.processes],
        "verdict": told.verdict,
        "buffers": [dataclasses.asdict(row) for row in told.rows],
        "runs": [_run(each) for each in told.findings],
        "races": list(told.races),
        "notes": list(told.notes),
        "exit_code": int(told.exit_code),
    }


def _run(found: RunFinding) -> JsonObject:
    return {
        "shows": found.kind,
        "buffers": list(found.buffers),
        "buffer": found.buffer,
        "headline": valid_unicode(found.headline),
        "words": list(found.words),
        "advice": found.advice,
        "line": found.line,
        "chart": _chart(found.chart),
    }


def _chart(chart: Chart) -> JsonObject:
    names = chart.lanes
    return {
        "rows": [
            {"process": names[row.lane], "line": row.line, "mark": row.mark, "text": valid_unicode(row.text), "bad": row.bad}
            for row in chart.rows
        ],
        "messages": [
            {
                "from": names[each.source],
                "to": names[each.target],
                "sent": each.begin,
                "taken": each.end,
                "value": each.label,
                "possible": each.possible,
            }
            for each in chart.arrows
        ],
        "waits": [
            {"process": names[bar.lane], "begin": bar.begin, "end": bar.end, "for_ever": bar.for_ever} for bar in chart.bars
        ],
        "cycle": [{"process": names[link.process], "waits_for": names[link.other]} for link in chart.cycle],
    }
