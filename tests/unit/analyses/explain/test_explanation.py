"""The whole explanation: words, final states, graph and marks."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace

import pytest

from rdma_robust.analyses.explain.compose import explanation, final_states
from rdma_robust.analyses.explain.timeline import drawn_relations
from rdma_robust.language.load import load_program
from rdma_robust.limits import NO_LIMITS
from rdma_robust.model import RDMA, Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.pipeline import check_text
from rdma_robust.semantics.axioms import oppo, rb
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes
from rdma_robust.semantics.trace import Relation
from tests.support.explained import explained, litmus, outcome_of, programs
from tests.support.random_programs import SMALL, TINY


def test_the_story_of_a_put_that_reads_late() -> None:
    e = litmus("mailbox-plain")
    assert e.headline.startswith("`mailbox-plain` is not robust: RDMA hardware can run it in a way that sequential")
    assert e.paragraphs == (
        "Sender posts `put B.d = v` (line 9). This put is still in the pipe to B, its source not yet read, when Sender "
        "executes `v = 2` (line 10). RDMA allows this: the CPU goes on without waiting for the NIC.",
        "Under sequential consistency every step takes effect at once and in program order, so one order of all steps "
        "explains what is read. Here there is none: the NIC's read of `v` for `put B.d = v` (line 9) comes before `v = 2` "
        "(line 10) in the text of Sender; line 10 comes before the NIC's read for line 9, which reads its value 2. So the "
        "NIC's read for line 9 would come before itself.",
        "New outcome: `Receiver.r = 2`. No execution under sequential consistency ends so. RDMA reaches 2 final states, 1 "
        "of them only under RDMA.",
        "Send queues: Sender needs 2 slots to B.",
    )
    assert [(m.line, m.roles) for m in e.lines] == [(9, ("cycle", "late")), (10, ("cycle", "early", "pivot"))]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("sb-put-plain", "Its value is still in the pipe to A when T2 reads y = 0 in `r = y` (line 16)"),
        ("sb-put-polled", "Its value is on its way to A, complete for a poll but not yet in memory, when T2 reads y = 0"),
        ("corr-get", "This get is still in the pipe to A, nothing read yet, when its NIC reads A.x = 0 for `get second"),
        ("nfo-get-put-flush-local", "Its answer is back, but not yet stored in memory, when its NIC writes B.done = 1"),
    ],
)
def test_how_far_the_overtaken_operation_is(name: str, words: str) -> None:
    assert words in litmus(name).paragraphs[0]


def test_every_line_of_the_cycle_is_in_the_story() -> None:
    for text in programs(21, 25, SMALL):
        e = explained(text, final_state_limit=0)
        said = " ".join(e.paragraphs)
        for mark in e.lines if e.verdict == "not-robust" else ():
            if "cycle" in mark.roles:
                assert re.search(rf"line {mark.line}\b", said), (text, said)
        assert "None" not in said and "{" not in re.sub(r"`[^`]*`", "", said)


def test_final_states_agree_with_the_axioms() -> None:
    changes = set()
    for text in programs(22, 40, TINY) + programs(23, 15, SMALL):
        outcome = outcome_of(text)
        if outcome.verdict is Verdict.ROBUST:
            continue
        found = final_states(outcome.program, RDMA, 50_000, NO_LIMITS)
        truth = axiomatic_outcomes(outcome.program)
        assert (found.sc, found.rdma, found.only_rdma) == (len(truth.sc), len(truth.rdma), len(truth.rdma - truth.sc))
        assert found.change == ("new" if truth.rdma - truth.sc else "none") and found.complete
        names = [c.name for c in found.example]
        for condition in found.telling:
            assert condition in found.example
        if found.change == "new":
            assert tuple(c.value for c in found.example) in truth.rdma - truth.sc
            at = [(names.index(c.name), c.value) for c in found.telling]
            assert not any(all(state[i] == v for i, v in at) for state in truth.sc)
        changes.add(found.change)
    assert changes == {"new", "none"}


def test_final_states_that_are_not_known_are_not_claimed() -> None:
    program = outcome_of(litmus("sb-put-plain").source).program
    cut = final_states(program, RDMA, 3, NO_LIMITS)
    assert cut.change == "unknown" and "cut at 3 states" in cut.reason
    half = final_states(program, RDMA, 12, NO_LIMITS)
    assert half.change in ("unknown", "new") and not half.complete


def test_loops_are_compared_where_the_states_are_few() -> None:
    looping = litmus("barrier-two-spin")
    assert looping.final_states.change == "none" and looping.spin_only
    assert looping.paragraphs[-2].startswith("Not robust only through failed spin reads")


def test_the_graph_says_all_of_the_trace() -> None:
    """Closing what is drawn gives back po, mo, nfo and oppo; rb follows from rf and mo."""
    for text in programs(24, 20, SMALL):
        witness = outcome_of(text).witness
        if witness is None:
            continue
        trace = witness.trace
        n = len(trace.events)
        drawn = {name: Relation.of(n, pairs) for name, pairs in drawn_relations(trace, RDMA).items()}
        kept = oppo(trace)
        assert drawn["po"].closure() == trace.po
        in_order = Relation.of(n, [p for p in drawn["po"] if p in kept])
        assert set(kept) <= set((in_order | drawn["oppo"]).closure())
        assert set(in_order | drawn["oppo"]) <= set(kept)
        later = {(a, b) for a, b in trace.mo if a >= len(trace.events) - len(witness.order)}
        assert later <= set(drawn["mo"].closure())
        assert set(drawn["rb"]) <= set(rb(trace))
        assert drawn["nfo"].closure() == trace.nfo.closure()


def test_the_cycle_is_drawn_and_marked() -> None:
    for name in ("sb-put-polled", "iriw-get", "forward-fenced", "corr-get"):
        e = litmus(name)
        assert e.graph is not None and e.timeline is not None
        drawn = {(edge.source, edge.target): edge.cycle for edge in e.graph.edges if edge.cycle}
        assert drawn == {(c.source, c.target): c.relation for c in e.cycle}
        on_cycle = {c.source for c in e.cycle}
        assert {n.id for n in e.graph.nodes if n.on_cycle} == on_cycle
        assert {s.event for s in e.timeline.steps if s.on_cycle} == on_cycle
        assert sum(n.pivot for n in e.graph.nodes) == sum(s.pivot for s in e.timeline.steps) == 1


def test_a_robust_program_tells_what_became_of_every_pair() -> None:
    e = litmus("mailbox-polled")
    assert e.timeline is None and e.graph is None and e.final_states.change == "not-asked"
    assert e.paragraphs[0].startswith("Proved without a search")
    assert "3 pairs of accesses: 1 is kept in order by polls and remote fences; 2 may be reordered" in e.paragraphs[1]
    assert [(m.line, m.roles) for m in e.lines] == [(10, ("keeps",))]


def test_a_search_says_how_much_it_searched() -> None:
    e = litmus("mailbox-acked")
    assert e.verdict == "robust"
    assert e.paragraphs[0].startswith(f"Proved by search: {e.pivots:,} class")
    assert f"in {e.states:,} states, all that there are" in e.paragraphs[0]
    assert any(p.why == "search" for p in e.pairs)


def test_an_undecided_program_says_what_is_known() -> None:
    text = litmus("sb-put-flushed-one-side").source
    options = CheckOptions(max_states=1)
    outcome = outcome_of(text)
    undecided = replace(outcome, verdict=Verdict.UNKNOWN, witness=None, reason="reached the limit of 1 states")
    e = explanation(undecided, options)
    assert e.verdict == "unknown" and e.timeline is None
    assert e.paragraphs[0].startswith("Undecided: reached the limit of 1 states.")
    assert any(p.why == "open" for p in e.pairs) and any(p.kept_by for p in e.pairs)


def test_an_explanation_is_plain_data() -> None:
    for name in ("sb-put-polled", "mailbox-polled"):
        e = litmus(name)
        assert pickle.loads(pickle.dumps(e)) == e
        hash(e)


def test_ordered_reads_are_taken_into_account() -> None:
    source = litmus("corr-get").source
    assert explained(source).verdict == "not-robust"
    ordered = explained(source, ordered_reads=True)
    assert ordered.verdict == "robust" and ordered.ordered_reads
    program = load_program(source, "p")
    assert program.name


def test_times_of_a_loop_are_told_apart() -> None:
    e = explained("node A { x }\nnode B { y }\nthread W on A { x = 1 }\nthread R on B {\n  loop { get y = A.x }\n}\n")
    assert "posts `get y = A.x` (line 5), the 1st time. This get is still in the pipe" in e.paragraphs[0]
    assert "for `get y = A.x` (line 5), the 2nd time. RDMA allows" in e.paragraphs[0]
    assert "So the NIC's read for line 5, the 1st time, would come before itself." in e.paragraphs[1]


ATOMICS = """node A { g, v }
node B { x, d }
thread T on A {
  get g = cas(B.x, 0, 1)%s
}
thread U on B { reg r; r = cas(x, 0, 2) }
"""
"""The card's compare-and-swap does not exclude the CPU's."""


@pytest.mark.parametrize(
    ("more", "said"),
    [("", "Under `atomics glob` the program is robust."), ("\n  put B.d = v\n  v = 1", "is not robust either.")],
)
def test_whether_exclusive_atomics_would_help_is_asked(more: str, said: str) -> None:
    assert any(paragraph.endswith(said) for paragraph in explained(ATOMICS % more).paragraphs)


def test_what_no_search_decides_is_drawn_and_told_without_pairs() -> None:
    """The table lacks a fact that is asked of programs with remote atomics."""
    table = '{name = "torn", based-on = "default", cells = {"nrW naR" = "-"}}'
    options = CheckOptions(hardware=Model(order=table))
    text = (
        "node A { v }\nnode B { x, d }\nthread T on A { swap(B.x, 1); put B.d = v; v = 1 }\nthread U on B { reg r; r = d }\n"
    )
    found = explanation(check_text(text, "p.rdma", options), options)
    assert found.timeline is not None
    assert any("which pairs keep their order: no search is proven" in each for each in found.paragraphs)
