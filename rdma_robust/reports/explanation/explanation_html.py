"""An explanation as one HTML file that needs nothing else: no network, no fonts, no library."""

from __future__ import annotations

import re

from rdma_robust.analyses.explain.explanation import Explanation, FinalStates, LineMark, Pair
from rdma_robust.reports.explanation.explanation_page import SCRIPT, SOURCE_STYLE, STYLE
from rdma_robust.reports.explanation.explanation_svg import graph_svg
from rdma_robust.reports.explanation.explanation_timeline import timeline_svg
from rdma_robust.reports.share.svg import COLOURS, text_of

VERDICTS = {"robust": "robust", "not-robust": "NOT ROBUST", "unknown": "UNKNOWN"}
ROLES = {
    "cycle": "on the cycle",
    "pivot": "pivot",
    "late": "takes effect late",
    "early": "overtakes it",
    "keeps": "keeps order",
    "fault": "fault",
}
RELATIONS = {
    "po": "program order (dashed: RDMA does not keep it)",
    "oppo": "program order that RDMA keeps",
    "rf": "a read takes its value from a write",
    "mo": "order of the writes to one word",
    "rb": "a read comes before a later write",
    "pf": "a poll takes a completion",
    "nfo": "order of the card's reads and write buffers",
}
WHY = {
    "cycle": "the counterexample reorders them",
    "open": "may close a cycle, not known",
    "search": "may be reordered: the search closed no cycle",
    "filter": "may be reordered: excluded by the static filter",
    "no-cycle": "may be reordered: no conflicts lead back",
    "no-race": "may be reordered: nobody races on one of the two",
    "kept": "kept in order by polls and fences",
}
MOST_SHOWN = 12
"""Pairs of one kind that are shown without being asked for."""

SECURITY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def source_html(explanation: Explanation) -> str:
    """Return the program's text as an HTML fragment, the lines that matter marked. It has no ids and its own style sheet."""
    marks = {mark.line: mark for mark in explanation.lines}
    lines = explanation.source.splitlines() or [""]
    rows = "\n".join(_source_line(n, line, marks.get(n)) for n, line in enumerate(lines, 1))
    head = '<div class="rr-source" tabindex="0" role="region" aria-label="source">'
    return f"{head}<style>{COLOURS}{SOURCE_STYLE}</style>\n{rows}\n</div>\n"


def explanation_html(explanation: Explanation, version: str) -> str:
    """Return the whole page; `version` is that of the tool. Raises UsageError if Graphviz's library cannot be loaded."""
    title = f"{explanation.program}: {VERDICTS[explanation.verdict]}"
    sections = [
        _section("source", "Source", source_html(explanation)),
        _section("timeline", "What happens", _scrolled("timeline", timeline_svg(explanation)) + LEGEND)
        if explanation.timeline
        else "",
        _section("graph", "Execution graph", _toggles(explanation) + _scrolled("execution graph", graph_svg(explanation)))
        if explanation.graph
        else "",
        _section("finals", "Final states", _finals(explanation.final_states)) if explanation.timeline else "",
        _section("orders", "What the hardware may reorder", orders_html(explanation)),
        _section("details", "How it was decided", _details(explanation, version)),
    ]
    body = "".join(each for each in sections if each)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{SECURITY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<title>{text_of(title)}</title>\n<link rel="icon" href="data:,">\n<style>{COLOURS}{STYLE}</style>\n</head>\n'
        f'<body class="rr-page">\n<a class="skip" href="#main">Skip to the explanation</a>\n{_header(explanation)}'
        f'<main id="main">\n{_story(explanation)}{body}</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n'
    )


LEGEND = (
    '<p class="legend">Time runs down; a row is one step, the grey number in it the source line. A purple line is one '
    "operation from its posting to its last effect: thin while it is in the pipe, thick while its write is on its way to "
    "memory, dotted until the poll that takes its completion. Red steps are on the cycle; the one with the thick frame is "
    "the pivot, without which the run would be sequentially consistent.</p>"
)


def _source_line(number: int, line: str, mark: LineMark | None) -> str:
    roles = mark.roles if mark else ()
    classes = "rr-line" + "".join(f" rr-line-{role}" for role in roles)
    shown = "cycle" if "late" not in roles and "early" not in roles else ""
    told = [ROLES[role] for role in roles if role != "cycle" or shown]
    badge = f'<span class="rr-badge">{text_of(", ".join(told))}</span>' if mark else ""
    notes = f' title="{text_of("; ".join(mark.notes))}"' if mark else ""
    return (
        f'<div class="{classes}" data-line="{number}"{notes}><span class="rr-number">{number}</span>'
        f"<code>{text_of(line.expandtabs(4)) or ' '}</code>{badge}</div>"
    )


def _header(explanation: Explanation) -> str:
    verdict = explanation.verdict
    return (
        f'<header><h1>{text_of(explanation.program)}</h1><p class="verdict {verdict}">{VERDICTS[verdict]}</p>'
        f'<p class="file">{text_of(explanation.file)}</p></header>\n'
    )


def _story(explanation: Explanation) -> str:
    told = "".join(f"<p>{prose(p)}</p>\n" for p in explanation.paragraphs)
    faults = "".join(f"<li>{prose(f'line {f.line}: {f.kind}: {f.message}')}</li>" for f in explanation.faults)
    head = "Reachable faults" if explanation.faults_exact else "Faults that may be reachable"
    listed = f"<h2>{head}</h2><ul>{faults}</ul>\n" if faults else ""
    return f'<section class="story"><p class="lead">{prose(explanation.headline)}</p>\n{told}{listed}</section>\n'


def _section(name: str, title: str, content: str) -> str:
    return f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>\n{content}</section>\n'


def _scrolled(name: str, drawing: str) -> str:
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">{drawing}</div>'


def _toggles(explanation: Explanation) -> str:
    assert explanation.graph is not None
    used = {r for e in explanation.graph.edges for r in e.relations}
    boxes = [
        f'<label title="{text_of(told)}"><input type="checkbox" data-relation="{name}" checked> '
        f'<span class="key" style="--c:var(--rr-{name})"></span>{name}<span class="told"> {text_of(told)}</span></label>'
        for name, told in RELATIONS.items()
        if name in used
    ]
    return f'<fieldset class="toggles"><legend>Relations shown</legend>{"".join(boxes)}</fieldset>'


def _finals(finals: FinalStates) -> str:
    said = {
        "new": "RDMA reaches final states that sequential consistency does not.",
        "none": "The final states are the same under both.",
        "unknown": f"Not known: {finals.reason}.",
        "not-asked": f"Not compared: {finals.reason}.",
    }[finals.change]
    telling = {(c.name, c.value) for c in finals.telling}
    cells = "".join(
        f'<tr{" class=telling" if (c.name, c.value) in telling else ""}><th scope="row">{text_of(c.name)}</th>'
        f"<td>{c.value}</td></tr>"
        for c in finals.example
    )
    one = "One of them is this. Under sequential consistency no execution ends with all of the marked values."
    return f"<p>{text_of(said)}{f' {one}</p><table>{cells}</table>' if cells else '</p>'}"


def orders_html(explanation: Explanation) -> str:
    """Return the pairs that may be reordered as tables, one for each reason, long ones folded; without a style sheet."""
    pairs = explanation.pairs
    if not pairs:
        return "<p>Nothing: the hardware keeps the program order of all accesses of this program.</p>"
    told = "Pairs of accesses in program order that the hardware alone does not keep in order. All others it keeps."
    if not explanation.pairs_complete:
        told = f"The first {len(pairs):,} pairs of accesses that the hardware alone does not keep in program order."
    groups = {why: [p for p in pairs if (p.why or "kept") == why] for why in WHY}
    return f"<p>{told}</p>" + "".join(_group(why, group) for why, group in groups.items() if group)


def _group(why: str, pairs: list[Pair]) -> str:
    rows = "".join(
        f"<tr><td>{text_of(p.thread)}</td><td>{prose(p.earlier.text)}</td><td>{prose(p.later.text)}</td>"
        f"<td>{prose(p.reason)}</td></tr>\n"
        for p in pairs
    )
    return (
        f'<details{" open" if len(pairs) <= MOST_SHOWN else ""}><summary><b class="why {why}">{WHY[why]}</b> '
        f"{len(pairs):,} pair{'' if len(pairs) == 1 else 's'}</summary>"
        f'<div class="scroll" tabindex="0" role="region" aria-label="{WHY[why]}"><table class="pairs"><thead><tr>'
        '<th scope="col">Thread</th><th scope="col">Earlier</th><th scope="col">Later</th><th scope="col">Why</th>'
        "</tr></thead>"
        f"<tbody>\n{rows}</tbody></table></div></details>\n"
    )


def _details(explanation: Explanation, version: str) -> str:
    searched = explanation.engine != "none"
    facts = {
        "Reason": explanation.reason,
        "Instrumentation": explanation.instrumentation,
        "Engine": explanation.engine if searched else "none: a static filter was enough",
        "States": f"{explanation.states:,}",
        "Classes of last events tried": f"{explanation.pivots:,}",
        "Two remote reads of a queue pair": "kept in order" if explanation.ordered_reads else "may be reordered",
        "Checked by": ", ".join(explanation.checked_by) or "-",
        "Tool": f"rdma-robust {version}",
    }
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{text_of(value)}</dd>" for name, value in facts.items()) + "</dl>"


def prose(text: str) -> str:
    """Return a paragraph as HTML: what is between backquotes becomes code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", text_of(text))
