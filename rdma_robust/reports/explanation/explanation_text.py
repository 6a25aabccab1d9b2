"""An explanation for the terminal, and as JSON (`schema/explain.schema.json`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence

from rdma_robust.analyses.explain.explanation import Access, Explanation, Lane, Pair, Timeline, TimelineStep
from rdma_robust.analyses.explain.story import fences
from rdma_robust.digraph import by_key
from rdma_robust.frame.answer import JsonObject
from rdma_robust.frame.exits import Exit
from rdma_robust.frame.formats.json_text import valid_unicode
from rdma_robust.reports.share.steps_table import StepRow, folded_rows, gutter, table
from rdma_robust.text import filled, printable

LEGEND = (
    "A remote operation is posted by the CPU, read and written by the NIC later. + on the cycle below; * the pivot: without "
    "this step the run is sequentially consistent."
)
Statements = tuple[str, int, int, int, int]
"""A thread, and line and column of two statements of it."""

GROUPS = {
    "kept": "Kept in order by polls and {fences}:",
    "no-race": "May be reordered, but no other thread can observe it:",
    "no-cycle": "May be reordered, and no conflicts lead back:",
    "filter": "May be reordered, and the static filter finds no cycle:",
    "search": "May be reordered, and the search closed no cycle:",
    "cycle": "Reordered by the counterexample:",
    "open": "May be reordered, and nothing excludes a cycle:",
}


def explanation_text(explanation: Explanation, width: int = 100, *, full: bool = False) -> list[str]:
    """Return the explanation as lines, at most `width` characters wide where possible; with `full` every step of its run."""
    blocks = [_fill(explanation.headline, width)]
    blocks += [_fill(p, width) for p in explanation.paragraphs]
    if explanation.timeline is not None:
        blocks.append(["The run:", *timeline_table(explanation.timeline, width, full=full), *_fill(LEGEND, width, "  ")])
        blocks.append(_cycle(explanation, width))
    if explanation.verdict != "not-robust":
        named = {"fences": fences(explanation.pairs)}
        blocks += [_group(head.format(**named), why, explanation.pairs, width) for why, head in GROUPS.items()]
    if explanation.faults:
        head = "Reachable faults:" if explanation.faults_exact else "Faults that may be reachable (the search did not end):"
        blocks.append(
            [
                head,
                *(line for f in explanation.faults for line in _fill(f"line {f.line}: {f.kind}: {f.message}", width, "  ")),
            ]
        )
    if explanation.checked_by:
        blocks.append(_fill(f"Checked by: {', '.join(explanation.checked_by)}.", width))
    lines: list[str] = []
    for block in (b for b in blocks if b):
        lines += ["", *block] if lines else block
    return lines


def timeline_table(run: Timeline, width: int, *, full: bool = False) -> list[str]:
    """Return the steps of the machine run, one column for each lane: of a long run those that matter, with `full` all."""
    names = {lane.id: _title(lane) for lane in run.lanes}
    rows = [
        StepRow(s.number, (gutter(s.number, s.line, s.pivot, s.on_cycle), names[s.lane], printable(_label(s, full))))
        for s in run.steps
    ]
    shown, note = folded_rows(rows, {s.number for s in run.steps if s.matters}, full=full)
    return [*table(list(names.values()), shown, width, full=full), *(_fill(note, width, "  ") if note else [])]


def _label(step: TimelineStep, full: bool) -> str:
    return f"{step.label}  {step.name}" if full and step.name else step.label


def _title(lane: Lane) -> str:
    return f"{lane.thread} CPU on {lane.node}" if lane.kind == "cpu" else f"{lane.thread} NIC to {lane.remote}"


def _cycle(explanation: Explanation, width: int) -> list[str]:
    assert explanation.timeline is not None
    step = {s.event: s.number for s in explanation.timeline.steps if s.event is not None}
    lines = ["The cycle (steps of the table in brackets):"]
    for edge in explanation.cycle:
        lines += _fill(f"{edge.text} [{step.get(edge.source, 0)} -> {step.get(edge.target, 0)}]", width, "  ")
    return lines


def _group(head: str, why: str, pairs: Sequence[Pair], width: int) -> list[str]:
    """Return the pairs of one kind, those that belong together in one entry."""
    mine = [p for p in pairs if (p.why or "kept") == why]
    lines = _fill(head, width) if mine else []
    entries = _kept(mine, pairs) if why == "kept" else _merged(mine)
    for text in dict.fromkeys(entries):
        lines += _fill(text, width, "  ")
    return lines


def _merged(pairs: Sequence[Pair]) -> list[str]:
    """Return pairs in words; those of the same two statements with one reason as one, if every combination is there."""
    found = by_key(((_statements(pair), pair.reason), pair) for pair in pairs)
    texts = []
    for (_, reason), same in found.items():
        earlier = {p.earlier.type: p.earlier for p in same}
        later = {p.later.type: p.later for p in same}
        if len(same) > 1 and len(same) == len(earlier) * len(later):
            both = f"{_accesses(earlier.values())}, then {_accesses(later.values())}"
            texts.append(f"{same[0].thread}: {both}: {reason}")
        else:
            texts += [f"{p.thread}: {p.earlier.text}, then {p.later.text}: {p.reason}" for p in same]
    return texts


def _kept(mine: Sequence[Pair], pairs: Sequence[Pair]) -> list[str]:
    """Return pairs that are kept in order: for each earlier statement and keeper the lines of the later ones, unless some
    other accesses of the same two lines may be reordered."""
    loose = {_lines(p) for p in pairs if p.why is not None}
    found: dict[tuple[str, str, int, str], set[int]] = {}
    for pair in mine:
        if _lines(pair) not in loose:
            key = pair.thread, pair.earlier.statement, pair.earlier.line, pair.reason
            found.setdefault(key, set()).add(pair.later.line)
    texts = []
    for (thread, statement, line, reason), later in found.items():
        lines = ", ".join(map(str, sorted(later)))
        texts.append(f"{thread}: `{statement}` (line {line}), then line{'s' if len(later) > 1 else ''} {lines}: {reason}")
    return texts + _merged([p for p in mine if _lines(p) in loose])


def _lines(pair: Pair) -> tuple[str, int, int]:
    return pair.thread, pair.earlier.line, pair.later.line


def _statements(pair: Pair) -> Statements:
    return pair.thread, pair.earlier.line, pair.earlier.column, pair.later.line, pair.later.column


def _accesses(found: Collection[Access]) -> str:
    """Return one access, or both of a put or get."""
    if len(found) == 1:
        return next(iter(found)).text
    cells = " and ".join(f"`{cell}`" for cell in dict.fromkeys(a.cell for a in found))
    first = next(iter(found))
    return f"the NIC's accesses of {cells} for `{first.statement}` (line {first.line})"


def _fill(text: str, width: int, indent: str = "") -> list[str]:
    return filled(printable(text), width, indent, indent)


FORMAT = "rdma-robust/explain"
VERSION = 1
EXITS = {"robust": Exit.OK, "not-robust": Exit.NOT_ROBUST, "unknown": Exit.UNKNOWN}


def explanation_object(explanation: Explanation, tool: Mapping[str, object]) -> JsonObject:
    """Return the explanation as a JSON object; `tool` says by what it was made."""
    head: JsonObject = {
        "format": FORMAT,
        "version": VERSION,
        "tool": dict(tool),
        "exit_code": int(EXITS[explanation.verdict]),
    }
    return head | {name: _valid(value) for name, value in dataclasses.asdict(explanation).items()}


def _valid(value: object) -> object:
    """Return `value` with the texts in it made valid Unicode: the name of a file need not be."""
    match value:
        case str():
            return valid_unicode(value)
        case dict():
            return {name: _valid(each) for name, each in value.items()}
        case list() | tuple():
            return [_valid(each) for each in value]
    return value
