"""The static filter computes what its formal counterpart in proofs/search/ does, of which Theorem 9 is proven: what may
overtake what, and for every class of pivots where it may start.

What asks Coq is left to the step of CI behind `make proofs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

import pytest

from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.frame import InstrumentationFrame
from rdma_robust.robustness.pivot_classes import can_start, class_of, classes_of
from rdma_robust.robustness.reductions import relaxation
from rdma_robust.robustness.reductions.critical import CriticalCycles
from rdma_robust.robustness.reductions.relaxation import _MOST_UNPOLLED, ThreadRelaxation
from rdma_robust.semantics.trace import EventType
from sitegen.theorems import PROOFS
from tests.litmus.goldens import LITMUS, PROGRAMS, load
from tests.support.coq_filter import Pairs, ask_filter, edges_of, is_covered
from tests.support.random_programs import SMALL, TINY, random_program
from tests.support.shares import chunks

HARDWARE = [
    Model(cpu=cpu, order=order, ordered_reads=reads)
    for cpu in ("sc", "tso")
    for order in ("default", "multipath", "relaxed")
    for reads in (False, True)
]
NAMED = ("sb-put-plain", "sb-put-flushed", "mailbox-polled", "iriw-get-polled")
MOST_EDGES = 16
JOINED = (
    "loop { put B.u = x }; poll B; poll B; r = x",
    "loop { put B.u = x; poll B }; put B.v = x; r = x",
    "if (r == 0) { put B.u = x } else { get x = B.v }; poll B; r = x",
    "if (r == 0) { put B.u = x; put B.v = x; poll B }; poll B; get x = B.u; poll B; r = x",
    "if (r == 0) { get x = B.u }; rfence B; put B.v = x; poll B; poll B; x = 1",
    "x = 1; loop { put B.u = x }; poll B; poll B; r = x",
    "x = 1; if (r == 0) { put B.u = x } else { get x = B.v }; poll B; r = x",
    "x = 1; if (r == 0) { put B.u = x; put B.v = x }; if (r == 1) { put B.v = x }; poll B; r = x; poll B; r = x",
    "x = 1; put B.u = x; loop { put B.v = x; poll B; x = 2 }; r = x; mfence; r = x",
)


def overtaking(frame: InstrumentationFrame) -> Pairs:
    """As the code says, without the polls of an event's own queue pair, of which it says nothing."""
    number = {id(edge): k for k, edge in enumerate(edges_of(frame))}
    found = set()
    for graph in frame.graphs:
        relaxation = ThreadRelaxation(graph, frame.model)
        found |= {(number[id(e)], number[id(x)]) for e in graph.edges for x in relaxation.overtaking(e)}
    return without_own_polls(frame, found)


def without_own_polls(frame: InstrumentationFrame, pairs: Pairs) -> Pairs:
    edges = edges_of(frame)
    return {(a, x) for a, x in pairs if edges[x].type is not EventType.P or edges[x].remote != edges[a].remote}


def starts(frame: InstrumentationFrame) -> Pairs:
    """A pivot, and an event that the filter leaves as the first of beta after a pivot of its class."""
    cycles, edges = CriticalCycles(frame), edges_of(frame)
    found = {(p, s) for p, pivot in enumerate(edges) for s, e in enumerate(edges) if _may_start(cycles, pivot, e)}
    assert bool(found) == bool(classes_of(frame, cycles.may_start))
    return found


def _may_start(cycles: CriticalCycles, pivot: EventEdge, start: EventEdge) -> bool:
    if pivot.cell is None or start.cell is None or not cycles.frame.bit(pivot.cell):
        return False
    c = class_of(pivot, pivot.cell)
    return can_start(start, c) and cycles.may_start(start, c)


def random_frames(rng: Random, count: int) -> Iterator[InstrumentationFrame]:
    for _ in range(count):
        text = random_program(rng, rng.choice([TINY, SMALL]), loops=rng.random() < 0.5)
        yield InstrumentationFrame.to_instrument(load_program(text, "random"), rng.choice(HARDWARE))


def check(frames: list[InstrumentationFrame]) -> None:
    """What the code says without the order that completions give, of which the formal filter knows nothing, is what Coq
    says; with it nothing is added."""
    assert all(map(is_covered, frames))
    for frame, (over, left) in zip(frames, ask_filter(frames), strict=True):
        allowed = without_own_polls(frame, over)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(relaxation, "behind_poll", lambda _: None)
            assert allowed == overtaking(frame), frame.program
            assert left == starts(frame), frame.program
        assert allowed >= overtaking(frame), frame.program
        assert left >= starts(frame), frame.program


@pytest.mark.ci
def test_the_filter_of_named_programs_is_the_formal_one() -> None:
    check([InstrumentationFrame.to_instrument(load(LITMUS / f"{name}.rdma"), Model()) for name in NAMED])


@pytest.mark.ci
def test_the_filter_of_the_suite_is_the_formal_one() -> None:
    """Of the programs that the formal filter is about, as far as Coq computes them fast."""
    frames = [InstrumentationFrame.to_instrument(load(path), Model()) for path in PROGRAMS]
    small = [frame for frame in frames if is_covered(frame) and len(edges_of(frame)) <= MOST_EDGES]
    assert len(small) > 200
    check(small)


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_the_filter_is_the_formal_one(chunk: int) -> None:
    check(list(random_frames(Random(f"formal filter {chunk}"), 100)))


@pytest.mark.ci
def test_where_paths_join_the_filter_is_the_formal_one() -> None:
    start = "node A { x }\nnode B { u, v }\nthread S on B { reg s; s = u; v = 1 }\n"
    programs = [load_program(f"{start}thread T on A {{ reg r; {code} }}", code) for code in JOINED]
    check([InstrumentationFrame.to_instrument(program, model) for program in programs for model in HARDWARE])


def test_completions_are_counted_as_far_as_in_coq() -> None:
    (counted,) = re.findall(
        r"Definition MOST_UNPOLLED := (\d+)\.", (PROOFS / "search/FlowGraphs.v").read_text(encoding="utf-8")
    )
    assert int(counted) == _MOST_UNPOLLED


@pytest.mark.ci
def test_another_hardware_is_noticed() -> None:
    """What Coq computes is of the hardware that it is told of."""
    program = load_program("node A { x }\nnode B { u }\nthread T on A { put B.u = x; put B.u = x }", "twice")
    frames = [InstrumentationFrame.to_instrument(program, Model(order=order)) for order in ("default", "relaxed")]
    (kept, _), (given_up, _) = ask_filter(frames)
    assert kept < given_up


@pytest.mark.ci
def test_a_filter_that_forgets_polls_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ThreadRelaxation, "_forces_poll", lambda *_: False)
    program = load(LITMUS / "mailbox-polled.rdma")
    with pytest.raises(AssertionError):
        check([InstrumentationFrame.to_instrument(program, Model())])


@pytest.mark.ci
def test_a_filter_without_store_buffers_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "node A { x, y }\nthread T on A { reg r; x = 1; r = y }\nthread U on A { reg s; y = 1; s = x }\n"
    frame = InstrumentationFrame.to_instrument(load_program(text, "buffered"), Model(cpu="tso"))
    check([frame])
    monkeypatch.setattr(relaxation, "buffered", lambda *_: False)
    with pytest.raises(AssertionError):
        check([frame])
