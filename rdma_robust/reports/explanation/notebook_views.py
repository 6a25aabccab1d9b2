"""Programs, outcomes and traces as notebooks show them: HTML fragments and SVG images that need nothing else.

What comes from a program is escaped. Nothing here runs a script or asks the network for anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rdma_robust.analyses.explain.compose import explanation
from rdma_robust.analyses.explain.explanation import Edge, Explanation, Graph, Lane, Node
from rdma_robust.analyses.explain.timeline import ORDER, drawn_relations
from rdma_robust.errors import UsageError
from rdma_robust.language.flow.cfg import Program, node_of, steps
from rdma_robust.model import RDMA
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome
from rdma_robust.reports.explanation.explanation_html import VERDICTS, source_html
from rdma_robust.reports.explanation.explanation_svg import graph_image
from rdma_robust.reports.explanation.explanation_timeline import timeline_svg
from rdma_robust.reports.share.html_templates import SourceLine, html_prose, source_listing
from rdma_robust.reports.share.page_style import SOURCE_STYLE
from rdma_robust.reports.share.svg import COLOURS, arrow_head, markup_text, number, pixel_width, svg_image
from rdma_robust.semantics.trace import EventType, Trace
from rdma_robust.text import count, lines_of, printable

SECONDS: Final = 5.0
"""What the explanation of an outcome may take; what it leaves out it says."""
_MOST_EVENTS: Final = 200
"""Events of a trace that is drawn: more is no picture."""
_ROW, _GAP, _PAD = 18, 40, 10


def html_of(value: object) -> str | None:
    """Return a program, an outcome or a trace as an HTML fragment, None where there is nothing to show."""
    match value:
        case Program():
            return _listing(value)
        case Outcome():
            return _outcome(value)
        case Trace():
            return _events(value)
    return None


def svg_of(value: object) -> str | None:
    """Return a program, an outcome or a trace as an SVG image, None where there is no picture: of a program who works where
    and reaches what, of an outcome its counterexample step by step, of a trace its events and relations."""
    match value:
        case Program():
            return _places(value)
        case Outcome():
            return timeline_svg(_explained(value)) or None
        case Trace():
            return _drawing(value)
    return None


def _explained(outcome: Outcome) -> Explanation:
    return explanation(outcome, CheckOptions(hardware=outcome.model, timeout=SECONDS), final_state_limit=0)


def _listing(program: Program) -> str:
    if not program.source:
        return f"<p>{markup_text(program.name)}: {count(len(program.threads), 'thread')}</p>"
    lines = (SourceLine(n, line) for n, line in enumerate(lines_of(program.source), 1))
    return str(source_listing(lines, COLOURS + SOURCE_STYLE))


def _outcome(outcome: Outcome) -> str:
    """The verdict first: what is undecided says so before anything else, and by which limit."""
    told = _explained(outcome)
    parts = [
        f"<p><strong>{VERDICTS[told.verdict]}</strong>: {markup_text(printable(outcome.program.name))}: "
        f"{html_prose(printable(outcome.reason))}</p>",
        *(f"<p>{html_prose(text)}</p>" for text in (told.headline, *told.paragraphs)),
        source_html(told) if told.source else "",
        timeline_svg(told),
    ]
    return f'<div class="rr-page">{"".join(parts)}</div>'


def _events(trace: Trace) -> str:
    rows = "".join(
        f"<tr><td>{event.index}</td><td>{_thread(event.thread)}</td><td><code>{markup_text(str(event))}</code></td></tr>"
        for event in trace.events
    )
    relations = drawn_relations(trace, RDMA)
    pairs = (f"{name}: {', '.join(f'{a}→{b}' for a, b in sorted(relations[name]))}" for name in ORDER if relations.get(name))
    head = "<tr><th>event</th><th>of</th><th>what</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table><p>{'<br>'.join(pairs)}</p>"


def _thread(thread: int) -> str:
    return "start" if thread < 0 else f"thread {thread + 1}"


def _drawing(trace: Trace) -> str | None:
    """The events and relations of a trace; None for a large one, and where Graphviz's library is not there."""
    if len(trace.events) > _MOST_EVENTS:
        return None
    relations = drawn_relations(trace, RDMA)
    read = {a for a, _ in relations["rf"]}
    shown = [event for event in trace.events if event.type is not EventType.INIT or event.index in read]
    threads = sorted({event.thread for event in shown if event.thread >= 0})
    lanes = tuple(Lane(f"t{thread}", "cpu", _thread(thread), "", None) for thread in threads)
    ids = {event.index for event in shown}
    merged: dict[tuple[int, int], list[str]] = {}
    for name in ORDER:
        for pair in sorted(relations[name]):
            if ids.issuperset(pair):
                merged.setdefault(pair, []).append(name)
    nodes = tuple(
        Node(
            event.index,
            event.type.value,
            None if event.thread < 0 else f"t{event.thread}",
            None if event.thread < 0 else _thread(event.thread),
            0,
            event.position,
            None,
            str(event),
            str(event),
            False,
            False,
        )
        for event in shown
    )
    edges = tuple(Edge(a, b, tuple(names), None, "") for (a, b), names in sorted(merged.items()))  # type: ignore[arg-type]
    try:
        return graph_image(Graph(nodes, edges), lanes, "a trace")
    except UsageError:
        return None


def _places(program: Program) -> str:
    """The nodes with their variables and threads, and an arrow from each thread to the nodes that its requests go to."""
    places, x = dict[str, tuple[float, float]](), float(_PAD)
    body: list[str] = []
    columns = {node: list(_rows(program, node)) for node in program.nodes}
    height = (1 + max((len(rows) for rows in columns.values()), default=0)) * _ROW + _PAD
    for node, rows in columns.items():
        wide = max(pixel_width(text) for text in (node, *rows)) + 2 * _PAD
        places[node] = x, wide
        box = f'x="{number(x)}" y="{_PAD}" width="{number(wide)}" height="{number(height)}" rx="10"'
        body.append(f'<rect class="rr-band" {box}/>')
        for at, text in enumerate((node, *rows)):
            style = "rr-head rr-sans" if at == 0 else "rr-sans"
            place = f'x="{number(x + _PAD)}" y="{number(_PAD + (at + 1) * _ROW - 4)}"'
            body.append(f'<text class="{style}" {place}>{markup_text(text)}</text>')
        x += wide + _GAP
    y = height + 2 * _PAD
    for name, start, end in _requests(program):
        y += _ROW
        body.append(_arrow(name, places[start], places[end], y))
    return svg_image(x - _GAP + _PAD, y + 2 * _PAD, f"nodes and threads of {program.name}", body, "places")


def _rows(program: Program, node: str) -> Iterator[str]:
    for cell in program.cells:
        if cell.node == node and not cell.hidden:
            yield printable(str(cell).removeprefix(f"{node}."))
    for thread in program.threads:
        if thread.node == node:
            yield f"thread {printable(thread.name)}"


def _requests(program: Program) -> Iterator[tuple[str, str, str]]:
    """Who has requests for which nodes: the thread, its node, the other one."""
    for thread in program.threads:
        nodes = (node_of(step.op) for _, _, step in steps(thread))
        for node in dict.fromkeys(node for node in nodes if node is not None):
            yield thread.name, thread.node, node


def _arrow(name: str, start: tuple[float, float], end: tuple[float, float], y: float) -> str:
    a, b = start[0] + start[1] / 2, end[0] + end[1] / 2
    if a == b:
        b = a + start[1] / 2
    line = f'<path class="rr-edge" d="M{number(a)},{number(y)}L{number(b)},{number(y)}" style="stroke:var(--rr-nic)"/>'
    head = f'<polygon points="{arrow_head(b, y, b - a, 0)}" style="fill:var(--rr-nic)"/>'
    place = f'x="{number((a + b) / 2)}" y="{number(y - 4)}" text-anchor="middle"'
    return f'{line}{head}<text class="rr-label rr-sans" {place}>{markup_text(printable(name))}</text>'
