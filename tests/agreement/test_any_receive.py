"""Messages that may take any posted receive: brute force, `check`, and what a run of the actions alone says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Final

import pytest

from rdma_robust.errors import SizeLimitError
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.orders.known_orders import order_table, told_order
from rdma_robust.orders.order_changes import reading
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.connections import has_choice_of_buffers
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from tests.support.any_receive import has_a_choice, random_exchange, text_of
from tests.support.random_orders import programs_under_orders, random_order


def taking_any(order: str) -> str:
    return told_order(replace(order_table(order), matching="any"))


DEFAULT: Final = taking_any("default")


def exchanges(seeds: range) -> Counter[str]:
    """Compare on exchanges, under the default order but for this: a program is robust if it is where messages take receives
    in order, and no message has a choice. Count the verdicts."""
    found: Counter[str] = Counter()
    for seed in seeds:
        rng = Random(f"exchange {seed}")
        exchange = random_exchange(rng)
        program = load_program(text_of(exchange, rng), "exchange.rdma")
        try:
            in_order = oracle_robust(program, Model()) is None
            robust = oracle_robust(program, Model(order=DEFAULT)) is None
        except SizeLimitError:
            continue
        choice = has_a_choice(exchange)
        assert robust == (in_order and not choice), program.source
        assert has_choice_of_buffers(program) or not choice, program.source
        verdict = decide(program, CheckOptions(hardware=Model(order=DEFAULT))).verdict.value
        assert verdict in ("unknown", "robust" if robust else "not-robust"), program.source
        found[verdict] += 1
        found["by choice"] += in_order and not robust
    return found


def under_tables(seeds: range) -> int:
    """Compare `check` with brute force under random tables; return how many it decided."""
    decided = 0
    for seed in seeds:
        rng = Random(f"any {seed}")
        order = taking_any(rng.choice(["ooo-dp", "relaxed-mr", random_order(rng)]))
        for program, model in programs_under_orders(order, rng, 3, ("messages", "completions", "mixed")):
            try:
                robust = oracle_robust(program, model) is None
                in_order = oracle_robust(program, replace(model, order=reading(order, frozenset()))) is None
            except SizeLimitError:
                continue
            assert in_order or not robust, f"{order}\n{program.source}"
            verdict = decide(program, CheckOptions(hardware=model)).verdict.value
            assert verdict in ("unknown", "robust" if robust else "not-robust"), f"{order}\n{program.source}"
            decided += verdict != "unknown"
    return decided


@pytest.mark.parametrize(
    "seeds",
    [range(6), pytest.param(range(6, 60), marks=pytest.mark.ci), pytest.param(range(60, 20_000), marks=pytest.mark.long)],
    ids=["few", "more", "many"],
)
def test_exchanges(seeds: range) -> None:
    found = exchanges(seeds)
    assert found["robust"] >= len(seeds) // 20 and found["by choice"] > len(seeds) // 20


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 3_000), marks=pytest.mark.long)], ids=["few", "many"])
def test_random_tables(seeds: range) -> None:
    assert under_tables(seeds) >= len(seeds)
