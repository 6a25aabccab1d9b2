"""Every rule about memory behind a card, left out or changed: a program of litmus/memories notices it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest

from rdma_robust.certify import consistency
from rdma_robust.certify.document import InvalidCertificate
from rdma_robust.certify.violations import check_not_robust
from rdma_robust.errors import InternalError
from rdma_robust.evidence.of_traces import trace_evidence
from rdma_robust.expr import FALSE, Expr
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA, Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import BRUTE_FORCE, Verdict
from rdma_robust.robustness import behind_cards, lift, rules
from rdma_robust.robustness.behind_cards import Behind, MemoryRules
from rdma_robust.robustness.by_axioms import witness_of
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.event_edge import EventEdge
from rdma_robust.robustness.reductions import relaxation
from rdma_robust.robustness.reductions.critical import CriticalCycles
from rdma_robust.robustness.reductions.relaxation import ThreadRelaxation
from rdma_robust.robustness.rules import CPU_BETA, ForcingRules
from rdma_robust.semantics import axioms, linearise, order_table
from rdma_robust.semantics.kinds import Kind, WordKind, memory_of, type_of
from rdma_robust.semantics.machines import deployed_reduction, queues, requests
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_card import CardMachine
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.oracle import candidate
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from rdma_robust.semantics.oracle.candidate import CandidateExecution
from rdma_robust.semantics.oracle.partial import Partial
from rdma_robust.semantics.order_table import VISIBLE_WHEN_POLLED, Landing
from rdma_robust.semantics.trace import NIC_WRITE_TYPES, EventType, Trace
from tests.support.checker_search import platform_of
from tests.support.left_out import suite_program
from tests.support.patches import Patch, mutated

_APART, _NFO, _WHOLE = order_table.lands_apart, order_table.nfo_between, axioms.receive_order


def load(name: str) -> Program:
    return suite_program(f"memories/{name}")


def _answers_beside(earlier: Kind, later: Kind) -> bool:
    return type_of(later) is not EventType.NLW and _APART(earlier, later)


def _by_own_word(earlier: Kind, later: Kind) -> bool:
    if type_of(later) is EventType.NLW and type_of(earlier) is not EventType.NLW:
        return memory_of(earlier) != memory_of(later)
    return _APART(earlier, later)


def _any_nfo(one: Kind, other: Kind, *rest: Any, **pair: Any) -> bool:
    strict = [kind._replace(relaxed=False) if isinstance(kind, WordKind) else kind for kind in (one, other)]
    return _NFO(strict[0], strict[1], *rest, **pair)


POLLS: Final = lambda kind, _: type_of(kind) in VISIBLE_WHEN_POLLED  # noqa: E731


# ---- brute force over the axioms

ORACLE: Final[dict[str, tuple[Patch, str]]] = {
    "one path": ((order_table, "lands_apart", lambda *_: False), "data-behind-flag-beside"),
    "no answer is behind another path": (
        (order_table, "lands_apart", _answers_beside),
        "get-behind-get-into-the-accelerator",
    ),
    "an answer is where its own word is": ((order_table, "lands_apart", _by_own_word), "read-back-from-the-accelerator"),
    "reads land what their queue pair wrote": (
        (CandidateExecution, "_nfo_across", lambda _: iter(())),
        "flushed-by-the-host",
    ),
    "reads land relaxed words": ((candidate, "nfo_between", _any_nfo), "flushed-relaxed-data"),
    "polls show every answer": ((candidate, "visible_when_polled", POLLS), "get-into-the-accelerator"),
    "receive completions show every message": ((Partial, "_tell", Partial.add_all), "message-into-the-accelerator"),
    "receive completions show their message only": (
        (candidate, "tells_of", lambda *_: False),
        "receive-tells-of-words-beside",
    ),
}


@pytest.mark.parametrize("rule", ORACLE)
def test_brute_force_needs_the_rule(rule: str) -> None:
    changed, name = ORACLE[rule]
    right = "robust" if load(name).expect_robust else "not robust"
    assert by_brute_force(name) == right
    with mutated((changed,)):
        assert by_brute_force(name) != right


def by_brute_force(name: str) -> str:
    try:
        return "robust" if oracle_robust(load(name)) is None else "not robust"
    except InternalError as error:
        return str(error)


# ---- the search

_ISSUED: Final = behind_cards.issued_before


def _nothing(*_: Any) -> Expr:
    return FALSE


def _by_an_answer_or_a_read(_: Any, __: Any, edge: EventEdge) -> bool:
    return edge.type not in NIC_WRITE_TYPES


def _but_of_reads(bits: Mapping[Kind, int], *rest: Any) -> int:
    return 0 if all(type_of(kind) not in NIC_WRITE_TYPES for kind in bits) else _ISSUED(bits, *rest)


def _as_oppo(*modules: Any) -> tuple[Patch, ...]:
    return tuple((module, "observed_scope", order_table.oppo_scope) for module in modules)


def _own_wherever(self: ForcingRules, edge: EventEdge) -> int:
    told = edge.type is EventType.NRW and not edge.completing and self.own_bits
    return rules.OWN_READ if edge.reads else rules.OWN_DATA if told else 0


SEARCH: Final[dict[str, tuple[tuple[Patch, ...], str]]] = {
    "G1": (((MemoryRules, "lands", _nothing),), "flushed-by-the-host"),
    "G1 through words": (((Behind, "_by_word", _nothing),), "flushed-by-the-host"),
    "G1 through threads": (((Behind, "threads", CPU_BETA),), "flushed-without-a-poll"),
    "G1 through queue pairs": (((Behind, "_by_queue_pair", _nothing),), "flag-read-by-an-atomic"),
    "G1 behind what atomics of one access are issued before": (_as_oppo(behind_cards), "flag-read-by-an-atomic"),
    "G1 by the order of issue": (((MemoryRules, "_issued_before", _nothing),), "flushed-by-the-host"),
    "G1 through completions": (((Behind, "completes", lambda *_: iter(((),))),), "two-cards-one-flushed"),
    "G1 through later completions": (((MemoryRules, "_issued_before", _nothing),), "completed-with-immediate-then-flush"),
    "G2 through completions": (((behind_cards, "issued_before", _but_of_reads),), "flag-read-by-a-card"),
    "G1 through messages": (((MemoryRules, "mark", _nothing),), "immediate-then-flush"),
    "G2": (((MemoryRules, "held", _nothing),), "read-from-afar-by-two-rails"),
    "G2 by the order of issue": (((ForcingRules, "_issued_behind", _nothing),), "read-from-afar"),
    "R1 behind what is there when it is issued": (_as_oppo(rules, relaxation), "counter-behind-whole-atomics"),
    "R2 by the read of an answer": (
        ((ForcingRules, "_behind_reads", _nothing), (ThreadRelaxation, "_forces_poll", _by_an_answer_or_a_read)),
        "get-into-the-accelerator-was-read",
    ),
    "R2 not by an answer": (
        ((ForcingRules, "_shows", lambda _, edge: edge.type is EventType.NLW),),
        "get-into-the-accelerator",
    ),
    "S1 by the data of a message": (((ForcingRules, "_own", _own_wherever),), "immediate-nothing-kept"),
    "walks by a message that is not there": (((CriticalCycles, "_unshown", 0),), "message-into-the-accelerator"),
    "dead ends by a message that is not there": (
        ((CriticalCycles, "taken_unshown", lambda *_: 0),),
        "message-behind-data-for-the-kernel",
    ),
}


@pytest.mark.parametrize("rule", SEARCH)
def test_the_search_needs_the_rule(rule: str) -> None:
    """Without it the search claims what is wrong, or finds what the axioms refuse."""
    patches, name = SEARCH[rule]
    right = decide(load(name), CheckOptions())
    assert right.verdict is (Verdict.ROBUST if load(name).expect_robust else Verdict.NOT_ROBUST)
    assert right.engine != BRUTE_FORCE
    with mutated(patches):
        found = decide(load(name), CheckOptions())
    assert (found.verdict, found.engine) != (right.verdict, right.engine)


def _in_one_memory(later: Kind, model: Model, _: Landing) -> bool:
    return order_table.gains_behind_poll(type_of(later), model, Landing())


def _beside_only(later: Kind, model: Model, told: Landing) -> bool:
    return told == Landing() and order_table.gains_behind_poll(later, model, told)


def _not_of_answers(later: Kind, model: Model, told: Landing) -> bool:
    return not told.answers and order_table.gains_behind_poll(later, model, told)


POLLED: Final = {
    "R1' keeps memories apart": (_in_one_memory, "polled-between-put-and-flag-beside"),
    "R1' in a memory": (_beside_only, "polled-between-two-puts"),
    "R1' of answers": (_not_of_answers, "polled-between-two-gets"),
}
"""What a poll tells of writes behind a card where completions give order, changed."""


@pytest.mark.parametrize("rule", POLLED)
def test_the_search_needs_the_rule_about_polls(rule: str) -> None:
    changed, name = POLLED[rule]
    options = CheckOptions(hardware=Model(order="multipath"))
    right = decide(load(name), options)
    assert right.verdict is (Verdict.ROBUST if load(name).expect_robust else Verdict.NOT_ROBUST)
    assert right.engine != BRUTE_FORCE
    with mutated(tuple((module, "gains_behind_poll", changed) for module in (rules, relaxation))):
        found = decide(load(name), options)
    assert (found.verdict, found.engine) != (right.verdict, right.engine)


def test_where_reads_land_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run that is found is none of the hardware if reads land what was issued before them in the run."""
    program = load("flushed-before-its-own-copy")
    first: list[bool] = []
    real = lift.with_reads_placed

    def looked(order: Any, *rest: Any) -> list[int]:
        found = real(order, *rest)
        first.append(found == list(range(len(order))))
        return found

    monkeypatch.setattr(lift, "with_reads_placed", looked)
    assert decide(program, CheckOptions()).verdict is Verdict.NOT_ROBUST
    assert first == [False]


# ---- the machine

MACHINE: Final[dict[str, tuple[Patch, str]]] = {
    "reads land what their queue pair wrote": ((CardMachine, "_elsewhere", lambda *_: 0), "flushed-by-the-host"),
    "polls wait for every answer": ((requests, "visible_when_polled", POLLS), "get-into-the-accelerator"),
    "receive completions wait for every message": (
        (queues, "memory_of", lambda _: ""),
        "message-into-the-accelerator",
    ),
    "messages take buffers beside the NIC": (
        (deployed_reduction, "kind_now", lambda _posted, part, *_: part.kind),
        "message-relayed-at-once",
    ),
}


@pytest.mark.parametrize("rule", MACHINE)
def test_the_machine_needs_the_rule(rule: str) -> None:
    changed, name = MACHINE[rule]
    right = axiomatic_outcomes(load(name)).rdma
    assert explore(DeployedMachine(load(name), RDMA), Limits()).finals == right
    with mutated((changed,)):
        assert explore(DeployedMachine(load(name), RDMA), Limits()).finals != right


# ---- the axioms, and the checker


def violating(name: str) -> Trace:
    found = oracle_robust(load(name))
    assert found is not None
    return found


STRONGER: Final[dict[str, tuple[Patch, Patch, str]]] = {
    "one path": (
        (order_table, "lands_apart", lambda *_: False),
        (consistency, "goes_another_way", lambda *_: False),
        "data-behind-flag-beside",
    ),
    "polls show every answer": (
        (axioms, "nlw", lambda trace, _: axioms.events_of(trace, (EventType.NLW,))),
        (consistency, "_behind", lambda trace: [False] * len(trace.events)),
        "get-into-the-accelerator",
    ),
    "receive completions show every message": (
        (axioms, "receive_order", lambda trace, model, **_: _WHOLE(trace, model, landed=False)),
        (consistency, "_behind", lambda trace: [False] * len(trace.events)),
        "message-into-the-accelerator",
    ),
}
"""The rule left out of the axioms, and of the checker: then a violating trace of the program is none."""


@pytest.mark.parametrize("rule", STRONGER)
def test_axioms_and_checker_need_the_rule(rule: str) -> None:
    of_axioms, of_checker, name = STRONGER[rule]
    trace = violating(name)
    assert axioms.is_violating(trace)
    evidence = evidence_of(load(name), trace)
    assert check_not_robust(load(name), platform_of(RDMA), evidence)
    with mutated((of_axioms,)):
        assert not axioms.is_violating(trace)
    with mutated((of_checker,)), pytest.raises(InvalidCertificate):
        check_not_robust(load(name), platform_of(RDMA), evidence)


def evidence_of(program: Program, trace: Trace) -> Any:
    return json.loads(json.dumps(trace_evidence(program, witness_of(trace, program, RDMA).trace)))


def test_what_no_read_lands_is_forged() -> None:
    """A trace in which the read that flushes lands nothing: without the rule it is accepted, with it rejected."""
    name = "flushed-by-the-host"

    def without(one: Kind, other: Kind, *rest: Any, of_one_pair: bool = True) -> bool:
        return of_one_pair and _NFO(one, other, *rest)

    patches = tuple((module, "nfo_between", without) for module in (candidate, linearise, order_table))
    with mutated(patches):
        trace = violating(name)
        evidence = evidence_of(load(name), trace)
    with pytest.raises(InvalidCertificate):
        check_not_robust(load(name), platform_of(RDMA), evidence)
    with mutated(((consistency, "_landed", lambda _: iter(())),)):
        assert check_not_robust(load(name), platform_of(RDMA), evidence)
