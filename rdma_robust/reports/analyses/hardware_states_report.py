"""What `outcomes --models` says: the final states on all hardware, as text and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Final

from rdma_robust.analyses.hardware.hardware_settings import StateOnHardware, StatesOnHardware
from rdma_robust.frame.answer import JsonObject, diagnostics
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.columns import Column, Columns, sentence
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.reports.analyses.models_report import changed
from rdma_robust.text import count, printable

FORMAT: Final = "rdma-robust/outcomes-models"
VERSION: Final = 1


def exit_of_states(found: StatesOnHardware) -> Exit:
    """Return the exit code: whether all searches came to their ends."""
    return Exit.OK if found.complete else Exit.UNKNOWN


def hardware_states_text(found: StatesOnHardware, file: str, width: int | None) -> list[str]:
    """Return the report as lines."""
    asked = count(len(found.models), "setting")
    lines = sentence(f"final states of {printable(found.program.name)} ({printable(file)}), {asked} of the hardware", width)
    heads = [*found.names, "SC", "settings", "first allowed"]
    rows = [_cells(found, state) for state in found.states]
    widths = [max([len(row[k]) for row in rows], default=0) for k in range(len(heads))]
    named = [Column(head, most, wraps=k == len(heads) - 1) for k, (head, most) in enumerate(zip(heads, widths, strict=True))]
    columns = Columns(named, width, "  ")
    lines += ["", *columns.head()]
    for row in rows:
        lines += columns.row(row)
    lines.append("")
    for reason in found.left_out:
        lines += sentence(f"left out: {reason}", width)
    for model, search in zip(found.models, found.searches, strict=True):
        cut = search.sc.cut or search.rdma.cut
        if cut is not None:
            lines += sentence(f"not complete {changed(model, found.models[0])}: {cut}", width)
    only = sum(not state.sc for state in found.states)
    lines += sentence(f"{count(len(found.states), 'final state')}, {only} not reached under SC", width)
    return lines


def _cells(found: StatesOnHardware, state: StateOnHardware) -> list[str]:
    first = "; ".join(changed(found.models[k], found.models[0]) for k in state.first) or "under SC only"
    settings = "all" if len(state.allowed_by) == len(found.models) else f"{len(state.allowed_by)}"
    return [*map(str, state.values), "yes" if state.sc else "-", settings, "everywhere" if settings == "all" else first]


def hardware_states_object(
    found: StatesOnHardware, file: str, tool: Mapping[str, object], options: Mapping[str, object], time_s: float
) -> JsonObject:
    """Return the report as the JSON object that `schema/outcomes-models.schema.json` describes."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "options": dict(options),
        "file": valid_unicode(file),
        "program": found.program.name,
        "complete": found.complete,
        "names": list(found.names),
        "settings": [
            {"model": asdict(model), "states": search.rdma.states, "cut": search.sc.cut or search.rdma.cut}
            for model, search in zip(found.models, found.searches, strict=True)
        ],
        "left_out": list(found.left_out),
        "states": [
            {"values": list(s.values), "sc": s.sc, "allowed_by": list(s.allowed_by), "first": list(s.first)}
            for s in found.states
        ],
        "warnings": [asdict(each) for each in diagnostics(found.program.warnings)],
        "exit_code": int(exit_of_states(found)),
        "time_s": round(time_s, 6),
    }
