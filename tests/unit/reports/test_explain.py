"""Witnesses in words: every pair of event types, every width, whatever the program's text is."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from rdma_robust.errors import Span
from rdma_robust.language.flow.cfg import Fault
from rdma_robust.outcome import Verdict
from rdma_robust.reports.check.paragraphs import explain
from rdma_robust.reports.check.result import result_of
from rdma_robust.reports.check.steps_table import witness_timeline
from rdma_robust.semantics.order_table import oppo_scope
from rdma_robust.semantics.trace import CPU_TYPES, EventType
from rdma_robust.semantics.wording import ATOMICS_TOO, LABEL, NOT_KEPT, OTHER_QUEUE_PAIR, WEAKER_ORDER, Words
from tests.support.questions import gave_up
from tests.unit.reports.samples import event, outcome, program

TYPES = [t for t in LABEL if t is not EventType.INIT]
WORDS = Words(program())


@pytest.mark.parametrize(("earlier", "later"), list(product(TYPES, TYPES)), ids=lambda t: t.value)
@pytest.mark.parametrize("remote", ["B", "C"])
def test_every_reordering_has_words(earlier: EventType, later: EventType, remote: str) -> None:
    text = WORDS.reordering(event(earlier, 1, 7), event(later, 2, 8, remote))
    assert "(line 7)" in text
    assert "(line 8)" in text
    assert " may " in text
    assert " after " in text
    assert "None" not in text
    assert "{" not in text


def test_every_reordering_that_the_table_allows_has_its_reason() -> None:
    """The reasons cover exactly the pairs of one queue pair that oppo does not keep, and any two queue pairs. Of those that
    it keeps they tell which weaker order would not."""
    for earlier, later in product(TYPES, TYPES):
        if earlier in CPU_TYPES or later in CPU_TYPES:
            continue
        same = WORDS.reordering(event(earlier, 1, 7), event(later, 2, 8))
        kept = same.endswith((NOT_KEPT, WEAKER_ORDER, ATOMICS_TOO))
        assert kept == (oppo_scope(earlier, later) == "qp"), (earlier, later)
        assert WORDS.reordering(event(earlier, 1, 7), event(later, 2, 8, "C")).endswith(OTHER_QUEUE_PAIR)


@pytest.mark.parametrize("kind", list(LABEL), ids=lambda t: t.value)
def test_every_event_has_a_label_and_a_clause(kind: EventType) -> None:
    for text in (WORDS.label(event(kind, 1, 7)), WORDS.clause(event(kind, 1, 7))):
        assert text
        assert "None" not in text


@pytest.mark.parametrize("relation", ["po", "rf", "mo", "rb"])
def test_every_edge_names_both_lines_and_its_relation(relation: str) -> None:
    source = event(EventType.CAS, 1, 7)
    text = WORDS.edge(source, relation, event(EventType.CAS, 2, 8))
    assert f"({relation})" in text
    assert "line 7" in text
    assert "line 8" in text


def test_the_words_of_the_issue() -> None:
    late = event(EventType.NLR, 1, 7, statement="put B.y = x")
    text = WORDS.reordering(late, event(EventType.LW, 2, 8, statement="x = 2"))
    assert text.startswith("the NIC may read `x` of `put B.y = x` (line 7) after `x = 2` (line 8)")


def test_the_explanation_names_cycle_reordering_and_timeline() -> None:
    lines = explain(result_of(outcome(), "sb.rdma"), 100)
    text = "\n".join(lines)
    assert "T1 CPU on A" in text
    assert "T2 NIC to A" in text
    assert "later overwritten by" in text
    assert "What makes it possible:" in text
    assert "the NIC may write `A.x` of `put A.x = 1` (line 5) after `r = y` (line 5)" in " ".join(text.split())


@pytest.mark.parametrize("width", [1, 40, 60, 80, 100, 200])
def test_explanations_keep_to_the_width(width: int) -> None:
    result = result_of(outcome(), "sb.rdma")
    assert result.witness is not None
    table = witness_timeline(result.witness, width)
    assert all(len(line) <= max(width, 60) for line in table)
    assert sum(line[:8].strip(" +*").isdigit() for line in table) == len(result.witness.order)
    assert max(map(len, explain(result, width))) <= max(width, 70)


def test_unknown_faults_and_spin_reads_are_explained() -> None:
    text = " ".join(explain(gave_up("x.rdma", "time limit of 5 s reached"), 100))
    assert "time limit of 5 s" in text
    base = replace(outcome(), witness=None, verdict=Verdict.NOT_ROBUST, spin_only=True)
    fault = Fault("overflow", "r is 4, outside 0..3", Span(9, 1, 1, 1, 0, 0))
    text = " ".join(explain(result_of(replace(base, faults=(fault,), faults_exact=True), "x.rdma"), 200))
    assert "--await-loops" in text
    assert "line 9: overflow: r is 4, outside 0..3" in text
    assert "Reachable faults" in text
    assert "may be reachable" in " ".join(explain(result_of(replace(base, faults=(fault,), faults_exact=False), "x"), 200))


def test_hostile_statements_are_shown_harmlessly() -> None:
    hostile = event(EventType.NLR, 1, 7, statement="put \x1b[31m[red]\u202e\n y = x")
    text = WORDS.reordering(hostile, event(EventType.LW, 2, 8))
    assert text.isprintable()
    assert "\\x1b[31m[red]" in text
