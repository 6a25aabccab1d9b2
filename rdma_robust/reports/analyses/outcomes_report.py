"""The report of `rdma-robust outcomes`: final states under SC and RDMA side by side, as text and as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from rdma_robust.language.flow.cfg import Fault
from rdma_robust.reports.check.json_report import JsonObject, valid_unicode
from rdma_robust.reports.check.result import diagnostics
from rdma_robust.reports.share.exits import Exit
from rdma_robust.semantics.machines.outcomes import ClaimCheck, LineCheck, OutcomesReport, ReachedState
from rdma_robust.semantics.machines.state_space import Exploration
from rdma_robust.text import count, one_line, printable

FORMAT = "rdma-robust/outcomes"
VERSION = 1


def exit_of_claims(report: OutcomesReport) -> Exit:
    """Return UNKNOWN if a claim is undecided, else NOT_ROBUST if one fails, else OK."""
    verdicts = [check.holds for line in report.lines for check in line.claims]
    if None in verdicts:
        return Exit.UNKNOWN
    return Exit.NOT_ROBUST if False in verdicts else Exit.OK


def outcomes_text(report: OutcomesReport, file: str) -> list[str]:
    """Return the report as lines: the table, how far the searches came, and the `outcome` lines."""
    lines = [f"final states of {printable(report.program.name)} ({printable(file)})", "", *_table(report), ""]
    for model, search in (("SC", report.sc), ("RDMA", report.rdma)):
        lines.append(f"{model}: {_search(search)}")
        lines += [f"  {_fault(f)}" for f in search.faults]
    only = len(report.only_rdma)
    lines.append(
        f"{count(len(report.states), 'final state')}, {only} reached under RDMA only"
        + ("" if report.complete else " so far")
    )
    if report.lines:
        lines += ["", "outcome lines"]
        for check in report.lines:
            lines += _line(check, report.names)
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


def _table(report: OutcomesReport) -> list[str]:
    if not report.states:
        return ["  no final state was reached"]
    rows = [[printable(n) for n in report.names], *([str(v) for v in s.values] for s in report.states)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    head, *values = ("  ".join(f"{c:>{w}}" for c, w in zip(row, widths, strict=True)) for row in rows)
    lines = [f"  {head}    SC   RDMA"]
    lines += [f"  {v}    {_reach(s, report)}".rstrip() for v, s in zip(values, report.states, strict=True)]
    return lines


def _reach(state: ReachedState, report: OutcomesReport) -> str:
    so_far = "" if report.sc.cut is None else " so far"
    mark = f"   <- only RDMA{so_far}" if state.only_rdma else ""
    return f"{'yes' if state.sc else '-':3}  {'yes' if state.rdma else '-':4}{mark}"


def _search(search: Exploration) -> str:
    end = "complete" if search.cut is None else f"CUT at {search.cut}, so there may be more"
    stuck = f"; {count(search.stuck, 'deadlocked state')}" if search.stuck else ""
    return f"{count(search.states, 'state')}, {count(search.transitions, 'transition')}, {end}{stuck}"


def _fault(fault: Fault) -> str:
    return f"reachable: {printable(fault.kind)} (line {fault.span.line}): {printable(fault.message)}"


def _line(check: LineCheck, names: tuple[str, ...]) -> list[str]:
    lines = [f"  line {check.line.span.line}: {one_line(check.line.text, 200)}"]
    for claim in check.claims:
        said = f"{'allowed' if claim.claim.allowed else 'forbidden'} under {claim.claim.model}"
        lines.append(f"    {_holds(claim.holds):10} {said}{_evidence(claim, names)}")
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
            {"kind": f.kind, "message": f.message, "line": f.span.line, "column": f.span.column} for f in search.faults
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
    }
