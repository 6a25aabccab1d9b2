"""Random order tables: the search, where the table has the facts, else the axioms, against brute force; and the machine."""

from __future__ import annotations

from random import Random

import pytest

from rdma_robust import CheckOptions
from rdma_robust.errors import SizeLimitError, UsageError
from rdma_robust.limits import Limits
from rdma_robust.orders.order_facts import RMW_ROW, lacking
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.searched_orders import not_searched
from rdma_robust.semantics.machines.chosen import machine_of
from rdma_robust.semantics.machines.state_space import explore
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from tests.support.random_orders import programs_under_orders, random_order


def agree(seed: int, number: int) -> int:
    """Compare a table with the facts under so many programs; return how many verdicts the search gave."""
    rng = Random(f"order {seed}")
    order = random_order(rng)
    if lacking(order):
        return 0
    compared = 0
    for program, model in programs_under_orders(order, rng, number):
        try:
            robust = oracle_robust(program, model) is None
        except SizeLimitError:
            continue
        found = decide(program, CheckOptions(hardware=model))
        if found.verdict.value != "unknown":
            assert found.verdict.value == ("robust" if robust else "not-robust"), f"{order}\n{program.source}"
            compared += not not_searched(program, model)
    return compared


@pytest.mark.parametrize(
    "seeds",
    [
        range(12),
        pytest.param(range(12, 120), marks=pytest.mark.ci),
        pytest.param(range(120, 6000), marks=pytest.mark.long),
    ],
    ids=["few", "more", "many"],
)
def test_the_search_is_right_under_every_table_with_the_facts(seeds: range) -> None:
    assert sum(agree(seed, 8) for seed in seeds) > len(seeds) // 4


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 1500), marks=pytest.mark.long)], ids=["few", "many"])
def test_the_machine_and_the_axioms_agree_under_any_table(seeds: range) -> None:
    for seed in seeds:
        rng = Random(f"machine {seed}")
        for program, model in programs_under_orders(random_order(rng), rng, 2):
            try:
                wanted = axiomatic_outcomes(program, model).rdma
                machine = machine_of(program, model)
            except SizeLimitError:
                continue
            except UsageError as refused:
                assert RMW_ROW in lacking(model.order) and RMW_ROW in str(refused)
                continue
            assert explore(machine, Limits()).finals == wanted, f"{model.order}\n{program.source}"
