"""Explanations of programs with anything deployed: their runs are runs of the machine, and everything has words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pytest

from rdma_robust.analyses.explain.compose import explanation
from rdma_robust.analyses.explain.schedule import machine_run
from rdma_robust.language.flow.cfg import Program
from rdma_robust.model import Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.pipeline import check_program
from rdma_robust.semantics.machines.chosen import machine_of
from tests.support.random_deployed import FAMILIES, loaded, mutants, named, named_texts, random_deployed

SOME: Final = ("sb-stores", "lock-release-cas", "two-buffers", "deepep-flag-relaxed", "sb-forwarded", "flip-a")


def explained(cases: Iterable[tuple[Program, Model]]) -> int:
    """Explain every program that `check` decides; of those that are not robust check the run. Return their number."""
    runs = 0
    for program, model in cases:
        if program.undecided:
            continue
        options = CheckOptions(hardware=model, timeout=20.0)
        outcome = check_program(program, options)
        assert all(explanation(outcome, options).paragraphs), program.file
        if outcome.verdict is not Verdict.NOT_ROBUST or outcome.witness is None:
            continue
        run = machine_run(outcome.program, outcome.witness, model)
        happened = [step.event for step in run.steps if step.event is not None]
        left = [event for event in outcome.witness.order if event not in happened]
        assert happened == [event for event in outcome.witness.order if event not in left]
        assert all(event.type.value == "F" for event in left)
        machine = machine_of(outcome.program, model)
        states = [move.state for move in machine.initial()]
        for step in run.steps:
            states = [m.state for state in states for m in machine.successors(state) if m.action == step.action]
            assert states, program.file
        runs += 1
    return runs


def test_named_programs_are_explained() -> None:
    assert explained(loaded(named_texts()[name], name) for name in SOME) >= 3


@pytest.mark.long
def test_long_programs_are_explained() -> None:
    assert explained(named()) > 30
    for family in FAMILIES:
        assert explained(random_deployed(family, range(100)))
    assert explained(mutants(range(200))) > 50
