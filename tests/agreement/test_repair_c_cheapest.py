"""Repairs of C: no set of insertions that is cheaper will do, each read, evaluated and decided."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest

from rdma_robust.analyses.repair.cheapest import Checker, checker_of
from rdma_robust.analyses.repair.in_c.c_insertions import CInsertion
from rdma_robust.analyses.repair.in_c.c_repair import _Search
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.analyses.repair.repairs import RepairOptions
from rdma_robust.language.load import decidable, load_program
from rdma_robust.options import CheckOptions
from tests.cli.test_repair_c import STORE_BUFFERS

OPTIONS = RepairOptions()


def cheaper(insertions: tuple[CInsertion, ...], cost: int) -> Iterator[frozenset[CInsertion]]:
    """Yield every set of insertions that costs less."""
    for size in range(1, len(insertions) + 1):
        for chosen in combinations(insertions, size):
            if sum(each.cost(OPTIONS.costs) for each in chosen) < cost:
                yield frozenset(chosen)


@pytest.mark.ci
def test_no_cheaper_set_will_do() -> None:
    text = STORE_BUFFERS
    found = repair(text, "cheapest.c")
    program = decidable(load_program(text, "cheapest.c"))
    limits = CheckOptions().on(program.hardware)
    search = _Search(text, program, checker_of(Checker, "cheapest.c", limits, OPTIONS, None), OPTIONS)
    assert found.cost is not None and search.insertions.all
    tried = [not search._judge(search._files(chosen)).good for chosen in cheaper(search.insertions.all, found.cost)]
    assert all(tried)
    assert len(tried) >= 1
