"""The memory model as a value: `ordered_reads` is a member of it, and a model without a proof is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rdma_robust import CheckOptions, Model, UsageError, Verdict, check, parse, reach
from rdma_robust.model import NAMED, PSO, RDMA, RMA, SC, TSO, rdma
from rdma_robust.robustness.paper import instrument_paper
from rdma_robust.robustness.pivot import instrument_pivot
from rdma_robust.semantics.machines.chosen import machine_of
from rdma_robust.semantics.order_table import oppo_scope
from rdma_robust.semantics.trace import EventType
from tests.conftest import ROOT

READS = ROOT / "litmus/order-nrr-nrr.rdma"
"""Robust iff two remote reads keep their order."""


def test_ordered_reads_may_be_said_by_the_option_or_by_the_model() -> None:
    assert CheckOptions().model == RDMA == Model() == rdma(False)
    ordered = Model(ordered_reads=True)
    for options in (
        CheckOptions(ordered_reads=True),
        CheckOptions(hardware=ordered),
        replace(CheckOptions(), hardware=ordered),
    ):
        assert options.model == ordered == rdma(True)
    assert replace(CheckOptions(ordered_reads=True), ordered_reads=False).model == RDMA


def test_the_model_decides_the_verdict() -> None:
    assert check(READS).verdict is Verdict.NOT_ROBUST
    assert check(READS, hardware=Model(ordered_reads=True)).verdict is Verdict.ROBUST
    assert check(READS, ordered_reads=True).verdict is Verdict.ROBUST


def test_the_words_of_a_model_tell_it_from_the_default() -> None:
    said = {RDMA: "", rdma(True): "reads ordered", Model(cpu="tso", ordered_reads=True): "cpu tso, reads ordered"}
    assert {model: model.words for model in said} == said


def test_the_reports_have_the_model_beside_ordered_reads() -> None:
    assert rdma(True).described() == {
        "ordered_reads": True,
        "model": {"network": "rdma", "cpu": "sc", "atomics": "hca", "order": "default", "ordered_reads": True},
    }


@pytest.mark.parametrize("model", [SC, Model(cpu="pso")], ids=str)
@pytest.mark.parametrize("instrument", [instrument_pivot, instrument_paper])
def test_a_model_without_a_proof_is_not_searched(model: Model, instrument: Callable[..., object]) -> None:
    program = parse(READS.read_text(encoding="utf-8"))
    with pytest.raises(UsageError, match="no search is proven") as raised:
        instrument(program, model)
    assert str(model) in str(raised.value)


def test_the_named_models() -> None:
    assert NAMED == {"sc": SC, "tso": TSO, "pso": PSO, "rma": RMA, "rdma": RDMA}


@pytest.mark.parametrize("words", [{"cpu": "arm"}, {"network": "RDMA"}, {"atomics": "cpu"}], ids=str)
def test_a_word_without_a_meaning_is_refused(words: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^no \w+ is called '\w+'; there is "):
        Model(**words)


@pytest.mark.parametrize("model", [TSO, PSO, RMA], ids=str)
def test_a_model_without_a_table_of_orders_is_not_decided_by_one(model: Model) -> None:
    """Store buffering is not robust under TSO: deciding it by CPUs that keep their order would say that it is."""
    with pytest.raises(UsageError, match="`prove` decides safety there"):
        CheckOptions(hardware=model)
    with pytest.raises(UsageError, match=r"no table says which program order is kept|does not know this model"):
        machine_of(parse(READS.read_text(encoding="utf-8")), model)
    with pytest.raises(UsageError, match="no table says which program order is kept"):
        oppo_scope(EventType.LW, EventType.LR, model)


def test_store_buffers_are_a_model_of_rdma() -> None:
    buffering = ROOT / "litmus/deployed/tso-sb.rdma"
    assert check(buffering).verdict is Verdict.NOT_ROBUST
    assert check(buffering, hardware=Model()).verdict is Verdict.ROBUST
    assert check(READS, hardware=Model(cpu="tso")).verdict is Verdict.NOT_ROBUST


def test_what_is_no_model_is_refused() -> None:
    no_model: Any = "sc"
    with pytest.raises(UsageError, match="'sc' is no Model"):
        CheckOptions(hardware=no_model)
    no_name: Any = "arm"
    with pytest.raises(UsageError, match="no model is called 'arm'; there is sc and rdma"):
        reach(READS, "A.x == 1", model=no_name)
    no_search: Any = "tso"
    with pytest.raises(UsageError, match="`reach` has no search for model tso; there is sc and rdma"):
        reach(READS, "A.x == 1", model=no_search)
