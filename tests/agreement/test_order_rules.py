"""Completions that give order under multipath, and atomics of one word in order: search and checker against brute force.

Also where the rule makes the difference, so that it is known to be asked for.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from unittest.mock import patch

import pytest

from rdma_robust.certify.judge_question import NotCovered
from rdma_robust.certify.proven_judge import program_question_of
from rdma_robust.certify.violations import check_not_robust
from rdma_robust.evidence.of_traces import trace_evidence
from rdma_robust.model import Model
from rdma_robust.orders.known_orders import TABLES, order_table
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.by_axioms import witness_of
from rdma_robust.robustness.searched_orders import ARGUED
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from rdma_robust.semantics.order_table import REMOTE_WRITES, Landing, behind_poll, gains_behind_poll, oppo_scope
from rdma_robust.semantics.trace import CPU_TYPES, EventType
from tests.agreement.test_deployed import TURNS, decided, truth
from tests.support.checker_search import Search, platform_of
from tests.support.random_deployed import loaded, named_texts, random_deployed
from tests.support.shares import chunks

MULTIPATH = Model(order="multipath")

WITHOUT = {
    "acknowledged": {"multipath": replace(order_table("multipath"), behind_polls="")},
    "accumulated": {"accumulate": order_table("none")},
}
"""For each family the table without its rule."""


def compared(family: str, seeds: range) -> Counter[str]:
    """Compare the search, with all reductions and with others in turn, and the checker's rules with brute force."""
    seen: Counter[str] = Counter()
    for number, (program, model) in enumerate(random_deployed(family, seeds)):
        if (wanted := truth(program, model)) is None:
            continue
        for kind in ("all", TURNS[number % len(TURNS)]):
            found = decided(program, model, kind).verdict
            assert found in (wanted, Verdict.UNKNOWN), f"{program.file}, {kind}\n{program.source}"
            seen["searched"] += found is wanted
        by_checker = Search.of(program, platform_of(model)).verdict(20_000)
        if by_checker in ("robust", "not-robust"):
            assert (by_checker == "robust") is (wanted is Verdict.ROBUST), f"{program.file}\n{program.source}"
            seen["checked"] += 1
        with patch.dict(TABLES, WITHOUT[family]):
            seen["differs"] += truth(program, model) is not wanted
    return seen


@pytest.mark.ci
@pytest.mark.parametrize(("family", "number"), [("acknowledged", 200), ("accumulated", 100)])
def test_random_programs(family: str, number: int) -> None:
    seen = compared(family, range(number))
    assert seen["searched"] > 1.5 * number
    assert seen["checked"] > 0.8 * number
    assert seen["differs"] >= 2


@pytest.mark.parametrize("family", WITHOUT)
@pytest.mark.parametrize("chunk", chunks(0, 60))
def test_many_random_programs(family: str, chunk: int) -> None:
    assert compared(family, range(1_000 * (chunk + 1), 1_000 * (chunk + 2)))["differs"] > 3


def test_one_flag_of_a_queue_pair_suffices() -> None:
    """What a settled queue pair forces is the same whichever remote write is told of, answers apart: see `rules`, R1'."""
    ordered = behind_poll(MULTIPATH)
    assert ordered is not None
    types = [t for t in EventType if t not in CPU_TYPES and t is not EventType.INIT]
    for write in REMOTE_WRITES:
        lost = {t for t in types if oppo_scope(write, t, ordered) == "qp" and oppo_scope(write, t, MULTIPATH) == "-"}
        assert lost - {EventType.NLW} == {t for t in types if gains_behind_poll(t, MULTIPATH, Landing())}
    for order in set(ARGUED) - {"multipath"}:
        assert not any(gains_behind_poll(t, Model(order=order), Landing()) for t in types)


def test_a_poll_of_another_queue_pair_puts_nothing_in_order_for_the_checker() -> None:
    program, model = loaded(named_texts()["acknowledged-other-poll"], "acknowledged-other-poll")
    trace = oracle_robust(program, model)
    assert trace is not None
    evidence = trace_evidence(program, witness_of(trace, program, model).trace)
    assert check_not_robust(program, platform_of(model), json.loads(json.dumps(evidence)))


def test_the_proofs_do_not_cover_polls_where_completions_give_order() -> None:
    program, model = loaded(named_texts()["acknowledged-flag"], "acknowledged-flag")
    with pytest.raises(NotCovered, match="polls under `order multipath`"):
        program_question_of(program, platform_of(model))
