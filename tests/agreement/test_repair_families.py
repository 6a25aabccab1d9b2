"""Repairs of random families: what is found is a repair, and no set of polls and fences that costs less is one."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from rdma_robust import Verdict, check, verify
from rdma_robust.analyses.repair.edits import SourceText, apply_edits, gaps
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import RepairOptions
from rdma_robust.analyses.safety.verify import Status
from tests.support.shares import chunks

NEXT = "Peer[(i + 1) % N]"
STATEMENTS = (
    f"put {NEXT}.x = one",
    f"put {NEXT}.y = s",
    "put Hub.a = one",
    "put Hub.b = s",
    "get s = Hub.b",
    f"get s = {NEXT}.x",
    "r = x",
    "r = y",
    "one = 2",
    "s = 3",
)
HUB = ("r = a", "r = b", "a = 1", "b = 1")
PRICES = {"poll": 2, "rfence": 1}


def random_family(seed: int) -> str:
    """A family of two or three threads of a few statements, with a few polls, and a thread of the hub."""
    choose = random.Random(seed)
    body: list[str] = []
    posted = {"Hub": 0, NEXT: 0}
    kinds = (STATEMENTS[:4], *[STATEMENTS] * choose.randint(0, 2), STATEMENTS[1:])
    for kind in kinds:
        statement = choose.choice(kind)
        body.append(statement)
        for node in list(posted):
            posted[node] += f"{node}." in statement
            if posted[node] and choose.random() < 0.2:
                body.append(f"poll {node}")
                posted[node] -= 1
    hub = [choose.choice(HUB) for _ in range(choose.randint(1, 3))]
    return (
        f"const N = {choose.choice((2, 2, 3))}\nnode Hub {{ a, b }}\nnode Peer[i in 0..N - 1] {{ x, y, s = 4, one = 1 }}\n"
        f"thread P[i in 0..N - 1] on Peer[i] {{ reg r; {'; '.join(body)} }}\n"
        f"thread H on Hub {{ reg r; {'; '.join(hub)} }}\n"
    )


def cheaper(text: str, cost: int) -> Iterator[str]:
    """Yield the program with every set of up to two polls and fences that costs less."""
    source = SourceText.of(text, "t")
    single = [
        (place, f"{word} {node}", price)
        for place in gaps(source)
        if place.thread == 0
        for node in ("Hub", NEXT)
        for word, price in PRICES.items()
    ]
    for size in (1, 2):
        for chosen in itertools.combinations(single, size):
            if sum(price for *_, price in chosen) < cost:
                yield apply_edits(text, [source.insert(place, [statement]) for place, statement, _ in chosen])[0]


def agrees(seed: int) -> str:
    """Compare what is found for one program, and return what it is."""
    text = random_family(seed)
    if check(text, timeout=10).verdict is not Verdict.NOT_ROBUST:
        return "robust"
    found = repair(text, "t", RepairOptions(timeout=20))
    if found.solutions:
        assert check(found.solutions[0].patched).verdict is Verdict.ROBUST
    if not (found.optimal or found.status == "impossible"):
        return "open"
    for other in cheaper(text, found.solutions[0].cost if found.solutions else 4):
        if check(other).verdict is Verdict.ROBUST:
            hangs = [each for each in verify(other, timeout=5).checked if each.claim.kind == "hang"]
            assert hangs[0].status is not Status.HOLDS, f"{text}\n{found.status}, but\n{other}"
    return found.status


@pytest.mark.parametrize("seed", chunks(1, 20))
def test_repairs_of_families_are_cheapest(seed: int) -> None:
    agrees(1_000 + seed)
