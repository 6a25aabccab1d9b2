"""Fewest `mfence`s, against trying all sets of them: programs of Trencher by a machine of their own, others by the check."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import Costs, RepairOptions
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.pipeline import check_text
from tests.support.trencher_machine import random_trencher, robust

TSO = CheckOptions(hardware=Model(cpu="tso"))


def fenced(text: str, states: tuple[tuple[int, str], ...]) -> str:
    """Return the text with a fence at each of these states of threads, by words alone."""
    lines, thread = [], -1
    for line in text.splitlines():
        words = line.split()
        thread += words[:1] == ["thread"]
        if words[:1] == ["transition"] and (thread, words[1]) in states:
            lines.append(f"transition {words[1]} {words[1]}F mfence")
            words[1] += "F"
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


def fewest(text: str) -> int:
    thread, states = -1, {}
    for line in text.splitlines():
        words = line.split()
        thread += words[:1] == ["thread"]
        if words[:1] == ["transition"]:
            states[thread, words[1]] = None
    return next(n for n in range(len(states)) if any(robust(fenced(text, some)) for some in combinations(states, n)))


@pytest.mark.parametrize("seeds", [range(5, 11), pytest.param(range(100, 400), marks=pytest.mark.long)], ids=["few", "many"])
def test_no_fewer_fences_make_a_random_automaton_robust(seeds: range) -> None:
    found = []
    for seed in seeds:
        text = random_trencher(Random(seed), (2, 2), (2, 3))
        answer = repair(text, "random.trencher", limits=TSO)
        assert answer.status in ("robust", "repaired"), text
        assert answer.optimal
        found.append(len(answer.insertions))
        assert found[-1] == fewest(text), text
        assert not answer.patched or robust(answer.patched), answer.patched
    assert max(found) > 1


def random_stores(rng: Random) -> list[list[str]]:
    """Threads of stores, loads, and puts to another node that a load or store meets."""

    def statement(own: str) -> str:
        return rng.choice([f"{own} = {rng.randint(1, 2)}", "x = 1", "y = 1", "r = x", "r = y", "put B.z = x", "poll B"])

    return [
        [f"{own} = 1", *(statement(own) for _ in range(rng.randint(0, 2))), f"r = {other}"] for own, other in ("xy", "yx")
    ]


def written(threads: list[list[str]]) -> str:
    bodies = ["; ".join(["reg r", *each]) for each in threads]
    head = "domain 0..2\nnode A { x, y }\nnode B { z }\n"
    return head + "".join(f"thread T{t} on A {{ {body} }}\n" for t, body in enumerate(bodies))


def _fewest_of(threads: list[list[str]]) -> int | None:
    places = [(t, k) for t, each in enumerate(threads) for k in range(1, len(each))]
    for number in range(len(places) + 1):
        for some in combinations(places, number):
            program = [
                [s for k, statement in enumerate(each) for s in (["mfence"] * ((t, k) in some) + [statement])]
                for t, each in enumerate(threads)
            ]
            if check_text(written(program), "naive.rdma", TSO).verdict is Verdict.ROBUST:
                return number
    return None


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(100, 250), marks=pytest.mark.long)], ids=["few", "many"])
def test_no_fewer_fences_make_a_random_program_robust(seeds: range) -> None:
    """Where fences alone will do, other insertions cost as much as ten of them."""
    found = 0
    for seed in seeds:
        threads = random_stores(Random(seed))
        answer = repair(written(threads), "random.rdma", RepairOptions(Costs(poll=10, rfence=10, flush=10)), TSO)
        least = _fewest_of(threads)
        if least is not None:
            assert answer.optimal, written(threads)
            assert answer.cost == least, written(threads)
            assert all(each.kind == "mfence" for each in answer.insertions)
            found += least > 0
    assert found
