"""Orders with a table that lacks what the proofs ask of one: they have a machine and axioms, and brute force decides what no
search does."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from random import Random

import pytest

from rdma_robust import CheckOptions, UsageError, Verdict, check
from rdma_robust.analyses.explain.compose import explanation
from rdma_robust.analyses.repair.plan import repair
from rdma_robust.language.load import load_program
from rdma_robust.limits import Limits
from rdma_robust.model import RDMA, SC, Model, rdma
from rdma_robust.semantics.axioms import rdma_violation, sc_violation
from rdma_robust.semantics.machines.outcomes import explore
from rdma_robust.semantics.machines.rdma import RdmaMachine
from rdma_robust.semantics.oracle.brute_force import axiomatic_outcomes, oracle_robust
from tests.conftest import ROOT
from tests.support.random_programs import SMALL, random_program

CHANGES = {"test-weaker": "nrW nrR", "test-stronger": "nlW nrW", "test-reads": "nrR nrR", "test-torn": "nrW naR"}
KEPT = {"test-weaker": "-", "test-stronger": "qp", "test-reads": "qp", "test-torn": "-"}
NAMES = sorted({*CHANGES} - {"test-torn"})


def order(name: str) -> str:
    return f'{{name = "{name}", based-on = "default", cells = {{"{CHANGES[name]}" = "{KEPT[name]}"}}}}'


def litmus(name: str) -> str:
    return (ROOT / f"litmus/{name}.rdma").read_text(encoding="utf-8").replace("expect ", "// expect ")


@pytest.mark.parametrize(
    ("name", "program", "verdict"),
    [
        ("test-weaker", "order-nrw-nrr", Verdict.NOT_ROBUST),
        ("test-stronger", "order-nrw-nrr", Verdict.ROBUST),
        ("test-weaker", "order-nlw-nrw", Verdict.NOT_ROBUST),
        ("test-stronger", "order-nlw-nrw", Verdict.ROBUST),
    ],
)
def test_one_cell_decides_the_program_that_is_about_it(name: str, program: str, verdict: Verdict) -> None:
    model = Model(order=order(name))
    outcome = check(litmus(program), hardware=model)
    assert outcome.verdict is verdict
    if outcome.witness is not None:
        trace = outcome.witness.trace
        assert rdma_violation(trace, model) is None and sc_violation(trace) is not None
        assert outcome.witness.order == trace.events[len(outcome.program.cells) :]


def test_what_neighbours_and_brute_force_cannot_do_is_unknown_and_says_so() -> None:
    """Robust under `default`, not under `relaxed`, and what breaks it there is kept here: only the read may pass."""
    table = order("test-torn")
    text = """\
node A { }
node B { data, done }
thread T on A { put B.data = 1; swap(B.done, 1) }
thread U on B { reg r, s; loop { r = done; s = data } }
"""
    assert check(text, hardware=Model(order="default")).verdict is Verdict.ROBUST
    assert check(text, hardware=Model(order="relaxed")).verdict is Verdict.NOT_ROBUST
    loops = check(text, hardware=Model(order=table))
    assert loops.verdict is Verdict.UNKNOWN
    assert "order test-torn lacks the fact rmw_column" in loops.reason


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 60), marks=pytest.mark.ci)], ids=["few", "more"])
@pytest.mark.parametrize("name", NAMES)
def test_machine_and_axioms_agree(name: str, seeds: range) -> None:
    """Also where the axioms and the machine of the usual order say something else."""
    model = Model(order=order(name))
    differ = 0
    for seed in seeds:
        program = load_program(random_program(Random(f"order {seed}"), SMALL), f"seed {seed}")
        found = explore(RdmaMachine(program, model), Limits()).finals
        assert found == axiomatic_outcomes(program, model).rdma, f"seed {seed}"
        differ += found != explore(RdmaMachine(program), Limits()).finals
    assert differ or name == "test-reads" or len(seeds) < 20


def test_the_open_cell_by_name_is_the_option() -> None:
    verdicts: Counter[bool] = Counter()
    for seed in range(60):
        program = load_program(random_program(Random(f"reads {seed}"), SMALL), f"seed {seed}")
        by_name, by_option = (oracle_robust(program, m) is None for m in (Model(order=order("test-reads")), rdma(True)))
        assert by_name == by_option
        verdicts[by_name] += 1
    assert min(verdicts.values()) > 5


def test_under_sequential_consistency_everything_is_robust() -> None:
    for name in ("order-nrw-nrw", "order-nlw-nlr", "2plus2w-put"):
        assert check(litmus(name), hardware=SC).verdict is Verdict.ROBUST


def test_what_needs_a_normal_form_refuses() -> None:
    model, counter = Model(order=order("test-torn")), "guarantees/counter-behind-data"
    options = CheckOptions(hardware=model)
    outcome = check(litmus(counter), options)
    assert outcome.verdict is Verdict.ROBUST and "order test-torn" in outcome.reason
    told = explanation(outcome, options)
    assert any("which pairs keep their order: no search" in each for each in told.paragraphs)
    with pytest.raises(UsageError, match="polls and fences"):
        repair(litmus(counter), "x", limits=options)
    with pytest.raises(UsageError, match="no order table is called 'nonsense'"):
        check(litmus("order-nrw-nrw"), hardware=Model(order="nonsense"))
    with pytest.raises(UsageError, match="does not know this model"):
        RdmaMachine(load_program(litmus("order-nrw-nrw"), "x"), SC)


def test_the_usual_model_is_searched() -> None:
    assert check(litmus("order-nrw-nrw"), hardware=RDMA).engine != "brute force"


def test_a_table_that_is_read_in_one_way_is_searched_without_the_library_of_the_axioms() -> None:
    """A check of a small program is mostly what it imports: networkx takes a sixth of its time."""
    code = (
        "import sys; from rdma_robust import CheckOptions, check; "
        f"check({litmus('order-nrw-nrw')!r}, CheckOptions(order={order('test-weaker')!r})); "
        "print({'networkx', 'rdma_robust.robustness.between_tables'} & {*sys.modules})"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "set()\n"
