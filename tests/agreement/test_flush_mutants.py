"""Mutation check: every cell and rule of `flush` and `order`, when off, is seen by a program of litmus/flushes.

Cells that follow from others, such as nlR before FL, which is behind its own nrW, are not here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any
from unittest.mock import patch

import pytest

from rdma_robust.certify import normal_form
from rdma_robust.certify.hardware import EventKind, landed_in_order
from rdma_robust.errors import InternalError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.limits import Limits
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.orders import SHIPPED
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.rules import NIC_BITS, ForcingRules
from rdma_robust.semantics import axioms, order_table
from rdma_robust.semantics.machines import rdma
from rdma_robust.semantics.machines.chosen import machine_of
from rdma_robust.semantics.machines.deployed import DeployedMachine
from rdma_robust.semantics.machines.outcomes import explore, explore_outcomes
from rdma_robust.semantics.machines.requests import nic_rules
from rdma_robust.semantics.oracle import candidate
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from rdma_robust.semantics.trace import EventType
from tests.conftest import ROOT
from tests.support.checker_search import Search, platform_of
from tests.support.random_deployed import loaded

CELLS = {
    ("nrW", "FL", "-"): "flush-store-buffering",
    ("nlW", "FL", "-"): "flush-get-arrived",
    ("naW", "FL", "-"): "flush-atomic-visible",
    ("nrW", "FL", "all"): "flush-other-node",
    ("nrW", "nO", "-"): "order-data-flag",
    ("nO", "nrW", "-"): "order-data-flag",
    ("nO", "naR", "-"): "order-reset-before-faa",
    ("naW", "nO", "-"): "order-swap-before-put",
    ("naR", "nO", "-"): "order-failed-cas-before-put",
    ("nO", "nrR", "qp"): "order-not-for-reads",
}
"""A cell with what it is changed to, and the program whose verdict that changes."""


@cache
def program(name: str) -> tuple[Program, Model]:
    return loaded((ROOT / f"litmus/flushes/{name}.rdma").read_text(encoding="utf-8"), name)


def robust(name: str) -> bool:
    """By brute force over the axioms."""
    return oracle_robust(*program(name)) is None


def cells_of(order: str) -> dict[tuple[str, str], str]:
    """The cells of a table, which a test may change."""
    cells = order_table.order_table(order).cells
    assert isinstance(cells, dict)
    return cells


@pytest.mark.parametrize("cell", CELLS, ids=" ".join)
def test_a_changed_cell_changes_a_verdict(cell: tuple[str, str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    name = CELLS[cell]
    assert robust(name) == program(name)[0].expect_robust
    earlier, later, kept = cell
    for order in SHIPPED:
        monkeypatch.setitem(cells_of(order), (earlier, later), kept)
    assert robust(name) != program(name)[0].expect_robust


def test_a_flush_that_waited_for_stores_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(order_table.STORES, ("lW", "FL"), "all")
    assert robust("flush-no-mfence-tso")


def test_an_order_that_took_effect_at_once_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then what is issued behind it would tell that what is before it has landed."""
    assert not robust("order-tells-nothing")
    for module in (axioms, candidate):
        monkeypatch.setattr(module, "delayed_types", lambda model: order_table.delayed_types(model) - {EventType.NO})
    assert robust("order-tells-nothing")


def _ignores(kind: EventType) -> Callable[[ForcingRules, Any], int]:
    rule = ForcingRules.nic_forcing_types

    def mutant(self: ForcingRules, edge: Any) -> int:
        return 0 if edge.type is kind else rule(self, edge) & ~NIC_BITS.get(kind, 0)

    return mutant


@pytest.mark.parametrize(("kind", "name"), [("FL", "flush-store-buffering"), ("nO", "order-data-flag")])
def test_r1_of_the_search_is_needed(kind: str, name: str) -> None:
    searched, model = program(name)
    options = CheckOptions(hardware=model, reductions=frozenset(), kernel="python")
    assert decide(searched, options).verdict.value == "robust"
    with (
        patch.object(ForcingRules, "nic_forcing_types", _ignores(EventType(kind))),
        pytest.raises(InternalError, match="not RDMA-consistent"),
    ):
        decide(searched, options)


def wrong_outcomes(name: str) -> bool:
    """Whether the machine reaches a final state that the program says it does not."""
    run, model = program(name)
    return not all(claim.holds for line in explore_outcomes(run, model).lines for claim in line.claims)


MACHINES = {
    "the fast machine passes flushes": (rdma, "has_landed", lambda _queue: True, "flush-get-arrived"),
    "the machine passes flushes": (DeployedMachine, "_flushed", lambda *_: True, "flush-store-buffering"),
    "a flush looks at no store buffer": (
        DeployedMachine,
        "_flushed",
        lambda _self, _t, thread, qp: all(posted.over for posted in thread.queues[qp]),
        "flush-behind-stores-tso",
    ),
}


@pytest.mark.parametrize("mutant", MACHINES)
def test_a_machine_that_does_not_wait_is_seen(mutant: str) -> None:
    owner, attribute, replacement, name = MACHINES[mutant]
    assert not wrong_outcomes(name)
    with patch.object(owner, attribute, replacement):
        assert wrong_outcomes(name)


def test_a_card_that_does_not_know_order_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "order-data-flag"
    assert not wrong_outcomes(name)
    monkeypatch.setitem(cells_of("relaxed"), ("nO", "nrW"), "-")
    nic_rules.cache_clear()
    try:
        assert wrong_outcomes(name)
    finally:
        monkeypatch.undo()
        nic_rules.cache_clear()


@pytest.mark.parametrize(
    ("kind", "name"), [(EventKind.FLUSH, "flush-store-buffering"), (EventKind.ORDER, "order-data-flag")]
)
def test_the_checker_needs_the_rule_too(kind: EventKind, name: str) -> None:
    searched, model = program(name)
    assert Search.of(searched, platform_of(model)).verdict(20_000) == "robust"

    def mutant(earlier: EventKind, memory: str, later: EventKind, *rest: Any) -> bool:
        return later is not kind and landed_in_order(earlier, memory, later, *rest)

    with patch.object(normal_form, "landed_in_order", mutant):
        assert Search.of(searched, platform_of(model)).verdict(20_000) != "robust"


def test_a_flush_takes_no_completion() -> None:
    run, model = program("flush-takes-no-completion")
    assert explore(machine_of(run, model), Limits()).finals
