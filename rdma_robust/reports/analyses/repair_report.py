"""The report of `rdma-robust repair` as text and JSON, and as SARIF, where repairs are fixes (SARIF 3.55)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from rdma_robust.analyses.repair.repairs import Insertion, Repair, RepairSolution, TextEdit
from rdma_robust.diagnose import listing
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.columns import PAPER, Column, Columns, sentence
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.frame.formats.sarif import BASES, SCHEMA, artifact, driver, level_of, message
from rdma_robust.orders import order_name
from rdma_robust.text import count, printable

FORMAT = "rdma-robust/repair"
VERSION = 1

HANGS = {
    "none": "none",
    "kept": "there is one, as without the repair",
    "unknown": "a limit came before they were excluded; no poll can wait forever that did not before",
    "": "not looked for",
}
"""What is said of the hangs of a repaired program."""

EXITS = {"robust": Exit.OK, "safe": Exit.OK, "repaired": Exit.OK, "impossible": Exit.NOT_ROBUST, "unknown": Exit.UNKNOWN}


def exit_of_repair(repair: Repair) -> Exit:
    """Return OK for a robust or repaired program, NOT_ROBUST if no repair exists, UNKNOWN if a limit came first."""
    return EXITS[repair.status]


def repair_text(
    repair: Repair, file: str, needless: bool, width: int | None = None, orders: Sequence[str] = ()
) -> list[str]:
    """Return the report as lines for a terminal of this `width`: the answer, under which `orders` if they were named, every
    solution with its statements, and the diff of the first."""
    under = f", under {'orders' if len(orders) > 1 else 'order'} {listing(map(order_name, orders), 'and')}" if orders else ""
    lines = sentence(f"{printable(file)}: {_headline(repair, needless)}{printable(under)}", width)
    if repair.status in ("impossible", "unknown") or not repair.solutions:
        lines += sentence(printable(repair.reason), width, "  ")
    for move in repair.run:
        lines += sentence(printable(move), width, "    ")
    many = len(repair.solutions) > 1
    for number, solution in enumerate(repair.solutions, 1):
        if many:
            lines += ["", f"solution {number} of {len(repair.solutions)}, cost {solution.cost}"]
        lines += _rows(solution, width)
    if repair.solutions:
        if many:
            lines += ["", "the diff of solution 1"]
        lines += ["", *printable(repair.diff, "\n\t").split("\n")[:-1], ""]
    if repair.status == "repaired" and not needless:
        lines += _told(repair, width)
    decided = f"{count(repair.checked, 'program')} decided"
    learnt = f", {count(repair.cycles, 'counterexample')} learnt from" if repair.cycles else ""
    return lines + sentence(f"{decided}{learnt}; {repair.time_s:.2f} s", width)


def _headline(repair: Repair, needless: bool) -> str:
    if repair.status == "impossible":
        return "no needless instructions" if needless else "NO REPAIR"
    if repair.status == "unknown":
        return "UNKNOWN"
    if repair.status in ("robust", "safe"):
        done = "robust" if repair.waits is None else f"safe under {repair.waits.model}"
        return f"{done}, nothing is needless" if needless else f"{done}, nothing to repair"
    if needless:
        more = "" if repair.complete else ", perhaps more"
        return f"{count(len(repair.removed), 'instruction')} can go{more}, which saves {repair.cost}"
    if repair.waits is not None and len(repair.solutions) == 1 and not repair.complete:
        return f"{_made_safe(repair)}, {_proven(repair)}"
    if len(repair.solutions) > 1 or repair.complete:
        these = "all" if repair.complete else "the first found"
        return f"{count(len(repair.solutions), 'irreducible repair')} ({these}), the cheapest costs {repair.cost}"
    return f"repaired at cost {repair.cost}, {_proven(repair)}"


def _proven(repair: Repair) -> str:
    return "no cheaper repair exists" if repair.optimal else "the cheapest found, there may be a cheaper one"


def _made_safe(repair: Repair) -> str:
    """Return how many waits make a program safe, of how many that there could be; of other insertions, what they cost."""
    assert repair.waits is not None
    if repair.waits.model == "rdma":
        return f"safe under rdma at cost {repair.cost}"
    best = repair.solutions[0]
    number = len(best.insertions) + len(best.kept)
    return f"safe under {repair.waits.model} with {number} of {count(repair.candidates, 'candidate')} at cost {repair.cost}"


def _told(repair: Repair, width: int | None) -> list[str]:
    """Return what the answer ranges over and what is known of hangs."""
    lines = sentence(f"compared with: {repair.scope}", width or PAPER, "  ") if repair.optimal else []
    if not repair.optimal:
        lines += sentence(repair.reason, width, "  ")
    if spare := repair.solutions[0].spare:
        own = ", ".join(f"{i.lines[0]} (line {i.line})" for i in spare)
        lines += sentence(f"of the program itself, each could go together with an inserted get: {own}", width, "  ")
    if repair.waits is None or repair.solutions[0].hangs:
        lines += sentence(f"hangs: {HANGS[repair.solutions[0].hangs]}", width, "  ")
    if repair.needed:
        lines += sentence(f"in every safe set: {', '.join(map(_named, repair.needed))}", width, "  ")
    for chosen in repair.undecided:
        lines += sentence(f"undecided: {', '.join(map(_named, chosen)) or 'the program as it is'}", width, "  ")
    return [*lines, ""]


def _named(insertion: Insertion) -> str:
    return f"{insertion.lines[0]} at line {insertion.line}"


def _rows(solution: RepairSolution, width: int | None) -> list[str]:
    rows = [*((i, "") for i in solution.insertions), *((i, "without ") for i in solution.removed)]
    rows += [(i, "as before: ") for i in solution.kept]
    cells = [
        (
            f"line {insertion.line:>4}",
            printable(insertion.thread),
            printable(f"{verb}{'; '.join(insertion.lines)}"),
            f"({insertion.kind}, cost {insertion.cost})",
        )
        for insertion, verb in rows
    ]
    widest = [max(map(len, column)) for column in zip(*cells, strict=True)] or [0] * 4
    columns = Columns(
        (Column("", widest[0]), Column("", widest[1]), Column("", widest[2], wraps=True), Column("", widest[3])), width, "  "
    )
    lines = [line for row in cells for line in columns.row(row)]
    if solution.elsewhere:
        lines += sentence(f"in other files: {', '.join(map(printable, solution.elsewhere))}", width, "  ")
    if solution.declared:
        lines += sentence(f"declared for it: {', '.join(solution.declared)}", width, "  ")
    return lines


def repair_object(
    repair: Repair, file: str, tool: Mapping[str, object], options: Mapping[str, object], written: str | None
) -> JsonObject:
    """Return the report as the JSON object that `schema/repair.schema.json` describes."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "options": dict(options),
        "file": valid_unicode(file),
        "status": repair.status,
        "reason": repair.reason,
        "scope": repair.scope,
        "optimal": repair.optimal,
        "complete": repair.complete,
        "checked": repair.checked,
        "cycles": repair.cycles,
        "written": None if written is None else valid_unicode(written),
        "time_s": round(repair.time_s, 6),
        "candidates": repair.candidates,
        "needed": _insertions(repair.needed),
        "undecided": [_insertions(chosen) for chosen in repair.undecided],
        "run": [valid_unicode(move) for move in repair.run],
        "solutions": [
            {
                "cost": s.cost,
                "insertions": _insertions(s.insertions),
                "removed": _insertions(s.removed),
                "declared": list(s.declared),
                "elsewhere": [valid_unicode(file) for file in s.elsewhere],
                "hangs": s.hangs,
                "spare": _insertions(s.spare),
                "kept": _insertions(s.kept),
                "edits": [asdict(edit) for edit in s.edits],
                "diff": valid_unicode(s.diff),
                "patched": s.patched,
            }
            for s in repair.solutions
        ],
    }


def _insertions(rows: Sequence[Insertion]) -> list[dict[str, object]]:
    return [
        {
            "kind": i.kind,
            "thread": i.thread,
            "node": i.node,
            "line": i.line,
            "statements": list(i.lines),
            "cost": i.cost,
        }
        for i in rows
    ]


Json = dict[str, Any]

NEEDED: Final = "RR010"
UNDECIDED: Final = "RR011"
NEEDLESS: Final = "RR727"
VIOLATED: Final = "RR016"
"""With the goal to be safe, instead of NEEDED."""


def repair_sarif(repair: Repair, file: str, tool: Mapping[str, object], needless: bool) -> Json:
    """Return the log: one run, with one result unless nothing is to do; every solution is one of its fixes."""
    results = list(_results(repair, file, needless))
    run = {
        "tool": {"driver": driver(tool, [result["ruleId"] for result in results])},
        "automationDetails": {"id": "rdma-robust/repair/"},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": BASES,
        "invocations": [{"executionSuccessful": True, "exitCode": int(exit_of_repair(repair))}],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _results(repair: Repair, file: str, needless: bool) -> Iterator[Json]:
    if repair.status in ("robust", "safe"):
        return
    needed, wrong = NEEDED, "Not robust"
    if repair.waits is not None:
        needed, wrong = VIOLATED, f"Not safe under {repair.waits.model}"
    if repair.status == "unknown":
        yield _result(UNDECIDED, f"Undecided: {repair.reason}.", file, 1)
    elif repair.status == "impossible" or not repair.solutions:
        yield _result(needed, f"{wrong}, and not repaired: {repair.reason}.", file, 1)
    else:
        first = repair.solutions[0]
        code, text = (NEEDLESS, "What nothing needs") if needless else (needed, f"{wrong}; a repair")
        result = _result(code, f"{text}: {_in_words(first)}.", file, _line(first))
        yield result | {"fixes": [_fix(solution, file) for solution in repair.solutions]}


def _in_words(solution: RepairSolution) -> str:
    parts = [*((i, "insert") for i in solution.insertions), *((i, "remove") for i in solution.removed)]
    said = (f"{verb} `{'; '.join(i.lines)}` in {i.thread}, line {i.line}" for i, verb in parts)
    return f"{', '.join(said)} (cost {solution.cost})"


def _line(solution: RepairSolution) -> int:
    """The line of the program where the first statement comes or goes."""
    if solution.removed:
        return solution.removed[0].line
    if not solution.edits:
        return 1
    words = [w for i in solution.insertions for w in i.lines]
    return next(_statement_line(e) for e in solution.edits if any(w in e.text for w in words))


def _statement_line(edit: TextEdit) -> int:
    """What is put at the beginning of a line follows the one before it."""
    return max(1, edit.line - (edit.column == 1))


def _fix(solution: RepairSolution, file: str) -> Json:
    replacements = [
        {
            "deletedRegion": {
                "startLine": edit.line,
                "startColumn": edit.column,
                "endLine": edit.end_line,
                "endColumn": edit.end_column,
            },
            "insertedContent": {"text": edit.text},
        }
        for edit in solution.edits
    ]
    change = {"artifactLocation": artifact(file), "replacements": replacements}
    return {"description": message(_in_words(solution)), "artifactChanges": [change]}


def _result(code: str, text: str, file: str, line: int) -> Json:
    place = {"artifactLocation": artifact(file), "region": {"startLine": line}}
    return {
        "ruleId": code,
        "ruleIndex": 0,
        "level": level_of(code),
        "message": message(text),
        "locations": [{"physicalLocation": place}],
    }
