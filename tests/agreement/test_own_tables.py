"""Order tables in certificates: the checker's own reader of tables and its axioms, against those of the tool."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.certify.hardware import Platform
from rdma_robust.certify.own_tables import UnreadableTable
from rdma_robust.certify.violations import check_not_robust
from rdma_robust.errors import SizeLimitError
from rdma_robust.evidence.of_traces import trace_evidence
from rdma_robust.orders.known_orders import order_table, told_in_full
from rdma_robust.robustness.by_axioms import witness_of
from rdma_robust.semantics.axioms import rdma_violation
from rdma_robust.semantics.linearise import trace_of_order
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from tests.support.random_orders import programs_under_orders, random_order


def in_full(order: str) -> str:
    table = order_table(order)
    return told_in_full(replace(table, why={}))


def agree(seed: int) -> tuple[int, int]:
    """Compare what the checker says of counterexamples with the axioms, under their own table and under another one; return
    how many were accepted and how many rejected."""
    rng, accepted, rejected = Random(f"own {seed}"), 0, 0
    order, other = random_order(rng), random_order(rng)
    for program, model in programs_under_orders(order, rng, 3):
        try:
            found = oracle_robust(program, model)
        except SizeLimitError:
            continue
        if found is None:
            continue
        witness = witness_of(found, program, model)
        for each in (order, other):
            under = replace(model, order=each)
            trace = trace_of_order(witness.order, program, under)
            wanted = rdma_violation(trace, under) is None
            platform = Platform(model.cpu, model.atomics, in_full(each), model.ordered_reads)
            try:
                check_not_robust(program, platform, trace_evidence(program, trace))
                assert wanted, f"{each}\n{program.source}"
                accepted += 1
            except InvalidCertificate as error:
                assert not wanted, f"{each}\n{program.source}\n{error}"
                rejected += 1
    return accepted, rejected


@pytest.mark.parametrize(
    "seeds",
    [range(12), pytest.param(range(12, 40), marks=pytest.mark.ci), pytest.param(range(40, 3000), marks=pytest.mark.long)],
    ids=["few", "more", "many"],
)
def test_the_checker_accepts_what_the_axioms_allow(seeds: range) -> None:
    accepted, rejected = map(sum, zip(*map(agree, seeds), strict=True))
    assert accepted > len(seeds) and rejected >= len(seeds) // 12


@pytest.mark.parametrize(
    "text",
    [
        '{name = "x", based-on = "mine"}',
        '{name = "x", based-on = "default", cells = {"nrR nrW" = "i"}}',
        '{name = "x", based-on = "default", cells = {"nmW nrW" = "(-)"}}',
        '{name = "x", based-on = "default", rules = {receives-match = "some"}}',
        '{name = "x", based-on = "default"}\nmore = 1',
        "{name",
    ],
)
def test_a_table_that_the_checker_cannot_read_is_refused(text: str) -> None:
    with pytest.raises(UnreadableTable):
        assert Platform(order=text).own
