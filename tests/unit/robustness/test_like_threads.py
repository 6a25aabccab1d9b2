"""Which threads are like each other: groups, what an exchange moves, values that go along, and what keeps threads apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.families import lock_server, producers
from rdma_robust.expr import Const
from rdma_robust.language.flow.cfg import Cell
from rdma_robust.language.load import load_program
from rdma_robust.model import RDMA
from rdma_robust.options import ALL_REDUCTIONS
from rdma_robust.robustness.frame import InstrumentationFrame, PivotClass
from rdma_robust.robustness.reductions.like_threads import LikeThreads, closed_under, like_threads
from rdma_robust.robustness.reductions.specialise import with_known_values
from rdma_robust.robustness.static_filter import pivots_to_try
from rdma_robust.semantics.trace import EventType
from tests.support.symmetric import clients, ring


def frame_of(text: str) -> InstrumentationFrame:
    return InstrumentationFrame.to_instrument(load_program(text, "like.rdma"), RDMA)


def groups(text: str, *, forgets: bool = False) -> list[tuple[str, ...]]:
    frame = frame_of(text)
    return [tuple(frame.graphs[t].name for t in group.threads) for group in like_threads(frame, forgets)]


def writers(values: tuple[int, int], test: str = "r == 1", declared: str = "x, y") -> str:
    """Two threads that write a value each into a word of one node, and read it; one also tests what it has read."""
    return "\n".join(
        (
            f"node A {{ {declared} }}",
            "domain 0..9",
            f"thread T on A {{ reg r; x = {values[0]}; r = x; if r == {values[0]} {{ y = 1 }} }}",
            f"thread U on A {{ reg r; x = {values[1]}; r = x; if {test} {{ y = 1 }} }}",
        )
    )


def test_equal_clients_are_one_group_as_long_as_the_server_does_not_tell_them_apart() -> None:
    assert groups(clients(4)) == [("T0", "T1", "T2", "T3")]
    assert groups(clients(3, served_in_turn=True)) == []


def test_a_ring_of_three_has_no_exchange_but_one_of_two_has() -> None:
    assert groups(ring(3)) == []
    assert groups(ring(2)) == [("T0", "T1")]


def test_agents_go_with_their_clients() -> None:
    pivots = pivots_to_try(frame_of(lock_server(4)), ALL_REDUCTIONS)
    (group,) = pivots.alike
    names = [pivots.frame.graphs[t].name for t in group.threads]
    moved = {pivots.frame.graphs[t].name for t in range(8) if ("thread", t) in group.exchanges[0]}
    assert names == ["Agent0", "Agent1", "Agent2", "Agent3"]
    assert moved == {"Agent0", "Agent1", "Client0", "Client1"}


def test_a_thread_that_serves_all_goes_on_elsewhere() -> None:
    frame = frame_of(producers(3, 1))
    (group,) = like_threads(frame, forgets=False)
    consumer = next(t for t, g in enumerate(frame.graphs) if g.name == "Consumer")
    assert ("thread", consumer) not in group.exchanges[0]
    assert any(thing[:2] == ("point", consumer) for thing in group.exchanges[0])


def test_values_that_are_only_copied_and_compared_tell_no_threads_apart() -> None:
    assert groups(writers((1, 2), "r == 2")) == [("T", "U")]
    assert groups(writers((1, 2), "r == 1")) == []
    assert groups(writers((1, 2), "r + 0 == 2")) == []
    assert groups(writers((1, 2), "r <= 2")) == []


def test_a_zero_that_is_set_where_nobody_reads_keeps_its_meaning() -> None:
    assert groups(writers((1, 0), "r == 0")) == []  # registers are 0 where they are dead
    words = "node A {{ x }}\nthread T on A {{ x = {}; assume x == {} }}\nthread U on A {{ x = {}; assume x == {} }}"
    assert groups(words.format(1, 1, 0, 0)) == [("T", "U")]
    assert groups(words.format(1, 1, 0, 0), forgets=True) == []


def test_initial_values_of_words_need_not_be_like_but_those_of_constants_must() -> None:
    two = "node A {{ x, a = {}, b = {} }}\nthread T on A {{ a = 1; x = 2 }}\nthread U on A {{ b = 1; x = 2 }}"
    assert groups(two.format(3, 4)) == [("T", "U")]
    constant = (
        "node A {{ x, a = {}, b = {} }}\nthread T on A {{ reg r; r = a; x = r }}\nthread U on A {{ reg r; r = b; x = r }}"
    )
    assert groups(constant.format(3, 3)) == [("T", "U")]
    assert groups(constant.format(3, 4)) == []


@pytest.mark.parametrize("difference", ["poll B", "rfence B", "y = 2"])
def test_threads_with_other_events_are_not_like(difference: str) -> None:
    thread = "thread {} on A {{ put B.z = x; {}; y = 1 }}"
    text = "node A {{ x, y }}\nnode B {{ z }}\n" + thread.format("T", "") + "\n" + thread.format("U", difference)
    assert groups(text.replace("{{", "{").replace("}}", "}").replace("; ;", ";")) == []


def test_an_exchange_of_two_later_threads_is_made_of_those_with_the_first() -> None:
    (group,) = like_threads(frame_of(clients(4)), forgets=False)
    between = group.between(1, 3)
    assert between["thread", 1] == ("thread", 3)
    assert {thing[1] for thing in between if thing[0] == "thread"} == {1, 3}
    assert all(between[image] == thing for thing, image in between.items())


def test_classes_are_closed_under_exchanges() -> None:
    frame = frame_of(clients(3))
    alike = like_threads(frame, forgets=False)
    first = PivotClass(0, Cell("Server", "box0"), True)
    found = closed_under([first], alike)
    assert list(found) == [first, *(PivotClass(t, Cell("Server", f"box{t}"), True) for t in (1, 2))]
    assert list(closed_under([first], ())) == [first]
    assert LikeThreads((0,), (), ()).faults == ()


def test_a_put_of_a_constant_carries_nothing() -> None:
    frame = frame_of("node A { a = 7, b }\nnode B { x, y }\nthread T on A { put B.x = a; put B.y = b; b = 1 }")
    constant = [cell for cell in frame.program.cells if not frame.bit(cell)]
    known = replace(frame, graphs=with_known_values(frame.graphs, constant))
    nic = (e for e in known.graphs[0].edges if e.type in (EventType.NRW, EventType.NLR))
    assert {str(e.cell): (e.written, e.carries) for e in nic} == {
        "A.a": (None, False),
        "B.x": (Const(7), False),
        "A.b": (None, True),
        "B.y": (None, False),
    }
