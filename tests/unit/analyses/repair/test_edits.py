"""Edits of text: what is inserted stands where it should, and nothing else changes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rdma_robust.analyses.repair.edits import SourceText, apply_edits, disjoint_edits, gaps
from rdma_robust.language.load import load_program, parse_program
from rdma_robust.language.syntax import ast
from rdma_robust.language.syntax.tree_limits import all_statements
from tests.support.random_programs import TINY, random_program

HEAD = "node A { x, y }\nnode B { z }\n"


def inserted(thread: str, place: int, *new: str, head: str = HEAD) -> str:
    """Insert statements into a thread and return it; every result must load."""
    source = SourceText.of(head + thread, "t.rdma")
    text, ranges = apply_edits(source.text, [source.insert(gaps(source)[place], new or ["poll B"])])
    assert [text[a:b] for a, b in ranges] == list(new or ["poll B"])
    load_program(text, "t.rdma")
    return text.removeprefix(head)


@pytest.mark.parametrize(
    ("thread", "place", "result"),
    [
        ("thread T on A {\n  x = 1\n}\n", 0, "thread T on A {\n  poll B\n  x = 1\n}\n"),
        ("thread T on A {\n  x = 1\n}\n", 1, "thread T on A {\n  x = 1\n  poll B\n}\n"),
        ("thread T on A {\n\tx = 1 // one\n\n\ty = 1\n}\n", 1, "thread T on A {\n\tx = 1 // one\n\tpoll B\n\n\ty = 1\n}\n"),
        ("thread T on A {\r\n  x = 1\r\n}\r\n", 1, "thread T on A {\r\n  x = 1\r\n  poll B\r\n}\r\n"),
        ("thread T on A { x = 1 }\n", 0, "thread T on A { poll B; x = 1 }\n"),
        ("thread T on A { x = 1 }\n", 1, "thread T on A { x = 1; poll B }\n"),
        ("thread T on A {x = 1}", 0, "thread T on A { poll B; x = 1}"),
        ("thread T on A { x = 1; y = 1 }", 1, "thread T on A { x = 1; poll B; y = 1 }"),
        ("thread T on A { x = 1 /* a */; y = 1 }", 1, "thread T on A { x = 1; poll B /* a */; y = 1 }"),
        ("thread T on A { x = 1 /* a\n b */\n y = 1 }", 1, "thread T on A { x = 1; poll B /* a\n b */\n y = 1 }"),
        ("thread T on A { x = 1 /* a */\n y = 1 }", 1, "thread T on A { x = 1 /* a */\npoll B\n y = 1 }"),
        ("thread T on A { loop { } x = 1 }", 1, "thread T on A { loop { poll B } x = 1 }"),
        ("thread T on A { loop { } x = 1 }", 2, "thread T on A { loop { }; poll B; x = 1 }"),
        ("thread T on A { loop {} }", 1, "thread T on A { loop { poll B } }"),
        ("thread T on A { }", 0, "thread T on A { poll B }"),
        ("thread T on A {\n}\n", 0, "thread T on A {\n  poll B\n}\n"),
        ("thread T on A {\n  // nothing\n}\n", 0, "thread T on A {\n  poll B\n  // nothing\n}\n"),
        ("thread T on A { reg r\n  skip\n  r = x\n}", 0, "thread T on A { reg r\n  skip\n  poll B\n  r = x\n}"),
        (
            "thread T on A {\n  choose { x = 1 }\n  or { x = 2 }\n}",
            2,
            "thread T on A {\n  choose { x = 1; poll B }\n  or { x = 2 }\n}",
        ),
    ],
)
def test_insertions_follow_the_layout(thread: str, place: int, result: str) -> None:
    assert inserted(thread, place) == result


def test_several_statements_stand_in_order() -> None:
    assert inserted("thread T on A { x = 1 }", 1, "poll B", "rfence B") == "thread T on A { x = 1; poll B; rfence B }"
    assert (
        inserted("thread T on A {\n  x = 1\n}", 0, "poll B", "rfence B")
        == "thread T on A {\n  poll B\n  rfence B\n  x = 1\n}"
    )


def test_places_that_no_event_separates_are_one() -> None:
    def count(body: str, await_loops: bool = False) -> int:
        return len(gaps(SourceText.of(f"{HEAD}thread T on A {{ {body} }}", "t.rdma"), await_loops=await_loops))

    assert count("reg r; skip; x = 1; skip; skip; y = 1; skip") == 3
    assert count("x = 1; halt; y = 1") == 2
    assert count("while x != 1 { }") == 3
    assert count("while x != 1 { skip }", await_loops=True) == 2
    assert [p.depth for p in gaps(SourceText.of(f"{HEAD}thread T on A {{ loop {{ while x == 1 {{ y = 1 }} }} }}", "t"))] == [
        0,
        1,
        2,
        2,
        1,
        0,
    ]


@pytest.mark.parametrize(
    ("node", "result"),
    [
        ("node N { }", "node N { s = 0 }"),
        ("node N {}", "node N { s = 0 }"),
        ("node N /* { */ { }", "node N /* { */ { s = 0 }"),
        ("node N {\n}", "node N { s = 0\n}"),
        ("node N { a, }", "node N { a, s = 0, }"),
        ("node N { a[2] = 1 }", "node N { a[2] = 1, s = 0 }"),
        ("node N {\n  a // first\n  b // second\n}", "node N {\n  a // first\n  b, s = 0 // second\n}"),
    ],
)
def test_declarations(node: str, result: str) -> None:
    source = SourceText.of(node, "t.rdma")
    item = source.tree.items[0]
    assert isinstance(item, ast.NodeDeclaration)
    text = apply_edits(node, [source.declare(item, ["s = 0"])])[0]
    assert text == result
    load_program(text, "t.rdma")


@pytest.mark.parametrize(
    ("thread", "gone", "result"),
    [
        ("thread T on A {\n  x = 1\n  y = 1\n}\n", "y = 1", "thread T on A {\n  x = 1\n}\n"),
        ("thread T on A {\n  x = 1 // why\n  y = 1\n}\n", "x = 1", "thread T on A {\n  // why\n  y = 1\n}\n"),
        ("thread T on A { x = 1; y = 1 }", "x = 1", "thread T on A { y = 1 }"),
        ("thread T on A { x = 1; y = 1 }", "y = 1", "thread T on A { x = 1 }"),
        ("thread T on A { x = 1 }", "x = 1", "thread T on A {  }"),
        ("thread T on A { loop { } x = 1; y = 1 }", "x = 1", "thread T on A { loop { } y = 1 }"),
    ],
)
def test_removal_takes_the_line_and_leaves_comments(thread: str, gone: str, result: str) -> None:
    source = SourceText.of(thread, "t.rdma")
    found = [s for s in all_statements(source.tree) if thread[s.span.start : s.span.end] == gone]
    assert apply_edits(thread, [source.remove(found[0])])[0] == result


def test_the_expect_line_changes_with_the_verdict() -> None:
    for old, new in (("expect not robust", "expect robust"), ("expect  not /* yet */ robust // x", "expect  robust // x")):
        source = SourceText.of(f"node A {{ }}\n{old}", "t.rdma")
        assert apply_edits(source.text, source.expect_robust())[0] == f"node A {{ }}\n{new}"
    assert SourceText.of("node A { }\nexpect robust", "t.rdma").expect_robust() == []


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["\n", "\r\n", " "]))
def test_what_is_inserted_everywhere_can_be_removed_again(seed: int, line_end: str) -> None:
    """After inserting at all places only the new statements are new; removing them restores the program."""
    text = random_program(Random(seed), TINY, loops=True)
    if line_end == " ":
        text = text.replace("{\n", "{ ").replace("\n  ", "; ").replace("{;", "{").replace("\n}", " }")
    else:
        text = text.replace("\n", line_end)
    source = SourceText.of(text, "t.rdma")
    found = gaps(source)
    more, ranges = apply_edits(text, [source.insert(p, ["assume 7 == 7"]) for p in found])
    assert [more[a:b] for a, b in ranges] == ["assume 7 == 7"] * len(found)
    again = SourceText.of(more, "t.rdma")
    starts = {a for a, _ in ranges}
    new = [s for s in all_statements(again.tree) if s.span.start in starts]
    assert len(new) == len(found)
    assert all(isinstance(s, ast.Assume) for s in new)
    assert parse_program(apply_edits(more, disjoint_edits([again.remove(s) for s in new]))[0], "t.rdma") == source.tree


def test_outcomes_claim_under_rdma_what_they_do_under_sc() -> None:
    head = "node A { x }\n"
    for old, new in (
        (
            "outcome A.x == 1 : forbidden under sc, allowed under rdma",
            "outcome A.x == 1 : forbidden under sc, forbidden under rdma",
        ),
        (
            "outcome A.x == 1 : allowed under rdma, forbidden under sc",
            "outcome A.x == 1 : forbidden under rdma, forbidden under sc",
        ),
        ("outcome A.x == 1 : allowed under rdma", "outcome A.x == 1 : allowed under rdma"),
    ):
        source = SourceText.of(head + old, "t.rdma")
        assert apply_edits(source.text, source.expect_robust())[0] == head + new
