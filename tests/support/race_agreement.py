"""Races of random programs: the search with marks against brute force over the axioms, pair by pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from random import Random
from typing import Final

from rdma_robust.analyses.races.find_races import RaceOutcome, find_races
from rdma_robust.analyses.races.race_marks import access_key
from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import Cell, Program, Step
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.semantics.oracle.brute_force import OracleLimits
from rdma_robust.semantics.waits import messages_wait
from tests.support.memory_programs import polled_memories, relayed_memories, small_memories, with_memories
from tests.support.race_oracle import PairPlace, oracle_races
from tests.support.random_barriers import random_barriers
from tests.support.random_deployed import FAMILIES, loaded, mutants, random_deployed
from tests.support.random_lanes import on_lanes
from tests.support.random_lifetimes import random_lifetimes
from tests.support.random_long_messages import random_long_messages
from tests.support.random_orders import programs_under_orders, random_order
from tests.support.random_programs import SMALL, TINY, random_program
from tests.support.region_programs import with_regions

Programs = Iterable[tuple[Program, Model]]

SIZE: Final = OracleLimits(paths=400, choices=3_000, decisions=40_000, timeout=None)


def _plain(seeds: range) -> Iterator[tuple[Program, Model]]:
    for seed in seeds:
        rng = Random(f"races {seed}")
        yield loaded(random_program(rng, rng.choice([TINY, SMALL])), f"plain {seed}")


def _own_orders(seeds: range) -> Iterator[tuple[Program, Model]]:
    for seed in seeds:
        rng = Random(f"races under orders {seed}")
        yield from programs_under_orders(random_order(rng), rng, 1)


def _under_shipped(seeds: range) -> Iterator[tuple[Program, Model]]:
    """Mutations of named programs under each order of the package."""
    from rdma_robust.orders import SHIPPED  # noqa: PLC0415 - only here

    for program, model in mutants(seeds):
        order = Random(f"order {program.file}").choice(SHIPPED)
        yield replace(program, hardware=replace(program.hardware, order=order)), replace(model, order=order)


def _deployed(family: str) -> Callable[[range], Programs]:
    return lambda seeds: random_deployed(family, seeds)


def _barriers(kind: str) -> Callable[[range], Programs]:
    return lambda seeds: random_barriers(kind, seeds)


SOURCES: Final[dict[str, Callable[[range], Programs]]] = {
    "plain": _plain,
    **{family: _deployed(family) for family in (*FAMILIES, "accumulated", "operands")},
    "mutants": mutants,
    "own orders": _own_orders,
    "shipped orders": _under_shipped,
    "lanes": lambda seeds: on_lanes(random_deployed("weaker", seeds)),
    "barriers": _barriers("mixed"),
    "regions": with_regions,
    "memories": with_memories,
    "small memories": small_memories,
    "polled memories": polled_memories,
    "relayed memories": relayed_memories,
    "lifetimes": random_lifetimes,
    "long messages": random_long_messages,
}
"""Every family of random programs that the project has, by name."""


def with_words(program: Program, rng: Random) -> Program:
    """Return the program with some words declared to synchronise, or as it is."""
    chosen = frozenset(cell for cell in program.cells if not cell.hidden and rng.random() < 0.4)
    if rng.random() < 0.5 or not chosen:
        return program
    return declared(program, chosen)


def with_accesses(program: Program, rng: Random) -> Program:
    """Return the program with some accesses said to synchronise, of two kinds or of any."""

    def said(step: Step) -> Step:
        return replace(step, synchronises=rng.choice(("", "", "one", "other", "any")))

    threads = tuple(
        replace(each, edges=tuple((source, target, said(step)) for source, target, step in each.edges))
        for each in program.threads
    )
    return replace(program, threads=threads)


def declared(program: Program, words: frozenset[Cell]) -> Program:
    """Return the program with these words declared `sync`, and no others."""
    text = program.source
    for node, name in sorted({(cell.node, cell.name.partition("[")[0]) for cell in words if not cell.sync}):
        head, _, tail = text.partition(f"node {node} ")
        inside, brace, rest = tail.partition("}")
        text = f"{head}node {node} {_declare(inside, name)}{brace}{rest}"
    return replace(load_program(text, program.file), hardware=program.hardware)


def _declare(inside: str, name: str) -> str:
    import re  # noqa: PLC0415 - only here

    return re.sub(rf"(?<![\w])(?<!sync )((?:relaxed )?{name})(?![\w])", r"sync \1", inside, count=1)


def found_pairs(outcome: RaceOutcome) -> frozenset[PairPlace]:
    """Return the places of the races of an outcome, as the oracle has them."""
    keys = ((access_key(race.first), access_key(race.second)) for race in outcome.races)
    return frozenset(frozenset((k.thread, _bare(k.step), k.type, k.word) for k in pair) for pair in keys)


def _bare(step: Step) -> Step:
    return Step(step.op, span=step.span, text=step.text)


def compared(program: Program, model: Model) -> frozenset[PairPlace] | None:
    """Return the races of a program, on which search and oracle agree; None if the oracle gives up, or a message waits."""
    if messages_wait(program):
        return None
    try:
        expected = oracle_races(program, model, limits=SIZE)
    except SizeLimitError:
        return None
    for counted in (None, True):
        found = find_races(program, model, Limits(), counted=counted)
        assert not found.reason, program.source
        assert found_pairs(found) == expected, f"{program.file}\n{program.source}\n{model}"
    return expected
