"""The words `relaxed` and `sync`: where they are keywords, what they say, how they are printed, and programs without any."""

from __future__ import annotations

import pytest

from rdma_robust.build import Array, ProgramBuilder, Relaxed, Sync
from rdma_robust.editing.hovers import hover
from rdma_robust.errors import ProgramError
from rdma_robust.language.check.refusals import model_refusals
from rdma_robust.language.flow.canonical import canonical_text
from rdma_robust.language.flow.copies import without_regions
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.formatter import format_source
from rdma_robust.model import Model
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from tests.support.rebuilt import rebuilt
from tests.support.region_programs import strict_text

TEXT = """node A { one = 1 }
node B {
  relaxed data[2] = 0, flag
  relaxed = 3
  relaxed tail
}
thread T on A {
  put B.data[1] = one
  get one = B.flag
  put B.relaxed = one
  put B.tail = one imm 1 to U
}
thread U on B {
  posted tail from T
}
"""


def relaxed_words(text: str) -> set[str]:
    return {str(cell) for cell in load_program(text, "t").cells if cell.relaxed}


def test_it_is_said_of_the_next_name_only() -> None:
    assert relaxed_words(TEXT) == {"B.data[0]", "B.data[1]", "B.tail"}


def test_it_is_a_name_everywhere_else() -> None:
    text = """hardware order relaxed
node relaxed { relaxed, relaxed relaxed2, y }
node P[relaxed in 0..1] { x }
thread T on relaxed { reg s
  s = relaxed
}
"""
    assert relaxed_words(text) == {"relaxed.relaxed2"}
    assert load_program(text, "t").hardware.order == "relaxed"


def test_members_of_families_have_regions() -> None:
    text = "node P[i in 0..1] { relaxed x[2], y }\nthread T[i in 0..1] on P[i] { y = 1 }"
    assert relaxed_words(text) == {"P[0].x[0]", "P[0].x[1]", "P[1].x[0]", "P[1].x[1]"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("node B { relaxed relaxed x }", "RR101"),
        ("node B { x relaxed }", "RR101"),
        ("node B { sync sync x }", "RR101"),
        ("node B { sync relaxed sync x }", "RR103"),
        ("thread T on A { sync x = 1 }", "RR102"),
        ("node B { relaxed x, x }", "RR204"),
        ("thread T on A { relaxed x = 1 }", "RR101"),
    ],
)
def test_other_places_are_mistakes(text: str, code: str) -> None:
    with pytest.raises(ProgramError) as caught:
        load_program(text, "t")
    assert code in {each.code for each in caught.value.diagnostics}


def test_it_is_printed_as_it_was_written() -> None:
    assert format_source(format_source(TEXT, "t"), "t") == format_source(TEXT, "t")
    assert relaxed_words(format_source(TEXT, "t")) == relaxed_words(TEXT)


def test_a_program_without_regions_is_that_of_the_text_without_the_word() -> None:
    program, plain = without_regions(load_program(TEXT, "t")), load_program(strict_text(TEXT), "t")
    assert canonical_text(program) == canonical_text(plain)
    assert canonical_text(load_program(TEXT, "t")) != canonical_text(plain)
    assert program.cells == plain.cells and program.threads[1].posted == plain.threads[1].posted


def test_the_builder_declares_them() -> None:
    builder = ProgramBuilder("t")
    builder.node("B", data=Relaxed(Array(2)), flag=0, tail=Relaxed(3))
    builder.thread("T", on="B").write("flag", 1)
    assert {str(cell) for cell in builder.program().cells if cell.relaxed} == {"B.data[0]", "B.data[1]", "B.tail"}


def test_hovers_say_what_it_means() -> None:
    shown = hover(TEXT, TEXT.index("data[1]") + 1)
    assert shown is not None and "`relaxed data[2] = 0`: array of node B, line 3; in a relaxed region" in shown.text
    plain = hover(TEXT, TEXT.index("B.flag") + 3)
    assert plain is not None and "region" not in plain.text


def test_proofs_under_rdma_refuse_requests_of_relaxed_words() -> None:
    text = "node A { x }\nnode B { relaxed y, z }\nthread T on A {\n  put B.z = x\n  put B.y = x\n}"
    program = load_program(text, "t")
    found = model_refusals(program, "rdma")
    assert [(each.code, each.span.line) for each in found] == [("RR408", 5)]
    assert "B.y is relaxed" in found[0].message
    assert not model_refusals(program, "rma")


SYNC = """node A { sync flag, data, sync ring[2] }
node B {
  relaxed sync both = 1
  sync = 3
  sync relaxed too; relaxed strict
}
thread T on A {
  flag = 1
  put B.sync = data
  put B.both = flag
}
"""


def said(text: str) -> dict[str, tuple[bool, bool]]:
    return {str(cell): (cell.sync, cell.relaxed) for cell in load_program(text, "t").cells}


def test_words_for_synchronisation_can_be_relaxed_too() -> None:
    assert said(SYNC) == {
        "A.flag": (True, False),
        "A.data": (False, False),
        "A.ring[0]": (True, False),
        "A.ring[1]": (True, False),
        "B.both": (True, True),
        "B.sync": (False, False),
        "B.too": (True, True),
        "B.strict": (False, True),
    }


def test_sync_is_printed_built_and_part_of_the_canonical_text() -> None:
    printed = format_source(SYNC, "t")
    assert "sync relaxed both = 1" in printed and format_source(printed, "t") == printed
    assert said(printed) == said(SYNC)
    plain = load_program(SYNC.replace("sync flag", "flag"), "t")
    assert canonical_text(load_program(SYNC, "t")) != canonical_text(plain)
    assert {str(c) for c in rebuilt(SYNC).cells if c.sync} == {str(c) for c in load_program(SYNC, "t").cells if c.sync}


def test_the_builder_declares_words_for_synchronisation() -> None:
    builder = ProgramBuilder("t")
    builder.node("B", data=Sync(Relaxed(Array(2))), flag=Sync(), tail=0)
    builder.thread("T", on="B").write("flag", 1)
    cells = {str(cell): (cell.sync, cell.relaxed) for cell in builder.program().cells}
    assert cells == {
        "B.data[0]": (True, True),
        "B.data[1]": (True, True),
        "B.flag": (True, False),
        "B.tail": (False, False),
    }


def test_hovers_say_both_words() -> None:
    shown = hover(SYNC, SYNC.index("B.both") + 3)
    assert shown is not None and "in a relaxed region" in shown.text and "meant for synchronisation" in shown.text


@pytest.mark.parametrize("word", ["", "sync "])
def test_no_verdict_depends_on_the_word(word: str) -> None:
    text = f"node A {{ }}\nnode B {{ {word}data, {word}flag }}\n"
    text += "thread T on A { put B.data = 1\n put B.flag = 1 }\nthread U on B { reg a, b\n a = flag\n b = data }"
    for order, robust in (("default", True), ("multipath", False)):
        assert (oracle_robust(load_program(text, "t"), Model(order=order)) is None) == robust
