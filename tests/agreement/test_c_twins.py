"""Random programs twice, as `.rdma` and as C: they have one verdict and the same final states."""

from __future__ import annotations

from collections import Counter

import pytest

from rdma_robust import check
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.outcome import Verdict
from rdma_robust.semantics.machines.outcomes import explore_outcomes
from tests.support.c_automata import evaluated, program_of
from tests.support.random_c import random_twin
from tests.support.random_deployed import model_of

Finals = set[tuple[frozenset[tuple[str, int]], bool, bool]]


def finals(program: Program, names: set[str]) -> tuple[Finals, set[str]] | None:
    """Return the final values of words and the models that reach them, with the words; None if a search was cut."""
    found = explore_outcomes(program, model_of(program), timeout=20)
    at = {name: index for index, name in enumerate(found.names) if name in names}
    merged: dict[frozenset[tuple[str, int]], tuple[bool, bool]] = {}
    for state in found.states:
        key = frozenset((name, state.values[index]) for name, index in at.items())
        sc, rdma = merged.get(key, (False, False))
        merged[key] = (sc or state.sc, rdma or state.rdma)
    return ({(key, *reached) for key, reached in merged.items()}, set(at)) if found.complete else None


def agree(seeds: range, size: int) -> Counter[str]:
    """Compare programs in both languages; return how many had which verdict, and used what."""
    seen: Counter[str] = Counter()
    words = {f"{node}.m_{word}" for node in "AB" for word in ("x", "y", "z", "b0", "b1", "out_r0", "out_r1")}
    for seed in seeds:
        twin = random_twin(seed, size)
        wanted, found = load_program(twin.rdma, f"seed {seed}"), program_of(evaluated(twin.c))
        verdicts = [check(each, timeout=20).verdict for each in (wanted, found)]
        assert Verdict.UNKNOWN not in verdicts
        assert verdicts[0] is verdicts[1], f"{twin.rdma}\n{twin.c}"
        of_c = finals(found, words)
        of_rdma = finals(wanted, words if of_c is None else of_c[1])
        if of_c is not None and of_rdma is not None:
            assert of_c == of_rdma, f"{twin.rdma}\n{twin.c}"
            seen["final states"] += 1
        seen[verdicts[0].name] += 1
        seen.update(twin.used)
    return seen


def test_c_means_what_the_same_statements_mean() -> None:
    seen = agree(range(6), 5)
    assert seen["final states"] == 6


@pytest.mark.ci
def test_c_means_what_the_same_statements_mean_on_more_programs() -> None:
    seen = agree(range(100, 130), 6)
    assert min(seen["NOT_ROBUST"], seen["ROBUST"], seen["message"], seen["branch"], seen["local atomic"], seen["lane"]) > 0


@pytest.mark.long
def test_c_means_what_the_same_statements_mean_on_many_programs() -> None:
    seen = agree(range(1000, 3000), 8)
    assert min(seen["NOT_ROBUST"], seen["ROBUST"], seen["tso"], seen["rpoll"], seen["remote atomic"], seen["lane"]) > 100
    assert min(seen["wide"], seen["data and number"], seen["pair"]) > 50
