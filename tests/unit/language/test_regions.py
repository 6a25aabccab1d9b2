"""The word `relaxed`: where it is a keyword, what it says, how it is printed, and programs without it."""

from __future__ import annotations

import pytest

from rdma_robust.build import Array, ProgramBuilder, Relaxed
from rdma_robust.editing.hovers import hover
from rdma_robust.errors import ProgramError
from rdma_robust.language.check.refusals import model_refusals
from rdma_robust.language.flow.canonical import canonical_text
from rdma_robust.language.flow.regions import without_regions
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.formatter import format_source
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
