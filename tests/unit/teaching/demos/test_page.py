"""The page of a walk-through as text: all blocks, nothing from outside taken for markup, the same every time."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from lxml import html

from rdma_robust.errors import InternalError
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.contextual import contextual_tokens
from rdma_robust.language.syntax.grammar import load_grammar
from rdma_robust.reports.share.html_templates import coloured_lines
from rdma_robust.teaching.demos.walk import CodeListing, Figure, Paragraph, WalkSection, WalkTable, Walkthrough
from rdma_robust.teaching.demos.walk_page import thread_lines, walk_page
from tests.conftest import ROOT
from tests.support.walks import animation, chain, litmus, random_run, sample

BAD = "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">'&\x1b\u202e"


def classed(found: Any, name: str, below: str = "") -> list[Any]:
    """Return the elements of a class, or what is `below` them."""
    return list(found.xpath(f".//*[contains(concat(' ', @class, ' '), ' {name} ')]{below}"))


def test_every_block_is_there() -> None:
    program = litmus("mailbox-polled")
    moves = random_run(program, Random(1), 60)
    text = walk_page(sample(animation(program, moves, "The first"), animation(program, moves, "The second")))
    found = html.document_fromstring(text)
    assert [e.text_content() for e in found.iter("h2")] == [
        "What the theorem says",
        "The program",
        "The run",
        "What to try next",
    ]
    assert classed(found, "prose", "//code")[0].text == "code"
    assert [td.get("class") for td in found.xpath("//tbody/tr[1]/td")] == ["right", "right", None]
    assert len(found.xpath("//figure//svg")) == 1
    assert "<?xml" not in text and "<!DOCTYPE svg" not in text
    listed = "".join(e.text_content() for e in classed(found, "rdma", "/code"))
    assert listed == program.source
    assert found.xpath("//*[@data-do='save']")[0].get("data-file") == "program.rdma"
    assert [e.get("id") for e in classed(found, "run")] == ["run1", "run2"]
    for run in classed(found, "run"):
        data = json.loads(classed(run, "data")[0].text)
        assert len(data["frames"]) == len(moves)
        assert [int(a.get("data-step")) for a in classed(run, "stops", "//a")] == data["stops"]
        assert [e.text_content() for e in classed(run, "node", "/h4")] == ["A", "B"]
        slots = [int(e.get("data-slot")) for e in run.xpath(".//*[@data-slot]")]
        assert sorted(slots) == list(range(len(slots)))
    assert not found.xpath("//*[@src] | //link[@rel='stylesheet']")


def test_nothing_from_outside_is_markup() -> None:
    text = f"// {BAD}\n".replace("\x1b", "") + litmus("sb-put-plain").source
    program = replace(load_program(text, "p.rdma"), name=BAD, file=BAD)
    run = animation(program, random_run(program, Random(2), 30), BAD)
    run = replace(run, notes=tuple(BAD for _ in run.notes))
    blocks = (
        Paragraph(BAD),
        CodeListing(BAD, "json", BAD, BAD),
        WalkTable(BAD, (BAD,), ((BAD,),)),
        Figure(BAD, "<svg></svg>", BAD),
        run,
    )
    text = walk_page(Walkthrough(BAD, BAD, BAD, (WalkSection(BAD, blocks),) * 3))
    found = html.document_fromstring(text)
    assert len(re.findall("<script", text)) == 4 == len(list(found.iter("script")))
    assert not found.xpath("//img | //*[@onerror]")
    assert "\x1b" not in text and "\u202e" not in text
    assert not found.xpath("//*[@data-do='save' or @data-do='copy']"), "what is shown is not the text"


def test_a_page_is_the_same_every_time() -> None:
    program = chain()
    walks = [sample(animation(program, random_run(program, Random(7), 120))) for _ in range(2)]
    assert walk_page(walks[0]) == walk_page(walks[1])


def test_a_page_of_no_run_is_refused() -> None:
    program = litmus("mailbox-plain")
    moves = random_run(program, Random(3), 8)
    with pytest.raises(InternalError, match="not one that the machine can make"):
        walk_page(sample(animation(program, moves[:2] + moves[3:])))


@pytest.mark.parametrize(
    ("language", "text", "pieces"),
    [
        (
            "rdma",
            "put B.x = 12 // put 1",
            [("word", "put"), ("", " B.x = "), ("number", "12"), ("", " "), ("comment", "// put 1")],
        ),
        ("rdma", "input = thread1", [("", "input = thread1")]),
        ("spec", "vars", [("word", "vars")]),
        ("spec", "x >= 1 -> # vars", [("", "x >= "), ("number", "1"), ("", " -> "), ("comment", "# vars")]),
        (
            "json",
            '{"a": [-1, "//"]}',
            [("", "{"), ("text", '"a"'), ("", ": ["), ("number", "-1"), ("", ", "), ("text", '"//"'), ("", "]}")],
        ),
        ("console", "$ rdma-robust demo", [("comment", "$ "), ("", "rdma-robust demo")]),
        ("console", "costs 5 $ at most", [("", "costs 5 $ at most")]),
    ],
)
def test_words_numbers_texts_and_comments(language: Any, text: str, pieces: list[tuple[str, str]]) -> None:
    (line,) = coloured_lines(text, language)
    assert list(line.pieces) == pieces


NAMES = """node A { hang = 0, for = 1, no = 2, macro = 3, in = 4 }
node B { y = 0 }
macro send(to, what) { put to = what /* put
forever */ poll B }
thread T on A {
  for i in 0..2 { y = i }
  send(B.y, hang)
  for = 2; macro = no + in
}
expect robust, no hang under sc
"""


def test_words_of_the_language_are_those_of_its_parser() -> None:
    """Words that are names in other places among them."""
    grammar = load_grammar()
    texts = [NAMES, *(path.read_text(encoding="utf-8") for path in sorted((ROOT / "litmus").glob("*.rdma"))[::7])]
    for text in texts:
        tokens = contextual_tokens([token for token in grammar.lex(text) if token.type != "COMMENT"])
        expected = [(token.line, str(token)) for token in tokens if token.type in grammar.keywords]
        found = [
            (line.number, piece) for line in coloured_lines(text, "rdma") for kind, piece in line.pieces if kind == "word"
        ]
        assert found == expected


def test_the_lines_of_a_thread_are_its_declaration() -> None:
    program = load_program(
        "// thread T2 on A { is not here\nnode A { x }\n\nthread T1 on A {\n  if x == 1 {\n    x = 2\n  }\n}\n\n"
        "thread T2 on A {\n}\nthread T3 on A { x = 1 }\nexpect robust\n",
        "p.rdma",
    )
    shown = [[line.number for line in thread_lines(program, thread)] for thread in program.threads]
    assert shown == [[4, 5, 6, 7, 8], [10, 11], [12]]
    assert thread_lines(replace(program, source=""), program.threads[0]) == ()
