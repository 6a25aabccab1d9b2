"""`expect` lines are lists of claims, `await` and `assume` differ in the graph only, and new words stay names."""

from __future__ import annotations

from pathlib import Path

import pytest

from rdma_robust.analyses.repair.edits import SourceText, apply_edits
from rdma_robust.build import ProgramBuilder
from rdma_robust.language.flow import cfg
from rdma_robust.language.flow.canonical import canonical_text
from rdma_robust.language.flow.spinning import blocking
from rdma_robust.language.load import load_program
from rdma_robust.language.syntax.formatter import format_source
from tests.support.shares import share

LITMUS = sorted((Path(__file__).parents[3] / "litmus").glob("*.rdma"))
NODE = "node A { x }\nthread T on A { x = 1 }\n"


def claims(lines: str) -> list[tuple[str, bool, str | None]]:
    return [(e.kind, e.negated, e.model) for e in load_program(NODE + lines, "t").expectations]


@pytest.mark.parametrize(
    ("lines", "expected", "robust"),
    [
        ("", [], None),
        ("expect robust", [("robust", False, None)], True),
        ("expect not robust", [("robust", True, None)], False),
        ("expect hang under sc", [("hang", False, "sc")], None),
        ("expect no hang under rdma,\n  robust", [("hang", True, "rdma"), ("robust", False, None)], True),
        (
            "expect not robust, hang under rdma\nexpect no hang under sc",
            [("robust", True, None), ("hang", False, "rdma"), ("hang", True, "sc")],
            False,
        ),
    ],
)
def test_claims_are_data(lines: str, expected: list[tuple[str, bool, str | None]], robust: bool | None) -> None:
    assert claims(lines) == expected
    program = load_program(NODE + lines, "t")
    assert program.expect_robust is robust
    for each in program.expectations:
        assert (NODE + lines)[each.span.start : each.span.end] == each.text
        assert each.span.file == "t"
        assert f"expect {each.text}\n" in canonical_text(program)


def test_layout_of_expect_lines() -> None:
    text = NODE + "expect  robust ,hang under\tsc // why\nexpect no hang under rdma;"
    formatted = format_source(text, "t")
    assert formatted == NODE + "expect robust, hang under sc  // why\nexpect no hang under rdma\n"
    assert format_source(formatted, "t") == formatted


def test_repair_changes_the_claim_about_robustness_only() -> None:
    for old, new in (
        ("expect hang under sc, not  robust, no hang under rdma", "expect hang under sc, robust, no hang under rdma"),
        ("expect hang under sc\nexpect not robust", "expect hang under sc\nexpect robust"),
    ):
        source = SourceText.of(NODE + old, "t")
        assert apply_edits(source.text, source.expect_robust())[0] == NODE + new


def aside(body: str, await_loops: bool = False) -> list[bool]:
    program = blocking(load_program(f"node A {{ x, a[2] }}\nthread T on A {{ reg r; {body} }}", "t"), await_loops)
    return [step.aside for _, _, step in cfg.steps(program.threads[0])]


def test_assume_sets_aside_and_await_waits() -> None:
    assert aside("assume x == 1") == [True]
    assert aside("await x == 1") == [False]
    assert aside("assume a[r] == 1") == [True, True, False]  # the last goes wrong
    assert aside("while x != 1 { }", await_loops=True) == [False]
    assert aside("while x != 1 { }") == [False, False]
    assert aside("assert x == 1") == [False, False]


@pytest.mark.parametrize("path", share(LITMUS, 8), ids=lambda p: p.stem)
def test_both_are_the_same_step(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    given, swapped = (load_program(t, "t") for t in (text.replace("assume ", "await "), text.replace("await ", "assume ")))
    assert canonical_text(given) == canonical_text(swapped)
    kinds = [{s.aside for t in p.threads for _, _, s in t.edges} for p in (given, swapped)]
    assert kinds[0] <= {False}
    assert (kinds[1] == {True, False} or kinds[1] == {True}) == ("await " in text or "assume " in text)


def test_builders_have_both() -> None:
    builder = ProgramBuilder("built")
    builder.node("A", x=0)
    builder.thread("T", on="A").assume("x == 1").await_("x == 2")
    builder.expect(True).expect_hang("sc").expect_hang("rdma", hangs=False)
    program = builder.program()
    assert [s.aside for _, _, s in cfg.steps(program.threads[0])] == [True, False]
    assert [e.text for e in program.expectations] == ["robust", "hang under sc", "no hang under rdma"]
