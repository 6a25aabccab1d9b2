"""Repairs against trying every set of insertions, and on programs of the litmus suite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from random import Random

import pytest

from rdma_robust.analyses.repair.counting import stands
from rdma_robust.analyses.repair.needless import remove_needless
from rdma_robust.analyses.repair.patch import WordUsage
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import Barrier, Costs, InsertionChoice, Repair, RepairOptions
from rdma_robust.analyses.repair.sites import Sites
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.semantics.machines.machine import state_names, valuation
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.sc import ScMachine
from tests.conftest import ROOT
from tests.support.naive_repair import Inserts, Prices, Threads, all_inserts, cheaper, robust, sets, verdict
from tests.support.random_programs import Size, random_program
from tests.support.shares import share

LIMITS = CheckOptions(max_states=4000)
SOME = Size(threads=(1, 2), nodes=(2, 2), instructions=(2, 5), total=7)
PRICES, COSTS_THERE = Prices(poll=2, rfence=2, get=3, loop=2), Costs(poll=2, rfence=2, flush=3, loop_weight=2)
"""Prices at which gets and loops are within what can be tried."""

COSTS = {
    "mailbox-plain": ["poll"],
    "mailbox-loop-poll-behind": ["poll"],
    "mailbox-polled-late": ["flush"],
    "sb-put-plain": ["flush", "flush"],
    "sb-put-flushed-one-side": ["flush"],
    "mp-get-fenced-one-poll": ["poll"],
    "order-nlw-nlr": ["rfence"],
    "order-nrr-nrr": ["rfence"],
    "order-nrw-nlr": ["get", "rfence"],
    "publish-plain": ["flush"],
    "ring-two-slots-plain": ["poll"],
    "handoff-lock-server": ["flush"],
    "scale-ring-n3-plain": ["flush"] * 3,
    "polls-loop-phases": ["poll"],
    "polls-puzzle-exchange": ["flush"],
}


def programs(first: int) -> Iterator[tuple[int, str]]:
    """Random programs that are not robust."""
    for seed in count(first):
        text = random_program(Random(seed), SOME, loops=seed % 3 != 0)
        if verdict(text, LIMITS) is Verdict.NOT_ROBUST:
            yield seed, text


@pytest.mark.parametrize("wanted", [6, pytest.param(400, marks=pytest.mark.long)])
def test_no_set_of_insertions_is_cheaper(wanted: int) -> None:
    """Every set of gets, polls and fences that costs less and may stand is decided, also where there are loops and several
    operations outstanding; where there is said to be no repair, every set up to a cost."""
    seen = loops = 0
    for seed, text in programs(0):
        answer = repair(text, "random.rdma", RepairOptions(COSTS_THERE), LIMITS)
        assert answer.optimal or answer.status in ("impossible", "unknown"), seed
        below = answer.cost if answer.solutions else 7
        tried = sets(all_inserts(text, PRICES), below)
        if answer.status == "unknown" or sum(1 for _ in islice(tried, 401)) > 400:
            continue
        assert next(cheaper(text, below, PRICES, LIMITS), None) is None, (seed, answer.cost)
        if answer.solutions:
            assert verdict(answer.patched, LIMITS) is Verdict.ROBUST, seed
            assert sum(i.cost for i in answer.insertions) == answer.cost
        loops += any(word in text for word in ("loop {", "while "))
        seen += 1
        if seen == wanted:
            assert loops > wanted // 4
            return


@pytest.mark.parametrize("wanted", [150, pytest.param(4000, marks=pytest.mark.long)])
def test_which_sets_stand(wanted: int) -> None:
    """The paths of the graph against those of the syntax tree."""
    seen = standing = 0
    for seed in count(3000):
        rng = Random(seed)
        text = random_program(rng, SOME, loops=True)
        inserts = all_inserts(text, PRICES)
        sites = Sites.of(text, "random.rdma", await_loops=False)
        for _ in range(4 if inserts else 0):
            some = tuple(rng.choice(inserts) for _ in range(rng.randint(1, 4)))
            chosen = as_choices(sites, some)
            if chosen is None:
                continue
            assert stands(sites, chosen) == Threads(text).stand(some), (seed, some)
            standing += stands(sites, chosen)
            seen += 1
        if seen >= wanted:
            assert standing > wanted // 20
            return


def as_choices(sites: Sites, inserts: Inserts) -> frozenset[InsertionChoice] | None:
    """The same insertions as the repair room has them, None if it has no such place."""
    threads = sites.source.threads
    found: set[InsertionChoice] = set()
    for insert in inserts:
        places = [
            k
            for k, p in enumerate(sites.places)
            if threads[p.thread].name.text == insert.thread
            and p.block.span.start == insert.block
            and p.index == insert.index
        ]
        if not places:
            return None
        copies = count()
        choice = next(
            c for k in copies if (c := InsertionChoice(places[0], Barrier(insert.kind), insert.node, k)) not in found
        )
        found.add(choice)
    return frozenset(found)


@pytest.mark.parametrize("wanted", [8, pytest.param(300, marks=pytest.mark.long)])
def test_nothing_that_was_inserted_is_needless(wanted: int) -> None:
    seen = 0
    for _, text in programs(20_000):
        answer = repair(text, "random.rdma", RepairOptions(COSTS_THERE), LIMITS)
        if answer.solutions and answer.optimal:
            inserted_is_needed(answer, LIMITS, COSTS_THERE)
            seen += 1
        if seen == wanted:
            return


def inserted_is_needed(answer: Repair, limits: CheckOptions | None = None, costs: Costs | None = None) -> None:
    """Nothing that was inserted can go. With statements of the program's own it may: a poll of which the answer says so, or
    others that were needless or unread in the first place."""
    options = RepairOptions(costs or Costs())
    ends = [0, *(k + 1 for k, char in enumerate(answer.patched) if char == "\n")]
    inserted = {n for i in answer.insertions for n in range(i.line, i.line + len(i.lines))}
    within = [(ends[n - 1], ends[n]) for n in inserted]
    assert remove_needless(answer.patched, "random.rdma", options, limits, within).removed == (), answer.patched


def endings(text: str, words: list[str]) -> tuple[set[tuple[int, ...]], bool]:
    """The values of `words` in final states under sequential consistency, and whether the program can get stuck."""
    program = load_program(text, "random.rdma")
    found = explore(ScMachine(program), Limits(states=50_000), reduce=False)
    assert found.cut is None
    finals = [valuation(program, final) for final in found.finals]
    return {tuple(final[word] for word in words) for final in finals}, found.stuck > 0


@pytest.mark.ci
def test_repairs_change_nothing_but_the_order() -> None:
    """Under sequential consistency a repaired program ends where the program did, and gets stuck only if that did."""
    seen = 0
    for seed in range(500, 600):
        text = random_program(Random(seed), Size(threads=(2, 2), nodes=(2, 2), total=6))
        answer = repair(text, "random.rdma", RepairOptions(all_minimal=True, most_solutions=3, timeout=3))
        program = load_program(text, "random.rdma")
        words = [name for name in state_names(program) if not WordUsage(program).untouched(name.split(".")[0])]
        for solution in answer.solutions:
            assert endings(text, words) == endings(solution.patched, words), solution.patched
            seen += 1
        if seen >= 6:
            return


@pytest.mark.parametrize("name", COSTS)
def test_litmus(name: str) -> None:
    text = (ROOT / "litmus" / f"{name}.rdma").read_text(encoding="utf-8")
    answer = repair(text, name)
    assert answer.optimal
    assert sorted(i.kind for i in answer.insertions) == sorted(COSTS[name])
    assert robust(answer.patched)
    assert "expect robust" in answer.patched


@pytest.mark.parametrize("name", ["mailbox-plain", "sb-put-flushed-one-side", "order-nrr-nrr", "mp-get-plain"])
def test_all_irreducible_repairs(name: str) -> None:
    """Each works, none is part of another, the first is the cheapest, and what was put in is all needed."""
    text = (ROOT / "litmus" / f"{name}.rdma").read_text(encoding="utf-8")
    answer = repair(text, name, RepairOptions(all_minimal=True))
    assert answer.complete
    assert answer.cost == repair(text, name).cost == min(s.cost for s in answer.solutions)
    sets = [frozenset((i.kind, i.thread, i.node, i.line) for i in s.insertions) for s in answer.solutions]
    assert len(sets) == len({s.patched for s in answer.solutions})
    for solution in answer.solutions:
        assert robust(solution.patched)
        inserted_is_needed(replace(answer, solutions=(solution,)))


@pytest.mark.ci
@pytest.mark.parametrize("name", share([*COSTS, "abp-resent-once", "btree-split-polled"]))
def test_what_was_inserted_in_litmus_programs_is_not_needless(name: str) -> None:
    text = (ROOT / "litmus" / f"{name}.rdma").read_text(encoding="utf-8")
    answer = repair(text, name)
    inserted_is_needed(answer)


@pytest.mark.ci
def test_three_puts_of_a_loop_need_three_polls_and_no_get() -> None:
    """Two clients of a key-value store behind a lock: six polls in loops, and with less something is missing."""
    text = (ROOT / "tests/data/ticket-kv.rdma").read_text(encoding="utf-8")
    answer = repair(text, "ticket-kv.rdma")
    assert answer.optimal
    assert [(i.kind, i.thread, i.cost) for i in answer.insertions] == [
        ("poll", c, 20) for c in ("Client1", "Client2") for _ in "123"
    ]
    own = remove_needless(answer.patched, "ticket-kv.rdma").removed
    assert {i.line for i in own}.isdisjoint(i.line for i in answer.insertions)
    light = repair(text, "ticket-kv.rdma", RepairOptions(Costs(loop_weight=1)))
    assert (light.optimal, light.cost) == (True, 12)
    dear = repair(text, "ticket-kv.rdma", RepairOptions(Costs(poll=50, flush=1)))
    assert dear.cost == 6 * 50 * 10
