"""The programs of litmus/deployed and its like: `expect` by the search and by brute force, outcome lines, certificates."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final, get_args

import pytest

from rdma_robust.errors import SizeLimitError
from rdma_robust.language.flow.cfg import Program
from rdma_robust.language.load import load_program
from rdma_robust.model import Atomics, Model
from rdma_robust.options import CheckOptions
from rdma_robust.outcome import Verdict
from rdma_robust.robustness.decide import decide
from rdma_robust.robustness.searched_orders import ARGUED
from rdma_robust.semantics.machines.outcomes import explore_outcomes
from rdma_robust.semantics.oracle.brute_force import oracle_robust
from rdma_robust.semantics.values import is_loop_free
from tests.conftest import ROOT
from tests.support.shares import share

FOLDERS: Final = [
    "deployed",
    "lifetimes",
    "flushes",
    "regions",
    "memories",
    "standards",
    "barriers",
    "lanes",
    "rnr",
    "hardware",
    "words",
    "guarantees",
    "own-tables",
    "races",
]
PROGRAMS: Final = sorted(path for folder in FOLDERS for path in (ROOT / "litmus" / folder).glob("*.rdma"))
SETTINGS: Final = [
    Model(cpu=cpu, atomics=atomics, order=order)
    for cpu, atomics, order in product(("sc", "tso"), get_args(Atomics), ("default", "multipath", "relaxed"))
]
each_program = pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
some_programs = pytest.mark.parametrize("path", share(PROGRAMS, 10), ids=lambda p: p.stem)
few_programs = pytest.mark.parametrize("path", share(PROGRAMS, 40), ids=lambda p: p.stem)


@cache
def load(path: Path) -> Program:
    return load_program(path.read_text(encoding="utf-8"), str(path))


def model_of(program: Program) -> Model:
    told = program.hardware
    return Model(
        cpu=told.cpu or "sc",
        atomics=told.atomics or "hca",
        order=told.order or "default",
        ordered_reads=bool(told.ordered_reads),
    )


def expected(path: Path) -> Verdict:
    robust = load(path).expect_robust
    assert robust is not None, "no expect line"
    return Verdict.ROBUST if robust else Verdict.NOT_ROBUST


def by_brute_force(program: Program, model: Model) -> Verdict:
    return Verdict.ROBUST if oracle_robust(program, model) is None else Verdict.NOT_ROBUST


def test_there_are_enough_on_every_order() -> None:
    assert len(PROGRAMS) >= 150
    assert {model_of(load(path)).order for path in PROGRAMS} >= set(ARGUED)


@each_program
def test_the_search_answers_as_expected(path: Path) -> None:
    program = load(path)
    assert decide(program, CheckOptions(hardware=model_of(program))).verdict is expected(path)


@pytest.mark.ci
@some_programs
def test_the_search_answers_as_expected_without_reductions_and_kernel(path: Path) -> None:
    program = load(path)
    options = CheckOptions(hardware=model_of(program))
    for less in ({"reductions": frozenset[str]()}, {"kernel": "python"}, {"large": 0}):
        assert decide(program, replace(options, **less)).verdict is expected(path), less


@some_programs
def test_brute_force_answers_as_expected(path: Path) -> None:
    program = load(path)
    if is_loop_free(program):
        assert by_brute_force(program, model_of(program)) is expected(path)


@some_programs
def test_outcome_lines_hold(path: Path) -> None:
    program = load(path)
    if program.outcomes:
        report = explore_outcomes(program, model_of(program))
        assert all(claim.holds for line in report.lines for claim in line.claims)


@few_programs
def test_the_search_is_brute_force_on_all_hardware(path: Path) -> None:
    program = load(path)
    if not is_loop_free(program):
        return
    for model in SETTINGS:
        found = decide(program, CheckOptions(hardware=model))
        try:
            assert found.verdict is by_brute_force(program, model), model
        except SizeLimitError:
            assert found.verdict is not Verdict.UNKNOWN
