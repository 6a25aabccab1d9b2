"""What notebooks show of programs, outcomes and traces: well-formed, escaped, with the verdict first."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree, html

import rdma_robust
from rdma_robust import Outcome, Program, Verdict
from rdma_robust.reports.explanation import notebook_views
from tests.conftest import NOT_ROBUST, ROBUST, ROOT

STRANGE = '// <script>alert(1)</script> & "quoted"\n' + NOT_ROBUST


def drawing(svg: str | None) -> list[str]:
    """Parse an image; return the texts in it."""
    assert svg is not None
    root = etree.fromstring(svg.encode())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return [text for each in root.iter("{http://www.w3.org/2000/svg}text") if (text := "".join(each.itertext()))]


def fragment(text: str | None) -> str:
    assert text is not None
    found = html.fragment_fromstring(text, create_parent="div")
    assert not found.xpath("//script")
    return str(found.text_content())


def test_a_program_is_its_text_and_its_nodes_and_threads() -> None:
    program = rdma_robust.parse(STRANGE, "it.rdma")
    assert "<script>alert(1)</script>" in fragment(program._repr_html_())
    texts = drawing(program._repr_svg_())
    assert set(program.nodes) <= set(texts)
    assert {f"thread {thread.name}" for thread in program.threads} <= set(texts)


def test_a_counterexample_is_told_and_drawn() -> None:
    outcome = rdma_robust.check(STRANGE)
    assert fragment(outcome._repr_html_()).startswith("NOT ROBUST: ")
    assert drawing(outcome._repr_svg_())
    assert outcome.witness is not None
    trace = outcome.witness.trace
    texts = drawing(trace._repr_svg_())
    assert any("rb" in text.split("+") for text in texts)
    told = fragment(trace._repr_html_())
    assert all(str(event) in told for event in trace.events)


def test_an_answer_without_a_counterexample_has_no_picture() -> None:
    outcome = rdma_robust.check(ROBUST)
    assert fragment(outcome._repr_html_()).startswith("robust: ")
    assert outcome._repr_svg_() is None


def test_undecided_does_not_read_as_robust() -> None:
    outcome = rdma_robust.check(Path(ROOT / "litmus/peterson-server-batched.rdma"), max_states=50)
    assert outcome.verdict is Verdict.UNKNOWN
    told = fragment(outcome._repr_html_())
    assert told.startswith("UNKNOWN: ") and "limit of 50 states" in told.split("\n")[0]


def test_what_has_no_view_has_none() -> None:
    assert notebook_views.html_of(3) is None and notebook_views.svg_of(3) is None
    assert issubclass(Program, rdma_robust.notebook_view.NotebookView) and issubclass(
        Outcome, rdma_robust.notebook_view.NotebookView
    )


@pytest.mark.ci
@pytest.mark.parametrize("path", sorted((ROOT / "litmus").glob("*.rdma"))[::9], ids=lambda path: path.stem)
def test_programs_of_the_suite_are_shown(path: Path) -> None:
    outcome = rdma_robust.check(path, timeout=20)
    values = [outcome.program, outcome, *([outcome.witness.trace] if outcome.witness is not None else [])]
    for value in values:
        fragment(value._repr_html_())
        if (svg := value._repr_svg_()) is not None:
            drawing(svg)
