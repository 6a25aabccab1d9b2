"""Brute force looks at prefixes after which a thread may be stuck; those of all lengths say the same about robustness.

What is found is a trace again when its events happen in an order that extends ob (Theorem 4.1).
"""

from __future__ import annotations

from collections import Counter

import pytest

from rdma_robust.errors import SizeLimitError
from rdma_robust.robustness.by_axioms import witness_of
from rdma_robust.semantics.oracle.brute_force import OracleLimits, oracle_robust
from tests.support.random_deployed import FAMILIES, mutants, random_deployed
from tests.support.shares import share

LIMITS = OracleLimits(decisions=100_000, timeout=None)


def compare(family: str, seeds: range) -> Counter[bool]:
    verdicts: Counter[bool] = Counter()
    for program, model in mutants(seeds) if family == "mutants" else random_deployed(family, seeds):
        try:
            found = [oracle_robust(program, model, LIMITS, all_prefixes=every) for every in (False, True)]
        except SizeLimitError:
            continue
        assert (found[0] is None) == (found[1] is None), f"{program.file}, {model}\n{program.source}"
        for trace in found:
            if trace is not None:
                witness_of(trace, program, model)
        verdicts[found[0] is None] += 1
    return verdicts


@pytest.mark.ci
@pytest.mark.parametrize("family", share([*FAMILIES, "mutants"]))
def test_all_prefixes_say_the_same(family: str) -> None:
    assert min(compare(family, range(20))[robust] for robust in (True, False)) > 2


@pytest.mark.long
@pytest.mark.parametrize("family", [*FAMILIES, "mutants"])
def test_all_prefixes_say_the_same_of_more(family: str) -> None:
    assert min(compare(family, range(20, 3_400))[robust] for robust in (True, False)) > 300
