"""Messages that may take any posted receive: brute force, `check`, runs of the actions alone, and certificates."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Final, cast

import pytest

from rdma_robust.certify import table_facts, violations
from rdma_robust.certify.checker import verify_graphs
from rdma_robust.certify.consistency import sc_cycle
from rdma_robust.certify.document import Certificate, InvalidCertificate
from rdma_robust.certify.message_receives import has_choice_of_receives
from rdma_robust.certify.violations import TAKES
from rdma_robust.errors import SizeLimitError
from rdma_robust.evidence.produce import robustness_certificate
from rdma_robust.language.flow.canonical import with_listing
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.orders.known_orders import order_table, told_in_full, told_order
from rdma_robust.orders.order_changes import reading
from rdma_robust.outcome import Outcome, Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.semantics.connections import has_choice_of_buffers
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from tests.conftest import ROOT
from tests.support.any_receive import has_a_choice, random_exchange, text_of
from tests.support.random_orders import programs_under_orders, random_order


def taking_any(order: str) -> str:
    return told_order(replace(order_table(order), matching="any"))


DEFAULT: Final = taking_any("default")


def exchanges(seeds: range) -> Counter[str]:
    """Compare on exchanges, under the default order but for this: a program is robust if it is where messages take receives
    in order, and no message has a choice. Count the verdicts."""
    found: Counter[str] = Counter()
    for seed in seeds:
        rng = Random(f"exchange {seed}")
        exchange = random_exchange(rng)
        program = load_program(text_of(exchange, rng), "exchange.rdma")
        try:
            in_order = oracle_robust(program, Model()) is None
            robust = oracle_robust(program, Model(order=DEFAULT)) is None
        except SizeLimitError:
            continue
        choice = has_a_choice(exchange)
        assert robust == (in_order and not choice), program.source
        assert has_choice_of_buffers(program) or not choice, program.source
        verdict = decide(program, CheckOptions(hardware=Model(order=DEFAULT))).verdict.value
        assert verdict in ("unknown", "robust" if robust else "not-robust"), program.source
        found[verdict] += 1
        found["by choice"] += in_order and not robust
    return found


def under_tables(seeds: range) -> int:
    """Compare `check` with brute force under random tables; return how many it decided."""
    decided = 0
    for seed in seeds:
        rng = Random(f"any {seed}")
        order = taking_any(rng.choice(["ooo-dp", "relaxed-mr", random_order(rng)]))
        for program, model in programs_under_orders(order, rng, 3, ("messages", "completions", "mixed")):
            try:
                robust = oracle_robust(program, model) is None
                in_order = oracle_robust(program, replace(model, order=reading(order, frozenset()))) is None
            except SizeLimitError:
                continue
            assert in_order or not robust, f"{order}\n{program.source}"
            verdict = decide(program, CheckOptions(hardware=model)).verdict.value
            assert verdict in ("unknown", "robust" if robust else "not-robust"), f"{order}\n{program.source}"
            decided += verdict != "unknown"
    return decided


@pytest.mark.parametrize(
    "seeds",
    [range(6), pytest.param(range(6, 60), marks=pytest.mark.ci), pytest.param(range(60, 20_000), marks=pytest.mark.long)],
    ids=["few", "more", "many"],
)
def test_exchanges(seeds: range) -> None:
    found = exchanges(seeds)
    assert found["robust"] >= len(seeds) // 20 and found["by choice"] > len(seeds) // 20


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 3_000), marks=pytest.mark.long)], ids=["few", "many"])
def test_random_tables(seeds: range) -> None:
    assert under_tables(seeds) >= len(seeds)


def certified(seeds: range) -> Counter[str]:
    """Certify what is decided of exchanges, and forge certificates; count what is certified."""
    found = Counter[str]()
    for seed in seeds:
        rng = Random(f"certified {seed}")
        program = with_listing(load_program(text_of(random_exchange(rng), rng), "exchange.rdma"))
        order = rng.choice([DEFAULT, "ooo-dp", taking_any(random_order(rng))])
        assert has_choice_of_receives(program) == has_choice_of_buffers(program), program.source
        found.update([certify(program, order)])
    return found


def certify(program: Program, order: str) -> str:
    """Certify what is decided of a program under an order, in which messages may take any receive, and forge others."""
    options = CheckOptions(hardware=Model(order=order))
    outcome = decide(program, options)
    if outcome.verdict is Verdict.UNKNOWN:
        return "unknown"
    told = f"{order}\n{program.source}"
    try:
        certificate = robustness_certificate(outcome, options, Limits(states=20_000), None)
    except SizeLimitError:
        assert outcome.verdict is Verdict.ROBUST and has_choice_of_receives(program), told
        return "refused"
    assert certificate is not None and verify_graphs(certificate, program).claim == outcome.verdict.value, told
    if outcome.verdict is Verdict.ROBUST:
        return "robust"
    events = cast("list[dict[str, object]]", certificate.evidence["events"])
    in_turn = decide(program, CheckOptions(hardware=Model(order=reading(order, frozenset()))))
    if not any(TAKES in event for event in events):
        return "not robust in order"
    without = [{name: value for name, value in event.items() if name != TAKES} for event in events]
    beyond = [{**event, TAKES: 9} if TAKES in event else event for event in events]
    stopped = [replace(certificate, evidence={**certificate.evidence, "events": beyond})]
    stopped += [replace(certificate, options=options_under(certificate, in_turn))]
    if in_turn.verdict is Verdict.ROBUST:
        stopped += [replace(certificate, evidence={**certificate.evidence, "events": without})]
        proved = robustness_certificate(in_turn, CheckOptions(hardware=in_turn.model), Limits(states=20_000), None)
        assert proved is not None and verify_graphs(proved, program).claim == "robust", told
        stopped += [replace(proved, options=certificate.options)]
    for each in stopped:
        with pytest.raises(InvalidCertificate):
            verify_graphs(each, program)
    return "by choice"


def options_under(certificate: Certificate, outcome: Outcome) -> dict[str, object]:
    """Return the options of a certificate, under the order of an outcome."""
    model = cast("dict[str, object]", certificate.options["model"])
    told = told_in_full(replace(order_table(outcome.model.order), why={}))
    return {**certificate.options, "model": {**model, "order": told}}


@pytest.mark.parametrize(
    "seeds",
    [range(8), pytest.param(range(8, 60), marks=pytest.mark.ci), pytest.param(range(60, 5_000), marks=pytest.mark.long)],
    ids=["few", "more", "many"],
)
def test_what_is_decided_is_certified(seeds: range) -> None:
    found = certified(seeds)
    assert found["by choice"] > len(seeds) // 20 and found["robust"] + found["not robust in order"] > len(seeds) // 8
    assert found["refused"] < len(seeds) // 4


def test_each_rule_of_the_checker_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the rule about choices ROBUST is accepted of a program that is not robust, without the one about turns no
    counterexample is one."""
    text = (ROOT / "litmus/hardware/buffers-placed.rdma").read_text(encoding="utf-8")
    program = with_listing(load_program(text, "placed.rdma"))

    def certificate(order: str) -> Certificate:
        options = CheckOptions(hardware=Model(order=order))
        made = robustness_certificate(decide(program, options), options, Limits(), None)
        assert made is not None
        return made

    wrong, right = certificate(reading("ooo-dp", frozenset())), certificate("ooo-dp")
    forged = replace(wrong, options=right.options)
    assert verify_graphs(right, program).claim == "not-robust"
    with pytest.raises(InvalidCertificate, match="choice of several posted receives"):
        verify_graphs(forged, program)
    monkeypatch.setattr(table_facts, "has_choice_of_receives", lambda _program: False)
    assert verify_graphs(forged, program).claim == "robust"
    monkeypatch.setattr(violations, "sc_cycle", lambda trace: sc_cycle(replace(trace, turns=None)))
    with pytest.raises(InvalidCertificate, match="sequential consistency allows the trace"):
        verify_graphs(right, program)
