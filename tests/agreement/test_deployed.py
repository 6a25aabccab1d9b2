"""The pivot search and brute force over the axioms on RDMA as deployed: store buffers, completions, messages, weaker orders.

Loop-free random programs by family, the named ones and mutations of them; looping ones against their unrollings.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from random import Random

import networkx as nx
import pytest

from rdma_robust.errors import InternalError, SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.model import Model
from rdma_robust.options import ALL_REDUCTIONS, LARGE, REDUCTIONS, CheckOptions
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.scope import way_to_decide
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from tests.support.random_deployed import FAMILIES, model_of, mutants, named, named_texts, random_deployed
from tests.support.random_programs import Size, random_program
from tests.support.unroll import unrolled

Case = tuple[Program, Model]

SETS = {
    "none": (frozenset[str](), LARGE),
    "all": (ALL_REDUCTIONS, LARGE),
    "all of large programs": (ALL_REDUCTIONS, 0),
    **{f"only {name}": (frozenset({name}), 0) for name in REDUCTIONS},
    **{f"all but {name}": (ALL_REDUCTIONS - {name}, 0) for name in REDUCTIONS},
}

TURNS = [name for name in SETS if name not in ("none", "all")]

SMALL = Size(threads=(2, 2), instructions=(1, 3), total=6, atomics=True)


def decided(program: Program, model: Model, kind: str) -> Outcome:
    reductions, large = SETS[kind]
    return decide(program, CheckOptions(hardware=model, reductions=reductions, large=large, max_states=30_000))


def truth(program: Program, model: Model) -> Verdict | None:
    """What brute force says, None if the program is too large for it."""
    try:
        return Verdict.ROBUST if oracle_robust(program, model) is None else Verdict.NOT_ROBUST
    except SizeLimitError:
        return None


def agreeing(cases: Iterable[Case], kinds: int) -> int:
    """Compare the search with brute force, without reductions, with all and with `kinds` other sets in turn; return for how
    many programs that it knows it was not cut short."""
    compared = 0
    for number, (program, model) in enumerate(cases):
        if way_to_decide(model, program) != "search" or (wanted := truth(program, model)) is None:
            continue
        chosen = ["none", "all", *(TURNS[(number + k) % len(TURNS)] for k in range(kinds))]
        for kind in chosen:
            try:
                outcome = decided(program, model, kind)
            except InternalError as error:
                raise AssertionError(f"{program.file}, {model}, {kind}: {error}\n{program.source}") from error
            if outcome.verdict is not Verdict.UNKNOWN:
                assert outcome.verdict is wanted, f"{program.file}, {model}, {kind}\n{program.source}"
        compared += outcome.verdict is not Verdict.UNKNOWN
    return compared


def test_named_programs() -> None:
    assert agreeing(named(), 1) >= 40


@pytest.mark.parametrize("family", ["stores", "completions", "weaker"])
def test_random_programs(family: str) -> None:
    assert agreeing(random_deployed(family, range(40)), 1) >= 15


def test_mutations_of_named_programs() -> None:
    assert agreeing(mutants(range(60)), 1) >= 20


@pytest.mark.long
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("chunk", range(40))
def test_long_random_programs(family: str, chunk: int) -> None:
    """200 programs of every family a chunk, 8,000 of each, with five sets of reductions each."""
    agreeing(random_deployed(family, range(1000 + 200 * chunk, 1200 + 200 * chunk)), 3)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(100))
def test_long_mutations_of_named_programs(chunk: int) -> None:
    """200 mutations a chunk, 20,000 in all, with five sets of reductions each."""
    agreeing(mutants(range(1000 + 200 * chunk, 1200 + 200 * chunk)), 3)
