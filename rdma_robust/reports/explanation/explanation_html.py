"""An explanation as one HTML file that needs nothing else: no network, no fonts, no library."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from jinja2 import Environment
from markupsafe import Markup

from rdma_robust.analyses.explain.explanation import Explanation, FinalStates, LineMark
from rdma_robust.outcome import NO_SEARCH
from rdma_robust.reports.explanation.explanation_svg import graph_svg
from rdma_robust.reports.explanation.explanation_timeline import timeline_svg
from rdma_robust.reports.share.html_templates import SourceLine, source_listing, templates
from rdma_robust.reports.share.page_style import PAGE_STYLE, SCRIPT, SOURCE_STYLE, STYLE, page_script
from rdma_robust.reports.share.svg import COLOURS
from rdma_robust.text import count, lines_of

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
    "mo": "order of the writes to one location",
    "rb": "a read comes before a later write",
    "pf": "a poll takes a completion",
    "nfo": "order of the NIC's reads and write buffers",
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

PACKAGE: Final = "rdma_robust.reports.explanation"


def source_html(explanation: Explanation) -> str:
    """Return the program's text as an HTML fragment, the lines that matter marked. It has no ids and its own style sheet."""
    return _source(explanation, COLOURS + SOURCE_STYLE)


def _source(explanation: Explanation, style: str) -> Markup:
    marks = {mark.line: mark for mark in explanation.lines}
    lines = lines_of(explanation.source)
    return source_listing((_source_line(n, line, marks.get(n)) for n, line in enumerate(lines, 1)), style)


def explanation_html(explanation: Explanation, version: str) -> str:
    """Return the whole page; `version` is that of the tool. Raises UsageError if Graphviz's library cannot be loaded."""
    verdict = VERDICTS[explanation.verdict]
    drawn = explanation.graph
    used = {r for e in drawn.edges for r in e.relations} if drawn else set()
    return (
        _templates()
        .get_template("explanation.html.j2")
        .render(
            told=explanation,
            title=f"{explanation.program}: {verdict}",
            verdict=verdict,
            style=PAGE_STYLE + STYLE,
            script=page_script(SCRIPT),
            source=_source(explanation, style=""),
            timeline=Markup(timeline_svg(explanation)) if explanation.timeline else "",
            graph=Markup(graph_svg(explanation)) if drawn else "",
            relations=[(name, meaning) for name, meaning in RELATIONS.items() if name in used],
            finals=_finals(explanation.final_states),
            facts=_facts(explanation, version),
            **_orders(explanation),
        )
    )


def orders_html(explanation: Explanation) -> str:
    """Return the pairs that may be reordered as tables, one for each reason, long ones folded; without a style sheet."""
    return _templates().get_template("orders.html.j2").render(**_orders(explanation))


@cache
def _templates() -> Environment:
    environment = templates(PACKAGE)
    environment.filters.update(counted=count)
    return environment


def _source_line(number: int, line: str, mark: LineMark | None) -> SourceLine:
    roles = mark.roles if mark else ()
    shown = "cycle" if "late" not in roles and "early" not in roles else ""
    told = ", ".join(ROLES[role] for role in roles if role != "cycle" or shown)
    return SourceLine(number, line, tuple(roles), told, "; ".join(mark.notes) if mark else "")


def _finals(finals: FinalStates) -> str:
    return {
        "new": "RDMA reaches final states that sequential consistency does not.",
        "none": "The final states are the same under both.",
        "unknown": f"Not known: {finals.reason}.",
        "not-asked": f"Not compared: {finals.reason}.",
    }[finals.change]


def _orders(explanation: Explanation) -> dict[str, Any]:
    """Return what the tables of pairs need."""
    pairs = explanation.pairs
    told = "Pairs of accesses in program order that the hardware alone does not keep in order. All others it keeps."
    if not explanation.pairs_complete:
        told = f"The first {len(pairs):,} pairs of accesses that the hardware alone does not keep in program order."
    groups = [(why, meaning, [p for p in pairs if (p.why or "kept") == why]) for why, meaning in WHY.items()]
    filled = [(why, meaning, found) for why, meaning, found in groups if found]
    return {"introduction": told, "groups": filled, "most_shown": MOST_SHOWN}


def _facts(explanation: Explanation, version: str) -> list[tuple[str, str]]:
    searched = explanation.engine != NO_SEARCH
    return [
        ("Reason", explanation.reason),
        ("Instrumentation", explanation.instrumentation),
        ("Engine", explanation.engine if searched else "none: a static filter was enough"),
        ("States", f"{explanation.states:,}"),
        ("Classes of last events tried", f"{explanation.pivots:,}"),
        ("Two remote reads of a queue pair", "kept in order" if explanation.ordered_reads else "may be reordered"),
        ("Checked by", ", ".join(explanation.checked_by) or "-"),
        ("Tool", f"rdma-robust {version}"),
    ]
