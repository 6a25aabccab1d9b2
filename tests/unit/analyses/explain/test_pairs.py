"""What is said about reorderings is true: compared with every order in which the machine lets accesses take effect."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust.analyses.explain.explanation import Access, Pair
from rdma_robust.analyses.explain.pairs import explained_pairs
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.semantics.axioms import sc_violation
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from rdma_robust.semantics.trace import CPU_TYPES, Cycle, Event
from tests.support.explained import litmus, outcome_of, overtakings, programs
from tests.support.random_programs import SMALL, TINY

Key = tuple[str, tuple[int, str, str], tuple[int, str, str]]


def pairs_of(outcome: Outcome, ordered_reads: bool = False) -> tuple[Pair, ...]:
    found, complete = explained_pairs(outcome, CheckOptions(ordered_reads=ordered_reads))
    assert complete
    return found


def key(pair: Pair) -> Key:
    return pair.thread, place(pair.earlier), place(pair.later)


def place(access: Access) -> tuple[int, str, str]:
    return access.line, access.type, access.cell


def machine_keys(program: Program, ordered_reads: bool = False) -> set[Key] | None:
    """The overtakings of the machine by line; constants that puts carry are left out."""
    found = overtakings(program, ordered_reads)
    if found is None:
        return None
    hidden = {str(c) for c in program.cells if c.hidden}
    source = program.source

    def named(where: tuple[int, int, str, str]) -> tuple[int, str, str]:
        return source.count("\n", 0, where[0]) + 1, where[2], where[3]

    return {(t, named(a), named(b)) for t, a, b in found if a[3] not in hidden and b[3] not in hidden}


@pytest.mark.ci
@pytest.mark.parametrize("ordered_reads", [False, True])
def test_what_is_kept_or_not_listed_is_never_reordered(ordered_reads: bool) -> None:
    compared = 0
    for text in programs(11, 26, SMALL):
        outcome = outcome_of(text, ordered_reads)
        seen = machine_keys(outcome.program, ordered_reads)
        if seen is not None:
            compared += len(seen)
            assert seen <= {key(p) for p in pairs_of(outcome, ordered_reads) if p.why is not None}, text
    assert compared > 10


def straight(rng: Random) -> str:
    """One thread without branches: remote operations towards two nodes, polls, fences, and accesses of the CPU."""
    lines, unpolled = [], {"B": 0, "C": 0}
    for i in range(rng.randint(2, 6)):
        node = rng.choice("BC")
        kinds = ["put", "put", "get", "get", "cpu", "rfence"] + ["poll"] * 3 * (unpolled[node] > 0)
        match rng.choice(kinds):
            case "put":
                lines.append(f"put {node}.{rng.choice('pq')} = a{i}")
                unpolled[node] += 1
            case "get":
                lines.append(f"get a{i} = {node}.{rng.choice('pq')}")
                unpolled[node] += 1
            case "poll":
                lines.append(f"poll {node}")
                unpolled[node] -= 1
            case "rfence":
                lines.append(f"rfence {node}")
            case _:
                lines.append(rng.choice([f"a{i} = 1", "r = a0"]))
    cells = ", ".join(f"a{i}" for i in range(6))
    body = "\n".join(f"  {line}" for line in lines)
    return f"node A {{ {cells} }}\nnode B {{ p, q }}\nnode C {{ p, q }}\nthread T on A {{\n  reg r\n{body}\n}}\n"


def without_lines(text: str, gone: set[int]) -> str:
    """The text with these lines empty, so that the others keep their numbers."""
    return "\n".join("" if n in gone else line for n, line in enumerate(text.split("\n"), 1))


@pytest.mark.parametrize("ordered_reads", [False, True])
def test_on_straight_threads_every_claim_is_exact(ordered_reads: bool) -> None:
    """Listed without keeper iff the machine reorders; kept iff it does not, but does without a keeper, or without all."""
    listed = kept = 0
    for seed in range(18):
        text = straight(Random(seed))
        outcome = outcome_of(text, ordered_reads)
        found = pairs_of(outcome, ordered_reads)
        assert {key(p) for p in found if p.why is not None} == machine_keys(outcome.program, ordered_reads), text
        listed += sum(p.why is not None for p in found)
        for pair in found:
            if pair.why is not None:
                continue
            lines = [k.line for k in pair.kept_by]
            gone = [{line} for line in lines] if pair.keeping == "together" else [set(lines)]
            for each in gone:
                rest = load_program(without_lines(text, each), "p.rdma")
                assert key(pair) in (machine_keys(rest, ordered_reads) or ()), (text, pair)
            if pair.keeping != "together":
                assert len(lines) > 1
                for line in lines:
                    rest = load_program(without_lines(text, {line}), "p.rdma")
                    assert key(pair) not in (machine_keys(rest, ordered_reads) or ()), (text, pair)
            kept += 1
    assert listed > 60 and kept > 5


def event_place(event: Event) -> tuple[int, str, str]:
    assert event.step is not None
    return event.step.span.line, "CPU" if event.type in CPU_TYPES else event.type.value, str(event.cell)


def visits_threads_once(cycle: Cycle) -> bool:
    """Whether the cycle has at most one program-order edge in each thread and comes to none twice, as a shortest one."""
    inside = [e.source.thread for e in cycle.edges if e.relation == "po"]
    entries = [e.target.thread for e in cycle.edges if e.relation != "po" and e.target.thread >= 0]
    return len(inside) == len(set(inside)) and len(entries) == len(set(entries))


def test_no_cycle_closes_where_none_is_said_to() -> None:
    """Shortest SC cycles, through any event, of violating traces found by brute force and by search."""
    edges = 0
    for text in programs(12, 50, SMALL):
        outcome = outcome_of(text)
        if outcome.verdict is not Verdict.NOT_ROBUST:
            continue
        trace = oracle_robust(outcome.program)
        assert trace is not None and outcome.witness is not None
        why = {key(p): p.why for p in pairs_of(outcome)}
        for each in (trace, outcome.witness.trace):
            for event in each.events:
                cycle = sc_violation(each, event.index)
                for edge in cycle.edges if cycle is not None and visits_threads_once(cycle) else ():
                    if edge.relation == "po":
                        name = outcome.program.threads[edge.source.thread].name
                        found = why.get((name, event_place(edge.source), event_place(edge.target)))
                        assert found not in ("no-race", "no-cycle", "filter"), (text, str(edge))
                        edges += found is not None
        for a, b in outcome.witness.relaxed:
            assert why[outcome.program.threads[a.thread].name, event_place(a), event_place(b)] == "cycle"
    assert edges > 10


def test_robust_programs_have_a_reason_for_every_pair() -> None:
    reasons = set()
    for text in programs(13, 25, SMALL) + programs(14, 10, TINY, loops=True):
        outcome = outcome_of(text)
        for pair in pairs_of(outcome):
            assert bool(pair.kept_by) == (pair.why is None)
            assert pair.reason
            if outcome.verdict is Verdict.ROBUST:
                assert pair.why not in ("open", "cycle")
            if outcome.verdict is Verdict.UNKNOWN:
                assert pair.why not in ("search", "cycle")
            assert pair.why != "search" or outcome.counts.states > 0
            reasons.add(pair.why)
    assert {None, "no-race", "no-cycle", "cycle"} <= reasons


def test_a_poll_a_fence_and_a_flush_are_named() -> None:
    (polled, *_) = litmus("mailbox-polled").pairs
    assert [(k.line, k.statement) for k in polled.kept_by] == [(10, "poll B")] and polled.keeping == "together"
    fenced = [p for p in litmus("mp-get-fenced").pairs if p.kept_by]
    assert any(k.statement.startswith("rfence") for p in fenced for k in p.kept_by)
    flushed = litmus("sb-put-flushed").pairs[0]
    assert [k.line for k in flushed.kept_by] == [11, 12] and flushed.keeping == "together"
    assert flushed.reason == "`poll B` (line 11) and `poll B` (line 12) keep the order together"


def test_keepers_that_overlap_are_told_from_those_that_need_one_another() -> None:
    text = "node A { a, b }\nnode B { p, q }\nthread T on A {\n  get a = B.p\n  rfence B\n  poll B\n  get b = B.q\n}\n"
    pairs = {key(p): p for p in pairs_of(outcome_of(text))}
    pair = pairs["T", (4, "nrR", "B.p"), (7, "nrR", "B.q")]
    assert [k.line for k in pair.kept_by] == [5, 6] and pair.keeping == "each"
    assert pair.reason == "`rfence B` (line 5) and `poll B` (line 6) keep the order each by itself"


def test_a_poll_of_several_queue_pairs_keeps_the_order_of_each() -> None:
    text = (
        "node A { x, y }\nnode B { p }\nnode C { q }\nthread T on A {\n  reg w\n  put B.p = x\n  put C.q = y\n"
        "  w = poll B or C\n  if w == 0 { x = 3 } else { y = 3 }\n}\n"
    )
    kept = {key(p)[1:]: p.reason for p in pairs_of(outcome_of(text)) if p.why is None}
    said = "`w = poll B or C` (line 8) keeps the order"
    assert kept == {((6, "nlR", "A.x"), (9, "CPU", "A.x")): said, ((7, "nlR", "A.y"), (9, "CPU", "A.y")): said}


def test_stores_that_wait_in_the_buffer_are_listed() -> None:
    text = (
        "hardware cpu tso\nnode A { x, y, z }\nthread T on A {\n  reg r\n  x = 1\n  r = y\n  mfence\n  r = z\n}\n"
        "thread U on A { y = 1 }\n"
    )
    found = {key(p)[1:]: (p.why, [k.statement for k in p.kept_by]) for p in pairs_of(outcome_of(text))}
    store = (5, "CPU", "A.x")
    assert found == {(store, (6, "CPU", "A.y")): ("no-race", []), (store, (8, "CPU", "A.z")): (None, ["mfence"])}


def test_large_programs_get_an_answer_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it takes too long to know which polls keep an order, that is said; what is kept stays the same."""
    lines = [f"  put B.y{i % 3} = a{i % 4}\n  poll B" if i % 3 else f"  get a{i % 4} = B.y{i % 3}" for i in range(9)]
    text = "node A { a0, a1, a2, a3 }\nnode B { y0, y1, y2 }\nthread T on A {\n" + "\n".join(lines) + "\n}\n"
    outcome = outcome_of(text)
    full = pairs_of(outcome)
    monkeypatch.setattr("rdma_robust.analyses.explain.pairs.WorkBudget.spend", lambda *_: False)
    quick = pairs_of(outcome)
    assert [(key(p), p.why) for p in full] == [(key(p), p.why) for p in quick]
    assert {p.keeping for p in quick if p.kept_by} == {"some"}
    monkeypatch.setattr("rdma_robust.analyses.explain.pairs.MOST_PAIRS", 5)
    few, complete = explained_pairs(outcome, CheckOptions())
    assert len(few) == 5 and not complete
