"""Repairs against trying every set of insertions, and on programs of the litmus suite."""

from __future__ import annotations

from itertools import combinations, count
from random import Random

import pytest

from rdma_robust.analyses.repair.candidates import universe
from rdma_robust.analyses.repair.counting import Plan, plan
from rdma_robust.analyses.repair.needless import remove_needless
from rdma_robust.analyses.repair.patch import Patcher, Usage
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import RepairOptions
from rdma_robust.analyses.repair.sites import Sites
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.pipeline import check_text
from rdma_robust.semantics.machines.final import state_names, valuation
from rdma_robust.semantics.machines.sc import ScMachine
from rdma_robust.semantics.machines.state_space import explore
from tests.conftest import ROOT
from tests.support.naive_repair import cheaper, robust
from tests.support.random_programs import Size, random_program

SMALLEST = Size(threads=(2, 2), nodes=(2, 2), instructions=(1, 2), total=4)

COSTS = {
    "mailbox-plain": ["poll"],
    "mailbox-loop-poll-behind": ["poll"],
    "sb-put-plain": ["flush", "flush"],
    "sb-put-flushed-one-side": ["flush"],
    "mp-get-fenced-one-poll": ["poll"],
    "order-nlw-nlr": ["rfence"],
    "order-nrr-nrr": ["rfence"],
    "publish-plain": ["flush"],
    "ring-two-slots-plain": ["poll"],
    "handoff-lock-server": ["flush"],
    "scale-ring-n3-plain": ["flush"] * 3,
    "polls-loop-phases": ["poll"],
}


@pytest.mark.parametrize("wanted", [4, pytest.param(100, marks=pytest.mark.long)])
def test_no_set_of_two_insertions_is_cheaper(wanted: int) -> None:
    seen = 0
    for seed in count():
        text = random_program(Random(seed), SMALLEST)
        if robust(text):
            continue
        answer = repair(text, "random.rdma")
        assert answer.optimal, seed
        assert robust(answer.patched), seed
        assert sum(i.cost for i in answer.insertions) == answer.cost
        assert next(cheaper(text, answer.cost, 2), None) is None, seed
        seen += 1
        if seen == wanted:
            return


def endings(text: str, words: list[str]) -> tuple[set[tuple[int, ...]], bool]:
    """The values of `words` in final states under sequential consistency, and whether the program can get stuck."""
    program = load_program(text, "random.rdma")
    found = explore(ScMachine(program), Limits(states=50_000), reduce=False)
    assert found.cut is None
    finals = [valuation(program, final) for final in found.finals]
    return {tuple(final[word] for word in words) for final in finals}, found.stuck > 0


def test_repairs_change_nothing_but_the_order() -> None:
    """Under sequential consistency a repaired program ends where the program did, and gets stuck only if that did."""
    seen = 0
    for seed in range(500, 600):
        text = random_program(Random(seed), Size(threads=(2, 2), nodes=(2, 2), total=6))
        answer = repair(text, "random.rdma", RepairOptions(all_minimal=True, most_solutions=4))
        program = load_program(text, "random.rdma")
        words = [name for name in state_names(program) if not Usage(program).untouched(name.split(".")[0])]
        for solution in answer.solutions:
            assert endings(text, words) == endings(solution.patched, words), solution.patched
            seen += 1
        if seen >= 12:
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
        lines = solution.patched.split("\n")
        for insertion in solution.insertions:
            gone = range(insertion.line - 1, insertion.line - 1 + len(insertion.lines))
            assert not robust("\n".join(line for k, line in enumerate(lines) if k not in gone))


def test_what_was_inserted_is_not_needless_and_more_is() -> None:
    for name in ("mailbox-plain", "publish-plain", "sb-put-plain"):
        text = (ROOT / "litmus" / f"{name}.rdma").read_text(encoding="utf-8")
        patched = repair(text, name).patched
        removed = remove_needless(patched, name)
        assert removed.complete
        kept = [line.strip() for line in (removed.patched or patched).split("\n")]
        inserted = [line for i in repair(text, name).insertions for line in i.lines]
        assert all(line in kept for line in inserted)


@pytest.mark.parametrize("wanted", [4, pytest.param(150, marks=pytest.mark.long)])
def test_no_two_candidates_are_cheaper_where_there_are_loops(wanted: int) -> None:
    """What the clauses exclude is no repair: every pair of candidates that can stand and costs less is decided."""
    seen = 0
    limits = CheckOptions(max_states=3000)
    for seed in count(7000):
        text = random_program(Random(seed), SMALLEST, loops=True)
        loops = any(word in text for word in ("loop {", "while "))
        if not loops or check_text(text, "r", limits).verdict is not Verdict.NOT_ROBUST:
            continue
        answer = repair(text, "random.rdma", None, limits)
        if answer.status == "unknown" or not (answer.optimal or answer.status == "impossible"):
            continue
        sites = Sites.of(text, "random.rdma", await_loops=False)
        costs = RepairOptions().costs
        for n in (1, 2):
            for some in combinations(universe(sites, lambda: None), n):
                cost = sum(costs.of(c.kind, sites.places[c.place].depth) for c in some)
                planned = plan(sites, frozenset(some))
                if isinstance(planned, Plan) and (cost < answer.cost or not answer.solutions):
                    patched = Patcher(sites).patch(frozenset(some), planned).text
                    assert check_text(patched, "r", limits).verdict is not Verdict.ROBUST, (seed, some)
        seen += 1
        if seen == wanted:
            return
