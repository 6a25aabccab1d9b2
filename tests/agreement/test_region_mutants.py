"""Every rule about relaxed regions, left out or changed: a program of litmus/regions notices it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import pytest

from rdma_robust.certify import hardware
from rdma_robust.certify.normal_form import NormalFormRules
from rdma_robust.certify.thread_events import ThreadEvent
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA
from rdma_robust.robustness import rules
from rdma_robust.robustness.reductions import relaxation
from rdma_robust.robustness.rules import NIC_BITS, ForcingRules
from rdma_robust.semantics import axioms, order_table
from rdma_robust.semantics.kinds import Kind, WordKind, type_of
from rdma_robust.semantics.machines import queues, requests
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.deployed_card import CardMachine
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from rdma_robust.semantics.oracle.candidate import CandidateExecution
from rdma_robust.semantics.trace import EventType
from tests.support.checker_search import Search, platform_of
from tests.support.left_out import search_needs, suite_program
from tests.support.patches import Patch, mutated

_GIVES_UP, _NFO = order_table.gives_up, order_table.nfo_between


def load(name: str) -> Program:
    return suite_program(f"regions/{name}")


def with_flags(own: Callable[[WordKind], bool], asked: Callable[[WordKind], bool]) -> Callable[[Kind, Kind], bool]:
    """The table with other flags of the later event."""

    def changed(earlier: Kind, later: Kind) -> bool:
        if not isinstance(later, WordKind):
            return False
        return _GIVES_UP(earlier, later._replace(relaxed=own(later), asked=asked(later)))

    return changed


def by_earlier(earlier: Kind, later: Kind) -> bool:
    """The table with the earlier event's words deciding."""
    relaxed = isinstance(earlier, WordKind) and earlier.relaxed
    return _GIVES_UP(earlier, WordKind(type_of(later), relaxed, relaxed))


def nfo_but_of(kept: EventType) -> Callable[..., bool]:
    """nfo that orders relaxed events of one type as well."""

    def plain(kind: Kind) -> Kind:
        return kept if type_of(kind) is kept else kind

    return lambda one, other, model, **pair: _NFO(plain(one), plain(other), model, **pair)


def nfo_everywhere(kept: EventType) -> tuple[Patch, ...]:
    return tuple((module, "nfo_between", nfo_but_of(kept)) for module in (order_table, rules, relaxation))


# ---- what the search and brute force look up


TABLES: Final[dict[str, tuple[tuple[Patch, ...], str]]] = {
    "no word is relaxed": (((order_table, "gives_up", lambda *_: False),), "bulk-strict-flag-relaxed"),
    "an answer is looked up by its own word only": (
        ((order_table, "gives_up", with_flags(lambda k: k.relaxed, lambda k: k.relaxed)),),
        "flush-by-relaxed-read",
    ),
    "an answer is looked up by what it was asked only": (
        (
            (
                order_table,
                "gives_up",
                with_flags(lambda k: k.asked if k.type is EventType.NLW else k.relaxed, lambda k: k.asked),
            ),
        ),
        "answers-in-relaxed-words",
    ),
    "reads push relaxed answers out": (nfo_everywhere(EventType.NLW), "fence-behind-two-answers"),
    "reads of relaxed words push": (nfo_everywhere(EventType.NLR), "fence-before-relaxed-source"),
    "a receive completion tells of its message only": (
        ((ForcingRules, "_told_besides", lambda *_: 0),),
        "message-in-relaxed-buffer",
    ),
    "all answers have one bit": (
        ((ForcingRules, "_bits", lambda _self, present: {k: NIC_BITS[type_of(k)] for k in present}),),
        "fence-behind-two-answers",
    ),
    "the filter looks at types": (
        ((relaxation, "kind_of", lambda event_type, _event: event_type),),
        "bulk-strict-flag-relaxed",
    ),
}


@pytest.mark.parametrize("rule", TABLES)
def test_the_search_needs_the_rule(rule: str) -> None:
    patches, name = TABLES[rule]
    search_needs(patches, partial(load, name))


# ---- the machine and the axioms


MACHINE: Final[dict[str, tuple[tuple[Patch, ...], str]]] = {
    "requests have types only": (
        ((requests, "kind_of_words", lambda event_type, *_, **__: event_type),),
        "bulk-strict-flag-relaxed",
    ),
    "messages fill strict buffers": (((CardMachine, "fills", lambda *_: EventType.NRW),), "message-passes-atomic"),
    "receive completions count early": (((queues, "BEFORE_RECEIVE_COMPLETIONS", frozenset()),), "message-in-relaxed-buffer"),
}


@pytest.mark.parametrize("rule", MACHINE)
def test_the_machine_needs_the_rule(rule: str) -> None:
    patches, name = MACHINE[rule]
    right = axiomatic_outcomes(load(name)).rdma
    assert explore(DeployedMachine(load(name), RDMA), Limits()).finals == right
    with mutated(patches):
        assert explore(DeployedMachine(load(name), RDMA), Limits()).finals != right


def test_the_later_word_decides() -> None:
    """By the earlier one the payload might be passed by a strict flag."""
    assert oracle_robust(load("bulk-relaxed-flag-strict")) is None
    with mutated(((order_table, "gives_up", by_earlier),)):
        assert oracle_robust(load("bulk-relaxed-flag-strict")) is not None


def test_brute_force_places_messages_in_regions() -> None:
    assert oracle_robust(load("message-seen-in-relaxed-buffer")) is not None
    with mutated(((CandidateExecution, "_place", lambda *_: None),)):
        assert oracle_robust(load("message-seen-in-relaxed-buffer")) is None


AXIOMS: Final[dict[str, tuple[tuple[Patch, ...], str]]] = {
    "events have types only": (((axioms, "kinds_of", lambda events: [e.type for e in events]),), "bulk-strict-flag-relaxed"),
}


@pytest.mark.parametrize("rule", AXIOMS)
def test_the_axioms_need_the_rule(rule: str) -> None:
    patches, name = AXIOMS[rule]
    trace = oracle_robust(load(name))
    assert trace is not None and axioms.is_violating(trace)
    with mutated(patches):
        assert not axioms.is_violating(trace)


# ---- the checker


def _forced_by_relaxed_source(self: NormalFormRules, marks: Any, event: ThreadEvent) -> bool | None:
    strict = event if event.kind is not hardware.EventKind.PUT_READS else _strict(event)
    return _BY_QUEUE(self, marks, strict)


def _strict(event: ThreadEvent) -> ThreadEvent:
    return event if event.cell is None else replace(event, cell=replace(event.cell, relaxed=False))


_BY_QUEUE = NormalFormRules._forced_by_queue
CHECKER: Final[dict[str, tuple[tuple[Patch, ...], str]]] = {
    "no word is relaxed": (((ThreadEvent, "regions", hardware.STRICT),), "bulk-strict-flag-relaxed"),
    "relaxed answers are pushed out": (
        ((ThreadEvent, "kind_in_beta", lambda self, _: self.kind),),
        "fence-behind-two-answers",
    ),
    "reads of relaxed words push": (
        ((NormalFormRules, "_forced_by_queue", _forced_by_relaxed_source),),
        "fence-before-relaxed-source",
    ),
    "receive completions stay behind nothing": (
        ((NormalFormRules, "_behind_beta", lambda *_: False),),
        "message-in-relaxed-buffer",
    ),
}


def by_checker(name: str) -> str:
    return Search.of(load(name), platform_of(RDMA)).verdict(20_000)


@pytest.mark.parametrize("rule", CHECKER)
def test_the_checker_needs_the_rule(rule: str) -> None:
    patches, name = CHECKER[rule]
    right = "robust" if load(name).expect_robust else "not-robust"
    assert by_checker(name) == right
    hardware.observed_in_order.cache_clear()
    with mutated(patches):
        assert by_checker(name) != right
