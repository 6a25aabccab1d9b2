"""Random order tables: the search, or neighbours and the axioms, against brute force; and the machine."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain
from random import Random

import pytest

from rdma_robust import CheckOptions
from rdma_robust.analyses.needs.minimal_sets import minimal_sets
from rdma_robust.analyses.needs.table_answers import table_answers
from rdma_robust.errors import SizeLimitError, UsageError
from rdma_robust.exports import given_up
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.orders import SHIPPED
from rdma_robust.orders.guarantees import guarantees, implied_by, order_giving
from rdma_robust.orders.known_orders import order_of_file, order_table, told_order
from rdma_robust.orders.order_changes import Cell, reading
from rdma_robust.orders.order_facts import OF_ATOMICS, RMW_ROW, lacking
from rdma_robust.orders.order_record import UNKNOWN, with_written
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.between_tables import decided_between
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.searched_orders import lacked_facts, not_searched
from rdma_robust.semantics.machines.chosen import machine_of
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.oracle.brute_force import OracleLimits, axiomatic_outcomes, oracle_robust
from tests.conftest import ROOT
from tests.support.random_orders import (
    LACKING,
    order_lacking,
    programs_under_orders,
    random_order,
    small_under_orders,
    words_under_orders,
)


def agree(seed: int, number: int, fact: str = "") -> int:
    """Compare a table, which lacks a fact if one is given, under so many programs; return how many verdicts the search
    gave."""
    rng = Random(f"order {fact}{seed}")
    order = order_lacking(fact, rng) if fact else random_order(rng)
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
        range(3),
        pytest.param(range(3, 60), marks=pytest.mark.ci),
        pytest.param(range(60, 4000), marks=pytest.mark.long),
    ],
    ids=["few", "more", "many"],
)
def test_the_search_is_right_under_every_table(seeds: range) -> None:
    assert sum(agree(seed, 8) for seed in seeds) > 3 * len(seeds)


def small_agree(seeds: range) -> int:
    """Compare small programs, each under eight tables, and return how many verdicts the search gave; tables that need
    neighbours, which takes most of the time, are compared elsewhere."""
    compared = 0
    for program, model in chain.from_iterable(small_under_orders(seed, 8) for seed in seeds):
        found = "unknown" if not_searched(program, model) else decide(program, CheckOptions(hardware=model)).verdict.value
        if found != "unknown":
            robust = oracle_robust(program, model) is None
            assert found == ("robust" if robust else "not-robust"), f"{model.order}\n{program.source}"
            compared += 1
    return compared


def test_the_search_is_right_of_small_programs_under_many_tables() -> None:
    assert small_agree(range(6)) >= 3


@pytest.mark.ci
@pytest.mark.parametrize("chunk", range(8))
def test_the_search_is_right_in_20_000_comparisons(chunk: int) -> None:
    assert small_agree(range(500 * chunk + 6, 500 * chunk + 506)) >= 2_500


@pytest.mark.ci
@pytest.mark.parametrize("fact", [fact for fact in LACKING if fact not in OF_ATOMICS])
@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 200), marks=pytest.mark.long)], ids=["few", "many"])
def test_the_search_is_right_without_a_fact(seeds: range, fact: str) -> None:
    """What it finds need be no counterexample, but it misses none (docs/theory-orders.md, "Tables that lack a fact")."""
    assert sum(agree(seed, 8, fact) for seed in seeds) > 3 * len(seeds)


@pytest.mark.parametrize(
    "seeds",
    [range(4), pytest.param(range(4, 60), marks=pytest.mark.ci), pytest.param(range(60, 6000), marks=pytest.mark.long)],
    ids=["few", "more", "many"],
)
def test_the_search_is_right_with_more_kinds_of_words_and_polls_that_tell_more(seeds: range) -> None:
    found = Counter[bool]()
    for program, model in chain.from_iterable(map(words_under_orders, seeds)):
        try:
            robust = oracle_robust(program, model, OracleLimits(decisions=40_000, timeout=10.0)) is None
        except SizeLimitError:
            continue
        verdict = decide(program, CheckOptions(hardware=model)).verdict.value
        assert verdict in ("unknown", "robust" if robust else "not-robust"), f"{model.order}\n{program.source}"
        found[verdict != "unknown" and not not_searched(program, model)] += 1
    assert found[True] > len(seeds) // 2


@pytest.mark.parametrize(("name", "robust"), [("ring-for-the-kernel", True), ("ring-for-the-kernel-not-flushed", False)])
def test_loops_over_memory_behind_a_nic_are_searched_under_tables_of_files(name: str, robust: bool) -> None:
    order = order_of_file('name = "mine"\nbased-on = "default"\n[cells]\n"nlW nlW" = "-"\n', "mine.toml")
    program = load_program((ROOT / f"litmus/memories/{name}.rdma").read_text(encoding="utf-8"), name)
    outcome = decide(program, CheckOptions(hardware=Model(order=order)))
    assert outcome.verdict is (Verdict.ROBUST if robust else Verdict.NOT_ROBUST)


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


def between(seed: int) -> int:
    """Compare what the neighbours of a table that lacks a fact decide of two programs; return how many they decided."""
    rng, decided = Random(f"lack {seed}"), 0
    order = random_order(rng)
    for program, model in programs_under_orders(order, rng, 2) if lacking(order) else ():
        if not lacked_facts(program, model):
            continue
        try:
            robust = oracle_robust(program, model) is None
        except SizeLimitError:
            continue
        found = decided_between(program, model, lambda one, other: decide(one, CheckOptions(hardware=other)))
        if found is not None and found.verdict.value != "unknown":
            assert found.verdict.value == ("robust" if robust else "not-robust"), f"{order}\n{program.source}"
            decided += 1
    return decided


@pytest.mark.parametrize("seeds", [range(9), pytest.param(range(9, 2000), marks=pytest.mark.long)], ids=["few", "many"])
def test_tables_that_lack_a_fact_are_decided_by_their_neighbours(seeds: range) -> None:
    assert sum(map(between, seeds)) > len(seeds) // 3


def open_or_placed(seed: int) -> int:
    """Compare a table with cells that nobody knows, or whose completions tell that writes were placed, with brute force over
    its readings; return how many programs were compared."""
    rng, compared = Random(f"open {seed}"), 0
    table = order_table(random_order(rng))
    cells = rng.sample(sorted(table.written), rng.randint(1, 2)) if rng.random() < 0.5 else []
    written = {**table.written, **dict.fromkeys(cells, UNKNOWN)}
    tells = table.tells if cells else "placed"
    order = told_order(replace(with_written(table, written, table.pushes), tells=tells))
    readings = [reading(order, kept) for kept in (frozenset[Cell](), frozenset(cells))] if cells else [order]
    for program, model in programs_under_orders(order, rng, 2):
        try:
            robust = {oracle_robust(program, replace(model, order=each)) is None for each in readings}
        except SizeLimitError:
            continue
        found = decide(program, CheckOptions(hardware=model)).verdict.value
        wanted = {"unknown" if len(robust) > 1 else "robust" if True in robust else "not-robust"}
        assert found in wanted | {"unknown"}, f"{order}\n{program.source}"
        compared += 1
    return compared


@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 1000), marks=pytest.mark.long)], ids=["few", "many"])
def test_cells_that_nobody_knows_and_completions_that_tell_more(seeds: range) -> None:
    assert sum(map(open_or_placed, seeds)) > len(seeds) // 2


def needs_agree(seed: int) -> int:
    """Compare the minimal sets of a program with brute force under some sets, and what is said of some tables; return how
    many were compared."""
    rng = Random(f"needs {seed}")
    program, model = next(programs_under_orders("default", rng, 1))
    try:
        oracle_robust(program, model)
    except SizeLimitError:
        return 0

    def decided(order: str) -> Outcome:
        return decide(program, CheckOptions(hardware=replace(model, order=order)))

    found = minimal_sets(program, model, lambda other: decided(other.order), 50)
    if found.open:
        return 0
    tried = [frozenset(name for name in guarantees() if rng.random() < 0.6) for _ in range(2)]
    tried += [*found.sets, *(names - {name} for names in found.sets for name in names)]
    for names in tried:
        given = names.union(*map(implied_by, names))
        robust = oracle_robust(program, replace(model, order=order_giving(names))) is None
        assert robust == any(each <= given for each in found.sets), f"{sorted(names)}\n{program.source}"
    tables = ("accumulate", "ooo-dp", rng.choice(SHIPPED), random_order(rng), random_order(rng))
    for table in table_answers(program, found, tables, decided, most=50):
        robust = oracle_robust(program, replace(model, order=table.order)) is None
        assert table.gives in (robust, None), f"{table}\n{program.source}"
    return len(tried) + len(tables)


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 3000), marks=pytest.mark.long)], ids=["few", "many"])
def test_minimal_sets_of_guarantees_are_those_of_brute_force(seeds: range) -> None:
    assert sum(map(needs_agree, seeds)) > len(seeds)


@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(1, 1000), marks=pytest.mark.long)], ids=["few", "many"])
def test_what_a_card_has_given_up_by_its_final_states(seeds: range) -> None:
    """Of each guarantee alone brute force says whether it excludes the state, and which others do then."""
    for seed in seeds:
        program, model = next(programs_under_orders("none", Random(f"given up {seed}"), 1, ("plain", "atomics")))
        said = given_up(program, Limits())
        assert said is not None
        for name in guarantees():
            order = order_giving(frozenset({name}))
            try:
                reached = axiomatic_outcomes(program, replace(model, order=order, atomics="hca", ordered_reads=False)).rdma
            except SizeLimitError:
                break
            for state, names in said.items():
                follows = any(other in implied_by(name) for other in names)
                assert (name in names or follows) == (state not in reached), f"{name}, {state}\n{program.source}"
