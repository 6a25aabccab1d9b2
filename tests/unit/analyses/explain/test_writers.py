"""The writers: well-formed whatever the names and texts are, complete, and the same every time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import pygraphviz
import pytest
from jsonschema import Draft202012Validator

from rdma_robust.analyses.explain.explanation import Explanation, Graph, Lane
from rdma_robust.reports.explanation.explanation_dot import graph_dot
from rdma_robust.reports.explanation.explanation_html import explanation_html, source_html
from rdma_robust.reports.explanation.explanation_svg import drawn, graph_layout, graph_svg
from rdma_robust.reports.explanation.explanation_text import explanation_object, explanation_text
from rdma_robust.reports.explanation.explanation_timeline import timeline_svg
from rdma_robust.reports.explanation.graph_places import GraphLayout, column_layout
from rdma_robust.reports.share.html_templates import html_prose
from tests.conftest import ROOT
from tests.support.explained import explained, litmus, programs
from tests.support.random_programs import SMALL

SCHEMA = json.loads((ROOT / "rdma_robust/schema/explain.schema.json").read_text())
TOOL = {"name": "rdma-robust", "version": "0", "kernel": "python"}
HOSTILE = 'a<script>alert(1)</script>"\'&amp;]]>-->`x`\\N\\"\x1b[31m\n\u202e\udcff.rdma'
VOID = {"meta", "link", "input", "br"}
DRAWN = ("sb-put-polled", "iriw-get", "forward-fenced", "barrier-two-spin")


class Checker(HTMLParser):
    """Collects tags, checks that they are balanced, and keeps what a browser would run or load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.loads: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        loading = ("src", "href", "srcset", "action", "data")
        self.loads += [str(v) for k, v in attrs if k in loading and not str(v).startswith("#")]
        self.handlers += [k for k, _ in attrs if k.startswith("on")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)


def parsed(text: str) -> Checker:
    checker = Checker()
    checker.feed(text)
    checker.close()
    assert not checker.open
    return checker


def hostile() -> Explanation:
    source = "// <script>alert(2)</script> & \x07 \u202e ]]> -->\n" + litmus("sb-put-polled").source
    e = explained(source, name=HOSTILE)
    assert e.file == HOSTILE
    return replace(e, reason=HOSTILE, headline=HOSTILE, paragraphs=(HOSTILE, *e.paragraphs), program=HOSTILE)


@pytest.mark.parametrize("make", [hostile, *(lambda n=n: litmus(n) for n in (*DRAWN, "mailbox-polled"))])
def test_the_page_runs_and_loads_nothing_from_outside(make) -> None:  # type: ignore[no-untyped-def]
    page = explanation_html(make(), "0")
    found = parsed(page)
    assert len(found.scripts) == 1 and "alert" not in found.scripts[0]
    assert found.loads == ["data:,"] and not found.handlers
    assert "<script>alert" not in page and "default-src 'none'" in page
    assert not [c for c in page if ord(c) < 32 and c != "\n"] and "\u202e" not in page
    page.encode("utf-8")


@pytest.mark.parametrize("draw", [graph_svg, timeline_svg])
def test_drawings_are_xml_with_every_event_in_them(draw) -> None:  # type: ignore[no-untyped-def]
    for e in (hostile(), *map(litmus, DRAWN)):
        assert e.graph is not None
        root = ElementTree.fromstring(draw(e))
        events = [g.get("data-event") for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("data-event")]
        wanted = {str(n.id) for n in e.graph.nodes if n.lane is not None or draw is graph_svg}
        assert set(events) == wanted and len(events) == len(wanted)
        assert not [g for g in root.iter() if g.get("id")], "ids would clash where several drawings are on one page"
        width, height = float(root.get("width", 0)), float(root.get("height", 0))
        for rect in root.iter("{http://www.w3.org/2000/svg}rect"):
            assert float(rect.get("x", 0)) >= 0 and float(rect.get("x", 0)) + float(rect.get("width", 0)) <= width
            assert float(rect.get("y", 0)) >= 0 and float(rect.get("y", 0)) + float(rect.get("height", 0)) <= height


def test_the_timeline_shows_posting_and_effects_of_every_operation() -> None:
    for e in map(litmus, DRAWN):
        assert e.timeline is not None
        root = ElementTree.fromstring(timeline_svg(e))
        lives = [g for g in root.iter("{http://www.w3.org/2000/svg}g") if g.get("data-operation") is not None]
        assert len(lives) == len(e.timeline.operations)
        titles = {g.findtext("{http://www.w3.org/2000/svg}title") for g in lives}
        for o in e.timeline.operations:
            told = next(t for t in titles if t and t.startswith(f"{o.statement} (line {o.line}): posted in step {o.posted}"))
            assert o.read is None or f"read in step {o.read}" in told
            assert o.written is None or f"in step {o.written}" in told


@pytest.mark.parametrize("places", [graph_layout, column_layout])
def test_lanes_of_the_graph_are_columns_in_program_order(places: Callable[[Graph, tuple[Lane, ...]], GraphLayout]) -> None:
    """Nodes of a lane stand below each other, and below what is before them in program order; nodes do not overlap."""
    for text in programs(31, 14, SMALL):
        e = explained(text, final_state_limit=0)
        if e.graph is None or e.timeline is None:
            continue
        layout = places(e.graph, e.timeline.lanes)
        at = {n.id: layout.nodes[f"n{n.id}"] for n in e.graph.nodes}
        for edge in e.graph.edges:
            if "po" in edge.relations:
                assert at[edge.source][1] < at[edge.target][1]
            assert (f"n{edge.source}", f"n{edge.target}") in layout.curves
        for lane in e.timeline.lanes:
            column = [at[n.id][0] for n in e.graph.nodes if n.lane == lane.id]
            assert not column or max(column) - min(column) < 60
        assert len(set(at.values())) == len(at)


def test_dot_is_read_back_by_graphviz() -> None:
    for e in (hostile(), *map(litmus, DRAWN)):
        assert e.graph is not None
        graph = pygraphviz.AGraph(string=graph_dot(e))
        nodes = {f"n{n.id}" for n in e.graph.nodes}
        assert nodes <= set(graph.nodes())
        assert {(f"n{x.source}", f"n{x.target}") for x in e.graph.edges} <= set(graph.edges())
        red = [x for x in graph.edges() if x.attr["color"] == "#dc2626"]
        assert len(red) == len(e.cycle)


def test_without_a_witness_drawings_say_so() -> None:
    e = litmus("mailbox-polled")
    assert graph_svg(e) == timeline_svg(e) == ""
    assert "no execution to draw" in drawn(e, "graph")
    root = ElementTree.fromstring(drawn(e, "timeline"))
    assert "`" not in "".join(root.itertext())
    assert not pygraphviz.AGraph(string=graph_dot(e)).nodes()


@pytest.mark.parametrize("name", [*DRAWN, "mailbox-polled", "abp-polled"])
def test_json_follows_its_schema(name: str) -> None:
    value = json.loads(json.dumps(explanation_object(litmus(name), TOOL)))
    Draft202012Validator(SCHEMA).validate(value)


def test_json_of_hostile_names_can_be_encoded() -> None:
    value = explanation_object(hostile(), TOOL)
    json.dumps(value, ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
def test_text_keeps_to_the_width(width: int) -> None:
    for name in (*DRAWN, "mailbox-polled"):
        for line in explanation_text(litmus(name), width):
            assert len(line) <= width or " " not in line.strip() or "step" in line or re.match(r"\s+[+*]?\s+\d|\s{25}", line)


def test_text_is_printable() -> None:
    assert all(line.isprintable() for line in explanation_text(hostile(), 100))


def test_the_source_is_complete_and_marked() -> None:
    e = litmus("sb-put-polled")
    found = source_html(e)
    root = ElementTree.fromstring(found)
    lines = [d for d in root.iter("div") if d.get("data-line")]
    assert ["".join(code.itertext()) for d in lines if (code := d.find("code")) is not None] == [
        line or " " for line in e.source.splitlines()
    ]
    marked = {int(d.get("data-line", 0)) for d in lines if "rr-line-cycle" in d.get("class", "")}
    assert marked == {m.line for m in e.lines}


def test_code_in_prose() -> None:
    assert html_prose("a `b < c` d & `e`") == "a <code>b &lt; c</code> d &amp; <code>e</code>"
    assert html_prose("odd ` one") == "odd ` one"
