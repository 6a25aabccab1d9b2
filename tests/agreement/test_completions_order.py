"""Completions that give order under multipath: the search, the checker's rules and the machine against brute force.

Also where the rule makes the difference, so that it is known to be asked for.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from unittest.mock import patch

import pytest

from rdma_robust.certify.judge_question import NotCovered
from rdma_robust.certify.program_question import program_question_of
from rdma_robust.model import Model
from rdma_robust.outcome import Verdict
from rdma_robust.semantics.order_table import ORDERS, REMOTE_WRITES, behind_poll, gains_behind_poll, oppo_scope
from rdma_robust.semantics.trace import CPU_TYPES, EventType
from tests.agreement.test_deployed import TURNS, decided, truth
from tests.support.checker_search import Search, platform_of
from tests.support.random_deployed import loaded, named_texts, random_deployed
from tests.support.shares import chunks

MULTIPATH = Model(order="multipath")


def compared(seeds: range) -> Counter[str]:
    """Compare the search, with all reductions and with others in turn, and the checker's rules with brute force."""
    seen: Counter[str] = Counter()
    for number, (program, model) in enumerate(random_deployed("acknowledged", seeds)):
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
        with patch.dict(ORDERS, multipath=replace(ORDERS["multipath"], behind_polls="")):
            seen["differs"] += truth(program, model) is not wanted
    return seen


@pytest.mark.ci
def test_random_programs() -> None:
    seen = compared(range(300))
    assert seen["searched"] > 450
    assert seen["checked"] > 240
    assert seen["differs"] >= 3


@pytest.mark.parametrize("chunk", chunks(0, 60))
def test_many_random_programs(chunk: int) -> None:
    assert compared(range(1_000 * (chunk + 1), 1_000 * (chunk + 2)))["differs"] > 3


def test_one_flag_of_a_queue_pair_suffices() -> None:
    """What a settled queue pair forces is the same whichever remote write is told of, answers apart: see `rules`, R1'."""
    ordered = behind_poll(MULTIPATH)
    assert ordered is not None
    types = [t for t in EventType if t not in CPU_TYPES and t is not EventType.INIT]
    for write in REMOTE_WRITES:
        lost = {t for t in types if oppo_scope(write, t, ordered) == "qp" and oppo_scope(write, t, MULTIPATH) == "-"}
        assert lost - {EventType.NLW} == {t for t in types if gains_behind_poll(t, MULTIPATH)}
    for order in set(ORDERS) - {"multipath"}:
        assert not any(gains_behind_poll(t, Model(order=order)) for t in types)


def test_the_proofs_do_not_cover_polls_where_completions_give_order() -> None:
    program, model = loaded(named_texts()["acknowledged-flag"], "acknowledged-flag")
    with pytest.raises(NotCovered, match="polls under `order multipath`"):
        program_question_of(program, platform_of(model))
