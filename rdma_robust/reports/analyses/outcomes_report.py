"""The report of `rdma-robust outcomes`: final states under SC and RDMA, or on all hardware, as text and as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final

from rdma_robust.analyses.hardware.on_all_hardware import StateOnHardware, StatesOnHardware
from rdma_robust.frame.answer import JsonObject, diagnostics
from rdma_robust.frame.exits import Exit, within
from rdma_robust.frame.formats.columns import Column, Columns, sentence
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.language.flow.cfg import Fault
from rdma_robust.reports.analyses.models_report import setting_text
from rdma_robust.semantics.machines.outcomes import ClaimCheck, Exploration, LineCheck, OutcomesReport, ReachedState
from rdma_robust.text import count, one_line, printable

FORMAT: Final = "rdma-robust/outcomes"
OF_ALL_SETTINGS: Final = "rdma-robust/outcomes-models"
VERSION: Final = 1
REACHED: Final = (Column("  SC", len("  yes")), Column("RDMA"), Column("", len(" <- only RDMA")))
"""By which model a final state is reached; the first begins with a wider gap."""


def exit_of_claims(report: OutcomesReport) -> Exit:
    """Return NOT_ROBUST if a claim fails, else UNKNOWN if one is undecided, else OK.

    A program that claims nothing asks for all its final states, so there a search that was cut is UNKNOWN too.
    """
    exits = {True: Exit.OK, False: Exit.NOT_ROBUST, None: Exit.UNKNOWN}
    checks = [check for line in report.lines for check in line.claims]
    if not checks:
        return Exit.OK if report.complete else Exit.UNKNOWN
    return within(exits[check.holds] for check in checks)


def outcomes_text(report: OutcomesReport, file: str, width: int | None = None) -> list[str]:
    """Return the report as lines for a terminal of this `width`: the table, how far the searches came, and the `outcome`
    lines."""
    lines = sentence(f"final states of {printable(report.program.name)} ({printable(file)})", width)
    lines += ["", *_table(report, width), ""]
    for model, search in (("SC", report.sc), ("RDMA", report.rdma)):
        lines += sentence(f"{model}: {_search(search)}", width)
        lines += [line for f in search.faults for line in sentence(_fault(f), width, "  ")]
    only = f"{len(report.only_rdma)} reached under RDMA only" + ("" if report.complete else " so far")
    lines += sentence(f"{count(len(report.states), 'final state')}, {only}", width)
    if report.lines:
        lines += ["", "outcome lines"]
        for check in report.lines:
            lines += _line(check, report.names, width)
    return lines


def outcomes_object(
    report: OutcomesReport, file: str, tool: Mapping[str, object], options: Mapping[str, object], time_s: float
) -> JsonObject:
    """Return the report as the JSON object that `schema/outcomes.schema.json` describes."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "options": dict(options),
        "file": valid_unicode(file),
        "program": report.program.name,
        "complete": report.complete,
        "names": list(report.names),
        "states": [{"values": list(s.values), "sc": s.sc, "rdma": s.rdma, "only_rdma": s.only_rdma} for s in report.states],
        "searches": {"sc": _search_object(report.sc), "rdma": _search_object(report.rdma)},
        "lines": [_line_object(check) for check in report.lines],
        "warnings": [dataclasses.asdict(w) for w in diagnostics(report.program.warnings)],
        "exit_code": int(exit_of_claims(report)),
        "time_s": round(time_s, 6),
    }


def _table(report: OutcomesReport, width: int | None) -> list[str]:
    """Return the table of the final states. Where that is too wide, a sentence says what all of them share; where the rest
    is too wide as well, each state is written out."""
    if not report.states:
        return ["  no final state was reached"]
    every = range(len(report.names))
    varying = [k for k in every if len({state.values[k] for state in report.states}) > 1]
    for shown in (list(every), varying):
        columns = _columns(report, shown, width)
        if columns.fit:
            break
    else:
        columns = Columns((*REACHED, Column("final state", wraps=True)), width, "  ")
    lines = []
    if len(shown) < len(every):
        same = _values(report, report.states[0], [k for k in every if k not in shown])
        lines = [*sentence(f"every final state has {same}", width, "  "), ""]
    lines += columns.head()
    for state in report.states:
        reached = ("  yes" if state.sc else "  -", "yes" if state.rdma else "-", _mark(state, report))
        if columns.fit:
            lines += columns.row((*(str(state.values[k]) for k in shown), *reached))
        else:
            lines += columns.row((*reached, _values(report, state, shown)))
    return lines


def _columns(report: OutcomesReport, shown: Sequence[int], width: int | None) -> Columns:
    names = [printable(report.names[k]) for k in shown]
    widths = [max(len(str(state.values[k])) for state in report.states) for k in shown]
    values = [Column(name, widest, right=True) for name, widest in zip(names, widths, strict=True)]
    return Columns((*values, *REACHED), width, "  ")


def _values(report: OutcomesReport, state: ReachedState, shown: Sequence[int]) -> str:
    return ", ".join(f"{printable(report.names[k])} = {state.values[k]}" for k in shown)


def _mark(state: ReachedState, report: OutcomesReport) -> str:
    so_far = "" if report.sc.cut is None else " so far"
    return f" <- only RDMA{so_far}" if state.only_rdma else ""


def _search(search: Exploration) -> str:
    end = "complete" if search.cut is None else f"CUT at {search.cut}, so there may be more"
    stuck = f"; {count(search.stuck, 'state')} without a next step before the end" if search.stuck else ""
    return f"{count(search.states, 'state')}, {count(search.transitions, 'transition')}, {end}{stuck}"


def _fault(fault: Fault) -> str:
    return f"reachable: {printable(fault.kind)} (line {fault.span.where}): {printable(fault.message)}"


def _line(check: LineCheck, names: tuple[str, ...], width: int | None) -> list[str]:
    lines = sentence(f"line {check.line.span.line}: {one_line(check.line.text, 200)}", width, "  ")
    for claim in check.claims:
        said = f"{'allowed' if claim.claim.allowed else 'forbidden'} under {claim.claim.model}"
        lines += sentence(f"{_holds(claim.holds):10} {said}{_evidence(claim, names)}", width, "    ")
    for each in check.skipped:
        said = f"{'allowed' if each.allowed else 'forbidden'} under {each.model}"
        lines += sentence(f"{'skipped':10} {said}: ask `prove --model {each.model}`", width, "    ")
    return lines


def _holds(holds: bool | None) -> str:
    return {True: "holds", False: "FAILS", None: "undecided"}[holds]


def _evidence(check: ClaimCheck, names: tuple[str, ...]) -> str:
    if check.holds is None:
        return ": the search was cut before it met the condition"
    if check.example is None:
        return "" if check.holds else ": no final state meets the condition"
    if check.holds:
        return ""
    values = ", ".join(f"{printable(n)} = {v}" for n, v in zip(names, check.example, strict=True))
    return f": reached with {values}"


def _search_object(search: Exploration) -> JsonObject:
    return {
        "states": search.states,
        "transitions": search.transitions,
        "stuck": search.stuck,
        "cut": search.cut,
        "faults": [
            {
                "kind": f.kind,
                "message": f.message,
                "line": f.span.line,
                "column": f.span.column,
                "expanded_from": list(f.span.expanded_from),
            }
            for f in search.faults
        ],
    }


def _line_object(check: LineCheck) -> JsonObject:
    return {
        "line": check.line.span.line,
        "text": check.line.text,
        "claims": [
            {
                "model": c.claim.model,
                "allowed": c.claim.allowed,
                "holds": c.holds,
                "example": None if c.example is None else list(c.example),
            }
            for c in check.claims
        ],
        "skipped": [{"model": c.model, "allowed": c.allowed} for c in check.skipped],
    }


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
            lines += sentence(f"not complete {setting_text(model, found.models[0])}: {cut}", width)
    only = sum(not state.sc for state in found.states)
    lines += sentence(f"{count(len(found.states), 'final state')}, {only} not reached under SC", width)
    return lines


def _cells(found: StatesOnHardware, state: StateOnHardware) -> list[str]:
    first = "; ".join(setting_text(found.models[k], found.models[0]) for k in state.first) or "under SC only"
    settings = "all" if len(state.allowed_by) == len(found.models) else f"{len(state.allowed_by)}"
    return [*map(str, state.values), "yes" if state.sc else "-", settings, "everywhere" if settings == "all" else first]


def hardware_states_object(
    found: StatesOnHardware, file: str, tool: Mapping[str, object], options: Mapping[str, object], time_s: float
) -> JsonObject:
    """Return the report as the JSON object that `schema/outcomes-models.schema.json` describes."""
    return {
        "format": OF_ALL_SETTINGS,
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
