"""Certificates under order tables of files: of random programs under random tables, and what is forged of them.

The checker's own rules are followed under tables with the facts and compared with brute force; its facts and its order of
tables are those of the rest of the tool; and what `check` decides has a certificate that the checker accepts.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain
from random import Random

import pytest

from rdma_robust.certify.checker import verify_graphs
from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.certify.hardware import ORDERS, Platform
from rdma_robust.certify.table_facts import UNDER, keeps_no_less, missing_facts
from rdma_robust.errors import SizeLimitError
from rdma_robust.evidence.produce import robustness_certificate
from rdma_robust.language.flow.canonical import with_listing
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.orders import order_strength
from rdma_robust.orders.known_orders import order_of_file, order_table, told_in_full, told_order
from rdma_robust.orders.order_facts import OF_ATOMICS, lacking
from rdma_robust.orders.order_record import UNKNOWN, with_written
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.searched_orders import forces_less, lacked_facts
from rdma_robust.semantics.oracle.brute_force import OracleLimits, oracle_robust
from tests.agreement.test_operands import has_operands
from tests.conftest import ROOT
from tests.support.checker_search import RNR, Search, platform_of
from tests.support.random_orders import programs_under_orders, random_order, words_under_orders

TORN = 'name = "torn"\nbased-on = "none"\n[rules]\nreceive-covers = "earlier"\n'
"""A table that keeps nothing between two requests, nor what a request reads before what it writes."""

SMALL = OracleLimits(decisions=30_000, timeout=10.0)


def has_rules(program: Program) -> bool:
    """Whether the checker has rules for a program under tables of files."""
    return not program.crowds and not has_operands(program)


def followed(seeds: range) -> Counter[str]:
    """Compare the checker's rules with brute force; where the table lacks a fact only what they call robust."""
    found: Counter[str] = Counter()
    for seed in seeds:
        rng = Random(f"followed {seed}")
        for program, model in chain(programs_under_orders(random_order(rng), rng, 3), words_under_orders(seed)):
            lacks = lacked_facts(program, model)
            less = forces_less(program, model)
            if not has_rules(program) or {*OF_ATOMICS}.intersection(lacks):
                continue
            try:
                truth = "robust" if oracle_robust(program, model, SMALL) is None else "not-robust"
            except SizeLimitError:
                continue
            said = Search.of(program, platform_of(model)).verdict(20_000)
            wrong = said not in (truth, RNR) and not said.startswith("(") and not (less and said == "not-robust")
            assert not wrong, f"{model}: {said}\n{program.source}"
            found[said] += 1
    return found


@pytest.mark.parametrize(
    "seeds",
    [range(2), pytest.param(range(2, 45), marks=pytest.mark.ci), pytest.param(range(45, 7000), marks=pytest.mark.long)],
    ids=["few", "more", "many"],
)
def test_the_checkers_rules_are_right_under_tables(seeds: range) -> None:
    assert followed(seeds).total() > len(seeds) // 2


VARIANT_CELLS = (("nmW", "nrW"), ("nrW", "nuR"), ("nuW", "nrW"))
"""Cells of sends, and of atomics that fetch nothing."""


def opened(order: str, rng: Random) -> str:
    """Return an order that leaves something open, or lets completions tell more, of every second one."""
    table = order_table(order)
    cells = rng.sample(sorted(table.written), rng.randint(1, 2)) if rng.random() < 0.5 else []
    variants = {rng.choice(VARIANT_CELLS): rng.choice(["qp", "-"])} if rng.random() < 0.4 else {}
    written = {**table.written, **dict.fromkeys(cells, UNKNOWN)}
    tells = rng.choice([table.tells, "placed"])
    changed = replace(with_written(table, written, table.pushes, {**table.variants, **variants}), tells=tells)
    return told_order(changed)


def certified(seeds: range) -> Counter[str]:
    """Make certificates of what `check` decides under any table, and check them; forged ones as well."""
    found: Counter[str] = Counter()
    for seed in seeds:
        rng = Random(f"certified {seed}")
        order = random_order(rng)
        order = opened(order, rng) if rng.random() < 0.4 else order
        for program, model in chain(programs_under_orders(order, rng, 2), words_under_orders(seed)):
            if has_rules(program):
                found.update(certify(with_listing(program), model))
    return found


def certify(program: Program, model: Model) -> Counter[str]:
    options = CheckOptions(hardware=model, max_states=20_000)
    outcome = decide(program, options)
    try:
        certificate = robustness_certificate(outcome, options, Limits(states=20_000), None)
    except SizeLimitError as refused:
        assert outcome.verdict is not Verdict.NOT_ROBUST, refused
        return Counter(["refused"])
    if certificate is None:
        return Counter(["unknown"])
    told = f"{model.order}\n{program.source}"
    proved = verify_graphs(certificate, program)
    assert proved.claim == outcome.verdict.value, told
    assert ("weaker order" in proved.by) == (UNDER in certificate.evidence), told
    if proved.claim == "robust":
        forged = {**certificate.evidence, UNDER: stronger_than(model.order)}
        with pytest.raises(InvalidCertificate):
            verify_graphs(replace(certificate, evidence=forged), program)
    return Counter([proved.claim, *(["weaker"] if UNDER in certificate.evidence else [])])


def stronger_than(order: str) -> str:
    """Return an order that keeps something which another does not: reads in order, behind everything."""
    table = order_table("default")
    written = dict.fromkeys(table.written, "qp") | {("nrW", "nF"): "i", ("naW", "nF"): "i"}
    found = told_order(replace(with_written(table, written, table.pushes), name="stronger"))
    assert not order_strength.keeps_all_of(order, found)
    return found


@pytest.mark.parametrize(
    "seeds",
    [range(4), pytest.param(range(4, 40), marks=pytest.mark.ci), pytest.param(range(40, 2000), marks=pytest.mark.long)],
    ids=["few", "more", "many"],
)
def test_what_is_decided_under_any_table_is_certified(seeds: range) -> None:
    found = certified(seeds)
    assert found["robust"] + found["not-robust"] > len(seeds) // 2
    assert len(seeds) < 30 or (found["weaker"] and found["refused"] < found.total() // 4)


@pytest.mark.parametrize("base", ["ooo-dp", "relaxed-mr", "fi-verbs", "fi-cxi", "srd"])
def test_tables_whose_completions_give_the_order_of_another_table_have_certificates(base: str) -> None:
    """What is posted behind the poll stays behind the put where the base keeps writes in order."""
    program = load_program((ROOT / "litmus/guarantees/flag-behind-a-poll.rdma").read_text(encoding="utf-8"), "polled")
    order = order_of_file(
        f'name = "mine"\nbased-on = "{base}"\n[cells]\n"nrW nrW" = "-"\n[rules]\ncompletions-order = true\n', "mine.toml"
    )
    kept = order_table(base).cells["nrW", "nrW"] == "qp"
    assert certify(with_listing(program), Model(order=order)) == Counter(["robust" if kept else "not-robust"])


@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 3000), marks=pytest.mark.long)], ids=["few", "many"])
def test_the_checkers_facts_and_its_order_of_tables_are_those_of_the_tool(seeds: range) -> None:
    for seed in seeds:
        rng = Random(f"facts {seed}")
        orders = [each for each in (random_order(rng), *rng.sample(ORDERS, 2)) if each in ORDERS or each.startswith("{")]
        for order in orders:
            own = Platform(order=order).own
            if own is not None:
                assert {*missing_facts(own)} == {*lacking(order, messages=True)}.intersection(OF_ATOMICS), order
            for other in orders:
                pairs = [[Platform(order=each, ordered_reads=reads) for each in (order, other)] for reads in (True, False)]
                mine = all(keeps_no_less(one, two) for one, two in pairs)
                tools = order_strength.keeps_all_of(order, other)
                if mine != tools:  # of what completions keep in order the checker asks less
                    assert mine and order_table(other).behind_polls, (order, other)


@pytest.mark.ci
def test_every_fact_is_asked() -> None:
    """For each fact there is a random table that lacks only that one: evidence under it proves nothing."""
    tables = (Platform(order=random_order(Random(f"alone {seed}"))).own for seed in range(600))
    lacks = [tuple(missing_facts(own)) for own in tables if own is not None]
    assert {("rmw_row",), ("rmw_column",)} <= {*lacks}


FENCED = "nfo-get-put-same-word-fenced"
POLLED = "guarantees/read-after-a-poll"
MUTANTS = {
    "the reads of a request say nothing of its write": ("request_may_tear", False, POLLED, TORN),
    "only receives of their own message tear requests": ("request_may_tear", "not promised", POLLED, TORN),
    "no put pushes answers out": ("answers_pushed", False, FENCED, "ooo-dp"),
    "every put pushes answers out": ("answers_pushed", True, FENCED, "fi-verbs"),
}
"""For each rule of the normal form under tables: what is broken, and the program of the suite and the table that notice."""


@pytest.mark.parametrize("name", MUTANTS)
def test_breaking_a_rule_is_noticed_by_a_program(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    attribute, value, path, table = MUTANTS[name]
    program = load_program((ROOT / f"litmus/{path}.rdma").read_text(encoding="utf-8"), path)
    order = order_of_file(TORN, "torn.toml") if table is TORN else told_in_full(replace(order_table(table), variants={}))
    model = Model(order=order)
    truth = "robust" if oracle_robust(program, model) is None else "not-robust"
    assert Search.of(program, platform_of(model)).verdict() == truth
    broken = property(lambda platform: not platform.promised if value == "not promised" else value)
    monkeypatch.setattr(Platform, attribute, broken)
    assert Search.of(program, platform_of(model)).verdict() not in (truth, RNR)
