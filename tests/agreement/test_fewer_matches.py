"""Trying only matches that are enough finds the same violations, deadlocks and leaks as trying all."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from rdma_robust.errors import Span
from rdma_robust.expr import Const
from rdma_robust.limits import Limits
from rdma_robust.messages.language.load_messages import load_messages
from rdma_robust.messages.language.message_program import BUFFERS, Buffer, Loop, MessageProgram, Process, While
from rdma_robust.messages.machine import state_search
from rdma_robust.messages.machine.local_table import Hop, LocalTable, State
from rdma_robust.messages.machine.state_search import StateSearch
from rdma_robust.messages.message_answers import MessageQuestions
from tests.support.named_messages import NAMED
from tests.support.random_messages import TASTES, random_messages
from tests.support.shares import chunks


def endless(seed: int) -> MessageProgram:
    """Return a random program most of whose processes begin again at their ends, always or as often as they like."""
    program = random_messages(seed, replace(TASTES[seed % len(TASTES)], faults=2, nonblocking=15))
    chance = random.Random(seed)
    return replace(program, processes=tuple(_again(at, each, chance) for at, each in enumerate(program.processes)))


def _again(at: int, process: Process, chance: random.Random) -> Process:
    span = Span(900 + at, 1, 900 + at, 2, 5000 + at, 5001 + at)
    match chance.randrange(10):
        case 0 | 1 | 2:
            return process
        case 3 | 4 | 5:
            return replace(process, body=(Loop(process.body, span),))
        case _:
            return replace(process, body=(While(Const(1), process.body, span),))


def searched(program: MessageProgram, buffer: Buffer, *, fewer: bool) -> StateSearch:
    limits = Limits.of(20, 600)
    table = LocalTable(program, buffer, limits, 2, names=False)
    search = StateSearch(table, MessageQuestions(), limits, fewer)
    search.search()
    return search


def summary(search: StateSearch) -> tuple[object, ...]:
    """Return what is found; under `any` only deadlocks are looked for."""
    found = search.found
    if search.table.buffer == "any":
        return (found.deadlock is not None,)
    return set(found.violations), found.deadlock is not None, found.leak is not None


def compare(seeds: range) -> int:
    """Return how many searches were small enough to be compared, and had fewer states."""
    smaller = 0
    for seed in seeds:
        program = endless(seed)
        for buffer in BUFFERS:
            full = searched(program, buffer, fewer=False)
            if full.found.limit or full.table.cuts:
                continue
            few = searched(program, buffer, fewer=True)
            assert summary(few) == summary(full), (seed, buffer)
            smaller += len(few.arrivals) < len(full.arrivals)
    return smaller


def test_fewer_matches_find_the_same() -> None:
    assert compare(range(36, 42)) > 0


@pytest.mark.parametrize("chunk", chunks(1, 20))
def test_fewer_matches_find_the_same_in_more(chunk: int) -> None:
    assert compare(range(100 + 30 * chunk, 130 + 30 * chunk)) > 0


def _of_one_receive(_table: LocalTable, _state: State, hops: list[Hop]) -> list[Hop]:
    """The matches of one receive, although another process may still send to it."""
    receive = hops[0].receiver, hops[0].meeting.receive
    return [each for each in hops if (each.receiver, each.meeting.receive) == receive]


@pytest.mark.parametrize("wrong", [_of_one_receive, lambda _table, _state, hops: hops[:1]])
def test_matches_that_are_not_enough_are_noticed(wrong: object, monkeypatch: pytest.MonkeyPatch) -> None:
    program = load_messages(NAMED["figure 1"].text, "f.mp")
    assert searched(program, "infinite", fewer=True).found.violations
    monkeypatch.setattr(state_search, "enough_of", wrong)
    assert not searched(program, "infinite", fewer=True).found.violations


def test_a_process_that_others_need_is_not_put_off_for_ever() -> None:
    """Two processes talk forever, which is always enough to try; the third and fourth must come to their turn."""
    text = """
    proc A { reg x; while 1 { send 1 to B; recv x from B } }
    proc B { reg x; while 1 { recv x from A; send 1 to A } }
    proc C { send 1 to D }
    proc D { reg x; recv x; assert x == 0 }
    """
    program = load_messages(text, "t.mp")
    for buffer in ("zero", "infinite"):
        assert searched(program, buffer, fewer=True).found.violations, buffer


def test_a_large_program_whose_receives_are_mostly_decided_has_few_states() -> None:
    text = """
    const N = 12
    proc Node[i in 0..N - 1] {
      reg a; req h, k
      h = isend i to (i + 1) % N
      k = isend i to (i + N - 1) % N
      recv a
      wait h, k
      send a to (i + 1) % N
      recv a
      recv a
    }
    """
    search = searched(load_messages(text, "t.mp"), "infinite", fewer=True)
    assert search.found.limit == ""
    assert len(search.arrivals) < 600
