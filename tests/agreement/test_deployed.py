"""The pivot search and brute force over the axioms on RDMA as deployed: store buffers, completions, messages, weaker orders.

Loop-free random programs by family, the named ones and mutations of them; looping ones against their unrollings.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
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
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from tests.support.random_deployed import FAMILIES, model_of, mutants, named, random_deployed
from tests.support.random_programs import Size, random_program
from tests.support.shares import chunks
from tests.support.unroll import unrolled

Case = tuple[Program, Model]

SETS = {
    "none": (frozenset[str](), LARGE),
    "all": (ALL_REDUCTIONS, LARGE),
    "all of large programs": (ALL_REDUCTIONS, 0),
    **{f"only {name}": (frozenset({name}), 0) for name in REDUCTIONS},
    **{f"all but {name}": (ALL_REDUCTIONS - {name}, 0) for name in REDUCTIONS},
}

TURNS = [name for name in SETS if name != "all"]

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


def agreeing(cases: Iterable[Case], kinds: int, enough: int = 1_000) -> int:
    """Compare the search with brute force, with all reductions and with `kinds` other sets in turn, among them none; return
    for how many programs that brute force knows no search was cut short, at most `enough`."""
    compared = 0
    for number, (program, model) in enumerate(cases):
        if (wanted := truth(program, model)) is None:
            continue
        known = True
        for kind in ("all", *(TURNS[(number + k) % len(TURNS)] for k in range(kinds))):
            try:
                outcome = decided(program, model, kind)
            except InternalError as error:
                raise AssertionError(f"{program.file}, {model}, {kind}: {error}\n{program.source}") from error
            known = known and outcome.verdict is not Verdict.UNKNOWN
            assert outcome.verdict in (wanted, Verdict.UNKNOWN), f"{program.file}, {model}, {kind}\n{program.source}"
        compared += known
        if compared == enough:
            break
    return compared


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.long) for part in range(1, 6))])
def test_named_programs(part: int) -> None:
    assert agreeing(islice(named(), part, None, 6), 2) >= 8


@pytest.mark.parametrize("family", ["stores", "completions", "weaker"])
def test_random_programs(family: str) -> None:
    assert agreeing(random_deployed(family, range(15)), 1) >= 4


def test_mutations_of_named_programs() -> None:
    assert agreeing(mutants(range(20)), 1) >= 8


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("chunk", chunks(1, 150))
def test_many_random_programs(family: str, chunk: int) -> None:
    """200 programs of every family a chunk that are compared: one chunk in .ci/run, 30,000 of each in `make test-long`."""
    assert agreeing(random_deployed(family, range(10_000 * (chunk + 1), 10_000 * (chunk + 2))), 1, 200) == 200


@pytest.mark.parametrize("chunk", chunks(1, 60))
def test_many_mutations_of_named_programs(chunk: int) -> None:
    """500 mutations a chunk that are compared: one chunk in .ci/run, 30,000 in `make test-long`."""
    assert agreeing(mutants(range(10_000 * (chunk + 1), 10_000 * (chunk + 2))), 1, 500) == 500


HARDWARE = (
    "cpu tso",
    "cpu tso, reads ordered",
    "order multipath",
    "order relaxed",
    "cpu tso, order relaxed",
    "cpu sc",
)


def looping(seed: int) -> Case | None:
    """A random program with loops, with flags on some of its requests; None if it has no loop."""
    rng = Random(seed)
    lines = random_program(rng, SMALL, loops=True).splitlines()
    flags = ["", "", " unsignaled", " inline", " inline unsignaled"]
    for i, line in enumerate(lines):
        flag = rng.choice(flags)
        if line.lstrip().startswith("put ") or (line.lstrip().startswith("get ") and "inline" not in flag):
            lines[i] = line + flag
    program = load_program(f"hardware {HARDWARE[seed % len(HARDWARE)]}\n" + "\n".join(lines) + "\n", f"seed {seed}")
    if all(nx.is_directed_acyclic_graph(t.graph) for t in program.threads):
        return None
    return program, model_of(program)


def check_unrollings(program: Program, model: Model) -> bool:
    """A robust program has robust unrollings only, another has one that is not; return whether it could be decided."""
    outcome = decided(program, model, "all")
    if outcome.verdict is Verdict.UNKNOWN:
        return False
    assert decided(program, model, "none").verdict in (outcome.verdict, Verdict.UNKNOWN)
    if outcome.verdict is Verdict.ROBUST:
        for bound in (3, 6):
            assert truth(unrolled(program, bound), model) is not Verdict.NOT_ROBUST
        return True
    assert outcome.witness is not None
    longest = max(sum(e.thread == t for e in outcome.witness.order) for t in range(len(program.threads)))
    flat = (unrolled(program, bound) for bound in (longest + 2, 3 * longest + 8))
    assert any(decided(each, model, "all").verdict is Verdict.NOT_ROBUST for each in flat)
    return True


@pytest.mark.parametrize("chunk", [0, *(pytest.param(chunk, marks=pytest.mark.long) for chunk in range(1, 100))])
def test_looping_programs_and_their_unrollings(chunk: int) -> None:
    """6 looping programs a chunk, 600 in all."""
    checked = 0
    for seed in range(1000 * chunk, 1000 * chunk + 300):
        case = looping(seed)
        if case is None:
            continue
        try:
            checked += check_unrollings(*case)
        except (AssertionError, InternalError) as error:
            raise AssertionError(f"{case[0].file}: {error}\n{case[0].source}") from error
        if checked == 6:
            return
    raise AssertionError(f"only {checked} of 6 programs could be decided")
